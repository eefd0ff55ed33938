package predict

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/objects"
)

// manyBranches is a function with enough branches to be told by them; .REPT lets builds
// differ.
func manyBranches(nops int) string {
	var s strings.Builder
	s.WriteString("\t.text\n\t.globl\tmany\n\t.type\tmany, @function\nmany:\n")
	for i := range 24 {
		s.WriteString("\tcmpl\t$1, %edi\n\tje\t.L9\n\tincl\t%edi\n")
		if i == 0 {
			s.WriteString(strings.Repeat("\tnop\n", nops))
		}
	}
	s.WriteString(".L9:\n\txchgl\t%eax, (%rsi)\n\tlock cmpxchgl\t%ecx, (%rsi)\n\tret\n\t.size\tmany, .-many\n\t.section\t.note.GNU-stack,\"\",@progbits\n")
	return s.String()
}

// TestAddBranches checks of which rows of a table are taken for those of a binary: by build
// ID, by the build ID of the file at their path, by name and by code.
func TestAddBranches(t *testing.T) {
	b := binaryOf(t, "prog", manyBranches(0))
	other := binaryOf(t, "prog", manyBranches(1))
	if b.BuildID == "" || b.BuildID == other.BuildID {
		t.Skip("the linker writes no build IDs")
	}
	dir := t.TempDir()
	data, err := os.ReadFile(b.Path)
	if err != nil {
		t.Fatal(err)
	}
	elf := filepath.Join(dir, "elf") // as a set of recordings has it
	if err := os.WriteFile(elf, data, 0o777); err != nil {
		t.Fatal(err)
	}
	kept, err := open(elf)
	if err != nil {
		t.Fatal(err)
	}
	rows := func(dso, buildID string, nops int) (list []branch.Branch) {
		of := b
		if nops > 0 {
			of = other
		}
		for i := range 24 {
			at := 1 + 3*i
			if i > 0 {
				at += nops
			}
			list = append(list, branch.Branch{Place: branch.Place{DSO: dso, BuildID: buildID, Address: address(t, of, "many", at)}, Kind: branch.Conditional, N: 5})
		}
		return list
	}
	// Valgrind counts branches in instructions that it runs as loops.
	loops := rows(b.Path, "", 0)
	for i := range 2 {
		loops = append(loops[1:], branch.Branch{Place: branch.Place{DSO: b.Path, Address: address(t, b, "many", 72+i)}, Kind: branch.Conditional, N: 9})
	}
	lines := []branch.Branch{{Place: branch.Place{DSO: b.Path, ByLine: true}, Kind: branch.Conditional, N: 1}}
	for _, test := range []struct {
		name string
		of   string // path of the binary
		rows []branch.Branch
		want string // of the error
	}{
		{"build ID", b.Path, rows("/gone/a", b.BuildID, 0), ""},
		{"another build ID", b.Path, rows("/gone/prog", other.BuildID, 1), "has no branches of PROG (build ID ID): those of /gone/prog are of the build OTHER; give those of the build that was recorded"},
		{"path", b.Path, rows(b.Path, "", 0), ""},
		{"path, kept under its build ID", elf, rows(b.Path, "", 0), ""},
		{"path, with instructions that repeat", b.Path, loops, ""},
		{"path, built again", b.Path, rows(b.Path, "", 1), "PROG was built again since its branches were recorded: 23 of 24 are no branches there: record them again"},
		{"gone, by name", b.Path, rows("/gone/prog", "", 0), ""},
		{"gone, by code", elf, rows("/gone/prog", "", 0), ""},
		{"gone, of another build", b.Path, rows("/gone/prog", "", 1), "has no branches of PROG (build ID ID): those of /gone/prog do not fit its code, they are of another build; give those of the build that was recorded"},
		{"the other side", b.Path, rows(other.Path, "", 1), "has no branches of PROG (build ID ID): those of OTHERPATH do not fit its code, they are of another build; give those of the build that was recorded"},
		{"two that fit", b.Path, append(rows("/gone/prog", "", 0), rows("/lost/prog", "", 0)...), "has no branches of PROG (build ID ID) for sure: its code is that of /gone/prog and of /lost/prog"},
		{"other files", b.Path, rows("/lib/libc.so.6", "", 1), "has no branches of PROG (build ID ID): it has those of libc.so.6; give those of the build that was recorded"},
		{"nothing", b.Path, nil, "has no branches of PROG (build ID ID): it has none; give those of the build that was recorded"},
		{"by line", b.Path, lines, "has branches of PROG by line only: --dump-instr=yes of callgrind tells them apart"},
	} {
		in := &SideInput{Binary: b}
		if test.of == elf {
			in.Binary = kept
		}
		err := in.AddBranches(objects.New(objects.Options{}), &branch.Table{Tier: branch.TierSimulated, Branches: test.rows})
		got := ""
		if err != nil {
			got = strings.NewReplacer(b.Path, "PROG", b.BuildID, "ID", other.BuildID, "OTHER", other.Path, "OTHERPATH").Replace(err.Error())
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.name, got, test.want)
		}
		if err == nil && len(in.Branches[0].Branches) != 24 {
			t.Errorf("%s: %d branches", test.name, len(in.Branches[0].Branches))
		}
		if err != nil && errors.Is(err, ErrOtherBinary) != strings.HasPrefix(got, "has no") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
