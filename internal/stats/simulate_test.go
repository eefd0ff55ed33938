package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// poisson draws a number of samples.
func poisson(rng *rand.Rand, mean float64) float64 {
	if mean <= 0 {
		return 0
	}
	if mean > 200 {
		return math.Max(0, math.Round(mean+math.Sqrt(mean)*rng.NormFloat64()))
	}
	return distuv.Poisson{Lambda: mean, Src: rng}.Rand()
}

// A source says how the runs of one function come about.
type source struct {
	mean float64 // samples of a run
	sd   float64 // of the logarithm of the cost of a run, between runs
	bad  float64 // probability of a run to cost 1.5 times as much
}

// ofCV is a source of which a run has a standard deviation of cv, one half of the
// variance being that of sampling and the other that between runs.
func ofCV(cv, bad float64) source { return source{2 / (cv * cv), cv / math.Sqrt2, bad} }

// times is the source after the cost has changed.
func (s source) times(ratio float64) source {
	s.mean *= ratio
	return s
}

// run draws one run with samples of weight 1.
func (s source) run(rng *rand.Rand) WeightedCount {
	cost := math.Exp(s.sd * rng.NormFloat64())
	if s.bad > 0 && rng.Float64() < s.bad {
		cost *= 1.5
	}
	k := poisson(rng, s.mean*cost)
	return WeightedCount{Weight: k, WeightSq: k}
}

func (s source) runs(rng *rand.Rand, n int) []WeightedCount {
	runs := make([]WeightedCount, n)
	for i := range runs {
		runs[i] = s.run(rng)
	}
	return runs
}

// Weights of samples.
func constantWeight(*rand.Rand) float64    { return 1 }
func lognormalWeight(r *rand.Rand) float64 { return math.Exp(0.5 * r.NormFloat64()) }
func heavyWeight(r *rand.Rand) float64     { return math.Exp(1.2 * r.NormFloat64()) }
func paretoWeight(r *rand.Rand) float64    { return math.Pow(1-r.Float64(), -1/2.5) }

// weighted draws so many samples with a weight.
func weighted(rng *rand.Rand, weight func(*rand.Rand) float64, samples float64) WeightedCount {
	var c WeightedCount
	for range int(samples) {
		w := weight(rng)
		c.Weight += w
		c.WeightSq += w * w
	}
	return c
}

// bursts draws a run of samples of which those of the function, with the given share,
// come in bursts, and returns its sum, and the same with the variance of 30 blocks.
func bursts(rng *rand.Rand, samples, length int, share float64) (independent, blocks WeightedCount) {
	residuals := make([]float64, samples)
	for i := 0; i < samples; i += length {
		if rng.Float64() < share {
			for j := i; j < min(i+length, samples); j++ {
				residuals[j] = 1
			}
		}
	}
	for _, r := range residuals {
		independent.Weight += r
	}
	independent.WeightSq = independent.Weight
	for i := range residuals {
		residuals[i] -= independent.Weight / float64(samples)
	}
	return independent, independent.inflate(blockPhi(residuals))
}

// significantShares is the test that takes weights for counts: binomial shares, of so
// many samples in total.
func significantShares(base, head, total float64) bool {
	s := (base + head) / (2 * total)
	se := math.Sqrt(2 * s * (1 - s) / total)
	return math.Abs(head-base)/total > 1.96*se
}

// significantPooled is the test that adds the samples of all runs up.
func significantPooled(base, head []WeightedCount) bool {
	pool := func(runs []WeightedCount) (k float64) {
		for _, c := range runs {
			k += c.Weight
		}
		return k
	}
	a, b := pool(base), pool(head)
	return math.Abs(math.Log(b/a)) > 1.96*math.Sqrt(1/a+1/b)
}

// significantBootstrap is the percentile bootstrap over runs.
func significantBootstrap(rng *rand.Rand, base, head []WeightedCount) bool {
	const resamples = 400
	mean := func(runs []WeightedCount) (sum float64) {
		for range runs {
			sum += math.Log(runs[rng.IntN(len(runs))].Weight)
		}
		return sum / float64(len(runs))
	}
	differences := make([]float64, resamples)
	for i := range differences {
		differences[i] = mean(head) - mean(base)
	}
	slices.Sort(differences)
	return differences[resamples*25/1000] > 0 || differences[resamples*975/1000-1] < 0
}

// verdicts are what the budgets of a build say of its functions.
type verdicts struct{ fails, passes []bool }

// judge applies one limit to all functions of a build: a fail is proven above it after
// Holm, and not capped; a pass is proven below it.
func judge(estimates []Estimate, limit float64) verdicts {
	p := make([]float64, len(estimates))
	for i := range estimates {
		p[i] = estimates[i].Above(1 + limit)
	}
	v := verdicts{make([]bool, len(p)), make([]bool, len(p))}
	for i, p := range Holm(p) {
		v.fails[i] = p <= 0.05 && !estimates[i].Capped
		v.passes[i] = estimates[i].Below(1+limit) <= 0.05
	}
	return v
}

// A build is one comparison of several functions.
type build struct {
	n       int
	sources []source  // of base
	ratios  []float64 // true ratios
	limit   float64
}

// budgets is a build of 20 functions, all with the same source and ratio.
func budgets(n int, s source, ratio, limit float64) build {
	return build{n, slices.Repeat([]source{s}, 20), slices.Repeat([]float64{ratio}, 20), limit}
}

func (b build) check(tests *Tests, rng *rand.Rand) verdicts {
	estimates := make([]Estimate, len(b.sources))
	for i, s := range b.sources {
		estimates[i] = tests.Ratio(s.runs(rng, b.n), s.times(b.ratios[i]).runs(rng, b.n))
	}
	return judge(estimates, b.limit)
}

func count(x []bool) (n float64) {
	for _, v := range x {
		if v {
			n++
		}
	}
	return n
}
