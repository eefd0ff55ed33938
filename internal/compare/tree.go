package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// A Tree is the call tree of both sides in one event: paths of functions, aligned, from
// the root down. Paths that one side does not have are in it too.
type Tree struct {
	// Root stands for all samples and has no function.
	Root *TreeNode

	c     *Comparison
	event *Event
	tests *stats.Tests
}

// A TreeNode is a function as it is called along one path.
type TreeNode struct {
	// Function is an index in Event.Functions, -1 for the root.
	Function int
	// Base and Head are normalized total weights, means over runs.
	Base, Head float64
	// Children by absolute change of the total weight, largest first.
	Children []*TreeNode

	self, total cost
}

// Tree builds the call tree of one event.
func (c *Comparison) Tree(event int) *Tree { return c.tree(event, false) }

// CallerTree builds the tree from the leaves up: the children of a node are its
// callers, and a node's total weight is what the path down from it to the leaf cost.
func (c *Comparison) CallerTree(event int) *Tree { return c.tree(event, true) }

func (c *Comparison) tree(event int, up bool) *Tree {
	e := &c.Events[event]
	byRow := make([]int32, len(c.rows.rows))
	for i := range e.Functions {
		byRow[e.Functions[i].row] = int32(i)
	}
	b := treeBuilder{runs: len(c.Base) + len(c.Head)}
	b.add(-1, -1)
	var stacks stackTree
	// All nodes are made before sums are, which are large.
	var nodeOf [][]int32 // by run and stack: where it ends
	add := func(r *run.Run, f *frames, event int, rowOf []int32) {
		stacks.reset(r, f)
		stacks.load(event)
		if up {
			nodeOf = append(nodeOf, b.callers(&stacks, rowOf, byRow))
		} else {
			nodeOf = append(nodeOf, b.callees(&stacks, rowOf, byRow))
		}
	}
	for i, r := range c.base.runs {
		add(r, &c.base.frames[i], e.pair.base[i], c.rows.base)
	}
	for i, r := range c.head.runs {
		add(r, &c.head.frames[i], e.pair.head[i], c.rows.head)
	}
	n := len(b.parent)
	b.self = make([]run.Sum, n*b.runs)
	events := slices.Concat(e.pair.base, e.pair.head)
	for i, r := range slices.Concat(c.base.runs, c.head.runs) {
		for j := range r.Samples {
			if x := &r.Samples[j]; int(x.Event) == events[i] && (x.Count != 0 || x.Weight != 0) {
				addSum(&b.sums(b.self, nodeOf[i][x.Stack])[i], &run.Sum{Weight: x.Weight, Count: x.Count, WeightSq: x.WeightSq})
			}
		}
	}
	// Until here self is what the stacks that end in a node cost. Parents precede their
	// children.
	b.total = slices.Clone(b.self)
	for id := n - 1; id > 0; id-- {
		to, from := b.sums(b.total, b.parent[id]), b.sums(b.total, int32(id))
		for k := range to {
			addSum(&to[k], &from[k])
		}
	}
	if up {
		// What ends in a caller is of the innermost function.
		clear(b.self)
		for id := 1; id < n; id++ {
			if b.parent[id] == 0 {
				copy(b.sums(b.self, int32(id)), b.sums(b.total, int32(id)))
			}
		}
	}
	t := &Tree{Root: b.nodes(len(c.Base)), c: c, event: e, tests: stats.New(level)}
	t.finish(t.Root)
	return t
}

// A treeBuilder makes nodes and sums the runs in them.
type treeBuilder struct {
	runs             int
	parent, function []int32
	self, total      []run.Sum // by node and run
	// slots find nodes by parent and function: open addressing with linear probing,
	// 0 is free.
	slots []int32
}

func (b *treeBuilder) add(parent, function int32) int32 {
	b.parent = append(b.parent, parent)
	b.function = append(b.function, function)
	return int32(len(b.parent) - 1)
}

func (b *treeBuilder) sums(of []run.Sum, id int32) []run.Sum {
	return of[int(id)*b.runs : (int(id)+1)*b.runs]
}

// slot is where a node is, or where it goes if there is none.
func (b *treeBuilder) slot(parent, function int32) *int32 {
	mask := uint64(len(b.slots) - 1)
	h := (uint64(uint32(parent))<<32 | uint64(uint32(function))) * 0x9e3779b97f4a7c15
	for i := (h ^ h>>32) & mask; ; i = (i + 1) & mask {
		if id := b.slots[i]; id == 0 || b.parent[id] == parent && b.function[id] == function {
			return &b.slots[i]
		}
	}
}

func (b *treeBuilder) child(parent, function int32) int32 {
	if 4*len(b.parent) >= 3*len(b.slots) {
		b.slots = make([]int32, max(1<<10, 2*len(b.slots)))
		for id := 1; id < len(b.parent); id++ {
			*b.slot(b.parent[id], b.function[id]) = int32(id)
		}
	}
	s := b.slot(parent, function)
	if *s == 0 {
		*s = b.add(parent, function)
	}
	return *s
}

// callees adds the stacks of a run from the outermost function on. It returns the node at
// which each ends.
func (b *treeBuilder) callees(t *stackTree, rowOf, byRow []int32) (nodeOf []int32) {
	nodeOf = make([]int32, len(t.own))
	for id := 1; id < len(nodeOf); id++ {
		if t.all[id].Count == 0 && t.all[id].Weight == 0 {
			continue
		}
		node := nodeOf[t.run.Stacks.Parent(run.StackID(id))]
		for _, sym := range slices.Backward(t.frames.at(t.run.Stacks.Location(run.StackID(id)))) {
			node = b.child(node, byRow[rowOf[sym]])
		}
		nodeOf[id] = node
	}
	// The empty stack is the start of all others, but its own samples end elsewhere.
	if own := &t.own[0]; own.Count != 0 || own.Weight != 0 {
		nodeOf[0] = b.child(0, byRow[rowOf[0]])
	}
	return nodeOf
}

// callers adds the stacks of a run from the innermost function on.
func (b *treeBuilder) callers(t *stackTree, rowOf, byRow []int32) (nodeOf []int32) {
	nodeOf = make([]int32, len(t.own))
	for id := range t.own {
		if own := &t.own[id]; own.Count == 0 && own.Weight == 0 {
			continue
		}
		if id == 0 {
			nodeOf[0] = b.child(0, byRow[rowOf[0]])
		}
		node := nodeOf[id]
		for at := run.StackID(id); at != 0; at = t.run.Stacks.Parent(at) {
			for _, sym := range t.frames.at(t.run.Stacks.Location(at)) {
				node = b.child(node, byRow[rowOf[sym]])
			}
		}
		nodeOf[id] = node
	}
	return nodeOf
}

// nodes makes the nodes that are returned.
func (b *treeBuilder) nodes(runsBase int) *TreeNode {
	n := len(b.parent)
	nodes, children, count := make([]TreeNode, n), make([]*TreeNode, n), make([]int32, n+1)
	for _, p := range b.parent[1:] {
		count[p+1]++
	}
	for i := range n {
		count[i+1] += count[i]
	}
	for id := range n {
		self, total := b.sums(b.self, int32(id)), b.sums(b.total, int32(id))
		nodes[id] = TreeNode{
			Function: int(b.function[id]), Children: children[count[id]:count[id]:count[id+1]],
			self:  cost{base: self[:runsBase:runsBase], head: self[runsBase:]},
			total: cost{base: total[:runsBase:runsBase], head: total[runsBase:]},
		}
		if id > 0 {
			p := &nodes[b.parent[id]]
			p.Children = append(p.Children, &nodes[id])
		}
	}
	return &nodes[0]
}

// finish computes means and sorts.
func (t *Tree) finish(n *TreeNode) {
	n.Base, n.Head = t.event.Normalization.means(&n.total)
	for _, c := range n.Children {
		t.finish(c)
	}
	name := func(n *TreeNode) (string, string) {
		f := &t.event.Functions[n.Function]
		return f.Name, f.DSO
	}
	slices.SortFunc(n.Children, func(a, b *TreeNode) int {
		nameA, dsoA := name(a)
		nameB, dsoB := name(b)
		return cmp.Or(
			-cmp.Compare(math.Abs(a.Head-a.Base), math.Abs(b.Head-b.Base)),
			-cmp.Compare(a.Head+a.Base, b.Head+b.Base),
			strings.Compare(nameA, nameB), strings.Compare(dsoA, dsoB), a.Function-b.Function)
	})
}

// Self is what was spent in the function itself on this path.
func (t *Tree) Self(n *TreeNode) Change { return t.event.Normalization.newChange(t.tests, n.self) }

// Total is what was spent on this path and below it. It is not tested: the paths to
// look at are chosen by what they cost.
func (t *Tree) Total(n *TreeNode) Change { return t.event.Normalization.newChange(t.tests, n.total) }

// means are the normalized means over runs.
func (n *Normalization) means(c *cost) (base, head float64) {
	for i := range c.base {
		base += float64(c.base[i].Weight) / n.base[i].value
	}
	for i := range c.head {
		head += float64(c.head[i].Weight) / n.head[i].value
	}
	return base / float64(len(c.base)), head / float64(len(c.head))
}

// A Neighbor is a caller or a callee of a function: what is spent in and below their
// direct calls.
type Neighbor struct {
	// Function is an index in Event.Functions; -1 as a caller means that the
	// function is outermost.
	Function int
	Calls    Change
}

// Neighbors are the direct callers and callees of a function of an event, by absolute
// change. Of a recursive function the outermost call counts.
func (c *Comparison) Neighbors(event, function int) (callers, callees []Neighbor) {
	e := &c.Events[event]
	row := int32(e.Functions[function].row)
	byRow := make([]int, len(c.rows.rows))
	for i := range e.Functions {
		byRow[e.Functions[i].row] = i
	}
	in, out := make(map[int]*cost), make(map[int]*cost)
	add := func(s *side, rowOf []int32, at []int, of func(*cost) []run.Sum) {
		var path []int32
		for i, r := range s.runs {
			f := &s.frames[i]
			for j := range r.Samples {
				sample := &r.Samples[j]
				if int(sample.Event) != at[i] {
					continue
				}
				path = path[:0]
				for id := sample.Stack; id != 0; id = r.Stacks.Parent(id) {
					for _, sym := range f.at(r.Stacks.Location(id)) {
						path = append(path, rowOf[sym])
					}
				}
				slices.Reverse(path)
				k := slices.Index(path, row)
				if k < 0 {
					continue
				}
				sum := run.Sum{Weight: sample.Weight, Count: sample.Count, WeightSq: sample.WeightSq}
				count := func(m map[int]*cost, fn int) {
					n, ok := m[fn]
					if !ok {
						fresh := newCost(len(c.Base), len(c.Head))
						n = &fresh
						m[fn] = n
					}
					addSum(&of(n)[i], &sum)
				}
				caller := -1
				if k > 0 {
					caller = byRow[path[k-1]]
				}
				count(in, caller)
				// A sample counts once for each callee, however deep the recursion.
				called := make(map[int]bool)
				for ; k+1 < len(path); k++ {
					if callee := byRow[path[k+1]]; path[k] == row && !called[callee] {
						called[callee] = true
						count(out, callee)
					}
				}
			}
		}
	}
	add(c.base, c.rows.base, e.pair.base, func(c *cost) []run.Sum { return c.base })
	add(c.head, c.rows.head, e.pair.head, func(c *cost) []run.Sum { return c.head })
	tests := stats.New(level)
	list := func(m map[int]*cost) (list []Neighbor) {
		for fn, sums := range m {
			list = append(list, Neighbor{fn, e.Normalization.newChange(tests, *sums)})
		}
		slices.SortFunc(list, func(a, b Neighbor) int {
			return cmp.Or(-cmp.Compare(math.Abs(a.Calls.Delta()), math.Abs(b.Calls.Delta())), a.Function-b.Function)
		})
		return list
	}
	return list(in), list(out)
}
