package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/budget"
	"profdiff/internal/looks"
	"profdiff/internal/record"
	"profdiff/internal/record/checkout"
	"profdiff/internal/scratch"
	"profdiff/internal/verdict"
)

// Exit codes of check --bisect beside 0 and 1, as git-bisect(1) has them.
const (
	exitSkip  = 125 // says nothing of the commit
	exitAbort = 128 // ends the search
)

// bisects reports whether arguments are those of a step of git bisect, where an exit code of 1
// to 127 other than exitSkip would condemn a commit.
func bisects(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return len(args) > 0 && args[0] == "check" && slices.ContainsFunc(args, func(a string) bool {
		return a == "--bisect" || strings.HasPrefix(a, "--bisect=")
	})
}

// bisectFlags are the flags of a check that records first: a commit that is known to be good,
// and the one that is checked out.
type bisectFlags struct {
	git    gitFlags
	record recordFlags
	limit  string // of everything, instead of a budget file
	output string
	until  bool // all budgets are decided
}

// bisectOnly are flags that nothing but --bisect takes.
var bisectOnly = []string{"build", "limit", "runs", "output", "prepare", "quiet", "recorder-arg", "seed", "warmup", "with", "work", "call-graph"}

// bisectNever are flags that have no place where what is recorded decides.
var bisectNever = []string{"base", "head", "base-values", "head-values", "stored-baseline", "look", "look-file", "prove", "report-only"}

func (f *bisectFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.git.revisions, "bisect", "", "record the commit `BASE`, which is good, and the one that is checked out, and exit as git bisect run wants it")
	fs.StringVar(&f.git.build, "build", "", "with --bisect, build each commit by `CMD`")
	fs.StringVar(&f.limit, "limit", "", "with --bisect, a commit is bad if everything costs `PERCENT` more than base (default: as --budget says, else the budget file of base)")
	fs.IntVar(&f.record.plan.Runs, "runs", 0, "with --bisect, record `N` runs of each (default: until the budgets are decided; 1 with callgrind)")
	fs.StringVarP(&f.output, "output", "o", "", "with --bisect, keep the recordings in the folder `DIR`, one for each commit")
	f.record.registerTool(cmd)
}

// arguments checks what the arguments are: two sides, or with --bisect the command to record.
func (f *bisectFlags) arguments(cmd *cobra.Command, args []string) error {
	if cmd.Flags().Changed("bisect") {
		return nil
	}
	for _, name := range bisectOnly {
		if cmd.Flags().Changed(name) {
			return fmt.Errorf("--%s needs --bisect BASE", name)
		}
	}
	return cobra.MaximumNArgs(2)(cmd, args)
}

// runBisect records and checks. What says nothing of the commit that is checked out is an
// outcome; errors are what would be wrong with each other commit, too.
func (c *checkCommand) runBisect(cmd *cobra.Command, std *stdio, words []string) error {
	f := &c.bisect
	limit, err := f.check(cmd, words)
	if err != nil {
		return err
	}
	f.record.events = c.in.events
	if err := f.record.complete(cmd); err != nil {
		return err
	}
	backend, err := f.record.backend(cmd, "")
	if err != nil {
		return err
	}
	temp, forget, err := scratch.Dir("", "profdiff-bisect-")
	if err != nil {
		return err
	}
	defer forget()
	defer os.RemoveAll(temp)
	r := &record.Recorder{Backend: backend, Version: version(), Tell: std.progress(f.record.quiet)}
	plan := &f.record.plan
	built, err := std.buildSides(cmd.Context(), &f.git, plan, words, r.Tell)
	if err != nil {
		if _, cannot := errors.AsType[*checkout.BuildError](err); cannot && ofHead(err) {
			return std.skip(err)
		}
		return err
	}
	defer built.close()
	if !cmd.Flags().Changed("budget") {
		c.budget = filepath.Join(built[0].Dir, defaultBudget)
		_, err := os.Stat(c.budget)
		switch {
		case limit == "" && err != nil:
			// Any default would be wrong: code that is moved alone changes what a program costs by
			// some percent, and above the slowdown that is looked for every commit is good.
			return usagef(cmd, "give --limit PERCENT, as %s has no %s: half of what the bad commit costs more (profdiff record --git %s..BAD --until decided)", f.git.revisions, defaultBudget, f.git.revisions)
		case limit != "":
			c.budget = filepath.Join(temp, "limit.yaml")
			text := fmt.Sprintf("version: 1\nbudgets:\n  - {id: everything, limit: {fail: %s}}\n", limit)
			if err := os.WriteFile(c.budget, []byte(text), 0o666); err != nil {
				return err
			}
		}
	}
	commit := plan.After.Commit
	dir := filepath.Join(cmp.Or(f.output, temp), cmp.Or(commit.Tree, commit.ID)[:12])
	if err := f.step(cmd.Context(), std, r, dir, c.budget); err != nil {
		if cmd.Context().Err() == nil && ofHead(err) {
			return std.skip(fmt.Errorf("%s: %w", commit, err))
		}
		return err
	}
	o, err := c.outcome(cmd, std, []string{dir})
	if _, wrong := errors.AsType[*usageError](err); wrong || cmd.Context().Err() != nil {
		return err
	}
	if err != nil {
		return std.skip(fmt.Errorf("%s: %w", commit, err))
	}
	return std.judge(commit, o)
}

// check checks the flags and returns the limit as a budget has it.
func (f *bisectFlags) check(cmd *cobra.Command, words []string) (limit string, err error) {
	for _, name := range bisectNever {
		if cmd.Flags().Changed(name) {
			return "", usagef(cmd, "--bisect and --%s exclude each other", name)
		}
	}
	p := &f.record.plan
	switch {
	case f.git.revisions == "" || strings.Contains(f.git.revisions, ".."):
		return "", usagef(cmd, "--bisect is one commit, which is good, not %q", f.git.revisions)
	case len(words) == 0:
		return "", usagef(cmd, "give the command to record: profdiff check --bisect %s --limit PERCENT --build CMD -- COMMAND", f.git.revisions)
	case f.limit != "" && cmd.Flags().Changed("budget"):
		return "", usagef(cmd, "--limit and --budget exclude each other")
	case p.Runs == 0 && f.record.with == "callgrind":
		p.Runs = 1 // as good as many
	case p.Runs == 0:
		p.Runs, f.until = looks.Cap, true
	}
	if f.limit == "" {
		return "", nil
	}
	percent, err := strconv.ParseFloat(strings.TrimSuffix(f.limit, "%"), 64)
	if err != nil || !(percent > 0) || math.IsInf(percent, 0) {
		return "", usagef(cmd, "--limit is above 0, as in +5%%, not %q", f.limit)
	}
	return fmt.Sprintf("+%v%%", percent), nil
}

// step records base and the commit that is checked out, if that is not there already.
func (f *bisectFlags) step(ctx context.Context, std *stdio, r *record.Recorder, dir, budget string) error {
	if rec, err := record.Open(dir); err == nil && rec.LooksOver() {
		return nil
	}
	if !f.until {
		_, err := std.record(ctx, r, dir, &f.record.plan)
		return err
	}
	until := untilFlags{budget: budget, quiet: f.record.quiet}
	until.Cap = f.record.plan.Runs
	return std.recordUntil(ctx, r, dir, &f.record.plan, &until)
}

// ofHead reports whether an error is of the side that is checked out.
func ofHead(err error) bool {
	side, ok := errors.AsType[*record.SideError](err)
	return ok && side.Side == record.After
}

// skip says why nothing is known of a commit.
func (s *stdio) skip(err error) error {
	s.report(err)
	s.say("bisect: skip")
	return &outcomeError{exitSkip}
}

// judge says what the budgets say of a commit. One that has nothing to measure tells nothing.
func (s *stdio) judge(commit *record.Commit, o *budget.Outcome) error {
	code, word := exitOK, "good"
	for _, r := range o.Results {
		switch missing := slices.Contains(r.Marks, budget.Missing); {
		case r.Verdict == verdict.Fail && !missing:
			code, word = exitBudget, "bad"
		case code == exitOK && (missing || r.Verdict == verdict.Inconclusive):
			code, word = exitSkip, verdict.Inconclusive.Word(verdict.Amount)+": skip"
		}
	}
	s.say("bisect: %s: %s", commit, word)
	if code == exitOK {
		return nil
	}
	return &outcomeError{code}
}
