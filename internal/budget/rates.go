package budget

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// rateClaims limit one event per another: the rate of each run, and then between runs.
func (k *check) rateClaims(r *Result, x *target) {
	b := r.Budget
	rates := func(side int) (counts []stats.WeightedCount, simulated bool, reason string) {
		simulated = true
		for i, rn := range k.tally.runs[side] {
			of, per := &x.sums[side][0][i], &x.sums[side][1][i]
			if per.Weight <= 0 {
				return nil, false, fmt.Sprintf("%s has no samples of %s in it", rn.Name, x.events[1])
			}
			for _, name := range x.events {
				at, _ := rn.EventIndex(name)
				simulated = simulated && rn.Events[at].Simulated
			}
			rate := float64(of.Weight) / float64(per.Weight)
			n := stats.WeightedCount{Weight: rate}
			if !simulated && of.Weight > 0 {
				w, v := float64(of.Weight), float64(per.Weight)
				n.WeightSq = rate * rate * (of.WeightSq/w/w + per.WeightSq/v/v)
			}
			counts = append(counts, n)
		}
		return counts, simulated, ""
	}
	for _, name := range x.events {
		if !k.hasEvent(1, name) || b.Limit != nil && len(k.in.Base) > 0 && !k.hasEvent(0, name) {
			force(r, kindOf(b), verdict.Inconclusive, k.differ(name))
			return
		}
	}
	if k.in.Stored != nil && b.Limit != nil {
		if reason := storedReason(x); reason != "" {
			force(r, RelativeKind, verdict.Inconclusive, reason)
			return
		}
	}
	head, simulatedHead, reason := rates(1)
	if reason != "" {
		force(r, AbsoluteKind, verdict.Inconclusive, reason)
		return
	}
	what := b.Rate.String()
	if b.Limit != nil {
		if len(k.in.Base) == 0 {
			force(r, RelativeKind, verdict.Verdict(k.file.Defaults.OnMissing), errNoBase.Error(), Missing)
		} else if base, simulatedBase, reason := rates(0); reason != "" {
			force(r, RelativeKind, verdict.Inconclusive, reason)
		} else {
			c := k.ratio(r, what, &k.comparison.Pairing, base, head, simulatedBase && simulatedHead)
			c.SamplesBase, c.SamplesHead = x.samples(0), x.samples(1)
			c.FewSamples = !c.Exact && c.SamplesHead < int64(k.file.Defaults.Require.Samples)
			if at := k.eventIndex(x.events[0]); at >= 0 {
				c.blocked = cmp.Or(k.blockedRate(at, x.events[0]), k.unfit(x.events[1], k.in.Base, k.in.Head))
			}
		}
	}
	if b.Max != nil {
		c := &Claim{
			Kind: AbsoluteKind, What: what, Base: math.NaN(), RunsBase: len(k.in.Base), RunsHead: len(k.in.Head),
			SamplesBase: x.samples(0), SamplesHead: x.samples(1),
		}
		if b.Max.unit() == Percent {
			c.Unit = "percent"
		}
		k.setLevel(c, head, simulatedHead)
		k.absoluteLimits(c, b.Max, r.Waiver)
		c.blocked = cmp.Or(k.unfit(x.events[0], nil, k.in.Head), k.unfit(x.events[1], nil, k.in.Head))
		r.Claims = append(r.Claims, c)
	}
}

// blockedRate is blocked for rates, which are not normalized: what is in the way of the
// normalization is not in their way.
func (k *check) blockedRate(at int, name string) string {
	e := k.comparison.Events[at]
	e.Withheld = ""
	return k.blocked(&e, name)
}

// ratio adds a claim on the ratio of values that were not normalized by the comparison. The runs
// are those that the pairing is of, which may have no pairs.
func (k *check) ratio(r *Result, what string, pairing *verdict.Pairing, base, head []stats.WeightedCount, simulated bool) *Claim {
	c := &Claim{Kind: RelativeKind, What: what, RunsBase: len(base), RunsHead: len(head), Limit: verdict.Limit{Stored: k.in.Stored != nil}}
	for _, n := range base {
		c.Base += n.Weight / float64(len(base))
	}
	for _, n := range head {
		c.Head += n.Weight / float64(len(head))
	}
	same := func(list []stats.WeightedCount) bool {
		return !slices.ContainsFunc(list, func(n stats.WeightedCount) bool { return n.Weight != list[0].Weight })
	}
	est := pairing.Ratio(k.tests, base, head, k.level())
	if simulated && same(base) && same(head) {
		est = k.tests.Exact(stats.WeightedCount{Weight: base[0].Weight}, stats.WeightedCount{Weight: head[0].Weight})
	}
	c.Estimate, c.Exact = &est, est.Method == stats.Exact
	k.relativeLimits(c, r.Budget, r.Waiver, 0, 0)
	switch {
	case c.Base == 0 && c.Head == 0:
		c.Given, c.Reason = verdict.Pass, "zero on both sides"
	case c.Base == 0:
		c.Given, c.Reason, c.marks = verdict.Warn, "base is zero: max would limit it", append(c.marks, New)
	}
	if c.Given != "" {
		c.Value, c.Range, c.Smallest = est.Ratio, k.file.rule().Left(&est), math.Inf(1)
	}
	r.Claims = append(r.Claims, c)
	return c
}
