package stats

import (
	"math"
	"math/rand/v2"
)

// A session is how the costs of runs come about that are recorded in pairs, one run after the
// other: the logarithm of each has noise of its own, and a machine under it that is disturbed.
type session struct {
	name string
	sd   float64 // of the logarithm of a run, 0 for runNoise
	// drift is by how much the machine gets slower, from the first run to the last.
	drift float64
	// step is a change of the machine that stays, at some run.
	step float64
	// wave is the amplitude of what comes and goes, with a period of so many runs, 0 for one
	// of 3 to 20.
	wave, period float64
	// abba has the order fixed: the side that was first in a pair is second in the next.
	abba bool
	// bad is the probability of a run to cost 1.3 times as much.
	bad float64
	// noise draws what a run has of its own, nil for normal noise.
	noise func(*rand.Rand) float64
	// correlation is that of a run with the one before.
	correlation float64
}

// runNoise is the standard deviation of the logarithm of one run.
const runNoise = 0.01

// sessions are the disturbances under which looks must not err.
var sessions = []session{
	{name: "nothing"},
	{name: "drift 20 %", drift: 0.2},
	{name: "a step of 10 %", step: 0.1},
	{name: "waves of 3 %", wave: 0.03},
	{name: "10 % of runs cost 1.3 times", bad: 0.1},
	{name: "t of 3 degrees", noise: func(r *rand.Rand) float64 {
		sum := 0.0
		for range 3 {
			x := r.NormFloat64()
			sum += x * x
		}
		return r.NormFloat64() / math.Sqrt(sum/3)
	}},
	{name: "one-sided noise", noise: func(r *rand.Rand) float64 { return r.ExpFloat64() - 1 }},
	{name: "correlated runs", correlation: 0.5},
	{name: "drift 10 %, 10 % of runs cost 1.3 times", drift: 0.1, bad: 0.1},
}

// draw draws pairs in an order that is drawn too: the first four have each side first equally
// often, and a coin says which is first in each of the others. ratio is the true one.
func (s *session) draw(rng *rand.Rand, pairs int, ratio float64) (base, head []WeightedCount) {
	sd := s.sd
	if sd == 0 {
		sd = runNoise
	}
	own := s.noise
	if own == nil {
		own = (*rand.Rand).NormFloat64
	}
	first := []bool{true, true, false, false}
	rng.Shuffle(len(first), func(i, j int) { first[i], first[j] = first[j], first[i] })
	runs := 2 * pairs
	at, last := rng.IntN(runs), rng.NormFloat64()
	period, phase := 3+17*rng.Float64(), 2*math.Pi*rng.Float64()
	if s.period > 0 {
		period = s.period
	}
	run := func(i int) float64 {
		x := own(rng)
		if s.correlation > 0 {
			last = s.correlation*last + math.Sqrt(1-s.correlation*s.correlation)*x
			x = last
		}
		x = sd*x + math.Log1p(s.drift*float64(i)/float64(runs-1)) + s.wave*math.Sin(2*math.Pi*float64(i)/period+phase)
		if i >= at {
			x += math.Log1p(s.step)
		}
		if s.bad > 0 && rng.Float64() < s.bad {
			x += math.Log(1.3)
		}
		return 1e6 * math.Exp(x)
	}
	for k := range pairs {
		headFirst := k < len(first) && first[k] || k >= len(first) && rng.IntN(2) == 0
		if s.abba {
			headFirst = k%2 == 1
		}
		a, b := run(2*k), run(2*k+1)
		if headFirst {
			a, b = b, a
		}
		base, head = append(base, WeightedCount{Weight: a}), append(head, WeightedCount{Weight: ratio * b})
	}
	return base, head
}
