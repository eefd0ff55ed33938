package flow

import (
	"cmp"
	"slices"
	"strconv"

	"profdiff/internal/disasm"
)

// MaxPaths is how many paths through code are looked at.
const MaxPaths = 64

// Paths are the ways through a loop, or through all code if loop is -1, and whether
// these are all. Calls are not followed. A way goes through the loops within at most
// once.
func (g *Graph) Paths(loop int) (paths [][]Step, all bool) {
	start := 0
	if loop >= 0 {
		start = g.Loops[loop].Header
	}
	visits := make([]int, len(g.Blocks))
	all = true
	budget := 1 << 14 // blocks
	var steps []Step
	var walk func(b int)
	next := func(from, to int) {
		switch {
		case to < 0 || to == start || loop >= 0 && !g.InLoop(to, loop):
			if loop >= 0 && to != start {
				return // a way out of the loop
			}
			if len(paths) == MaxPaths {
				all = false
				return
			}
			paths = append(paths, append([]Step(nil), steps...))
		case visits[to] > 1 || visits[to] == 1 && !g.back(from, to):
		default:
			walk(to)
		}
	}
	walk = func(b int) {
		if budget--; budget < 0 || len(paths) == MaxPaths {
			all = false
			return
		}
		visits[b]++
		n := len(steps)
		block := &g.Blocks[b]
		for i := block.First; i < block.End; i++ {
			steps = append(steps, Step{Site: Site{Graph: g, At: i}})
		}
		last := &steps[len(steps)-1]
		switch kind := g.Insts[block.End-1].Kind; kind {
		case disasm.Conditional:
			if block.Next != block.Taken {
				next(b, block.Next)
			}
			steps[n+block.End-block.First-1].Taken = true
			next(b, block.Taken)
		case disasm.Jump:
			last.Taken = true
			next(b, block.Taken)
		case disasm.IndirectJump:
			last.Taken = true
			for _, to := range block.Others {
				next(b, to)
			}
			if len(block.Others) == 0 {
				next(b, -1)
			}
		case disasm.Return, disasm.Trap:
			last.Taken = kind == disasm.Return
			next(b, -1)
		default:
			next(b, block.Next)
		}
		steps = steps[:n]
		visits[b]--
	}
	walk(start)
	return paths, all
}

// back reports whether an edge goes to the header of a loop that it is in.
func (g *Graph) back(from, to int) bool {
	for l := g.LoopOf[from]; l >= 0; l = g.Loops[l].Parent {
		if g.Loops[l].Header == to {
			return true
		}
	}
	return false
}

// A Way is what some of the units of a trace do: their branches go the same way.
type Way struct {
	Steps []Step // of the first of these units
	Units int
	Share float64 // of all units
}

// Ways are the ways that the units of a trace go, the most frequent first.
func (t *Trace) Ways() []Way {
	var ways []Way
	index := make(map[string]int)
	var key []byte
	for u, from := range t.Units {
		to := len(t.Steps)
		if u+1 < len(t.Units) {
			to = t.Units[u+1]
		}
		key = key[:0]
		for i := from; i < to; i++ {
			if s := &t.Steps[i]; s.Inst().Kind == disasm.Conditional {
				key = strconv.AppendBool(key, s.Taken)
			}
		}
		at, known := index[string(key)]
		if !known {
			at = len(ways)
			index[string(key)] = at
			ways = append(ways, Way{Steps: t.Steps[from:to]})
		}
		ways[at].Units++
		ways[at].Share = float64(ways[at].Units) / float64(len(t.Units))
	}
	slices.SortStableFunc(ways, func(a, b Way) int { return cmp.Compare(b.Units, a.Units) })
	return ways
}
