package predict

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzParseAsm reads anything as assembly and walks through what comes out.
func FuzzParseAsm(f *testing.F) {
	for _, seed := range asmSeeds {
		f.Add(seed)
	}
	files, err := filepath.Glob(filepath.Join(casesDir, "*", "*.s"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseAsm(text, "")
		if (l == nil) == (err == nil) {
			t.Fatalf("listing %v and error %v", l, err)
		}
		if err != nil {
			return
		}
		for _, fn := range append(l.Functions, l.Regions...) {
			if fn.First < 0 || fn.End > len(l.Insts) || fn.First > fn.End {
				t.Fatalf("function %+v of %d instructions", fn, len(l.Insts))
			}
			if fn.First == fn.End {
				continue
			}
			c := l.Code(fn)
			g := c.Root
			for i := range g.Insts {
				if to := g.Insts[i].to; to < -1 || to >= len(g.Insts) {
					t.Fatalf("target %d of %d", to, len(g.Insts))
				}
				operationOf(g.Arch, g.Insts[i].Text)
				standIn(g.Arch, &g.Insts[i], nil)
			}
			loop, err := g.MainLoop()
			if err != nil {
				loop = -1
			}
			s := &Side{Code: c, Loop: loop, Work: 1, Rates: Rates{Source: SourceAssumed}}
			newWalker(c, s.Rates.branches(loop, g), 1).walk(loop, walkLimits{200, 20})
			s.stride()
			g.paths(loop)
		}
	})
}

var asmSeeds = []string{
	"addq $1, %rax\n",
	"1:\tdecl %ecx\n\tjne 1b\n",
	"f:\n\tjmp 2f\n2:\tret\n",
	"cmp x0, #0\nb.le #8\nmov w1, #1\nret\n",
	".L1:\n\tcbz x0, .L1\n\tret\n",
	"# LLVM-MCA-BEGIN a\nnop\n# LLVM-MCA-END\nnop\n",
	"\"quoted name\":\n\tcall \"quoted name\"; ret\n",
	"/* a\n b */ nop\n",
	".section .text.hot,\"ax\",@progbits\nlock addl $1, (%rdi)\n.data\nx: .long 1\n",
	"a = 5\n.set b, 6\nnop\n",
	"jmp *(%rax)\n",
	"\tbr x0\n\tadd x0, x1, x2\n",
}
