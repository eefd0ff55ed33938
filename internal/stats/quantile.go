package stats

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/mathext"
)

// Z95 is the quantile of the normal distribution for a two-sided interval of 95 %.
const Z95 = 1.959964

// Median sorts values; it is NaN without any.
func Median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	return (values[(n-1)/2] + values[n/2]) / 2
}

// Mean is the arithmetic mean, NaN without values.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// Variance is the unbiased variance, NaN of less than two values. It sums in two passes, and
// corrects for what rounding left of the mean (Chan, Golub and LeVeque, 1983).
func Variance(values []float64) float64 {
	mean, squares, left := Mean(values), 0.0, 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
		left += v - mean
	}
	n := float64(len(values))
	return (squares - left*left/n) / (n - 1)
}

// QuantileInterval is the distribution-free interval of the q quantile, 0 to 1, of
// independent events, from order statistics. An end that the number of events does not
// bound at the level is infinite; [QuantileEvents] says how many it takes.
func QuantileInterval(sorted []float64, q, level float64) Interval {
	n := len(sorted)
	i := Interval{math.Inf(-1), math.Inf(1)}
	if n == 0 || !(q > 0 && q < 1) {
		return i
	}
	alpha := (1 - level) / 2
	// atMost is the probability that at most k of n events are below the quantile, a binomial
	// count (Abramowitz and Stegun, 26.5.24).
	atMost := func(k int) float64 { return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-q) }
	if l := sort.Search(n, func(k int) bool { return atMost(k) > alpha }); l > 0 {
		i.Lo = sorted[l-1]
	}
	if u := sort.Search(n, func(k int) bool { return 1-atMost(k) <= alpha }); u < n {
		i.Hi = sorted[u]
	}
	return i
}

// QuantileEvents is the number of events from which the interval of the q quantile is
// bounded on both sides.
func QuantileEvents(q, level float64) int {
	if !(q > 0 && q < 1) || !(level > 0 && level < 1) {
		return 0
	}
	return int(math.Ceil(math.Log((1-level)/2) / math.Log(max(q, 1-q))))
}
