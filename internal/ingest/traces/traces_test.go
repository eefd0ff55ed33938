package traces

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// readTrace makes a run of a trace, and checks that every sample is accounted for.
func readTrace(t *testing.T, tr *perfettotest.Trace, opt *reading.Options) *run.Run {
	t.Helper()
	data := tr.Bytes()
	src, err := input.New("test", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if opt == nil {
		opt = new(reading.Options)
	}
	r, err := Read(src, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Accounting.Balanced() {
		t.Errorf("not balanced: %s", &r.Accounting)
	}
	return r
}

// samplesOf writes the samples of an event: thread, state, stack from the outermost, count and weight.
func samplesOf(r *run.Run, event string) string {
	i, ok := r.EventIndex(event)
	if !ok {
		return "no event " + event + "\n"
	}
	var lines []string
	for _, s := range r.Samples {
		if s.Event != uint32(i) {
			continue
		}
		l := &r.Labels[s.Labels]
		var names []string
		for _, loc := range slices.Backward(r.Stacks.Append(nil, s.Stack)) {
			names = append(names, r.Functions[r.Locations[loc].Lines[0].Function].Name)
		}
		line := fmt.Sprintf("%s/%s", l.Process, l.Thread)
		if l.State != "" {
			line += " " + l.State
		}
		if l.Other != "" {
			line += " " + strings.ReplaceAll(strings.TrimSuffix(l.Other, "\x00"), "\x00", " ")
		}
		lines = append(lines, fmt.Sprintf("%s: %s %d %d", line, strings.Join(names, ";"), s.Count, s.Weight))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

func check(t *testing.T, what, got, want string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// TestRead checks that slices, time off the CPU and contention come from one trace, whose packets
// are in no order.
func TestRead(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	k := tr.Sequence(2)
	task := func(pid int) perfettotest.Task { return perfettotest.Task{PID: pid, Comm: "app.worker"} }
	s.Begin(1000, 11, "cat", "outer")
	s.Begin(1100, 11, "cat", "inner 12345")
	s.End(1400, 11)
	k.Bundle(1).Waking(1300, 10, 0, task(12), 1).Blocked(1301, 10, 12, "futex_wait_queue+0x12", false).Done()
	k.Bundle(0).
		Switch(1150, perfettotest.Task{}, 0, task(12)).
		Print(1160, 12, "B|10|monitor contention with owner main (10) at void A.hold(Object)(A.java:7) waiters=2 blocking from void B.want()(B.java:9)").
		Switch(1200, task(12), 1, perfettotest.Task{}).
		Switch(1350, perfettotest.Task{}, 0, task(12)).
		Print(1360, 12, "E|10").
		Switch(1390, task(12), 2, perfettotest.Task{}).
		Done()
	s.End(2000, 11)
	s.Begin(2100, 11, "cat", "unfinished")
	s.ThreadTrack(11, 10, 10, 10, "main")
	s.ProcessTrack(10, 10, "com.example")
	r := readTrace(t, &tr, &reading.Options{Waits: true})
	check(t, "slices", samplesOf(r, "slices"), `com.example/app.worker: monitor contention 1 200
com.example/main: outer 1 700
com.example/main: outer;inner N 1 300
`)
	check(t, "off-cpu", samplesOf(r, "off-cpu"), `com.example/app.worker D: [uninterruptible] 1 710
com.example/app.worker R: monitor contention;[runnable, no CPU] 1 50
com.example/app.worker S: monitor contention;[sleeping];futex_wait_queue 1 100
`)
	check(t, "delay", samplesOf(r, "delay"), `com.example/app.worker main false owner main waiters 2: A.hold;B.want 1 200
`)
	check(t, "contentions", samplesOf(r, "contentions"), `com.example/app.worker main false owner main waiters 2: A.hold;B.want 1 1
`)
	var waits []string
	for _, w := range r.Waits {
		line := fmt.Sprintf("%s %s %d-%d", r.Threads[w.Thread].Name, w.State, w.Start, w.End)
		if w.Owner != 0 {
			line += " has " + r.Threads[w.Owner].Name
		}
		if w.Waker != 0 {
			line += " woken by " + r.Threads[w.Waker].Name
		}
		if w.Clipped {
			line += " clipped"
		}
		waits = append(waits, line)
	}
	want := []string{
		"app.worker Blocked 1160-1360 has main", "app.worker S 1200-1300 woken by main", "app.worker R 1300-1350",
		"app.worker D 1390-2100 clipped",
	}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	if got := r.Accounting.Dropped["slices that end after the trace or not at all"]; got != 1 {
		t.Errorf("%d slices dropped, want 1", got)
	}
	var names []string
	for _, e := range r.Events {
		names = append(names, e.Name)
	}
	check(t, "events", strings.Join(names, " "), "slices off-cpu contentions delay")
}

// TestLostSwitch checks that a wait whose end was lost does not last until the trace ends.
func TestLostSwitch(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.Bundle(0).Switch(100, task(0), 0, task(5)).Switch(200, task(5), 1, task(0)).
		Switch(500, task(5), 1, task(0)).Switch(700, task(0), 0, task(5)).Switch(1000, task(5), 2, task(0)).Switch(1500, task(0), 0, task(6)).Done()
	r := readTrace(t, &tr, &reading.Options{Waits: true})
	check(t, "off-cpu", samplesOf(r, "off-cpu"), "/t5 D: [uninterruptible] 1 500\n/t5 S: [sleeping] 1 200\n")
	if len(r.Waits) != 2 || r.Waits[0].Start != 500 || !r.Waits[1].Clipped {
		t.Errorf("waits: %+v", r.Waits)
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w, "1 times a thread left a CPU") }) {
		t.Errorf("warnings: %q", r.Warnings)
	}
}

// TestAhead checks that a writer's time is not taken from a clock that is ahead of when it wrote: slices that such
// times would end last as long as nothing else says.
func TestAhead(t *testing.T) {
	var tr perfettotest.Trace
	type M = perfettotest.Message
	tr.Packet(new(M).Uint(10, 1).Message(int(perfetto.ClockSnapshot), new(M).Uint(2, 3).
		Message(1, new(M).Uint(1, 3).Uint(2, 1000))))
	s := tr.Sequence(1)
	s.Defaults(new(M).Uint(58, 3))
	s.ThreadTrack(11, 0, 10, 10, "main")
	const ms = 1_000_000
	s.Begin(1*ms, 11, "", "task")
	s.Begin(2*ms, 11, "", "schedule")
	s.Clock(perfetto.Monotonic).End(5000*ms, 11) // of a page's own clock
	s.Begin(5000*ms, 11, "", "pause")
	s.Clock(0).Instant(3*ms, 11, "", "now")
	s.Clock(perfetto.Monotonic).End(3*ms+500_000, 11) // half a millisecond ahead may be rounding
	s.Clock(0).Instant(4*ms, 11, "", "now")
	s.End(5*ms, 11)
	s.Clock(perfetto.Monotonic).Begin(9000*ms, 11, "", "last")
	r := readTrace(t, &tr, nil)
	check(t, "slices", samplesOf(r, "slices"), "main/main: task 1 2500000\nmain/main: task;schedule 1 1500000\n")
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w, "3 track events are later than they were written") }) {
		t.Errorf("warnings: %q", r.Warnings)
	}
	if got := r.Accounting.Dropped["later than they were written"]; got != 3 {
		t.Errorf("%d events dropped that are later than they were written, want 3", got)
	}
	if r.Recording.Duration != 4*ms {
		t.Errorf("lasts %v, want 4ms", r.Recording.Duration)
	}
}

// TestLeftOut checks that track events that say too little are dropped, each with its reason.
func TestLeftOut(t *testing.T) {
	var tr perfettotest.Trace
	type M = perfettotest.Message
	s := tr.Sequence(1)
	s.ThreadTrack(11, 0, 10, 10, "main")
	s.Begin(100, 11, "", "task")
	s.End(300, 11)
	s.Begin(150, 12, "", "nowhere")
	s.Begin(160, 12, "", "nowhere")
	s.Event(170, new(M).Uint(11, 11)) // on its track, without a type
	s.Packet(0, new(M).Message(int(perfetto.TrackEvent), new(M).Uint(9, 1).Uint(11, 11)))
	r := readTrace(t, &tr, nil)
	check(t, "slices", samplesOf(r, "slices"), "main/main: task 1 200\n")
	want := map[string]int64{"on a track that nothing describes": 2, "without a type": 1, "without a time": 1}
	if diff := cmp.Diff(want, r.Accounting.Dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	if !r.Accounting.Balanced() || r.Accounting.In != 5 {
		t.Errorf("%+v is not balanced, or not of 5 events", r.Accounting)
	}
}

// TestContents checks what is said of a trace besides its events.
func TestContents(t *testing.T) {
	var tr perfettotest.Trace
	type M = perfettotest.Message
	s := tr.Sequence(1)
	source := func(name string) *M { return new(M).Message(1, new(M).String(1, name)) }
	s.Packet(0, new(M).Message(int(perfetto.TraceConfig), new(M).Message(2, source("linux.ftrace")).Message(2, source("linux.perf")).
		Message(2, source("org.example.unknown")).Message(2, source("android.surfaceflinger.frametimeline"))))
	s.Packet(0, new(M).Message(int(perfetto.AndroidLog), new(M).Uint(1, 1)))
	s.Bundle(0).Switch(100, task(0), 0, task(5)).Waking(150, 5, 0, task(6), 0).Switch(200, task(5), 1, task(6)).Done()
	r := readTrace(t, &tr, nil)
	check(t, "holds", r.Recording.Holds, "2 threads of 0 processes, 2 switches, 1 waking; not read are packets: 1 of Android log")
	if want := "asked for, but not in the trace: android.surfaceflinger.frametimeline, linux.perf"; !slices.Contains(r.Warnings, want) {
		t.Errorf("warnings %q lack %q", r.Warnings, want)
	}
}

// TestNoProfile checks that of a trace without slices, samples and switches no profile is claimed.
func TestNoProfile(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	tree(s, "10 com.example")
	s.Frame(100, 200, perfettotest.SurfaceFrame{Cookie: 1, Token: 1, PID: 10, Jank: 1})
	r := readTrace(t, &tr, nil)
	check(t, "holds", r.Recording.Holds, "1 thread of 1 process, 1 frame")
	if w := r.AllWarnings(); len(w) != 1 || !strings.HasPrefix(w[0], "the trace has neither samples, slices nor switches") {
		t.Errorf("warnings: %q", w)
	}
	during, err := trace.ParseDuring("jank")
	if err != nil {
		t.Fatal(err)
	}
	r = readTrace(t, &tr, &reading.Options{During: during})
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w, "none of 1 frames of apps missed its deadline") }) {
		t.Errorf("warnings: %q", r.Warnings)
	}
}

func TestSliceNames(t *testing.T) {
	for name, want := range map[string]string{
		"Choreographer#doFrame 128931":         "Choreographer#doFrame N",
		"animator:0x7f3a":                      "animator:N",
		"query 12345 rows":                     "query N rows",
		"HTTP/2 v8.run 3.14159 utf8_12345 a12": "HTTP/2 v8.run 3.14159 utf8_12345 a12",
		"step 42":                              "step 42",
		"":                                     "[slice without a name]",
		"Lock contention on thread list lock (owner tid: 2)":                                      "Lock contention on thread list lock",
		"monitor contention with owner a (2) at B.c(D:1) waiters=0 blocking from void E.f()(G:2)": "monitor contention",
	} {
		if got := sliceName(name); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}
