package symbolizer

import (
	"errors"
	"testing"
	"testing/fstest"

	"profdiff/internal/objects"
	"profdiff/internal/objects/objectstest"
)

// TestFunctionsOf lists the functions of a file that is found by its build ID.
func TestFunctionsOf(t *testing.T) {
	fs := fstest.MapFS{".build-id/" + heapID[:2] + "/" + heapID[2:] + "/elf": objectstest.ReadFile(t, heapBinary)}
	files := objectstest.Stored(fs)
	functions, err := Functions(files, objects.Recorded{Path: "/data/local/tmp/message-heap", BuildID: heapID})
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
	if _, err := Functions(files, objects.Recorded{Path: "/bin/other", BuildID: "00ff"}); !errors.Is(err, objects.ErrNoFile) {
		t.Errorf("a file that is not there: %v", err)
	}
}
