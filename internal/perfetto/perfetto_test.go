package perfetto_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
)

// open opens a trace.
func open(t testing.TB, data []byte) (*perfetto.Trace, error) {
	t.Helper()
	src, err := input.New("trace", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = src.Close() })
	return perfetto.Open(src, perfetto.Options{})
}

// packets lists the packets of a trace, a line each, with what they refer to.
func packets(t testing.TB, data []byte) ([]string, *perfetto.Trace) {
	t.Helper()
	trace, err := open(t, data)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for p := range trace.Packets() {
		at := "-"
		if p.Timed {
			at = fmt.Sprint(p.Time)
		}
		words := []string{fmt.Sprint(p.SequenceID), at, p.Kind.String()}
		if p.Kind == perfetto.TrackEvent {
			for f := p.Message(); f.Next(); {
				switch f.Num {
				case 10:
					words = append(words, string(p.Sequence.Interned(perfetto.EventNames, f.Uint()).String()))
				default:
					f.Skip()
				}
			}
		}
		list = append(list, strings.TrimSpace(strings.Join(words, " ")))
	}
	if trace.Err() != nil {
		t.Error(trace.Err())
	}
	return list, trace
}

// TestForms reads the same packets as they are and compressed.
func TestForms(t *testing.T) {
	build := func(compress func(*perfettotest.Trace)) []byte {
		var made perfettotest.Trace
		s := made.Sequence(3)
		s.Begin(10, 1, "c", "a")
		s.Begin(20, 1, "c", "b")
		s.End(30, 1)
		made.Packet(new(perfettotest.Message)) // empty packets are legal
		compress(&made)
		return made.Bytes()
	}
	want := []string{"3 10 track event a", "3 20 track event b", "3 30 track event"}
	for name, compress := range map[string]func(*perfettotest.Trace){
		"plain": func(*perfettotest.Trace) {}, "zlib": (*perfettotest.Trace).Zlib, "zstd": (*perfettotest.Trace).Zstd,
	} {
		data := build(compress)
		got, trace := packets(t, data)
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", name, d)
		}
		if lines := trace.Losses.Lines(); len(lines) > 0 {
			t.Errorf("%s: %q", name, lines)
		}
		if !perfetto.Recognise(input.Head(data)).Is {
			t.Errorf("%s: not recognised", name)
		}
	}
	// One level only.
	data := build(func(t *perfettotest.Trace) { t.Zlib(); t.Zstd() })
	if got, trace := packets(t, data); len(got) != 0 || trace.Losses.Damaged != 1 {
		t.Errorf("twice: %q, %+v", got, trace.Losses)
	}
}

// TestSequence has what was interned, and is lost, on two sequences.
func TestSequence(t *testing.T) {
	var made perfettotest.Trace
	a, b := made.Sequence(1), made.Sequence(2)
	a.Begin(1, 1, "", "one")
	b.Begin(2, 1, "", "two")
	a.Begin(3, 1, "", "one")
	a.Lose(64)
	a.Begin(4, 1, "", "one") // skipped
	a.Clear()
	a.Begin(5, 1, "", "three")
	b.Begin(6, 1, "", "two")
	got, trace := packets(t, made.Bytes())
	want := []string{"1 1 track event one", "2 2 track event two", "1 3 track event one", "1 5 track event three", "2 6 track event two"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	wantLines := []string{
		"gaps between packets of a writer: 1; overwritten: 1",
		"packets skipped because what they refer to was lost before them: 2",
	}
	if d := cmp.Diff(wantLines, trace.Losses.Lines()); d != "" {
		t.Error(d)
	}
}

// TestClocks converts times of clocks with other units, of increments, and before and behind
// snapshots.
func TestClocks(t *testing.T) {
	var made perfettotest.Trace
	early := made.Sequence(5).Clock(perfetto.Monotonic)
	early.Begin(1500, 1, "", "before the snapshot in the file")
	s := made.Sequence(1)
	s.Snapshot(perfetto.BootTime,
		perfettotest.Clock{ID: perfetto.BootTime, Time: 1_000_000},
		perfettotest.Clock{ID: perfetto.Monotonic, Time: 1000},
		perfettotest.Clock{ID: 64, Time: 1, Unit: 1000, Incremental: true})
	s.Clock(64)
	s.Begin(1, 1, "", "µs")
	s.Begin(2, 1, "", "µs later")
	s.Snapshot(0,
		perfettotest.Clock{ID: perfetto.BootTime, Time: 9_000_000},
		perfettotest.Clock{ID: perfetto.Monotonic, Time: 2000})
	s.Clock(perfetto.Monotonic)
	s.Begin(500, 1, "", "before the first")
	s.Begin(1999, 1, "", "before the second")
	s.Begin(2001, 1, "", "behind the second")
	s.Clock(perfetto.RealTime)
	s.Begin(77, 1, "", "on a clock without a snapshot")
	s.Clock(0)
	s.Begin(78, 1, "", "as it is")
	want := []string{
		"5 1000500 track event before the snapshot in the file",
		"1 - clock snapshot",
		"1 1001000 track event µs",
		"1 1003000 track event µs later",
		"1 - clock snapshot",
		"1 999500 track event before the first",
		"1 1000999 track event before the second",
		"1 9000001 track event behind the second",
		"1 78 track event as it is",
	}
	got, trace := packets(t, made.Bytes())
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if n := trace.Losses.Unconverted[perfetto.RealTime]; n != 1 {
		t.Errorf("%d times unconverted, want 1", n)
	}
}

// TestBundle reads all that bundles have.
func TestBundle(t *testing.T) {
	var made perfettotest.Trace
	s := made.Sequence(1)
	idle, app := perfettotest.Task{Comm: "swapper/2", Prio: 120}, perfettotest.Task{PID: 42, Prio: 110, Comm: "app"}
	s.Bundle(2).Switch(100, idle, 0, app).Print(110, 42, "B|42|work\n").Waking(120, 42, 0x10, app, 3).
		Blocked(130, 0, 42, "wait_on_page", true).
		CompactSwitch(200, 1, idle).CompactSwitch(250, 0, app).CompactWaking(240, 0, app, 2).Lost().Done()
	trace, err := open(t, made.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for p := range trace.Packets() {
		b, err := p.Bundle()
		if err != nil {
			t.Fatal(err)
		}
		for e := range b.Events() {
			m := e.Message()
			got = append(got, fmt.Sprintf("CPU %d: %d pid %d flags %#x kind %d: %d bytes", b.CPU, e.Time, e.PID, e.Flags, e.Kind, len(m.Data())))
			if e.Kind == perfetto.SchedBlockedReason {
				for m.Next() {
					if v := m.Uint(); m.Num == 2 {
						got = append(got, string(p.Sequence.Interned(perfetto.KernelSymbols, v).String()))
					}
				}
			}
		}
		for s := range b.Switches() {
			got = append(got, fmt.Sprintf("%d state %d to %d %s prio %d", s.Time, s.PrevState, s.NextPID, s.NextComm, s.NextPrio))
		}
		for w := range b.Wakings() {
			got = append(got, fmt.Sprintf("%d waking %d %s CPU %d flags %d %t", w.Time, w.PID, w.Comm, w.TargetCPU, w.Flags, w.FlagsKnown))
		}
	}
	want := []string{
		"CPU 2: 100 pid 0 flags 0x0 kind 4: 26 bytes",
		"CPU 2: 110 pid 42 flags 0x0 kind 3: 12 bytes",
		"CPU 2: 120 pid 42 flags 0x10 kind 20: 13 bytes",
		"CPU 2: 130 pid 0 flags 0x0 kind 18: 6 bytes", "wait_on_page",
		"200 state 1 to 0 swapper/2 prio 120",
		"250 state 0 to 42 app prio 110",
		"240 waking 42 app CPU 2 flags 0 true",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if trace.Losses.Kernel.Bundles != 1 {
		t.Errorf("%+v", trace.Losses.Kernel)
	}
}

// TestTruncated reads what there is of a trace that was cut anywhere.
func TestTruncated(t *testing.T) {
	var made perfettotest.Trace
	s := made.Sequence(1)
	var ends []int
	for i := range 5 {
		s.Begin(uint64(i+1), 1, "", "slice")
		ends = append(ends, len(made.Bytes()))
	}
	data := made.Bytes()
	for n := range len(data) {
		got, trace := packets(t, data[:n])
		whole := 0
		for _, end := range ends {
			if end <= n {
				whole++
			}
		}
		if len(got) != whole || trace.Losses.Truncated != (n > 0 && (whole == 0 || ends[whole-1] != n)) {
			t.Errorf("%d bytes: %d packets, want %d; cut: %t", n, len(got), whole, trace.Losses.Truncated)
		}
	}
}

// TestBroken reads what stands before a place behind which no packet can be found, if that was asked for.
func TestBroken(t *testing.T) {
	var made perfettotest.Trace
	s := made.Sequence(1)
	for i := range 3 {
		s.Begin(uint64(i+1), 1, "", "slice")
	}
	good := made.Bytes()
	for _, test := range []struct {
		name  string
		data  []byte
		allow bool
		err   string
		read  int
	}{
		{"not asked for", append(good, 0x07, 1, 2), false, "--allow-truncated reads what stands before", 0},
		{"asked for", append(good, 0x07, 1, 2), true, "", 3},
		{"nothing before", []byte{0x07, 1, 2}, true, "no packet can be found behind that", 0},
	} {
		src, err := input.New("trace", bytes.NewReader(test.data))
		if err != nil {
			t.Fatal(err)
		}
		trace, err := perfetto.Open(src, perfetto.Options{AllowTruncated: test.allow})
		if test.err != "" {
			if err == nil || !strings.HasSuffix(err.Error(), test.err) {
				t.Errorf("%s: %v, want %q at the end", test.name, err, test.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		n := 0
		for range trace.Packets() {
			n++
		}
		if lines := trace.Losses.Lines(); n != test.read || trace.Err() != nil || trace.Losses.Broken == nil || len(lines) != 1 || !strings.HasSuffix(lines[0], "what stands before it was read") {
			t.Errorf("%s: %d packets, %v, %q", test.name, n, trace.Err(), lines)
		}
	}
}
