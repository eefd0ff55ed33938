package simulated

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/callgrind"
)

func readSimulated(t *testing.T, file string, opt *branch.Options) *branch.Table {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Read("x", bytes.NewReader(data), int64(len(data)), opt)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// sumOf returns Ir and what rows sum to: Bc, Bcm, Bi, Bim.
func sumOf(t *testing.T, table *branch.Table) []int64 {
	t.Helper()
	sum := make([]int64, 5)
	sum[0] = int64(*table.Instructions)
	for _, b := range table.Branches {
		switch b.Kind {
		case branch.Conditional:
			sum[1] += b.N
			sum[2] += b.NMisses
		case branch.Indirect:
			sum[3] += b.N
			sum[4] += b.NMisses
		default:
			t.Errorf("%#x %s has kind %q", b.Address, b.Function, b.Kind)
		}
	}
	return sum
}

func TestSimulatedMessageHeap(t *testing.T) {
	type row struct {
		Address          uint64
		Line             int64
		N, Taken, Missed int64
	}
	for _, test := range []struct {
		side string
		sum  []int64
		want []row // of message_compare
	}{
		{"before", []int64{304340094, 30047404, 3076878, 300116, 79706}, []row{
			{0x40198a, 108, 6166397, 1740153, 1678970},
			{0x401991, 110, 4426244, 4231563, 101806},
			{0x40199b, 112, 194681, 51329, 46147},
		}},
		{"after", []int64{366822151, 19260084, 1603952, 300116, 79706}, nil}, // branchless
	} {
		file := "../../../profiles/message-heap/callgrind/" + test.side + ".out"
		table := readSimulated(t, file, &branch.Options{})
		if diff := cmp.Diff(test.sum, sumOf(t, table)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", test.side, diff)
		}
		var got []row
		for _, b := range table.Branches {
			if b.Function == "message_compare" {
				got = append(got, row{b.Address, b.Line, b.N, b.NTaken, b.NMisses})
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: -want +got:\n%s", test.side, diff)
		}
		if !table.Counted() || table.Cost != nil || table.Branches[0].CyclesLost != nil {
			t.Errorf("%s: tier %s, cost %v", test.side, table.Tier, table.Cost)
		}
		again := readSimulated(t, file, &branch.Options{})
		if diff := cmp.Diff(table, again, cmpopts.IgnoreFields(branch.Branch{}, "Centre")); diff != "" {
			t.Errorf("%s read twice: %s", test.side, diff)
		}
		checkFlow(t, file, table)
	}
}

// checkFlow checks that the instructions after branches ran as often as these were not
// taken, at least.
func checkFlow(t *testing.T, file string, table *branch.Table) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	ran := make(map[uint64]int64)
	targets := make(map[uint64]map[uint64]int64)
	_, err = callgrind.Read(f, callgrind.Visitor{
		Cost: func(c *callgrind.Cost) error { ran[c.Address] += c.Costs[0]; return nil },
		Jump: func(j *callgrind.Jump) error {
			if targets[j.From.Address] == nil {
				targets[j.From.Address] = make(map[uint64]int64)
			}
			targets[j.From.Address][j.To.Address] += j.Taken
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, b := range table.Branches {
		if b.Kind != branch.Conditional || b.Taken == nil {
			continue
		}
		next := b.Address + 1
		for ; next < b.Address+16 && ran[next] == 0; next++ {
		}
		idle := b.N - b.NTaken
		if idle > 0 && ran[next] < idle {
			t.Errorf("%#x was not taken %d times, but %#x ran %d times", b.Address, idle, next, ran[next])
		}
		for to, n := range targets[b.Address] {
			if ran[to] < n || to == next && idle > 0 {
				t.Errorf("%#x was taken %d times to %#x, which ran %d times", b.Address, n, to, ran[to])
			}
		}
		checked++
	}
	if checked < 100 {
		t.Errorf("%d branches with jumps", checked)
	}
}

const simulatedProgram = `
static volatile unsigned sum, n = 4000;
static __attribute__((noinline)) void odd(unsigned x) { sum += x; }
static __attribute__((noinline)) void even(unsigned x) { sum ^= x; }
static void (*volatile calls[2])(unsigned) = {even, odd};
int main(void) {
	unsigned random = 1;
	for (unsigned i = 0; i < n; i++) {
		random = random * 1103515245 + 12345;
		if (i % 8 == 0)
			sum += 3;
		calls[random >> 16 & 1](i);
	}
	return 0;
}
`

var programTotals = regexp.MustCompile(`(?m)^(.*)PROGRAM TOTALS$`)

// annotated are the totals that a tool of Valgrind prints.
func annotated(t *testing.T, tool, file string) []int64 {
	t.Helper()
	m := programTotals.FindStringSubmatch(branchtest.RunTool(t, tool, "--auto=no", file))
	if m == nil {
		t.Fatalf("%s prints no totals", tool)
	}
	var sum []int64
	for _, field := range regexp.MustCompile(`\([^)]*\)`).Split(m[1], -1) {
		if field = strings.ReplaceAll(strings.TrimSpace(field), ",", ""); field != "" {
			var n int64
			if _, err := fmt.Sscan(field, &n); err != nil {
				t.Fatal(err)
			}
			sum = append(sum, n)
		}
	}
	return sum
}

func TestSimulatedValgrind(t *testing.T) {
	dir := t.TempDir()
	source, program := filepath.Join(dir, "program.c"), filepath.Join(dir, "program")
	if err := os.WriteFile(source, []byte(simulatedProgram), 0o666); err != nil {
		t.Fatal(err)
	}
	branchtest.RunTool(t, "gcc", "-g", "-O1", "-fno-unroll-loops", "-o", program, source)
	for _, test := range []struct {
		name, tool string
		options    []string
		byLine     bool
	}{
		{"instructions", "callgrind", []string{"--dump-instr=yes", "--collect-jumps=yes"}, false},
		{"lines", "callgrind", []string{"--collect-jumps=yes"}, true},
		{"cachegrind", "cachegrind", []string{"--cache-sim=no"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if testing.Short() && test.name != "instructions" {
				t.Skip("runs valgrind")
			}
			record := func(name string) string {
				file := filepath.Join(dir, name)
				args := append([]string{"-q", "--tool=" + test.tool, "--branch-sim=yes", "--" + test.tool + "-out-file=" + file}, test.options...)
				branchtest.RunTool(t, "valgrind", append(args, program)...)
				return file
			}
			file := record(test.name + "1")
			table := readSimulated(t, file, &branch.Options{})
			annotate := "callgrind_annotate"
			if test.tool == "cachegrind" {
				annotate = "cg_annotate"
			}
			got := make([]int64, 0, 5)
			for _, e := range table.Events {
				got = append(got, int64(e.Weight+e.Unplaced))
				if e.Unplaced > 0 && e.Counts != branch.CountsInstructions {
					t.Errorf("%g %s at no place", e.Unplaced, e.Name)
				}
			}
			if diff := cmp.Diff(annotated(t, annotate, file), got); diff != "" {
				t.Errorf("totals, -%s +got:\n%s", annotate, diff)
			}
			var executed, misses int64
			var tested, called bool
			for _, b := range table.Branches {
				executed, misses = executed+b.N, misses+b.NMisses
				if b.ByLine != test.byLine {
					t.Fatalf("%s line %d: by line is %t", b.Function, b.Line, b.ByLine)
				}
				if b.Function != "main" {
					continue
				}
				switch b.Line {
				case 10:
					tested = b.Kind == branch.Conditional && b.N == 4000 && (test.byLine == (b.Taken == nil)) &&
						(test.byLine || b.NTaken == 500 || b.NTaken == 3500)
				case 12:
					called = b.Kind == branch.Indirect && b.N == 4000 && b.NMisses > 1000 && b.NMisses < 3000
				}
			}
			if !tested || !called {
				t.Errorf("branch of line 10 found: %t, call of line 12: %t", tested, called)
			}
			if executed != got[1]+got[3] || misses != got[2]+got[4] || misses != table.Misses {
				t.Errorf("rows sum to %d branches, %d misses of %v", executed, misses, got)
			}
			if diff := cmp.Diff(table, readSimulated(t, record(test.name+"2"), &branch.Options{}), cmpopts.IgnoreFields(branch.Branch{}, "Centre")); diff != "" {
				t.Errorf("two runs differ: %s", diff)
			}
		})
	}
}

const simulatedHead = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npositions: instr line\nevents: Ir Bc Bcm Bi Bim\n\nob=/bin/a\nfl=a.c\nfn=f\n"

func TestSimulatedRows(t *testing.T) {
	text := simulatedHead +
		"0x10 5 50 50 20\n" +
		"jcnd=30/50 0x40 5\n0x10 5\n" + // accounts for all
		"0x12 6 10 10 9\n" +
		"jcnd=4/8 0x40 5\n0x12 6\n" + // not for all
		"0x14 7 10 0 0 10 4\n" +
		"0x16 8 150\n" +
		"jump=6 0x14 7\n0x16 8\n" +
		"fn=f'2\n0x10 5 50 50 1\njcnd=20/50 0x40 5\n0x10 5\n" +
		"0x12 6 40\n" +
		"fn=???\n0x0 0 15 3 2 2 1\n" +
		"totals: 325 113 32 12 5\n"
	cost := &branch.Cost{Lo: 10, Centre: 15, Hi: 20}
	got, err := Read("x", strings.NewReader(text), int64(len(text)), &branch.Options{Cost: cost})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"of 1 of 2 conditional branches it is not sure how often they were taken, in 2 of 110 executions: nothing written says where these went"}; !cmp.Equal(want, got.Warnings) {
		t.Error(got.Warnings)
	}
	exact := func(v float64) *branch.Rate {
		return &branch.Rate{Value: &v, Bounds: [2]float64{v, v}, CI: [2]float64{v, v}, Method: branch.Counted}
	}
	per := func(misses float64) *branch.Estimate {
		v := 1000 * misses / 325
		return &branch.Estimate{Value: v, Lo: v, Hi: v}
	}
	want := []branch.Branch{
		{
			Place: branch.Place{Address: 0x10, Function: "f", Line: 5}, Kind: branch.Conditional, N: 100, NTaken: 50, NMisses: 21, Enough: true,
			Executed: new(100.0), Taken: new(50.0), NotTaken: new(50.0), Misses: new(21.0), PTaken: &branch.Estimate{Value: 0.5, Lo: 0.5, Hi: 0.5}, Classes: []branch.Class{branch.PartlyLearnt},
			Rate: exact(0.21), MPKI: per(21), Loss: branch.Loss{CyclesLost: &[2]float64{210, 420}}, MissShare: new(21.0 / 37),
		},
		{
			Place: branch.Place{Address: 0x12, Function: "f", Line: 6}, Kind: branch.Conditional, N: 10, NMisses: 9, Executed: new(10.0), Misses: new(9.0),
			PTaken: &branch.Estimate{Value: 0.5, Lo: 0.4, Hi: 0.6}, Classes: []branch.Class{branch.Random},
			Rate: exact(0.9), MPKI: per(9), Loss: branch.Loss{CyclesLost: &[2]float64{90, 180}}, MissShare: new(9.0 / 37),
		},
		{
			Place: branch.Place{Address: 0x14, Function: "f", Line: 7}, Kind: branch.Indirect, N: 10, NTaken: 10, NMisses: 4, Executed: new(10.0), Misses: new(4.0),
			Taken: new(10.0), NotTaken: new(0.0), Rate: exact(0.4), MPKI: per(4), Loss: branch.Loss{CyclesLost: &[2]float64{40, 80}}, MissShare: new(4.0 / 37),
		},
		{
			Place: branch.Place{ByLine: true}, N: 5, NMisses: 3, Executed: new(5.0), Misses: new(3.0),
			Rate: exact(0.6), MPKI: per(3), Loss: branch.Loss{CyclesLost: &[2]float64{30, 60}}, MissShare: new(3.0 / 37),
		},
	}
	for i := range want {
		want[i].DSO, want[i].File, want[i].Cost = "/bin/a", "a.c", cost
	}
	if diff := cmp.Diff(want, got.Branches, cmpopts.IgnoreFields(branch.Branch{}, "Centre")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// Parts sum up.
	twice := text + "part: 2\npositions: instr line\nevents: Ir Bc Bcm Bi Bim\n" + strings.TrimPrefix(text, simulatedHead[:strings.Index(simulatedHead, "ob=")])
	got, err = Read("x", strings.NewReader(twice), int64(len(twice)), &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b := got.Branches[0]; *got.Instructions != 650 || got.Misses != 74 || b.N != 200 || b.NTaken != 100 {
		t.Errorf("two parts: %v instructions, %d misses, row %+v", *got.Instructions, got.Misses, b)
	}
}

func TestSimulatedErrors(t *testing.T) {
	for _, test := range []struct {
		name, text string
		opt        branch.Options
		want       string
	}{
		{"no branches", "version: 1\npositions: line\nevents: Ir\nfn=f\n1 5\ntotals: 5\n", branch.Options{}, "line 5: no event Bc: record with --branch-sim=yes"},
		{"empty", "version: 1\nevents: Ir\ntotals: 0\n", branch.Options{}, "no event Bc: record with --branch-sim=yes"},
		{"misses", simulatedHead + "0x10 5 1 2 3\n", branch.Options{}, "line 10: more misses than branches: Bc 2, Bcm 3, Bi 0, Bim 0"},
		{"truncated", simulatedHead + "0x10 5 1 1\n", branch.Options{}, "line 10: ends without the sum of costs, which callgrind writes last"},
		{"event", simulatedHead + "0x10 5 1 1\ntotals: 1 1\n", branch.Options{Events: []string{"Bc"}}, "is of callgrind, which counts all events: --event is for samples"},
		{"sum", simulatedHead + "0x10 5 1 9223372036854775807\n0x10 5 1 1\n", branch.Options{}, "line 11: costs of Bc sum to more than 2^63"},
		{"kinds", simulatedHead + "0x10 5 1 9223372036854775807 0 1\n", branch.Options{}, "line 10: branches sum to more than 2^63"},
		{"difference", "desc: Files compared: a; b\ncmd: x\nevents: Ir Bc Bcm Bi Bim\nfl=a\nfn=f\n1 1 1\nsummary: 1 1 0 0 0\n", branch.Options{}, "is a difference that cg_diff made: give one of the recordings"},
		{"negative", "desc: Files compared: a; b\ncmd: x\nevents: Ir Bc Bcm Bi Bim\nfl=a\nfn=f\n1 1 -1\nsummary: 1 -1 0 0 0\n", branch.Options{}, "line 6: -1 Bc is negative: a difference is no recording"},
	} {
		_, err := Read("x", strings.NewReader(test.text), int64(len(test.text)), &test.opt)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
	text := simulatedHead + "0x10 5 1 1\n"
	table, err := Read("x", strings.NewReader(text), int64(len(text)), &branch.Options{AllowTruncated: true})
	if err != nil || len(table.Branches) != 1 || len(table.Warnings) != 1 {
		t.Errorf("truncated: %+v, %v", table, err)
	}
}
