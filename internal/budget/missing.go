package budget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/compare"
	"profdiff/internal/run"
)

// missing says what of a target no recording has, "" if nothing is missing, and the names of
// functions that are most like it.
func (k *check) missing(x *target) (reason string, hint []string) {
	for _, name := range x.events {
		if !k.hasEvent(1, name) && (len(k.in.Base) == 0 || !k.hasEvent(0, name)) {
			return fmt.Sprintf("no event %s; the recordings have %s", name, k.in.Head[0].EventNames()), nil
		}
	}
	b := x.budget
	names := func(of func(*symbolFacts) string) []string {
		var list []string
		for side := range k.tally.symbols {
			for i := range k.tally.symbols[side].list {
				if s := of(&k.tally.symbols[side].list[i]); s != "" {
					list = append(list, s)
				}
			}
		}
		return list
	}
	functions := func(s *symbolFacts) string { return s.name }
	if x.matcher.under != nil && !x.callers {
		return fmt.Sprintf("no function matches under: %s", clip(b.Match.Under)), nearest(b.Match.Under, names(functions), 3)
	}
	if x.framed() && len(x.matched[0])+len(x.matched[1]) == 0 {
		m := b.Match
		switch {
		case k.mayBeAbsent(x):
			return "", nil
		case m.Function != "":
			return fmt.Sprintf("no function matches %s", k.file.matchText(m)), nearest(m.Function, names(functions), 3)
		case m.File != "":
			return fmt.Sprintf("no function is in a source file that matches %s", clip(m.File)), nearest(m.File, names(func(s *symbolFacts) string { return s.file }), 3)
		default:
			return fmt.Sprintf("no function is in a file that matches %s", clip(m.DSO)), nearest(m.DSO, names(func(s *symbolFacts) string { return s.dso }), 3)
		}
	}
	if c := x.category; c != "" && !slices.Contains(k.tally.categories.Names(), c) {
		return fmt.Sprintf("no category %s", clip(c)), nearest(c, k.tally.categories.Names(), 3)
	}
	if !x.framed() && (x.thread != "" || x.process != "") && !k.mayBeAbsent(x) && x.samples(0)+x.samples(1) == 0 {
		return "no samples of such a thread or process", nil
	}
	return "", nil
}

// mayBeAbsent reports whether the limit is no samples, of what is not expected to be there.
func (k *check) mayBeAbsent(x *target) bool {
	b := x.budget
	return b.Limit == nil && b.Max != nil && b.Max.unit() == Samples
}

func (f *File) matchText(m *Match) string {
	s := clip(m.Function)
	if m.DSO != "" {
		s += " in " + clip(m.DSO)
	}
	if m.File != "" {
		s += " of " + clip(m.File)
	}
	return s
}

// hasEvent reports whether all runs of a side have an event.
func (k *check) hasEvent(side int, name string) bool {
	runs := [][]*run.Run{k.in.Base, k.in.Head}[side]
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(r *run.Run) bool {
		_, ok := r.EventIndex(name)
		return !ok
	})
}

// emptyEvent refuses runs without samples of the event of a target.
func (k *check) emptyEvent(x *target) error {
	for _, r := range slices.Concat(k.in.Base, k.in.Head) {
		if at, ok := r.EventIndex(x.events[0]); ok && (r.Events[at].Samples == 0 && !r.Events[at].Simulated || r.Events[at].Weight <= 0) {
			return fmt.Errorf("%s: %w of the event %s", r.Name, compare.ErrNoSamples, r.Events[at].Name)
		}
	}
	return nil
}

// describe names the functions that are counted, the heaviest first.
func (k *check) describe(r *Result, x *target) {
	type entry struct {
		s    *symbolFacts
		side int
	}
	var list []entry
	rows := make(map[int]bool)
	for _, side := range []int{1, 0} {
		var own []entry
		for _, id := range x.matched[side] {
			if s := &k.tally.symbols[side].list[id]; !rows[s.row] {
				own = append(own, entry{s, side})
			}
		}
		slices.SortFunc(own, func(a, b entry) int {
			return cmp.Or(-cmp.Compare(a.s.self, b.s.self), strings.Compare(a.s.name, b.s.name), strings.Compare(a.s.dso, b.s.dso))
		})
		for _, e := range own {
			if !rows[e.s.row] {
				rows[e.s.row] = true
				list = append(list, e)
			}
		}
	}
	for i, e := range list {
		if i == 0 {
			r.Location = Location{Function: e.s.name, DSO: e.s.dso, File: e.s.file, Line: e.s.line}
		}
		r.Functions = append(r.Functions, e.s.name)
	}
	k.renamed(r, x)
}

// renamed notes functions that have another name on the other side.
func (k *check) renamed(r *Result, x *target) {
	if len(x.functions) == 0 || k.comparison == nil {
		return
	}
	names := make(map[int][2]string)
	for side, ids := range x.matched {
		for _, id := range ids {
			s := &k.tally.symbols[side].list[id]
			pair := names[s.row]
			if pair[side] == "" {
				pair[side] = s.name
			}
			names[s.row] = pair
		}
	}
	var notes []string
	for _, pair := range names {
		if pair[0] != "" && pair[1] != "" && pair[0] != pair[1] && !slices.Contains(spellings(pair[0], ""), spellings(pair[1], "")[0]) &&
			(!x.matchFunction([]string{pair[0]}) || !x.matchFunction([]string{pair[1]})) {
			notes = append(notes, fmt.Sprintf("%s of base is counted as %s of head", clip(pair[0]), clip(pair[1])))
		}
	}
	slices.Sort(notes)
	r.Notes = append(r.Notes, notes[:min(len(notes), 3)]...)
}

// breadth warns of patterns that match most of the cost.
func (k *check) breadth(r *Result, x *target) {
	if len(x.functions) == 0 || !x.self {
		return
	}
	whole := 0.0
	for _, runs := range k.tally.runs {
		for _, r := range runs {
			if at, ok := r.EventIndex(x.events[0]); ok {
				whole += float64(r.Events[at].Weight)
			}
		}
	}
	if part := x.weight(0, 0) + x.weight(1, 0); len(r.Functions) > 1 && part > whole/2 {
		r.Notes = append(r.Notes, fmt.Sprintf("the pattern matches %d functions with %.0f%% of all cost: is it too wide?", len(r.Functions), 100*part/whole))
	}
}
