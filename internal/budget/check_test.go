package budget

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"profdiff/internal/branch"
	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// A spec is what a run of sides is made from: stacks with numbers of samples.
type spec struct {
	event  string // cpu-clock
	stacks []stackSpec
}

type stackSpec struct {
	thread string
	frames string // FILE!FUNCTION@SOURCE;…, outermost first
	count  float64
}

// wobble is by how much runs differ.
var wobble = [...]float64{1, 1.03, 0.98, 1.01, 0.97, 1.02, 0.99, 1.015, 0.985, 1.005}

// sideOf makes n runs of stacks, recorded every other second from first on. A single one has
// the numbers of samples of its spec, several vary.
func sideOf(t testing.TB, n, first int, specs ...spec) (runs []*run.Run) {
	t.Helper()
	for i := range n {
		b := run.NewBuilder(fmt.Sprintf("run %d-%d", first, i))
		mappings := make(map[string]uint32)
		for _, sp := range specs {
			event := b.Event(run.Event{Name: sp.event, Unit: run.EventUnit(sp.event)})
			for j, s := range sp.stacks {
				labels := b.Labels(run.Labels{Process: "app", Thread: s.thread, PID: -1, TID: -1, CPU: -1})
				var stack run.StackID
				for frame := range strings.SplitSeq(s.frames, ";") {
					dso, fn, _ := strings.Cut(frame, "!")
					fn, source, _ := strings.Cut(fn, "@")
					m, ok := mappings[dso]
					if !ok {
						m = b.Mapping(run.Mapping{File: "/lib/" + dso, Limit: 1 << 20, HasFunctions: true})
						mappings[dso] = m
					}
					f := b.Function(run.Function{Name: fn, SystemName: fn, File: source, StartLine: 10})
					stack = b.Stack(stack, b.Location(m, 0, run.Line{Function: f, Line: 11}))
				}
				count := s.count
				if n > 1 {
					count *= wobble[(i+3*j)%len(wobble)]
				}
				n := int64(math.Round(count))
				b.AddSum(event, stack, labels, n, n*1e6, float64(n)*1e12)
				b.Run().Accounting.In += n
			}
		}
		b.Run().Recording.Start = time.Unix(int64(first+2*i), 0)
		r, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return runs
}

func clock(stacks ...stackSpec) spec { return spec{"cpu-clock", stacks} }

func parseFile(t testing.TB, text string) *File {
	t.Helper()
	f, err := Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func mustCheck(t testing.TB, f *File, in *Inputs) *Outcome {
	t.Helper()
	o, err := f.Check(in)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// result finds the answer to a budget.
func result(t testing.TB, o *Outcome, id string) *Result {
	t.Helper()
	for i := range o.Results {
		if o.Results[i].ID == id {
			return &o.Results[i]
		}
	}
	t.Fatalf("no result %s", id)
	return nil
}

const noWork = "version: 1\ndefaults: {normalize: none}\nbudgets:\n"

// TestMatches counts what each kind of match chooses, in samples of head.
func TestMatches(t *testing.T) {
	head := sideOf(t, 1, 1,
		clock(
			stackSpec{"main", "app!main@src/main.c;app!parse@src/parse.c", 100},
			stackSpec{"main", "app!main@src/main.c;app!parse@src/parse.c;libc.so.6!malloc", 200},
			stackSpec{"pool-1", "app!worker@src/pool.c;app!parse@src/parse.c;app!parse@src/parse.c", 400},
			stackSpec{"pool-2", "app!worker@src/pool.c;app!sort<int>(int*)@src/deep/sort.cc", 800},
			stackSpec{"pool-2", "app!worker@src/pool.c;app!sort.part.0@src/deep/sort.cc;libc.so.6!malloc", 1600},
			stackSpec{"pool-2", "app!worker@src/pool.c;[kernel.kallsyms]!irq", 3200},
		),
		spec{"off-cpu", []stackSpec{{"main", "app!main@src/main.c;libc.so.6!poll", 7}}},
	)
	for _, test := range []struct {
		match string
		want  int64
	}{
		{"match: {function: parse}", 100 + 400},
		{"match: {function: parse}, metric: total", 100 + 200 + 400},
		{"match: {function: 'p*'}", 100 + 400},
		{"match: {function: '^(parse|malloc)$', regexp: true}", 100 + 200 + 400 + 1600},
		{"match: {function: nothing, aliases: [parse]}", 500},
		{"match: {function: malloc, under: parse}", 200},
		{"match: {function: parse, under: parse}", 400},
		{"match: {function: malloc, under: worker}", 1600},
		{"match: {function: malloc, thread: 'pool-*'}", 1600},
		{"match: {function: malloc, thread: main}", 200},
		{"match: {thread: 'pool-*'}", 400 + 800 + 1600},
		{"match: {process: app, thread: main}", 300},
		{"match: {dso: libc.so.6}", 1800},
		{"match: {dso: '/lib/libc*'}", 1800},
		{"match: {dso: '/usr/*', function: '*'}", -1},
		{"match: {file: 'src/**'}", 100 + 400 + 800},
		{"match: {file: 'src/*.c'}", 500},
		{"match: {file: 'deep/*', function: '*'}, metric: total", 800 + 1600},
		{"match: {function: sort, dso: app}, metric: total", 1600},
		{"match: {function: 'sort<int>'}", 800},
		{"match: {function: sort.part.0}, metric: total", 1600},
		{"match: {dso: app}, metric: total", 100 + 200 + 400 + 800 + 1600},
		{"metric: total", 100 + 200 + 400 + 800 + 1600},
		{"match: {function: poll}, event: off-cpu", 7},
		{"match: {thread: main}, event: off-cpu", 7},
	} {
		limit := "max: {fail: 5s}"
		f := parseFile(t, "version: 1\ndefaults: {exclude: {dso: ['[kernel*']}, event: cpu-clock}\nbudgets:\n- {id: a, "+test.match+", "+limit+"}\n")
		r := result(t, mustCheck(t, f, &Inputs{Head: head, Code: codeWith("main")}), "a")
		got := int64(-1)
		if !r.Has(Missing) {
			got = r.Deciding.SamplesHead
			if want := float64(got) * 1e6; math.Abs(r.Deciding.Head-want) > 1e-6*want {
				t.Errorf("%s: %v a run of %d samples", test.match, r.Deciding.Head, got)
			}
		}
		if got != test.want {
			t.Errorf("%s: %d samples, want %d", test.match, got, test.want)
		}
	}
}

// TestAlignment follows functions that have another name on the other side, and sums their
// clones.
func TestAlignment(t *testing.T) {
	base := sideOf(t, 8, 0, clock(stackSpec{"m", "app!main;app!decode", 300}, stackSpec{"m", "app!main;app!other", 300}))
	head := sideOf(t, 8, 1, clock(stackSpec{"m", "app!main;app!decode", 100}, stackSpec{"m", "app!main;app!decode.part.0", 200}, stackSpec{"m", "app!main;app!other", 300}))
	f := parseFile(t, noWork+"- {id: a, match: {function: decode}, limit: {fail: +10%}}\n")
	if r := result(t, mustCheck(t, f, &Inputs{Base: base, Head: head}), "a"); r.Verdict != verdict.Pass || r.Deciding.SamplesHead < 2300 {
		t.Errorf("a clone is not counted: %s, %d samples", r.Verdict, r.Deciding.SamplesHead)
	}
}

// TestEach limits functions one by one.
func TestEach(t *testing.T) {
	base := sideOf(t, 8, 0, clock(stackSpec{"m", "app!main;app!js::a", 300}, stackSpec{"m", "app!main;app!js::b", 300}, stackSpec{"m", "app!main;app!js::rare", 1}))
	head := sideOf(t, 8, 1, clock(stackSpec{"m", "app!main;app!js::a", 450}, stackSpec{"m", "app!main;app!js::b", 150}, stackSpec{"m", "app!main;app!js::rare", 1}))
	f := parseFile(t, noWork+"- {id: sum, match: {function: 'js::*'}, limit: {fail: +10%}}\n- {id: js, match: {function: 'js::*'}, each: true, limit: {fail: +10%}}\n")
	o := mustCheck(t, f, &Inputs{Base: base, Head: head})
	if v := result(t, o, "sum").Verdict; v != verdict.Pass {
		t.Errorf("the sum is %s", v)
	}
	if v := result(t, o, "js/js::a").Verdict; v != verdict.Fail {
		t.Errorf("js::a is %s", v)
	}
	if r := result(t, o, "js/js::b"); r.Verdict != verdict.Warn && r.Verdict != verdict.Pass {
		t.Errorf("js::b is %s", r.Verdict)
	}
	if len(o.Results) != 3 || o.Tests != 3 {
		t.Errorf("%d results, %d tests; functions with few samples are not tested", len(o.Results), o.Tests)
	}
}

// TestShift tells cost that moved within a file from a regression.
func TestShift(t *testing.T) {
	base := sideOf(t, 10, 0, clock(
		stackSpec{"m", "app!main@m.c;app!decode@codec.c;app!fast@codec.c", 600}, stackSpec{"m", "app!main@m.c;app!decode@codec.c;app!slow@codec.c", 200},
		stackSpec{"m", "app!main@m.c;app!rest@m.c", 2000}))
	moved := sideOf(t, 10, 1, clock(
		stackSpec{"m", "app!main@m.c;app!decode@codec.c;app!fast@codec.c", 400}, stackSpec{"m", "app!main@m.c;app!decode@codec.c;app!slow@codec.c", 400},
		stackSpec{"m", "app!main@m.c;app!rest@m.c", 2000}))
	grown := sideOf(t, 10, 1, clock(
		stackSpec{"m", "app!main@m.c;app!decode@codec.c;app!fast@codec.c", 600}, stackSpec{"m", "app!main@m.c;app!decode@codec.c;app!slow@codec.c", 400},
		stackSpec{"m", "app!main@m.c;app!rest@m.c", 1800}))
	const slow = "- {id: slow, match: {function: slow}, limit: {fail: +20%}"
	for _, test := range []struct {
		name, file string
		head       []*run.Run
		strict     bool
		want       verdict.Verdict
		shifted    bool
	}{
		{"moved", noWork + slow + "}\n", moved, false, verdict.Warn, true},
		{"moved, strict budget", noWork + slow + ", strict: true}\n", moved, false, verdict.Fail, false},
		{"moved, strict check", noWork + slow + "}\n", moved, true, verdict.Fail, false},
		{"grown", noWork + slow + "}\n", grown, false, verdict.Fail, false},
	} {
		r := result(t, mustCheck(t, parseFile(t, test.file), &Inputs{Base: base, Head: test.head, Strict: test.strict}), "slow")
		if r.Verdict != test.want || r.Has(Shifted) != test.shifted {
			t.Errorf("%s: %s %v %q, want %s", test.name, r.Verdict, r.Marks, r.Reasons, test.want)
		}
	}
	// Below a caller, without source files.
	strip := func(runs []*run.Run) []*run.Run {
		for _, r := range runs {
			for i := range r.Functions {
				r.Functions[i].File = ""
			}
		}
		return runs
	}
	r := result(t, mustCheck(t, parseFile(t, noWork+slow+"}\n"), &Inputs{Base: strip(base), Head: strip(moved)}), "slow")
	if !r.Has(Shifted) || !strings.Contains(strings.Join(r.Reasons, " "), "what decode calls") {
		t.Errorf("below a caller: %s %v %q", r.Verdict, r.Marks, r.Reasons)
	}
}

// TestMinEffect lets small changes pass, and does not fail what is not shown to be large.
func TestMinEffect(t *testing.T) {
	base := sideOf(t, 10, 0, clock(stackSpec{"m", "app!main;app!small", 100}, stackSpec{"m", "app!main;app!rest", 4900}))
	head := sideOf(t, 10, 1, clock(stackSpec{"m", "app!main;app!small", 120}, stackSpec{"m", "app!main;app!rest", 4900}))
	for _, test := range []struct {
		effect string
		want   verdict.Verdict
	}{{"0%", verdict.Fail}, {"0.1%", verdict.Fail}, {"0.4%", verdict.Inconclusive}, {"1%", verdict.Pass}} {
		f := parseFile(t, "version: 1\ndefaults: {normalize: none, min_effect: "+test.effect+"}\nbudgets:\n- {id: a, match: {function: small}, limit: {fail: +5%}}\n")
		if r := result(t, mustCheck(t, f, &Inputs{Base: base, Head: head}), "a"); r.Verdict != test.want {
			t.Errorf("min_effect %s: %s %q, want %s", test.effect, r.Verdict, r.Reasons, test.want)
		}
	}
}

// TestRates limits one event per another.
func TestRates(t *testing.T) {
	side := func(first int, misses float64) []*run.Run {
		return sideOf(t, 10, first,
			spec{"branches", []stackSpec{{"m", "app!main;app!parse", 5000}}},
			spec{"branch-misses", []stackSpec{{"m", "app!main;app!parse", misses}}})
	}
	f := parseFile(t, "version: 1\ndefaults: {normalize: none}\nbudgets:\n"+
		"- {id: rel, match: {function: parse}, rate: branch-misses / branches, limit: {fail: +10%}}\n"+
		"- {id: abs, match: {function: parse}, rate: branch-misses / branches, max: {fail: 5%}}\n"+
		"- {id: number, match: {function: parse}, rate: branch-misses / branches, max: {fail: 0.05}}\n"+
		"- {id: absent, match: {function: parse}, rate: cycles / branches, max: {fail: 5}}\n")
	for _, test := range []struct {
		misses   float64
		rel, abs verdict.Verdict
	}{{200, verdict.Pass, verdict.Pass}, {400, verdict.Fail, verdict.Fail}} {
		o := mustCheck(t, f, &Inputs{Base: side(0, 200), Head: side(1, test.misses)})
		for id, want := range map[string]verdict.Verdict{"rel": test.rel, "abs": test.abs, "number": test.abs, "absent": verdict.Fail} {
			if r := result(t, o, id); r.Verdict != want {
				t.Errorf("%v misses: %s is %s %q, want %s", test.misses, id, r.Verdict, r.Reasons, want)
			}
		}
		if c := result(t, o, "abs").Deciding; math.Abs(c.Value-test.misses/5000) > 0.002 {
			t.Errorf("rate %v, want %v", c.Value, test.misses/5000)
		}
	}
}

// TestStreams limits quantiles of measured values.
func TestStreams(t *testing.T) {
	values := func(runs, n int, scale float64) (list [][]float64) {
		for i := range runs {
			var v []float64
			for j := range n {
				v = append(v, scale*(10+6*float64(j)/float64(n))*wobble[i%len(wobble)])
			}
			list = append(list, v)
		}
		return list
	}
	f := parseFile(t, "version: 1\nbudgets:\n- {id: p95, samples: frame_ms, quantile: 0.95, max: {fail: 16.6ms}, limit: {fail: +5%}}\n- {id: plain, samples: frame_ms, quantile: 0.5, max: {fail: 14}}\n- {id: p99.9, samples: frame_ms, quantile: 0.999, max: {fail: 20ms}}\n")
	for _, test := range []struct {
		scale float64
		want  verdict.Verdict
	}{{1, verdict.Pass}, {1.2, verdict.Fail}} {
		o := mustCheck(t, f, &Inputs{Streams: map[string]Stream{"frame_ms": {Base: values(10, 100, 1), Head: values(10, 100, test.scale)}}})
		r := result(t, o, "p95")
		if r.Verdict != test.want || len(r.Claims) != 2 {
			t.Errorf("scale %v: p95 is %s %q, want %s", test.scale, r.Verdict, r.Reasons, test.want)
		}
		if c := r.Claims[1]; math.Abs(c.Value/1e6-15.7*test.scale) > 0.2 {
			t.Errorf("p95 is %v ns", c.Value)
		}
		if r := result(t, o, "plain"); r.Verdict != test.want {
			t.Errorf("scale %v: plain is %s %q", test.scale, r.Verdict, r.Reasons)
		}
		if r := result(t, o, "p99.9"); r.Verdict != verdict.Inconclusive || r.Reasons[0] != "p99.9 needs at least 3688 values, head has 1000" {
			t.Errorf("p99.9 is %s %q", r.Verdict, r.Reasons)
		}
	}
	if r := result(t, mustCheck(t, f, &Inputs{}), "p95"); r.Verdict != verdict.Fail || !r.Has(Missing) {
		t.Errorf("without values: %s %v", r.Verdict, r.Marks)
	}
	one := mustCheck(t, f, &Inputs{Streams: map[string]Stream{"frame_ms": {Base: values(1, 100, 1), Head: values(1, 100, 3)}}})
	if r := result(t, one, "p95"); r.Verdict == verdict.Fail || r.Verdict == verdict.Pass {
		t.Errorf("one run: %s %q", r.Verdict, r.Reasons)
	}
}

// TestPredictions limits what a model says, which cmd gives as a function.
func TestPredictions(t *testing.T) {
	f := parseFile(t, "version: 1\nbudgets:\n- {id: loop, match: {function: 'codec::Idct8x8'}, mca: {cycles_per_iteration: {warn: 12, fail: 14.0}, target: cortex-x3}}\n")
	for _, test := range []struct {
		p    Prediction
		want verdict.Verdict
	}{
		{Prediction{Cycles: 11}, verdict.Pass},
		{Prediction{Cycles: 13}, verdict.Warn},
		{Prediction{Cycles: 15}, verdict.Fail},
		{Prediction{Cycles: 15, Lo: 13, Hi: 17}, verdict.Inconclusive},
		{Prediction{Cycles: 15, Lo: 14.5, Hi: 17}, verdict.Fail},
	} {
		o := mustCheck(t, f, &Inputs{Predict: func(r PredictionRequest) (Prediction, error) {
			if r.Target != "cortex-x3" || !r.Match("codec::Idct8x8(short*)", "_ZN5codec7Idct8x8EPs", "libcodec.so", "") || r.Match("codec::Other()", "", "", "") {
				t.Errorf("request %+v", r)
			}
			return test.p, nil
		}})
		if r := result(t, o, "loop"); r.Verdict != test.want {
			t.Errorf("%+v: %s, want %s", test.p, r.Verdict, test.want)
		}
	}
	if r := result(t, mustCheck(t, f, &Inputs{}), "loop"); r.Verdict != verdict.Inconclusive || r.Reasons[0] != "cycles are not predicted: no model is available" {
		t.Errorf("without a model: %s %q", r.Verdict, r.Reasons)
	}
	o := mustCheck(t, f, &Inputs{Predict: func(PredictionRequest) (Prediction, error) { return Prediction{}, errors.New("no loop") }})
	if r := result(t, o, "loop"); r.Verdict != verdict.Inconclusive || r.Reasons[0] != "cycles are not predicted: no loop" {
		t.Errorf("with an error: %s %q", r.Verdict, r.Reasons)
	}
}

// TestBranches limits mispredicted branches.
func TestBranches(t *testing.T) {
	tables := func(scale float64) (list []*branch.Table) {
		for i := range 8 {
			misses := 1000 * scale * wobble[i]
			lost := [2]float64{10 * misses, 20 * misses}
			other := 5.0
			list = append(list, &branch.Table{Tier: branch.TierStacks, Branches: []branch.Branch{
				{Place: branch.Place{DSO: "/lib/app", Function: "ring_push"}, Misses: &misses, NMisses: int64(misses), Loss: branch.Loss{CyclesLost: &lost}},
				{Place: branch.Place{DSO: "/lib/app", Function: "other"}, Misses: &other, NMisses: 5},
			}})
		}
		return list
	}
	base := sideOf(t, 8, 0, clock(stackSpec{"m", "app!main", 100}))
	head := sideOf(t, 8, 1, clock(stackSpec{"m", "app!main", 100}))
	f := parseFile(t, noWork+
		"- {id: misses, match: {function: ring_push}, branch_cost: misses, limit: {fail: +10%}, max: {fail: 1200}}\n"+
		"- {id: low, match: {function: ring_push}, branch_cost: cycles, max: {fail: 9000}}\n"+
		"- {id: between, match: {function: ring_push}, branch_cost: cycles, max: {fail: 15000}}\n"+
		"- {id: high, match: {function: ring_push}, branch_cost: cycles, max: {fail: 25000}}\n"+
		"- {id: absent, match: {function: ring_pop}, branch_cost: misses, max: {fail: 1}}\n")
	o := mustCheck(t, f, &Inputs{Base: base, Head: head, Branches: [2][]*branch.Table{tables(1), tables(1)}})
	for id, want := range map[string]verdict.Verdict{"misses": verdict.Pass, "low": verdict.Fail, "between": verdict.Inconclusive, "high": verdict.Pass, "absent": verdict.Fail} {
		if r := result(t, o, id); r.Verdict != want {
			t.Errorf("%s is %s %q, want %s", id, r.Verdict, r.Reasons, want)
		}
	}
	o = mustCheck(t, f, &Inputs{Base: base, Head: head, Branches: [2][]*branch.Table{tables(1), tables(1.5)}})
	if r := result(t, o, "misses"); r.Verdict != verdict.Fail {
		t.Errorf("half as many misses again: %s %q", r.Verdict, r.Reasons)
	}
	if r := result(t, mustCheck(t, f, &Inputs{Base: base, Head: head}), "misses"); !r.Has(Missing) {
		t.Errorf("without branches: %s %v", r.Verdict, r.Marks)
	}
}

// TestWork divides by a counter, warns if the amounts differ, and refuses what it cannot
// divide by.
func TestWork(t *testing.T) {
	f := parseFile(t, "version: 1\ndefaults: {normalize: work:frames}\nbudgets:\n- {id: rel, match: {function: f}, limit: {fail: +10%}}\n- {id: abs, match: {function: f}, max: {fail: 4ms, of: work}}\n")
	side := func(first int, samples, frames, running float64) []*run.Run {
		runs := sideOf(t, 8, first, clock(stackSpec{"m", "app!main;app!f", samples}))
		for _, r := range runs {
			r.Counters = []run.Counter{{Name: "frames", Value: frames, Running: running}}
		}
		return runs
	}
	o := mustCheck(t, f, &Inputs{Base: side(0, 300, 100, 1), Head: side(1, 450, 150, 1)})
	for _, id := range []string{"rel", "abs"} {
		if r := result(t, o, id); r.Verdict != verdict.Pass {
			t.Errorf("%s is %s %q", id, r.Verdict, r.Reasons)
		}
	}
	if !slices.ContainsFunc(o.Design.Warnings, func(w string) bool { return strings.Contains(w, "1.5 times as many operations") }) {
		t.Errorf("no warning of work that differs: %q", o.Design.Warnings)
	}
	o = mustCheck(t, f, &Inputs{Base: side(0, 300, 100, 1), Head: side(1, 600, 100, 0.5)})
	if r := result(t, o, "rel"); r.Verdict != verdict.Inconclusive || r.Reasons[0] != "the counter frames of run 1-0 was on the hardware 50% of the time only" {
		t.Errorf("multiplexed: %s %q", r.Verdict, r.Reasons)
	}
	if r := result(t, o, "abs"); r.Verdict != verdict.Fail {
		t.Errorf("abs is %s %q", r.Verdict, r.Reasons)
	}
	for _, frames := range []float64{0, -1, math.NaN()} {
		if _, err := f.Check(&Inputs{Base: side(0, 300, 100, 1), Head: side(1, 300, frames, 1)}); !errors.Is(err, compare.ErrWork) {
			t.Errorf("%v frames: %v", frames, err)
		}
	}
}

// TestDesign keeps budgets from failing where the recordings do not bear it.
func TestDesign(t *testing.T) {
	base := func() []*run.Run { return sideOf(t, 8, 0, clock(stackSpec{"m", "app!main;app!f", 300})) }
	head := func() []*run.Run { return sideOf(t, 8, 1, clock(stackSpec{"m", "app!main;app!f", 600})) }
	f := parseFile(t, noWork+"- {id: rel, match: {function: f}, limit: {fail: +10%}}\n- {id: abs, match: {function: f}, max: {fail: 400ms}}\n")
	for _, test := range []struct {
		name     string
		edit     func(base, head []*run.Run)
		rel, abs verdict.Verdict
		reason   string
	}{
		{"nothing", func(_, _ []*run.Run) {}, verdict.Fail, verdict.Fail, "more than +10%"},
		{"kernel", func(base, head []*run.Run) {
			for i := range base {
				base[i].Recording.Kernel, head[i].Recording.Kernel = "6.1", "6.6"
			}
		}, verdict.Inconclusive, verdict.Fail, "the sides differ in kernel: base 6.1, head 6.6"},
		{"lost in base", func(base, _ []*run.Run) { base[3].Accounting.Lost = 100 }, verdict.Inconclusive, verdict.Fail, "run 0-3 lost 24.8% of its samples"},
		{"lost in head", func(_, head []*run.Run) { head[3].Accounting.Lost = 100 }, verdict.Inconclusive, verdict.Inconclusive, "run 1-3 lost 14.2% of its samples"},
		{"period", func(base, head []*run.Run) {
			for i := range base {
				base[i].Events[0].Period, head[i].Events[0].Frequency = 1000, 99
			}
		}, verdict.Inconclusive, verdict.Fail, "the sides were sampled differently: base every 1000, head 99 a second"},
		{"symbols", func(base, head []*run.Run) {
			for i := range base {
				base[i].Recording.KernelSymbols, head[i].Recording.KernelSymbols = "available", "unavailable"
			}
		}, verdict.Inconclusive, verdict.Fail, "the sides differ in kernel symbols: base available, head unavailable"},
	} {
		b, h := base(), head()
		test.edit(b, h)
		o := mustCheck(t, f, &Inputs{Base: b, Head: h})
		rel, abs := result(t, o, "rel"), result(t, o, "abs")
		if rel.Verdict != test.rel || abs.Verdict != test.abs || rel.Reasons[0] != test.reason {
			t.Errorf("%s: %s and %s, %q; want %s and %s, %q", test.name, rel.Verdict, abs.Verdict, rel.Reasons, test.rel, test.abs, test.reason)
		}
	}
}

// TestDiscover reports what has no budget.
func TestDiscover(t *testing.T) {
	base := sideOf(t, 10, 0, clock(stackSpec{"m", "app!main;app!f", 3000}, stackSpec{"m", "app!main;app!g", 3000}))
	head := sideOf(t, 10, 1, clock(stackSpec{"m", "app!main;app!f", 4000}, stackSpec{"m", "app!main;app!g", 4000}))
	text := noWork + "- {id: f, match: {function: f}, limit: {fail: +90%}}\n"
	for _, test := range []struct {
		discover string
		want     int
	}{{"", 0}, {"discover: {}\n", 1}, {"discover: {level: off}\n", 0}} {
		o := mustCheck(t, parseFile(t, text+test.discover), &Inputs{Base: base, Head: head})
		if len(o.Discoveries) != test.want || o.Verdict != verdict.Pass {
			t.Errorf("%q: %+v, %s", test.discover, o.Discoveries, o.Verdict)
		}
		if test.want == 1 && o.Discoveries[0].Name != "g" {
			t.Errorf("discovered %+v", o.Discoveries)
		}
	}
}

// TestZeroSamples limits what must not be there.
func TestZeroSamples(t *testing.T) {
	const file = "version: 1\nbudgets:\n- {id: a, match: {function: malloc, under: audio}, max: {fail: 0 samples}}\n"
	quiet := []stackSpec{{"m", "app!main;app!audio", 1000}, {"m", "app!main;libc!malloc", 50}}
	for _, test := range []struct {
		stacks []stackSpec
		runs   int
		want   verdict.Verdict
	}{
		{quiet, 8, verdict.Pass},
		{append(slices.Clone(quiet), stackSpec{"m", "app!main;app!audio;libc!malloc", 1}), 8, verdict.Fail},
		{append(slices.Clone(quiet), stackSpec{"m", "app!main;app!audio;libc!malloc", 1}), 1, verdict.Warn},
		{[]stackSpec{{"m", "app!main", 1000}}, 8, verdict.Fail}, // nobody called audio: missing
	} {
		o := mustCheck(t, parseFile(t, file), &Inputs{Head: sideOf(t, test.runs, 1, clock(test.stacks...)), Code: codeWith("main")})
		if r := result(t, o, "a"); r.Verdict != test.want {
			t.Errorf("%v: %s %q, want %s", test.stacks, r.Verdict, r.Reasons, test.want)
		}
	}
	r := result(t, mustCheck(t, parseFile(t, file), &Inputs{Head: sideOf(t, 8, 1, clock(quiet...))}), "a")
	if want := "0 of 8416 samples, rules out > 0.036%"; r.Reasons[0] != want {
		t.Errorf("reason %q, want %q", r.Reasons[0], want)
	}
}

// TestInstructions divides by the instructions of the run.
func TestInstructions(t *testing.T) {
	side := func(first int, scale float64) []*run.Run {
		return sideOf(t, 8, first, spec{"cpu-cycles", []stackSpec{{"m", "app!main;app!f", 500 * scale}, {"m", "app!main;app!g", 500 * scale}}},
			spec{"instructions", []stackSpec{{"m", "app!main;app!f", 1000 * scale}}})
	}
	f := parseFile(t, "version: 1\ndefaults: {normalize: instructions, event: cpu-cycles}\nbudgets:\n- {id: a, match: {function: f}, limit: {fail: +10%}}\n")
	if r := result(t, mustCheck(t, f, &Inputs{Base: side(0, 1), Head: side(1, 2)}), "a"); r.Verdict != verdict.Pass || math.Abs(r.Deciding.Value-1) > 0.02 {
		t.Errorf("twice the work: %s, ratio %v", r.Verdict, r.Deciding.Value)
	}
}

// TestNoSamples does not take for proof what a few samples do not show.
func TestNoSamples(t *testing.T) {
	f := parseFile(t, "version: 1\nbudgets:\n- {id: share, match: {function: malloc}, max: {fail: 1%}}\n- {id: time, match: {function: malloc}, max: {fail: 1ms, of: run}}\n")
	base := sideOf(t, 8, 0, clock(stackSpec{"m", "app!main", 20}, stackSpec{"m", "libc!malloc", 1}))
	for _, test := range []struct {
		samples float64 // in each run, of 1 ms
		want    verdict.Verdict
	}{
		{10, verdict.Inconclusive}, // 3 of 80 samples: 3.7%
		{100, verdict.Pass},
	} {
		o := mustCheck(t, f, &Inputs{Base: base, Head: sideOf(t, 8, 1, clock(stackSpec{"m", "app!main", test.samples}))})
		share, time := result(t, o, "share"), result(t, o, "time")
		if share.Verdict != test.want || time.Verdict != verdict.Pass {
			t.Errorf("%v samples a run: %s %q, %s %q", test.samples, share.Verdict, share.Reasons, time.Verdict, time.Reasons)
		}
		if hi := time.Deciding.Range.Hi; math.Abs(hi/(3e6/8)-1) > 0.05 {
			t.Errorf("%v samples a run: up to %v ns", test.samples, hi)
		}
	}
}

// TestRunsNeeded does not ask for fewer runs than there are.
func TestRunsNeeded(t *testing.T) {
	f := parseFile(t, "version: 1\ndefaults: {test: welch}\nbudgets:\n- {id: a, match: {function: rare}, max: {fail: 0.01%}}\n")
	head := sideOf(t, 10, 1, clock(stackSpec{"m", "app!main", 1000}, stackSpec{"m", "app!rare", 40}))
	for _, i := range []int{2, 6, 8} {
		head[i] = sideOf(t, 1, 1+2*i, clock(stackSpec{"m", "app!main", 1000}))[0]
	}
	r := result(t, mustCheck(t, f, &Inputs{Head: head}), "a")
	if n := r.Deciding.RunsNeeded; r.Verdict != verdict.Inconclusive || n != 0 && n <= 10 {
		t.Errorf("%s %q: needs %d runs, has 10", r.Verdict, r.Reasons, n)
	}
}

// TestShiftUnder looks for moved cost where the budget counts: below a caller.
func TestShiftUnder(t *testing.T) {
	const elsewhere = "app!main;app!load;app!decode;app!slow"
	side := func(first int, fast, slow, load float64) []*run.Run {
		return sideOf(t, 10, first, clock(
			stackSpec{"m", "app!main;app!play;app!decode;app!fast", fast}, stackSpec{"m", "app!main;app!play;app!decode;app!slow", slow},
			stackSpec{"m", elsewhere, load}, stackSpec{"m", "app!main;app!rest", 4000}))
	}
	f := parseFile(t, noWork+"- {id: slow, match: {function: slow, under: play}, limit: {fail: +20%}}\n")
	base := side(0, 600, 200, 900)
	r := result(t, mustCheck(t, f, &Inputs{Base: base, Head: side(1, 400, 400, 900)}), "slow")
	if !r.Has(Shifted) || !strings.Contains(strings.Join(r.Reasons, " "), "what decode calls") {
		t.Errorf("moved below play: %s %v %q", r.Verdict, r.Marks, r.Reasons)
	}
	// What is also called from elsewhere is not in the way.
	called := func(first int, fast, slow float64) []*run.Run {
		return sideOf(t, 10, first, clock(
			stackSpec{"m", "app!main;app!play;app!fast", fast}, stackSpec{"m", "app!main;app!play;app!slow", slow},
			stackSpec{"m", "app!main;app!load;app!slow", 900}, stackSpec{"m", "app!main;app!rest", 4000}))
	}
	if r := result(t, mustCheck(t, f, &Inputs{Base: called(0, 600, 200), Head: called(1, 400, 400)}), "slow"); !r.Has(Shifted) {
		t.Errorf("moved below play, also called from load: %s %v %q", r.Verdict, r.Marks, r.Reasons)
	}
	// What comes from another caller is more cost below this one.
	if r := result(t, mustCheck(t, f, &Inputs{Base: base, Head: side(1, 600, 400, 700)}), "slow"); r.Verdict != verdict.Fail {
		t.Errorf("moved from load: %s %v %q", r.Verdict, r.Marks, r.Reasons)
	}
}
