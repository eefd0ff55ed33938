package predict

import (
	"cmp"
	"math"
	"strconv"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/interpret"
)

// coreCycles is what a loop takes on a core, by its own model of memory, if comparisons
// of data hold as often as chance says.
func coreCycles(t *testing.T, machine *Machine, text string, chance func(interpret.Comparison) (float64, bool)) float64 {
	t.Helper()
	tool := findLLVM(t)
	l, err := asm.Parse(text, asm.X8664)
	if err != nil {
		t.Fatal(err)
	}
	side := &Side{Code: flow.CodeOf(l, l.Functions[0]), Loop: 0, Work: 1, Rates: Rates{Source: SourceKnown, Branch: func(*flow.Graph, int) (flow.Branch, bool) {
		return flow.Branch{Taken: 1}, true
	}}}
	p := Predictor{Tool: tool, Machine: machine}
	w, err := p.prepare(side)
	if err != nil {
		t.Fatal(err)
	}
	w.chance = chance
	s, err := p.simulate(t.Context(), []*work{w}, w.regions)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := p.alone(t.Context(), []*work{w})
	if err != nil {
		t.Fatal(err)
	}
	c, err := p.finish(w, s, &alone[0])
	if err != nil {
		t.Fatal(err)
	}
	return c.Total
}

// TestForwardingMeasured compares loops that load what they have just stored with what
// they take on the machine whose core is known.
func TestForwardingMeasured(t *testing.T) {
	tool := findLLVM(t)
	machine, err := NewMachine(tool, asm.X8664, "znver5", nil)
	if err != nil {
		t.Fatal(err)
	}
	const bit = "xorl %r8d,%r8d\ncmpl $0,(%rdi)\nsetne %r8b\naddq $4,%rdi\n"
	const advance = bit + "movl (%rdx,%rax,4),%r10d\nmovl %r8d,(%rdx,%rax,4)\naddq %r8,%rax\n"
	for _, test := range []struct {
		name, code string
		cycles     map[float64]float64 // by how often the comparison holds
		within     float64             // 1.2 if it is 0
	}{
		{
			"what was stored, or another", bit + "movl %esi,(%rdx,%rsi,4)\nmovq %rsi,%r9\nxorq %r8,%r9\nmovl (%rdx,%r9,4),%eax\naddl %eax,%r10d\n",
			map[float64]float64{0: 1.49, 0.01: 1.97, 0.02: 2.34, 0.05: 2.66, 0.1: 1.74, 0.3: 1.57},
			0,
		},
		{"a place that moves on", advance, map[float64]float64{0: 1.52, 0.01: 1.99, 0.02: 2.44, 0.05: 2.92, 0.1: 1.79, 0.5: 1.54}, 1.3},
		{"beside a chain", advance + "imulq %r11,%r11\nimulq %r11,%r11\n", map[float64]float64{0: 5.97, 0.02: 6.63, 0.05: 6.90, 0.1: 6.20, 0.5: 5.98}, 0},
		{"sums at a place that moves on", bit + "addl %r8d,(%rdx,%rax,4)\naddq %r8,%rax\n", map[float64]float64{0: 1.42, 0.01: 2.03, 0.02: 2.67, 0.05: 3.95, 0.1: 3.32, 0.2: 2.43, 0.5: 1.76, 1: 1.40}, 1.55},
		{
			"one place or another", "movl %esi,%r9d\nandl $63,%r9d\ncmpl $0,(%rdi)\nmovl $100,%r8d\ncmovne %r8,%r9\naddq $4,%rdi\naddl $1,(%rdx,%r9,4)\n",
			map[float64]float64{0: 1.39, 0.1: 1.51, 0.3: 2.15, 0.5: 3.49, 0.9: 6.27, 1: 1.39},
			0,
		},
		{"the element before", "movl (%rdx),%eax\naddl $1,%eax\naddq $4,%rdx\nmovl %eax,(%rdx)\n", map[float64]float64{0: 1.02}, 0},
		{"two before", "movl -4(%rdx),%eax\naddl $1,%eax\naddq $4,%rdx\nmovl %eax,(%rdx)\n", map[float64]float64{0: 3.98}, 0},
		{"three before", "movl -8(%rdx),%eax\naddl $1,%eax\naddq $4,%rdx\nmovl %eax,(%rdx)\n", map[float64]float64{0: 2.66}, 0},
		{"the byte before", "movzbl (%rdx),%eax\naddl $1,%eax\naddq $1,%rdx\nmovb %al,(%rdx)\n", map[float64]float64{0: 7.96}, 0},
		{"the same place", "addl $1,(%rdx)\n", map[float64]float64{0: 1.00}, 0},
		{"the same three", "addl $1,(%rdx)\naddl $1,4(%rdx)\naddl $1,8(%rdx)\n", map[float64]float64{0: 1.50}, 0},
	} {
		for p, want := range test.cycles {
			if testing.Short() && p != 0 && p != 0.05 && p != 0.5 {
				continue
			}
			t.Run(test.name+" at "+strconv.FormatFloat(p, 'g', -1, 64), func(t *testing.T) {
				text := "\t.p2align 6\nxorl %eax,%eax\n1:\n" + test.code + "decq %rsi\njne 1b\nret\n"
				got := coreCycles(t, machine, text, func(k interpret.Comparison) (float64, bool) {
					if k.Relation.Negative() {
						return p, true
					}
					return 1 - p, true
				})
				if math.Abs(math.Log(got/want)) > math.Log(cmp.Or(test.within, 1.2)) {
					t.Errorf("%.2f cycles, measured %.2f", got, want)
				}
			})
		}
	}
}
