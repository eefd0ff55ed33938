package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"profdiff/internal/record/command"
)

// A fake is a backend that records the order in which it was called.
type fake struct {
	calls   []string
	records int // calls to Record
	fail    int // the call to Record that fails, 0 for none
	// crash are the calls to Record, from 1, in which the recorder dies of a signal.
	crash  []int
	exits  bool // with an exit status instead
	output string
	size   int64              // of each run, with holes; 0 for a few bytes
	stop   context.CancelFunc // called by the run after which recording is interrupted
}

func (f *fake) Name() string   { return "fake" }
func (f *fake) Suffix() string { return ".data" }

func (f *fake) Probe(_ context.Context, p *Plan) (*Machine, []string, error) {
	if len(p.Events) == 0 {
		p.Events = []Event{{Name: "cpu-clock", Period: 1009}}
	}
	return &Machine{CPU: "a CPU", Cores: 2}, []string{"chose cpu-clock"}, nil
}

func (f *fake) Warm(_ context.Context, _ *Plan, side Side) ([]byte, error) {
	f.calls = append(f.calls, "warm "+string(side))
	return []byte(f.output), nil
}

func (f *fake) Record(ctx context.Context, _ *Plan, side Side, file string) (*Result, error) {
	f.calls = append(f.calls, string(side))
	f.records++
	if f.fail--; f.fail == 0 {
		return nil, errors.New("it broke")
	}
	if slices.Contains(f.crash, f.records) && f.exits {
		return nil, &command.ExitError{Name: "fake", State: "exit status 3"}
	}
	if slices.Contains(f.crash, f.records) {
		return nil, &command.ExitError{Name: "fake", State: "signal: aborted", Killed: true}
	}
	if f.stop != nil && len(f.calls) >= 4 {
		f.stop()
		return nil, context.Cause(ctx)
	}
	if err := os.WriteFile(file, []byte(side), 0o666); err != nil {
		return nil, err
	}
	result := &Result{
		Process: command.Process{Duration: 2 * time.Second, Output: []byte(f.output)},
		Command: 1500 * time.Millisecond, Samples: 7,
	}
	return result, os.Truncate(file, max(f.size, int64(len(side))))
}

func (f *fake) Moment(context.Context) (*Moment, error) { return new(Moment), nil }

// plan has so many runs of each side. The order of seed 20 begins with AB BA BA AB.
func plan(seed uint64, runs int) *Plan {
	return &Plan{Before: Command{Run: "old"}, After: Command{Run: "new"}, Runs: runs, Seed: seed, CallGraph: "fp"}
}

func TestOrder(t *testing.T) {
	dir := t.TempDir()
	f := &fake{output: "messages 12\nchecksum 9f\n"}
	var notes []string
	r := &Recorder{Backend: f, Version: "v1", Tell: func(p Progress) {
		if p.Note != "" {
			notes = append(notes, p.Note)
		}
	}}
	p := plan(20, 3)
	p.Warmup, p.Work = 1, "messages"
	rec, err := r.Record(t.Context(), dir, p)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"warm before", "warm after", "before", "after", "after", "before", "after", "before"}
	if diff := cmp.Diff(want, f.calls); diff != "" {
		t.Errorf("order: %s", diff)
	}
	if diff := cmp.Diff([]string{"chose cpu-clock"}, notes); diff != "" {
		t.Errorf("notes: %s", diff)
	}
	read, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(rec, read, cmpopts.IgnoreUnexported(Conditions{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("notes read back: %s", diff)
	}
	if got := read.Counters(dir, filepath.Join(dir, "after", "02.data")); len(got) == 0 || got[0] != (Counter{Name: "messages", Value: 12}) {
		t.Errorf("counters of a run: %v", got)
	}
	for _, name := range []string{"before/01.data", "before/03.data", "after/03.data"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// What the recorder takes is told apart from the commands.
func TestSpent(t *testing.T) {
	var last Progress
	r := &Recorder{Backend: new(fake), Tell: func(p Progress) { last = p }}
	p := plan(20, 2)
	p.After.Prepare = "sleep 0.05"
	rec, err := r.Record(t.Context(), t.TempDir(), p)
	if err != nil {
		t.Fatal(err)
	}
	commands := last.Spent.Commands - 4*1500*time.Millisecond
	if last.Spent.Recorder != 2*time.Second || commands < 100*time.Millisecond || commands > 30*time.Second {
		t.Errorf("recorder %v, commands %v", last.Spent.Recorder, last.Spent.Commands)
	}
	if run := rec.Runs[0]; run.Seconds != 2 || run.CommandSeconds != 1.5 {
		t.Errorf("a run took %v s, its command %v s", run.Seconds, run.CommandSeconds)
	}
}

// A recording says how long its command ran: at least as long as it was on the CPU, which
// is what the samples of a clock tell, if it has one thread.
func TestSummarize(t *testing.T) {
	const period = 1003009 * time.Nanosecond
	names, err := filepath.Glob("../../profiles/message-heap/before/*.data")
	if err != nil || len(names) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, name := range names {
		s, err := Summarize(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if cpu := time.Duration(s.Samples) * period; s.Samples < 100 || s.Lost != 0 || s.Command < cpu-10*period || s.Command > 100*cpu {
			t.Errorf("%s: %d samples, %d lost: %v on the CPU of %v", name, s.Samples, s.Lost, cpu, s.Command)
		}
	}
}

// What was interrupted goes on where it was, and nothing half-written is left.
func TestResume(t *testing.T) {
	for _, test := range []struct {
		name string
		fake func(context.CancelFunc) *fake
	}{
		{"a run fails", func(context.CancelFunc) *fake { return &fake{fail: 4} }},
		{"interrupted", func(stop context.CancelFunc) *fake { return &fake{stop: stop} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			r := &Recorder{Backend: test.fake(stop)}
			if _, err := r.Record(ctx, dir, plan(20, 3)); err == nil {
				t.Fatal("no error")
			}
			read, err := Open(dir)
			if err != nil || len(read.Runs) != 3 {
				t.Fatalf("%d runs are left, want 3; %v", len(read.Runs), err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			again := new(fake)
			r.Backend = again
			rec, err := r.Record(t.Context(), dir, plan(20, 3))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"after", "before", "after", "before"}, again.calls); diff != "" {
				t.Errorf("recorded again: %s", diff)
			}
			if len(rec.Runs) != 6 {
				t.Errorf("%d runs in the end", len(rec.Runs))
			}
		})
	}
}

// A recorder that crashes gets another chance, but not for ever.
func TestCrash(t *testing.T) {
	for _, test := range []struct {
		crash []int
		calls int
		err   string
	}{
		{crash: []int{1, 2}, calls: 4},
		{crash: []int{2, 4}, calls: 6},
		{crash: []int{1, 2, 3}, calls: 3, err: "before, run 1: fake: signal: aborted"},
	} {
		f := &fake{crash: test.crash}
		_, err := (&Recorder{Backend: f}).Record(t.Context(), t.TempDir(), plan(20, 1))
		if len(f.calls) != test.calls || (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
			t.Errorf("calls %v crash: recorded %d times, error %v", test.crash, len(f.calls), err)
		}
	}
}

// Before each run it is looked whether the runs left fit on the disk, by the largest one
// so far, with something to spare.
func TestSpace(t *testing.T) {
	const mb = 1 << 20
	for _, test := range []struct {
		name  string
		bytes int64   // of each run
		free  []int64 // before each run
		runs  int     // that are recorded
		err   string
	}{
		{"room for all", 10 * mb, []int64{104 * mb, 94 * mb, 84 * mb, 74 * mb}, 4, ""},
		{"nothing is known of the first", 1000 * mb, []int64{64 * mb, 3063 * mb}, 1, "3063 MB free, the runs left need about 3000 MB and 64 MB to spare: make room, or record to another disk"},
		{"none to spare", 10 * mb, []int64{64*mb - 1}, 0, "63 MB free, the runs left need about 0 MB and 64 MB to spare: make room, or record to another disk"},
		{"others write, too", 10 * mb, []int64{104 * mb, 94 * mb, 83 * mb}, 2, "83 MB free, the runs left need about 20 MB and 64 MB to spare: make room, or record to another disk"},
		{"a disk that cannot be asked", 1000 * mb, []int64{-1, -1, -1, -1}, 4, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir, asked := t.TempDir(), 0
			r := &Recorder{Backend: &fake{size: test.bytes}, free: func(string) (int64, bool) {
				asked++
				return test.free[asked-1], test.free[asked-1] >= 0
			}}
			want := test.err
			if want != "" {
				want = dir + ": " + want
			}
			rec, err := r.Record(t.Context(), dir, plan(20, 2))
			if got := fmt.Sprint(err); got != want && (err != nil || want != "") {
				t.Errorf("error %v, want %s", err, want)
			}
			if len(rec.Runs) != test.runs {
				t.Errorf("%d runs, want %d", len(rec.Runs), test.runs)
			}
			// With room, the same call goes on.
			again := &Recorder{Backend: &fake{size: test.bytes}, free: func(string) (int64, bool) { return 5000 * mb, true }}
			if rec, err := again.Record(t.Context(), dir, plan(20, 2)); err != nil || len(rec.Runs) != 4 {
				t.Errorf("with room: %v", err)
			}
		})
	}
}

func TestRefuse(t *testing.T) {
	dir := t.TempDir()
	r := &Recorder{Backend: new(fake)}
	if _, err := r.Record(t.Context(), dir, plan(20, 1)); err != nil {
		t.Fatal(err)
	}
	other := plan(20, 1)
	other.After.Run = "newer"
	if _, err := r.Record(t.Context(), dir, other); err == nil || !strings.Contains(err.Error(), `holds a recording of something else: after was "new", is "newer"`) {
		t.Errorf("another command: %v", err)
	}
	period := plan(20, 1)
	period.Events = []Event{{Name: "cpu-clock", Period: 5}}
	if _, err := r.Record(t.Context(), dir, period); err == nil || !strings.Contains(err.Error(), "holds a recording of something else: events were ") {
		t.Errorf("another period: %v", err)
	}
	more := plan(20, 2) // is the same experiment
	if rec, err := r.Record(t.Context(), dir, more); err != nil || len(rec.Runs) != 4 {
		t.Errorf("more runs: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "before", "01.data"), []byte("something else"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Record(t.Context(), dir, more); err == nil || !strings.Contains(err.Error(), "has 14 bytes, was recorded with 6") {
		t.Errorf("a file that changed: %v", err)
	}

	foreign := t.TempDir()
	if err := os.Mkdir(filepath.Join(foreign, "after"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(foreign, "after", "x"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Record(t.Context(), foreign, plan(20, 1)); err == nil || !strings.Contains(err.Error(), "has files and no recording.yaml") {
		t.Errorf("a folder of somebody else: %v", err)
	}
}

func TestWork(t *testing.T) {
	for _, test := range []struct {
		output string
		want   float64
		err    string
	}{
		{"messages 12", 12, ""},
		{"start\nmessages: 3\nmessages = 4.5e3\n", 4500, ""},
		{"messages 0", 0, "has to be above 0"},
		{"messages twelve", 0, "printed no line"},
		{"messages nan", 0, "printed no line"},
		{"12 messages", 0, "printed no line"},
		{"", 0, "printed no line"},
		{strings.Repeat("a 1\n", 100_000) + "messages 8", 8, ""},
	} {
		p := Plan{Work: "messages"}
		c, err := p.work([]byte(test.output))
		switch {
		case test.err != "":
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%.20q: error %v, want %q", test.output, err, test.err)
			}
		case err != nil || c.Value != test.want:
			t.Errorf("%.20q: %v, %v, want %v", test.output, c, err, test.want)
		}
	}
}

func TestNotes(t *testing.T) {
	const good = "schema: profdiff.recording/v1\nbackend: perf\n"
	for _, test := range []struct{ text, err string }{
		{good, ""},
		{"", `schema ""`},
		{"schema: profdiff.recording/v2\n", `schema "profdiff.recording/v2"`},
		{good + "colour: red\n", "unknown field"},
		{good + "runs:\n- {side: middle, number: 1, file: a}\n", `runs[0]: side "middle"`},
		{good + "runs:\n- {side: after, number: 0, file: a}\n", "number 0"},
		{good + "runs:\n- {side: after, number: 1, file: ../a}\n", `"../a" is no file of the folder`},
		{good + "runs:\n- {side: after, number: 1, file: /a}\n", `"/a" is no file of the folder`},
		{good + "runs:\n- {side: after, number: 1, file: a}\n- {side: after, number: 1, file: b}\n", "is there twice"},
		{"schema: [\n", "["},
	} {
		_, err := parse([]byte(test.text))
		if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%q: error %v, want %q", test.text, err, test.err)
		}
	}
}

func FuzzNotes(f *testing.F) {
	f.Add([]byte("schema: profdiff.recording/v1\nruns:\n- {side: after, number: 1, file: a}\n"))
	f.Fuzz(func(_ *testing.T, text []byte) {
		_, _ = parse(text)
	})
}

func TestPerfEvents(t *testing.T) {
	for _, test := range []struct {
		events []Event
		want   string
	}{
		{[]Event{{Name: "cpu-clock", Period: 1009}}, "-c 1009 -e cpu-clock"},
		{[]Event{{Name: "cycles:u", Frequency: 99}}, "-F 99 -e cycles:u"},
		{[]Event{{Name: "cycles:u", Period: 7}, {Name: "r10", Period: 7}}, "-c 7 -e cycles:u -e r10"},
		{[]Event{{Name: "cycles:u", Period: 7}, {Name: "cpu/event=0xc4/pp", Period: 3}}, "-e cpu-cycles/period=7,name=cpu-cycles/u -e cpu/event=0xc4,period=3/pp"},
	} {
		if got := strings.Join(perfEvents(test.events), " "); got != test.want {
			t.Errorf("%v: %s, want %s", test.events, got, test.want)
		}
	}
}

func TestPerfVersions(t *testing.T) {
	for version, want := range map[string][2]bool{
		"perf version 6.1.187": {true, true}, "perf version 5.1.rc1.g1234": {true, false}, "perf version 5.0.21": {},
		"perf version 5.12.0": {true, true}, "perf version 5.11.1": {true, false},
		"perf version 4.19.0": {}, "perf version 10.0": {true, true}, "": {}, "perf": {},
	} {
		if got := [2]bool{atLeast(version, 5, 1), atLeast(version, 5, 12)}; got != want {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
}

func TestCompresses(t *testing.T) {
	for _, test := range []struct {
		args string
		want bool
	}{
		{"", false}, {"-z", true}, {"-z3", true}, {"-m 8 --compression-level=5", true}, {"--compression-level 5", true}, {"-zz --clockid", false},
	} {
		if got := compresses(strings.Fields(test.args)); got != test.want {
			t.Errorf("%q: %v", test.args, got)
		}
	}
}

func TestChoosePeriod(t *testing.T) {
	for _, test := range []struct {
		count, seconds float64
		want           uint64
	}{
		{0, 1, 1}, {900, 1, 1}, {4e9, 2, 2000003}, {1e6, 1, 1009}, {5e18, 1e-9, 1099511627791},
	} {
		if got := choosePeriod(test.count, test.seconds); got != test.want {
			t.Errorf("%v in %v s: %d, want %d", test.count, test.seconds, got, test.want)
		}
	}
}

func TestExplain(t *testing.T) {
	b := new(Perf)
	failed := &command.ExitError{Name: "perf", State: "exit status 255", Stderr: "last line"}
	for _, test := range []struct{ stderr, want string }{
		{"Error:\nAccess to performance monitoring and observability operations is limited.\nConsider adjusting /proc/sys/kernel/perf_event_paranoid setting", "perf may not record"},
		{"No permission to enable cpu-clock event.\n", "perf may not record"},
		{"failed to write perf data, error: No space left on device\n", "no space left on the disk"},
		{"event syntax error: 'cpu-clok'\n                     \\___ parser error\nRun 'perf list'", "perf does not know the event: event syntax error: 'cpu-clok'"},
		{"Workload failed: No such file or directory\n", "the command cannot be run: No such file or directory"},
		{"something new", "perf: exit status 255: last line"},
	} {
		if got := b.explain(failed, []byte(test.stderr)).Error(); !strings.HasPrefix(got, test.want) {
			t.Errorf("%q: %s, want %s", test.stderr, got, test.want)
		}
	}
}

func TestDenied(t *testing.T) {
	for paranoid, want := range map[string]string{
		"4": "as root: sysctl kernel.perf_event_paranoid=1", "2": "as root: sysctl", "1": "as root: sysctl", "": "as root: sysctl",
		"0": "containers and security policies", "-1": "containers and security policies",
	} {
		if got := denied(paranoid); !strings.Contains(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q: %s, want %s", paranoid, got, want)
		}
	}
}

func TestCPUSeconds(t *testing.T) {
	busy, stolen := cpuSeconds("cpu  100 20 300 4000 50 6 7 80 0 0\ncpu0 1 2 3\n")
	if got, want := fmt.Sprintf("%.2f %.2f", busy, stolen), "4.33 0.80"; got != want {
		t.Errorf("busy and stolen %s, want %s", got, want)
	}
	before, after := &Moment{Busy: 10, Stolen: 1}, &Moment{Busy: 14, Stolen: 2, Throttled: 3}
	c := between(before, after, &Result{Process: command.Process{Duration: 2 * time.Second, User: time.Second}})
	r := Run{Seconds: 2, UserSeconds: 1, Conditions: c}
	notes := r.notes(&Machine{Cores: 2})
	if c.BackgroundCPUs != 1.5 || c.StolenCPUs != 0.5 || c.Throttled != 3 || len(notes) != 3 {
		t.Errorf("conditions %+v, notes %v", c, notes)
	}
}

// What a run is said to have been disturbed by while it is recorded is what its comparison
// warns of.
func TestDisturbedRuns(t *testing.T) {
	for _, test := range []struct {
		name       string
		background float64
		stolen     float64
		want       string
	}{
		{"a CPU is left", 2.2, 0, ""},
		{"none is", 3.1, 0, "other programs took 3.10 CPUs, so that none was free"},
		{"little was taken", 0, 0.01, ""},
		{"more than what does not matter", 0, 0.05, "the host took 0.05 CPUs from this virtual machine"},
	} {
		r := Run{Seconds: 2, UserSeconds: 2, Conditions: Conditions{BackgroundCPUs: test.background, StolenCPUs: test.stolen}}
		if got := strings.Join(r.notes(&Machine{Cores: 4}), "; "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// What is recorded is no background; what other processes did is.
func TestBackgroundOfApp(t *testing.T) {
	result := &Result{Process: command.Process{Duration: time.Second}}
	before := &Moment{Uptime: 10, Busy: 100, Processes: map[string]float64{"7": 3}}
	for _, test := range []struct {
		name    string
		after   Moment
		want    float64
		unknown bool
	}{
		{"one process", Moment{Uptime: 12, Busy: 104, Processes: map[string]float64{"7": 5}}, 1, false},
		{"another started", Moment{Uptime: 12, Busy: 104, Processes: map[string]float64{"7": 4, "8": 1}}, 1, false},
		{"it ended", Moment{Uptime: 12, Busy: 104, Processes: map[string]float64{"8": 1}}, 0, true},
		{"it ended, and no other runs", Moment{Uptime: 12, Busy: 104}, 0, true},
	} {
		c := between(before, &test.after, result)
		if c.BackgroundCPUs != test.want || c.BackgroundUnknown != test.unknown {
			t.Errorf("%s: %v CPUs, unknown %v, want %v, %v", test.name, c.BackgroundCPUs, c.BackgroundUnknown, test.want, test.unknown)
		}
	}
	hot := Run{Conditions: Conditions{ThermalStatus: 2, FrequencyLimitMHz: 1500, limitChange: -500}}
	want := []string{"the device is hot and slows down: thermal status moderate", "the limit of the CPUs changed by -500 MHz to 1500 MHz"}
	if diff := cmp.Diff(want, hot.notes(&Machine{Cores: 8})); diff != "" {
		t.Error(diff)
	}
}

// Whether to go on is asked before the first run and after each pair, and an answer of no
// ends the recording as one that is complete.
func TestMore(t *testing.T) {
	dir := t.TempDir()
	var asked []int
	r := &Recorder{Backend: new(fake), More: func(rec *Recording) (bool, error) {
		asked = append(asked, len(rec.Runs))
		return len(rec.Runs) < 4, nil
	}}
	rec, err := r.Record(t.Context(), dir, plan(20, 10))
	if err != nil || len(rec.Runs) != 4 {
		t.Fatalf("%d runs, %v", len(rec.Runs), err)
	}
	// Again, nothing is recorded, nor is it warmed up.
	if rec, err = r.Record(t.Context(), dir, plan(20, 10)); err != nil || len(rec.Runs) != 4 {
		t.Errorf("again: %d runs, %v", len(rec.Runs), err)
	}
	if diff := cmp.Diff([]int{0, 2, 4, 4}, asked); diff != "" {
		t.Errorf("asked after so many runs: %s", diff)
	}
	broken := errors.New("it broke")
	r.More = func(*Recording) (bool, error) { return true, broken }
	if _, err := r.Record(t.Context(), dir, plan(20, 10)); !errors.Is(err, broken) {
		t.Errorf("an error that More gave became %v", err)
	}
}

// Looks without a plan are no looks.
func TestLooksWithoutPlan(t *testing.T) {
	if _, err := parse([]byte("schema: " + Schema + "\nplanned_looks:\n- pairs: 4\n")); err == nil || err.Error() != "planned_looks: there is no looks_plan" {
		t.Errorf("error %v", err)
	}
}

func TestIsCallGraph(t *testing.T) {
	for mode, want := range map[string]bool{
		"fp": true, "dwarf": true, "lbr": true, "none": true, "dwarf,16384": true, "dwarf,65528": true, "dwarf,8": true,
		"": false, "dwarf,": false, "dwarf,0": false, "dwarf,100": false, "dwarf,65536": false, "dwarf,-8": false, "fp,8": false, "stack": false,
	} {
		if IsCallGraph(mode) != want {
			t.Errorf("IsCallGraph(%q) is %v", mode, !want)
		}
	}
}
