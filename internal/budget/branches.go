package budget

import (
	"fmt"
	"math"

	"profdiff/internal/branch"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// branchClaims limit the mispredicted branches of functions: their number, or the cycles
// that they cost.
func (k *check) branchClaims(r *Result) {
	b := r.Budget
	kind := kindOf(b)
	m := newMatcher(b.Match)
	if len(k.in.Branches[1]) == 0 {
		force(r, kind, verdict.Verdict(k.file.Defaults.OnMissing), "no branches of head are known", Missing)
		return
	}
	head := k.branchMisses(b, m, 1)
	if head.unknown != "" {
		force(r, kind, verdict.Inconclusive, head.unknown)
		return
	}
	found := head.found
	what := "mispredicted branches"
	if b.BranchCost == "cycles" {
		what = "cycles lost to mispredicted branches"
	}
	per := " a run"
	if k.byWork() {
		per = " per " + k.file.Defaults.Normalize.Work
	}
	defer func() {
		if !found {
			r.Claims, r.Notes = nil, nil
			k.forceMissing(r, "no branch is in a function that matches "+k.file.matchText(b.Match), nil, false)
		}
	}()
	if b.Limit != nil {
		base := k.branchMisses(b, m, 0)
		found = found || base.found
		switch {
		case base.unknown != "":
			force(r, RelativeKind, verdict.Inconclusive, base.unknown)
		case len(base.lo) == 0:
			force(r, RelativeKind, verdict.Verdict(k.file.Defaults.OnMissing), errNoBase.Error(), Missing)
		default:
			c := k.ratio(r, what+per, &verdict.Pairing{}, base.middle(), head.middle(), base.counted && head.counted)
			c.SamplesBase, c.SamplesHead = base.n, head.n
			if at := k.eventIndex(k.event); at >= 0 {
				c.blocked = k.blockedRate(at, k.event)
			}
		}
	}
	if b.Max != nil {
		c := &Claim{Kind: AbsoluteKind, What: what + per, Base: math.NaN(), RunsHead: len(head.lo), SamplesHead: head.n}
		// What is proven to be above rests on the lowest cost of a miss, what is excluded
		// on the highest.
		k.setLevel(c, head.hi, head.counted)
		c.Highest = c.Estimate
		k.setLevel(c, head.lo, head.counted)
		k.absoluteLimits(c, b.Max, r.Waiver)
		c.blocked = k.unfit(k.event, nil, k.in.Head)
		if c.Head == 0 {
			c.Given, c.Reason = verdict.Pass, "no mispredicted branches"
		}
		r.Claims = append(r.Claims, c)
	}
}

// branchMisses are the misses of the branches that a budget limits, or their cycles, on
// one side.
type branchMisses struct {
	// lo and hi are by run: without a cost of a miss they differ.
	lo, hi  []stats.WeightedCount
	n       int64  // misses that were seen
	counted bool   // in all runs, by a simulator
	found   bool   // a branch matches
	unknown string // why nothing is known, or ""
}

// middle is between lo and hi: a cost that is the same on both sides does not move their
// ratio.
func (b *branchMisses) middle() (list []stats.WeightedCount) {
	for i, lo := range b.lo {
		hi := b.hi[i]
		list = append(list, stats.WeightedCount{Weight: (lo.Weight + hi.Weight) / 2, WeightSq: (lo.WeightSq + hi.WeightSq) / 2})
	}
	return list
}

// branchMisses sums the branches of one side that match.
func (k *check) branchMisses(b *Budget, m *matcher, side int) branchMisses {
	sum := branchMisses{counted: true}
	for i, t := range k.in.Branches[side] {
		var low, high float64
		for j := range t.Branches {
			x := &t.Branches[j]
			if !m.matchBranch(x) {
				continue
			}
			sum.found = true
			switch {
			case x.Misses == nil:
				continue
			case b.BranchCost == "misses":
				low, high = low+*x.Misses, high+*x.Misses
			case x.CyclesLost == nil:
				return branchMisses{found: true, unknown: t.Name + ": what a miss costs is not known; give the CPU"}
			default:
				low, high = low+x.CyclesLost[0], high+x.CyclesLost[1]
			}
			sum.n += x.NMisses
		}
		sum.counted = sum.counted && t.Counted()
		divisor := 1.0
		if k.byWork() {
			var err error
			if divisor, err = k.workOf(side, i); err != nil {
				return branchMisses{found: sum.found, unknown: err.Error()}
			}
		}
		count := func(v float64) stats.WeightedCount {
			w := stats.WeightedCount{Weight: v / divisor}
			if !t.Counted() && v > 0 {
				// Misses that are seen are independent at best.
				w.WeightSq = w.Weight * w.Weight / max(1, float64(sum.n))
			}
			return w
		}
		sum.lo, sum.hi = append(sum.lo, count(low)), append(sum.hi, count(high))
	}
	return sum
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
