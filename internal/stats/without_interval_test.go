package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestWithoutInterval checks that Test says of P, Above and Below what Ratio does.
func TestWithoutInterval(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	tests := New(0.95)
	for i := range 2000 {
		var sides [2][]WeightedCount
		for side := range sides {
			for range 1 + rng.IntN(12) {
				w := math.Round(math.Exp(3 + rng.NormFloat64()))
				if i%5 == 0 && rng.IntN(4) == 0 {
					w = 0
				}
				c := WeightedCount{Weight: w}
				if i%3 > 0 {
					c.WeightSq = w
				}
				sides[side] = append(sides[side], c)
			}
		}
		want, got := tests.Ratio(sides[0], sides[1]), tests.Test(sides[0], sides[1])
		same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
		if !same(got.P, want.P) || got.Method != want.Method || got.Capped != want.Capped || got.Refused != want.Refused {
			t.Fatalf("%v: %+v, want %+v", sides, got, want)
		}
		for _, r := range []float64{0.5, 1, 1.02, 3} {
			if !same(got.Above(r), want.Above(r)) || !same(got.Below(r), want.Below(r)) {
				t.Fatalf("%v: above %v, below %v of %v, want %v, %v", sides, got.Above(r), got.Below(r), r, want.Above(r), want.Below(r))
			}
		}
	}
}
