package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// sampling says what sampling noise alone leaves open when each side is one run. It
// knows nothing of how runs differ from each other.
//
// The logarithm of the ratio is taken as normal with variance Σw²/(Σw)² of each
// side. Below 30 effective samples on a side the test is exact, conditional on the total:
// how many of k samples fall on the head side is binomial (Clopper and Pearson, 1934).
func (t *Tests) sampling(e *Estimate, base, head WeightedCount) {
	e.Ratio = head.Weight / base.Weight
	ka, kb := base.Effective(), head.Effective()
	e.Samples = ka + kb
	if min(ka, kb) >= fewSamples {
		m := shift{log: math.Log(e.Ratio), se: math.Sqrt(1/ka + 1/kb), df: math.Inf(1)}
		e.CI = m.interval(t.level)
		e.finish(m)
		return
	}
	// What a sample weighs is taken from both sides together: with few samples, that
	// of one side depends on whether a heavy one was among them.
	unit := (base.WeightSq + head.WeightSq) / (base.Weight + head.Weight)
	m := conditional{ka: base.Weight / unit, kb: head.Weight / unit}
	e.Method, e.CI = SamplingExact, m.interval(t.level)
	e.finish(m)
}

// conditional is the distribution of the effective samples of head, given the effective
// samples of both sides together.
type conditional struct{ ka, kb float64 }

// odds are the probabilities of a sample to be one of head and one of base if the ratio
// has logarithm limit.
func odds(limit float64) (head, base float64) {
	return 1 / (1 + math.Exp(-limit)), 1 / (1 + math.Exp(limit))
}

func (c conditional) above(limit float64) float64 {
	if c.kb == 0 {
		return 1
	}
	head, _ := odds(limit)
	return mathext.RegIncBeta(c.kb, c.ka+1, head)
}

func (c conditional) below(limit float64) float64 {
	if c.ka == 0 {
		return 1
	}
	_, base := odds(limit)
	return mathext.RegIncBeta(c.ka, c.kb+1, base)
}

// manySamples is the effective sample size of one side whose noise is nothing beside the
// noise of few samples on the other: these are Poisson then, and quantiles of the binomial
// distribution imprecise.
const manySamples = 1e8

func (c conditional) interval(level float64) Interval {
	alpha := (1 - level) / 2
	switch {
	case c.kb < c.ka && c.ka > manySamples:
		i := Interval{0, gamma(c.kb+1, 1-alpha) / c.ka}
		if c.kb > 0 {
			i.Lo = gamma(c.kb, alpha) / c.ka
		}
		return i
	case c.kb > manySamples:
		i := conditional{c.kb, c.ka}.interval(level)
		return Interval{1 / i.Hi, 1 / i.Lo}
	}
	p := Proportion(c.kb, c.ka+c.kb, level)
	return Interval{p.Lo / (1 - p.Lo), p.Hi / (1 - p.Hi)}
}

func gamma(shape, p float64) float64 {
	return mathext.GammaIncRegInv(shape, p)
}

func (c conditional) detectable(alpha, power float64) float64 {
	if c.ka == 0 {
		return math.Inf(1)
	}
	return shift{se: math.Sqrt(4 / (c.ka + c.kb)), df: math.Inf(1)}.detectable(alpha, power)
}

func (conditional) spread() spread { return spread{} }

// Proportion is the Clopper-Pearson interval of a proportion of which k of n were
// seen, 0 to 1. k and n need not be whole. If n is 0 the interval is everything.
func Proportion(k, n, level float64) Interval {
	i := Interval{0, 1}
	if !(n > 0) || math.IsInf(n, 1) || !(k >= 0 && k <= n) {
		return i
	}
	alpha := (1 - level) / 2
	if k > 0 {
		i.Lo = mathext.InvRegIncBeta(k, n-k+1, alpha)
	}
	if k < n {
		i.Hi = mathext.InvRegIncBeta(k+1, n-k, 1-alpha)
	}
	return i
}

// PhiBlocks is the number of time blocks of [BlockSumsPhi].
const PhiBlocks = 30

// BlockSumsPhi is the factor by which samples that come in bursts or phases vary more than
// independent ones, at least 1. A residual is w·(1-s) for each sample of a function with
// share s and -w·s for each other sample. sums are the sums of residuals over blocks of
// equal numbers of samples, in order of time; squares is the sum of squared residuals. The
// variance of sums is compared with the variance that independent samples would have.
//
// A phase that is the same in every run raises the factor too: the factor is an upper
// bound, and only further runs give the truth.
func BlockSumsPhi(sums *[PhiBlocks]float64, squares float64) float64 {
	var mean, blocks float64
	for _, s := range sums {
		mean += s / PhiBlocks
	}
	for _, s := range sums {
		blocks += (s - mean) * (s - mean)
	}
	blocks *= PhiBlocks / (PhiBlocks - 1.0)
	if !(blocks > squares) {
		return 1
	}
	return blocks / squares
}
