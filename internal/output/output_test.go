//go:build unix

package output

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// tree is what a directory has: contents of files, targets of links.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]string)
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if link, err := os.Readlink(path); err == nil {
			files[e.Name()] = "-> " + link
		} else if data, err := os.ReadFile(path); err == nil {
			files[e.Name()] = string(data)
		}
	}
	return files
}

func put(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	long := strings.Repeat("n", 255)
	put(t, at("old"), "old", 0o600)
	put(t, at("target"), "target", 0o640)
	put(t, at("log"), "one\n", 0o666)
	for _, l := range [][2]string{{"target", "link"}, {"nothing", "dangling"}} {
		if err := os.Symlink(l[0], at(l[1])); err != nil {
			t.Skip(err)
		}
	}
	var s Set
	for _, name := range []string{"new", "old", "link", "dangling", long} {
		if err := s.Write(at(name), text("new")); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := s.Append(at("log"), text("two\n")); err != nil {
			t.Fatal(err)
		}
	}
	before := tree(t, dir)
	if before["old"] != "old" || before["target"] != "target" || before["log"] != "one\n" || before["new"] != "" {
		t.Errorf("before the end: %v", before)
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"new": "new", "old": "new", "link": "-> target", "target": "new", "dangling": "-> nothing", "nothing": "new",
		long: "new", "log": "one\ntwo\ntwo\n",
	}
	if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
		t.Error(diff)
	}
	for name, mode := range map[string]os.FileMode{"old": 0o600, "target": 0o640, "new": 0o666 &^ umask} {
		if info, err := os.Stat(at(name)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, mode)
		}
	}
}

// TestNothing checks that nothing is there of a command that failed.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	put(t, at("input"), "input", 0o666)
	put(t, at("old"), "old", 0o666)
	if err := os.Symlink("input", at("link")); err != nil {
		t.Skip(err)
	}
	if err := os.Link(at("input"), at("hard")); err != nil {
		t.Skip(err)
	}
	failed := errors.New("failed")
	fail := func(w io.Writer) error { return errors.Join(text("half")(w), failed) }
	for name, test := range map[string]struct {
		write func(*Set) error
		want  string
	}{
		"the second fails":  {func(s *Set) error { return s.Write(at("new"), fail) }, "failed"},
		"an input":          {func(s *Set) error { return s.Write(at("input"), text("new")) }, "input: is an input and would be overwritten: write to another file"},
		"a link to one":     {func(s *Set) error { return s.Write(at("link"), text("new")) }, "link: is the input " + at("input") + " and would be overwritten"},
		"its other name":    {func(s *Set) error { return s.Write(at("hard"), text("new")) }, "hard: is the input "},
		"twice":             {func(s *Set) error { return s.Write(at("old"), text("new")) }, "old: is written twice"},
		"a folder":          {func(s *Set) error { return s.Write(dir, text("new")) }, dir + ": is a directory"},
		"not in a folder":   {func(s *Set) error { return s.Write(at("old/new"), text("new")) }, "old/new: not a directory"},
		"folder is missing": {func(s *Set) error { return s.Write(at("none/new"), text("new")) }, "none/new: no such file or directory"},
		"a name too long":   {func(s *Set) error { return s.Write(at(strings.Repeat("n", 256)), text("new")) }, "file name too long"},
	} {
		s := Set{Inputs: func() []string { return []string{at("nothing"), at("input")} }}
		if err := s.Write(at("old"), text("new")); err != nil {
			t.Fatal(err)
		}
		err := test.write(&s)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
		if err := s.Discard(); err != nil {
			t.Error(err)
		}
		want := map[string]string{"input": "input", "hard": "input", "link": "-> input", "old": "old"}
		if diff := cmp.Diff(want, tree(t, dir)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// TestSpecial writes to what must not be replaced.
func TestSpecial(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Skip(err)
	}
	read := make(chan string)
	go func() {
		data, err := os.ReadFile(fifo)
		if err != nil {
			data = []byte(err.Error())
		}
		read <- string(data)
	}()
	var s Set
	if err := s.Write(fifo, text("through")); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "through" {
		t.Errorf("read %q", got)
	}
	if info, err := os.Lstat(fifo); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if err := s.Write("/dev/full", text("x")); err != nil {
		t.Skip(err)
	}
	if err := s.Commit(); err == nil || err.Error() != "/dev/full: no space left on device" {
		t.Errorf("a full disk: %v", err)
	}
}

// TestFolderThatTakesNothing writes to a file in a folder in which none can be made.
func TestFolderThatTakesNothing(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "old")
	put(t, name, "old and long", 0o644)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) }) // else it cannot be removed
	var s Set
	if err := s.Write(name, text("new")); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(name); err != nil || string(data) != "new" {
		t.Errorf("%q, %v", data, err)
	}
	if os.Geteuid() == 0 {
		return // who may do anything
	}
	if err := s.Write(filepath.Join(dir, "other"), text("new")); err == nil || !strings.Contains(err.Error(), "other: permission denied") {
		t.Errorf("a new file: %v", err)
	}
}

// TestSharedMemory writes files to a directory below /dev, where not everything is a device: new ones, and such as are there.
func TestSharedMemory(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "profdiff-test-*")
	if err != nil {
		t.Skipf("/dev/shm is not to be written: %v", err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "out")
	for _, want := range []string{"first", "next"} {
		var s Set
		if err := errors.Join(s.Write(name, text(want)), s.Commit()); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}
