package objfile

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestStrippedGo finds the functions of Go programs that have no symbols, and that they have the
// names that the symbols say.
func TestStrippedGo(t *testing.T) {
	for _, test := range []struct {
		name string
		args []string
	}{
		{"static", nil},
		{"pie", []string{"-buildmode=pie"}},
		{"aarch64", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && test.name != "static" {
				t.Skip("compiles Go's library again")
			}
			if test.name == "aarch64" {
				t.Setenv("GOARCH", "arm64")
			}
			dir := t.TempDir()
			t.Setenv("CGO_ENABLED", "0")
			var tables [2]*SymbolTable
			for i, flags := range []string{"-ldflags=", "-ldflags=-s -w"} {
				name := filepath.Join(dir, []string{"whole", "stripped"}[i])
				run(t, filepath.Join("testdata", "src", "goframes"), "go", append(append([]string{"build", flags, "-o", name}, test.args...), "main.go")...)
				f := open(t, name)
				symbols, err := f.Symbols()
				if err != nil {
					t.Fatal(err)
				}
				tables[i] = symbols
			}
			// The linker lays both out alike.
			same, other := 0, 0
			for s := range tables[1].All() {
				want, ok := tables[0].Lookup(s.Addr)
				switch {
				case ok && want.Addr == s.Addr && strings.TrimSuffix(want.Name, ".abi0") == s.Name:
					same++
				case s.Name == "@plt" || strings.HasPrefix(s.Name, "go:"):
				default:
					if other++; other < 5 {
						t.Logf("%#x: %s, want %s", s.Addr, s.Name, want.Name)
					}
				}
			}
			if same < 1000 || other*100 > same {
				t.Errorf("%d functions have their name, %d another", same, other)
			}
		})
	}
}
