package stats

import (
	"math"
	"slices"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// Z95 is the quantile of the normal distribution for a two-sided interval of 95 %.
const Z95 = 1.959964

// Median sorts values, of which there is one at least.
func Median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
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
	below := distuv.Binomial{N: float64(n), P: q} // events below the quantile
	if l := sort.Search(n, func(k int) bool { return below.CDF(float64(k)) > alpha }); l > 0 {
		i.Lo = sorted[l-1]
	}
	if u := sort.Search(n, func(k int) bool { return below.Survival(float64(k)) <= alpha }); u < n {
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
