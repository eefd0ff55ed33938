package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"profdiff/internal/perfsession"
	"profdiff/internal/sampler"
)

// TestLive records a program here and compares its stacks with those of perf script.
func TestLive(t *testing.T) {
	for _, tool := range []string{"perf", "setarch", "gcc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	dir := t.TempDir()
	// No configuration and no cache of the user.
	t.Setenv("HOME", dir)
	t.Setenv("DEBUGINFOD_URLS", "")
	t.Setenv("PROFDIFF_SYSROOT", "/")
	for _, build := range []struct {
		name  string
		flags []string
		args  []string
	}{
		{"program", nil, nil},
		{"static program", []string{"-static"}, nil},
		{"static position-independent program", []string{"-static-pie"}, nil},
		{"forks and executes", nil, []string{"children"}},
	} {
		t.Run(build.name, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "stacks")
			gcc := exec.Command("gcc", append([]string{"-O2", "-fomit-frame-pointer", "-o", program, "testdata/stacks.c"}, build.flags...)...)
			if out, err := gcc.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			recording := program + ".data"
			// perf is wrong about libraries after an exec if they moved.
			record := exec.Command("setarch", append([]string{
				"-R", "perf", "record", "-q", "-N", "-e", "cpu-clock", "-F", "997", "--call-graph", "dwarf", "-o", recording, "--", program,
			}, build.args...)...)
			if out, err := record.CombinedOutput(); err != nil {
				t.Skipf("perf cannot record here: %v: %s", err, out)
			}
			c, err := compare(recording, "")
			if err != nil {
				t.Fatal(err)
			}
			// A start of a process may be sampled, where perf and others have nothing to go by.
			if whole := c.ends[perfsession.StackWhole]; c.stacks == 0 || c.right() < 98 || 100*whole < 98*c.stacks {
				c.print(os.Stderr, build.name, 2)
				t.Errorf("%d of %d stacks are whole, %.2f%% equal to perf's or right against it", whole, c.stacks, c.right())
			}
			t.Logf("%d stacks, %d whole, %.2f%% equal to perf's or right against it", c.stacks, c.ends[perfsession.StackWhole], c.right())
		})
	}
}

// TestBuiltinRecorder compares the stacks of recordings of the built-in recorder: perf finds as much in
// them as profdiff.
func TestBuiltinRecorder(t *testing.T) {
	for _, tool := range []string{"gcc", "perf"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	if err := sampler.Probe(); err != nil {
		t.Skip(err)
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("DEBUGINFOD_URLS", "")
	t.Setenv("PROFDIFF_SYSROOT", "/")
	program := filepath.Join(t.TempDir(), "stacks")
	gcc := exec.Command("gcc", "-O2", "-fno-omit-frame-pointer", "-o", program, "testdata/stacks.c")
	if out, err := gcc.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, stack := range map[string]int{"frame pointers": 0, "stacks": 8192} {
		t.Run(name, func(t *testing.T) {
			recording := filepath.Join(t.TempDir(), "perf.data")
			event, err := sampler.ParseEvent("cpu-clock")
			if err != nil {
				t.Fatal(err)
			}
			event.Period = 1_003_009
			opt := &sampler.Options{Events: []sampler.Event{event}, Chains: true, Stack: stack, Version: "profdiff", Command: []string{"profdiff"}}
			_, err = sampler.Record(opt, recording, func() error {
				// As setarch -R does, for what this thread starts: perf is wrong about libraries after an
				// exec if they moved.
				const noRandomAddresses = 0x0040000
				if _, _, errno := syscall.Syscall(syscall.SYS_PERSONALITY, noRandomAddresses, 0, 0); errno != 0 {
					return errno
				}
				return exec.Command(program, "children").Run()
			})
			if err != nil {
				t.Fatal(err)
			}
			c, err := compare(recording, "")
			if err != nil {
				t.Fatal(err)
			}
			equal := 0
			for _, k := range c.classes {
				if strings.HasPrefix(k.name, "equal") {
					equal += k.n
				}
			}
			if c.stacks == 0 || 100*equal < 98*c.stacks {
				c.print(os.Stderr, name, 2)
				t.Errorf("%d of %d stacks are equal", equal, c.stacks)
			}
		})
	}
}
