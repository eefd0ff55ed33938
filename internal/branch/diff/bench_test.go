package diff

import (
	"fmt"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/stats"
)

// manyTable makes a table of functions with 50 branches each, whose addresses and
// lines move from build to build.
func manyTable(n int, build uint64) *branch.Table {
	t := &branch.Table{Name: "many", Tier: branch.TierStacks, Scaled: true, Stacks: &branch.StackTable{Rated: 1e9}, Instructions: new(1e12), Samples: branch.Account{In: 1e6, Used: 1e6}}
	for i := range n {
		f := i / 50
		b := branchAt(fmt.Sprintf("function%d", f), uint64(f)*0x10000+uint64(i%50)*(16+build)+build*64, int64(i%50*3)+int64(build)*7+1)
		b.File = fmt.Sprintf("/src/file%d.c", f%100)
		misses := float64(20 + i%1000)
		b.NMisses, b.Misses = int64(misses), new(1000*misses)
		w := stats.WeightedCount{Weight: 1000 * misses, WeightSq: 1e6 * misses}
		b.Stacks = &branch.StackCounts{Noise: branch.Noise{Seen: w, Misses: w}}
		t.Branches = append(t.Branches, b)
	}
	return t
}

// BenchmarkDiff compares tables of more and more branches of two builds.
func BenchmarkDiff(b *testing.B) {
	for _, n := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			base, head := []*branch.Table{manyTable(n, 0)}, []*branch.Table{manyTable(n, 1)}
			d, err := Compare(base, head, Options{})
			if err != nil {
				b.Fatal(err)
			}
			for i := range d.Branches {
				if d.Branches[i].Match != BySource {
					b.Fatalf("row %d is matched by %q", i, d.Branches[i].Match)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compare(base, head, Options{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/branch")
		})
	}
}
