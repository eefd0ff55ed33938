package perfetto

import (
	"cmp"

	"profdiff/internal/input"
)

// A Sequence is the packets of one writer, and what they may refer to at some moment.
type Sequence struct {
	ID uint32
	// Machine is that of the writer, 0 for the one that recorded.
	Machine uint32
	// Generation is another number, in the whole trace, whenever what was interned is dropped:
	// with it and an iid, readers may keep what they made of an interned message.
	Generation uint32

	valid    bool // the incremental state is known
	skipped  bool // packets were skipped for want of it
	used     bool // packets that need it were not
	defaults []byte
	clockID  uint32 // of packets that name none, 0 if defaults do not tell
	clock    *clock // that of the last packet, of number clockOf
	clockOf  uint32
	tables   map[Table]*table
	entries  *int // how many are kept in the whole trace
}

// An Entry is an interned message.
type Entry struct {
	data []byte
	// Value is free for those who decode messages of the table: what they made of this one, 0
	// until then.
	Value int
}

// Fields are those of the message.
func (e *Entry) Fields() input.Fields { return input.NewFields(e.data, 0) }

// String is the text of messages that are an iid and a string, which are most: names and
// paths. The bytes may be no UTF-8. They stay as they are.
func (e *Entry) String() []byte {
	if e == nil {
		return nil
	}
	for f := e.Fields(); f.Next(); {
		if f.Num == internedString {
			return f.Bytes()
		}
		f.Skip()
	}
	return nil
}

// A table has the interned messages of one kind. Writers number them from 1, so that most
// stand in a list; the others are in a map.
type table struct {
	list []*Entry
	rest map[uint64]*Entry
}

// Interned is the message with an iid, or nil: there is none with iid 0, or it was lost. The
// first definition since the state was cleared counts.
func (s *Sequence) Interned(of Table, iid uint64) *Entry {
	t := s.tables[of]
	switch {
	case t == nil:
		return nil
	case iid < uint64(len(t.list)):
		return t.list[iid]
	}
	return t.rest[iid]
}

// Defaults are the fields of TracePacketDefaults, none if there are no defaults.
func (s *Sequence) Defaults() input.Fields { return input.NewFields(s.defaults, 0) }

// clear drops what was interned and the defaults: from here on the state is known.
func (s *Sequence) clear(generation uint32) {
	s.forget()
	s.valid, s.Generation = true, generation
}

func (s *Sequence) forget() {
	for _, t := range s.tables {
		*s.entries -= len(t.list) + len(t.rest)
	}
	s.tables, s.defaults, s.clockID = nil, nil, 0
}

// setDefaults replaces all defaults.
func (s *Sequence) setDefaults(message input.Fields) error {
	s.defaults = append([]byte(nil), message.Data()...)
	s.clockID = 0
	for message.Next() {
		if message.Num == defaultsClockID {
			s.clockID = uint32(message.Uint())
		} else {
			message.Skip()
		}
	}
	return message.Err
}

// maxEntries bounds the interned messages that are known at one time: large system traces
// have some hundred thousand.
const maxEntries = 8 << 20

// intern adds the messages of InternedData.
func (s *Sequence) intern(message input.Fields) error {
	if s.tables == nil {
		s.tables = make(map[Table]*table)
	}
	// One copy for all of them: what was read is read over.
	copied := append([]byte(nil), message.Data()...)
	var first error
	for f := input.NewFields(copied, message.Base); ; {
		if !f.Next() {
			return cmp.Or(first, f.Err)
		}
		num, typ := Table(f.Num), f.Type
		if typ != bytesType {
			f.Skip()
			continue
		}
		m := f.Message()
		var iid uint64
		e := m.Again()
		for iid == 0 && e.Next() {
			if e.Num == internedIID {
				iid = e.Uint()
			} else {
				e.Skip()
			}
		}
		if first = cmp.Or(first, e.Err); iid == 0 {
			continue
		}
		t := s.tables[num]
		if t == nil {
			t = new(table)
			s.tables[num] = t
		}
		if *s.entries += t.add(iid, m.Data()); *s.entries > maxEntries {
			return errTooManyEntries
		}
	}
}

// add keeps a message, unless the iid has one, and returns how many entries that takes.
func (t *table) add(iid uint64, message []byte) int {
	const gap = 8 // iids that may be left out of the list
	n := len(t.list)
	switch {
	case iid < uint64(n):
		if t.list[iid] == nil {
			t.list[iid] = &Entry{data: message}
		}
		return 0
	case t.rest[iid] != nil:
		return 0
	case iid < uint64(n+gap):
		for len(t.list) < int(iid) {
			// What came too early for the list is found there from now on.
			t.list = append(t.list, t.rest[uint64(len(t.list))])
		}
		t.list = append(t.list, &Entry{data: message})
		return len(t.list) - n
	}
	if t.rest == nil {
		t.rest = make(map[uint64]*Entry)
	}
	t.rest[iid] = &Entry{data: message}
	return 1
}
