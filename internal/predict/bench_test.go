package predict

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func BenchmarkParseAsm(b *testing.B) {
	text, err := os.ReadFile(filepath.Join(casesDir, "heap-sift", "branchy.x86-64.s"))
	if err != nil {
		b.Fatal(err)
	}
	var long strings.Builder
	for i := range 500 { // labels are unique in a file
		long.WriteString(strings.NewReplacer(".L", fmt.Sprintf(".L%d_", i), "sift", fmt.Sprintf("sift%d", i), "replace", fmt.Sprintf("replace%d", i)).Replace(string(text)))
	}
	b.SetBytes(int64(long.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseAsm(long.String(), X8664); err != nil {
			b.Fatal(err)
		}
	}
}

// pairsOfCases are pairs of the kernels of mca-cases at a p, so many in all.
func pairsOfCases(b *testing.B, n int) (pairs []*Pair) {
	names, err := ListCases(os.DirFS(casesDir))
	if err != nil {
		b.Fatal(err)
	}
	for len(pairs) < n {
		for _, name := range names {
			dir := filepath.Join(casesDir, name)
			c, err := ReadCase(os.DirFS(dir))
			if err != nil {
				b.Fatal(err)
			}
			if len(c.Counts) == 0 || len(pairs) == n {
				continue
			}
			var lists [2]*Listing
			for i, side := range []string{Branchy, Branchless} {
				text, err := os.ReadFile(filepath.Join(dir, c.Listing(side, X8664)))
				if err != nil {
					b.Fatal(err)
				}
				if lists[i], err = ParseAsm(string(text), X8664); err != nil {
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
					machine, err := NewMachine(tool, X8664, cpu, nil)
					if err != nil {
						b.Fatal(err)
					}
					p := Predictor{Tool: tool, Machine: machine}
					if _, err := p.Predict(b.Context(), pairs); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkCore is the model of the core alone, in instructions.
func BenchmarkCore(b *testing.B) {
	core := coreOf("znver5")
	l, err := ParseAsm("movl (%rdi), %eax\naddq $4, %rdi\ncmpl %edx, %eax\ncmovl %edx, %eax\naddl %eax, %ecx\n", X8664)
	if err != nil {
		b.Fatal(err)
	}
	g := l.Graph(l.Functions[0])
	var steps []step
	var list []*timing
	for range 2000 {
		for i := range g.Insts {
			op, _ := operationOf(X8664, g.Insts[i].Text)
			steps = append(steps, step{site: site{g, i}})
			list = append(list, &timing{op: op, uops: 1, cycle: 1, slots: 1, load: 4})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		core.run(steps, list, runOptions{})
	}
	b.ReportMetric(float64(len(steps)*b.N)/b.Elapsed().Seconds(), "instructions/s")
}
