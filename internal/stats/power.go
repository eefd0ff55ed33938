package stats

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// MaxRuns is the most that [Estimate.RunsNeeded] returns: so many or more.
const MaxRuns = 1000

// A spread is the standard deviation of the logarithm of one run.
type spread struct {
	sd    float64
	known bool
	ranks bool // sd is what the rank test is sensitive to
	pairs bool // runs are compared in pairs
	// clusters is set if sd is of one cluster of a survey.
	clusters bool
}

// rankEfficiency is how many runs the t test needs for each run of the Mann-Whitney test,
// or of signed ranks, on normal data (Pitman).
const rankEfficiency = 3 / math.Pi

// SmallestDetectable is the smallest relative increase (0.05 is 5 %) that such data
// would have shown with the given power in a two-sided test at alpha. It is +Inf if none
// could be shown.
func (e *Estimate) SmallestDetectable(alpha, power float64) float64 {
	if e.model == nil {
		return math.Inf(1)
	}
	return e.model.detectable(alpha, power)
}

// RunsNeeded is the number of runs a side with which a ratio that is distance away from
// a limit, as the difference of logarithms, is told from it with the given power in a
// one-sided test at alpha: at least 4, which a verdict needs, and at most MaxRuns. It is 0 if
// the runs do not show how much runs vary.
func (e *Estimate) RunsNeeded(distance, alpha, power float64) int {
	if e.model == nil || math.IsNaN(distance) {
		return 0
	}
	s := e.model.spread()
	if !s.known {
		return 0
	}
	distance = math.Abs(distance)
	if s.clusters {
		return s.clustersNeeded(distance, alpha, power)
	}
	enough := func(n int) bool {
		se, df := s.sd*math.Sqrt(2/float64(n)), 2*n-2
		ranks := n >= rankRuns
		switch {
		case s.pairs:
			df = n - 1
			ranks = ranks && ranksReach(n, alpha)
		case ranks && LeastRankP(n, n) > alpha:
			return false
		}
		if ranks && !s.ranks {
			se /= math.Sqrt(rankEfficiency)
		}
		return distance > 0 && powerOf(distance/se, float64(df), alpha) >= power
	}
	// For the normal distribution there is a formula. It gives a few runs too few.
	z := mathext.NormalQuantile(1-alpha) + mathext.NormalQuantile(power)
	normal := 2 * (z * s.sd / distance) * (z * s.sd / distance)
	if !(normal < MaxRuns) {
		return MaxRuns
	}
	n := max(int(normal), LeastRuns)
	for ; n > LeastRuns && enough(n-1); n-- {
	}
	for ; n < MaxRuns && !enough(n); n++ {
	}
	return n
}

// powerOf is the power of a one-sided t test at alpha when the true shift is so many
// standard errors.
func powerOf(shift, df, alpha float64) float64 {
	if math.IsInf(shift, 1) {
		return 1
	}
	if math.IsInf(df, 1) {
		return normalSurvival(quantile(1-alpha, df) - shift)
	}
	return shiftedSurvival(quantile(1-alpha, df), df, shift)
}

// shiftOf is the inverse of powerOf: the shift in standard errors that has the power.
func shiftOf(power, df, alpha float64) float64 {
	if math.IsInf(df, 1) {
		return quantile(1-alpha, df) + mathext.NormalQuantile(power)
	}
	return shiftsOf.at(shiftKey{power, df, alpha})
}

type shiftKey struct{ power, df, alpha float64 }

var shiftsOf = memo[shiftKey]{of: func(k shiftKey) float64 {
	z := quantile(1-k.alpha, k.df)
	reached := func(shift float64) bool { return shiftedSurvival(z, k.df, shift) >= k.power }
	lo, hi := 0.0, 1.0
	for !reached(hi) {
		lo, hi = hi, 2*hi
	}
	for hi-lo > 1e-5*hi {
		if mid := (lo + hi) / 2; reached(mid) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}}

func (s shift) detectable(alpha, power float64) float64 {
	return math.Expm1(shiftOf(power, s.df, alpha/2) * s.se)
}

func (s shift) spread() spread {
	if s.n == 0 {
		return spread{}
	}
	return spread{sd: perRun(s.se, s.n, s.m), known: true}
}

// perRun is the standard deviation of one run, computed from the standard deviation of a
// difference of means.
func perRun(se float64, n, m int) float64 {
	return se / math.Sqrt(1/float64(n)+1/float64(m))
}

// Sigmas is how many standard deviations a normal distribution has to be off for a two-sided
// p-value: 1.96 for 0.05, at most 37, beyond which p-values end.
func Sigmas(p float64) float64 {
	return max(0, -mathext.NormalQuantile(max(min(p, 1), 1e-300)/2))
}
