package predict

import (
	"fmt"
	"math"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/predict/flow"
)

// alike is by how much the numbers of iterations of both sides may differ if each does the
// same.
const alike = 1.15

// setWork says how much an iteration of each side does, one of base 1. What is known tells,
// in this order:
//
//  1. iterations: how often the loop ran on each side, 0 if that was not counted. Both
//     recordings are of the same work, as they are for the measured speed-up.
//  2. The stride of both loops, how many bytes an iteration goes further.
//  3. The memory accesses of an iteration, if the samples of both sides, which are of the same
//     work, do not fit with iterations that do the same, but with these.
//
// Else an iteration of both is the same.
func (p *Pair) setWork(iterations [2]float64) {
	base, head := p.Base, p.Head
	base.Work, head.Work = 1, 1
	a, b := base.stride(), head.stride()
	strides := a > 0 && b > 0
	switch ratio := iterations[0] / iterations[1]; {
	case iterations[0] > 0 && iterations[1] > 0:
		if math.Abs(math.Log(ratio)) < math.Log(alike) {
			return
		}
		head.Work, _ = nearMultiple(ratio)
		p.Flags = append(p.Flags, fmt.Sprintf("the loop ran %.4g times before and %.4g times after, as counted: an iteration after does %s of one before, if both runs did the same", iterations[0], iterations[1], times(head.Work)))
		if strides && math.Abs(math.Log(ratio*float64(a)/float64(b))) > math.Log(alike) {
			p.Flags = append(p.Flags, fmt.Sprintf("an iteration goes %d bytes further before and %d after: if the counted runs did not do the same, --unit %s compares these", a, b, strideUnit(a, b)))
		}
	case strides:
		if a == b {
			return
		}
		head.Work = float64(b) / float64(a)
		p.Flags = append(p.Flags, fmt.Sprintf("an iteration goes %d bytes further before and %d after: one after does %s of one before", a, b, times(head.Work)))
	default:
		p.workOfSamples()
	}
}

// workOfSamples takes the memory accesses of an iteration for the work it does if one side has
// a multiple of those of the other, as unrolled loops have, and the samples of both runs agree:
// runs take as much longer as they execute more instructions. If they do not tell, a flag says
// what does.
func (p *Pair) workOfSamples() {
	var accesses, instructions [2]float64
	for i, s := range []*Side{p.Base, p.Head} {
		accesses[i], instructions[i] = s.perUnit()
	}
	if !(accesses[0] > 0 && accesses[1] > 0) {
		return
	}
	multiple, ok := nearMultiple(accesses[1] / accesses[0])
	if !ok || math.Abs(math.Log(multiple)) < math.Log(1.5) {
		return
	}
	// Unrolled loops have all of it as many times, but for their control.
	if of := math.Abs(math.Log(instructions[1]/instructions[0])) / math.Abs(math.Log(multiple)); of < 0.6 || of > 1.1 {
		return
	}
	if m := p.Measured; m != nil && p.Partial == "" {
		same := math.Abs(math.Log(instructions[0] / instructions[1] / m.Value))
		other := math.Abs(math.Log(instructions[0] / instructions[1] * multiple / m.Value))
		if other+math.Log(1.5) < same {
			p.Head.Work = multiple
			p.Flags = append(p.Flags, fmt.Sprintf("an iteration uses memory %.3g times before and %.3g times after, and the samples of the runs fit with that: one after does %s of one before", accesses[0], accesses[1], times(multiple)))
			return
		}
		if same+math.Log(1.5) < other {
			return
		}
	}
	unit := fmt.Sprintf("1:%g", multiple)
	if multiple < 1 {
		unit = fmt.Sprintf("%g:1", math.Round(1/multiple))
	}
	p.Flags = append(p.Flags, fmt.Sprintf("an iteration uses memory %.3g times before and %.3g times after: if it is unrolled, give --unit %s; callgrind of both sides tells", accesses[0], accesses[1], unit))
}

// nearMultiple is the whole number, or one divided by it, that a ratio is near, else the
// ratio, and whether it is near one.
func nearMultiple(ratio float64) (multiple float64, ok bool) {
	n := math.Round(max(ratio, 1/ratio))
	if math.Abs(math.Log(max(ratio, 1/ratio)/n)) > math.Log(1.1) {
		return ratio, false
	}
	if ratio < 1 {
		n = 1 / n
	}
	return n, true
}

// times is a factor in words.
func times(f float64) string {
	if n := math.Round(1 / f); f < 1 && math.Abs(f*n-1) < 1e-9 {
		return fmt.Sprintf("1/%g of that", n)
	}
	return fmt.Sprintf("%.3g times that", f)
}

// perUnit are how often a unit uses memory, and how many instructions it has.
func (s *Side) perUnit() (accesses, instructions float64) {
	t := flow.Walk(s.Code, s.Rates.branches(s.Loop, s.Code.Root), 1, s.Loop, flow.Limits{Steps: mcaSteps, Units: mcaUnits})
	for i := range t.Steps {
		if op, _ := asm.OperationOf(s.Code.Root.Arch, t.Steps[i].Inst().Text); op.Memory != "" && (op.Load || op.Store) {
			accesses++
		}
	}
	units := float64(len(t.Units))
	return accesses / units, float64(len(t.Steps)) / units
}

// strideUnit is what --unit is given for iterations that go by so many bytes further.
func strideUnit(a, b int) string {
	for d := min(a, b); d > 1; d-- {
		if a%d == 0 && b%d == 0 {
			a, b = a/d, b/d
		}
	}
	return fmt.Sprintf("%d:%d", a, b)
}

// StrideWork says how much an iteration of each side does by how many bytes it goes further,
// of listings, of which nothing was counted.
func (p *Pair) StrideWork() { p.setWork([2]float64{}) }

// counted is how often the unit of a side ran in what counted its branches, 0 if that is not
// known: as often as the first branch that each unit comes to. If other branches come first in
// some units, it is the branch that was executed most by how often it runs in a unit.
func (in *SideInput) counted(s *Side) float64 {
	executed := in.executions()
	if len(executed) == 0 || s.Rates.Source == SourceAssumed {
		return 0
	}
	root := s.Code.Root
	if at := firstBranch(root, s.Loop); at >= 0 {
		if n := executed[root.Insts[at].Addr]; n > 0 {
			return n
		}
	}
	t := flow.Walk(s.Code, s.Rates.branches(s.Loop, root), 1, s.Loop, flow.Limits{Steps: coreSteps, Units: coreSteps})
	per := make(map[uint64]float64)
	for i := range t.Steps {
		in := t.Steps[i].Inst()
		if t.Steps[i].Graph == root && in.Kind == disasm.Conditional {
			per[in.Addr] += 1 / float64(len(t.Units))
		}
	}
	var best, units float64
	for addr, n := range per {
		if e := executed[addr]; e > best || e == best && e/n > units {
			best, units = e, e/n
		}
	}
	return units
}

// firstBranch is the conditional branch that every unit of a loop comes to first and once, -1
// if there is none. Loop -1 is all the code.
func firstBranch(g *flow.Graph, loop int) int {
	block, home := 0, -1
	if loop >= 0 {
		block, home = g.Loops[loop].Header, loop
	}
	first := block
	for range g.Blocks {
		if g.LoopOf[block] != home {
			return -1 // it is in a loop within
		}
		b := &g.Blocks[block]
		if block != first && g.Entries(block) > 1 {
			return -1
		}
		switch last := b.End - 1; g.Insts[last].Kind {
		case disasm.Conditional:
			return last
		case disasm.Jump:
			block = b.Taken
		default:
			block = b.Next
		}
		if block < 0 || loop >= 0 && !g.InLoop(block, loop) {
			return -1
		}
	}
	return -1
}
