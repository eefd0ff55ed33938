package compare

import (
	"slices"

	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// fewSamples is the effective sample size below which the test of one run a side is
// exact, as in package stats.
const fewSamples = 30

// A Change is a cost on both sides.
type Change struct {
	// Base and Head are normalized weights, means over the runs of the side.
	Base, Head float64
	// BaseSamples and HeadSamples are numbers of samples: sums over the runs.
	BaseSamples, HeadSamples int64
	// BaseEffective and HeadEffective are effective sample sizes, likewise.
	BaseEffective, HeadEffective float64
	verdict.Finding

	// Bursts is by how much the samples of a single run vary more than independent
	// ones, on the side where they do most: 1 if they do not, 0 if unknown.
	Bursts float64

	cost cost
}

// Delta is Head minus Base.
func (c *Change) Delta() float64 { return c.Head - c.Base }

// newChange estimates one change. c stays in use.
func (n *Normalization) newChange(tests estimator, c cost) Change {
	return n.change(tests, c, estimator.ratio)
}

// testedChange is newChange without Ratio, CI and what follows from them: P, Grew and
// Within are the same, at a small part of the cost.
func (n *Normalization) testedChange(tests estimator, c cost) Change {
	return n.change(tests, c, estimator.test)
}

func (n *Normalization) change(tests estimator, c cost, estimate func(t estimator, base, head []stats.WeightedCount) stats.Estimate) Change {
	ch, base, head := n.measure(c)
	var e stats.Estimate
	switch {
	case !ch.tells():
		// Most functions of a large profile.
		ch.Finding = verdict.Unknown(ch.Head / ch.Base)
		return ch
	case n.exact(base, head):
		e = tests.tests.Exact(stats.WeightedCount{Weight: base[0].Weight}, stats.WeightedCount{Weight: head[0].Weight})
	default:
		e = estimate(tests, base, head)
	}
	ch.Finding = verdict.Of(&e)
	return ch
}

// measure is a change that was not estimated, and the normalized costs of its runs.
func (n *Normalization) measure(c cost) (ch Change, base, head []stats.WeightedCount) {
	ch = Change{cost: c}
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

// levels are Base and Head of [Normalization.measure].
func (n *Normalization) levels(c *cost) (base, head float64) {
	for i := range c.base {
		base += float64(c.base[i].Weight) / n.base[i].value / float64(len(c.base))
	}
	for i := range c.head {
		head += float64(c.head[i].Weight) / n.head[i].value / float64(len(c.head))
	}
	return base, head
}

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

// normalize divides by the divisors. Where a side has one run, the noise of an estimated
// divisor is added to the noise of the samples; several runs show it by themselves.
func (n *Normalization) normalize(sums []run.Sum, divisors []divisor, bursts float64, few bool) (counts []stats.WeightedCount, effective float64) {
	single := len(n.base) == 1 || len(n.head) == 1
	counts = make([]stats.WeightedCount, len(sums))
	for i := range sums {
		d := &divisors[i]
		c := stats.WeightedCount{Weight: float64(sums[i].Weight), WeightSq: sums[i].WeightSq}
		if c.Complete = n.complete; !c.Complete {
			c.WeightSq *= bursts
		}
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
