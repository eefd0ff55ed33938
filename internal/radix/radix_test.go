package radix

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// TestSort sorts lists of any length and range of keys as a stable sort by comparing does.
func TestSort(t *testing.T) {
	type element struct {
		Key uint64
		At  int
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 511, 512, 513, 5000} {
		for _, most := range []uint64{1, 2, 300, 1 << 11, 1<<11 + 1, 1 << 40, 1<<64 - 1} { // differ by less
			list := make([]element, n)
			low := rng.Uint64N(-most)
			for i := range list {
				list[i] = element{low + rng.Uint64N(most), i}
			}
			want := slices.Clone(list)
			slices.SortStableFunc(want, func(a, b element) int { return cmp.Compare(a.Key, b.Key) })
			for range 2 { // the second time it is sorted already
				Sort(list, func(e *element) uint64 { return e.Key })
				if diff := gocmp.Diff(want, list); diff != "" {
					t.Fatalf("%d elements with %d keys: -want +got\n%s", n, most, diff)
				}
			}
		}
	}
}
