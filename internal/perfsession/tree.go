package perfsession

import (
	"iter"
	"math/rand/v2"
)

// A node is a mapping in a search tree of mappings that do not overlap. Nodes are never changed:
// a tree that differs in one mapping has a path of new nodes, and shares all others. So a process
// costs as much as the mappings in which it differs from its parent, however many it inherits.
//
// The trees are treaps (Seidel and Aragon, Randomized Search Trees, 1996): by start from left to
// right, and by rank from top to bottom. Ranks follow from starts, so that equal sets of mappings
// have trees of equal shape, and what is equal in two trees is mostly shared (Blelloch and
// Reid-Miller, Fast Set Operations Using Treaps, 1998).
type node struct {
	start       uint64 // of m: searching it needs less memory
	m           *Mapping
	left, right *node
}

// rankSeed makes ranks of no input known beforehand: nobody can choose addresses that give a
// tree of great depth.
var rankSeed = rand.Uint64() | 1

// rank decides which of two nodes is further up.
func (n *node) rank() uint64 {
	h := (n.start ^ rankSeed) * 0x9e3779b97f4a7c15
	h ^= h >> 32
	h *= rankSeed
	return h ^ h>>29
}

// all yields the mappings by address.
func (n *node) all() iter.Seq[*Mapping] {
	return func(yield func(*Mapping) bool) { n.each(yield) }
}

func (n *node) each(yield func(*Mapping) bool) bool {
	return n == nil || n.left.each(yield) && yield(n.m) && n.right.each(yield)
}

// flatten returns a table of all mappings, nil if they are more than most.
func (n *node) flatten(most int) *flat {
	f := &flat{starts: make([]uint64, 0, most), maps: make([]*Mapping, 0, most)}
	for m := range n.all() {
		if len(f.maps) == most {
			return nil
		}
		f.starts, f.maps = append(f.starts, m.Start), append(f.maps, m)
	}
	return f
}

// cover returns the mappings of top, and what they leave of those of n.
func cover(n, top *node, piece func(Mapping) *Mapping) *node {
	switch {
	case n == top || n == nil:
		return top
	case top == nil:
		return n
	}
	left := cover(before(n, top.m.Start, piece), top.left, piece)
	right := cover(behind(n, top.m.End, piece), top.right, piece)
	if left == top.left && right == top.right {
		return top
	}
	return join(join(left, &node{start: top.start, m: top.m}), right)
}

// put adds a mapping that covers no other.
func put(n, x *node) *node {
	switch {
	case n == nil:
		return x
	case x.rank() > n.rank():
		return &node{x.start, x.m, before(n, x.start, nil), behind(n, x.start, nil)}
	case x.start < n.start:
		return &node{n.start, n.m, put(n.left, x), n.right}
	}
	return &node{n.start, n.m, n.left, put(n.right, x)}
}

// covers reports whether a mapping covers one of a tree.
func (m *Mapping) covers(n *node) bool {
	for n != nil {
		switch {
		case n.m.End <= m.Start:
			n = n.right
		case n.start >= m.End:
			n = n.left
		default:
			return true
		}
	}
	return false
}

// before returns what is below an address.
func before(n *node, addr uint64, piece func(Mapping) *Mapping) *node {
	switch {
	case n == nil:
		return nil
	case n.start >= addr:
		return before(n.left, addr, piece)
	case n.m.End > addr:
		p := *n.m
		p.End = addr
		return &node{n.start, piece(p), n.left, nil}
	}
	right := before(n.right, addr, piece)
	if right == n.right {
		return n
	}
	return &node{n.start, n.m, n.left, right}
}

// behind returns what is at an address and behind it.
func behind(n *node, addr uint64, piece func(Mapping) *Mapping) *node {
	switch {
	case n == nil:
		return nil
	case n.m.End <= addr:
		return behind(n.right, addr, piece)
	case n.start < addr:
		p := *n.m
		p.PgOff += addr - p.Start
		p.Start = addr
		return join(&node{start: addr, m: piece(p)}, n.right)
	}
	left := behind(n.left, addr, piece)
	if left == n.left {
		return n
	}
	return &node{n.start, n.m, left, n.right}
}

// join returns the mappings of two trees, of which all of one are before those of the other.
func join(a, b *node) *node {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.rank() > b.rank():
		return &node{a.start, a.m, a.left, join(a.right, b)}
	}
	return &node{b.start, b.m, join(a, b.left), b.right}
}
