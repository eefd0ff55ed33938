package compare

import (
	"fmt"
	"math"
	"slices"
	"time"

	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// windows says why recordings are windows of time, "" if nothing tells that they are. One
// that is makes all of them such: the others cannot be compared with it as runs.
func windows(base, head *side) string {
	runs := slices.Concat(base.runs, head.runs)
	for _, r := range runs {
		if why := r.Window(); why != "" {
			return why
		}
	}
	return sameDuration(runs)
}

// roundSeconds are durations that people choose.
var roundSeconds = []float64{0.5, 1, 2, 3, 5, 10, 15, 20, 30, 60, 90, 100, 120, 180, 300, 600}

// What makes durations those of a clock: most runs are about as long as the median, which is
// about as long as people tell a clock to run. On a machine that has other work a run may be
// shorter from its first to its last sample, or end late.
const (
	clockSpread   = 0.005 // of most runs
	clockMost     = 0.75  // of all runs are most
	clockOthers   = 0.1   // of the others
	clockDistance = 0.02  // from a round number
)

// sameDuration says that runs took as long as each other, closer than work would let them, and
// about as long as people tell a clock to run; "" if they did not.
func sameDuration(runs []*run.Run) string {
	var seconds []float64
	for _, r := range runs {
		seconds = append(seconds, r.Recording.Took().Seconds())
	}
	median := stats.Median(seconds)
	near := 0
	for _, s := range seconds {
		switch d := math.Abs(s - median); {
		case !(d <= clockOthers*median) || median == 0:
			return ""
		case d <= clockSpread*median:
			near++
		}
	}
	if float64(near) < clockMost*float64(len(runs)) {
		return ""
	}
	for _, s := range roundSeconds {
		if math.Abs(median-s) <= clockDistance*s {
			return fmt.Sprintf("%d of %d runs took %v within %.1g%%", near, len(runs), time.Duration(s*float64(time.Second)), 100*clockSpread)
		}
	}
	return ""
}

// maxSpread is the standard deviation of the logarithm of head over base, each of one run,
// from which on runs hardly do the same work.
const maxSpread = 0.05

// unequal says how much runs differ beyond the noise of sampling, "" if it is little: as the
// same work costs about the same, they may have done different amounts. Of pairs it is their
// ratios that count, which have no drift in them.
func (e *Event) unequal(pairing *verdict.Pairing) string {
	if min(len(e.costs.whole.base), len(e.costs.whole.head)) < stats.LeastRuns {
		return ""
	}
	base, sampledBase := logCosts(e.costs.whole.base)
	head, sampledHead := logCosts(e.costs.whole.head)
	variance := stats.Variance(base) + stats.Variance(head)
	if len(pairing.Pairs) > 0 {
		var ratios []float64
		for _, p := range pairing.Pairs {
			ratios = append(ratios, head[p.Head]-base[p.Base])
		}
		variance = stats.Variance(ratios)
	}
	if variance -= sampledBase + sampledHead; variance <= maxSpread*maxSpread {
		return ""
	}
	return fmt.Sprintf("the cost of runs differs by %.0f%% (sd of a ratio of two): if they do not the same work, divide it out with --work or --ops", 100*math.Sqrt(variance))
}

// logCosts are the logarithms of the costs of runs, and what sampling adds to their variance.
func logCosts(sums []run.Sum) (logs []float64, sampled float64) {
	for i := range sums {
		w := float64(sums[i].Weight)
		logs = append(logs, math.Log(w))
		sampled += sums[i].WeightSq / (w * w) / float64(len(sums))
	}
	return logs, sampled
}
