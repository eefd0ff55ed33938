package metric

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/input"
)

// fio is what fio --output-format=json writes (stat.c).
type fio struct {
	Version string `json:"fio version"`
	Seconds int64  `json:"timestamp"`
	Jobs    []struct {
		Name  string `json:"jobname"`
		Error int    `json:"error"`
		Read  fioIO  `json:"read"`
		Write fioIO  `json:"write"`
		Trim  fioIO  `json:"trim"`
	} `json:"jobs"`
}

type fioIO struct {
	Total     int64      `json:"total_ios"`
	Bandwidth *number    `json:"bw_bytes"` // since 3.0
	Rate      number     `json:"iops"`
	Latency   fioLatency `json:"clat_ns"` // of completion
}

type fioLatency struct {
	N          int64             `json:"N"`
	Mean       number            `json:"mean"`
	Stddev     number            `json:"stddev"`
	Min        number            `json:"min"`
	Max        number            `json:"max"`
	Percentile map[string]number `json:"percentile"`
}

func recogniseFio(head input.Head) input.Evidence {
	keys := head.Keys()
	return input.Evidence{Is: keys["fio version"] && keys["jobs"]}
}

// readFio reads bandwidth, rate and latency of jobs, of one run. Values of latency are known by
// their percentiles alone.
func readFio(src *input.Source, s *Set) error {
	var f fio
	if err := decodeJSON(src, &f); err != nil {
		return err
	}
	s.Facts.Tool = input.Text(strings.Replace(f.Version, "-", " ", 1))
	if f.Seconds > 0 {
		s.Facts.Time = time.Unix(f.Seconds, 0).UTC()
	}
	for i, j := range f.Jobs {
		if j.Error != 0 {
			s.warn("job %s failed with error %d", input.Text(j.Name), j.Error)
		}
		for _, kind := range []struct {
			name string
			io   *fioIO
		}{{"read", &j.Read}, {"write", &j.Write}, {"trim", &j.Trim}} {
			subject := input.Text(j.Name) + " " + kind.name
			if kind.io.Total == 0 {
				continue
			}
			if s.Metric(subject, "iops") != nil {
				s.Read++
				s.lose("a job of the same name (give --group_reporting)", fmt.Sprintf("job %d", i+1))
				continue
			}
			if b := kind.io.Bandwidth; b != nil {
				s.put(s.Add(subject, "bandwidth", "bytes/s"), 0, s.finite([]number{*b}, "a value that is no number")...)
			}
			s.put(s.Add(subject, "iops", "iops"), 0, s.finite([]number{kind.io.Rate}, "a value that is no number")...)
			if kind.io.Latency.N > 0 {
				s.Read++
				s.Add(subject, "latency", "ns").fioLatency(&kind.io.Latency)
			}
		}
	}
	return nil
}

func (m *Metric) fioLatency(l *fioLatency) {
	sum := m.summarize("completions")
	sum.N, sum.Mean, sum.Stddev, sum.Min, sum.Max = l.N, float64(l.Mean), float64(l.Stddev), float64(l.Min), float64(l.Max)
	sum.percentiles(l.Percentile, m.Scale)
}

// percentiles adds quantiles by their percentage as text: "99.000000".
func (s *Summary) percentiles(by map[string]number, scale float64) {
	for text, n := range by {
		p, err := strconv.ParseFloat(text, 64)
		if v := float64(n) * scale; err == nil && p >= 0 && p <= 100 && isFinite(v) {
			s.Quantiles = append(s.Quantiles, Quantile{p / 100, v})
		}
	}
	slices.SortFunc(s.Quantiles, func(a, b Quantile) int { return cmp.Compare(a.Part, b.Part) })
}
