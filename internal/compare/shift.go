package compare

import (
	"math"
	"slices"

	"profdiff/internal/align"
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
	floor := c.Options.MinShare * (e.Total.Base + e.Total.Head) / 2
	if e.Normalization.Mode == Total {
		floor = c.Options.MinShare
	}
	around := &surroundings{c: c, e: e, least: shiftPart * floor}
	var found []Shift
	for i := range e.Functions { // by absolute change: the largest first
		f := &e.Functions[i]
		if f.Shift >= 0 || !f.oneSided() || math.Abs(f.Self.Delta()) < floor {
			continue
		}
		caller, parts, ok := around.shift(i)
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
func (x *surroundings) shift(fn int) (caller int, parts []int, ok bool) {
	c, e := x.c, x.e
	f := &e.Functions[fn]
	delta := f.Self.Delta()
	callers, next := x.around(f.row, f.Self.Head != 0)
	// What came or went with it is called from where it is, or next to it, not somewhere else
	// below.
	direct := c.callersOf(f.row)
	beside := func(g *Function) bool {
		return next[int32(g.row)] || g.oneSided() && slices.ContainsFunc(c.callersOf(g.row), func(caller int32) bool { return slices.Contains(direct, caller) })
	}
	for _, row := range callers {
		// Addresses without a name are no caller that anything is below.
		if c.unknown(int(row)) || x.functionOf[row] < 0 {
			continue
		}
		parts = []int{fn}
		refound := 0.0
		below := x.under(row)
		for _, b := range below {
			g := &e.Functions[b.function]
			if b.function == fn || g.Shift >= 0 || b.delta*delta >= 0 || math.Abs(b.delta) < shiftPart*math.Abs(delta) || !next[int32(g.row)] {
				continue
			}
			if g.Self.WithinNoise() {
				continue
			}
			refound += b.delta
			parts = append(parts, b.function)
		}
		if math.Abs(refound) < shiftRefound*math.Abs(delta) {
			continue
		}
		// More parts of the same kind: functions that came or went with it.
		for _, b := range below {
			g := &e.Functions[b.function]
			if b.function != fn && g.Shift < 0 && g.oneSided() && b.delta*delta > 0 && math.Abs(b.delta) >= shiftPart*math.Abs(delta) && beside(g) {
				parts = append(parts, b.function)
			}
		}
		slices.Sort(parts)
		return x.functionOf[row], parts, true
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
