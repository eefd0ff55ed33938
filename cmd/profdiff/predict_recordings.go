package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/branch"
	"profdiff/internal/ingest"
	"profdiff/internal/objects"
	"profdiff/internal/predict"
	"profdiff/internal/remark"
	"profdiff/internal/run"
)

// predictRecordings predicts the hottest loops of recordings.
func (s *stdio) predictRecordings(cmd *cobra.Command, f *predictFlags, inputs []string) (_ *predict.Prediction, err error) {
	if len(f.taken)+len(f.miss) > 0 || cmd.Flags().Changed("miss-rate") {
		return nil, usagef(cmd, "--taken, --miss and --miss-rate are for listings: --branches-before and --branches-after are for recordings")
	}
	opt := predict.PairOptions{Functions: f.functions(), Loops: [2]int{f.loop, f.loop}, Limit: f.limit}
	if opt.Work, err = f.work(cmd); err != nil {
		return nil, err
	}
	l, err := f.in.loader(cmd, s)
	if err != nil {
		return nil, err
	}
	var sides [2]*predict.SideInput
	var cpus []string
	var all []*run.Run
	defer func() { f.closing = func() { s.closePrediction(all) } }()
	for i, input := range inputs {
		side, runs, err := s.recordedSide(l, f, input, []string{f.binaryBefore, f.binaryAfter}[i], []string{f.branchesBefore, f.branchesAfter}[i])
		if err != nil {
			return nil, err
		}
		sides[i] = side
		all = append(all, runs...)
		cpus = append(cpus, predict.CPUNames(runs)...)
	}
	return s.predictSides(cmd, f, sides, cpus, opt)
}

// closePrediction says in one line what became of the samples of all runs, and warns of what
// predictions depend on. That stacks are cut off a flag says where it matters.
func (s *stdio) closePrediction(runs []*run.Run) {
	if len(runs) == 0 {
		return
	}
	s.say("%d runs: %s", len(runs), run.Account(runs...))
	var list []remark.Remark
	for _, r := range runs {
		for _, w := range r.Warnings {
			if !strings.Contains(w, "of the stacks end at addresses") && !strings.Contains(w, "of the call chains are incomplete") {
				list = append(list, remark.Remark{Run: r.Name, Text: w})
			}
		}
	}
	s.warnAll(remark.Lines(list, map[string]int{"": len(runs)}))
}

// predictSides predicts the hottest loops of two sides. cpus are what the recordings say
// of their CPU.
func (s *stdio) predictSides(cmd *cobra.Command, f *predictFlags, sides [2]*predict.SideInput, cpus []string, opt predict.PairOptions) (*predict.Prediction, error) {
	if a, b := sides[0].Binary.Arch, sides[1].Binary.Arch; a != b {
		return nil, fmt.Errorf("%s is for %s and %s for %s", sides[0].Binary.Path, a, sides[1].Binary.Path, b)
	}
	ctx := cmd.Context()
	tool, machine, err := f.machine(ctx, cmd, sides[0].Binary.Arch, cpus...)
	if err != nil {
		return nil, err
	}
	pairs, err := predict.PairsOf(ctx, tool, sides[0], sides[1], opt)
	if err != nil {
		return nil, err
	}
	return f.predictor(tool, machine).Predicted(ctx, pairs, f.timelines(), [2]predict.Heat{sides[0].Heat(), sides[1].Heat()})
}

// finder finds binaries whose loops are predicted.
func (s *stdio) finder(files *objects.Store, in *inputFlags) predict.Finder {
	f := predict.Finder{Objects: files, Warn: s.warn}
	if len(in.events) > 0 {
		f.Event = in.events[0]
	}
	return f
}

// recordedSide reads one side: runs, binary and branches.
func (s *stdio) recordedSide(l *loader, f *predictFlags, name, binary, branches string) (*predict.SideInput, []*run.Run, error) {
	files, err := s.files([]string{name})
	if err != nil {
		return nil, nil, err
	}
	runs, err := l.loadEach(files)
	if err != nil {
		return nil, nil, err
	}
	options := &branch.Options{AllowTruncated: f.in.allowTruncated}
	options.Names.Objects = l.opt.Objects
	if binary != "" { // has the code between the entries of branch stacks
		dir := filepath.Dir(binary)
		options.Names.Objects = l.opt.Objects.View(objects.SearchPath{Name: dir, FS: os.DirFS(dir)})
	}
	var tables []*branch.Table
	if branches == "" {
		tables = s.ownBranches(files, runs, options)
	} else {
		t, err := s.readBranches(branches, options)
		if err != nil {
			return nil, nil, err
		}
		tables = []*branch.Table{t}
	}
	finder := s.finder(l.opt.Objects, &f.in)
	finder.Branches = tables
	side, err := finder.Side(name, runs, binary)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range tables {
		err := side.AddBranches(l.opt.Objects, t)
		if err != nil && (branches != "" || !errors.Is(err, predict.ErrOtherBinary)) {
			return nil, nil, fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return side, runs, nil
}

// ownBranches are what recordings themselves tell of branches: what Callgrind simulated, and
// branch stacks.
func (s *stdio) ownBranches(files []string, runs []*run.Run, options *branch.Options) (tables []*branch.Table) {
	for i, name := range files {
		if name == "-" || !mayHaveBranches(runs[i]) {
			continue
		}
		t, err := s.readBranches(name, options)
		if err != nil || t.Unknown != "" || t.Tier != branch.TierSimulated && t.Tier != branch.TierStacks {
			return tables // nor do the others
		}
		tables = append(tables, t)
	}
	return tables
}

// mayHaveBranches reports whether a recording is of a format that may tell of branches.
func mayHaveBranches(r *run.Run) bool {
	for i := range r.Events {
		if r.Events[i].Simulated {
			_, ok := r.EventIndex("Bcm")
			return ok
		}
	}
	return r.Recording.Format == ingest.PerfData || r.Recording.Format == ingest.PerfScript
}
