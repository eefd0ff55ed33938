package align

import (
	"cmp"
	"slices"
)

// maxTable is the size of a table of common subsequences.
const maxTable = 4 << 20

// Sequences pairs equal elements of two sequences, and returns their indices, in ascending
// order on both sides: the longest common subsequence, between elements that both sides have
// once if there are many (patience diff).
func Sequences(base, head []string) [][2]int {
	s := sequences{base: base, head: head}
	s.between(0, len(base), 0, len(head))
	return s.pairs
}

type sequences struct {
	base, head []string
	pairs      [][2]int
}

// between pairs elements from b0 to below b1 with those from h0 to below h1.
func (s *sequences) between(b0, b1, h0, h1 int) {
	for b0 < b1 && h0 < h1 && s.base[b0] == s.head[h0] {
		s.pairs = append(s.pairs, [2]int{b0, h0})
		b0, h0 = b0+1, h0+1
	}
	tail := 0
	for b0 < b1 && h0 < h1 && s.base[b1-1] == s.head[h1-1] {
		b1, h1, tail = b1-1, h1-1, tail+1
	}
	switch anchors := s.unique(b0, b1, h0, h1); {
	case b0 == b1 || h0 == h1:
	case (b1-b0)*(h1-h0) <= maxTable:
		s.longest(b0, b1, h0, h1)
	case len(anchors) > 0:
		for _, a := range append(anchors, [2]int{b1, h1}) {
			s.between(b0, a[0], h0, a[1])
			if a[0] < b1 {
				s.pairs = append(s.pairs, a)
			}
			b0, h0 = a[0]+1, a[1]+1
		}
	}
	for i := range tail {
		s.pairs = append(s.pairs, [2]int{b1 + i, h1 + i})
	}
}

// unique pairs elements that each side has once, and returns the longest run of pairs that
// is in order on both sides.
func (s *sequences) unique(b0, b1, h0, h1 int) [][2]int {
	type places struct{ nb, nh, b, h int }
	seen := make(map[string]places)
	for i := b0; i < b1; i++ {
		p := seen[s.base[i]]
		p.nb, p.b = p.nb+1, i
		seen[s.base[i]] = p
	}
	for i := h0; i < h1; i++ {
		p := seen[s.head[i]]
		p.nh, p.h = p.nh+1, i
		seen[s.head[i]] = p
	}
	var list [][2]int
	for _, p := range seen {
		if p.nb == 1 && p.nh == 1 {
			list = append(list, [2]int{p.b, p.h})
		}
	}
	slices.SortFunc(list, func(a, b [2]int) int { return cmp.Compare(a[0], b[0]) })
	// The longest increasing subsequence of the second.
	var ends []int // index in list of the end of the best run of each length
	previous := make([]int, len(list))
	for i, p := range list {
		k, _ := slices.BinarySearchFunc(ends, p[1], func(e, v int) int { return cmp.Compare(list[e][1], v) })
		previous[i] = -1
		if k > 0 {
			previous[i] = ends[k-1]
		}
		if k == len(ends) {
			ends = append(ends, i)
		} else {
			ends[k] = i
		}
	}
	var run [][2]int
	if len(ends) > 0 {
		for i := ends[len(ends)-1]; i >= 0; i = previous[i] {
			run = append(run, list[i])
		}
	}
	slices.Reverse(run)
	return run
}

// longest pairs by a table.
func (s *sequences) longest(b0, b1, h0, h1 int) {
	n, m := b1-b0, h1-h0
	table := make([]int32, (n+1)*(m+1)) // from i and j on
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best := max(table[(i+1)*(m+1)+j], table[i*(m+1)+j+1])
			if s.base[b0+i] == s.head[h0+j] {
				best = max(best, table[(i+1)*(m+1)+j+1]+1)
			}
			table[i*(m+1)+j] = best
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case s.base[b0+i] == s.head[h0+j] && table[i*(m+1)+j] == table[(i+1)*(m+1)+j+1]+1:
			s.pairs = append(s.pairs, [2]int{b0 + i, h0 + j})
			i, j = i+1, j+1
		case table[(i+1)*(m+1)+j] >= table[i*(m+1)+j+1]:
			i++
		default:
			j++
		}
	}
}
