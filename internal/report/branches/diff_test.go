package branches

import (
	"bytes"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/advice"
	"profdiff/internal/branch/diff"
	"profdiff/internal/branch/shape"
	"profdiff/internal/report/reporttest"
	"profdiff/internal/verdict"
)

// branchSide is a table of stacks whose first branch has so many misses. Without all,
// the second is not there.
func branchSide(name string, misses float64, all bool) *branch.Table {
	t := branchTable()
	t.Name = name
	t.Warnings = nil
	t.Branches = t.Branches[:2]
	b := &t.Branches[0]
	b.Misses, b.MissesCI = &misses, &[2]float64{0.9 * misses, 1.1 * misses}
	b.Executed, t.Branches[1].Executed = new(4e7), new(1e7)
	rate := misses / 4e7
	b.Rate = &branch.Rate{Value: &rate, Bounds: [2]float64{rate, rate}, CI: [2]float64{0.9 * rate, 1.1 * rate}, Method: branch.AllSeen}
	if !all {
		t.Branches = t.Branches[:1]
	}
	return t
}

func branchDiff(t *testing.T, opt diff.Options, base, head []*branch.Table) *diff.Result {
	t.Helper()
	d, err := diff.Compare(base, head, opt)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func branchDiffs(t *testing.T) map[string]*diff.Result {
	before, after := branchSide("before.data", 1.2e7, true), branchSide("after.data", 4e6, false)
	after.Cycles = new(3.2e8)
	side := func(tables ...*branch.Table) []*branch.Table { return tables }
	other := branchSide("other.data", 4e6, true)
	other.CPU = "Another CPU"
	functions := func(samples int64) *branch.Table {
		n := float64(samples)
		amount := branch.Amount{Value: 1000 * n, Samples: samples, Effective: n}
		return &branch.Table{
			Name: "phone.data", Tier: branch.TierSampled, Scaled: true, Totals: []branch.Totals{{Misses: &amount}},
			Sampled: &branch.SampledTable{Functions: []branch.Function{{Name: "sift", DSO: "/lib/libapp.so", Misses: amount}, {Name: "rare", DSO: "/lib/libapp.so", Misses: branch.Amount{Value: 1000, Samples: 1, Effective: 1}}}},
		}
	}
	simulated := simulatedTable()
	simulated.Branches = append(simulated.Branches[:0:0], simulated.Branches[0])
	replaced := branchDiff(t, diff.Options{}, side(simulatedTable()), side(simulated))
	for i := range replaced.Branches {
		if b := &replaced.Branches[i]; b.Misses.Verdict == verdict.Removed {
			b.ReplacedBy = &diff.Replacement{By: shape.ConditionalMove, Text: "cmovl %eax,%edx", Address: 0x1234, File: "/src/a.c", Line: 7, Base: 1, Head: 3}
		}
	}
	return map[string]*diff.Result{
		"branches_diff":           branchDiff(t, diff.Options{}, side(before), side(after)),
		"branches_diff_work":      branchDiff(t, diff.Options{Ops: &[2]float64{1e9, 2e9}}, side(before), side(after)),
		"branches_diff_different": branchDiff(t, diff.Options{}, side(before), side(other)),
		"branches_diff_functions": branchDiff(t, diff.Options{}, side(functions(900)), side(functions(400))),
		"branches_diff_simulated": replaced,
		"branches_diff_runs": branchDiff(t, diff.Options{Normalize: diff.PerRun},
			side(before, branchSide("before2.data", 1.25e7, true), branchSide("before3.data", 1.15e7, true)),
			side(after, branchSide("after2.data", 4.2e6, false), branchSide("after3.data", 4.1e6, false))),
	}
}

func TestBranchesDiff(t *testing.T) {
	s := reporttest.Schema[DiffDocument](t, "branches_diff.schema.json")
	for name, d := range branchDiffs(t) {
		var text, json bytes.Buffer
		if err := WriteDiffText(&text, NewDiff(d, nil), 40); err != nil {
			t.Fatal(err)
		}
		reporttest.Golden(t, "testdata/"+name+".txt", text.Bytes())
		if err := WriteDiffJSON(&json, NewDiff(d, nil)); err != nil {
			t.Fatal(err)
		}
		reporttest.Golden(t, "testdata/"+name+".json", json.Bytes())
		reporttest.Validate(t, s, json.Bytes())
	}
}

func TestBranchAdvice(t *testing.T) {
	table := branchTable()
	for i := range table.Branches {
		table.Branches[i].Share = new(0.1)
		if r := table.Branches[i].Rate; r != nil {
			r.CI = [2]float64{0.3, 0.5}
		}
	}
	advice.Add(table, nil)
	table.Advice = "all of them"
	for range maxAdvice {
		table.Branches = append(table.Branches, table.Branches[0])
	}
	var b bytes.Buffer
	if err := WriteText(&b, New(table, Parts{}), 0); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/branches_advice.txt", b.Bytes())
	b.Reset()
	if err := WriteJSON(&b, New(table, Parts{})); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/branches_advice.json", b.Bytes())
	reporttest.Validate(t, reporttest.Schema[Document](t, "branches.schema.json"), b.Bytes())
}
