package interpret

import (
	"math"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
)

// walkOf walks through the first loop of a listing, data branches as often taken as p says.
func walkOf(t *testing.T, text string, arch asm.Arch, p float64, steps int) (*flow.Graph, *flow.Trace) {
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

// TestOutcomes checks that what replaces a branch has its outcomes as often: the branchy
// code is asked how often its branch is taken, the other how often it writes a register
// that is not zero.
func TestOutcomes(t *testing.T) {
	const end = "addq $4,%rdi\ncmpq %rdi,%rsi\njne 1b\n"
	branchy := func(compare, jump string) string {
		return "1:\nmovl (%rdi),%eax\n" + compare + "\n" + jump + " 2f\naddl %eax,%ecx\n2:\n" + end
	}
	const armEnd = "add x0,x0,4\ncmp x0,x1\nbne 1b\n"
	branchyArm := func(compare, jump string) string {
		return "1:\nldr w3,[x0]\n" + compare + jump + " 2f\nadd w2,w2,w3\n2:\n" + armEnd
	}
	const taken = 0.1
	for _, test := range []struct {
		name       string
		arch       asm.Arch
		branchy    string
		branchless string
		register   asm.Register
		share      float64
		mask       uint64
		guessed    bool
	}{
		{"setl for jge", asm.X8664, branchy("cmpl %edx,%eax", "jge"), "xorl %r8d,%r8d\ncmpl %edx,%eax\nsetl %r8b\n", 8, 0.9, 1, false},
		{"operands exchanged", asm.X8664, branchy("cmpl %edx,%eax", "jge"), "xorl %r8d,%r8d\ncmpl %eax,%edx\nsetg %r8b\n", 8, 0.9, 1, false},
		{"cmov above 63 for ja", asm.X8664, branchy("cmpl $63,%eax", "ja"), "xorl %r8d,%r8d\nmovl $1,%r9d\ncmpl $64,%eax\ncmovnb %r9d,%r8d\n", 8, 0.1, 1, false},
		{"adc", asm.X8664, branchy("cmpl $63,%eax", "ja"), "xorl %r8d,%r8d\ncmpl $64,%eax\nadcl $0,%r8d\n", 8, 0.9, 1, false},
		{"sbb of itself", asm.X8664, branchy("cmpl %edx,%eax", "jb"), "cmpl %edx,%eax\nsbbl %r8d,%r8d\nandl $1,%r8d\n", 8, 0.1, 1, false},
		{"carry of neg", asm.X8664, branchy("testl %eax,%eax", "jne"), "negl %eax\nsbbl %r8d,%r8d\nandl $1,%r8d\n", 8, 0.1, 1, false},
		{"sign of neg", asm.X8664, branchy("testl %eax,%eax", "jg"), "xorl %r8d,%r8d\nmovl $1,%r9d\nnegl %eax\ncmovs %r9d,%r8d\n", 8, 0.1, 1, false},
		{"numbers are ordered", asm.X8664, branchy("testl %eax,%eax", "jg"), "xorl %r8d,%r8d\nmovd %eax,%xmm0\nucomiss %xmm1,%xmm0\nsetnp %r8b\n", 8, 1, 1, false},
		{"compared with one", asm.X8664, branchy("testl %eax,%eax", "je"), "xorl %r8d,%r8d\ncmpl $1,%eax\nadcl $0,%r8d\n", 8, 0.1, 1, false},
		{"sign by a shift", asm.X8664, branchy("testl %eax,%eax", "js"), "movl %eax,%r8d\nshrl $31,%r8d\n", 8, 0.1, 1, false},
		{"sign by cltd", asm.X8664, branchy("testl %eax,%eax", "jns"), "cltd\nmovl %edx,%r8d\nandl $1,%r8d\n", 8, 0.9, 1, false},
		{"one bit", asm.X8664, branchy("testb $4,%al", "jne"), "movl %eax,%r8d\nandl $4,%r8d\n", 8, 0.1, 4, false},
		{"another relation", asm.X8664, branchy("cmpl %edx,%eax", "jge"), "xorl %r8d,%r8d\ncmpl %edx,%eax\nsete %r8b\n", 8, 0.5, 1, true},
		{"no branch", asm.X8664, "1:\nmovl (%rdi),%eax\n" + end, "xorl %r8d,%r8d\ncmpl %edx,%eax\nsetl %r8b\n", 8, 0.5, 1, true},
		{"cset", asm.AArch64, branchyArm("cmp w3,w4\n", "blt"), "cmp w3,w4\ncset w8,lt\n", 8, 0.1, 1, false},
		{"numbers", asm.AArch64, branchyArm("cmp w3,w4\n", "blt"), "fmov s0,w3\nfcmp s0,s1\ncset w8,mi\n", 8, 0.1, 1, false},
		{"numbers are ordered", asm.AArch64, branchyArm("cmp w3,w4\n", "blt"), "fmov s0,w3\nfcmp s0,s1\ncset w8,vs\n", 8, 0, 1, false},
		{"one of two comparisons", asm.AArch64, branchyArm("cbz w3,", ""), "cmp w3,w4\nccmp w3,0,0,lt\ncset w8,eq\n", 8, 0.5, 1, true},
		{"cinc", asm.AArch64, branchyArm("cmp w3,63\n", "bhi"), "mov w8,wzr\ncmp w3,63\ncinc w8,w8,ls\n", 8, 0.9, 1, false},
		{"csel", asm.AArch64, branchyArm("cmp w3,63\n", "bhi"), "mov w9,1\ncmp w3,64\ncsel w8,w9,wzr,lo\n", 8, 0.9, 1, false},
		{"for cbnz", asm.AArch64, branchyArm("", "cbnz w3,"), "cmp w3,0\ncset w8,eq\n", 8, 0.9, 1, false},
		{"for tbnz of the sign", asm.AArch64, branchyArm("", "tbnz w3,31,"), "lsr w8,w3,31\n", 8, 0.1, 1, false},
		{"for tbz of a bit", asm.AArch64, branchyArm("", "tbz w3,2,"), "and w8,w3,4\n", 8, 0.9, 4, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, way := walkOf(t, test.branchy, test.arch, taken, 400)
			x := New(1, nil)
			x.Start(g, 0)
			var chances []Chance
			for _, a := range x.Comparisons(way, func(s flow.Site) bool { return !g.ExitOf(s.At, 0).Loop }) {
				chances = append(chances, Chance{Comparison: a.Comparison, P: taken})
			}
			text := "1:\nmovl (%rdi),%eax\n" + test.branchless + end
			if test.arch == asm.AArch64 {
				text = "1:\nldr w3,[x0]\n" + test.branchless + armEnd
			}
			g, way = walkOf(t, text, test.arch, 0.5, 40000)
			x = New(2, ChancesOf(chances))
			x.Start(g, 0)
			n, set := 0.0, 0.0
			var from origin
			for i := range way.Steps {
				s := way.Steps[i].Site
				if g.Insts[s.At].Kind == disasm.Conditional {
					n++
					v := x.read(test.register)
					from |= v.from
					if v.bits == test.mask {
						set++
					} else if v.bits != 0 {
						t.Fatalf("register %#x", v.bits)
					}
				}
				x.do(s, int32(i))
			}
			if math.Abs(set/n-test.share) > 0.03 {
				t.Errorf("in %.3f of %g iterations, want %.2f", set/n, n, test.share)
			}
			if guessed := from&fromGuess != 0; guessed != test.guessed {
				t.Errorf("guessed: %v", guessed)
			}
		})
	}
}

// TestDataAddresses checks that it is said where data themselves decide where is stored.
func TestDataAddresses(t *testing.T) {
	const end = "addq $4,%rdi\ncmpq %rdi,%rsi\njne 1b\n"
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"histogram", "1:\nmovl (%rdi),%eax\naddl $1,(%rdx,%rax,4)\n" + end, true},
		{"by a known outcome", "1:\nxorl %eax,%eax\ncmpl $5,(%rdi)\nsetl %al\naddl $1,(%rdx,%rax,4)\n" + end, false},
		{"pointer in memory", "1:\nmovq (%r8),%rdx\nmovl %eax,(%rdx)\n" + end, false},
	} {
		g, way := walkOf(t, test.text, asm.X8664, 0, 2000)
		x := New(1, func(Comparison) (float64, bool) { return 0.5, true })
		x.Start(g, 0)
		x.Accesses(way)
		x.Accesses(way)
		x.Doubted = false // what was seen the first time is not known yet
		x.Accesses(way)
		x.Accesses(way)
		if x.Doubted != test.want {
			t.Errorf("%s: %v", test.name, x.Doubted)
		}
	}
}
