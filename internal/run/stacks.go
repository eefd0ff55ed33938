package run

import "profdiff/internal/limit"

// A StackID names a stack within one [Stacks]. 0 is the empty stack.
type StackID uint32

// Stacks is a prefix tree of call stacks. Every node is a stack: its parent is
// the stack of its caller. Parents precede their children.
type Stacks struct {
	// Blocks of nodes, so that a large tree that grows is not copied. The first is no larger
	// than it must be: there may be thousands of small trees. Node 0 is the empty stack.
	blocks [][]stackNode
	n      int
}

const (
	blockBits  = 14
	blockNodes = 1 << blockBits
)

type stackNode struct {
	parent   StackID
	location uint32
	row      uint32 // first row of the stack + 1; see rowTable
}

func newStacks() Stacks {
	var s Stacks
	s.add(0, 0)
	return s
}

func (s *Stacks) node(id StackID) *stackNode {
	return &s.blocks[id>>blockBits][id&(blockNodes-1)]
}

func (s *Stacks) add(parent StackID, location uint32) StackID {
	s.blocks = withRoom(s.blocks, s.n, blockNodes, limit.Stacks)
	id := StackID(s.n)
	s.n++
	last := &s.blocks[len(s.blocks)-1]
	*last = append(*last, stackNode{parent: parent, location: location})
	return id
}

// withRoom returns blocks, of which the last has room for the element numbered n. The first
// block grows up to size, all others have it from the start.
func withRoom[T any](blocks [][]T, n, size int, kind limit.Kind) [][]T {
	switch {
	case n == 0:
		return append(blocks, nil)
	case n%size == 0:
		kind.Add(size)
		return append(blocks, make([]T, 0, size))
	}
	return blocks
}

// Len is the number of stacks, the empty one included.
func (s *Stacks) Len() int { return s.n }

// Parent is the stack of the caller. The parent of the empty stack is itself.
func (s *Stacks) Parent(id StackID) StackID { return s.node(id).parent }

// Location is the index in Run.Locations of the innermost frame of a stack that
// is not empty.
func (s *Stacks) Location(id StackID) uint32 { return s.node(id).location }

// Append appends the locations of the stack to buf, leaf first.
func (s *Stacks) Append(buf []uint32, id StackID) []uint32 {
	for id != 0 {
		n := s.node(id)
		buf = append(buf, n.location)
		id = n.parent
	}
	return buf
}

// firstChild returns the first callee that was added to a stack, if it was added
// next: most stacks have one callee, and whole stacks are added at a time. Such
// callees are not in the stackTable.
func (s *Stacks) firstChild(id StackID) (child StackID, location uint32, ok bool) {
	child = id + 1
	if int(child) >= s.n {
		return 0, 0, false
	}
	n := s.node(child)
	return child, n.location, n.parent == id
}

// stackTable interns nodes of a [Stacks] by parent and location: open
// addressing with linear probing, because a lookup per frame of every sample is
// the hot path of reading a recording.
type stackTable struct {
	slots []stackSlot
	used  int
	// recent has the latest of many stacks, by the same hash: it is so small that the processor
	// finds it in its second cache, while slots and nodes are far too large for that.
	recent []stackSlot
}

const recentSlots = 1 << 15

type stackSlot struct {
	parent   StackID
	location uint32
	id       StackID // 0 is free: the empty stack is never looked up
}

const minTableSlots = 1 << 10

func hash2(a, b uint32) uint64 {
	h := (uint64(a)<<32 | uint64(b)) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

// child returns the stack of location called from parent.
func (t *stackTable) child(s *Stacks, parent StackID, location uint32) StackID {
	if int(parent) == s.n-1 {
		return s.add(parent, location) // just added: it has no callees yet
	}
	hash := hash2(uint32(parent), location)
	if t.recent == nil {
		return t.find(s, parent, location, hash)
	}
	r := &t.recent[hash>>17&(recentSlots-1)]
	if r.parent != parent || r.location != location || r.id == 0 {
		*r = stackSlot{parent, location, t.find(s, parent, location, hash)}
	}
	return r.id
}

// find is child without what is recent.
func (t *stackTable) find(s *Stacks, parent StackID, location uint32, hash uint64) StackID {
	if len(t.slots) == 0 {
		t.slots = make([]stackSlot, minTableSlots)
	}
	mask := uint64(len(t.slots) - 1)
	i := hash & mask
	slot := t.slots[i] // which is on its way while the first callee is waited for
	if id, l, ok := s.firstChild(parent); ok && l == location {
		return id
	}
	for slot.id != 0 {
		if slot.parent == parent && slot.location == location {
			return slot.id
		}
		i = (i + 1) & mask
		slot = t.slots[i]
	}
	id := s.add(parent, location)
	t.slots[i] = stackSlot{parent, location, id}
	t.used++
	if t.used*4 > len(t.slots)*3 {
		t.grow(s)
	}
	return id
}

func (t *stackTable) grow(s *Stacks) {
	slots := make([]stackSlot, 2*len(t.slots))
	mask := uint64(len(slots) - 1)
	for _, slot := range t.slots {
		if slot.id == 0 {
			continue
		}
		i := hash2(uint32(slot.parent), slot.location) & mask
		for slots[i].id != 0 {
			i = (i + 1) & mask
		}
		slots[i] = slot
	}
	t.slots = slots
	if t.recent == nil && len(slots) > recentSlots {
		t.recent = make([]stackSlot, recentSlots)
	}
}

// rowTable holds the rows of Run.Samples while they are added: in blocks, so that
// they are not copied when there are more. The node of a stack has its first row, and
// nearly all stacks have no other; the others are found by hash.
type rowTable struct {
	blocks [][]Sample
	n      uint32
	slots  []uint32 // row + 1, 0 is free
	used   int
}

const blockRows = 1 << 12

func (t *rowTable) row(i uint32) *Sample { return &t.blocks[i/blockRows][i%blockRows] }

func (s *Sample) hash() uint64 { return hash2(s.Labels<<8^s.Event, uint32(s.Stack)) }

// sample returns the row for an event, stack and labels, adding it if there is none.
func (t *rowTable) sample(s *Stacks, event uint32, stack StackID, labels uint32) *Sample {
	n := s.node(stack)
	if n.row == 0 {
		r := t.add(event, stack, labels)
		n.row = t.n
		return r
	}
	if r := t.row(n.row - 1); r.Labels == labels && r.Event == event {
		return r
	}
	if len(t.slots) == 0 {
		t.slots = make([]uint32, minTableSlots)
	}
	key := Sample{Event: event, Stack: stack, Labels: labels}
	mask := uint64(len(t.slots) - 1)
	i := key.hash() & mask
	for ; t.slots[i] != 0; i = (i + 1) & mask {
		if r := t.row(t.slots[i] - 1); r.Stack == stack && r.Labels == labels && r.Event == event {
			return r
		}
	}
	r := t.add(event, stack, labels)
	t.slots[i] = t.n
	t.used++
	if t.used*2 > len(t.slots) {
		t.grow()
	}
	return r
}

func (t *rowTable) add(event uint32, stack StackID, labels uint32) *Sample {
	t.blocks = withRoom(t.blocks, int(t.n), blockRows, limit.Samples)
	last := &t.blocks[len(t.blocks)-1]
	*last = append(*last, Sample{Event: event, Stack: stack, Labels: labels})
	t.n++
	return t.row(t.n - 1)
}

func (t *rowTable) grow() {
	slots := make([]uint32, 2*len(t.slots))
	mask := uint64(len(slots) - 1)
	for _, n := range t.slots {
		if n == 0 {
			continue
		}
		i := t.row(n-1).hash() & mask
		for slots[i] != 0 {
			i = (i + 1) & mask
		}
		slots[i] = n
	}
	t.slots = slots
}

// take returns all rows and empties the table.
func (t *rowTable) take() []Sample {
	t.slots = nil
	rows := make([]Sample, t.n)
	for i := range t.blocks {
		copy(rows[i*blockRows:], t.blocks[i])
		t.blocks[i] = nil
	}
	*t = rowTable{}
	return rows
}
