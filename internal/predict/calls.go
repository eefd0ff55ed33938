package predict

import (
	"fmt"
	"math"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
	"profdiff/internal/predict/hot"
)

// A charge is what the calls of a loop take that are not followed, by the samples.
type charge struct {
	// ratio is how many times the cycles of what is followed.
	ratio float64
	// most is the ratio if all samples that may be in these calls are.
	most float64
	// err is the standard error of the logarithm of 1 + ratio.
	err float64
}

// charge says how much of a loop's samples is in calls that are not followed.
//
//  1. Where samples have stacks, those under the loop are in it and in what is followed, or
//     in calls. What is predicted of the former stands for as many samples as it has, so that
//     the calls are charged with their samples by the same measure.
//  2. Else calls take at most what all samples do that are neither in the loop nor in what is
//     followed from it. Half of that is charged in doubt: see doubts.
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
	var called float64
	var samples int64
	for _, c := range under.Calls {
		called += c.Weight
		samples += c.Samples
	}
	for _, c := range under.Calls {
		s.Calls = append(s.Calls, Call{Name: c.Name, Share: c.Weight / (called + under.Own), Samples: c.Samples})
	}
	if under.Samples == 0 || called > mostCharged*under.Own {
		return under // too little to charge by
	}
	if p.Stacked() {
		s.charge = &charge{ratio: called / under.Own}
		s.charge.most = s.charge.ratio
		if samples > 0 {
			share := s.charge.ratio / (1 + s.charge.ratio)
			s.charge.err = share * math.Sqrt(1/float64(samples)+1/float64(under.Samples))
		}
		return under
	}
	var total float64
	for i := range p.Runs {
		total += p.Runs[i].Total.Weight
	}
	t := flow.Walk(s.Code, s.Rates.branches(s.Loop, root), 1, s.Loop, flow.Limits{Steps: mcaSteps, Units: mcaUnits})
	own := under.Own
	seen := map[*flow.Graph]bool{root: true}
	for i := range t.Steps {
		if g := t.Steps[i].Graph; !seen[g] {
			seen[g] = true
			own += p.Under(g.Insts[0].Addr, g.Insts[len(g.Insts)-1].Addr+1)
		}
	}
	if t.Calls > 0 {
		s.charge = &charge{most: max(0, total-own) / own}
	}
	return under
}

// callsFlag says what became of the calls of a side that were not followed, "" if there were
// none.
func (s *Side) callsFlag(perUnit float64) string {
	c := s.charge
	var names []string
	share := 0.0
	for i, call := range s.Calls {
		share += call.Share
		switch {
		case i == maxCallNames:
			names = append(names, fmt.Sprintf("%d more", len(s.Calls)-i))
		case i < maxCallNames:
			names = append(names, fmt.Sprintf("%s %.2g%%", call.Name, 100*call.Share))
		}
	}
	switch {
	case c != nil && c.ratio > 0:
		return fmt.Sprintf("%.2g%% of its cycles are not predicted but charged by its samples, which are in calls: %s", 100*share, strings.Join(names, ", "))
	case c == nil && share > 0:
		return fmt.Sprintf("%.2g%% of its samples are in calls that are not predicted and count as nothing: %s; --function predicts one of these", 100*share, strings.Join(names, ", "))
	case perUnit == 0:
		return ""
	case c != nil && c.most == c.ratio:
		return fmt.Sprintf("%.3g calls per unit count as nothing: no sample is in them", perUnit)
	case c != nil && c.most < smallCharge:
		return fmt.Sprintf("%.3g calls per unit count as nothing: all samples outside of the loop are %.2g%% of those in it", perUnit, 100*c.most)
	}
	return fmt.Sprintf("%.3g calls per unit go to code that is not known and count as nothing: samples with whole stacks (-fno-omit-frame-pointer and -g, or --call-graph dwarf) tell what they take", perUnit)
}

// mostCharged is how many times the samples of what is followed calls may have to be charged by
// them.
const mostCharged = 20

// maxCallNames is how many calls a flag names.
const maxCallNames = 3

// smallCharge is the share of samples below which it is said that calls do not matter.
const smallCharge = 0.2

// charged adds to the cycles of a side what calls take that were not followed.
func (c *Cycles) charged(s *Side) {
	if s.charge == nil || s.charge.ratio <= 0 {
		return
	}
	r := s.charge.ratio
	c.Called = r * c.Total
	c.Total += c.Called
	c.Lo *= 1 + r
	c.Hi *= 1 + r
}

// callsDoubt is the standard error of the logarithm of the cycles of a side that its calls
// make, towards less and more.
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
	return c.err, math.Hypot(c.err, min(doubtCalls, math.Log1p(max(0, c.most-c.ratio))))
}
