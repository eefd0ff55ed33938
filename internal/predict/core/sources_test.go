package core

import (
	"math"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/interpret"
)

// firstLoop walks through the first loop of a listing, data branches as often taken as p says.
func firstLoop(t *testing.T, text string, arch asm.Arch, p float64, steps int) (*flow.Graph, *flow.Trace) {
	t.Helper()
	l, err := asm.Parse(text, arch)
	if err != nil {
		t.Fatal(err)
	}
	code := flow.CodeOf(l, l.Functions[0])
	g := code.Root
	if len(g.Loops) == 0 {
		t.Fatal("no loop")
	}
	branch := func(s flow.Site) flow.Branch {
		if e := g.ExitOf(s.At, 0); e.Loop && !e.ByJump {
			return flow.Branch{Taken: 1}
		} else if e.Loop {
			return flow.Branch{}
		}
		return flow.Branch{Taken: p}
	}
	return g, flow.Walk(code, branch, 1, 0, flow.Limits{Steps: steps, Units: steps})
}

// TestSources checks which loads get what was stored before.
func TestSources(t *testing.T) {
	const end = "addq $4,%rdi\ncmpq %rdi,%rsi\njne 1b\n"
	const armEnd = "add x0,x0,4\ncmp x0,x1\nbne 1b\n"
	chance := func(p float64) func(interpret.Comparison) (float64, bool) {
		return func(k interpret.Comparison) (float64, bool) {
			if k.Relation.Negative() {
				return 1 - p, true
			}
			return p, true
		}
	}
	for _, test := range []struct {
		name, text string
		arch       asm.Arch
		p          float64
		share      float64 // of iterations in which a load has a value from a store
		renamed    float64 // of these, those that are expected to
	}{
		{"in order", "1:\nmovl (%rdi),%eax\naddl $1,%eax\nmovl %eax,(%rdi)\n" + end, asm.X8664, 0, 0, 0},
		{"the element before", "1:\nmovl -4(%rdi),%eax\naddl $1,%eax\nmovl %eax,(%rdi)\n" + end, asm.X8664, 0, 1, 1},
		{"two before", "1:\nmovl -8(%rdi),%eax\naddl $1,%eax\nmovl %eax,(%rdi)\n" + end, asm.X8664, 0, 1, 0},
		{"by index and by pointer", "leaq (%rdi,%rcx,4),%r8\n1:\nmovl (%rdi,%rcx,4),%eax\nmovl %eax,4(%r8)\naddq $4,%r8\naddq $1,%rcx\ncmpq %rsi,%r8\njne 1b\n", asm.X8664, 0, 1, 1},
		{"the same at the start", "movq %rdi,%rdx\n1:\nmovl (%rdi),%eax\nmovl %eax,4(%rdx)\naddq $4,%rdx\n" + end, asm.X8664, 0, 1, 1},
		{"elsewhere", "1:\nmovl (%rdi),%eax\nmovl %eax,4(%rdx)\naddq $4,%rdx\n" + end, asm.X8664, 0, 0, 0},
		{"place that moves on by a comparison", "1:\nmovl (%rdi),%eax\nmovl (%rdx),%ecx\nmovl %eax,(%rdx)\nxorl %r8d,%r8d\ncmpl %r9d,%eax\nsetl %r8b\nleaq (%rdx,%r8,4),%rdx\n" + end, asm.X8664, 0.3, 0.7, 0},
		{"that hardly moves", "1:\nmovl (%rdi),%eax\nmovl (%rdx),%ecx\nmovl %eax,(%rdx)\nxorl %r8d,%r8d\ncmpl %r9d,%eax\nsetl %r8b\nleaq (%rdx,%r8,4),%rdx\n" + end, asm.X8664, 0, 1, 1},
		{"through the stack", "1:\nmovl (%rdi),%eax\npushq %rax\npopq %rcx\n" + end, asm.X8664, 0, 1, 1},
		{"by a function that is called", "f:\n1:\nmovl (%rdi),%eax\ncall g\n" + end + "ret\n.type g, @function\ng:\nmovl %eax,4(%rdi)\nret\n", asm.X8664, 0, 1, 1},
		{"A64: vectors", "1:\nld1 {v0.4s}, [x2]\nst1 {v0.4s}, [x2]\n" + armEnd, asm.AArch64, 0, 1, 1},
		{"A64: the element before", "1:\nldr w3,[x0]\nadd w3,w3,1\nstr w3,[x0,4]\n" + armEnd, asm.AArch64, 0, 1, 1},
		{"A64: with the address written back", "1:\nldr w3,[x0],4\nadd w3,w3,1\nstr w3,[x0]\ncmp x0,x1\nbne 1b\n", asm.AArch64, 0, 1, 1},
		{"A64: place by a comparison", "1:\nldr w3,[x0]\nubfiz x4,x3,2,32\ncmp w3,64\nmov x5,256\ncsel x4,x5,x4,hs\nldr w6,[x2,x4]\nadd w6,w6,1\nstr w6,[x2,x4]\n" + armEnd, asm.AArch64, 0.5, 0.5, 0},
		{"A64: place that moves on", "1:\nldr w3,[x0]\nldr w5,[x2,x4,lsl 2]\nstr w3,[x2,x4,lsl 2]\ncmp w3,w6\ncinc x4,x4,lt\n" + armEnd, asm.AArch64, 0.3, 0.7, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, way := firstLoop(t, test.text, test.arch, 0, 8000)
			x := interpret.New(1, chance(test.p))
			x.Start(g, 0)
			f := Of("znver5").Forwarding
			list := f.sources(way, [][]interpret.Access{x.Accesses(way), x.Accesses(way)})
			n, renamed, replayed := 0.0, 0.0, 0
			for i := range list {
				if list[i].store >= 0 {
					n++
				}
				if list[i].renamed {
					renamed++
				}
				if list[i].replay {
					replayed++
				}
			}
			units := float64(len(way.Units))
			if math.Abs(n/units-test.share) > 0.05 {
				t.Errorf("in %.3f of the iterations, want %.2f", n/units, test.share)
			}
			if n > 0 && math.Abs(renamed/n-test.renamed) > 0.05 {
				t.Errorf("%.3f are expected, want %.2f", renamed/n, test.renamed)
			}
			if test.renamed == 1 && replayed > 0 {
				t.Errorf("%d were expected to get another value", replayed)
			}
			if test.share == 0 && list != nil {
				t.Error("there are sources")
			}
		})
	}
}
