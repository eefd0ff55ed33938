package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"profdiff/internal/align"
	"profdiff/internal/branch"
	"profdiff/internal/branch/diff"
	"profdiff/internal/perfstat"
	"profdiff/internal/remark"
	"profdiff/internal/report/branches"
	"profdiff/internal/report/html"
)

// branchesDiffFlags are the flags of branches that are for two sides.
type branchesDiffFlags struct {
	base, head []string
	normalize  string
	ops        []float64
	cycles     []float64
	margin     float64
	renames    []string
	unpaired   bool
	blocked    bool

	statBase, statHead string
}

func (f *branchesDiffFlags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&f.base, "base", nil, "a recording, or a directory of them, before the change: `PATH` (repeatable)")
	fs.StringArrayVar(&f.head, "head", nil, "a recording, or a directory of them, after the change: `PATH` (repeatable)")
	fs.StringVar(&f.statBase, "stat-base", "", "of two sides, take the totals of base from `FILE`, what perf stat or simpleperf stat printed")
	fs.StringVar(&f.statHead, "stat-head", "", "of two sides, take the totals of head from `FILE`")
	fs.StringVar(&f.normalize, "normalize", "auto", "of two sides, divide misses by `MODE`: work, instructions, reference (branches of both), none, or auto to choose")
	fs.Float64SliceVar(&f.ops, "ops", nil, "of two sides, divide by `N` operations done in each run, or BASE,HEAD")
	fs.Float64SliceVar(&f.cycles, "cycles", nil, "of two sides, compare what fewer misses save with these cycles of a run: `BASE,HEAD`")
	fs.Float64Var(&f.margin, "margin", 2, "of two sides, call misses the same if a change of more than `PERCENT` is excluded")
	fs.BoolVar(&f.unpaired, "unpaired", false, "of two sides, compare two groups of runs, not runs that were recorded next to each other")
	fs.BoolVar(&f.blocked, "allow-blocked-order", false, "of two sides, give verdicts even if all runs of one side were recorded first")
	fs.StringArrayVar(&f.renames, "rename", nil, "of two sides, compare the function OLD of base with NEW of head: `OLD=NEW` (repeatable)")
}

// sides are the paths of both sides, nil if the command is for one input.
func (f *branchesDiffFlags) sides(cmd *cobra.Command, paths []string) (base, head []string, err error) {
	named := len(f.base) + len(f.head)
	switch {
	case named == 0 && len(paths) == 2:
		return paths[:1], paths[1:], nil
	case named == 0 && len(paths) == 1:
		before, after := filepath.Join(paths[0], "before"), filepath.Join(paths[0], "after")
		if isDir(before) && isDir(after) {
			return []string{before}, []string{after}, nil
		}
		for _, name := range []string{"normalize", "ops", "cycles", "margin", "rename", "unpaired", "allow-blocked-order", "stat-base", "stat-head"} {
			if cmd.Flags().Changed(name) {
				return nil, nil, usagef(cmd, "--%s is for two sides", name)
			}
		}
		return nil, nil, nil
	case named > 0 && len(paths) == 0 && len(f.base) > 0 && len(f.head) > 0:
		return f.base, f.head, nil
	}
	return nil, nil, usagef(cmd, "name one INPUT, or two sides: BEFORE AFTER, or --base and --head")
}

// options checks the flags.
func (f *branchesDiffFlags) options(cmd *cobra.Command) (opt diff.Options, err error) {
	if opt.Normalize, err = diff.ParseNormalization(f.normalize); err != nil {
		return opt, usagef(cmd, "--normalize: %v", err)
	}
	if opt.Ops, err = baseHead(cmd, "ops", f.ops, true); err != nil {
		return opt, err
	}
	if opt.Cycles, err = baseHead(cmd, "cycles", f.cycles, false); err != nil {
		return opt, err
	}
	switch {
	case opt.Ops != nil && opt.Normalize != diff.NormalizeAuto && opt.Normalize != diff.PerWork:
		return opt, usagef(cmd, "--ops needs --normalize work, not %s", f.normalize)
	case opt.Ops == nil && opt.Normalize == diff.PerWork:
		return opt, usagef(cmd, "--normalize work needs --ops")
	case !(f.margin > 0) || f.margin > 1000:
		return opt, usagef(cmd, "--margin is a percentage above 0 and up to 1000, not %v", f.margin)
	}
	opt.Margin, opt.Unpaired, opt.AllowBlockedOrder = f.margin/100, f.unpaired, f.blocked
	for _, s := range f.renames {
		r, err := align.ParseRename(s)
		if err != nil {
			return opt, usagef(cmd, "--rename: %v", err)
		}
		opt.Renames = append(opt.Renames, r)
	}
	return opt, nil
}

// baseHead reads BASE,HEAD, or N for both if one is enough.
func baseHead(cmd *cobra.Command, name string, list []float64, one bool) (*[2]float64, error) {
	want := "BASE,HEAD"
	if one {
		want = "N or BASE,HEAD"
	}
	switch {
	case len(list) == 0:
		return nil, nil
	case len(list) == 1 && one:
		list = []float64{list[0], list[0]}
	case len(list) != 2:
		return nil, usagef(cmd, "--%s takes %s, not %d numbers", name, want, len(list))
	}
	for _, n := range list {
		if !(n > 0) || math.IsInf(n, 0) {
			return nil, usagef(cmd, "--%s takes positive numbers, not %v", name, n)
		}
	}
	return &[2]float64{list[0], list[1]}, nil
}

// stats reads the totals of base and head, nil where there are none.
func (f *branchesDiffFlags) stats(std *stdio) (stats [2]*perfstat.Stat, err error) {
	for i, name := range []string{f.statBase, f.statHead} {
		if name == "" {
			continue
		}
		if stats[i], err = std.readStat(name); err != nil {
			return stats, fmt.Errorf("%s: %w", []string{"--stat-base", "--stat-head"}[i], err)
		}
	}
	return stats, nil
}

// branchSides reads the runs of both sides, with the totals of each.
func (s *stdio) branchSides(base, head []string, opt *branch.Options, stats [2]*perfstat.Stat) (baseRuns, headRuns []*branch.Table, err error) {
	baseFiles, err := s.files(base)
	if err != nil {
		return nil, nil, err
	}
	headFiles, err := s.files(head)
	if err != nil {
		return nil, nil, err
	}
	if err := checkDistinct(slices.Concat(baseFiles, headFiles)); err != nil {
		return nil, nil, err
	}
	for i, files := range [][]string{baseFiles, headFiles} {
		if stats[i] != nil && len(files) > 1 {
			return nil, nil, fmt.Errorf("%s: is of one run, but the side has %d", stats[i].Name, len(files))
		}
	}
	for i, name := range slices.Concat(baseFiles, headFiles) {
		of := *opt
		of.Stat = stats[0]
		if i >= len(baseFiles) {
			of.Stat = stats[1]
		}
		t, err := s.readBranches(name, &of)
		if err != nil {
			return nil, nil, err
		}
		if i < len(baseFiles) {
			baseRuns = append(baseRuns, t)
		} else {
			headRuns = append(headRuns, t)
		}
	}
	return baseRuns, headRuns, nil
}

// diffBranches compares the branches of two sides and prints the result.
func (s *stdio) diffBranches(ctx context.Context, base, head []string, read *branch.Options, stats [2]*perfstat.Stat, opt diff.Options, page *htmlFlags, limit int, format, output string) error {
	baseRuns, headRuns, err := s.branchSides(base, head, read, stats)
	if err != nil {
		return err
	}
	c, err := diff.Compare(baseRuns, headRuns, opt)
	if err != nil {
		return err
	}
	if err := page.findSource(ctx, nil, nil); err != nil {
		return err
	}
	d := page.branches(c, opt.Objects)
	if page.file != "" {
		if err := page.write(s, html.FromBranchDiff(d, page.options())); err != nil {
			return err
		}
	}
	err = s.writeTables(output, format != "json", func(w io.Writer) error {
		if format == "json" {
			return branches.WriteDiffJSON(w, d)
		}
		return branches.WriteDiffText(w, d, limit)
	})
	if err != nil {
		return err
	}
	var remarks []remark.Remark
	for i, side := range []string{"base", "head"} {
		for _, run := range d.Runs[i] {
			s.say("%s: %s", run.Input.Path, branches.Accounting(run))
			for _, w := range run.Warnings {
				remarks = append(remarks, remark.Remark{Side: side, Run: run.Input.Path, Text: w})
			}
		}
	}
	s.warnAll(remark.Lines(remarks, map[string]int{"base": len(d.Runs[0]), "head": len(d.Runs[1])}))
	s.warnAll(d.Warnings)
	return nil
}
