package diff

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/code"
	"profdiff/internal/disasm"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/objfile"
	"profdiff/internal/symbolizer"
)

// branchAt makes a branch for tests of matching.
func branchAt(function string, address uint64, line int64) branch.Branch {
	return branch.Branch{
		Place: branch.Place{DSO: "/bin/app", Function: function, Address: address, File: "/src/app.c", Line: line}, Kind: branch.Conditional,
		N: 1000, NMisses: 100, Executed: new(1000.0), Misses: new(100.0), Enough: true,
	}
}

func simulatedTableOf(branches ...branch.Branch) *branch.Table {
	return &branch.Table{Name: "x", Tier: branch.TierSimulated, Scaled: true, Branches: branches}
}

// matches lists what was paired as "base=head how", and what was not.
func matches(t *testing.T, base, head []branch.Branch, opt Options) []string {
	t.Helper()
	d, err := Compare([]*branch.Table{simulatedTableOf(base...)}, []*branch.Table{simulatedTableOf(head...)}, opt)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, b := range d.Branches {
		switch {
		case b.Base == nil:
			list = append(list, fmt.Sprintf("new %x", b.Head.Address))
		case b.Head == nil:
			list = append(list, fmt.Sprintf("removed %x", b.Base.Address))
		default:
			list = append(list, fmt.Sprintf("%x=%x %s", b.Base.Address, b.Head.Address, b.Match))
		}
	}
	slices.Sort(list)
	return list
}

func TestMatch(t *testing.T) {
	build := func(id string, list ...branch.Branch) []branch.Branch {
		for i := range list {
			list[i].BuildID = id
		}
		return list
	}
	kind := func(b branch.Branch, k branch.Kind) branch.Branch { b.Kind = k; return b }
	inlined := func(b branch.Branch, name string) branch.Branch {
		b.Inlined = []symbolizer.Frame{{Name: name}, {Name: b.Function}}
		return b
	}
	offset := func(b branch.Branch, o uint64) branch.Branch { b.Offset = &o; return b }
	for _, test := range []struct {
		name       string
		base, head []branch.Branch
		want       []string
	}{
		{
			"same build", build("aa", branchAt("f", 0x10, 5), branchAt("f", 0x20, 6)), build("aa00000000", branchAt("f", 0x20, 6), branchAt("g", 0x30, 9)),
			[]string{"20=20 address", "new 30", "removed 10"},
		},
		{
			"nothing changed but where it is",
			[]branch.Branch{branchAt("f", 0x10, 5), branchAt("f", 0x20, 6), branchAt("f", 0x34, 7)},
			[]branch.Branch{branchAt("f", 0x110, 15), branchAt("f", 0x120, 16), branchAt("f", 0x134, 17)},
			[]string{"10=110 offset", "20=120 offset", "34=134 offset"},
		},
		{
			"one branch, by its offset",
			[]branch.Branch{offset(branchAt("f", 0x10, 0), 4)},
			[]branch.Branch{offset(branchAt("f", 0x110, 0), 4)},
			[]string{"10=110 offset"},
		},
		{
			"one branch, by nothing",
			[]branch.Branch{offset(branchAt("f", 0x10, 0), 4), branchAt("g", 0x80, 0)},
			[]branch.Branch{offset(branchAt("f", 0x110, 0), 8), branchAt("h", 0x190, 0)},
			[]string{"10=110 order", "new 190", "removed 80"},
		},
		{
			"by lines, in another order",
			[]branch.Branch{branchAt("f", 0x10, 5), branchAt("f", 0x20, 6)},
			[]branch.Branch{branchAt("f", 0x10, 6), branchAt("f", 0x23, 5)},
			[]string{"10=23 line", "20=10 line"},
		},
		{
			"lines moved by one edit",
			[]branch.Branch{branchAt("f", 0x10, 5), branchAt("f", 0x20, 6), branchAt("f", 0x30, 9)},
			[]branch.Branch{branchAt("f", 0x11, 15), branchAt("f", 0x23, 16), branchAt("f", 0x38, 30)},
			[]string{"10=11 line", "20=23 line", "new 38", "removed 30"},
		},
		{
			"lines that may have moved by 9 or 10",
			[]branch.Branch{branchAt("f", 0x10, 5), branchAt("f", 0x20, 6), branchAt("f", 0x30, 9)},
			[]branch.Branch{branchAt("f", 0x11, 15), branchAt("f", 0x23, 16), branchAt("f", 0x38, 18)},
			[]string{"new 11", "new 23", "new 38", "removed 10", "removed 20", "removed 30"},
		},
		{
			"one line is no evidence of a move",
			[]branch.Branch{branchAt("f", 0x10, 5), branchAt("f", 0x20, 7)},
			[]branch.Branch{branchAt("f", 0x11, 17)},
			[]string{"new 11", "removed 10", "removed 20"},
		},
		{
			"the first with the first of a line",
			[]branch.Branch{branchAt("f", 0x10, 5), branchAt("f", 0x20, 5)},
			[]branch.Branch{branchAt("f", 0x14, 5), branchAt("f", 0x2a, 5)},
			[]string{"10=14 line", "20=2a line"},
		},
		{
			"kinds and what is inlined tell apart",
			[]branch.Branch{branchAt("f", 0x10, 5), kind(branchAt("f", 0x20, 5), branch.Indirect), inlined(branchAt("f", 0x30, 5), "a")},
			[]branch.Branch{inlined(branchAt("f", 0x14, 5), "a"), kind(branchAt("f", 0x2a, 5), branch.Indirect), inlined(branchAt("f", 0x38, 5), "b")},
			[]string{"20=2a line", "30=14 line", "new 38", "removed 10"},
		},
		{
			"clones of compilers",
			[]branch.Branch{branchAt("f", 0x10, 5), branchAt("f", 0x20, 6)},
			[]branch.Branch{branchAt("f.constprop.0", 0x14, 5), branchAt("f.constprop.0", 0x2a, 6)},
			[]string{"10=14 line", "20=2a line"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := matches(t, test.base, test.head, Options{})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestCommon compares the subsequence with the length that dynamic programming finds.
func TestCommon(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		random := func() []int32 {
			list := make([]int32, r.IntN(40))
			for i := range list {
				list[i] = r.Int32N(6)
			}
			return list
		}
		x, y := random(), random()
		longest := make([][]int, len(x)+1)
		for i := range longest {
			longest[i] = make([]int, len(y)+1)
		}
		for i := range x {
			for j := range y {
				longest[i+1][j+1] = max(longest[i][j+1], longest[i+1][j])
				if x[i] == y[j] {
					longest[i+1][j+1] = max(longest[i+1][j+1], longest[i][j]+1)
				}
			}
		}
		n, last := 0, -1
		for i, j := range common(x, y) {
			if j < 0 {
				continue
			}
			if j <= last || x[i] != y[j] {
				t.Fatalf("%v and %v: %d is paired with %d after %d", x, y, i, j, last)
			}
			last = j
			n++
		}
		if n != longest[len(x)][len(y)] {
			t.Fatalf("%v and %v: %d in common, want %d", x, y, n, longest[len(x)][len(y)])
		}
	}
}

const matchProgram = `
#define BARRIER __asm__ volatile("" ::: "memory")
volatile int in[16], out;
__attribute__((noinline)) int work(int a, int b, int c) {
	int sum = 0;
	for (int i = 0; i < c; i++) {
		if (in[i] > a) { sum += 3; BARRIER; }
		if (in[i] * 7 < b) { sum ^= 5; BARRIER; }
INSERT
		if ((in[i] & 12) == 4) { sum -= c; BARRIER; }
DELETE
		if (sum % 9 == 2) { out = sum; BARRIER; }
	}
	if (sum < a - b) { out = 1; BARRIER; }
	return sum;
}
int main(int argc, char **argv) { return work(argc, argc + 3, 16); }
`

func addressOf(symbols *objfile.SymbolTable, name string) uint64 {
	for s := range symbols.All() {
		if s.Name == name {
			return s.Addr
		}
	}
	return 0
}

// branchesOf lists the conditional branches of a function, with their lines.
func branchesOf(t *testing.T, file, dso, function string) (list []branch.Branch, lines map[uint64]int64) {
	t.Helper()
	f, err := objfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	table, err := f.Lines()
	if err != nil {
		t.Fatal(err)
	}
	code, err := disasm.New(f)
	if err != nil {
		t.Fatal(err)
	}
	fn, err := code.FunctionAt(addressOf(symbols, function))
	if err != nil {
		t.Fatal(err)
	}
	lines = make(map[uint64]int64)
	for _, in := range fn.Insts {
		if in.Kind != disasm.Conditional {
			continue
		}
		b := branchAt(function, in.Addr, 0)
		b.DSO, b.File = dso, ""
		list = append(list, b)
		if frames := table.Frames(in.Addr); len(frames) > 0 {
			lines[in.Addr] = int64(frames[0].Line)
		}
	}
	return list, lines
}

// TestMatchCode builds a program before and after an edit, and matches its branches by
// their code alone. The lines of the source say which are the same.
func TestMatchCode(t *testing.T) {
	for _, level := range []string{"-O1", "-O2"} {
		t.Run(level, func(t *testing.T) {
			dir := t.TempDir()
			var sides [2][]branch.Branch
			var lines [2]map[uint64]int64
			for i, side := range []string{"before", "after"} {
				text := strings.NewReplacer("INSERT", "", "DELETE", "\t\tif (in[i] == -b) { sum *= 11; BARRIER; }")
				if i == 1 {
					text = strings.NewReplacer("INSERT", "\t\tif (in[i] < -8) { sum |= 64; BARRIER; }", "DELETE", "")
				}
				source, program := filepath.Join(dir, side+".c"), filepath.Join(dir, side)
				if err := os.WriteFile(source, []byte(text.Replace(matchProgram)), 0o666); err != nil {
					t.Fatal(err)
				}
				runIn(t, dir, "gcc", "-g", level, "-fno-unroll-loops", "-o", program, source)
				sides[i], lines[i] = branchesOf(t, program, "/"+side, "work")
			}
			m, err := match(newSide("base", []*branch.Table{simulatedTableOf(sides[0]...)}), newSide("head", []*branch.Table{simulatedTableOf(sides[1]...)}),
				code.New(objectstest.Dir(dir)), nil)
			if err != nil {
				t.Fatal(err)
			}
			paired := make(map[int64]bool)
			for i, j := range m.toHead {
				line := lines[0][sides[0][i].Address]
				if j < 0 {
					if m.basePresence[i] != absent {
						t.Errorf("line %d is not paired, but not absent", line)
					}
					continue
				}
				if other := lines[1][sides[1][j].Address]; m.how[i] != ByCode || line != other {
					t.Errorf("line %d is paired with %d, by %q", line, other, m.how[i])
				}
				paired[line] = true
			}
			const inserted, deleted = 9, 11
			if paired[inserted] || paired[deleted] {
				t.Error("a branch that is on one side only is paired")
			}
			want := 0
			for _, line := range []int64{7, 8, 10, 12, 14} {
				if paired[line] {
					want++
				}
			}
			t.Logf("lines paired: %v of branches on %d lines", paired, len(lines[0]))
			if want < 4 {
				t.Errorf("%d of 5 lines are paired", want)
			}
		})
	}
}
