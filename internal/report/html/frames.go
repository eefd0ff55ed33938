package html

import (
	"cmp"
	"math"
	"slices"

	"profdiff/internal/compare"
	"profdiff/internal/stats"
)

// significance is the level of intervals, beyond which a p-value shows nothing.
const significance = 0.05

// frames is the call tree of one event. Heavy frames are tested by what they and what
// they call cost, as a family of their own, by the rules that functions are.
func frames(c *compare.Comparison, event int) Frames {
	e := &c.Events[event]
	tree := c.Tree(event)
	t := treeBuilder{opt: &c.Options, event: e, tree: tree, decided: make(map[*compare.TreeNode]FrameFlags)}
	t.decide()
	t.add(tree.Root, 0)
	t.f.All = len(t.f.Level)
	return t.f
}

type treeBuilder struct {
	opt     *compare.Options
	event   *compare.Event
	tree    *compare.Tree
	decided map[*compare.TreeNode]FrameFlags
	f       Frames
}

// decide finds the frames that changed.
func (t *treeBuilder) decide() {
	if t.event.Withheld != "" || single(t.event.Total.Method) || t.event.Total.Withheld {
		return
	}
	type test struct {
		node   *compare.TreeNode
		change compare.Change
	}
	var tests []test
	floor := t.opt.MinShare * (t.tree.Root.Base + t.tree.Root.Head)
	var walk func(n *compare.TreeNode)
	walk = func(n *compare.TreeNode) {
		if n.Base+n.Head < floor {
			return
		}
		tests = append(tests, test{n, t.tree.Total(n)})
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(t.tree.Root)
	p := make([]float64, len(tests))
	for i := range tests {
		p[i] = tests[i].change.P
	}
	lo, hi := 1/(1+t.opt.Margin), 1+t.opt.Margin
	for i, q := range stats.BenjaminiHochberg(p) {
		ch := &tests[i].change
		switch {
		case q > t.opt.FalseDiscovery || ch.P > significance || ch.CI.Lo >= lo && ch.CI.Hi <= hi:
		case ch.Ratio > 1 && ch.Delta() > 0:
			t.decided[tests[i].node] = Grew
		case ch.Ratio < 1 && ch.Delta() < 0:
			t.decided[tests[i].node] = Shrank
		}
	}
}

// add adds a node and what it calls, the widest first.
func (t *treeBuilder) add(n *compare.TreeNode, level int32) {
	base, head := n.Base, n.Head
	for _, c := range n.Children {
		base -= c.Base
		head -= c.Head
	}
	// What is left of a subtraction of equal numbers is no cost.
	if math.Abs(base) < 1e-9*n.Base {
		base = 0
	}
	if math.Abs(head) < 1e-9*n.Head {
		head = 0
	}
	flags := t.decided[n]
	switch {
	case n.Base == 0 && n.Head > 0:
		flags |= OnlyHead
	case n.Head == 0 && n.Base > 0:
		flags |= OnlyBase
	}
	t.f.append(level, int32(n.Function), base, head, flags)
	children := slices.Clone(n.Children)
	slices.SortStableFunc(children, func(a, b *compare.TreeNode) int {
		return cmp.Or(-cmp.Compare(a.Base+a.Head, b.Base+b.Head), a.Function-b.Function)
	})
	for _, c := range children {
		t.add(c, level+1)
	}
}

// pruned keeps about limit frames: the heaviest, and those whose change was decided with
// their callers. What is left out below a frame is one row, with the sum of its costs.
func (f *Frames) pruned(limit int) Frames {
	n := len(f.Level)
	if n <= limit {
		return *f
	}
	end := f.ends()
	base, head := f.totals(end)
	weight := make([]float64, n)
	for i := range weight {
		weight[i] = max(part(base[i], base[0]), part(head[i], head[0]))
	}
	sorted := slices.Clone(weight)
	slices.Sort(sorted)
	least := sorted[n-max(limit, 1)-1] // the heaviest that is left out
	keep := make([]bool, n)
	keep[0] = true
	var path []int // of the frame
	for i := range n {
		path = append(path[:f.Level[i]], i)
		if weight[i] > least || f.Flags[i]&(Grew|Shrank) != 0 {
			for k := len(path) - 1; k >= 0 && !keep[path[k]]; k-- {
				keep[path[k]] = true
			}
		}
	}
	out := Frames{All: f.All, Least: least}
	type open struct {
		n          int32
		base, head float64
	}
	var stack []open
	close := func(until int32) {
		for len(stack) > 0 && int32(len(stack)) > until {
			top := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if top.n > 0 {
				out.append(int32(len(stack))+1, -1-top.n, top.base, top.head, 0)
			}
		}
	}
	for i := 0; i < n; {
		close(f.Level[i])
		if !keep[i] {
			parent := &stack[len(stack)-1]
			parent.n += end[i] - int32(i)
			parent.base += base[i]
			parent.head += head[i]
			i = int(end[i])
			continue
		}
		stack = append(stack, open{})
		out.append(f.Level[i], f.Function[i], f.Base[i], f.Head[i], f.Flags[i])
		i++
	}
	close(0)
	return out
}

func (f *Frames) append(level, function int32, base, head float64, flags FrameFlags) {
	f.Level = append(f.Level, level)
	f.Function = append(f.Function, function)
	f.Base = append(f.Base, base)
	f.Head = append(f.Head, head)
	f.Flags = append(f.Flags, flags)
}

// ends are the indices after the last frame below each.
func (f *Frames) ends() []int32 {
	n := int32(len(f.Level))
	end := make([]int32, n)
	var open []int32
	for i := range n {
		for len(open) > 0 && f.Level[open[len(open)-1]] >= f.Level[i] {
			end[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
		open = append(open, i)
	}
	for _, i := range open {
		end[i] = n
	}
	return end
}

// totals are the costs of each frame and what it calls.
func (f *Frames) totals(end []int32) (base, head []float64) {
	n := len(f.Level)
	base, head = slices.Clone(f.Base), slices.Clone(f.Head)
	for i := n - 1; i >= 0; i-- {
		for c := int32(i) + 1; c < end[i]; c = end[c] {
			base[i] += base[c]
			head[i] += head[c]
		}
	}
	return base, head
}

func part(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
