package traces

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
	"profdiff/internal/trace"
)

// The tests in this file make the traces of Perfetto's tests of its own trace processor
// (test/trace_processor/diff_tests), and compare with the figures there. Each test names its source,
// and says where figures differ and why.

// timeline reads the timeline of a trace.
func timeline(t *testing.T, tr *perfettotest.Trace) *trace.Timeline {
	t.Helper()
	src, err := input.New("test", bytes.NewReader(tr.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r := newReader(src, new(reading.Options))
	tl, err := r.read(src)
	if err != nil {
		t.Fatal(err)
	}
	if n := r.trace.Losses.Damaged; n != 0 {
		t.Errorf("%d packets are damaged: %v", n, r.trace.Losses.FirstDamaged)
	}
	return tl
}

// statesOf lists states of threads as ts,dur,cpu,tid,state, ordered by time and thread; keep chooses.
func statesOf(tl *trace.Timeline, keep func(*trace.Interval) bool) string {
	type row struct {
		ts, tid int64
		text    string
	}
	var rows []row
	for i := range tl.Threads {
		tl.States(trace.ThreadID(i), func(in *trace.Interval) {
			if !keep(in) {
				return
			}
			dur := int64(-1)
			if in.End != trace.Unended {
				dur = in.End - in.Start
			}
			text := fmt.Sprintf("%d,%d,", in.Start, dur)
			if in.CPU >= 0 {
				text += fmt.Sprint(in.CPU)
			}
			text += fmt.Sprintf(",%d,%v", tl.Threads[i].TID, in.State)
			if in.Function != 0 || in.IOWait {
				text += fmt.Sprintf(",%v,%s", in.IOWait, tl.Name(in.Function))
			}
			rows = append(rows, row{in.Start, tl.Threads[i].TID, text})
		})
	}
	slices.SortFunc(rows, func(a, b row) int { return slices.Compare([]int64{a.ts, a.tid}, []int64{b.ts, b.tid}) })
	var text strings.Builder
	for _, r := range rows {
		text.WriteString(r.text + "\n")
	}
	return text.String()
}

func allStates(*trace.Interval) bool { return true }

func running(in *trace.Interval) bool { return in.State == trace.Running }

func blockedD(in *trace.Interval) bool { return in.State == trace.Uninterruptible }

// slicesOf lists slices as ts,dur,name,depth and track, ordered by time.
func slicesOf(tl *trace.Timeline) string {
	type row struct {
		ts   int64
		text string
	}
	var rows []row
	for i := range tl.Tracks {
		t := &tl.Tracks[i]
		on := "[" + t.Name + "]"
		if t.Thread != 0 {
			on = tl.Threads[t.Thread].Name
			if on == "" {
				on = fmt.Sprint(tl.Threads[t.Thread].TID)
			}
		} else if t.Process != 0 {
			on = tl.Processes[t.Process].Name + on
		}
		for _, s := range tl.Slices(trace.TrackID(i), nil) {
			dur := int64(-1)
			if !s.Unfinished() {
				dur = s.End - s.Start
			}
			rows = append(rows, row{s.Start, fmt.Sprintf("%d,%d,%s,%d,%s", s.Start, dur, tl.Name(s.Name), s.Depth, on)})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int { return int(a.ts - b.ts) })
	var text strings.Builder
	for _, r := range rows {
		text.WriteString(r.text + "\n")
	}
	return text.String()
}

// tree adds a process tree: "PID NAME UID" for a process, "TID<PID NAME" for a thread.
func tree(s *perfettotest.Sequence, lines ...string) {
	m := new(perfettotest.Message)
	for _, line := range lines {
		var a, b int
		var name string
		if n, _ := fmt.Sscanf(line, "%d<%d %s", &a, &b, &name); n == 3 {
			m.Message(2, new(perfettotest.Message).Uint(1, uint64(a)).Uint(3, uint64(b)).String(2, name))
			continue
		}
		fmt.Sscanf(line, "%d %s %d", &a, &name, &b)
		p := new(perfettotest.Message).Uint(1, uint64(a)).String(3, name)
		if b != 0 {
			p.Uint(5, uint64(b))
		}
		m.Message(1, p)
	}
	s.Packet(0, new(perfettotest.Message).Message(int(perfetto.ProcessTree), m))
}

func task(pid int) perfettotest.Task {
	if pid == 0 {
		return perfettotest.Task{Comm: "swapper"}
	}
	return perfettotest.Task{PID: pid, Comm: fmt.Sprint("t", pid)}
}

// TestSynth is common/synth_1.py with parser/smoke/tests_sched_events.py. There a CPU without work has a
// row of thread 0, which is left out here: it is no thread.
func TestSynth(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	tree(s, "1 init", "2 two_thread_process", "4 single_thread_process", "3<2 two_thread_process")
	s.Bundle(0).Switch(1, task(1), 0, task(3)).Switch(100, task(3), 0, task(2)).Switch(115, task(2), 0, task(3)).Done()
	s.Bundle(1).Switch(50, task(4), 0, task(1)).Switch(120, task(1), 0, task(2)).Switch(170, task(2), 0, task(0)).
		Switch(250, task(0), 0, task(2)).Switch(390, task(2), 0, task(4)).Done()
	tl := timeline(t, &tr)
	check(t, "running", statesOf(tl, running), `1,99,0,3,Running
50,70,1,1,Running
100,15,0,2,Running
115,-1,0,3,Running
120,50,1,2,Running
250,140,1,2,Running
390,-1,1,4,Running
`)
	// sched_runnable_thread_count of stdlib/sched/tests.py.
	var counts strings.Builder
	for _, ts := range []int64{1, 50, 100, 115, 120, 170, 250, 390} {
		n := 0
		for i := range tl.Threads {
			tl.States(trace.ThreadID(i), func(in *trace.Interval) {
				if in.State == trace.Runnable && in.Start <= ts && (in.End == trace.Unended || in.End > ts) {
					n++
				}
			})
		}
		fmt.Fprintf(&counts, "%d,%d\n", ts, n)
	}
	check(t, "runnable", counts.String(), "1,1\n50,1\n100,2\n115,2\n120,2\n170,3\n250,2\n390,2\n")
}

// TestBlockedReasons is parser/parsing/sched_blocked_proto.py and sched_blocked_reason_symbolized.textproto
// with the figures in tests.py.
func TestBlockedReasons(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.Bundle(0).Switch(10, task(0), 0, task(1)).Switch(100, task(1), 2, task(2)).Blocked(101, 3, 1, "", false).
		Switch(110, task(2), 2, task(0)).Blocked(111, 3, 2, "", true).Done()
	check(t, "sched_blocked_proto", statesOf(timeline(t, &tr), blockedD), "100,-1,,1,D\n110,-1,,2,D,true,\n")

	tr = perfettotest.Trace{}
	s = tr.Sequence(2)
	// The symbol of iid 2 is in no packet.
	caller := func(b *perfettotest.Bundle, at uint64, pid int, iid uint64) {
		b.Event(at, 0, perfetto.SchedBlockedReason, new(perfettotest.Message).Uint(1, uint64(pid)).Uint(2, iid))
	}
	b := s.Bundle(1).Switch(50, task(0), 2, task(100)).Switch(1000000, task(100), 2, task(101))
	b.Blocked(1000010, 0, 100, "filemap_fault", false).Switch(1001000, task(101), 2, task(100))
	caller(b, 1001010, 101, 2)
	b.Done()
	b = s.Bundle(2).Switch(60, task(0), 2, task(102)).Switch(999000, task(102), 2, task(103)).
		Blocked(999010, 0, 102, "filemap_fault", false).Switch(1002000, task(103), 2, task(104))
	caller(b, 1002010, 103, 2)
	b.Switch(1005000, task(104), 2, task(0)).Blocked(1005010, 0, 104, "filemap_fault", false).Done()
	s.Bundle(3).Switch(60, task(0), 2, task(105)).Switch(999000, task(105), 2, task(0)).Blocked(999000, 0, 105, "some_fn", false).Done()
	s.Clear()
	s.Bundle(1).Switch(1003000, task(100), 2, task(0)).Blocked(1003010, 0, 100, "some_other_fn", false).Done()
	check(t, "sched_blocked_reason_symbolized", statesOf(timeline(t, &tr), blockedD), `999000,-1,,102,D,false,filemap_fault
999000,-1,,105,D,false,some_fn
1000000,1000,,100,D,false,filemap_fault
1001000,-1,,101,D
1002000,-1,,103,D
1003000,-1,,100,D,false,some_other_fn
1005000,-1,,104,D,false,filemap_fault
`)
}

// TestCropped is parser/ftrace/ftrace_crop_tests.py: until the buffers of all CPUs have events, those of others
// are left out.
func TestCropped(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.Bundle(1).Start(1000).Print(1500, 42, "B|42|FilteredOut\n").Print(2700, 42, "E|42\n").Done()
	s.Bundle(0).Start(2000).Print(2200, 42, "B|42|Kept\n").Done()
	check(t, "slices", slicesOf(timeline(t, &tr)), "2200,500,Kept,0,42\n")

	tr = perfettotest.Trace{}
	s = tr.Sequence(1)
	named := func(pid int, name string) perfettotest.Task { return perfettotest.Task{PID: pid, Comm: name} }
	s.Bundle(3).Start(1000).CompactSwitch(1100, 0, named(50, "zero:3")).CompactSwitch(1200, 0, named(51, "one:3")).Done()
	s.Bundle(6).Start(0).CompactSwitch(500, 0, named(40, "zero:6")).CompactSwitch(600, 0, named(41, "one:6")).
		CompactSwitch(1100, 0, named(42, "two:6")).CompactSwitch(1200, 0, named(43, "three:6")).Done()
	check(t, "running", statesOf(timeline(t, &tr), running), "1100,100,6,42,Running\n1200,-1,6,43,Running\n1200,-1,3,51,Running\n")
}

// TestGenericKernel is parser/generic_kernel/tests.py. Where nothing tells the state of a thread, the
// trace processor has no text and this a question mark.
func TestGenericKernel(t *testing.T) {
	type event struct {
		at    uint64
		cpu   uint64
		tid   uint64
		state uint64
	}
	const second = 1_000_000_000
	const t0 = 360831239274
	for _, test := range []struct {
		name   string
		events []event
		want   string
	}{
		{"simple", []event{{t0, 0, 101, 3}, {t0 + second, 0, 101, 8}}, "360831239274,1000000000,0,101,Running\n361831239274,-1,,101,X\n"},
		{
			"huge_tid",
			[]event{{t0, 0, 9023372036854775807, 3}, {t0 + second, 0, 9023372036854775807, 8}},
			"360831239274,1000000000,0,9023372036854775807,Running\n361831239274,-1,,9023372036854775807,X\n",
		},
		{
			"interleaved",
			[]event{{t0, 0, 101, 3}, {t0 + second, 0, 102, 3}, {t0 + second, 0, 101, 8}},
			"360831239274,1000000000,0,101,Running\n361831239274,-1,,101,X\n361831239274,-1,0,102,Running\n",
		},
		{
			"interleaved_mismatched",
			[]event{{t0, 0, 101, 3}, {t0 + second, 0, 102, 3}, {t0 + 2*second, 0, 101, 8}},
			"360831239274,1000000000,0,101,Running\n361831239274,1000000000,,101,?\n361831239274,-1,0,102,Running\n362831239274,-1,,101,X\n",
		},
	} {
		var tr perfettotest.Trace
		s := tr.Sequence(1)
		for _, e := range test.events {
			m := new(perfettotest.Message).Uint(1, e.cpu).String(2, "task").Uint(3, e.tid).Uint(4, e.state).Uint(5, 100)
			s.Packet(e.at, new(perfettotest.Message).Message(int(perfetto.GenericTaskState), m))
		}
		check(t, test.name, statesOf(timeline(t, &tr), allStates), test.want)
	}
}

// TestSliceStacks is stdlib/slices/tests_stack.py: equal stacks are one, others are not.
func TestSliceStacks(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	b := s.Bundle(0)
	at := uint64(1000)
	for text := range strings.FieldsSeq("B|10|A B|10|B B|10|C E|10 E|10 E|10 B|10|A B|10|B B|10|C E|10 E|10 E|10 B|10|A B|10|C E|10 E|10") {
		b.Print(at, 10, text)
		at += 100
	}
	b.Done()
	r := readTrace(t, &tr, nil)
	check(t, "slices", samplesOf(r, "slices"), "/: A 3 600\n/: A;B 2 400\n/: A;B;C 2 200\n/: A;C 1 100\n")
}

// TestAtrace is parser/atrace/tests.py. Slices of system calls, which the trace processor makes
// of raw_syscalls in sys_write_and_atrace.py, are not made here: of the four there, "test" is.
func TestAtrace(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.Bundle(3).Print(1000, 4064, "S|1204|multistart|0\n").Print(1010, 1257, "S|1204|multistart|0\n").Print(1015, 1257, "S|1204|multistart|10\n").
		Print(1020, 1240, "S|1204|multistart|0\n").Print(1030, 4293, "F|1204|multistart|0\n").Print(1030, 1240, "S|1204|multistart|0\n").
		Print(1050, 4293, "F|1204|multistart|0\n").Print(1060, 4009, "F|1204|multistart|10\n").Done()
	check(t, "android_b2b_async_begin", slicesOf(timeline(t, &tr)),
		"1000,30,multistart,0,[multistart]\n1015,45,multistart,0,[multistart]\n1030,20,multistart,0,[multistart]\n")

	tr = perfettotest.Trace{}
	s = tr.Sequence(1)
	s.Bundle(3).Print(74289018336, 4064, "S|1204|launching: com.android.chrome|0\n").Done()
	s.Bundle(2).Print(74662603008, 1257, "F|1204|launching: com.android.chrome|0\n").Done()
	check(t, "process_track_slices_android_async_slice", slicesOf(timeline(t, &tr)),
		"74289018336,373584672,launching: com.android.chrome,0,[launching: com.android.chrome]\n")

	tr = perfettotest.Trace{}
	s = tr.Sequence(1)
	tree(s, "1 p1", "2 p2", "1<1 p1", "2<2 p2")
	s.Bundle(0).Print(50, 1, "G|1|track|ev|1024\n").Print(55, 1, "G|1|track|ev|2048\n").Print(60, 2, "G|2|track|ev|1024\n").
		Print(65, 2, "H|2|track|ev|1024\n").Print(70, 1, "H|1|track|2048\n").Print(75, 1, "H|1|track|ev|1024\n").Done()
	check(t, "async_track_atrace", slicesOf(timeline(t, &tr)), "50,25,ev,0,p1[track]\n55,15,ev,0,p1[track]\n60,5,ev,0,p2[track]\n")

	tr = perfettotest.Trace{}
	s = tr.Sequence(1)
	s.Bundle(0).Switch(50, task(1), 0, task(2)).Print(51, 2, "I|2|t2_event\n").Print(51, 2, "N|2|track_p2|ev1\n").
		Switch(52, task(2), 0, task(1)).Print(53, 1, "I|1|t1_event\n").Print(53, 1, "N|1|track_p1|ev2\n").Done()
	check(t, "instant_atrace, instant_async_atrace", slicesOf(timeline(t, &tr)),
		"51,0,t2_event,0,t2\n51,0,ev1,0,t2[track_p2]\n53,0,t1_event,0,t1\n53,0,ev2,0,t1[track_p1]\n")
}

// TestTrackEvents is parser/track_event/tests.py: track_event_same_tids, track_event_with_atrace, the same with
// separate tracks, legacy_async_event, incremental_counter_sequences, track_event_state. States are slices here, and
// have an end when the next one comes. Of track_event_tracks.textproto, in which threads and processes
// use numbers again that others of the trace had, those are not told apart here: nothing but the order of
// packets says so.
func TestTrackEvents(t *testing.T) {
	type M = perfettotest.Message
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.ThreadTrack(1, 0, 5, 1, "t1")
	s.ThreadTrack(2, 0, 10, 1, "t2")
	s.Instant(1000, 1, "cat", "name1")
	s.Instant(2000, 2, "cat", "name2")
	check(t, "track_event_same_tids", slicesOf(timeline(t, &tr)), "1000,0,name1,0,t1\n2000,0,name2,0,t2\n")

	for own, want := range []string{
		"10000,1000,event1,0,t1\n20000,8000,event2,0,t1\n21000,7000,atrace,1,t1\n",
		"10000,1000,event1,0,t1\n20000,8000,event2,0,t1\n21000,8000,atrace,0,t1\n",
	} {
		tr = perfettotest.Trace{}
		s = tr.Sequence(1)
		d := new(M).Uint(1, 1).Message(4, new(M).Uint(1, 5).Uint(2, 1).String(5, "t1"))
		legacy := func(phase uint64) *M {
			m := new(M).Uint(11, uint64(own))
			if own == 0 { // track_uuid 0 of legacy events is the thread of the sequence
				return m.Message(6, new(M).Uint(2, phase))
			}
			return m.Uint(9, 1+(phase-'B')/('E'-'B'))
		}
		s.Descriptor(d.Uint(9, uint64(own)))
		s.Event(10000, legacy('B').String(22, "cat").String(23, "event1"))
		s.Event(11000, legacy('E'))
		s.Event(20000, legacy('B').String(22, "cat").String(23, "event2"))
		s.Bundle(1).Print(21000, 1, "B|5|atrace\n").Done()
		s.Event(28000, legacy('E').String(22, "cat"))
		s.Bundle(1).Print(29000, 1, "E|5\n").Done()
		check(t, fmt.Sprint("track_event_with_atrace, separate tracks: ", own), slicesOf(timeline(t, &tr)), want)
	}

	tr = perfettotest.Trace{}
	one, two := tr.Sequence(1), tr.Sequence(2)
	one.ThreadTrack(1, 0, 5, 1, "t1")
	two.ThreadTrack(1, 0, 5, 5, "t1")
	async := func(s *perfettotest.Sequence, at, phase uint64) {
		s.Event(at, new(M).String(22, "cat").String(23, "name1").Message(6, new(M).Uint(2, phase).Uint(11, 1234)))
	}
	async(one, 1000, 'S')
	async(two, 2000, 'S')
	async(two, 3000, 'F')
	async(one, 8000, 'F')
	async(one, 3000, 'T')
	async(one, 5000, 'p')
	check(t, "legacy_async_event", slicesOf(timeline(t, &tr)), "1000,7000,name1,0,t1[name1]\n2000,1000,name1,1,t1[name1]\n")

	tr = perfettotest.Trace{}
	one, two = tr.Sequence(1), tr.Sequence(2)
	for _, s := range []*perfettotest.Sequence{one, two} {
		s.CounterTrack(10, 0, "MyIncrementalCounter", 0, 0, true)
	}
	one.Counter(100, 10, 100)
	two.Counter(150, 10, 50)
	one.Counter(200, 10, 10)
	two.Counter(250, 10, 5)
	c := timeline(t, &tr).Counters
	if len(c) != 1 || c[0].Values != 4 || c[0].Min != 50 || c[0].Max != 110 || c[0].Last != 55 {
		t.Errorf("incremental_counter_sequences: %+v, want the values 100, 50, 110, 55", c)
	}

	tr = perfettotest.Trace{}
	s = tr.Sequence(1)
	s.ProcessTrack(3, 5, "Browser")
	s.Descriptor(new(M).Uint(1, 20).Uint(5, 3).String(2, "ProcState").Message(18, new(M)))
	s.Event(1000, new(M).Uint(11, 20).Uint(9, 5).String(23, "Foreground"))
	s.Event(4000, new(M).Uint(11, 20).Uint(9, 5).String(23, "Background"))
	check(t, "track_event_state", slicesOf(timeline(t, &tr)), "1000,3000,Foreground,0,Browser[ProcState]\n4000,-1,Background,0,Browser[ProcState]\n")
}

// TestFrames is metrics/frame_timeline/frame_timeline_metric.py: 11 frames, 3 of which the app was late with, one
// was dropped.
func TestFrames(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	tree(s, "1001 process1", "1002 process2", "1003 process3", "1004 process4")
	for i, f := range []struct {
		begin, end uint64
		token      int64
		pid        int
		present    uint64
		jank       uint64
	}{
		{21000000, 37000000, 100201, 1002, 1, 1},
		{31000000, 47000000, 100202, 1002, 1, 64},
		{32000000, 40000000, 100202, 1002, 1, 64},
		{41000000, 74000000, 100101, 1001, 2, 64},
		{41000000, 75000000, 100102, 1001, 2, 64 | 128},
		{81000000, 95000000, 100301, 1003, 2, 16},
		{90000000, 96000000, 100302, 1003, 4, 1024},
		{10000000, 12000000, 100402, 1004, 4, 512},
		{12500000, 14000000, 100502, 1004, 4, 2},
		{14500000, 15000000, 100602, 1004, 4, 16},
		{15500000, 16000000, 100702, 1004, 4, 32},
		{16500000, 17000000, 100802, 1004, 4, 2 | 512},
	} {
		s.Frame(f.begin, f.end, perfettotest.SurfaceFrame{
			Cookie: int64(i + 1), Token: f.token, DisplayToken: f.token + 10, PID: f.pid, Layer: "Layer1", Present: f.present, Jank: f.jank,
		})
	}
	tl := timeline(t, &tr)
	app, dropped, flinger := 0, 0, 0
	longest := make(map[string]int64)
	for _, f := range tl.AppFrames() {
		if f.Jank.App() {
			app++
		}
		if f.Jank.SurfaceFlinger() {
			flinger++
		}
		if f.Jank&trace.JankDropped != 0 {
			dropped++
		}
		name := tl.Processes[f.Process].Name
		longest[name] = max(longest[name], f.End-f.Start)
	}
	if n := len(tl.AppFrames()); n != 11 || app != 3 || dropped != 1 || flinger != 5 || longest["process1"] != 34000000 {
		t.Errorf("%d frames, %d late by the app, %d dropped, %d late by SurfaceFlinger, the longest of process1 %d; want 11, 3, 1, 5, 34000000",
			n, app, dropped, flinger, longest["process1"])
	}
	during, err := trace.ParseDuring("jank")
	if err != nil {
		t.Fatal(err)
	}
	if got := tl.Find(during); got.Count != 3 || got.Time() != 75000000-31000000 {
		t.Errorf("jank is %d frames, %d ns; want 3, 44000000", got.Count, got.Time())
	}
}

// startupsOf lists startups as start,duration,package,type,PID.
func startupsOf(tl *trace.Timeline) string {
	var b strings.Builder
	for _, s := range tl.Startups() {
		fmt.Fprintf(&b, "%d,%d,%s,%s,%d\n", s.Start, s.End-s.Start, s.Package, s.Type, tl.Processes[s.Process].PID)
	}
	return b.String()
}

const calendar = "com.google.android.calendar"

// packageList adds the list of one package.
func packageList(s *perfettotest.Sequence, name string, uid uint64) {
	p := new(perfettotest.Message).String(1, name).Uint(2, uid)
	s.Packet(1, new(perfettotest.Message).Message(int(perfetto.PackagesList), new(perfettotest.Message).Message(1, p)))
}

// TestStartups is metrics/startup: android_startup.py (one of three intents leads to a startup, 108 ns, warm),
// android_startup_minsdk33.py (two, 100 and 10 ns, the second hot, of process 3), android_startup_lock_contention.py.
func TestStartups(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	tree(s, "1 init", "2 system_server", "3 "+calendar+" 10001", "4 "+calendar+" 10001")
	packageList(s, calendar, 10001)
	b := s.Bundle(0)
	slice := func(from, to uint64, tid int, name string) {
		b.Print(from, tid, fmt.Sprintf("B|%d|%s", tid, name)).Print(to, tid, fmt.Sprintf("E|%d", tid))
	}
	slice(100, 101, 2, "MetricsLogger:launchObserverNotifyIntentStarted")
	slice(102, 103, 2, "MetricsLogger:launchObserverNotifyIntentStarted")
	b.Print(110, 2, "S|2|launching: "+calendar+"|0")
	slice(115, 117, 3, "activityStart")
	slice(117, 118, 3, "activityResume")
	b.Print(210, 2, "F|2|launching: "+calendar+"|0")
	slice(211, 212, 2, "MetricsLogger:launchObserverNotifyActivityLaunchFinished")
	slice(402, 403, 2, "MetricsLogger:launchObserverNotifyIntentStarted")
	b.Print(410, 2, "S|2|launching: "+calendar+"|0").Print(510, 2, "F|2|launching: com.google.android.apps.nexuslauncher|0").Done()
	check(t, "android_startup", startupsOf(timeline(t, &tr)), "102,108,"+calendar+",warm,3\n")

	tr = perfettotest.Trace{}
	s = tr.Sequence(1)
	tree(s, "1 init", "2 system_server", "3 "+calendar+" 10001")
	packageList(s, calendar, 10001)
	b = s.Bundle(0).Print(110, 2, "S|2|launchingActivity#1|0").Print(210, 2, "F|2|launchingActivity#1|0").
		Print(211, 2, "I|2|launchingActivity#1:completed:"+calendar).
		Print(220, 2, "S|2|launchingActivity#2|0").Print(230, 2, "F|2|launchingActivity#2|0").
		Print(231, 2, "I|2|launchingActivity#2:completed-hot:"+calendar)
	slice(221, 225, 3, "activityResume")
	b.Done()
	check(t, "android_startup_minsdk33", startupsOf(timeline(t, &tr)), "110,100,"+calendar+",,-1\n220,10,"+calendar+",hot,3\n")
}

// TestStartupContention is metrics/startup/android_startup_lock_contention.py: during the startup the main
// thread waits 20 ns for locks, 10 of them for a monitor. What other threads and processes wait is not
// part of these figures: the other thread of the app waits 5 ns.
func TestStartupContention(t *testing.T) {
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	tree(s, "1 init", "2 system_server", "3 "+calendar+" 10001", "4<3 Binder")
	packageList(s, calendar, 10001)
	b := s.Bundle(0).Print(110, 2, "S|2|launchingActivity#1|0").Print(210, 2, "F|2|launchingActivity#1|0")
	slice := func(from, to uint64, pid, tid int, name string) {
		b.Print(from, tid, fmt.Sprintf("B|%d|%s", pid, name)).Print(to, tid, fmt.Sprintf("E|%d", pid))
	}
	slice(112, 115, 3, 3, "bindApplication")
	slice(115, 116, 3, 3, "activityStart")
	slice(116, 117, 3, 3, "activityResume")
	slice(120, 130, 3, 3, "Lock contention on thread list lock (owner tid: 2)")
	slice(140, 150, 3, 3, "Lock contention on a monitor lock (owner tid: 2)")
	slice(155, 160, 3, 4, "Lock contention on a monitor lock (owner tid: 3)")
	slice(175, 180, 2, 2, "Lock contention on a monitor lock (owner tid: 3)")
	slice(300, 400, 3, 3, "Lock contention on a monitor lock (owner tid: 2)") // after the startup
	b.Print(211, 2, "I|2|launchingActivity#1:completed:"+calendar).Done()
	check(t, "startup", startupsOf(timeline(t, &tr)), "110,100,"+calendar+",cold,3\n")

	during, err := trace.ParseDuring("startup")
	if err != nil {
		t.Fatal(err)
	}
	r := readTrace(t, &tr, &reading.Options{During: during})
	event, ok := r.EventIndex("delay")
	if !ok {
		t.Fatalf("no delay among %s", r.EventNames())
	}
	sums := make(map[string]int64)
	for _, sample := range r.Samples {
		if sample.Event != uint32(event) {
			continue
		}
		l := &r.Labels[sample.Labels]
		who := l.Process + "/" + l.Thread
		sums[who] += sample.Weight
		if leaf := r.Functions[r.Locations[r.Stacks.Location(sample.Stack)].Lines[0].Function].Name; strings.HasSuffix(leaf, trace.MonitorLock) {
			sums["monitor of "+who] += sample.Weight
		}
	}
	main, other := calendar+"/"+calendar, calendar+"/Binder"
	if sums[main] != 20 || sums["monitor of "+main] != 10 || sums[other] != 5 || len(sums) != 4 {
		t.Errorf("waited during the startup: %v; want 20 ns of %s, 10 of them for a monitor, and 5 of %s", sums, main, other)
	}
}
