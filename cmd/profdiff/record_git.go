package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"profdiff/internal/record"
	"profdiff/internal/record/checkout"
	"profdiff/internal/record/command"
)

// gitFlags are the flags of commands that check out and build what they record.
type gitFlags struct {
	revisions string // BASE..HEAD
	build     string
}

// checkRecorded checks that a call of record says what to record: two commands, or two commits
// and a command for both.
func (f *gitFlags) checkRecorded(cmd *cobra.Command, p *record.Plan, words []string) error {
	git := cmd.Flags().Changed("git")
	switch {
	case git && f.revisions == "":
		return usagef(cmd, "--git is empty: name two commits, BASE..HEAD")
	case git && (p.Before.Run != "" || p.After.Run != ""):
		return usagef(cmd, "--git runs one command on both sides: -- COMMAND, without --before and --after")
	case git && len(words) == 0:
		return usagef(cmd, "give the command that runs on both sides: --git %s -- COMMAND", f.revisions)
	case git:
		return nil
	case f.build != "":
		return usagef(cmd, "--build needs --git BASE..HEAD")
	case len(words) > 0:
		return usagef(cmd, "unknown argument %q: --git BASE..HEAD runs a command on two commits; else give --before CMD and --after CMD", words[0])
	case p.Before.Run == "" && p.After.Run == "":
		return usagef(cmd, "say what to record: -- COMMAND, -p PID or -a; or both sides, --before CMD and --after CMD, or --git BASE..HEAD --build CMD")
	case p.Before.Run == "" || p.After.Run == "":
		return usagef(cmd, "give both commands: --before CMD and --after CMD")
	}
	return nil
}

// A built is both sides, checked out and built.
type built [2]*checkout.Build

func (b built) close() {
	for _, side := range b {
		if side != nil {
			side.Close()
		}
	}
}

// buildSides checks out and builds both sides, and has the plan run a command in both. Who is
// done with them closes them.
func (s *stdio) buildSides(ctx context.Context, f *gitFlags, p *record.Plan, words []string, tell func(record.Progress)) (b built, err error) {
	repository, err := checkout.Open(ctx, ".")
	if err != nil {
		return b, err
	}
	base, head, err := repository.Range(ctx, f.revisions)
	if err != nil {
		return b, err
	}
	if base.Same(head) {
		tell(record.Progress{Note: fmt.Sprintf("both sides are %s: no change is to be found", &base.Commit)})
	}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	line := commandLine(words)
	for i, side := range []record.Side{record.Before, record.After} {
		revision := []*checkout.Revision{base, head}[i]
		b[i], err = repository.Build(ctx, revision, f.build, func(note string) { tell(record.Progress{Note: fmt.Sprintf("%s, %s", side, note)}) })
		if err != nil {
			return b, &record.SideError{Side: side, Err: fmt.Errorf("%s, %w", side, err)}
		}
		c := p.Side(side)
		c.Run, c.Dir, c.Commit = line, b[i].Dir, &b[i].Commit
	}
	return b, nil
}

// commandLine is the command after --: one word may be for a shell.
func commandLine(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return command.Quote(words...)
}
