// Package interval joins intervals of time.
//
//  1. Intervals are sorted by their start.
//  2. One that starts before the last one ended, or when it did, makes that longer; any other is the next.
package interval

import (
	"cmp"
	"slices"
)

// An Interval is a time, without the moment at which it ends. Its unit is that of who uses it.
type Interval struct{ Start, End int64 }

// Union returns the times in at least one interval of the list, in order, with time between any two of them. It is made in
// the list, which holds nothing else afterwards.
func Union(list []Interval) []Interval {
	slices.SortFunc(list, func(a, b Interval) int { return cmp.Compare(a.Start, b.Start) })
	joined := list[:0]
	for _, v := range list {
		if n := len(joined); n > 0 && v.Start <= joined[n-1].End {
			joined[n-1].End = max(joined[n-1].End, v.End)
		} else {
			joined = append(joined, v)
		}
	}
	return joined
}

// Length is how long the intervals are together.
func Length(list []Interval) (sum int64) {
	for _, v := range list {
		sum += v.End - v.Start
	}
	return sum
}
