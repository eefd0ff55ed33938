package html

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/branch/annotate"
	"profdiff/internal/verdict"
)

// FromBranches is the document of the branches of one recording. Listings, if any, are
// the code of functions with their branches.
func FromBranches(t *branch.Table, listings []*annotate.Listing, opt Options) *Document {
	d := &Document{
		Title: "Branches", Base: opt.name(t.Name), Tool: opt.Tool,
		Branches: &Branches{Base: opt.branchSource(t)},
	}
	places := make(branchPlaces)
	for i := range t.Branches {
		b := &t.Branches[i]
		if !b.Enough {
			d.Branches.Hidden++
			continue
		}
		row := placeOf(b)
		row.Base = branchSide(b)
		places.add(b, len(d.Branches.Rows))
		d.Branches.Rows = append(d.Branches.Rows, row)
	}
	for i := range t.Functions() {
		if f := &t.Functions()[i]; f.Enough {
			d.Branches.Functions = append(d.Branches.Functions, branchFunction(f))
		}
	}
	for _, l := range listings {
		d.Branches.addCode(l, nil, places, nil, opt)
	}
	d.Verdict = Verdict{Outcome: Info, Sentence: worstBranch(t, d.Branches), Ground: []string{
		fmt.Sprintf("Made from: %s (tier %s).", t.Tier.Describe(), t.Tier),
	}}
	if t.Unknown != "" {
		d.Verdict.Outcome = verdict.Inconclusive
	}
	for _, w := range t.Warnings {
		d.Warnings = append(d.Warnings, opt.text(w))
	}
	d.Cards = branchCards(t)
	d.Facts = slices.Concat([]Fact{{"input", opt.name(t.Name)}}, d.Branches.Base.Facts)
	return d
}

// worstBranch is what a table says first.
func worstBranch(t *branch.Table, b *Branches) string {
	switch {
	case t.Unknown != "":
		return "Which branches were mispredicted is not known: " + t.Unknown
	case len(b.Rows) == 0 && len(b.Functions) > 0:
		f := &b.Functions[0]
		s := fmt.Sprintf("%s has the most misses: %s from %s", short(f.Name, 80), weight(f.Base.Misses, "count"), plural(int(min(f.Base.Samples, math.MaxInt32)), "sample"))
		if f.Base.Rate != "" {
			s += ", " + f.Base.Rate + " of its branches"
		}
		return s
	case t.Tier == branch.TierTotals:
		return "Totals say how many misses there are, not where"
	case len(b.Rows) == 0:
		return fmt.Sprintf("No branch has the %d misses that it takes to say anything", branch.MinMisses)
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

func branchCards(t *branch.Table) []Card {
	cards := []Card{{Name: "Mispredictions seen", Base: count(t.Misses), Outcome: Info}}
	if t.Instructions != nil && *t.Instructions > 0 && t.Scaled && t.Unknown == "" {
		misses := 0.0
		for i := range t.Branches {
			if m := t.Branches[i].Misses; m != nil {
				misses += *m
			}
		}
		cards = append(cards, Card{Name: "Branch misses per 1,000 instructions", Base: digits(1000 * misses / *t.Instructions), Outcome: Info, Note: "of the branches that are known"})
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

func (o *Options) branchSource(t *branch.Table) *BranchSource {
	s := &BranchSource{Name: o.name(t.Name), Tool: t.Tool, CPU: strings.TrimSpace(t.Arch + " " + t.CPU), Tier: string(t.Tier), Means: t.Tier.Describe(), Unknown: t.Unknown}
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
	case t.Scaled:
		s.Counts = "estimates for the whole recording"
	case t.Sampled != nil:
		s.Counts = "misses of samples, shared among the branches that may be behind them"
	case t.Tier == branch.TierTotals:
		s.Counts = "totals: no branch can be named"
	default:
		s.Counts = "entries of branch stacks"
	}
	for i := range t.Totals {
		s.Facts = append(s.Facts, totalFacts(&t.Totals[i])...)
	}
	if t.Stacks != nil && t.Stacks.Ranges != (branch.Ranges{}) {
		r := &t.Stacks.Ranges
		s.Facts = append(s.Facts, Fact{"code", fmt.Sprintf("%s stretches between branches decoded, %s lack a branch, %s without a binary", count(r.Decoded), count(r.Broken), count(r.NoCode))})
	}
	if c := t.Cost; c != nil {
		s.Facts = append(s.Facts, Fact{"cost of a miss", fmt.Sprintf("%.4g to %.4g cycles (%s)", c.Lo, c.Hi, c.Source)})
	}
	return s
}

// placeOf is a row with what both sides share.
func placeOf(b *branch.Branch) Branch {
	row := Branch{Function: b.Function, DSO: path.Base(b.DSO), File: path.Base(b.File), Line: b.Line, Kind: string(b.Kind), Code: -1}
	if b.File == "" {
		row.File = ""
	}
	if b.DSO == "" {
		row.DSO = ""
	}
	switch {
	case b.ByLine:
		row.Place = fmt.Sprintf("line %d", b.Line)
	case b.Offset != nil:
		row.Place = fmt.Sprintf("+%x", *b.Offset)
	default:
		row.Place = fmt.Sprintf("%#x", b.Address)
	}
	return row
}

func branchSide(b *branch.Branch) *BranchSide {
	s := &BranchSide{
		Executed: finiteOf(b.Executed), Misses: finiteOf(b.Misses), N: b.N, Samples: b.Samples, Lost: b.CyclesLost, Enough: b.Enough,
	}
	if b.PTaken != nil {
		s.Taken = finiteOf(&b.PTaken.Value)
		s.TakenCI = &[2]float64{b.PTaken.Lo, b.PTaken.Hi}
	}
	if b.TakenRate() != nil {
		s.OfTaken = finiteOf(&b.TakenRate().Value)
		s.OfTakenCI = &[2]float64{b.TakenRate().Lo, b.TakenRate().Hi}
	}
	if b.MPKI != nil {
		s.MPKI = finiteOf(&b.MPKI.Value)
	}
	var known []string
	switch k := b.Known(); k {
	case "":
	case branch.OfLine:
		known = append(known, "all branches of the line")
	default:
		known = append(known, "place "+string(k))
	}
	if n := b.Alternatives(); n > 0 {
		known = append(known, "or one of "+plural(n, "other"))
	}
	if r := b.Rate; r != nil {
		s.Rate, s.Bounded = finiteOf(r.Value), r.Method == branch.ByBounds
		s.CI = &[2]float64{r.CI[0], r.CI[1]}
		if r.Value == nil {
			s.Bounds = &[2]float64{r.Bounds[0], r.Bounds[1]}
		}
		known = append(known, map[branch.RateMethod]string{
			branch.AllSeen: "all misses seen", branch.ByCycles: "misses not taken told by cycles", branch.ByBounds: "misses not taken unseen", branch.Counted: "counted",
		}[r.Method])
	}
	s.Confidence = strings.Join(slices.DeleteFunc(known, func(k string) bool { return k == "" }), ", ")
	var classes []string
	for _, c := range b.Classes {
		classes = append(classes, string(c))
	}
	s.Class = strings.Join(classes, " or ")
	return s
}

// finiteOf is nil for what JSON has no number for.
func finiteOf(v *float64) *float64 {
	if v == nil {
		return nil
	}
	return finite(*v)
}

func branchFunction(f *branch.Function) BranchFunction {
	ci := f.Misses.CI
	m := &FunctionMisses{Misses: f.Misses.Value, CI: &ci, Samples: f.Misses.Samples, Rate: missRatio(f.Rate, share), MPKI: missRatio(f.MPKI, digits)}
	if f.Misses.Counted {
		m.CI = nil
	}
	return BranchFunction{Name: f.Name, DSO: path.Base(f.DSO), PMU: f.PMU, Base: m}
}

// missRatio is a ratio with its interval, "" if it is not known.
func missRatio(r *branch.Ratio, write func(float64) string) string {
	switch {
	case r == nil:
		return ""
	case r.Value == nil:
		return "< " + write(r.CI[1])
	case r.CI == nil:
		return write(*r.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", write(*r.Value), write(r.CI[0]), write(r.CI[1]))
}

// totalFacts are what a PMU counted.
func totalFacts(t *branch.Totals) (list []Fact) {
	of := ""
	if t.PMU != "" {
		of = t.PMU + ": "
	}
	line := func(name, event string, a *branch.Amount) {
		if a == nil {
			return
		}
		text := of + weight(a.Value, "count")
		if !a.Counted {
			text += fmt.Sprintf(" [%s, %s], from %s", weight(a.CI[0], "count"), weight(a.CI[1], "count"), plural(int(min(a.Samples, math.MaxInt32)), "sample"))
		}
		list = append(list, Fact{name, text + " of " + event})
	}
	line("misses", t.MissEvent, t.Misses)
	line("branches", t.BranchEvent, t.Branches)
	line("instructions", t.InstructionEvent, t.Instructions)
	line("cycles", t.CycleEvent, t.Cycles)
	switch {
	case t.Rate != nil:
		list = append(list, Fact{"miss rate", of + missRatio(t.Rate, share) + " of branches"})
	case t.RateRefused != "":
		list = append(list, Fact{"miss rate", of + "refused: " + t.RateRefused})
	}
	switch {
	case t.MPKI != nil:
		list = append(list, Fact{"misses per 1,000 instructions", of + missRatio(t.MPKI, digits)})
	case t.MPKIRefused != "":
		list = append(list, Fact{"misses per 1,000 instructions", of + "refused: " + t.MPKIRefused})
	}
	return list
}
