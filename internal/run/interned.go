package run

import "hash/maphash"

// interned finds values in a list of values that differ, by open addressing with linear probing. It keeps
// where in the list they are rather than the values themselves, which a map of large values
// would have twice, and more when it grows.
type interned[T comparable] struct{ slots }

// slots say where in a list values are, by their hashes.
type slots struct {
	table []internedSlot
	used  int
}

type internedSlot struct {
	hash uint32
	at   uint32 // index in the list + 1, 0 is free
}

var internedSeed = maphash.MakeSeed()

// index returns the index of v in list, to which it is appended if it is new.
func (t *interned[T]) index(list *[]T, v T) (i uint32, known bool) {
	hash := uint32(maphash.Comparable(internedSeed, v))
	at, ok := t.find(hash, func(i uint32) bool { return (*list)[i] == v })
	if ok {
		return t.table[at].at - 1, true
	}
	*list = append(room(*list), v)
	t.put(at, hash, len(*list)-1)
	return uint32(len(*list) - 1), false
}

// find returns the slot of a value in the list, or the one that is free for it. There is one.
func (t *slots) find(hash uint32, is func(i uint32) bool) (at uint32, ok bool) {
	if t.used*4 >= len(t.table)*3 {
		t.grow()
	}
	mask := uint32(len(t.table) - 1)
	for at = hash & mask; t.table[at].at != 0; at = (at + 1) & mask {
		if s := t.table[at]; s.hash == hash && is(s.at-1) {
			return at, true
		}
	}
	return at, false
}

// put fills a slot that find returned.
func (t *slots) put(at, hash uint32, i int) {
	t.table[at] = internedSlot{hash, uint32(i + 1)}
	t.used++
}

// room is a list with room for one more. Long lists double: what is not written yet takes no memory, and what a
// list had before it grew is garbage.
func room[T any](list []T) []T {
	const long = 1 << 12
	if n := len(list); n == cap(list) && n >= long {
		grown := make([]T, n, 2*n)
		copy(grown, list)
		return grown
	}
	return list
}

func (t *slots) grow() {
	table := make([]internedSlot, max(16, 2*len(t.table)))
	mask := uint32(len(table) - 1)
	for _, s := range t.table {
		if s.at == 0 {
			continue
		}
		at := s.hash & mask
		for table[at].at != 0 {
			at = (at + 1) & mask
		}
		table[at] = s
	}
	t.table = table
}
