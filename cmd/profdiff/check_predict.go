package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"profdiff/internal/asm"
	"profdiff/internal/branch"
	"profdiff/internal/budget"
	"profdiff/internal/objects"
	"profdiff/internal/predict"
	"profdiff/internal/run"
)

// headModel is what predicts cycles of head.
func (f *checkFlags) headModel(cmd *cobra.Command, std *stdio, files *objects.Store, runs []*run.Run, recordings []string) *predict.Head {
	h := &predict.Head{Runs: runs, Finder: std.finder(files, &f.in)}
	if f.page.file != "" {
		h.Timelines = 1
	}
	h.Known = func() (*branch.Table, bool) { return f.headBranches(std, files, recordings), f.tables[1] != nil }
	h.Predictor = func(ctx context.Context, arch asm.Arch, target string, names ...string) (predict.Toolchain, *predict.Predictor, error) {
		flags := &predictFlags{cpu: f.cpu, missCost: f.missCost, llvm: f.sections.llvm, timeout: defaultTimeout}
		if target != "" {
			flags.cpu = target
		}
		tool, machine, err := flags.machine(ctx, cmd, arch, names...)
		return tool, &predict.Predictor{Tool: tool, Machine: machine}, err
	}
	return h
}

// headBranches are the branches of head: of --branches-after, else of the first recording if that
// has branch stacks, else nil.
func (f *checkFlags) headBranches(std *stdio, files *objects.Store, recordings []string) *branch.Table {
	if f.tables[1] != nil || len(recordings) == 0 {
		return f.tables[1]
	}
	opt := &branch.Options{}
	opt.Names.Objects = files
	if t, err := std.readBranches(recordings[0], opt); err == nil && t.Unknown == "" && t.Tier == branch.TierStacks {
		return t
	}
	return nil
}

// predicted answers a budget by what is predicted of head.
func predicted(ctx context.Context, h *predict.Head, req budget.PredictionRequest) (budget.Prediction, error) {
	m, r, err := h.Hottest(ctx, req.Target, req.Match)
	if err != nil {
		return budget.Prediction{}, err
	}
	if r.Refused != "" {
		return budget.Prediction{}, errors.New(r.Refused)
	}
	lo, hi := r.HeadRange()
	model := fmt.Sprintf("llvm-mca of LLVM %s for %s, branches %s", m.Version, m.Model.CPU, r.Pair.Source)
	return budget.Prediction{Cycles: r.Head.Total, Lo: lo, Hi: hi, Model: model, Loop: r.Pair.Unit}, nil
}
