// Package advice says what to do about branches that are mispredicted.
//
//  1. What the misses of a branch cost is compared with all cycles, else with all
//     instructions, else with all misses. Below 1 % nothing is said.
//  2. The end of the interval of its miss rate is compared with the rate from which code
//     without the branch is faster: its own if that was estimated, else 20 %, a rule of
//     thumb. Above it, something can be done; below it, the branch is left alone.
//  3. The code around the branch ([shape.Of]) decides what: both sides computed, a table,
//     sorted data, an unrolled loop, or nothing. Where the code is not there, or does not show
//     that it helps, nothing is said rather than something wrong: of a bit of a decoder's
//     state, what a search or a sort compares, and calls of many targets.
package advice

import (
	"fmt"
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/branch/code"
	"profdiff/internal/branch/shape"
	"profdiff/internal/objects"
)

const (
	usualMissCost = 20   // cycles of a miss, where nothing is known of the CPU
	leastLoss     = 0.01 // of cycles, for which a branch is worth a change
	// Sides that are computed always: up to cheapSide instructions, never more than
	// longSide (Bakhvalov, Performance Analysis and Tuning on Modern CPUs).
	cheapSide = 10
	longSide  = 20
	fewTrips  = 4
	// A rare direction, and how often it has to be missed, for a matter of layout.
	rareSide, rareMissed = 0.1, 0.3
	// manyBranches that have most of the misses are a matter of capacity.
	manyBranches, mostMisses = 200, 0.8
	manyCompares             = 4
	usualTarget              = 0.5 // share of a target that is worth a test
)

// Add fills in the Advice of the table and of its branches. Advice on a branch is
// given only if the lower end of its miss rate is above BreakEven and its misses cost
// at least 1 % of the cycles; where cycles are not known, as many cycles as 1 % of the
// instructions, or 1 % of the misses. Imprecise samples do not tell the rate: the advice
// then says so, and if it is not known which branch it is, that alone. files has
// the binaries.
func Add(t *branch.Table, files *objects.Store) {
	t.Advice = spread(t)
	if t.Tier == branch.TierCounters {
		t.Advice = sampleFunction(t)
	}
	if t.Unknown != "" {
		return
	}
	code := code.New(files)
	defer code.Close()
	for i := range t.Branches {
		b := &t.Branches[i]
		b.Advice = advise(t, b, code)
	}
}

// spread is the advice if no branch has much of the misses.
func spread(t *branch.Table) string {
	var misses []float64
	var sum float64
	for i := range t.Branches {
		if m := t.Branches[i].Misses; m != nil && *m > 0 {
			misses = append(misses, *m)
			sum += *m
		}
	}
	slices.Sort(misses)
	n, part := 0, 0.0
	for _, m := range slices.Backward(misses) {
		if part >= mostMisses*sum {
			break
		}
		part += m
		n++
	}
	if n < manyBranches {
		return ""
	}
	return fmt.Sprintf("it takes %d branches to have 80 %% of the misses: the predictor runs out of room rather than failing at one branch; try the layout of code (PGO, BOLT) and look at misses of the instruction cache", n)
}

// sampleFunction is the advice if it is only known how many misses functions have.
func sampleFunction(t *branch.Table) string {
	for i := range t.Functions() {
		if f := &t.Functions()[i]; f.Enough && f.Name != "" && f.Share != nil && *f.Share > 0 {
			return fmt.Sprintf("counters tell how many misses functions have, not which branches: sample branch misses to see those of %s, which has %s of them", f.Name, percent(*f.Share))
		}
	}
	return ""
}

// stakeOf is what the misses of a branch cost.
func stakeOf(t *branch.Table, b *branch.Branch) (share float64, of branch.Stake, ok bool) {
	switch {
	case b.Share != nil:
		return *b.Share, branch.OfCycles, true
	case t.Scaled && b.Misses != nil && t.Instructions != nil && *t.Instructions > 0:
		cost := float64(usualMissCost)
		if b.Cost != nil {
			cost = b.Cost.Centre
		}
		return *b.Misses * cost / *t.Instructions, branch.OfInstructions, true
	case b.MissShare != nil:
		return *b.MissShare, branch.OfMisses, true
	}
	return 0, "", false
}

func advise(t *branch.Table, b *branch.Branch, code *code.Files) *branch.Advice {
	share, of, ok := stakeOf(t, b)
	if !ok || share < leastLoss || !b.Enough || b.ByLine {
		return nil
	}
	a := &branch.Advice{Share: share, Of: of, BreakEven: branch.UsualBreakEven, RuleOfThumb: true}
	if b.BreakEven != nil {
		a.BreakEven, a.RuleOfThumb = *b.BreakEven, false
	}
	_, top := b.Targets()
	switch {
	case b.Known().Rank() < branch.Medium.Rank():
		identify(a, b)
		return a
	case b.Rate == nil && b.Sampled == nil:
		return nil
	case b.Kind == branch.Indirect && top >= usualTarget:
		// A test for the usual target is wrong as often as it is not that.
		a.BreakEven, a.RuleOfThumb = 1-top, false
	}
	if b.Rate != nil {
		if b.Rate.CI[1] < a.BreakEven {
			a.Rate = &b.Rate.CI[1]
			leave(b, a)
			return a
		}
		if a.Rate = &b.Rate.CI[0]; *a.Rate <= a.BreakEven {
			return nil
		}
	}
	if b.Known() == branch.Medium {
		a.Against = append(a.Against, fmt.Sprintf("it may be another branch: the samples have %d candidates", 1+b.Alternatives()))
	}
	switch b.Kind {
	case branch.Conditional:
		conditional(b, a, code)
	case branch.Indirect:
		indirect(b, a, code)
	case branch.Return:
		a.ID, a.Text = branch.PairReturns, "pair calls with returns: something returns to where it was not called from, or calls go deeper than the predictor remembers"
		a.Condition = "look at how deep calls go, and at code that switches stacks"
	}
	if a.ID == "" {
		return nil
	}
	if t.Counted() {
		a.Against = append(a.Against, "the predictor is simulated: a CPU may learn what it does not")
	}
	return a
}

// identify is the advice on misses of which the branch is not known.
func identify(a *branch.Advice, b *branch.Branch) {
	a.ID, a.Text = branch.Identify, "find out which branch it is: record branch stacks or precise samples, if the CPU has them"
	a.Condition = fmt.Sprintf("it is not known: the samples have %d candidates", 1+b.Alternatives())
}

// leave is the advice on a branch that is missed too seldom for more.
func leave(b *branch.Branch, a *branch.Advice) {
	a.ID, a.Text = branch.Leave, "leave it: it is missed too seldom for code without it to be faster"
	a.Condition = threshold(a)
	h, ok := b.MinP()
	if b.Kind != branch.Conditional || !ok || h >= rareSide || h == 0 {
		return
	}
	rare, upTo := 0.0, "" // the rate of misses of the rarer direction
	switch {
	case b.PTaken.Value < 0.5 && b.TakenRate() != nil:
		rare = b.TakenRate().Value
	case b.Rate.Value != nil: // as if all misses went there
		rare, upTo = min(1, *b.Rate.Value/h), "up to "
	}
	if rare > rareMissed {
		a.ID, a.Text = branch.Layout, fmt.Sprintf("tell the compiler that one way is rare ([[likely]], PGO) and move that code away: %s of the executions go there", percent(h))
		a.Condition = fmt.Sprintf("the code that is not rare is worth it: the misses stay, %s%s of what goes there", upTo, percent(rare))
	}
}

// threshold compares the rate with the rate from which code without the branch is faster.
func threshold(a *branch.Advice) string {
	s := fmt.Sprintf("code without the branch is faster above a miss rate of %s, ", percent(a.BreakEven))
	switch {
	case a.Rate == nil:
		s += "which imprecise samples do not tell"
	case *a.Rate < a.BreakEven:
		s += "it has at most " + percent(*a.Rate)
	default:
		s += "it has at least " + percent(*a.Rate)
	}
	if a.RuleOfThumb {
		s += " (a rule of thumb: 4 more cycles against 20 of a miss)"
	}
	return s
}

func missedAtLeast(rate *float64) string {
	if rate == nil {
		return "how often the branch is missed is not known"
	}
	return "the branch is missed at least " + percent(*rate)
}

func percent(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }

// conditional advises on a conditional branch that is missed often.
func conditional(b *branch.Branch, a *branch.Advice, code *code.Files) {
	a.Condition = threshold(a)
	s, why := shapeAt(code, b)
	if s == nil {
		a.ID, a.Text = branch.IfConvert, "compute both sides and choose (a ternary, min or max, cmov or csel)"
		a.Against = append(a.Against, why+": only if both sides are a few cheap instructions without a store, a call, a division or a load that may fault")
		return
	}
	a.CodeSeen = true
	switch against := against(s); {
	case s.Exit:
		loopExit(s, b, a)
	case s.Compares >= manyCompares:
		a.ID, a.Text = branch.LookupTable, fmt.Sprintf("replace the %d comparisons of one value by a table or a switch", s.Compares)
		a.Condition = "the table stays in the first cache and one check of bounds is all that is left; " + a.Condition
	case len(against) == 0:
		a.ID, a.Text = branch.IfConvert, fmt.Sprintf("compute both sides and choose (a ternary, min or max, cmov or csel; __builtin_unpredictable of Clang): they are %d and %d instructions without a store, a call, a division or a load that may fault", s.Sides[0].N, s.Sides[1].N)
		a.Condition += "; look whether the branch is gone, as compilers turn cmov in loops into branches again"
	case s.Feeds != "":
		a.ID, a.Text = branch.Measure, "write it without the branch, and measure both: what it decides is "+s.Feeds+", for which code without the branch waits, while the CPU goes on by a guess"
		a.Condition += "; the wait is short if what is loaded is in the first cache, and profdiff predict says how long"
		a.Against = append(a.Against, against...)
	case s.Independent:
		a.ID, a.Text = branch.SortData, "sort or partition the data by what the branch tests, or handle it in batches"
		a.Condition = "sorting costs less than the misses, and the data is not random in the benchmark only"
		a.Against = append(a.Against, against...)
	}
}

// shapeAt is the shape of the code around a branch, or why it is not known.
func shapeAt(c *code.Files, b *branch.Branch) (s *shape.Shape, why string) {
	const missing = "the code is not there to look at"
	if code := c.Of(b); code != nil && code.Arch() == "arm" {
		return nil, "what 32-bit Arm code does is not looked at"
	}
	f := c.FunctionOf(b)
	if f == nil {
		return nil, missing
	}
	if s = shape.Of(f, b.Address); s == nil {
		return nil, missing
	}
	return s, ""
}

// against says why the branch should not be replaced by code that computes both sides.
func against(s *shape.Shape) (list []string) {
	if !s.Meets {
		return []string{"the two ways do not meet again soon"}
	}
	for i, side := range s.Sides {
		name := "the side not taken"
		if i == 1 {
			name = "the side taken"
		}
		has := func(n int, what string) {
			if n > 0 {
				list = append(list, name+" has "+what)
			}
		}
		has(side.Stores, "a store")
		has(side.Calls, "a call")
		has(side.Divisions, "a division")
		has(side.Loads, "a load that may fault or miss the cache")
		switch {
		case side.N > longSide:
			list = append(list, fmt.Sprintf("%s is long, %d instructions", name, side.N))
		case side.N > cheapSide:
			list = append(list, fmt.Sprintf("%s is not short, %d instructions", name, side.N))
		}
	}
	if s.Feeds != "" {
		list = append(list, "what it decides is "+s.Feeds)
	}
	return list
}

// loopExit advises on a branch that leaves a loop or goes on with it.
func loopExit(s *shape.Shape, b *branch.Branch, a *branch.Advice) {
	a.ID, a.Text = branch.Leave, "leave it: it ends a loop, whose end is a miss if it does not run as often every time"
	a.Condition = "how often it runs is not known"
	if b.PTaken == nil {
		return
	}
	stay := b.PTaken.Value
	if !s.TakenStays {
		stay = 1 - stay
	}
	if stay >= 1 {
		return
	}
	trips := 1 / (1 - stay)
	a.Condition = fmt.Sprintf("the loop runs %.3g times on average", trips)
	if trips <= fewTrips {
		a.ID, a.Text = branch.Unroll, "unroll or peel the loop, or let it run a fixed number of times with the rest masked out"
		a.Condition += ": as long as that depends on the data and is this small; look at misses per loop"
	}
}

// indirect advises on an indirect jump or call that is missed often.
func indirect(b *branch.Branch, a *branch.Advice, code *code.Files) {
	targets, top := b.Targets()
	jump := false
	if f := code.FunctionOf(b); f != nil {
		a.CodeSeen = true
		jump = f.Insts[f.Inst(b.Address)].Kind.String() == "indirect" && f.Block(b.Address) >= 0 && shape.EndsBlock(f, b.Address)
	}
	switch {
	case targets == 0:
		a.ID, a.Text = branch.Devirtualize, "test for the usual target first and call it directly (PGO, a final or sealed class, an inline cache)"
		a.Condition = "one target is far more frequent than the others, which is not known here"
	case top >= usualTarget:
		a.ID, a.Text = branch.Devirtualize, fmt.Sprintf("test for the usual target first and go there directly (PGO, a final or sealed class, an inline cache): it is %s of %d", percent(top), targets)
		a.Condition = fmt.Sprintf("that test is wrong %s of the time, %s", percent(a.BreakEven), missedAtLeast(a.Rate))
	case jump:
		a.ID, a.Text = branch.Dispatch, fmt.Sprintf("repeat the jump at the end of each of its %d targets (threaded code, computed goto), so that each has a history of its own", targets)
		a.Condition = "it is an interpreter or a state machine; look at misses per operation"
	}
}
