package predict

import (
	"math"
	"os"
	"strings"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/predict/core"
	"profdiff/internal/predict/flow"
	"profdiff/internal/probe"
)

// TestAtomics checks that no number is predicted of what other cores decide, for the case
// mca-cases/atomics, and that what is executed is known. Nothing is simulated for it.
func TestAtomics(t *testing.T) {
	var lists [2]*asm.Listing
	for i, name := range []string{"exclusive", "lse"} {
		text, err := os.ReadFile("../../mca-cases/atomics/" + name + ".aarch64.s")
		if err != nil {
			t.Fatal(err)
		}
		if lists[i], err = asm.Parse(string(text), ""); err != nil {
			t.Fatal(err)
		}
	}
	for function, instructions := range map[string][2]float64{"add": {6, 2}, "swap": {5, 2}, "push": {7, 5}, "": {7, 5}} {
		var sides [2]*Side
		for i, l := range lists {
			var err error
			if sides[i], err = ListingSide(l, "side", function, 0); err != nil {
				t.Fatal(err)
			}
		}
		p := &Predictor{Tool: noLLVM{}, Machine: &Machine{Arch: asm.AArch64}}
		all, err := p.Predicted(t.Context(), []*Pair{{Name: "pair", Base: sides[0], Head: sides[1], Source: SourceAssumed}}, 1, [2]Heat{})
		if err != nil {
			t.Fatalf("%s: %v", function, err)
		}
		r := all.Results[0]
		if !strings.Contains(r.Refused, "contention for a cache line") || r.Speedup != (Interval{}) || r.Base.Total != 0 || r.Head.Total != 0 || r.BreakEven != nil {
			t.Errorf("%s: refused %q, predicted %+v", function, r.Refused, r.Speedup)
		}
		for i, want := range instructions {
			c := r.Contention[i]
			if c == nil || math.Abs(c.Instructions-want) > 1e-9 || math.Abs(c.Atomics-1) > 1e-9 || (len(c.Retries) == 1) != (i == 0) {
				t.Errorf("%s, side %d: %+v, want %g instructions and one atomic operation", function, i, c, want)
			}
		}
	}
}

// TestAlone checks that what was measured of a core alone is said, in cycles a unit.
func TestAlone(t *testing.T) {
	l, err := asm.Parse("1: lock addq $1,(%rdi)\nlock cmpxchgq %rdx,(%rsi)\naddq $1,%rcx\ncmpq %rcx,%r8\njne 1b\nret\n", asm.X8664)
	if err != nil {
		t.Fatal(err)
	}
	side, err := ListingSide(l, "side", "", 0)
	if err != nil {
		t.Fatal(err)
	}
	values := probe.Values{"atomic.add": {Lo: 17, Centre: 18, Hi: 19}, "atomic.cas": {Lo: 18, Centre: 19, Hi: 21}}
	p := &Predictor{Tool: noLLVM{}, Machine: &Machine{Arch: asm.X8664, Core: &core.Core{Probes: values}}}
	w, err := (&Predictor{Machine: &Machine{Arch: asm.X8664}}).prepare(side)
	if err != nil {
		t.Fatal(err)
	}
	r := p.refusedResult(&Pair{}, "reason", w, w)
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
	if a := r.Contention[0].Alone; a == nil || !near(a.Value, 37) || !near(a.Lo, 35) || !near(a.Hi, 40) {
		t.Errorf("alone %+v", a)
	}
	delete(values, "atomic.cas")
	if a := p.refusedResult(&Pair{}, "reason", w, w).Contention[0].Alone; a != nil {
		t.Errorf("alone %+v, of which not all was measured", a)
	}
}

// TestRefused has what decides whether cycles are predicted.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name string
		arch asm.Arch
		code string
		want string
	}{
		{"fence", asm.X8664, "1: movq %rax,(%rdi,%rax,8)\nlock orq $0,(%rsp)\naddq $1,%rax\ncmpq %rax,%rsi\njne 1b\nret", "a fence"},
		{"barrier", asm.AArch64, "1: str x1,[x0],8\ndmb ish\ncmp x0,x2\nbne 1b\nret", "a fence"},
		{"spin", asm.X8664, "1: pause\ncmpl $0,(%rdi)\njne 1b\nret", "waiting for another core"},
		{"outlined", asm.AArch64, "1: mov x0,1\nmov x1,x20\nbl __aarch64_ldadd8_acq_rel\nadd x19,x19,1\ncmp x19,x21\nbne 1b\nret", "contention"},
		{"store with xchg", asm.X8664, "1: movq %rax,%rdx\nxchgq %rdx,(%rdi,%rax,8)\naddq $1,%rax\ncmpq %rax,%rsi\njne 1b\nret", "contention"},
		{"acquire and release", asm.AArch64, "1: ldar x1,[x0]\nadd x0,x0,8\nstlr x1,[x3]\ncmp x0,x2\nbne 1b\nret", ""},
		{"none", asm.X8664, "1: addq (%rdi,%rax,8),%rdx\naddq $1,%rax\ncmpq %rax,%rsi\njne 1b\nret", ""},
	} {
		l, err := asm.Parse(test.code+"\n", test.arch)
		if err != nil {
			t.Fatal(err)
		}
		side, err := ListingSide(l, "side", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		p := &Predictor{Machine: &Machine{Arch: test.arch}}
		w, err := p.prepare(side)
		if err != nil {
			t.Fatal(err)
		}
		if got := refused(w.contention(), nil); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestRareAtomics checks that an atomic operation on a rare way is a doubt, and no reason to
// refuse.
func TestRareAtomics(t *testing.T) {
	tool := findLLVM(t)
	machine, err := NewMachine(tool, asm.X8664, "skylake", nil)
	if err != nil {
		t.Fatal(err)
	}
	result := func(rare string, taken float64) *Result {
		l, err := asm.Parse("1: cmpq %rdx,(%rdi,%rax,8)\nje 2f\n3: addq $1,%rax\ncmpq %rax,%rsi\njne 1b\nret\n2: "+rare+" addq $1,(%rcx)\njmp 3b\n", asm.X8664)
		if err != nil {
			t.Fatal(err)
		}
		side := &Side{Name: "side", Code: flow.CodeOf(l, l.Functions[0]), Work: 1, Rates: Rates{Source: SourceKnown, Branch: func(g *flow.Graph, at int) (flow.Branch, bool) {
			if g.Insts[at].Target == "2f" {
				return flow.Branch{Taken: taken}, true
			}
			return flow.Branch{Taken: 1}, true
		}}}
		r, err := (&Predictor{Tool: tool, Machine: machine}).predict(t.Context(), []*Pair{{Name: "pair", Base: side, Head: side, Source: SourceKnown}})
		if err != nil {
			t.Fatal(err)
		}
		return r[0]
	}
	atomic, plain := result("lock", 0.003), result("", 0.003)
	if atomic.Refused != "" || atomic.Contention[0] != nil || !strings.Contains(strings.Join(atomic.Flags, "\n"), "other cores want the same place") {
		t.Errorf("a rare atomic operation: refused %q, flags %q", atomic.Refused, atomic.Flags)
	}
	if a, b := atomic.Speedup.Hi/atomic.Speedup.Lo, plain.Speedup.Hi/plain.Speedup.Lo; !(a > 1.1*b) {
		t.Errorf("the interval is %g wide with a rare atomic operation and %g without", a, b)
	}
	if often := result("lock", 0.3); often.Refused == "" {
		t.Error("three in ten units with an atomic operation are predicted")
	}
}
