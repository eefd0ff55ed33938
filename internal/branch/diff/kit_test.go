package diff

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/recording"
	"profdiff/internal/symbolizer"
)

// runIn runs a tool in a directory. The test is skipped where the tool is not installed.
func runIn(t testing.TB, dir, name string, args ...string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skip(name + " is not installed")
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func searchPath(dir string) []symbolizer.SearchPath {
	return []symbolizer.SearchPath{{Name: dir, FS: os.DirFS(dir)}}
}

// readSimulated reads a file of Callgrind.
func readSimulated(t *testing.T, file string) *branch.Table {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	table, err := recording.Read("x", bytes.NewReader(data), int64(len(data)), &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}
