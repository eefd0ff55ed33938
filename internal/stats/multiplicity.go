package stats

import (
	"cmp"
	"math"
	"slices"
)

// Holm returns the p values adjusted for being several (Holm, 1979), in the order of
// the input. If all at or below a level are rejected, the chance that any is rejected
// wrongly is at most that level. A p that is NaN counts as 1.
func Holm(p []float64) []float64 {
	adjusted := make([]float64, len(p))
	order := ascending(p)
	highest := 0.0
	for rank, i := range order {
		highest = max(highest, min(1, float64(len(p)-rank)*known(p[i])))
		adjusted[i] = highest
	}
	return adjusted
}

// BenjaminiHochberg returns the q values of p values (Benjamini and Hochberg, 1995),
// in the order of the input. If all at or below a level are rejected, the part that is
// rejected wrongly is on average at most that level. A p that is NaN counts as 1.
func BenjaminiHochberg(p []float64) []float64 {
	q := make([]float64, len(p))
	order := ascending(p)
	lowest := 1.0
	for rank, i := range slices.Backward(order) {
		lowest = min(lowest, known(p[i])*float64(len(p))/float64(rank+1))
		q[i] = lowest
	}
	return q
}

// ascending are the indices of p by value.
func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(known(p[a]), known(p[b])), cmp.Compare(a, b)) })
	return order
}

func known(p float64) float64 {
	if math.IsNaN(p) {
		return 1
	}
	return p
}
