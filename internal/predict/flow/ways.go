package flow

import (
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
