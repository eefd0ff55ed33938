package diff

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"profdiff/internal/compare"
	"profdiff/internal/report/reporttest"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"

	"github.com/google/go-cmp/cmp"
)

func TestDiffJSON(t *testing.T) {
	c, err := compare.Compare([]*run.Run{runtest.Build(t, "base", reporttest.BaseRun)}, []*run.Run{runtest.Build(t, "head", reporttest.HeadRun)}, compare.Options{Normalize: compare.None, GroupBy: []run.GroupBy{run.ByCategory, run.ByThread, run.ByDSO}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, New(c, Parts{})); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/diff.json", b.Bytes())
	reporttest.Validate(t, reporttest.Schema[Document](t, "diff.schema.json"), b.Bytes())
}

func TestDiffCSV(t *testing.T) {
	d := New(comparison(t, []*run.Run{runtest.Build(t, "base", reporttest.BaseRun)}, []*run.Run{runtest.Build(t, "head", reporttest.HeadRun)}, compare.Options{Normalize: compare.None}), Parts{})
	reporttest.Golden(t, "testdata/diff.csv", reporttest.Written(t, func(w io.Writer) error { return WriteCSV(w, d) }))
}

func TestDiffText(t *testing.T) {
	c, err := compare.Compare([]*run.Run{runtest.Build(t, "base", reporttest.BaseRun)}, []*run.Run{runtest.Build(t, "head", reporttest.HeadRun)}, compare.Options{Normalize: compare.None, GroupBy: []run.GroupBy{run.ByCategory, run.ByThread, run.ByDSO}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := WriteText(&b, New(c, Parts{}), Options{}); err != nil {
		t.Fatal(err)
	}
	reporttest.Golden(t, "testdata/diff.txt", b.Bytes())
}

// TestJSONAgain checks that a document that was read from JSON is written as it was.
func TestJSONAgain(t *testing.T) {
	c := comparison(t, []*run.Run{runtest.Build(t, "base", reporttest.BaseRun)}, []*run.Run{runtest.Build(t, "head", reporttest.HeadRun)},
		compare.Options{Normalize: compare.Total, GroupBy: []run.GroupBy{run.ByCategory, run.ByThread}})
	var first, again bytes.Buffer
	if err := WriteJSON(&first, New(c, Parts{})); err != nil {
		t.Fatal(err)
	}
	var d Document
	if err := json.Unmarshal(first.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if err := WriteJSON(&again, &d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first.String(), again.String()); diff != "" {
		t.Errorf("written again (-first +again):\n%s", diff)
	}
}
