package traces

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
	"profdiff/internal/run"
)

// What PerfEvents calls counters.
const (
	cpuClock     = 1
	pageFaults   = 2
	cpuCycles    = 10
	instructions = 11
)

func message() *perfettotest.Message { return new(perfettotest.Message) }

// perfDefaults are TracePacketDefaults with a timebase and followers.
func perfDefaults(timebase *perfettotest.Message, followers ...*perfettotest.Message) *perfettotest.Message {
	m := message().Message(1, timebase)
	for _, f := range followers {
		m.Message(4, f)
	}
	return message().Message(12, m)
}

// account is what became of samples, and why.
func account(r *run.Run) string { return r.Accounting.String() }

func TestPerfSampleIsFourThings(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.Processes(1, perfettotest.Process{PID: 10, Name: "com.example", Threads: []perfettotest.Thread{{TID: 11, Name: "worker"}}})
	s.PerfDefaults(0, cpuClock, 0, 1000)
	lib := perfettotest.Frame{Mapping: "/system/lib64/libx.so", BuildID: "\xab\xcd", Start: 0x10000, End: 0x20000}
	main, f, g := lib, lib, lib
	main.Function, main.RelPC = "main", 0x100
	f.Function, f.RelPC = "_Z1fv", 0x200
	g.RelPC = 0x300
	stack := s.Stack(main, f, g)
	// The first one has what was counted since the profiler started, the others what was counted since the one
	// before on this CPU, which may have been skipped and stand behind it.
	s.Perf(100, perfettotest.Sample{CPU: 0, PID: 10, TID: 11, Mode: 2, Stack: stack, Count: 1_000_100})
	s.Perf(200, perfettotest.Sample{CPU: 1, PID: 10, TID: 11, Mode: 2, Stack: stack, Count: 999_000})
	s.Perf(400, perfettotest.Sample{CPU: 0, PID: 10, TID: 11, Mode: 2, Stack: stack, Count: 3_000_300})
	s.Perf(300, perfettotest.Sample{CPU: 0, PID: 99, TID: 99, Count: 2_000_200, Skipped: new(uint64(4))})
	s.Perf(500, perfettotest.Sample{CPU: 1, PID: 10, TID: 11, Count: 2_000_000, Skipped: new(uint64(3))})
	s.Perf(550, perfettotest.Sample{CPU: 1, PID: 10, TID: 11, Count: 3_000_000, Skipped: new(uint64(0))})
	s.Perf(600, perfettotest.Sample{CPU: 1, Lost: 7})
	s.Packet(700, message().Message(int(perfetto.PerfSample), message().Message(19, message().Uint(1, 1))))
	// Five intervals are missing.
	s.Perf(800, perfettotest.Sample{CPU: 1, PID: 10, TID: 11, Mode: 2, Stack: s.Stack(main), Count: 9_000_000})
	// Of a stack of which a part could not be unwound, and of one that the trace lost.
	s.Perf(900, perfettotest.Sample{CPU: 2, PID: 10, TID: 11, Stack: s.Stack(perfettotest.Frame{Function: "ERROR 2", Mapping: "ERROR"}, f), Count: 1_000_000, UnwindError: 2})
	s.Perf(950, perfettotest.Sample{CPU: 2, PID: 10, TID: 11, Stack: 999, Count: 2_000_000, UnwindError: 1})
	r := readTrace(t, &tr, nil)
	check(t, "samples", samplesOf(r, "cpu-clock"), `com.example/worker: [cut] 1 1000000
com.example/worker: [cut];f() 1 1000000
com.example/worker: main 1 1000000
com.example/worker: main;f();[libx.so] 3 2999200
`)
	check(t, "accounting", account(r), "samples: 9 in = 6 out + 0 filtered + 3 dropped (not unwound in time: 1, of other processes: 1, skipped: 1); 7 lost; 23.1% of frames unknown")
	if r.Accounting.TruncatedStacks != 2 {
		t.Errorf("%d stacks are not whole, want 2", r.Accounting.TruncatedStacks)
	}
	for _, want := range []string{"memory invalid: 1", "lost: 1", "before 1 samples others are missing", "the profiler stopped before the trace ended"} {
		if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.Contains(w, want) }) {
			t.Errorf("no warning tells %q: %q", want, r.Warnings)
		}
	}
	i := slices.IndexFunc(r.Mappings, func(m run.Mapping) bool { return m.File == "/system/lib64/libx.so" })
	if m := r.Mappings[max(i, 0)]; m.BuildID != "abcd" || m.Start != 0x10000 || m.Limit != 0x20000 {
		t.Errorf("mapping is %+v", m)
	}
	if e := r.Events[0]; e.Frequency != 1000 || e.Unit != "nanoseconds" {
		t.Errorf("event is %+v", e)
	}
}

// TestCounters checks what is counted, and that each counter is an event. The figures of the first three are those
// of perf_sample_timebase_count, perf_sample_counter_only and perf_sample_followers of Perfetto's diff_tests.
func TestCounters(t *testing.T) {
	for _, tt := range []struct {
		name     string
		defaults *perfettotest.Message
		samples  []perfettotest.Sample
		want     string // events: name, unit, samples, weight
	}{
		{
			"the second has no count, so it weighs an interval", perfDefaults(message().String(10, "leader").Uint(4, cpuClock).Uint(2, 1000)),
			[]perfettotest.Sample{{PID: 1, TID: 42, Mode: 2, Count: 512}, {PID: 1, TID: 42, Mode: 2}},
			"leader nanoseconds 2 1000512",
		},
		{
			"only the counter", perfDefaults(message().String(10, "leader").Uint(4, cpuClock).Uint(2, 1000)),
			[]perfettotest.Sample{{PID: 1, TID: 42, Count: 512, Skipped: new(uint64(4))}},
			"leader nanoseconds 0 0",
		},
		{
			"followers",
			perfDefaults(message().Uint(2, 100).Uint(4, cpuClock), message().Uint(1, cpuCycles), message().Uint(1, instructions)),
			[]perfettotest.Sample{
				{Mode: 1, Count: 10020141, Followers: []uint64{4672142, 1144537}},
				{Mode: 1, Count: 20020141, Followers: []uint64{5672142, 3144537}},
			},
			"cpu-cycles cpu-cycles 2 5672142\ncpu-clock nanoseconds 2 20020141\ninstructions instructions 2 3144537",
		},
		{
			"a fixed period", perfDefaults(message().Uint(1, 5000).Uint(4, cpuCycles).Packed(12, 1)),
			[]perfettotest.Sample{{Count: 70000}, {Count: 75010}, {Count: 99000}},
			"cpu-cycles:u cpu-cycles 3 15010",
		},
		{
			"a tracepoint is no time of the CPU", perfDefaults(message().Uint(1, 1).Message(3, message().String(1, "sched/sched_switch"))),
			[]perfettotest.Sample{{Count: 1}, {Count: 2}},
			"sched:sched_switch count 2 2",
		},
		{
			"a raw event", perfDefaults(message().Uint(1, 1000).Message(5, message().Uint(2, 0x11).Uint(3, 2).String(5, "armv8_pmuv3"))),
			[]perfettotest.Sample{{Count: 1000}},
			"armv8_pmuv3/config=0x11,config1=0x2/ count 1 1000",
		},
		{
			"Android 11 has no defaults", nil,
			[]perfettotest.Sample{{Count: 5_000_000}, {Count: 15_000_000}},
			"cpu-clock nanoseconds 2 15000000",
		},
		{
			"the first of a counter that ran before", perfDefaults(message().Uint(2, 4000).Uint(4, cpuCycles)),
			[]perfettotest.Sample{{Count: 1 << 50}, {Count: 1<<50 + 100}},
			"cpu-cycles cpu-cycles 2 200",
		},
		{
			"page faults", perfDefaults(message().Uint(1, 1).Uint(4, pageFaults)),
			[]perfettotest.Sample{{Count: 1}},
			"page-faults count 1 1",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var tr perfettotest.Trace
			s := tr.Sequence(1)
			if tt.defaults != nil {
				s.Defaults(tt.defaults)
			}
			for i, p := range tt.samples {
				s.Perf(uint64(1000*(i+1)), p)
			}
			r := readTrace(t, &tr, nil)
			var got []string
			for _, e := range r.Events {
				if e.Name != slicesEvent {
					got = append(got, fmt.Sprintf("%s %s %d %d", e.Name, e.Unit, e.Samples, e.Weight))
				}
			}
			check(t, "events", strings.Join(got, "\n"), tt.want)
		})
	}
}

// TestPendingIsBounded checks that a stream of many samples is added up in order, without all of them waiting.
func TestPendingIsBounded(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.PerfDefaults(0, cpuClock, 0, 1000)
	stack := s.Stack(perfettotest.Frame{Function: "f"})
	const n = 3 * maxPending
	for i := range n {
		k := uint64(i ^ 1) // each two change places
		s.Perf(1000*(k+1), perfettotest.Sample{PID: 1, TID: 1, Stack: stack, Count: 1_000_000 * (k + 1)})
	}
	r := readTrace(t, &tr, nil)
	if e := r.Events[0]; e.Samples != n || e.Weight != n*1_000_000 || e.MaxWeight != 1_000_000 {
		t.Errorf("%d samples weigh %d, the heaviest %d; want %d of 1000000", e.Samples, e.Weight, e.MaxWeight, n)
	}
}

// TestTimeline checks that single samples come in the order of time, and that their sums are those without.
func TestTimeline(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.PerfDefaults(0, cpuClock, 0, 1000)
	for i, at := range []uint64{5000, 1000, 3000} {
		s.Perf(at, perfettotest.Sample{CPU: i, PID: 1, TID: 1, Stack: s.Stack(perfettotest.Frame{Function: fmt.Sprint("f", i)}), Count: 1_000_000})
	}
	r := readTrace(t, &tr, &reading.Options{Timeline: true})
	var got []string
	for _, x := range r.Timeline {
		got = append(got, r.Functions[r.Locations[r.Stacks.Location(x.Stack)].Lines[0].Function].Name)
	}
	check(t, "order", strings.Join(got, " "), "f1 f2 f0")
	check(t, "sums", samplesOf(r, "cpu-clock"), samplesOf(readTrace(t, &tr, nil), "cpu-clock"))
}

// TestStackSample has the figures of stack_sample.textproto of Perfetto's diff_tests: weights of 1, 2, 4 and 7 ms,
// one follower with 500 instructions, a fiber.
func TestStackSample(t *testing.T) {
	var tr perfettotest.Trace
	tr.Sequence(9).Processes(1, perfettotest.Process{PID: 100, Name: "myproc"})
	s := tr.Sequence(1)
	ns, count := message().String(2, "wall-time").Uint(3, 1), message().String(2, "instructions").Uint(3, 3)
	s.Defaults(message().Message(100, message().String(1, "python.wall").Message(2, ns).Message(3, count)))
	inline := func(frames ...*perfettotest.Message) *perfettotest.Message {
		m := message()
		for _, f := range frames {
			m.Message(1, f)
		}
		return m
	}
	foo := message().String(1, "foo")
	sample := func(at uint64, m *perfettotest.Message) {
		s.Packet(at, message().Message(int(perfetto.StackSample), m))
	}
	thread := message().Uint(2, 100).Uint(3, 101)
	stack := inline(message().String(1, "main").String(2, "/src/main.py").Uint(3, 10), message().String(1, "foo").String(2, "/src/foo.py").Uint(3, 42))
	sample(1000, message().Message(1, thread).Message(3, message().Uint(2, 2).Uint(3, 1)).Message(5, stack).Uint(11, 1_000_000).Packed(14, 500))
	known := s.Stack(perfettotest.Frame{Function: "foo", Mapping: "/", RelPC: 0x100})
	task := s.Intern(perfetto.TaskContexts, message().Uint(2, 100).Uint(3, 101))
	mode := s.Intern(perfetto.ExecutionContexts, message().Uint(2, 2).Uint(3, 2))
	sample(2000, message().Uint(2, task).Uint(4, mode).Uint(6, known).Uint(11, 2_000_000))
	fiber := s.Intern(asyncContexts, message().String(2, "worker-1").String(3, "fiber"))
	sample(6000, message().Message(1, message().Uint(2, 100).Uint(4, fiber)).Message(5, inline(foo)).Uint(11, 4_000_000))
	sample(7000, message().Message(5, inline(foo)).Uint(11, 7_000_000))
	// KiB, in a descriptor of its own, of a stack of which a part is missing.
	kib := message().String(2, "allocated").Uint(3, 4).Uint(5, 1024)
	sample(8000, message().Message(1, thread).Message(5, inline(foo)).String(7, "no frame pointer").Message(9, kib).Uint(11, 3))
	r := readTrace(t, &tr, &reading.Options{Mode: true, CPU: true})
	check(t, "wall-time", samplesOf(r, "wall-time"), `/: foo 1 7000000
myproc/: foo 1 2000000
myproc/: main;foo 1 1000000
myproc/worker-1: foo 1 4000000
`)
	check(t, "instructions", samplesOf(r, "instructions"), "myproc/: main;foo 1 500\n")
	check(t, "allocated", samplesOf(r, "allocated"), "myproc/: [cut];foo 1 3072\n")
	modes := make(map[string]bool)
	for _, l := range r.Labels {
		modes[fmt.Sprint(l.Mode, " ", l.CPU)] = true
	}
	check(t, "modes", strings.Join(slices.Sorted(maps.Keys(modes)), ", "), " -1, Host Kernel 2, Host User 2")
	for _, f := range r.Functions {
		if f.Name == "main" && f.File != "/src/main.py" {
			t.Errorf("main is of %q", f.File)
		}
	}
}

// TestStreaming checks the samples of Chromium's sampler, whose thread and time are those of the sequence.
func TestStreaming(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.Packet(0, message().Message(int(perfetto.ThreadDescriptor), message().Uint(1, 7).Uint(2, 8).String(5, "IO").Uint(6, 1000)))
	frame := perfettotest.Frame{Mapping: "/usr/lib/chromium/chromium", BuildID: strings.Repeat("0F", 16) + "1", RelPC: 0x1234}
	a, b := s.Stack(frame), s.Stack(frame, perfettotest.Frame{Function: "g"})
	s.Streaming([]uint64{a, b, a}, []int64{0, 100, 100, 800})
	s.Streaming([]uint64{b, b}, []int64{100})
	r := readTrace(t, &tr, nil)
	check(t, "samples", samplesOf(r, samplerEvent), "/IO: [chromium] 2 2\n/IO: [chromium];g 2 2\n")
	check(t, "accounting", account(r), "samples: 5 in = 4 out + 0 filtered + 1 dropped (without a time: 1); 0 lost; 66.7% of frames unknown")
	if id := r.Mappings[len(r.Mappings)-1].BuildID; id != strings.Repeat("0f", 16)+"1" {
		t.Errorf("build ID is %q", id)
	}
}

// TestCallstacks has the figures of track_event_callstacks.textproto of Perfetto's diff_tests: two of four callstacks
// have a weight, 2.5 and 4. That the other two have none is said.
func TestCallstacks(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.ThreadTrack(1001, 0, 42, 4242, "CallstackThread")
	inline := message().Message(1, message().String(1, "InlineMain").String(2, "main.cc").Uint(3, 10)).
		Message(1, message().String(1, "InlineLeaf").String(2, "leaf.cc").Uint(3, 42))
	event := func(at, kind uint64, name string, more *perfettotest.Message) {
		m := message().Uint(9, kind).Uint(11, 1001).String(23, name)
		if more == nil {
			more = message()
		}
		s.Event(at, message().Append(m).Append(more))
	}
	event(10, 1, "Inline Slice 1", message().Fixed64(57, 0x4004000000000000).Message(55, inline))
	event(30, 2, "Inline Slice 1", nil)
	event(40, 1, "Inline Slice 2", message().Message(55, inline))
	event(70, 2, "Inline Slice 2", nil)
	lib := perfettotest.Frame{Mapping: "/bin/callstack_demo", BuildID: "buildid", Start: 4096, End: 8192}
	a, b := lib, lib
	a.Function, a.RelPC, b.Function, b.RelPC = "FuncA", 16, "FuncB", 32
	stack := s.Stack(a, b)
	event(100, 1, "Interned Slice", message().Uint(56, stack))
	event(140, 2, "Interned Slice", message().Uint(56, stack).Fixed64(57, 0x4010000000000000))
	r := readTrace(t, &tr, nil)
	check(t, "callstacks", samplesOf(r, callstackEvent+"-millionths"), "/CallstackThread: FuncA;FuncB 1 4000000\n/CallstackThread: InlineMain;InlineLeaf 1 2500000\n")
	if !slices.Contains(r.Warnings, "weights of callstacks have fractions: they are in millionths") {
		t.Errorf("warnings: %q", r.Warnings)
	}
	check(t, "slices", samplesOf(r, slicesEvent), "/CallstackThread: Inline Slice 1 1 20\n/CallstackThread: Inline Slice 2 1 30\n/CallstackThread: Interned Slice 1 40\n")
	if n := r.Accounting.Dropped["callstack without a weight"]; n != 2 {
		t.Errorf("%d callstacks without a weight, want 2", n)
	}
}

// TestCallstackWeights checks that weights that are whole numbers are as they are, and that none is lost for being less than one.
func TestCallstackWeights(t *testing.T) {
	for _, test := range []struct {
		weights     []float64
		event, want string
	}{
		{[]float64{3, 4}, callstackEvent, "/t: f 2 7\n"},
		{[]float64{2.5, 1.5}, callstackEvent, "/t: f 2 4\n"},
		{[]float64{0.25, 0.125}, callstackEvent + "-millionths", "/t: f 2 375000\n"},
		{[]float64{1e-9}, callstackEvent + "-millionths", "/t: f 1 0\n"},
		{[]float64{-5}, callstackEvent, "/t: f 1 0\n"},
		{[]float64{math.NaN(), 3, math.Inf(1)}, callstackEvent, "/t: f 1 3\n"},
	} {
		var tr perfettotest.Trace
		s := tr.Sequence(1)
		s.ThreadTrack(1001, 0, 42, 4242, "t")
		for i, w := range test.weights {
			s.Event(uint64(10+i), message().Uint(9, 3).Uint(11, 1001).String(23, "i").
				Fixed64(57, math.Float64bits(w)).Message(55, message().Message(1, message().String(1, "f"))))
		}
		check(t, fmt.Sprint(test.weights), samplesOf(readTrace(t, &tr, nil), test.event), test.want)
	}
}

// TestDeepStack checks that of a stack without end the innermost frames are kept.
func TestDeepStack(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	frames := make([]perfettotest.Frame, 3*maxDepth)
	for i := range frames {
		frames[i].Function = "f"
	}
	frames[len(frames)-1].Function = "leaf"
	s.PerfDefaults(0, cpuClock, 0, 1000)
	s.Perf(1000, perfettotest.Sample{PID: 1, TID: 1, Stack: s.Stack(frames...), Count: 1})
	r := readTrace(t, &tr, nil)
	names := strings.Split(strings.TrimSpace(strings.TrimPrefix(samplesOf(r, "cpu-clock"), "/: ")), ";")
	if len(names) != maxDepth+1 || names[0] != run.CutName || !strings.HasPrefix(names[maxDepth], "leaf") {
		t.Errorf("%d frames from %s to %s, want %d from %s to leaf", len(names), names[0], names[len(names)-1], maxDepth+1, run.CutName)
	}
}
