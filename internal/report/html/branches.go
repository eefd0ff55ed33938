package html

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"profdiff/internal/report/branches"
	"profdiff/internal/verdict"
)

// FromBranches is the page of the branches of one recording.
func FromBranches(b *branches.Document, opt Options) *Document {
	d := &Document{
		Title: "Branches", Base: opt.name(b.Input.Path), Tool: opt.Tool,
		Branches: &Branches{Base: opt.branchSource(b), Hidden: b.Hidden, Code: b.Code}, options: opt, files: []string{b.Input.Path},
	}
	for i := range b.Branches {
		row := placeOf(&b.Branches[i].Place)
		row.Base, row.Code = branchSide(&b.Branches[i]), b.Branches[i].Code
		d.Branches.Rows = append(d.Branches.Rows, row)
	}
	for i := range b.Functions {
		if f := &b.Functions[i]; f.Enough {
			d.Branches.Functions = append(d.Branches.Functions, branchFunction(f))
		}
	}
	d.Verdict = Verdict{Outcome: Info, Sentence: worstBranch(b, d.Branches), Ground: []string{
		fmt.Sprintf("Made from: %s (tier %s).", b.Tier.Describe(), b.Tier),
	}}
	if !b.Prediction.Known {
		d.Verdict.Outcome = verdict.Inconclusive
	}
	for _, w := range b.Warnings {
		d.Warnings = append(d.Warnings, opt.text(w))
	}
	d.Cards = branchCards(b)
	d.Facts = slices.Concat([]Fact{{"input", opt.name(b.Input.Path)}}, d.Branches.Base.Facts)
	return d
}

// worstBranch is what a table says first.
func worstBranch(t *branches.Document, b *Branches) string {
	switch {
	case !t.Prediction.Known:
		return "Which branches were mispredicted is not known: " + t.Prediction.Reason
	case len(b.Rows) == 0 && len(b.Functions) > 0:
		f := &b.Functions[0]
		s := fmt.Sprintf("%s has the most misses: %s from %s", short(f.Name, 80), weight(f.Base.Misses, "count"), plural(int(min(f.Base.Samples, math.MaxInt32)), "sample"))
		if f.Base.Rate != "" {
			s += ", " + f.Base.Rate + " of its branches"
		}
		return s
	case t.Totaled():
		return "Totals say how many misses there are, not where"
	case len(b.Rows) == 0:
		return fmt.Sprintf("No branch has the %d misses that it takes to say anything", branches.MinMisses)
	}
	w := &b.Rows[0]
	s := fmt.Sprintf("%s %s costs most", short(w.Function, 80), w.Place)
	interval := func(ci *[2]float64) string {
		if ci == nil || ci[0] == ci[1] {
			return ""
		}
		return fmt.Sprintf(" [95"+thin+"%% interval %s to %s]", share(ci[0]), share(ci[1]))
	}
	switch b := w.Base; {
	case b.Rate != nil:
		s += ": " + share(*b.Rate) + " of its executions are mispredicted" + interval(b.CI)
	case b.Bounds != nil:
		s += fmt.Sprintf(": %s to %s of its executions are mispredicted", share(b.Bounds[0]), share(b.Bounds[1])) + interval(b.CI)
	case b.OfTaken != nil:
		s += ": " + share(*b.OfTaken) + " of its executions that are taken are mispredicted" + interval(b.OfTakenCI)
	}
	if l := w.Base.Lost; l != nil {
		s += fmt.Sprintf("; %s to %s cycles lost", weight(l[0], "count"), weight(l[1], "count"))
	}
	return s
}

func branchCards(t *branches.Document) []Card {
	cards := []Card{{Name: "Mispredictions seen", Base: count(t.Misses), Outcome: Info}}
	if i := t.Totals.Instructions; i != nil && *i > 0 && t.Scaled() && t.Prediction.Known {
		cards = append(cards, Card{Name: "Branch misses per 1,000 instructions", Base: digits(1000 * t.BranchMisses / *i), Outcome: Info, Note: "of the branches that are known"})
	}
	if c := t.Cost; c != nil {
		cards = append(cards, Card{Name: "Cost of a miss", Base: fmt.Sprintf("%.3g to %.3g cycles", c.Lo, c.Hi), Outcome: Info, Note: c.Source})
	}
	quality := Card{Name: qualityName, Base: count(t.Samples.Used) + " samples used", Outcome: Info}
	if t.Samples.In > 0 {
		quality.Note = fmt.Sprintf("of %s, %s lost", count(t.Samples.In), count(t.Samples.Lost))
	}
	if t.Counted() {
		quality.Base, quality.Note = "Counted", "a simulator counted all"
	}
	return append(cards, quality)
}

func (o *Options) branchSource(t *branches.Document) *BranchSource {
	s := &BranchSource{Name: o.name(t.Input.Path), Tool: t.Input.Tool, CPU: strings.TrimSpace(t.Input.Arch + " " + t.Input.CPU), Tier: string(t.Tier), Means: t.Tier.Describe(), Unknown: t.Prediction.Reason}
	for i := range t.Events {
		e := &t.Events[i]
		name := e.Name + " (" + weight(e.Weight, "count")
		if e.Samples > 0 {
			name += ", " + plural(int(min(e.Samples, math.MaxInt32)), "sample")
		}
		if e.Precise {
			name += ", precise"
		}
		name += ")"
		s.Events = append(s.Events, name)
	}
	switch {
	case t.Counted():
		s.Counts = "counted by a simulator"
	case t.Scaled():
		s.Counts = "estimates for the whole recording"
	case t.Attribution != nil:
		s.Counts = "misses of samples, shared among the branches that may be behind them"
	case t.Totaled():
		s.Counts = "totals: no branch can be named"
	default:
		s.Counts = "entries of branch stacks"
	}
	for i := range t.Totals.PMUs {
		s.Facts = append(s.Facts, totalFacts(&t.Totals.PMUs[i])...)
	}
	if r := t.Ranges; r != (branches.Ranges{}) {
		s.Facts = append(s.Facts, Fact{"code", fmt.Sprintf("%s stretches between branches decoded, %s lack a branch, %s without a binary", count(r.Decoded), count(r.Broken), count(r.NoCode))})
	}
	if c := t.Cost; c != nil {
		s.Facts = append(s.Facts, Fact{"cost of a miss", fmt.Sprintf("%.4g to %.4g cycles (%s)", c.Lo, c.Hi, c.Source)})
	}
	return s
}

// placeOf is a row with what both sides share.
func placeOf(b *branches.Place) Branch {
	row := Branch{Function: b.Function, DSO: path.Base(b.DSO), File: path.Base(b.File), Line: b.Line, Kind: string(b.Kind), Code: -1}
	if b.File == "" {
		row.File = ""
	}
	if b.DSO == "" {
		row.DSO = ""
	}
	switch {
	case b.ByLine():
		row.Place = fmt.Sprintf("line %d", b.Line)
	case b.Offset != nil:
		row.Place = fmt.Sprintf("+%x", *b.Offset)
	default:
		row.Place = b.Address
	}
	return row
}

func branchSide(b *branches.Branch) *BranchSide {
	s := &BranchSide{
		Executed: finiteOf(b.Executed), Misses: finiteOf(b.Misses), N: b.N, Samples: b.Samples, Enough: b.Enough,
		Class: strings.Join(b.Classes, " or "),
	}
	if c := b.CyclesLost; c != nil {
		s.Lost = (*[2]float64)(c)
	}
	s.Taken, s.TakenCI = estimate(b.PTaken)
	s.OfTaken, s.OfTakenCI = estimate(b.TakenRate)
	s.MPKI, _ = estimate(b.MPKI)
	var known []string
	switch k := b.Confidence; k {
	case "":
	case branches.OfLine:
		known = append(known, "all branches of the line")
	default:
		known = append(known, "place "+string(k))
	}
	if n := b.Others(); n > 0 {
		known = append(known, "or one of "+plural(n, "other"))
	}
	if b.RateMethod != "" {
		s.Rate, s.Bounded = finiteOf(b.Rate), b.RateMethod == branches.ByBounds
		if b.Rate == nil {
			s.Bounds, s.CI = (*[2]float64)(b.RateBounds), (*[2]float64)(b.CI)
		} else {
			_, s.CI = estimate(&branches.Estimate{Value: *b.Rate, CI: b.CI})
		}
		known = append(known, map[branches.RateMethod]string{
			branches.AllSeen: "all misses seen", branches.ByCycles: "misses not taken told by cycles", branches.ByBounds: "misses not taken unseen", branches.Counted: "counted",
		}[b.RateMethod])
	}
	s.Confidence = strings.Join(slices.DeleteFunc(known, func(k string) bool { return k == "" }), ", ")
	return s
}

// estimate is a value with its interval, nil if it is not known.
func estimate(e *branches.Estimate) (v *float64, ci *[2]float64) {
	if e == nil {
		return nil, nil
	}
	lo, hi := e.Interval()
	return finite(e.Value), &[2]float64{lo, hi}
}

// finiteOf is nil for what JSON has no number for.
func finiteOf(v *float64) *float64 {
	if v == nil {
		return nil
	}
	return finite(*v)
}

func branchFunction(f *branches.Function) BranchFunction {
	m := &FunctionMisses{Misses: f.Misses.Value, Samples: f.Misses.Samples, Rate: f.Rate.Text(share), MPKI: f.MPKI.Text(digits)}
	if f.Misses.CI != nil {
		m.CI = (*[2]float64)(f.Misses.CI)
	}
	return BranchFunction{Name: f.Function, DSO: path.Base(f.DSO), PMU: f.PMU, Base: m}
}

// totalFacts are what a PMU counted.
func totalFacts(t *branches.PMU) (list []Fact) {
	of := ""
	if t.PMU != "" {
		of = t.PMU + ": "
	}
	line := func(name string, a *branches.Amount) {
		if a == nil {
			return
		}
		text := of + weight(a.Value, "count")
		if a.CI != nil {
			text += fmt.Sprintf(" [%s, %s], from %s", weight(a.CI[0], "count"), weight(a.CI[1], "count"), plural(int(min(a.Samples, math.MaxInt32)), "sample"))
		}
		list = append(list, Fact{name, text + " of " + a.Event})
	}
	line("misses", t.Misses)
	line("branches", t.Branches)
	line("instructions", t.Instructions)
	line("cycles", t.Cycles)
	switch {
	case t.Rate != nil:
		list = append(list, Fact{"miss rate", of + t.Rate.Text(share) + " of branches"})
	case t.RateRefused != "":
		list = append(list, Fact{"miss rate", of + "refused: " + t.RateRefused})
	}
	switch {
	case t.MPKI != nil:
		list = append(list, Fact{"misses per 1,000 instructions", of + t.MPKI.Text(digits)})
	case t.MPKIRefused != "":
		list = append(list, Fact{"misses per 1,000 instructions", of + "refused: " + t.MPKIRefused})
	}
	return list
}
