package unwind

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"profdiff/internal/objfile"
)

// run runs a program in dir and returns its output. The test is skipped without the
// program.
func run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}

func open(t testing.TB, name string) *objfile.File {
	t.Helper()
	f, err := objfile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func module(t testing.TB, source Source) *Module {
	t.Helper()
	m, err := NewModule(source)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// library returns the path of a library that a compiler links.
func library(t testing.TB, compiler, name string) string {
	t.Helper()
	path := strings.TrimSpace(run(t, "", compiler, "-print-file-name="+name))
	if !filepath.IsAbs(path) {
		t.Skipf("%s of %s is not installed", name, compiler)
	}
	return path
}

// registerNames are the names that readelf has for DWARF numbers.
var registerNames = map[string][]string{
	"x86_64":  strings.Fields("rax rdx rcx rbx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip"),
	"386":     strings.Fields("eax ecx edx ebx esp ebp esi edi eip"),
	"aarch64": strings.Fields("x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 x29 x30 sp"),
	"arm":     strings.Fields("r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 r11 r12 r13 r14 r15"),
}

// cell formats a location as readelf does.
func cell(arch string, l location) string {
	switch l.kind {
	case unsaid, undefined:
		return "u"
	case same:
		return "s"
	case atOffset:
		return fmt.Sprintf("c%+d", l.offset)
	case isOffset:
		return fmt.Sprintf("v%+d", l.offset)
	case inRegister:
		return fmt.Sprintf("r%d", l.reg)
	case atExpression:
		return "exp"
	case isExpression:
		return "vexp"
	}
	return "?"
}

// TestRowsOfReadelf compares every row of every function with those that readelf prints.
func TestRowsOfReadelf(t *testing.T) {
	const program = `
void *memset(void *, int, unsigned long);
void exit(int);
extern int g(char *, ...);
int leaf(int a) { return a + 1; }
int variable(int n) { char *p = __builtin_alloca(n); return g(p) + 1; }
int many(int a, int b, int c) { int x = g(0, a), y = g(0, b), z = g(0, c, x, y); return x * y * z * g(0) + a + b + c; }
double floats(double a, double b) { double x = g(0) + a; return x * g(0) * b; }
int early(int a) { if (a) return 0; char b[70000]; memset(b, a, 5); return g(b) + many(a, g(b), 3); }
int main(int argc, char **argv) { exit(g(argv[0])); }
int g(char *p, ...) { return p != 0; }
`
	compile := func(compiler string, args ...string) func(t *testing.T) string {
		return func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte(program), 0o666); err != nil {
				t.Fatal(err)
			}
			run(t, dir, compiler, append(args, "-o", "a", "a.c")...)
			return filepath.Join(dir, "a")
		}
	}
	lib := func(compiler, name string) func(t *testing.T) string {
		return func(t *testing.T) string { return library(t, compiler, name) }
	}
	tests := []struct {
		name, section string
		file          func(t *testing.T) string
		least         int // rows, so that nothing passes for lack of them
	}{
		{"x86-64 libc", ".eh_frame", lib("gcc", "libc.so.6"), 10000},
		{"x86-64 libstdc++", ".eh_frame", lib("g++", "libstdc++.so.6"), 10000},
		{"x86-64 static", ".eh_frame", compile("gcc", "-O2", "-static"), 5000},
		{"aarch64 libc", ".eh_frame", lib("aarch64-linux-gnu-gcc", "libc.so.6"), 5000},
		{"aarch64 libstdc++", ".eh_frame", lib("aarch64-linux-gnu-gcc", "libstdc++.so.6"), 5000},
		{"aarch64 signed", ".eh_frame", compile("aarch64-linux-gnu-gcc", "-O2", "-shared", "-nostdlib", "-fPIC", "-mbranch-protection=pac-ret+leaf+b-key"), 30},
		{"x86", ".eh_frame", compile("gcc", "-m32", "-O2", "-shared", "-nostdlib", "-fPIC"), 30},
		{"Arm", ".debug_frame", compile("arm-linux-gnueabihf-gcc", "-marm", "-O2", "-g", "-shared", "-nostdlib", "-fPIC"), 20},
		{"Thumb", ".debug_frame", compile("arm-linux-gnueabihf-gcc", "-mthumb", "-O2", "-g", "-gz", "-shared", "-nostdlib", "-fPIC"), 20},
		{"Go", ".debug_frame", func(t *testing.T) string {
			name := filepath.Join(t.TempDir(), "a")
			run(t, filepath.Join("..", ".."), "go", "build", "-o", name, "./cmd/profdiff")
			return name
		}, 10000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && test.name == "Go" {
				t.Skip("links for seconds")
			}
			name := test.file(t)
			compareRows(t, name, test.section, test.least)
		})
	}
}

// compareRows compares a section with what readelf prints of it. It is long because the meaning
// of a line depends on those before.
func compareRows(t *testing.T, name, section string, least int) {
	f := open(t, name)
	m := module(t, Source{File: f})
	table, ok := m.frames(f, section).(*frameTable)
	if !ok {
		t.Fatalf("%s has no %s", name, section)
	}
	names := registerNames[f.Arch()]
	functionAt := make(map[uint32]*fde)
	for i := range table.fdes {
		functionAt[table.fdes[i].offset] = &table.fdes[i]
	}
	number := make(map[string]int)
	for i, n := range names {
		number[n] = i
	}

	var columns []string
	var begins map[uint32]bool
	var f0 *fde
	rows, wrong, functions := 0, 0, 0
	done := func() {
		if f0 == nil {
			return
		}
		// Each of our rows begins where one of readelf's does.
		r := table.ran[f0.offset]
		for _, b := range table.begin[r.first : r.first+r.count] {
			if !begins[b] && b != 0 {
				wrong++
				t.Errorf("%#x+%#x: a row that readelf does not have", f0.start, b)
			}
		}
	}
	in := false
	// readelf ends with 1 if the file has no other debug information.
	if _, err := exec.LookPath("readelf"); err != nil {
		t.Skip("readelf is not installed")
	}
	out, err := exec.Command("readelf", "-wFN", name).Output()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	// Registers in registers are "r1 (rdx)".
	text := regexp.MustCompile(`\b(r\d+) \(\w+\)`).ReplaceAllString(string(out), "$1")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "Contents of the ") {
			done()
			f0 = nil
			in = strings.HasPrefix(line, "Contents of the "+section+" section") || strings.HasPrefix(line, "Contents of the .z"+section[1:]+" section")
			continue
		}
		fields := strings.Fields(line)
		switch {
		case !in || len(fields) == 0 || wrong > 10:
		case len(fields) > 3 && fields[3] == "CIE":
			done()
			f0 = nil
		case len(fields) > 3 && fields[3] == "FDE":
			done()
			f0, begins = nil, make(map[uint32]bool)
			offset, err := strconv.ParseUint(fields[0], 16, 32)
			if err != nil {
				t.Fatal(line)
			}
			at, _, _ := strings.Cut(strings.TrimPrefix(fields[len(fields)-1], "pc="), "..")
			start, err := strconv.ParseUint(at, 16, 64)
			if err != nil {
				t.Fatal(line)
			}
			if f0 = functionAt[uint32(offset)]; f0 == nil {
				continue // without code
			}
			functions++
			if f0.start != start {
				t.Fatalf("%s: starts at %#x", line, f0.start)
			}
			table.rowOf(f0, 0)
		case fields[0] == "LOC":
			columns = fields[1:]
		case f0 != nil && fields[1] != "ZERO":
			rows++
			at, err := strconv.ParseUint(fields[0], 16, 64)
			if err != nil || len(fields) != len(columns)+1 {
				t.Fatalf("%q: %v", line, err)
			}
			begins[uint32(at-f0.start)] = true
			got := table.rowOf(f0, uint32(at-f0.start))
			want := make([]string, 0, len(columns))
			have := make([]string, 0, len(columns))
			for i, column := range columns {
				n, ok := number[column]
				switch {
				case column == "CFA":
					have = append(have, cfaCell(names, got.cfa))
				case column == "ra":
					have = append(have, cell(f.Arch(), got.location(int(got.ra))))
				case ok:
					have = append(have, cell(f.Arch(), got.location(n)))
				default:
					continue
				}
				want = append(want, fields[i+1])
			}
			if g, w := strings.Join(have, " "), strings.Join(want, " "); g != w {
				wrong++
				t.Errorf("%#x: %s: got %s, want %s", at, columns, g, w)
			}
		}
	}
	done()
	t.Logf("%d functions, %d rows, %d rules", functions, rows, len(table.rules.list))
	if rows < least {
		t.Errorf("%d rows, want at least %d", rows, least)
	}
}

func cfaCell(names []string, l location) string {
	switch {
	case l.kind == isExpression:
		return "exp"
	case l.kind != inRegister || int(l.reg) >= len(names):
		return "?"
	}
	return fmt.Sprintf("%s%+d", names[l.reg], l.offset)
}
