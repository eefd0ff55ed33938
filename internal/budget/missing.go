package budget

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/spelling"
)

// missing says what of a target no recording and no binary has, "" if nothing is missing, and
// the names of functions that are most like it. unknown is set if a binary may have it.
func (k *check) missing(x *target) (reason string, hint []string, unknown bool) {
	for _, name := range x.events {
		if !k.hasEvent(1, name) && (len(k.in.Base) == 0 || !k.hasEvent(0, name)) {
			return fmt.Sprintf("no event %s; the recordings have %s", name, k.in.Head[0].EventNames()), nil, false
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
	functions := func() []string {
		return slices.AppendSeq(names(func(s *symbolFacts) string { return s.name }), maps.Keys(k.codeNames))
	}
	// A place is looked for among what was sampled first, then in binaries.
	absent := func(p *place, what string, names []string, name string) (string, []string, bool) {
		if why := p.unknown(); why != "" {
			return fmt.Sprintf("%s among the samples, and %s", what, why), nearest(name, names), true
		}
		return what, nearest(name, names), false
	}
	if p := k.callerPlaces[x]; p != nil && !p.there() {
		return absent(p, fmt.Sprintf("no function matches under: %s", clip(b.Match.Under)), functions(), b.Match.Under)
	}
	if p := k.places[x]; p != nil && !p.there() && !k.mayBeAbsent(x) {
		switch m := b.Match; {
		case m.Function != "":
			return absent(p, fmt.Sprintf("no function matches %s", k.file.matchText(m)), functions(), m.Function)
		case m.File != "":
			return absent(p, fmt.Sprintf("no function is in a source file that matches %s", clip(m.File)), names(func(s *symbolFacts) string { return s.file }), m.File)
		default:
			return absent(p, fmt.Sprintf("no function is in a file that matches %s", clip(m.DSO)), names(func(s *symbolFacts) string { return s.dso }), m.DSO)
		}
	}
	if c := x.category; c != "" && !slices.Contains(k.tally.categories.Names(), c) {
		return fmt.Sprintf("no category %s", clip(c)), nearest(c, k.tally.categories.Names()), false
	}
	if !x.framed() && (x.thread != "" || x.process != "") && !k.mayBeAbsent(x) && x.samples(0)+x.samples(1) == 0 {
		return "no samples of such a thread or process", nil, false
	}
	return "", nil, false
}

// leftOut reports whether samples that end in what is counted count in no budget.
func (k *check) leftOut(x *target) bool {
	left := 0
	for side, ids := range x.matched {
		for _, id := range ids {
			if !x.self || !k.tally.excluded[side][id] {
				return false
			}
			left++
		}
	}
	return left > 0
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

// nearest are the names most like the one that a pattern is of, for a hint.
func nearest(pattern string, names []string) []string {
	return spelling.Nearest(strings.Trim(pattern, "*^$"), names, 3)
}
