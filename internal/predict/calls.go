package predict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/hot"
)

// A charge is what the calls of a loop take that are not followed, by the samples.
type charge struct {
	// own is the weight of a run in what is followed, 0 if it is not known.
	own float64
	// ratio is how many times the cycles of what is followed, by the side's samples alone.
	ratio float64
	// least and most are the ratio if only samples are in these calls that are there for
	// sure, and if all are that may be.
	least, most float64
	// err is the standard error of the logarithm of 1 + ratio.
	err float64
}

// charge says how much of a loop's samples is in calls that are not followed.
//
//  1. Where samples have stacks, those under the loop are in it and in what is followed, or
//     in calls. What is predicted of the former stands for as many samples as it has, so that
//     the calls are charged with their samples by the same measure.
//  2. Samples without stacks, or whose stacks are lost, are charged if they are in a function
//     that the code of the loop calls: see [hot.Profile.Lost].
//  3. Where the code does not tell what is called, calls may take what all samples do that
//     nothing else accounts for, which makes the interval wider.
//
// It returns the samples under the loop, too, nil if they are not known.
func (in *SideInput) charge(s *Side, f *disasm.Function) *hot.Inside {
	p := in.Profile
	if p == nil || !p.Addressed() || f == nil {
		return nil
	}
	root := s.Code.Root
	under := p.Inside(in.Binary, f, s.Loop, func(start uint64) bool {
		return s.Code.Callee != nil && s.Code.Callee(root, &asm.Inst{Kind: disasm.Call, Target: fmt.Sprintf("%#x", start)}) != nil
	})
	t := flow.Walk(s.Code, s.Rates.branches(s.Loop, root), 1, s.Loop, flow.Limits{Steps: mcaSteps, Units: mcaUnits})
	inside, calls, elsewhere := callees(t, root)
	lost := p.Lost(in.Binary, f, s.Loop, inside, calls, elsewhere)
	for i, w := range lost.Weight {
		under.Weight[i].Weight += w.Weight
		under.Weight[i].WeightSq += w.WeightSq
		under.Lost -= w.Weight
	}
	under.Own += lost.Own
	sure, most := lost.Sure, lost.Most
	for _, c := range under.Calls {
		sure, most = sure+c.Weight, most+c.Weight
	}
	if !p.Stacked() && lost.Elsewhere {
		most = -under.Own
		for i := range p.Runs {
			most += p.Runs[i].Total.Weight
		}
	}
	under.Calls = slices.SortedStableFunc(slices.Values(append(under.Calls, lost.Calls...)), func(a, b hot.Call) int { return -cmp.Compare(a.Weight, b.Weight) })
	var called float64
	var samples int64
	for _, c := range under.Calls {
		called += c.Weight
		samples += c.Samples
	}
	for _, c := range under.Calls {
		s.Calls = append(s.Calls, Call{Name: c.Name, Share: c.Weight / (called + under.Own), Samples: c.Samples, Lost: c.Lost})
	}
	if under.Samples == 0 || called > mostCharged*under.Own {
		return under // too little to charge by
	}
	s.charge = &charge{own: under.Own / float64(len(p.Runs)), ratio: called / under.Own, least: sure / under.Own, most: max(called, most) / under.Own}
	if samples > 0 {
		share := s.charge.ratio / (1 + s.charge.ratio)
		s.charge.err = share * math.Sqrt(1/float64(samples)+1/float64(under.Samples))
	}
	return under
}

// calls reports whether a unit of a side calls anything, whether it is followed or not.
func (s *Side) calls() bool {
	root := s.Code.Root
	t := flow.Walk(s.Code, s.Rates.branches(s.Loop, root), 1, s.Loop, flow.Limits{Steps: mcaSteps, Units: mcaUnits})
	return t.Calls > 0 || slices.ContainsFunc(t.Steps, func(step flow.Step) bool { return step.Graph != root })
}

// callees are the functions that a walk follows from its root, those that it calls and does
// not follow, and whether there are calls of others, whose addresses a register has or a table
// of the linker.
func callees(t *flow.Trace, root *flow.Graph) (inside, calls []uint64, elsewhere bool) {
	for i := range t.Steps {
		g, in := t.Steps[i].Graph, t.Steps[i].Inst()
		if start := g.Insts[0].Addr; g != root && !slices.Contains(inside, start) {
			inside = append(inside, start)
		}
		followed := i+1 < len(t.Steps) && t.Steps[i+1].At == 0 && t.Steps[i+1].Graph != g
		away := in.Kind == disasm.Jump && in.To < 0
		switch {
		case followed:
		case in.Kind == disasm.IndirectCall:
			elsewhere = true
		case in.Kind == disasm.Call || away:
			var to uint64
			if _, err := fmt.Sscanf(in.Target, "0x%x", &to); err == nil && !slices.Contains(calls, to) {
				calls = append(calls, to)
			}
		}
	}
	return inside, calls, elsewhere
}

// callsFlag says what became of the calls of a side that were not followed, "" if there were
// none.
func (s *Side) callsFlag(perUnit float64) string {
	c := s.charge
	var names []string
	share, lost := 0.0, 0.0
	for i, call := range s.Calls {
		share += call.Share
		if call.Lost {
			lost += call.Share
		}
		switch {
		case i == maxCallNames:
			names = append(names, fmt.Sprintf("%d more", len(s.Calls)-i))
		case i < maxCallNames:
			names = append(names, fmt.Sprintf("%s %.2g%%", call.Name, 100*call.Share))
		}
	}
	switch {
	case c != nil && share > fewCharged && lost > share/2:
		return fmt.Sprintf("%.2g%% of its cycles are not predicted but charged by the samples of what it calls, whose stacks do not tell the caller: %s%s", 100*share, strings.Join(names, ", "), c.beyond())
	case c != nil && share > fewCharged:
		return fmt.Sprintf("%.2g%% of its cycles are not predicted but charged by its samples, which are in calls: %s", 100*share, strings.Join(names, ", "))
	case c == nil && share > 0:
		return fmt.Sprintf("%.2g%% of its samples are in calls that are not predicted and count as nothing: %s; --function predicts one of these", 100*share, strings.Join(names, ", "))
	case perUnit == 0:
		return ""
	case c != nil && c.most == 0:
		return fmt.Sprintf("%.3g calls per unit count as nothing: no sample is in them", perUnit)
	case c != nil && c.most < smallCharge:
		return fmt.Sprintf("%.3g calls per unit count as nothing: all samples that may be in them are %.2g%% of those in it", perUnit, 100*c.most)
	}
	return fmt.Sprintf("%.3g calls per unit go to code that is not known and count as nothing: samples with whole stacks (-fno-omit-frame-pointer and -g, or --call-graph dwarf) tell what they take", perUnit)
}

// beyond says what more calls may take, "" if that is little.
func (c *charge) beyond() string {
	if c.most-c.ratio < smallCharge*(1+c.ratio) {
		return ""
	}
	return fmt.Sprintf("; as much as %.2g%% more may be in calls whose targets the code does not tell, or have other callers", 100*(c.most-c.ratio)/(1+c.ratio))
}

// mostCharged is how many times the samples of what is followed calls may have to be charged by
// them.
const mostCharged = 20

// fewCharged is the share of cycles below which it is not said what is charged.
const fewCharged = 0.005

// maxCallNames is how many calls a flag names.
const maxCallNames = 3

// smallCharge is the share of samples below which it is said that calls do not matter.
const smallCharge = 0.2

// Charging.
const (
	// doubtCharged is the standard error of the logarithm of what calls take by their samples:
	// a core runs a call and what is around it at once, and samples tell them apart only roughly.
	doubtCharged = 0.35
	// anchored is by how much the cycles of a sample may differ between sides that do the same.
	anchored = 2.0
)

// charged adds to the cycles of both sides what calls take that were not followed, as many
// cycles a sample as what is followed has. Where iterations were counted, so that both
// recordings are of as much work, a sample is as many cycles on both sides: the mean of both,
// each as far as it is followed. An error of the prediction of one side is then not multiplied
// by its calls, and that both differ tells how far such errors go.
func (p *Pair) charged(base, head *Cycles) {
	sides, cycles := [2]*Side{p.Base, p.Head}, [2]*Cycles{base, head}
	var per, called [2]float64 // cycles of a sample, and samples
	var mean, weights, differ float64
	known := p.sameWork
	for i, s := range sides {
		if s.charge == nil || s.charge.own <= 0 || cycles[i].Total <= 0 {
			known = false
			continue
		}
		per[i], called[i] = cycles[i].Total/s.charge.own, s.charge.ratio*s.charge.own
		weight := 1 / (1 + s.charge.ratio)
		mean += weight * math.Log(per[i])
		weights += weight
	}
	if known && math.Abs(math.Log(per[0]/per[1])) < math.Log(anchored) {
		differ = math.Abs(math.Log(per[0] / per[1]))
		mean = math.Exp(mean / weights)
		per = [2]float64{mean, mean}
	}
	var share [2]float64
	for i, c := range cycles {
		if called[i] <= 0 {
			continue
		}
		c.Called = per[i] * called[i]
		whole := 1 + c.Called/c.Total
		share[i] = 1 - 1/whole
		c.Total *= whole
		c.Lo *= whole
		c.Hi *= whole
		e := math.Hypot(sides[i].charge.err, share[i]*doubtCharged)
		c.doubts = append(c.doubts, doubt{CauseCalls, e, e})
	}
	more := base
	if share[1] > share[0] {
		more = head
	}
	if e := math.Abs(share[0]-share[1]) * differ / 2; e > 0 {
		more.doubts = append(more.doubts, doubt{CauseCalls, e, e})
	}
}

// callsDoubt is the standard error of the logarithm of the cycles of a side that calls make
// which are not charged, towards less and more.
func (s *Side) callsDoubt(calls bool) (less, more float64) {
	c := s.charge
	switch {
	case c == nil && len(s.Calls) > 0:
		return 2 * doubtCalls, 2 * doubtCalls
	case c == nil && calls:
		return doubtCalls, doubtCalls
	case c == nil:
		return 0, 0
	}
	return min(doubtCalls, math.Log((1+c.ratio)/(1+min(c.least, c.ratio)))), min(doubtCalls, math.Log1p(max(0, c.most-c.ratio)/(1+c.ratio)))
}
