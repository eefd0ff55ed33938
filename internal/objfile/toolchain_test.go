package objfile

import (
	"bytes"
	"crypto/md5"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// tryRun is run for features that not every version of a program has.
func tryRun(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	program, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("this %s cannot %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func source(t testing.TB, name string) string {
	t.Helper()
	abs, err := filepath.Abs(filepath.Join("testdata", "src", name))
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

func open(t testing.TB, name string) *File {
	t.Helper()
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func lines(t testing.TB, f *File) *LineTable {
	t.Helper()
	l, err := f.Lines()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Err(); err != nil {
			t.Errorf("line table: %v", err)
		}
	})
	return l
}

// lineOf returns the number of the line of a file that ends with a comment.
func lineOf(t *testing.T, file, comment string) int {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(data), "\n") {
		if strings.HasSuffix(line, "// "+comment) {
			return i + 1
		}
	}
	t.Fatalf("no line %q in %s", comment, file)
	return 0
}

// TestMD5 finds the digest of a source file, where the compiler writes one.
func TestMD5(t *testing.T) {
	src := source(t, "inline.c")
	text, err := os.ReadFile(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		compiler, flag string
		want           bool
	}{{"clang", "-gdwarf-5", true}, {"clang", "-gdwarf-4", false}} {
		exe := filepath.Join(t.TempDir(), "exe")
		tryRun(t, filepath.Dir(src), test.compiler, "-O2", test.flag, "-o", exe, src)
		f := open(t, exe)
		table, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		l, found := lines(t, f), false
		for s := range table.All() {
			if s.Name != "outer" {
				continue
			}
			found = true
			sum, ok := l.MD5(s.Addr, l.Frames(s.Addr)[0].File)
			if ok != test.want || ok && sum != md5.Sum(text) {
				t.Errorf("%s: %x, %t, the text has %x", test.flag, sum, ok, md5.Sum(text))
			}
			if sum, ok := l.MD5(s.Addr, "/other.c"); ok {
				t.Errorf("%s: another file has %x", test.flag, sum)
			}
		}
		if !found {
			t.Errorf("%s: there is no function outer", test.flag)
		}
	}
}

// TestInlined finds the innermost of three nested functions by its own name, in
// the output of several compilers.
func TestInlined(t *testing.T) {
	tests := []struct {
		source, compiler string
		args             []string
		env              string
	}{
		{"inline.c", "gcc", []string{"-O2", "-g", "-o"}, ""},
		{"inline.c", "gcc", []string{"-O2", "-gdwarf-4", "-o"}, ""},
		{"inline.c", "gcc", []string{"-O1", "-gdwarf-3", "-gstrict-dwarf", "-o"}, ""},
		{"inline.c", "gcc", []string{"-O2", "-gdwarf-2", "-o"}, ""},
		{"inline.c", "gcc", []string{"-O2", "-g", "-flto", "-o"}, ""},
		{"inline.c", "gcc", []string{"-O2", "-g1", "-o"}, ""},
		{"inline.c", "clang", []string{"-O2", "-g", "-o"}, ""},
		{"inline.cc", "g++", []string{"-O2", "-g", "-o"}, ""},
		{"inline.cc", "g++", []string{"-O2", "-gdwarf-4", "-fdebug-types-section", "-o"}, ""},
		{"inline.cc", "clang++", []string{"-O2", "-g", "-o"}, ""},
		{"inline.rs", "rustc", []string{"-O", "-g", "-o"}, ""},
		{"inline.rs", "rustc", []string{"-O", "-g", "-C", "dwarf-version=5", "-o"}, ""},
		{"inline.go", "go", []string{"build", "-trimpath=false", "-o"}, ""},
		{"inline.go", "go", []string{"build", "-trimpath=false", "-ldflags=-compressdwarf=false", "-o"}, "GOEXPERIMENT=nodwarf5"},
	}
	// As these end, with a namespace before them in Rust, a package in Go.
	want := []string{"leaf_inlined", "mid_inlined", "outer"}
	for _, test := range tests {
		t.Run(test.compiler+" "+strings.Join(test.args, " "), func(t *testing.T) {
			t.Parallel()
			if key, value, ok := strings.Cut(test.env, "="); ok {
				if _, err := exec.LookPath("env"); err != nil {
					t.Skip("env is not installed")
				}
				test.args = append([]string{key + "=" + value, test.compiler}, test.args...)
				test.compiler = "env"
			}
			src := source(t, test.source)
			exe := filepath.Join(t.TempDir(), "exe")
			tryRun(t, filepath.Dir(src), test.compiler, append(test.args, exe, src)...)
			f := open(t, exe)
			table, err := f.Symbols()
			if err != nil {
				t.Fatal(err)
			}
			l := lines(t, f)
			var outer Symbol
			for s := range table.All() {
				if s.Name == "outer" || s.Name == "main.outer" || s.Name == "_ZN4shop4Cart5outerEi" {
					outer = s
				}
			}
			if outer.Len == 0 {
				t.Fatal("no symbol for outer")
			}
			wantLines := []int{
				lineOf(t, src, "line of leaf_inlined"),
				lineOf(t, src, "call of leaf_inlined"),
				lineOf(t, src, "call of mid_inlined"),
			}
			seen := make(map[string]bool)
			for addr := outer.Addr; addr < outer.Addr+outer.Len; addr++ {
				frames := l.Frames(addr)
				// The standard library may be inlined further.
				frames = frames[max(len(frames)-3, 0):]
				var got strings.Builder
				match := len(frames) == 3
				for i, f := range frames {
					match = match && strings.HasSuffix(f.Name, want[i]) && f.Line == wantLines[i]
					fmt.Fprintf(&got, "%s:%d ", f.Name, f.Line)
				}
				if !match {
					seen[got.String()] = true
					continue
				}
				for i, f := range frames {
					if f.File != src {
						t.Errorf("frame %d at %#x: got file %q, want %q", i, addr, f.File, src)
					}
					if f.Inlined != (i < 2) {
						t.Errorf("frame %d at %#x: inlined %v", i, addr, f.Inlined)
					}
					if f.StartLine <= 0 || f.StartLine > f.Line {
						t.Errorf("frame %d at %#x: starts at line %d, is at line %d", i, addr, f.StartLine, f.Line)
					}
					if mangled := strings.HasSuffix(src, ".cc"); mangled != strings.HasPrefix(f.LinkageName, "_ZN4shop4Cart") && !strings.HasSuffix(src, ".rs") {
						t.Errorf("frame %d at %#x: linkage name %q", i, addr, f.LinkageName)
					}
				}
				return
			}
			t.Errorf("no address has frames %v at lines %v; got %q", want, wantLines, slices.Sorted(maps.Keys(seen)))
		})
	}
}

func linkage(f Frame) string {
	if f.LinkageName != "" {
		return f.LinkageName
	}
	return f.Name
}

// library builds the C++ program with more flags.
func library(t testing.TB, flags ...string) string {
	t.Helper()
	src := source(t, "library.cc")
	exe := filepath.Join(t.TempDir(), "library")
	run(t, filepath.Dir(src), "g++", append([]string{"-O2", "-ffunction-sections", "-Wl,--gc-sections", "-Wl,--build-id", "-o", exe, src}, flags...)...)
	return exe
}

// addresses returns n addresses of .text.
func addresses(t testing.TB, f *File, n int) []uint64 {
	t.Helper()
	s, ok := f.Section(".text")
	if !ok {
		t.Fatal("no .text")
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	list := make([]uint64, n)
	for i := range list {
		list[i] = s.Vaddr + rnd.Uint64N(s.Size)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// TestLibrary builds a C++ program with several forms of debug information and
// compares what they say.
func TestLibrary(t *testing.T) {
	exe5 := library(t, "-g", "-gdwarf-5", "-rdynamic")
	exe4 := library(t, "-g", "-gdwarf-4", "-rdynamic")
	t.Run("formats", func(t *testing.T) { testDebugFormats(t, exe5, exe4) })
	t.Run("symbols", func(t *testing.T) { testSymbolsAgainstReadelf(t, exe5) })
	t.Run("concurrently", func(t *testing.T) { testFramesConcurrently(t, exe5) })
	t.Run("broken lines", func(t *testing.T) { testBrokenLines(t, exe5) })
	t.Run("qualified names", func(t *testing.T) { testQualifiedNames(t, exe5) })
	// addr2line confuses the file numbers of DWARF 5 (binutils 2.40).
	t.Run("addr2line", func(t *testing.T) {
		testFramesAgainst(t, exe4, false, "addr2line", "-a", "-f", "-i", "-e")
	})
	for _, exe := range []string{exe4, exe5} {
		t.Run("llvm-symbolizer", func(t *testing.T) {
			testFramesAgainst(t, exe, true, "llvm-symbolizer", "--no-demangle", "--inlines", "--output-style=LLVM", "-a", "-e")
		})
	}
}

// testDebugFormats checks that all forms of debug information of one program say
// the same.
func testDebugFormats(t *testing.T, exe5, exe4 string) {
	baseline := open(t, exe5)
	addrs := addresses(t, baseline, 2000)
	want := framesAt(lines(t, baseline), addrs)
	inlined := 0
	for _, frames := range want {
		if len(frames) > 3 {
			inlined++
		}
	}
	if inlined < len(addrs)/4 {
		t.Errorf("only %d of %d addresses are inlined deeply", inlined, len(addrs))
	}
	compare := func(t *testing.T, l *LineTable) {
		t.Helper()
		if diff := cmp.Diff(want, framesAt(l, addrs)); diff != "" {
			t.Errorf("frames (-DWARF 5 +this):\n%s", diff)
		}
	}
	t.Run("-gdwarf-4", func(t *testing.T) { compare(t, lines(t, open(t, exe4))) })
	others := [][]string{{"-gdwarf-5", "-gdwarf64"}, {"-gdwarf-3"}, {"-gdwarf-2"}}
	if testing.Short() {
		others = nil // each takes the compiler seconds
	}
	for _, flags := range others {
		t.Run(strings.Join(flags, " "), func(t *testing.T) {
			compare(t, lines(t, open(t, library(t, append([]string{"-g", "-rdynamic"}, flags...)...))))
		})
	}
	t.Run("type units", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes the compiler seconds")
		}
		// GCC does not say in which namespace a class is that has a type unit.
		l := lines(t, open(t, library(t, "-g", "-rdynamic", "-gdwarf-4", "-fdebug-types-section")))
		got := framesAt(l, addrs)
		if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b Frame) bool {
			const scope = "app::(anonymous namespace)::"
			a.Name, b.Name = strings.TrimPrefix(a.Name, scope), strings.TrimPrefix(b.Name, scope)
			return a == b
		})); diff != "" {
			t.Errorf("frames (-DWARF 5 +type units):\n%s", diff)
		}
	})
	for i, exe := range []string{exe4, exe5} {
		for _, flag := range []string{
			"--compress-debug-sections=zlib", "--compress-debug-sections=zlib-gnu", "--compress-debug-sections=zstd",
			"--remove-section=.debug_aranges",
		} {
			t.Run(fmt.Sprintf("DWARF %d objcopy %s", 4+i, flag), func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "out")
				tryRun(t, "", "objcopy", flag, exe, out)
				compare(t, lines(t, open(t, out)))
			})
		}
	}
	t.Run("dwz", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "out")
		tryRun(t, "", "dwz", "-o", out, exe4)
		compare(t, lines(t, open(t, out)))
	})
	for _, form := range []struct{ name, exe, flag string }{{"dwz -m", exe4, "-q"}, {"dwz -m, DWARF 5", exe5, "--dwarf-5"}} {
		t.Run(form.name, func(t *testing.T) {
			dir := t.TempDir()
			run(t, dir, "cp", form.exe, "one")
			run(t, dir, "cp", form.exe, "two")
			tryRun(t, dir, "dwz", form.flag, "-m", "common.debug", "one", "two")
			f := open(t, filepath.Join(dir, "one"))
			name, id, ok := f.AltDebugLink()
			common := open(t, filepath.Join(dir, name))
			if !ok || id == "" || id != common.BuildID() {
				t.Errorf("alternate debug link: %q, %q, %v; build ID there: %q", name, id, ok, common.BuildID())
			}
			l := lines(t, f)
			l.SetSupplementary(lines(t, common))
			compare(t, l)
		})
	}
	t.Run("split", func(t *testing.T) {
		if testing.Short() {
			t.Skip("takes the compiler seconds")
		}
		// There are only lines.
		l := lines(t, open(t, library(t, "-g", "-gdwarf-5", "-rdynamic", "-gsplit-dwarf")))
		for i, got := range framesAt(l, addrs) {
			var wantLine []Frame
			if len(want[i]) > 0 {
				wantLine = []Frame{{File: want[i][0].File, Line: want[i][0].Line, Column: want[i][0].Column, Discriminator: want[i][0].Discriminator}}
			}
			if diff := cmp.Diff(wantLine, got); diff != "" {
				t.Fatalf("frames at %#x (-want +got):\n%s", addrs[i], diff)
			}
		}
	})
}

func framesAt(l *LineTable, addrs []uint64) [][]Frame {
	list := make([][]Frame, len(addrs))
	for i, a := range addrs {
		list[i] = l.Frames(a)
	}
	return list
}

// testFramesAgainst compares with another reader of DWARF. columns is set if it
// prints columns.
func testFramesAgainst(t *testing.T, exe string, columns bool, tool string, args ...string) {
	f := open(t, exe)
	addrs := addresses(t, f, 500)
	l := lines(t, f)
	l.SetSplit(splitBeside(exe))
	args = append(args, exe)
	for _, a := range addrs {
		args = append(args, fmt.Sprintf("%#x", a))
	}
	out := run(t, "", tool, args...)
	want := parseSymbolizer(t, out, columns)
	if len(want) == 0 {
		t.Fatalf("no addresses in the output:\n%s", out)
	}
	permitted := make(map[string]int)
	for _, a := range addrs {
		got := l.Frames(a)
		if !columns {
			for i := range got {
				got[i].Column = 0
			}
		}
		if reason, ok := permittedDifference(got, want[a]); ok {
			permitted[reason]++
			// addr2line knows those of the innermost lines.
			if !columns && reason == "equal" && got[0].Discriminator != want[a][0].Discriminator {
				t.Errorf("%#x: discriminator %d, %s has %d", a, got[0].Discriminator, tool, want[a][0].Discriminator)
			}
			continue
		}
		t.Errorf("%#x: got %v, %s has %v", a, got, tool, want[a])
	}
	t.Logf("%d addresses: %v", len(addrs), permitted)
	if permitted["equal"]+permitted["outermost name"]+permitted["line 0"] < len(addrs)*9/10 {
		t.Errorf("too few agree: %v of %d", permitted, len(addrs))
	}
}

// parseSymbolizer parses the output of addr2line -a -f -i and of llvm-symbolizer
// -a: an address, then pairs of lines with a function and a place.
func parseSymbolizer(t *testing.T, out string, columns bool) map[uint64][]Frame {
	place := regexp.MustCompile(`^(.*?):(\d+|\?)(?::(\d+))?(?: \(discriminator (\d+)\))?$`)
	frames := make(map[uint64][]Frame)
	var addr uint64
	number := func(s string) int {
		n, _ := strconv.Atoi(s)
		return n
	}
	in := strings.Split(out, "\n")
	for i := 0; i < len(in); i++ {
		if a, err := strconv.ParseUint(strings.TrimPrefix(in[i], "0x"), 16, 64); err == nil && strings.HasPrefix(in[i], "0x") {
			addr = a
			continue
		}
		if in[i] == "" || i+1 == len(in) {
			continue
		}
		m := place.FindStringSubmatch(in[i+1])
		if m == nil {
			t.Fatalf("cannot parse %q", in[i+1])
		}
		f := Frame{Name: in[i], File: m[1], Line: number(m[2])}
		f.Discriminator = uint32(number(m[4]))
		if columns {
			f.Column = number(m[3])
		}
		if f.File == "??" {
			f.File = ""
		} else {
			f.File = path.Clean(f.File)
		}
		frames[addr] = append(frames[addr], f)
		i++
	}
	return frames
}

// permittedDifference says why got and want may differ, "equal" if they do not. ok
// is false if they must not.
func permittedDifference(got, want []Frame) (reason string, ok bool) {
	if len(got) == 0 {
		// The name is from the symbol table, or there is none.
		if len(want) == 1 && want[0].File == "" || len(want) == 1 && want[0].Line == 0 {
			return "not in debug information", true
		}
		return "", false
	}
	if len(got) != len(want) {
		return "", false
	}
	reason = "equal"
	for i, g := range got {
		w := want[i]
		if i == 0 && w.Line == 0 && g.Line != 0 {
			reason = "line 0"
		} else if g.File != w.File || g.Line != w.Line || g.Column != w.Column {
			return "", false
		}
		switch name := linkage(g); {
		case name == w.Name:
		case i == len(got)-1:
			// Symbol tables have names of clones: f.cold, f.constprop.0.
			reason = "outermost name"
		case g.LinkageName == "" && strings.HasSuffix(g.Name, "::"+w.Name), g.LinkageName == "" && strings.HasPrefix(w.Name, "_Z"):
			reason = "qualified name"
		case g.LinkageName == "" && got[len(got)-1].LinkageName == w.Name || g.Name == "__static_initialization_and_destruction_0":
			// addr2line repeats the name of the caller.
			reason = "inlined initialisation"
		default:
			return "", false
		}
	}
	return reason, true
}

// testSymbolsAgainstReadelf compares the symbol tables of a program and of its
// stripped forms.
func testSymbolsAgainstReadelf(t *testing.T, exe string) {
	f := open(t, exe)
	table, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	funcs := readelfFunctions(t, exe)
	if len(funcs) < 20 {
		t.Fatalf("readelf lists only %d functions", len(funcs))
	}
	byAddr := make(map[uint64][]Symbol)
	for _, s := range funcs {
		byAddr[s.Addr] = append(byAddr[s.Addr], s)
	}
	for s := range table.All() {
		if strings.HasSuffix(s.Name, "@plt") {
			continue // see TestStubsOfSystem
		}
		i := slices.IndexFunc(byAddr[s.Addr], func(r Symbol) bool { return r.Name == s.Name && (r.Len == s.Len || r.Len == 0) })
		if i < 0 {
			// Labels are not in the list.
			if out := run(t, "", "nm", "-C", exe); !strings.Contains(out, fmt.Sprintf("%016x t %s\n", s.Addr, s.Name)) {
				t.Errorf("%v: readelf has %v", s, byAddr[s.Addr])
			}
		}
	}
	for _, s := range funcs {
		got, ok := table.Lookup(s.Addr)
		if !ok || got.Addr != s.Addr || got.Len < s.Len {
			t.Errorf("function %v: found %v, %v", s, got, ok)
		}
		if s.Len > 0 {
			if last, ok := table.Lookup(s.Addr + s.Len - 1); !ok || last.Addr < s.Addr {
				t.Errorf("end of function %v: found %v, %v", s, last, ok)
			}
		}
	}
	if got, want := f.BuildID(), regexp.MustCompile(`Build ID: ([0-9a-f]+)`).FindStringSubmatch(run(t, "", "readelf", "-nW", exe))[1]; got != want {
		t.Errorf("build ID: got %q, want %q", got, want)
	}

	t.Run("only debug information", func(t *testing.T) {
		run(t, "", "objcopy", "--only-keep-debug", exe, exe+".debug")
		run(t, "", "objcopy", "--strip-all", "--add-gnu-debuglink="+exe+".debug", exe, exe+".stripped")
		stripped, debug := open(t, exe+".stripped"), open(t, exe+".debug")
		name, crc, ok := stripped.DebugLink()
		data, err := os.ReadFile(exe + ".debug")
		if err != nil {
			t.Fatal(err)
		}
		if name != filepath.Base(exe)+".debug" || crc != crc32.ChecksumIEEE(data) || !ok {
			t.Errorf("debug link: got %q, %#x, %v", name, crc, ok)
		}
		if stripped.BuildID() != f.BuildID() || debug.BuildID() != f.BuildID() {
			t.Errorf("build IDs: %q, %q, want %q", stripped.BuildID(), debug.BuildID(), f.BuildID())
		}
		if _, err := stripped.Lines(); !errors.Is(err, ErrNotFound) {
			t.Errorf("lines of the stripped file: got error %v, want ErrNotFound", err)
		}
		debugTable, err := debug.SymbolsBeside(stripped)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slices.Collect(table.All()), slices.Collect(debugTable.All())); diff != "" {
			t.Errorf("symbols (-file +debug file):\n%s", diff)
		}
		addrs := addresses(t, f, 200)
		if diff := cmp.Diff(framesAt(lines(t, f), addrs), framesAt(lines(t, debug), addrs)); diff != "" {
			t.Errorf("frames (-file +debug file):\n%s", diff)
		}
		want, err := f.Text(addrs[0], 4)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := stripped.Text(addrs[0], 4); err != nil || !bytes.Equal(got, want) {
			t.Errorf("text of the stripped file: got %x, %v, want %x", got, err, want)
		}
		if got, err := debug.Text(addrs[0], 4); !errors.Is(err, ErrNotFound) {
			t.Errorf("text of the debug file: got %x, %v, want ErrNotFound", got, err)
		}
	})

	t.Run("MiniDebugInfo", func(t *testing.T) {
		// As in GDB's manual, "Debugging information in a special section".
		dynamic := make(map[string]bool)
		for s := range strings.SplitSeq(run(t, "", "nm", "-D", "--format=posix", "--defined-only", exe), "\n") {
			name, _, _ := strings.Cut(s, " ")
			dynamic[name] = true
		}
		var keep strings.Builder
		for _, s := range funcs {
			if !dynamic[s.Name] {
				fmt.Fprintln(&keep, s.Name)
			}
		}
		if err := os.WriteFile(exe+".keep", []byte(keep.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		run(t, "", "objcopy", "--only-keep-debug", exe, exe+".debug")
		run(t, "", "objcopy", "-S", "--remove-section=.comment", "--keep-symbols="+exe+".keep", exe+".debug", exe+".mini")
		for _, args := range [][]string{
			{"-k", "-f"},
			{"-k", "-f", "--block-size=64KiB", "-T2", "--check=crc32"},
			{"-k", "-f", "--check=sha256"},
			{"-k", "-f", "--check=none", "--lzma2=dict=1GiB"},
		} {
			run(t, "", "xz", append(args, exe+".mini")...)
			run(t, "", "objcopy", "--strip-all", "--add-section=.gnu_debugdata="+exe+".mini.xz", exe, exe+".stripped")
			mini, err := open(t, exe+".stripped").Symbols()
			if err != nil {
				t.Fatal(err)
			}
			if err := mini.Skipped(); err != nil {
				t.Errorf("xz %v: %v", args, err)
			}
			if diff := cmp.Diff(functionsOf(table, byAddr), functionsOf(mini, byAddr)); diff != "" {
				t.Errorf("xz %v: symbols (-full +stripped):\n%s", args, diff)
			}
		}
		run(t, "", "xz", "-k", "-f", "--x86", "--lzma2", exe+".mini")
		run(t, "", "objcopy", "--strip-all", "--add-section=.gnu_debugdata="+exe+".mini.xz", exe, exe+".stripped")
		mini, err := open(t, exe+".stripped").Symbols()
		if err != nil {
			t.Fatal(err)
		}
		if !errors.Is(mini.Skipped(), ErrUnsupported) || mini.Len() == 0 {
			t.Errorf("xz with a BCJ filter: got %v, %d symbols", mini.Skipped(), mini.Len())
		}
	})
}

// functionsOf returns the symbols of a table that readelf calls functions and which
// have a size, without labels and what is filled up to the next one of them.
func functionsOf(table *SymbolTable, functions map[uint64][]Symbol) []Symbol {
	var list []Symbol
	for s := range table.All() {
		if slices.ContainsFunc(functions[s.Addr], func(r Symbol) bool { return r.Name == s.Name && r.Len == s.Len }) {
			list = append(list, s)
		}
	}
	return list
}

// readelfFunctions returns the defined functions that readelf lists.
func readelfFunctions(t *testing.T, exe string) []Symbol {
	t.Helper()
	var list []Symbol
	in := false
	for line := range strings.SplitSeq(run(t, "", "readelf", "-sW", exe), "\n") {
		if strings.HasPrefix(line, "Symbol table") {
			in = strings.Contains(line, "'.symtab'")
		}
		field := strings.Fields(line)
		if !in || len(field) < 8 || field[3] != "FUNC" && field[3] != "IFUNC" || field[6] == "UND" {
			continue
		}
		addr, err := strconv.ParseUint(field[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		size, err := strconv.ParseUint(field[2], 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(field[7], "@")
		list = append(list, Symbol{addr, size, name})
	}
	return list
}
