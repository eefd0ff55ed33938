package compare

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// runs builds the runs of a side.
func runs(t testing.TB, specs ...string) (list []*run.Run) {
	t.Helper()
	for i, spec := range specs {
		list = append(list, runtest.Build(t, fmt.Sprintf("run %d", i+1), spec))
	}
	return list
}

func mustCompare(t testing.TB, base, head []*run.Run, opt Options) *Comparison {
	t.Helper()
	c, err := Compare(base, head, opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func function(t testing.TB, e *Event, name string) *Function {
	t.Helper()
	for i := range e.Functions {
		if e.Functions[i].Name == name {
			return &e.Functions[i]
		}
	}
	t.Fatalf("no function %s", name)
	return nil
}

func TestCompare(t *testing.T) {
	base := runs(t, `
cpu-cycles main app!main;app!work;libc!memcpy 100 100
cpu-cycles main app!main;app!work 50
branch-misses main app!main 1
`)
	head := runs(t, `
cycles:P main app!main;app!work;libc!memcpy 100
cycles:P main app!main;app!fresh 70
instructions main app!main 1
`)
	c := mustCompare(t, base, head, Options{Normalize: None})
	if len(c.Events) != 1 || c.Events[0].Name != "cpu-cycles" || c.Events[0].Total.Method != stats.SamplingExact {
		t.Fatalf("events %+v", c.Events)
	}
	type row struct {
		Name, DSO, Match string
		Self, Total      [4]float64 // base, head, samples of both
	}
	var got []row
	for _, f := range c.Events[0].Functions {
		list := func(c Change) [4]float64 {
			return [4]float64{c.Base, c.Head, float64(c.BaseSamples), float64(c.HeadSamples)}
		}
		got = append(got, row{f.Name, f.DSO, string(f.Match.Kind), list(f.Self), list(f.Total)})
		if f.Self.Verdict != verdict.Inconclusive || f.Total.Verdict != verdict.Inconclusive {
			t.Errorf("one run a side gives the verdict %s, %s on %s", f.Self.Verdict, f.Total.Verdict, f.Name)
		}
	}
	want := []row{
		{"memcpy", "libc", "exact", [4]float64{200, 100, 2, 1}, [4]float64{200, 100, 2, 1}},
		{"fresh", "app", "added", [4]float64{0, 70, 0, 1}, [4]float64{0, 70, 0, 1}},
		{"work", "app", "exact", [4]float64{50, 0, 1, 0}, [4]float64{250, 100, 3, 1}},
		{"main", "app", "exact", [4]float64{0, 0, 0, 0}, [4]float64{250, 170, 3, 2}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if total := c.Events[0].Total; total.Base != 250 || total.Head != 170 || total.Delta() != -80 {
		t.Errorf("total %+v", total)
	}
	wantWarnings := []string{
		"head does not have the event branch-misses: it is not compared",
		"base does not have the event instructions: it is not compared",
	}
	if diff := cmp.Diff(wantWarnings, c.Warnings); diff != "" {
		t.Error(diff)
	}
}

func TestRefused(t *testing.T) {
	one := func(spec string) []*run.Run { return runs(t, spec) }
	machine := func(arch string) func(*run.Run) { return func(r *run.Run) { r.Recording.Arch = arch } }
	with := func(list []*run.Run, set ...func(*run.Run)) []*run.Run {
		for i, f := range set {
			f(list[i])
		}
		return list
	}
	at := func(ns uint64) func(*run.Run) { return func(r *run.Run) { r.Recording.LastSample = ns } }
	work := func(v float64) func(*run.Run) {
		return func(r *run.Run) { r.Counters = append(r.Counters, run.Counter{Name: "merges", Value: v}) }
	}
	for _, test := range []struct {
		name       string
		base, head []*run.Run
		opt        Options
		is         error
		want       string
	}{
		{
			"no common event", one("cpu-cycles m a!f 1"), one("branch-misses m a!f 1"),
			Options{},
			ErrNoCommonEvent,
			"no common event: run 1 has cpu-cycles; run 1 has branch-misses",
		},
		{
			"no event at all", one("cpu-cycles m a!f 1"),
			[]*run.Run{{Name: "run 2", Warnings: []string{"all of it is a trace"}}},
			Options{},
			ErrNoCommonEvent,
			"no common event: run 1 has cpu-cycles; run 2 has none (all of it is a trace)",
		},
		{"no runs", one("cpu-cycles m a!f 1"), nil, Options{}, nil, "head has no runs"},
		{
			"machines", with(runs(t, "cpu-cycles m a!f 1", "cpu-cycles m a!f 2"), machine("x86_64"), machine("aarch64")), one("cpu-cycles m a!f 1"),
			Options{},
			errMixedSide,
			"mixed side: run 1 was recorded on architecture x86_64, run 2 on aarch64; compare machines one by one",
		},
		{
			"events", runs(t, "cpu-cycles m a!f 1", "cpu-cycles m a!f 1\ninstructions m a!f 1"), one("cpu-cycles m a!f 1"),
			Options{},
			errMixedSide,
			"mixed side: run 2 of base has the event instructions, run 1 has cpu-cycles; choose events with --event",
		},
		{
			"one recording twice", with(one("cpu-cycles m a!f 1"), at(77)), with(one("cpu-cycles m a!f 1"), at(77)),
			Options{},
			ErrSameRecording,
			"the same recording: run 1 of base and run 1 of head; a run counts once",
		},
		{
			"no samples", one("cpu-cycles m a!f 0"), one("cpu-cycles m a!f 1"),
			Options{},
			ErrNoSamples,
			"cpu-cycles: no samples in run 1",
		},
		{
			"work missing", with(runs(t, "cpu-cycles m a!f 1"), work(3)), one("cpu-cycles m a!f 1"),
			Options{Work: "merges"},
			ErrWork,
			"cpu-cycles: work counter: run 1 has no counter merges",
		},
		{
			"work of one side only", with(runs(t, "cpu-cycles m a!f 1"), work(3)), one("cpu-cycles m a!f 2"),
			Options{},
			ErrWork,
			"cpu-cycles: work counter: run 1 has merges, run 1 does not; give --ops N, or another --normalize",
		},
		{
			"no work", with(one("cpu-cycles m a!f 1"), work(0)), with(one("cpu-cycles m a!f 2"), work(2)),
			Options{},
			ErrWork,
			"cpu-cycles: work counter: merges is 0 in run 1; a positive number is needed",
		},
		{
			"NaN work", with(one("cpu-cycles m a!f 1"), work(math.NaN())), with(one("cpu-cycles m a!f 2"), work(2)),
			Options{},
			ErrWork,
			"cpu-cycles: work counter: merges is NaN in run 1; a positive number is needed",
		},
		{
			"nothing to refer to", one("cpu-cycles m a!f 1"), one("cpu-cycles m a!f 2"),
			Options{Normalize: Reference, Reference: []*regexp.Regexp{regexp.MustCompile("g")}},
			nil,
			"cpu-cycles: no function matches --reference g",
		},
	} {
		_, err := Compare(test.base, test.head, test.opt)
		if err == nil || err.Error() != test.want || test.is != nil && !errors.Is(err, test.is) {
			t.Errorf("%s:\n got %v\nwant %s", test.name, err, test.want)
		}
	}
}

// TestRunsAreTheUnit checks that a function absent from a run counts as zero, that
// means are over runs, and that the interval comes from the runs.
func TestRunsAreTheUnit(t *testing.T) {
	side := func(weights ...int) (list []*run.Run) {
		for i, w := range weights {
			spec := "cpu-cycles m a!main 1000"
			if w > 0 {
				spec += "\ncpu-cycles m a!main;a!f" + strings.Repeat(" 1", w)
			}
			list = append(list, runtest.Build(t, fmt.Sprint(i), spec))
		}
		return list
	}
	for _, test := range []struct {
		name       string
		base, head []int
		meanBase   float64
		meanHead   float64
		method     stats.Method
		verdict    verdict.Verdict
		capped     bool
	}{
		{"clear", []int{100, 101, 99}, []int{50, 51, 49, 50}, 100, 50, stats.Welch, verdict.Improved, true},
		{"noise", []int{100, 140, 60}, []int{80, 120, 100}, 100, 100, stats.Welch, verdict.Inconclusive, true},
		{"clear and many", []int{100, 101, 99, 102, 98}, []int{150, 151, 149, 152, 148}, 100, 150, stats.Welch, verdict.Regressed, false},
		{"ranks", []int{100, 101, 99, 102, 98, 103, 97, 96}, []int{150, 151, 149, 152, 148, 153, 147, 146}, 99.5, 149.5, stats.MannWhitney, verdict.Regressed, false},
		{"the same", []int{1000, 1001, 999, 1002, 998, 1003, 997, 996}, []int{1000, 1001, 999, 1002, 998, 1003, 997, 994}, 999.5, 999.25, stats.MannWhitney, verdict.Unchanged, false},
		{"absent from one run", []int{100, 0, 100}, []int{50, 50}, 200.0 / 3, 50, stats.Welch, verdict.Inconclusive, true},
		{"one against many", []int{100}, []int{50, 50}, 100, 50, stats.Prediction, verdict.Inconclusive, true},
	} {
		c := mustCompare(t, side(test.base...), side(test.head...), Options{Normalize: None})
		f := function(t, &c.Events[0], "f")
		if f.Self.Base != test.meanBase || f.Self.Head != test.meanHead || f.Self.Method != test.method ||
			f.Self.Verdict != test.verdict || f.Self.Capped != test.capped {
			t.Errorf("%s: %+v", test.name, f.Self)
		}
	}
}

// TestSameDistribution draws both sides from one distribution of 152 functions, as
// in a comparison of a program with itself: about 5 % of functions, not nearly all,
// are outside the noise.
func TestSameDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	draw := func() *run.Run {
		counts := make([]int, 152)
		for range 3000 {
			// Zipf-like shares.
			counts[int(math.Pow(rng.Float64(), 2.5)*float64(len(counts)))]++
		}
		var b strings.Builder
		for i, n := range counts {
			if n > 0 {
				fmt.Fprintf(&b, "cpu-clock m a!f%d%s\n", i, strings.Repeat(" 1000000", n))
			}
		}
		return runtest.Build(t, "r", b.String())
	}
	functions, outside := 0, 0
	for range 40 {
		c := mustCompare(t, []*run.Run{draw()}, []*run.Run{draw()}, Options{Normalize: None})
		for _, f := range c.Events[0].Functions {
			functions++
			if !f.Self.WithinNoise() {
				outside++
			}
		}
	}
	if rate := float64(outside) / float64(functions); rate > 0.058 || rate == 0 {
		t.Errorf("%.3f of %d unchanged functions are outside the noise, at most 0.05 expected", rate, functions)
	}
}

// TestSimulated compares exact counts of one run a side: the ratio is known, and a
// change beyond the margin is one.
func TestSimulated(t *testing.T) {
	side := func(f, g int64) []*run.Run {
		b := run.NewBuilder("run")
		event := b.Event(run.Event{Name: "Ir", Unit: "count", Simulated: true})
		mapping := b.Mapping(run.Mapping{File: "/bin/program", Limit: 1 << 20})
		for name, n := range map[string]int64{"f": f, "g": g} {
			if n > 0 {
				fn := b.Function(run.Function{Name: name})
				b.AddSum(event, b.Stack(0, b.Location(mapping, 0, run.Line{Function: fn})), 0, 0, n, 0)
			}
		}
		r, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		return []*run.Run{r}
	}
	e := &mustCompare(t, side(1000, 500), side(1500, 501), Options{}).Events[0]
	if e.Normalization.Mode != None {
		t.Errorf("normalized by %s", e.Normalization.Mode)
	}
	for _, test := range []struct {
		name    string
		ratio   float64
		verdict verdict.Verdict
	}{{"f", 1.5, verdict.Regressed}, {"g", 501.0 / 500, verdict.Unchanged}} {
		f := function(t, e, test.name).Self
		if f.Method != stats.Exact || math.Abs(f.Ratio-test.ratio) > 1e-12 || f.CI != (stats.Interval{Lo: f.Ratio, Hi: f.Ratio}) || f.Verdict != test.verdict || f.Capped {
			t.Errorf("%s: %+v", test.name, f)
		}
	}
	e = &mustCompare(t, side(1000, 500), side(1000, 0), Options{}).Events[0]
	if g := function(t, e, "g").Self; g.Verdict != verdict.Improved || g.Ratio != 0 {
		t.Errorf("g is gone: %+v", g)
	}
}
