package perfetto_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
)

// message starts a message.
func message() *perfettotest.Message { return new(perfettotest.Message) }

// drain reads all of a trace.
func drain(t testing.TB, made *perfettotest.Trace) *perfetto.Trace {
	t.Helper()
	trace, err := open(t, made.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for p := range trace.Packets() {
		if p.Kind == perfetto.FtraceEvents {
			if _, err := p.Bundle(); err != nil {
				p.Damaged(err)
			}
		}
	}
	if trace.Err() != nil {
		t.Fatal(trace.Err())
	}
	return trace
}

// TestGaps has the figures of the public trace processor's tests of lost packets
// (diff_tests, tests_traced_stats.py): what the first packet of a sequence says is no loss.
func TestGaps(t *testing.T) {
	packet := func(made *perfettotest.Trace, sequence, reasons uint64) {
		m := message().Uint(10, sequence)
		if reasons != 0 {
			m.Uint(42, reasons)
		}
		made.Packet(m)
	}
	for _, test := range []struct {
		name    string
		packets [][2]uint64 // sequence, reasons
		want    map[string]int64
	}{
		{"first packets", [][2]uint64{{2, 1}, {2, 0}, {2, 0}, {3, 1}, {3, 1}, {3, 0}, {4, 1}, {4, 1}, {4, 0}, {5, 1}, {5, 1}, {5, 0}}, map[string]int64{"cause not told": 3}},
		{"bits", [][2]uint64{{2, 0}, {2, 3}, {2, 65}, {3, 0}, {3, 1}}, map[string]int64{"gap while reading": 1, "overwritten": 1, "cause not told": 1}},
		{"causes", [][2]uint64{{2, 0}, {2, 3}, {2, 65}, {2, 27}, {2, 5}, {2, 33}, {2, 129}, {2, 257}, {2, 1}}, map[string]int64{
			"corrupted chunk": 1, "continuation without a start": 1, "overwritten": 1, "gap while reading": 2,
			"broken chain of chunks": 1, "gap within a packet": 1, "shared memory full": 1, "writer gave up": 1, "cause not told": 1,
		}},
	} {
		var made perfettotest.Trace
		for _, p := range test.packets {
			packet(&made, p[0], p[1])
		}
		if d := cmp.Diff(test.want, drain(t, &made).Losses.Gaps); d != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, d)
		}
	}
}

// TestSkipped has those of packets whose state is not known.
func TestSkipped(t *testing.T) {
	var made perfettotest.Trace
	for _, p := range [][2]uint64{{2, 1}, {2, 2}, {2, 2}, {3, 2}, {3, 2}, {4, 2}} {
		made.Packet(message().Uint(10, p[0]).Uint(13, p[1]))
	}
	l := drain(t, &made).Losses
	if l.Skipped != 3 || l.Sequences != 2 {
		t.Errorf("%d packets skipped, %d sequences, want 3 and 2", l.Skipped, l.Sequences)
	}
}

// TestLosses has a loss of each kind, and says each in a line.
func TestLosses(t *testing.T) {
	var made perfettotest.Trace
	s := made.Sequence(1)
	s.Begin(1, 1, "", "a")
	stats := func(phase uint64, overrun, commit, dropped, misses uint64) {
		cpu := message().Uint(1, 0).Uint(3, overrun).Uint(4, commit).Uint(8, dropped)
		m := message().Uint(1, phase).Message(2, cpu).Message(10, message().Uint(2, misses))
		made.Packet(message().Message(int(perfetto.FtraceStats), m))
	}
	stats(1, 100, 10, 1, 7)
	stats(2, 150, 12, 4, 8)
	for range 2 { // the later statistics are the whole
		buffer := message().Uint(3, 5).Uint(6, 2).Uint(9, 1).Uint(18, 3).Uint(19, 4).Uint(1, 99)
		made.Packet(message().Message(int(perfetto.TraceStats), message().Message(1, buffer).Message(1, buffer).Uint(10, 6).Uint(14, 1)))
	}
	s.Bundle(1).Lost().Done()
	made.Packet(message().Message(int(perfetto.FtraceEvents), message().Uint(1, 0).Message(8, message().Uint(1, 1))))
	made.Packet(message().Message(int(perfetto.FtraceEvents), message().Uint(3, 1)))
	s.Snapshot(0, perfettotest.Clock{ID: perfetto.BootTime, Time: 5})
	s.Clock(perfetto.RealTime).Begin(5, 1, "", "b")
	s.Lose(64)
	got := drain(t, &made).Losses.Lines()
	want := []string{
		"packets that cannot be decoded, left out: 1; the first: bundle at 0xae: does not say of which CPU",
		"chunks overwritten in the recorder's buffers: 10; the trace begins later than the recording, or has gaps",
		"chunks discarded because the recorder's buffers were full: 6",
		"packets lost by their writers because shared memory was full: 8",
		"packets left incomplete because what was to be added came too late: 4",
		"chunks that broke the rules of the recorder's shared memory: 2",
		"packets that were invalid when the recorder read them: 6",
		"flushes that failed: 1; packets of some writers may be missing",
		"gaps between packets of a writer: 1; overwritten: 1",
		"packets skipped because what they refer to was lost before them: 1",
		"times that events of the kernel were overwritten before they were read: 1; how many is not known",
		"events overwritten in the kernel's buffers: 50",
		"events lost in the kernel while an interrupt wrote (commit overrun): 2",
		"events dropped by the kernel because its buffers were full: 3",
		"pieces of the kernel's buffers that the recorder could not decode: 1",
		"hits of probes that the kernel missed: 1",
		"times on clock 1, which no snapshot relates to that of the trace: 1; what happened then is left out",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestLastFlush has traces whose last flush failed, after others or alone as in Chromium's.
func TestLastFlush(t *testing.T) {
	for succeeded, want := range map[uint64][]string{
		0: nil,
		3: {"the flush at the end of the recording failed; the last packets of some writers are missing"},
	} {
		var made perfettotest.Trace
		made.Packet(message().Message(int(perfetto.TraceStats), message().Uint(12, succeeded).Uint(13, succeeded).Uint(15, 2)))
		if d := cmp.Diff(want, drain(t, &made).Losses.Lines()); d != "" {
			t.Errorf("%d flushes before: %s", succeeded, d)
		}
	}
}
