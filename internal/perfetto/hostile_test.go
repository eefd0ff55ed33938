package perfetto_test

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
)

// walk reads all that the package decodes of a trace.
func walk(trace *perfetto.Trace) error {
	for p := range trace.Packets() {
		switch p.Kind {
		case perfetto.TrackEvent:
			for f := p.Message(); f.Next(); {
				if f.Num == 10 && f.Type == 0 {
					p.Sequence.Interned(perfetto.EventNames, f.Uint()).String()
					continue
				}
				f.Skip()
			}
		case perfetto.FtraceEvents:
			b, err := p.Bundle()
			if err != nil {
				p.Damaged(err)
				continue
			}
			for e := range b.Events() {
				for m := e.Message(); m.Next(); {
					m.Skip()
				}
			}
			for range b.Switches() {
			}
			for range b.Wakings() {
			}
		case perfetto.StreamingProfile:
			p.Convert(perfetto.Monotonic, 1)
		}
	}
	trace.RealTime(0)
	trace.Losses.Lines()
	return trace.Err()
}

// TestHostile has traces that claim more than they have, or have more of something than any
// real one. Reading them takes memory in proportion to their size.
func TestHostile(t *testing.T) {
	lengthOf := func(n uint64) []byte { return protowire.AppendVarint([]byte{0x0a}, n) }
	made := func(build func(*perfettotest.Trace)) []byte {
		var made perfettotest.Trace
		build(&made)
		return made.Bytes()
	}
	bundle := func(fields ...*perfettotest.Message) []byte {
		return made(func(made *perfettotest.Trace) {
			for _, m := range fields {
				made.Packet(message().Message(int(perfetto.FtraceEvents), m))
			}
		})
	}
	for _, test := range []struct {
		name string
		data []byte
		want string // the error, or a line of the losses
	}{
		{"length", lengthOf(1 << 62), "field 1 at 0xa: packet of 4611686018427387904 bytes: more than 67108864 are damage"},
		{"length beyond numbers", lengthOf(math.MaxUint64), "field 1 at 0xb: has 18446744073709551615 bytes, the input may have 9223372036854775807"},
		{"nothing behind a length", lengthOf(60 << 20), "the trace ends within a packet; what stands before it was read"},
		{"no fields", []byte("\x0a\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), "variable length integer overflow"},
		{"group", []byte("\x0a\x00\x0b"), "field 1 at 0x3: wrong wire type 3"},
		{"packet", []byte("\x0a\x02\x40\xff"), "packets that cannot be decoded, left out: 1; the first: field 8 at 0x3: unexpected EOF"},
		{"inflates", made(func(made *perfettotest.Trace) {
			for range 12 {
				made.Packet(message().String(36, strings.Repeat("\x00", 12<<20)))
			}
			made.Zlib()
		}), "zlib: decompresses to more than 200 times its size"},
		{"inflates in one packet", made(func(made *perfettotest.Trace) {
			made.Packet(message().String(36, strings.Repeat("\x00", 17<<20)))
			made.Zlib()
		}), "packet of 17825798 bytes: more than 16777216 are damage"},
		{"compressed many times", made(func(made *perfettotest.Trace) {
			made.Sequence(1).Begin(1, 1, "", "a")
			for range 50 {
				made.Zlib()
			}
		}), "packets that cannot be decoded, left out: 1; the first: in the compressed packet at 0x"},
		{"compressed badly", made(func(made *perfettotest.Trace) { made.Packet(message().String(50, "nonsense")) }), "the first: in the compressed packet at 0x2: zlib: invalid header"},
		{"not compressed by zstd", made(func(made *perfettotest.Trace) { made.Packet(message().String(133, "nonsense")) }), "the first: in the compressed packet at 0x2: zstd: "},
		{"sequences", made(func(made *perfettotest.Trace) {
			for i := range 300_000 {
				made.Packet(message().Uint(10, uint64(i)))
			}
		}), "has more than 262144 sequences"},
		{"clocks", made(func(made *perfettotest.Trace) {
			s := made.Sequence(1)
			for i := range 100 {
				s.Snapshot(0, make([]perfettotest.Clock, i)...)
			}
		}), "a snapshot has more than 64 clocks"},
		{"CPU", bundle(message().Uint(1, 1<<32-1)), "bundle at 0x2: CPU 4294967295, more than 1024 are damage"},
		{"clock of a bundle", bundle(message().Uint(1, 1).Uint(5, 77)), "bundle at 0x2: unknown clock 77"},
		{"columns", bundle(
			message().Uint(1, 1).Message(4, message().String(5, "a").Packed(1, 1, 2).Packed(2, 1).Packed(3, 1).Packed(4, 1).Packed(6, 0)),
			message().Uint(1, 1).Message(4, message().Packed(1, 1).Packed(2, 1).Packed(3, 1).Packed(4, 1).Packed(6, 1<<40)),
		), "bundles whose columns of switches or wakings differ in length: 2"},
		{"names", bundle(message().Uint(1, 1).Message(4, func() *perfettotest.Message {
			m := message()
			for range 1 << 17 {
				m.String(5, "")
			}
			return m
		}())), "bundle at 0x4: more than 65536 names"},
		{"interned numbers", made(func(made *perfettotest.Trace) {
			m := message()
			for i := range 100_000 {
				m.Message(2, message().Uint(1, 1<<63+uint64(i)))
			}
			made.Packet(message().Uint(10, 1).Uint(13, 1).Message(12, m))
		}), ""},
		{"interned by a wrong type", made(func(made *perfettotest.Trace) {
			made.Packet(message().Uint(10, 1).Uint(13, 1).Message(12, message().Uint(2, 1).Message(2, message().String(1, "x"))))
		}), "the first: field 1 at 0xd: wrong wire type 2"},
	} {
		data := test.data
		test.data = nil
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		src, err := input.New(test.name, strings.NewReader(string(data)))
		if err != nil {
			t.Fatal(err)
		}
		trace, err := perfetto.Open(src, perfetto.Options{})
		var lines []string
		if err == nil {
			err = walk(trace)
			lines = trace.Losses.Lines()
		}
		if err != nil {
			lines = append(lines, err.Error())
		}
		if text := strings.Join(lines, "\n"); !strings.Contains(text, test.want) || test.want == "" && text != "" {
			t.Errorf("%s: %q, want %q", test.name, lines, test.want)
		}
		runtime.ReadMemStats(&after)
		// All that was allocated is more than what was in use at a time. The race detector, with which short
		// tests run at night, has pools drop what they hold.
		if all := after.TotalAlloc - before.TotalAlloc; all > 2*uint64(len(data))+80<<20 && !testing.Short() {
			t.Errorf("%s: allocated %d bytes for %d", test.name, all, len(data))
		}
	}
}

// FuzzRead reads damaged traces: without a panic, and the same each time.
func FuzzRead(f *testing.F) {
	for _, compress := range []func(*perfettotest.Trace){func(*perfettotest.Trace) {}, (*perfettotest.Trace).Zlib, (*perfettotest.Trace).Zstd} {
		made := everything()
		compress(made)
		f.Add(made.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		perfetto.Recognise(input.Head(data))
		var losses [2]string
		for i := range losses {
			src, err := input.New("fuzz", strings.NewReader(string(data)))
			if err != nil {
				return
			}
			trace, err := perfetto.Open(src, perfetto.Options{Describe: func(p *perfetto.Packet) { p.Message() }})
			if err == nil {
				err = walk(trace)
				losses[i] = strings.Join(trace.Losses.Lines(), "\n")
			}
			if err != nil {
				losses[i] += err.Error()
			}
			if err := src.Close(); err != nil {
				t.Error(err)
			}
		}
		if losses[0] != losses[1] {
			t.Errorf("first %q, then %q", losses[0], losses[1])
		}
	})
}

// everything is a trace with a packet of each kind that the builder has.
func everything() *perfettotest.Trace {
	made := new(perfettotest.Trace)
	s := made.Sequence(1)
	s.System("6.1.0", 34)
	s.Packages([]string{"com.example"}, []int{10001})
	s.Snapshot(perfetto.BootTime,
		perfettotest.Clock{ID: perfetto.BootTime, Time: 1000}, perfettotest.Clock{ID: perfetto.Monotonic, Time: 900},
		perfettotest.Clock{ID: perfetto.RealTime, Time: 1_700_000_000_000_000_000},
		perfettotest.Clock{ID: 64, Time: 1, Unit: 1000, Incremental: true})
	s.Processes(1000, perfettotest.Process{PID: 42, Parent: 1, Name: "com.example", Threads: []perfettotest.Thread{{TID: 43, Name: "worker"}}})
	s.ProcessTrack(1, 42, "com.example")
	s.ThreadTrack(2, 1, 42, 43, "worker")
	s.Track(3, 1, "async")
	s.CounterTrack(4, 2, "time", 1, 1000, true)
	s.Clock(64)
	s.Begin(1, 2, "c", "outer")
	s.Begin(1, 2, "c", "inner")
	s.Instant(1, 3, "c", "now")
	s.Counter(1, 4, -5)
	s.End(1, 2)
	s.End(1, 2)
	s.Clock(0)
	idle, app := perfettotest.Task{Comm: "swapper/0", Prio: 120}, perfettotest.Task{PID: 43, Prio: 110, Comm: "worker"}
	s.Bundle(0).Switch(2000, idle, 0, app).Print(2100, 43, "B|42|work\n").Print(2200, 43, "E|42\n").
		Waking(2300, 43, 0x10, app, 1).Blocked(2400, 0, 43, "futex_wait", false).
		CompactSwitch(2500, 1, idle).CompactSwitch(2600, 0, app).CompactWaking(2550, 0, app, 0).Done()
	s.Bundle(1).Clock(3, 500, 3000).Print(510, 43, "C|42|n|5\n").Lost().Done()
	p := made.Sequence(2).Clock(perfetto.Monotonic)
	p.PerfDefaults(perfetto.Monotonic, 10, 0, 4000)
	stack := p.Stack(perfettotest.Frame{Function: "main", Mapping: "/bin/app", BuildID: "\xab\xcd", RelPC: 0x10, End: 0x1000}, perfettotest.Frame{Function: "f"})
	var notInScope uint64 = 4
	p.Perf(3000, perfettotest.Sample{CPU: 0, PID: 42, TID: 43, Mode: 2, Stack: stack, Count: 1000, Followers: []uint64{7}})
	p.Perf(3100, perfettotest.Sample{CPU: 0, PID: 42, TID: 43, Lost: 3})
	p.Perf(3200, perfettotest.Sample{CPU: 1, Skipped: &notInScope})
	p.Streaming([]uint64{stack, stack}, []int64{10, 20})
	p.Frame(4000, 4500, perfettotest.SurfaceFrame{Cookie: 1, Token: 2, DisplayToken: 3, PID: 42, Layer: "window", Present: 2, Jank: 64})
	p.ExpectedFrame(4000, 4400, perfettotest.SurfaceFrame{Cookie: 2, Token: 2, DisplayToken: 3, PID: 42, Layer: "window"})
	made.Sequence(3).Machine(7).Instant(5000, 9, "", "elsewhere")
	p.Lose(64)
	return made
}
