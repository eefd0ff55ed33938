package predict

import (
	"fmt"
	"math"
	"slices"

	"profdiff/internal/llvm"
	"profdiff/internal/predict"
	"profdiff/internal/report/text"
)

// New makes the document of a prediction.
func New(p *predict.Prediction) *Document {
	m := p.Machine
	d := &Document{
		Schema: Schema, Loops: []Loop{},
		Toolchain: Toolchain{
			LLVM: m.Version, MCPU: m.Model.CPU, Model: m.Model.Name, StandIn: m.Model.StandIn, Kinship: string(m.Model.Kinship),
			RefillCycles: m.Refill, RefillSource: m.RefillSource,
		},
	}
	if m.Core != nil {
		d.Toolchain.Core = m.Core.Name
	}
	d.Toolchain.Repairs = []Repair{}
	for _, r := range p.Repairs() {
		repair := Repair{Class: r.Class, Instructions: r.Instructions}
		if i := slices.IndexFunc(m.Model.Repairs, func(of llvm.Repair) bool { return of.Class == r.Class }); i >= 0 {
			repair.Evidence = m.Model.Repairs[i].Evidence
		}
		d.Toolchain.Repairs = append(d.Toolchain.Repairs, repair)
	}
	for _, r := range p.Results {
		d.Loops = append(d.Loops, newLoop(r))
	}
	return d
}

// DropTimelines leaves out the timelines, which only some outputs show.
func (d *Document) DropTimelines() {
	for i := range d.Loops {
		d.Loops[i].Timelines = []Timeline{}
	}
}

// MoreWays says which ways through the loop are not in the document, "" if all are.
func (l *Loop) MoreWays() string {
	switch n := l.Base.PathsLeftOut + l.Head.PathsLeftOut; {
	case n > 0 && l.AllPaths:
		return fmt.Sprintf("and %d more: --paths all", n)
	case n > 0:
		return fmt.Sprintf("and at least %d more: --paths all", n)
	case !l.AllPaths:
		return "and more that were not found"
	}
	return ""
}

func newLoop(r *predict.Result) Loop {
	l := Loop{
		Function: r.Pair.Name, Unit: r.Pair.Unit, Rates: r.Pair.Source,
		Base: newSide(&r.Base, r.Paths[0]), Head: newSide(&r.Head, r.Paths[1]),
		NotPredicted: r.Refused,
		ProgramShare: r.Pair.ProgramShare, Flags: append([]string{}, r.Flags...), Timelines: []Timeline{},
		Alone: r.Pair.Base == nil, Speedup: r.Speedup, Measured: r.Pair.Measured, MeasuredBy: r.Pair.MeasuredBy, Program: r.Program,
		BreakEven: r.BreakEven, AllPaths: r.AllPaths,
	}
	for i, side := range []*Side{&l.Base, &l.Head} {
		if c := r.Contention[i]; c != nil {
			side.Contention = &Contention{c.Atomics, c.Fences, c.Waits, append([]string{}, c.Retries...), nil}
			if a := c.Alone; a != nil {
				side.Contention.Alone = []float64{a.Value, a.Lo, a.Hi}
			}
		}
	}
	if l.Verdict = Refused; r.Refused == "" {
		l.PredictedSpeedup, l.Interval = &r.Speedup.Value, []float64{r.Speedup.Lo, r.Speedup.Hi}
		l.Verdict = verdictOf(&r.Speedup)
		l.BreakEvenText = breakEvenText(r.BreakEven, l.Verdict, r.Pair.Source == Assumed)
	} else {
		l.Base.refuse()
		l.Head.refuse()
	}
	l.Doubts, l.Doubt, l.Remedy = doubtsOf(r)
	l.Base.PathsLeftOut, l.Head.PathsLeftOut = r.MorePaths[0], r.MorePaths[1]
	if r.Pair.Base != nil {
		l.Base.Name, l.Curve = r.Pair.Base.Name, curve(r)
	}
	if r.Pair.Head != nil {
		l.Head.Name = r.Pair.Head.Name
	}
	if i := r.Pair.Measured; i != nil {
		l.MeasuredSpeedup = &i.Value
		if !math.IsInf(i.Hi, 1) { // a side without enough samples has no upper end
			l.MeasuredCI = []float64{i.Lo, i.Hi}
		}
	}
	if i := r.Program; i != nil {
		l.ProgramSpeedup, l.ProgramInterval, l.ProgramVerdict = &i.Value, []float64{i.Lo, i.Hi}, verdictOf(i)
	}
	if b := r.BreakEven; b != nil {
		l.BreakEvenVerdict = string(b.Verdict)
		if b.Verdict != predict.NoBranches {
			l.BreakEvenMissRate, l.BreakEvenMisses = &b.Rate, &b.Misses
			l.MeasuredMissRate, l.MeasuredMissPerUnit = &b.MeasuredRate, &b.MeasuredMisses
			l.BreakEvenRange = []float64{b.Lo, b.Hi}
			l.BreakEvenSide = "head"
			if b.Base {
				l.BreakEvenSide = "base"
			}
		}
	}
	if r.Timelines != nil {
		for i, side := range []string{"base", "head"} {
			t := &r.Timelines[i]
			l.Timelines = append(l.Timelines, Timeline{Side: side, Title: t.Title, Note: t.Note, Lines: t.Lines, Marks: t.Marks})
		}
	}
	return l
}

// verdictOf is what a speed-up says in a word.
func verdictOf(i *Interval) Verdict {
	switch i.Winner() {
	case predict.WinnerHead:
		return Faster
	case predict.WinnerBase:
		return Slower
	}
	return NotDecided
}

// refuse leaves what is known of a side whose cycles are not predicted.
func (s *Side) refuse() {
	for _, v := range []*text.Number{
		&s.CyclesPerUnit, &s.Issue, &s.Dependency, &s.TakenBranches, &s.Mispredictions, &s.Called,
		&s.MissesPerUnit, &s.MissCost, &s.Trace, &s.Throughput, &s.UnmodelledShare,
	} {
		*v = text.Missing
	}
	s.CyclesRange = nil
}

func newSide(c *predict.Cycles, paths []*predict.Path) Side {
	s := Side{
		CyclesPerUnit: text.Number(c.Total), CyclesRange: []float64{c.Lo, c.Hi},
		Issue: text.Number(c.Issue), Dependency: text.Number(c.Dependency), TakenBranches: text.Number(c.Taken), Mispredictions: text.Number(c.Misses), Called: text.Number(c.Called),
		MissesPerUnit: text.Number(c.Mispredicted), MissCost: text.Number(c.MissCost),
		InstructionsPerUnit: c.Instructions, TakenPerUnit: c.TakenBranches, DataBranchesPerUnit: c.DataBranches,
		Trace: text.Number(c.MCA), Throughput: text.Number(c.Throughput), UnmodelledShare: text.Number(c.Unmodelled), Paths: []Path{},
	}
	for _, p := range paths {
		s.Paths = append(s.Paths, Path{Name: p.Name, Executable: !p.Listing, Instructions: p.Instructions, CyclesOnce: p.Once, CyclesSteady: p.Steady})
	}
	return s
}

// CurvePoints is the number of points of a curve, unless nothing is left of the cycles from
// some rate on.
const CurvePoints = 26

// worstRate is the rate at which nothing is learnt.
const worstRate = 0.5

// curve is the speed-up by the rate of misses, with the interval of each.
func curve(r *predict.Result) (points []Point) {
	b := r.BreakEven
	if b == nil || b.Verdict == predict.NoBranches {
		return nil
	}
	most := max(worstRate, min(1, 1.1*b.MeasuredRate))
	for i := range CurvePoints {
		rate := most * float64(i) / (CurvePoints - 1)
		at := r.At(rate)
		if !(at.Value > 0) || math.IsInf(at.Value, 1) {
			break
		}
		points = append(points, Point{Rate: rate, Speedup: at.Value, Lo: at.Lo, Hi: at.Hi})
	}
	return points
}
