package compare

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"profdiff/internal/run"
)

const (
	// outlierRuns is the number of runs of a side from which one stands out from the others.
	outlierRuns = 5
	// outlierTimes is how much more or less than the median a run costs that stands out, and outlierSigmas by how
	// many standard deviations, of sampling or as the median of the distances from the median tells them
	// (Iglewicz and Hoaglin, 1993, who propose 3.5).
	outlierTimes  = 1.5
	outlierTook   = 2 // likewise, for how long a run was: a program waits for others, too
	outlierSigmas = 6
	sigmaOfMedian = 1.4826
)

// outliers remarks runs that stand out from the others of their side by what an event cost. They
// stay in all that is computed: to leave out what came out differently would make a difference.
func outliers(p *eventPair, base, head []*run.Run) (warnings []string) {
	for side, runs := range [][]*run.Run{base, head} {
		logs, noise := make([]float64, 0, len(runs)), make([]float64, 0, len(runs))
		for i, r := range runs {
			e := &r.Events[[][]int{p.base, p.head}[side][i]]
			logs = append(logs, math.Log(float64(e.Weight)))
			sampled := 0.0
			if n := e.EffectiveSamples(); n > 0 && !e.Complete {
				sampled = 1 / math.Sqrt(n)
			}
			noise = append(noise, sampled)
		}
		for i, times := range standOut(logs, noise, outlierTimes) {
			warnings = append(warnings, fmt.Sprintf("%s: %s costs %.2g times the median of the %d runs of %s: something else may have happened in it",
				p.name, runs[i].Name, times, len(runs), [2]string{"base", "head"}[side]))
		}
	}
	return warnings
}

// standOut finds those that stand out from the other runs of a side: indices of logarithms, and how
// many times the median they are, or which part of it, if that is at least so many times or a part of
// as much. The noise of sampling is known of each.
func standOut(logs, noise []float64, least float64) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		if len(logs) < outlierRuns || slices.ContainsFunc(logs, func(l float64) bool { return math.IsInf(l, 0) }) {
			return
		}
		middle := medianOf(logs)
		distances := make([]float64, len(logs))
		for i, l := range logs {
			distances[i] = math.Abs(l - middle)
		}
		spread := sigmaOfMedian * medianOf(distances)
		for i, l := range logs {
			if distances[i] > max(math.Log(least), outlierSigmas*max(spread, noise[i])) && !yield(i, math.Exp(l-middle)) {
				return
			}
		}
	}
}

// medianOf is the median of numbers, which stay in their order.
func medianOf(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
