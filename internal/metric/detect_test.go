package metric

import (
	"io/fs"
	"path/filepath"
	"testing"

	"profdiff/internal/ingest"
	"profdiff/internal/input"
)

// TestOneKind checks that a file is a profile or has metrics, and not both, but for what counters
// print: of that, commands decide.
func TestOneKind(t *testing.T) {
	both := make(map[string]bool)
	for _, name := range []string{"perf stat", "perf stat -j", "perf stat -x", "simpleperf stat", "simpleperf stat --csv"} {
		both[name] = true
	}
	files := 0
	for _, root := range []string{"testdata", "../ingest", "../../cmd/profdiff/testdata/foreign", "../perfstat", "../callgrind"} {
		_ = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(name) == ".go" {
				return nil
			}
			src, err := input.Open(name, nil)
			if err != nil {
				return nil
			}
			defer src.Close()
			profile, profileErr := ingest.Detect(src)
			values, valuesErr := Detect(src.Head)
			if profileErr == nil && valuesErr == nil && !both[profile.Name] {
				t.Errorf("%s is %s and %s", name, profile.Name, values.Name)
			}
			if profileErr == nil || valuesErr == nil {
				files++
			}
			return nil
		})
	}
	if files < 40 {
		t.Errorf("%d files are of any format", files)
	}
}
