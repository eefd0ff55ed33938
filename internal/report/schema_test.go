package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
)

var update = flag.Bool("update", false, "rewrite expected outputs")

// golden compares got with a file, or rewrites the file with -update.
func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs, -update rewrites it: %s", file, diff)
	}
}

// schema infers the schema of a document from its Go type and checks that the
// published one is the same.
func schema[T any](t *testing.T, file string) *jsonschema.Resolved {
	t.Helper()
	s, err := jsonschema.For[T](nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, file, append(text, '\n'))
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func validate(t *testing.T, s *jsonschema.Resolved, document []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Error(err)
	}
}

const baseRun = `
cpu-cycles main app!main;app!work;libc!memcpy 100 300
cpu-cycles pool-1 app!main;app!work 50
branch-misses main app!main;libc![libc.so] 1 1
`

const headRun = `
cpu-cycles main app!main;app!work;libc!memcpy 200
cpu-cycles pool-2 app!main;app!fresh 70
branch-misses main app!main 1
`

func TestShowJSON(t *testing.T) {
	r := runtest.Build(t, "base", baseRun)
	r.Counters = []run.Counter{{Name: "merges", Unit: "count", Value: 12, Running: 1}}
	var b bytes.Buffer
	if err := WriteShowJSON(&b, r, ShowOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/show.json", b.Bytes())
	validate(t, schema[ShowDocument](t, "show.schema.json"), b.Bytes())
}

func TestDiffJSON(t *testing.T) {
	c, err := compare.Compare([]*run.Run{runtest.Build(t, "base", baseRun)}, []*run.Run{runtest.Build(t, "head", headRun)}, compare.Options{Normalize: compare.None, GroupBy: []run.GroupBy{run.ByCategory, run.ByThread, run.ByDSO}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteDiffJSON(&b, c); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/diff.json", b.Bytes())
	validate(t, schema[DiffDocument](t, "diff.schema.json"), b.Bytes())
}

func TestDiffText(t *testing.T) {
	c, err := compare.Compare([]*run.Run{runtest.Build(t, "base", baseRun)}, []*run.Run{runtest.Build(t, "head", headRun)}, compare.Options{Normalize: compare.None, GroupBy: []run.GroupBy{run.ByCategory, run.ByThread, run.ByDSO}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteDiff(&b, c, DiffOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/diff.txt", b.Bytes())
}

func TestShowText(t *testing.T) {
	r := runtest.Build(t, "base", baseRun)
	var b bytes.Buffer
	if err := WriteShow(&b, r, ShowOptions{By: run.ByFunction}); err != nil {
		t.Fatal(err)
	}
	if err := WriteTree(&b, r, ShowOptions{MinShare: 0.2}); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/show.txt", b.Bytes())
}
