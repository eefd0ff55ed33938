package branches

import (
	"bytes"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/report/reporttest"
)

// sampledBranchTable is of imprecise samples on two kinds of cores.
func sampledBranchTable() *branch.Table {
	cost := &branch.Cost{Lo: 14, Centre: 22.4, Hi: 28, Source: "skylake: 14 cycles by LLVM 22, in practice up to twice that"}
	amount := func(v, lo, hi float64, n int64) *branch.Amount {
		return &branch.Amount{Value: v, CI: [2]float64{lo, hi}, Samples: n, Effective: float64(n) / 2}
	}
	ratio := func(v, lo, hi float64) *branch.Ratio {
		return &branch.Ratio{Value: &v, CI: &[2]float64{lo, hi}, Misses: 30, Of: 60}
	}
	return &branch.Table{
		Name: "app.data", Format: "perf.data", Tool: "perf 6.14", Arch: "x86_64", CPU: "Some CPU", Tier: branch.TierSampled, Scaled: true,
		Events: []branch.Event{
			{Name: "cpu_core/branch-misses/u", Samples: 60, Weight: 6e5, Period: 10000, Counts: branch.CountsMisses, Rates: true},
			{Name: "cpu_core/branches/u", Samples: 120, Weight: 1.2e7, Counts: branch.CountsBranches, Rates: true},
			{Name: "page-faults", Samples: 3, Weight: 3, Period: 1},
		},
		Samples: branch.Account{In: 185, Used: 180, Dropped: map[string]int64{"other events": 3, "period not settled": 2}, Lost: 7},
		Totals: []branch.Totals{
			{
				PMU: "cpu_core", Source: "samples", MissEvent: "cpu_core/branch-misses/u", BranchEvent: "cpu_core/branches/u", CycleEvent: "cpu_core/cycles/u",
				Misses: amount(6e5, 4.5e5, 8e5, 60), Branches: amount(1.2e7, 9e6, 1.5e7, 120), Cycles: &branch.Amount{Value: 1e9, CI: [2]float64{1e9, 1e9}, Counted: true},
				Rate: ratio(0.05, 0.04, 0.0625), MPKIRefused: "instructions ran 20 % of the time only",
			},
			{PMU: "cpu_atom", Source: "st.txt", MissEvent: "cpu_atom/branch-misses/u", Misses: amount(0, 0, 37000, 0), Rate: &branch.Ratio{CI: &[2]float64{0, 0.003}}},
		},
		Sampled: &branch.SampledTable{Functions: []branch.Function{
			{
				PMU: "cpu_core", DSO: "/usr/bin/app", BuildID: "0123456789abcdef", Name: "longest_match", File: "/src/deflate.c", Line: 400,
				Misses: *amount(5e5, 4e5, 6e5, 50), Branches: amount(5e6, 4e6, 6e6, 50), Share: new(5.0 / 6), Rate: ratio(0.1, 0.08, 0.12), MPKI: ratio(12, 10, 14),
				CyclesLost: &[2]float64{5.6e6, 1.68e7}, Named: 48, Unnamed: map[string]int64{"no branch within 8 instructions before": 2}, Enough: true,
			},
			{
				PMU: "cpu_core", DSO: "/lib/libc.so.6", Misses: *amount(1e5, 4e4, 2e5, 10), Branches: amount(7e6, 5e6, 9e6, 70), Share: new(1.0 / 6), Named: 0,
				Unnamed: map[string]int64{"no binary": 9}, Enough: true,
			},
			{PMU: "cpu_core", DSO: "/lib/ld.so", Misses: *amount(1e3, 1e2, 2e3, 1)},
		}, Blocks: []branch.Block{{PMU: "cpu_core", DSO: "/usr/bin/app", Function: "longest_match", Start: 0x401700, End: 0x401733, Misses: *amount(4e5, 3e5, 5e5, 40), Branches: *amount(4e6, 3e6, 5e6, 40), Rate: ratio(0.1, 0.08, 0.12)}}, Attribution: branch.Attribution{In: 60, Named: 48, Exact: 3, Unnamed: map[string]int64{"no branch within 8 instructions before": 2, "no binary": 9}, Unmapped: 1, Skid: []float64{0.1, 0.4, 0.3, 0.2, 0, 0, 0, 0, 0}}},
		Cost: cost,
		Branches: []branch.Branch{
			{
				PMU: "cpu_core", Place: branch.Place{DSO: "/usr/bin/app", BuildID: "0123456789abcdef", Address: 0x401731, Function: "longest_match", Offset: new(uint64(0xb1)), File: "/src/deflate.c", Line: 439},
				Kind: branch.Conditional, Misses: new(4e5), MissesCI: &[2]float64{2e5, 5e5}, MissShare: new(2.0 / 3), MPKI: &branch.Estimate{Value: 8, Lo: 4, Hi: 10},
				Samples: 45, NMisses: 40, Loss: branch.Loss{Cost: cost, CyclesLost: &[2]float64{2.8e6, 1.4e7}, Share: new(0.009)}, Sampled: &branch.SampledCounts{Confidence: branch.Medium, Exclusive: 3e5, Shared: 1e5, ExclusiveSamples: 30, SharedSamples: 15, Candidates: []branch.RowCandidate{
					{Place: branch.Place{Address: 0x401711, Function: "longest_match", Offset: new(uint64(0x91)), File: "/src/deflate.c", Line: 480}, Kind: branch.Conditional, Part: 0.2},
					{Place: branch.Place{Address: 0x401900, Function: "helper"}, Kind: branch.Return, Part: 0.05, Grouped: true},
					{Place: branch.Place{Address: 0x401904}, Part: 0.03},
					{Place: branch.Place{Address: 0x401908}, Part: 0.02},
				}, MoreCandidates: 2}, Enough: true,
			},
			{
				PMU: "cpu_core", Place: branch.Place{DSO: "/usr/bin/app", Address: 0x401800}, Kind: branch.Conditional, Misses: new(2e4), MissesCI: &[2]float64{0, 1e5}, MissShare: new(1.0 / 30),
				Samples: 5, NMisses: 2, Loss: branch.Loss{Cost: cost}, Sampled: &branch.SampledCounts{Confidence: branch.Low, Shared: 2e4, SharedSamples: 5},
			},
		},
		Warnings: []string{"cores of different kinds (cpu_atom, cpu_core) have misses: their numbers are not comparable and are never added up"},
	}
}

// totalsTable is of perf stat.
func totalsTable() *branch.Table {
	counted := func(v float64) *branch.Amount {
		return &branch.Amount{Value: v, CI: [2]float64{v, v}, Counted: true}
	}
	return &branch.Table{
		Name: "st.txt", Format: "perf stat", Tool: "perf", Tier: branch.TierTotals, Scaled: true,
		Totals: []branch.Totals{{
			Source: "perf stat", MissEvent: "branch-misses", BranchEvent: "branches", InstructionEvent: "instructions",
			Misses: counted(1234567), Branches: counted(16244302), Instructions: counted(5e8), Rate: &branch.Ratio{Value: new(0.076)}, MPKI: &branch.Ratio{Value: new(2.469134)},
		}},
		Instructions: new(5e8), Warnings: []string{"cycles was not counted"},
	}
}

func TestSampledBranches(t *testing.T) {
	s := reporttest.Schema[Document](t, "branches.schema.json")
	for _, test := range []struct {
		file  string
		Table *branch.Table
		parts Parts
		limit int
	}{
		{"testdata/branches_sampled", sampledBranchTable(), Parts{}, 40},
		{"testdata/branches_sampled_all", sampledBranchTable(), Parts{All: true}, 0},
		{"testdata/branches_sampled_limit", sampledBranchTable(), Parts{}, 1},
		{"testdata/branches_totals", totalsTable(), Parts{}, 40},
	} {
		var b bytes.Buffer
		if err := WriteText(&b, New(test.Table, test.parts), test.limit); err != nil {
			t.Fatal(err)
		}
		reporttest.Golden(t, test.file+".txt", b.Bytes())
		if test.limit == 1 {
			continue // JSON has all rows
		}
		b.Reset()
		if err := WriteJSON(&b, New(test.Table, test.parts)); err != nil {
			t.Fatal(err)
		}
		reporttest.Golden(t, test.file+".json", b.Bytes())
		reporttest.Validate(t, s, b.Bytes())
	}
	if got, want := Accounting(New(sampledBranchTable(), Parts{})), "samples: 185 in = 180 used + 5 dropped (other events: 3, period not settled: 2); 7 lost; of misses: 60 in = 48 with branches + 11 functions only + 1 not mapped"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
