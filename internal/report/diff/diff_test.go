package diff

import (
	"bytes"
	"testing"

	"profdiff/internal/compare"
	"profdiff/internal/report/reporttest"
	"profdiff/internal/run"
	"profdiff/internal/run/runtest"
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
