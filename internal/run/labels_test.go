package run_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/run"
)

// TestManyLabels adds labels of more than one block, each twice.
func TestManyLabels(t *testing.T) {
	const n = 10_000
	b := run.NewBuilder("many")
	want := []run.Labels{{PID: -1, TID: -1, CPU: -1}}
	for i := range int64(n) {
		want = append(want, run.Labels{Thread: "worker", PID: 1, TID: i, CPU: -1})
	}
	for range 2 {
		for i, l := range want {
			if got := b.Labels(l); got != uint32(i) {
				t.Fatalf("labels %d are number %d", i, got)
			}
			if got := b.LabelsAt(uint32(i)); got != l {
				t.Fatalf("labels %d are %+v", i, got)
			}
		}
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, r.Labels); diff != "" {
		t.Error(diff)
	}
}
