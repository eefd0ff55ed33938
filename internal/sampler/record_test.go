//go:build linux

package sampler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"profdiff/internal/perffile"
	"profdiff/internal/record/command"
)

// Commands of this test, which runs itself.
const (
	spinFor  = "SAMPLER_TEST_SPIN"   // spin for so long
	recordTo = "SAMPLER_TEST_RECORD" // record a command that spins to this file
)

func TestMain(m *testing.M) {
	if d, err := time.ParseDuration(os.Getenv(spinFor)); err == nil {
		spin(d)
		return
	}
	if file := os.Getenv(recordTo); file != "" {
		_, err := Record(clock(), file, func() error { return spinning(context.Background(), time.Minute) })
		fmt.Fprintln(os.Stderr, err)
		return
	}
	os.Exit(m.Run())
}

// spin takes CPU time.
func spin(d time.Duration) {
	var u syscall.Rusage
	for n := 0; ; n++ {
		if n%1000 != 0 {
			continue
		}
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil || time.Duration(u.Utime.Nano()+u.Stime.Nano()) > d {
			return
		}
	}
}

// spinning runs a command that takes so much CPU time.
func spinning(ctx context.Context, d time.Duration) error {
	_, err := command.Program{Argv: []string{"/proc/self/exe"}, Env: append(os.Environ(), spinFor+"="+d.String())}.Run(ctx)
	return err
}

// clock are options that sample time a thousand times a second.
func clock() *Options {
	return &Options{Events: []Event{{Name: "cpu-clock", Type: typeSoftware, Period: 1_000_003}}, Chains: true, Version: "profdiff", Command: []string{"profdiff", "record"}}
}

// needEvents skips a test where nothing can be recorded.
func needEvents(t *testing.T) {
	t.Helper()
	if err := Probe(); err != nil {
		t.Skip(err)
	}
}

// contents are what a recording has, by types of records.
type contents struct {
	records map[perffile.RecordType]int
	execs   []string
	pids    map[int32]int // samples
	weight  int64
	mapped  []string // with build IDs
}

func read(t *testing.T, name string) (*perffile.File, *contents) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := &contents{records: make(map[perffile.RecordType]int), pids: make(map[int32]int)}
	for r, err := range file.Records() {
		if err != nil {
			t.Fatal(err)
		}
		c.records[r.Type]++
		switch r.Type {
		case perffile.RecordComm:
			comm, err := r.Comm()
			if err != nil {
				t.Fatal(err)
			}
			if comm.Exec {
				c.execs = append(c.execs, string(comm.Name))
			}
		case perffile.RecordSample:
			var s perffile.Sample
			if err := r.DecodeSample(&s); err != nil {
				t.Fatal(err)
			}
			c.pids[s.PID]++
			c.weight += int64(s.Period)
		case perffile.RecordMmap2:
			m, err := r.Mmap()
			if err != nil {
				t.Fatal(err)
			}
			if len(m.BuildID) > 0 {
				c.mapped = append(c.mapped, string(m.File))
			}
		}
	}
	return file, c
}

// TestRecord records commands one after the other: each file has its own command, from the exec on.
func TestRecord(t *testing.T) {
	needEvents(t)
	for i := range 2 {
		name := filepath.Join(t.TempDir(), "perf.data")
		r, err := Record(clock(), name, func() error { return spinning(t.Context(), 100*time.Millisecond) })
		if err != nil {
			t.Fatal(err)
		}
		if err := exec.Command("true").Run(); err != nil { // which nobody records
			t.Fatal(err)
		}
		file, c := read(t, name)
		if len(c.execs) != 1 || c.execs[0] != "exe" && !strings.HasPrefix(c.execs[0], "sampler") {
			t.Errorf("run %d: programs %q", i, c.execs)
		}
		if len(c.pids) != 1 || c.weight < 80e6 || c.weight > 400e6 {
			t.Errorf("run %d: samples by process %v, of %d ns together", i, c.pids, c.weight)
		}
		if c.records[finishedRound] < r.Rounds || r.Rounds < 1 || c.records[perffile.RecordExit] == 0 {
			t.Errorf("run %d: %d rounds, records %v", i, r.Rounds, c.records)
		}
		if file.Info.Version != "profdiff" || file.Info.CPUDesc == "" || file.Info.Arch == "" || len(file.Info.BuildIDs) < len(slices.Compact(slices.Sorted(slices.Values(c.mapped)))) {
			t.Errorf("run %d: features %+v, mapped %q", i, file.Info, c.mapped)
		}
	}
}

// TestChildren records a command with many short children: none is missed.
func TestChildren(t *testing.T) {
	needEvents(t)
	children := 10_000
	if testing.Short() {
		children = 500
	}
	name := filepath.Join(t.TempDir(), "perf.data")
	script := fmt.Sprintf("i=0; while [ $i -lt %d ]; do (:); i=$((i + 1)); done", children)
	r, err := Record(clock(), name, func() error {
		_, err := command.Run(t.Context(), []string{"/bin/sh", "-c", script}, nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	_, c := read(t, name)
	if forks, exits := c.records[perffile.RecordFork], c.records[perffile.RecordExit]; r.Lost > 0 || forks != children || exits != children+1 {
		t.Errorf("%d children: %d began, %d processes ended, %d records lost", children, forks, exits, r.Lost)
	}
}

// TestWrongThread starts the command elsewhere than on the thread that has the events.
func TestWrongThread(t *testing.T) {
	needEvents(t)
	_, err := Record(clock(), filepath.Join(t.TempDir(), "perf.data"), func() error {
		done := make(chan error)
		go func() { done <- spinning(t.Context(), time.Millisecond) }()
		return <-done
	})
	if !errors.Is(err, ErrNothing) {
		t.Errorf("error %v, want %v", err, ErrNothing)
	}
}

// TestKilled kills the recorder: what it wrote so far can be read.
func TestKilled(t *testing.T) {
	needEvents(t)
	name := filepath.Join(t.TempDir(), "perf.data")
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), recordTo+"="+name)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	samples := func() int {
		if info, err := os.Stat(name); err != nil || info.Size() < 1<<15 {
			return 0
		}
		_, c := read(t, name)
		return c.records[perffile.RecordSample]
	}
	for deadline := time.Now().Add(30 * time.Second); samples() == 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if samples() == 0 {
		t.Error("no samples")
	}
}

// TestPerf lets perf read a recording: it says nothing against it, and sees as many samples.
func TestPerf(t *testing.T) {
	needEvents(t)
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("perf is not installed: the package linux-perf has it")
	}
	for _, test := range []struct {
		name string
		opt  func(*Options)
	}{
		{"chains", func(*Options) {}},
		{"stacks", func(o *Options) { o.Stack = 8192 }},
		{"two events", func(o *Options) {
			o.Events = append(o.Events, SwitchesEvent)
			o.Switches = true
		}},
		{"frequency, no chains", func(o *Options) { o.Events[0].Period, o.Events[0].Frequency, o.Chains = 0, 997, false }},
		{"user code", func(o *Options) { o.Events[0].Name, o.Events[0].User = "cpu-clock:u", true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			opt := clock()
			test.opt(opt)
			name := filepath.Join(t.TempDir(), "perf.data")
			if _, err := Record(opt, name, func() error { return spinning(t.Context(), 50*time.Millisecond) }); err != nil {
				t.Fatal(err)
			}
			_, c := read(t, name)
			perfReads(t, name, c)
		})
	}
}

// perfReads checks that perf, if it is there, reads as many samples from a recording, and says
// nothing against it.
func perfReads(t *testing.T, name string, c *contents) {
	t.Helper()
	perf, err := exec.LookPath("perf")
	if err != nil {
		return
	}
	for _, args := range [][]string{
		{"script", "--no-inline", "-F", "event", "-G", "-i", name},
		{"report", "--stdio", "-g", "none", "-i", name},
		{"diff", name, name},
		{"buildid-list", "-i", name},
	} {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command(perf, args...)
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		if err := cmd.Run(); err != nil || stderr.Len() > 0 {
			t.Errorf("perf %s: %v: %s", args[0], err, &stderr)
		}
		if n := strings.Count(stdout.String(), "\n"); args[0] == "script" && n != c.records[perffile.RecordSample] {
			t.Errorf("perf reads %d samples of %d", n, c.records[perffile.RecordSample])
		}
	}
}

func TestCount(t *testing.T) {
	needEvents(t)
	events := []Event{named["task-clock"], named["page-faults"]}
	counts, err := Count(events, func() error { return spinning(t.Context(), 50*time.Millisecond) })
	if err != nil {
		t.Fatal(err)
	}
	if counts[0] < 45e6 || counts[1] < 10 {
		t.Errorf("task-clock %g ns, %g page faults", counts[0], counts[1])
	}
}

// TestRefused checks what is said of what cannot be recorded.
func TestRefused(t *testing.T) {
	never := func() error { t.Error("the command ran"); return nil }
	for _, test := range []struct {
		name string
		opt  func(*Options)
		want string
	}{
		{"no events", func(o *Options) { o.Events = nil }, "no events"},
		{"no period", func(o *Options) { o.Events[0].Period = 0 }, "event cpu-clock has neither a period nor a frequency"},
		{"a stack of no size", func(o *Options) { o.Stack = 9 }, "9 bytes of each stack: a multiple of 8 up to 65528"},
		{"pages", func(o *Options) { o.Pages = 3 }, "3 pages are no power of two"},
		{"a type that is not there", func(o *Options) { o.Events[0].Type = 1 << 30 }, "is not supported here"},
	} {
		opt := clock()
		test.opt(opt)
		name := filepath.Join(t.TempDir(), "perf.data")
		if test.name == "a type that is not there" {
			needEvents(t)
		}
		if _, err := Record(opt, name, never); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s: there is a file", test.name)
		}
	}
	needEvents(t)
	name := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(name, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Record(clock(), name, never); !errors.Is(err, os.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
}
