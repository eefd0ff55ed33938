package pprof

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
)

// TestGoKinds reads the profiles of a program in Go, of each kind that runtime/pprof has. Samples of the heap are as many as
// the text of the same profile says (heap profile: 544: 1912120 [2943: 4562072]), sums and what comes first are as in go
// tool pprof -top.
func TestGoKinds(t *testing.T) {
	type event struct {
		Name, Unit      string
		Samples, Weight int64
	}
	for kind, want := range map[string][]event{
		"heap": {
			{"inuse_space", "bytes", 544, 9930339},
			{"inuse_objects", "count", 544, 43808},
			{"alloc_space", "bytes", 2943, 51656940},
			{"alloc_objects", "count", 2943, 944090},
		},
		"allocs": {
			{"alloc_space", "bytes", 2943, 51656940},
			{"inuse_space", "bytes", 544, 9930339},
			{"inuse_objects", "count", 544, 43808},
			{"alloc_objects", "count", 2943, 944090},
		},
		"mutex":        {{"delay", "nanoseconds", 121, 1079351037}, {"contentions", "count", 121, 121}},
		"block":        {{"delay", "nanoseconds", 112, 1404218623}, {"contentions", "count", 112, 112}},
		"goroutine":    {{"goroutine", "count", 11, 11}},
		"threadcreate": {{"threadcreate", "count", 5, 5}},
	} {
		t.Run(kind, func(t *testing.T) {
			data := ingesttest.ReadFile(t, filepath.Join("testdata", "go."+kind+".pb.gz"))
			r := ingesttest.Read(t, Read, data, &reading.Options{})
			var got []event
			for _, e := range r.Events {
				got = append(got, event{e.Name, e.Unit, e.Samples, e.Weight})
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("events (-want +got):\n%s", d)
			}
			ingesttest.CheckRoundTrip(t, r, Read)
		})
	}
}

// TestDifference reads the difference of two profiles of a heap, as /debug/pprof/heap?seconds=30 and go tool pprof -base write
// it: what shrank is counted and left out. The difference that pprof -diff_base makes is refused, see TestPprofErrors.
func TestDifference(t *testing.T) {
	read := func(name string) *profile.Profile {
		p, err := profile.ParseData(ingesttest.ReadFile(t, filepath.Join("testdata", name)))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	less := read("go.heap.pb.gz")
	less.Scale(-1)
	p, err := profile.Merge([]*profile.Profile{less, read("go-more.heap.pb.gz")})
	if err != nil {
		t.Fatal(err)
	}
	var grew, rows int64
	for _, s := range p.Sample {
		if v := s.Value[3]; v > 0 {
			grew += v
		} else if v < 0 {
			rows++
		}
	}
	r := ingesttest.Read(t, Read, encode(t, p), &reading.Options{})
	if e := r.Events[0]; e.Name != "inuse_space" || e.Weight != grew || rows == 0 || r.Accounting.Dropped["negative inuse_space of a difference"] != rows {
		t.Errorf("%s weighs %d, want %d; dropped %v, want %d", e.Name, e.Weight, grew, r.Accounting.Dropped, rows)
	}
}
