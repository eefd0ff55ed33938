package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
	"profdiff/internal/verdict"
)

// TestAudit checks each warning of recordings that are not alike, and that alike ones
// have none.
func TestAudit(t *testing.T) {
	spec := "cpu-cycles main a!main;a!f" + strings.Repeat(" 10", 200)
	alike := func(r *run.Run) {
		r.Recording = run.Recording{
			Arch: "aarch64", Kernel: "5.10", CPU: "Cortex-A76", Device: "pixel", Tool: "simpleperf 1", KernelSymbols: "available",
			Duration: 2 * time.Second, CPUs: 8,
		}
		r.Events[0].Frequency = 4000
	}
	build := func(spec string, set ...func(*run.Run)) []*run.Run {
		r := runtest.Build(t, "run", spec)
		for _, f := range append([]func(*run.Run){alike}, set...) {
			f(r)
		}
		return []*run.Run{r}
	}
	for _, test := range []struct {
		name string
		head []*run.Run
		want string
	}{
		{"alike", build(spec + " 10"), ""},
		{"kernel", build(spec+" 10", func(r *run.Run) { r.Recording.Kernel = "5.15" }), "different kernel: base 5.10, head 5.15"},
		{"unknown kernel", build(spec+" 10", func(r *run.Run) { r.Recording.Kernel = "" }), ""},
		{"CPU", build(spec+" 10", func(r *run.Run) { r.Recording.CPU = "Cortex-X1" }), "different CPU: base Cortex-A76, head Cortex-X1"},
		{"device", build(spec+" 10", func(r *run.Run) { r.Recording.Device = "oriole" }), "different device: base pixel, head oriole"},
		{"recorder", build(spec+" 10", func(r *run.Run) { r.Recording.Tool = "simpleperf 2" }), "different recorder: base simpleperf 1, head simpleperf 2"},
		{"kernel symbols", build(spec+" 10", func(r *run.Run) { r.Recording.KernelSymbols = "unavailable" }), "different kernel symbols: base available, head unavailable"},
		{"duration", build(spec+" 10", func(r *run.Run) { r.Recording.Duration = 3500 * time.Millisecond }), "duration differs: base 2s a run, head 3.5s"},
		{"frequency", build(spec+" 10", func(r *run.Run) { r.Events[0].Frequency = 1000 }), "cpu-cycles: sampled differently: base 4000 a second, head 1000 a second"},
		{"period", build(spec+" 10", func(r *run.Run) { r.Events[0].Frequency, r.Events[0].Period = 0, 100 }), "cpu-cycles: sampled differently: base 4000 a second, head every 100"},
		{"rate", build(spec + strings.Repeat(" 10", 300)), "cpu-cycles: base has 100 samples a second, head 250"},
		{"rate of what is derived", build(spec+strings.Repeat(" 10", 300), func(r *run.Run) { r.Events[0].Derived = true }), ""},
		{"lost", build(spec+" 10", func(r *run.Run) { r.Accounting.Lost = 50 }), "lost samples differ: base 0.0%, head 19.9%"},
		{"truncated", build(spec+" 10", func(r *run.Run) { r.Accounting.TruncatedStacks = 40 }), "incomplete call chains differ: base 0.0%, head 19.9%"},
		{"unknown", build(spec + "\ncpu-cycles main a!main;a![a]" + strings.Repeat(" 10", 60)), "0% of the cost of base and 23% of that of head is in code without names: /lib/a 0% and 23%"},
		{"threads", build(spec + "\ncpu-cycles iou-wrk-12 a!main;a!f" + strings.Repeat(" 10", 20)), "threads differ; only in head: iou-wrk-%d"},
		{"pools are one thread", build(strings.ReplaceAll(spec, "main a!", "main a!") + " 10"), ""},
		{"of a run", build(spec+" 10", func(r *run.Run) { r.Warnings = []string{"1 of 201 samples weighs 40%"} }), "run: 1 of 201 samples weighs 40%"},
		{"sums only", build(spec+" 10", func(r *run.Run) { r.Events[0].WeightSqLowerBound = true }), "head holds sums of samples, so that intervals are the narrowest possible"},
	} {
		c := mustCompare(t, build(spec), test.head, Options{Normalize: None})
		want := []string{test.want}
		if test.want == "" {
			want = nil
		}
		if !slices.Equal(c.Warnings, want) {
			t.Errorf("%s:\n got %q\nwant %q", test.name, c.Warnings, want)
		}
	}
}

// TestDuration warns of durations unless they are what a program took until it ended.
func TestDuration(t *testing.T) {
	side := func(samples int, took time.Duration, command string) []*run.Run {
		r := runtest.Build(t, "run", "cpu-cycles main a!main;a!f"+strings.Repeat(" 10", samples))
		r.Recording.CommandTime, r.Recording.Command = took, command
		return []*run.Run{r}
	}
	for _, test := range []struct {
		name    string
		samples int
		command string
		warns   bool
	}{
		{"as much less work", 100, "sort file", false},
		{"as much work, in less time", 200, "sort file", false},
		{"more work, in less time", 300, "sort file", true},
		{"an unknown program", 100, "", true},
		{"stopped by a clock", 100, "timeout 2 server", true},
	} {
		c := mustCompare(t, side(200, 2*time.Second, test.command), side(test.samples, time.Second, test.command), Options{Normalize: None})
		if warns := strings.Contains(strings.Join(c.Warnings, "\n"), "duration differs"); warns != test.warns {
			t.Errorf("%s: %q", test.name, c.Warnings)
		}
	}
}

// TestOutliers checks what stands out from the other runs of its side, and what only varies.
func TestOutliers(t *testing.T) {
	side := func(weights ...int) (runs []*run.Run) {
		for i, w := range weights {
			r := runtest.Build(t, fmt.Sprintf("run %d", i+1), "cpu-cycles main a!main;a!f"+strings.Repeat(fmt.Sprintf(" %d", w), 400))
			runs = append(runs, r)
		}
		return runs
	}
	pair := &eventPair{name: "cpu-cycles", base: make([]int, 6), head: make([]int, 6)}
	for _, test := range []struct {
		name string
		head []*run.Run
		want []string
	}{
		{"alike", side(1000, 1010, 1005, 990, 1000, 1003), nil},
		{"one of three times as much", side(1000, 1010, 3300, 990, 1000, 1003), []string{"cpu-cycles: run 3 costs 3.3 times the median of the 6 runs of head: something else may have happened in it"}},
		{"one of a tenth", side(1000, 1010, 1010, 100, 1000, 1003), []string{"cpu-cycles: run 4 costs 0.1 times the median of the 6 runs of head: something else may have happened in it"}},
		{"all far apart", side(1000, 2000, 3300, 5000, 800, 1500), nil},
		{"one that is 20 % more", side(1000, 1010, 1200, 990, 1000, 1003), nil},
		{"four runs", side(1000, 1010, 3300, 990), nil},
		{"a run without any", side(1000, 1010, 3300, 990, 1000, 0), nil},
	} {
		if got := outliers(pair, side(500, 501, 502, 500, 503, 499), test.head); !slices.Equal(got, test.want) {
			t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
		}
	}
}

// TestMachinesFirst says before all else that sides were recorded on different machines.
func TestMachinesFirst(t *testing.T) {
	side := func(device, more string) []*run.Run {
		r := runtest.Build(t, "run on "+device, "cpu-cycles main a!main;a!f"+strings.Repeat(" 10", 200)+"\n"+more+" main a!main 1")
		r.Recording.Device = device
		return []*run.Run{r}
	}
	c := mustCompare(t, side("Pixel 2", "instructions"), side("Pixel 5", "page-faults"), Options{Normalize: None})
	if want := "different device: base Pixel 2, head Pixel 5"; len(c.Warnings) < 3 || c.Warnings[0] != want {
		t.Errorf("%q, want %q first", c.Warnings, want)
	}
}

// TestLongRun remarks a run that took much longer than the others of its side, whatever it cost.
func TestLongRun(t *testing.T) {
	side := func(name string, seconds ...float64) (runs []*run.Run) {
		for i, s := range seconds {
			r := runtest.Build(t, fmt.Sprintf("%s %d", name, i+1), "cpu-cycles main a!main;a!f"+strings.Repeat(" 10", 200+i))
			r.Recording.Duration = time.Duration(s * 1e9)
			runs = append(runs, r)
		}
		return runs
	}
	for _, test := range []struct {
		seconds []float64
		want    bool
	}{
		{[]float64{1.1, 1.12, 1.09, 3.6, 1.1, 1.11}, true},
		{[]float64{1.1, 1.12, 1.09, 1.3, 1.1, 1.11}, false},
		{[]float64{1.1, 2.2, 0.9, 3.6, 1.8, 3}, false},
		{[]float64{1.1, 1.12, 1.09, 0, 1.1, 1.11}, false},
	} {
		c := mustCompare(t, side("a", 1.1, 1.11, 1.1, 1.12, 1.1, 1.13), side("b", test.seconds...), Options{Normalize: None})
		const want = "b 4 took 3.6s, 3.3 times the median of the 6 runs of head: something else may have happened in it"
		if slices.Contains(c.Warnings, want) != test.want {
			t.Errorf("%v: %q", test.seconds, c.Warnings)
		}
	}
}

// TestThreadsOfFewSamples has a thread that costs little on one side: it is there.
func TestThreadsOfFewSamples(t *testing.T) {
	spec := "cpu-cycles main a!main;a!f" + strings.Repeat(" 10", 200) + "\ncpu-cycles worker a!main;a!f"
	side := func(samples int) []*run.Run {
		return []*run.Run{runtest.Build(t, "run", spec+strings.Repeat(" 10", samples))}
	}
	for _, sides := range [][2][]*run.Run{{side(1), side(20)}, {side(20), side(1)}} {
		for _, w := range mustCompare(t, sides[0], sides[1], Options{Normalize: None}).Warnings {
			if strings.Contains(w, "threads differ") {
				t.Error(w)
			}
		}
	}
}

func TestRecordedOrder(t *testing.T) {
	side := func(times ...int) (list []*run.Run) {
		for _, at := range times {
			r := &run.Run{}
			if at > 0 {
				r.Recording.Start = time.Unix(int64(at), 0)
			}
			list = append(list, r)
		}
		return list
	}
	clock := func(host string, times ...uint64) (list []*run.Run) {
		for _, at := range times {
			list = append(list, &run.Run{Recording: run.Recording{Host: host, FirstSample: at}})
		}
		return list
	}
	for _, test := range []struct {
		base, head []*run.Run
		want       verdict.Order
	}{
		{side(1, 4, 5), side(2, 3, 6), verdict.Interleaved},
		{side(1, 4), side(2, 3), verdict.Interleaved},
		{side(1, 3), side(2, 4), verdict.Interleaved},
		{side(1, 2), side(3, 4), verdict.Blocked},
		{side(3, 4, 5), side(1, 2), verdict.Blocked},
		{side(1, 2), side(3, 0), verdict.UnknownOrder},
		{side(0), side(0), verdict.UnknownOrder},
		{clock("a", 10, 40), clock("a", 20, 30), verdict.Interleaved},
		{clock("a", 10, 20), clock("a", 30, 40), verdict.Blocked},
		{clock("a", 10, 20), clock("b", 30, 40), verdict.UnknownOrder},
	} {
		if got := verdict.OrderOf(Moments(test.base), Moments(test.head)); got != test.want {
			t.Errorf("%v and %v: %s, want %s", test.base[0].Recording, test.head[0].Recording, got, test.want)
		}
	}
}

// TestBlockedOrder checks that runs recorded side after side get no verdict unless the
// user insists.
func TestBlockedOrder(t *testing.T) {
	side := func(start, weight int) (list []*run.Run) {
		for i := range 8 {
			r := runtest.Build(t, fmt.Sprint(i), "cpu-cycles main a!main;a!f"+strings.Repeat(" 10", weight+i))
			r.Recording.Start = time.Unix(int64(start+i), 0)
			list = append(list, r)
		}
		return list
	}
	base, head := side(100, 100), side(200, 200)
	for _, allow := range []bool{false, true} {
		c := mustCompare(t, base, head, Options{Normalize: None, AllowBlockedOrder: allow})
		f := function(t, &c.Events[0], "f")
		want := verdict.Inconclusive
		if allow {
			want = verdict.Regressed
		}
		if c.Order != verdict.Blocked || f.Self.Verdict != want || c.Events[0].Total.Verdict != want || f.Self.Withheld == allow || len(c.Warnings) != 1 {
			t.Errorf("allowed %v: %s, %s, %q", allow, c.Order, f.Self.Verdict, c.Warnings)
		}
	}
}
