package predict

import (
	"math"
	"testing"

	"profdiff/internal/disasm"
)

// walkOf walks through the first loop of a listing, data branches as often taken as p says.
func walkOf(t *testing.T, text string, arch Arch, p float64, steps int) (*Graph, *trace) {
	t.Helper()
	l, err := ParseAsm(text, arch)
	if err != nil {
		t.Fatal(err)
	}
	code := l.Code(l.Functions[0])
	g := code.Root
	if len(g.Loops) == 0 {
		t.Fatal("no loop")
	}
	branch := func(s site) Branch {
		if e := g.exitOf(s.at, 0); e.loop && !e.byJump {
			return Branch{Taken: 1}
		} else if e.loop {
			return Branch{}
		}
		return Branch{Taken: p}
	}
	return g, newWalker(code, branch, 1).walk(0, walkLimits{steps, steps})
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
		arch       Arch
		branchy    string
		branchless string
		register   register
		share      float64
		mask       uint64
		guessed    bool
	}{
		{"setl for jge", X8664, branchy("cmpl %edx,%eax", "jge"), "xorl %r8d,%r8d\ncmpl %edx,%eax\nsetl %r8b\n", 8, 0.9, 1, false},
		{"operands exchanged", X8664, branchy("cmpl %edx,%eax", "jge"), "xorl %r8d,%r8d\ncmpl %eax,%edx\nsetg %r8b\n", 8, 0.9, 1, false},
		{"cmov above 63 for ja", X8664, branchy("cmpl $63,%eax", "ja"), "xorl %r8d,%r8d\nmovl $1,%r9d\ncmpl $64,%eax\ncmovnb %r9d,%r8d\n", 8, 0.1, 1, false},
		{"adc", X8664, branchy("cmpl $63,%eax", "ja"), "xorl %r8d,%r8d\ncmpl $64,%eax\nadcl $0,%r8d\n", 8, 0.9, 1, false},
		{"sbb of itself", X8664, branchy("cmpl %edx,%eax", "jb"), "cmpl %edx,%eax\nsbbl %r8d,%r8d\nandl $1,%r8d\n", 8, 0.1, 1, false},
		{"carry of neg", X8664, branchy("testl %eax,%eax", "jne"), "negl %eax\nsbbl %r8d,%r8d\nandl $1,%r8d\n", 8, 0.1, 1, false},
		{"sign of neg", X8664, branchy("testl %eax,%eax", "jg"), "xorl %r8d,%r8d\nmovl $1,%r9d\nnegl %eax\ncmovs %r9d,%r8d\n", 8, 0.1, 1, false},
		{"numbers are ordered", X8664, branchy("testl %eax,%eax", "jg"), "xorl %r8d,%r8d\nmovd %eax,%xmm0\nucomiss %xmm1,%xmm0\nsetnp %r8b\n", 8, 1, 1, false},
		{"compared with one", X8664, branchy("testl %eax,%eax", "je"), "xorl %r8d,%r8d\ncmpl $1,%eax\nadcl $0,%r8d\n", 8, 0.1, 1, false},
		{"sign by a shift", X8664, branchy("testl %eax,%eax", "js"), "movl %eax,%r8d\nshrl $31,%r8d\n", 8, 0.1, 1, false},
		{"sign by cltd", X8664, branchy("testl %eax,%eax", "jns"), "cltd\nmovl %edx,%r8d\nandl $1,%r8d\n", 8, 0.9, 1, false},
		{"one bit", X8664, branchy("testb $4,%al", "jne"), "movl %eax,%r8d\nandl $4,%r8d\n", 8, 0.1, 4, false},
		{"another relation", X8664, branchy("cmpl %edx,%eax", "jge"), "xorl %r8d,%r8d\ncmpl %edx,%eax\nsete %r8b\n", 8, 0.5, 1, true},
		{"no branch", X8664, "1:\nmovl (%rdi),%eax\n" + end, "xorl %r8d,%r8d\ncmpl %edx,%eax\nsetl %r8b\n", 8, 0.5, 1, true},
		{"cset", AArch64, branchyArm("cmp w3,w4\n", "blt"), "cmp w3,w4\ncset w8,lt\n", 8, 0.1, 1, false},
		{"numbers", AArch64, branchyArm("cmp w3,w4\n", "blt"), "fmov s0,w3\nfcmp s0,s1\ncset w8,mi\n", 8, 0.1, 1, false},
		{"numbers are ordered", AArch64, branchyArm("cmp w3,w4\n", "blt"), "fmov s0,w3\nfcmp s0,s1\ncset w8,vs\n", 8, 0, 1, false},
		{"one of two comparisons", AArch64, branchyArm("cbz w3,", ""), "cmp w3,w4\nccmp w3,0,0,lt\ncset w8,eq\n", 8, 0.5, 1, true},
		{"cinc", AArch64, branchyArm("cmp w3,63\n", "bhi"), "mov w8,wzr\ncmp w3,63\ncinc w8,w8,ls\n", 8, 0.9, 1, false},
		{"csel", AArch64, branchyArm("cmp w3,63\n", "bhi"), "mov w9,1\ncmp w3,64\ncsel w8,w9,wzr,lo\n", 8, 0.9, 1, false},
		{"for cbnz", AArch64, branchyArm("", "cbnz w3,"), "cmp w3,0\ncset w8,eq\n", 8, 0.9, 1, false},
		{"for tbnz of the sign", AArch64, branchyArm("", "tbnz w3,31,"), "lsr w8,w3,31\n", 8, 0.1, 1, false},
		{"for tbz of a bit", AArch64, branchyArm("", "tbz w3,2,"), "and w8,w3,4\n", 8, 0.9, 4, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, way := walkOf(t, test.branchy, test.arch, taken, 400)
			x := newInterpreter(1, nil)
			x.start(g, 0)
			var chances []chance
			for _, a := range x.comparisons(way, func(s site) bool { return !g.exitOf(s.at, 0).loop }) {
				chances = append(chances, chance{a.comparison, taken})
			}
			text := "1:\nmovl (%rdi),%eax\n" + test.branchless + end
			if test.arch == AArch64 {
				text = "1:\nldr w3,[x0]\n" + test.branchless + armEnd
			}
			g, way = walkOf(t, text, test.arch, 0.5, 40000)
			x = newInterpreter(2, chancesOf(chances))
			x.start(g, 0)
			n, set := 0.0, 0.0
			var from origin
			for i := range way.steps {
				s := way.steps[i].site
				if g.Insts[s.at].Kind == disasm.Conditional {
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

// TestSources checks which loads get what was stored before.
func TestSources(t *testing.T) {
	const end = "addq $4,%rdi\ncmpq %rdi,%rsi\njne 1b\n"
	const armEnd = "add x0,x0,4\ncmp x0,x1\nbne 1b\n"
	chance := func(p float64) func(comparison) (float64, bool) {
		return func(k comparison) (float64, bool) {
			if k.relation.negative() {
				return 1 - p, true
			}
			return p, true
		}
	}
	for _, test := range []struct {
		name, text string
		arch       Arch
		p          float64
		share      float64 // of iterations in which a load has a value from a store
		renamed    float64 // of these, those that are expected to
	}{
		{"in order", "1:\nmovl (%rdi),%eax\naddl $1,%eax\nmovl %eax,(%rdi)\n" + end, X8664, 0, 0, 0},
		{"the element before", "1:\nmovl -4(%rdi),%eax\naddl $1,%eax\nmovl %eax,(%rdi)\n" + end, X8664, 0, 1, 1},
		{"two before", "1:\nmovl -8(%rdi),%eax\naddl $1,%eax\nmovl %eax,(%rdi)\n" + end, X8664, 0, 1, 0},
		{"by index and by pointer", "leaq (%rdi,%rcx,4),%r8\n1:\nmovl (%rdi,%rcx,4),%eax\nmovl %eax,4(%r8)\naddq $4,%r8\naddq $1,%rcx\ncmpq %rsi,%r8\njne 1b\n", X8664, 0, 1, 1},
		{"the same at the start", "movq %rdi,%rdx\n1:\nmovl (%rdi),%eax\nmovl %eax,4(%rdx)\naddq $4,%rdx\n" + end, X8664, 0, 1, 1},
		{"elsewhere", "1:\nmovl (%rdi),%eax\nmovl %eax,4(%rdx)\naddq $4,%rdx\n" + end, X8664, 0, 0, 0},
		{"place that moves on by a comparison", "1:\nmovl (%rdi),%eax\nmovl (%rdx),%ecx\nmovl %eax,(%rdx)\nxorl %r8d,%r8d\ncmpl %r9d,%eax\nsetl %r8b\nleaq (%rdx,%r8,4),%rdx\n" + end, X8664, 0.3, 0.7, 0},
		{"that hardly moves", "1:\nmovl (%rdi),%eax\nmovl (%rdx),%ecx\nmovl %eax,(%rdx)\nxorl %r8d,%r8d\ncmpl %r9d,%eax\nsetl %r8b\nleaq (%rdx,%r8,4),%rdx\n" + end, X8664, 0, 1, 1},
		{"through the stack", "1:\nmovl (%rdi),%eax\npushq %rax\npopq %rcx\n" + end, X8664, 0, 1, 1},
		{"by a function that is called", "f:\n1:\nmovl (%rdi),%eax\ncall g\n" + end + "ret\n.type g, @function\ng:\nmovl %eax,4(%rdi)\nret\n", X8664, 0, 1, 1},
		{"A64: vectors", "1:\nld1 {v0.4s}, [x2]\nst1 {v0.4s}, [x2]\n" + armEnd, AArch64, 0, 1, 1},
		{"A64: the element before", "1:\nldr w3,[x0]\nadd w3,w3,1\nstr w3,[x0,4]\n" + armEnd, AArch64, 0, 1, 1},
		{"A64: with the address written back", "1:\nldr w3,[x0],4\nadd w3,w3,1\nstr w3,[x0]\ncmp x0,x1\nbne 1b\n", AArch64, 0, 1, 1},
		{"A64: place by a comparison", "1:\nldr w3,[x0]\nubfiz x4,x3,2,32\ncmp w3,64\nmov x5,256\ncsel x4,x5,x4,hs\nldr w6,[x2,x4]\nadd w6,w6,1\nstr w6,[x2,x4]\n" + armEnd, AArch64, 0.5, 0.5, 0},
		{"A64: place that moves on", "1:\nldr w3,[x0]\nldr w5,[x2,x4,lsl 2]\nstr w3,[x2,x4,lsl 2]\ncmp w3,w6\ncinc x4,x4,lt\n" + armEnd, AArch64, 0.3, 0.7, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, way := walkOf(t, test.text, test.arch, 0, 8000)
			x := newInterpreter(1, chance(test.p))
			x.start(g, 0)
			f := coreOf("znver5").Forwarding
			list := x.sources(way, &f)
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
			units := float64(len(way.units))
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
		g, way := walkOf(t, test.text, X8664, 0, 2000)
		x := newInterpreter(1, func(comparison) (float64, bool) { return 0.5, true })
		x.start(g, 0)
		x.sources(way, &Forwarding{})
		x.doubted = false // what was seen the first time is not known yet
		x.sources(way, &Forwarding{})
		if x.doubted != test.want {
			t.Errorf("%s: %v", test.name, x.doubted)
		}
	}
}

// TestMemoryChain checks that LLVM's models, too, let loads wait for stores.
func TestMemoryChain(t *testing.T) {
	tool := findLLVM(t)
	machine, err := NewMachine(tool, AArch64, "neoverse-n1", nil)
	if err != nil {
		t.Fatal(err)
	}
	cycles := func(code string) float64 {
		l, err := ParseAsm("1:\n"+code+"add x0,x0,4\ncmp x0,x1\nbne 1b\nret\n", AArch64)
		if err != nil {
			t.Fatal(err)
		}
		side := &Side{Name: "side", Code: l.Code(l.Functions[0]), Loop: 0, Work: 1, Rates: Rates{Source: SourceKnown, Branch: func(*Graph, int) (Branch, bool) {
			return Branch{Taken: 1}, true
		}}}
		p := Predictor{Tool: tool, Machine: machine}
		r, err := p.Predict(t.Context(), []*Pair{{Name: "pair", Base: side, Head: side, Source: SourceKnown}})
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
