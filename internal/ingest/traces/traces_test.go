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
	"profdiff/internal/perfetto/perfettotest"
	"profdiff/internal/run"
)

// readTrace makes a run of a trace, and checks that every sample is accounted for.
func readTrace(t *testing.T, trace *perfettotest.Trace, opt *reading.Options) *run.Run {
	t.Helper()
	data := trace.Bytes()
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
