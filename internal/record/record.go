// Package record records a program before and after a change: both sides in turn
// under the same conditions, with the conditions noted.
//
//  1. The backend ([Backend]: perf, simpleperf on a device, Callgrind) finds out what can
//     be recorded and completes the plan.
//  2. Both sides run without being recorded, to warm up.
//  3. The runs go to a folder in pairs, before/01.data and after/01.data and so on, one right
//     after the other: what changes slowly on the machine (temperature, memory, other
//     programs) then is alike for both. Which comes first is drawn (see [Drawn]), so that
//     what comes back after some number of runs does not meet the same side each time.
//  4. The conditions before and after each run are noted in recording.yaml of that folder.
//     It is rewritten after every run, so that an interrupted recording can go on.
//  5. A pair of which a run failed, was interrupted or got lost is recorded again as a whole,
//     after all others.
//  6. The binaries that the samples need are collected by build ID, in the form of perf's
//     cache (tools/perf/util/build-id.c).
package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"profdiff/internal/record/command"
	"profdiff/internal/run"
	"profdiff/internal/scratch"
)

// A Side of a comparison is the program before the change or after it. It names the folder
// with the runs.
type Side string

// The sides.
const (
	Before Side = "before"
	After  Side = "after"
)

// Sides are both.
var sides = [2]Side{Before, After}

// A Job is one run to record.
type Job struct {
	Side   Side
	Number int // from 1
}

// A Backend records with one tool.
type Backend interface {
	// Name is how users call it.
	Name() string
	// Suffix is how the names of its files end, with the dot.
	Suffix() string
	// Probe finds out what can be recorded here. It completes the plan where that
	// leaves a choice, and says in notes what it chose, and why.
	Probe(ctx context.Context, p *Plan) (m *Machine, notes []string, err error)
	// Warm runs the command of a side without recording it and returns what it printed.
	Warm(ctx context.Context, p *Plan, side Side) (output []byte, err error)
	// Record records one run to a file that is not there, in the folder of the
	// recording, where it may also keep what names addresses.
	Record(ctx context.Context, p *Plan, side Side, file string) (*Result, error)
	// Moment says what the machine is doing now.
	Moment(ctx context.Context) (*Moment, error)
}

// A Result is what came of recording a command.
type Result struct {
	// The CPU time is with the recorder, if that is the parent of the command.
	command.Process
	// Command is how long the command itself ran, without what the recorder does before
	// and after it; 0 if it is not known.
	Command time.Duration
	Samples int64 // 0 if it is not known
	Lost    int64
	// Counters are totals that the backend counted itself.
	Counters []Counter
	// After is when the command ended, before the recording was read, if the backend took
	// it; nil leaves that to [Backend.Moment].
	After *Moment
	// Notes are what the user should know of the run.
	Notes []string
	// Failed is how the command failed whose recording is kept all the same, by [Alone].
	Failed error
}

// A Progress is told before and after each run.
type Progress struct {
	Job         Job
	Done, Total int
	Elapsed     time.Duration
	Left        time.Duration // 0 if it is not known
	// Spent is what the runs so far took of Elapsed. The rest went into checks, notes and
	// copies.
	Spent Spent
	// Run is set after a run.
	Run *Run
	// Note is something the user should know, with the other fields as they are.
	Note string
}

// Spent is where the time of runs went.
type Spent struct {
	// Commands ran for so long, with what prepares them; with the recorder, if that does
	// not tell them apart.
	Commands time.Duration
	// Recorder is what the recorder took before and after the commands.
	Recorder time.Duration
}

// A Recorder records what a plan says.
type Recorder struct {
	Backend Backend
	// Tell is told of progress. It may be nil.
	Tell func(Progress)
	// More, if set, is asked whether to go on, while no run is under way: before the first
	// run that is recorded now, and when a pair is complete. It may read the runs of
	// [Recording.Pairs] and note what it found, as [Recording.AddLook] does; the next run
	// starts when it returns. Its error ends the recording.
	More func(*Recording) (bool, error)
	// Version of this program, for the notes.
	Version string
	// free is [FreeBytes], unless a test has a disk of its own.
	free func(dir string) (int64, bool)
}

// A SideError is what went wrong with one side: its command failed, or was not there.
type SideError struct {
	Side Side
	Err  error
}

func (e *SideError) Error() string { return e.Err.Error() }
func (e *SideError) Unwrap() error { return e.Err }

// sideErrorf is a [SideError] that begins with the side.
func sideErrorf(side Side, format string, args ...any) error {
	return &SideError{side, fmt.Errorf("%s, "+format, append([]any{side}, args...)...)}
}

// Record records all pairs that are not there yet, or until More wants no others. What was
// recorded stays if it fails, and another call goes on from there.
func (r *Recorder) Record(ctx context.Context, dir string, plan *Plan) (*Recording, error) {
	if err := plan.check(); err != nil {
		return nil, err
	}
	rec, err := r.begin(ctx, dir, plan)
	if err != nil {
		return nil, err
	}
	s := newSession(r, rec, dir)
	for complete := true; ; {
		if complete {
			if more, err := r.more(rec); err != nil || !more {
				return rec, err
			}
		}
		number := s.next()
		if number == 0 {
			return rec, nil
		}
		if complete, err = s.pair(ctx, number); err != nil {
			return rec, err
		}
	}
}

func (r *Recorder) more(rec *Recording) (bool, error) {
	if r.More == nil {
		return true, nil
	}
	return r.More(rec)
}

func (r *Recorder) tell(p Progress) {
	if r.Tell != nil {
		r.Tell(p)
	}
}

// begin reads what there is, or makes a new folder.
func (r *Recorder) begin(ctx context.Context, dir string, plan *Plan) (*Recording, error) {
	rec, err := Open(dir)
	switch {
	case err == nil:
		if diff := rec.Plan.differs(plan); diff != "" {
			return nil, fmt.Errorf("%s: holds a recording of something else: %s; give another folder, or remove it", dir, diff)
		}
		if name := r.Backend.Name(); rec.Backend != name {
			return nil, fmt.Errorf("%s: was recorded with %s, not %s: --with %s goes on with it", dir, rec.Backend, name, rec.Backend)
		}
		// More runs can be asked for than at first.
		for _, side := range sides {
			rec.Plan.Side(side).Dir = plan.Side(side).Dir // commits may be built elsewhere now
		}
		more := plan.Runs > rec.Plan.Runs
		rec.Plan.Runs = max(rec.Plan.Runs, plan.Runs)
		machine, _, err := r.Backend.Probe(ctx, &rec.Plan)
		if err != nil {
			return nil, err
		}
		if diff := rec.Machine.differs(machine); diff != "" {
			return nil, fmt.Errorf("%s: was recorded on another machine: %s; give another folder", dir, diff)
		}
		lost, err := rec.check(dir)
		for _, name := range lost {
			r.tell(Progress{Note: fmt.Sprintf("%s is missing: its pair is recorded again", filepath.Join(dir, name))})
		}
		if err != nil || len(lost) == 0 && !more {
			return rec, err
		}
		return rec, rec.write(dir)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	for _, side := range sides {
		if entries, err := os.ReadDir(filepath.Join(dir, string(side))); err == nil && len(entries) > 0 {
			return nil, fmt.Errorf("%s: has files and no %s: give another folder", filepath.Join(dir, string(side)), FileName)
		}
	}
	rec = &Recording{Schema: Schema, Order: Drawn, Backend: r.Backend.Name(), Version: r.Version, Plan: *plan}
	for rec.Plan.Seed == 0 {
		rec.Plan.Seed = uint64(rand.Uint32())
	}
	machine, notes, err := r.Backend.Probe(ctx, &rec.Plan)
	if err != nil {
		return nil, err
	}
	rec.Machine = *machine
	for _, note := range notes {
		r.tell(Progress{Note: note})
	}
	for _, side := range sides {
		if err := os.MkdirAll(filepath.Join(dir, string(side)), dirMode); err != nil {
			return nil, err
		}
	}
	return rec, rec.write(dir)
}

// warm runs both commands once or more: the first run reads programs and data from the
// disk. A command that fails does so before anything is recorded.
func (r *Recorder) warm(ctx context.Context, dir string, rec *Recording) error {
	for range rec.Plan.Warmup {
		for _, side := range sides {
			if err := prepare(ctx, &rec.Plan, side); err != nil {
				return sideErrorf(side, "warming up: %w", err)
			}
			output, err := r.Backend.Warm(ctx, &rec.Plan, side)
			if err != nil {
				return sideErrorf(side, "warming up: %w", err)
			}
			if _, err := rec.Plan.work(output); err != nil {
				return sideErrorf(side, "warming up: %w", err)
			}
		}
	}
	c, err := r.Backend.Moment(ctx)
	if err != nil {
		return err
	}
	// With the command, which takes a CPU.
	now := run.Conditions{Cores: rec.Machine.Cores, OwnCPUs: 1, BackgroundCPUs: c.Load}
	if now.Crowded() && len(rec.Runs) == 0 && rec.Plan.Warmup == 0 {
		r.tell(Progress{Note: fmt.Sprintf("the load is %.2f on %d CPUs: other programs are running", c.Load, rec.Machine.Cores)})
	}
	return nil
}

// one records one run under a temporary name and moves it to its place.
func (r *Recorder) one(ctx context.Context, dir string, rec *Recording, job Job) (_ *Run, spent Spent, err error) {
	name := filepath.Join(string(job.Side), fmt.Sprintf("%02d%s", job.Number, r.Backend.Suffix()))
	file := filepath.Join(dir, name)
	// Not among the runs of the side, where a comparison would take it for one.
	partial := filepath.Join(dir, ".partial"+r.Backend.Suffix())
	if rec.Plan.Side(job.Side).Dir != "" { // where the name would be another one
		if partial, err = filepath.Abs(partial); err != nil {
			return nil, spent, err
		}
	}
	defer scratch.Add(partial)()
	defer os.RemoveAll(partial)
	t, err := r.attempt(ctx, &rec.Plan, job, partial)
	if err != nil {
		return nil, spent, err
	}
	result, after := t.result, t.result.After
	if after == nil {
		if after, err = r.Backend.Moment(ctx); err != nil {
			return nil, spent, err
		}
	}
	recorded := &Run{
		Side: job.Side, Number: job.Number, File: filepath.ToSlash(name),
		Start: result.Start.UTC().Truncate(time.Millisecond), Seconds: result.Duration.Seconds(), CommandSeconds: result.Command.Seconds(),
		UserSeconds: result.User.Seconds(), SystemSeconds: result.System.Seconds(),
		Samples: result.Samples, Lost: result.Lost,
		Conditions: between(t.before, after, result),
	}
	if recorded.Counters, err = rec.Plan.counters(result); err != nil {
		return nil, spent, err
	}
	info, err := os.Stat(partial)
	if err != nil {
		return nil, spent, errors.New("the recorder left no file")
	}
	recorded.Bytes = info.Size()
	for _, note := range append(result.Notes, recorded.notes(&rec.Machine)...) {
		r.tell(Progress{Job: job, Note: note})
	}
	spent.Commands = cmp.Or(result.Command, result.Duration)
	spent.Recorder = result.Duration - spent.Commands
	spent.Commands += t.prepared
	return recorded, spent, os.Rename(partial, file)
}

// An attempt is one try to record a run.
type attempt struct {
	prepared time.Duration // how long it took to prepare
	before   *Moment
	result   *Result
}

func (r *Recorder) attempt(ctx context.Context, p *Plan, job Job, file string) (t attempt, err error) {
	if err := os.RemoveAll(file); err != nil {
		return t, err
	}
	begin := time.Now()
	if err := prepare(ctx, p, job.Side); err != nil {
		return t, err
	}
	t.prepared = time.Since(begin)
	if t.before, err = r.Backend.Moment(ctx); err != nil {
		return t, err
	}
	t.result, err = r.Backend.Record(ctx, p, job.Side, file)
	return t, err
}

// prepare runs what the plan has to run before each run of a side.
func prepare(ctx context.Context, p *Plan, side Side) error {
	c := p.Side(side)
	if c.Prepare == "" {
		return nil
	}
	if _, err := (command.Program{Argv: command.Words(c.Prepare), Dir: c.Dir}).Run(ctx); err != nil {
		return fmt.Errorf("--prepare: %w", err)
	}
	return nil
}
