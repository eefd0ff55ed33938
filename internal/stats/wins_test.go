package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// pairwise is wins by all pairs of runs, one by one.
func pairwise(ratio float64, base, head []WeightedCount, halfBase, halfHead float64) float64 {
	place := func(c WeightedCount, half, ratio float64) spot {
		if c.Weight == 0 {
			return spot{at: half / 2 * ratio, width: half * ratio, zero: true}
		}
		return spot{at: c.Weight * ratio, width: min(c.WeightSq/c.Weight, c.Weight) * ratio}
	}
	won := 0.0
	for _, b := range base {
		x := place(b, halfBase, ratio)
		for _, h := range head {
			y := place(h, halfHead, 1)
			won += larger(&y, &x)
		}
	}
	return won
}

// varied are runs with so many samples on average, of which each has its own divisor with
// spread sd, and heavy of the runs have samples that weigh so much more.
func varied(rng *rand.Rand, n int, samples, sd, heavy float64) []WeightedCount {
	runs := make([]WeightedCount, n)
	for i := range runs {
		f := math.Exp(sd * rng.NormFloat64())
		if heavy > 0 && i%7 == 0 {
			f *= heavy
		}
		k := poisson(rng, samples)
		runs[i] = WeightedCount{Weight: k * f, WeightSq: k * f * f}
	}
	return runs
}

// TestWinsBruteForce compares with all pairs, at ratios where few, half and almost all are won.
func TestWinsBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		name       string
		base, head []WeightedCount
		swept      bool
	}{
		{"few samples", varied(rng, 90, 3, 0, 0), varied(rng, 110, 4, 0, 0), false},
		{"few samples, divided", varied(rng, 90, 3, 0.1, 0), varied(rng, 110, 4, 0.1, 0), true},
		{"rare samples, divided", varied(rng, 300, 0.3, 0.1, 0), varied(rng, 250, 0.3, 0.1, 0), true},
		{"many samples, divided", varied(rng, 90, 5000, 0.02, 0), varied(rng, 110, 5100, 0.02, 0), true},
		{"weights that differ by 100", varied(rng, 200, 3, 0.1, 100), varied(rng, 200, 3, 0.1, 100), true},
		{"weights that differ by 1e6", varied(rng, 200, 3, 0.1, 1e6), varied(rng, 200, 3, 0.1, 1), false},
		{"a million samples", varied(rng, 90, 1e6, 0, 0), varied(rng, 110, 1e6, 0.01, 0), false},
		{"new", varied(rng, 90, 0, 0, 0), varied(rng, 110, 3, 0.1, 0), false},
		{"gone", varied(rng, 90, 3, 0.1, 0), varied(rng, 110, 0, 0, 0), false},
		{"one run with samples", varied(rng, 90, 3, 0.1, 0), append(varied(rng, 110, 0, 0, 0), WeightedCount{Weight: 3, WeightSq: 3}), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, refused := newSides(tt.base, tt.head)
			if refused != "" {
				t.Fatal(refused)
			}
			r := newRanked(New(0.95), s)
			if swept := r.base.edges != nil && r.head.edges != nil; swept != tt.swept {
				t.Errorf("swept: %v, want %v", swept, tt.swept)
			}
			for _, limit := range []float64{-700, -2, -0.3, -0.1, -0.01, 0, 1e-7, 0.02, 0.2, 1, 5, 700} {
				ratio := r.ratio(limit)
				for _, zeros := range []struct {
					name               string
					base, head         *spots
					halfBase, halfHead float64
				}{
					{"half a sample", r.base, r.head, s.half, s.half},
					{"nothing in base", r.baseFloor, r.head, 0, s.half},
					{"nothing in head", r.base, r.headFloor, s.half, 0},
				} {
					got, want := wins(ratio, zeros.base, zeros.head), pairwise(ratio, tt.base, tt.head, zeros.halfBase, zeros.halfHead)
					if math.Abs(got-want) > 1e-9*max(want, 1e-3) {
						t.Errorf("zeros are %s, ratio %v: %v wins, want %v", zeros.name, ratio, got, want)
					}
				}
			}
		})
	}
}

// TestWinsCounted has values that are not sampled, with ties and zeros.
func TestWinsCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	draw := func(n int) []WeightedCount {
		runs := make([]WeightedCount, n)
		for i := range runs {
			runs[i].Weight = float64(rng.IntN(6)) * (1 + 1e-15*rng.Float64())
		}
		return runs
	}
	base, head := draw(120), draw(150)
	s, _ := newSides(base, head)
	r := newRanked(New(0.95), s)
	if len(r.base.list) > 6 || len(r.head.list) > 6 {
		t.Errorf("%d and %d different values, want 6", len(r.base.list), len(r.head.list))
	}
	for _, ratio := range []float64{0.5, 1, 2, 1.1} {
		if got, want := wins(ratio, r.base, r.head), pairwise(ratio, base, head, 0, 0); got != want {
			t.Errorf("ratio %v: %v wins, want %v", ratio, got, want)
		}
	}
}

// bisected is the interval and the estimate of the rank test by all pairs and bisection.
func bisected(tests *Tests, base, head []WeightedCount) (estimate float64, ci Interval) {
	s, _ := newSides(base, head)
	null := tests.null(len(base), len(head), 0)
	last := func(holds func(ratio float64) bool) float64 {
		lo, hi := -8.0, 8.0
		for hi-lo > 1e-9 {
			if mid := (lo + hi) / 2; holds(math.Exp(mid)) {
				lo = mid
			} else {
				hi = mid
			}
		}
		return math.Exp((lo + hi) / 2)
	}
	half := float64(null.pairs) / 2
	alpha := (1 - tests.level) / 2
	least := last(func(r float64) bool { return pairwise(r, base, head, s.half, s.half) > half })
	most := last(func(r float64) bool { return pairwise(r, base, head, s.half, s.half) >= half })
	return math.Sqrt(least * most), Interval{
		last(func(r float64) bool { return null.above(pairwise(r, base, head, s.half, 0)) <= alpha }),
		last(func(r float64) bool { return null.below(pairwise(r, base, head, 0, s.half)) > alpha }),
	}
}

// TestRanksBruteForce compares estimates and intervals with those of all pairs.
func TestRanksBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	tests := New(0.95)
	for _, runs := range [][2]int{{8, 8}, {9, 14}, {35, 35}, {60, 70}} {
		for _, samples := range []float64{0.7, 3, 400} {
			for _, sd := range []float64{0, 0.05} {
				base, head := varied(rng, runs[0], samples, sd, 0), varied(rng, runs[1], samples, sd, 0)
				e := tests.Ratio(base, head)
				ratio, ci := bisected(tests, base, head)
				for _, pair := range [][2]float64{{e.Ratio, ratio}, {e.CI.Lo, ci.Lo}, {e.CI.Hi, ci.Hi}} {
					// An end beyond all pairs is 0 or infinite.
					if beyond := pair[1] < 1e-3 || pair[1] > 1e3; !beyond && math.Abs(pair[0]/pair[1]-1) > 3e-9 {
						t.Errorf("%d and %d runs of %v samples, spread %v: %v in %v, want %v in %v", runs[0], runs[1], samples, sd, e.Ratio, e.CI, ratio, ci)
						break
					}
				}
			}
		}
	}
}

// BenchmarkManyRuns is one function of 3 samples a run.
func BenchmarkManyRuns(b *testing.B) {
	for _, n := range []int{50, 200, 1000} {
		for _, sd := range []float64{0, 0.05} {
			b.Run(fmt.Sprintf("runs=%d/divisors=%v", n, sd), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 1))
				base, head := varied(rng, n, 3, sd, 0), varied(rng, n, 3, sd, 0)
				tests := New(0.95)
				for b.Loop() {
					tests.Ratio(base, head)
				}
			})
			b.Run(fmt.Sprintf("pairs=%d/divisors=%v", n, sd), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 1))
				base, head := varied(rng, n, 3, sd, 0), varied(rng, n, 3, sd, 0)
				tests := New(0.95)
				for b.Loop() {
					tests.Pairs(base, head, 1e-4)
				}
			})
		}
	}
}
