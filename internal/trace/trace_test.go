package trace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// drawSlices writes slices as lines: depth as indent, name, start, end.
func drawSlices(t *Timeline, id TrackID, loss *SliceLoss) string {
	var b strings.Builder
	for _, s := range t.Slices(id, loss) {
		end := "-"
		if !s.Unfinished() {
			end = fmt.Sprint(s.End)
		}
		fmt.Fprintf(&b, "%s%s %d %s\n", strings.Repeat(" ", int(s.Depth)), t.Name(s.Name), s.Start, end)
	}
	return b.String()
}

func TestSlices(t *testing.T) {
	for _, test := range []struct {
		name   string
		events string // time kind name category, one event a word group
		want   string
		loss   SliceLoss
	}{
		{"nested", "1 B a,2 B b,3 E,4 E", "a 1 4\n b 2 3\n", SliceLoss{}},
		{"out of order", "1 B a,4 E,2 B b,3 E", "a 1 4\n b 2 3\n", SliceLoss{}},
		{"equal times keep their order", "1 B a,1 B b,1 E,1 E", "a 1 1\n b 1 1\n", SliceLoss{}},
		{"orphan and unfinished", "1 E,2 B a,3 B b,4 E", "a 2 -\n b 3 4\n", SliceLoss{Orphans: 1, Unfinished: 1}},
		{"by name", "1 B a,2 B b,5 E a,7 B c,8 E", "a 1 5\n b 2 5\nc 7 8\n", SliceLoss{}},
		{"by name, none", "1 B a,2 E x", "a 1 -\n", SliceLoss{Orphans: 1, Unfinished: 1}},
		{"by category", "1 B a x,2 B a y,3 E a x", "a 1 3\n a 2 -\n", SliceLoss{Unfinished: 1}},
		{"durations", "1 X a 10,2 X b 3,5 X c 2,8 X d 9,11 X e 1", "a 1 11\n b 2 5\n c 5 7\ne 11 12\n", SliceLoss{Overlapping: 1}},
		{"instants", "1 X a 0,1 X b 0,1 B c,2 X d 0,3 E", "a 1 1\n b 1 1\nc 1 3\n d 2 2\n", SliceLoss{}},
	} {
		b := NewBuilder()
		th := b.Thread(0, 10, 11)
		feed(b, b.ThreadTrack(th), test.events)
		tl := b.Finish()
		var loss SliceLoss
		got := drawSlices(tl, tl.Threads[th].Track, &loss)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: slices (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.loss, loss); diff != "" {
			t.Errorf("%s: loss (-want +got):\n%s", test.name, diff)
		}
	}
}

// feed reads events as "time B name category", "time E name category", "time X name duration".
func feed(b *Builder, track TrackID, events string) {
	for event := range strings.SplitSeq(events, ",") {
		var ts, duration int64
		var kind, name, category string
		fmt.Sscan(event, &ts, &kind, &name, &category)
		switch kind {
		case "B":
			b.Begin(track, ts, b.NameString(name), b.NameString(category))
		case "E":
			b.End(track, ts, b.NameString(name), b.NameString(category))
		case "X":
			fmt.Sscan(category, &duration)
			b.Complete(track, ts, duration, b.NameString(name), 0)
		}
	}
}

// TestDepth checks that slices in too many others do not take the ends of those.
func TestDepth(t *testing.T) {
	b := NewBuilder()
	track := b.ThreadTrack(b.Thread(0, 1, 1))
	for i := range maxDepth + 3 {
		b.Begin(track, int64(i), b.NameString("a"), 0)
	}
	for i := range maxDepth + 3 {
		b.End(track, 1000+int64(i), 0, 0)
	}
	tl := b.Finish()
	var loss SliceLoss
	s := tl.Slices(track, &loss)
	if len(s) != maxDepth || s[0].End != 1000+maxDepth+2 || loss != (SliceLoss{TooDeep: 3}) {
		t.Errorf("%d slices, the first ends at %d, %+v", len(s), s[0].End, loss)
	}
}

// drawStates writes what a thread did, one interval a line.
func drawStates(t *Timeline, id ThreadID) string {
	var b strings.Builder
	t.States(id, func(in *Interval) {
		end := "-"
		if in.End != Unended {
			end = fmt.Sprint(in.End)
		}
		fmt.Fprintf(&b, "%v %d %s", in.State, in.Start, end)
		if in.CPU >= 0 {
			fmt.Fprintf(&b, " cpu%d", in.CPU)
		}
		if in.IOWait {
			b.WriteString(" io")
		}
		if in.Function != 0 {
			fmt.Fprintf(&b, " in %s", t.Name(in.Function))
		}
		if in.Waker != 0 {
			fmt.Fprintf(&b, " by %d", t.Threads[in.Waker].TID)
		}
		if in.Interrupt {
			b.WriteString(" irq")
		}
		b.WriteByte('\n')
	})
	return b.String()
}

func TestStates(t *testing.T) {
	for _, test := range []struct {
		name   string
		feed   func(b *Builder, th func(int64) ThreadID)
		want   string // of thread 5
		counts SchedCounts
	}{
		{
			"blocked, woken, run", func(b *Builder, th func(int64) ThreadID) {
				b.Switch(0, 10, th(0), RawState(0), th(5))
				b.Switch(0, 20, th(5), RawState(1), th(6))
				b.Waking(0, 30, th(5), th(6), false)
				b.Switch(1, 35, th(0), RawState(0), th(5))
			},
			"Running 10 20 cpu0\nS 20 30\nR 30 35 by 6\nRunning 35 - cpu1\n",
			SchedCounts{Switches: 3, Wakings: 1},
		},
		{
			"compact", func(b *Builder, th func(int64) ThreadID) {
				b.CompactWaking(0, 5, th(5), false)
				b.CompactSwitch(0, 10, RawState(1), th(5))
				b.CompactSwitch(0, 20, RawState(1), th(6))
				b.CompactWaking(0, 30, th(5), true)
				b.CompactSwitch(0, 40, RawState(0), th(5))
			},
			"S 20 30\nR 30 40 by 6 irq\nRunning 40 - cpu0\n",
			SchedCounts{Switches: 3, Wakings: 2, Skipped: 2},
		},
		{
			"preempted is runnable, a waking of it nothing", func(b *Builder, th func(int64) ThreadID) {
				b.Kernel("6.1.75-android14")
				b.Switch(0, 10, th(0), RawState(0), th(5))
				b.Switch(0, 20, th(5), RawState(0x100), th(6))
				b.Waking(0, 30, th(5), th(6), false)
				b.Switch(0, 40, th(6), RawState(2), th(5))
			},
			"Running 10 20 cpu0\nR+ 20 40\nRunning 40 - cpu0\n",
			SchedCounts{Switches: 3, Wakings: 1, Spurious: 1},
		},
		{
			"reason after the waking, another CPU's file order", func(b *Builder, th func(int64) ThreadID) {
				b.Waking(1, 30, th(5), th(6), false)
				b.BlockedReason(1, 31, th(5), true, b.NameString("filemap_fault"))
				b.Switch(0, 10, th(0), RawState(0), th(5))
				b.Switch(0, 20, th(5), RawState(2), th(0))
				b.Switch(0, 40, th(0), RawState(0), th(5))
				b.BlockedReason(1, 41, th(5), true, b.NameString("late"))
			},
			"Running 10 20 cpu0\nD 20 30 io in filemap_fault\nR 30 40 by 6\nRunning 40 - cpu0\n",
			SchedCounts{Switches: 3, Wakings: 1},
		},
		{
			"lost switch", func(b *Builder, th func(int64) ThreadID) {
				b.Switch(0, 10, th(0), RawState(0), th(5))
				b.Switch(0, 20, th(5), RawState(1), th(0))
				b.Switch(1, 30, th(5), RawState(1), th(0))
				b.Switch(1, 50, th(0), RawState(0), th(5))
			},
			"Running 10 20 cpu0\nS 20 -\nS 30 50\nRunning 50 - cpu1\n",
			SchedCounts{Switches: 4, Lost: 1},
		},
		{
			"started", func(b *Builder, th func(int64) ThreadID) {
				b.NewTask(0, 5, th(5), th(6))
				b.Switch(0, 10, th(0), RawState(0), th(5))
				b.Switch(0, 20, th(5), RawState(0x40), th(0))
			},
			"R 5 10 by 6\nRunning 10 20 cpu0\nx 20 -\n",
			SchedCounts{Switches: 2},
		},
		{
			"states told", func(b *Builder, th func(int64) ThreadID) {
				b.ThreadState(2, 5, th(5), Runnable)
				b.ThreadState(2, 10, th(5), Running)
				b.ThreadState(2, 20, th(5), Sleeping)
			},
			"R 5 10\nRunning 10 20 cpu2\nS 20 -\n",
			SchedCounts{},
		},
	} {
		b := NewBuilder()
		th := func(tid int64) ThreadID { return b.Thread(0, Unknown, tid) }
		test.feed(b, th)
		id := th(5)
		tl := b.Finish()
		if diff := cmp.Diff(test.want, drawStates(tl, id)); diff != "" {
			t.Errorf("%s: states (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.counts, tl.Sched); diff != "" {
			t.Errorf("%s: counts (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestStateNumbers(t *testing.T) {
	for _, test := range []struct {
		kernel string
		raw    int64
		want   string
	}{
		{"6.6.30", 0, "R"},
		{"6.6.30", 1, "S"},
		{"6.6.30", 2, "D"},
		{"6.6.30", 0x40, "P"},
		{"6.6.30", 0x80, "I"},
		{"6.6.30", 0x100, "R+"},
		{"6.6.30", 0x200, "?"},
		{"4.14.1", 0x100, "R+"},
		{"4.13", 0x100, "W"},
		{"4.9.337-android", 0x1000, "R+"},
		{"4.9.337-android", 0x82, "DK"},
		{"4.4", 0x800, "R+"},
		{"4.4", 0x402, "I"},
		{"4.4", 0x1000, "R"},
		{"", 0x800, "R+"},
		{"linux", 0x800, "R+"},
	} {
		if got := RawState(test.raw).state(parseKernel(test.kernel)).String(); got != test.want {
			t.Errorf("%#x of kernel %q is %s, want %s", test.raw, test.kernel, got, test.want)
		}
	}
	for letters, want := range map[string]string{"R": "R", "R+": "R+", "S": "S", "D|K": "DK", "DK": "DK", "t": "t", "x": "x", "": "?", "Q": "?"} {
		if got := StateLetters(letters).state(0).String(); got != want {
			t.Errorf("%q is %s, want %s", letters, got, want)
		}
	}
}

func TestThreads(t *testing.T) {
	b := NewBuilder()
	early := b.Thread(0, Unknown, 7)
	b.NameThread(early, "comm", CommRank)
	if got := b.Thread(0, 5, 7); got != early {
		t.Errorf("the thread got another number with its process")
	}
	if got := b.Thread(0, 6, 7); got == early {
		t.Errorf("threads of two processes are one")
	}
	if got := b.Thread(1, 5, 7); got == early {
		t.Errorf("threads of two machines are one")
	}
	b.NameThread(early, "given", GivenRank)
	b.NameThread(early, "tree", TreeRank)
	main := b.Thread(0, 5, 5)
	b.NameProcess(b.Process(0, 5), "com.example", TreeRank)
	late := b.NewTrack(Track{})
	b.Begin(late, 20, b.NameString("b"), 0)
	b.Begin(b.ThreadTrack(early), 10, b.NameString("a"), 0)
	b.Place(late, Track{Thread: early})
	tl := b.Finish()
	if got := tl.Threads[early]; got.Name != "given" || got.Main || tl.Processes[got.Process].PID != 5 {
		t.Errorf("%+v", got)
	}
	if got := tl.Threads[main]; got.Name != "com.example" || !got.Main {
		t.Errorf("%+v", got)
	}
	if got, want := drawSlices(tl, tl.Threads[early].Track, nil), "a 10 -\n b 20 -\n"; got != want {
		t.Errorf("merged tracks have %q, want %q", got, want)
	}
	if tl.Start != 10 || tl.End != 20 {
		t.Errorf("the trace is from %d to %d", tl.Start, tl.End)
	}
}

func TestAtrace(t *testing.T) {
	b := NewBuilder()
	refused := 0
	for i, text := range []string{
		"B|10|outer|with bar\n", "B|10|", "E|10", "E\n\x00", "C|10|queue|3|category", "C|10|queue|5",
		"S|10|launch|1", "S|10|launch|1", "F|10|launch|1", "G|10|track|name|7", "H|10|track|7", "G|10|track|name|8", "H|10|track|name|8",
		"I|10|now", "N|10|track|mark", "", "hello", "B|x|name", "B", "C|10|queue|x", "S|10||1", "trace_event_clock_sync: parent_ts=1",
	} {
		if !b.Atrace(0, int64(i), 11, []byte(text)) {
			refused++
		}
	}
	if refused != 7 {
		t.Errorf("%d texts refused, want 7", refused)
	}
	tl := b.Finish()
	var got strings.Builder
	for i := range tl.Tracks {
		fmt.Fprintf(&got, "%s\n%s", tl.Tracks[i].Name, drawSlices(tl, TrackID(i), nil))
	}
	want := "\n\nouter|with bar 0 3\n [empty slice name] 1 2\nnow 13 13\nlaunch\nlaunch 6 8\ntrack\nname 9 10\nname 11 12\nmark 14 14\n"
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("tracks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]Counter{{Process: 1, Name: "queue", Values: 2, Min: 3, Max: 5, Last: 5, LastAt: 5}}, tl.Counters); diff != "" {
		t.Errorf("counters (-want +got):\n%s", diff)
	}
}

// TestThreadNamesakes checks that many processes may have a thread of one number.
func TestThreadNamesakes(t *testing.T) {
	b := NewBuilder()
	first := b.Thread(0, Unknown, 7)
	const n = 200_000
	ids := make([]ThreadID, n)
	for pid := range int64(n) {
		ids[pid] = b.Thread(0, pid, 7)
	}
	if ids[0] != first {
		t.Error("the thread without a process is not that of the first one")
	}
	for pid := range int64(n) {
		if id := b.Thread(0, pid, 7); id != ids[pid] || b.PIDOf(id) != pid {
			t.Fatalf("process %d has thread %d, had %d", pid, id, ids[pid])
		}
	}
	if last := b.Thread(0, Unknown, 7); last != ids[n-1] {
		t.Errorf("the thread without a process is %d, want the last, %d", last, ids[n-1])
	}
}
