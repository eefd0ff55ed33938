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
	b := treeBuilder{
		children: make(map[treeEdge]*TreeNode), runsBase: len(c.Base), runsHead: len(c.Head),
	}
	t := &Tree{Root: b.node(-1), c: c, event: e, tests: stats.New(level)}
	add := func(s *side, rowOf []int32, at []int, of func(*cost) []run.Sum) {
		var path []int32
		for i, r := range s.runs {
			f := &s.frames[i]
			for j := range r.Samples {
				sample := &r.Samples[j]
				if int(sample.Event) != at[i] {
					continue
				}
				sum := run.Sum{Weight: sample.Weight, Count: sample.Count, WeightSq: sample.WeightSq}
				// Leaf first.
				path = path[:0]
				if sample.Stack == 0 {
					path = append(path, byRow[rowOf[0]])
				}
				for id := sample.Stack; id != 0; id = r.Stacks.Parent(id) {
					for _, sym := range f.at(r.Stacks.Location(id)) {
						path = append(path, byRow[rowOf[sym]])
					}
				}
				if !up {
					slices.Reverse(path)
				}
				n := t.Root
				addSum(&of(&n.total)[i], &sum)
				for k, fn := range path {
					n = b.child(n, fn)
					addSum(&of(&n.total)[i], &sum)
					if up && k == 0 {
						addSum(&of(&n.self)[i], &sum)
					}
				}
				if !up {
					addSum(&of(&n.self)[i], &sum)
				}
			}
		}
	}
	add(c.base, c.rows.base, e.pair.base, func(c *cost) []run.Sum { return c.base })
	add(c.head, c.rows.head, e.pair.head, func(c *cost) []run.Sum { return c.head })
	t.finish(t.Root)
	return t
}

type treeEdge struct {
	parent   *TreeNode
	function int32
}

type treeBuilder struct {
	children           map[treeEdge]*TreeNode
	runsBase, runsHead int
}

func (b *treeBuilder) node(function int) *TreeNode {
	return &TreeNode{
		Function: function,
		self:     newCost(b.runsBase, b.runsHead), total: newCost(b.runsBase, b.runsHead),
	}
}

func (b *treeBuilder) child(parent *TreeNode, function int32) *TreeNode {
	n, ok := b.children[treeEdge{parent, function}]
	if !ok {
		n = b.node(int(function))
		b.children[treeEdge{parent, function}] = n
		parent.Children = append(parent.Children, n)
	}
	return n
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
