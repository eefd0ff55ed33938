package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestBounds checks that bounds are where the tests begin to exclude.
func TestBounds(t *testing.T) {
	tests := New(0.95)
	rng := rand.New(rand.NewPCG(3, 5))
	side := func(n int, mean float64, sampled bool) (list []WeightedCount) {
		for range n {
			w := math.Round(mean * (1 + 0.05*rng.NormFloat64()))
			c := WeightedCount{Weight: w}
			if sampled {
				c.WeightSq = w
			}
			list = append(list, c)
		}
		return list
	}
	for _, test := range []struct {
		name string
		e    Estimate
	}{
		{"one run a side", tests.Ratio(side(1, 1000, true), side(1, 1200, true))},
		{"one run against several", tests.Ratio(side(1, 1000, true), side(6, 1000, true))},
		{"welch", tests.Ratio(side(5, 1e4, true), side(6, 1e4, true))},
		{"ranks", tests.Ratio(side(10, 1e4, true), side(12, 1.1e4, true))},
		{"few samples", tests.Ratio(side(10, 3, true), side(10, 2, true))},
		{"new", tests.Ratio(side(8, 0, true), side(8, 100, true))},
		{"gone", tests.Ratio(side(8, 100, true), side(8, 0, true))},
		{"counted", tests.Ratio(side(5, 1e4, false), side(5, 1e4, false))},
		{"a level", tests.Level(side(6, 1e9, true), false)},
		{"a level by ranks", tests.Level(side(12, 1e-3, false), true)},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, alpha := range []float64{0.05, 0.01, 0.002} {
				lo, hi := test.e.AtLeast(alpha), test.e.AtMost(alpha)
				if lo > hi {
					t.Errorf("level %v: %v to %v", alpha, lo, hi)
				}
				if lo > 0 && (test.e.Above(lo*(1-1e-6)) > alpha || test.e.Above(lo*(1+1e-6)) <= alpha) {
					t.Errorf("level %v: at least %v, where p is %v", alpha, lo, test.e.Above(lo))
				}
				if !math.IsInf(hi, 1) && (test.e.Below(hi*(1+1e-6)) > alpha || test.e.Below(hi*(1-1e-6)) <= alpha) {
					t.Errorf("level %v: at most %v, where p is %v", alpha, hi, test.e.Below(hi))
				}
				if lo == 0 && test.e.Above(1e-9*max(test.e.Ratio, 1e-9)) <= alpha {
					t.Errorf("level %v: nothing is excluded below", alpha)
				}
			}
		})
	}
	// So few runs cannot be as rare as the level.
	ranks := tests.Level(side(8, 1e4, true), true)
	if lo, hi := ranks.AtLeast(1e-4), ranks.AtMost(1e-4); lo != 0 || !math.IsInf(hi, 1) {
		t.Errorf("8 runs by ranks at level 1e-4: %v to %v", lo, hi)
	}
	exact := tests.Exact(WeightedCount{Weight: 100}, WeightedCount{Weight: 106})
	if lo, hi := exact.AtLeast(0.05), exact.AtMost(0.05); lo != 1.06 || hi != 1.06 {
		t.Errorf("exact: %v to %v", lo, hi)
	}
	refused := tests.Ratio(side(8, 0, true), side(8, 0, true))
	if lo, hi := refused.AtLeast(0.05), refused.AtMost(0.05); lo != 0 || !math.IsInf(hi, 1) {
		t.Errorf("without weight: %v to %v", lo, hi)
	}
}
