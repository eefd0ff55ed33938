package align

import (
	"bufio"
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/symbolizer"
)

// The programs of testdata/edit are compiled before and after the edit that their
// comments describe. Names come from the symbol table, demangled as in recordings, and
// the call graph from the call instructions.
func TestToolchain(t *testing.T) {
	if testing.Short() {
		t.Skip("runs compilers")
	}
	for _, test := range []struct {
		name, compiler, source string
		flags, edited          []string
		// only keeps the functions of the program itself.
		only string
		want []string
	}{
		{
			name: "gcc", compiler: "g++", source: "lambdas.cc",
			flags: []string{"-std=c++17", "-O1", "-fno-optimize-sibling-calls"}, edited: []string{"-DEDITED"},
			only: `^(main|Table|int each|each|\w+ total|total|probe|rotate|scatter|fnv|fold)`,
			want: []string{
				"exact: Table::lookup(int) const -> Table::lookup(int) const",
				"exact: Table::operator==(Table const&) const -> Table::operator==(Table const&) const",
				"exact: main -> main",
				"exact: probe(int const*, int) -> probe(int const*, int)",
				"exact: rotate(int) -> rotate(int)",
				"exact: scatter(int) -> scatter(int)",
				"normalized: int each<main::'lambda'(int)>(main::'lambda'(int), int) -> int each<main::'lambda0'(int)>(main::'lambda0'(int), int)",
				"normalized: int each<main::'lambda0'(int)>(main::'lambda0'(int), int) -> int each<main::'lambda1'(int)>(main::'lambda1'(int), int)",
				"normalized: main::'lambda'(int)::operator()(int) const -> main::'lambda0'(int)::operator()(int) const",
				"normalized: main::'lambda0'(int)::operator()(int) const -> main::'lambda1'(int)::operator()(int) const",
				"normalized: short total<short>(short const*, int) -> long total<long>(long const*, int)",
				"renamed: fnv_v1(char const*) -> fnv_v2(char const*)",
				"added: - -> int each<main::'lambda'(int)>(main::'lambda'(int), int)",
				"added: - -> main::'lambda'(int)::operator()(int) const",
				"removed: fold(int) -> -",
			},
		},
		{
			name: "clang", compiler: "clang++", source: "lambdas.cc",
			flags: []string{"-std=c++17", "-O1", "-fno-optimize-sibling-calls"}, edited: []string{"-DEDITED"},
			only: `^(main|Table|int each|each|\w+ total|total|probe|rotate|scatter|fnv|fold)`,
			want: []string{
				"exact: Table::lookup(int) const -> Table::lookup(int) const",
				"exact: Table::operator==(Table const&) const -> Table::operator==(Table const&) const",
				"exact: main -> main",
				"exact: probe(int const*, int) -> probe(int const*, int)",
				"exact: rotate(int) -> rotate(int)",
				"exact: scatter(int) -> scatter(int)",
				"normalized: int each<main::$_0>(main::$_0, int) -> int each<main::$_1>(main::$_1, int)",
				"normalized: int each<main::$_1>(main::$_1, int) -> int each<main::$_2>(main::$_2, int)",
				"normalized: main::$_0::operator()(int) const -> main::$_1::operator()(int) const",
				"normalized: main::$_1::operator()(int) const -> main::$_2::operator()(int) const",
				"normalized: short total<short>(short const*, int) -> long total<long>(long const*, int)",
				"renamed: fnv_v1(char const*) -> fnv_v2(char const*)",
				"added: - -> int each<main::$_0>(main::$_0, int)",
				"added: - -> main::$_0::operator()(int) const",
				"removed: fold(int) -> -",
			},
		},
		{
			// The names of both instances of each are the same without hash.
			name: "rustc", compiler: "rustc", source: "closures.rs",
			flags: []string{"--edition=2021", "--crate-name=edit", "-Copt-level=1", "-Cstrip=debuginfo"}, edited: []string{"--cfg=edited"},
			only: `^edit::`,
			want: []string{
				"exact: edit::main -> edit::main",
				"exact: edit::rotate -> edit::rotate",
				"exact: edit::scatter -> edit::scatter",
				"renamed: edit::fnv_v1 -> edit::fnv_v2",
				"by rotate", "by scatter",
				"added: - -> edit::each",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, tool := range []string{test.compiler, "objdump"} {
				if _, err := exec.LookPath(tool); err != nil {
					t.Skipf("%s is not installed", tool)
				}
			}
			source := filepath.Join("testdata", "edit", test.source)
			only := regexp.MustCompile(test.only)
			base := compiled(t, only, test.compiler, append(test.flags, source))
			head := compiled(t, only, test.compiler, append(append(test.flags, test.edited...), source))
			matches, err := Functions(base, head, Options{})
			if err != nil {
				t.Fatal(err)
			}
			check(t, base, head, matches)
			got := make(map[string]bool)
			for _, line := range describe(base, head, matches) {
				got[line] = true
			}
			for _, m := range matches {
				// Instances of one name are known by what they call.
				if m.Kind == Exact && strings.HasSuffix(base[m.Base].Name, "::each") {
					delete(got, "exact: "+base[m.Base].Name+" -> "+head[m.Head].Name)
					for _, f := range []string{"rotate", "scatter"} {
						if calls(base, m.Base, f) && calls(head, m.Head, f) {
							got["by "+f] = true
						}
					}
				}
			}
			want := make(map[string]bool)
			for _, line := range test.want {
				want[line] = true
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("got, want\n%s", diff)
			}
		})
	}
}

func calls(fns []Function, caller int, callee string) bool {
	for _, e := range fns[caller].Callees {
		if strings.HasSuffix(fns[e.Function].Name, callee) {
			return true
		}
	}
	return false
}

// compiled returns the functions of a program.
func compiled(t *testing.T, only *regexp.Regexp, compiler string, args []string) []Function {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command(compiler, append(args, "-o", program)...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	listing, err := exec.Command("objdump", "-d", "--no-show-raw-insn", program).Output()
	if err != nil {
		t.Fatal(err)
	}
	var (
		symbol = regexp.MustCompile(`^[0-9a-f]+ <(.+)>:$`)
		call   = regexp.MustCompile(`\t(?:call|jmp|bl?)q?\s+[0-9a-f]+ <([^+>]+)>`)
		fns    []Function
		at     = make(map[string]int)
		edges  [][2]string
		caller string
	)
	for s := bufio.NewScanner(bytes.NewReader(listing)); s.Scan(); {
		if m := symbol.FindStringSubmatch(s.Text()); m != nil {
			caller = m[1]
			if name := symbolizer.Demangle(caller); only.MatchString(name) {
				at[caller] = len(fns)
				fns = append(fns, Function{Name: name, SystemName: caller, DSO: "prog"})
			}
		} else if m := call.FindStringSubmatch(s.Text()); m != nil {
			edges = append(edges, [2]string{caller, m[1]})
		}
	}
	for _, e := range edges {
		from, ok := at[e[0]]
		to, found := at[e[1]]
		if ok && found {
			fns[from].Callees = append(fns[from].Callees, Edge{to, 1})
			fns[to].Callers = append(fns[to].Callers, Edge{from, 1})
		}
	}
	for i := range fns {
		fns[i].Weight = 1 / float64(len(fns))
	}
	return fns
}
