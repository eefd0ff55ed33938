package flow

import (
	"fmt"
	"strings"
	"testing"

	"profdiff/internal/asm"

	"github.com/google/go-cmp/cmp"
)

func listing(t testing.TB, text string) *Graph {
	t.Helper()
	l, err := asm.Parse(text, "")
	if err != nil {
		t.Fatal(err)
	}
	return Of(l, l.Functions[0])
}

func TestLoops(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string // header: blocks, depth
	}{
		{"none", "testl %eax, %eax\nje .L1\nnop\n.L1: ret\n", nil},
		{"one block", ".L1: addl $1, %eax\njne .L1\nret\n", []string{"0: [0] 1"}},
		{"nested", ".L1: xorl %ecx, %ecx\n.L2: incl %ecx\ncmpl $3, %ecx\njne .L2\ndecl %eax\njne .L1\nret\n", []string{"0: [0 1 2] 1", "1: [1] 2"}},
		{"continue", ".L1: decl %eax\njs .L1\nincl %ecx\njne .L1\nret\n", []string{"0: [0 1] 1"}},
		{"two entries", "jne .L2\n.L1: incl %eax\n.L2: decl %ecx\njne .L1\nret\n", []string{"1: [1 2] 1 irreducible"}},
		{"infinite", ".L1: jmp .L1\n", []string{"0: [0] 1"}},
		{"unreachable", "ret\n.L1: incl %eax\njne .L1\nret\n", []string{"1: [1] 1"}},
		{"aarch64", ".L1:\nsubs w0, w0, #1\nb.ne .L1\nret\n", []string{"0: [0] 1"}},
	} {
		g := listing(t, test.text)
		var got []string
		for _, l := range g.Loops {
			s := fmt.Sprintf("%d: %v %d", l.Header, l.Blocks, l.Depth)
			if l.Irreducible {
				s += " irreducible"
			}
			got = append(got, s)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// TestManyLoops checks that time does not grow with the square of the code.
func TestManyLoops(t *testing.T) {
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, ".L%d: incl %%eax\njne .L%d\n", i, i)
	}
	for i := range 2000 {
		fmt.Fprintf(&b, ".M%d: incl %%eax\n", i)
	}
	for i := range 2000 {
		fmt.Fprintf(&b, "jne .M%d\n", 1999-i)
	}
	b.WriteString("ret\n")
	if g := listing(t, b.String()); len(g.Loops) < 20000 {
		t.Errorf("%d loops", len(g.Loops))
	}
}

func TestPathsOfLoop(t *testing.T) {
	g := listing(t, ".L1: movl (%rdi), %eax\ntestl %eax, %eax\nje .L2\naddl %eax, %ecx\n.L2: addq $4, %rdi\ncmpq %rsi, %rdi\njne .L1\nret\n")
	paths, all := g.Paths(0)
	var got []string
	for _, p := range paths {
		var s []string
		for i := range p {
			at := fmt.Sprint(p[i].At)
			if p[i].Taken {
				at += "t"
			}
			s = append(s, at)
		}
		got = append(got, strings.Join(s, " "))
	}
	if diff := cmp.Diff([]string{"0 1 2 3 4 5 6t", "0 1 2t 4 5 6t"}, got); diff != "" || !all {
		t.Error(all, diff)
	}
}

func TestWalk(t *testing.T) {
	// A branch taken once in four times, and an inner loop of three trips.
	g := listing(t, `.L1: movl (%rdi), %eax
testl %eax, %eax
je .L2
addl %eax, %ecx
.L2: movl $3, %edx
.L3: decl %edx
jne .L3
addq $4, %rdi
cmpq %rsi, %rdi
jne .L1
ret
`)
	branch := func(s Site) Branch {
		switch s.Inst().Target {
		case ".L2":
			return Branch{Taken: 0.25, Miss: 0.2}
		case ".L3":
			return Branch{Taken: 2.0 / 3}
		}
		return Branch{Taken: 0.999}
	}
	code := &Code{Root: g}
	walk := func(seed uint64) *Trace {
		return Walk(code, branch, seed, 0, Limits{Steps: 8000, Units: 400})
	}
	tr := walk(1)
	if diff := cmp.Diff(tr.Units, walk(1).Units); diff != "" {
		t.Errorf("another walk of the same seed: %s", diff)
	}
	counts := make(map[string]float64)
	trips := make(map[int]int)
	n := 0
	for i := range tr.Steps {
		s := &tr.Steps[i]
		target := g.Insts[s.At].Target
		counts[target]++
		if s.Taken {
			counts[target+" taken"]++
		}
		if s.Miss {
			counts[target+" missed"]++
		}
		if target == ".L3" {
			n++
			if !s.Taken {
				trips[n]++
				n = 0
			}
		}
	}
	units := float64(len(tr.Units))
	if units != 400 {
		t.Errorf("%g units", units)
	}
	if p := counts[".L2 taken"] / counts[".L2"]; p < 0.23 || p > 0.27 {
		t.Errorf("taken in %.3f of the executions, not in 0.25", p)
	}
	if m := counts[".L2 missed"] / counts[".L2"]; m < 0.17 || m > 0.23 {
		t.Errorf("mispredicted in %.3f of the executions, not in 0.2", m)
	}
	if diff := cmp.Diff(map[int]int{3: 400}, trips); diff != "" {
		t.Errorf("trips of the inner loop: %s", diff)
	}
}

func TestCallsAreFollowed(t *testing.T) {
	text := `	.type	helper, @function
helper:
	addl	%edi, %eax
	ret
	.size	helper, .-helper
	.type	f, @function
f:
.L1:	movl	(%rsi), %edi
	call	helper
	call	elsewhere
	decq	%rdx
	jne	.L1
	ret
	.size	f, .-f
`
	l, err := asm.Parse(text, "")
	if err != nil {
		t.Fatal(err)
	}
	f, _ := l.Function("f")
	code := CodeOf(l, f)
	tr := Walk(code, func(Site) Branch { return Branch{Taken: 0.999} }, 1, 0, Limits{Steps: 100, Units: 1})
	var got []string
	for i := range tr.Steps {
		s := &tr.Steps[i]
		got = append(got, s.Graph.Name+" "+strings.Fields(s.Inst().Text)[0])
	}
	want := []string{"f movl", "f call", "helper addl", "helper ret", "f call", "f decq", "f jne"}
	if diff := cmp.Diff(want, got); diff != "" || tr.Calls != 1 {
		t.Error(tr.Calls, diff)
	}
}

func TestDataDependentExits(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"counted", ".L1: movl (%rdi), %eax\naddl %eax, %ecx\naddq $4, %rdi\ncmpq %rsi, %rdi\njne .L1\nret\n", false},
		{"compares memory", ".L1: subq $4, %rdi\ncmpl %eax, (%rdi)\njg .L1\nret\n", true},
		{"compares what was loaded", ".L1: movl (%rdi), %eax\naddq $4, %rdi\ntestl %eax, %eax\njne .L1\nret\n", true},
		{"made of what was loaded", ".L1: movl (%rdi), %eax\nleal 1(%rax), %ecx\naddq $4, %rdi\ncmpl %ecx, %esi\njne .L1\nret\n", true},
		{"compares what a call returned", ".L1: movq %rbx, %rdi\ncall compare\naddq $8, %rbx\ntestl %eax, %eax\njle .L1\nret\n", true},
		{"calls and counts", ".L1: call next\ndecl %ebx\njne .L1\nret\n", false},
		{"aarch64, counted", ".L1: ldr w1, [x0], #4\nadd w2, w2, w1\ncmp x0, x3\nb.ne .L1\nret\n", false},
		{"aarch64, returned", ".L1: mov x0, x19\nbl compare\nadd x19, x19, #8\ncbz w0, .L1\nret\n", true},
		{"aarch64, loaded", ".L1: ldrb w1, [x0], #1\ncbnz w1, .L1\nret\n", true},
	} {
		g := listing(t, test.text)
		at := -1
		for i := range g.Insts {
			if g.Insts[i].Kind.String() == "conditional" {
				at = i
			}
		}
		if got := g.DependsOnData(at); got != test.want {
			t.Errorf("%s: depends on data: %t, want %t", test.name, got, test.want)
		}
	}
}

func TestStoresByData(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       bool
	}{
		{"histogram", ".L1: movl (%rdi), %eax\naddq $4, %rdi\naddl $1, (%rdx,%rax,4)\ncmpq %rdi, %rsi\njne .L1\n", true},
		{"place by a comparison, in the array itself", ".L1: movl (%rdi,%rax,4), %ecx\nmovl (%rdi,%r8,4), %r9d\nmovl %r9d, (%rdi,%rax,4)\nmovl %ecx, (%rdi,%r8,4)\ncmpl %edx, %ecx\nsetl %cl\nmovzbl %cl, %ecx\naddq %rcx, %r8\naddq $1, %rax\njne .L1\n", true},
		{"place by a comparison, elsewhere", ".L1: movl (%rdi), %ecx\nmovl %ecx, (%r10,%r8,4)\ncmpl %edx, %ecx\nsetl %cl\nmovzbl %cl, %ecx\naddq %rcx, %r8\naddq $4, %rdi\njne .L1\n", false},
		{"in order", ".L1: movl (%rdi,%rax,4), %ecx\naddl $1, %ecx\nmovl %ecx, (%rdi,%rax,4)\naddq $1, %rax\njne .L1\n", false},
		{"on the stack", ".L1: movl 8(%rsp), %eax\naddl $1, %eax\nmovl %eax, 8(%rsp)\ncmpl %eax, %ecx\njne .L1\n", false},
		{"nothing stored", ".L1: movl (%rdi,%rax,4), %eax\ncmpl %eax, %ecx\njne .L1\n", false},
	} {
		g := listing(t, test.text)
		if got := g.StoresByData(0); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
		if g.StoresByData(-1) {
			t.Errorf("%s: without a loop", test.name)
		}
	}
}
