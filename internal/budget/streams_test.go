package budget

import (
	"strings"
	"testing"

	"profdiff/internal/metric"
	"profdiff/internal/verdict"
)

// steady are runs of values around one, each run with a level of its own.
func steady(runs, values int, around float64) (list [][]float64) {
	for i := range runs {
		var run []float64
		for j := range values {
			run = append(run, around*wobble[i%len(wobble)]*(1+0.01*float64((i+3*j)%7-3)))
		}
		list = append(list, run)
	}
	return list
}

// TestThroughputFalls checks that a throughput that falls from 200 to 100 Mbit/s fails in both
// spellings of a budget, with one value a run and with several, and that one which rises passes.
func TestThroughputFalls(t *testing.T) {
	for name, text := range map[string]string{
		"limit":            "limit: {fail: -5%}",
		"limit, declared":  "better: higher, limit: {warn: -2%, fail: -5%}",
		"min":              "min: {fail: 190Mbit/s}",
		"min in bytes":     "min: {fail: 23.75MB/s}",
		"min in the unit":  "min: {warn: 195, fail: 190}",
		"limit, a waiver":  "limit: {fail: -5%}",
		"min of a run":     "min: {fail: 190Mbit/s}",
		"limit of a run":   "limit: {fail: -5%}",
		"limit, quantiles": "limit: {fail: -5%}",
	} {
		t.Run(name, func(t *testing.T) {
			values, of := 20, "mean: true"
			switch {
			case strings.HasSuffix(name, "a run"):
				values = 1
			case strings.HasSuffix(name, "quantiles"):
				of = "quantile: 0.1"
			}
			file := "version: 1\nbudgets:\n- {id: rx, samples: throughput_mbps, " + of + ", " + text + "}\n"
			if strings.HasSuffix(name, "waiver") {
				file += "waivers: [{budget: rx, ceiling: -20%, until: 2026-11-30, reason: known}]\n"
			}
			f := parseFile(t, file)
			check := func(base, head float64) *Result {
				o := mustCheck(t, f, &Inputs{Today: theDay, Streams: map[string]Stream{"throughput_mbps": {Base: steady(10, values, base), Head: steady(10, values, head)}}})
				return result(t, o, "rx")
			}
			r := check(200, 100)
			if r.Verdict != verdict.Fail || len(r.Reasons) != 1 {
				t.Fatalf("200 to 100 Mbit/s: %s %q", r.Verdict, r.Reasons)
			}
			c := r.Deciding
			if c.Relative() && (c.Value < 0.45 || c.Value > 0.55 || c.Range.Hi > *c.Fail || c.Range.Lo > c.Value || c.Smallest > *c.Fail) {
				t.Errorf("ratio %v of %v, limit %v, shows %v", c.Value, c.Range, *c.Fail, c.Smallest)
			}
			if !c.Relative() && (c.Value < 95e6 || c.Value > 105e6 || c.Range.Hi > *c.Fail) {
				t.Errorf("%v bit/s of %v, limit %v", c.Value, c.Range, *c.Fail)
			}
			for _, head := range []float64{202, 400} {
				if r := check(200, head); r.Verdict != verdict.Pass {
					t.Errorf("200 to %v Mbit/s: %s %q", head, r.Verdict, r.Reasons)
				}
			}
		})
	}
}

// TestDirections checks that what a limit means is never guessed.
func TestDirections(t *testing.T) {
	for _, test := range []struct{ name, budget, want string }{
		{"throughput_mbps", "limit: {fail: +5%}", "higher values of throughput_mbps are better (a rate), and a limit of a rise would let them fall: write how far they may, such as -5%, or better: lower"},
		{"thing", "limit: {fail: -5%}", "is below no change, and nothing tells which values of thing are better: add better: higher or better: lower"},
		{"frame_ms", "limit: {warn: -2%, fail: -5%}", "warn -2% is not below fail -5%"},
		{"throughput_mbps", "limit: {warn: -5%, fail: -2%}", "warn -5% is not above fail -2%"},
		{"thing", "limit: {fail: +5%}", ""},
		{"thing", "better: higher, limit: {fail: -5%}", ""},
		{"throughput_mbps", "better: lower, limit: {fail: +5%}", ""},
	} {
		f := parseFile(t, "version: 1\nbudgets:\n- {id: x, samples: "+test.name+", mean: true, "+test.budget+"}\n")
		_, err := f.Check(&Inputs{Today: theDay, Streams: map[string]Stream{test.name: {Base: steady(10, 1, 100), Head: steady(10, 1, 100)}}})
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s %s: %v", test.name, test.budget, err)
		case test.want != "" && (err == nil || !strings.HasSuffix(err.Error(), test.want)):
			t.Errorf("%s %s: %v, want %s", test.name, test.budget, err, test.want)
		}
	}
}

// TestTailOfStarts is a change as that of the renderers: the mean falls by 18 %, p95 by 40 %, and
// the median does not change. Starts take 5 and 15 before; the slow ones 9 after.
func TestTailOfStarts(t *testing.T) {
	starts := func(slow float64) (list [][]float64) {
		for i := range 10 {
			var run []float64
			for j := range 50 {
				v := 5 + 0.01*float64((i+j)%5)
				if (j+i)%50 < 11 {
					v = slow + 0.01*float64((i*j)%7)
				}
				run = append(run, v)
			}
			list = append(list, run)
		}
		return list
	}
	f := parseFile(t, `version: 1
budgets:
- {id: mean, samples: start_ms, mean: true, limit: {fail: -10%}}
- {id: p50, samples: start_ms, quantile: 0.5, limit: {fail: +2%}}
- {id: p95, samples: start_ms, quantile: 0.95, limit: {fail: -30%}}
- {id: late, samples: start_ms, over: 10ms, max: {fail: 2%}}
`)
	o := mustCheck(t, f, &Inputs{Streams: map[string]Stream{"start_ms": {Base: starts(15), Head: starts(9)}}})
	for id, want := range map[string][2]float64{"mean": {0.81, 0.83}, "p50": {0.999, 1.001}, "p95": {0.595, 0.605}, "late": {0, 0}} {
		r := result(t, o, id)
		if r.Deciding.Value < want[0] || r.Deciding.Value > want[1] {
			t.Errorf("%s: %v, want %v", id, r.Deciding.Value, want)
		}
		if wanted := verdict.Pass; r.Verdict != wanted {
			t.Errorf("%s: %s %q", id, r.Verdict, r.Reasons)
		}
	}
	o = mustCheck(t, f, &Inputs{Streams: map[string]Stream{"start_ms": {Base: starts(9), Head: starts(15)}}})
	if r := result(t, o, "late"); r.Verdict != verdict.Fail {
		t.Errorf("22 %% over the deadline: %s %q", r.Verdict, r.Reasons)
	}
}

// TestBlocks checks that nothing fails, warns or passes by one run a side, nor by two files of which
// each has the runs of a side, which are one block in time.
func TestBlocks(t *testing.T) {
	f := parseFile(t, "version: 1\nbudgets:\n- {id: narrow, samples: time_ms, mean: true, limit: {fail: +5%}}\n- {id: wide, samples: time_ms, mean: true, limit: {warn: +50%, fail: +100%}}\n- {id: median, samples: time_ms, quantile: 0.5, limit: {warn: +1%}}\n")
	for _, test := range []struct {
		name       string
		base, head [][]float64
		files      [2]int
		want       string // why nothing is decided
	}{
		{"one file a side", steady(10, 1, 100), steady(10, 1, 120), [2]int{1, 1}, "each side is one block in time: record several files a side in turns"},
		{"one run a side", steady(1, 50, 100), steady(1, 50, 120), [2]int{1, 1}, "one run a side tells nothing of how runs differ: record several files a side in turns"},
		{"nothing in a run", [][]float64{{0, 0, 0, 0, 0, 0}}, [][]float64{{0, 0, 0, 0, 0, 0}}, [2]int{1, 1}, "one run a side tells nothing of how runs differ: record several files a side in turns"},
		{"one file beside several", steady(10, 1, 100), steady(10, 1, 120), [2]int{1, 10}, "base is one block in time: record several files a side in turns"},
		{"one run beside several", steady(10, 5, 100), steady(1, 50, 120), [2]int{10, 1}, "head is one run, which tells nothing of how runs differ: record several files a side in turns"},
		{"several files", steady(10, 1, 100), steady(10, 1, 120), [2]int{10, 10}, ""},
	} {
		o := mustCheck(t, f, &Inputs{Streams: map[string]Stream{"time_ms": {Base: test.base, Head: test.head, Files: test.files}}})
		for id, decided := range map[string]verdict.Verdict{"narrow": verdict.Fail, "wide": verdict.Pass, "median": verdict.Warn} {
			switch r := result(t, o, id); {
			case test.want == "" && r.Verdict != decided:
				t.Errorf("%s, %s: %s %q, want %s", test.name, id, r.Verdict, r.Reasons, decided)
			case test.want != "" && (r.Verdict != verdict.Inconclusive || len(r.Reasons) != 1 || r.Reasons[0] != test.want):
				t.Errorf("%s, %s: %s %q, want %q", test.name, id, r.Verdict, r.Reasons, test.want)
			}
		}
	}
	absolute := parseFile(t, "version: 1\nbudgets:\n- {id: x, samples: time_ms, mean: true, max: {fail: 1s}}\n")
	for runs, want := range map[int]verdict.Verdict{1: verdict.Inconclusive, 10: verdict.Pass} {
		o := mustCheck(t, absolute, &Inputs{Streams: map[string]Stream{"time_ms": {Head: steady(runs, 50, 100)}}})
		if r := result(t, o, "x"); r.Verdict != want {
			t.Errorf("%d runs under a maximum: %s %q", runs, r.Verdict, r.Reasons)
		}
	}
}

// TestUnitOfStream checks that metrics say in what their values are.
func TestUnitOfStream(t *testing.T) {
	f := parseFile(t, "version: 1\nbudgets:\n- {id: size, samples: heap, quantile: 0.5, max: {fail: 64MiB}}\n- {id: odd, samples: heap, quantile: 0.5, max: {fail: 3ms}}\n- {id: share, samples: load, mean: true, max: {fail: 60%}}\n")
	o := mustCheck(t, f, &Inputs{Streams: map[string]Stream{
		"heap": {Head: steady(10, 5, 70<<20), Unit: metric.Bytes, Scale: 1, Direction: metric.Lower},
		"load": {Head: steady(10, 5, 50), Unit: metric.Percent, Scale: 1, Direction: metric.Lower},
	}})
	if r := result(t, o, "size"); r.Verdict != verdict.Fail {
		t.Errorf("70 MiB of 64: %s %q", r.Verdict, r.Reasons)
	}
	if r := result(t, o, "odd"); r.Verdict != verdict.Inconclusive || r.Reasons[0] != "3ms is in nanoseconds, but heap is in bytes" {
		t.Errorf("a time for bytes: %s %q", r.Verdict, r.Reasons)
	}
	if r := result(t, o, "share"); r.Verdict != verdict.Pass {
		t.Errorf("50 %% of 60: %s %q", r.Verdict, r.Reasons)
	}
}

// TestInjectedIntoStreams checks that what is injected makes budgets of both directions fail.
func TestInjectedIntoStreams(t *testing.T) {
	f := parseFile(t, `version: 1
budgets:
- {id: fall, samples: rx_mbps, mean: true, limit: {fail: -5%}}
- {id: least, samples: rx_mbps, quantile: 0.5, min: {fail: 150Mbit/s}}
- {id: rise, samples: start_ms, quantile: 0.5, limit: {fail: +5%}}
`)
	p, err := f.Prove(&Inputs{Today: theDay, Streams: map[string]Stream{
		"rx_mbps":  {Base: steady(10, 20, 200), Head: steady(10, 20, 200)},
		"start_ms": {Base: steady(10, 20, 5), Head: steady(10, 20, 5)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range p.Injections {
		if !x.Red() {
			t.Errorf("%s: %s %s %q", x.ID, x.What, x.Verdict, x.Reason)
		}
	}
}

// theDay is one on which the waivers of these tests hold.
var theDay, _ = ParseDate("2026-11-23")
