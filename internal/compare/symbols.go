package compare

import (
	"math"
	"slices"

	"profdiff/internal/align"
	"profdiff/internal/run"
	"profdiff/internal/slots"
)

// A symbol is a function as one side names it, with the label of its file.
type symbol struct{ name, dso string }

// A side is the runs of one side and the symbols of all of them.
type side struct {
	runs    []*run.Run
	symbols []symbol
	ids     slots.Values[symbol]
	facts   []align.Function // by symbol
	paths   []paths          // by run
	// calls are how often symbols were called, by run, as far as that was counted.
	calls []map[int32]int64
	// functions has the first function of each symbol.
	functions []*run.Function
}

// frames are the symbols at each location of a run, innermost first.
type frames struct {
	start []int32 // by location, and the end of the last
	list  []int32
}

func (f *frames) at(location uint32) []int32 {
	return f.list[f.start[location]:f.start[location+1]]
}

// noStack stands for samples without a stack: it is symbol 0 of every side.
const noStack = "[no stack]"

func newSide(runs []*run.Run) *side {
	s := &side{runs: runs}
	intern := func(key symbol, f *run.Function) int32 {
		id, known := s.ids.Index(&s.symbols, key)
		if !known {
			s.functions = append(slots.Room(s.functions), f)
		}
		return int32(id)
	}
	intern(symbol{name: noStack}, &run.Function{Unknown: true})
	for _, r := range runs {
		files := make([]string, len(r.Mappings))
		for i := range r.Mappings {
			files[i] = r.Mappings[i].Label()
		}
		// Most functions are in one mapping, so that a slot is enough.
		type slot struct {
			mapping uint32
			id      int32
		}
		known := make([]slot, len(r.Functions))
		f := frames{start: make([]int32, 0, len(r.Locations)+1)}
		for i := range r.Locations {
			l := &r.Locations[i]
			f.start = append(f.start, int32(len(f.list)))
			for _, line := range l.Lines {
				k := &known[line.Function]
				if k.id == 0 || k.mapping != l.Mapping {
					fn := &r.Functions[line.Function]
					*k = slot{l.Mapping, intern(symbol{fn.Name, files[l.Mapping]}, fn)}
				}
				f.list = append(f.list, k.id)
			}
		}
		f.start = append(f.start, int32(len(f.list)))
		calls := make(map[int32]int64)
		for i, n := range r.Calls {
			if n > 0 && known[i].id > 0 {
				calls[known[i].id] += n
			}
		}
		s.calls = append(s.calls, calls)
		s.paths = append(s.paths, newPaths(&r.Stacks, &f))
	}
	return s
}

// list makes the facts of the symbols.
func (s *side) list() {
	s.facts = make([]align.Function, len(s.symbols))
	for i, key := range s.symbols {
		f := s.functions[i]
		s.facts[i] = align.Function{
			Name: key.name, SystemName: f.SystemName, Apart: f.Mark(), DSO: key.dso, File: f.File, Unknown: f.Unknown,
		}
	}
}

// describe fills in what the alignment of functions goes by, from one event: shares,
// and unless only names matter, callers, callees and lines. room is for what a run spent.
func (s *side) describe(events []int, namesOnly bool, room spent) {
	type edge struct{ caller, callee int32 }
	type place struct {
		symbol int32
		line   int64
	}
	weights := make([]float64, len(s.symbols))
	edges := make(map[edge]float64)
	lines := make(map[place]float64)
	total, counted := 0.0, true
	outer := make(outermost, len(s.symbols))
	for i, r := range s.runs {
		p := &s.paths[i]
		spent := room.of(r, p, events[i])
		weights[0] += float64(spent[0].Weight)
		s.facts[0].Samples += spent[0].Count
		spent.addUp(p)
		total += float64(spent[0].Weight)
		counted = counted && r.Events[events[i]].Simulated
		outer.reset()
		for id := 1; id < p.len(); id++ {
			if !spent.has(id) {
				continue
			}
			symbol, all := p.symbol[id], &spent[id]
			if outer.is(p, id, symbol) {
				weights[symbol] += float64(all.Weight)
				s.facts[symbol].Samples += all.Count
			}
			if caller := p.parent[id]; !namesOnly && caller != 0 {
				edges[edge{p.symbol[caller], symbol}] += float64(all.Weight)
			}
		}
		if namesOnly {
			continue
		}
		weightAt, symbolAt := make([]int64, len(r.Locations)), make([]int32, len(r.Locations))
		for j := range r.Samples {
			if x := &r.Samples[j]; int(x.Event) == events[i] && x.Stack != 0 {
				at := r.Stacks.Location(x.Stack)
				weightAt[at] += x.Weight
				symbolAt[at] = p.symbol[p.of[x.Stack]]
			}
		}
		for at, w := range weightAt {
			if line := r.Locations[at].Lines[0].Line; w != 0 && line > 0 {
				lines[place{symbolAt[at], line}] += float64(w)
			}
		}
	}
	if total <= 0 {
		return
	}
	for i := range s.facts {
		s.facts[i].Weight = weights[i] / total
		if counted && weights[i] > 0 {
			s.facts[i].Samples = math.MaxInt64
		}
	}
	for e, w := range edges {
		s.facts[e.caller].Callees = append(s.facts[e.caller].Callees, align.Edge{Function: int(e.callee), Weight: w / total})
		s.facts[e.callee].Callers = append(s.facts[e.callee].Callers, align.Edge{Function: int(e.caller), Weight: w / total})
	}
	for p, w := range lines {
		s.facts[p.symbol].Lines = append(s.facts[p.symbol].Lines, align.Line{Line: p.line, Weight: w / total})
	}
	for i := range s.facts {
		f := &s.facts[i]
		for _, list := range [][]align.Edge{f.Callers, f.Callees} {
			slices.SortFunc(list, func(a, b align.Edge) int { return a.Function - b.Function })
		}
		slices.SortFunc(f.Lines, func(a, b align.Line) int { return int(a.Line - b.Line) })
	}
}
