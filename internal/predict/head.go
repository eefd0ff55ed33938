package predict

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/branch"
	"profdiff/internal/predict/hot"
	"profdiff/internal/run"
)

// A Head predicts loops of one side, for budgets of predicted cycles.
type Head struct {
	Runs []*run.Run
	Finder
	// Known is what is known of branches, and whether the user gave it, who wants to hear if
	// it is of another binary. It is asked once, and may return nil.
	Known func() (t *branch.Table, given bool)
	// Predictor is the one for a machine. target is the CPU that a budget names, "" if it
	// names none, and names are what the recordings say of theirs.
	Predictor func(ctx context.Context, arch asm.Arch, target string, names ...string) (Toolchain, *Predictor, error)
	// Timelines is of how many loops timelines are drawn.
	Timelines int

	asked   bool
	table   *branch.Table
	given   bool
	known   map[string]*headPrediction
	inOrder []*headPrediction
}

// A headPrediction is what was predicted of some functions for a CPU.
type headPrediction struct {
	*Prediction
	err error
}

// Hottest predicts the hottest loop of the functions that match, on the CPU called target, or
// on the CPU of the recordings if target is "". What was predicted before is not predicted
// again.
func (h *Head) Hottest(ctx context.Context, target string, match func(function, system, dso, file string) bool) (*Machine, *Result, error) {
	samples, names := h.matched(match)
	if len(names) == 0 {
		return nil, nil, errors.New("head has no samples in a function that matches")
	}
	if !h.asked {
		h.asked, h.known = true, make(map[string]*headPrediction)
		h.table, h.given = h.Known()
	}
	key := target + "\n" + strings.Join(names, "\n")
	p, ok := h.known[key]
	if !ok {
		p = &headPrediction{}
		p.Prediction, p.err = h.predict(ctx, target, samples, names)
		h.known[key] = p
		h.inOrder = append(h.inOrder, p)
	}
	if p.err != nil {
		return nil, nil, p.err
	}
	return p.Machine, p.Results[0], nil
}

// Prediction is what was predicted so far, of head alone; nil if nothing was. What was
// predicted for other CPUs than the first is left out.
func (h *Head) Prediction() *Prediction {
	var all *Prediction
	for _, p := range h.inOrder {
		if p.err != nil || all != nil && p.Machine.Model.CPU != all.Machine.Model.CPU {
			continue
		}
		if all == nil {
			all = &Prediction{Machine: p.Machine}
		}
		for _, r := range p.Results {
			alone := *r
			pair := *r.Pair
			pair.Base = nil
			alone.Pair = &pair
			all.Results = append(all.Results, &alone)
		}
	}
	return all
}

// matched counts the samples of head in functions that match, by their mapping, and names
// these functions.
func (h *Head) matched(match func(function, system, dso, file string) bool) (samples map[binaryName]int64, names []string) {
	samples = make(map[binaryName]int64)
	for _, r := range h.Runs {
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

// predict predicts the hottest loop of functions in the binary that has most of their
// samples.
func (h *Head) predict(ctx context.Context, target string, samples map[binaryName]int64, names []string) (*Prediction, error) {
	b, err := h.heaviest(samples)
	if err != nil {
		return nil, err
	}
	side := &SideInput{Name: "head", Binary: b}
	if h.table != nil {
		if err := side.AddBranches(h.Objects, h.table); err != nil && (h.given || !errors.Is(err, ErrOtherBinary)) {
			return nil, fmt.Errorf("%s: %w", h.table.Name, err)
		}
	}
	if side.Profile, err = hot.NewProfile(h.Runs, b, h.Event); err != nil {
		return nil, err
	}
	tool, predictor, err := h.Predictor(ctx, b.Arch, target, CPUNames(h.Runs)...)
	if err != nil {
		return nil, err
	}
	pair, err := hottestLoop(ctx, tool, side, func(name string) bool { return slices.Contains(names, name) })
	if err != nil {
		return nil, err
	}
	p, err := predictor.Predicted(ctx, []*Pair{pair}, h.Timelines, [2]Heat{nil, side.Heat()})
	if err != nil {
		return nil, err
	}
	if r := p.Results[0]; r.Refused == "" && !(r.Head.Total > 0) || math.IsInf(r.Head.Total, 0) {
		return nil, fmt.Errorf("nothing is predicted of %s", pair.Name)
	}
	return p, nil
}

// hottestLoop is the hottest loop of a recording in those functions whose names match
// accepts: the name of the pair that is returned, with one iteration as its unit and the
// loop as both sides.
func hottestLoop(ctx context.Context, tool hot.Disassembler, in *SideInput, match func(name string) bool) (*Pair, error) {
	if !in.Profile.Addressed() {
		return nil, fmt.Errorf("%s: has no addresses, which tell what loop is hot", in.Name)
	}
	loops, err := in.Profile.Loops(in.Binary)
	if err != nil {
		return nil, err
	}
	for _, h := range loops {
		if !match(h.Function.Name) {
			continue
		}
		u, err := in.side(ctx, tool, h, 0, false)
		if err != nil {
			return nil, err
		}
		// Of a loop with few trips the unit is what is around it.
		u.Loop = h.Loop
		return &Pair{
			Name: h.Name(), Unit: fmt.Sprintf("an iteration of the loop at %#x of %s", h.Address(), h.FunctionName()),
			Base: u.Side, Head: u.Side, Source: u.Rates.Source,
		}, nil
	}
	return nil, fmt.Errorf("%s: no samples in a loop of a function that matches", in.Name)
}
