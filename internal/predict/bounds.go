package predict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
)

// maxAlone is how many branches are tried at the ends of what they may be taken, one at a
// time: those whose bounds leave most executions open.
const maxAlone = 3

// atBounds are walks that say what bounds of rates allow: with the least and with the most
// mispredictions, and with each of the widest branches taken least and most. There are none
// if all branches of the first walk are known.
func (w *work) atBounds(limits flow.Limits) (walks []*flow.Trace) {
	open := make(map[flow.Site]float64) // executions that may go either way
	misses := false
	for i := range w.walks[0].Steps {
		s := w.walks[0].Steps[i].Site
		if s.Inst().Kind != disasm.Conditional {
			continue
		}
		if b := w.branches(s).Bounds; b != nil {
			open[s] += b.Taken[1] - b.Taken[0]
			misses = misses || b.Miss[0] < b.Miss[1]
		}
	}
	walk := func(choose func(flow.Site, *flow.Branch)) {
		branches := w.side.Rates.chosen(w.side.Loop, w.side.Code.Root, choose)
		if t := flow.Walk(w.side.Code, branches, 1, w.side.Loop, limits); t.Works() {
			walks = append(walks, t)
		}
	}
	for end := range 2 {
		if misses {
			walk(func(_ flow.Site, b *flow.Branch) {
				if b.Bounds != nil {
					b.Miss = b.Bounds.Miss[end]
				}
			})
		}
	}
	for _, alone := range widest(open) {
		for end := range 2 {
			walk(func(s flow.Site, b *flow.Branch) {
				if s == alone {
					b.Taken = b.Bounds.Taken[end]
				}
			})
		}
	}
	return walks
}

// openWidth is how wide bounds are at least, in shares of executions, to be worth a word.
const openWidth = 0.05

// ratesFlags say of how many branches of the first walk the rates are not known.
func (w *work) ratesFlags() (flags []string) {
	r := &w.side.Rates
	if r.Note != "" {
		flags = append(flags, r.Note)
	}
	if r.Branch == nil {
		return flags
	}
	flags = append(flags, w.endsFlags()...)
	var known, bounded, unknown int
	for _, s := range flow.Sites(w.walks[0]) {
		if s.Inst().Kind != disasm.Conditional {
			continue
		}
		unit := -1
		if s.Graph == w.side.Code.Root {
			unit = w.side.Loop
		}
		b, ok := r.Branch(s.Graph, s.At)
		switch {
		case !ok && r.Source == SourceGiven && s.Graph.ExitOf(s.At, unit).Loop:
			// Loops go on unless it is said.
		case !ok:
			unknown++
		case b.Bounds != nil && max(b.Bounds.Taken[1]-b.Bounds.Taken[0], b.Bounds.Miss[1]-b.Bounds.Miss[0]) > openWidth:
			bounded++
		default:
			known++
		}
	}
	if bounded+unknown == 0 {
		return flags
	}
	parts := []string{fmt.Sprintf("rates: %d of %d branches are known", known, known+bounded+unknown)}
	if bounded > 0 {
		parts = append(parts, fmt.Sprintf("%d within bounds", bounded))
	}
	if unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d not at all", unknown))
	}
	return append(flags, strings.Join(parts, ", ")+": the interval spans what these may do")
}

// fewMisses is how many mispredictions a unit are not worth a word.
const fewMisses = 0.005

// endsFlags say what became of the mispredictions that were simulated at the ends of loops.
func (w *work) endsFlags() (flags []string) {
	r, t := &w.side.Rates, w.walks[0]
	if r.Source != SourceSimulated {
		return nil
	}
	var dropped, varied float64 // a unit
	units := float64(len(t.Units)) * w.side.Work
	for i := range t.Steps {
		s := t.Steps[i].Site
		if s.Inst().Kind != disasm.Conditional {
			continue
		}
		unit := -1
		if s.Graph == w.side.Code.Root {
			unit = w.side.Loop
		}
		counted, ok := r.Branch(s.Graph, s.At)
		if !ok || counted.Miss == 0 {
			continue
		}
		switch r.tripsOf(s.Graph, s.At, unit, s.Graph.ExitOf(s.At, unit)) {
		case tripsRegular:
			dropped += counted.Miss / units
		case tripsVary:
			varied += w.branches(s).Miss / units
		}
	}
	if dropped > fewMisses {
		flags = append(flags, fmt.Sprintf("rates: the ends of loops that are always run through as often are taken as foreseen: %.2g mispredictions that were simulated there are left out", dropped))
	}
	if varied > fewMisses {
		flags = append(flags, fmt.Sprintf("rates: %.2g mispredictions are at the ends of loops that are not always run through as often, or too often to be foreseen: half of them may be foreseen, which the interval spans", varied))
	}
	return flags
}

// widest are the sites with most executions that may go either way, of which there are any.
func widest(open map[flow.Site]float64) []flow.Site {
	var sites []flow.Site
	for s, n := range open {
		if n > 0 {
			sites = append(sites, s)
		}
	}
	slices.SortFunc(sites, func(a, b flow.Site) int {
		return cmp.Or(-cmp.Compare(open[a], open[b]), cmp.Compare(a.Inst().Addr, b.Inst().Addr), cmp.Compare(a.At, b.At))
	})
	return sites[:min(len(sites), maxAlone)]
}
