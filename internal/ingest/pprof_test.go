package ingest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/pprof/profile"
	"github.com/klauspost/compress/gzip"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

// TestPprofGo reads a profile that Go's runtime makes of this test.
func TestPprofGo(t *testing.T) {
	var out bytes.Buffer
	if err := pprof.StartCPUProfile(&out); err != nil {
		t.Skipf("cannot profile: %v", err)
	}
	sum := 0
	for start := time.Now(); time.Since(start) < 200*time.Millisecond; {
		for i := range 1000 {
			sum ^= i * sum
		}
	}
	pprof.StopCPUProfile()
	src := sourceOf(t, out.Bytes())
	if f := detected(src.Head); f != Pprof {
		t.Errorf("is taken for %v", f)
	}
	r, err := readPprof(src, &Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkRun(t, r)
	if len(r.Events) != 1 {
		t.Fatalf("events %+v", r.Events)
	}
	e := r.Events[0]
	if e.Name != "cpu" || e.Unit != "nanoseconds" || e.Period != 10000000 {
		t.Errorf("event %+v", e)
	}
	if e.Samples == 0 || e.Weight != e.Samples*10000000 {
		t.Errorf("%d samples weigh %d ns", e.Samples, e.Weight)
	}
	if r.Recording.Format != "pprof" || r.Recording.Duration < 100*time.Millisecond || time.Since(r.Recording.Start) > time.Hour {
		t.Errorf("recording %+v", r.Recording)
	}
	_ = sum
}

// TestPprofRoundTrip checks that what profdiff writes of any format reads back the
// same, byte for byte.
func TestPprofRoundTrip(t *testing.T) {
	runs := map[string]*run.Run{
		"folded":      mustRead(t, readFolded, []byte("a;[libc.so];c_[i] 3\na;b\\;c_[k] 4\n"), &Options{}),
		"gecko":       mustRead(t, readGecko, []byte(processed), &Options{TID: true}),
		"perf script": mustRead(t, readPerfScript, []byte("# event : name = cycles, , id = { 1 }, { sample_period, sample_freq } = 4000, freq = 1\na 1/2 [001] 1.5: 3 cycles:\n\t 12 f (inlined)\n\t 12 g (/x)\n\nb 1/3 [000] 2.5: 4 branch-misses:\n\t 12 [unknown] (/x)\n\ngarbage\n"), &Options{PID: true, CPU: true}),
		"report --csv": mustRead(t, readReportCSV, []byte("Arch: arm64\nEvent: cpu-cycles (type 0, config 0)\nSamples: 20\nEvent count: 1000\n\n"+
			"Overhead,Sample,EventCount_cpu-cycles,EventCount_instructions,Symbol\n60%,7,600,33,f\n40%,5,400,44,g\n"), &Options{}),
		"report-sample": mustRead(t, readReportSample, newReport().
			record(recordMetaInfo, msg(metaEventType, "cpu-clock", metaEventType, "sched:sched_switch", metaTraceOffCPU, 1, metaAppPackage, "com.example")).
			sample(10, 7, 100, 0, 0, 1, 0x20, 0, 0, 0x10).sample(20, 7, 1, 1, 0, 0, 0x10).sample(50, 7, 100, 0, 0, -1, 0x10).
			file(0, "/system/lib64/libc.so", "__start_thread", "memcpy").
			record(recordThread, msg(threadID, 7, threadProcessID, 7, threadName, "main")).
			record(recordLost, msg(lostSampleCount, 3, lostLostCount, 2)).end(), &Options{}),
	}
	if path := "simpleperf/display_bitmaps.proto_data"; !t.Failed() {
		t.Run(path, func(t *testing.T) {
			checkRoundTrip(t, mustRead(t, readReportSample, readFile(t, recording(t, path)), &Options{TID: true}))
		})
	}
	for name, r := range runs {
		t.Run(name, func(t *testing.T) { checkRoundTrip(t, r) })
	}
}

// TestPprofRoundTripRandom writes random samples, reads and writes them again:
// the bytes are the same, and Σw² is a lower bound.
func TestPprofRoundTripRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var samples strings.Builder
	for range 500 {
		var frames []string
		for range 1 + rng.IntN(12) {
			frames = append(frames, fmt.Sprintf("lib%d!f%d", rng.IntN(3), rng.IntN(40)))
		}
		fmt.Fprintf(&samples, "%s t-%d %s %d\n", []string{"cpu-clock:u", "instructions", "sched:sched_switch"}[rng.IntN(3)],
			rng.IntN(4), strings.Join(frames, ";"), rng.Int64N(1<<40))
	}
	r := runtest.Build(t, "r", samples.String())
	r.Labels[1].PID, r.Labels[2].TID, r.Labels[3].CPU = 7, 0, 1
	r.Labels[1].State, r.Labels[2].Mode = "off-cpu", "Host Kernel"
	r.Labels[3].Other, r.Labels[3].OtherNum = "cgroup\x00/a\x00", "latency\x0012\x00cycles\x00"
	first := profileBytes(t, r)
	again := mustRead(t, readPprof, first, &Options{})
	again.Recording, again.Warnings, again.Accounting = r.Recording, r.Warnings, r.Accounting
	if second := profileBytes(t, again); !bytes.Equal(first, second) {
		t.Errorf("%d bytes became %d other bytes", len(first), len(second))
	}
	ignore := cmpopts.IgnoreFields(run.Event{}, "WeightSq", "WeightSqLowerBound", "MaxWeight")
	if diff := cmp.Diff(r.Events, again.Events, ignore); diff != "" {
		t.Error(diff)
	}
	for i := range r.Events {
		if !again.Events[i].WeightSqLowerBound || again.Events[i].WeightSq > r.Events[i].WeightSq*(1+1e-9) {
			t.Errorf("%s: Σw² %v is no lower bound of %v", r.Events[i].Name, again.Events[i].WeightSq, r.Events[i].WeightSq)
		}
	}
}

func profileBytes(t testing.TB, r *run.Run) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := r.WriteProfile(&buf, run.ProfileOptions{}); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func checkRoundTrip(t *testing.T, r *run.Run) {
	t.Helper()
	var first, second bytes.Buffer
	if err := r.WriteProfile(&first, run.ProfileOptions{}); err != nil {
		t.Fatal(err)
	}
	again := mustRead(t, readPprof, first.Bytes(), &Options{})
	if err := again.WriteProfile(&second, run.ProfileOptions{}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("profiles differ (-first +second):\n%s", cmp.Diff(profileText(t, first.Bytes()), profileText(t, second.Bytes())))
	}
	if d := cmp.Diff(r.Accounting.String(), again.Accounting.String()); d != "" {
		t.Errorf("accounting (-want +got):\n%s", d)
	}
	for i := range r.Events {
		if got, want := again.Events[i], r.Events[i]; got.Name != want.Name || got.Derived != want.Derived || got.Weight != want.Weight || got.Samples != want.Samples {
			t.Errorf("event %+v, was %+v", got, want)
		}
	}
}

func profileText(t *testing.T, data []byte) []string {
	t.Helper()
	p, err := profile.ParseData(data)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(p.String(), "\n")
}

// testProfile is a profile of two functions.
func testProfile() *profile.Profile {
	m := &profile.Mapping{ID: 1, Start: 0x1000, Limit: 0x2000, File: "/lib/libx.so"}
	f := []*profile.Function{{ID: 1, Name: "main", SystemName: "main"}, {ID: 2, Name: "noise", SystemName: "noise"}}
	l := []*profile.Location{
		{ID: 1, Mapping: m, Address: 0x1010, Line: []profile.Line{{Function: f[0], Line: 3}}},
		{ID: 2, Mapping: m, Address: 0x1020, Line: []profile.Line{{Function: f[1], Line: 4}}},
		{ID: 3, Mapping: m, Address: 0x1030},
	}
	return &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "alloc_objects", Unit: "count"}, {Type: "alloc_space", Unit: "bytes"}},
		Mapping:    []*profile.Mapping{m}, Function: f, Location: l,
		Sample: []*profile.Sample{
			{Location: []*profile.Location{l[0]}, Value: []int64{2, 64}, Label: map[string][]string{"k": {"v"}}},
			{Location: []*profile.Location{l[1], l[0]}, Value: []int64{1, 16}},
			{Location: []*profile.Location{l[2], l[0]}, Value: []int64{3, 1 << 40}, NumLabel: map[string][]int64{"bytes": {16}}},
		},
		TimeNanos: 1e18, DurationNanos: 5e9,
	}
}

func encode(t testing.TB, p *profile.Profile) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := p.WriteUncompressed(&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestPprof(t *testing.T) {
	r := mustRead(t, readPprof, encode(t, testProfile()), &Options{})
	if d := cmp.Diff(map[string]run.FoldedSum{
		"main": {Weight: 64, Count: 1}, "main;noise": {Weight: 16, Count: 1}, "main;[libx.so]": {Weight: 1 << 40, Count: 1},
	}, sums(t, r, "alloc_space")); d != "" {
		t.Errorf("stacks (-want +got):\n%s", d)
	}
	if len(r.Events) != 2 || !r.Events[0].WeightSqLowerBound {
		t.Errorf("events %+v", r.Events)
	}
	if d := cmp.Diff(run.Recording{Format: "pprof", Start: time.Unix(1e9, 0).UTC(), Duration: 5 * time.Second}, r.Recording); d != "" {
		t.Errorf("recording (-want +got):\n%s", d)
	}
	if r.Mappings[1].Kind != run.NativeMapping {
		t.Errorf("mapping %+v", r.Mappings[1])
	}
	p := testProfile()
	p.DropFrames = "noise"
	if d := cmp.Diff(map[string]run.FoldedSum{"main": {Weight: 80, Count: 2}, "main;[libx.so]": {Weight: 1 << 40, Count: 1}},
		sums(t, mustRead(t, readPprof, encode(t, p), &Options{}), "alloc_space")); d != "" {
		t.Errorf("without the frames to drop (-want +got):\n%s", d)
	}
	// Compressed, and with text that is no UTF-8.
	p = testProfile()
	p.Function[0].Name = "m\xff\x00"
	p.Sample[0].Label = map[string][]string{"k\x00": {"v\xff"}}
	p.Sample[0].NumLabel = map[string][]int64{"n\xff": {1}, "n\xfe": {2}}
	r = mustRead(t, readPprof, gzipped(t, encode(t, p)), &Options{})
	if !slices.ContainsFunc(r.Functions, func(f run.Function) bool { return f.Name == "m\ufffd\ufffd" }) {
		t.Errorf("functions %+v", r.Functions)
	}
	if l := r.Labels[1]; l.Other != "k\ufffd\x00v\ufffd\x00" {
		t.Errorf("labels %+v", l)
	}
	checkRoundTrip(t, r)
}

func TestPprofErrors(t *testing.T) {
	negative, overflow, drop, untyped := testProfile(), testProfile(), testProfile(), testProfile()
	negative.Sample[0].Value[1] = -5
	overflow.Sample[0].Value[1], overflow.Sample[1].Value[1] = 1<<62, 1<<62
	drop.DropFrames = "("
	untyped.SampleType, untyped.Sample = nil, nil
	good := encode(t, testProfile())
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"negative", encode(t, negative), "value -5 of alloc_space is negative"},
		{"sum", encode(t, overflow), "values of alloc_space sum to more than 2^63"},
		{"regexp", encode(t, drop), "frames to drop: "},
		{"no types", encode(t, untyped), "profile has no sample types"},
		{"cut off", good[:len(good)-3], ""},
		{"text", []byte("hello"), ""},
		{"empty", nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := readPprof(sourceOf(t, tt.data), &Options{})
			if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestAccountingComment(t *testing.T) {
	for _, want := range []run.Accounting{
		{In: 5, Out: 5},
		{In: 12, Out: 5, Filtered: 3, Dropped: map[string]int64{"not in the report": 4}, Lost: 2},
		{In: 12, Out: 5, Dropped: map[string]int64{"a: b": 3, "unknown event": 4}, Frames: 3, UnknownFrames: 1},
	} {
		got := run.Accounting{In: want.In, Out: want.Out, Frames: want.Frames, UnknownFrames: want.UnknownFrames}
		accountingComment(&got, want.String())
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("accountingComment(%q) (-want +got):\n%s", &want, d)
		}
	}
	for _, s := range []string{"", "x out + y", "1 in = 2 out + 99999999999999999999 filtered + 5 dropped (a: 9); 3 lost; x", " out +  filtered +  dropped (; ; "} {
		var a run.Accounting
		accountingComment(&a, s)
		if a.Filtered != 0 || len(a.Dropped) > 0 {
			t.Errorf("accountingComment(%q) = %+v", s, a)
		}
	}
}

func FuzzPprof(f *testing.F) {
	for name, data := range pprofSeeds(f) {
		if name == longSeed {
			continue
		}
		f.Add(data)
		f.Add(gzipped(f, data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzReader(t, readPprof, data, &Options{})
	})
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
