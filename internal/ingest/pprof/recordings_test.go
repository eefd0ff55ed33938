package pprof_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/ingest"
	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/pprof"
)

// TestRecordings compares with google/pprof's decoder on every kind of recording.
func TestRecordings(t *testing.T) {
	for _, pattern := range []string{
		"../../../profiles/*/*/*.pb.gz",
		"../../../profiles/*/*/01.data",
		"../../../profiles/*/*/*/01.data",
		"../../../../shared/perfdata/simpleperf/*",
		"../../../../shared/perfdata/linux/*",
		"../../../../shared/perfdata/lbr/*.data",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Logf("there is no %s", pattern)
		}
		for _, file := range files {
			t.Run(strings.ReplaceAll(strings.TrimLeft(file, "./"), "/", "_"), func(t *testing.T) {
				data := ingesttest.ReadFile(t, file)
				if !strings.HasSuffix(file, ".pb.gz") {
					r, err := ingest.Read(ingesttest.Source(t, data), &ingest.Options{PID: true, TID: true, CPU: true, Mode: true, UnknownOffset: true, AllowTruncated: true})
					if err != nil {
						t.Skipf("is no recording of samples: %v", err)
					}
					if len(r.Events) == 0 {
						t.Skipf("there is nothing to write: %q", r.Warnings)
					}
					data = ingesttest.Profile(t, r)
				}
				pprof.CheckAgainstLibrary(t, data)
			})
		}
	}
	if _, err := os.Stat("../../../profiles"); err != nil {
		t.Skipf("the recordings of the repository are not here: %v", err)
	}
}
