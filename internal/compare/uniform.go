package compare

import (
	"math"
	"slices"

	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// Uniform says that all functions cost more or less by one factor, and not each by its own:
// it is not one of them that changed.
type Uniform struct {
	// Functions is how many were looked at: those with 25 samples on both sides.
	Functions int
	// Factor is head over base, the median of the functions', with its 95 % interval.
	Factor float64
	CI     stats.Interval
	// Spread is the most that functions differ from it: the upper end, at 95 %, of the standard
	// deviation of the logarithm between functions.
	Spread float64
}

// uniform finds that all functions changed by one factor, or nil.
//
//  1. The factor is that between the size factors of the runs, as of the median of ratios,
//     tested as everything else is.
//  2. Divided by it, no function is found to have changed.
//  3. The functions differ by at most half of it: what no test finds is not enough to say
//     that they do not differ, with 50 functions that each cost something else.
func (c *Comparison) uniform(e *Event, declared estimator) *Uniform {
	n := e.Normalization
	if n.Mode != None && n.Mode != Work || n.simulated || min(len(c.Base), len(c.Head)) < verdict.LeastRuns || c.blocked() {
		return nil
	}
	median := newNormalization(Reference, len(c.Base), len(c.Head))
	if !median.byMedian(e.costs, c.Options.ReferenceSamples) {
		return nil
	}
	size := func(medians, divisors []divisor) (list []stats.WeightedCount) {
		for i := range medians {
			w := medians[i].value / divisors[i].value
			list = append(list, stats.WeightedCount{Weight: w, WeightSq: medians[i].variance * w * w})
		}
		return list
	}
	factor := declared.ratio(size(median.base, n.base), size(median.head, n.head))
	if factor.P > 1-verdict.Level || factor.CI.Contains(1) {
		return nil
	}
	u := &Uniform{Factor: factor.Ratio, CI: factor.CI}
	after := family{}
	var ratios, variances []float64
	covered := 0.0
	for i := range e.Functions {
		ch := &e.Functions[i].Self
		if ch.Tested {
			again := median.testedChange(e.tests, ch.cost)
			again.Ratio = again.Head / again.Base // which such a test leaves out
			after.changes = append(after.changes, &again)
		}
		if min(ch.BaseSamples, ch.HeadSamples) < c.Options.ReferenceSamples {
			continue
		}
		_, base, head := median.measure(ch.cost)
		ratio, variance, freedom := stats.LogRatio(base, head)
		if freedom <= 2 {
			continue
		}
		u.Functions++
		covered += ch.Base + ch.Head
		ratios = append(ratios, ratio)
		variances = append(variances, variance*freedom/(freedom-2)) // of Student's t
	}
	after.judge(c.Options.rule())
	changed := slices.ContainsFunc(after.changes, func(ch *Change) bool { return ch.Verdict.Changed() })
	if changed || 2*covered < e.Total.Base+e.Total.Head {
		return nil
	}
	if u.Spread = stats.Between(ratios, variances, verdict.Level); u.Spread > math.Abs(math.Log(u.Factor))/2 {
		return nil
	}
	return u
}
