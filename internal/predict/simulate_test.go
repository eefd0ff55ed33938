package predict

import (
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/predict/flow"
)

// TestMemoryChain checks that LLVM's models, too, let loads wait for stores.
func TestMemoryChain(t *testing.T) {
	tool := findLLVM(t)
	machine, err := NewMachine(tool, asm.AArch64, "neoverse-n1", nil)
	if err != nil {
		t.Fatal(err)
	}
	cycles := func(code string) float64 {
		l, err := asm.Parse("1:\n"+code+"add x0,x0,4\ncmp x0,x1\nbne 1b\nret\n", asm.AArch64)
		if err != nil {
			t.Fatal(err)
		}
		side := &Side{Name: "side", Code: flow.CodeOf(l, l.Functions[0]), Loop: 0, Work: 1, Rates: Rates{Source: SourceKnown, Branch: func(*flow.Graph, int) (flow.Branch, bool) {
			return flow.Branch{Taken: 1}, true
		}}}
		p := Predictor{Tool: tool, Machine: machine}
		r, err := p.predict(t.Context(), []*Pair{{Name: "pair", Base: side, Head: side, Source: SourceKnown}})
		if err != nil {
			t.Fatal(err)
		}
		return r[0].Base.Total
	}
	elsewhere := cycles("ldr w3,[x0]\nadd w3,w3,1\nstr w3,[x2,4]\n")
	chained := cycles("ldr w3,[x0]\nadd w3,w3,1\nstr w3,[x0,4]\n")
	if chained < 4.5 || elsewhere > 2.5 {
		t.Errorf("%.2f cycles with a load of what was stored before, %.2f without", chained, elsewhere)
	}
}
