package objfile

import (
	"cmp"
	"slices"

	"profdiff/internal/radix"
)

// A span is an address range [lo, hi) of something known by id.
type span struct {
	lo, hi uint64
	id     uint32
	outer  int32 // index of the next span to try outwards, -1 if there is none
}

// spans is an index of ranges that may nest and overlap. A lookup finds, of the
// ranges that contain an address, the one that starts last; of those that start
// together the shortest; of equal ones the last that was added.
type spans []span

// index sorts the ranges and links each to the one around it.
func (s spans) index() {
	radix.Sort(s, func(e *span) uint64 { return e.lo })
	for i := 0; i < len(s); {
		n := i + 1
		for n < len(s) && s[n].lo == s[i].lo {
			n++
		}
		if n > i+1 {
			slices.SortFunc(s[i:n], func(a, b span) int {
				return cmp.Or(cmp.Compare(b.hi, a.hi), cmp.Compare(a.id, b.id))
			})
		}
		i = n
	}
	s.link()
}

// link sets outer in a sorted list: to the nearest earlier range that ends later.
// An address at or after the end of a range cannot be in the ranges in between.
func (s spans) link() {
	top := int32(-1) // the stack of open ranges is linked through outer
	for i := range s {
		for top >= 0 && s[top].hi <= s[i].hi {
			top = s[top].outer
		}
		s[i].outer = top
		top = int32(i)
	}
}

// find returns the index of the range that contains addr, -1 if there is none.
func (s spans) find(addr uint64) int {
	i, j := 0, len(s)
	for i < j {
		if m := int(uint(i+j) >> 1); s[m].lo <= addr {
			i = m + 1
		} else {
			j = m
		}
	}
	return s.outward(i-1, addr)
}

// next returns the next range outwards from i that contains addr and ends after i,
// -1 if there is none.
func (s spans) next(i int, addr uint64) int { return s.outward(int(s[i].outer), addr) }

func (s spans) outward(i int, addr uint64) int {
	for i >= 0 && addr >= s[i].hi {
		i = int(s[i].outer)
	}
	return i
}
