package disasm

import (
	"cmp"
	"slices"
)

// FindLoops finds the loops of blocks, reachable or not, in order of their headers, each
// outer before the inner, and the innermost loop that each block is in, -1 for none. Of
// loops within each other the deepest so many are found, all if that is 0. ok is false if
// there was no room: every loop lists its blocks, so that loops nested in each other a
// thousand times over would take a million times their code.
//
// Of the blocks it asks for Succs and Preds, for Reachable, and whether Dominator is
// negative, which says that control comes there from outside.
//
// A strongly connected component that is entered at one block is the natural loop
// of that header. Without the edges to it, its components are the inner loops
// (Steensgaard, "Sequentializing Program Dependence Graphs for Irreducible
// Programs", 1993, with one header for components with several entries).
func FindLoops(blocks []Block, deepest int) (loops []Loop, loopOf []int, ok bool) {
	n := len(blocks)
	loopOf = slices.Repeat([]int{-1}, n)
	l := loopFinder{blocks: blocks, loopOf: loopOf, scc: make([]vertex, n), room: 64*n + 4096, deepest: deepest}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	l.components(all, -1)
	for len(l.todo) > 0 && l.room >= 0 {
		i := l.todo[len(l.todo)-1]
		l.todo = l.todo[:len(l.todo)-1]
		l.components(l.loops[i].Blocks, i)
	}
	if l.room < 0 {
		return nil, slices.Repeat([]int{-1}, n), false
	}
	return l.inOrder(), loopOf, true
}

type loopFinder struct {
	blocks []Block
	loops  []Loop
	loopOf []int // innermost loop so far
	todo   []int // loops whose insides have not been looked at
	room   int   // blocks that the loops may list in all

	deepest int // depth of the innermost loops to look for, 0 for any
	scc     []vertex
	epoch   int32
	stack   []int
	visits  []visit
}

// vertex is the state of Tarjan's algorithm for strongly connected components.
type vertex struct {
	epoch   int32 // index, low and onStack are of this pass
	index   int32
	low     int32
	onStack bool
}

// components makes loops of the cycles among blocks, which are the blocks of loop
// outer, or all if outer is -1. Edges to the header of outer do not count.
func (l *loopFinder) components(blocks []int, outer int) {
	l.epoch++
	index := int32(0)
	open := func(b int) {
		index++
		l.scc[b] = vertex{l.epoch, index, index, true}
		l.stack = append(l.stack, b)
		l.visits = append(l.visits, visit{b, 0})
	}
	for _, root := range blocks {
		if l.scc[root].epoch == l.epoch {
			continue
		}
		open(root)
		for len(l.visits) > 0 {
			top := &l.visits[len(l.visits)-1]
			v := &l.scc[top.block]
			if succs := l.blocks[top.block].Succs; top.succ < len(succs) {
				s := succs[top.succ]
				top.succ++
				switch w := &l.scc[s]; {
				case !l.within(s, outer):
				case w.epoch != l.epoch:
					open(s)
				case w.onStack:
					v.low = min(v.low, w.index)
				}
				continue
			}
			b := top.block
			l.visits = l.visits[:len(l.visits)-1]
			if len(l.visits) > 0 {
				up := &l.scc[l.visits[len(l.visits)-1].block]
				up.low = min(up.low, v.low)
			}
			if v.low == v.index {
				first := len(l.stack) - 1
				for l.stack[first] != b {
					first--
				}
				component := l.stack[first:]
				for _, b := range component {
					l.scc[b].onStack = false
				}
				l.stack = l.stack[:first]
				l.add(component, outer)
			}
		}
	}
}

// within reports whether an edge to block b is inside of loop outer and does not
// close it.
func (l *loopFinder) within(b, outer int) bool {
	return outer < 0 || b != l.loops[outer].Header && l.isIn(b, outer)
}

// isIn reports whether b is in the loop, of which no inner loops but those found in
// this pass are known.
func (l *loopFinder) isIn(b, loop int) bool {
	i := l.loopOf[b]
	return i == loop || i >= 0 && l.loops[i].Parent == loop
}

// add makes a loop of a strongly connected component, if it is one.
func (l *loopFinder) add(component []int, outer int) {
	if len(component) == 1 {
		b := component[0]
		if outer >= 0 && b == l.loops[outer].Header || !slices.Contains(l.blocks[b].Succs, b) {
			return
		}
	}
	l.room -= len(component)
	if l.room < 0 {
		l.todo = nil
		return
	}
	id := len(l.loops)
	loop := Loop{Header: -1, Blocks: slices.Clone(component), Parent: outer, Depth: 1}
	slices.Sort(loop.Blocks)
	if outer >= 0 {
		loop.Depth = l.loops[outer].Depth + 1
	}
	for _, b := range loop.Blocks {
		l.loopOf[b] = id
	}
	for _, b := range loop.Blocks {
		if !l.entered(b, id) {
			continue
		}
		if loop.Header >= 0 {
			loop.Irreducible = true
			break
		}
		loop.Header = b
	}
	if loop.Header < 0 {
		loop.Header = loop.Blocks[0] // unreachable
	}
	for _, p := range l.blocks[loop.Header].Preds {
		if l.loopOf[p] == id {
			loop.BackEdges = append(loop.BackEdges, p)
		}
	}
	l.loops = append(l.loops, loop)
	if loop.Depth != l.deepest {
		l.todo = append(l.todo, id)
	}
}

// entered reports whether control comes to block b of a loop from outside. Code
// that is not reached does not count for code that is.
func (l *loopFinder) entered(b, loop int) bool {
	if b := &l.blocks[b]; b.Dominator < 0 {
		return true
	}
	for _, p := range l.blocks[b].Preds {
		if l.loopOf[p] != loop && (l.blocks[p].Reachable || !l.blocks[b].Reachable) {
			return true
		}
	}
	return false
}

// inOrder returns the loops by address of the header, each after the one around it
// and before those that follow that, and renumbers them.
func (l *loopFinder) inOrder() []Loop {
	if len(l.loops) == 0 {
		return nil
	}
	inner := make([][]int, len(l.loops)+1) // of a loop+1; of none
	for i := range l.loops {
		p := l.loops[i].Parent + 1
		inner[p] = append(inner[p], i)
	}
	for _, siblings := range inner {
		slices.SortFunc(siblings, func(a, b int) int { return cmp.Compare(l.loops[a].Header, l.loops[b].Header) })
	}
	sorted := make([]Loop, 0, len(l.loops))
	renumbered := make([]int, len(l.loops))
	for todo := [][]int{inner[0]}; len(todo) > 0; {
		siblings := &todo[len(todo)-1]
		if len(*siblings) == 0 {
			todo = todo[:len(todo)-1]
			continue
		}
		i := (*siblings)[0]
		*siblings = (*siblings)[1:]
		loop := l.loops[i]
		if loop.Parent >= 0 {
			loop.Parent = renumbered[loop.Parent]
		}
		renumbered[i] = len(sorted)
		sorted = append(sorted, loop)
		todo = append(todo, inner[i+1])
	}
	for b, i := range l.loopOf {
		if i >= 0 {
			l.loopOf[b] = renumbered[i]
		}
	}
	return sorted
}
