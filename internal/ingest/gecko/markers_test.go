package gecko

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
)

// marked is a profile of two threads, as samply and the profiler write it: samples on the wall clock with the CPU time between
// them, and markers. Paint lies within Awake, Load overlaps it; Click is two markers; Tick does not last; Run has no end.
const marked = `{
 "meta": {"interval": 1, "preprocessedProfileVersion": 58, "product": "app", "startTime": 1636162232627, "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "µs"}},
 "libs": [],
 "threads": [
  {"name": "main", "processName": "app", "pid": "7", "tid": "7", "pausedRanges": [],
   "samples": {"length": 4, "stack": [0, 1, 1, 0], "time": [1, 2, 3, 4], "weight": null, "weightType": "samples", "threadCPUDelta": [0, 900, null, 250]},
   "markers": {"length": 7, "name": [3, 4, 5, 6, 6, 7, 8], "startTime": [10, 11, 12, 30, null, 40, 41], "endTime": [20, 14, 25, null, 33, null, null],
     "phase": [1, 1, 1, 2, 3, 0, 2], "category": [0, 0, 0, 0, 0, 0, 0], "data": [{"type": "Awake"}, null, {"a": [1, {"b": 2}]}, null, null, null, null]}},
  {"name": "worker", "processName": "app", "pid": "7", "tid": "8",
   "samples": {"length": 2, "stack": [1, 1], "time": [1, 2], "weight": null, "weightType": "samples", "threadCPUDelta": [0, 100]},
   "markers": {"length": 0, "name": [], "startTime": [], "endTime": [], "phase": [], "category": [], "data": []}}
 ],
 "shared": {
  "stringArray": ["poll", "work", "main", "Awake", "Paint", "Load", "Click", "Tick", "Run"],
  "stackTable": {"length": 2, "frame": [0, 1], "prefix": [null, null]},
  "frameTable": {"length": 2, "func": [0, 1]},
  "funcTable": {"length": 2, "name": [0, 1]},
  "resourceTable": {"length": 1, "lib": [null], "icon": []}
 }
}`

func TestMarkers(t *testing.T) {
	r := ingesttest.Read(t, Read, []byte(marked), &reading.Options{Timeline: true})
	for event, want := range map[string]map[string]run.FoldedSum{
		"cpu":     {"work": {Weight: 1e6, Count: 2}, "poll": {Weight: 250e3, Count: 1}},
		"samples": {"work": {Weight: 4, Count: 4}, "poll": {Weight: 2, Count: 2}},
		"slices": {
			"Awake": {Weight: 7e6, Count: 1}, "Awake;Paint": {Weight: 3e6, Count: 1}, "Click": {Weight: 3e6, Count: 1},
		},
		"async-slices": {"Load": {Weight: 13e6, Count: 1}},
	} {
		if d := cmp.Diff(want, ingesttest.Sums(t, r, event)); d != "" {
			t.Errorf("%s (-want +got):\n%s", event, d)
		}
	}
	if e := r.Events[0]; e.Name != "cpu" || !e.Derived {
		t.Errorf("first is %+v", e)
	}
	if a := r.Accounting; a.In != 6+4+1 || a.Dropped["markers that do not start or end"] != 1 {
		t.Errorf("accounting %+v", a)
	}
	if r.Recording.Holds != "markers that do not last: 1" {
		t.Errorf("holds %q", r.Recording.Holds)
	}
	// Cycles at a rate that varies are no time.
	r = ingesttest.Read(t, Read, []byte(strings.Replace(marked, `"µs"`, `"variable CPU cycles"`, 1)), &reading.Options{})
	if _, ok := r.EventIndex("cpu"); ok {
		t.Errorf("events %+v", r.Events)
	}
}

func TestMarkersBad(t *testing.T) {
	for _, tt := range []struct{ old, new, want string }{
		{`"name": [3, 4,`, `"name": [99, 4,`, "thread 0 (main): markers: row 0 refers to row 99 of 9"},
		{`"name": [3, 4,`, `"name": [null, 4,`, "markers: row 0 has no name"},
		{`"phase": [1, 1,`, `"phase": [1,`, "has 6 rows, others have 7"},
	} {
		_, err := Read(ingesttest.Source(t, []byte(strings.Replace(marked, tt.old, tt.new, 1))), &reading.Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.new, err, tt.want)
		}
	}
}
