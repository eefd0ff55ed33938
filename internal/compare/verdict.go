package compare

import (
	"math"
	"slices"

	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// A Verdict is what a comparison says of one cost.
type Verdict string

const (
	Improved  Verdict = "improved"
	Regressed Verdict = "regressed"
	// Unchanged: a change beyond the margin is excluded.
	Unchanged Verdict = "unchanged"
	// Inconclusive: neither is shown.
	Inconclusive Verdict = "inconclusive"
)

// level is the confidence level of all intervals, and 1-level the error rate of all
// claims that are not controlled as a family.
const level = 0.95

// fewSamples is the effective sample size below which the test of one run a side is
// exact, as in package stats.
const fewSamples = 30

// power is the chance of showing a change for which numbers of runs are computed.
const power = 0.9

// A Change is a cost on both sides.
type Change struct {
	// Base and Head are normalized weights, means over the runs of the side.
	Base, Head float64
	// BaseSamples and HeadSamples are numbers of samples: sums over the runs.
	BaseSamples, HeadSamples int64
	// BaseEffective and HeadEffective are effective sample sizes, likewise.
	BaseEffective, HeadEffective float64
	// Ratio is head over base as the test estimates it, with its 95 % interval. Hi
	// is +Inf where there is no upper bound.
	Ratio  float64
	CI     stats.Interval
	Method stats.Method
	// P is the two-sided p-value of there being no change, Adjusted what is left
	// of it in its family: Holm's for Declared changes, else Benjamini and
	// Hochberg's q. Both are 1 for changes that were not tested.
	P, Adjusted float64
	Declared    bool
	Tested      bool
	Verdict     Verdict
	// Capped is set if the design cannot show a cause.
	Capped bool
	// Withheld is set if the verdict was taken back, see Event.Withheld.
	Withheld bool
	// RunsNeeded is the number of runs a side, those recorded included, that would
	// probably settle an inconclusive change, 0 if unknown.
	RunsNeeded int
	// Smallest is the smallest relative change that this data could have shown
	// with a chance of 90 %; +Inf if none.
	Smallest float64

	// Bursts is by how much the samples of a single run vary more than independent
	// ones, on the side where they do most: 1 if they do not, 0 if unknown.
	Bursts float64

	cost     cost
	estimate stats.Estimate
}

// Delta is Head minus Base.
func (c *Change) Delta() float64 { return c.Head - c.Base }

// WithinNoise reports whether noise alone can explain the change.
func (c *Change) WithinNoise() bool { return c.CI.Contains(1) }

// newChange estimates one change. c stays in use.
func (n *Normalization) newChange(tests *stats.Tests, c cost) Change {
	return n.change(tests, c, (*stats.Tests).Ratio)
}

// testedChange is newChange without Ratio, CI and what follows from them: P, Grew and
// Within are the same, at a small part of the cost.
func (n *Normalization) testedChange(tests *stats.Tests, c cost) Change {
	return n.change(tests, c, (*stats.Tests).Test)
}

func (n *Normalization) change(tests *stats.Tests, c cost, estimate func(t *stats.Tests, base, head []stats.WeightedCount) stats.Estimate) Change {
	ch, base, head := n.measure(c)
	switch {
	case !ch.tells():
		// Most functions of a large profile.
		ch.unknown()
		return ch
	case n.exact(base, head):
		ch.estimate = tests.Exact(stats.WeightedCount{Weight: base[0].Weight}, stats.WeightedCount{Weight: head[0].Weight})
	default:
		ch.estimate = estimate(tests, base, head)
	}
	e := &ch.estimate
	ch.Ratio, ch.CI, ch.Method, ch.P, ch.Capped = e.Ratio, e.CI, e.Method, e.P, e.Capped
	return ch
}

// Grew reports whether P is that of a growth.
func (c *Change) Grew() bool { return c.estimate.Above(1) < c.estimate.Below(1) }

// Within reports whether a relative change beyond margin is excluded, by two one-sided
// tests (Schuirmann, 1987) at the level at which the interval lies within the margin.
func (c *Change) Within(margin float64) bool {
	const alpha = 1 - level
	return c.estimate.Below(1+margin) <= alpha/2 && c.estimate.Above(1/(1+margin)) <= alpha/2
}

// measure is a change that was not estimated, and the normalized costs of its runs.
func (n *Normalization) measure(c cost) (ch Change, base, head []stats.WeightedCount) {
	ch = Change{cost: c, P: 1, Adjusted: 1, Verdict: Inconclusive}
	ch.BaseSamples, ch.HeadSamples = c.samples()
	bursts := [2]float64{1, 1}
	if c.bursts != nil {
		bursts = *c.bursts
		ch.Bursts = max(bursts[0], bursts[1])
	}
	few := c.few(bursts)
	base, ch.BaseEffective = n.normalize(c.base, n.base, bursts[0], few)
	head, ch.HeadEffective = n.normalize(c.head, n.head, bursts[1], few)
	for _, w := range base {
		ch.Base += w.Weight / float64(len(base))
	}
	for _, w := range head {
		ch.Head += w.Weight / float64(len(head))
	}
	return ch, base, head
}

// unknown says that nothing is known of the ratio but what it is in the means.
func (c *Change) unknown() { c.Ratio, c.CI = c.Head/c.Base, stats.Interval{Lo: 0, Hi: math.Inf(1)} }

// tells reports whether there are samples enough for differences between runs to tell
// something.
func (c *Change) tells() bool {
	samples := c.BaseSamples + c.HeadSamples
	return samples <= 0 || samples >= telling || len(c.cost.base) == 1 || len(c.cost.head) == 1
}

// exact reports whether costs are known: a simulator counted, and all runs of a side
// agree.
func (n *Normalization) exact(base, head []stats.WeightedCount) bool {
	same := func(list []stats.WeightedCount) bool {
		return !slices.ContainsFunc(list, func(c stats.WeightedCount) bool { return c.Weight != list[0].Weight })
	}
	return n.simulated && same(base) && same(head)
}

// telling is the number of samples in all runs below which their differences tell
// nothing.
const telling = 10

// few reports whether a side is one run with too few samples to be normal. The test is
// one of numbers of samples then, and the totals that shares are of are exposures.
func (c *cost) few(bursts [2]float64) bool {
	if len(c.base) != 1 || len(c.head) != 1 {
		return false
	}
	effective := func(s *run.Sum, bursts float64) float64 {
		return stats.WeightedCount{Weight: float64(s.Weight), WeightSq: s.WeightSq * bursts}.Effective()
	}
	return min(effective(&c.base[0], bursts[0]), effective(&c.head[0], bursts[1])) < fewSamples
}

// normalize divides by the divisors. Where a side has one run, the noise of an
// estimated divisor is added to that of the samples; between runs it shows by itself.
func (n *Normalization) normalize(sums []run.Sum, divisors []divisor, bursts float64, few bool) (counts []stats.WeightedCount, effective float64) {
	single := len(n.base) == 1 || len(n.head) == 1
	counts = make([]stats.WeightedCount, len(sums))
	for i := range sums {
		d := &divisors[i]
		c := stats.WeightedCount{Weight: float64(sums[i].Weight), WeightSq: sums[i].WeightSq}
		c.WeightSq *= bursts
		effective += c.Effective()
		if single && !(d.share && few) {
			c.WeightSq = d.noise(c)
		}
		c.Weight /= d.value
		c.WeightSq /= d.value * d.value
		counts[i] = c
	}
	return counts, effective
}

// judge gives verdicts to the changes of one family. Declared ones are those that the
// user named: any false alarm among them is one too many (Holm). Others are found:
// among those called changed, a share of q may be false (Benjamini and Hochberg). In a
// small family that alone would let a change pass whose interval has no change in it.
func judge(family []*Change, declared bool, opt *Options) {
	p := make([]float64, len(family))
	for i, c := range family {
		p[i] = c.P
	}
	bound := 1 - level
	adjusted := p
	if declared {
		adjusted = stats.Holm(p)
	} else {
		adjusted = stats.BenjaminiHochberg(p)
		bound = opt.FalseDiscovery
	}
	found := 0
	for _, q := range adjusted {
		if q <= bound {
			found++
		}
	}
	// The p-value that would just have been enough.
	enough := bound / float64(max(1, len(family)))
	if !declared {
		enough = min(enough*float64(max(1, found)), 1-level)
	}
	for i, c := range family {
		c.Tested, c.Declared, c.Adjusted = true, declared, adjusted[i]
		c.decide(bound, enough, opt)
	}
}

// decide gives a verdict: adjusted values up to bound, which p-values up to enough
// have, show a change if the interval does too.
func (c *Change) decide(bound, enough float64, opt *Options) {
	e := &c.estimate
	alpha := 1 - level
	c.Smallest = e.SmallestDetectable(enough, power)
	if e.Method == stats.Sampling || e.Method == stats.SamplingExact {
		// One run a side tells nothing of how runs differ.
		c.Verdict = Inconclusive
		return
	}
	shown := c.Adjusted <= bound && c.P <= alpha
	switch {
	case c.Within(opt.Margin):
		c.Verdict = Unchanged
	case shown && c.Ratio < 1:
		c.Verdict = Improved
	case shown && c.Ratio > 1:
		c.Verdict = Regressed
	default:
		c.Verdict = Inconclusive
		// To show the change that is seen, or to exclude one beyond the margin,
		// whatever is nearer.
		seen := math.Abs(math.Log(c.Ratio))
		distance := max(seen, math.Log(1+opt.Margin)-seen)
		c.RunsNeeded = e.RunsNeeded(distance, alpha/2, power)
	}
}

// withhold takes a verdict back, also that of no change: what makes a difference may hide
// one too.
func (c *Change) withhold() {
	if c.Verdict != Inconclusive {
		c.Verdict, c.Withheld = Inconclusive, true
	}
}
