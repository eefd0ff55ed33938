package probe

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/asm"
)

// native is the architecture of this machine, "" if there are no kernels for it.
var native = map[string]asm.Arch{"amd64": asm.X8664, "arm64": asm.AArch64}[runtime.GOARCH]

// TestKernels runs each kernel, which has to count its rounds and to leave alone what Go
// needs. It is run on AArch64 by TestEmulated.
func TestKernels(t *testing.T) {
	if native == "" {
		t.Skip("no kernels for", runtime.GOARCH)
	}
	area := NewArea()
	frames := func() int { return runtime.Callers(0, make([]uintptr, 100)) }
	for _, p := range Table(native) {
		if kernels[p.Name] == nil {
			t.Errorf("%s: has no kernel", p.Name)
			continue
		}
		if !p.Runs() {
			t.Logf("%s: not run, there is no %s", p.Name, p.Needs)
			continue
		}
		before := frames()
		for _, n := range []uint64{1, 2, 1000} {
			if err := p.Run(n, area); err != nil {
				t.Error(err)
			}
		}
		runtime.GC()
		if after := frames(); after != before {
			t.Errorf("%s: %d frames of the stack were %d", p.Name, after, before)
		}
		var zero float64
		if zero != 0 || 1/(1+zero) != 1 {
			t.Errorf("%s: damaged a register", p.Name)
		}
	}
}

func TestEmulated(t *testing.T) {
	qemu, err := exec.LookPath("qemu-aarch64")
	if err != nil || runtime.GOARCH == "arm64" {
		t.Skip("needs qemu-aarch64 on another machine")
	}
	program := filepath.Join(t.TempDir(), "probe.test")
	build := exec.Command("go", "test", "-c", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(qemu, program, "-test.run=^TestKernels$", "-test.v").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestKernels") || strings.Contains(string(out), "not run") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCurrent tells whether a table was changed and its kernels were not made again.
func TestCurrent(t *testing.T) {
	for arch, suffix := range map[asm.Arch]string{asm.X8664: "amd64", asm.AArch64: "arm64"} {
		code, err := os.ReadFile("kernels_" + suffix + ".go")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(code), `const sources = "`+Sum(arch)+`"`) {
			t.Errorf("kernels_%s.go is older than its table: go run -C ../tools ./kernels", suffix)
		}
	}
}

// TestTables checks that names mean the same in both tables, and that those that others
// ask for are there.
func TestTables(t *testing.T) {
	groups := make(map[string]string)
	for _, arch := range []asm.Arch{asm.X8664, asm.AArch64} {
		names := make(map[string]bool)
		for _, p := range Table(arch) {
			names[p.Name] = true
			if g, ok := groups[p.Name]; ok && g != p.Group {
				t.Errorf("%s: %s: is in the group %s, and of the other architecture in %s", arch, p.Name, p.Group, g)
			}
			groups[p.Name] = p.Group
		}
		for _, name := range []string{Chain, Chains} {
			if !names[name] {
				t.Errorf("%s: %s is missing", arch, name)
			}
		}
		if len(names) < 100 {
			t.Errorf("%s: only %v", arch, slices.Sorted(maps.Keys(names)))
		}
	}
}

func TestParse(t *testing.T) {
	const row = "a\tg\t-\tnop; nop\t2\t1\t-\twhat"
	list, err := parse(columns + "\n" + row + "\n")
	if err != nil || len(list) != 1 || len(list[0].Body()) != 4 || list[0].Setup != nil || list[0].Needs != "" {
		t.Errorf("%+v, %v", list, err)
	}
	for _, test := range []struct{ text, want string }{
		{"name\n" + row, "line 1: columns are"},
		{columns + "\n" + row + "\nb\tg", "line 3: 2 columns"},
		{columns + "\n" + row + "\n" + row, "line 3: a second a"},
		{columns + "\na\tg\t-\tnop\t0\t1\t-\twhat", `line 2: unroll "0", count "1"`},
		{columns + "\na\tg\t-\tnop\t1\tx\t-\twhat", `line 2: unroll "1", count "x"`},
		{columns + "\na\tg\t-\t-\t1\t1\t-\twhat", "line 2: the name, the group, the unit or what it tells is missing"},
	} {
		if _, err := parse(test.text); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%q: %v, want %s", test.text, err, test.want)
		}
	}
}
