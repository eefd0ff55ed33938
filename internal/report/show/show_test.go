package show

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"profdiff/internal/category"
	"profdiff/internal/report/reporttest"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
	"profdiff/internal/wait"
)

// TestShowExact checks how numbers are written with and without Exact.
func TestShowExact(t *testing.T) {
	count := Event{Name: "cpu-cycles", Weight: 14_219_200_000}
	clock := Event{Name: "cpu-clock", Unit: "nanoseconds", Weight: 1_000_000}
	for _, test := range []struct {
		event         *Event
		v             int64
		exact         bool
		weight, share string
	}{
		{&count, 14_214_485_212, true, "14,214,485,212", "99.97%"},
		{&count, 14_214_485_212, false, "14.21 G", "99.97%"},
		{&count, 1_178_822_451, true, "1,178,822,451", "8.290%"},
		{&count, 1_178_822_451, false, "1.179 G", "8.29%"},
		{&count, 2_042_501, true, "2,042,501", "0.014%"},
		{&count, 0, true, "0", "0%"},
		{&count, 1, true, "1", "0.000%"},
		{&count, 1_421_915_000, true, "1,421,915,000", "10.00%"},
		{&count, 14_219_200_000, true, "14,219,200,000", "100.00%"},
		{&clock, 12_345, true, "12,345 ns", "1.234%"},
		{&Event{}, 0, true, "0", "-"},
	} {
		opt := Options{Exact: test.exact}
		if w, s := opt.weight(test.v, test.event), opt.share(test.v, test.event); w != test.weight || s != test.share {
			t.Errorf("%d of %d, exact %v: %s and %s, want %s and %s", test.v, test.event.Weight, test.exact, w, s, test.weight, test.share)
		}
	}
}

// TestSentence checks that the first line is not about threads that wait for something to do, and that it says in which file the
// time is where functions have no names.
func TestSentence(t *testing.T) {
	for _, test := range []struct{ samples, want string }{
		{"cpu-clock main a!main;libc.so!epoll_wait 90\ncpu-clock main a!main;a!parse 10", "1 of 2 samples in parse: 10.0% of cpu-clock"},
		{"slices main a!android::Looper::pollOnce 90\nslices main a!frame;a!draw 10", "1 of 2 slices is draw: 10.0% of their time"},
		{"slices main a!pollOnce 90\nslices main a!frame;a!draw 4 6", "2 of 3 slices are draw: 10.0% of their time"},
		{"cpu-clock main a!main;libc.so!__poll_nocancel 90", ""},
		{"slices main a!NETWORK:https://example.com/img/a/AVvXsEgo2-I1LhMjWd1zzpIQXzjMCPoZeUZc35n43UosKDuLMyP7rID 9", "1 of 1 slices is NETWORK:https://example.com/img/a/AVvXsEgo2-I1LhMjWd1zzpIQX…: 100.0% of their time"},
		{"slices main a!HIDL::ISensors::poll::client 90\nslices main a!frame;a!draw 10", "1 of 2 slices is draw: 10.0% of their time"},
		{"sched:sched_waking:k main a!main;k!try_to_wake_up 2\ncpu-clock main a!main;a!parse 3", "1 of 1 samples in parse: 100.0% of cpu-clock"},
		{"kmem:kmalloc main a!main;a!parse 2\nkmem:kmalloc main a!main 1", "1 of 2 samples in parse: 66.7% of kmem:kmalloc"},
		{"cpu-clock main a!main;a!pollster 90", "1 of 1 samples in pollster: 100.0% of cpu-clock"},
		{"cpu-clock main a!main;libc.so![libc.so] 90\ncpu-clock main a!main;a!parse 10", "1 of 2 samples in libc.so, whose functions have no names: 90.0% of cpu-clock"},
		{"cpu-clock main a!main;libc.so![libc.so+0x1] 30\ncpu-clock main a!main;libc.so![libc.so+0x2] 30\ncpu-clock main a!main;a!parse 40", "2 of 3 samples in libc.so, whose functions have no names: 60.0% of cpu-clock"},
		{"cpu-clock main a!main;libc.so![libc.so] 4\ncpu-clock main a!main;libm.so![libm.so] 3\ncpu-clock main a!main;a!parse 3", "1 of 3 samples in parse: 30.0% of cpu-clock"},
		{"cpu-clock main a!main;libc.so![libc.so] 4\ncpu-clock main a!main;libm.so![libm.so] 3", "1 of 2 samples in libc.so, whose functions have no names: 57.1% of cpu-clock"},
		{"cpu-clock main [unknown]![unknown] 90\ncpu-clock main a!main;a!parse 10", "1 of 2 samples in functions without names: 90.0% of cpu-clock"},
		{"sched:sched_waking:k main a!main;[kernel]![kernel] 2", ""},
		{"off-cpu main a!main;libc.so![libc.so] 90", ""},
	} {
		d := New(runtest.Build(t, "test", test.samples), Parts{By: run.ByFunction})
		if got := d.sentence(); got != test.want {
			t.Errorf("%s: %q, want %q", test.samples, got, test.want)
		}
	}
}

// TestSentenceOfWaits checks that of slices that are waits for locks the first line says who waited for whom.
func TestSentenceOfWaits(t *testing.T) {
	waits := &wait.Report{Chains: []wait.Chain{{
		Links: []wait.Link{{Thread: wait.Thread{Name: "app", Main: true}}, {Thread: wait.Thread{Name: "worker"}}}, Threads: 2,
		Sum: wait.Sum{Count: 2, TotalNS: 9e6, LongestNS: 5e6},
	}}}
	for _, test := range []struct {
		slice string
		waits *wait.Report
		want  string
	}{
		{"monitor contention", waits, "app (main) waited for worker: 9.000 ms in 2 waits, longest 5.000 ms"},
		{"Lock contention on GC barrier lock", waits, "app (main) waited for worker: 9.000 ms in 2 waits, longest 5.000 ms"},
		{"draw", waits, "1 of 1 slices is draw: 100.0% of their time"},
		{"monitor contention", new(wait.Report), "1 of 1 slices is monitor contention: 100.0% of their time"},
	} {
		d := New(runtest.Build(t, "test", "slices main a!"+strings.ReplaceAll(test.slice, " ", "_")+" 9"), Parts{By: run.ByFunction})
		d.Rows[0].Name, d.Waits = test.slice, test.waits
		if got := d.sentence(); got != test.want {
			t.Errorf("%s: %q, want %q", test.slice, got, test.want)
		}
	}
}

// TestShowWithoutCounts checks that weights without numbers of samples are shown, and
// that no number is made up.
func TestShowWithoutCounts(t *testing.T) {
	b := run.NewBuilder("r")
	e := b.Event(run.Event{Name: "cpu-cycles", WeightSqLowerBound: true})
	f := b.Function(run.Function{Name: "f"})
	b.AddSum(e, b.Stack(0, b.Location(0, 1, run.Line{Function: f})), 0, 0, 3000, 0)
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, write := range []func() error{
		func() error { return WriteText(&out, New(r, Parts{By: run.ByThread}), Options{}) },
		func() error { return WriteTree(&out, New(r, Parts{Trees: true}), Options{Exact: true}) },
	} {
		if err := write(); err != nil {
			t.Fatal(err)
		}
	}
	want := `input  r

cpu-cycles: 3.000 k, number of samples unknown
   self    share  samples  thread
3.000 k  100.00%        -  [unknown]
input  r

cpu-cycles: 3,000, number of samples unknown
total    share   self    share  samples  function
3,000  100.00%  3,000  100.00%        -  f
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestShowGroups checks categories of a file and threads one by one.
func TestShowGroups(t *testing.T) {
	set, err := category.Parse("c.yaml", []byte("categories: [{name: copying, match: [memcpy]}]"))
	if err != nil {
		t.Fatal(err)
	}
	r := runtest.Build(t, "r", "cpu-cycles pool-1 app!main;libc!memcpy 3\ncpu-cycles pool-2 app!main 1")
	for _, test := range []struct {
		parts Parts
		want  string
	}{
		{Parts{By: run.ByCategory, Categories: set}, "self   share  samples  category\n   3  75.00%        1  copying\n   1  25.00%        1  other\n"},
		{Parts{By: run.ByCategory}, "self   share  samples  category\n   3  75.00%        1  memcpy and memset\n   1  25.00%        1  native code\n"},
		{Parts{By: run.ByThread}, "self    share  samples  thread\n   4  100.00%        2  pool-%d\n"},
		{Parts{By: run.ByThread, EachThread: true}, "self   share  samples  thread\n   3  75.00%        1  pool-1\n   1  25.00%        1  pool-2\n"},
	} {
		var out bytes.Buffer
		if err := WriteText(&out, New(r, test.parts), Options{}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(out.String(), test.want) {
			t.Errorf("%+v: got\n%s\nwant\n%s", test.parts, out.String(), test.want)
		}
	}
}

func TestShowJSON(t *testing.T) {
	r := runtest.Build(t, "base", reporttest.BaseRun)
	r.Counters = []run.Counter{{Name: "merges", Unit: "count", Value: 12, Running: 1}}
	var b bytes.Buffer
	if err := WriteJSON(&b, New(r, Parts{Lists: true})); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/show.json", b.Bytes())
	reporttest.Validate(t, reporttest.Schema[Document](t, "show.schema.json"), b.Bytes())
}

func TestShowCSV(t *testing.T) {
	d := New(runtest.Build(t, "base", reporttest.BaseRun), Parts{Lists: true})
	reporttest.Golden(t, "testdata/show.csv", reporttest.Written(t, func(w io.Writer) error { return WriteCSV(w, d) }))
}

func TestShowText(t *testing.T) {
	r := runtest.Build(t, "base", reporttest.BaseRun)
	var b bytes.Buffer
	if err := WriteText(&b, New(r, Parts{By: run.ByFunction}), Options{}); err != nil {
		t.Fatal(err)
	}
	if err := WriteTree(&b, New(r, Parts{Trees: true}), Options{MinShare: 0.2}); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/show.txt", b.Bytes())
}
