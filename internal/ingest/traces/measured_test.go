package traces

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/perfetto/perfettotest"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// TestMeasuredWithoutNames checks that frames of several processes are not one metric in a trace that does not list processes.
func TestMeasuredWithoutNames(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.System("5.10.157", 33)
	for i, pid := range []int{458, 9305, 9305} {
		at := uint64(100 + 20*i)
		s.Frame(at, at+10, perfettotest.SurfaceFrame{Cookie: int64(i + 1), Token: int64(i + 1), PID: pid, Jank: uint64([]int{1, 64, 1}[i])})
	}
	want := []run.Measured{
		{Process: "process 458", Quantity: "frame", Unit: "ns", Values: []float64{10}},
		{Process: "process 9305", Quantity: "frame", Unit: "ns", Values: []float64{10, 10}},
		{Process: "process 458", Quantity: "frames that missed the deadline", Unit: "%", Values: []float64{0}},
		{Process: "process 9305", Quantity: "frames that missed the deadline", Unit: "%", Values: []float64{50}},
	}
	if diff := cmp.Diff(want, readTrace(t, &tr, nil).Measured); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}

// TestMeasured checks which values a trace has of frames and starts.
func TestMeasured(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.System("5.15.0", 34)
	tree(s, "10 com.example", "20 com.other", "1000 system_server")
	frame := func(begin, end uint64, cookie int64, pid int, jank uint64) {
		s.Frame(begin, end, perfettotest.SurfaceFrame{Cookie: cookie, Token: cookie, PID: pid, Jank: jank})
	}
	frame(100, 110, 1, 10, 1)
	frame(120, 150, 2, 10, 64)
	frame(130, 137, 3, 20, 1)
	frame(160, 170, 4, 10, 2) // of SurfaceFlinger
	frame(300, 302, 5, 10, 1)
	want := []run.Measured{
		{Process: "com.example", Quantity: "frame", Unit: "ns", Values: []float64{10, 30, 10, 2}},
		{Process: "com.other", Quantity: "frame", Unit: "ns", Values: []float64{7}},
		{Process: "com.example", Quantity: "frames that missed the deadline", Unit: "%", Values: []float64{25}},
		{Process: "com.other", Quantity: "frames that missed the deadline", Unit: "%", Values: []float64{0}},
	}
	if diff := cmp.Diff(want, readTrace(t, &tr, nil).Measured); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}

	// A start, its first frame drawn after it, and a slice that chooses.
	print := func(at uint64, tid int, text string) { s.Bundle(0).Print(at, tid, text).Done() }
	slice := func(from, to uint64, pid, tid int, name string) {
		print(from, tid, fmt.Sprintf("B|%d|%s", pid, name))
		print(to, tid, fmt.Sprintf("E|%d", pid))
	}
	s.Packages([]string{"com.example"}, []int{10001})
	s.Processes(1, perfettotest.Process{PID: 10, Name: "com.example", Threads: []perfettotest.Thread{{TID: 11, Name: "RenderThread"}}})
	print(400, 1000, "S|1000|launchingActivity#1|1")
	slice(390, 395, 10, 10, "Choreographer#doFrame 6")
	slice(410, 420, 10, 10, "activityResume")
	slice(430, 440, 10, 10, "Choreographer#doFrame 7")
	slice(432, 445, 10, 11, "DrawFrames 6")
	slice(446, 460, 10, 11, "DrawFrames 7")
	print(500, 1000, "F|1000|launchingActivity#1|1")
	print(500, 1000, "I|1000|launchingActivity#1:completed-warm:com.example")
	starts := []run.Measured{
		{Process: "com.example", Quantity: "start, warm", Unit: "ns", Values: []float64{100}},
		{Process: "com.example", Quantity: "time to initial display, warm", Unit: "ns", Values: []float64{60}},
	}
	if diff := cmp.Diff(append(want, starts...), readTrace(t, &tr, nil).Measured); diff != "" {
		t.Errorf("frames and starts (-want +got):\n%s", diff)
	}
	during, err := trace.ParseDuring("startup")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(starts, readTrace(t, &tr, &reading.Options{During: during}).Measured); diff != "" {
		t.Errorf("during the start (-want +got):\n%s", diff)
	}
}

// TestMainThreadFrames checks the frames of traces that have no timeline of them.
func TestMainThreadFrames(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	tree(s, "10 com.example")
	for i, name := range []string{"Choreographer#doFrame", "Choreographer#doFrame 128931", "Choreographer#doFrameLater"} {
		at := uint64(100 * (i + 1))
		s.Bundle(0).Print(at, 10, "B|10|"+name).Print(at+10+uint64(i), 10, "E|10").Done()
	}
	want := []run.Measured{{Process: "com.example", Quantity: "frame in the main thread", Unit: "ns", Values: []float64{10, 11}}}
	if diff := cmp.Diff(want, readTrace(t, &tr, nil).Measured); diff != "" {
		t.Errorf("frames (-want +got):\n%s", diff)
	}
}
