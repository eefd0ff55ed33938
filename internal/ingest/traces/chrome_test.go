package traces

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

func readChrome(t testing.TB, data []byte, opt *reading.Options) (*run.Run, error) {
	t.Helper()
	src, err := input.New("test", bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	r, err := ReadChrome(src, opt)
	if err == nil && !r.Accounting.Balanced() {
		t.Errorf("not balanced: %v", &r.Accounting)
	}
	return r, err
}

const chromeEvents = `
{"ph":"M","pid":7,"name":"process_name","args":{"name":"server"}},
{"ph":"M","pid":7,"tid":8,"name":"thread_name","args":{"name":"worker"}},
{"ph":"B","pid":7,"tid":8,"ts":10,"name":"outer","cat":"a"},
{"ph":"X","pid":7,"tid":8,"ts":11.5,"dur":2.25,"name":"inner","args":{"x":1}},
{"ph":"E","pid":7,"tid":8,"ts":20},
{"ph":"X","pid":"7","tid":0,"ts":"5","dur":1,"name":"of thread 0"},
{"ph":"X","pid":"Spans","tid":"Profiler","ts":5,"dur":1,"name":"of words"},
{"ph":"i","pid":7,"tid":8,"ts":12,"s":"t","name":"an instant"},
{"ph":"b","pid":7,"tid":8,"ts":30,"cat":"io","id":"0x1f","name":"read"},
{"ph":"e","pid":7,"tid":9,"ts":34,"cat":"io","id":"0x1f","name":"read"},
{"ph":"C","pid":7,"ts":40,"name":"memory","args":{"heap":12,"stack":3}},
{"ph":"s","pid":7,"tid":8,"ts":41,"id":1,"name":"arrow"},
{"ph":"X","pid":7,"tid":8,"name":"without a time"},
{"ph":"X","pid":7,"tid":8,"ts":[],"name":"not understood"},
{"ph":"?","pid":7,"tid":8,"ts":42,"name":"of another phase"},
{"ph":"X","pid":7,"tid":99,"ts":0,"dur":500,"name":"Total inner","args":{"count":1,"avg ms":500}},
{"ph":"P","pid":7,"tid":8,"ts":50,"id":"0x1","name":"Profile","args":{"data":{"startTime":50}}},
{"ph":"P","pid":7,"tid":10,"ts":60,"id":"0x1","name":"ProfileChunk","args":{"data":{"cpuProfile":{"nodes":[{"id":1,"callFrame":{"functionName":"(root)"}},
  {"id":2,"parent":1,"callFrame":{"functionName":"f","url":"a.js"}}],"samples":[2,2]},"timeDeltas":[1,2],"endTime":60}}}`

// TestChromeJSON reads both forms of the format, and a list that has no end.
func TestChromeJSON(t *testing.T) {
	for name, text := range map[string]string{
		"object":  `{"otherData":{"bazel_version":"release 8"},"traceEvents":[` + chromeEvents + `],"displayTimeUnit":"ns"}`,
		"list":    "[" + chromeEvents + "]",
		"open":    "[" + chromeEvents + ",\n{\"ph\":\"X\",\"pid\":7",
		"no end":  `{"traceEvents":[` + chromeEvents,
		"unicode": "\ufeff[" + chromeEvents + "]",
	} {
		t.Run(name, func(t *testing.T) {
			if !RecogniseChrome([]byte(strings.TrimPrefix(text, "\ufeff"))).Is {
				t.Error("is not recognised")
			}
			r, err := readChrome(t, []byte(text), new(reading.Options))
			if err != nil {
				t.Fatal(err)
			}
			check(t, "slices", samplesOf(r, slicesEvent), "Spans/: of words 1 1000\nserver/: of thread 0 1 1000\nserver/worker: outer 1 7750\nserver/worker: outer;inner 1 2250\n")
			check(t, "async", samplesOf(r, asyncEvent), "server/io: read 1 4000\n")
			check(t, "V8", samplesOf(r, v8Event), "server/worker: f 2 9000\n")
			var others []string
			for _, w := range r.Warnings {
				if !strings.HasPrefix(w, "the list of events has no end") && !strings.HasPrefix(w, "one sample") {
					others = append(others, w)
				}
			}
			check(t, "warnings", strings.Join(others, "\n"), "1 of 18 events are left out because they are not understood\n1 events are sums of others, and are left out\n"+
				"1 events have no time and are left out\nphases of events that are not read: 1 ?")
			if got, want := r.Accounting.String(), "3 dropped (events that are not understood: 1, sums of other events: 1, without a time: 1)"; !strings.Contains(got, want) {
				t.Errorf("%s, want %s", got, want)
			}
			if cut := strings.Contains(strings.Join(r.Warnings, "\n"), "has no end"); cut != (name == "open" || name == "no end") {
				t.Errorf("warnings are %q", r.Warnings)
			}
			if name == "object" && r.Recording.Tool != "release 8" {
				t.Errorf("tool is %q", r.Recording.Tool)
			}
		})
	}
}

// TestChromeJSONSamples checks that CPU samples beside the events, which are not read, are counted and said.
func TestChromeJSONSamples(t *testing.T) {
	r, err := readChrome(t, []byte(`{"traceEvents":[`+chromeEvents+`],"stackFrames":{"1":{"name":"f"}},"samples":[{"name":"cycles","ts":1,"sf":1},{"ts":2}]}`), new(reading.Options))
	if err != nil {
		t.Fatal(err)
	}
	if n := r.Accounting.Dropped["CPU samples beside the events"]; n != 2 {
		t.Errorf("%d dropped, want 2", n)
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "2 CPU samples that stand beside the events are not read: ")
	}) {
		t.Errorf("warnings: %q", r.Warnings)
	}
}

func TestChromeJSONErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"traceEvents":[]}`:   "has too little: of 0 events",
		`{"traceEvents":7}`:    "traceEvents is no list",
		`[{"ph":"X"} {]`:       "at 0x",
		`{"traceEvents":[`:     "ends before the first event",
		`[{"ph":"i","ts":1}]`:  "has too little: of 1 events",
		`{"traceEvents":[]}{]`: "has too little",
	} {
		if _, err := readChrome(t, []byte(text), new(reading.Options)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error is %v, want %q", text, err, want)
		}
	}
}

// TestForeignChromeJSON compares what other programs wrote with what encoding/json finds there. node is of node
// --trace-event-categories v8,node, clang of clang++ -ftime-trace -ftime-trace-granularity=2000, typescript of tsc --generateTrace.
func TestForeignChromeJSON(t *testing.T) {
	for name, overlapping := range map[string]int{
		"node": 0, "typescript": 0,
		// Times are rounded to µs, so that some slices seem to end a µs after the one that they are in.
		"clang": 10,
	} {
		t.Run(name, func(t *testing.T) {
			src, err := input.Open("testdata/"+name+".json.xz", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			if !RecogniseChrome(src.Head).Is {
				t.Error("is not recognised")
			}
			data, err := io.ReadAll(src.Reader)
			if err != nil {
				t.Fatal(err)
			}
			checkChromeJSON(t, data, overlapping)
		})
	}
}

// TestNode has the Node that is installed write a trace.
func TestNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: no trace can be recorded")
	}
	dir := t.TempDir()
	cmd := exec.Command(node, "--trace-event-categories", "v8,node", "--trace-event-file-pattern", dir+"/trace.json", "-e", "console.log(1)")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("node does not run here: %v\n%s", err, out)
	}
	data, err := os.ReadFile(dir + "/trace.json")
	if err != nil {
		t.Skipf("node wrote no trace: %v", err)
	}
	checkChromeJSON(t, data, 0)
}

// checkChromeJSON compares slices by thread with those that a few lines find.
func checkChromeJSON(t *testing.T, data []byte, overlapping int) {
	t.Helper()
	type event struct {
		Ph, Name string
		PID, TID int
		TS, Dur  float64
		Args     map[string]any
	}
	var list []event
	var object struct{ TraceEvents []event }
	if err := json.Unmarshal(data, &object); err == nil {
		list = object.TraceEvents
	} else if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	want := make(map[string]int)
	open := make(map[string][]float64)
	for _, e := range list {
		thread := fmt.Sprintf("%d/%d", e.PID, e.TID)
		switch {
		case e.Ph == "X" && e.Dur > 0 && e.Args["avg ms"] == nil:
			want[thread]++
		case e.Ph == "B":
			open[thread] = append(open[thread], e.TS)
		case e.Ph == "E" && len(open[thread]) > 0:
			last := len(open[thread]) - 1
			if e.TS > open[thread][last] {
				want[thread]++
			}
			open[thread] = open[thread][:last]
		}
	}
	r, err := readChrome(t, data, &reading.Options{PID: true, TID: true})
	if err != nil {
		t.Fatal(err)
	}
	got := slicesByThread(r)
	missing := 0
	for _, thread := range slices.Sorted(maps.Keys(want)) {
		missing += want[thread] - got[thread]
	}
	if len(want) != len(got) || missing != overlapping {
		t.Errorf("slices by thread: got %v, want %v", got, want)
	}
}

// FuzzChromeJSON checks that any JSON is read or refused, and that samples are accounted for.
func FuzzChromeJSON(f *testing.F) {
	f.Add([]byte("[" + chromeEvents + "]"))
	f.Add([]byte(`{"traceEvents":[{"ph":"X","pid":-1,"tid":1e99,"ts":1e300,"dur":-5,"name":"a"},{"ph":"b","id":{},"pid":[],"ts":1}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := readChrome(t, data, &reading.Options{Timeline: true, Waits: true}); err == nil && r == nil {
			t.Error("neither a run nor an error")
		}
	})
}
