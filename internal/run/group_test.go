package run_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	. "profdiff/internal/run"
)

// TestGroupLabels checks which threads and processes share a row.
func TestGroupLabels(t *testing.T) {
	b := NewBuilder("r")
	e := b.Event(Event{Name: "cpu-cycles"})
	for i, l := range []Labels{
		{Process: "app", Thread: "Binder:812_3"},
		{Process: "app", Thread: "Binder:812_14"},
		{Process: "kworker/0:1", Thread: "kworker/0:1"},
		{Process: "kworker/u4:0", Thread: "kworker/1:2"},
		{Process: "app", Thread: "iou-wrk-4711"},
		{Process: "app", Thread: "iou-wrk-4712"},
		{Process: "app", Thread: "iou-sqp-4711"},
		{Process: "iou-wrk-99", Thread: "iou-wrk-99"}, // its process has no name in the recording
		{Process: "iou-wrk-98", Thread: "iou-wrk-98"},
		{Thread: "main"},
		{Process: "tool"},
	} {
		l.PID, l.TID, l.CPU = -1, -1, -1
		b.Add(e, 0, b.Labels(l), 1<<i)
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		by   GroupBy
		want map[string]int64
	}{
		{ByThread, map[string]int64{
			"Binder:%d_%d": 3, "kworker/%d:%d": 12, "iou-wrk-%d": 0x1b0, "iou-sqp-%d": 0x40, "main": 0x200, "[unknown]": 0x400,
		}},
		{ByEachThread, map[string]int64{
			"Binder:812_3": 1, "Binder:812_14": 2, "kworker/0:1": 4, "kworker/1:2": 8, "iou-wrk-4711": 0x10, "iou-wrk-4712": 0x20,
			"iou-sqp-4711": 0x40, "iou-wrk-99": 0x80, "iou-wrk-98": 0x100, "main": 0x200, "[unknown]": 0x400,
		}},
		{ByProcess, map[string]int64{
			"app": 0x73, "kworker/0:1": 4, "kworker/u4:0": 8, "iou-wrk-%d": 0x180, "[unknown]": 0x200, "tool": 0x400,
		}},
		{ByCategory, map[string]int64{}},
	} {
		got := make(map[string]int64)
		for _, row := range r.Group(test.by) {
			got[row.Name] += row.Self[0].Weight
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", test.by, diff)
		}
	}
}

// TestTreeWithoutStacks checks that samples without a stack are in the tree.
func TestTreeWithoutStacks(t *testing.T) {
	b := NewBuilder("r")
	e := b.Event(Event{Name: "cpu-cycles"})
	f := b.Function(Function{Name: "f"})
	b.Add(e, 0, 0, 5)
	b.Add(e, b.Stack(0, b.Location(0, 1, Line{Function: f})), 0, 7)
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	want := &Node{Total: 12, Samples: 2, Children: []*Node{
		{Name: "f", Self: 7, Total: 7, Samples: 1},
		{Name: "[no stack]", Self: 5, Total: 5, Samples: 1},
	}}
	if diff := cmp.Diff(want, r.Tree(0)); diff != "" {
		t.Error(diff)
	}
}
