package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"profdiff/internal/asm"
	"profdiff/internal/branch"
	"profdiff/internal/budget"
	"profdiff/internal/predict"
	"profdiff/internal/run"
	"profdiff/internal/symbolizer"
)

// headModel is what predicts cycles of head.
func (f *checkFlags) headModel(cmd *cobra.Command, std *stdio, runs []*run.Run, files []string) *predict.Head {
	h := &predict.Head{Runs: runs, Symfs: f.in.symfs}
	if f.page.file != "" {
		h.Timelines = 1
	}
	if len(f.in.events) > 0 {
		h.Event = f.in.events[0]
	}
	h.Branches = func() *branch.Table { return f.headBranches(std, files) }
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
func (f *checkFlags) headBranches(std *stdio, files []string) *branch.Table {
	if f.tables[1] != nil || len(files) == 0 {
		return f.tables[1]
	}
	opt := &branch.Options{}
	for _, dir := range f.in.symfs {
		opt.Names.Symfs = append(opt.Names.Symfs, symbolizer.SearchPath{Name: dir, FS: os.DirFS(dir)})
	}
	if t, err := std.readBranches(files[0], opt); err == nil && t.Unknown == "" && t.Tier == branch.TierStacks {
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
	lo, hi := r.HeadRange()
	model := fmt.Sprintf("llvm-mca of LLVM %s for %s, branches %s", m.Version, m.Model.CPU, r.Pair.Source)
	return budget.Prediction{Cycles: r.Head.Total, Lo: lo, Hi: hi, Model: model, Loop: r.Pair.Unit}, nil
}
