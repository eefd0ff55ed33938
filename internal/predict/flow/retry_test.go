package flow

import (
	"testing"

	"profdiff/internal/asm"
)

// TestRetries has loops that only try again what another core prevented, and others with
// atomic operations, as gcc 12, rustc and Go compile them.
func TestRetries(t *testing.T) {
	for _, test := range []struct {
		name    string
		arch    asm.Arch
		code    string
		retries bool
	}{
		{"ldxr, stxr", asm.AArch64, "1: ldxr x0,[x2]\nadd x3,x0,x1\nstxr w4,x3,[x2]\ncbnz w4,1b\nret", true},
		{"compare and exchange by ldxr", asm.AArch64, "1: ldxr x3,[x0]\ncmp x3,x1\nbne 2f\nstlxr w4,x2,[x0]\ncbnz w4,1b\n2: cset w0,eq\nret", true},
		{"lock by ldaxr, stxr", asm.AArch64, "mov w2,1\n1: ldaxr w1,[x0]\nstxr w3,w2,[x0]\ncbnz w3,1b\ncbnz w1,1b\nret", true},
		{"push by ldaxr, stlxr", asm.AArch64, "1: str x2,[x1]\nldaxr x3,[x0]\ncmp x3,x2\nbne 2f\nstlxr w4,x1,[x0]\ncmp w4,0\n2: mov x2,x3\nbne 1b\nret", true},
		{"casal", asm.AArch64, "ldr x1,[x0]\n1: mov x3,x1\nadd x2,x1,1\ncasal x3,x2,[x0]\ncmp x3,x1\nmov x1,x3\nbne 1b\nret", true},
		{"swpa spin lock", asm.AArch64, "mov w1,1\n1: swpa w1,w2,[x0]\ncbnz w2,1b\nret", true},
		{"outlined swap", asm.AArch64, "1: mov w0,1\nmov x1,x19\nbl __aarch64_swp4_acq\ncbnz w0,1b\nret", true},
		{"counter", asm.AArch64, "1: ldadd x1,x2,[x0]\nsubs x3,x3,1\nbne 1b\nret", false},
		{"xchg spin lock", asm.X8664, "movl $1,%edx\njmp 2f\n1: pause\n2: movl %edx,%eax\nxchgl %eax,(%rdi)\ntestl %eax,%eax\njne 1b\nret", true},
		{"waits for a flag", asm.X8664, "1: pause\nmovl (%rdi),%eax\ntestl %eax,%eax\njne 1b\nret", true},
		{"lock cmpxchg", asm.X8664, "movq (%rdi),%rax\n1: leaq 1(%rax),%rdx\nlock cmpxchgq %rdx,(%rdi)\njne 1b\nret", true},
		{"counter", asm.X8664, "xorl %eax,%eax\n1: lock addq $1,counter(%rip)\naddq $1,%rax\ncmpq %rax,%rdi\njne 1b\nret", false},
		{"Arc::clone in a loop", asm.X8664, "1: lock incq (%rdi)\njle 2f\nmovq %rdi,(%rsi,%rcx,8)\nincq %rcx\ncmpq %rcx,%rdx\njne 1b\nret\n2: ud2", false},
		{"xadd until a limit", asm.X8664, "1: movl $1,%eax\nlock xaddl %eax,(%rdi)\nmovl $0,(%rsi,%rax,4)\ncmpl %edx,%eax\njl 1b\nret", false},
		{"no atomic operation", asm.X8664, "1: addq $1,%rax\ncmpq %rax,%rdi\njne 1b\nret", false},
	} {
		l, err := asm.Parse(test.code+"\n", test.arch)
		if err != nil {
			t.Fatal(err)
		}
		g := Of(l, l.Functions[0])
		if len(g.Loops) != 1 || g.Retries(0) != test.retries {
			t.Errorf("%s, %s: %d loops, retries: %v, want %v", test.name, test.arch, len(g.Loops), !test.retries, test.retries)
		}
		if _, err := g.MainLoop(); (err != nil) != test.retries {
			t.Errorf("%s, %s: main loop: %v", test.name, test.arch, err)
		}
		for i := range g.Insts {
			if taken, retry := g.Retry(i); retry && g.Back(i) && taken == (g.Insts[i].To >= 0 && g.Insts[i].To <= i) {
				t.Errorf("%s, %s: a core alone tries again at %s", test.name, test.arch, g.Insts[i].Text)
			}
		}
	}
}
