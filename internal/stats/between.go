package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Between is the upper end of the one-sided interval of the standard deviation between true
// values, of each of which there is an estimate x with a variance: the largest under which
// the estimates are not closer to each other than chance at the level has them.
//
// It inverts the Q statistic, Σ(x-μ)²/(v+τ²) with μ the mean weighted by 1/(v+τ²), which
// falls with τ and has k-1 degrees of freedom if τ is the true one (Viechtbauer, 2007,
// "Confidence intervals for the amount of heterogeneity in meta-analysis").
func Between(x, variances []float64, level float64) float64 {
	if len(x) < 2 {
		return math.Inf(1)
	}
	least := 2 * mathext.GammaIncRegInv(float64(len(x)-1)/2, 1-level) // of χ²
	q := func(tau float64) (sum float64) {
		weights, mean := 0.0, 0.0
		for i, v := range variances {
			w := 1 / (v + tau*tau)
			weights += w
			mean += w * x[i]
		}
		mean /= weights
		for i, v := range variances {
			sum += (x[i] - mean) * (x[i] - mean) / (v + tau*tau)
		}
		return sum
	}
	if !(q(0) > least) {
		return 0
	}
	lo, hi := 0.0, 1e-3
	for q(hi) > least {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1e-6*hi {
		if mid := (lo + hi) / 2; q(mid) > least {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
