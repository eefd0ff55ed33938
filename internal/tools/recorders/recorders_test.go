package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"profdiff/internal/record"
	"profdiff/internal/sampler"
)

// TestRecorders records two of the programs twice by each recorder. What does not depend on chance has
// to be the same.
func TestRecorders(t *testing.T) {
	if testing.Short() {
		t.Skip("records several times")
	}
	for _, tool := range []string{"perf", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	if err := sampler.Probe(); err != nil {
		t.Skip(err)
	}
	plan := &record.Plan{Events: []record.Event{{Name: "cpu-clock", Period: 1003009}}}
	if _, _, err := new(record.Perf).Probe(t.Context(), plan); err != nil {
		t.Skip(err)
	}
	profdiff := filepath.Join(t.TempDir(), "profdiff")
	if out, err := exec.Command("go", "build", "-C", "../../..", "-o", profdiff, "./cmd/profdiff").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for i := range programs {
		p := &programs[i]
		if p.name != "exec" && p.name != "forks" {
			continue
		}
		r, err := compare(t.Context(), p, filepath.Join(t.TempDir(), p.name), profdiff, 2)
		if err != nil {
			t.Fatal(err)
		}
		perf, own := &r.sides[0], &r.sides[1]
		if perf.processes != own.processes || r.threads != "none" {
			t.Errorf("%s: perf has %s processes, the built-in recorder %s; threads of only one: %s", p.name, perf.processes, own.processes, r.threads)
		}
		if own.samples < perf.samples/2 || own.unnamed > perf.unnamed+0.02 {
			t.Errorf("%s: %d samples, %d of perf; without a name %.3f, %.3f of perf", p.name, own.samples, perf.samples, own.unnamed, perf.unnamed)
		}
		for _, d := range r.complaints {
			t.Errorf("%s: %s", p.name, d)
		}
	}
}
