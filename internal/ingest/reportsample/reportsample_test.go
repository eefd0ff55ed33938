package reportsample

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/pprof"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
)

// TestReportSampleRecordings compares reports with what simpleperf itself says of
// their stacks.
func TestReportSampleRecordings(t *testing.T) {
	for _, tt := range []struct{ file, event string }{
		{"aggregatable_perf1.data", "cpu-cycles"},
		{"perf_display_bitmaps.data", "cpu-clock"},
		{"wrong_ip_callchain_perf.data", "cpu-cycles"},
		{"perf_with_two_event_types.data", "cpu-cycles"},
		{"perf_with_two_event_types.data", "cpu-clock"},
		{"perf_need_proguard_mapping.data", "cpu-cycles"},
		{"perf_with_multiple_pids_and_tids.data", "cpu-cycles"},
		{"perf_with_long_callchain.data", "cpu-cycles"},
		{"perf_with_interpreter_frames.data", "cpu-cycles"},
		{"perf.data", "cpu-cycles"},
	} {
		t.Run(tt.file+"/"+tt.event, func(t *testing.T) {
			path := ingesttest.Recording(t, "simpleperf/"+tt.file)
			want := ingesttest.Oracle(t, "oracles/"+tt.file+"."+tt.event+".folded.tsv")
			for _, f := range []struct {
				name string
				read reading.Reader
				args []string
			}{
				{"protobuf", Read, []string{"--protobuf"}},
				{"text", ReadText, nil},
			} {
				t.Run(f.name, func(t *testing.T) {
					data := reportSampleOf(t, path, append(f.args, "--remove-gaps", "0")...)
					r := ingesttest.Read(t, f.read, data, &reading.Options{})
					if d := ingesttest.DiffSums(ingesttest.Sums(t, r, tt.event), want); d != "" {
						t.Error(d)
					}
				})
			}
		})
	}
}

func TestReportSampleFile(t *testing.T) {
	data := ingesttest.ReadFile(t, ingesttest.Recording(t, "simpleperf/display_bitmaps.proto_data"))
	r := ingesttest.Read(t, Read, data, &reading.Options{})
	if d := ingesttest.DiffSums(ingesttest.Sums(t, r, "cpu-clock"), ingesttest.Oracle(t, "oracles/perf_display_bitmaps.data.cpu-clock.folded.tsv")); d != "" {
		t.Error(d)
	}
	want := run.Recording{
		Format: "report-sample", Tool: "simpleperf", App: "com.example.android.displayingbitmaps",
		Duration: 134424700 * time.Nanosecond, FirstSample: 684943449406175, LastSample: 684943583830875,
	}
	if d := cmp.Diff(want, r.Recording); d != "" {
		t.Errorf("recording (-want +got):\n%s", d)
	}
	if len(ingesttest.ReaderWarnings(r)) > 0 {
		t.Errorf("warnings %q", r.Warnings)
	}
	for _, l := range r.Labels[1:] {
		if l.Process != "com.example.android.displayingbitmaps" || l.Thread == "" || l.TID != -1 {
			t.Errorf("labels %+v", l)
		}
	}
}

// TestReportSampleThreads checks that threads with equal names are told apart, in the
// six of which a program spent about the same time.
func TestReportSampleThreads(t *testing.T) {
	path := ingesttest.Recording(t, "simpleperf/perf_with_multiple_pids_and_tids.data")
	want := make(map[int64]int64)
	for line := range strings.Lines(string(ingesttest.ReadFile(t, ingesttest.Recording(t, "oracles/perf_with_multiple_pids_and_tids.data.cpu-cycles.thread.tsv")))) {
		var tid, weight, count int64
		if _, err := fmt.Sscanf(line, "t1/%d\t%d\t%d", &tid, &weight, &count); err != nil {
			t.Fatal(err)
		}
		want[tid] = weight
	}
	r := ingesttest.Read(t, Read, reportSampleOf(t, path, "--protobuf", "--remove-gaps", "0"), &reading.Options{TID: true, PID: true})
	got := make(map[int64]int64)
	for _, s := range r.Samples {
		got[r.Labels[s.Labels].TID] += s.Weight
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("weight by thread (-want +got):\n%s", d)
	}
	for tid, w := range got {
		if share := float64(w) / float64(r.Events[0].Weight); math.Abs(share-1.0/6) > 0.01 {
			t.Errorf("thread %d has %.1f %%", tid, 100*share)
		}
	}
	if n := len(ingesttest.Read(t, Read, reportSampleOf(t, path, "--protobuf"), &reading.Options{}).Labels); n != 2 {
		t.Errorf("without ids there are %d labels, want that of t1", n-1)
	}
}

// TestReportSampleOffCPU checks the time on and off the CPU against what
// simpleperf's report library makes of the recording.
func TestReportSampleOffCPU(t *testing.T) {
	path := ingesttest.Recording(t, "simpleperf/perf_with_trace_offcpu_v2.data")
	for _, f := range []struct {
		name string
		read reading.Reader
		args []string
	}{
		{"protobuf", Read, []string{"--protobuf"}},
		{"text", ReadText, nil},
	} {
		t.Run(f.name, func(t *testing.T) {
			r := ingesttest.Read(t, f.read, reportSampleOf(t, path, append(f.args, "--remove-gaps", "0")...), &reading.Options{Waits: true})
			want := map[string][2]int64{
				"cpu-clock:u": {52000000, 208}, "sched:sched_switch": {96, 96},
				"on-cpu": {52000000, 208}, "off-cpu": {344124304, 91},
			}
			got := make(map[string][2]int64)
			for _, e := range r.Events {
				got[e.Name] = [2]int64{e.Weight, e.Samples}
				if derived := e.Name == "on-cpu" || e.Name == "off-cpu"; e.Derived != derived {
					t.Errorf("event %s: derived is %v", e.Name, e.Derived)
				}
				if e.Derived && e.Unit != "nanoseconds" {
					t.Errorf("event %s: unit is %s", e.Name, e.Unit)
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("weight and samples by event (-want +got):\n%s", d)
			}
			if r.Accounting.In != 304 || r.Accounting.Out != 304 {
				t.Errorf("accounting: %s", &r.Accounting)
			}
			var sum [2]int64
			for _, w := range r.Waits {
				sum[0] += w.End - w.Start
				sum[1]++
			}
			if sum != got["off-cpu"] {
				t.Errorf("waits: %v, but off the CPU: %v", sum, got["off-cpu"])
			}
			main := slices.IndexFunc(r.Threads, func(t run.Thread) bool { return t.Main })
			app := run.Thread{Process: "com.google.samples.apps.sunflower", Name: "com.google.samples.apps.sunflower", PID: 6525, TID: 6525, Main: true}
			if main < 0 || r.Threads[main] != app {
				t.Errorf("threads %v, want %v among them", r.Threads, app)
			}
			for _, s := range r.Samples {
				state := "on-cpu"
				if name := r.Events[s.Event].Name; name == "off-cpu" || name == "sched:sched_switch" {
					state = "off-cpu"
				}
				if got := r.Labels[s.Labels].State; got != state {
					t.Errorf("sample of %s has state %q", r.Events[s.Event].Name, got)
				}
			}
		})
	}
}

// TestReportSampleGaps checks the warning of samples that report-sample removes by
// default.
func TestReportSampleGaps(t *testing.T) {
	path := ingesttest.Recording(t, "simpleperf/wrong_ip_callchain_perf.data")
	for _, tt := range []struct {
		args    []string
		samples int64
		warning bool
	}{
		{[]string{"--remove-gaps", "0"}, 1887, false},
		{nil, 1860, true},
	} {
		r := ingesttest.Read(t, Read, reportSampleOf(t, path, append(tt.args, "--protobuf")...), &reading.Options{})
		if r.Accounting.In != tt.samples {
			t.Errorf("%v: %d samples, want %d", tt.args, r.Accounting.In, tt.samples)
		}
		if got := strings.Contains(strings.Join(ingesttest.ReaderWarnings(r), "\n"), "--remove-gaps 0"); got != tt.warning {
			t.Errorf("%v: warnings %q", tt.args, r.Warnings)
		}
	}
}

// reportSampleOf makes the report of a recording.
func reportSampleOf(t testing.TB, recording string, args ...string) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "report")
	ingesttest.Tool(t, "simpleperf", append([]string{"report-sample", "-i", recording, "-o", out, "--show-callchain"}, args...)...)
	return ingesttest.ReadFile(t, out)
}

// report builds a report.
type report struct{ buf []byte }

func newReport() *report {
	return &report{append([]byte(magic), version, 0)}
}

func (r *report) record(kind int, m []byte) *report {
	data := ingesttest.Message(kind, m)
	r.buf = binary.LittleEndian.AppendUint32(r.buf, uint32(len(data)))
	r.buf = append(r.buf, data...)
	return r
}

func (r *report) meta(events ...string) *report {
	var m []byte
	for _, e := range events {
		m = append(m, ingesttest.Message(metaEventType, e)...)
	}
	return r.record(recordMetaInfo, m)
}

// sample adds a sample with a call chain of triples file, symbol, address.
func (r *report) sample(now, tid, count, event int, chain ...int) *report {
	m := ingesttest.Message(reportTime, now, reportThreadID, tid, reportEventCount, count, reportEventTypeID, event)
	for i := 0; i < len(chain); i += 3 {
		m = append(m, ingesttest.Message(reportCallchain, ingesttest.Message(entryVaddr, chain[i+2], entryFileID, chain[i], entrySymbolID, chain[i+1]))...)
	}
	return r.record(recordSample, m)
}

func (r *report) file(id int, path string, symbols ...string) *report {
	m := ingesttest.Message(fileID, id, filePath, path)
	for _, s := range symbols {
		m = append(m, ingesttest.Message(fileSymbol, s)...)
	}
	for _, s := range symbols {
		m = append(m, ingesttest.Message(fileMangledSymbol, "_Z"+s)...)
	}
	return r.record(recordFile, m)
}

func (r *report) end() []byte { return append(r.buf, 0, 0, 0, 0) }

func TestReportSampleSynthetic(t *testing.T) {
	data := newReport().
		sample(10, 7, 100, 0, 0, 1, 0x20, 0, 0, 0x10).
		sample(20, 7, 1<<30, 0, 1, -1, 0x99).
		sample(30, 8, 3, 1).
		record(recordSample, ingesttest.Message(reportTime, 40, reportThreadID, 8, reportEventCount, uint64(math.MaxUint64), reportEventTypeID, 1,
			reportUnwindingResult, ingesttest.Message(1, 5, unwindingErrorCode, 2))).
		record(99, ingesttest.Message(1, "of a later version")).
		file(0, "/system/lib64/libc.so", "__start_thread", "memcpy").
		file(1, "/data/app/base.apk!/lib/libapp.so").
		record(recordThread, ingesttest.Message(threadID, 7, threadProcessID, 7, threadName, "main")).
		record(recordThread, ingesttest.Message(threadID, 8, threadProcessID, 7, threadName, "pool-1")).
		record(recordLost, ingesttest.Message(lostSampleCount, 5, lostLostCount, 2)).
		meta("cpu-cycles", "branch-misses:u").
		end()
	r := ingesttest.Read(t, Read, data, &reading.Options{PID: true, TID: true, UnknownOffset: true})
	want := map[string]run.FoldedSum{
		"__start_thread;memcpy": {Weight: 100, Count: 1},
		"libapp.so[+99]":        {Weight: 1 << 30, Count: 1},
	}
	if d := cmp.Diff(want, ingesttest.Sums(t, r, "cpu-cycles")); d != "" {
		t.Errorf("stacks (-want +got):\n%s", d)
	}
	if d := cmp.Diff(map[string]run.FoldedSum{"": {Weight: math.MaxInt64, Count: 2}}, ingesttest.Sums(t, r, "branch-misses:u")); d != "" {
		t.Errorf("stacks (-want +got):\n%s", d)
	}
	wantLabels := []run.Labels{
		{PID: -1, TID: -1, CPU: -1},
		{Process: "main", Thread: "main", PID: 7, TID: 7, CPU: -1},
		{Process: "main", Thread: "pool-1", PID: 7, TID: 8, CPU: -1},
	}
	if d := cmp.Diff(wantLabels, r.Labels); d != "" {
		t.Errorf("labels (-want +got):\n%s", d)
	}
	if a := r.Accounting; a.Lost != 2 || a.TruncatedStacks != 1 || a.In != 4 {
		t.Errorf("accounting %+v", a)
	}
	i := slices.IndexFunc(r.Functions, func(f run.Function) bool { return f.Name == "memcpy" })
	if r.Functions[i].SystemName != "_Zmemcpy" {
		t.Errorf("memcpy is %+v", r.Functions[i])
	}
	warnings := strings.Join(ingesttest.ReaderWarnings(r), "\n")
	for _, w := range []string{"says that it has 5 samples, but it has 4", "exceeds 2^63"} {
		if !strings.Contains(warnings, w) {
			t.Errorf("warnings lack %q: %q", w, r.Warnings)
		}
	}
}

func TestReportSampleErrors(t *testing.T) {
	good := newReport().meta("cpu-cycles").sample(1, 2, 3, 0, 0, 0, 5).file(0, "/a.so", "f")
	cut := good.end()[:len(good.buf)-3]
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"version", append([]byte(magic), 2, 0), "header: version 2 is not supported"},
		{"header", []byte("SIMPLE"), "header: needs 12 bytes, has 6"},
		{"no end", good.buf, "needs 4 bytes, has 0"},
		{"cut off", cut, "size is 19: needs 19 bytes, has 16"},
		{"size", binary.LittleEndian.AppendUint32(slices.Clone(good.buf), math.MaxUint32), "size is 4294967295: needs 1048576 bytes, has 0"},
		{"no file", newReport().meta("e").sample(1, 2, 3, 0, 9, 0, 5).end(), "call chain refers to file 9, which is not there"},
		{"no symbol", newReport().meta("e").sample(1, 2, 3, 0, 0, 7, 5).file(0, "/a.so", "f").end(), "call chain refers to symbol 7 of /a.so, which has 1"},
		{"symbol below", newReport().meta("e").sample(1, 2, 3, 0, 0, -2, 5).file(0, "/a.so", "f").end(), "symbol -2 of /a.so"},
		{"no event", newReport().meta("e").sample(1, 2, 3, 1).end(), "sample of event type 1, but there are 1"},
		{"event", newReport().meta("e").sample(1, 2, 3, 1<<20).end(), "event type 1048576"},
		{"no meta", newReport().sample(1, 2, 3, 0).end(), "file has samples but no event types"},
		{"file twice", newReport().meta("e").file(0, "/a.so").file(0, "/b.so").end(), "file 0 occurs twice"},
		{"mangled", newReport().record(recordFile, ingesttest.Message(fileSymbol, "a", fileMangledSymbol, "b", fileMangledSymbol, "c")).end(), "file 0 has 1 symbols and 2 mangled symbols"},
		{"type", newReport().record(recordSample, ingesttest.Message(reportTime, "x")).end(), "record 0 at 0xc: field 1 at 0x13: wrong wire type 2"},
		{"message", newReport().record(recordSample, []byte{reportCallchain<<3 | 2, 100}).end(), "record 0 at 0xc: field 3 at 0x13: unexpected EOF"},
		{"wire", newReport().record(recordSample, []byte{7}).end(), "record 0 at 0xc"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Read(ingesttest.Source(t, tt.data), &reading.Options{})
			if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	r := ingesttest.Read(t, Read, cut, &reading.Options{AllowTruncated: true})
	if r.Accounting.In != 1 || len(ingesttest.ReaderWarnings(r)) == 0 || !strings.Contains(ingesttest.ReaderWarnings(r)[0], "incomplete") {
		t.Errorf("of a file that is cut off: %s, %q", &r.Accounting, r.Warnings)
	}
}

func TestReportSampleTextErrors(t *testing.T) {
	const meta = "meta_info:\n  trace_offcpu: false\n  event_type: cpu-cycles\n"
	const sample = meta + "sample:\n  event_type: cpu-cycles\n  time: 10\n  event_count: 5\n  thread_id: 7\n  thread_name: a: b\n"
	r := ingesttest.Read(t, ReadText, []byte(strings.ReplaceAll(sample+"  vaddr_in_file: 1f\n  file: /a.so\n  symbol: std::f(int)\n", "\n", "\r\n")), &reading.Options{TID: true})
	if d := cmp.Diff(map[string]run.FoldedSum{"std::f(int)": {Weight: 5, Count: 1}}, ingesttest.Sums(t, r, "cpu-cycles")); d != "" {
		t.Errorf("stacks (-want +got):\n%s", d)
	}
	if l := r.Labels[1]; l.Thread != "a: b" || l.TID != 7 {
		t.Errorf("labels %+v", l)
	}
	for _, tt := range []struct{ name, data, want string }{
		{"event", meta + "sample:\n  event_type: cycles\n", "sample of an event type that meta_info does not have"},
		{"dump", "magic: SIMPLEPERF\n", "line 1: is the text of a protobuf report"},
		{"record", "foo:\n", `line 1: unknown record "foo"`},
		{"number", meta + "sample:\n  time: NaN\n", "line 5: time of sample: NaN is no number"},
		{"negative", meta + "sample:\n  event_count: -4\n", "line 5: event_count of sample: -4 is no number"},
		{"thread", meta + "sample:\n  thread_id: 99999999999\n", "is no thread"},
		{"frame", sample + "  vaddr_in_file: 1f\n  symbol: f\n", "line 11: symbol of sample: is out of place"},
		{"half", sample + "  vaddr_in_file: 1f\n  file: f\n", "lacks its file or symbol"},
		{"address", sample + "  vaddr_in_file: zz\n  file: f\n  symbol: f\n", `"zz" is no address`},
		{"text", meta + "hello\n", `line 4: "hello" is no field`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ReadText(ingesttest.Source(t, []byte(tt.data)), &reading.Options{})
			if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzReportSample(f *testing.F) {
	f.Add(newReport().meta("cpu-clock", "sched:sched_switch").sample(1, 2, 3, 0, 0, 0, 5).sample(4, 2, 1, 1).
		file(0, "/a.so", "f").record(recordThread, ingesttest.Message(threadID, 2, threadProcessID, 2, threadName, "t")).
		record(recordLost, ingesttest.Message(lostSampleCount, 2)).end())
	f.Add(newReport().record(recordMetaInfo, ingesttest.Message(metaEventType, "cpu-clock", metaEventType, "sched:sched_switch", metaTraceOffCPU, 1)).
		sample(1, 2, 3, 1, 0, -1, 5).record(recordContextSwitch, ingesttest.Message(switchOn, 1, switchTime, 9, switchThreadID, 2)).
		sample(11, 2, 3, 0).file(0, "unknown").end())
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opt := range []*reading.Options{{}, {AllowTruncated: true, PID: true, TID: true}} {
			ingesttest.Fuzz(t, Read, data, opt)
		}
	})
}

// BenchmarkReportSample reads a report of 20 MB.
func BenchmarkReportSample(b *testing.B) {
	report := newReport().meta("cpu-cycles")
	stacks := ingesttest.Stacks()
	for i := 0; len(report.buf) < 20<<20; i++ {
		var chain []int
		for _, f := range stacks[i%len(stacks)] {
			chain = append(chain, f%5, f/5%200, 0x1000+16*f)
		}
		report.sample(i*250000, 100+i%8, 250000, 0, chain...)
	}
	var symbols []string
	for i := range 200 {
		symbols = append(symbols, fmt.Sprintf("std::pair<int, symbol_%d>::method(int)", i))
	}
	for i := range 5 {
		report.file(i, fmt.Sprintf("/system/lib64/lib%d.so", i), symbols...)
	}
	data := report.end()
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Read(ingesttest.Source(b, data), &reading.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestReportSampleRoundTrip checks that a profile in pprof's format reads back the same.
func TestReportSampleRoundTrip(t *testing.T) {
	data := newReport().
		record(recordMetaInfo, ingesttest.Message(metaEventType, "cpu-clock", metaEventType, "sched:sched_switch", metaTraceOffCPU, 1, metaAppPackage, "com.example")).
		sample(10, 7, 100, 0, 0, 1, 0x20, 0, 0, 0x10).sample(20, 7, 1, 1, 0, 0, 0x10).sample(50, 7, 100, 0, 0, -1, 0x10).
		file(0, "/system/lib64/libc.so", "__start_thread", "memcpy").
		record(recordThread, ingesttest.Message(threadID, 7, threadProcessID, 7, threadName, "main")).
		record(recordLost, ingesttest.Message(lostSampleCount, 3, lostLostCount, 2)).end()
	ingesttest.CheckRoundTrip(t, ingesttest.Read(t, Read, data, &reading.Options{}), pprof.Read)
	t.Run("recording", func(t *testing.T) {
		data := ingesttest.ReadFile(t, ingesttest.Recording(t, "simpleperf/display_bitmaps.proto_data"))
		ingesttest.CheckRoundTrip(t, ingesttest.Read(t, Read, data, &reading.Options{TID: true}), pprof.Read)
	})
}
