package predict

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/hot"
	"profdiff/internal/stats"
)

// A Toolchain simulates and disassembles. [llvm.Toolchain] is one.
type Toolchain interface {
	Simulator
	hot.Disassembler
}

// PairOptions choose loops of recordings.
type PairOptions struct {
	// Functions name the function of each side, "" for the hottest.
	Functions [2]string
	// Loops are the numbers of loops in the functions, from 1; 0 to choose by the
	// samples.
	Loops [2]int
	// Work is how much is done in one iteration of each side, nil if it must be alike.
	Work  *[2]float64
	Limit int // loops; 1 if it is 0
}

// shortLoop is the mean number of trips below which not an iteration is the unit, but
// one of the loop around it or a call of the function.
const shortLoop = 32

// PairsOf finds the hottest loops of recordings on both sides.
func PairsOf(ctx context.Context, tool Toolchain, base, head *SideInput, opt PairOptions) ([]*Pair, error) {
	limit := max(1, opt.Limit)
	before, err := base.hot(opt.Functions[0])
	if err != nil {
		return nil, err
	}
	after, err := head.hot(opt.Functions[1])
	if err != nil {
		return nil, err
	}
	var pairs []*Pair
	sameBuild := base.Binary.BuildID != "" && base.Binary.BuildID == head.Binary.BuildID
	matched := matchLoops(before, after, opt.Functions[0] != "" && opt.Functions[1] != "", sameBuild)
	for i, b := range before {
		if len(pairs) == limit {
			break
		}
		a := matched[i]
		if a.Loop == nil {
			if limit == 1 {
				return nil, fmt.Errorf("%s: %s has most samples before, but no function like it has any in a loop after: name both with --function%s", head.Name, b.Name(), hottestNames(after))
			}
			continue
		}
		pair, err := newPair(ctx, tool, base, head, b, a.Loop, &opt)
		if err != nil {
			if limit == 1 {
				return nil, err
			}
			continue
		}
		if a.flag != "" {
			pair.Flags = append(pair.Flags, a.flag)
		}
		pairs = append(pairs, pair)
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("no loop is on both sides")
	}
	return pairs, nil
}

// hottestNames lists the functions with most samples, each once, to choose from.
func hottestNames(list []*hot.Loop) string {
	const most = 3
	var functions []string
	shares := make(map[string]float64)
	for _, h := range list {
		name := h.FunctionName()
		if !slices.Contains(functions, name) {
			functions = append(functions, name)
		}
		shares[name] += h.Share
	}
	if len(functions) == 0 {
		return ""
	}
	slices.SortStableFunc(functions, func(a, b string) int { return cmp.Compare(shares[b], shares[a]) })
	var names []string
	for _, name := range functions[:min(len(functions), most)] {
		names = append(names, fmt.Sprintf("%s (%.1f%%)", name, 100*shares[name]))
	}
	return " BEFORE=AFTER: after, most samples are in " + strings.Join(names, ", ")
}

// hot returns the hot loops of a side, or only of one function if it is named. A function that
// is inlined is where most of its loop is.
func (in *SideInput) hot(function string) ([]*hot.Loop, error) {
	if !in.Profile.Addressed() {
		return in.named(function)
	}
	list, err := in.Profile.Loops(in.Binary)
	if err != nil || function == "" {
		return list, err
	}
	var own []*hot.Loop
	for _, h := range list {
		if sameFunction(h.Function.Name, function) || inlinedIn(h, func(name string) bool { return sameFunction(name, function) }) {
			own = append(own, h)
		}
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("%s: no samples in a loop of %s", in.Name, function)
	}
	return own, nil
}

// named is the function with a name, for recordings without addresses.
func (in *SideInput) named(function string) ([]*hot.Loop, error) {
	if function == "" {
		return nil, fmt.Errorf("%s: has no addresses: --function names the function of the loop", in.Name)
	}
	addr, name, err := in.Binary.FunctionNamed(func(name string) bool { return sameFunction(name, function) })
	if err != nil {
		return nil, fmt.Errorf("%s: no function %s in its symbols", in.Binary.Path, function)
	}
	f, err := in.Binary.Function(addr)
	if err != nil {
		return nil, err
	}
	h := &hot.Loop{Function: f, Loop: -1}
	for i := range f.Loops {
		if f.Loops[i].Parent < 0 && (h.Loop < 0 || len(f.Loops[i].Blocks) > len(f.Loops[h.Loop].Blocks)) {
			h.Loop = i
		}
	}
	if h.Loop < 0 {
		return nil, fmt.Errorf("%s: %s has no loop", in.Binary.Path, name)
	}
	var total, own float64
	for i := range in.Profile.Runs {
		total += in.Profile.Runs[i].Total.Weight
	}
	for n, weights := range in.Profile.Functions {
		if sameFunction(n, function) {
			h.Weight = weights
		}
	}
	for len(h.Weight) < len(in.Profile.Runs) {
		h.Weight = append(h.Weight, stats.WeightedCount{})
	}
	for _, w := range h.Weight {
		own += w.Weight
	}
	if total > 0 {
		h.Share = own / total
	}
	return []*hot.Loop{h}, nil
}

// newPair makes a pair of hot loops.
func newPair(ctx context.Context, tool hot.Disassembler, base, head *SideInput, b, a *hot.Loop, opt *PairOptions) (*Pair, error) {
	p := &Pair{Name: b.Name()}
	units := [2]string{}
	var sides [2]*Side
	hottest := [2]*hot.Loop{b, a}
	for i, in := range []*SideInput{base, head} {
		h := hottest[i]
		side, err := in.side(ctx, tool, h, opt.Loops[i], opt.Limit > manyLoops)
		if err != nil {
			return nil, err
		}
		units[i] = side.unit
		sides[i] = side.Side
	}
	// The unit is the same on both sides.
	if (sides[0].Loop < 0) != (sides[1].Loop < 0) {
		for i := range sides {
			sides[i].Loop = -1
			units[i] = "a call of " + hot.SourceName(sides[i].Code.Root.Name)
		}
	}
	for i, in := range []*SideInput{base, head} {
		under := in.charge(sides[i], hottest[i].Function)
		if under == nil {
			continue
		}
		hottest[i] = hottest[i].With(under.Weight, in.Profile)
		if p.Partial == "" && under.Lost > smallCharge*under.Own && sides[i].calls() {
			p.Partial = hot.SourceName(sides[i].Code.Root.Name)
		}
	}
	b, a = hottest[0], hottest[1]
	if id := base.Binary.BuildID; id != "" && id == head.Binary.BuildID && sides[0].Loop == sides[1].Loop && b.Function.Start == a.Function.Start {
		p.Flags = append(p.Flags, "both sides are the same code, of one build: only what it was given may differ, and how often it runs")
	}
	p.Base, p.Head, p.Unit = sides[0], sides[1], units[0]
	p.Source = weaker(sides[0].Rates.Source, sides[1].Rates.Source)
	timed := !base.Profile.Simulated && !head.Profile.Simulated // instructions of a simulation tell what is hot, and no times
	if b.Share > 0 && timed {
		p.ProgramShare, p.ShareErr = &b.Share, base.shareErr(b.Share)
	}
	if len(b.Weight) > 0 && len(a.Weight) > 0 && base.Profile.Event != "" && timed {
		e := stats.Ratio(a.Weight, b.Weight, 0.95) // of the base over the head
		if e.Refused == "" && !math.IsInf(e.Ratio, 0) && e.Ratio > 0 {
			p.Measured, p.Recorded = &Interval{e.Ratio, e.CI.Lo, e.CI.Hi}, true
			p.Rest = head.rest(a) / base.rest(b)
			p.MeasuredBy = fmt.Sprintf("%s a run in the loop, %d and %d runs, %s", base.Profile.Event, len(b.Weight), len(a.Weight), e.Method)
			if p.Partial != "" {
				p.MeasuredBy += fmt.Sprintf("; without calls of %s whose callers the stacks lost: it compares not what is predicted", p.Partial)
			}
		}
	}
	if opt.Work != nil {
		sides[0].Work, sides[1].Work = opt.Work[0], opt.Work[1]
	} else {
		counted := [2]float64{base.counted(sides[0]), head.counted(sides[1])}
		p.setWork(counted)
		p.sameWork = p.Recorded && counted[0] > 0 && counted[1] > 0 && base.Profile.Event == head.Profile.Event
	}
	return p, nil
}

// rest is the weight of a run that is not in a loop.
func (in *SideInput) rest(h *hot.Loop) float64 {
	var rest float64
	for i, w := range h.Weight {
		rest += (in.Profile.Runs[i].Total.Weight - w.Weight) / float64(len(h.Weight))
	}
	return max(0, rest)
}

// shareErr is the standard error of a share of all samples.
func (in *SideInput) shareErr(share float64) float64 {
	var all stats.WeightedCount
	for i := range in.Profile.Runs {
		t := in.Profile.Runs[i].Total
		all.Weight, all.WeightSq = all.Weight+t.Weight, all.WeightSq+t.WeightSq
	}
	n := all.Effective()
	if n == 0 {
		return 0
	}
	return math.Sqrt(max(0, share*(1-share)) / n)
}

func weaker(a, b Source) Source {
	order := []Source{SourceMeasured, SourceGiven, SourceKnown, SourceSimulated, SourceAssumed}
	for i := len(order) - 1; i >= 0; i-- {
		if a == order[i] || b == order[i] {
			return order[i]
		}
	}
	return SourceAssumed
}

// A unitSide is a side with what its unit is.
type unitSide struct {
	*Side
	unit string
}

// manyLoops is how many loops are disassembled by llvm-objdump, a process each.
const manyLoops = 4

// side makes a side of a hot loop, one of many or few.
func (in *SideInput) side(ctx context.Context, tool hot.Disassembler, h *hot.Loop, number int, many bool) (*unitSide, error) {
	rates := in.rates()
	code, err := in.code(ctx, tool, h.Function.Start, &rates, many)
	if err != nil {
		return nil, err
	}
	root := code.Root
	if number > len(root.Loops) {
		return nil, fmt.Errorf("%s: %s has no loop %d, only %d", in.Name, hot.SourceName(root.Name), number, len(root.Loops))
	}
	loop := h.Loop
	if number > 0 {
		loop = number - 1
	}
	if rates.Source != SourceAssumed && !rates.anyKnown(root) {
		rates = Rates{Source: SourceAssumed, Note: in.noneKnown(root.Name)}
	}
	s := &unitSide{Side: &Side{Name: in.Name, Code: code, Loop: loop, Rates: rates, Work: 1, heat: in.Heat()}}
	// Short loops are part of what is around them.
	for number == 0 && s.Loop >= 0 && rates.Source != SourceAssumed {
		t := flow.Walk(code, rates.branches(s.Loop, root), 1, s.Loop, flow.Limits{Steps: coreSteps, Units: coreSteps})
		if t.Left == 0 || float64(len(t.Units)) >= shortLoop*float64(t.Left) {
			break
		}
		s.Loop = root.Loops[s.Loop].Parent
	}
	s.unit = "a call of " + hot.SourceName(root.Name)
	if s.Loop >= 0 {
		s.unit = fmt.Sprintf("an iteration of the loop at %#x of %s", root.Insts[root.Blocks[root.Loops[s.Loop].Header].First].Addr, hot.SourceName(root.Name))
	}
	return s, nil
}
