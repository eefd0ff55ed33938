package main

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// TestScripts runs the scripts of Kubernetes and Slurm: their tables are the same as those of one worker.
func TestScripts(t *testing.T) {
	if _, err := exec.LookPath("awk"); err != nil {
		t.Skip("awk is not installed")
	}
	if err := (&trial{dir: filepath.Join(t.TempDir(), "trial"), profiles: 60}).run(); err != nil {
		t.Error(err)
	}
}

// TestDiffer is told what engines may not do.
func TestDiffer(t *testing.T) {
	want := map[key]float64{{By: "function", Function: 1}: 2, {By: "function", Function: 2}: 0}
	for name, x := range map[string]struct {
		got  map[key]float64
		fine bool
	}{
		"near":    {map[key]float64{{By: "function", Function: 1}: 2 + 1e-10, {By: "function", Function: 2}: 0}, true},
		"far":     {map[key]float64{{By: "function", Function: 1}: 2 + 1e-8, {By: "function", Function: 2}: 0}, false},
		"missing": {map[key]float64{{By: "function", Function: 1}: 2}, false},
		"more":    {map[key]float64{{By: "function", Function: 1}: 2, {By: "function", Function: 2}: 0, {By: "model", Function: 1}: 2}, false},
	} {
		if _, err := differ(want, x.got); (err == nil) != x.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}
