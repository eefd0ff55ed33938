package html

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	report "profdiff/internal/report/predict"
	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// maxSaid is the number of loops on the first screen.
const maxSaid = 8

// FromPrediction is the page of a prediction.
func FromPrediction(p *report.Document, opt Options) *Document {
	m := &p.Toolchain
	d := &Document{Title: "Prediction", Tool: opt.Tool, options: opt, Pipeline: &Pipeline{
		Model: m.Model, Tool: "llvm-mca of LLVM " + m.LLVM + " for " + m.MCPU, StandIn: m.StandIn, Core: m.Core,
		Refill: fmt.Sprintf("%.4g cycles (%s)", m.RefillCycles, m.RefillSource),
	}}
	for i := range p.Loops {
		d.Pipeline.Loops = append(d.Pipeline.Loops, loopOf(&p.Loops[i], opt))
	}
	d.Verdict = Verdict{Outcome: Info, Ground: []string{"A static model, not a measurement: what is not called measured is predicted."}}
	if len(p.Loops) > 0 {
		first := &p.Loops[0]
		d.Head, d.files = opt.name(first.Head.Name), []string{first.Head.Name, first.Base.Name}
		if !first.Alone {
			d.Base = opt.name(first.Base.Name)
		}
		loops := d.Pipeline.Loops
		if name, rates := ratesOf(loops); name != "" {
			d.Verdict.Sentence = rangeSentence(name, rates, loops)
			d.rangeCard(loops)
		} else {
			d.Verdict.Sentence = loops[0].sentence()
			d.predictionCards(&loops[0])
			loops = loops[1:]
		}
		shown := min(len(loops), maxSaid-1)
		for i := range shown {
			d.Verdict.Ground = append(d.Verdict.Ground, loops[i].sentence()+".")
		}
		if n := len(loops) - shown; n > 0 {
			d.Verdict.Ground = append(d.Verdict.Ground, plural(n, "more loop")+" in the tab Pipeline.")
		}
	}
	return d
}

// ratesOf are the last parts of the names of loops if these are one loop at several rates,
// and what its name is without them. It is "" if they are not.
func ratesOf(loops []Loop) (name string, rates []string) {
	for i := range loops {
		of, rate, ok := strings.Cut(loops[i].Name, ", p = ")
		if !ok || loops[i].Base == nil || i > 0 && of != name {
			return "", nil
		}
		name = of
		rates = append(rates, "p = "+rate)
	}
	if len(rates) < 2 {
		return "", nil
	}
	return name, rates
}

// rangeSentence says between which speed-ups the rates make a loop.
func rangeSentence(name string, rates []string, loops []Loop) string {
	least, most := 0, 0
	for i := range loops {
		if loops[i].Predicted.Value < loops[least].Predicted.Value {
			least = i
		}
		if loops[i].Predicted.Value > loops[most].Predicted.Value {
			most = i
		}
	}
	return fmt.Sprintf("%s: from %s at %s to %s at %s is predicted", name, loops[least].Predicted.gain(), rates[least], loops[most].Predicted.gain(), rates[most])
}

// rangeCard is the card of a loop at several rates.
func (d *Document) rangeCard(loops []Loop) {
	card := Card{Name: "Cycles of the loop, predicted", Outcome: Info, Note: "for " + short(loops[0].Unit, 100) + ", at " + plural(len(loops), "rate") + "; a static model"}
	span := func(of func(*Loop) float64) string {
		least, most := of(&loops[0]), of(&loops[0])
		for i := range loops {
			v := of(&loops[i])
			least, most = min(least, v), max(most, v)
		}
		if digits(least) == digits(most) {
			return digits(least)
		}
		return digits(least) + " to " + digits(most)
	}
	card.Base = span(func(l *Loop) float64 { return l.Base.Throughput })
	card.Head = span(func(l *Loop) float64 { return l.Head.Throughput })
	d.Cards = append(d.Cards, card)
}

// sentence is what a prediction says first.
func (l *Loop) sentence() string {
	if l.NotPredicted != "" {
		return l.Name + ": not predicted, as " + l.NotPredicted
	}
	if l.Base == nil {
		return fmt.Sprintf("%s cycles for %s are predicted", digits(l.Head.Throughput), l.Unit)
	}
	s := fmt.Sprintf("%s: %s is predicted", l.Name, l.Predicted.gain())
	switch m := l.Measured; {
	case m == nil:
	case m.word() == l.Predicted.word() && m.word() != "":
		s += fmt.Sprintf(", %s was measured", m.factors())
	default:
		s += fmt.Sprintf(", %s was measured", m.gain())
	}
	return s
}

// word is what a speed-up is, "" while 1 is in its interval.
func (e *Estimate) word() string {
	switch {
	case e.Lo > 1:
		return "speed-up"
	case e.Hi < 1:
		return "slow-down"
	}
	return ""
}

// gain is a speed-up, or a slow-down, which is its inverse, in words: "a slow-down of 5.26×
// [4.76, 6.67]". It is neither while 1 is in the interval: "1.05× [0.85, 1.31], which cannot be
// told yet,".
func (e *Estimate) gain() string {
	if word := e.word(); word != "" {
		return "a " + word + " of " + e.factors()
	}
	return e.String() + ", which cannot be told yet,"
}

// change is gain in the fewest words.
func (e *Estimate) change() string {
	if word := e.word(); word != "" {
		return word + " " + e.factors()
	}
	return e.String() + ", " + verdict.Inconclusive.Word(verdict.Time)
}

// factors is a speed-up or a slow-down as a factor above 1.
func (e *Estimate) factors() string {
	if e.word() == "slow-down" {
		return (&Estimate{1 / e.Value, 1 / e.Hi, 1 / e.Lo}).String()
	}
	return e.String()
}

// String is "1.50× [1.20, 1.90]".
func (e *Estimate) String() string {
	return fmt.Sprintf("%s× [%s, %s]", text.Factor(e.Value), text.Factor(e.Lo), text.Factor(e.Hi))
}

// predictionCards are the numbers of the loop that stands first.
func (d *Document) predictionCards(l *Loop) {
	if l.NotPredicted != "" {
		return
	}
	card := Card{Name: "Cycles of the loop, predicted", Base: digits(l.Head.Throughput), Outcome: Info}
	if l.Base != nil {
		card.Base, card.Head = digits(l.Base.Throughput), digits(l.Head.Throughput)
		card.Change = l.Predicted.change()
	}
	card.Note = "for " + short(l.Unit, 100) + "; a static model"
	if l.Measured != nil {
		card.Note += "; measured " + l.Measured.change()
	}
	d.Cards = append(d.Cards, card)
	if l.Doubt != "" {
		d.Verdict.Ground = append(d.Verdict.Ground, "Of the doubt, "+l.Doubt+".")
		if l.Remedy != "" {
			d.Verdict.Ground = append(d.Verdict.Ground, "To shrink it: "+l.Remedy+".")
		}
	}
	if l.Says != "" {
		card := Card{Name: "Break-even rate of misses, predicted", Base: "any", Outcome: Info, Note: l.Says}
		switch {
		case l.At != nil:
			card.Base = share(*l.At)
		case l.Never:
			card.Base = "none"
		}
		d.Cards = append(d.Cards, card)
	}
}

func estimateOf(v *report.Interval) *Estimate {
	if v == nil {
		return nil
	}
	return &Estimate{v.Value, v.Lo, v.Hi}
}

func loopOf(r *report.Loop, opt Options) Loop {
	l := Loop{Name: opt.text(r.Function), Unit: opt.text(r.Unit), RateSource: string(r.Rates), Notes: slices.Clone(r.Flags)}
	if r.NotPredicted != "" {
		l.NotPredicted, l.Measured, l.MeasuredBy = r.NotPredicted, estimateOf(r.Measured), r.MeasuredBy
		l.Notes = append([]string{"After: " + r.Head.Executed() + "."}, l.Notes...)
		if !r.Alone {
			l.Notes = append([]string{"Before: " + r.Base.Executed() + "."}, l.Notes...)
		}
		return l
	}
	l.Head = loopSide(&r.Head)
	sides := []*LoopSide{nil, l.Head}
	if !r.Alone {
		l.Base = loopSide(&r.Base)
		sides[0] = l.Base
		l.Predicted, l.Measured, l.MeasuredBy = estimateOf(&r.Speedup), estimateOf(r.Measured), r.MeasuredBy
		l.Program, l.Share = estimateOf(r.Program), r.ProgramShare
		l.Verdict, l.Doubt, l.Remedy = r.Verdict.Word(), opt.text(r.Doubt), r.Remedy
		l.breakEven(r)
	}
	for i, side := range sides {
		if side == nil {
			continue
		}
		for _, p := range []*report.Side{&r.Base, &r.Head}[i].Paths {
			side.Ways = append(side.Ways, Way{p.Way(), p.Instructions, p.CyclesOnce, p.CyclesSteady})
		}
		side.AllWays = r.AllPaths && []*report.Side{&r.Base, &r.Head}[i].PathsLeftOut == 0
		if i < len(r.Timelines) {
			side.Timeline, side.Drawn = timelineSteps(&r.Timelines[i]), r.Timelines[i].Note
		}
	}
	l.MoreWays = r.MoreWays()
	for i := range l.Notes {
		l.Notes[i] = opt.text(l.Notes[i])
	}
	return l
}

func loopSide(c *report.Side) *LoopSide {
	s := &LoopSide{
		Throughput: float64(c.CyclesPerUnit), Lo: c.CyclesRange[0], Hi: c.CyclesRange[1], Instructions: c.InstructionsPerUnit,
		Mispredicted: float64(c.MissesPerUnit), MissCost: float64(c.MissCost),
		Cycles: []Part{
			{"issue", float64(c.Issue)},
			{"dependency", float64(c.Dependency)},
			{"taken branches", float64(c.TakenBranches)},
			{"mispredictions", float64(c.Mispredictions)},
		},
	}
	if c.CyclesPerUnit > 0 {
		s.IPC = c.InstructionsPerUnit / float64(c.CyclesPerUnit)
	}
	s.Bottleneck = slices.MaxFunc(s.Cycles, func(a, b Part) int { return cmp.Compare(a.Cycles, b.Cycles) }).Name
	return s
}

// breakEven is the speed-up by the rate of misses, and what follows from it.
func (l *Loop) breakEven(r *report.Loop) {
	b := r.BreakEven
	if b == nil || b.Verdict == report.NoBranches || b.Misses == 0 {
		return
	}
	l.Says = r.BreakEvenText
	for _, p := range r.Curve {
		l.BreakEven = append(l.BreakEven, Point(p))
	}
	if len(r.Curve) < report.CurvePoints {
		return // from some rate on, nothing is left
	}
	l.Never = b.Verdict == report.NeverBranchless
	if b.Verdict != report.AlwaysBranchless && !l.Never {
		at := b.Rate
		l.At = &at
	}
	l.Rate = &Estimate{b.MeasuredRate, b.MeasuredRate, b.MeasuredRate}
}

// timelineRow is an instruction of llvm-mca -timeline: [iteration,index], a column for
// each cycle from column 10 on, and the instruction.
var timelineRow = regexp.MustCompile(`^\[(\d+),(\d+)\]`)

// timelineSteps reads a timeline that llvm-mca drew. D is dispatched, = waiting, e
// executing, E executed, - waiting to retire, R retired.
func timelineSteps(t *report.Timeline) (steps []Step) {
	const start = 10
	for i, line := range t.Lines {
		m := timelineRow.FindStringSubmatch(line)
		if m == nil || len(line) <= start {
			continue
		}
		drawn := line[min(len(line), max(start, len(m[0]))):]
		end := strings.IndexByte(drawn, 'R')
		dispatched := strings.IndexByte(drawn, 'D')
		if dispatched < 0 || end < dispatched {
			continue
		}
		cycles := drawn[:end]
		// What needs no unit, such as the clearing of a register, is done at once.
		s := Step{Dispatched: dispatched, Retired: end, Issued: min(dispatched+1, end), Executed: min(dispatched+1, end)}
		s.Iteration, _ = strconv.Atoi(m[1])
		s.Index, _ = strconv.Atoi(m[2])
		if k := strings.IndexByte(cycles, 'e'); k >= 0 {
			s.Issued = k
			s.Executed = strings.LastIndexByte(cycles, 'e') + 1
		}
		s.Ready = s.Issued
		text := strings.TrimLeft(drawn[end+1:], " .")
		s.Text = strings.Join(strings.Fields(text), " ")
		if i < len(t.Marks) {
			s.Mark = t.Marks[i]
		}
		steps = append(steps, s)
	}
	return steps
}
