// Package stats holds tests and intervals for few runs of many functions.
//
// Formulas and their measured error rates follow Kish (1965) for weighted samples,
// Clopper and Pearson (1934) for proportions, and Welch (1947) for means of few
// runs.
package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// An Interval is a confidence interval of a ratio. Hi may be +Inf.
type Interval struct{ Lo, Hi float64 }

// Contains reports whether x is in the interval.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }

// A WeightedCount is a sum of weighted samples.
type WeightedCount struct {
	Weight   float64 // Σw
	WeightSq float64 // Σw²
}

// Effective is Kish's effective sample size (Σw)²/Σw².
func (c WeightedCount) Effective() float64 {
	if c.WeightSq <= 0 || c.Weight <= 0 {
		return 0
	}
	return c.Weight * c.Weight / c.WeightSq
}

// fewSamples is the effective sample size below which sums of samples are not
// normal enough and the exact interval is used.
const fewSamples = 30

// SamplingRatio is the interval of the ratio head/base that sampling noise alone
// leaves open at the given confidence level, when each side is one run. It says
// nothing of how runs differ from each other.
//
// The logarithm of the ratio is taken as normal with variance Σw²/(Σw)² of each
// side. Below 30 effective samples on a side it is exact, conditional on the
// total: of k samples those on the head side are binomial (Clopper-Pearson).
// Without samples on both sides the ratio can be anything.
func SamplingRatio(base, head WeightedCount, level float64) Interval {
	ka, kb := base.Effective(), head.Effective()
	if ka == 0 && kb == 0 {
		return Interval{0, math.Inf(1)}
	}
	if min(ka, kb) >= fewSamples {
		se := math.Sqrt(base.WeightSq/(base.Weight*base.Weight) + head.WeightSq/(head.Weight*head.Weight))
		z := distuv.UnitNormal.Quantile(1 - (1-level)/2)
		r := math.Log(head.Weight / base.Weight)
		return Interval{math.Exp(r - z*se), math.Exp(r + z*se)}
	}
	// A sample weighs on each side what its effective ones do on average; of a
	// side without samples, what those of the other do.
	wa, wb := base.Weight/ka, head.Weight/kb
	if ka == 0 {
		wa = wb
	}
	if kb == 0 {
		wb = wa
	}
	p := proportion(kb, ka+kb, level)
	odds := func(p float64) float64 { return p / (1 - p) * wb / wa }
	i := Interval{odds(p.Lo), math.Inf(1)}
	if p.Hi < 1 {
		i.Hi = odds(p.Hi)
	}
	return i
}

// proportion is the Clopper-Pearson interval of a proportion of which k of n were
// seen, 0 to 1. k and n need not be whole. At k = 0 and k = n it is one-sided.
func proportion(k, n, level float64) Interval {
	alpha := (1 - level) / 2
	i := Interval{0, 1}
	switch {
	case k <= 0:
		i.Hi = 1 - math.Pow(1-level, 1/n)
		return i
	case k >= n:
		i.Lo = math.Pow(1-level, 1/n)
		return i
	}
	i.Lo = distuv.Beta{Alpha: k, Beta: n - k + 1}.Quantile(alpha)
	i.Hi = distuv.Beta{Alpha: k + 1, Beta: n - k}.Quantile(1 - alpha)
	return i
}

// WelchRatio is the interval of the ratio of the means of head and base at the
// given confidence level, from runs as the unit: Welch's t on the logarithms. Zeros
// have no logarithm: with one on any side ok is false.
func WelchRatio(base, head []float64, level float64) (i Interval, ok bool) {
	if len(base) < 2 || len(head) < 2 {
		return Interval{0, math.Inf(1)}, false
	}
	ma, va, okA := logMoments(base)
	mb, vb, okB := logMoments(head)
	if !okA || !okB {
		return Interval{0, math.Inf(1)}, false
	}
	na, nb := float64(len(base)), float64(len(head))
	sa, sb := va/na, vb/nb
	if sa+sb == 0 {
		r := math.Exp(mb - ma)
		return Interval{r, r}, true
	}
	df := (sa + sb) * (sa + sb) / (sa*sa/(na-1) + sb*sb/(nb-1))
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(1 - (1-level)/2)
	se := math.Sqrt(sa + sb)
	return Interval{math.Exp(mb - ma - t*se), math.Exp(mb - ma + t*se)}, true
}

// logMoments are the mean and the variance of the logarithms.
func logMoments(x []float64) (mean, variance float64, ok bool) {
	for _, v := range x {
		if !(v > 0) || math.IsInf(v, 0) {
			return 0, 0, false
		}
		mean += math.Log(v)
	}
	mean /= float64(len(x))
	for _, v := range x {
		d := math.Log(v) - mean
		variance += d * d
	}
	return mean, variance / float64(len(x)-1), true
}
