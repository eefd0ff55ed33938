package predict

import (
	"math"
	"strings"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/llvm"
)

// TestMCAIsLLVMs has a loop in which each multiplication starts with a zero that a model does
// not know to be one: what is said of llvm-mca alone is what it says with that error, with a
// core that was measured and without.
func TestMCAIsLLVMs(t *testing.T) {
	tool := findLLVM(t)
	lines := []string{"imulq %rcx, %rax", "imulq %rcx, %rax", "imulq %rcx, %rax", "movq %rax, (%rdi)", "xorl %eax, %eax", "addq $8, %rdi", "cmpq %rdi, %rsi"}
	var text strings.Builder
	text.WriteString("f:\n1:\n")
	for _, line := range lines {
		text.WriteString(line + "\n")
	}
	l, err := asm.Parse(text.String()+"jne 1b\nret\n", asm.X8664)
	if err != nil {
		t.Fatal(err)
	}
	s, err := tool.Simulate(t.Context(), llvm.Options{Triple: "x86_64", CPU: "emeraldrapids", Iterations: 400, Plain: true}, []llvm.Region{{Name: "loop", Lines: append(lines, "jne .Lx0x0")}})
	if err != nil {
		t.Fatal(err)
	}
	want := s[0].TotalCycles / 400
	for _, known := range []knownCore{storedCore, modelAlone} {
		m := (&subject{model: "emeraldrapids", known: known}).machine(t, tool)
		if len(m.Model.Repairs) == 0 {
			t.Skip("this model has no repairs")
		}
		side, err := ListingSide(l, "loop", "", 0)
		if err != nil {
			t.Fatal(err)
		}
		results, err := (&Predictor{Tool: tool, Machine: m}).predict(t.Context(), []*Pair{{Base: side, Head: side, Source: SourceKnown}})
		if err != nil {
			t.Fatal(err)
		}
		c := results[0].Base
		if math.Abs(c.MCA/want-1) > 0.05 || c.MCA < 1.5*c.Total {
			t.Errorf("%s: %.2f cycles by llvm-mca alone, which says %.2f; %.2f are predicted", known, c.MCA, want, c.Total)
		}
	}
}
