package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/shape"
	"profdiff/internal/objects/objectstest"
	"profdiff/internal/verdict"
)

// TestDiffMessageHeap compares a comparator with branches with one without.
func TestDiffMessageHeap(t *testing.T) {
	dir := "../../../profiles/message-heap/callgrind/"
	base, head := readSimulated(t, dir+"before.out"), readSimulated(t, dir+"after.out")
	d, err := Compare([]*branch.Table{base}, []*branch.Table{head}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !d.Counted || d.Normalization.Mode != PerRun || d.Normalization.Executions != 1 || d.Normalization.Branches < 50 {
		t.Errorf("counted %t, %+v", d.Counted, d.Normalization)
	}
	if d.Total.Base != float64(base.Misses) || d.Total.Head != float64(head.Misses) {
		t.Errorf("total %v → %v, want %d → %d", d.Total.Base, d.Total.Head, base.Misses, head.Misses)
	}
	type row struct {
		Function   string
		Line       int64
		Base, Head float64
		Verdict    verdict.Verdict
	}
	var got []row
	for _, b := range d.Branches[:5] {
		place := b.Base
		if place == nil {
			place = b.Head
		}
		got = append(got, row{place.Function, place.Line, b.Misses.Base, b.Misses.Head, b.Misses.Verdict})
		if b.Misses.Verdict == verdict.Removed && (b.Function == nil || *b.Function != FunctionChange{Name: "message_compare", Base: 1826923, BaseBranches: 3}) {
			t.Errorf("line %d: function %+v", place.Line, b.Function)
		}
	}
	want := []row{
		{"message_compare", 108, 1678970, 0, verdict.Removed},
		{"heap_sift_up", 138, 6, 298493, verdict.Regressed}, // which tests the result
		{"message_compare", 110, 101806, 0, verdict.Removed},
		{"heap_sift_down", 151, 324, 51186, verdict.Regressed},
		{"message_compare", 112, 46147, 0, verdict.Removed},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// The binaries tell what the comparator has instead, though no branch of it is left.
	d, err = Compare([]*branch.Table{base}, []*branch.Table{head}, Options{Objects: objectstest.Dir("../../../profiles/message-heap/symbols")})
	if err != nil {
		t.Fatal(err)
	}
	if r := d.Branches[0].ReplacedBy; r == nil || r.By != shape.ConditionalSet || r.Text != "setg %dl" || r.Line != 104 || r.Head <= r.Base {
		t.Errorf("replaced by %+v", *r)
	}
	if rows := len(d.Branches) + d.Hidden; rows >= len(base.Branches)+len(head.Branches) || rows < max(len(base.Branches), len(head.Branches)) {
		t.Errorf("%d rows of %d and %d branches", rows, len(base.Branches), len(head.Branches))
	}
}
