package hot

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"profdiff/internal/disasm"
	"profdiff/internal/stats"
)

// Lost are samples in functions whose stacks do not tell who called them, and what of these
// belongs to a loop, by the code of all functions that have samples.
type Lost struct {
	// Weight is by run, of all that is charged.
	Weight []stats.WeightedCount
	// Own is what is in functions that are followed from the loop.
	Own float64
	// Calls are the functions, each with the part of its samples that is charged to the loop.
	Calls []Call
	// Sure is the weight in functions that nothing else calls, Most that in all that may be
	// called.
	Sure, Most float64
	// Elsewhere is set if there are calls whose targets the code does not tell.
	Elsewhere bool
}

// lostRounds is how deep calls are followed among functions whose stacks are lost.
const lostRounds = 8

// certain is the part of a function's callers from which on all its samples are from there.
const certain = 0.999

// Lost finds the samples in what a loop calls where stacks are lost, as in functions without
// frame pointers:
//
//  1. All functions with samples are searched for calls of the functions that the loop calls,
//     and of those that these call.
//  2. A function that is called from the loop alone has all its samples from there. Else the
//     loop has the part that its own samples are of those in all callers.
//
// inside are the functions that are followed from the loop, and called the functions that are
// called and not followed. elsewhere is set if there are calls whose targets the code does not
// tell: all functions may be in these that nothing calls, directly or as stacks say.
func (p *Profile) Lost(b *Binary, f *disasm.Function, loop int, inside, called []uint64, elsewhere bool) *Lost {
	out := &Lost{Weight: make([]stats.WeightedCount, len(p.Runs)), Elsewhere: elsewhere}
	for _, start := range called {
		g, err := b.Function(start)
		out.Elsewhere = out.Elsewhere || err != nil || jumpsOn(g, start)
	}
	own := make(map[uint64]float64) // samples by the start of the function, in the loop only
	rest := 0.0                     // of f, not in the loop
	functions := make(map[uint64]*disasm.Function)
	for addr, w := range p.Weights {
		g, err := b.Function(addr)
		if err != nil {
			continue
		}
		functions[g.Start] = g
		if g.Start == f.Start && !within(f, loop, addr) {
			rest += w
			continue
		}
		own[g.Start] += w
	}
	leaves := p.withoutCaller(b, f, loop)
	if len(leaves) == 0 {
		return out
	}
	part := map[uint64]float64{f.Start: 1}
	reached := slices.Concat(inside, called)
	for range lostRounds {
		before := len(reached)
		for _, start := range reached {
			if g, err := b.Function(start); err == nil && g.Start == start {
				functions[start] = g
				for _, to := range targets(g, nil) {
					if _, ok := part[to]; !ok && !slices.Contains(reached, to) {
						reached = append(reached, to)
					}
				}
			}
		}
		if len(reached) == before {
			break
		}
	}
	calls := make(map[uint64]map[uint64]float64) // weights of callers by what they call
	add := func(from uint64, list []uint64, weight float64) {
		for _, to := range list {
			if calls[to] == nil {
				calls[to] = make(map[uint64]float64)
			}
			calls[to][from] = max(calls[to][from], weight)
		}
	}
	const outside = math.MaxUint64 // of the loop, in f
	for start, g := range functions {
		switch {
		case start != f.Start:
			add(start, targets(g, nil), own[start])
		default:
			add(start, targets(g, func(addr uint64) bool { return within(f, loop, addr) }), own[start])
			if rest > 0 {
				add(outside, targets(g, func(addr uint64) bool { return !within(f, loop, addr) }), rest)
			}
		}
	}
	for range lostRounds {
		for _, start := range reached {
			var mine, all float64
			for from, w := range calls[start] {
				if from == start {
					continue
				}
				w += 1e-9
				mine, all = mine+w*part[from], all+w
			}
			if all > 0 {
				part[start] = mine / all
			}
		}
	}
	var above []uint64 // functions that call others by their stacks
	for i := range p.leaves {
		for k, addr := range p.leaves[i].frames {
			if g, err := b.Function(addr); err == nil && (k > 0 || p.leaves[i].outside != "") && !slices.Contains(above, g.Start) {
				above = append(above, g.Start)
			}
		}
	}
	byName := make(map[string]*Call)
	for _, l := range leaves {
		g, err := b.Function(l.frames[0])
		if err != nil {
			continue
		}
		start := g.Start
		if !slices.Contains(reached, start) {
			if out.Elsewhere && calls[start] == nil && !slices.Contains(above, start) {
				out.Most += l.weight.Weight
			}
			continue
		}
		share := part[start]
		if share < 1-certain {
			continue // it is called elsewhere
		}
		w := &out.Weight[l.run]
		w.Weight += share * l.weight.Weight
		w.WeightSq += share * l.weight.WeightSq
		if slices.Contains(inside, start) {
			out.Own += share * l.weight.Weight
			continue
		}
		out.Most += l.weight.Weight
		if share > certain {
			out.Sure += l.weight.Weight
		}
		name := cmp.Or(functions[start].Name, "?")
		c := byName[name]
		if c == nil {
			c = &Call{Name: name, Lost: true}
			byName[name] = c
		}
		c.Weight += share * l.weight.Weight
		c.Samples += l.count
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out.Calls = append(out.Calls, *byName[name])
	}
	return out
}

// jumpsOn reports whether the code at an address only jumps to where a table says, as the
// entries of .plt do, all of which may be one function without symbols of their own.
func jumpsOn(f *disasm.Function, addr uint64) bool {
	at := f.Inst(addr)
	if at < 0 {
		return false
	}
	for _, in := range f.Insts[at:min(at+3, len(f.Insts))] {
		if in.Kind == disasm.IndirectJump {
			return true
		}
		if in.Kind != disasm.Other {
			return false
		}
	}
	return false
}

// withoutCaller are the samples whose stacks do not say who called the function they are in,
// without those in the function of the loop.
func (p *Profile) withoutCaller(b *Binary, f *disasm.Function, loop int) (list []*leaf) {
	for i := range p.leaves {
		l := &p.leaves[i]
		if l.outside != "" || slices.ContainsFunc(l.frames, func(addr uint64) bool { return within(f, loop, addr) }) {
			continue
		}
		g, err := b.Function(l.frames[0])
		if err != nil || g.Start == f.Start {
			continue
		}
		if len(l.frames) > 1 {
			from, err := b.Function(l.frames[1])
			if err != nil {
				continue
			}
			if callee, ok := calledAt(from, l.frames[1]); ok && (callee == 0 || callee == g.Start) {
				continue
			}
		}
		list = append(list, l)
	}
	return list
}

// targets are the functions that a function calls or jumps to from addresses that are asked
// for, nil for all.
func targets(f *disasm.Function, from func(addr uint64) bool) (list []uint64) {
	for i := range f.Insts {
		in := &f.Insts[i]
		away := in.Kind == disasm.Jump && in.Target != 0 && (in.Target < f.Start || in.Target >= f.End)
		if (in.Kind == disasm.Call && in.Target != 0 || away) && (from == nil || from(in.Addr)) && !slices.Contains(list, in.Target) {
			list = append(list, in.Target)
		}
	}
	return list
}
