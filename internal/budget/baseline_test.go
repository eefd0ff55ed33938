package budget

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// timed makes a run of single samples of three functions in two threads, where sort comes in
// bursts.
func timed(t testing.TB, name string, seed uint64) *run.Run {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	b := run.NewBuilder(name)
	b.KeepTimeline()
	event := b.Event(run.Event{Name: "cpu-clock", Unit: "nanoseconds"})
	m := b.Mapping(run.Mapping{File: "/bin/app", Limit: 1 << 20, HasFunctions: true})
	var labels [2]uint32
	for i, thread := range []string{"main", "pool"} {
		labels[i] = b.Labels(run.Labels{Process: "app", Thread: thread, PID: -1, TID: -1, CPU: -1})
	}
	location := func(fn string) uint32 {
		return b.Location(m, 0, run.Line{Function: b.Function(run.Function{Name: fn, SystemName: "_Z" + fn, File: "src/" + fn + ".c", StartLine: 7})})
	}
	root := b.Stack(0, location("main"))
	names := []string{"parse", "sort", "print"}
	at := 0
	for i := range 6000 {
		if i%40 == 0 || at != 1 && rng.IntN(2) == 0 {
			at = rng.IntN(3)
		}
		b.Add(event, b.Stack(root, location(names[at])), labels[rng.IntN(2)], 1000+rng.Int64N(500))
		b.Run().Accounting.In++
	}
	b.Add(event, 0, labels[0], 700)
	b.Run().Accounting.In++
	r := b.Run()
	r.Recording = run.Recording{Arch: "x86_64", Kernel: "6.1", CPU: "A CPU", CPUs: 4, Host: "box", Tool: "perf 6.1", Conditions: run.Conditions{Governor: "performance", FrequencyMHz: 2400}}
	r.Counters = []run.Counter{{Name: "frames", Unit: "count", Value: 100, Running: 0.5}}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// storedAgain is a run that was stored and read.
func storedAgain(t testing.TB, runs ...*run.Run) *Stored {
	t.Helper()
	var list []*StoredRun
	for _, r := range runs {
		text, err := json.Marshal(newStoredRun("b", r))
		if err != nil {
			t.Fatal(err)
		}
		s, err := parseStoredRun(text)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	s, err := newStored(list)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStored checks that budgets of functions say the same of a run that was stored and of
// the run itself, with the noise of its bursts, except that they cannot fail.
func TestStored(t *testing.T) {
	base, head := timed(t, "base", 1), timed(t, "head", 2)
	stored := storedAgain(t, base)
	got := stored.Runs[0]
	if diff := cmp.Diff(base.Counters, got.Counters); diff != "" {
		t.Errorf("counters: %s", diff)
	}
	if diff := cmp.Diff(base.Recording, got.Recording, cmpopts.IgnoreFields(run.Recording{}, "Format", "CPUID")); diff != "" {
		t.Errorf("recording: %s", diff)
	}
	if diff := cmp.Diff(base.Events, got.Events, cmpopts.IgnoreFields(run.Event{}, "MaxWeight")); diff != "" {
		t.Errorf("events: %s", diff)
	}
	if !got.Accounting.Balanced() || got.Accounting.In != base.Accounting.In {
		t.Errorf("accounting %v, want %v", got.Accounting, base.Accounting)
	}
	f := parseFile(t, noWork+`
- {id: sort, match: {function: sort}, limit: {fail: +5%}}
- {id: sort-in-pool, match: {function: sort, thread: pool}, limit: {fail: +5%}}
- {id: two, match: {function: "p*"}, limit: {fail: +5%}}
- {id: file, match: {file: "src/**"}, limit: {fail: +5%}}
- {id: whole, limit: {fail: +5%}}
`)
	want := mustCheck(t, f, &Inputs{Base: []*run.Run{base}, Head: []*run.Run{head}})
	have := mustCheck(t, f, &Inputs{Base: stored.Runs, Stored: stored, Head: []*run.Run{head}})
	for i := range want.Results {
		a, b := want.Results[i].Deciding, have.Results[i].Deciding
		if a.Value != b.Value || a.Range != b.Range || math.Abs(a.Estimate.CI.Lo/b.Estimate.CI.Lo-1) > 1e-9 || math.Abs(a.Estimate.CI.Hi/b.Estimate.CI.Hi-1) > 1e-9 || a.Verdict != b.Verdict {
			t.Errorf("%s: stored %v %v %s, recorded %v %v %s", want.Results[i].ID, b.Value, b.Estimate.CI, b.Verdict, a.Value, a.Estimate.CI, a.Verdict)
		}
	}
	// Bursts make the interval of sort wider than independent samples do.
	plain := *base
	plain.Timeline = nil
	independent := mustCheck(t, f, &Inputs{Base: []*run.Run{&plain}, Head: []*run.Run{head}})
	if a, b := result(t, independent, "sort").Deciding.Estimate.CI, result(t, have, "sort").Deciding.Estimate.CI; !(b.Hi-b.Lo > 1.2*(a.Hi-a.Lo)) {
		t.Errorf("interval with bursts %v, without %v", b, a)
	}
}

// TestStoredCap checks that what would fail warns if base was stored, and that no budget of
// stacks is judged.
func TestStoredCap(t *testing.T) {
	base := sideOf(t, 8, 0, clock(stackSpec{"m", "app!main;app!f", 300}))
	head := sideOf(t, 8, 1, clock(stackSpec{"m", "app!main;app!f", 450}))
	stored := storedAgain(t, base...)
	f := parseFile(t, noWork+`
- {id: self, match: {function: f}, limit: {fail: +5%}}
- {id: whole, limit: {fail: +5%}}
- {id: total, match: {function: f}, metric: total, limit: {fail: +5%}}
- {id: under, match: {function: f, under: main}, limit: {fail: +5%}}
- {id: max, match: {function: f}, max: {fail: 1ms}}
`)
	o := mustCheck(t, f, &Inputs{Base: stored.Runs, Stored: stored, Head: head})
	for id, want := range map[string]verdict.Verdict{"self": verdict.Warn, "whole": verdict.Warn, "total": verdict.Inconclusive, "under": verdict.Inconclusive, "max": verdict.Fail} {
		if r := result(t, o, id); r.Verdict != want {
			t.Errorf("%s is %s %q, want %s", id, r.Verdict, r.Reasons, want)
		}
	}
	o = mustCheck(t, f, &Inputs{Base: base, Head: head})
	if r := result(t, o, "self"); r.Verdict != verdict.Fail {
		t.Errorf("recorded in turn, self is %s %q", r.Verdict, r.Reasons)
	}
}

// TestNoise checks that one run a side is told how runs differ.
func TestNoise(t *testing.T) {
	history := storedAgain(t, sideOf(t, 10, 0, clock(stackSpec{"m", "app!main;app!f", 30000}))...)
	f := parseFile(t, noWork+"- {id: f, match: {function: f}, limit: {warn: +1%, fail: +50%}}\n")
	base := sideOf(t, 1, 100, clock(stackSpec{"m", "app!main;app!f", 30000}))
	head := sideOf(t, 1, 101, clock(stackSpec{"m", "app!main;app!f", 31500}))
	alone := result(t, mustCheck(t, f, &Inputs{Base: base, Head: head}), "f")
	with := result(t, mustCheck(t, f, &Inputs{Base: base, Head: head, Noise: history}), "f")
	if alone.Deciding.Method != stats.Sampling || with.Deciding.Method != stats.SamplingNoise {
		t.Errorf("methods %s and %s", alone.Deciding.Method, with.Deciding.Method)
	}
	a, b := alone.Deciding.Estimate.CI, with.Deciding.Estimate.CI
	if !(b.Hi/b.Lo > a.Hi/a.Lo*1.03) {
		t.Errorf("intervals %v alone, %v with noise", a, b)
	}
	if with.Verdict != verdict.Pass || !strings.Contains(strings.Join(with.Notes, "\n"), "10 stored runs differ by ") {
		t.Errorf("%s %q %q", with.Verdict, with.Reasons, with.Notes)
	}
	few := mustCheck(t, f, &Inputs{Base: base, Head: head, Noise: storedAgain(t, sideOf(t, 3, 0, clock(stackSpec{"m", "app!main;app!f", 30000}))...)})
	if got := result(t, few, "f").Deciding.Method; got != stats.Sampling || len(few.Notes) != 1 {
		t.Errorf("3 stored runs: %s, notes %q", got, few.Notes)
	}
}

func TestBaselineKey(t *testing.T) {
	r := timed(t, "r", 1)
	key := newBaselineKey("../x y", r)
	if got := key.dir(); !strings.HasPrefix(got, "x-y-cpu-clock-") || strings.ContainsAny(got, "/ ") {
		t.Errorf("directory %q", got)
	}
	other := key
	other.Kernel = "6.2"
	if key.dir() == other.dir() || key.differs(other) != "kernel 6.1" || key.differs(key) != "" {
		t.Errorf("%s, %s: %q", key.dir(), other.dir(), key.differs(other))
	}
	if got := (BaselineKey{}).dir(); !strings.HasPrefix(got, "benchmark-event-") {
		t.Errorf("directory of nothing %q", got)
	}
}

// TestParseStoredRunErrors refuses counts that lie.
func TestParseStoredRunErrors(t *testing.T) {
	good, err := json.Marshal(newStoredRun("b", timed(t, "r", 1)))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		from, to string
		want     string
	}{
		{"profdiff.baseline/v1", "profdiff.looks/v1", "has the schema profdiff.looks/v1, want profdiff.baseline/v1"},
		{`"samples":6001,"lost":0`, `"samples":-6001,"lost":0`, "a number is negative"},
		{`"samples":6001,"weight"`, `"samples":60,"weight"`, "event cpu-clock: its functions have more than it has"},
		{`"blocks":[[0,`, `"blocks":[[31,`, "event cpu-clock: parts have more than all of them, or are not in order"},
		{`"blocks":[[0,`, `"blocks":[[0,9000000000`, "event cpu-clock: parts have more than all of them, or are not in order"},
		{`"weight_sq":`, `"weight_sq":0.0`, "event cpu-clock: weight_sq is less than that of samples with equal weights"},
		{`"schema"`, `"schema`, "is no profdiff.baseline/v1: "},
		{`"functions":[`, `"functions":[` + strings.Repeat("{},", 2000), "has 2011 objects in "},
	} {
		text := strings.Replace(string(good), test.from, test.to, 1)
		if text == string(good) {
			t.Fatalf("%q is not in the run", test.from)
		}
		if _, err := parseStoredRun([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.to, err, test.want)
		}
	}
}

// FuzzParseStoredRun reads anything, and makes a side of what it accepts.
func FuzzParseStoredRun(f *testing.F) {
	good, err := json.Marshal(newStoredRun("b", timed(f, "r", 1)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"schema":"profdiff.baseline/v1","events":[{"name":"e","samples":9,"weight":9,"weight_sq":9,"functions":[{"samples":1,"weight":2,"weight_sq":3,"blocks":[[3,1]]},{"samples":1,"weight":2,"blocks":[[1,1]]}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := parseStoredRun(data)
		if err != nil {
			if s != nil {
				t.Error("a run and an error")
			}
			return
		}
		side, err := newStored([]*StoredRun{s})
		if err != nil {
			return
		}
		if r := side.Runs[0]; !r.Accounting.Balanced() && s.Samples == r.Accounting.Out {
			t.Errorf("accounting %v", r.Accounting)
		}
		for e := range side.Runs[0].Events {
			if phi := side.phi(e, func(int) bool { return true }); !(phi >= 1) {
				t.Errorf("bursts of %v", phi)
			}
		}
	})
}

// TestStoredAgain refuses a run that was stored, whatever its functions were called then.
func TestStoredAgain(t *testing.T) {
	base := sideOf(t, 8, 0, clock(stackSpec{"m", "app!main;app!f", 300}))
	stored := storedAgain(t, base...)
	f := parseFile(t, noWork+"- {id: f, match: {function: f}, limit: {fail: +5%}}\n")
	named := sideOf(t, 8, 0, clock(stackSpec{"m", "app!main;app!g", 300}))
	for name, head := range map[string][]*run.Run{"the same": base[3:4], "with other names": named[3:4]} {
		_, err := f.Check(&Inputs{Base: stored.Runs, Stored: stored, Head: head})
		if !errors.Is(err, compare.ErrSameRecording) {
			t.Errorf("%s: %v", name, err)
		}
	}
	o := mustCheck(t, f, &Inputs{Base: stored.Runs, Stored: stored, Head: sideOf(t, 8, 1, clock(stackSpec{"m", "app!main;app!f", 300}))})
	if got := strings.Join(o.Design.Warnings, "\n"); !strings.Contains(got, "neither base nor head says on which architecture, CPU, kernel it was recorded") {
		t.Errorf("warnings %q", got)
	}
}

// TestStoredDerived keeps apart what was computed of other events: it is in no accounting.
func TestStoredDerived(t *testing.T) {
	b := run.NewBuilder("r")
	for i, event := range []run.Event{{Name: "cpu-clock", Unit: "nanoseconds"}, {Name: "off-cpu", Unit: "nanoseconds", Derived: true}} {
		b.AddSum(b.Event(event), 0, b.Labels(run.Labels{PID: -1, TID: -1, CPU: -1}), int64(10+i), 1000, 100_000)
	}
	b.Run().Accounting.In = 10
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	got := storedAgain(t, r).Runs[0]
	if at, ok := got.EventIndex("off-cpu"); !ok || !got.Events[at].Derived || got.Accounting.Out != 10 || got.Accounting.In != 10 {
		t.Errorf("events %+v, accounting %+v", got.Events, got.Accounting)
	}
}
