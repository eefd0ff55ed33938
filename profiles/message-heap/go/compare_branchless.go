//go:build branchless

package main

// compare is negative when a comes first, positive when b does. Each sign is -1, 0 or
// 1. when counts double, so that sequence decides only between equal times. Times and
// numbers are far from the ends of int64.
//
//go:noinline
func compare(a, b *message) int {
	return 2*sign(a.when-b.when) + sign(a.sequence-b.sequence)
}

func sign(d int64) int { return int(d>>63 | int64(uint64(-d)>>63)) }
