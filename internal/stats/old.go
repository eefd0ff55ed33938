package stats

// SamplingRatio is the interval of the ratio head/base that sampling noise alone
// leaves open, when each side is one run. Use [Tests.Ratio].
func SamplingRatio(base, head WeightedCount, level float64) Interval {
	return Ratio([]WeightedCount{base}, []WeightedCount{head}, level).CI
}

// WelchRatio is the interval of the ratio of the means of head and base from runs as
// the unit. With a zero on any side ok is false. Use [Tests.Ratio].
func WelchRatio(base, head []float64, level float64) (i Interval, ok bool) {
	if len(base) < 2 || len(head) < 2 {
		return everything(), false
	}
	runs := func(x []float64) []WeightedCount {
		c := make([]WeightedCount, len(x))
		for i, v := range x {
			c[i].Weight = v
		}
		return c
	}
	s, refused := newSides(runs(base), runs(head))
	if refused != "" || s.zeroBase+s.zeroHead > 0 {
		return everything(), false
	}
	var e Estimate
	if t := New(level); s.constant() {
		t.exact(&e, s)
	} else {
		t.welch(&e, s)
	}
	return e.CI, true
}
