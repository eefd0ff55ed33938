package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/objects"
	"profdiff/internal/run"
	"profdiff/internal/wait"
)

// TestLoadJobs has inputs read side by side: runs are in the order of the inputs, and so is the
// error that is reported.
func TestLoadJobs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	l := &loader{io: &stdio{}, waits: make(map[*run.Run]*wait.Report)}
	l.opt.Objects = objects.New(objects.Options{})
	var jobs []job
	for i := range 40 {
		// The first take longest.
		jobs = append(jobs, job{l, write(strings.Repeat("x", i+1), strings.Repeat("main;f 1\n", 1+4000/(i+1)))})
	}
	runs, err := loadJobs(jobs)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range runs {
		if r.Name != jobs[i].name || r.Accounting.In != int64(1+4000/(i+1)) {
			t.Errorf("run %d is of %s with %d samples", i, r.Name, r.Accounting.In)
		}
	}
	missing := job{l, filepath.Join(dir, "missing")}
	metrics := job{l, write("metrics", "no profile\n")}
	for _, test := range []struct {
		jobs []job
		want string
	}{
		{[]job{jobs[0], missing, metrics, jobs[1]}, missing.name},
		{[]job{jobs[0], metrics, missing}, metrics.name},
		{[]job{missing}, missing.name},
	} {
		if _, err := loadJobs(test.jobs); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error is %v, want that of %s", err, test.want)
		}
	}
	if _, err := loadJobs([]job{missing}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if runs, err := loadJobs(nil); err != nil || len(runs) != 0 {
		t.Error(runs, err)
	}
}
