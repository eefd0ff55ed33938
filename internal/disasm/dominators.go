package disasm

// findDominators sets Reachable and Dominator of all blocks. Blocks that cannot be
// reached have dominators among themselves, counted from where isRoot says that
// they start, so that what is not known to be reached changes nothing for the rest.
func (f *Function) findDominators(isRoot func(addr uint64) bool) {
	if len(f.Blocks) == 0 {
		return
	}
	t := newDomTree(f.Blocks)
	if f.entry >= 0 {
		t.visit(f.entry)
		for _, b := range t.order {
			f.Blocks[b].Reachable = true
		}
		t.solve()
	}
	for b := range f.Blocks {
		if isRoot(f.Insts[f.Blocks[b].First].Addr) {
			t.visit(b)
		}
	}
	// Only what garbage leads to is left, such as a block whose predecessor was cut.
	for b := range f.Blocks {
		t.visit(b)
	}
	t.solve()
}

// domTree finds dominators with the simple algorithm of Lengauer and Tarjan ("A
// Fast Algorithm for Finding Dominators in a Flowgraph", TOPLAS 1979). Vertices are
// numbered from 1 in order of discovery; 0 is a vertex before all roots.
type domTree struct {
	blocks []Block
	number []int32 // of a block, 0 if it was not visited
	order  []int32 // block of number-1
	solved int     // numbers up to it have their dominators

	parent, semi, idom, ancestor, label []int32
	bucket, next                        []int32 // lists of vertices by semidominator
	stack                               []visit
	path                                []int32
}

const unlinked = -1 // ancestor of the root of a tree in the forest

type visit struct {
	block int
	succ  int // next to look at
}

func newDomTree(blocks []Block) *domTree {
	n := len(blocks) + 1
	all := make([]int32, 8*n)
	cut := func() []int32 {
		s := all[:n:n]
		all = all[n:]
		return s
	}
	return &domTree{
		blocks: blocks, number: cut(), order: make([]int32, 0, n),
		parent: cut(), semi: cut(), idom: cut(), ancestor: cut(), label: cut(), bucket: cut(), next: cut(),
	}
}

// visit numbers the blocks that can be reached from root and are not numbered yet.
func (t *domTree) visit(root int) {
	if t.number[root] != 0 {
		return
	}
	t.add(root, 0)
	for len(t.stack) > 0 {
		top := &t.stack[len(t.stack)-1]
		succs := t.blocks[top.block].Succs
		if top.succ == len(succs) {
			t.stack = t.stack[:len(t.stack)-1]
			continue
		}
		s := succs[top.succ]
		top.succ++
		if t.number[s] == 0 {
			t.add(s, t.number[top.block])
		}
	}
}

func (t *domTree) add(block int, parent int32) {
	t.order = append(t.order, int32(block))
	v := int32(len(t.order))
	t.number[block] = v
	t.parent[v], t.semi[v], t.label[v], t.ancestor[v] = parent, v, v, unlinked
	t.stack = append(t.stack, visit{block, 0})
}

// solve sets the dominators of what was visited since the last call.
func (t *domTree) solve() {
	first := int32(t.solved) + 1
	last := int32(len(t.order))
	t.ancestor[0] = unlinked
	for w := last; w >= first; w-- {
		if t.parent[w] == 0 {
			t.semi[w] = 0
		}
		for _, p := range t.blocks[t.order[w-1]].Preds {
			// Of solved blocks none leads here, of the others not all are visited.
			if v := t.number[p]; v >= first {
				t.semi[w] = min(t.semi[w], t.semi[t.eval(v)])
			}
		}
		s := t.semi[w]
		t.next[w], t.bucket[s] = t.bucket[s], w
		p := t.parent[w]
		t.ancestor[w] = p
		t.empty(p)
	}
	for w := first; w <= last; w++ {
		if t.idom[w] != t.semi[w] {
			t.idom[w] = t.idom[t.idom[w]]
		}
		if d := t.idom[w]; d > 0 {
			t.blocks[t.order[w-1]].Dominator = int(t.order[d-1])
		}
	}
	t.solved = int(last)
}

// empty finds the dominators, or a vertex with the same, of those whose
// semidominator is p.
func (t *domTree) empty(p int32) {
	for v := t.bucket[p]; v != 0; v = t.next[v] {
		u := t.eval(v)
		t.idom[v] = p
		if t.semi[u] < t.semi[v] {
			t.idom[v] = u
		}
	}
	t.bucket[p] = 0
}

// eval returns the vertex with the least semidominator on the way from v up to, and
// without, the root of its tree in the forest.
func (t *domTree) eval(v int32) int32 {
	if t.ancestor[v] == unlinked {
		return t.label[v]
	}
	t.path = t.path[:0]
	for u := v; t.ancestor[t.ancestor[u]] != unlinked; u = t.ancestor[u] {
		t.path = append(t.path, u)
	}
	for i := len(t.path) - 1; i >= 0; i-- {
		u := t.path[i]
		a := t.ancestor[u]
		if t.semi[t.label[a]] < t.semi[t.label[u]] {
			t.label[u] = t.label[a]
		}
		t.ancestor[u] = t.ancestor[a]
	}
	return t.label[v]
}
