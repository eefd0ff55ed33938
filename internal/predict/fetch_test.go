package predict

import (
	"math"
	"strings"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/predict/flow"
)

// TestFetchMeasured compares loops with what they take on the machine whose core is known:
// rows of copies, which nothing but the front end limits, and calls.
func TestFetchMeasured(t *testing.T) {
	tool := findLLVM(t)
	machine, err := NewMachine(tool, asm.X8664, "znver5", nil)
	if err != nil {
		t.Fatal(err)
	}
	copies := func(n int) string { return strings.Repeat("movq %rax, %r8\n", n) }
	// before places the start of the loop so many copies before the end of a region.
	before := func(n int) string {
		bytes := 64 - 3*n
		return copies(bytes/3) + strings.Repeat("nop\n", bytes%3) + "1:\n"
	}
	const skip = "cmpl %eax, %eax\nje 2f\naddq $1, %r9\n2:\n"
	for _, test := range []struct {
		name, code string
		cycles     float64
	}{
		{"8", copies(7), 1.07},
		{"12", copies(11), 1.52},
		{"13", copies(12), 3.00},
		{"20", copies(19), 2.99},
		{"21 in two regions", copies(20), 3.98},
		{"48", copies(48), 6.95},
		{"4 before a region of 12", before(4) + copies(4+11), 2.00},
		{"4 before a region of 14", before(4) + copies(4+13), 2.25},
		{"8 before a region of 18", before(8) + copies(8+17), 3.24},
		{"12 before a region of 12", before(12) + copies(12+11), 2.99},
		{"14 before a region of 10", before(14) + copies(14+9), 3.98},
		{"blocks of 4 and 4", copies(3) + skip + copies(3), 1.05},
		{"blocks of 7 and 4", copies(6) + skip + copies(3), 1.55},
		{"two jumps", "jmp 2f\naddq $1, %r10\n2: addq $1, %r11\njmp 3f\naddq $1, %r10\n3: addq $1, %r11\n", 2.03},
		{"call", "call g\n", 3.98},
		{"call and jump", "call g\n" + skip + "addq $1, %r11\n", 4.97},
	} {
		text := "\t.p2align 6\n\t.type f, @function\nf:\n"
		if !strings.Contains(test.code, "1:\n") {
			text += "1:\n"
		}
		text += test.code + "decq %rdi\njne 1b\nret\n\t.p2align 6\n\t.type g, @function\ng:\naddq $1, %r8\nret\n"
		l, err := asm.Parse(text, asm.X8664)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		f, ok := l.Function("f")
		if !ok {
			t.Fatal("no function")
		}
		side := &Side{Name: test.name, Code: flow.CodeOf(l, f), Loop: 0, Work: 1, Rates: Rates{Source: SourceKnown, Branch: func(*flow.Graph, int) (flow.Branch, bool) {
			return flow.Branch{Taken: 1}, true
		}}}
		p := Predictor{Tool: tool, Machine: machine}
		r, err := p.predict(t.Context(), []*Pair{{Name: test.name, Base: side, Head: side, Source: SourceKnown}})
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := r[0].Base.Total; math.Abs(math.Log(got/test.cycles)) > math.Log(1.12) {
			t.Errorf("%s: %.2f cycles, measured %.2f", test.name, got, test.cycles)
		}
	}
}
