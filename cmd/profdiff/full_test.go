package main

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
)

// A fullDisk takes so many bytes and no more, as standard output that is a file does.
type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if n := min(len(p), d.room); n < len(p) {
		d.room = 0
		return n, &fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.ENOSPC}
	}
	d.room -= len(p)
	return len(p), nil
}

// TestFullDisk has every command that prints do so on a disk that is full, at once and after some
// bytes: what is cut off must not pass for all.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := write("a.folded", "main;f 1000\nmain;g 2000\n"), write("b.folded", "main;f 1500\nmain;g 2000\n")
	budget := write("budget.yaml", "version: 1\ndefaults: {normalize: none}\nbudgets:\n  - id: f\n    match: {function: f}\n    limit: {fail: +10%}\n")
	calls, calls2 := "../../profiles/known-slowdown/callgrind/half.out", "../../profiles/known-slowdown/callgrind/slow10.out"
	recording := "../../profiles/known-slowdown/slow10/01.data"
	heap := "../../profiles/message-heap/callgrind/before.out"
	all := [][]string{
		{},
		{"--version"},
		{"help"},
		{"help", "diff"},
		{"diff", "--help"},
		{"show", a},
		{"show", a, "--tree"},
		{"show", a, "--format", "json"},
		{"diff", a, b},
		{"diff", a, b, "--full"},
		{"diff", a, b, "--format", "json"},
		{"diff", a, b, "--format", "markdown"},
		{"diff", calls, calls2},
		{"convert", a, "-o", "-"},
		{"convert", a, "-o", "-", "--to", "folded"},
		{"dump", recording},
		{"loops", recording},
		{"check", a, b, "--budget", budget},
		{"check", a, b, "--budget", budget, "--format", "json"},
		{"budget", "init", a},
		{"branches", heap},
		{"branches", heap, "--format", "json"},
	}
	for _, args := range all {
		var whole bytes.Buffer
		execute(context.Background(), args, strings.NewReader(""), &whole, io.Discard)
		if whole.Len() == 0 {
			t.Errorf("profdiff %q prints nothing", args)
			continue
		}
		for _, room := range []int{0, whole.Len() / 2, whole.Len() - 1} {
			var errs bytes.Buffer
			code := execute(context.Background(), args, strings.NewReader(""), &fullDisk{room}, &errs)
			if code != exitInput || !strings.Contains(errs.String(), "no space left on device") {
				t.Errorf("profdiff %q where %d of %d bytes have room: exit code %d, %q", args, room, whole.Len(), code, errs.String())
			}
		}
	}
	// What is not tried here runs other programs, or needs more than a file.
	others := []string{"calibrate", "predict", "record", "report", "selftest", "fleet"}
	everyCommand(testRoot(), func(cmd *cobra.Command) {
		words := strings.Fields(cmd.CommandPath())[1:]
		if len(words) == 0 || cmd.HasSubCommands() || slices.Contains(others, words[0]) {
			return
		}
		if !slices.ContainsFunc(all, func(args []string) bool { return len(args) >= 1 && args[0] == words[0] }) {
			t.Errorf("profdiff %s has no line here", strings.Join(words, " "))
		}
	})
}
