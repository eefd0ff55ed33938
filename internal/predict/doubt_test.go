package predict

import (
	"slices"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/predict/flow"
)

// TestDoubt checks that intervals are wider where less is known.
func TestDoubt(t *testing.T) {
	tool := findLLVM(t)
	machine, err := NewMachine(tool, asm.X8664, "znver5", nil)
	if err != nil {
		t.Fatal(err)
	}
	const end = "addq $4, %rdi\ncmpq %rdi, %rsi\njne .L1\nret\n"
	width := func(body string) (float64, []string) {
		g := graphOfText(t, ".L1:\n"+body+end)
		side := &Side{Name: "side", Code: &flow.Code{Root: g}, Loop: 0, Work: 1, Rates: Rates{Source: SourceKnown, Branch: func(*flow.Graph, int) (flow.Branch, bool) { return flow.Branch{Taken: 0.9999}, true }}}
		p := Predictor{Tool: tool, Machine: machine}
		r, err := p.predict(t.Context(), []*Pair{{Name: "pair", Base: side, Head: side, Source: SourceKnown}})
		if err != nil {
			t.Fatal(err)
		}
		return r[0].Speedup.Hi / r[0].Speedup.Lo, r[0].Flags
	}
	plain, _ := width("addl (%rdi), %eax\n")
	for _, body := range []string{"call unknown\naddl %eax, %ecx\n", "movl (%rdi), %eax\nxorl %edx, %edx\ndivl %ecx\n", "movl (%rdi), %eax\naddl $1, (%rdx,%rax,4)\n", "cmpl %eax, %eax\nje .L2\nnop\n.L2: addl $1, %eax\n"} {
		if w, _ := width(body); w < 1.05*plain {
			t.Errorf("%q: the interval is ×%.2f wide, that of a plain loop ×%.2f", body, w, plain)
		}
	}
	if _, flags := width("movl (%rdi), %eax\naddl $1, (%rdx,%rax,4)\n"); !slices.Contains(flags, "before: "+memoryFlag) {
		t.Errorf("flags %q", flags)
	}
}

func TestSharedFunctions(t *testing.T) {
	l, err := asm.Parse(`	.type	compare, @function
compare:
	cmpl	%edi, %esi
	jl	.Lless
	movl	$1, %eax
	ret
.Lless:	movl	$0, %eax
	ret
	.size	compare, .-compare
	.type	f, @function
f:
.L1:	movl	(%rbx), %edi
	call	compare
	addq	$4, %rbx
	cmpq	%rbx, %rbp
	jne	.L1
	ret
	.size	f, .-f
`, "")
	if err != nil {
		t.Fatal(err)
	}
	f, _ := l.Function("f")
	code := flow.CodeOf(l, f)
	for _, test := range []struct {
		executed float64 // of the branch in compare, where the loop runs a million times
		want     bool
	}{
		{1e6, false},
		{1.1e6, false},
		{9e6, true},
		{0, false}, // not known
	} {
		rates := Rates{Source: SourceSimulated, Branch: func(g *flow.Graph, at int) (flow.Branch, bool) {
			if g.Name == "compare" {
				return flow.Branch{Taken: 0.5, Miss: 0.5, Executed: test.executed}, true
			}
			return flow.Branch{Taken: 0.999, Executed: 1e6}, true
		}}
		w := work{side: &Side{Code: code, Rates: rates}, branches: rates.branches(0, code.Root)}
		w.walks = []*flow.Trace{flow.Walk(code, w.branches, 1, 0, flow.Limits{Steps: 2000, Units: 200})}
		misses, names := w.shared()
		if got := misses > 0; got != test.want || test.want != slices.Equal(names, []string{"compare"}) {
			t.Errorf("executed %g times: %g mispredictions in %q, want some: %t", test.executed, misses, names, test.want)
		}
	}
}
