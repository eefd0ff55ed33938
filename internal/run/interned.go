package run

import "hash/maphash"

// interned finds values in a list of values that differ, by open addressing with linear probing. It keeps
// where in the list they are rather than the values themselves, which a map of large values
// would have twice, and more when it grows.
type interned[T comparable] struct {
	slots []internedSlot
	used  int
}

type internedSlot struct {
	hash uint32
	at   uint32 // index in the list + 1, 0 is free
}

var internedSeed = maphash.MakeSeed()

// index returns the index of v in list, to which it is appended if it is new.
func (t *interned[T]) index(list *[]T, v T) (i uint32, known bool) {
	if t.used*4 >= len(t.slots)*3 {
		t.grow()
	}
	hash := uint32(maphash.Comparable(internedSeed, v))
	mask := uint32(len(t.slots) - 1)
	at := hash & mask
	for ; t.slots[at].at != 0; at = (at + 1) & mask {
		if s := t.slots[at]; s.hash == hash && (*list)[s.at-1] == v {
			return s.at - 1, true
		}
	}
	*list = append(*list, v)
	t.slots[at] = internedSlot{hash, uint32(len(*list))}
	t.used++
	return uint32(len(*list) - 1), false
}

func (t *interned[T]) grow() {
	slots := make([]internedSlot, max(16, 2*len(t.slots)))
	mask := uint32(len(slots) - 1)
	for _, s := range t.slots {
		if s.at == 0 {
			continue
		}
		at := s.hash & mask
		for slots[at].at != 0 {
			at = (at + 1) & mask
		}
		slots[at] = s
	}
	t.slots = slots
}
