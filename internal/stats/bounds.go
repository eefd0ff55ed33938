package stats

import "math"

// AtLeast is the lower end of what an estimate leaves open: all that is less is excluded by
// [Estimate.Above] at a one-sided level. It is 0 if nothing is.
func (e *Estimate) AtLeast(alpha float64) float64 {
	if e.Method == Exact {
		return e.Ratio
	}
	return math.Exp(-e.reach(-1, alpha, e.Above))
}

// AtMost is the upper end, likewise by [Estimate.Below]. It is +Inf if nothing is excluded.
func (e *Estimate) AtMost(alpha float64) float64 {
	if e.Method == Exact {
		return e.Ratio
	}
	return math.Exp(e.reach(1, alpha, e.Below))
}

// reach is how far from 0, as a logarithm in the direction of sign, the least value is that a
// test excludes: +Inf if there is none. Excluded is what has a p of at most alpha.
func (e *Estimate) reach(sign, alpha float64, p func(ratio float64) float64) float64 {
	excluded := func(x float64) bool { return p(math.Exp(sign*x)) <= alpha }
	// The estimate is rarely excluded, so that the end is beyond it.
	open := 0.0
	for _, ratio := range []float64{e.Ratio, e.CI.Lo, e.CI.Hi} {
		if ratio > 0 && !math.IsInf(ratio, 1) {
			open = sign * math.Log(ratio)
			break
		}
	}
	const far = 600 // a logarithm, of what is no number any more
	step := 1.0 / 64
	for ; excluded(open); step *= 2 {
		if open -= step; open < -far {
			return math.Inf(-1)
		}
	}
	beyond := open + step
	for ; !excluded(beyond); step *= 2 {
		open = beyond
		if beyond += step; beyond > far {
			return math.Inf(1)
		}
	}
	for beyond-open > 1e-9 {
		if middle := (open + beyond) / 2; excluded(middle) {
			beyond = middle
		} else {
			open = middle
		}
	}
	return beyond
}
