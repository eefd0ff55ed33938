package stats

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkRatio(b *testing.B) {
	for _, n := range []int{1, 5, 10, 25, 50, 200, 1000} {
		for _, samples := range []float64{0.5, 5, 500} {
			for _, normalized := range []bool{false, true} {
				b.Run(fmt.Sprintf("runs=%d/samples=%v/normalized=%v", n, samples, normalized), func(b *testing.B) {
					rng := rand.New(rand.NewPCG(1, 1))
					functions := make([][2][]WeightedCount, 64)
					for i := range functions {
						functions[i] = [2][]WeightedCount{randomRuns(rng, n, samples, 0.05), randomRuns(rng, n, samples, 0.05)}
						for _, side := range functions[i] {
							for j := range side {
								if f := 1 + 0.1*rng.Float64(); normalized {
									side[j].Weight *= f
									side[j].WeightSq *= f * f
								}
							}
						}
					}
					tests := New(0.95)
					b.ReportAllocs()
					i := 0
					for b.Loop() {
						f := functions[i%len(functions)]
						e := tests.Ratio(f[0], f[1])
						e.Above(1.05)
						i++
					}
				})
			}
		}
	}
}
