package pprof

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

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
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
	src := ingesttest.Source(t, out.Bytes())
	if !isProfile(src.Head) {
		t.Error("is not taken for a profile")
	}
	r, err := Read(src, &reading.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ingesttest.CheckRun(t, r)
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
	first := ingesttest.Profile(t, r)
	again := ingesttest.Read(t, Read, first, &reading.Options{})
	again.Recording, again.Warnings, again.Accounting = r.Recording, r.Warnings, r.Accounting
	if second := ingesttest.Profile(t, again); !bytes.Equal(first, second) {
		t.Errorf("%d bytes became %d other bytes", len(first), len(second))
	}
	ignore := cmpopts.IgnoreFields(run.Event{}, "WeightSq", "WeightSqLowerBound", "MaxWeight", "Leads")
	if diff := cmp.Diff(r.Events, again.Events, ignore); diff != "" {
		t.Error(diff)
	}
	for i := range r.Events {
		if !again.Events[i].WeightSqLowerBound || again.Events[i].WeightSq > r.Events[i].WeightSq*(1+1e-9) {
			t.Errorf("%s: Σw² %v is no lower bound of %v", r.Events[i].Name, again.Events[i].WeightSq, r.Events[i].WeightSq)
		}
	}
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

// TestPprofUntyped checks that fields without a sample type are not taken for a profile.
func TestPprofUntyped(t *testing.T) {
	data := encode(t, testProfile())
	if !isProfile(data) || isProfile(data[len(data)-3:]) {
		t.Errorf("taken for a profile: %v, its end: %v", isProfile(data), isProfile(data[len(data)-3:]))
	}
}

func TestPprof(t *testing.T) {
	r := ingesttest.Read(t, Read, encode(t, testProfile()), &reading.Options{})
	if d := cmp.Diff(map[string]run.FoldedSum{
		"main": {Weight: 64, Count: 2}, "main;noise": {Weight: 16, Count: 1}, "main;[libx.so]": {Weight: 1 << 40, Count: 3},
	}, ingesttest.Sums(t, r, "alloc_space")); d != "" {
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
	if d := cmp.Diff(map[string]run.FoldedSum{"main": {Weight: 80, Count: 3}, "main;[libx.so]": {Weight: 1 << 40, Count: 3}},
		ingesttest.Sums(t, ingesttest.Read(t, Read, encode(t, p), &reading.Options{}), "alloc_space")); d != "" {
		t.Errorf("without the frames to drop (-want +got):\n%s", d)
	}
	// Compressed, and with text that is no UTF-8.
	p = testProfile()
	p.Function[0].Name = "m\xff\x00"
	p.Sample[0].Label = map[string][]string{"k\x00": {"v\xff"}}
	p.Sample[0].NumLabel = map[string][]int64{"n\xff": {1}, "n\xfe": {2}}
	r = ingesttest.Read(t, Read, gzipped(t, encode(t, p)), &reading.Options{})
	if !slices.ContainsFunc(r.Functions, func(f run.Function) bool { return f.Name == "m\ufffd\ufffd" }) {
		t.Errorf("functions %+v", r.Functions)
	}
	if l := r.Labels[1]; l.Other != "k\ufffd\x00v\ufffd\x00" {
		t.Errorf("labels %+v", l)
	}
	ingesttest.CheckRoundTrip(t, r, Read)
}

func TestPprofErrors(t *testing.T) {
	negative, overflow, drop, untyped := testProfile(), testProfile(), testProfile(), testProfile()
	negative.Sample[0].Value[1] = -5
	negative.Sample[0].Label["pprof::base"] = []string{"true"}
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
			r, err := Read(ingesttest.Source(t, tt.data), &reading.Options{})
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
	for name, data := range seeds(f) {
		if name == longSeed {
			continue
		}
		f.Add(data)
		f.Add(gzipped(f, data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		ingesttest.Fuzz(t, Read, data, &reading.Options{})
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
