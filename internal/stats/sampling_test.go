package stats

import (
	"math"
	"testing"
)

func TestSamplingEdges(t *testing.T) {
	w := func(n int) WeightedCount { return WeightedCount{Weight: float64(n) * 10, WeightSq: float64(n) * 100} }
	for _, test := range []struct {
		name       string
		base, head WeightedCount
		method     Method
		lo, hi     func(float64) bool
	}{
		{"new", w(0), w(5), SamplingExact, func(lo float64) bool { return lo > 0.9 && lo < 1 }, func(hi float64) bool { return hi == inf }},
		{"gone", w(5), w(0), SamplingExact, func(lo float64) bool { return lo == 0 }, func(hi float64) bool { return hi > 1 && hi < 1.1 }},
		{"few", w(3), w(4), SamplingExact, func(lo float64) bool { return lo > 0 && lo < 4.0/3 }, func(hi float64) bool { return hi > 4.0/3 && hi < inf }},
		{"few on one side", w(29), w(2000), SamplingExact, func(lo float64) bool { return lo > 45 && lo < 69 }, func(hi float64) bool { return hi > 69 && hi < 110 }},
		{"many", w(1000), w(2000), Sampling, func(lo float64) bool { return lo > 1.8 && lo < 2 }, func(hi float64) bool { return hi > 2 && hi < 2.2 }},
	} {
		e := Ratio([]WeightedCount{test.base}, []WeightedCount{test.head}, 0.95)
		if e.Method != test.method || !test.lo(e.CI.Lo) || !test.hi(e.CI.Hi) || !e.Capped {
			t.Errorf("%s: %+v", test.name, e)
		}
	}
}

// TestSamplingWidth compares with the width of the formula: log of the ratio ± 1.96·√(Σw²/W² of
// both sides).
func TestSamplingWidth(t *testing.T) {
	e := Ratio([]WeightedCount{{Weight: 1000, WeightSq: 1e4}}, []WeightedCount{{Weight: 2000, WeightSq: 5e4}}, 0.95)
	d := 1.959963984540054 * math.Sqrt(1e4/1e6+5e4/4e6)
	if !near(e.Ratio, 2) || !near(e.CI.Lo, 2*math.Exp(-d)) || !near(e.CI.Hi, 2*math.Exp(d)) {
		t.Errorf("%+v, want 2 within a factor of %v", e, math.Exp(d))
	}
}
