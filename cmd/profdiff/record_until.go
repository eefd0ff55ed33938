package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"profdiff/internal/budget"
	"profdiff/internal/looks"
	"profdiff/internal/record"
	"profdiff/internal/record/command"
	"profdiff/internal/verdict"
)

// untilFlags are the flags of a recording that goes on until something is decided.
type untilFlags struct {
	until   string
	maxRuns int
	maxTime time.Duration
	looks.Declaration
	budget string // file
	quiet  bool
}

func (f *untilFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.until, "until", "", "decided: record pairs until what is declared is decided, or shown to be the same: `WHEN`")
	fs.IntVar(&f.maxRuns, "max-runs", looks.Cap, "with --until, record at most `N` runs of each, as planned before the first; --runs means the same there")
	fs.DurationVar(&f.maxTime, "max-time", 0, "with --until, begin no pair that would probably end after `DURATION`")
	fs.StringVar(&f.Focus, "focus", "", "with --until, decide whether functions that match `REGEXP` changed, instead of the total")
	fs.StringVar(&f.budget, "budget", "", "with --until, decide whether the limits of the budget `FILE` hold, instead of the total")
}

// check checks the flags and fills in how many runs are recorded at most.
func (f *untilFlags) check(cmd *cobra.Command, p *record.Plan) error {
	changed := cmd.Flags().Changed
	if f.until == "" {
		for _, name := range []string{"max-runs", "max-time", "focus", "budget"} {
			if changed(name) {
				return usagef(cmd, "--%s needs --until decided", name)
			}
		}
		return nil
	}
	if !changed("runs") {
		p.Runs = f.maxRuns
	}
	switch {
	case f.until != "decided":
		return usagef(cmd, "--until is decided, not %q", f.until)
	case changed("runs") && changed("max-runs"):
		return usagef(cmd, "--runs and --max-runs say the same with --until: give one")
	case p.Runs < verdict.LeastRuns || p.Runs > record.MaxRuns:
		return usagef(cmd, "--until decided needs %d to %d runs at most, not %d", verdict.LeastRuns, record.MaxRuns, p.Runs)
	case f.maxTime < 0:
		return usagef(cmd, "--max-time is above 0, not %v", f.maxTime)
	case f.Focus != "" && f.budget != "":
		return usagef(cmd, "--focus and --budget exclude each other: one plan decides one kind of thing")
	}
	f.Cap = p.Runs
	return nil
}

// declare makes the plan of looks.
func (f *untilFlags) declare(p *record.Plan) (*record.LooksPlan, error) {
	if f.budget != "" {
		data, err := readStart(f.budget, budget.MaxSize+1)
		if err != nil {
			return nil, &usageError{nil, err}
		}
		f.Budget, f.Name, f.Today = data, f.budget, time.Now().UTC().Format(time.DateOnly)
	}
	plan, err := looks.Declare(&f.Declaration)
	if err != nil {
		return nil, &usageError{nil, err}
	}
	if p.App == "" && p.Process == "" {
		plan.Programs = [2]string{programHash(&p.Before), programHash(&p.After)}
	}
	return plan, nil
}

// programHash is the hash of the program that a command starts, "" if that is no file here.
func programHash(c *record.Command) string {
	sum, err := hashFile(command.File(c.Dir, c.Run))
	if err != nil {
		return ""
	}
	return sum
}

// An until is a recording that goes on until all targets are decided.
type until struct {
	io      *stdio
	flags   *untilFlags
	plan    *record.LooksPlan
	dir     string
	start   time.Time
	begun   int // pairs that were there at the start
	course  *looks.Course
	pairs   *pairRuns
	live    bool   // on a terminal, one line is rewritten
	line    string // of the last look
	because string // why it ended
}

// recordUntil records until all that the flags declare is decided, or at most is recorded.
func (s *stdio) recordUntil(ctx context.Context, r *record.Recorder, dir string, p *record.Plan, f *untilFlags) error {
	plan, err := f.declare(p)
	if err != nil {
		return err
	}
	rec, err := record.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case len(rec.Looks) > 0:
		return fmt.Errorf("%s: its looks are those of an earlier version, which cannot be gone on with: give another folder", dir)
	case rec.LooksOver():
		return fmt.Errorf("%s: its looks are over; another one would not be worth its level", dir)
	}
	u := &until{io: s, flags: f, plan: plan, dir: dir, start: time.Now(), pairs: &pairRuns{loader: &loader{io: s}, dir: dir, unnamed: !looks.Named(plan, p)}, live: s.terminal() && !f.quiet}
	own := *r
	own.More = func(rec *record.Recording) (bool, error) { return u.more(rec) }
	own.Tell = func(p record.Progress) {
		if u.live && p.Note == "" && p.Done < p.Total {
			fmt.Fprintf(s.err, "\r\x1b[K%d of at most %d runs; %s", p.Done, p.Total, cmp.Or(u.line, "no look yet"))
			return
		}
		r.Tell(p)
	}
	if rec, err = s.record(ctx, &own, dir, p); err != nil {
		return err
	}
	if u.live {
		s.say("%s", u.line)
	}
	s.say("%s", u.ended(rec))
	return nil
}

// more looks at what is recorded, and says whether to go on.
func (u *until) more(rec *record.Recording) (bool, error) {
	if u.course == nil {
		if err := u.begin(rec); err != nil {
			return false, err
		}
	}
	pairs := len(rec.Pairs())
	for due := u.course.Due(); due > 0 && due <= pairs && !u.course.Decided(); due = u.course.Due() {
		base, head, err := u.pairs.first(rec, due)
		if err != nil {
			return false, err
		}
		look, err := u.course.Look(base, head)
		if err != nil {
			return false, err
		}
		if err := rec.AddLook(u.dir, *look); err != nil {
			return false, err
		}
		if u.line = lookLine(u.course); !u.live {
			u.io.say("%s", u.line)
		}
	}
	switch {
	case u.course.Decided():
		u.because = "all is decided"
	case u.course.Due() == 0:
		u.because = "as many as planned"
	case u.course.Hopeless() != "":
		u.because = "more runs decide nothing: " + u.course.Hopeless()
	case u.late(pairs):
		u.because = "--max-time"
	}
	if u.live && u.because != "" {
		fmt.Fprint(u.io.err, "\r\x1b[K")
	}
	return u.because == "", nil
}

// late reports whether another pair would probably end after the time that is given.
func (u *until) late(pairs int) bool {
	if u.flags.maxTime == 0 {
		return false
	}
	spent := time.Since(u.start)
	if n := pairs - u.begun; n > 0 {
		spent += spent / time.Duration(n)
	}
	return spent > u.flags.maxTime
}

// begin writes the plan, or goes on with the one that is there.
func (u *until) begin(rec *record.Recording) error {
	if rec.LooksPlan == nil {
		if err := rec.PlanLooks(u.dir, *u.plan); err != nil {
			return err
		}
	}
	// The plan may be of another day.
	u.plan.Today = rec.LooksPlan.Today
	same, err := rec.SamePlan(u.plan)
	if err != nil {
		return err
	}
	if !same {
		return fmt.Errorf("%s: its looks were planned for something else: %s; give another folder", u.dir, planDiffers(rec.LooksPlan, u.plan))
	}
	u.begun = len(rec.Pairs())
	if twin := looksBeside(u.dir, rec.LooksPlan); twin != "" {
		u.io.warn("%s asks the same of the same programs: recording again until an answer pleases finds one by chance", twin)
	}
	u.course, err = replay(u.dir, rec, u.pairs)
	return err
}

// planDiffers says in what two plans of looks differ.
func planDiffers(a, b *record.LooksPlan) string {
	for _, d := range []struct {
		what string
		same bool
	}{
		{"--max-runs", a.Cap == b.Cap},
		{"--focus", a.Focus == b.Focus},
		{"the budget file", a.Budget == b.Budget},
		{"the programs", a.Programs == b.Programs},
	} {
		if !d.same {
			return d.what + " differs"
		}
	}
	return "it differs"
}

// looksBeside is a folder beside dir whose looks ask the same, "" if there is none.
func looksBeside(dir string, p *record.LooksPlan) string {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	notes, err := filepath.Glob(filepath.Join(filepath.Dir(abs), "*", record.FileName))
	if err != nil {
		return ""
	}
	for _, name := range notes {
		beside := filepath.Dir(name)
		if beside == abs {
			continue
		}
		if rec, err := record.Open(beside); err == nil && rec.LooksPlan != nil && rec.LooksPlan.SHA256 == p.SHA256 && len(rec.Planned) > 0 {
			return filepath.Join(filepath.Dir(dir), filepath.Base(beside))
		}
	}
	return ""
}

// lookLine says what a look found: of the target that is least certain, and of how many are
// decided.
func lookLine(c *looks.Course) string {
	open := slices.IndexFunc(c.Targets, func(t looks.Target) bool { return t.Verdict == verdict.Inconclusive })
	line := fmt.Sprintf("%d pairs: ", c.Pairs())
	if n := len(c.Targets); n > 1 {
		decided := 0
		for i := range c.Targets {
			if c.Targets[i].Verdict != verdict.Inconclusive {
				decided++
			}
		}
		line += fmt.Sprintf("%d of %d decided; ", decided, n)
	}
	t := &c.Targets[max(open, 0)]
	if t.Open != "" {
		return line + t.ID + ": " + t.Open
	}
	line += fmt.Sprintf("%s %s [%s, %s]", t.ID, valueText(t.Estimate.Ratio), valueText(t.Repeated.Lo), valueText(t.Repeated.Hi))
	if t.Verdict != verdict.Inconclusive {
		line += " " + t.Verdict.Word(c.Measure)
	}
	return line
}

// valueText writes a ratio, or a value of a limit on one side.
func valueText(x float64) string {
	if math.IsInf(x, 1) {
		return "∞"
	}
	return fmt.Sprintf("%.4g", x)
}

// ended says why the recording ended, and what is decided.
func (u *until) ended(rec *record.Recording) string {
	counts := make(map[verdict.Verdict]int)
	var order []verdict.Verdict
	for i := range u.course.Targets {
		v := u.course.Targets[i].Verdict
		if counts[v] == 0 {
			order = append(order, v)
		}
		counts[v]++
	}
	parts := make([]string, len(order))
	for i, v := range order {
		parts[i] = fmt.Sprintf("%d %s", counts[v], v.Word(u.course.Measure))
		if len(u.course.Targets) == 1 {
			parts[i] = u.course.Targets[0].ID + " " + v.Word(u.course.Measure)
		}
	}
	return fmt.Sprintf("ended after %d pairs of at most %d, %s: %s", len(rec.Pairs()), rec.LooksPlan.Cap, u.because, cmp.Or(strings.Join(parts, ", "), "nothing is decided"))
}
