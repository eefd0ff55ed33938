package compare

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"profdiff/internal/run"
)

// A Tree is the call tree of both sides in one event: paths of functions, aligned, from
// the root down. Paths that one side does not have are in it too.
//
// Recordings of whole machines have millions of nodes, of which few are looked at: nodes
// are numbers, and what they cost in each run is added up for those that
// [Tree.Costs] is asked for.
type Tree struct {
	// Function is by node an index in Event.Functions, -1 for the root.
	Function []int32
	// Base and Head are by node normalized total weights, means over runs.
	Base, Head []float64

	c      *Comparison
	event  *Event
	parent []TreeNode
	// The children of node n are children[first[n]:first[n+1]].
	first    []int32
	children []TreeNode
	nodeOf   [][]TreeNode // by run, base's first, and path: where it ends, the root if nothing was spent there
}

// A TreeNode is the number of a node of a [Tree]: a function as it is called along one
// path. Parents precede their children.
type TreeNode int32

// TreeRoot stands for all samples and has no function.
const TreeRoot TreeNode = 0

// Tree builds the call tree of one event.
func (c *Comparison) Tree(event int) *Tree { return c.tree(event, (*treeBuilder).callees) }

// CallerTree builds the tree from the leaves up: the children of a node are its
// callers, and a node's total weight is what the path down from it to the leaf cost.
func (c *Comparison) CallerTree(event int) *Tree { return c.tree(event, (*treeBuilder).callers) }

func (c *Comparison) tree(event int, add func(b *treeBuilder, own []bool) []TreeNode) *Tree {
	e := &c.Events[event]
	byRow := make([]int32, len(c.rows.rows))
	for i := range e.Functions {
		byRow[e.Functions[i].row] = int32(i)
	}
	t := &Tree{c: c, event: e}
	b := treeBuilder{Prefixes: run.NewPrefixes()}
	var own []bool // by stack: samples end here
	t.eachRun(func(_ int, r *run.Run, p *paths, event int, rowOf []int32) {
		b.run, b.paths = r, p
		b.functionOf = resized(b.functionOf, len(rowOf))
		for symbol, row := range rowOf {
			b.functionOf[symbol] = byRow[row]
		}
		own = resized(own, r.Stacks.Len())
		clear(own)
		for i := range r.Samples {
			if s := &r.Samples[i]; int(s.Event) == event && (s.Count != 0 || s.Weight != 0) {
				own[s.Stack] = true
			}
		}
		nodeOf := add(&b, own)
		for path := range nodeOf {
			nodeOf[path] = max(nodeOf[path], TreeRoot)
		}
		t.nodeOf = append(t.nodeOf, nodeOf)
	})
	t.parent, t.Function = make([]TreeNode, b.Len()), make([]int32, b.Len())
	for n := range t.parent {
		t.parent[n], t.Function[n] = TreeNode(b.Parent(int32(n))), b.Last(int32(n))
	}
	t.means()
	t.link()
	return t
}

// eachRun visits the runs of base, then those of head.
func (t *Tree) eachRun(visit func(i int, r *run.Run, p *paths, event int, rowOf []int32)) {
	for i, r := range t.c.base.runs {
		visit(i, r, &t.c.base.paths[i], t.event.pair.base[i], t.c.rows.base)
	}
	for i, r := range t.c.head.runs {
		visit(len(t.c.base.runs)+i, r, &t.c.head.paths[i], t.event.pair.head[i], t.c.rows.head)
	}
}

// A treeBuilder makes nodes, in the order of the stacks that an event has.
type treeBuilder struct {
	*run.Prefixes
	run        *run.Run
	paths      *paths
	functionOf []int32 // by symbol of the side: index in Event.Functions
}

// none are the nodes of paths that have none yet.
func (b *treeBuilder) none() []TreeNode { return slices.Repeat([]TreeNode{-1}, b.paths.len()) }

// callees adds the stacks of a run from the outermost function on. It returns the node at
// which each path ends.
func (b *treeBuilder) callees(own []bool) (nodeOf []TreeNode) {
	stacks, p := &b.run.Stacks, b.paths
	onPath := slices.Clone(own) // samples end here or below
	for id := len(onPath) - 1; id > 0; id-- {
		if onPath[id] {
			onPath[stacks.Parent(run.StackID(id))] = true
		}
	}
	nodeOf = b.none()
	nodeOf[0] = TreeRoot
	var inner []int32 // paths without a node, innermost first: of functions that are inlined
	for id := 1; id < len(own); id++ {
		if !onPath[id] {
			continue
		}
		inner = inner[:0]
		at := p.of[id]
		for ; nodeOf[at] < 0; at = p.parent[at] {
			inner = append(inner, at)
		}
		for _, k := range slices.Backward(inner) {
			nodeOf[k] = TreeNode(b.Of(int32(nodeOf[p.parent[k]]), b.functionOf[p.symbol[k]]))
		}
	}
	// The empty stack is the start of all others, but its own samples end elsewhere.
	if own[0] {
		nodeOf[0] = TreeNode(b.Of(int32(TreeRoot), b.functionOf[0]))
	}
	return nodeOf
}

// callers adds the stacks of a run from the innermost function on.
func (b *treeBuilder) callers(own []bool) (nodeOf []TreeNode) {
	p := b.paths
	nodeOf = b.none()
	for id := range own {
		path := p.of[id]
		if !own[id] || nodeOf[path] >= 0 {
			continue
		}
		node := int32(TreeRoot)
		if id == 0 {
			node = b.Of(node, b.functionOf[0])
		}
		for at := path; at != 0; at = p.parent[at] {
			node = b.Of(node, b.functionOf[p.symbol[at]])
		}
		nodeOf[path] = TreeNode(node)
	}
	return nodeOf
}

// means computes Base and Head.
func (t *Tree) means() {
	n := len(t.parent)
	t.Base, t.Head = make([]float64, n), make([]float64, n)
	weights := make([]int64, n)
	t.eachRun(func(i int, r *run.Run, p *paths, event int, _ []int32) {
		clear(weights)
		for j := range r.Samples {
			if s := &r.Samples[j]; int(s.Event) == event && s.Weight != 0 {
				weights[t.nodeOf[i][p.of[s.Stack]]] += s.Weight
			}
		}
		for id := n - 1; id > 0; id-- {
			weights[t.parent[id]] += weights[id]
		}
		to, divisor := t.Base, t.event.Normalization.base
		if k := i - len(divisor); k >= 0 {
			to, divisor, i = t.Head, t.event.Normalization.head, k
		}
		for id, w := range weights {
			if w != 0 {
				to[id] += float64(w) / divisor[i].value
			}
		}
	})
	base, head := float64(len(t.c.Base)), float64(len(t.c.Head))
	for id := range n {
		t.Base[id] /= base
		t.Head[id] /= head
	}
}

// link makes the lists of children.
func (t *Tree) link() {
	n := len(t.parent)
	t.first, t.children = make([]int32, n+2), make([]TreeNode, n-1)
	// Counted two further on, then one further as the start of what is filled.
	for _, p := range t.parent[1:] {
		t.first[p+2]++
	}
	for id := 2; id < len(t.first); id++ {
		t.first[id] += t.first[id-1]
	}
	for id := 1; id < n; id++ {
		at := &t.first[t.parent[id]+1]
		t.children[*at] = TreeNode(id)
		*at++
	}
	for id := range n {
		if list := t.Children(TreeNode(id)); len(list) > 1 {
			slices.SortFunc(list, t.compare)
		}
	}
}

// compare orders siblings by absolute change, then by cost, then by name.
func (t *Tree) compare(a, b TreeNode) int {
	if c := cmp.Compare(math.Abs(t.Head[b]-t.Base[b]), math.Abs(t.Head[a]-t.Base[a])); c != 0 {
		return c
	}
	if c := cmp.Compare(t.Head[b]+t.Base[b], t.Head[a]+t.Base[a]); c != 0 {
		return c
	}
	f, g := &t.event.Functions[t.Function[a]], &t.event.Functions[t.Function[b]]
	return cmp.Or(strings.Compare(f.Name, g.Name), strings.Compare(f.DSO, g.DSO), int(t.Function[a]-t.Function[b]))
}

// Len is the number of nodes.
func (t *Tree) Len() int { return len(t.parent) }

// Children are the nodes below one by absolute change of the total weight, largest first.
// They must not be changed.
func (t *Tree) Children(n TreeNode) []TreeNode { return t.children[t.first[n]:t.first[n+1]] }

// Parent is the node above one that is not the root.
func (t *Tree) Parent(n TreeNode) TreeNode { return t.parent[n] }

// TreeCosts are what was spent on the paths of some nodes of a [Tree] and below them, in
// each run.
type TreeCosts struct {
	normalization  *Normalization
	rest           *Normalization // by what did not change, of shares; else nil
	tests, whole   estimator      // of nodes, and of the root, which is the total
	nodes          []TreeNode
	runs, runsBase int
	sums           []run.Sum // by index of the node and run
}

// Costs adds up what was spent on the paths of nodes, which are distinct, and below them.
func (t *Tree) Costs(nodes []TreeNode) *TreeCosts {
	// wanted is by node the one of nodes that it is or is nearest below, +1: what was spent
	// in other nodes is of that one.
	wanted := make([]int32, len(t.parent))
	for i, n := range nodes {
		wanted[n] = int32(i) + 1
	}
	above := make([]int32, len(nodes)) // likewise by index in nodes
	for id := range wanted {
		up := int32(0)
		if id > 0 {
			up = wanted[t.parent[id]]
		}
		if k := wanted[id]; k > 0 {
			above[k-1] = up
		} else {
			wanted[id] = up
		}
	}
	c := &TreeCosts{
		normalization: t.event.Normalization, rest: t.event.rest, tests: t.event.tests, whole: t.c.declared(), nodes: nodes,
		runs: len(t.nodeOf), runsBase: len(t.c.Base), sums: make([]run.Sum, len(nodes)*len(t.nodeOf)),
	}
	t.eachRun(func(i int, r *run.Run, p *paths, event int, _ []int32) {
		for j := range r.Samples {
			if s := &r.Samples[j]; int(s.Event) == event && (s.Count != 0 || s.Weight != 0) {
				if k := int(wanted[t.nodeOf[i][p.of[s.Stack]]]); k > 0 {
					c.of(k - 1)[i].Add(&s.Sum)
				}
			}
		}
	})
	// Children before their parents.
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(nodes[b], nodes[a]) })
	for _, k := range order {
		if up := int(above[k]); up > 0 {
			to, from := c.of(up-1), c.of(k)
			for i := range to {
				to[i].Add(&from[i])
			}
		}
	}
	return c
}

// of is what the k-th node cost in each run.
func (c *TreeCosts) of(k int) []run.Sum { return c.sums[k*c.runs : (k+1)*c.runs : (k+1)*c.runs] }

func (c *TreeCosts) cost(k int) cost {
	sums := c.of(k)
	return cost{base: sums[:c.runsBase:c.runsBase], head: sums[c.runsBase:]}
}

// Change is how the k-th node changed. It is not tested: the paths to look at are chosen
// by what they cost.
func (c *TreeCosts) Change(k int) Change { return c.normalization.newChange(c.at(k), c.cost(k)) }

func (c *TreeCosts) at(k int) estimator {
	if c.nodes[k] == 0 {
		return c.whole
	}
	return c.tests
}

// Test is Change without Ratio, CI and what follows from them, at a small part of the
// cost: P, Grew and Within are the same.
func (c *TreeCosts) Test(k int) Change { return c.normalization.testedChange(c.at(k), c.cost(k)) }

// TestRest is Test of the cost over that of what did not change, for shares: a share that
// changed says nothing by itself, as that of another may have. ok is false where costs are
// no shares.
func (c *TreeCosts) TestRest(k int) (ch Change, ok bool) {
	if c.rest == nil {
		return Change{}, false
	}
	return c.rest.testedChange(c.at(k), c.cost(k)), true
}

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
