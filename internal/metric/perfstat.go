package metric

import (
	"math"

	"profdiff/internal/input"
	"profdiff/internal/perfstat"
)

// perfStat is a format of perf stat or simpleperf stat: each counter has one value, of one
// run, or the mean of several (perf stat -r) with its standard error.
func perfStat(f perfstat.Format) input.Format[Reader] {
	read := func(src *input.Source, s *Set) error {
		stat, err := f.Read(src)
		if err != nil {
			return err
		}
		s.Facts.Tool, s.Warnings = stat.Tool, stat.Warnings
		for _, c := range stat.Counters {
			s.Read++
			unit := c.Unit
			if unit == "" {
				unit = "count"
			}
			m := s.Add("", c.Name, unit)
			if c.Spread == 0 && stat.Repeats == 0 {
				s.put(m, 0, c.Value)
			} else {
				m.repeated(stat.Repeats, c.Value)
				if stat.Repeats > 1 {
					m.Summary.Stddev = c.Spread * m.Summary.Mean * math.Sqrt(float64(stat.Repeats))
				}
			}
			if c.Running > 0 && c.Running < 1 {
				s.warn("%s was extrapolated from %.1f%% of the time", c.Name, 100*c.Running)
			}
		}
		if stat.Duration > 0 {
			s.Read++
			m, took := s.Add("", "time elapsed", "ns"), float64(stat.Duration.Nanoseconds())
			if stat.Repeats > 0 {
				m.repeated(stat.Repeats, took)
			} else {
				s.put(m, 0, took)
			}
		}
		return nil
	}
	return input.Format[Reader]{Name: f.Name, Text: f.Text, Recognise: f.Recognise, Read: read}
}

// repeated is the mean of so many runs, 0 if that is not known.
func (m *Metric) repeated(n int, mean float64) {
	m.Summary = newSummary()
	m.Summary.N, m.Summary.Mean, m.Summary.Of = int64(n), mean*m.Scale, "repeated runs"
}
