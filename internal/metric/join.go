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

// Blocks makes each of several sets one run, with the values of all of its own: these follow one
// another in time, so that what drifts between the sets is alike in them, and only how the sets
// differ tells how runs do. A single set stays as it is, and so does what has no values.
func Blocks(sets []*Set) []*Set {
	if len(sets) < 2 {
		return sets
	}
	blocks := make([]*Set, len(sets))
	for i, s := range sets {
		block := *s
		block.Metrics = nil
		for _, m := range s.Metrics {
			one := *m
			if one.Runs = oneRun(m.Runs); len(one.Runs) < len(m.Runs) {
				block.Links = nil // which are of single runs
			}
			block.Metrics = append(block.Metrics, &one)
		}
		blocks[i] = &block
	}
	return blocks
}

// oneRun makes one run of several, if the values of all are known.
func oneRun(runs []Run) []Run {
	if len(runs) < 2 {
		return runs
	}
	var one Run
	for _, r := range runs {
		if len(r.Values) == 0 {
			return runs
		}
		one.Values = append(one.Values, r.Values...)
	}
	return []Run{one}
}
