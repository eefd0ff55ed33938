package predict

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"profdiff/internal/asm"
)

// pairsOfCases are pairs of the kernels of mca-cases at a p, so many in all.
func pairsOfCases(b *testing.B, n int) (pairs []*Pair) {
	files, err := filepath.Glob(filepath.Join(casesDir, "*", "case.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	for len(pairs) < n {
		for _, file := range files {
			dir := filepath.Dir(file)
			c, err := ReadCase(os.DirFS(dir))
			if err != nil {
				b.Fatal(err)
			}
			if len(c.Counts) == 0 || len(pairs) == n {
				continue
			}
			var lists [2]*asm.Listing
			for i, side := range []string{Branchy, Branchless} {
				text, err := os.ReadFile(filepath.Join(dir, c.Listing(side, asm.X8664)))
				if err != nil {
					b.Fatal(err)
				}
				if lists[i], err = asm.Parse(string(text), asm.X8664); err != nil {
					b.Fatal(err)
				}
			}
			of, err := c.Pairs(lists, SourceKnown, "0.3")
			if err != nil {
				b.Fatal(err)
			}
			pairs = append(pairs, of...)
		}
	}
	return pairs
}

// BenchmarkPredict predicts loops, llvm-mca included, of which nothing is known from an
// earlier run.
func BenchmarkPredict(b *testing.B) {
	for _, cpu := range []string{"znver5", "skylake"} {
		for _, n := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/%d", cpu, n), func(b *testing.B) {
				pairs := pairsOfCases(b, n)
				b.ReportAllocs()
				for b.Loop() {
					tool := findLLVM(b)
					machine, err := NewMachine(tool, asm.X8664, cpu, nil)
					if err != nil {
						b.Fatal(err)
					}
					p := Predictor{Tool: tool, Machine: machine}
					if _, err := p.predict(b.Context(), pairs); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
