package objfile

import (
	"cmp"
	"math/bits"
	"slices"
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
	sortByAddress(s, func(e *span) uint64 { return e.lo })
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

// sortByAddress sorts list by the key and keeps the order of equal ones. Symbol
// tables are long and their addresses close together, which makes a radix sort
// several times faster than one that compares.
func sortByAddress[T any](list []T, key func(*T) uint64) {
	const digit = 11 // bits
	if len(list) < 512 {
		slices.SortStableFunc(list, func(a, b T) int { return cmp.Compare(key(&a), key(&b)) })
		return
	}
	sorted := true
	lowest, highest := key(&list[0]), key(&list[0])
	for i := 1; i < len(list); i++ {
		k := key(&list[i])
		sorted = sorted && k >= key(&list[i-1])
		lowest, highest = min(lowest, k), max(highest, k)
	}
	if sorted {
		return
	}
	from, to := list, make([]T, len(list))
	for shift := 0; shift < bits.Len64(highest-lowest); shift += digit {
		var start [1 << digit]int
		for i := range from {
			start[(key(&from[i])-lowest)>>shift&(1<<digit-1)]++
		}
		sum := 0
		for d, n := range start {
			start[d] = sum
			sum += n
		}
		for i := range from {
			d := (key(&from[i]) - lowest) >> shift & (1<<digit - 1)
			to[start[d]] = from[i]
			start[d]++
		}
		from, to = to, from
	}
	copy(list, from) // no-op if the last pass wrote to list
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
