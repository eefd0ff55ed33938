package symbolizer

import (
	"errors"
	"testing"
	"testing/fstest"
)

// TestFunctionsOf lists the functions of a file that is found by its build ID.
func TestFunctionsOf(t *testing.T) {
	fs := fstest.MapFS{".build-id/" + heapID[:2] + "/" + heapID[2:] + "/elf": file(t, heapBinary)}
	files := NewFiles([]SearchPath{{Name: "symbols", FS: fs}})
	defer files.Close()
	functions, err := files.Functions("/data/local/tmp/message-heap", heapID)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for f := range functions {
		names[f.Name] = true
	}
	for _, name := range []string{"main", "heap_sift_down", "ptmalloc_init.part.0"} {
		if !names[name] {
			t.Errorf("%d functions, and no %s", len(names), name)
		}
	}
	if _, err := files.Functions("/bin/other", "00ff"); !errors.Is(err, errNoFile) {
		t.Errorf("a file that is not there: %v", err)
	}
}
