package diff

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// sampledBranch is one of a table of stacks with so many misses, each in a sample of
// its own that weighs 1000.
func sampledBranch(address uint64, line int64, misses float64) branch.Branch {
	b := branchAt("f", address, line)
	b.NMisses = int64(misses)
	b.Misses = new(1000 * misses)
	n := stats.WeightedCount{Weight: 1000 * misses, WeightSq: 1e6 * misses}
	b.Stacks = &branch.StackCounts{Noise: branch.Noise{Seen: n, Misses: n}}
	b.Executed = new(1e6)
	b.Enough = misses >= branch.MinMisses
	return b
}

func stacksTable(name string, branches ...branch.Branch) *branch.Table {
	t := &branch.Table{
		Name: name, Tier: branch.TierStacks, Scaled: true, Stacks: &branch.StackTable{Rated: 1e9}, Arch: "x86_64", CPU: "cpu",
		Events:       []branch.Event{{Name: "taken", Period: 1000, Counts: branch.CountsTaken, Rates: true, Samples: 100000}, {Name: "instructions", Period: 1e6, Counts: branch.CountsInstructions, Samples: 4000}},
		Instructions: new(4e9), Cycles: new(2e9), Branches: branches, Cost: &branch.Cost{Lo: 10, Centre: 15, Hi: 20},
	}
	t.Samples = branch.Account{In: 100000, Used: 100000}
	return t
}

// wobble is a number of misses in one of four runs, which differ by a percent.
func wobble(misses float64, run int) float64 {
	return math.Round(misses * []float64{1, 1.01, 0.99, 1}[run])
}

func TestDiffVerdicts(t *testing.T) {
	verdicts := func(d *Result) map[int64]verdict.Verdict {
		got := make(map[int64]verdict.Verdict)
		for _, b := range d.Branches {
			s := b.Base
			if s == nil {
				s = b.Head
			}
			got[s.Line] = b.Misses.Verdict
		}
		return got
	}
	// One run a side tells nothing of how runs differ, however small q is.
	base := stacksTable("base", sampledBranch(0x10, 5, 4000), sampledBranch(0x20, 6, 40), sampledBranch(0x30, 7, 40000), sampledBranch(0x40, 8, 400), sampledBranch(0x50, 9, 12), sampledBranch(0x70, 12, 100))
	head := stacksTable("head", sampledBranch(0x11, 5, 2000), sampledBranch(0x23, 6, 44), sampledBranch(0x38, 7, 40100), sampledBranch(0x60, 11, 300), sampledBranch(0x72, 12, 3))
	d, err := Compare([]*branch.Table{base}, []*branch.Table{head}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[int64]verdict.Verdict)
	for _, line := range []int64{5, 6, 7, 8, 9, 11, 12} {
		want[line] = verdict.Inconclusive
	}
	if diff := cmp.Diff(want, verdicts(d)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, b := range d.Branches {
		if b.Base != nil && b.Base.Line == 5 && !(b.Misses.Adjusted < 1e-9) {
			t.Errorf("q %v: the example is none", b.Misses.Adjusted)
		}
	}
	var bases, heads []*branch.Table
	for run := range 4 {
		bases = append(bases, stacksTable("base", sampledBranch(0x10, 5, wobble(4000, run)), sampledBranch(0x20, 6, []float64{38, 45, 33, 44}[run]), sampledBranch(0x30, 7, wobble(40000, run)), sampledBranch(0x40, 8, wobble(400, run)), sampledBranch(0x70, 12, wobble(100, run))))
		heads = append(heads, stacksTable("head", sampledBranch(0x11, 5, wobble(2000, run)), sampledBranch(0x23, 6, []float64{44, 36, 49, 47}[run]), sampledBranch(0x38, 7, wobble(40100, run)), sampledBranch(0x60, 11, wobble(300, run)), sampledBranch(0x72, 12, wobble(3, run))))
	}
	four, err := Compare(bases, heads, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want = map[int64]verdict.Verdict{5: verdict.Improved, 6: verdict.Inconclusive, 7: verdict.Unchanged, 8: verdict.Removed, 11: verdict.New, 12: verdict.Improved}
	if diff := cmp.Diff(want, verdicts(four)); diff != "" {
		t.Errorf("four runs a side, -want +got:\n%s", diff)
	}
	if four.Branches[0].Misses.Capped || !d.Branches[0].Misses.Capped || len(four.Warnings) > 0 || len(d.Warnings) == 0 {
		t.Errorf("four runs: capped %t, %q; one: capped %t, %q", four.Branches[0].Misses.Capped, four.Warnings, d.Branches[0].Misses.Capped, d.Warnings)
	}
	if d.Normalization.Mode != PerInstruction || d.Method != stats.Sampling || d.Counted {
		t.Errorf("%+v by %s", d.Normalization, d.Method)
	}
	// The interval of the ratio includes the interval of the instructions.
	for _, b := range d.Branches {
		if b.Base == nil || b.Base.Line != 5 {
			continue
		}
		half := 1.959964 * math.Sqrt(1.0/4000+1.0/2000+2.0/4000)
		if lo := 0.5 * math.Exp(-half); math.Abs(b.Misses.Ratio-0.5) > 1e-9 || math.Abs(b.Misses.CI.Lo-lo) > 1e-6 {
			t.Errorf("ratio %v %v, want 0.5 from %v", b.Misses.Ratio, b.Misses.CI, lo)
		}
	}
}

func TestDiffNormalize(t *testing.T) {
	table := func(misses, executed, instructions float64) *branch.Table {
		b := sampledBranch(0x10, 5, misses)
		b.Executed = &executed
		t := stacksTable("t", b)
		t.Instructions = &instructions
		return t
	}
	bare := func(t *branch.Table) *branch.Table { t.Instructions, t.Cycles = nil, nil; return t }
	for _, test := range []struct {
		name          string
		base, head    *branch.Table
		opt           Options
		mode          Normalization
		ratio, factor float64
		warning       string
	}{
		{"instructions", table(100, 1e6, 1e9), table(300, 2e6, 2e9), Options{}, PerInstruction, 1.5, 2, ""},
		{"work", table(100, 1e6, 1e9), table(300, 2e6, 2e9), Options{Ops: &[2]float64{10, 30}}, PerWork, 1, 3, ""},
		{"reference", table(100, 1e6, 1e9), table(300, 2e6, 1e9), Options{Normalize: PerReference}, PerReference, 1.5, 2, ""},
		{"none", table(100, 1e6, 1e9), table(300, 1e6, 2e9), Options{Normalize: PerRun}, PerRun, 3, 1, ""},
		{"nothing is known", bare(table(100, 1e6, 1)), bare(table(300, 1e6, 1)), Options{}, PerRun, 3, 1, ""},
		{"other work", bare(table(100, 1e6, 1)), bare(table(300, 2e6, 1)), Options{}, PerRun, 3, 1, "executed 2 times as often"},
		{"longer code", table(100, 1e6, 1e9), table(100, 1e6, 2e9), Options{}, PerInstruction, 0.5, 2, "executed 0.5 times as often per instruction"},
		{"counted", simulatedTableOf(branchAt("f", 1, 2)), simulatedTableOf(branchAt("f", 1, 2)), Options{}, PerRun, 1, 1, ""},
	} {
		d, err := Compare([]*branch.Table{test.base}, []*branch.Table{test.head}, test.opt)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if n := d.Normalization; n.Mode != test.mode || math.Abs(n.Factor-test.factor) > 1e-9 || math.Abs(d.Branches[0].Misses.Ratio-test.ratio) > 1e-9 || math.Abs(d.Total.Ratio-test.ratio) > 1e-9 {
			t.Errorf("%s: %+v, ratio %v", test.name, n, d.Branches[0].Misses.Ratio)
		}
		if all := strings.Join(d.Warnings, "\n"); test.warning != "" && !strings.Contains(all, test.warning) || test.warning == "" && strings.Contains(all, "times as often") {
			t.Errorf("%s: warnings %q, want %q", test.name, all, test.warning)
		}
	}
	// Entries of stacks, where these are all that is known.
	base, head := table(100, 1e6, 1e9), table(300, 1e6, 1e9)
	base.Scaled, head.Scaled, head.Stacks.Rated = false, false, 2e9
	d, err := Compare([]*branch.Table{base}, []*branch.Table{head}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Normalization.Mode != PerEntry || math.Abs(d.Branches[0].Misses.Ratio-1.5) > 1e-9 || d.Savings != nil {
		t.Errorf("entries: %+v, ratio %v", d.Normalization, d.Branches[0].Misses.Ratio)
	}
}

func TestDiffRefusals(t *testing.T) {
	table := func(change func(*branch.Table)) *branch.Table {
		t := stacksTable("t", sampledBranch(0x10, 5, 100))
		if change != nil {
			change(t)
		}
		return t
	}
	for _, test := range []struct {
		name string
		head *branch.Table
		opt  Options
		want string
	}{
		{"simulated", simulatedTableOf(branchAt("f", 1, 2)), Options{}, "x is simulated, t is not: a simulated predictor cannot be compared with a CPU"},
		{"much longer", table(func(t *branch.Table) { t.Cycles = new(2.2e10) }), Options{}, "cycles of the sides differ by a factor of 11: they did not do the same work; tell how much each did with --ops"},
		{"unknown", table(func(t *branch.Table) { t.Unknown = "of a trace" }), Options{}, "t: does not tell which branches were mispredicted: of a trace"},
		{"instructions", table(func(t *branch.Table) { t.Instructions = nil }), Options{Normalize: PerInstruction}, "t: does not tell how many instructions were executed"},
		{"work", table(nil), Options{Normalize: PerWork}, "normalizing by work needs the number of operations"},
		{"totals", table(func(t *branch.Table) { t.Tier = branch.TierTotals }), Options{}, "t: has totals only, not those of branches or functions"},
	} {
		_, err := Compare([]*branch.Table{table(nil)}, []*branch.Table{test.head}, test.opt)
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
	// With the work told, sides may be as different as they like.
	if _, err := Compare([]*branch.Table{table(nil)}, []*branch.Table{table(func(t *branch.Table) { t.Cycles = new(2.2e10) })}, Options{Ops: &[2]float64{1, 11}}); err != nil {
		t.Error(err)
	}
	lines := branchAt("f", 0, 5)
	lines.ByLine = true
	_, err := Compare([]*branch.Table{simulatedTableOf(lines)}, []*branch.Table{simulatedTableOf(branchAt("f", 1, 5))}, Options{})
	if want := "x and x: one names branches, the other lines only: record both with --dump-instr=yes"; err == nil || err.Error() != want {
		t.Errorf("lines: got %v, want %s", err, want)
	}
	_, err = Compare([]*branch.Table{table(nil), table(func(t *branch.Table) { t.CPU = "another"; t.Name = "u" })}, []*branch.Table{table(nil)}, Options{})
	if want := "t and u are of one side but CPU differs (cpu, another)"; err == nil || err.Error() != want {
		t.Errorf("one side: got %v, want %s", err, want)
	}
	for _, test := range []struct {
		change func(*branch.Table)
		want   string
	}{
		{func(t *branch.Table) { t.CPU = "another" }, "CPU differs (cpu, another)"},
		{func(t *branch.Table) { t.Events[0].Name = "other" }, "event differs (taken, other)"},
		{func(t *branch.Table) { t.Events[0].Period = 0 }, "period differs (fixed, varies)"},
		{func(t *branch.Table) { t.Tier = branch.TierPrecise }, "tier differs (B, A)"},
	} {
		d, err := Compare([]*branch.Table{table(nil)}, []*branch.Table{table(test.change)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Different) != 1 || d.Different[0] != test.want || d.Branches[0].Misses.Verdict != verdict.NotComparable || d.Savings != nil {
			t.Errorf("%q, %s, want %q", d.Different, d.Branches[0].Misses.Verdict, test.want)
		}
	}
}

func TestDiffSavings(t *testing.T) {
	table := func(misses, cycles float64) *branch.Table {
		t := stacksTable("t", sampledBranch(0x10, 5, misses))
		t.Cycles = &cycles
		return t
	}
	for _, test := range []struct {
		name              string
		base, head        *branch.Table
		opt               Options
		predicted, cycles float64
		finding           string
	}{
		// 50,000 samples are 50 M misses, of 15 cycles.
		{"as predicted", table(50000, 2e9), table(5000, 1.4e9), Options{Normalize: PerRun}, -45e6 * 15, -6e8, "they agree within a factor of two"},
		{"not critical", table(50000, 2e9), table(5000, 1.95e9), Options{Normalize: PerRun}, -45e6 * 15, -5e7, "they differ by more than a factor of two: the misses were not on the critical path, or something else changed too"},
		{"more", table(5000, 2e9), table(2000, 1e9), Options{Normalize: PerRun}, -3e6 * 15, -1e9, "22.2 times what was predicted was measured: misses are not all that changed"},
		{"too little", table(5000, 2e9), table(4900, 2.001e9), Options{Normalize: PerRun}, -1e5 * 15, 1e6, "both are below 1 % of the cycles"},
		{"told", table(50000, 2e9), table(5000, 2e9), Options{Normalize: PerRun, Cycles: &[2]float64{2e9, 1.4e9}}, -45e6 * 15, -6e8, "they agree within a factor of two"},
		{"per operation", table(50000, 2e9), table(5000, 1.4e9), Options{Ops: &[2]float64{1e6, 1e6}}, -45 * 15, -600, "they agree within a factor of two"},
	} {
		d, err := Compare([]*branch.Table{test.base}, []*branch.Table{test.head}, test.opt)
		if err != nil {
			t.Fatal(err)
		}
		s := d.Savings
		if math.Abs(s.Predicted.Value-test.predicted) > 1e-6*math.Abs(test.predicted) || s.Measured == nil || math.Abs(*s.Measured-test.cycles) > 1e-6*math.Abs(test.cycles) || s.Finding != test.finding {
			t.Errorf("%s: predicted %v, measured %v, %q", test.name, s.Predicted, *s.Measured, s.Finding)
		}
		if s.Predicted.Lo > s.Predicted.Value || s.Predicted.Hi < s.Predicted.Value {
			t.Errorf("%s: %+v", test.name, s.Predicted)
		}
	}
	// More instructions cost cycles, at what they had in base.
	base, head := table(50000, 2e9), table(5000, 2e9)
	head.Instructions = new(5e9)
	d, err := Compare([]*branch.Table{base}, []*branch.Table{head}, Options{Normalize: PerRun})
	if err != nil {
		t.Fatal(err)
	}
	s := d.Savings
	lo, hi := 2.0, 4e9/(2e9-50e6*15) // with and without the cycles of misses
	if math.Abs(s.IPC[0]-lo) > 1e-9 || math.Abs(s.IPC[1]-hi) > 1e-9 || math.Abs(s.Predicted.Value-(-45e6*15+1e9/math.Sqrt(lo*hi))) > 1 {
		t.Errorf("%+v", s)
	}
}

// TestDiffUnseen shows what is said of a branch that one side does not have.
func TestDiffUnseen(t *testing.T) {
	build := func(t *branch.Table) *branch.Table {
		for i := range t.Branches {
			t.Branches[i].BuildID = "aa"
		}
		return t
	}
	base, head := func(run int) *branch.Table {
		return stacksTable("base", sampledBranch(0x10, 5, wobble(400, run)), sampledBranch(0x20, 6, wobble(500, run)))
	}, func(run int) *branch.Table { return stacksTable("head", sampledBranch(0x20, 6, wobble(500, run))) }
	same := func(t *branch.Table) *branch.Table { return t }
	for _, test := range []struct {
		name  string
		build func(*branch.Table) *branch.Table
		runs  int
		want  verdict.Verdict
		match MatchKind
	}{
		{"the same build has it", build, 4, verdict.Improved, ByAddress},
		{"another build may not", same, 4, verdict.Removed, NoMatch},
		{"another build may not, in one run a side", same, 1, verdict.Inconclusive, NoMatch},
	} {
		var bases, heads []*branch.Table
		for run := range test.runs {
			bases, heads = append(bases, test.build(base(run))), append(heads, test.build(head(run)))
		}
		d, err := Compare(bases, heads, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var b *BranchChange
		for i := range d.Branches {
			if d.Branches[i].Head == nil {
				b = &d.Branches[i]
			}
		}
		if b.Misses.Verdict != test.want || b.Match != test.match || (b.Function != nil) != (test.want == verdict.Removed) {
			t.Errorf("%s: %s, %q, want %s, %q", test.name, b.Misses.Verdict, b.Match, test.want, test.match)
		}
	}
	// What is taken where it was not, and seen only when taken, is not an improvement.
	turned := func(taken float64, misses float64) *branch.Table {
		b := sampledBranch(0x10, 5, misses)
		b.PTaken = &branch.Estimate{Value: taken}
		b.Rate = &branch.Rate{Method: branch.ByBounds}
		return stacksTable("t", b)
	}
	d, err := Compare([]*branch.Table{turned(0.8, 4000)}, []*branch.Table{turned(0.2, 1000)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if b := d.Branches[0]; b.Misses.Verdict != verdict.Inconclusive || b.Note == "" || !(b.Misses.P < 1e-9) {
		t.Errorf("turned: %s, %q, p %v", b.Misses.Verdict, b.Note, b.Misses.P)
	}
}

// TestDiffFunctions compares samples that tell the function only, on cores of two kinds.
func TestDiffFunctions(t *testing.T) {
	amount := func(n float64) branch.Amount {
		return branch.Amount{Value: 1000 * n, Samples: int64(n), Effective: n}
	}
	table := func(list ...branch.Function) *branch.Table {
		return &branch.Table{Name: "t", Tier: branch.TierSampled, Scaled: true, Sampled: &branch.SampledTable{Functions: list}}
	}
	function := func(name, pmu string, n float64) branch.Function {
		return branch.Function{Name: name, DSO: "/lib/libapp.so", PMU: pmu, Misses: amount(n)}
	}
	var bases, heads []*branch.Table
	for run := range 4 {
		base := table(function("hot", "", wobble(2000, run)), function("cold.part.0", "", []float64{47, 54, 51, 48}[run]), function("gone", "", wobble(400, run)), function("few", "", 2))
		head := table(function("hot", "", wobble(1000, run)), function("cold", "", []float64{53, 46, 49, 52}[run]), function("fresh", "", wobble(300, run)))
		base.Totals = []branch.Totals{{Misses: new(amount(2500))}}
		head.Totals = []branch.Totals{{Misses: new(amount(1400))}}
		bases, heads = append(bases, base), append(heads, head)
	}
	d, err := Compare(bases, heads, Options{})
	if err != nil {
		t.Fatal(err)
	}
	one, err := Compare(bases[:1], heads[:1], Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range one.Functions {
		if f.Misses.Verdict != verdict.Inconclusive || f.Misses.P > 0.05 && f.Name != "cold" {
			t.Errorf("one run a side: %s is %s, p %v", f.Name, f.Misses.Verdict, f.Misses.P)
		}
	}
	type row struct {
		Name, BaseName string
		Base, Head     float64
		Verdict        verdict.Verdict
	}
	var got []row
	for _, f := range d.Functions {
		got = append(got, row{f.Name, f.BaseName, f.Misses.Base, f.Misses.Head, f.Misses.Verdict})
	}
	want := []row{
		{"hot", "hot", 2e6, 1e6, verdict.Improved}, {"", "gone", 4e5, 0, verdict.Removed}, {"fresh", "", 0, 3e5, verdict.New}, {"cold", "cold.part.0", 5e4, 5e4, verdict.Inconclusive},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// The total has all misses, also misses in no function.
	if d.HiddenFunctions != 1 || d.Total.Base != 2.5e6 || d.Total.Head != 1.4e6 {
		t.Errorf("%d hidden, total %+v", d.HiddenFunctions, d.Total)
	}

	// Cores are never added up, and each has its own instructions.
	cores := func(small, big, instructions float64) *branch.Table {
		t := table(function("hot", "small", small), function("hot", "big", big))
		for _, pmu := range []string{"small", "big"} {
			t.Totals = append(t.Totals, branch.Totals{PMU: pmu, Instructions: &branch.Amount{Value: instructions, Counted: true}})
		}
		t.Totals[1].Instructions = &branch.Amount{Value: 1e9, Counted: true}
		return t
	}
	d, err = Compare([]*branch.Table{cores(1000, 1000, 1e9)}, []*branch.Table{cores(1000, 500, 4e9)}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	ratios := make(map[string]float64)
	for _, f := range d.Functions {
		ratios[f.PMU] = math.Round(1e6*f.Misses.Ratio) / 1e6
	}
	if diff := cmp.Diff(map[string]float64{"small": 0.25, "big": 0.5}, ratios); diff != "" || d.Total != nil || d.Normalization.Mode != PerInstruction {
		t.Errorf("-want +got:\n%s%+v", diff, d.Normalization)
	}
}
