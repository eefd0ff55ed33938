package branches

import (
	"bytes"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/report/reporttest"
	"profdiff/internal/symbolizer"
)

// branchTable has branches of which more and less is known.
func branchTable() *branch.Table {
	cost := &branch.Cost{Lo: 14, Centre: 22.4, Hi: 28, Source: "skylake: 14 cycles by LLVM 22, in practice up to twice that"}
	measured := &branch.Cost{Lo: 20, Centre: 21, Hi: 23, Source: "cycles of the stacks, 240 misses and 430 hits", Measured: true}
	return &branch.Table{
		Name: "app.data", Format: "perf.data", Tool: "perf 6.14", Arch: "x86_64", CPU: "Some CPU",
		Tier: branch.TierStacks, Scaled: true, Stacks: &branch.StackTable{FirstIndex: 4, Entries: branch.Account{In: 16000, Used: 15980, Dropped: map[string]int64{"in a dropped sample": 16, "without source or target": 4}}, Ranges: branch.Ranges{Decoded: 14000, Broken: 12, NoCode: 900}},
		Events: []branch.Event{
			{Name: "br_inst_retired.near_taken:u", Samples: 1000, Weight: 1e8, Period: 100000, Counts: branch.CountsTaken, HasStacks: true, Rates: true},
			{Name: "cycles:upp", Samples: 50, Weight: 5e8, Precise: true, Counts: branch.CountsCycles},
		},
		Samples: branch.Account{In: 1050, Used: 999, Dropped: map[string]int64{"no branch stack": 50, "contradicts the binary": 1}, Lost: 2},
		Cost:    cost, Instructions: new(1e9), Cycles: new(5e8), Misses: 1500,
		Branches: []branch.Branch{
			{
				Place: branch.Place{DSO: "/usr/bin/app", BuildID: "0123456789abcdef", Address: 0x401731, Function: "longest_match", Offset: new(uint64(0xb1)), File: "/src/inner.h", Line: 12, Inlined: []symbolizer.Frame{
					{Name: "compare", File: "/src/inner.h", Line: 12}, {Name: "longest_match", File: "/src/deflate.c", Line: 439},
				}}, Kind: branch.Conditional,
				Stacks:   &branch.StackCounts{Taken: 2400, Mispredicted: 800, Predicted: 1600, NotTaken: new(int64(1600)), TakenRate: &branch.Estimate{Value: 0.3333, Lo: 0.31, Hi: 0.36}, Targets: 1, TopTarget: 1},
				Executed: new(4e7), Taken: new(2.4e7), NotTaken: new(1.6e7), Misses: new(1.2e7),
				MissesCI: &[2]float64{1.1e7, 1.3e7}, N: 3000, NTaken: 1800, NMisses: 600, Samples: 700,
				PTaken: &branch.Estimate{Value: 0.6, Lo: 0.58, Hi: 0.62},
				Rate:   &branch.Rate{Value: new(0.3), Bounds: [2]float64{0.2, 0.6}, CI: [2]float64{0.28, 0.32}, Method: branch.ByCycles},
				MPKI:   &branch.Estimate{Value: 12, Lo: 11, Hi: 13}, Loss: branch.Loss{Cost: measured, CyclesLost: &[2]float64{2.2e8, 2.9e8}, Share: new(0.504)}, MissShare: new(0.6), Classes: []branch.Class{branch.PartlyLearnt}, Enough: true,
			},
			{
				Place: branch.Place{DSO: "/usr/bin/app", BuildID: "0123456789abcdef", Address: 0x401800, Function: "bare"}, Kind: branch.Conditional,
				Stacks:   &branch.StackCounts{Taken: 100, Mispredicted: 60, Predicted: 40, NotTaken: new(int64(900)), TakenRate: &branch.Estimate{Value: 0.6, Lo: 0.5, Hi: 0.7}, Targets: 1, TopTarget: 1},
				Executed: new(1e7), Taken: new(1e6), NotTaken: new(9e6), Misses: new(6e5), MissesCI: &[2]float64{5e5, 7e5}, N: 750, NTaken: 75, NMisses: 45, Samples: 75,
				PTaken: &branch.Estimate{Value: 0.1, Lo: 0.08, Hi: 0.12},
				Rate:   &branch.Rate{Bounds: [2]float64{0.06, 0.96}, CI: [2]float64{0.05, 0.97}, Method: branch.ByBounds},
				MPKI:   &branch.Estimate{Value: 0.6, Lo: 0.5, Hi: 0.7}, Loss: branch.Loss{Cost: cost, CyclesLost: &[2]float64{7e6, 2e7}, Share: new(0.027)}, MissShare: new(0.03), Classes: []branch.Class{branch.PartlyLearnt, branch.Random}, Enough: true,
			},
			{
				Place:  branch.Place{DSO: "[kernel.kallsyms]", Address: 0xffffffff81000100},
				Stacks: &branch.StackCounts{Taken: 30, Mispredicted: 12, Predicted: 18, Targets: 3, TopTarget: 0.5}, Taken: new(3e5), Misses: new(1.2e5),
				N: 22, NTaken: 22, NMisses: 9, Samples: 9, Loss: branch.Loss{Cost: cost}, MissShare: new(0.01), Enough: true,
			},
			{
				Place: branch.Place{DSO: "/usr/bin/app", Address: 0x401900}, Kind: branch.Return,
				Stacks: &branch.StackCounts{Taken: 30, Predicted: 30, NotTaken: new(int64(0)), Targets: 3, TopTarget: 0.5}, Executed: new(3e5), Taken: new(3e5), NotTaken: new(0.0), Misses: new(0.0),
				N: 22, NTaken: 22, Samples: 9, Loss: branch.Loss{Cost: cost}, MissShare: new(0.0),
			},
		},
		Warnings: []string{"12 entries do not say whether they were predicted: rates are of the others"},
	}
}

// unknownTable is of a recording without predictions.
func unknownTable() *branch.Table {
	return &branch.Table{
		Name: "etm.data", Format: "perf.data", Tier: branch.TierStacks,
		Unknown: "stacks were made by perf inject, which does not know predictions",
		Events:  []branch.Event{{Name: "instructions:u", Samples: 5, Weight: 5000, Counts: branch.CountsInstructions, HasStacks: true, Rates: true}},
		Samples: branch.Account{In: 5, Used: 5}, Stacks: &branch.StackTable{Entries: branch.Account{In: 116, Used: 116}},
		Branches: []branch.Branch{
			{Place: branch.Place{DSO: "/lib/libc.so\x1b", Address: 0x1000}, Kind: branch.Conditional, Stacks: &branch.StackCounts{Taken: 100, Targets: 1, TopTarget: 1}, Taken: new(100.0), N: 80, NTaken: 80, Samples: 5, Enough: true},
			{Place: branch.Place{DSO: "/lib/libc.so\x1b", Address: 0x2000}, Stacks: &branch.StackCounts{Taken: 16, Targets: 1, TopTarget: 1}, Taken: new(16.0), N: 10, NTaken: 10, Samples: 5, Enough: true},
		},
	}
}

// simulatedTable is of callgrind, which has a row without an address.
func simulatedTable() *branch.Table {
	exact := func(v float64) *branch.Rate {
		return &branch.Rate{Value: &v, Bounds: [2]float64{v, v}, CI: [2]float64{v, v}, Method: branch.Counted}
	}
	cost := &branch.Cost{Lo: 10, Centre: 15, Hi: 20, Source: "--miss-cost"}
	return &branch.Table{
		Name: "callgrind.out.7", Format: "callgrind", Tool: "valgrind 3.19.0", Tier: branch.TierSimulated, Scaled: true,
		Events: []branch.Event{
			{Name: "Ir", Weight: 10000, Unplaced: 2, Period: 1, Counts: branch.CountsInstructions},
			{Name: "Bc", Weight: 3000, Period: 1, Counts: branch.CountsBranches},
			{Name: "Bcm", Weight: 700, Period: 1, Counts: branch.CountsMisses},
			{Name: "Bi", Weight: 40, Period: 1, Counts: branch.CountsBranches},
			{Name: "Bim", Weight: 2, Period: 1, Counts: branch.CountsMisses},
		},
		Instructions: new(1e4), Misses: 702, Cost: cost,
		Branches: []branch.Branch{
			{
				Place: branch.Place{DSO: "/usr/bin/app", Address: 0x1137, Function: "less", File: "/src/heap.c", Line: 104}, Kind: branch.Conditional, Loss: branch.Loss{Cost: cost, CyclesLost: &[2]float64{5000, 10000}},
				N: 2000, NTaken: 900, NMisses: 500, Executed: new(2000.0), Taken: new(900.0), NotTaken: new(1100.0), Misses: new(500.0),
				PTaken: &branch.Estimate{Value: 0.45, Lo: 0.45, Hi: 0.45}, Rate: exact(0.25), MPKI: &branch.Estimate{Value: 50, Lo: 50, Hi: 50}, MissShare: new(500.0 / 702), Enough: true,
			},
			{
				Place: branch.Place{ByLine: true, Function: "lower", File: "/src/heap.c", Line: 120}, Loss: branch.Loss{Cost: cost, CyclesLost: &[2]float64{2020, 4040}},
				N: 1040, NMisses: 202, Executed: new(1040.0), Misses: new(202.0), Rate: exact(202.0 / 1040), MPKI: &branch.Estimate{Value: 20.2, Lo: 20.2, Hi: 20.2}, MissShare: new(202.0 / 702), Enough: true,
			},
		},
		Warnings: []string{"line 9: totals of Bc are 3001, but costs sum to 3000"},
	}
}

func TestBranches(t *testing.T) {
	for _, test := range []struct {
		file  string
		Table *branch.Table
		parts Parts
		limit int
	}{
		{"testdata/branches.txt", branchTable(), Parts{}, 40},
		{"testdata/branches_limit.txt", branchTable(), Parts{}, 1},
		{"testdata/branches_all.txt", branchTable(), Parts{All: true}, 1},
		{"testdata/branches_unknown.txt", unknownTable(), Parts{}, 0},
		{"testdata/branches_simulated.txt", simulatedTable(), Parts{}, 0},
		{"testdata/branches_empty.txt", &branch.Table{Tier: branch.TierStacks, Stacks: &branch.StackTable{}}, Parts{}, 0},
	} {
		var b bytes.Buffer
		if err := WriteText(&b, New(test.Table, test.parts), test.limit); err != nil {
			t.Fatal(err)
		}
		reporttest.Golden(t, test.file, b.Bytes())
	}
}

func TestBranchesJSON(t *testing.T) {
	s := reporttest.Schema[Document](t, "branches.schema.json")
	for _, test := range []struct {
		file  string
		Table *branch.Table
		parts Parts
	}{
		{"testdata/branches.json", branchTable(), Parts{}},
		{"testdata/branches_all.json", branchTable(), Parts{All: true}},
		{"testdata/branches_unknown.json", unknownTable(), Parts{}},
		{"testdata/branches_simulated.json", simulatedTable(), Parts{}},
	} {
		var b bytes.Buffer
		if err := WriteJSON(&b, New(test.Table, test.parts)); err != nil {
			t.Fatal(err)
		}
		reporttest.Golden(t, test.file, b.Bytes())
		reporttest.Validate(t, s, b.Bytes())
	}
}

// TestBranchesPrecise has entries of precise samples: each is a branch, taken or not, so that
// nothing is said of misses that stacks do not hold.
func TestBranchesPrecise(t *testing.T) {
	for tier, want := range map[branch.Tier]bool{branch.TierStacks: true, branch.TierPrecise: false} {
		table := branchTable()
		table.Tier = tier
		var b bytes.Buffer
		if err := WriteText(&b, New(table, Parts{}), 0); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), "stacks hold no misses that ended not taken"); got != want || !strings.Contains(b.String(), "of 15,980 entries 1,500 were mispredicted") {
			t.Errorf("tier %s:\n%s", tier, b.String())
		}
	}
}

// TestHidden checks what is said of all branches where only some are shown.
func TestHidden(t *testing.T) {
	table := simulatedTable()
	for i := range table.Branches {
		table.Branches[i].Enough = false
	}
	d := New(table, Parts{})
	if d.Hidden != 2 || len(d.Branches) != 0 || !d.ByLine || d.BranchMisses != 702 {
		t.Errorf("hidden %d, shown %d, by line %t, %g misses", d.Hidden, len(d.Branches), d.ByLine, d.BranchMisses)
	}
}
