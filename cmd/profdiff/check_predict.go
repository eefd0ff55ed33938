package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"profdiff/internal/branch"
	"profdiff/internal/budget"
	"profdiff/internal/predict"
	report "profdiff/internal/report/predict"
	"profdiff/internal/run"
	"profdiff/internal/symbolizer"
)

// A headModel predicts loops of head, for budgets of predicted cycles.
type headModel struct {
	cmd     *cobra.Command
	std     *stdio
	flags   *predictFlags
	symfs   []string
	event   string
	runs    []*run.Run
	table   *branch.Table // of head's branches, nil if nothing is known of them
	stacks  []string      // recordings that may have branch stacks, if there is no table
	known   map[string]*headPrediction
	inOrder []*headPrediction
}

// A headPrediction is what was predicted of some functions for a CPU.
type headPrediction struct {
	report *report.Prediction
	err    error
}

// predict answers a budget.
func (m *headModel) predict(req budget.PredictionRequest) (budget.Prediction, error) {
	samples, names := m.matched(req.Match)
	if len(names) == 0 {
		return budget.Prediction{}, errors.New("head has no samples in a function that matches")
	}
	m.readStacks()
	key := req.Target + "\n" + strings.Join(names, "\n")
	p, ok := m.known[key]
	if !ok {
		p = &headPrediction{}
		p.report, p.err = m.run(req.Target, samples, names)
		m.known[key] = p
		m.inOrder = append(m.inOrder, p)
	}
	if p.err != nil {
		return budget.Prediction{}, p.err
	}
	r := p.report.Results[0]
	out := budget.Prediction{Cycles: r.Head.Total, Lo: r.Head.Lo, Hi: r.Head.Hi, Model: predictedBy(p.report.Machine, r), Loop: r.Pair.Unit}
	// If nothing is known of the branches, any way may be that of all iterations.
	for _, way := range r.Paths[1] {
		if way.Steady > 0 && !way.Listing {
			out.Lo, out.Hi = min(out.Lo, way.Steady), max(out.Hi, way.Steady)
		}
	}
	return out, nil
}

func predictedBy(m *predict.Machine, r *predict.Result) string {
	return fmt.Sprintf("llvm-mca of LLVM %s for %s, branches %s", m.Version, m.Model.CPU, r.Pair.Source)
}

// readStacks takes what is known of the branches from the first recording, if that has
// branch stacks.
func (m *headModel) readStacks() {
	if m.table != nil || len(m.stacks) == 0 {
		return
	}
	opt := &branch.Options{}
	for _, dir := range m.symfs {
		opt.Names.Symfs = append(opt.Names.Symfs, symbolizer.SearchPath{Name: dir, FS: os.DirFS(dir)})
	}
	if t, err := m.std.readBranches(m.stacks[0], opt); err == nil && t.Unknown == "" && t.Tier == branch.TierStacks {
		m.table = t
	}
	m.stacks = nil
}

// matched counts the samples of head in functions that match, by their mapping, and names
// these functions.
func (m *headModel) matched(match func(function, system, dso, file string) bool) (samples map[binaryName]int64, names []string) {
	samples = make(map[binaryName]int64)
	for _, r := range m.runs {
		accepted := make(map[uint32]bool) // by location
		for i := range r.Locations {
			l := &r.Locations[i]
			f := &r.Functions[l.Lines[len(l.Lines)-1].Function]
			if accepted[uint32(i)] = !f.Unknown && match(f.Name, f.SystemName, r.Mappings[l.Mapping].File, f.File); !accepted[uint32(i)] {
				continue
			}
			for _, name := range []string{f.Name, f.SystemName} {
				if name != "" && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		for i := range r.Samples {
			s := &r.Samples[i]
			if s.Stack == 0 {
				continue
			}
			if at := r.Stacks.Location(s.Stack); accepted[at] {
				mapping := &r.Mappings[r.Locations[at].Mapping]
				samples[binaryName{mapping.File, mapping.BuildID}] += s.Weight
			}
		}
	}
	if len(samples) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	return samples, names
}

// run predicts the hottest loop of functions in the binary that has most of their
// samples.
func (m *headModel) run(target string, samples map[binaryName]int64, names []string) (*report.Prediction, error) {
	b, err := heaviestBinary(samples, m.symfs)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	side := &predict.SideInput{Name: "head", Binary: b, Branches: m.table}
	if side.Profile, err = predict.NewProfile(m.runs, b, m.event); err != nil {
		return nil, err
	}
	flags := *m.flags
	if target != "" {
		flags.cpu = target
	}
	ctx := m.cmd.Context()
	tool, machine, err := flags.machine(ctx, m.cmd, b.Arch, cpuNames(m.runs)...)
	if err != nil {
		return nil, err
	}
	pair, err := predict.HottestLoop(ctx, tool, side, func(name string) bool { return slices.Contains(names, name) })
	if err != nil {
		return nil, err
	}
	p, err := m.std.finishPrediction(ctx, &flags, tool, machine, []*predict.Pair{pair}, [2]predict.Heat{nil, side.Heat()})
	if err != nil {
		return nil, err
	}
	r := p.Results[0]
	if !(r.Head.Total > 0) || math.IsInf(r.Head.Total, 0) {
		return nil, fmt.Errorf("nothing is predicted of %s", pair.Name)
	}
	return p, nil
}
