package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// A shape is a distribution of the values of one run, by what becomes of values of the standard normal distribution.
// step, if any, is what values are rounded up to: they are tied.
type shape struct {
	name string
	of   func(z float64) float64
	step float64
	// tuned marks the shapes by which methods were chosen: the others judge.
	tuned bool
}

func normal(u float64) float64 { return distuv.UnitNormal.Quantile(u) }

// below is the share of the standard normal distribution below z, and beyond what is not.
func below(z float64) float64  { return math.Erfc(-z/math.Sqrt2) / 2 }
func beyond(z float64) float64 { return below(-z) }

func lognormal(deviation float64) func(z float64) float64 {
	return func(z float64) float64 { return math.Exp(deviation * z) }
}

// bimodal has a part of values that are slow, eight times as long.
func bimodal(slow float64) func(z float64) float64 {
	return func(z float64) float64 {
		u := below(z)
		if u < 1-slow {
			return math.Exp(0.1 * normal(u/(1-slow)))
		}
		return 8 * math.Exp(0.1*normal((u-1+slow)/slow))
	}
}

var shapes = []shape{
	{"lognormal 0.5", lognormal(0.5), 0, true},
	{"bimodal, 10 % slow", bimodal(0.1), 0, true},
	{"Pareto 2.5", func(z float64) float64 { return math.Pow(beyond(z), -1/2.5) }, 0, false},
	{"tied", lognormal(0.3), 0.25, true},
	{"tied, whole numbers", func(z float64) float64 { return -4 * math.Log(beyond(z)) }, 1, false},
	{"finely tied", lognormal(0.5), 0.05, false},
	{"exponential", func(z float64) float64 { return -math.Log(beyond(z)) }, 0, false},
	{"lognormal 1.2", lognormal(1.2), 0, false},
}

// inv is the inverse of the distribution function of one run.
func (s *shape) inv(u float64) float64 { return s.of(normal(u)) }

// measured says how the values of runs come about: each run has a factor of its own, and its
// values follow one another with a correlation.
type measured struct {
	shape
	runs, values         int
	between, correlation float64
	factor               float64
}

func (m measured) String() string {
	return fmt.Sprintf("%d runs of %d values, %s, between runs %s, correlated by %v", m.runs, m.values, m.name, percent(m.between), m.correlation)
}

func (m measured) draw(rng *rand.Rand) *Distribution {
	runs := make([][]float64, m.runs)
	fresh := math.Sqrt(1 - m.correlation*m.correlation)
	for i := range runs {
		run := m.factor * math.Exp(m.between*rng.NormFloat64())
		z := rng.NormFloat64()
		runs[i] = make([]float64, m.values)
		for j := range runs[i] {
			if j > 0 {
				z = m.correlation*z + fresh*rng.NormFloat64()
			}
			runs[i][j] = m.round(run * m.of(z))
		}
	}
	return NewDistribution(runs)
}

func (m measured) round(v float64) float64 {
	if m.step > 0 {
		return m.step * math.Ceil(v/m.step-1e-9)
	}
	return v
}

// grid are the values of the shape at equal steps of probability.
func (m measured) grid() []float64 {
	const steps = 20_000
	list := make([]float64, steps)
	for i := range list {
		list[i] = m.inv((float64(i) + 0.5) / steps)
	}
	return list
}

// upTo is the share of all values that are at most x, before rounding.
func (m measured) upTo(grid []float64, x float64) float64 {
	share, steps := 0.0, 101
	for k := range steps {
		run := m.factor * math.Exp(m.between*normal((float64(k)+0.5)/float64(steps)))
		share += float64(rank(grid, x/run, false)) / float64(len(grid)*steps)
	}
	return share
}

// truth is the q quantile of the values of all runs.
func (m measured) truth(q float64) float64 {
	grid := m.grid()
	lo, hi := 1e-6, 1e6
	for range 60 {
		if x := math.Sqrt(lo * hi); m.upTo(grid, x) >= q {
			hi = x
		} else {
			lo = x
		}
	}
	return m.round(hi)
}

func (m measured) mean() float64 {
	sum := 0.0
	grid := m.grid()
	for _, v := range grid {
		sum += v / float64(len(grid))
	}
	return m.factor * sum * math.Exp(m.between*m.between/2)
}

// designs are how many runs have how many values, and how these depend on each other.
func designs() (list []measured) {
	for _, runs := range long([]int{3, 10}, []int{5, 20}) {
		list = append(list,
			measured{runs: runs, values: 100, between: 0.1},
			measured{runs: runs, values: 60, between: 0.02, correlation: 0.8},
		)
	}
	return append(list, measured{runs: 80, values: 1})
}

// acceptQuantiles are the intervals of a quantile, and of how it changed, where all values did by
// the same factor.
func acceptQuantiles(a *acceptance) {
	const ratio = 1.3
	quantiles := []float64{0.5, 0.95}
	for _, shape := range shapes {
		for _, base := range designs() {
			base.shape, base.factor = shape, 1
			head := base
			head.factor = ratio
			var claims []claim
			var truth, changed []float64
			for _, q := range quantiles {
				what := fmt.Sprintf("%v: p%v: ", base, 100*q)
				truth, changed = append(truth, base.truth(q)), append(changed, head.truth(q))
				claims = append(claims, atLeast(what+"its interval has it", 0.935), atLeast(what+"the interval of the ratio has it", 0.935))
			}
			a.together(each(func(rng *rand.Rand, yes func(bool)) {
				x, y := base.draw(rng), head.draw(rng)
				for i, q := range quantiles {
					yes(x.QuantileInterval(q, 0.95).Contains(truth[i]))
					e := a.tests.Quantile(x, y, q)
					// Rounded quantiles of runs have no ratio of their own.
					yes(shape.step > 0 && e.Method.byRun() || e.CI.Contains(changed[i]/truth[i]))
				}
			}), claims...)
		}
	}
}

// byRun reports whether quantiles of runs were compared and not those of all values.
func (m Method) byRun() bool { return m != PooledRuns && m != PooledValues }

// acceptTail is a change of the tail only: one value of ten is slow before, and one of a hundred
// after.
func acceptTail(a *acceptance) {
	for _, base := range designs() {
		base.shape, base.factor = shape{name: "bimodal, 10 % slow", of: bimodal(0.1)}, 1
		head := base
		head.shape = shape{name: "bimodal, 1 % slow", of: bimodal(0.01)}
		for _, q := range []float64{0.5, 0.95} {
			all, run := head.truth(q)/base.truth(q), head.inv(q)/base.inv(q)
			a.atLeast(fmt.Sprintf("%v; after it 1 %%: p%v: the interval of the ratio has it", base, 100*q), 0.935, often(func(rng *rand.Rand) bool {
				e := a.tests.Quantile(base.draw(rng), head.draw(rng), q)
				if e.Method.byRun() {
					return e.CI.Contains(run)
				}
				return e.CI.Contains(all)
			}))
		}
		if base.runs < 10 || base.values == 1 {
			continue
		}
		judge := func(scenario string, f rate) { a.atLeast(scenario, 0.8, f) }
		if base.correlation > 0 {
			judge = a.state
		}
		judge(fmt.Sprintf("%v; after it 1 %%: p95 is shown to change by another factor than p50", base), often(func(rng *rand.Rand) bool {
			e := a.tests.Contrast(base.draw(rng), head.draw(rng), 0.5, 0.95)
			return e.CI.Hi < 1
		}))
	}
}

func acceptSameDistribution(a *acceptance) {
	for _, shape := range shapes {
		for _, s := range designs() {
			s.shape, s.factor = shape, 1
			a.together(each(func(rng *rand.Rand, yes func(bool)) {
				x, y := s.draw(rng), s.draw(rng)
				for _, e := range []Estimate{a.tests.Quantile(x, y, 0.5), a.tests.Quantile(x, y, 0.95), a.tests.Contrast(x, y, 0.5, 0.95)} {
					yes(e.P <= 0.05)
				}
			}),
				atMost(fmt.Sprintf("%v: p50 differs", s), nominal()),
				atMost(fmt.Sprintf("%v: p95 differs", s), nominal()),
				atMost(fmt.Sprintf("%v: p95 changed by another factor than p50", s), nominal()))
		}
	}
}

// acceptMeans has no bound for the heaviest tails, nor where slow values are few and come
// together: the mean of such is not to be had from few runs (Bahadur and Savage, 1956).
func acceptMeans(a *acceptance) {
	const ratio = 1.3
	for _, shape := range shapes {
		for _, base := range designs() {
			base.shape, base.factor = shape, 1
			head := base
			head.factor = ratio
			judge := atLeast
			if shape.step > 0 {
				continue
			}
			if shape.name == "lognormal 1.2" || shape.name == "Pareto 2.5" || shape.tuned && base.correlation > 0 {
				judge = stated
			}
			mean, limit := base.mean(), base.truth(0.9)
			share := 1 - base.upTo(base.grid(), limit)
			a.together(each(func(rng *rand.Rand, yes func(bool)) {
				x, y := base.draw(rng), head.draw(rng)
				level, change := a.tests.MeanLevel(x), a.tests.Mean(x, y)
				yes(level.CI.Contains(mean))
				yes(change.CI.Contains(ratio))
				yes(x.OverInterval(limit, 0.95).Contains(share))
			}),
				judge(fmt.Sprintf("%v: the interval of the mean has it", base), 0.935),
				judge(fmt.Sprintf("%v: the interval of the ratio of means has it", base), 0.935),
				atLeast(fmt.Sprintf("%v: the interval of the share over p90 has it", base), 0.935))
		}
	}
}

// acceptNaiveQuantiles is of methods that must fail.
func acceptNaiveQuantiles(a *acceptance) {
	base := measured{shapes[0], 10, 100, 0.1, 0, 1}
	for _, m := range []struct {
		between, correlation, bound float64
	}{{0.2, 0, 0.8}, {0.02, 0.8, 0.8}} {
		s := base
		s.between, s.correlation = m.between, m.correlation
		truth := s.truth(0.5)
		a.atMost(fmt.Sprintf("%v: p50: the interval of independent values has it", s), m.bound, often(func(rng *rand.Rand) bool {
			return QuantileInterval(s.draw(rng).sorted, 0.5, 0.95).Contains(truth)
		}))
	}
	few := base
	few.runs = 3
	truth := few.truth(0.5)
	a.atMost(fmt.Sprintf("%v: p50: the percentile bootstrap over runs has it", few), 0.85, often(func(rng *rand.Rand) bool {
		d := few.draw(rng)
		var list []float64
		for range 200 {
			var again []float64
			for range d.runs {
				again = append(again, d.runs[rng.IntN(len(d.runs))]...)
			}
			slices.Sort(again)
			list = append(list, Quantile(again, 0.5))
		}
		slices.Sort(list)
		return list[5] <= truth && truth <= list[194]
	}))
	tail := base
	tail.values, tail.runs = 20, 20
	p95 := tail.inv(0.95)
	a.atMost(fmt.Sprintf("%v: p95: t of the quantiles of runs has it, why few values a run are pooled", tail), 0.8, often(func(rng *rand.Rand) bool {
		var own []WeightedCount
		for _, r := range tail.draw(rng).runs {
			own = append(own, WeightedCount{Weight: Quantile(r, 0.95)})
		}
		e := a.tests.Level(own, false)
		return e.CI.Contains(p95)
	}))
}
