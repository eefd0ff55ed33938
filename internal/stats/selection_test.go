package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSelectionBruteForce compares with a sorted list of all sums, with many equal values and
// with logarithms of zero.
func TestSelectionBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 8, 9, 40, 150} {
		for _, distinct := range []int{2, 10, 1 << 30} {
			t.Run(fmt.Sprintf("%d runs of %d values", n, distinct), func(t *testing.T) {
				draw := func(n int) []float64 {
					x := make([]float64, n)
					for i := range x {
						x[i] = math.Log(float64(rng.IntN(distinct))) // -Inf of 0
					}
					slices.Sort(x)
					return x
				}
				a, b := draw(n), draw(n+n/3)
				var sums, walsh []float64
				for i := range a {
					for _, v := range b {
						sums = append(sums, a[i]+v)
					}
					for j := i; j < n; j++ {
						walsh = append(walsh, (a[i]+a[j])/2)
					}
				}
				slices.Sort(sums)
				slices.Sort(walsh)
				for range 20 {
					k := rng.IntN(len(sums))
					if got := (pairSums{a: a, b: b}).kth(k); got != sums[k] {
						t.Fatalf("sum %d of %d: %v, want %v", k, len(sums), got, sums[k])
					}
					k = rng.IntN(len(walsh))
					if got := walshAverage(a, k); got != walsh[k] {
						t.Fatalf("Walsh average %d of %d: %v, want %v", k, len(walsh), got, walsh[k])
					}
				}
			})
		}
	}
}

func BenchmarkWalshAverage(b *testing.B) {
	for _, n := range []int{50, 200, 1000} {
		b.Run(fmt.Sprintf("runs=%d", n), func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 1))
			x := make([]float64, n)
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			slices.Sort(x)
			for b.Loop() {
				walshAverage(x, n*(n+1)/4)
			}
		})
	}
}
