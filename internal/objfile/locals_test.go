package objfile

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOrigin(t *testing.T) {
	const local, global, weak = elf.STB_LOCAL, elf.STB_GLOBAL, elf.STB_WEAK
	file := func(name string) testSymbol { return testSymbol{name, 0, 0, elf.STT_FILE, local, ".text"} }
	static := func(name string, addr, size uint64) testSymbol {
		return testSymbol{name, addr, size, elf.STT_FUNC, local, ".text"}
	}
	for _, test := range []struct {
		name    string
		symbols []testSymbol
		want    []string
	}{
		{
			"files",
			[]testSymbol{file("lexer.c"), static("parse", 0x100, 8), file("util.c"), static("parse", 0x110, 9), static("other", 0x120, 8)},
			[]string{"100 parse lexer.c", "110 parse util.c", "120 other util.c"},
		},
		{
			"copies of a function of a header",
			[]testSymbol{file("a.c"), static("min", 0x120, 8), file("b.c"), static("min", 0x110, 8), file("c.c"), static("min", 0x100, 9)},
			[]string{"100 min c.c", "110 min b.c", "120 min b.c"},
		},
		{
			"global functions",
			[]testSymbol{file("a.c"), static("f", 0x100, 8), {"f", 0x110, 9, elf.STT_FUNC, global, ".text"}, {"g", 0x120, 9, elf.STT_FUNC, weak, ".text"}},
			[]string{"100 f a.c", "110 f ", "120 g "},
		},
		{
			"no files",
			[]testSymbol{static("f", 0x100, 8), static("f", 0x110, 9), static("f", 0x120, 8), static("g", 0x130, 8)},
			[]string{"100 f 0x100", "110 f 0x110", "120 f 0x100", "130 g "},
		},
		{
			"files that the linker made",
			[]testSymbol{file("/tmp/ccA3.ltrans0.ltrans.o"), static("f", 0x100, 8), static("f", 0x110, 9), file("<artificial>"), static("g", 0x120, 8)},
			[]string{"100 f 0x100", "110 f 0x110", "120 g "},
		},
		{
			"two files of one name",
			[]testSymbol{file("x.c"), static("f", 0x100, 8), file("x.c"), static("f", 0x110, 9), file("y.c"), static("f", 0x120, 10)},
			[]string{"100 f 0x100", "110 f 0x110", "120 f y.c"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			im := elfImage{machine: elf.EM_X86_64, typ: elf.ET_EXEC, sections: []testSection{
				{name: ".text", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: 0x100, data: make([]byte, 0x100)},
				{name: ".symtab", typ: elf.SHT_SYMTAB, symbols: test.symbols},
			}}
			table, err := im.parse(t).Symbols()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for s := range table.All() {
				got = append(got, fmt.Sprintf("%x %s %s", s.Addr, s.Name, table.Origin(s)))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("origins (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFrameOrigin checks which functions a compiler's debug information says are local, and
// to which file: a function that a header has is of the header in all files.
func TestFrameOrigin(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"h.h":    "static __attribute__((noinline)) int h(int x) { return x * 31 ^ 7; }\nstatic inline __attribute__((always_inline)) int in(int x) { volatile int y = x; return y; }\n",
		"a.c":    "#include \"h.h\"\nstatic __attribute__((noinline)) int f(int x) {\n#include \"body.h\"\n return h(x) + in(x); }\nint a(int x) { return f(x + 1); }\n",
		"b.c":    "#include \"h.h\"\nstatic __attribute__((noinline)) int f(int x) { return h(x) * 3 + in(x); }\nint a(int);\nint main(int n, char **v) { return f(n) + a(n); }\n",
		"body.h": "volatile int z = x; x += z * z;\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	exe := filepath.Join(dir, "exe")
	tryRun(t, dir, "gcc", "-O2", "-g", "a.c", "b.c", "-o", exe)
	f := open(t, exe)
	l := lines(t, f)
	table, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	for s := range table.All() {
		for addr := s.Addr; addr < s.Addr+s.Len; addr++ {
			for _, fr := range l.Frames(addr) {
				if fr.Name != "" {
					found[strings.TrimSpace(fr.Name+" "+strings.TrimPrefix(fr.Origin, dir+"/"))] = true
				}
			}
		}
	}
	var got []string
	for name := range found {
		got = append(got, name)
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"a", "f a.c", "f b.c", "h h.h", "in h.h", "main"}, got); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
}
