package predict

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/predict/hot"
	"profdiff/internal/run"
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

// BenchmarkHotLoops finds the loops of a function with many instructions that all have
// samples.
func BenchmarkHotLoops(b *testing.B) {
	var text strings.Builder
	text.WriteString("\t.text\n\t.globl\tlong\n\t.type\tlong, @function\nlong:\n.L1:\n")
	const n = 5000
	for range n {
		text.WriteString("\taddl\t%eax, %edx\n")
	}
	text.WriteString("\tdecq\t%rdi\n\tjne\t.L1\n\tret\n\t.size\tlong, .-long\n\t.section\t.note.GNU-stack,\"\",@progbits\n")
	code := binaryOf(b, "long.so", text.String())
	var samples []sampled
	for at := range n / 10 {
		samples = append(samples, sampled{"long", 10 * at, 1})
	}
	r := recording(b, "run", code, samples...)
	for b.Loop() {
		again, err := open(code.Path)
		if err != nil {
			b.Fatal(err)
		}
		p, err := hot.NewProfile([]*run.Run{r}, again, "")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := p.Loops(again); err != nil {
			b.Fatal(err)
		}
	}
}
