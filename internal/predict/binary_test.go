package predict

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
)

// TestCompilers reads what compilers write, and compares the instructions with those of
// the object files.
func TestCompilers(t *testing.T) {
	source := filepath.Join(casesDir, "heap-sift", "branchy.c")
	for _, compiler := range [][]string{
		{"gcc", "-O2"},
		{"gcc", "-O0", "-g"},
		{"clang", "-O2", "--target=x86_64-linux-gnu"},
		{"clang", "-O2", "-g", "--target=aarch64-linux-gnu"},
		{"aarch64-linux-gnu-gcc", "-O2", "-g"},
	} {
		t.Run(strings.Join(compiler, " "), func(t *testing.T) {
			if _, err := exec.LookPath(compiler[0]); err != nil {
				t.Skipf("%s is not installed", compiler[0])
			}
			args := append(compiler[1:], "-ffreestanding", "-S", "-o", "-", source)
			out, err := exec.Command(compiler[0], args...).Output()
			if err != nil {
				t.Skipf("%s: %v", compiler[0], err)
			}
			l, err := asm.Parse(string(out), "")
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "a.o")
			args = append(compiler[1:], "-ffreestanding", "-c", "-o", file, source)
			if err := exec.Command(compiler[0], args...).Run(); err != nil {
				t.Fatal(err)
			}
			b, err := open(file)
			if err != nil {
				t.Fatal(err)
			}
			if b.Arch != l.Arch {
				t.Errorf("arch %s, want %s", l.Arch, b.Arch)
			}
			for _, fn := range l.Functions {
				g := flow.Of(l, fn)
				addr, _, err := b.FunctionNamed(func(name string) bool { return name == fn.Name })
				if err != nil {
					t.Fatalf("%s: %v", fn.Name, err)
				}
				f, err := b.Function(addr)
				if err != nil {
					t.Fatal(err)
				}
				conditional, calls := 0, 0
				for i := range f.Insts {
					switch f.Insts[i].Kind {
					case disasm.Conditional:
						conditional++
					case disasm.Call:
						calls++
					}
				}
				if got := g.Branches(); got != conditional {
					t.Errorf("%s: %d conditional branches, the object file has %d", fn.Name, got, conditional)
				}
				if len(g.Loops) != len(f.Loops) {
					t.Errorf("%s: %d loops, the object file has %d", fn.Name, len(g.Loops), len(f.Loops))
				}
				for i := range g.Loops {
					if i < len(f.Loops) && (g.Loops[i].Depth != f.Loops[i].Depth || g.Loops[i].Irreducible != f.Loops[i].Irreducible) {
						t.Errorf("%s: loop %d is %+v, in the object file %+v", fn.Name, i, g.Loops[i], f.Loops[i])
					}
				}
			}
		})
	}
}
