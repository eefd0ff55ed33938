package objfile

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFunctions lists what a program has: functions that were inlined everywhere are in the
// debug information alone, and several names of one address in the symbols alone.
func TestFunctions(t *testing.T) {
	dir := t.TempDir()
	text := "int twice(int x) { return 2 * x; }\nint again(int x) __attribute__((alias(\"twice\")));\n" +
		"static inline __attribute__((always_inline)) int small(int x) { return x ^ 1; }\n" +
		"static int unused(int x) { return x; }\nint main(int n, char **v) { return again(small(n)); }\n"
	if err := os.WriteFile(filepath.Join(dir, "f.c"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-gdwarf-4"}, {"-gdwarf-5"}, {"-gdwarf-5", "-O2"}} {
		t.Run(fmt.Sprint(flags), func(t *testing.T) {
			exe := filepath.Join(dir, fmt.Sprint(len(flags)))
			run(t, dir, "gcc", append(flags, "-o", exe, "f.c")...)
			f := open(t, exe)
			names, err := f.FunctionNames()
			if err != nil {
				t.Fatal(err)
			}
			symbols := slices.Collect(names)
			for _, name := range []string{"twice", "again", "main"} {
				if !slices.Contains(symbols, name) {
					t.Errorf("no symbol %s in %q", name, symbols)
				}
			}
			if slices.Contains(symbols, "small") {
				t.Error("a symbol small: the example is none")
			}
			found := make(map[string]string)
			l := lines(t, f)
			for f := range l.Functions() {
				// The copy of what was inlined elsewhere leaves its file to the original.
				if f.File == "" {
					continue
				}
				found[f.Name] = fmt.Sprintf("%s:%d", filepath.Base(f.File), f.StartLine)
			}
			want := map[string]string{"twice": "f.c:1", "small": "f.c:3", "main": "f.c:5"}
			delete(found, "unused")
			if d := cmp.Diff(want, found); d != "" || l.Err() != nil {
				t.Errorf("functions (-want +got):\n%s%v", d, l.Err())
			}
			for range l.Functions() {
				break // without harm
			}
			if s, ok := mustSymbols(t, f).Lookup(symbolAt(t, f, "main")); !ok || len(l.Frames(s.Addr)) == 0 {
				t.Error("no frames after all functions were listed")
			}
		})
	}
}

func mustSymbols(t *testing.T, f *File) *SymbolTable {
	t.Helper()
	table, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

func symbolAt(t *testing.T, f *File, name string) uint64 {
	t.Helper()
	for s := range mustSymbols(t, f).All() {
		if s.Name == name {
			return s.Addr
		}
	}
	t.Fatalf("no symbol %s", name)
	return 0
}
