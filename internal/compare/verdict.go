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
	ch := Change{cost: c, P: 1, Adjusted: 1, Verdict: Inconclusive}
	ch.BaseSamples, ch.HeadSamples = c.samples()
	bursts := [2]float64{1, 1}
	if c.bursts != nil {
		bursts = *c.bursts
		ch.Bursts = max(bursts[0], bursts[1])
	}
	few := c.few(bursts)
	base, baseEffective := n.normalize(c.base, n.base, bursts[0], few)
	head, headEffective := n.normalize(c.head, n.head, bursts[1], few)
	for _, w := range base {
		ch.Base += w.Weight / float64(len(base))
	}
	for _, w := range head {
		ch.Head += w.Weight / float64(len(head))
	}
	ch.BaseEffective, ch.HeadEffective = baseEffective, headEffective
	if samples := ch.BaseSamples + ch.HeadSamples; samples > 0 && samples < telling && len(base) > 1 && len(head) > 1 {
		// Most functions of a large profile.
		ch.Ratio, ch.CI = ch.Head/ch.Base, stats.Interval{Lo: 0, Hi: math.Inf(1)}
		return ch
	}
	e := n.estimate(tests, base, head)
	ch.estimate = e
	ch.Ratio, ch.CI, ch.Method, ch.P, ch.Capped = e.Ratio, e.CI, e.Method, e.P, e.Capped
	return ch
}

// estimate compares normalized costs. What a simulator counted is known, if all runs of a
// side agree.
func (n *Normalization) estimate(tests *stats.Tests, base, head []stats.WeightedCount) stats.Estimate {
	same := func(list []stats.WeightedCount) bool {
		return !slices.ContainsFunc(list, func(c stats.WeightedCount) bool { return c.Weight != list[0].Weight })
	}
	if n.simulated && same(base) && same(head) {
		return tests.Exact(stats.WeightedCount{Weight: base[0].Weight}, stats.WeightedCount{Weight: head[0].Weight})
	}
	return tests.Ratio(base, head)
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
	hi, lo := 1+opt.Margin, 1/(1+opt.Margin)
	alpha := 1 - level
	c.Smallest = e.SmallestDetectable(enough, power)
	if e.Method == stats.Sampling || e.Method == stats.SamplingExact {
		// One run a side tells nothing of how runs differ.
		c.Verdict = Inconclusive
		return
	}
	shown := c.Adjusted <= bound && c.P <= alpha
	switch {
	// Two one-sided tests (Schuirmann, 1987), at the level at which the interval that is
	// printed beside it lies within the margin.
	case e.Below(hi) <= alpha/2 && e.Above(lo) <= alpha/2:
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
		distance := max(seen, math.Log(hi)-seen)
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
