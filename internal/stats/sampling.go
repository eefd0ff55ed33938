package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// sampling says what sampling noise alone leaves open when each side is one run. It
// knows nothing of how runs differ from each other.
//
// The logarithm of the ratio is taken as normal with variance Σw²/(Σw)² of each
// side. Below 30 effective samples on a side it is exact, conditional on the total:
// of k samples those on the head side are binomial (Clopper and Pearson, 1934).
func (t *Tests) sampling(e *Estimate, base, head WeightedCount) {
	e.Ratio = head.Weight / base.Weight
	ka, kb := base.Effective(), head.Effective()
	if min(ka, kb) >= fewSamples {
		m := shift{log: math.Log(e.Ratio), se: math.Sqrt(1/ka + 1/kb), df: math.Inf(1)}
		e.CI = m.interval(t.level)
		e.finish(m)
		return
	}
	// A sample weighs on each side what its effective ones do on average; of a side
	// without samples, what those of the other do.
	wa, wb := base.Weight/ka, head.Weight/kb
	if ka == 0 {
		wa = wb
	}
	if kb == 0 {
		wb = wa
	}
	m := conditional{ka: ka, kb: kb, weights: wb / wa}
	e.Method, e.CI = SamplingExact, m.interval(t.level)
	e.finish(m)
}

// conditional is the distribution of the samples of head given those of both sides.
type conditional struct {
	ka, kb  float64 // effective samples
	weights float64 // of a sample of head, in those of base
}

// odds are the odds of a sample to be one of head if the ratio has logarithm limit, as
// both probabilities.
func (c conditional) odds(limit float64) (head, base float64) {
	o := math.Exp(limit) / c.weights
	if math.IsInf(o, 1) {
		return 1, 0
	}
	return o / (1 + o), 1 / (1 + o)
}

func (c conditional) above(limit float64) float64 {
	if c.kb == 0 {
		return 1
	}
	head, _ := c.odds(limit)
	return mathext.RegIncBeta(c.kb, c.ka+1, head)
}

func (c conditional) below(limit float64) float64 {
	if c.ka == 0 {
		return 1
	}
	_, base := c.odds(limit)
	return mathext.RegIncBeta(c.ka, c.kb+1, base)
}

func (c conditional) interval(level float64) Interval {
	p := Proportion(c.kb, c.ka+c.kb, level)
	odds := func(p float64) float64 { return p / (1 - p) * c.weights }
	return Interval{odds(p.Lo), odds(p.Hi)}
}

func (c conditional) detectable(alpha, power float64) float64 {
	if c.ka == 0 {
		return math.Inf(1)
	}
	return shift{se: math.Sqrt(4 / (c.ka + c.kb)), df: math.Inf(1)}.detectable(alpha, power)
}

func (conditional) spread() spread { return spread{} }

// Proportion is the Clopper-Pearson interval of a proportion of which k of n were
// seen, 0 to 1. k and n need not be whole. Without any n it is everything.
func Proportion(k, n, level float64) Interval {
	i := Interval{0, 1}
	if !(n > 0) || math.IsInf(n, 1) || !(k >= 0 && k <= n) {
		return i
	}
	alpha := (1 - level) / 2
	if k > 0 {
		i.Lo = distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(alpha)
	}
	if k < n {
		i.Hi = distuv.Beta{Alpha: k + 1, Beta: n - k}.Quantile(1 - alpha)
	}
	return i
}

// Share is the interval of the share that part has of the total, the rest being the
// samples that are not of it: Clopper-Pearson on the effective sample size of the share
// (Korn and Graubard, 1998), from the variance
// ((1-s)²·Σw² of part + s²·Σw² of rest) / W².
func Share(part, rest WeightedCount, level float64) Interval {
	if !part.valid() || !rest.valid() || !(part.Weight+rest.Weight > 0) {
		return Interval{0, 1}
	}
	total := part.Weight + rest.Weight
	s := part.Weight / total
	n := part.Effective() + rest.Effective()
	if s > 0 && s < 1 {
		variance := ((1-s)*(1-s)*part.WeightSq + s*s*rest.WeightSq) / (total * total)
		if !(variance > 0) {
			return Interval{s, s} // counted, not sampled
		}
		n = s * (1 - s) / variance
	}
	return Proportion(s*n, n, level)
}

// phiBlocks is the number of time blocks of BlockPhi.
const phiBlocks = 30

// BlockPhi is the factor by which samples that come in bursts or phases vary more than
// independent ones, at least 1. residuals has w·(1-s) for each sample of a function
// with share s and -w·s for each other sample, in order of time. The variance of the sums
// over 30 blocks of equal numbers of samples is compared with that of independent
// samples; fewer than 60 samples show nothing, and 1 is returned.
//
// A phase that is the same in every run raises it too: it is an upper bound, and only
// further runs give the truth.
func BlockPhi(residuals []float64) float64 {
	if len(residuals) < 2*phiBlocks {
		return 1
	}
	var independent, mean float64
	var sums [phiBlocks]float64
	for b := range sums {
		lo, hi := b*len(residuals)/phiBlocks, (b+1)*len(residuals)/phiBlocks
		for _, r := range residuals[lo:hi] {
			sums[b] += r
			independent += r * r
		}
		mean += sums[b] / phiBlocks
	}
	var blocks float64
	for _, s := range sums {
		blocks += (s - mean) * (s - mean)
	}
	blocks *= phiBlocks / (phiBlocks - 1.0)
	if !(blocks > independent) {
		return 1
	}
	return blocks / independent
}
