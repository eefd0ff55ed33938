package run

import (
	"fmt"
	"slices"

	"profdiff/internal/limit"
)

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

// mostWrittenFrames is how many frames the samples of a file may have together that names all of each. A thousand
// times fewer are usual.
const mostWrittenFrames = 1 << 28

// CheckFrames is [CheckFrames] of the samples.
func (r *Run) CheckFrames() error {
	depths := make([]uint32, r.Stacks.Len())
	for id := 1; id < len(depths); id++ { // callers precede
		depths[id] = depths[r.Stacks.Parent(StackID(id))] + 1
	}
	var n int64
	for i := range r.Samples {
		n += int64(depths[r.Samples[i].Stack])
	}
	return CheckFrames(n, int64(len(r.Samples)))
}

// CheckFrames returns an error if stacks are so deep that nothing can be done with a file that lists the
// frames of each, as pprof's do: a small recording may have many stacks of which each calls the one before.
// frames is how many they have together.
func CheckFrames(frames, stacks int64) error {
	if frames <= mostWrittenFrames {
		return nil
	}
	return fmt.Errorf("each sample lists the frames of its stack, which would be %d frames for %d stacks, and at most %d are written: choose samples, as by --focus and --thread",
		frames, stacks, mostWrittenFrames)
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
	recent []call
}

// A stackSlot has a stack, at or behind the place that its hash says. It is as small as it can be, for there is
// one for nearly each stack: what its node has tells whether it is the one.
type stackSlot struct {
	hash uint32
	id   StackID // 0 is free: the empty stack is never looked up
}

// A call is a stack with what it is made of.
type call struct {
	parent   StackID
	location uint32
	id       StackID
}

const (
	minTableSlots = 1 << 10
	recentCalls   = 1 << 15
)

func hash2(a, b uint32) uint64 {
	h := (uint64(a)<<32 | uint64(b)) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

// child returns the stack of location called from parent.
func (t *stackTable) child(s *Stacks, parent StackID, location uint32) StackID {
	if int(parent) == s.n-1 {
		return s.add(parent, location) // just added: it has no callees yet
	}
	hash := uint32(hash2(uint32(parent), location))
	if t.recent == nil {
		return t.find(s, parent, location, hash)
	}
	r := &t.recent[hash>>(32-15)]
	if r.parent != parent || r.location != location || r.id == 0 {
		*r = call{parent, location, t.find(s, parent, location, hash)}
	}
	return r.id
}

// find is child without what is recent.
func (t *stackTable) find(s *Stacks, parent StackID, location, hash uint32) StackID {
	if len(t.slots) == 0 {
		t.slots = make([]stackSlot, minTableSlots)
	}
	mask := uint32(len(t.slots) - 1)
	i := hash & mask
	slot := t.slots[i] // which is on its way while the first callee is waited for
	if id, l, ok := s.firstChild(parent); ok && l == location {
		return id
	}
	for slot.id != 0 {
		if slot.hash == hash {
			if n := s.node(slot.id); n.parent == parent && n.location == location {
				return slot.id
			}
		}
		i = (i + 1) & mask
		slot = t.slots[i]
	}
	id := s.add(parent, location)
	t.slots[i] = stackSlot{hash, id}
	t.used++
	if t.used*4 > len(t.slots)*3 {
		t.grow()
	}
	return id
}

func (t *stackTable) grow() {
	slots := make([]stackSlot, 2*len(t.slots))
	mask := uint32(len(slots) - 1)
	for _, slot := range t.slots {
		if slot.id == 0 {
			continue
		}
		i := slot.hash & mask
		for slots[i].id != 0 {
			i = (i + 1) & mask
		}
		slots[i] = slot
	}
	t.slots = slots
	if t.recent == nil && len(slots) > recentCalls {
		t.recent = make([]call, recentCalls)
	}
}

// rowTable holds the rows of Run.Samples while they are added. The node of a stack has its first row, and
// nearly all stacks have no other; the others are found by hash.
type rowTable struct {
	rows  []Sample
	slots []uint32 // row + 1, 0 is free
	used  int
}

const minRows = 64

func (t *rowTable) row(i uint32) *Sample { return &t.rows[i] }

func (s *Sample) hash() uint64 { return hash2(s.Labels<<8^s.Event, uint32(s.Stack)) }

// sample returns the row for an event, stack and labels, adding it if there is none.
func (t *rowTable) sample(s *Stacks, event uint32, stack StackID, labels uint32) *Sample {
	n := s.node(stack)
	if n.row == 0 {
		r := t.add(event, stack, labels)
		n.row = uint32(len(t.rows))
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
	t.slots[i] = uint32(len(t.rows))
	t.used++
	if t.used*2 > len(t.slots) {
		t.grow()
	}
	return r
}

// add adds a row. They double: what is not written yet takes no memory, and there is no moment at the end at
// which all of them are there twice.
func (t *rowTable) add(event uint32, stack StackID, labels uint32) *Sample {
	if n := len(t.rows); n == cap(t.rows) {
		more := max(minRows, n)
		limit.Samples.Add(more)
		grown := make([]Sample, n, n+more)
		copy(grown, t.rows)
		t.rows = grown
	}
	t.rows = append(t.rows, Sample{Event: event, Stack: stack, Labels: labels})
	return &t.rows[len(t.rows)-1]
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
	rows := slices.Clip(t.rows)
	*t = rowTable{}
	return rows
}
