package otlp_test

import (
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/ingest"
	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/otlp"
)

// TestRecordings checks that what is written of a recording comes back as its profile of pprof
// does, byte for byte.
func TestRecordings(t *testing.T) {
	read := 0
	for _, pattern := range []string{
		"../../../profiles/*/*/*.pb.gz",
		"../../../profiles/*/*/01.data",
		"../../../profiles/*/*/*/01.data",
		"../../../../shared/perfdata/simpleperf/*",
		"../../../../shared/perfdata/linux/*",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			t.Run(strings.ReplaceAll(strings.TrimLeft(file, "./"), "/", "_"), func(t *testing.T) {
				r, err := ingest.Read(ingesttest.Source(t, ingesttest.ReadFile(t, file)), &ingest.Options{PID: true, TID: true, CPU: true, Mode: true, UnknownOffset: true, AllowTruncated: true})
				if err != nil {
					t.Skipf("is no recording of samples: %v", err)
				}
				if len(r.Events) == 0 {
					t.Skipf("there is nothing to write: %q", r.Warnings)
				}
				read++
				otlp.CheckRoundTrip(t, r)
			})
		}
	}
	if read < 10 {
		t.Errorf("%d recordings were read", read)
	}
}
