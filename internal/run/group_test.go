package run_test

import (
	"fmt"
	"slices"
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
		{Thread: "main", State: "Blocked"},
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
		{ByState, map[string]int64{"Blocked": 0x200, "[unknown]": 0x5ff}},
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

// TestGroupSelf checks that Self is the same as in Group.
func TestGroupSelf(t *testing.T) {
	b := NewBuilder("r")
	e := []uint32{b.Event(Event{Name: "cpu-cycles"}), b.Event(Event{Name: "instructions"})}
	mappings := []uint32{b.Mapping(Mapping{File: "/bin/a"}), b.Mapping(Mapping{File: "/lib/b"}), 0}
	var locations []uint32
	for i := range 12 {
		f := b.Function(Function{Name: fmt.Sprint("f", i%5), File: []string{"a.c", "b.c", ""}[i%3]})
		g := b.Function(Function{Name: fmt.Sprint("g", i%4)})
		locations = append(locations, b.Location(mappings[i%3], uint64(i), Line{Function: f}, Line{Function: g}))
	}
	for i := range 200 {
		var stack StackID
		for d := range i % 4 {
			stack = b.Stack(stack, locations[(i*7+d*5)%len(locations)])
		}
		b.Add(e[i%2], stack, b.Labels(Labels{Process: fmt.Sprint("p", i%2), Thread: []string{"main", "reader", "writer"}[i%3], State: []string{"R", "S"}[i%2]}), int64(i+1))
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	self := func(rows []Row) map[string][]Sum {
		sums := make(map[string][]Sum)
		for _, row := range rows {
			if slices.ContainsFunc(row.Self, func(s Sum) bool { return s != Sum{} }) {
				sums[row.Name+"!"+row.DSO] = row.Self
			}
		}
		return sums
	}
	for _, by := range []GroupBy{ByFunction, ByFile, ByDSO, ByThread, ByEachThread, ByProcess, ByState} {
		want, got := self(r.Group(by)), self(r.GroupSelf(by))
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 2 {
			t.Errorf("%s, %d rows: %s", by, len(want), diff)
		}
	}
}
