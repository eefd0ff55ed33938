package simulated

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
)

// takenOf are how often the conditional branches of a table were taken, the least and the
// most, by address.
func takenOf(table *branch.Table, object string) map[uint64][2]float64 {
	out := make(map[uint64][2]float64)
	for i := range table.Branches {
		b := &table.Branches[i]
		if b.Kind != branch.Conditional || b.DSO != object || b.ByLine {
			continue
		}
		out[b.Address] = [2]float64{0, *b.Executed}
		if b.PTaken != nil {
			out[b.Address] = [2]float64{b.PTaken.Lo * *b.Executed, b.PTaken.Hi * *b.Executed}
		}
	}
	return out
}

// TestJumpsOfValgrind reads what Valgrind 3.19 wrote of leave.s and passes.c, whose branches
// jump as often as the sources say: into another function, to the start of their own, into the
// middle of one, through a stub, past the start of a function that follows; and in the first
// pass of a loop, which is a block of its own. Each was recorded with --dump-instr=yes,
// --branch-sim=yes and --toggle-collect=main, all but nojumps with --collect-jumps=yes; recs with
// --separate-recs=3, callers with --separate-callers=2, skip with --fn-skip=other, parts with
// --dump-every-bb=9000 and --combine-dumps=yes.
func TestJumpsOfValgrind(t *testing.T) {
	exactly := func(n float64) [2]float64 { return [2]float64{n, n} }
	leave := map[uint64][2]float64{
		0x1153: exactly(500), 0x115a: exactly(4000), 0x1163: exactly(750), 0x117c: exactly(500), 0x118b: exactly(125),
		0x11a7: exactly(2000), 0x11ba: exactly(5000), 0x11f0: exactly(999), // the first two are rep
	}
	for _, test := range []struct {
		name, object string
		want         map[uint64][2]float64
	}{
		{"plain", "/src/leave", leave},
		{"recs", "/src/leave", leave},
		{"callers", "/src/leave", leave},
		{"skip", "/src/leave", leave},
		{"parts", "/src/leave", leave},
		{"passes", "/src/passes", map[uint64][2]float64{
			0x1078: exactly(1022), 0x1193: exactly(0), 0x11a7: exactly(483), 0x11b3: exactly(1023),
		}},
	} {
		table := readSimulated(t, "testdata/"+test.name+".out", &branch.Options{})
		got := takenOf(table, test.object)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", test.name, diff)
		}
		for i := range table.Branches {
			if b := &table.Branches[i]; b.Address == 0x11a7 && test.name == "passes" && !cmp.Equal(b.Classes, []branch.Class{branch.Random}) {
				t.Errorf("%s: the branch on random data is %v", test.name, b.Classes)
			}
		}
	}
	// Without jumps there are bounds, by how often the code behind ran, and a warning.
	table := readSimulated(t, "testdata/nojumps.out", &branch.Options{})
	for at, got := range takenOf(table, "/src/leave") {
		if want := leave[at]; got[0] > want[0] || got[1] < want[1] {
			t.Errorf("without jumps %#x was taken %v times, not %g", at, got, want[0])
		}
	}
	if len(table.Warnings) != 1 || !strings.Contains(table.Warnings[0], "--collect-jumps=yes") {
		t.Errorf("without jumps: %q", table.Warnings)
	}
}

// TestJumps accounts for executions of branches in files that are made up.
func TestJumps(t *testing.T) {
	const elsewhere = "fn=g\n0x100 9 1 1\njcnd=1/1 0x108 9\n0x100 9\n" // the file has jumps
	for _, test := range []struct {
		name, rows string
		want       map[uint64][2]float64
		unsure     bool
	}{
		{
			"never jumped", "0x10 5 100 100 40\n0x12 5 100\n" + elsewhere,
			map[uint64][2]float64{0x10: {0, 0}},
			false,
		},
		{
			"one of three blocks jumped", "0x10 5 1 1\n0x10 5 60 60 20\njcnd=30/60 0x40 5\n0x10 5\n0x10 5 39 39\n0x12 5 70\n0x40 5 30\n",
			map[uint64][2]float64{0x10: {30, 30}},
			false,
		},
		{
			"left the function", "0x10 5 100 100 40\ncfn=h\ncalls=30 0x400 7\n0x10 5 300\n0x12 5 70\n" + elsewhere,
			map[uint64][2]float64{0x10: {30, 30}},
			false,
		},
		{
			"left, and nothing says so", "0x10 5 100 100 40\n0x12 5 70\n" + elsewhere,
			map[uint64][2]float64{0x10: {0, 30}},
			true,
		},
		{
			"skipped functions", "0x10 5 100 100 40\n0x10 5 900 0\n0x12 5 70\n" + elsewhere,
			map[uint64][2]float64{0x10: {30, 30}},
			false,
		},
		{
			"skipped functions, with branches", "0x10 5 100 100 40\n0x10 5 900 50 3\n0x12 5 70\n0x14 5 70\n" + elsewhere,
			map[uint64][2]float64{0x10: {80, 80}},
			false, // 150 branches, after which 70 went on
		},
		{
			"the next instruction starts a function", "0x10 5 100 100 40\njcnd=30/100 0x40 5\n0x10 5\ncfn=h\ncalls=70 0x12 7\n0x10 5 300\nfn=h\n0x12 5 70\n",
			map[uint64][2]float64{0x10: {30, 30}},
			false,
		},
		{
			"near, where it jumps", "0x10 5 100 100 40\ncfn=h\ncalls=70 0x16 7\n0x10 5 300\n0x12 5 30\nfn=h\n0x16 5 70\n" + elsewhere,
			map[uint64][2]float64{0x10: {70, 70}},
			false,
		},
		{
			"near, which is next or where it jumps", "0x10 5 100 100 40\ncfn=h\ncalls=70 0x16 7\n0x10 5 300\nfn=h\n0x16 5 70\n" + elsewhere,
			map[uint64][2]float64{0x10: {30, 70}},
			true,
		},
		{
			"cut between a branch and where it went", "0x10 5 100 100 40\njcnd=30/99 0x40 5\n0x10 5\n0x12 5 69\n",
			map[uint64][2]float64{0x10: {31, 31}},
			false,
		},
		{
			"several branches in an instruction", "0x10 5 100 200 40\njcnd=30/100 0x10 5\n0x10 5\n0x12 5 100\n0x12 5 100 0\n",
			map[uint64][2]float64{0x10: {30, 100}},
			true,
		},
		{
			"jumps before the costs", "jcnd=30/60 0x40 5\n0x10 5\n0x10 5 60 60 20\n0x12 5 30\n",
			map[uint64][2]float64{0x10: {30, 30}},
			false,
		},
		{
			"jumps counted while costs were not", "0x10 5 100 100 40\njcnd=300/100 0x40 5\n0x10 5\n0x12 5 60\n0x20 5 10 10\njcnd=5/10 0x40 5\n0x20 5\n0x22 5 10\n",
			map[uint64][2]float64{0x10: {40, 40}, 0x20: {0, 0}},
			false,
		},
		{
			"another part", "0x10 5 100 100 40\njcnd=30/100 0x40 5\n0x10 5\n0x12 5 70\ntotals: 170 100 40 0 0\npart: 2\npositions: instr line\nevents: Ir Bc Bcm Bi Bim\n" +
				"ob=/bin/a\nfl=a.c\nfn=f\n0x10 5 50 50 10\n0x12 5 50\n",
			map[uint64][2]float64{0x10: {30, 30}},
			false,
		},
		{
			"levels of recursion", "0x10 5 100 100 40\njcnd=30/100 0x40 5\n0x10 5\n0x12 5 70\nfn=f'2\n0x10 5 50 50 10\n0x12 5 50\n",
			map[uint64][2]float64{0x10: {30, 30}},
			false,
		},
		{
			"a stub with an indirect jump", "0x10 5 100 100 4\n0x10 5 60 0 0 30 1\ncfn=h\ncalls=31 0x400 7\n0x10 5 300\n0x16 5 70\n" + elsewhere,
			map[uint64][2]float64{0x10: {30, 30}},
			false,
		},
		{
			"no jumps", "0x10 5 100 100 40\n0x12 5 70\n",
			map[uint64][2]float64{0x10: {30, 100}},
			true,
		},
	} {
		text := simulatedHead + test.rows + "totals: 1 1 0 0 0\n"
		table, err := Read("x", strings.NewReader(text), int64(len(text)), &branch.Options{})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		got := takenOf(table, "/bin/a")
		delete(got, 0x100)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", test.name, diff)
		}
		warned := false
		for _, w := range table.Warnings {
			warned = warned || strings.Contains(w, " taken")
		}
		if warned != test.unsure {
			t.Errorf("%s: warnings %q", test.name, table.Warnings)
		}
		var misses int64
		for i := range table.Branches {
			misses += table.Branches[i].NMisses
		}
		if misses != table.Misses {
			t.Errorf("%s: %d of %d misses are at branches", test.name, misses, table.Misses)
		}
	}
}

// TestFunctionOfMost checks that a branch is in the function that most of its executions were
// counted for: tails of functions are counted for what called them, too.
func TestFunctionOfMost(t *testing.T) {
	text := simulatedHead + "0x10 5 10 10\nfn=g\n0x10 5 300 300\nfn=h\n0x10 5 20 20\ntotals: 330 330 0 0 0\n"
	table, err := Read("x", strings.NewReader(text), int64(len(text)), &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Branches) != 1 || table.Branches[0].Function != "g" || table.Branches[0].N != 330 {
		t.Errorf("%+v", table.Branches)
	}
}
