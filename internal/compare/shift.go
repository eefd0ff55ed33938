package compare

import (
	"cmp"
	"math"
	"slices"

	"profdiff/internal/align"
	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// A Shift is cost that moved between functions under one caller, as when a helper is
// inlined, or code moved into a new one: one change, not two. What the parts cost together
// is about the same on both sides: where it is not, something else happened too.
type Shift struct {
	// Caller is the function under which the cost moved, the lowest that all its
	// parts have in common, and Parts those between which it moved; all indices
	// in Event.Functions.
	Caller int
	Parts  []int
	// Net is what the parts cost together.
	Net Change
}

// What makes a shift: the coverage a caller must have of the function that is gone or
// new, and the part of its cost that must turn up elsewhere.
const (
	shiftCoverage = 0.95
	shiftRefound  = 0.5
	shiftPart     = 0.1
	// shiftRemains is how much of what moved may remain as a change of all parts together,
	// and shiftMay how much the interval of that change has to exclude.
	shiftRemains = 1. / 3
	shiftMay     = 2. / 3
)

// shifts finds cost shifts. They start at functions that only one side has.
func (c *Comparison) shifts(e *Event, tests estimator) []Shift {
	// Addresses without a name are no caller that anything is below.
	byRow := slices.Repeat([]int{-1}, len(c.rows.rows))
	for i := range e.Functions {
		if row := e.Functions[i].row; !c.unknown(row) {
			byRow[row] = i
		}
	}
	floor := c.Options.MinShare * (e.Total.Base + e.Total.Head) / 2
	if e.Normalization.Mode == Total {
		floor = c.Options.MinShare
	}
	var found []Shift
	for i := range e.Functions { // by absolute change: the largest first
		f := &e.Functions[i]
		if f.Shift >= 0 || !f.oneSided() || math.Abs(f.Self.Delta()) < floor {
			continue
		}
		caller, parts, ok := c.shift(e, i, byRow)
		if !ok {
			continue
		}
		net := newCost(len(c.Base), len(c.Head))
		for _, p := range parts {
			net.add(&e.Functions[p].Self.cost)
		}
		s := Shift{Caller: caller, Parts: parts, Net: e.Normalization.newChange(tests, net)}
		if !s.small(e) {
			continue
		}
		for _, p := range parts {
			e.Functions[p].Shift = len(found)
		}
		found = append(found, s)
	}
	var family []*verdict.Finding
	for i := range found {
		family = append(family, &found[i].Net.Finding)
	}
	c.Options.rule().Discovered(family)
	return found
}

// small reports whether what remains of a shift is small against what moved, and known to be.
func (s *Shift) small(e *Event) bool {
	var less, more float64
	for _, p := range s.Parts {
		if d := e.Functions[p].Self.Delta(); d < 0 {
			less -= d
		} else {
			more += d
		}
	}
	moved := max(less, more)
	may := max(1-s.Net.CI.Lo, s.Net.CI.Hi-1) * s.Net.Base
	return math.Abs(s.Net.Delta()) <= shiftRemains*moved && may <= shiftMay*moved
}

// shift looks for the callers of a function that only one side has, lowest first, for
// one under which the opposite change is found.
func (c *Comparison) shift(e *Event, fn int, byRow []int) (caller int, parts []int, ok bool) {
	f := &e.Functions[fn]
	s, at, rowOf := c.head, e.pair.head, c.rows.head
	if f.Self.Head == 0 {
		s, at, rowOf = c.base, e.pair.base, c.rows.base
	}
	delta := f.Self.Delta()
	callers, next := around(s, at, rowOf, f.row, len(c.rows.rows))
	// What came or went with it is called from where it is, or next to it, not somewhere else
	// below.
	direct := c.callersOf(f.row)
	beside := func(g *Function) bool {
		return next[g.row] || g.oneSided() && slices.ContainsFunc(c.callersOf(g.row), func(caller int32) bool { return slices.Contains(direct, caller) })
	}
	for _, row := range callers {
		if byRow[row] < 0 {
			continue
		}
		deltas := c.under(e, row)
		parts = []int{fn}
		refound := 0.0
		for i := range e.Functions {
			g := &e.Functions[i]
			d := deltas[g.row]
			if i == fn || g.Shift >= 0 || d*delta >= 0 || math.Abs(d) < shiftPart*math.Abs(delta) || !next[g.row] {
				continue
			}
			if g.Self.WithinNoise() {
				continue
			}
			refound += d
			parts = append(parts, i)
		}
		if math.Abs(refound) < shiftRefound*math.Abs(delta) {
			continue
		}
		// More parts of the same kind: functions that came or went with it.
		for i := range e.Functions {
			g := &e.Functions[i]
			if i != fn && g.Shift < 0 && g.oneSided() && deltas[g.row]*delta > 0 && math.Abs(deltas[g.row]) >= shiftPart*math.Abs(delta) && beside(g) {
				parts = append(parts, i)
			}
		}
		slices.Sort(parts)
		return byRow[row], parts, true
	}
	return 0, nil, false
}

// callersOf lists the rows that call one directly, on either side.
func (c *Comparison) callersOf(row int) (list []int32) {
	for k, s := range [...]*side{c.base, c.head} {
		for _, sym := range c.rows.rows[row].symbols(k == 1) {
			for _, e := range s.facts[sym].Callers {
				if caller := [...][]int32{c.rows.base, c.rows.head}[k][e.Function]; caller != int32(row) {
					list = append(list, caller)
				}
			}
		}
	}
	return list
}

// unknown reports whether a row stands for addresses without a name.
func (c *Comparison) unknown(row int) bool {
	r := &c.rows.rows[row]
	return r.base >= 0 && c.base.facts[r.base].Unknown || r.head >= 0 && c.head.facts[r.head].Unknown
}

// oneSided reports whether only one side has the function.
func (f *Function) oneSided() bool {
	return f.Match.Kind == align.Added || f.Match.Kind == align.Removed
}

// around lists the rows that are on nearly all stacks of a row, nearest first, and the
// rows next to it: its direct callers and callees.
func around(s *side, at []int, rowOf []int32, row, rows int) (callers []int, next []bool) {
	weight, distance := make([]float64, rows), make([]float64, rows)
	next = make([]bool, rows)
	total := 0.0
	seen := make([]int32, rows)
	stamp := int32(0)
	calls := func(above, below int32) {
		switch {
		case below == int32(row):
			next[above] = true
		case above == int32(row):
			next[below] = true
		}
	}
	for i, r := range s.runs {
		f := &s.frames[i]
		of := func(id run.StackID) []int32 { return f.at(r.Stacks.Location(id)) }
		sampled := make([]bool, r.Stacks.Len()) // in the stack or in a callee
		for j := range r.Samples {
			sample := &r.Samples[j]
			if int(sample.Event) != at[i] || sample.Stack == 0 {
				continue
			}
			sampled[sample.Stack] = true
			if rowOf[of(sample.Stack)[0]] != int32(row) {
				continue
			}
			stamp++
			w := float64(sample.Weight)
			total += w
			depth := 0.0
			for id := sample.Stack; id != 0; id = r.Stacks.Parent(id) {
				for _, sym := range of(id) {
					if above := rowOf[sym]; above != int32(row) && seen[above] != stamp {
						seen[above] = stamp
						weight[above] += w
						distance[above] += w * depth
					}
					depth++
				}
			}
		}
		// Who calls whom is looked up once for each stack, not for each sample: parents precede
		// their children.
		for id := run.StackID(len(sampled) - 1); id > 0; id-- {
			if !sampled[id] {
				continue
			}
			list := of(id)
			for k := 1; k < len(list); k++ {
				calls(rowOf[list[k]], rowOf[list[k-1]])
			}
			if parent := r.Stacks.Parent(id); parent != 0 {
				sampled[parent] = true
				calls(rowOf[of(parent)[0]], rowOf[list[len(list)-1]])
			}
		}
	}
	for i, w := range weight {
		if total > 0 && w >= shiftCoverage*total {
			callers = append(callers, i)
		}
	}
	slices.SortFunc(callers, func(a, b int) int {
		return cmp.Or(cmp.Compare(distance[a]/weight[a], distance[b]/weight[b]), a-b)
	})
	return callers, next
}

// under is the normalized change of the self cost of each row in and below calls of
// one row: means over the runs of a side.
func (c *Comparison) under(e *Event, row int) []float64 {
	deltas := make([]float64, len(c.rows.rows))
	add := func(s *side, rowOf []int32, at []int, divisors []divisor, sign float64) {
		for i, r := range s.runs {
			f := &s.frames[i]
			// Parents precede their children.
			below := make([]bool, r.Stacks.Len())
			for id := 1; id < len(below); id++ {
				below[id] = below[r.Stacks.Parent(run.StackID(id))] ||
					slices.ContainsFunc(f.at(r.Stacks.Location(run.StackID(id))), func(sym int32) bool { return rowOf[sym] == int32(row) })
			}
			for j := range r.Samples {
				if sample := &r.Samples[j]; int(sample.Event) == at[i] && below[sample.Stack] {
					leaf := rowOf[f.at(r.Stacks.Location(sample.Stack))[0]]
					deltas[leaf] += sign * float64(sample.Weight) / divisors[i].value / float64(len(s.runs))
				}
			}
		}
	}
	add(c.base, c.rows.base, e.pair.base, e.Normalization.base, -1)
	add(c.head, c.rows.head, e.pair.head, e.Normalization.head, +1)
	return deltas
}
