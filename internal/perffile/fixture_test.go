package perffile_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fixture makes the recording of testdata/NAME.txt.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	return perffiletest.Fixture(t, string(text))
}

// fixtures are the names of all of them.
func fixtures(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(filepath.Base(name), ".txt")
	}
	return names
}

// recordings are the files with recordings that others made.
func recordings(t testing.TB) []string {
	t.Helper()
	var names []string
	for _, dir := range []string{"simpleperf", "linux", "lbr"} {
		files, err := filepath.Glob("../../../shared/perfdata/" + dir + "/*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if perffile.IsPerfData(readFile(t, name)) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		t.Skip("the recordings in ../shared/perfdata are not here")
	}
	return names
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func open(t testing.TB, data []byte, opt perffile.Options) *perffile.File {
	t.Helper()
	f, err := perffile.New(bytes.NewReader(data), int64(len(data)), opt)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// writeText is WriteText for data in memory.
func writeText(data []byte, opt perffile.TextOptions) ([]byte, error) {
	var b bytes.Buffer
	err := perffile.WriteText(&b, bytes.NewReader(data), int64(len(data)), opt)
	return b.Bytes(), err
}

// writeTextPipe is WriteTextPipe for data in memory.
func writeTextPipe(data []byte, opt perffile.TextOptions) ([]byte, error) {
	var b bytes.Buffer
	err := perffile.WriteTextPipe(&b, bytes.NewReader(data), opt)
	return b.Bytes(), err
}

// edit replaces one occurrence of old in text.
func edit(t testing.TB, text, old, replacement string) string {
	t.Helper()
	if strings.Count(text, old) != 1 {
		t.Fatalf("%q is there %d times", old, strings.Count(text, old))
	}
	return strings.Replace(text, old, replacement, 1)
}

// fixtureText makes the recording of text.
func fixtureText(t testing.TB, text string) []byte {
	t.Helper()
	return perffiletest.Fixture(t, text)
}
