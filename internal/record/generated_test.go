package record

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestKeepNamesOfCode: files of this run are kept where the recording looks for them, and no
// others.
func TestKeepNamesOfCode(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	began := time.Now()
	put := func(name string, written time.Time) {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, written, written); err != nil {
			t.Fatal(err)
		}
	}
	names := []string{"/home/u/jit-12.dump", "/tmp/perf-10.map", "/tmp/perf-11.map", "/tmp/perf-13.map"}
	put(names[0], began.Add(time.Second))
	put(names[1], began.Add(time.Second))
	put(names[2], began.Add(-time.Hour)) // of an earlier process with the number
	for i, want := range [][]string{nil, {
		"/home/u/jit-12.dump is not kept: an earlier run had a process with the same number",
		"/tmp/perf-10.map is not kept: an earlier run had a process with the same number",
	}} {
		notes, err := keepNamesOfCode(dir, root, names, began)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, notes); diff != "" {
			t.Errorf("run %d: %s", i, diff)
		}
	}
	for i, kept := range []bool{true, true, false, false} {
		data, err := os.ReadFile(filepath.Join(dir, SymbolsName, names[i]))
		if kept != (err == nil) || kept && string(data) != names[i] {
			t.Errorf("%s: %q, %v", names[i], data, err)
		}
	}
}
