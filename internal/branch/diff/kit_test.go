package diff

import (
	"os/exec"
	"strings"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/recording"
	"profdiff/internal/input"
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

// readSimulated reads a file of Callgrind.
func readSimulated(t *testing.T, file string) *branch.Table {
	t.Helper()
	src, err := input.Open(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	table, err := recording.Read(src, &branch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return table
}
