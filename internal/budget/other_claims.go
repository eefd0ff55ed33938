package budget

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/run"
	"profdiff/internal/stats"
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
			kind := AbsoluteKind
			if b.Limit != nil {
				kind = RelativeKind
			}
			force(r, kind, Inconclusive, k.differ(name))
			return
		}
	}
	head, simulatedHead, reason := rates(1)
	if reason != "" {
		force(r, AbsoluteKind, Inconclusive, reason)
		return
	}
	what := b.Rate.String()
	if b.Limit != nil {
		if len(k.in.Base) == 0 {
			force(r, RelativeKind, Verdict(k.file.Defaults.OnMissing), errNoBase.Error(), Missing)
		} else if base, simulatedBase, reason := rates(0); reason != "" {
			force(r, RelativeKind, Inconclusive, reason)
		} else {
			c := k.ratio(r, what, base, head, simulatedBase && simulatedHead)
			c.SamplesBase, c.SamplesHead = x.samples(0), x.samples(1)
			c.fewSamples = !c.exact && c.SamplesHead < int64(k.file.Defaults.Require.Samples)
			if at := k.eventIndex(x.events[0]); at >= 0 {
				c.blocked = k.blockedRate(at, x.events[0])
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
		c.blocked = k.lost(k.in.Head)
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

// ratio adds a claim on the ratio of values that were not normalized by the comparison.
func (k *check) ratio(r *Result, what string, base, head []stats.WeightedCount, simulated bool) *Claim {
	c := &Claim{Kind: RelativeKind, What: what, RunsBase: len(base), RunsHead: len(head)}
	for _, n := range base {
		c.Base += n.Weight / float64(len(base))
	}
	for _, n := range head {
		c.Head += n.Weight / float64(len(head))
	}
	same := func(list []stats.WeightedCount) bool {
		return !slices.ContainsFunc(list, func(n stats.WeightedCount) bool { return n.Weight != list[0].Weight })
	}
	est := k.tests.Ratio(base, head)
	if simulated && same(base) && same(head) {
		est = k.tests.Exact(stats.WeightedCount{Weight: base[0].Weight}, stats.WeightedCount{Weight: head[0].Weight})
	}
	c.est, c.exact = &est, est.Method == stats.Exact
	k.relativeLimits(c, r.Budget, r.Waiver, 0, 0)
	switch {
	case c.Base == 0 && c.Head == 0:
		c.forced, c.Reason = Pass, "zero on both sides"
	case c.Base == 0:
		c.forced, c.Reason, c.marks = Warn, "base is zero: max would limit it", append(c.marks, New)
	}
	if c.forced != "" {
		c.Value, c.CI, c.Smallest = est.Ratio, est.CI, math.Inf(1)
	}
	r.Claims = append(r.Claims, c)
	return c
}

// streamClaims limit a quantile of measured values: that of each run, and then between
// runs. Values of one run are not independent, runs are.
func (k *check) streamClaims(r *Result) {
	b := r.Budget
	kind := RelativeKind
	if b.Limit == nil {
		kind = AbsoluteKind
	}
	s, ok := k.in.Streams[b.Samples]
	if !ok || len(s.Head) == 0 {
		force(r, kind, Verdict(k.file.Defaults.OnMissing), fmt.Sprintf("no values of %s are given for head", clip(b.Samples)), Missing)
		return
	}
	q := float64(*b.Quantile)
	what := fmt.Sprintf("p%.6g of %s", 100*q, b.Samples)
	unit, scale := streamUnit(b.Samples)
	need := stats.QuantileEvents(q, level)
	quantiles := func(runs [][]float64) (counts []stats.WeightedCount, n int64, reason string) {
		for i, values := range runs {
			n += int64(len(values))
			if len(values) < need && reason == "" {
				reason = fmt.Sprintf("p%.6g needs %d values a run, run %d has %d", 100*q, need, i+1, len(values))
			}
			counts = append(counts, stats.WeightedCount{Weight: scale * quantile(values, q)})
		}
		return counts, n, reason
	}
	head, nHead, blockedHead := quantiles(s.Head)
	if b.Limit != nil {
		if len(s.Base) == 0 {
			force(r, RelativeKind, Verdict(k.file.Defaults.OnMissing), fmt.Sprintf("no values of %s are given for base", clip(b.Samples)), Missing)
		} else {
			base, nBase, blocked := quantiles(s.Base)
			c := k.ratio(r, what, base, head, false)
			c.Unit, c.SamplesBase, c.SamplesHead = unit, nBase, nHead
			if c.blocked = blockedHead; blocked != "" {
				c.blocked = blocked
			}
			if c.exact && c.forced == "" {
				k.cachedValues(c, len(base), len(head))
			}
		}
	}
	if b.Max == nil {
		return
	}
	c := &Claim{Kind: AbsoluteKind, What: what, Unit: unit, Base: math.NaN(), RunsBase: len(s.Base), RunsHead: len(s.Head), SamplesHead: nHead}
	k.setLevel(c, head, false)
	k.absoluteLimits(c, b.Max, r.Waiver)
	if b.Max.unit() == Plain && unit == "nanoseconds" {
		// A plain number is in the unit of the values.
		for _, limit := range []*float64{c.Warn, c.Fail} {
			if limit != nil {
				*limit *= scale
			}
		}
	}
	c.blocked = blockedHead
	if b.Max.unit() == Nanoseconds && unit != "nanoseconds" {
		c.blocked = fmt.Sprintf("%s is a time, but the name %s does not end in the unit of its values: _ns, _us, _ms or _s", b.Max.any(), clip(b.Samples))
	}
	if c.exact {
		k.cachedValues(c, leastRuns, len(head))
	}
	r.Claims = append(r.Claims, c)
}

// cachedValues caps what is equal in all runs: measured values never are.
func (k *check) cachedValues(c *Claim, base, head int) {
	c.Notes = append(c.Notes, "identical values in all runs of a side: is this a cached result?")
	if need := max(leastRuns, k.file.Defaults.Require.Runs); min(base, head) < need {
		c.exact = false
		c.est.Capped = true
	}
}

// streamUnit is the unit of values by the name of their stream, and what a value is in it.
func streamUnit(name string) (unit string, scale float64) {
	for _, u := range []struct {
		suffix string
		scale  float64
	}{{"_ns", 1}, {"_us", 1e3}, {"_ms", 1e6}, {"_s", 1e9}} {
		if strings.HasSuffix(name, u.suffix) {
			return "nanoseconds", u.scale
		}
	}
	return "", 1
}

// quantile is the q quantile of values, by linear interpolation between order statistics
// (Hyndman and Fan, 1996, type 7).
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Clone(values)
	sort.Float64s(sorted)
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// branchClaims limit the mispredicted branches of functions: their number, or the cycles
// that they cost.
func (k *check) branchClaims(r *Result) {
	b := r.Budget
	kind := RelativeKind
	if b.Limit == nil {
		kind = AbsoluteKind
	}
	m := newMatcher(b.Match)
	if len(k.in.Branches[1]) == 0 {
		force(r, kind, Verdict(k.file.Defaults.OnMissing), "no branches of head are known", Missing)
		return
	}
	var found [2]bool
	// lo and hi are by run: without a cost of a miss they differ.
	misses := func(side int) (lo, hi []stats.WeightedCount, n int64, counted bool, reason string) {
		counted = true
		for i, t := range k.in.Branches[side] {
			var low, high float64
			for j := range t.Branches {
				x := &t.Branches[j]
				if !m.matchBranch(x) {
					continue
				}
				found[side] = true
				switch {
				case x.Misses == nil:
					continue
				case b.BranchCost == "misses":
					low, high = low+*x.Misses, high+*x.Misses
				case x.CyclesLost == nil:
					return nil, nil, 0, false, fmt.Sprintf("%s: what a miss costs is not known; give the CPU", t.Name)
				default:
					low, high = low+x.CyclesLost[0], high+x.CyclesLost[1]
				}
				n += x.NMisses
			}
			counted = counted && t.Tier == branch.TierSimulated
			divisor := 1.0
			if k.byWork() {
				var err error
				if divisor, err = k.workOf(side, i); err != nil {
					return nil, nil, 0, false, err.Error()
				}
			}
			count := func(v float64) stats.WeightedCount {
				w := stats.WeightedCount{Weight: v / divisor}
				if t.Tier != branch.TierSimulated && v > 0 {
					// Misses that are seen are independent at best.
					w.WeightSq = w.Weight * w.Weight / max(1, float64(n))
				}
				return w
			}
			lo, hi = append(lo, count(low)), append(hi, count(high))
		}
		return lo, hi, n, counted, ""
	}
	headLo, headHi, nHead, countedHead, reason := misses(1)
	if reason != "" {
		force(r, kind, Inconclusive, reason)
		return
	}
	what := "mispredicted branches"
	if b.BranchCost == "cycles" {
		what = "cycles lost to mispredicted branches"
	}
	per := " a run"
	if k.byWork() {
		per = " per " + k.file.Defaults.Normalize.Work
	}
	defer func() {
		if !found[0] && !found[1] {
			r.Claims, r.Notes = nil, nil
			k.forceMissing(r, "no branch is in a function that matches "+k.file.matchText(b.Match), nil)
		}
	}()
	if b.Limit != nil {
		baseLo, baseHi, nBase, countedBase, reason := misses(0)
		switch {
		case reason != "":
			force(r, RelativeKind, Inconclusive, reason)
		case len(baseLo) == 0:
			force(r, RelativeKind, Verdict(k.file.Defaults.OnMissing), errNoBase.Error(), Missing)
		default:
			// A cost that is the same on both sides does not move their ratio.
			middle := func(lo, hi []stats.WeightedCount) (list []stats.WeightedCount) {
				for i := range lo {
					list = append(list, stats.WeightedCount{Weight: (lo[i].Weight + hi[i].Weight) / 2, WeightSq: (lo[i].WeightSq + hi[i].WeightSq) / 2})
				}
				return list
			}
			c := k.ratio(r, what+per, middle(baseLo, baseHi), middle(headLo, headHi), countedBase && countedHead)
			c.SamplesBase, c.SamplesHead = nBase, nHead
			if at := k.eventIndex(k.event); at >= 0 {
				c.blocked = k.blockedRate(at, k.event)
			}
		}
	}
	if b.Max != nil {
		c := &Claim{Kind: AbsoluteKind, What: what + per, Base: math.NaN(), RunsHead: len(headLo), SamplesHead: nHead}
		// What is proven to be above rests on the lowest cost of a miss, what is excluded
		// on the highest.
		k.setLevel(c, headHi, countedHead)
		c.pass = c.est
		k.setLevel(c, headLo, countedHead)
		k.absoluteLimits(c, b.Max, r.Waiver)
		c.blocked = k.lost(k.in.Head)
		if c.Head == 0 {
			c.forced, c.Reason = Pass, "no mispredicted branches"
		}
		r.Claims = append(r.Claims, c)
	}
}

// byWork reports whether branches are counted per unit of work.
func (k *check) byWork() bool { return k.file.Defaults.Normalize.Work != "" || k.in.Ops != nil }

// workOf is the work that a run did.
func (k *check) workOf(side, i int) (float64, error) {
	if k.in.Ops != nil {
		return k.in.Ops[side], nil
	}
	runs := [][]*run.Run{k.in.Base, k.in.Head}[side]
	if i >= len(runs) {
		return 0, fmt.Errorf("no counter %s beside the branches", k.file.Defaults.Normalize.Work)
	}
	return k.work(runs[i])
}

// matchBranch reports whether a branch is in a function that matches, inlined or not.
func (m *matcher) matchBranch(b *branch.Branch) bool {
	if m.dso != "" && !dsoMatch(m.dso, b.DSO) || m.file != "" && !fileMatch(m.file, b.File) {
		return false
	}
	if m.matchFunction(spellings(b.Function, "")) {
		return true
	}
	return len(b.Inlined) > 0 && m.matchFunction(spellings(b.Inlined[0].Name, b.Inlined[0].SystemName))
}

// predictedClaim limits what a model says.
func (k *check) predictedClaim(r *Result) error {
	b := r.Budget
	if k.in.Predict == nil {
		force(r, PredictedKind, Inconclusive, "cycles are not predicted: no model is available")
		return nil
	}
	m := newMatcher(b.Match)
	p, err := k.in.Predict(PredictionRequest{
		Match: func(function, system, dso, file string) bool {
			return m.matchFunction(spellings(function, system)) && (m.dso == "" || dsoMatch(m.dso, dso)) && (m.file == "" || fileMatch(m.file, file))
		},
		Target: b.MCA.Target,
	})
	if err != nil {
		// What cannot be predicted was not checked: it must not look like a pass.
		force(r, PredictedKind, Inconclusive, "cycles are not predicted: "+err.Error())
		return nil
	}
	c := force(r, PredictedKind, Pass, "")
	limits := &Claim{}
	k.absoluteLimits(limits, b.MCA.CyclesPerIteration, r.Waiver)
	c.Warn, c.Fail, c.WarnText, c.FailText, c.marks = limits.Warn, limits.Fail, limits.WarnText, limits.FailText, limits.marks
	c.What, c.Unit, c.Head, c.Value = "predicted cycles of "+p.Loop+" ("+p.Model+")", "cycles", p.Cycles, p.Cycles
	lo, hi := p.Lo, p.Hi
	if lo == 0 && hi == 0 {
		lo, hi = p.Cycles, p.Cycles
	}
	c.CI = stats.Interval{Lo: lo, Hi: hi}
	switch {
	case c.Fail != nil && lo > *c.Fail:
		c.forced, c.Reason = Fail, "more than "+c.FailText+" predicted"
	case c.Fail != nil && hi > *c.Fail:
		c.forced, c.Reason = Inconclusive, "more than "+c.FailText+" is neither predicted nor excluded"
	case c.Warn != nil && lo > *c.Warn:
		c.forced, c.Reason = Warn, "more than "+c.WarnText+" predicted"
	}
	return nil
}
