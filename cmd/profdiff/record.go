package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"profdiff/internal/record"
	"profdiff/internal/record/android"
	"profdiff/internal/remark"
	"profdiff/internal/run"
)

// recordFlags are the flags of commands that record.
type recordFlags struct {
	plan      record.Plan
	events    []string
	count     uint64
	frequency int
	prepare   string
	with      string
	android   android.Backend
	quiet     bool
	alone     bool // one side is recorded
}

func (f *recordFlags) register(cmd *cobra.Command) {
	f.registerTool(cmd)
	fs := cmd.Flags()
	fs.StringArrayVarP(&f.events, "event", "e", nil, "record the event `NAME`, or several with commas between (repeatable; default cpu-cycles, or cpu-clock where the machine has no counters)")
	fs.Uint64VarP(&f.count, "count", "c", 0, "take a sample every `N` events (default: chosen, about a thousand a second)")
	fs.IntVarP(&f.frequency, "frequency", "F", 0, "take `N` samples a second instead: the period then varies")
	fs.BoolVarP(&f.plan.SystemWide, "system-wide", "a", false, "record all processes while the command runs, or for --duration, or until ^C")
	fs.BoolVar(&f.plan.OffCPU, "off-cpu", false, "record where threads leave the CPU, too")
	fs.Float64Var(&f.plan.Operations, "ops", 0, "each run does `N` operations")
	fs.StringVar(&f.android.Serial, "device", "", "record on the Android device `SERIAL` (default: the one that is attached, or ANDROID_SERIAL)")
	fs.StringVar(&f.android.Simpleperf, "simpleperf", "", "copy simpleperf to the device from `FILE`, that of the NDK (default: the device has one)")
	fs.StringVar(&f.plan.App, "app", "", "record the Android app `PACKAGE` while the command runs on the device")
	fs.StringVarP(&f.plan.Process, "process", "p", "", "record the running process `ID`, or several with commas between, with all threads and what they start; with --with simpleperf, the process NAME or ID of the device")
	fs.Float64Var(&f.plan.Duration, "duration", 0, "record --process, --system-wide or --app for `S` seconds (default: until the command or the processes end, or ^C)")
}

// registerTool is for the flags of what records, and how, on this machine.
func (f *recordFlags) registerTool(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.plan.CallGraph, "call-graph", "fp", "record call chains by `MODE`: fp, dwarf, dwarf,BYTES of each stack (8192), lbr or none")
	fs.IntVar(&f.plan.Warmup, "warmup", 1, "run each command `N` times before recording")
	fs.Uint64Var(&f.plan.Seed, "seed", 0, "draw the order of the runs by the number `N` (default: one that the system draws)")
	fs.StringVar(&f.plan.Work, "work", "", "the commands print a line NAME NUMBER, the work done: `NAME`")
	fs.StringVar(&f.with, "with", "", "record with `TOOL`: "+strings.Join(backends, ", ")+" (default: builtin, or perf for what that cannot do)")
	fs.StringArrayVar(&f.plan.Arguments, "recorder-arg", nil, "pass `ARG` to the recorder (repeatable)")
	fs.StringVar(&f.prepare, "prepare", "", "run `CMD` before each run, unrecorded")
	fs.BoolVarP(&f.quiet, "quiet", "q", false, "do not show progress")
}

// androidFlags are those for --with simpleperf only.
var androidFlags = []string{"device", "simpleperf", "app"}

// checkAndroid checks the flags for Android.
func (f *recordFlags) checkAndroid(cmd *cobra.Command) error {
	p := &f.plan
	for _, name := range androidFlags {
		if cmd.Flags().Changed(name) && f.with != "simpleperf" {
			return usagef(cmd, "--%s needs --with simpleperf", name)
		}
	}
	switch {
	case f.with != "simpleperf" && !f.alone && cmd.Flags().Changed("process"):
		return usagef(cmd, "--process of this machine is one side: without --before and --after; two sides need --with simpleperf")
	case p.App != "" && p.Process != "":
		return usagef(cmd, "--app and --process exclude each other")
	case p.SystemWide && (p.App != "" || p.Process != ""):
		return usagef(cmd, "--system-wide excludes --app and --process")
	case math.IsNaN(p.Duration) || math.IsInf(p.Duration, 0) || p.Duration < 0:
		return usagef(cmd, "--duration is above 0, not %v", p.Duration)
	case p.Duration > 0 && p.App == "" && p.Process == "" && !(p.SystemWide && f.alone):
		return usagef(cmd, "--duration needs --app or --process: a command is recorded until it ends")
	}
	if f.android.Serial == "" {
		f.android.Serial = os.Getenv("ANDROID_SERIAL")
	}
	return nil
}

// backends are the tools to record with.
var backends = []string{"builtin", "perf", "callgrind", "simpleperf"}

// backend is what records to a folder. One that nobody chose goes on as the folder began; else it
// is the built-in one, or perf where that can do more.
func (f *recordFlags) backend(cmd *cobra.Command, dir string) (record.Backend, error) {
	builtin := &record.Builtin{Version: version()}
	with := f.with
	if with == "" {
		with = builtin.Name()
		if rec, err := record.Open(dir); err == nil && !f.alone {
			with = rec.Backend
		} else if err := builtin.Can(&f.plan); err != nil && !errors.Is(err, record.ErrForbidden) && !f.attaches() {
			with = "perf"
		}
	}
	switch with {
	case builtin.Name():
		return builtin, nil
	case "perf":
		return new(record.Perf), nil
	case "callgrind":
		return new(record.Callgrind), nil
	case "simpleperf":
		return &f.android, nil
	}
	return nil, usagef(cmd, "--with is one of %s, not %q", strings.Join(backends, ", "), with)
}

// attaches reports whether what is recorded runs already, and no command says how long, or which
// processes it is: the built-in backend can do that, or simpleperf.
func (f *recordFlags) attaches() bool {
	return f.alone && (f.plan.Process != "" || f.plan.Before.Run == "")
}

// complete checks the flags and fills in the plan.
func (f *recordFlags) complete(cmd *cobra.Command) error {
	p := &f.plan
	switch {
	case f.count > 0 && f.frequency > 0:
		return usagef(cmd, "--count and --frequency exclude each other")
	case f.frequency < 0:
		return usagef(cmd, "--frequency is above 0, not %d", f.frequency)
	case !record.IsCallGraph(p.CallGraph):
		return usagef(cmd, "--call-graph is fp, dwarf, dwarf,BYTES (a multiple of 8 up to 65528), lbr or none, not %q", p.CallGraph)
	case p.Work != "" && p.Operations != 0:
		return usagef(cmd, "--work and --ops exclude each other")
	case p.Operations < 0:
		return usagef(cmd, "--ops is above 0, not %v", p.Operations)
	case p.Runs < 1 || p.Runs > record.MaxRuns:
		return usagef(cmd, "--runs is 1 to %d, not %d", record.MaxRuns, p.Runs)
	case p.Warmup < 0:
		return usagef(cmd, "--warmup is 0 or more, not %d", p.Warmup)
	}
	if err := f.checkAndroid(cmd); err != nil {
		return err
	}
	for _, list := range f.events {
		for _, name := range splitEvents(list) {
			if name == "" {
				return usagef(cmd, "--event: a name is empty in %q", list)
			}
			p.Events = append(p.Events, record.Event{Name: name, Period: f.count, Frequency: f.frequency})
		}
	}
	if len(p.Events) == 0 {
		if f.count > 0 {
			return usagef(cmd, "--count needs --event NAME: it counts events")
		}
		p.Frequency = f.frequency
	}
	if p.Before.Prepare == "" {
		p.Before.Prepare = f.prepare
	}
	if p.After.Prepare == "" {
		p.After.Prepare = f.prepare
	}
	return nil
}

// splitEvents splits at the commas that are not between slashes: cpu/event=1,umask=2/
// is one event.
func splitEvents(list string) []string {
	inside := false
	return strings.FieldsFunc(list, func(r rune) bool {
		if r == '/' {
			inside = !inside
		}
		return r == ',' && !inside
	})
}

func newRecordCmd(std *stdio) *cobra.Command {
	var (
		f      recordFlags
		git    gitFlags
		until  untilFlags
		output string
		chains bool
	)
	cmd := &cobra.Command{
		Use:   "record [-o FILE] [flags] (-- COMMAND | -p PID | -a) | (--before CMD --after CMD | --git BASE..HEAD --build CMD) -o DIR [flags] [-- COMMAND]",
		Short: "Record a program, or a program before and after a change, in turn",
		Example: `  profdiff record -o perf.data -- ./bench
  profdiff record --git main..HEAD --build make -o runs -- ./bench`,
		Long: `Record a command, processes that run (-p PID) or the whole system (-a) to a perf.data
file, profdiff.data unless -o FILE names another; symbols/ beside it keeps what names
addresses, so that the program may be built anew. The command runs once, with the files
and the terminal that profdiff has; --runs N records it N times, to a folder. -p and -a
record while COMMAND runs, for --duration S, or until all processes have ended or ^C.

With --before and --after, or with --git, record a program before and after a change: in
pairs of one run of each, so that what changes slowly on the machine is alike for both.
Which of the two runs first is drawn, so that nothing that comes back after some number
of runs meets the same side each time; --seed draws the same order again. DIR/before and
DIR/after get the recordings, DIR/recording.yaml how, when, in what order and under what
conditions each was made; profdiff diff DIR compares them. Called again, it records what
is missing. A pair of which one run failed, was interrupted or got lost is recorded again
as a whole, after the others.

With --git BASE..HEAD the sides are two commits of the repository that the working
directory is in: each is checked out apart from it, built by --build CMD, and COMMAND
runs in both, in the same folder as here. BASE...HEAD begins where both parted, and
BASE or BASE.. ends with the working tree: all changes to files that git tracks. The
builds stay in the cache of the user for a day, so that no commit is built twice.

Events are sampled every so many events, not so many times a second, because costs
are compared. The period is prime, and chosen by counting events in a first run. If
the commands print a line NAME NUMBER that says how much work was done, --work NAME
lets diff divide by it.

With --with simpleperf, adb runs both commands on an Android device, in
/data/local/tmp, and simpleperf records them there, or with --app and --process what
they use or start: 'am start -W com.example/.Main'. --prepare runs on this computer:
'adb install -r before.apk'.

With --until decided, pairs are recorded until it is decided whether the total changed,
or the functions of --focus, or whether the limits of the file of --budget hold; or
until --max-runs or --max-time. After 4 pairs and after every two more is looked, at
levels that keep all looks together from being wrong more often than a single one:
DIR/recording.yaml has the plan before the first run, and each look before the next.
profdiff diff and check repeat the looks, and refuse runs from which they do not follow.`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, words []string) error {
			if !chains {
				f.plan.CallGraph = "none"
			}
			var missing error
			if f.alone = isAlone(cmd, words); f.alone {
				missing = f.checkAlone(cmd, words, output)
			}
			if err := cmp.Or(missing, until.check(cmd, &f.plan), f.complete(cmd)); err != nil {
				return err
			}
			if f.alone {
				backend, err := f.backend(cmd, "")
				if err != nil {
					return err
				}
				return std.recordAlone(cmd.Context(), backend, &f.plan, output, f.quiet)
			}
			if err := git.checkRecorded(cmd, &f.plan, words); err != nil {
				return err
			}
			if output == "" {
				return usagef(cmd, "give a folder for the recordings: -o DIR")
			}
			backend, err := f.backend(cmd, output)
			if err != nil {
				return err
			}
			r := &record.Recorder{Backend: backend, Version: version(), Tell: std.progress(f.quiet)}
			if git.revisions != "" {
				built, err := std.buildSides(cmd.Context(), &git, &f.plan, words, r.Tell)
				if err != nil {
					return err
				}
				defer built.close()
			}
			until.quiet = f.quiet
			if until.until == "" {
				_, err = std.record(cmd.Context(), r, output, &f.plan)
			} else {
				err = std.recordUntil(cmd.Context(), r, output, &f.plan, &until)
			}
			if err != nil {
				return err
			}
			return std.recorded(output)
		},
	}
	f.register(cmd)
	fs := cmd.Flags()
	fs.StringVar(&git.revisions, "git", "", "record two commits of this repository, `BASE..HEAD`, or BASE and the working tree")
	fs.StringVar(&git.build, "build", "", "with --git, build each commit by `CMD`")
	fs.StringVar(&f.plan.Before.Run, "before", "", "`CMD` runs the program before the change")
	fs.StringVar(&f.plan.After.Run, "after", "", "`CMD` runs the program after the change")
	fs.StringVar(&f.plan.Before.Prepare, "prepare-before", "", "as --prepare, for before only: `CMD`")
	fs.StringVar(&f.plan.After.Prepare, "prepare-after", "", "as --prepare, for after only: `CMD`")
	fs.IntVar(&f.plan.Runs, "runs", 10, "record `N` runs of each (one side: 1)")
	fs.StringVarP(&output, "output", "o", "", "write to the folder `DIR`, or one run of one side to a file (default profdiff.data)")
	fs.BoolVarP(&chains, "call-chains", "g", true, "record call chains, as is done anyway; =false is --call-graph none")
	fs.SetInterspersed(false) // behind the first word, all is of the command
	until.register(cmd)
	return cmd
}

// record records, and says on standard error what there is.
func (s *stdio) record(ctx context.Context, r *record.Recorder, dir string, p *record.Plan) (*record.Recording, error) {
	var last record.Progress // of the runs that are recorded now
	recorded := 0
	own, tell := *r, r.Tell
	own.Tell = func(p record.Progress) {
		if p.Run != nil {
			last = p
			recorded++
		}
		tell(p)
	}
	rec, err := own.Record(ctx, dir, p)
	if err != nil {
		if rec != nil && len(rec.Runs) > 0 {
			return nil, fmt.Errorf("%w (%d of %d runs are in %s: the same command goes on)", err, len(rec.Runs), 2*rec.Plan.Runs, dir)
		}
		return nil, err
	}
	if recorded > 0 {
		s.say("%s", overhead(r.Backend.Name(), recorded, &last))
	}
	return rec, nil
}

// recorded says what a folder holds, and what to do with it.
func (s *stdio) recorded(dir string) error {
	rec, err := record.Open(dir)
	if err != nil {
		return err
	}
	var samples, lost int64
	for _, run := range rec.Runs {
		samples += run.Samples
		lost += run.Lost
	}
	s.say("%s: %d runs a side, %d samples, %d lost; compare them: profdiff diff %s", dir, len(rec.Pairs()), samples, lost, run.JoinWords([]string{dir}))
	return nil
}

// overhead says how long recording took, warming up aside, and what of it the commands
// did not.
func overhead(name string, runs int, p *record.Progress) string {
	commands := p.Spent.Commands.Seconds()
	text := fmt.Sprintf("%d runs in %.1f s: the commands %.1f s", runs, p.Elapsed.Seconds(), commands)
	share := func(what string, d time.Duration) {
		if commands > 0 && d > 0 {
			text += fmt.Sprintf(", %s %.1f s (%.1f %% of that)", what, d.Seconds(), 100*d.Seconds()/commands)
		}
	}
	share(name+" before and after them", p.Spent.Recorder)
	share("the rest", p.Elapsed-p.Spent.Commands-p.Spent.Recorder)
	return text
}

// terminal reports whether a person sees what is written to standard error.
func (s *stdio) terminal() bool { return isTerminal(s.err) }

// progress shows what is being recorded: on a terminal one line that is rewritten,
// else a line for each run.
func (s *stdio) progress(quiet bool) func(record.Progress) {
	terminal := s.terminal()
	var remarks []remark.Remark
	return func(p record.Progress) {
		clear := ""
		if terminal && !quiet {
			clear = "\r\x1b[K"
		}
		switch {
		case p.Note != "":
			place := ""
			if p.Job.Number > 0 {
				// Of many runs the same is said once more, when all are there.
				place = fmt.Sprintf("%s %d: ", p.Job.Side, p.Job.Number)
				remarks = append(remarks, remark.Remark{Side: string(p.Job.Side), Run: place, Text: p.Note})
				if remark.Repeats(remarks) {
					return
				}
			}
			fmt.Fprint(s.err, clear)
			s.say("%s%s", place, p.Note)
		case quiet:
		case terminal && p.Done < p.Total:
			left := ""
			if p.Left > 0 {
				left = ", " + p.Left.Round(time.Second).String() + " left"
			}
			fmt.Fprintf(s.err, "%s%d of %d runs%s", clear, p.Done, p.Total, left)
		case terminal:
			fmt.Fprint(s.err, clear)
		case p.Run != nil:
			fmt.Fprintf(s.err, "%d of %d: %s in %.2f s, %d samples\n", p.Done, p.Total, p.Run.File, p.Run.Seconds, p.Run.Samples)
		}
		if p.Run != nil && p.Done == p.Total {
			half := p.Total / 2
			for _, line := range remark.Repeated(remarks, map[string]int{string(record.Before): half, string(record.After): half}) {
				s.note(line)
			}
		}
	}
}

// A folder is one that profdiff record wrote.
type folder struct {
	dir string
	*record.Recording
}

// folderOf returns the folder that the recordings of a side are in, nil if they are in
// none, or in several.
func folderOf(files []string) (*folder, error) {
	dir := ""
	for i, file := range files {
		in := filepath.Dir(filepath.Dir(file))
		if file == "-" || i > 0 && in != dir {
			return nil, nil
		}
		dir = in
	}
	rec, err := record.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &folder{dir, rec}, nil
}

// addWork adds the counter of work that the folder has for a run.
func (f *folder) addWork(r *run.Run) error {
	if f.Plan.Work == "" && f.Plan.Operations == 0 {
		return nil
	}
	for _, c := range f.Counters(f.dir, r.Name) {
		if c.Name == f.Plan.Work || f.Plan.Work == "" && c.Name == "operations" {
			if !slices.ContainsFunc(r.Counters, func(o run.Counter) bool { return o.Name == c.Name }) {
				r.Counters = append(r.Counters, run.Counter{Name: c.Name, Unit: "count", Value: c.Value})
			}
			return nil
		}
	}
	return fmt.Errorf("%s: %s does not say what work it did; give --ops N", r.Name, filepath.Join(f.dir, record.FileName))
}
