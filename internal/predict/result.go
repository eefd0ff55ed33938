package predict

import (
	"fmt"
	"math"
)

// result joins the sides of a pair. No side wins while the interval of the speed-up has 1
// in it.
func (p *Predictor) result(pair *Pair, base, head Cycles) *Result {
	r := &Result{Pair: pair, Base: base, Head: head}
	r.Flags = p.flags(pair, r)
	v := base.Total / head.Total
	e := 1.96 * math.Hypot(modelError(p.Machine, pair.Source), math.Hypot(base.doubt, head.doubt))
	below := math.Log(base.Total/base.Lo) + math.Log(head.Hi/head.Total)
	above := math.Log(base.Hi/base.Total) + math.Log(head.Total/head.Lo)
	r.Speedup = Interval{v, v * math.Exp(-math.Hypot(e, below)), v * math.Exp(math.Hypot(e, above))}
	if s := pair.ProgramShare; s != nil {
		amdahl := func(v float64) float64 { return 1 / (1 - *s + *s/v) }
		r.Program = &Interval{amdahl(v), amdahl(r.Speedup.Lo), amdahl(r.Speedup.Hi)}
	}
	r.BreakEven = breakEven(&base, &head, p.Machine.Refill+resolveOfCalibration)
	if b := r.BreakEven; (b.Verdict == AboveRate || b.Verdict == BelowRate) && r.Speedup.Lo < 1 && r.Speedup.Hi > 1 {
		b.Verdict = Undecided
	}
	return r
}

// modelError is the standard error of the logarithm of a predicted speed-up, as the
// kernels of mca-cases show it.
func modelError(m *Machine, s Source) float64 {
	e := 0.37
	if m.Core != nil {
		e = 0.11
	}
	switch s {
	case SourceSimulated:
		e = math.Hypot(e, 0.10)
	case SourceAssumed:
		e = math.Hypot(e, 0.50)
	}
	return e
}

// breakEven finds the rate of mispredictions at which both sides take as long.
func breakEven(base, head *Cycles, cost float64) *BreakEven {
	b := &BreakEven{Base: base.DataBranches >= head.DataBranches}
	branchy, branchless := base, head
	if !b.Base {
		branchy, branchless = head, base
	}
	if branchy.DataBranches < 0.01 || branchy.DataBranches-branchless.DataBranches < 0.01 {
		b.Verdict = NoBranches
		return b
	}
	if branchy.Mispredicted > 0.005 && branchy.MissCost > 0 {
		cost = branchy.MissCost
	}
	b.MeasuredMisses = branchy.Mispredicted
	b.MeasuredRate = branchy.Mispredicted / branchy.DataBranches
	b.Misses = (branchless.Total - (branchy.Total - branchy.Misses)) / cost
	b.Rate = b.Misses / branchy.DataBranches
	switch {
	case b.Misses <= 0:
		b.Verdict = AlwaysBranchless
	case b.Rate > 0.5:
		b.Verdict = NeverBranchless
	case math.Abs(b.MeasuredRate-b.Rate) < min(0.05, 0.25*b.Rate):
		b.Verdict = Undecided
	case b.MeasuredRate > b.Rate:
		b.Verdict = AboveRate
	default:
		b.Verdict = BelowRate
	}
	return b
}

func (p *Predictor) flags(pair *Pair, r *Result) (flags []string) {
	m := p.Machine
	if s := m.Model.StandIn; s != "" {
		flag := fmt.Sprintf("LLVM has no model of %s and takes that of %s", m.Model.CPU, s)
		if m.Core != nil {
			flag += ", here with the widths and latencies measured on " + m.Core.Name
		}
		flags = append(flags, flag)
	}
	for _, side := range []struct {
		name   string
		cycles *Cycles
	}{{"before", &r.Base}, {"after", &r.Head}} {
		for _, f := range side.cycles.Flags {
			flags = append(flags, side.name+": "+f)
		}
		if side.cycles.Unmodelled > 0.1 {
			flags = append(flags, side.name+": too much of the code is not modelled for the prediction to be of use")
		}
	}
	if pair.Source == SourceAssumed {
		flags = append(flags, "how often branches are taken is not known: each way as often as the other, half of them mispredicted")
	}
	return append(flags, pair.Flags...)
}
