package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestComplete simulates what was recorded completely, in few and heavy samples: intervals must
// hold the truth as often as they say, though they are no wider than runs vary.
func TestComplete(t *testing.T) {
	const trials = 1500
	for _, test := range []struct {
		name string
		draw func(rng *rand.Rand, ratio float64) WeightedCount
	}{
		{"time off the CPU, 20 times a run", func(rng *rand.Rand, ratio float64) WeightedCount {
			w := 600e6 * ratio * math.Exp(0.05*rng.NormFloat64())
			return WeightedCount{Weight: w, WeightSq: w * w / 20}
		}},
		{"time off the CPU, twice a run", func(rng *rand.Rand, ratio float64) WeightedCount {
			w := 600e6 * ratio * math.Exp(0.2*rng.NormFloat64())
			return WeightedCount{Weight: w, WeightSq: w * w / 2}
		}},
		{"switches, 12 a run", func(rng *rand.Rand, ratio float64) WeightedCount {
			k := distuv.Poisson{Lambda: 12 * ratio, Src: rng}.Rand()
			return WeightedCount{Weight: k, WeightSq: k}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, runs := range []int{3, 5, 10} {
				rng := rand.New(rand.NewPCG(3, uint64(runs)))
				tests := New(0.95)
				held, called, width, sampled := 0, 0, 0.0, 0.0
				for range trials {
					base, head := make([]WeightedCount, runs), make([]WeightedCount, runs)
					again := make([]WeightedCount, runs)
					for i := range runs {
						base[i], head[i], again[i] = test.draw(rng, 1), test.draw(rng, 0.6), test.draw(rng, 1)
					}
					wide := tests.Ratio(base, head)
					for _, side := range [][]WeightedCount{base, head, again} {
						for i := range side {
							side[i].Complete = true
						}
					}
					e := tests.Ratio(base, head)
					width += math.Log(e.CI.Hi / e.CI.Lo)
					sampled += math.Log(wide.CI.Hi / wide.CI.Lo)
					if e.CI.Contains(0.6) {
						held++
					}
					if a := tests.Ratio(base, again); a.P < 0.05 {
						called++
					}
				}
				if rate := float64(held) / trials; rate < 0.93 {
					t.Errorf("%d runs: the interval holds the truth in %.3f", runs, rate)
				}
				if rate := float64(called) / trials; rate > 0.065 {
					t.Errorf("%d runs: p is below 0.05 without a change in %.3f", runs, rate)
				}
				if width > sampled*1.0001 {
					t.Errorf("%d runs: complete sums have wider intervals than sampled ones, by %.3f", runs, width/sampled)
				}
			}
		})
	}
}

// TestCompleteCalls: twenty sleeps a run that take a third of the time are told from each other
// by six runs, in an interval that is as narrow as the runs are alike.
func TestCompleteCalls(t *testing.T) {
	var base, head []WeightedCount
	for _, ms := range []float64{301, 303, 302, 304, 302, 303} {
		base = append(base, WeightedCount{Weight: ms, WeightSq: ms * ms / 20, Complete: true})
		head = append(head, WeightedCount{Weight: ms / 3, WeightSq: ms * ms / 9 / 20, Complete: true})
	}
	if e := Ratio(base, head, 0.95); e.CI.Lo < 0.32 || e.CI.Hi > 0.35 {
		t.Errorf("the ratio is %.3f [%.3f, %.3f]", e.Ratio, e.CI.Lo, e.CI.Hi)
	}
}
