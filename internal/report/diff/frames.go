package diff

import (
	"cmp"
	"math"
	"slices"

	"profdiff/internal/compare"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// frames is the call tree of one event. Heavy frames are tested by what they and what
// they call cost, as a family of their own, by the rules that functions are. With it comes when
// its frames were sampled.
func frames(c *compare.Comparison, event int) (Frames, *Times) {
	tree := c.Tree(event)
	n := tree.Len()
	f := newFrames(n)
	f.All = n
	at := make([]int32, n) // index in f by node
	size := sizes(tree)
	var byCost []compare.TreeNode
	for id := range compare.TreeNode(n) {
		k := at[id]
		f.Function[k] = tree.Function[id]
		base, head := tree.Base[id], tree.Head[id]
		switch {
		case base == 0 && head > 0:
			f.Flags[k] = OnlyHead
		case head == 0 && base > 0:
			f.Flags[k] = OnlyBase
		}
		children := tree.Children(id)
		for _, child := range children {
			base -= tree.Base[child]
			head -= tree.Head[child]
		}
		// What is left of a subtraction of equal numbers is no cost.
		if math.Abs(base) < 1e-9*tree.Base[id] {
			base = 0
		}
		if math.Abs(head) < 1e-9*tree.Head[id] {
			head = 0
		}
		f.Base[k], f.Head[k] = base, head
		// What it calls, the widest first.
		if len(children) > 1 {
			byCost = append(byCost[:0], children...)
			slices.SortFunc(byCost, func(a, b compare.TreeNode) int {
				if c := cmp.Compare(tree.Base[b]+tree.Head[b], tree.Base[a]+tree.Head[a]); c != 0 {
					return c
				}
				return cmp.Compare(tree.Function[a], tree.Function[b])
			})
			children = byCost
		}
		next := k + 1
		for _, child := range children {
			at[child], f.Level[next] = next, f.Level[k]+1
			next += size[child]
		}
	}
	if names, of := tree.Threads(); of != nil {
		f.Threads, f.Thread = names, make([]int32, n)
		for id, thread := range of {
			f.Thread[at[id]] = thread
		}
	}
	decide(c, event, tree, func(n compare.TreeNode, flag FrameFlags) { f.Flags[at[n]] |= flag })
	times := tree.Times()
	if times == nil {
		return f, nil
	}
	of := make([]int32, len(times.Nodes))
	for i, n := range times.Nodes {
		of[i] = at[n]
	}
	return f, &Times{times, of}
}

func newFrames(n int) Frames {
	costs := make([]float64, 2*n)
	numbers := make([]int32, 2*n)
	return Frames{
		Level: numbers[:n:n], Function: numbers[n:], Base: costs[:n:n], Head: costs[n:], Flags: make([]FrameFlags, n),
	}
}

// sizes are the numbers of nodes of the subtrees of a tree.
func sizes(t *compare.Tree) []int32 {
	size := make([]int32, t.Len())
	for id := len(size) - 1; id >= 0; id-- {
		size[id]++
		if id > 0 {
			size[t.Parent(compare.TreeNode(id))] += size[id]
		}
	}
	return size
}

// decide finds the frames that changed. Of shares these are the frames that changed alike over the
// cost of what did not change. Everything is no frame where it may have no verdict.
func decide(c *compare.Comparison, event int, tree *compare.Tree, found func(compare.TreeNode, FrameFlags)) {
	e, opt := &c.Events[event], &c.Options
	if e.Withheld != "" || e.Total.Method.Single() {
		return
	}
	var heavy []compare.TreeNode
	floor := opt.MinShare * (tree.Base[compare.TreeRoot] + tree.Head[compare.TreeRoot])
	for id := range compare.TreeNode(tree.Len()) {
		if tree.Base[id]+tree.Head[id] >= floor && !(id == compare.TreeRoot && e.Total.Withheld) {
			heavy = append(heavy, id)
		}
	}
	costs := tree.Costs(heavy)
	changes, p := make([]compare.Change, len(heavy)), make([]float64, len(heavy))
	for i := range heavy {
		changes[i] = costs.Test(i)
		p[i] = changes[i].P
		if rest, ok := costs.TestRest(i); ok {
			p[i] = max(p[i], rest.P)
			if rest.Grew() != changes[i].Grew() || rest.Within(opt.Margin) {
				p[i] = 1
			}
		}
	}
	for i, q := range stats.BenjaminiHochberg(p) {
		ch := &changes[i]
		switch {
		case q > opt.FalseDiscovery || p[i] > 1-verdict.Level || ch.Within(opt.Margin):
		case ch.Grew() && ch.Delta() > 0:
			found(heavy[i], Grew)
		case !ch.Grew() && ch.Delta() < 0:
			found(heavy[i], Shrank)
		}
	}
}
