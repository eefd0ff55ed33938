package jfr

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
)

// recording inflates one of the recordings in testdata. They are of a program with a thread that searches primes, one
// that joins strings, two that want one monitor and two that want one lock:
//
//	java -XX:StartFlightRecording=filename=jdk17.jfr,settings=profile Work
//	java -XX:StartFlightRecording=filename=jdk25.jfr,settings=profile,+jdk.CPUTimeSample#enabled=true Work
//	jfr scrub --include-events …
//	java -agentlib:asyncProfiler=start,event=cpu,wall=50ms,alloc=256k,lock=1ms,nativemem=100k,jfr,file=async.jfr Work
//	java -agentlib:asyncProfiler=start,event=ctimer,interval=5ms,jfr,file=async-cpu.jfr Work
//	java -agentpath:libasyncProfiler.so=start,event=ctimer,interval=20ms,wall=200ms,jfr,file=async-wall.jfr Work
//
// The last is of another program, with primes in one thread and a map in another.
func recording(t testing.TB, name string) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(ingesttest.ReadFile(t, filepath.Join("testdata", name+".jfr.gz"))))
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestEvents compares samples and sums with what jfr summary, jfr print and async-profiler's jfrconv --total say of the recordings.
func TestEvents(t *testing.T) {
	type event struct {
		Samples, Weight int64
		Unit            string
		Top             string // by self weight
	}
	for _, c := range []struct {
		name  string
		want  map[string]event
		lost  int64
		holds string
		tool  string
	}{
		{
			"jdk17", map[string]event{
				"alloc":     {155, 74554608, "bytes", "java.util.Arrays.copyOf"},
				"cpu":       {24, 24 * 10e6, "nanoseconds", "Work.slow"},
				"in-native": {9, 9 * 20e6, "nanoseconds", "sun.nio.ch.Net.poll"},
				"lock":      {27, 745975277, "nanoseconds", "Work.hold"},
				"park":      {31, 877224573, "nanoseconds", "jdk.internal.misc.Unsafe.park"},
			}, 0, "also 185 jdk.ThreadSleep", "JDK Flight Recorder",
		},
		{
			"jdk25", map[string]event{
				"alloc":     {304, 102256256, "bytes", "java.util.Arrays.copyOf"},
				"cpu":       {70, 710000000, "nanoseconds", "Work.slow"},
				"execution": {85, 85 * 10e6, "nanoseconds", "Work.slow"},
				"in-native": {15, 15 * 20e6, "nanoseconds", "sun.nio.ch.Net.poll"},
				"lock":      {25, 753995440, "nanoseconds", "Work.hold"},
				"park":      {34, 802652888, "nanoseconds", "jdk.internal.misc.Unsafe.park"},
			}, 3, "also 142 jdk.ThreadSleep", "JDK Flight Recorder",
		},
		{
			"async", map[string]event{
				"alloc":          {377, 98828288, "bytes", "java.util.Arrays.copyOf"},
				"cpu":            {88, 88 * 10e6, "nanoseconds", "__vdso_clock_gettime"},
				"lock":           {76, 398337730, "nanoseconds", "Work.hold"},
				"park":           {88, 850298408 - 398337730, "nanoseconds", "jdk.internal.misc.Unsafe.park"},
				"nativemem":      {128, 8277918, "bytes", "os::malloc"},
				"nativemem-live": {22, 613658, "bytes", "os::malloc"}, // --leak --tail 0
				"wall":           {865, 865 * 50e6, "nanoseconds", "__futex_abstimed_wait_common"},
			}, 0, "", "async-profiler 4.5",
		},
		{"async-wall", map[string]event{"cpu": {73, 73 * 20e6, "nanoseconds", "Work.primes"}, "wall": {457, 457 * 200e6, "nanoseconds", "__futex_abstimed_wait_common"}}, 0, "", "async-profiler 4.1"},
		{"async-cpu", map[string]event{"cpu": {81, 81 * 5e6, "nanoseconds", "__vdso_clock_gettime"}}, 0, "", "async-profiler 4.5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ingesttest.Read(t, Read, recording(t, c.name), &reading.Options{})
			got := make(map[string]event)
			for i := range r.Events {
				e := &r.Events[i]
				got[e.Name] = event{e.Samples, e.Weight, e.Unit, top(r, i)}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
			if r.Accounting.Lost != c.lost || r.Recording.Holds != c.holds || r.Recording.Tool != c.tool {
				t.Errorf("lost %d, holds %q, tool %q", r.Accounting.Lost, r.Recording.Holds, r.Recording.Tool)
			}
			if w := ingesttest.ReaderWarnings(r); len(w) > 0 {
				t.Errorf("warnings %q", w)
			}
		})
	}
}

// TestNotWalked has stacks of which async-profiler says that it could not walk them: 4 and 1 of 530, as jfr print tells.
func TestNotWalked(t *testing.T) {
	r := ingesttest.Read(t, Read, recording(t, "async-wall"), &reading.Options{})
	got := make(map[string]int64)
	for i := range r.Samples {
		for id := r.Samples[i].Stack; id != 0; id = r.Stacks.Parent(id) {
			for _, line := range r.Locations[r.Stacks.Location(id)].Lines {
				if f := &r.Functions[line.Function]; f.Unknown {
					got[f.Name] += r.Samples[i].Count
				}
			}
		}
	}
	if diff := cmp.Diff(map[string]int64{"unknown_Java": 4, "not_walkable_Java": 1}, got); diff != "" {
		t.Errorf("frames that are unknown (-want +got):\n%s", diff)
	}
}

// top is the function with the most self weight of an event.
func top(r *run.Run, event int) string {
	best := run.Row{Self: make([]run.Sum, len(r.Events))}
	for _, row := range r.Group(run.ByFunction) {
		if row.Self[event].Weight > best.Self[event].Weight {
			best = row
		}
	}
	return best.Name
}

// TestStacks looks at one stack of each recorder: names, lines, what was inlined into what, and who ran it.
func TestStacks(t *testing.T) {
	for _, c := range []struct{ name, function, want string }{
		{"jdk17", "Work.build", `strings
java.lang.Integer.getChars:516 [JIT]
java.lang.AbstractStringBuilder.append:831 [JIT]
java.lang.StringBuilder.append:253 < Work.build:8 [JIT]
Work.lambda$main$0:19 [JIT]
java.lang.Thread.run:840 [JIT]
`},
		{"async-cpu", "Work.build", `strings
__memset_evex_unaligned_erms:0 libc.so.6
ObjArrayAllocator::initialize:0 libjvm.so
MemAllocator::allocate:0 libjvm.so
TypeArrayKlass::allocate_common:0 libjvm.so
InterpreterRuntime::newarray:0 libjvm.so
java.util.Arrays.copyOf:3537 [JIT]
java.lang.AbstractStringBuilder.ensureCapacityInternal:228 [JIT]
java.lang.AbstractStringBuilder.append:829 [JIT]
java.lang.StringBuilder.append:253 < Work.build:8 [JIT]
Work.lambda$main$0:19 [JIT]
Work$$Lambda.run:0 [JIT]
java.lang.Thread.run:840 [JIT]
`},
	} {
		r := ingesttest.Read(t, Read, recording(t, c.name), &reading.Options{})
		var got string
		for i := range r.Samples {
			s := &r.Samples[i]
			text := describe(r, s)
			if strings.Contains(text, c.function) && r.Events[s.Event].Name == "cpu" {
				got = text
				break
			}
		}
		if got != c.want {
			t.Errorf("%s: got\n%s", c.name, got)
		}
	}
}

// describe writes a sample leaf first: a line for each location, with what was inlined there.
func describe(r *run.Run, s *run.Sample) string {
	var b strings.Builder
	fmt.Fprintln(&b, r.Labels[s.Labels].Thread)
	for _, at := range r.Stacks.Append(nil, s.Stack) {
		l := &r.Locations[at]
		for i, line := range l.Lines {
			if i > 0 {
				b.WriteString(" < ")
			}
			fmt.Fprintf(&b, "%s:%d", r.Functions[line.Function].Name, line.Line)
		}
		fmt.Fprintln(&b, "", r.Mappings[l.Mapping].File)
	}
	return b.String()
}

// TestTimeline keeps every sample on the CPU in the order of time, and every wait as a span.
func TestTimeline(t *testing.T) {
	r := ingesttest.Read(t, Read, recording(t, "async"), &reading.Options{Timeline: true})
	count := make(map[string]int64)
	last := int64(0)
	for _, s := range r.Timeline {
		count[r.Events[s.Event].Name]++
		if s.Time < last {
			t.Fatalf("%d stands behind %d", s.Time, last)
		}
		last = s.Time
	}
	for _, s := range r.Spans {
		count[r.Events[s.Event].Name]++
	}
	want := map[string]int64{"alloc": 377, "cpu": 88, "lock": 76, "nativemem": 128, "park": 88, "wall": 333}
	if d := cmp.Diff(want, count); d != "" {
		t.Errorf("samples with times (-want +got):\n%s", d)
	}
	if d := r.Recording.Duration; d < time.Second || d > 3*time.Second {
		t.Errorf("lasted %v", d)
	}
}

// TestLabels asks for the numbers of threads and of the process.
func TestLabels(t *testing.T) {
	r := ingesttest.Read(t, Read, recording(t, "jdk17"), &reading.Options{PID: true, TID: true})
	at := slices.IndexFunc(r.Labels, func(l run.Labels) bool { return l.Thread == "primes" })
	if at < 0 || r.Labels[at].PID <= 0 || r.Labels[at].TID <= r.Labels[at].PID {
		t.Errorf("labels %+v", r.Labels)
	}
}

// TestDamage reads recordings that lack something, and such as are to do harm.
func TestDamage(t *testing.T) {
	whole := recording(t, "async-cpu")
	change := func(change func(data []byte)) []byte {
		data := slices.Clone(whole)
		change(data)
		return data
	}
	put := func(at int, v uint64) []byte {
		return change(func(data []byte) { binary.BigEndian.PutUint64(data[at:], v) })
	}
	twice := append(slices.Clone(whole), whole...)
	for _, c := range []struct {
		name string
		data []byte
		opt  reading.Options
		want string // in the error or a warning
		ok   bool
	}{
		{"cut in the first chunk", whole[:len(whole)/2], reading.Options{}, "chunk 1 at 0x0 ends after ", false},
		{"nothing to keep", whole[:len(whole)/2], reading.Options{AllowTruncated: true}, "chunk 1 at 0x0 ends after ", false},
		{"cut in the second", twice[:len(twice)-9], reading.Options{}, "--allow-truncated reads the chunks before", false},
		{"cut in the second, allowed", twice[:len(twice)-9], reading.Options{AllowTruncated: true}, "the recording ends in chunk 2, which cannot be read", true},
		{"no size", put(8, 0), reading.Options{}, "was not finished: the program still records", false},
		{"open", append(change(func(data []byte) { data[64] = 1 }), "unread"...), reading.Options{}, "the recording was not finished", true},
		{"bytes behind", append(slices.Clone(whole), make([]byte, 100)...), reading.Options{}, "chunk 2 at ", false},
		{"JDK 8", change(func(data []byte) { data[5], data[7] = 0, 9 }), reading.Options{}, "has version 0.9 of the format, known are 1 and 2", false},
		{"not compressed", change(func(data []byte) { data[67] = 0 }), reading.Options{}, "integers that are not compressed", false},
		{"large", put(8, 1<<40), reading.Options{}, "says that it has 1099511627776 bytes", false},
		{"larger than it is", put(8, 1<<29), reading.Options{}, "ends after ", false},
		{"no clock", put(56, 0), reading.Options{}, "has a clock of 0 ticks a second", false},
		{"metadata beyond the end", put(24, 1<<30), reading.Options{}, "an event is said to be at 0x40000000", false},
		{"metadata in an event", put(24, headerSize+3), reading.Options{}, "of the chunk: ", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Read(ingesttest.Source(t, c.data), &c.opt)
			if (err == nil) != c.ok {
				t.Fatalf("error %v", err)
			}
			got := fmt.Sprint(err)
			if c.ok {
				ingesttest.CheckRun(t, r)
				got = strings.Join(r.Warnings, "\n")
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestChunks reads a recording of two chunks: all is there twice.
func TestChunks(t *testing.T) {
	one := recording(t, "async-cpu")
	r := ingesttest.Read(t, Read, append(slices.Clone(one), one...), &reading.Options{})
	if e := r.Events[0]; e.Samples != 2*81 || e.Weight != 2*81*5e6 {
		t.Errorf("%d samples that weigh %d", e.Samples, e.Weight)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"async-cpu", "jdk17"} {
		f.Add(recording(f, name))
	}
	f.Add([]byte(magic + "\x00\x02\x00\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		ingesttest.Fuzz(t, Read, data, &reading.Options{Timeline: len(data)%2 == 0, AllowTruncated: len(data)%3 == 0})
	})
}
