package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"profdiff/internal/record"
	"profdiff/internal/sampler"
)

func needTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("%s is not installed", name)
	}
}

// needPerf skips the test where perf is not there, or may not record.
func needPerf(t *testing.T) {
	t.Helper()
	needTool(t, "perf")
	if out, err := exec.Command("perf", "record", "-q", "-e", "cpu-clock", "-o", filepath.Join(t.TempDir(), "perf.data"), "true").CombinedOutput(); err != nil {
		t.Skipf("perf cannot record here: %v: %s", err, out)
	}
}

// needEvents skips the test where nothing can be recorded.
func needEvents(t *testing.T) {
	t.Helper()
	if err := sampler.Probe(); err != nil {
		t.Skip(err)
	}
}

// TestRecordScripts records for real. Scripts whose names begin with android have a
// device, see [androidDevice]; those whose names begin with callgrind need no rights to record, and
// those with fake bring a perf of their own. None needs another perf, but with the condition [perf].
func TestRecordScripts(t *testing.T) {
	t.Parallel()
	t.Run("here", func(t *testing.T) {
		t.Parallel()
		needEvents(t)
		runRecordScripts(t, "[^acf]*.txtar", nil)
	})
	t.Run("callgrind", func(t *testing.T) {
		t.Parallel()
		runRecordScripts(t, "callgrind*.txtar", nil)
	})
	t.Run("fake perf", func(t *testing.T) {
		t.Parallel()
		runRecordScripts(t, "fake*.txtar", nil)
	})
	t.Run("simpleperf", func(t *testing.T) {
		t.Parallel()
		runRecordScripts(t, "android*.txtar", func(e *testscript.Env) error {
			env, err := androidDevice(e.WorkDir, devicePrograms)
			if err != nil {
				return err
			}
			e.Vars = append(e.Vars, env...)
			return deviceRecordings(filepath.Join(e.WorkDir, "device"))
		})
	})
}

func runRecordScripts(t *testing.T, pattern string, setup func(*testscript.Env) error) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata/record", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("scripts %s: %v, %v", pattern, files, err)
	}
	testscript.Run(t, testscript.Params{
		Files: files,
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, noFiles...)
			if setup == nil {
				return nil
			}
			return setup(e)
		},
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Condition:           recordConditions,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":    exits,
			"filled":   filled,
			"inflated": inflated,
			"edit":     edit,
			"perfdata": perfData,
			"disk":     smallDisk,
		},
	})
}

// recordConditions tells scripts what works here: [disk] for the command disk, [kernel] if the kernel
// may be recorded, as root may, [perf] if perf is there and may record, [root], and [limited] if users
// may not record the kernel.
func recordConditions(condition string) (bool, error) {
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	switch condition {
	case "disk":
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
			return false, nil
		}
		return true, syscall.Unmount(dir, syscall.MNT_DETACH)
	case "kernel":
		event, err := sampler.ParseEvent("cpu-clock:k")
		if err != nil {
			return false, err
		}
		_, err = sampler.Count([]sampler.Event{event}, exec.Command("true").Run)
		return err == nil, nil
	case "perf":
		return exec.Command("perf", "record", "-q", "-e", "cpu-clock:u", "-o", filepath.Join(dir, "perf.data"), "true").Run() == nil, nil
	case "root":
		return os.Geteuid() == 0, nil
	case "limited":
		text, err := os.ReadFile("/proc/sys/kernel/perf_event_paranoid")
		level, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return level == 2, err // kernels that know more levels let users record nothing
	}
	return false, fmt.Errorf("condition %q is not known", condition)
}

// disk DIR MB makes a folder that is a disk of so many megabytes.
func smallDisk(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.Mkdir(dir, 0o777))
	ts.Check(syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+args[1]+"m"))
	ts.Defer(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			ts.Logf("%s stays mounted: %v", dir, err)
		}
	})
}

// A stopper interrupts a command that has printed some text.
type stopper struct {
	bytes.Buffer
	after string
	stop  func()
}

func (s *stopper) Write(p []byte) (int, error) {
	n, err := s.Buffer.Write(p)
	if strings.Contains(s.String(), s.after) {
		s.stop()
	}
	return n, err
}

// An interrupted recording goes on where it was.
func TestRecordInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("records several times")
	}
	t.Parallel()
	needEvents(t)
	dir := t.TempDir()
	args := []string{"record", "--seed", "20", "--before", "sleep 0.3", "--after", "sleep 0.2", "--runs", "3", "--warmup", "0", "-o", dir}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	stderr := &stopper{after: "2 of 6", stop: stop}
	if code := execute(ctx, args, nil, new(bytes.Buffer), stderr); code != exitInput {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if want := "(2 of 6 runs are in " + dir + ": the same command goes on)"; !strings.Contains(stderr.String(), want) {
		t.Errorf("it says %s, want %s", stderr, want)
	}
	files := func() (names []string) {
		for _, pattern := range []string{"before/*", "after/*", ".*"} {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range found {
				name, err := filepath.Rel(dir, name)
				if err != nil {
					t.Fatal(err)
				}
				names = append(names, name)
			}
		}
		return names
	}
	if diff := cmp.Diff([]string{"before/01.data", "after/01.data"}, files()); diff != "" {
		t.Errorf("files: %s", diff)
	}
	var again bytes.Buffer
	if code := execute(t.Context(), args, nil, new(bytes.Buffer), &again); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &again)
	}
	if rec, err := record.Open(dir); err != nil || len(rec.Runs) != 6 || len(files()) != 6 {
		t.Errorf("after going on: %v, %v", files(), err)
	}
}

// Without perf, one line says so, and what was recorded is of use.
func TestRecordWithoutPerf(t *testing.T) {
	if testing.Short() {
		t.Skip("records several times")
	}
	needPerf(t)
	dir := t.TempDir()
	args := func(runs string) []string {
		return []string{"record", "-q", "--with", "perf", "--before", "/bin/sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done'", "--after", "/bin/sh -c 'i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done'", "--runs", runs, "--warmup", "0", "-e", "cpu-clock", "-o", dir}
	}
	var stderr bytes.Buffer
	if code := execute(t.Context(), args("1"), nil, new(bytes.Buffer), &stderr); code != exitOK {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	stderr.Reset()
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	const want = "profdiff: perf is not installed: install the package linux-perf (linux-tools-generic on Ubuntu), or record --with callgrind\n"
	if code := execute(t.Context(), args("2"), nil, new(bytes.Buffer), &stderr); code != exitInput || stderr.String() != want {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
	diffs(t, dir)
	t.Setenv("PATH", path)
	if code := execute(t.Context(), args("2"), nil, new(bytes.Buffer), &stderr); code != exitOK {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}

// diffs checks that diff takes a folder as it is.
func diffs(t *testing.T, dir string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), []string{"diff", dir, "--limit", "1"}, nil, &stdout, &stderr)
	text := strings.ReplaceAll(stdout.String(), "cpu-clock:u: ", "cpu-clock: ") // of users who may not record the kernel
	if code != exitOK || !strings.Contains(text, "\ncpu-clock: ") {
		t.Errorf("diff: exit code %d: %s%s", code, &stdout, &stderr)
	}
}

func TestRecordCallgrind(t *testing.T) {
	if testing.Short() {
		t.Skip("runs valgrind")
	}
	t.Parallel()
	needTool(t, "valgrind")
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	code := execute(t.Context(), []string{"record", "--with", "callgrind", "--before", "seq 2000", "--after", "seq 1000", "--runs", "1", "--warmup", "0", "-o", dir}, nil, &stdout, &stderr)
	if code != exitOK {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	code = execute(t.Context(), []string{"diff", dir, "--event", "Ir", "--limit", "1"}, nil, &stdout, &stderr)
	if code != exitOK || !strings.Contains(stdout.String(), "Ir: ") {
		t.Errorf("exit code %d: %s%s", code, &stdout, &stderr)
	}
}

// What recording costs is said without the commands.
func TestOverhead(t *testing.T) {
	for _, test := range []struct {
		progress record.Progress
		want     string
	}{
		{
			record.Progress{Elapsed: 43100 * time.Millisecond, Spent: record.Spent{Commands: 40 * time.Second, Recorder: 2800 * time.Millisecond}},
			"20 runs in 43.1 s: the commands 40.0 s, perf before and after them 2.8 s (7.0 % of that), the rest 0.3 s (0.8 % of that)",
		},
		{
			record.Progress{Elapsed: 41 * time.Second, Spent: record.Spent{Commands: 40 * time.Second}},
			"20 runs in 41.0 s: the commands 40.0 s, the rest 1.0 s (2.5 % of that)",
		},
		{record.Progress{}, "20 runs in 0.0 s: the commands 0.0 s"},
	} {
		if diff := cmp.Diff(test.want, overhead("perf", 20, &test.progress)); diff != "" {
			t.Error(diff)
		}
	}
}
