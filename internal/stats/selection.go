package stats

import (
	"math/rand/v2"
	"slices"
)

// pairSums are the sums a[i]+b[j] of two ascending lists, without a list of them all: there
// are as many as pairs. With triangle, a and b are one list and only j ≥ i counts, which
// gives the Walsh averages, doubled.
type pairSums struct {
	a, b     []float64
	triangle bool
}

// walshAverage is the k-th lowest, from 0, of the means of all pairs of an ascending list, each
// value with itself included. Values may be -Inf.
func walshAverage(x []float64, k int) float64 {
	return pairSums{x, x, true}.kth(k) / 2
}

// kth is the k-th lowest sum, from 0, exactly as a sorted list of all would have it. Each
// round takes one of the sums that are left as pivot, drawn as Monahan does (1984, "Fast
// computation of the Hodges-Lehmann location estimator"), and drops those on the wrong side of it,
// which are an end of every row: O((n+m) log(n+m)) on average.
func (s pairSums) kth(k int) float64 {
	rows := len(s.a)
	from, to := make([]int, rows), make([]int, rows) // what is left of row i is b[from[i]:to[i]]
	for i := range rows {
		if s.triangle {
			from[i] = i
		}
		to[i] = len(s.b)
	}
	lower, upper := make([]int, rows), make([]int, rows)
	rng := rand.New(rand.NewPCG(1, uint64(k)))
	for {
		left := 0
		for i := range rows {
			left += to[i] - from[i]
		}
		if left <= rows+len(s.b) {
			return s.among(from, to, k)
		}
		pivot := s.draw(from, to, rng.IntN(left))
		below, upTo := s.split(pivot, lower, upper)
		switch {
		case k < below:
			for i := range rows {
				to[i] = max(from[i], min(to[i], lower[i]))
			}
		case k < upTo:
			return pivot
		default:
			for i := range rows {
				from[i] = min(to[i], max(from[i], upper[i]))
			}
		}
	}
}

// draw returns the middle of the row in which the sum numbered at is.
func (s pairSums) draw(from, to []int, at int) float64 {
	for i := range s.a {
		n := to[i] - from[i]
		if at < n {
			return s.a[i] + s.b[from[i]+n/2]
		}
		at -= n
	}
	panic("stats: no sum is left")
}

// split sets where in each row the sums end that are less than pivot, and those that are not
// more, and counts both. Rows ascend, so the ends only move down.
func (s pairSums) split(pivot float64, lower, upper []int) (below, upTo int) {
	l, u := len(s.b), len(s.b)
	for i, a := range s.a {
		start := 0
		if s.triangle {
			start = i
		}
		for l > 0 && a+s.b[l-1] >= pivot {
			l--
		}
		for u > 0 && a+s.b[u-1] > pivot {
			u--
		}
		lower[i], upper[i] = max(l, start), max(u, start)
		below += lower[i] - start
		upTo += upper[i] - start
	}
	return below, upTo
}

// among sorts what is left. Of what was dropped, the sums before it are lower.
func (s pairSums) among(from, to []int, k int) float64 {
	var left []float64
	for i, a := range s.a {
		if s.triangle {
			k -= from[i] - i
		} else {
			k -= from[i]
		}
		for _, b := range s.b[from[i]:to[i]] {
			left = append(left, a+b)
		}
	}
	slices.Sort(left)
	return left[k]
}
