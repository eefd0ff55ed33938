//go:build !branchless

package main

// compare is negative when a comes first, positive when b does.
//
//go:noinline
func compare(a, b *message) int {
	if a.when < b.when {
		return -1
	}
	if a.when > b.when {
		return 1
	}
	if a.sequence < b.sequence {
		return -1
	}
	if a.sequence > b.sequence {
		return 1
	}
	return 0
}
