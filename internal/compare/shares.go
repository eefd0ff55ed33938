package compare

import (
	"fmt"
	"math"
	"slices"

	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// A family is what is tested together.
type family struct {
	declared bool
	changes  []*Change
}

// judge gives each member its verdict.
func (f *family) judge(rule verdict.Rule) {
	findings := make([]*verdict.Finding, len(f.changes))
	for i, ch := range f.changes {
		findings[i] = &ch.Finding
	}
	if f.declared {
		rule.Declared(findings)
	} else {
		rule.Discovered(findings)
	}
}

// dropMirrored takes verdicts on shares back that say nothing but that other shares changed:
// if one function costs more, the shares of all others fall. A verdict holds if it is also that
// of the cost over the cost of what did not change.
//
//  1. All functions are what is left.
//  2. Each is tested over the cost of all that are left, as one family.
//  3. Of those that changed, the one leaves whose change is farthest from the median, in
//     units of its own noise: with a large function that grew, most shares fall alike, and
//     they are not what changed.
//  4. Again from 2, until nothing changes over what is left.
//
// Where many functions leave, or less than half of the cost is left, or nearly all of that is in
// one function, nothing tells whether they changed or all others did. Then nothing is taken back, and what left is returned, else "".
func (c *Comparison) dropMirrored(e *Event, families []family, tests estimator) (mirrored string) {
	if len(c.Base) < 2 || len(c.Head) < 2 {
		return "" // no verdict to take back
	}
	rest := newNormalization(None, len(c.Base), len(c.Head))
	for i, sums := range [][]run.Sum{e.costs.whole.base, e.costs.whole.head} {
		for j := range sums {
			rest.divisors(i)[j].value = float64(sums[j].Weight)
		}
	}
	var left []*Change
	for i := range e.Functions {
		if ch := &e.Functions[i].Self; ch.Tested {
			left = append(left, ch)
		}
	}
	tested := len(left)
	var share [2]float64 // of what left, on each side
	for {
		i := c.farthest(rest, left, tests)
		if i < 0 {
			c.judgeAgain(rest, families, tests)
			e.rest = rest
			return ""
		}
		ch := left[i]
		share[0], share[1] = share[0]+ch.Base, share[1]+ch.Head
		left = slices.Delete(left, i, i+1)
		if gone := tested - len(left); max(share[0], share[1]) > 0.5 || 2*gone > tested || gone > max(mostLeave, tested/mostLeaveOf) || spreadOver(left) < 2 {
			functions := fmt.Sprintf("%d functions", gone)
			if gone == 1 {
				functions = "1 function"
			}
			return fmt.Sprintf("%s (%.0f%% of the cost)", functions, 100*max(share[0], share[1]))
		}
		for side, sums := range [][]run.Sum{ch.cost.base, ch.cost.head} {
			for j := range sums {
				rest.divisors(side)[j].value -= float64(sums[j].Weight)
			}
		}
	}
}

// spreadOver is over how many functions cost is spread, as many equal ones (the inverse of
// Simpson's index, 1949).
func spreadOver(list []*Change) float64 {
	sum, squares := 0.0, 0.0
	for _, ch := range list {
		w := ch.Base + ch.Head
		sum += w
		squares += w * w
	}
	return sum * sum / squares
}

// At most mostLeave functions leave, or one of mostLeaveOf if these are more, but no more than
// half: where 60 of 100 functions cost 10 % more, the other 40 are the ones that stand out.
const (
	mostLeave   = 4
	mostLeaveOf = 10
)

// judgeAgain gives verdicts on costs over the divisors of rest, and takes those back that
// differ.
func (c *Comparison) judgeAgain(rest *Normalization, families []family, tests estimator) {
	for i := range families {
		f := &families[i]
		again := family{declared: f.declared}
		for _, ch := range f.changes {
			other := rest.newChange(tests, ch.cost)
			other.Presence, other.Given = ch.Presence, ch.Given
			again.changes = append(again.changes, &other)
		}
		again.judge(c.Options.rule())
		for k, ch := range f.changes {
			if ch.Verdict != again.changes[k].Verdict {
				ch.Withhold()
			}
		}
	}
}

// farthest is the index of the function whose change is farthest from the median, in units of
// its noise, among those that changed over the divisors of rest; -1 if none did.
func (c *Comparison) farthest(rest *Normalization, left []*Change, tests estimator) int {
	f := family{}
	var logs, noise []float64
	for _, ch := range left {
		again := rest.testedChange(tests, ch.cost)
		again.Ratio = again.Head / again.Base // which such a test leaves out
		f.changes = append(f.changes, &again)
		_, base, head := rest.measure(ch.cost)
		logs = append(logs, math.Log(again.Head/again.Base))
		noise = append(noise, math.Sqrt(relativeVariance(base)+relativeVariance(head)))
	}
	f.judge(c.Options.rule())
	center := stats.Median(slices.Clone(logs))
	found, most := -1, 0.0
	for i, ch := range f.changes {
		if !ch.Verdict.Changed() {
			continue
		}
		distance := math.Abs(logs[i]-center) / noise[i]
		if math.IsNaN(distance) {
			distance = math.Inf(1)
		}
		if found < 0 || distance > most {
			found, most = i, distance
		}
	}
	return found
}

// relativeVariance is the variance of the mean of some runs, over the square of the mean.
func relativeVariance(runs []stats.WeightedCount) float64 {
	n, sum, sq := float64(len(runs)), 0.0, 0.0
	for _, r := range runs {
		sum += r.Weight
	}
	mean := sum / n
	for _, r := range runs {
		sq += (r.Weight - mean) * (r.Weight - mean)
	}
	return sq / (n - 1) / n / (mean * mean)
}
