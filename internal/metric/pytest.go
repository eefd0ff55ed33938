package metric

import (
	"time"

	"profdiff/internal/input"
)

// pytestBenchmark is what pytest --benchmark-json writes (pytest_benchmark/session.py). Times are
// seconds of an iteration, one for each round.
type pytestBenchmark struct {
	Machine struct {
		Node           string `json:"node"`
		Implementation string `json:"python_implementation"`
		Version        string `json:"python_version"`
		CPU            struct {
			Brand string `json:"brand_raw"`
		} `json:"cpu"`
	} `json:"machine_info"`
	Benchmarks []struct {
		Name     string `json:"name"`
		FullName string `json:"fullname"`
		Stats    struct {
			Data   []number `json:"data"`
			Rounds int64    `json:"rounds"`
			Mean   number   `json:"mean"`
			Median number   `json:"median"`
			Stddev number   `json:"stddev"`
			Min    number   `json:"min"`
			Max    number   `json:"max"`
		} `json:"stats"`
	} `json:"benchmarks"`
	Time    string `json:"datetime"`
	Version string `json:"version"`
}

func recognisePytest(head input.Head) input.Evidence {
	keys := head.Keys()
	return input.Evidence{Is: keys["machine_info"] && (keys["commit_info"] || keys["benchmarks"])}
}

// readPytest reads the times of rounds, which are values of one run.
func readPytest(src *input.Source, s *Set) error {
	var p pytestBenchmark
	if err := decodeJSON(src, &p); err != nil {
		return err
	}
	s.Facts.Tool, s.Facts.CPU, s.Facts.System = "pytest-benchmark "+input.Text(p.Version), input.Text(p.Machine.CPU.Brand), input.Text(p.Machine.Node)
	if v := p.Machine.Version; v != "" {
		s.Facts.Others = append(s.Facts.Others, Fact{input.Text(p.Machine.Implementation), input.Text(v)})
	}
	if at, err := time.Parse(time.RFC3339, p.Time); err == nil {
		s.Facts.Time = at
	}
	s.subjects = "benchmark"
	for _, b := range p.Benchmarks {
		name := b.FullName
		if name == "" {
			name = b.Name
		}
		m := s.Add(input.Text(name), "time", "s")
		m.Each = "the mean of one round's iterations"
		if values := s.finite(b.Stats.Data, "a time is no number"); len(values) > 0 {
			s.put(m, 0, values...)
			continue
		}
		// --benchmark-json leaves the values out where it is told to.
		sum := m.summarize("rounds")
		sum.N, sum.Mean, sum.Median, sum.Stddev = b.Stats.Rounds, m.scaled(&b.Stats.Mean), m.scaled(&b.Stats.Median), m.scaled(&b.Stats.Stddev)
		sum.Min, sum.Max = m.scaled(&b.Stats.Min), m.scaled(&b.Stats.Max)
	}
	return nil
}
