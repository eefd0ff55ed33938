package run

// A StackID names a stack within one [Stacks]. 0 is the empty stack.
type StackID uint32

// Stacks is a prefix tree of call stacks. Every node is a stack: its parent is
// the stack of its caller.
type Stacks struct {
	nodes []stackNode // nodes[0] is the empty stack
}

type stackNode struct {
	parent   StackID
	location uint32
}

// Len is the number of stacks, the empty one included.
func (s *Stacks) Len() int { return len(s.nodes) }

// Parent is the stack of the caller. The parent of the empty stack is itself.
func (s *Stacks) Parent(id StackID) StackID { return s.nodes[id].parent }

// Location is the index in Run.Locations of the innermost frame of a stack that
// is not empty.
func (s *Stacks) Location(id StackID) uint32 { return s.nodes[id].location }

// Append appends the locations of the stack to buf, leaf first.
func (s *Stacks) Append(buf []uint32, id StackID) []uint32 {
	for ; id != 0; id = s.nodes[id].parent {
		buf = append(buf, s.nodes[id].location)
	}
	return buf
}

// stackTable interns nodes of a [Stacks] by parent and location: open
// addressing with linear probing, because one lookup per frame of every sample
// is the hot path of reading a recording.
type stackTable struct {
	slots []StackID // 0 is free: the empty stack is never looked up
	used  int
}

const minTableSlots = 1 << 10

func hash2(a, b uint32) uint64 {
	h := (uint64(a)<<32 | uint64(b)) * 0x9e3779b97f4a7c15
	return h ^ h>>32
}

// child returns the stack of location called from parent.
func (t *stackTable) child(s *Stacks, parent StackID, location uint32) StackID {
	if len(t.slots) == 0 {
		t.slots = make([]StackID, minTableSlots)
	}
	mask := uint64(len(t.slots) - 1)
	i := hash2(uint32(parent), location) & mask
	for {
		id := t.slots[i]
		if id == 0 {
			break
		}
		if n := s.nodes[id]; n.parent == parent && n.location == location {
			return id
		}
		i = (i + 1) & mask
	}
	id := StackID(len(s.nodes))
	s.nodes = append(s.nodes, stackNode{parent, location})
	t.slots[i] = id
	t.used++
	if t.used*4 > len(t.slots)*3 {
		t.grow(s)
	}
	return id
}

func (t *stackTable) grow(s *Stacks) {
	slots := make([]StackID, 2*len(t.slots))
	mask := uint64(len(slots) - 1)
	for _, id := range t.slots {
		if id == 0 {
			continue
		}
		n := s.nodes[id]
		i := hash2(uint32(n.parent), n.location) & mask
		for slots[i] != 0 {
			i = (i + 1) & mask
		}
		slots[i] = id
	}
	t.slots = slots
}

// sampleTable interns rows of Run.Samples by event, stack and labels.
type sampleTable struct {
	slots []uint32 // row + 1, 0 is free
}

func hashSample(event uint32, stack StackID, labels uint32) uint64 {
	return hash2(uint32(stack), labels*31+event)
}

func (t *sampleTable) row(rows *[]Sample, event uint32, stack StackID, labels uint32) *Sample {
	if len(t.slots) == 0 {
		t.slots = make([]uint32, minTableSlots)
	}
	mask := uint64(len(t.slots) - 1)
	i := hashSample(event, stack, labels) & mask
	for t.slots[i] != 0 {
		if s := &(*rows)[t.slots[i]-1]; s.Stack == stack && s.Labels == labels && s.Event == event {
			return s
		}
		i = (i + 1) & mask
	}
	*rows = append(*rows, Sample{Event: event, Stack: stack, Labels: labels})
	t.slots[i] = uint32(len(*rows))
	if len(*rows)*4 > len(t.slots)*3 {
		t.grow(*rows)
	}
	return &(*rows)[len(*rows)-1]
}

func (t *sampleTable) grow(rows []Sample) {
	slots := make([]uint32, 2*len(t.slots))
	mask := uint64(len(slots) - 1)
	for n := range rows {
		r := &rows[n]
		i := hashSample(r.Event, r.Stack, r.Labels) & mask
		for slots[i] != 0 {
			i = (i + 1) & mask
		}
		slots[i] = uint32(n + 1)
	}
	t.slots = slots
}
