package pprof_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest"
	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/pprof"
	"profdiff/internal/run"
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

// TestPprofNoAddresses: where nobody asks for addresses, sums by path of functions and by source line are what they
// are with them, and stacks are fewer.
func TestPprofNoAddresses(t *testing.T) {
	files, err := filepath.Glob("../../../profiles/*/*/01.data")
	if err != nil || len(files) == 0 {
		t.Skipf("the recordings of the repository are not here: %v", err)
	}
	fewer := 0
	for _, file := range files {
		recording, err := ingest.Read(ingesttest.Source(t, ingesttest.ReadFile(t, file)), &ingest.Options{})
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		data := ingesttest.Profile(t, recording)
		read := func(opt ingest.Options) *run.Run {
			r, err := ingest.Read(ingesttest.Source(t, data), &opt)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			return r
		}
		with, without := read(ingest.Options{}), read(ingest.Options{NoAddresses: true})
		for event := range with.Events {
			if diff := cmp.Diff(with.Folded(event), without.Folded(event)); diff != "" {
				t.Errorf("%s: stacks with addresses, and without: %s", file, diff)
			}
		}
		if diff := cmp.Diff(linesOf(with), linesOf(without)); diff != "" {
			t.Errorf("%s: samples by line with addresses, and without: %s", file, diff)
		}
		if without.Accounting.UnknownFrames != with.Accounting.UnknownFrames || without.Accounting.Frames != with.Accounting.Frames {
			t.Errorf("%s: %v without addresses, %v with", file, run.Account(without), run.Account(with))
		}
		if without.Stacks.Len() < with.Stacks.Len() {
			fewer++
		}
		for i := range without.Locations {
			if without.Locations[i].Address != 0 {
				t.Fatalf("%s: location %d is at %#x", file, i, without.Locations[i].Address)
			}
		}
	}
	if fewer == 0 {
		t.Errorf("of %d profiles none has fewer stacks without addresses", len(files))
	}
}

// linesOf sums samples by the innermost function and line.
func linesOf(r *run.Run) map[string]int64 {
	sums := make(map[string]int64)
	for i := range r.Samples {
		s := &r.Samples[i]
		if s.Stack != 0 {
			l := r.Locations[r.Stacks.Location(s.Stack)].Lines[0]
			sums[fmt.Sprintf("%s %s:%d", r.Events[s.Event].Name, r.Functions[l.Function].Name, l.Line)] += s.Weight
		}
	}
	return sums
}
