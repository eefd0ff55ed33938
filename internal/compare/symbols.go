package compare

import (
	"math"
	"slices"

	"profdiff/internal/align"
	"profdiff/internal/run"
)

// A symbol is a function as one side names it, with the label of its file.
type symbol struct{ name, dso string }

// A side is the runs of one side and the symbols of all of them.
type side struct {
	runs    []*run.Run
	symbols []symbol
	ids     map[symbol]int32
	facts   []align.Function // by symbol
	frames  []frames         // by run
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
	s := &side{runs: runs, ids: make(map[symbol]int32)}
	intern := func(key symbol, f *run.Function) int32 {
		id, ok := s.ids[key]
		if !ok {
			id = int32(len(s.symbols))
			s.ids[key] = id
			s.symbols = append(s.symbols, key)
			s.functions = append(s.functions, f)
			s.facts = append(s.facts, align.Function{
				Name: key.name, SystemName: f.SystemName, Apart: f.Apart, DSO: key.dso, File: f.File, Unknown: f.Unknown,
			})
		}
		return id
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
		s.frames = append(s.frames, f)
	}
	return s
}

// A stackTree is the stacks of one run with what one event spent in them.
type stackTree struct {
	run     *run.Run
	frames  *frames
	own     []run.Sum // by stack: samples that end here
	all     []run.Sum // by stack: samples that end here or in a callee
	callees run.Callees
}

// reset makes it the tree of a run; runs take turns with one tree, which is as large as
// the largest needs.
func (t *stackTree) reset(r *run.Run, f *frames) {
	t.run, t.frames = r, f
	n := r.Stacks.Len()
	t.own, t.all = resized(t.own, n), resized(t.all, n)
	t.callees.Reset(&r.Stacks)
}

func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// load fills in what one event spent.
func (t *stackTree) load(event int) {
	clear(t.own)
	for i := range t.run.Samples {
		if s := &t.run.Samples[i]; int(s.Event) == event {
			t.own[s.Stack].Add(&s.Sum)
		}
	}
	copy(t.all, t.own)
	// Parents precede their children.
	for id := len(t.all) - 1; id > 0; id-- {
		t.all[t.run.Stacks.Parent(run.StackID(id))].Add(&t.all[id])
	}
}

// walk visits all stacks that have samples, callers before callees. enter is called
// for each frame of a stack that its caller does not have, outermost first, and
// leave in the reverse order; leaf says that the frame is the innermost of the stack.
func (t *stackTree) walk(enter func(id run.StackID, symbol int32, leaf bool), leave func(symbol int32)) {
	if t.own[0].Count != 0 || t.own[0].Weight != 0 {
		enter(0, 0, true)
		leave(0)
	}
	t.callees.Walk(func(id run.StackID) bool {
		if t.all[id].Count == 0 && t.all[id].Weight == 0 {
			return false
		}
		list := t.frames.at(t.run.Stacks.Location(id))
		for i := len(list) - 1; i >= 0; i-- {
			enter(id, list[i], i == 0)
		}
		return true
	}, func(id run.StackID) {
		for _, s := range t.frames.at(t.run.Stacks.Location(id)) {
			leave(s)
		}
	})
}

// describe fills in what the alignment of functions goes by, from one event: shares,
// and unless only names matter, callers, callees and lines.
func (s *side) describe(events []int, namesOnly bool) {
	type edge struct{ caller, callee int32 }
	type place struct {
		symbol int32
		line   int64
	}
	weights := make([]float64, len(s.symbols))
	edges := make(map[edge]float64)
	lines := make(map[place]float64)
	total, counted := 0.0, true
	var t stackTree
	for i, r := range s.runs {
		t.reset(r, &s.frames[i])
		t.load(events[i])
		total += float64(t.all[0].Weight)
		counted = counted && r.Events[events[i]].Simulated
		on := make([]int32, len(s.symbols))
		var path []int32
		t.walk(func(id run.StackID, sym int32, leaf bool) {
			w := float64(t.all[id].Weight)
			if on[sym] == 0 {
				weights[sym] += w
				s.facts[sym].Samples += t.all[id].Count
			}
			on[sym]++
			if !namesOnly {
				if len(path) > 0 {
					edges[edge{path[len(path)-1], sym}] += w
				}
				if own := t.own[id].Weight; leaf && own != 0 && id != 0 {
					if line := r.Locations[r.Stacks.Location(id)].Lines[0].Line; line > 0 {
						lines[place{sym, line}] += float64(own)
					}
				}
			}
			path = append(path, sym)
		}, func(sym int32) {
			on[sym]--
			path = path[:len(path)-1]
		})
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
