package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// A session are runs in the order of recording: the logarithms of what they cost beside what
// the program costs.
type session func(rng *rand.Rand, runs int) []float64

// sessionNoise is the standard deviation of the logarithm of a run.
const sessionNoise = 0.01

// undisturbed runs differ by noise alone.
func undisturbed(rng *rand.Rand, runs int) []float64 {
	x := make([]float64, runs)
	for i := range x {
		x[i] = sessionNoise * rng.NormFloat64()
	}
	return x
}

// disturbed adds to undisturbed runs what f gives for each by its place in the session.
func disturbed(f func(rng *rand.Rand, runs int) func(at int) float64) session {
	return func(rng *rand.Rand, runs int) []float64 {
		x, add := undisturbed(rng, runs), f(rng, runs)
		for i := range x {
			x[i] += add(i)
		}
		return x
	}
}

// slower is a machine that gets slower in a straight line.
func slower(by float64) session {
	return disturbed(func(_ *rand.Rand, runs int) func(int) float64 {
		return func(at int) float64 { return math.Log1p(by * float64(at) / float64(runs-1)) }
	})
}

// everyFour has an effect that repeats itself every four runs.
var everyFour = disturbed(func(rng *rand.Rand, _ int) func(int) float64 {
	phase := 2 * math.Pi * rng.Float64()
	return func(at int) float64 { return 0.02 * math.Sin(math.Pi/2*float64(at)+phase) }
})

// disturbances are what sessions have in which nothing changed.
var disturbances = []struct {
	name string
	session
}{
	{"nothing disturbs", undisturbed},
	{"drift 20 %", slower(0.2)},
	{"one step of 10 %", disturbed(func(rng *rand.Rand, runs int) func(int) float64 {
		step := rng.IntN(runs)
		return func(at int) float64 {
			if at >= step {
				return math.Log(1.1)
			}
			return 0
		}
	})},
	{"10 % of runs cost 1.3 times", disturbed(func(rng *rand.Rand, _ int) func(int) float64 {
		return func(int) float64 {
			if rng.Float64() < 0.1 {
				return math.Log(1.3)
			}
			return 0
		}
	})},
	{"noise of t with 3 degrees", func(rng *rand.Rand, runs int) []float64 {
		x := make([]float64, runs)
		for i := range x {
			sum := 0.0
			for range 3 {
				z := rng.NormFloat64()
				sum += z * z
			}
			x[i] = sessionNoise * rng.NormFloat64() / math.Sqrt(sum/3)
		}
		return x
	}},
	{"noise of one run half in the next", func(rng *rand.Rand, runs int) []float64 {
		x := undisturbed(rng, runs)
		for i := 1; i < runs; i++ {
			x[i] = x[i-1]/2 + math.Sqrt(0.75)*x[i]
		}
		return x
	}},
}

// An order says of each pair whether head is first.
type order func(rng *rand.Rand, pairs int) []bool

func fixedOrder(_ *rand.Rand, pairs int) []bool {
	first := make([]bool, pairs)
	for i := range first {
		first[i] = i%2 == 1
	}
	return first
}

// drawnOrder has each side first in two of the first four pairs.
func drawnOrder(rng *rand.Rand, pairs int) []bool {
	first := make([]bool, pairs)
	for i := range first {
		first[i] = rng.IntN(2) == 0
	}
	copy(first, []bool{true, true, false, false})
	rng.Shuffle(min(pairs, 4), func(i, j int) { first[i], first[j] = first[j], first[i] })
	return first
}

// record draws a session of so many pairs, in which head costs ratio times as much.
func record(rng *rand.Rand, s session, o order, pairs int, ratio float64) (base, head []WeightedCount) {
	x := s(rng, 2*pairs)
	for i, headFirst := range o(rng, pairs) {
		b, h := x[2*i], x[2*i+1]
		if headFirst {
			b, h = h, b
		}
		const samples = 1e6
		run := func(cost float64) WeightedCount { return WeightedCount{cost, cost * cost / samples} }
		base, head = append(base, run(math.Exp(b))), append(head, run(math.Exp(h)*ratio))
	}
	return base, head
}

// differs is how often a session shows a difference.
func (a *acceptance) differs(s session, o order, pairs int, ratio float64) rate {
	return often(func(rng *rand.Rand) bool {
		base, head := record(rng, s, o, pairs, ratio)
		e := a.tests.TestPairs(base, head, 0.025)
		return e.P <= 0.05
	})
}

func acceptPairs(a *acceptance) {
	for _, n := range []int{4, 8, 10, 20} {
		for _, d := range disturbances {
			a.atMost(fmt.Sprintf("%d pairs, order drawn, noise 1 %%, %s: differ", n, d.name), nominal(), a.differs(d.session, drawnOrder, n, 1))
		}
	}
}

func acceptDrift(a *acceptance) {
	for _, test := range []struct{ drift, change float64 }{{0.1, 0.03}, {0.2, 0.05}} {
		scenario := fmt.Sprintf("10 runs a side, noise 1 %%, drift %s, changed by %s", percent(test.drift), percent(test.change))
		for _, o := range []struct {
			name string
			order
		}{{"order drawn", drawnOrder}, {"ABBA", fixedOrder}} {
			a.atLeast(scenario+", pairs, "+o.name+": differ", 0.99, a.differs(slower(test.drift), o.order, 10, 1+test.change))
		}
		a.state(scenario+", two groups, why runs are compared in pairs: differ", often(func(rng *rand.Rand) bool {
			base, head := record(rng, slower(test.drift), fixedOrder, 10, 1+test.change)
			e := a.tests.Test(base, head)
			return e.P <= 0.05
		}))
	}
}

func acceptPeriod(a *acceptance) {
	for _, n := range []int{8, 10, 20} {
		a.atMost(fmt.Sprintf("%d pairs, order drawn, 2 %% every four runs: differ", n), 0.066, a.differs(everyFour, drawnOrder, n, 1))
		a.atLeast(fmt.Sprintf("the same in ABBA, the negative control: differ, %d pairs", n), 0.5, a.differs(everyFour, fixedOrder, n, 1))
	}
}

func acceptPairedPower(a *acceptance) {
	a.atLeast("10 pairs, order drawn, noise 1 %, drift 10 %, changed by 1.5 %: differ", 0.75, a.differs(slower(0.1), drawnOrder, 10, 1.015))
	// What RunsNeeded promises, and SmallestDetectable.
	for _, alpha := range []float64{0.025, 0.0025} {
		for _, change := range []float64{0.01, 0.02} {
			d := pairedShift{shift{se: sessionNoise * math.Sqrt(2.0/5), df: 4, n: 5, m: 5}}
			e := Estimate{model: d}
			n := e.RunsNeeded(math.Log1p(change), alpha, 0.9)
			a.atLeast(fmt.Sprintf("the %d pairs needed at noise 1 %% to tell %s from none at %v, power 0.9: told", n, percent(change), alpha), 0.88,
				often(func(rng *rand.Rand) bool {
					base, head := record(rng, undisturbed, drawnOrder, n, 1+change)
					e := a.tests.TestPairs(base, head, alpha)
					return e.Above(1) <= alpha
				}))
		}
	}
	for _, n := range []int{4, 8, 10, 20} {
		sum := 0.0
		rng := rand.New(rand.NewPCG(uint64(n), 3))
		for range 1000 {
			base, head := record(rng, undisturbed, drawnOrder, n, 1)
			e := a.tests.Pairs(base, head, 0.025)
			sum += math.Log1p(e.SmallestDetectable(0.05, 0.9)) / 1000
		}
		change := math.Expm1(sum)
		a.atLeast(fmt.Sprintf("%d pairs, changed by the smallest detectable %s, power 0.9: differ", n, percent(math.Round(change*1e4)/1e4)), 0.86,
			a.differs(undisturbed, drawnOrder, n, 1+change))
	}
}

// acceptPairsOfFew is of functions with few samples in a run.
func acceptPairsOfFew(a *acceptance) {
	for _, n := range []int{5, 8, 20} {
		for _, samples := range []float64{0.3, 1, 3, 10, 30} {
			for _, ratio := range []float64{1, 1.05, 2} {
				s := source{mean: samples, sd: 0.02}
				judge := a.atMost
				if ratio > 1.05 && samples < biasedSamples && samples*ratio >= biasedSamples {
					judge = func(scenario string, _ float64, f rate) { a.state(scenario, f) }
				}
				side := func(name string, f func(*Estimate) float64) {
					judge(fmt.Sprintf("%d pairs, %v samples, changed by %s: proven %s it at .05", n, samples, percent(ratio-1), name), nominal(),
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
