package core

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"profdiff/internal/asm"
	"profdiff/internal/predict/flow"
)

const kernels = "../../../mca-cases"

// TestPlaces compares the addresses of the instructions of the kernels with those that
// the assembler gives them.
func TestPlaces(t *testing.T) {
	for _, tool := range []string{"gcc", "objdump"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	files, err := filepath.Glob(filepath.Join(kernels, "*", "*.x86-64.s"))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "objdump", "-i").Output(); err != nil || !strings.Contains(string(out), "elf64-x86-64") {
		t.Skip("objdump does not read code for x86-64")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		l, err := asm.Parse(string(text), asm.X8664)
		if err != nil {
			t.Fatal(err)
		}
		object := filepath.Join(t.TempDir(), "kernel.o")
		if out, err := exec.CommandContext(t.Context(), "gcc", "-c", "-o", object, file).CombinedOutput(); err != nil {
			t.Skipf("gcc does not assemble code for x86-64: %s", out)
		}
		out, err := exec.CommandContext(t.Context(), "objdump", "-d", "--no-show-raw-insn", object).Output()
		if err != nil {
			t.Fatal(err)
		}
		var want []uint64
		scan := bufio.NewScanner(strings.NewReader(string(out)))
		for scan.Scan() {
			f := strings.SplitN(scan.Text(), ":\t", 2)
			if len(f) != 2 || strings.Contains(f[1], "nop") || f[1] == "" || strings.Contains(f[1], "xchg   %ax,%ax") {
				continue
			}
			at, err := strconv.ParseUint(strings.TrimSpace(f[0]), 16, 64)
			if err != nil {
				continue
			}
			want = append(want, at)
		}
		if len(want) != len(l.Insts) {
			t.Errorf("%s: %d instructions, objdump has %d", file, len(l.Insts), len(want))
			continue
		}
		k := 0
		for _, f := range l.Functions {
			g := flow.Of(l, f)
			places, _ := placesOf(g, 0)
			for i := range g.Insts {
				if got := places[i]; got != want[k]-want[f.First] {
					t.Errorf("%s: line %d: %s at %#x, want %#x", file, g.Insts[i].Line, g.Insts[i].Text, got, want[k]-want[f.First])
					k += len(g.Insts) - i
					break
				}
				k++
			}
		}
	}
}
