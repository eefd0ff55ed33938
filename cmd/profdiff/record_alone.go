package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/record"
	"profdiff/internal/record/command"
)

// aloneName is where one recording goes if nobody says where.
const aloneName = "profdiff.data"

// paired are flags that say something about two sides.
var paired = []string{"before", "after", "git", "build", "prepare-before", "prepare-after", "until", "max-runs", "max-time", "focus", "budget", "seed", "work", "ops"}

// isAlone reports whether a call of record records one side: a command, processes or the system.
func isAlone(cmd *cobra.Command, words []string) bool {
	changed := cmd.Flags().Changed
	if slices.ContainsFunc([]string{"before", "after", "git", "build", "until"}, changed) {
		return false
	}
	return len(words) > 0 || changed("process") || changed("system-wide")
}

// checkAlone checks the flags of one side, and fills in what it is recorded while.
func (f *recordFlags) checkAlone(cmd *cobra.Command, words []string, output string) error {
	p := &f.plan
	changed := cmd.Flags().Changed
	for _, name := range paired {
		if changed(name) {
			return usagef(cmd, "--%s is for two sides: --before CMD and --after CMD, or --git BASE..HEAD", name)
		}
	}
	if !changed("runs") {
		p.Runs = 1
	}
	if !changed("warmup") {
		p.Warmup = 0
	}
	switch {
	case p.SystemWide && p.Process != "":
		return usagef(cmd, "--system-wide and --process exclude each other")
	case p.Process != "" && (f.with == "perf" || f.with == "callgrind"):
		return usagef(cmd, "--process needs --with builtin or simpleperf, not %s", f.with)
	case changed("process") && p.Process == "":
		return usagef(cmd, "--process is empty: give its number")
	case changed("duration") && !(p.Duration > 0):
		return usagef(cmd, "--duration is above 0, not %v", p.Duration)
	case p.Duration > 0 && len(words) > 0 && f.with != "simpleperf":
		return usagef(cmd, "--duration or a command says when the recording ends, not both")
	case len(words) == 0 && p.Runs > 1 && p.Duration == 0:
		return usagef(cmd, "--runs without a command needs --duration S")
	case len(words) == 0 && p.Warmup > 0:
		return usagef(cmd, "--warmup needs a command")
	case p.Runs > 1 && output == "":
		return usagef(cmd, "give a folder for the recordings: -o DIR")
	}
	p.Before.Run = ""
	if len(words) > 0 {
		p.Before.Run = commandLine(words)
	}
	return nil
}

// recordAlone records one side, to a file or, several times, to a folder, and says what comes next.
func (s *stdio) recordAlone(ctx context.Context, b record.Backend, p *record.Plan, output string, quiet bool) error {
	files := []string{output}
	if output == "" {
		files[0] = aloneName
	}
	switch info, err := os.Stat(files[0]); {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case p.Runs == 1 && err == nil && info.IsDir():
		return fmt.Errorf("%s: is a folder: -o FILE for one run, or --runs N", output)
	}
	if p.Runs > 1 {
		files = files[:0]
		for n := range p.Runs {
			files = append(files, filepath.Join(output, fmt.Sprintf("%02d%s", n+1, b.Suffix())))
		}
	}
	said := make(map[string]bool)
	tell := func(note string) {
		if !said[note] {
			s.note(note)
		}
		said[note] = true
	}
	finishes.Store(true)
	defer finishes.Store(false)
	for _, file := range files {
		result, err := record.Alone(ctx, b, p, file, tell)
		if err != nil {
			return err
		}
		if !quiet || result.Lost > 0 {
			s.say("%s: %d samples in %.2f s, %d lost", file, result.Samples, result.Duration.Seconds(), result.Lost)
		}
		if result.Failed != nil {
			return fmt.Errorf("%w (%s has what was recorded)", result.Failed, file)
		}
		if ctx.Err() != nil {
			break
		}
	}
	if !quiet {
		s.note(nextAlone(b, p, files[0], output))
	}
	return nil
}

// nextAlone says what to do with a recording: show it, and compare it, if there is another by its
// name, or else when there is.
func nextAlone(b record.Backend, p *record.Plan, file, output string) string {
	show := "look at it: " + command.Quote("profdiff", "show", file)
	if p.Runs > 1 {
		file = output
	}
	dir, name := filepath.Split(file)
	if before := dir + strings.Replace(name, "after", "before", 1); before != file {
		if _, err := os.Stat(before); err == nil {
			return show + "; compare: " + command.Quote("profdiff", "diff", before, file)
		}
	}
	next := dir + strings.Replace(name, "before", "after", 1)
	if next == file {
		next = dir + "after" + filepath.Ext(name)
	}
	words := []string{"profdiff", "record"}
	if b.Name() != new(record.Builtin).Name() {
		words = append(words, "--with", b.Name())
	}
	for _, e := range p.Events {
		if !record.IsClock(e.Name) && e.Name != "cpu-cycles" {
			words = append(words, "-e", e.Name)
		}
	}
	if p.CallGraph != "fp" {
		words = append(words, "--call-graph", p.CallGraph)
	}
	if p.OffCPU {
		words = append(words, "--off-cpu")
	}
	if p.Runs > 1 {
		words = append(words, "--runs", fmt.Sprint(p.Runs))
	}
	if p.SystemWide {
		words = append(words, "-a")
	}
	if p.Process != "" {
		words = append(words, "-p", "PID")
	}
	if p.Duration > 0 {
		words = append(words, "--duration", strconv.FormatFloat(p.Duration, 'f', -1, 64))
	}
	line := command.Quote(append(words, "-o", next)...)
	if p.Before.Run != "" {
		line += " -- " + p.Before.Run
	}
	return show + "; after the change: " + line + "; " + command.Quote("profdiff", "diff", file, next)
}
