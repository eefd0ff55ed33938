package pprof

import (
	"encoding/binary"
	"strings"

	"profdiff/internal/input"
)

// A messageSpool keeps the messages of one kind until what they refer to is known,
// in as much memory as they have in the input.
type messageSpool struct {
	// Each message follows its distance from the one before in the input, and its
	// length. Blocks grow up to maxSpoolBlock.
	blocks [][]byte
	n      int   // messages
	size   int64 // bytes of all messages
	end    int64 // offset in the input behind the last one
}

const maxSpoolBlock = 256 << 10

// add moves a message from the input to the spool.
func (p *messageSpool) add(s *input.FieldStream) {
	size := s.Length()
	last := len(p.blocks) - 1
	if last < 0 || cap(p.blocks[last])-len(p.blocks[last]) < 2*binary.MaxVarintLen64+size {
		last++
		p.blocks = append(p.blocks, make([]byte, 0, maxSpoolBlock>>max(0, 6-last)))
	}
	b := binary.AppendUvarint(p.blocks[last], uint64(s.Offset()-p.end))
	b = binary.AppendUvarint(b, uint64(size))
	p.blocks[last] = s.Read(b, size)
	p.n++
	p.size += int64(size)
	p.end = s.Offset()
}

// each gives all messages to read, in the order of the input, and forgets them.
func (p *messageSpool) each(read func(c *input.Fields)) error {
	var c input.Fields
	var end int64
	for i, b := range p.blocks {
		p.blocks[i] = nil
		for len(b) > 0 {
			distance, n := binary.Uvarint(b)
			b = b[n:]
			size, n := binary.Uvarint(b)
			b = b[n:]
			c = input.NewFields(b[:size], end+int64(distance))
			if read(&c); c.Err != nil {
				return c.Err
			}
			b = b[size:]
			end = c.Base + int64(size)
		}
	}
	*p = messageSpool{}
	return nil
}

// A stringTable holds the strings of a profile in one piece.
type stringTable struct {
	all  string
	ends []uint32
}

// newStringTable takes the strings out of a spool.
func newStringTable(spool *messageSpool) stringTable {
	var all strings.Builder
	all.Grow(int(spool.size))
	ends := make([]uint32, 0, spool.n)
	// There is no error: strings are not decoded.
	_ = spool.each(func(c *input.Fields) {
		all.Write(c.Data())
		ends = append(ends, uint32(all.Len()))
	})
	return stringTable{all.String(), ends}
}

// at returns string i as it is.
func (t *stringTable) at(i uint64) (s string, ok bool) {
	if i >= uint64(len(t.ends)) {
		return "", false
	}
	start := uint32(0)
	if i > 0 {
		start = t.ends[i-1]
	}
	return t.all[start:t.ends[i]], true
}

// An idTable tells what the ids of a profile stand for. Writers number things from 1,
// but may use any other ids, such as addresses.
type idTable struct {
	dense  []uint32 // 1 + index by id, 0 is free
	sparse map[uint64]uint32
}

// newIDTable makes a table for n things.
func newIDTable(n int) idTable { return idTable{dense: make([]uint32, n+1)} }

// add says that id stands for index. It returns false if it does for another.
func (t *idTable) add(id uint64, index uint32) bool {
	if id < uint64(len(t.dense)) {
		if t.dense[id] != 0 {
			return false
		}
		t.dense[id] = index + 1
		return true
	}
	if t.sparse == nil {
		t.sparse = make(map[uint64]uint32)
	}
	if _, ok := t.sparse[id]; ok {
		return false
	}
	t.sparse[id] = index
	return true
}

func (t *idTable) get(id uint64) (index uint32, ok bool) {
	if id < uint64(len(t.dense)) {
		index = t.dense[id]
		return index - 1, index != 0
	}
	index, ok = t.sparse[id]
	return index, ok
}
