package otlp_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/ingest"
	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/otlp"
	"profdiff/internal/input"
	schema "profdiff/internal/otlp"
	"profdiff/internal/run"
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

// TestDetectLarge tells profiles whose first message goes on behind the start of the input, which
// is all that a trace of Perfetto shows there.
func TestDetectLarge(t *testing.T) {
	b := run.NewBuilder("large")
	event := b.Event(run.Event{Name: "cpu", Unit: "nanoseconds"})
	for _, functions := range ingesttest.Stacks() {
		var stack run.StackID
		for _, f := range functions {
			name := fmt.Sprint("f", f)
			stack = b.Stack(stack, b.Location(0, 0, run.Line{Function: b.Function(run.Function{Name: name, SystemName: name})}))
		}
		b.AddSum(event, stack, 0, 1, 10, 100)
	}
	r, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range [][]schema.Attribute{nil, {{Key: schema.ServiceName, Value: "shop"}}} {
		var out bytes.Buffer
		if err := schema.Write(&out, r, schema.Options{Resource: resource}); err != nil {
			t.Fatal(err)
		}
		f, err := ingest.Detect(ingesttest.Source(t, out.Bytes()))
		if err != nil || f.Name != otlp.Format || out.Len() < 4*input.HeadSize {
			t.Errorf("%d bytes are taken for %v: %v", out.Len(), f, err)
		}
	}
}
