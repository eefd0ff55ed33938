package run

import (
	"profdiff/internal/limit"
	"profdiff/internal/slots"
)

// A labelTable interns labels. They are large, and a recording may have as many as it has threads: they stand in
// blocks, as a list would have all of them twice when it grows. The first block is no larger than it must be.
type labelTable struct {
	blocks [][]Labels
	n      int
	table  slots.Table
}

const labelBlock = 1 << 12

func (t *labelTable) at(i uint32) *Labels { return &t.blocks[i/labelBlock][i%labelBlock] }

// index returns the index of l, which is added if it is new.
func (t *labelTable) index(l Labels) uint32 {
	hash := slots.Hash(l)
	at, ok := t.table.Find(hash, func(i uint32) bool { return *t.at(i) == l })
	if ok {
		return t.table.Index(at)
	}
	t.blocks = withRoom(t.blocks, t.n, labelBlock, limit.Labels)
	last := &t.blocks[len(t.blocks)-1]
	*last = append(*last, l)
	t.table.Put(at, hash, t.n)
	t.n++
	return uint32(t.n - 1)
}

// take returns all labels as a list, and empties the table.
func (t *labelTable) take() []Labels {
	if len(t.blocks) == 1 {
		list := t.blocks[0]
		*t = labelTable{}
		return list
	}
	list := make([]Labels, 0, t.n)
	for i, block := range t.blocks {
		list = append(list, block...)
		t.blocks[i] = nil
	}
	*t = labelTable{}
	return list
}
