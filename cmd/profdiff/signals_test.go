//go:build linux

package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// process is this program as a process of its own, in a folder.
func process(t testing.TB, dir string, args ...string) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	cmd = exec.CommandContext(ctx, exe)
	stderr = new(bytes.Buffer)
	cmd.Args, cmd.Dir, cmd.Stderr = append([]string{"profdiff"}, args...), dir, stderr
	return cmd, stderr
}

// names are what a folder has.
func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// TestSignals ends commands while they read a pipe that never ends.
func TestSignals(t *testing.T) {
	for _, test := range []struct {
		name    string
		args    []string
		signals []syscall.Signal
		code    int
	}{
		{"interrupt", []string{"convert", "fifo", "-o", "out.pb.gz"}, []syscall.Signal{syscall.SIGINT}, 130},
		{"terminate", []string{"show", "fifo"}, []syscall.Signal{syscall.SIGTERM}, 143},
		{"hang up", []string{"diff", "fifo", "fifo", "--html", "page.html"}, []syscall.Signal{syscall.SIGHUP}, 129},
		{"twice", []string{"branches", "fifo"}, []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, 130},
		{"dump", []string{"dump", "fifo"}, []syscall.Signal{syscall.SIGTERM}, 143},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o666); err != nil {
				t.Skip(err)
			}
			fifo, err := os.OpenFile(filepath.Join(dir, "fifo"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer fifo.Close()
			if _, err := fifo.WriteString("main;a 1\n"); err != nil {
				t.Fatal(err)
			}
			cmd, stderr := process(t, dir, test.args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for range 6000 { // until it has read what is there
				if n, err := unix.IoctlGetInt(int(fifo.Fd()), unix.TIOCINQ); err != nil {
					t.Fatal(err)
				} else if n == 0 {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			for _, s := range test.signals {
				if err := cmd.Process.Signal(s); err != nil {
					t.Fatal(err)
				}
				time.Sleep(10 * time.Millisecond) // so that the first is the first
			}
			_ = cmd.Wait() // it was ended
			if code := cmd.ProcessState.ExitCode(); code != test.code || stderr.String() != "profdiff: interrupted\n" {
				t.Errorf("code %d, want %d: %s", code, test.code, stderr)
			}
			if got := names(t, dir); len(got) != 1 {
				t.Errorf("left are %q", got)
			}
		})
	}
}

// TestSignalWhileRecording ends a recorder while its command runs: the command ends, and no part of
// a recording is left.
func TestSignalWhileRecording(t *testing.T) {
	for _, shell := range []string{
		"touch started; sleep 60",
		"trap '' TERM INT HUP; touch started; while true; do sleep 1; done", // which does not listen
	} {
		dir := t.TempDir()
		line := "sh -c '" + strings.ReplaceAll(shell, "'", `'\''`) + "'"
		cmd, stderr := process(t, dir, "record", "--before", line, "--after", line, "--runs", "1", "--warmup", "0", "-o", "runs")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		started := func() bool {
			_, err := os.Stat(filepath.Join(dir, "started"))
			return err == nil
		}
		for !started() {
			select {
			case <-ended:
				t.Skipf("nothing can be recorded here: %s", stderr)
			case <-time.After(10 * time.Millisecond):
			}
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-ended
		if code := cmd.ProcessState.ExitCode(); code != 143 || strings.Count(stderr.String(), "interrupted\n") != 1 {
			t.Errorf("code %d: %s", code, stderr)
		}
		for _, side := range []string{"", "before", "after"} {
			parts, err := filepath.Glob(filepath.Join(dir, "runs", side, ".*"))
			if err != nil || len(parts) > 0 {
				t.Errorf("left are %q, %v", parts, err)
			}
		}
		if left, err := exec.Command("pgrep", "-f", dir).Output(); err == nil {
			t.Errorf("processes %s are left", left)
		}
	}
}

// TestClosedPipe writes to a pipe that nobody reads: that is one line, and what was begun is
// removed.
func TestClosedPipe(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.folded", "b.folded"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("main;"+name+" 1\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	cmd, stderr := process(t, dir, "diff", "a.folded", "b.folded", "--html", "page.html")
	cmd.Stdout = w
	if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != exitInput {
		t.Errorf("%v", err)
	}
	if got := stderr.String(); !strings.HasSuffix("\n"+got, "\nprofdiff: standard output: broken pipe\n") {
		t.Errorf("said %q", got)
	}
	if got := names(t, dir); len(got) != 2 {
		t.Errorf("left are %q", got)
	}
}
