// Package radix sorts long lists by numbers, such as addresses.
//
//  1. The keys count from the lowest of them: where they are close together, few digits differ.
//  2. Elements go to their place by the lowest digit, of 11 bits, then by the next one; each step keeps the
//     order of equal ones (Knuth, The Art of Computer Programming, volume 3, 5.2.5).
//  3. Lists that are short are sorted by comparing, and those in order are left as they are.
package radix

import (
	"cmp"
	"math/bits"
	"slices"
)

// Sort sorts list by the key and keeps the order of equal ones.
func Sort[T any](list []T, key func(*T) uint64) {
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
