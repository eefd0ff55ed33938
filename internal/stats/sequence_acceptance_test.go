package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// fixed are the levels of a schedule, which are the same in each build: a sequence of so many
// targets that shares them.
type fixed struct {
	schedule Schedule
	levels   map[levelKey]float64
}

func newFixed(alpha float64) fixed { return fixed{every2(alpha), make(map[levelKey]float64)} }

func (f fixed) sequence(targets int) *Sequence {
	s := NewSequence(f.schedule, targets)
	s.levels = f.levels
	return s
}

// limits looks at pairs until it is decided of each target whether a limit holds.
func (f fixed) limits(tests *Tests, base, head [][]WeightedCount, limit float64) *Sequence {
	s := f.sequence(len(base))
	evidence := make([]Evidence, len(base))
	for n := s.Due(); n > 0 && !(s.Pairs() > 0 && s.Decided()); n = s.Due() {
		if err := s.Next(n); err != nil {
			panic(err)
		}
		for i := range base {
			e := tests.TestPairs(base[i][:n], head[i][:n], s.Shared())
			evidence[i] = Evidence{e.Above(limit), 1, e.Below(limit), 0}
		}
		s.Decide(evidence)
	}
	return s
}

// one is limits of one target.
func (f fixed) one(tests *Tests, rng *rand.Rand, s *session, ratio, limit float64) *Sequence {
	base, head := s.draw(rng, f.schedule.Cap, ratio)
	return f.limits(tests, [][]WeightedCount{base}, [][]WeightedCount{head}, limit)
}

// acceptLooks is of looks after 4, 6, 8 and so on of at most 40 pairs, with a limit of 1.5
// standard deviations of a run.
func acceptLooks(a *acceptance) {
	limit := math.Exp(1.5 * runNoise)
	f := newFixed(0.05)
	for i := range sessions {
		s := &sessions[i]
		rates := func(d Decision) rate {
			return often(func(rng *rand.Rand) bool { return f.one(a.tests, rng, s, limit, limit).Decision(0) == d })
		}
		a.atMost(fmt.Sprintf("looks, disturbed by %s, truth at the limit: a fail at any of 19", s.name), 0.060, rates(More))
		a.atMost(fmt.Sprintf("looks, disturbed by %s, truth at the limit: a pass at any of 19", s.name), 0.060, rates(Neither))
	}
	// The negative control: each look at the whole level.
	a.atLeast("each look at the whole level, truth at the limit: a fail at any look", 0.15, often(func(rng *rand.Rand) bool {
		base, head := sessions[0].draw(rng, f.schedule.Cap, limit)
		for n := f.schedule.First; n > 0; n = f.schedule.Due(n) {
			if e := a.tests.TestPairs(base[:n], head[:n], 0.05); e.Above(limit) <= 0.05 {
				return true
			}
		}
		return false
	}))
}

// acceptSaved is of the pairs that looks take.
func acceptSaved(a *acceptance) {
	limit := math.Exp(1.5 * runNoise)
	f := newFixed(0.05)
	pairs := func(ratio float64) rate {
		return average(func(rng *rand.Rand) float64 {
			return float64(f.one(a.tests, rng, &sessions[0], ratio, limit).Pairs())
		})
	}
	median := func(ratio float64) rate {
		return func(rng *rand.Rand, builds int) float64 {
			list := make([]float64, builds)
			for i := range list {
				list[i] = float64(f.one(a.tests, rng, &sessions[0], ratio, limit).Pairs())
			}
			return Median(list)
		}
	}
	a.atMost("looks, limit of 1.5 standard deviations of a run, no change: pairs in the mean", 12.5, pairs(1))
	a.atMost("the same, change of 5 standard deviations: pairs in the mean", 7, pairs(math.Exp(5*runNoise)))
	for _, test := range []struct {
		name  string
		times float64
	}{{"no change", 0}, {"half the limit", 0.5}, {"a change of 2 × the limit", 2}, {"a change of 10 × the limit", 10}} {
		a.state(fmt.Sprintf("looks, limit of 1.5 standard deviations of a run, %s: pairs of at most 40, the median", test.name), median(math.Exp(1.5*runNoise*test.times)))
	}
	a.atLeast("the same, no change: passes", 0.99, often(func(rng *rand.Rand) bool {
		return f.one(a.tests, rng, &sessions[0], 1, limit).Decision(0) == Neither
	}))
	a.atLeast("the same, a change of 2 standard deviations: fails", 0.6, often(func(rng *rand.Rand) bool {
		return f.one(a.tests, rng, &sessions[0], math.Exp(2*runNoise), limit).Decision(0) == More
	}))
	a.state("the same, one look at 40 pairs: fails", often(func(rng *rand.Rand) bool {
		base, head := sessions[0].draw(rng, 40, math.Exp(2*runNoise))
		e := a.tests.TestPairs(base, head, 0.05)
		return e.Above(limit) <= 0.05
	}))
}

// acceptLookFamilies is of several targets, with noise of their own or in part in common.
func acceptLookFamilies(a *acceptance) {
	limit := math.Exp(1.5 * runNoise)
	f := newFixed(0.05)
	for _, test := range []struct {
		targets int
		common  float64 // correlation of the targets
	}{{5, 0}, {20, 0}, {20, 0.5}} {
		name := fmt.Sprintf("%d limits, all costs at theirs", test.targets)
		if test.common > 0 {
			name += fmt.Sprintf(", correlated by %v", test.common)
		}
		a.atMost(name+": any fail at any look", 0.062, often(func(rng *rand.Rand) bool {
			own := session{sd: runNoise * math.Sqrt(1-test.common)}
			of := session{sd: runNoise * math.Sqrt(test.common)}
			base, head := make([][]WeightedCount, test.targets), make([][]WeightedCount, test.targets)
			var base0, head0 []WeightedCount
			if test.common > 0 {
				base0, head0 = of.draw(rng, f.schedule.Cap, 1)
			}
			for i := range base {
				base[i], head[i] = own.draw(rng, f.schedule.Cap, limit)
				for k := range base0 {
					base[i][k].Weight *= base0[k].Weight / 1e6
					head[i][k].Weight *= head0[k].Weight / 1e6
				}
			}
			s := f.limits(a.tests, base, head, limit)
			return slices.ContainsFunc(s.targets, func(d decided) bool { return d.decision == More })
		}))
	}
}

// acceptStopped is of the intervals of sets that ended when a limit was decided.
func acceptStopped(a *acceptance) {
	limit := math.Exp(1.5 * runNoise)
	f := newFixed(0.05)
	printed, ordinary := New(0.985), New(0.95)
	covers := func(early *Tests, ratio float64) rate {
		return often(func(rng *rand.Rand) bool {
			tests := early
			base, head := sessions[0].draw(rng, f.schedule.Cap, ratio)
			n := f.limits(a.tests, [][]WeightedCount{base}, [][]WeightedCount{head}, limit).Pairs()
			if n == f.schedule.Cap {
				tests = ordinary // it did not end early
			}
			e := tests.Pairs(base[:n], head[:n], 0.025)
			return e.CI.Contains(ratio)
		})
	}
	for _, test := range []struct {
		name string
		sd   float64
	}{{"no change", 0}, {"half the limit", 0.75}, {"a change at the limit", 1.5}, {"a change of 2 × the limit", 3}, {"a change of 10 × the limit", 15}} {
		ratio := math.Exp(test.sd * runNoise)
		a.atLeast(test.name+": the interval of .985 of what ended early, that of .95 else, has it", 0.935, covers(printed, ratio))
		if test.sd == 1.5 {
			a.atMost(test.name+": the interval of .95 has it, why it is not printed", 0.935, covers(ordinary, ratio))
		}
		a.atLeast(test.name+": the repeated interval has it", 0.95, often(func(rng *rand.Rand) bool {
			base, head := sessions[0].draw(rng, f.schedule.Cap, ratio)
			s := f.limits(a.tests, [][]WeightedCount{base}, [][]WeightedCount{head}, limit)
			e := a.tests.Pairs(base[:s.Pairs()], head[:s.Pairs()], s.Alone())
			return e.Repeated(s.Level(0.025)).Contains(ratio)
		}))
	}
}

// acceptFound is of functions that nobody declared, after looks that ended the recording.
func acceptFound(a *acceptance) {
	limit := math.Exp(1.5 * runNoise)
	f := newFixed(0.05)
	for _, common := range []float64{0, 0.5} {
		a.atMost(fmt.Sprintf("100 unchanged functions beside a declared cost at its limit, correlated by %v: builds with a discovery at q = .10 when it ended", common), 0.12,
			often(func(rng *rand.Rand) bool {
				base, head := sessions[0].draw(rng, f.schedule.Cap, limit)
				n := f.limits(a.tests, [][]WeightedCount{base}, [][]WeightedCount{head}, limit).Pairs()
				p := make([]float64, 100)
				for i := range p {
					own := make([]WeightedCount, n)
					with := make([]WeightedCount, n)
					for k := range n {
						mix := func(of float64) WeightedCount {
							x := common*math.Log(of) + math.Sqrt(1-common*common)*runNoise*rng.NormFloat64()
							return WeightedCount{Weight: math.Exp(x)}
						}
						own[k], with[k] = mix(base[k].Weight/1e6), mix(head[k].Weight/1e6/limit)
					}
					e := a.tests.TestPairs(own, with, 0.0005)
					p[i] = e.P
				}
				return slices.Min(BenjaminiHochberg(p)) <= 0.1
			}))
	}
}

func BenchmarkLooks(b *testing.B) {
	f, tests := newFixed(0.05), New(0.95)
	rng := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		f.one(tests, rng, &sessions[0], math.Exp(1.5*runNoise), math.Exp(1.5*runNoise))
	}
}
