//go:build linux

package sampler

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/perffile"
)

// start starts a command of this test that spins for so long, and kills it at the end.
func start(t *testing.T, d time.Duration, name string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name)
	cmd.Env = append(os.Environ(), spinFor+"="+d.String())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return cmd
}

// inFolder is this test as a program of a name with blanks.
func inFolder(t *testing.T) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a program (deleted) of two")
	data, err := os.ReadFile("/proc/self/exe")
	if err == nil {
		err = os.WriteFile(name, data, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// untilSpins waits until a process has threads that this test did not start it with.
func untilSpins(t *testing.T, pid int) {
	t.Helper()
	for range 1000 {
		if len(threads(pid)) > 2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the command has no threads")
}

// TestAttach records a process that runs, for some time, and perf reads the recording.
func TestAttach(t *testing.T) {
	needEvents(t)
	program := inFolder(t)
	cmd := start(t, time.Minute, program)
	untilSpins(t, cmd.Process.Pid)
	for _, test := range []struct {
		name string
		opt  func(*Options)
	}{
		{"chains", func(*Options) {}},
		{"stacks", func(o *Options) { o.Stack = 8192 }},
		{"two events", func(o *Options) {
			o.Events = append(o.Events, Event{Name: "page-faults", Type: typeSoftware, Config: 2, Period: 1})
		}},
		{"user code", func(o *Options) { o.Events[0].Name, o.Events[0].User = "cpu-clock:u", true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			opt := clock()
			opt.Processes = []int{cmd.Process.Pid}
			test.opt(opt)
			ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer stop()
			name := filepath.Join(t.TempDir(), "perf.data")
			if _, err := Attach(ctx, opt, name, nil); err != nil {
				t.Fatal(err)
			}
			file, c := read(t, name)
			if len(c.pids) != 1 || c.pids[int32(cmd.Process.Pid)] == 0 {
				t.Errorf("samples by process %v, want of %d", c.pids, cmd.Process.Pid)
			}
			mapped := false
			for _, m := range c.mapped {
				mapped = mapped || m == program
			}
			if !mapped || c.records[perffile.RecordComm] < 3 || c.records[perffile.RecordFork] < 3 {
				t.Errorf("mapped with build IDs: %q; records %v", c.mapped, c.records)
			}
			known := false
			for _, b := range file.Info.BuildIDs {
				known = known || b.Path == program
			}
			if !known {
				t.Errorf("build IDs of %v", file.Info.BuildIDs)
			}
			perfReads(t, name, c)
		})
	}
}

// TestAttachUntilItEnds records until the process has ended.
func TestAttachUntilItEnds(t *testing.T) {
	needEvents(t)
	cmd := start(t, 500*time.Millisecond, "/proc/self/exe")
	untilSpins(t, cmd.Process.Pid)
	opt := clock()
	opt.Processes = []int{cmd.Process.Pid}
	go func() { _, _ = cmd.Process.Wait() }() // cmd.Wait is called in the end
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	name := filepath.Join(t.TempDir(), "perf.data")
	if _, err := Attach(ctx, opt, name, nil); err != nil || ctx.Err() != nil {
		t.Fatalf("%v, %v", err, ctx.Err())
	}
	if _, c := read(t, name); c.records[perffile.RecordSample] == 0 || c.records[perffile.RecordExit] == 0 {
		t.Errorf("records %v", c.records)
	}
}

// TestAttachToSleeper records a process that does nothing: the file says what it is.
func TestAttachToSleeper(t *testing.T) {
	needEvents(t)
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it runs
		_ = cmd.Wait()
	})
	time.Sleep(100 * time.Millisecond)
	opt := clock()
	opt.Processes = []int{cmd.Process.Pid}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer stop()
	name := filepath.Join(t.TempDir(), "perf.data")
	if _, err := Attach(ctx, opt, name, nil); err != nil {
		t.Fatal(err)
	}
	if _, c := read(t, name); c.records[perffile.RecordComm] == 0 || c.records[perffile.RecordMmap2] == 0 {
		t.Errorf("records %v", c.records)
	}
}

// TestAttachToAll records the whole system while something runs.
func TestAttachToAll(t *testing.T) {
	needEvents(t)
	opt := clock()
	opt.System = true
	name := filepath.Join(t.TempDir(), "perf.data")
	cmd := start(t, time.Minute, "/proc/self/exe")
	_, err := Attach(t.Context(), opt, name, func(ctx context.Context) error { return spinning(ctx, 100*time.Millisecond) })
	if errors.Is(err, ErrForbidden) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, c := read(t, name)
	if c.pids[int32(cmd.Process.Pid)] == 0 || len(c.pids) < 2 || len(c.execs) == 0 {
		t.Errorf("samples by process %v, programs %q", c.pids, c.execs)
	}
	perfReads(t, name, c)
}

// TestAttachRefused checks what is said of what cannot be attached to.
func TestAttachRefused(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Skip(err)
	}
	thread := 0
	for _, tid := range threads(os.Getpid()) {
		if tid != os.Getpid() {
			thread = tid
		}
	}
	for _, test := range []struct {
		pids []int
		want string
	}{
		{nil, "no processes to record"},
		{[]int{ended.Process.Pid}, "there is no such process: ps ax lists those that run"},
		{[]int{os.Getpid(), -1}, "process -1: there is no such process"},
		{[]int{thread}, "it is a thread of process "},
	} {
		opt := clock()
		opt.Processes = test.pids
		name := filepath.Join(t.TempDir(), "perf.data")
		if _, err := Attach(t.Context(), opt, name, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v: %v, want %s", test.pids, err, test.want)
		}
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%v: there is a file", test.pids)
		}
	}
}

// TestLost has a ring that is too small for what is sampled: what was lost is counted to the last
// record, and the file says as much.
func TestLost(t *testing.T) {
	needEvents(t)
	opt := clock()
	opt.Pages, opt.Stack, opt.Events[0].Period = 1, 3072, 100_000
	name := filepath.Join(t.TempDir(), "perf.data")
	r, err := Record(opt, name, func() error { return spinning(t.Context(), 300*time.Millisecond) })
	if err != nil {
		t.Fatal(err)
	}
	var lost uint64
	data, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	info, err := data.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := perffile.New(data, info.Size(), perffile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for record, err := range file.Records() {
		if err != nil {
			t.Fatal(err)
		}
		if record.Type == perffile.RecordLost {
			n, _, err := record.Lost()
			if err != nil {
				t.Fatal(err)
			}
			lost += n
		}
	}
	if r.Lost == 0 || lost != uint64(r.Lost) || !strings.Contains(strings.Join(r.Notes, "\n"), "records were lost: take fewer samples") {
		t.Errorf("%d lost, %d in the file; %q", r.Lost, lost, r.Notes)
	}
}

func TestParseMapping(t *testing.T) {
	for _, test := range []struct {
		line string
		want mapping
		ok   bool
	}{
		{"00400000-0048a000 r-xp 00001000 fd:03 960637       /usr/bin/a program", mapping{0x400000, 0x48a000, 0x1000, 5, 2, inode{0xfd, 3, 960637}, "/usr/bin/a program"}, true},
		{"7f00-7f10 rwxs 00000000 00:05 12 /memfd:code (deleted)", mapping{0x7f00, 0x7f10, 0, 7, 1, inode{0, 5, 12}, "/memfd:code (deleted)"}, true},
		{"7f00-7f10 r-xp 00000000 00:00 0 ", mapping{0x7f00, 0x7f10, 0, 5, 2, inode{}, "//anon"}, true},
		{"7f00-7f10 r-xp 00000000 00:00 0                          [vdso]", mapping{0x7f00, 0x7f10, 0, 5, 2, inode{}, "[vdso]"}, true},
		{`7f00-7f10 ---p 00000000 00:10 5 /a\012b`, mapping{0x7f00, 0x7f10, 0, 0, 2, inode{0, 0x10, 5}, "/a\nb"}, true},
		{"7f00-7e10 r-xp 00000000 00:00 0", mapping{}, false},
		{"7f00-7f10 r-xp", mapping{}, false},
		{"", mapping{}, false},
	} {
		m, ok := parseMapping(test.line)
		if ok != test.ok || ok && !cmp.Equal(test.want, m, cmp.AllowUnexported(mapping{}, inode{})) {
			t.Errorf("%q: %+v, %v", test.line, m, ok)
		}
	}
}
