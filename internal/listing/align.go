package listing

import (
	"cmp"
	"slices"
)

// Align calls row for the instructions of both sides in order, with nil where a side
// does not have it.
func Align(base, head []Instruction, row func(b, h *Instruction)) {
	at, of := 0, 0
	for _, p := range alignKeys(base, head) {
		for ; at < p[0]; at++ {
			row(&base[at], nil)
		}
		for ; of < p[1]; of++ {
			row(nil, &head[of])
		}
		row(&base[at], &head[of])
		at, of = at+1, of+1
	}
	for ; at < len(base); at++ {
		row(&base[at], nil)
	}
	for ; of < len(head); of++ {
		row(nil, &head[of])
	}
}

// maxTable is the size of a table of common subsequences.
const maxTable = 4 << 20

// alignKeys returns pairs of indices of equal keys in ascending order on both sides: the
// longest common subsequence, between keys that both sides have once as far as these are
// in the same order (patience diff).
func alignKeys(base, head []Instruction) [][2]int {
	var pairs [][2]int
	alignRange(base, head, 0, len(base), 0, len(head), &pairs)
	return pairs
}

func alignRange(base, head []Instruction, b0, b1, h0, h1 int, pairs *[][2]int) {
	for b0 < b1 && h0 < h1 && base[b0].Key == head[h0].Key {
		*pairs = append(*pairs, [2]int{b0, h0})
		b0, h0 = b0+1, h0+1
	}
	tail := 0
	for b0 < b1 && h0 < h1 && base[b1-1].Key == head[h1-1].Key {
		b1, h1, tail = b1-1, h1-1, tail+1
	}
	switch anchors := uniquePairs(base, head, b0, b1, h0, h1); {
	case b0 == b1 || h0 == h1:
	case (b1-b0)*(h1-h0) <= maxTable:
		longestCommon(base[b0:b1], head[h0:h1], b0, h0, pairs)
	case len(anchors) > 0:
		for _, a := range append(anchors, [2]int{b1, h1}) {
			alignRange(base, head, b0, a[0], h0, a[1], pairs)
			if a[0] < b1 {
				*pairs = append(*pairs, a)
			}
			b0, h0 = a[0]+1, a[1]+1
		}
	}
	for i := range tail {
		*pairs = append(*pairs, [2]int{b1 + i, h1 + i})
	}
}

// uniquePairs pairs instructions whose keys each side has once, and returns the longest
// run of pairs that is in order on both sides.
func uniquePairs(base, head []Instruction, b0, b1, h0, h1 int) [][2]int {
	type places struct{ nb, nh, b, h int }
	seen := make(map[string]places)
	for i := b0; i < b1; i++ {
		p := seen[base[i].Key]
		p.nb, p.b = p.nb+1, i
		seen[base[i].Key] = p
	}
	for i := h0; i < h1; i++ {
		p := seen[head[i].Key]
		p.nh, p.h = p.nh+1, i
		seen[head[i].Key] = p
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

func longestCommon(base, head []Instruction, b0, h0 int, pairs *[][2]int) {
	n, m := len(base), len(head)
	table := make([]int32, (n+1)*(m+1)) // from i and j on
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best := max(table[(i+1)*(m+1)+j], table[i*(m+1)+j+1])
			if base[i].Key == head[j].Key {
				best = max(best, table[(i+1)*(m+1)+j+1]+1)
			}
			table[i*(m+1)+j] = best
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case base[i].Key == head[j].Key && table[i*(m+1)+j] == table[(i+1)*(m+1)+j+1]+1:
			*pairs = append(*pairs, [2]int{b0 + i, h0 + j})
			i, j = i+1, j+1
		case table[(i+1)*(m+1)+j] >= table[i*(m+1)+j+1]:
			i++
		default:
			j++
		}
	}
}
