package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

const page = "../../report/html"

// TestFresh builds what is checked in, in memory.
func TestFresh(t *testing.T) {
	files, err := build(page)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(page, "dist"))
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(files) {
		t.Errorf("dist holds %d files, %d are built", len(entries), len(files))
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(page, "dist", name))
		if err != nil {
			t.Error(err)
			continue
		}
		if !bytes.Equal(got, want) {
			t.Errorf("dist/%s is not what its sources give: go generate ./internal/report/html", name)
		}
	}
}
