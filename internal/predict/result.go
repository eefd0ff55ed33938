package predict

import (
	"fmt"
	"math"
)

// result joins the sides of a pair.
func (p *Predictor) result(pair *Pair, base, head Cycles) *Result {
	r := &Result{Pair: pair, Base: base, Head: head, missCost: p.Machine.Refill + resolveOfCalibration}
	r.Flags = p.flags(pair, r)
	r.Evidence = evidence(p.Machine, pair.Source, pair.Recorded, &base, &head)
	r.settle()
	r.confront()
	return r
}

// confront holds the prediction against what was measured of the same runs. Where its
// interval is beyond that, something decides that is not modelled, such as data that do not fit
// in the caches: the doubt is as great as what the model does not explain. What was measured of other code than
// what is predicted tells nothing of that.
func (r *Result) confront() {
	m, v := r.Pair.Measured, r.Speedup
	if m == nil || !r.Pair.Recorded || r.Pair.Partial != "" || m.Lo <= v.Hi && m.Hi >= v.Lo {
		return
	}
	far := math.Log(m.Value / v.Value)
	r.Evidence = newEvidence(r.Evidence.Tier, append(r.Evidence.Doubts, Doubt{Cause: CauseMeasured, Side: -1, Below: max(0, -far) / z, Above: max(0, far) / z}))
	r.Flags = append(r.Flags, fmt.Sprintf("measured ×%.3g [%.3g, %.3g] is beyond what the code explains, ×%.3g [%.3g, %.3g]: what decides is not modelled, such as data that do not fit in the caches", m.Value, m.Lo, m.Hi, v.Value, v.Lo, v.Hi))
	r.settle()
}

// settle makes what follows from the evidence: the interval, and all that is said by it.
func (r *Result) settle() {
	r.Speedup = r.Evidence.Interval(r.Base.Total / r.Head.Total)
	if r.Pair.ProgramShare != nil {
		r.Program = r.program()
	}
	r.BreakEven = r.breakEven()
}

// program is the speed-up of the whole program, by Amdahl's law. All that is not in the loop
// takes as long as before, or as long as the samples of head say, which may be of what the
// change moved: the interval holds both, with the error of the loop's share, and its value is
// in the middle.
func (r *Result) program() *Interval {
	p := r.Pair
	amdahl := func(v, share, rest float64) float64 {
		share = min(1, max(0, share))
		return 1 / ((1-share)*rest + share/v)
	}
	rest := 1.0
	if p.Rest > 0 && !math.IsInf(p.Rest, 0) {
		rest = p.Rest
	}
	v := r.Speedup
	i := &Interval{amdahl(v.Value, *p.ProgramShare, math.Sqrt(rest)), math.Inf(1), 0}
	for _, share := range []float64{*p.ProgramShare - z*p.ShareErr, *p.ProgramShare + z*p.ShareErr} {
		i.Lo = min(i.Lo, amdahl(v.Lo, share, max(1, rest)))
		i.Hi = max(i.Hi, amdahl(v.Hi, share, min(1, rest)))
	}
	return i
}

// changedRest is the part of the program by which the rest of it has to change to be mentioned.
const changedRest = 0.05

// foresee takes into account what both sides take if all branches are foreseen, as they may
// be if nothing is known of them. They are so, more or less, on both sides.
func (r *Result) foresee(base, head float64) {
	far := math.Log(base / head / r.Speedup.Value)
	r.Evidence = newEvidence(r.Evidence.Tier, append(r.Evidence.Doubts, Doubt{
		Cause: CauseRates, Side: -1, Below: max(0, -far) / z, Above: max(0, far) / z, Remedy: r.Pair.Source.remedy(),
	}))
	r.settle()
}

// evidence is what a prediction of a pair rests on. What nothing else makes less, measuring
// does, unless both sides were recorded.
func evidence(m *Machine, source Source, recorded bool, base, head *Cycles) Evidence {
	tier := m.tier()
	doubts := []Doubt{{Cause: CauseModel, Side: -1, Below: tier.sigma(), Above: tier.sigma(), Remedy: tier.remedy(m.Model.CPU)}}
	if e := source.sigma(); e > 0 {
		doubts = append(doubts, Doubt{Cause: CauseRates, Side: -1, Below: e, Above: e, Remedy: source.remedy()})
	}
	for i, c := range []*Cycles{base, head} {
		for _, d := range c.doubts {
			of := Doubt{Cause: d.cause, Side: i, Below: d.less, Above: d.more}
			if i == 1 { // more cycles of head are less of a speed-up
				of.Below, of.Above = d.more, d.less
			}
			if d.cause == CauseRates {
				of.Remedy = source.remedy()
			}
			doubts = append(doubts, of)
		}
	}
	for i := range doubts {
		if doubts[i].Remedy == "" && !recorded {
			doubts[i].Remedy = RemedyMeasure
		}
	}
	return newEvidence(tier, doubts)
}

// breakEven finds the rate of mispredictions at which both sides take as long. It says that
// a side wins only where the interval of the speed-up does.
func (r *Result) breakEven() *BreakEven {
	b := &BreakEven{Base: r.Base.DataBranches >= r.Head.DataBranches}
	branchy, branchless, winner := &r.Base, &r.Head, WinnerHead
	if !b.Base {
		branchy, branchless, winner = branchless, branchy, WinnerBase
	}
	if branchy.DataBranches < 0.01 || branchy.DataBranches-branchless.DataBranches < 0.01 {
		b.Verdict = NoBranches
		return b
	}
	b.Cost = r.missCost
	if branchy.Mispredicted > 0.005 && branchy.MissCost > 0 {
		b.Cost = branchy.MissCost
	}
	b.MeasuredMisses = branchy.Mispredicted
	b.MeasuredRate = branchy.Mispredicted / branchy.DataBranches
	e := r.Evidence.without(CauseRates)
	if !b.Base { // the speed-up is that of the side with branches
		e.Below, e.Above = e.Above, e.Below
	}
	rate := func(ratio float64) float64 {
		return (branchless.Total*ratio - (branchy.Total - branchy.Misses)) / b.Cost / branchy.DataBranches
	}
	always, never := rate(math.Exp(z*e.Below)), rate(math.Exp(-z*e.Above))
	b.Rate, b.Lo, b.Hi = max(0, rate(1)), min(1, max(0, never)), min(1, max(0, always))
	b.Misses = b.Rate * branchy.DataBranches
	switch r.Speedup.Winner() {
	case WinnerNone:
		b.Verdict = Undecided
	case winner:
		b.Verdict = AboveRate
		if always <= 0 {
			b.Verdict = AlwaysBranchless
		}
	default:
		b.Verdict = BelowRate
		if never > 0.5 {
			b.Verdict = NeverBranchless
		}
	}
	return b
}

// At is the speed-up if the branches that data decide are mispredicted at a rate. The
// doubts about rates are left out. There has to be a break-even other than [NoBranches].
func (r *Result) At(rate float64) Interval {
	b, branchy, branchless := r.BreakEven, &r.Base, &r.Head
	if !b.Base {
		branchy, branchless = branchless, branchy
	}
	ratio := (branchy.Total - branchy.Misses + rate*branchy.DataBranches*b.Cost) / branchless.Total
	if !b.Base {
		ratio = 1 / ratio
	}
	e := r.Evidence.without(CauseRates)
	return e.Interval(ratio)
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
	if rest := pair.Rest; pair.ProgramShare != nil && rest > 0 && !math.IsInf(rest, 0) && (1-*pair.ProgramShare)*math.Abs(rest-1) > changedRest {
		flags = append(flags, fmt.Sprintf("the rest of the program takes %.2g times as long after, by its samples: the interval of the program is with and without that, its value halfway", rest))
	}
	return append(flags, pair.Flags...)
}
