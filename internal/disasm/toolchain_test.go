package disasm

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"profdiff/internal/objfile"
)

// open returns the code of a file.
func open(t testing.TB, name string) *Code {
	t.Helper()
	data, err := os.Open(name)
	if err != nil && strings.Contains(name, "shared") {
		t.Skip("the recordings in ../shared/perfdata are not here")
	}
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	t.Cleanup(func() { data.Close() })
	info, err := data.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := objfile.New(data, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	code, err := New(file)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

// agreement compares the code of a file with llvm-objdump's reading of it.
// Instructions that are allowed may differ; nil allows none.
func agreement(t *testing.T, name string, allowed func(*llvmInst) bool) {
	code := open(t, name)
	arm := code.Arch() == "aarch64"
	var total, unknown, lengths, kinds, excused int
	report := func(want *llvmInst, format string, args ...any) {
		if allowed != nil && allowed(want) {
			excused++
		} else if lengths+kinds <= 20 {
			t.Errorf("%#x: %s: %s", want.addr, want.text, fmt.Sprintf(format, args...))
		}
	}
	llvmObjdump(t, name, func(want llvmInst) {
		if strings.Contains(want.text, "<unknown>") || want.text == "" || strings.HasPrefix(want.text, ".") {
			unknown++
			return
		}
		total++
		got, err := code.Decode(want.addr)
		if err != nil || got.Len != want.len {
			lengths++
			report(&want, "length %d, want %d (%v)", got.Len, want.len, err)
			return
		}
		kind, target := want.kind(arm)
		if code.relocatable && got.Target == 0 {
			target = 0 // of a relocation
		}
		if got.Kind != kind || got.Target != target {
			kinds++
			report(&want, "%v to %#x, want %v to %#x", got.Kind, got.Target, kind, target)
		}
	})
	t.Logf("%s: %d instructions, %d not known to llvm-objdump, %d lengths and %d kinds or targets differ, %d of them may",
		filepath.Base(name), total, unknown, lengths, kinds, excused)
	if total == 0 {
		t.Error("llvm-objdump printed no instructions")
	}
}

func TestProgramsAgainstLLVM(t *testing.T) {
	if testing.Short() {
		t.Skip("disassembles whole programs")
	}
	tool(t, "llvm-objdump")
	for _, name := range programs(t) {
		t.Run(filepath.Base(name), func(t *testing.T) { agreement(t, name, nil) })
	}
	t.Run("go for arm64", func(t *testing.T) { agreement(t, goProgram(t, "arm64"), nil) })
}

// programs are files with much code that a machine may have.
func programs(t testing.TB) []string {
	return []string{
		"/usr/bin/perf", "/lib/x86_64-linux-gnu/libc.so.6", goCommand(t), "../../../shared/perfdata/lbr/test.binary",
	}
}

// goCommand returns the path of the go command.
func goCommand(t testing.TB) string {
	root, err := exec.Command(tool(t, "go"), "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(root)), "bin", "go")
}

// goProgram builds a program for another machine.
func goProgram(t testing.TB, arch string) string {
	path := filepath.Join(t.TempDir(), "pack")
	cmd := exec.Command(tool(t, "go"), "build", "-o", path, "cmd/pack")
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("go build for %s: %v\n%s", arch, err, out)
	}
	return path
}

// compile compiles a file of testdata and returns the object or program.
func compile(t testing.TB, source string, command ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	args := append(command[1:], "-o", path, filepath.Join("testdata", source))
	if out, err := exec.Command(tool(t, command[0]), args...).CombinedOutput(); err != nil {
		t.Skipf("%s cannot compile that: %v\n%s", strings.Join(command, " "), err, out)
	}
	return path
}

func TestCompiledAgainstLLVM(t *testing.T) {
	tool(t, "llvm-objdump")
	for _, command := range []string{
		"gcc -O3 -march=skylake-avx512 -mprefer-vector-width=512",
		"gcc -O3 -march=znver3",
		"clang -O3 -march=skylake-avx512 -mprefer-vector-width=512",
		"clang -O3 -march=znver3",
		"clang -O3 -march=bdver4", // XOP, FMA4, TBM
		"clang -O3 -march=sapphirerapids",
		"clang -O2 -m32",
		"clang -O2 --target=aarch64-linux-gnu",
		"clang -O3 --target=aarch64-linux-gnu -march=armv8.5-a+lse+sve2 -mbranch-protection=standard",
	} {
		t.Run(command, func(t *testing.T) {
			agreement(t, compile(t, "kernels.c", append(strings.Fields(command), "-ffast-math", "-ffreestanding", "-c")...), nil)
		})
	}
}

// TestBytesAgainstLLVM compares random bytes, most of which no compiler emits.
func TestBytesAgainstLLVM(t *testing.T) {
	tool(t, "llvm-objdump")
	n := 20000
	if testing.Short() {
		n = 2000
	}
	// What may differ: whether a 66 prefix makes a near branch 16 bits (AMD) or not
	// (Intel), prefixes before VEX and EVEX, which fault, and an operand or address
	// size prefix, or REX, that llvm-objdump does not apply because another prefix
	// follows it.
	const prefix = `(?:[23][6e]|4[0-9a-f]|6[4-7]|f[023]) `
	branch := regexp.MustCompile(`^(?:.* )?(?:j[a-z]+|call[lqw]?) `)
	ignored := regexp.MustCompile(`^(?:` + prefix + `)*(?:6[67]|4[0-9a-f]) ` + prefix)
	vector := regexp.MustCompile(`^(?:` + prefix + `)+(?:c[45]|62|8f) `)
	allowed := func(i *llvmInst) bool {
		return branch.MatchString(i.text) && strings.Contains(i.raw, "66") || ignored.MatchString(i.raw) || vector.MatchString(i.raw)
	}
	for name, first := range map[string][]byte{
		"plain": nil, "0f": {0x0f}, "66 0f": {0x66, 0x0f}, "f2 0f": {0xf2, 0x0f}, "rex": {0x48},
		"vex2": {0xc5}, "vex3": {0xc4}, "evex": {0x62}, "xop": {0x8f},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, uint64(len(name))))
			var text []byte
			for range n {
				at := len(text)
				text = append(text, first...)
				for range 16 {
					text = append(text, byte(r.Uint32()))
				}
				p := text[at+len(first):]
				switch name {
				case "vex3":
					p[0] = p[0]&0xe0 | 1 + p[0]%3
				case "xop":
					p[0] = p[0]&0xe0 | 8 + p[0]%3
				case "evex":
					p[0] = p[0]&0xf0 | 1 + p[0]%3
					p[1] |= 4
				}
				for range 15 { // so that one does not shift the next
					text = append(text, 0x90)
				}
			}
			m := image{machine: elf.EM_X86_64, parts: []part{{".text", textAddr, text}}}
			path := filepath.Join(t.TempDir(), "bytes")
			if err := os.WriteFile(path, m.bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			agreement(t, path, allowed)
		})
	}
}

// TestPrograms checks the graphs of all functions of real programs.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at whole programs")
	}
	check := func(t *testing.T, name string) {
		code := open(t, name)
		var functions, insts, loops, irreducible, tables, incomplete int
		starts := make(map[uint64]bool)
		for _, f := range code.bounds().frames {
			starts[f.start] = true
		}
		for _, s := range code.bounds().list {
			starts[s.start] = true
		}
		for addr := range starts {
			f, err := code.FunctionAt(addr)
			if err != nil {
				continue // a symbol without code
			}
			functions++
			insts += len(f.Insts)
			loops += len(f.Loops)
			checkFunction(t, f)
			for _, l := range f.Loops {
				if l.Irreducible {
					irreducible++
				}
			}
			for _, b := range f.Blocks {
				if f.Insts[b.End-1].Kind == IndirectJump && len(b.Succs) > 0 {
					tables++
				}
			}
			if f.Incomplete != "" {
				incomplete++
			}
		}
		t.Logf("%d functions, %d instructions, %d loops, %d irreducible, %d jump tables, %d functions incomplete",
			functions, insts, loops, irreducible, tables, incomplete)
		if functions == 0 || loops == 0 || incomplete > functions/20 || irreducible > loops/5 {
			t.Error("that is not what compilers make")
		}
	}
	for _, name := range programs(t) {
		t.Run(filepath.Base(name), func(t *testing.T) { check(t, name) })
	}
	t.Run("go for arm64", func(t *testing.T) { check(t, goProgram(t, "arm64")) })
}

// TestSwitches compiles a switch of which the number of cases is known.
func TestSwitches(t *testing.T) {
	for _, command := range []string{
		"gcc -O2 -fPIC -shared",
		"gcc -O2 -fcf-protection=full -fPIC -shared",
		"gcc -O2 -fno-pic -no-pie -nostdlib -Wl,-e,dense",
		"clang -O2 -fPIC -shared",
		"clang -O2 -fno-pic -no-pie -nostdlib -Wl,-e,dense",
		"clang -O2 --target=aarch64-linux-gnu -fPIC -shared -nostdlib -fuse-ld=lld",
		"aarch64-linux-gnu-gcc -O2 --param case-values-threshold=4 -fPIC -shared -nostdlib",
	} {
		t.Run(command, func(t *testing.T) {
			code := open(t, compile(t, "switches.c", strings.Fields(command)...))
			symbols := code.bounds().symbols
			for s := range symbols.All() {
				want, ok := map[string]int{"dense": 8, "offset": 9, "looped": 8, "nested": 14}[s.Name]
				if !ok {
					continue
				}
				f, err := code.FunctionAt(s.Addr)
				if err != nil {
					t.Fatal(err)
				}
				checkFunction(t, f)
				if f.Incomplete != "" {
					t.Errorf("%s: incomplete: %s", s.Name, f.Incomplete)
				}
				targets := 0
				for _, b := range f.Blocks {
					if f.Insts[b.End-1].Kind == IndirectJump {
						targets += len(b.Succs)
					}
					if !b.Reachable {
						t.Errorf("%s: block at %#x is not reached", s.Name, f.Insts[b.First].Addr)
					}
				}
				if targets < want {
					t.Errorf("%s: %d targets of jump tables, want %d", s.Name, targets, want)
				}
			}
		})
	}
}
