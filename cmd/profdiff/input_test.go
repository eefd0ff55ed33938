package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

// What is wrong with all of many runs is said once, and their names are not all listed.
func TestMergeAll(t *testing.T) {
	var runs []*run.Run
	for i := range 5 {
		r := runtest.Build(t, fmt.Sprintf("%d.data", i+1), "cycles t main 1")
		r.Warnings = []string{"2% of the call chains are incomplete"}
		if i == 4 {
			r.Warnings = append(r.Warnings, "the recording ends too early")
		}
		runs = append(runs, r)
	}
	merged, err := mergeAll(runs)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"all 5 runs: 2% of the call chains are incomplete", "5.data: the recording ends too early"}
	if diff := cmp.Diff(want, merged.Warnings); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	if want := "1.data 2.data 3.data and 2 more"; merged.Name != want {
		t.Errorf("called %q, want %q", merged.Name, want)
	}
}
