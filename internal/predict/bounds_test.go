package predict

import (
	"testing"

	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
)

// TestAtBounds checks that walks at the bounds of a branch have what the bounds allow, and
// that there are none where all is known.
func TestAtBounds(t *testing.T) {
	g := graphOfText(t, `.L1: movl (%rdi), %eax
testl %eax, %eax
je .L2
addl %eax, %ecx
.L2: addq $4, %rdi
cmpq %rsi, %rdi
jne .L1
ret
`)
	for _, test := range []struct {
		name   string
		bounds *flow.Bounds
		ok     bool
		taken  [2]float64 // of the branch to .L2, the least and the most in any walk
		missed [2]float64
	}{
		{"known", nil, true, [2]float64{0.25, 0.25}, [2]float64{0.1, 0.1}},
		{"misses", &flow.Bounds{Taken: [2]float64{0.25, 0.25}, Miss: [2]float64{0, 0.25}}, true, [2]float64{0.25, 0.25}, [2]float64{0, 0.25}},
		{"taken", &flow.Bounds{Taken: [2]float64{0, 1}, Miss: [2]float64{0.1, 0.1}}, true, [2]float64{0, 1}, [2]float64{0.1, 0.1}},
		{"unknown", nil, false, [2]float64{0, 1}, [2]float64{0, 0.5}},
	} {
		rates := Rates{Source: SourceMeasured, Branch: func(g *flow.Graph, at int) (flow.Branch, bool) {
			if g.Insts[at].Target == ".L1" {
				return flow.Branch{Taken: 0.9999}, true
			}
			return flow.Branch{Taken: 0.25, Miss: 0.1, Bounds: test.bounds}, test.ok
		}}
		limits := flow.Limits{Steps: coreSteps, Units: coreSteps}
		w := &work{side: &Side{Code: &flow.Code{Root: g}, Rates: rates, Work: 1}, branches: rates.branches(0, g)}
		w.walks = []*flow.Trace{flow.Walk(w.side.Code, w.branches, 1, 0, limits)}
		w.walks = append(w.walks, w.atBounds(limits)...)
		taken, missed := [2]float64{1, 0}, [2]float64{1, 0}
		for _, walk := range w.walks {
			var n, jumps, misses float64
			for i := range walk.Steps {
				s := &walk.Steps[i]
				if s.Inst().Kind != disasm.Conditional || s.Inst().Target != ".L2" {
					continue
				}
				n++
				if s.Taken {
					jumps++
				}
				if s.Miss {
					misses++
				}
			}
			taken = [2]float64{min(taken[0], jumps/n), max(taken[1], jumps/n)}
			missed = [2]float64{min(missed[0], misses/n), max(missed[1], misses/n)}
		}
		for i, got := range [4]float64{taken[0], taken[1], missed[0], missed[1]} {
			if want := [4]float64{test.taken[0], test.taken[1], test.missed[0], test.missed[1]}[i]; got < want-0.03 || got > want+0.03 {
				t.Errorf("%s: taken %.3f, mispredicted %.3f, want %.3f and %.3f", test.name, taken, missed, test.taken, test.missed)
				break
			}
		}
	}
}
