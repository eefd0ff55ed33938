// Package slots finds values in lists of values that differ, in eight bytes each: by open addressing with linear
// probing. It keeps where in the list they are rather than the values themselves, which a map of large values
// would have twice, and more when it grows.
package slots

import "hash/maphash"

// A Table says where in a list values are, by their hashes. The zero value is empty.
type Table struct {
	slots []slot
	used  int
}

type slot struct {
	hash uint32
	at   uint32 // index in the list + 1, 0 is free
}

// Find returns the slot of a value in the list, or the one that is free for it. There is one. is reports whether the
// value is the one at an index of the list.
func (t *Table) Find(hash uint32, is func(i uint32) bool) (at uint32, ok bool) {
	if t.used*4 >= len(t.slots)*3 {
		t.grow()
	}
	return t.probe(hash, is)
}

// probe is Find in a table with a free slot.
func (t *Table) probe(hash uint32, is func(i uint32) bool) (at uint32, ok bool) {
	mask := uint32(len(t.slots) - 1)
	for at = hash & mask; t.slots[at].at != 0; at = (at + 1) & mask {
		if s := t.slots[at]; s.hash == hash && is(s.at-1) {
			return at, true
		}
	}
	return at, false
}

// Index is the index in the list of what is in a slot.
func (t *Table) Index(at uint32) uint32 { return t.slots[at].at - 1 }

// Put fills a slot that Find returned.
func (t *Table) Put(at, hash uint32, i int) {
	t.slots[at] = slot{hash, uint32(i + 1)}
	t.used++
}

// Size is what the table takes, in bytes.
func (t *Table) Size() int64 { return int64(len(t.slots)) * 8 }

func (t *Table) grow() {
	grown := make([]slot, max(16, 2*len(t.slots)))
	mask := uint32(len(grown) - 1)
	for _, s := range t.slots {
		if s.at == 0 {
			continue
		}
		at := s.hash & mask
		for grown[at].at != 0 {
			at = (at + 1) & mask
		}
		grown[at] = s
	}
	t.slots = grown
}

// Values is a Table of what can be compared. The zero value is empty.
type Values[T comparable] struct{ table Table }

// Index returns the index of v in list, to which it is appended if it is new.
func (t *Values[T]) Index(list *[]T, v T) (i uint32, known bool) {
	hash := Hash(v)
	at, ok := t.table.Find(hash, func(i uint32) bool { return (*list)[i] == v })
	if ok {
		return t.table.Index(at), true
	}
	*list = append(Room(*list), v)
	t.table.Put(at, hash, len(*list)-1)
	return uint32(len(*list) - 1), false
}

// Find returns the index of v in list, if it is there.
func (t *Values[T]) Find(list []T, v T) (i uint32, known bool) {
	if len(list) == 0 {
		return 0, false
	}
	at, ok := t.table.probe(Hash(v), func(i uint32) bool { return list[i] == v })
	if !ok {
		return 0, false
	}
	return t.table.Index(at), true
}

// Size is what the table takes, in bytes, without the list.
func (t *Values[T]) Size() int64 { return t.table.Size() }

// Room is a list with room for one more. Long lists double: what is not written yet takes no memory, and what a
// list had before it grew is garbage.
func Room[T any](list []T) []T {
	const long = 1 << 12
	if n := len(list); n == cap(list) && n >= long {
		grown := make([]T, n, 2*n)
		copy(grown, list)
		return grown
	}
	return list
}

var seed = maphash.MakeSeed()

// Hash is the hash of a value, another one in each process.
func Hash[T comparable](v T) uint32 { return uint32(maphash.Comparable(seed, v)) }

// HashBytes is the hash of bytes, another one in each process.
func HashBytes(b []byte) uint32 { return uint32(maphash.Bytes(seed, b)) }
