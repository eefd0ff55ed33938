package diff

import (
	"cmp"
	"math"
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// branches makes the rows of branches with enough misses on a side.
func (c *comparison) branches() {
	c.d.Branches = make([]BranchChange, 0, max(len(c.base.rows), len(c.head.rows)))
	add := func(i, j int) {
		if i >= 0 && c.base.rows[i].enough || j >= 0 && c.head.rows[j].enough {
			c.d.Branches = append(c.d.Branches, c.branch(i, j))
		} else {
			c.d.Hidden++
		}
	}
	for i, j := range c.m.toHead {
		add(i, j)
	}
	for j, i := range c.m.toBase {
		if i < 0 {
			add(-1, j)
		}
	}
	slices.SortStableFunc(c.d.Branches, func(a, b BranchChange) int {
		return -cmp.Compare(math.Abs(a.Misses.Delta()), math.Abs(b.Misses.Delta()))
	})
}

// branch makes the row of a branch of base and one of head, of which one may be -1.
func (c *comparison) branch(i, j int) BranchChange {
	var out BranchChange
	var base, head []*branch.Branch
	gone := unknownPresence
	if i >= 0 {
		base, out.Base = c.base.rows[i].runs, sideBranch(&c.base.rows[i])
		gone = c.m.basePresence[i]
	}
	if j >= 0 {
		head, out.Head = c.head.rows[j].runs, sideBranch(&c.head.rows[j])
		gone = c.m.headPresence[j]
	}
	if i >= 0 && j >= 0 {
		out.Match = c.m.how[i]
		gone = unknownPresence
	}
	a, b := methodOf(base), methodOf(head)
	// Where one side infers misses that ended not taken and the other does not, those
	// that both see are compared.
	visible := a != "" && b != "" && a != b
	if visible {
		out.Note = "misses that ended not taken are left out: one side does not see them"
	}
	out.Misses = c.compare(c.counts(base, c.baseUnits, visible), c.counts(head, c.headUnits, visible))
	if i >= 0 && j >= 0 {
		out.Rate, out.RateOfAll = c.rate(base, head)
	}
	switch gone {
	case present, sameBuild:
		if out.Match = ByCode; gone == sameBuild {
			out.Match = ByAddress
		}
		if !c.base.tables[0].Counted() {
			out.Note = "not seen on the other side, where it is"
		}
	case absent:
		out.Misses.Given, out.Note = verdict.Removed, "the code has no such branch after"
		if i < 0 {
			out.Misses.Given, out.Note = verdict.New, "the code had no such branch before"
		}
	}
	for _, s := range []*SideBranch{out.Base, out.Head} {
		if s != nil && out.Match != ByAddress && s.Known().Rank() < branch.High.Rank() {
			out.Misses.Given = verdict.Inconclusive
			out.Note = "it is not sure which branch it is"
		}
	}
	if i >= 0 && j >= 0 && out.Match != ByAddress && a == branch.ByBounds && b == branch.ByBounds && turned(out.Base.Branch, out.Head.Branch) {
		out.Misses.Given = verdict.Inconclusive
		out.Note = "what was taken is not taken now: misses that ended not taken are not seen"
	}
	return out
}

// turned reports whether a branch seems to jump in the cases in which it did not.
func turned(a, b *branch.Branch) bool {
	if a.PTaken == nil || b.PTaken == nil {
		return false
	}
	p, q := a.PTaken.Value, b.PTaken.Value
	return math.Abs(p-q) > 0.2 && math.Abs(p-(1-q)) < math.Abs(p-q)/2
}

// methodOf is how misses were found in the first run that has a rate.
func methodOf(runs []*branch.Branch) branch.RateMethod {
	for _, b := range runs {
		if b != nil && b.Rate != nil {
			return b.Rate.Method
		}
	}
	return ""
}

func sideBranch(r *sideRow) *SideBranch {
	s := &SideBranch{Branch: r.Branch, Of: len(r.runs), N: r.n, NMisses: r.nMisses, function: r.function}
	executed := new(float64)
	for _, b := range r.runs {
		if b == nil {
			continue
		}
		s.Runs++
		if b.Misses != nil {
			s.Misses += *b.Misses / float64(s.Of)
		}
		if b.Executed == nil {
			executed = nil
		} else if executed != nil {
			*executed += *b.Executed / float64(s.Of)
		}
	}
	s.Executed = executed
	return s
}

// rate compares the misses per execution: of all executions if both sides know these,
// else of those that were taken. Every run has to have it.
func (c *comparison) rate(base, head []*branch.Branch) (*Change, bool) {
	for _, ofAll := range []bool{true, false} {
		if ofAll && methodOf(base) != methodOf(head) {
			continue
		}
		a, okA := c.rates(base, ofAll)
		b, okB := c.rates(head, ofAll)
		if okA && okB {
			ch := c.compare(a, b)
			return &ch, ofAll
		}
	}
	return nil, false
}

func (c *comparison) rates(runs []*branch.Branch, ofAll bool) (list []stats.WeightedCount, ok bool) {
	for _, b := range runs {
		switch {
		case b == nil:
			return nil, false
		case ofAll && b.Rate != nil && b.Rate.Value != nil:
			list = append(list, withVariance(*b.Rate.Value, b.Noise().Rate, b.Rate.CI))
		case !ofAll && b.TakenRate() != nil:
			list = append(list, withVariance(b.TakenRate().Value, b.Noise().TakenRate, [2]float64{b.TakenRate().Lo, b.TakenRate().Hi}))
		default:
			return nil, false
		}
	}
	return list, len(list) > 0
}

// withVariance is a rate with its variance. Without one, the variance is taken that a
// log-normal value with this interval has.
func withVariance(value, variance float64, ci [2]float64) stats.WeightedCount {
	if variance == 0 && value > 0 && ci[0] > 0 && ci[1] > ci[0] {
		se := math.Log(ci[1]/ci[0]) / (2 * stats.Z95)
		variance = se * se * value * value
	}
	return stats.WeightedCount{Weight: value, WeightSq: variance}
}

// functionOf are the misses of all branches of a branch's function.
func (c *comparison) functionOf(b *BranchChange) *FunctionChange {
	if c.functionMisses == nil {
		c.sumFunctions()
	}
	if b.Base != nil {
		return c.functionMisses[c.m.groupOfBase[b.Base.function]]
	}
	return c.functionMisses[c.m.groupOfHead[b.Head.function]]
}

func (c *comparison) sumFunctions() {
	c.functionMisses = make(map[int]*FunctionChange)
	at := func(group int, name string) *FunctionChange {
		f := c.functionMisses[group]
		if f == nil {
			f = &FunctionChange{Name: name}
			c.functionMisses[group] = f
		}
		return f
	}
	for i := range c.base.rows {
		r := &c.base.rows[i]
		f := at(c.m.groupOfBase[r.function], c.base.functions[r.function].Name)
		f.Base += meanWeight(c.counts(r.runs, c.baseUnits, false))
		f.BaseBranches++
	}
	for j := range c.head.rows {
		r := &c.head.rows[j]
		f := at(c.m.groupOfHead[r.function], c.head.functions[r.function].Name)
		f.Head += meanWeight(c.counts(r.runs, c.headUnits, false))
		f.HeadBranches++
	}
}

// total compares the misses of all branches.
func (c *comparison) total() {
	base, head := c.totals(c.base, c.baseUnits), c.totals(c.head, c.headUnits)
	total := c.compare(base, head)
	c.d.Method = total.Method
	sampled := func(n stats.WeightedCount) bool { return n.WeightSq > 0 || n.Weight == 0 }
	if len(base) == 1 && len(head) == 1 && !sampled(base[0]) && !sampled(head[0]) {
		// perf stat or simpleperf stat counted both.
		e := c.tests.Exact(base[0], head[0])
		total.Finding = verdict.Of(&e)
	}
	for _, t := range slices.Concat(c.base.tables, c.head.tables) {
		if len(t.Totals) > 1 {
			return
		}
	}
	c.d.Total = &total
}

// totals are all misses of each run. Misses of one sample may come together, in all
// branches: there are no more independent ones than samples.
func (c *comparison) totals(s *side, u []units) []stats.WeightedCount {
	list := make([]stats.WeightedCount, len(u))
	sampled := !slices.ContainsFunc(s.tables, func(t *branch.Table) bool { return len(t.Totals) != 1 || t.Totals[0].Misses == nil })
	if sampled { // of which some are of no branch
		for run, t := range s.tables {
			list[run] = amountPer(t.Totals[0].Misses, u[run])
		}
		return list
	}
	for i := range s.rows {
		for run, b := range s.rows[i].runs {
			if b == nil {
				continue
			}
			n := c.count(b, units{n: u[run].n, byPMU: u[run].byPMU}, false)
			list[run].Weight += n.Weight
			list[run].WeightSq += n.WeightSq
		}
	}
	for run := range list {
		if c.d.Counted {
			continue
		}
		w := list[run].Weight
		if n := s.tables[run].Samples.Used; n > 0 {
			list[run].WeightSq = max(list[run].WeightSq, w*w/float64(n))
		}
		list[run].WeightSq += w * w * u[run].variance
	}
	return list
}
