package predict

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
	"profdiff/internal/predict/core"
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/interpret"
)

// FuzzParseAsm reads anything as assembly and walks through what comes out.
func FuzzParseAsm(f *testing.F) {
	for _, seed := range asmSeeds {
		f.Add(seed)
	}
	files, err := filepath.Glob(filepath.Join(casesDir, "*", "*.s"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := asm.Parse(text, "")
		if (l == nil) == (err == nil) {
			t.Fatalf("listing %v and error %v", l, err)
		}
		if err != nil {
			return
		}
		for _, fn := range append(l.Functions, l.Regions...) {
			if fn.First < 0 || fn.End > len(l.Insts) || fn.First > fn.End {
				t.Fatalf("function %+v of %d instructions", fn, len(l.Insts))
			}
			if fn.First == fn.End {
				continue
			}
			c := flow.CodeOf(l, fn)
			g := c.Root
			for i := range g.Insts {
				if to := g.Insts[i].To; to < -1 || to >= len(g.Insts) {
					t.Fatalf("target %d of %d", to, len(g.Insts))
				}
				asm.OperationOf(g.Arch, g.Insts[i].Text)
				asm.StandIn(g.Arch, &g.Insts[i], nil)
			}
			loop, err := g.MainLoop()
			if err != nil {
				loop = -1
			}
			s := &Side{Code: c, Loop: loop, Work: 1, Rates: Rates{Source: SourceAssumed}}
			way := flow.Walk(c, s.Rates.branches(loop, g), 1, loop, flow.Limits{Steps: 200, Units: 20})
			x := interpret.New(1, interpret.ChancesOf(nil))
			x.Start(g, loop)
			x.Comparisons(way, func(flow.Site) bool { return true })
			for i, from := range x.Accesses(way) {
				if int(from.Store) >= i {
					t.Fatalf("step %d loads what step %d stores", i, from.Store)
				}
			}
			s.stride()
			g.Paths(loop)
		}
	})
}

var asmSeeds = []string{
	"addq $1, %rax\n",
	"1:\tdecl %ecx\n\tjne 1b\n",
	"f:\n\tjmp 2f\n2:\tret\n",
	"cmp x0, #0\nb.le #8\nmov w1, #1\nret\n",
	".L1:\n\tcbz x0, .L1\n\tret\n",
	"# LLVM-MCA-BEGIN a\nnop\n# LLVM-MCA-END\nnop\n",
	"\"quoted name\":\n\tcall \"quoted name\"; ret\n",
	"/* a\n b */ nop\n",
	".section .text.hot,\"ax\",@progbits\nlock addl $1, (%rdi)\n.data\nx: .long 1\n",
	"a = 5\n.set b, 6\nnop\n",
	"jmp *(%rax)\n",
	"\tbr x0\n\tadd x0, x1, x2\n",
}

// numbersSimulator makes up simulations of some numbers, in turn.
type numbersSimulator struct {
	numbers []byte
	at      int
}

func (s *numbersSimulator) next() int {
	if len(s.numbers) == 0 {
		return 1
	}
	n := s.numbers[s.at%len(s.numbers)]
	s.at++
	if n >= 0x80 {
		return int(n-0x7f) * 257
	}
	return int(n)
}

func (s *numbersSimulator) Simulate(_ context.Context, _ llvm.Options, regions []llvm.Region) ([]llvm.Simulation, error) {
	var out []llvm.Simulation
	for i := range regions {
		r := llvm.Simulation{Name: regions[i].Name, Iterations: 1, TotalCycles: float64(s.next()), RThroughput: float64(s.next())}
		for k := range regions[i].Lines {
			if s.next() == 0 {
				r.Unmodelled = append(r.Unmodelled, llvm.Unmodelled{})
				continue // left out
			}
			r.Instructions = append(r.Instructions, regions[i].Lines[k])
			r.Source = append(r.Source, k)
			r.Latencies = append(r.Latencies, llvm.Latency{Latency: float64(s.next()), Uops: s.next(), RThroughput: float64(s.next())})
			d := int32(s.next())
			r.Timeline = append(r.Timeline, llvm.Row{Dispatched: d, Executed: d + int32(s.next()), Retired: d + int32(s.next())})
		}
		out = append(out, r)
	}
	return out, nil
}

// FuzzPredict predicts any assembly with any numbers of llvm-mca.
func FuzzPredict(f *testing.F) {
	for _, seed := range asmSeeds {
		f.Add(seed, []byte{4, 1, 1, 2})
	}
	f.Add(".L1: divl (%rdi)\naddl $1,(%rdx,%rax,4)\ncall f\njne .L1\nret\n", []byte{200, 0, 255, 1})
	f.Fuzz(func(t *testing.T, text string, numbers []byte) {
		if len(text) > 4096 {
			return
		}
		l, err := asm.Parse(text, "")
		if err != nil || l.Functions[0].First == l.Functions[0].End {
			return
		}
		c := flow.CodeOf(l, l.Functions[0])
		loop, err := c.Root.MainLoop()
		if err != nil {
			loop = -1
		}
		side := &Side{Code: c, Loop: loop, Work: 1, Rates: Rates{Source: SourceAssumed}}
		for _, core := range []*core.Core{nil, core.Of("znver5")} {
			p := Predictor{Tool: &numbersSimulator{numbers: numbers}, Machine: &Machine{Arch: l.Arch, Core: core, Refill: 13, Taken: 1}, Seeds: 1}
			results, err := p.predict(t.Context(), []*Pair{{Base: side, Head: side, Source: SourceAssumed}})
			if err != nil || results[0].Refused != "" {
				continue
			}
			s := results[0].Speedup
			for _, v := range []float64{s.Value, s.Lo, s.Hi, results[0].Base.Total, results[0].Head.Total} {
				if !(v > 0) || math.IsInf(v, 0) {
					t.Fatalf("speed-up %+v of %g and %g cycles", s, results[0].Base.Total, results[0].Head.Total)
				}
			}
			if s.Lo > s.Value || s.Hi < s.Value {
				t.Fatalf("speed-up %+v", s)
			}
		}
	})
}
