package gecko

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/pprof"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
)

// ofRows is a profile as gecko_profile_generator.py writes it: rows, with keys in
// order of name, so that rows come before their schema and samples before stacks.
const ofRows = `{"libs": [], "meta": {"abi": "aarch64", "categories": [{"color": "yellow", "name": "User", "subcategories": ["Other"]}],
 "device": "Google:Pixel 2:walleye", "product": "/data/local/tmp/simpleperf record -g", "startTime": 1512941771000, "platform": {"not": ["text"]}, "version": [24]},
 "pausedRanges": [], "processes": [], "threads": [
 {"frameTable": {"data": [[0, false, 0, null, null, null, null, 0, 0], [1, false, 0, null, {"a": [1, {"b": 2}]}, null, null, 0, 0], [2, false, 0, null, null, 12, 3, 0, 0]],
   "schema": {"category": 7, "column": 6, "implementation": 3, "innerWindowID": 2, "line": 5, "location": 0, "optimizations": 4, "relevantForJS": 1, "subcategory": 8}},
  "markers": {"data": [], "schema": {"name": 0}}, "name": "main", "pid": 7, "processType": "default", "registerTime": 0,
  "samples": {"data": [[1, 1000.5, 0], [2, 1001.5, 0], [1, 1002.5, 0], [null, 1003.5, 0]], "schema": {"responsiveness": 2, "stack": 0, "time": 1}},
  "stackTable": {"data": [[null, 0, 0], [0, 1, 0], [1, 2, 0]], "schema": {"category": 2, "frame": 1, "prefix": 0}},
  "stringTable": ["__libc_init (in /apex/libc.so)", "f(int (*)(int)) (in /data/app/base.apk!/lib/libx.so)", "libx.so[+1f] (in /data/app/libx.so)"],
  "tid": 8, "unregisterTime": null}]}
`

// processed is a profile in the processed format, of columns. Tables are shared, but
// for the strings of the second thread.
const processed = `{
 "meta": {"interval": 1, "preprocessedProfileVersion": 62, "product": "test", "startTime": 1636162232627, "CPUName": "M1", "oscpu": "macOS"},
 "libs": [{"name": "app", "path": "/bin/app", "codeId": "510D0A5C", "debugName": "app"}],
 "threads": [
  {"name": "GeckoMain", "processName": "app", "pid": "123", "tid": "123.1",
   "samples": {"length": 4, "stack": [null, 2, 1, 2], "timeDeltas": [10, 1, 1, 2], "weight": [1, 2, 0, 5], "weightType": "samples", "threadCPUDelta": [0, 1, 2, 3]}},
  {"name": "pool", "pid": 123, "tid": 125, "stringArray": ["x", "y", "z", "/src/z.c"],
   "samples": {"length": 2, "stack": [0, 0], "time": [20.5, 1], "weight": null, "weightType": "samples"}}
 ],
 "shared": {
  "stringArray": ["main", "0x1f", "inner", "/src/a.c"],
  "stackTable": {"length": 3, "frame": [0, 1, 2], "prefix": [null, 0, 1]},
  "frameTable": {"length": 3, "address": [-1, 31, 31], "func": [0, 1, 2], "line": [null, null, 12], "column": [null, null, 3], "inlineDepth": [0, 0, 1]},
  "funcTable": {"length": 3, "name": [0, 1, 2], "resource": [-1, 0, 0], "source": [null, null, 0], "lineNumber": [null, null, 10], "isJS": [false, false, false]},
  "resourceTable": {"length": 1, "lib": [0], "name": [0], "type": [1]},
  "sources": {"length": 1, "filename": [3], "id": [null]}
 }
}`

func TestGeckoRows(t *testing.T) {
	r := ingesttest.Read(t, Read, []byte(ofRows), &reading.Options{PID: true, TID: true})
	if d := cmp.Diff(map[string]run.FoldedSum{
		"__libc_init;f(int (*)(int))":           {Weight: 2, Count: 2},
		"__libc_init;f(int (*)(int));[libx.so]": {Weight: 1, Count: 1},
		"":                                      {Weight: 1, Count: 1},
	}, ingesttest.Sums(t, r, "samples")); d != "" {
		t.Errorf("stacks (-want +got):\n%s", d)
	}
	if d := cmp.Diff(run.Recording{
		Format: "gecko", Tool: "simpleperf", CommandLine: "/data/local/tmp/simpleperf record -g", Arch: "aarch64",
		Device: "Google:Pixel 2:walleye", Start: time.UnixMilli(1512941771000 - 3).UTC(), Duration: 3 * time.Millisecond,
	}, r.Recording); d != "" {
		t.Errorf("recording (-want +got):\n%s", d)
	}
	if l := r.Labels[1]; l.Thread != "main" || l.PID != 7 || l.TID != 8 {
		t.Errorf("labels %+v", l)
	}
	if m := r.Mappings[2]; m.File != "/data/app/base.apk!/lib/libx.so" || m.Kind != run.NativeMapping || m.Limit != math.MaxUint64 {
		t.Errorf("mapping %+v", m)
	}
	if len(ingesttest.ReaderWarnings(r)) != 1 || !strings.Contains(ingesttest.ReaderWarnings(r)[0], "4 samples have no weight") {
		t.Errorf("warnings %q", r.Warnings)
	}
}

func TestGeckoProcessed(t *testing.T) {
	r := ingesttest.Read(t, Read, []byte(processed), &reading.Options{TID: true})
	if d := cmp.Diff(map[string]run.FoldedSum{
		"":                 {Weight: 1, Count: 1},
		"main;[app];inner": {Weight: 7, Count: 7},
		"x":                {Weight: 2, Count: 2},
	}, ingesttest.Sums(t, r, "samples")); d != "" {
		t.Errorf("stacks (-want +got):\n%s", d)
	}
	if d := cmp.Diff(run.Recording{
		Format: "gecko", Tool: "test", CPU: "M1", Start: time.UnixMilli(1636162232628).UTC(), Duration: 19500 * time.Microsecond,
	}, r.Recording); d != "" {
		t.Errorf("recording (-want +got):\n%s", d)
	}
	var inner *run.Location
	for i := range r.Locations {
		if r.Functions[r.Locations[i].Lines[0].Function].Name == "inner" {
			inner = &r.Locations[i]
		}
	}
	if f := r.Functions[inner.Lines[0].Function]; f.File != "/src/a.c" || f.StartLine != 10 || inner.Lines[0].Line != 12 || inner.Address != 31 {
		t.Errorf("location %+v of %+v", inner, f)
	}
	if m := r.Mappings[inner.Mapping]; m.File != "/bin/app" || m.BuildID != "510d0a5c" {
		t.Errorf("mapping %+v", m)
	}
	if l := r.Labels[1]; l.Process != "app" || l.Thread != "GeckoMain" || l.TID != 123 {
		t.Errorf("labels %+v", l)
	}
}

func TestGeckoVariants(t *testing.T) {
	// A table in each thread, and a profile per process.
	old := `{"meta": {"version": 5}, "libs": [], "threads": [], "processes": [` + strings.Replace(ofRows, `"libs": [], `, "", 1) + `]}`
	if r := ingesttest.Read(t, Read, []byte(old), &reading.Options{}); r.Accounting.In != 4 {
		t.Errorf("of a process: %s", &r.Accounting)
	}
	// Libraries in each thread, and a byte order mark.
	old = strings.Replace(processed, ` "libs": [{"name": "app", "path": "/bin/app", "codeId": "510D0A5C", "debugName": "app"}],`, "", 1)
	old = "\ufeff" + strings.Replace(old, `{"name": "GeckoMain",`, `{"libs": [{"name": "app"}], "name": "GeckoMain",`, 1)
	if r := ingesttest.Read(t, Read, []byte(old), &reading.Options{}); r.Mappings[1].File != "app" {
		t.Errorf("mappings %+v", r.Mappings)
	}
	// Weights in other units.
	for _, tt := range []struct {
		weightType, weights, event, unit string
		weight, count, dropped           int64
	}{
		{"tracing-ms", "[0.5, 1, 2.25, 0]", "tracing-ms", "nanoseconds", 3750000, 4, 0},
		{"bytes", "[16, 0, 32, 8]", "bytes", "bytes", 56, 4, 0},
		{"samples", "[1, null, -3, 2]", "samples", "count", 4, 4, 1},
		{"samples", "[1, 1.4, 1, 2]", "samples", "count", 5, 5, 0},
	} {
		text := strings.Replace(strings.Replace(processed, `"weightType": "samples", "threadCPU`, `"weightType": "`+tt.weightType+`", "threadCPU`, 1),
			"[1, 2, 0, 5]", tt.weights, 1)
		text = text[:strings.Index(text, `,
  {"name": "pool"`)] + text[strings.Index(text, "\n ],\n \"shared\""):]
		r := ingesttest.Read(t, Read, []byte(text), &reading.Options{})
		e := r.Events[0]
		if e.Name != tt.event || e.Unit != tt.unit || e.Weight != tt.weight || e.Samples != tt.count || r.Accounting.TotalDropped() != tt.dropped {
			t.Errorf("%s %s: event %+v, %s", tt.weightType, tt.weights, e, &r.Accounting)
		}
	}
}

func TestGeckoErrors(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(processed, old) {
			t.Fatalf("profile has no %s", old)
		}
		return strings.Replace(processed, old, new, 1)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"cut off", processed[:300], "unexpected EOF"},
		{"no JSON", "{\"threads\": nope}", "invalid character"},
		{"not closed", `{"threads": [`, "unexpected EOF"},
		{"behind", processed + "{}", "text follows the profile"},
		{"no object", "[]", "at 0x1: [ where { should start"},
		{"no threads", `{"meta": {}}`, "profile has no threads"},
		{"length", replace(`"stackTable": {"length": 3`, `"stackTable": {"length": 4`), "table says that it has 4 rows, but has 3"},
		{"columns", replace(`"frame": [0, 1, 2]`, `"frame": [0, 1]`), "has 2 rows, others have 3"},
		{"stack", replace("[null, 2, 1, 2]", "[null, 2, 1, 3]"), "thread 0 (GeckoMain): samples: stack: row 3 refers to row 3 of 3"},
		{"fraction", replace("[null, 2, 1, 2]", "[null, 2, 1.5, 2]"), "row 2 refers to row 1.5 of 3"},
		{"huge", replace("[null, 2, 1, 2]", "[null, 2, 1e300, 2]"), "refers to row 1e+300"},
		{"loop", replace(`"prefix": [null, 0, 1]`, `"prefix": [null, 2, 1]`), "stackTable: prefix: row 1 refers to row 2 of 1"},
		{"caller behind", replace(`"prefix": [null, 0, 1]`, `"prefix": [2, 0, 1]`), "stackTable: prefix: row 0 refers to row 2 of 0"},
		{"frame", replace(`"frame": [0, 1, 2]`, `"frame": [0, 1, 9]`), "stackTable: frame: row 2 refers to no frame"},
		{"function", replace(`"func": [0, 1, 2]`, `"func": [0, 1, -1]`), "frameTable: func: row 2 refers to no function"},
		{"name", replace(`"name": [0, 1, 2], "res`, `"name": [0, 1, 99], "res`), "funcTable: name: row 2 refers to row 99 of 4"},
		{"resource", replace(`"resource": [-1, 0, 0]`, `"resource": [-1, 0, 5]`), "funcTable: resource: row 2 refers to row 5"},
		{"library", replace(`"lib": [0]`, `"lib": [1]`), "resourceTable: lib: row 0 refers to row 1"},
		{"weight", replace("[1, 2, 0, 5]", "[9e18, 9e18, 1, 1]"), "samples: weights sum to more than 2^63"},
		{"weight type", replace(`"weightType": "samples", "threadCPU`, `"weightType": "love", "threadCPU`), `samples: unknown weight type "love"`},
		{"string", strings.Replace(ofRows, "[2, false, 0", "[5, false, 0", 1), "frameTable: location: row 2 refers to no string"},
		{"processes", strings.Repeat(`{"processes": [`, 9) + strings.Repeat("]}", 9), "processes nest deeper than 4"},
		{"rows", `{"threads": [{"samples": {"data": [` + strings.Repeat("[],", 1<<20) + "[1,2,3,4,5]]}}]}", "rows have too uneven lengths"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := Read(ingesttest.Source(t, []byte(tt.text)), &reading.Options{})
			if err == nil || r != nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzGecko(f *testing.F) {
	f.Add([]byte(ofRows))
	f.Add([]byte(processed))
	f.Add([]byte(marked))
	f.Add([]byte(`{"threads": [{"name": "a", "samples": {"schema": {"stack": 0}, "data": [[0], [], [null]]}, "stackTable": {"data": [[null, 0]], "schema": {"prefix": 0, "frame": 1}}, "frameTable": {"data": [[0]], "schema": {"location": 0}}, "stringTable": ["f"]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ingesttest.Fuzz(t, Read, data, &reading.Options{PID: true, TID: true, UnknownOffset: true})
	})
}

// TestGeckoRoundTrip checks that a profile in pprof's format reads back the same.
func TestGeckoRoundTrip(t *testing.T) {
	ingesttest.CheckRoundTrip(t, ingesttest.Read(t, Read, []byte(processed), &reading.Options{TID: true}), pprof.Read)
}
