package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
	"profdiff/internal/verdict"
)

// program makes runs of a program of functions f0, f1, … called by main, which cost
// some thousand samples in all. scale is what a run does more than others.
type program struct {
	rng   *rand.Rand
	costs []float64 // expected samples of each function
}

func newProgram(seed uint64, functions int) *program {
	p := &program{rng: rand.New(rand.NewPCG(seed, seed+1))}
	for i := range functions {
		p.costs = append(p.costs, 4000/float64(i+4))
	}
	return p
}

// run draws the samples of a run: Poisson counts with 2 % of noise between runs.
func (p *program) run(t testing.TB, scale float64) *run.Run {
	var b strings.Builder
	for i, c := range p.costs {
		mean := scale * c * math.Exp(0.02*p.rng.NormFloat64())
		n := int(mean + math.Sqrt(mean)*p.rng.NormFloat64() + 0.5)
		fmt.Fprintf(&b, "cpu-clock main a!main;a!f%d%s\n", i, strings.Repeat(" 1000", max(n, 0)))
	}
	r := runtest.Build(t, "run", b.String())
	r.Counters = []run.Counter{{Name: "frames", Value: 100 * scale}}
	return r
}

// side is n runs that each do another amount of work.
func (p *program) side(t testing.TB, n int, scale float64) (list []*run.Run) {
	for range n {
		list = append(list, p.run(t, scale*math.Exp(0.1*p.rng.NormFloat64())))
	}
	return list
}

func withoutCounters(runs []*run.Run) []*run.Run {
	for _, r := range runs {
		r.Counters = nil
	}
	return runs
}

// TestHalved makes one function of 20 half as expensive and lets runs do different
// amounts of work: normalized by work, by the median of ratios or as shares, that function
// alone improved, by half. By runs the work is in the way, which is said.
func TestHalved(t *testing.T) {
	for _, test := range []struct {
		name     string
		opt      Options
		counters bool
		mode     Mode
		by       string
	}{
		{"a counter is found", Options{}, true, Work, "frames"},
		{"a counter is named", Options{Normalize: Work, Work: "frames"}, true, Work, "frames"},
		{"median of ratios", Options{Normalize: Reference}, false, Reference, "median of the ratios of 20 functions"},
		{"named functions", Options{Reference: []*regexp.Regexp{regexp.MustCompile(`^f[1-9]$`)}}, false, Reference, "9 functions named"},
		{"shares", Options{Normalize: Total}, false, Total, "the total"},
		{"runs", Options{}, false, None, "nothing"},
	} {
		p := newProgram(21, 20)
		base := p.side(t, 10, 1)
		p.costs[0] /= 2
		head := p.side(t, 10, 1.1)
		if !test.counters {
			base, head = withoutCounters(base), withoutCounters(head)
		}
		c := mustCompare(t, base, head, test.opt)
		e := &c.Events[0]
		if e.Normalization.Mode != test.mode || e.Normalization.By != test.by {
			t.Errorf("%s: normalized by %s, %s", test.name, e.Normalization.Mode, e.Normalization.By)
		}
		moved, mirrored := 0, 0
		for i := range e.Functions {
			f := &e.Functions[i]
			switch {
			case f.Name == "f0":
				if f.Self.Verdict != verdict.Improved || test.mode != Total && test.mode != None && !f.Self.CI.Contains(0.5) {
					t.Errorf("%s: f0 is %s, ratio %.3f %v", test.name, f.Self.Verdict, f.Self.Ratio, f.Self.CI)
				}
			case f.Self.Verdict.Changed():
				moved++
			case f.Self.Withheld:
				mirrored++
			}
		}
		if test.mode != None && moved > 1 {
			t.Errorf("%s: %d unchanged functions changed", test.name, moved)
		}
		if test.mode == Total && mirrored < 10 {
			t.Errorf("shares of %d of 19 unchanged functions mirror the other one: this test has no teeth", mirrored)
		}
		if said := strings.Contains(strings.Join(c.Warnings, "\n"), "if they do not the same work"); said != (test.mode == None) {
			t.Errorf("%s: warnings %q", test.name, c.Warnings)
		}
		if shares := test.mode == Total; shares != (e.NoTotal == "shares add up to 100%, whatever changed") {
			t.Errorf("%s: no total: %q", test.name, e.NoTotal)
		}
	}
}

// TestOneSlower makes one function of 200 slower by 30 %, in ten runs a side that do the same
// work: it alone is decided, by the cost of a run and in windows of time.
func TestOneSlower(t *testing.T) {
	for _, window := range []string{"", "recorded system-wide"} {
		wrong := 0
		for seed := range uint64(10) {
			m := runtest.NewModel(200, seed, 0.02)
			base, head := m.Sides(10, false, 0, map[int]float64{0: 1.3})
			for _, r := range slices.Concat(withoutCounters(base), withoutCounters(head)) {
				r.Recording.Bound = window
			}
			e := &mustCompare(t, base, head, Options{}).Events[0]
			for i := range e.Functions {
				switch f := &e.Functions[i]; {
				case f.Name == "f0":
					if f.Self.Verdict != verdict.Regressed {
						t.Errorf("%q, seed %d: f0 is %s", window, seed, f.Self.Verdict)
					}
				case f.Self.Verdict.Changed():
					wrong++
				}
			}
			if window == "" && e.Total.Verdict != verdict.Regressed || window != "" && (e.Total.Verdict != verdict.Inconclusive || e.NoTotal == "") {
				t.Errorf("%q, seed %d: the total is %s: %s", window, seed, e.Total.Verdict, e.NoTotal)
			}
		}
		if wrong > 6 {
			t.Errorf("%q: of 1,990 functions that did not change %d did", window, wrong)
		}
	}
}

// TestUniform makes all of twenty functions slower by 15 %: the total is.
func TestUniform(t *testing.T) {
	m := runtest.NewModel(20, 15, 0.02)
	each := make(map[int]float64)
	for i := range 20 {
		each[i] = 1.15
	}
	base, head := m.Sides(10, false, 0, each)
	e := &mustCompare(t, withoutCounters(base), withoutCounters(head), Options{}).Events[0]
	if e.Total.Verdict != verdict.Regressed || !e.Total.CI.Contains(1.15) {
		t.Errorf("the total is %s, %v %v", e.Total.Verdict, e.Total.Ratio, e.Total.CI)
	}
	if u := e.Uniform; u == nil || u.Functions != 20 || !u.CI.Contains(1.15) || u.Spread > 0.05 {
		t.Errorf("all functions are one factor slower: %+v", u)
	}
	e = &mustCompare(t, base, head, Options{Normalize: Reference}).Events[0]
	if e.Uniform != nil {
		t.Errorf("relative to itself: %+v", e.Uniform)
	}
	if e.Total.Verdict != verdict.Inconclusive || e.NoTotal == "" {
		t.Errorf("relative to the median the total is %s: %q", e.Total.Verdict, e.NoTotal)
	}
}

// TestSharesOfFew compares shares of programs of few functions, of which the first costs half as
// much again: with two, nothing tells which of them changed.
func TestSharesOfFew(t *testing.T) {
	for functions, want := range map[int]verdict.Verdict{2: verdict.Inconclusive, 3: verdict.Inconclusive, 8: verdict.Regressed} {
		m := runtest.NewModel(functions, 3, 0.02)
		base, head := m.Sides(10, false, 0, map[int]float64{functions - 1: 1.5})
		e := &mustCompare(t, withoutCounters(base), withoutCounters(head), Options{Normalize: Total}).Events[0]
		if got := function(t, e, fmt.Sprintf("f%d", functions-1)).Self.Verdict; got != want {
			t.Errorf("%d functions: %s, want %s; withheld: %s", functions, got, want, e.Withheld)
		}
		for i := range e.Functions {
			if f := &e.Functions[i]; f.Self.Verdict.Better() {
				t.Errorf("%d functions: %s is %s", functions, f.Name, f.Self.Verdict)
			}
		}
	}
}

// TestClock recognises runs that a clock stopped by how long they took.
func TestClock(t *testing.T) {
	for _, test := range []struct {
		seconds []float64
		want    bool
	}{
		{[]float64{9.99, 10.01, 10.003, 9.995}, true},
		{[]float64{30.004, 30.012}, true},
		{[]float64{1.999, 1.943, 1.997, 1.999, 1.998, 2, 2, 1.932, 1.999, 1.995}, true},
		{[]float64{1.999, 1.99, 2.05, 1.98, 1.93, 2, 2, 1.932, 1.97, 1.995}, false},
		{[]float64{1.999, 1.998, 1.997, 1.999, 1.998, 2, 2, 1.5, 1.999, 1.995}, false},
		{[]float64{9.99, 10.01, 10.1, 9.92}, false},
		{[]float64{7.31, 7.31, 7.31, 7.31}, false},
		{[]float64{0, 0}, false},
	} {
		var list []*run.Run
		for i, s := range test.seconds {
			r := runtest.NewModel(3, uint64(i), 0.02).Draw(i, 1, nil)
			r.Recording.Duration = time.Duration(s * 1e9)
			list = append(list, r)
		}
		n := len(list) / 2
		e := &mustCompare(t, withoutCounters(list[:n]), withoutCounters(list[n:]), Options{}).Events[0]
		if got := e.Normalization.Window != ""; got != test.want || (e.Normalization.Mode == Total) != test.want {
			t.Errorf("%v: %q, by %s", test.seconds, e.Normalization.Window, e.Normalization.By)
		}
	}
}

// TestReferenceMoved makes most functions slower: the median of ratios cannot tell that
// from more work, so that no verdict is given.
func TestReferenceMoved(t *testing.T) {
	p := newProgram(23, 20)
	base := withoutCounters(p.side(t, 10, 1))
	for i := range p.costs[:15] {
		p.costs[i] *= 1.3
	}
	head := withoutCounters(p.side(t, 10, 1))
	c := mustCompare(t, base, head, Options{Normalize: Reference})
	e := &c.Events[0]
	if e.Withheld == "" || !strings.Contains(e.Withheld, "median of the ratios") || len(c.Warnings) != 1 {
		t.Errorf("withheld %q, warnings %q", e.Withheld, c.Warnings)
	}
	for i := range e.Functions {
		if v := e.Functions[i].Self.Verdict; v != verdict.Inconclusive && v != verdict.Unchanged {
			t.Errorf("%s is %s", e.Functions[i].Name, v)
		}
	}
}

// TestSingletons compares 1,000 stacks of one sample each with 990: ten are gone, and
// none of the others changes because the total did.
func TestSingletons(t *testing.T) {
	stacks := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "cpu-cycles main a!main;a!f%d 1000\n", i)
		}
		return b.String()
	}
	for _, mode := range []Mode{Auto, None, Total} {
		c := mustCompare(t, runs(t, stacks(1000)), runs(t, stacks(990)), Options{Normalize: mode})
		changed := 0
		for _, f := range c.Events[0].Functions {
			if f.Self.BaseSamples != f.Self.HeadSamples {
				changed++
			}
			if f.Self.Verdict != verdict.Inconclusive || !f.Self.WithinNoise() {
				t.Fatalf("%s: %s of one sample: %+v", mode, f.Name, f.Self)
			}
		}
		if changed != 10 {
			t.Errorf("%s: %d functions changed, want 10", mode, changed)
		}
	}
}

// TestWorkCounters tells counters of work from those of effort.
func TestWorkCounters(t *testing.T) {
	r := runtest.Build(t, "run", "cpu-cycles main a!main 1")
	for _, name := range []string{
		"merges", "frames", "operations", "requests", "merges", "bytes-written",
		"cpu-cycles", "cycles", "instructions:u", "branch-misses", "cache-references", "L1-dcache-load-misses", "task-clock", "page-faults",
		"context-switches", "cpu-migrations", "duration_time", "user_time", "stalled-cycles-frontend", "dTLB-load-misses", "minor-faults",
	} {
		r.Counters = append(r.Counters, run.Counter{Name: name, Value: 1})
	}
	s := newSide([]*run.Run{r})
	if got, want := fmt.Sprint(workCounters(s, s)), "[merges frames operations requests bytes-written]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c := mustCompare(t, []*run.Run{r}, []*run.Run{func() *run.Run {
		other := runtest.Build(t, "run", "cpu-cycles main a!main 2")
		other.Counters = r.Counters
		return other
	}()}, Options{})
	if want := `cpu-cycles: any of ["merges" "frames" "operations" "requests" "bytes-written"] could count work: choose one with --work`; !slices.Contains(c.Warnings, want) {
		t.Errorf("warnings %q", c.Warnings)
	}
	_, err := Compare([]*run.Run{r}, []*run.Run{runtest.Build(t, "run", "cpu-cycles main a!main 1")}, Options{Normalize: Work})
	if err == nil || !strings.Contains(err.Error(), "no counter of work is in every run") {
		t.Error(err)
	}
}

// TestAllAndNothing compares a function that has all samples with none, as shares.
func TestAllAndNothing(t *testing.T) {
	c := mustCompare(t, runs(t, "cpu-cycles m a!f"+strings.Repeat(" 10", 99)), runs(t, "cpu-cycles m a!g"+strings.Repeat(" 10", 96)), Options{Normalize: Total})
	e := &c.Events[0]
	if f := function(t, e, "f").Self; f.WithinNoise() || f.CI.Hi > 0.1 {
		t.Errorf("f is gone, and the ratio is %v %v", f.Ratio, f.CI)
	}
	if g := function(t, e, "g").Self; g.WithinNoise() || g.CI.Lo < 10 {
		t.Errorf("g is new, and the ratio is %v %v", g.Ratio, g.CI)
	}
}
