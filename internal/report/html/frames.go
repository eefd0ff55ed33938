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
	decide(c, event, tree, func(n compare.TreeNode, flag FrameFlags) { f.Flags[at[n]] |= flag })
	return f
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

// decide finds the frames that changed.
func decide(c *compare.Comparison, event int, tree *compare.Tree, found func(compare.TreeNode, FrameFlags)) {
	e, opt := &c.Events[event], &c.Options
	if e.Withheld != "" || single(e.Total.Method) || e.Total.Withheld {
		return
	}
	var heavy []compare.TreeNode
	floor := opt.MinShare * (tree.Base[compare.TreeRoot] + tree.Head[compare.TreeRoot])
	for id := range compare.TreeNode(tree.Len()) {
		if tree.Base[id]+tree.Head[id] >= floor {
			heavy = append(heavy, id)
		}
	}
	costs := tree.Costs(heavy)
	changes, p := make([]compare.Change, len(heavy)), make([]float64, len(heavy))
	for i := range heavy {
		changes[i] = costs.Test(i)
		p[i] = changes[i].P
	}
	for i, q := range stats.BenjaminiHochberg(p) {
		ch := &changes[i]
		switch {
		case q > opt.FalseDiscovery || ch.P > significance || ch.Within(opt.Margin):
		case ch.Grew() && ch.Delta() > 0:
			found(heavy[i], Grew)
		case !ch.Grew() && ch.Delta() < 0:
			found(heavy[i], Shrank)
		}
	}
}

// A pruner leaves light frames out of a tree.
type pruner struct {
	all        *Frames
	end        []int32   // by frame: the one after the last below it
	base, head []float64 // by frame: the costs of it and what it calls
	weight     []float64 // by frame: the larger share of a side
}

// weigh computes what limits go by.
func (p *pruner) weigh() {
	p.end = p.all.ends()
	p.base, p.head = p.all.totals(p.end)
	p.weight = make([]float64, len(p.end))
	for i := range p.weight {
		p.weight[i] = max(part(p.base[i], p.base[0]), part(p.head[i], p.head[0]))
	}
}

// pruned keeps about limit frames: the heaviest, and those whose change was decided with
// their callers. What is left out below a frame is one row, with the sum of its costs.
func (p *pruner) pruned(limit int) Frames {
	f, n := p.all, len(p.all.Level)
	if n <= limit {
		return *f
	}
	if p.end == nil {
		p.weigh()
	}
	least := nthSmallest(p.weight, n-max(limit, 1)-1) // the heaviest that is left out
	keep := make([]bool, n)
	keep[0] = true
	var path []int // of the frame
	for i := range n {
		path = append(path[:f.Level[i]], i)
		if p.weight[i] > least || f.Flags[i]&(Grew|Shrank) != 0 {
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
			parent.n += p.end[i] - int32(i)
			parent.base += p.base[i]
			parent.head += p.head[i]
			i = int(p.end[i])
			continue
		}
		stack = append(stack, open{})
		out.append(f.Level[i], f.Function[i], f.Base[i], f.Head[i], f.Flags[i])
		i++
	}
	close(0)
	return out
}

// nthSmallest is the element that sorting would put at index k. It looks at the values by
// 16 bits at a time, from the highest.
func nthSmallest(values []float64, k int) float64 {
	// The order of these is that of the numbers.
	ordered := func(v float64) uint64 {
		if b := math.Float64bits(v); b>>63 == 0 {
			return b | 1<<63
		} else {
			return ^b
		}
	}
	const digit = 1<<16 - 1
	var known, mask uint64 // the bits of the result that are known
	for shift := 48; shift >= 0; shift -= 16 {
		var count [digit + 1]int
		for _, v := range values {
			if b := ordered(v); b&mask == known {
				count[b>>shift&digit]++
			}
		}
		d := 0
		for ; k >= count[d]; d++ {
			k -= count[d]
		}
		known |= uint64(d) << shift
		mask |= digit << shift
	}
	if known>>63 == 0 {
		return math.Float64frombits(^known)
	}
	return math.Float64frombits(known &^ (1 << 63))
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
