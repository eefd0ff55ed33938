package metric

import (
	"fmt"
	"math"
)

// Join makes one metric of those of several sets that have one name: the runs of all, in the
// order of the sets. What a set only says of all of its runs is one run, with that summary. A
// metric in two units cannot be joined.
func Join(sets []*Set) ([]*Metric, error) {
	var all Set
	for _, s := range sets {
		for _, m := range s.Metrics {
			to := all.Metric(m.Subject, m.Quantity)
			if to == nil {
				to = all.Add(m.Subject, m.Quantity, m.Written)
				*to = *m
				to.Runs, to.Summary = nil, nil
			}
			switch {
			case to.Unit != m.Unit:
				return nil, fmt.Errorf("%s: %s is in %s, but in another file in %s", s.Name, m.Name(), unitName(m.Unit), unitName(to.Unit))
			case to.Direction != m.Direction:
				to.Direction, to.Why = Unknown, "files differ in which direction is better"
			case to.Each == "":
				to.Each = m.Each
			}
			to.Exact = to.Exact && m.Exact
			runs := m.Runs
			if m.Summary != nil {
				if len(sets) == 1 {
					to.Summary = m.Summary
					continue
				}
				runs = []Run{{Summary: m.Summary}}
			}
			for i, r := range runs {
				switch {
				case len(sets) == 1:
				case len(runs) == 1:
					r.Name = s.Name
				case r.Name != "":
					r.Name = s.Name + " " + r.Name
				default:
					r.Name = fmt.Sprintf("%s #%d", s.Name, i+1)
				}
				to.Runs = append(to.Runs, r)
			}
		}
	}
	return all.Metrics, nil
}

func unitName(u Unit) string {
	if u == "" {
		return "no unit"
	}
	return string(u)
}

// Within returns the bounds of the bucket that holds the q quantile, NaN if there are no
// buckets.
func (s *Summary) Within(q float64) (low, high float64) {
	var total, below int64
	for _, b := range s.Buckets {
		total += b.Count
	}
	for _, b := range s.Buckets {
		if below += b.Count; float64(below) >= q*float64(total) {
			return b.Low, b.High
		}
	}
	return math.NaN(), math.NaN()
}
