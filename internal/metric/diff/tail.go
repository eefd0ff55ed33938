package diff

import (
	"cmp"
	"math"
	"slices"

	"profdiff/internal/metric"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// A Tail is where the worst values of one side are: the slowest of times, the lowest of
// throughputs.
type Tail struct {
	Side int // 0 is base
	// Part is which values are meant, 0.95 for the worst twentieth, and Bound the least of them,
	// or the highest where higher is better. Where many values are alike there are fewer worse ones.
	Part  float64
	Bound float64
	// Values is how many there are, in so many Runs of Of.
	Values, Runs, Of int
	// Worst are the runs with most of them, at most three, the first with the most.
	Worst []TailRun
}

// A TailRun is one run of a tail.
type TailRun struct {
	Run       string // its name, or number
	Values    int    // of the tail
	Worst     float64
	Recording string // "" if it has none
}

// tailRuns is how many runs of a tail are named.
const tailRuns = 3

// tails are where the worst values of both sides are, with recordings of their runs. Without
// recordings there is nothing to look at.
func tails(metrics [2]*metric.Metric, sides [2]*stats.Distribution, direction metric.Direction, opt *Options) (list []Tail) {
	if opt.Recording == nil || direction == metric.Unknown {
		return nil
	}
	for side, m := range metrics {
		if sides[side].Runs() < 2 || m.Summary != nil {
			continue
		}
		t := Tail{Side: side, Part: 0.95, Of: len(m.Runs)}
		if sides[side].Len() < stats.QuantileEvents(t.Part, verdict.Level) {
			t.Part = 0.9
		}
		if sides[side].Len() < stats.QuantileEvents(t.Part, verdict.Level) {
			continue // of few values one is the worst, whatever happened
		}
		sign := 1.0
		t.Bound = sides[side].Quantile(t.Part)
		if direction == metric.Higher {
			sign, t.Bound = -1, sides[side].Quantile(1-t.Part)
		}
		if !t.apart(m, sign) {
			continue
		}
		for i, r := range m.Runs {
			in := TailRun{Run: r.Name}
			for _, v := range r.Values {
				if sign*v < sign*t.Bound {
					continue
				}
				if in.Values == 0 || sign*v > sign*in.Worst {
					in.Worst = v
				}
				in.Values++
			}
			if in.Values == 0 {
				continue
			}
			in.Recording = opt.Recording(side, m, i)
			t.Values += in.Values
			t.Runs++
			t.Worst = append(t.Worst, in)
		}
		slices.SortStableFunc(t.Worst, func(a, b TailRun) int {
			return cmp.Or(cmp.Compare(b.Values, a.Values), cmp.Compare(sign*b.Worst, sign*a.Worst))
		})
		named := slices.ContainsFunc(t.Worst, func(r TailRun) bool { return r.Recording != "" })
		t.Worst = t.Worst[:min(len(t.Worst), tailRuns)]
		if named {
			list = append(list, t)
		}
	}
	return list
}

// apart moves the bound to the next worse value where so many values are the bound that those are not the worst: of times in
// whole milliseconds, half may be. It reports whether there is one.
func (t *Tail) apart(m *metric.Metric, sign float64) bool {
	all, within, worse := 0, 0, 0
	next := math.Inf(1)
	for _, r := range m.Runs {
		for _, v := range r.Values {
			all++
			if sign*v >= sign*t.Bound {
				within++
			}
			if sign*v > sign*t.Bound {
				worse++
				next = min(next, sign*v)
			}
		}
	}
	if float64(within) <= 2*(1-t.Part)*float64(all) {
		return true
	}
	t.Bound, t.Part = sign*next, 1-float64(worse)/float64(all)
	return worse > 0
}
