package compare

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// TestShownIsShown checks that nothing is called changed whose interval has no change in
// it, also in a family of one, for which a false discovery rate of 10 % is a level of
// 10 %.
func TestShownIsShown(t *testing.T) {
	side := func(weights ...int) (specs []string) {
		for _, w := range weights {
			specs = append(specs, "cpu-cycles main a!f"+strings.Repeat(" 10", w))
		}
		return specs
	}
	base, head := side(100, 103, 98, 101, 97), side(103, 106, 102, 103, 100)
	e := &mustCompare(t, runs(t, base...), runs(t, head...), Options{Normalize: None, GroupBy: []run.GroupBy{run.ByThread}}).Events[0]
	row := e.Groups[0].Rows[0].Self
	if !(row.P > 0.05 && row.Adjusted <= 0.10) {
		t.Fatalf("p %v, q %v: the example is none", row.P, row.Adjusted)
	}
	if row.Verdict != e.Total.Verdict || row.Verdict == verdict.Regressed || !row.WithinNoise() {
		t.Errorf("the only thread is %s %v, the total %s", row.Verdict, row.CI, e.Total.Verdict)
	}
}

// TestFamiliesDoNotMix checks that groups that are shown beside change no verdict.
func TestFamiliesDoNotMix(t *testing.T) {
	spec := func(n int) (specs []string) {
		for i := range 8 {
			specs = append(specs, fmt.Sprintf("cpu-cycles main a!main;a!f %d\ncpu-cycles main a!main;libc!malloc %d\n", n+i, 300+7*i%5))
		}
		return specs
	}
	opt := Options{Normalize: None, Focus: []*regexp.Regexp{regexp.MustCompile("^f$")}}
	want := mustCompare(t, runs(t, spec(100)...), runs(t, spec(105)...), opt).Events[0]
	opt.GroupBy = []run.GroupBy{run.ByCategory, run.ByThread, run.ByDSO}
	got := mustCompare(t, runs(t, spec(100)...), runs(t, spec(105)...), opt).Events[0]
	for _, pair := range [][2]Change{
		{want.Total, got.Total},
		{function(t, &want, "f").Self, function(t, &got, "f").Self},
		{function(t, &want, "f").Total, function(t, &got, "f").Total},
	} {
		if pair[0].Adjusted != pair[1].Adjusted || !pair[1].Declared {
			t.Errorf("adjusted p %v, with groups %v", pair[0].Adjusted, pair[1].Adjusted)
		}
	}
}

// TestEventsWithoutSamples checks that an event that a run has no sample of does not
// prevent the comparison of others.
func TestEventsWithoutSamples(t *testing.T) {
	base, head := runs(t, "cpu-cycles m a!f 10"), runs(t, "cpu-cycles m a!f 10 10\nbranch-misses m a!f 1 1")
	base[0].Events = append(base[0].Events, run.Event{Name: "branch-misses", Unit: head[0].Events[1].Unit})
	c := mustCompare(t, base, head, Options{Normalize: None})
	if len(c.Events) != 1 || c.Events[0].Name != "cpu-cycles" {
		t.Errorf("events %+v", c.Events)
	}
	want := []string{"run 1 has no samples of the event branch-misses: it is not compared"}
	if diff := cmp.Diff(want, c.Warnings); diff != "" {
		t.Error(diff)
	}
	filtered := runs(t, "cpu-cycles m a!f 10", "cpu-cycles m a!f 10 10")
	f := run.Filter{Focus: regexp.MustCompile("g")}
	if err := f.Apply(filtered[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := Compare(filtered[:1], filtered[1:], Options{}); err == nil || err.Error() != "cpu-cycles: no samples in run 2 after filtering out 2" {
		t.Errorf("error %v", err)
	}
}

// TestNamesThatMatchNothing checks that what the user named in vain is said.
func TestNamesThatMatchNothing(t *testing.T) {
	re := func(list ...string) (expressions []*regexp.Regexp) {
		for _, s := range list {
			expressions = append(expressions, regexp.MustCompile(s))
		}
		return expressions
	}
	base, head := "cpu-cycles m a!f 10 10", "cpu-cycles m a!f 10"
	c := mustCompare(t, runs(t, base), runs(t, head), Options{Normalize: None, Focus: re("g")})
	if diff := cmp.Diff([]string{"no function matches --focus g"}, c.Warnings); diff != "" {
		t.Error(diff)
	}
	_, err := Compare(runs(t, base), runs(t, head), Options{Normalize: Reference, Reference: re("f", "g")})
	if err == nil || err.Error() != "cpu-cycles: no function matches --reference g" {
		t.Errorf("error %v", err)
	}
}

// TestContradiction checks the warning if one bad run moves a mean against the verdict.
func TestContradiction(t *testing.T) {
	side := func(f func(i int) int) (specs []string) {
		for i := range 10 {
			specs = append(specs, fmt.Sprintf("cpu-cycles m a!f%s\ncpu-cycles m a!g%s", strings.Repeat(" 10", f(i)), strings.Repeat(" 10", 500+i)))
		}
		return specs
	}
	base := side(func(i int) int { return 100 + i })
	head := side(func(i int) int {
		if i == 0 {
			return 900
		}
		return 80 + i
	})
	c := mustCompare(t, runs(t, base...), runs(t, head...), Options{Normalize: None})
	f := function(t, &c.Events[0], "f").Self
	if f.Verdict != verdict.Improved || f.Delta() < 0 {
		t.Fatalf("f is %s by %v", f.Verdict, f.Delta())
	}
	want := "cpu-cycles: means move against the verdict, which goes by most runs: a few runs differ much from the others; see f"
	if len(c.Warnings) == 0 || c.Warnings[len(c.Warnings)-1] != want {
		t.Errorf("warnings %q", c.Warnings)
	}
}

// TestEqualRuns checks that copies are one warning.
func TestEqualRuns(t *testing.T) {
	var same []string
	for range 5 {
		same = append(same, "cpu-cycles m a!f 10 10")
	}
	c := mustCompare(t, runs(t, same...), runs(t, append(same, "cpu-cycles m a!f 11")...), Options{Normalize: None})
	if diff := cmp.Diff([]string{"9 runs are equal to run 1 of base: are they copies?"}, c.Warnings); diff != "" {
		t.Error(diff)
	}
}

// TestSharesOfFewSamples checks that the interval of a function that had most of the
// samples and has none is as wide as few samples make it, not as narrow as a share that
// hardly varies would.
func TestSharesOfFewSamples(t *testing.T) {
	base := "cpu-cycles m a!f" + strings.Repeat(" 10", 98) + "\ncpu-cycles m a!g 10 10"
	head := "cpu-cycles m a!g" + strings.Repeat(" 10", 100)
	f := function(t, &mustCompare(t, runs(t, base), runs(t, head), Options{Normalize: Total}).Events[0], "f").Self
	// None of 100 samples is a share of up to 3.6 %.
	if f.Ratio != 0 || f.CI.Hi < 0.036 || f.CI.Hi > 0.06 {
		t.Errorf("ratio %v %v", f.Ratio, f.CI)
	}
}

// TestNothingIsUnchangedIfWithheld slows everything down alike, which the median of
// ratios cannot see: then nothing may be called unchanged, or it is said.
func TestNothingIsUnchangedIfWithheld(t *testing.T) {
	p := newProgram(5, 20)
	for _, test := range []struct {
		scale    float64
		withheld bool
	}{{1.4, true}, {1.1, false}} {
		c := mustCompare(t, withoutCounters(p.side(t, 9, 1)), withoutCounters(p.side(t, 9, test.scale)), Options{Normalize: Reference})
		e := &c.Events[0]
		if (e.Withheld != "") != test.withheld {
			t.Fatalf("scale %v: withheld %q", test.scale, e.Withheld)
		}
		if test.withheld {
			for i := range e.Functions {
				if f := &e.Functions[i]; f.Self.Verdict != verdict.Inconclusive || f.Total.Verdict != verdict.Inconclusive {
					t.Errorf("%s is %s, with callees %s", f.Name, f.Self.Verdict, f.Total.Verdict)
				}
			}
			if len(c.Warnings) == 0 || !strings.Contains(c.Warnings[len(c.Warnings)-1], "differs by a factor of 1.") {
				t.Errorf("scale %v: warnings %q", test.scale, c.Warnings)
			}
		} else if e.NoTotal != "the median of the ratios of 20 functions moves with a change that all of them share" {
			t.Errorf("scale %v: no total: %q", test.scale, e.NoTotal)
		}
		if e.Total.Verdict != verdict.Inconclusive {
			t.Errorf("scale %v: the total is %s", test.scale, e.Total.Verdict)
		}
	}
}

// TestRatesOfShares checks that no IPC is computed from shares, which have none.
func TestRatesOfShares(t *testing.T) {
	spec := "cpu-cycles m a!f 600\ncpu-cycles m a!g 400\ninstructions m a!f 900\ninstructions m a!g 100\nbranch-misses m a!f 9\n"
	for _, mode := range []Mode{None, Total} {
		m := mustCompare(t, runs(t, spec), runs(t, spec+"cpu-cycles m a!g 100"), Options{Normalize: mode}).Metrics()
		for _, x := range m {
			if x.Name != "f" {
				continue
			}
			if x.IPC != (Rate{1.5, 1.5}) || x.MPKI != (Rate{10, 10}) {
				t.Errorf("%s: IPC %v, MPKI %v", mode, x.IPC, x.MPKI)
			}
			if math.IsNaN(x.FromInstructions) != (mode == Total) {
				t.Errorf("%s: from instructions %v", mode, x.FromInstructions)
			}
		}
	}
}

// TestRatesOfOneKind checks that events of different code or cores make no rate.
func TestRatesOfOneKind(t *testing.T) {
	for _, test := range []struct {
		events []string
		ipc    float64
	}{
		{[]string{"cpu-cycles:u", "instructions:u"}, 2},
		{[]string{"cpu-cycles:u", "instructions"}, math.NaN()},
		{[]string{"cpu-cycles:u", "instructions", "instructions:u"}, 3},
		{[]string{"cpu_atom/cycles/", "cpu_atom/instructions/", "cpu_core/instructions/"}, 2},
		{[]string{"cpu_core/cycles/", "cpu_atom/instructions/"}, math.NaN()},
		{[]string{"cpu/cycles/", "instructions"}, 2},
	} {
		var spec strings.Builder
		for i, event := range test.events {
			fmt.Fprintf(&spec, "%s m a!f %d\n", event, 100*(i+1))
		}
		got := mustCompare(t, runs(t, spec.String()), runs(t, spec.String()+"other m a!f 1"), Options{Normalize: None}).Metrics()[0].IPC.Base
		if got != test.ipc && !(math.IsNaN(got) && math.IsNaN(test.ipc)) {
			t.Errorf("%v: IPC %v, want %v", test.events, got, test.ipc)
		}
	}
}

// TestFactorOfUnequalSides checks that all runs count for what head did.
func TestFactorOfUnequalSides(t *testing.T) {
	with := func(list []*run.Run, work ...float64) []*run.Run {
		for i, v := range work {
			list[i].Counters = []run.Counter{{Name: "merges", Value: v}}
		}
		return list
	}
	c := mustCompare(t, with(runs(t, "cpu-cycles m a!f 10"), 100),
		with(runs(t, "cpu-cycles m a!f 10 10", "cpu-cycles m a!f 10 11", "cpu-cycles m a!f 10 12"), 100, 200, 400), Options{})
	if n := c.Events[0].Normalization; math.Abs(n.Factor-2) > 1e-9 {
		t.Errorf("head did %v times as much %v", n.Factor, n.CI)
	}
}

// TestCountsSaturate checks that numbers of samples do not overflow: of folded stacks
// they are weights.
func TestCountsSaturate(t *testing.T) {
	c := newCost(3, 1)
	for i := range c.base {
		c.base[i].Count = math.MaxInt64 / 2
	}
	c.head[0].Count = 1
	if base, head := c.samples(); base != math.MaxInt64 || head != 1 {
		t.Errorf("samples %d and %d", base, head)
	}
}
