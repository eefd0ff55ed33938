package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// pairsDiffer is how often the pairs of a session differ at p ≤ 0.05.
func (a *acceptance) pairsDiffer(s session, pairs int, ratio float64) rate {
	return often(func(rng *rand.Rand) bool {
		base, head := s.draw(rng, pairs, ratio)
		e := a.tests.TestPairs(base, head, 0.025)
		return e.P <= 0.05
	})
}

func acceptPairs(a *acceptance) {
	for _, n := range []int{4, 8, 10, 20} {
		for _, s := range sessions {
			scenario := fmt.Sprintf("%d pairs, order drawn, disturbed by %s: differ", n, s.name)
			if s.wave > 0 {
				// A wave of few runs is in several pairs with one sign.
				a.state(scenario, a.pairsDiffer(s, n, 1))
				continue
			}
			a.atMost(scenario, nominal(), a.pairsDiffer(s, n, 1))
		}
	}
}

func acceptDrift(a *acceptance) {
	for _, test := range []struct{ drift, change float64 }{{0.1, 0.03}, {0.2, 0.05}} {
		scenario := fmt.Sprintf("10 runs a side, drift %s, changed by %s", percent(test.drift), percent(test.change))
		a.atLeast(scenario+", pairs, order drawn: differ", 0.99, a.pairsDiffer(session{drift: test.drift}, 10, 1+test.change))
		abba := session{drift: test.drift, abba: true}
		a.atLeast(scenario+", pairs, ABBA: differ", 0.99, a.pairsDiffer(abba, 10, 1+test.change))
		a.state(scenario+", two groups, why runs are compared in pairs: differ", often(func(rng *rand.Rand) bool {
			base, head := abba.draw(rng, 10, 1+test.change)
			e := a.tests.Test(base, head)
			return e.P <= 0.05
		}))
	}
}

func acceptPeriod(a *acceptance) {
	for _, n := range []int{8, 10, 20} {
		a.atMost(fmt.Sprintf("%d pairs, order drawn, waves of 2 %% every four runs: differ", n), 0.066, a.pairsDiffer(session{wave: 0.02, period: 4}, n, 1))
		a.atLeast(fmt.Sprintf("the same in ABBA, the negative control: differ, %d pairs", n), 0.5, a.pairsDiffer(session{wave: 0.02, period: 4, abba: true}, n, 1))
	}
}

func acceptPairedPower(a *acceptance) {
	a.atLeast("10 pairs, order drawn, drift 10 %, changed by 1.5 %: differ", 0.75, a.pairsDiffer(session{drift: 0.1}, 10, 1.015))
	// What RunsNeeded promises, and SmallestDetectable.
	for _, alpha := range []float64{0.025, 0.0025} {
		for _, change := range []float64{0.01, 0.02} {
			e := Estimate{model: pairedShift{shift{se: runNoise * math.Sqrt(2.0/5), df: 4, n: 5, m: 5}}}
			n := e.RunsNeeded(math.Log1p(change), alpha, 0.9)
			a.atLeast(fmt.Sprintf("the %d pairs needed to tell %s from none at %v, power 0.9: told", n, percent(change), alpha), 0.88,
				often(func(rng *rand.Rand) bool {
					base, head := sessions[0].draw(rng, n, 1+change)
					e := a.tests.TestPairs(base, head, alpha)
					return e.Above(1) <= alpha
				}))
		}
	}
	for _, n := range []int{5, 8, 10, 20} {
		sum := 0.0
		rng := rand.New(rand.NewPCG(uint64(n), 3))
		for range 1000 {
			base, head := sessions[0].draw(rng, n, 1)
			e := a.tests.Pairs(base, head, 0.025)
			sum += math.Log1p(e.SmallestDetectable(0.05, 0.9)) / 1000
		}
		change := math.Expm1(sum)
		scenario := fmt.Sprintf("%d pairs, changed by the smallest detectable %s, power 0.9: differ", n, percent(math.Round(change*1e4)/1e4))
		differ := a.pairsDiffer(sessions[0], n, 1+change)
		if n < 8 {
			// The deviation of few pairs is less than the true one, on average of its logarithm.
			a.state(scenario, differ)
			continue
		}
		a.atLeast(scenario, 0.87, differ)
	}
}

// acceptPairsOfFew is of functions with few samples in a run.
func acceptPairsOfFew(a *acceptance) {
	for _, n := range []int{5, 8, 20} {
		for _, samples := range []float64{0.3, 1, 3, 10, 30} {
			for _, ratio := range []float64{1, 1.05, 2} {
				s := source{mean: samples, sd: 0.02}
				side := func(name string, f func(*Estimate) float64) {
					a.atMost(fmt.Sprintf("%d pairs, %v samples, changed by %s: proven %s it at .05", n, samples, percent(ratio-1), name), nominal(),
						often(func(rng *rand.Rand) bool {
							e := a.tests.TestPairs(s.runs(rng, n), s.times(ratio).runs(rng, n), 0.05)
							return f(&e) <= 0.05
						}))
				}
				side("above", func(e *Estimate) float64 { return e.Above(ratio) })
				side("below", func(e *Estimate) float64 { return e.Below(ratio) })
			}
		}
	}
}

func acceptPairsCoverage(a *acceptance) {
	for _, n := range []int{4, 7, 8, 10, 20} {
		for _, ratio := range []float64{1, 1.5} {
			for _, s := range []source{{mean: 20, sd: 0.02}, {mean: 500, sd: 0.05}} {
				a.atLeast(fmt.Sprintf("%d pairs, %v samples, between runs %s, changed by %s: interval of the ratio has it", n, s.mean, percent(s.sd), percent(ratio-1)), 0.935,
					often(func(rng *rand.Rand) bool {
						e := a.tests.Pairs(s.runs(rng, n), s.times(ratio).runs(rng, n), 0.025)
						return e.CI.Contains(ratio)
					}))
			}
		}
	}
}
