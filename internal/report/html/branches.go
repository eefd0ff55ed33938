package html

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"profdiff/internal/branch"
)

// FromBranches is the document of the branches of one recording. Listings, if any, are
// the code of functions with their branches.
func FromBranches(t *branch.Table, listings []*branch.Listing, opt Options) *Document {
	d := &Document{
		Title: "Branch misses", Base: opt.name(t.Name), Tool: opt.Tool,
		Branches: &Branches{Base: opt.branchSource(t)},
	}
	at := make(map[*branch.Branch]int)
	for i := range t.Branches {
		b := &t.Branches[i]
		if !b.Enough {
			d.Branches.Hidden++
			continue
		}
		row := placeOf(b)
		row.Base = branchSide(b)
		at[b] = len(d.Branches.Rows)
		d.Branches.Rows = append(d.Branches.Rows, row)
	}
	for _, l := range listings {
		d.Branches.addCode(l, at, opt)
	}
	d.Verdict = Verdict{Outcome: Info, Sentence: worstBranch(t, d.Branches), Ground: []string{
		fmt.Sprintf("Made from: %s (tier %s).", t.Tier.Describe(), t.Tier),
	}}
	if t.Unknown != "" {
		d.Verdict.Outcome = Inconclusive
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
	case len(b.Rows) == 0:
		return fmt.Sprintf("No branch has the %d misses that it takes to say anything", branch.MinMisses)
	}
	w := &b.Rows[0]
	s := fmt.Sprintf("%s %s costs most", short(w.Function, 80), w.Place)
	if r := w.Base.Rate; r != nil {
		s += ": " + share(*r) + " of its executions are mispredicted"
		if ci := w.Base.CI; ci != nil && ci[0] != ci[1] {
			s += fmt.Sprintf(" [95"+thin+"%% interval %s to %s]", share(ci[0]), share(ci[1]))
		}
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
	quality := Card{Name: "Data quality", Base: count(t.Samples.Used) + " samples used", Outcome: Info}
	if t.Samples.In > 0 {
		quality.Note = fmt.Sprintf("of %s, %s lost", count(t.Samples.In), count(t.Samples.Lost))
	}
	if t.Tier == branch.TierSimulated {
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
	case t.Tier == branch.TierSimulated:
		s.Counts = "counted by a simulator"
	case t.Scaled:
		s.Counts = "estimates for the whole recording"
	default:
		s.Counts = "entries of branch stacks"
	}
	if r := t.Ranges; r.Decoded+r.Broken+r.NoCode > 0 {
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
	if n := len(b.Candidates) + b.MoreCandidates; n > 0 {
		known = append(known, "or one of "+plural(n, "other"))
	}
	if r := b.Rate; r != nil {
		s.Rate, s.Bounded = finiteOf(r.Value), r.Method == branch.ByBounds
		s.CI = &[2]float64{r.CI[0], r.CI[1]}
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

// addCode adds the code of a function, and links its branches to it.
func (b *Branches) addCode(l *branch.Listing, at map[*branch.Branch]int, opt Options) {
	code := BranchCode{Function: l.Function, DSO: path.Base(l.DSO)}
	for i := range l.Insts {
		inst := &l.Insts[i]
		row := CodeRow{Offset: int64(inst.Addr - l.Start), Text: inst.Text, Branch: -1}
		if len(inst.Frames) > 0 {
			f := &inst.Frames[0]
			row.File, row.Line = path.Base(f.File), int64(f.Line)
			if f.File == "" {
				row.File = ""
			}
			if opt.Source != nil {
				row.Source = opt.Source(row.File, row.Line)
			}
		}
		for _, x := range inst.Branches {
			if k, ok := at[x]; ok {
				row.Branch = k
				b.Rows[k].Code = len(b.Code)
			}
		}
		code.Rows = append(code.Rows, row)
	}
	b.Code = append(b.Code, code)
}

// FromBranchDiff is the document of the branches of two sides.
func FromBranchDiff(c *branch.Diff, opt Options) *Document {
	d := &Document{
		Title: "Branch misses", Base: opt.tables(c.Base), Head: opt.tables(c.Head), Tool: opt.Tool,
		Branches: &Branches{Base: opt.branchSource(c.Base[0]), Head: opt.branchSource(c.Head[0]), Hidden: c.Hidden},
	}
	counts := make(map[branch.Verdict]int)
	for i := range c.Branches {
		b := &c.Branches[i]
		counts[b.Verdict]++
		d.Branches.Rows = append(d.Branches.Rows, branchChange(b))
	}
	for _, w := range c.Warnings {
		d.Warnings = append(d.Warnings, opt.text(w))
	}
	for _, w := range c.Different {
		d.Warnings = append(d.Warnings, opt.text(w))
	}
	d.Verdict = Verdict{Outcome: Info, Sentence: fmt.Sprintf("%s improved, %d regressed, %d unchanged, %d inconclusive, %d new, %d removed",
		strings.Replace(plural(counts[branch.Improved], "branch"), "branchs", "branches", 1),
		counts[branch.Regressed], counts[branch.Unchanged], counts[branch.Inconclusive], counts[branch.New], counts[branch.Removed])}
	if t := c.Total; t != nil {
		ch := Change{Base: t.Base, Head: t.Head, Ratio: t.Ratio, Lo: t.CI.Lo, Hi: t.CI.Hi}
		d.Cards = append(d.Cards, Card{
			Name: "Branch misses per " + c.Normalization.Unit, Base: weight(t.Base, "count"), Head: weight(t.Head, "count"),
			Change: strings.TrimSpace(ch.relative() + " " + ch.interval()), Outcome: Info,
		})
		d.Verdict.Sentence = fmt.Sprintf("Branch misses per %s: %s → %s, %s %s; ", c.Normalization.Unit, weight(t.Base, "count"), weight(t.Head, "count"), ch.relative(), ch.interval()) + d.Verdict.Sentence
	}
	d.Verdict.Ground = []string{
		fmt.Sprintf("%s before, %d after, %s.", plural(len(c.Base), "run"), len(c.Head), c.Base[0].Tier.Describe()),
	}
	if c.Counted {
		d.Verdict.Ground = append(d.Verdict.Ground, "A simulator counted: there are no tests.")
	}
	return d
}

func (o *Options) tables(list []*branch.Table) string {
	if len(list) == 1 {
		return o.name(list[0].Name)
	}
	return o.name(list[0].Name) + " … " + o.name(list[len(list)-1].Name)
}

func branchChange(b *branch.BranchChange) Branch {
	side := b.Head
	if side == nil {
		side = b.Base
	}
	row := placeOf(side.Branch)
	of := func(s *branch.SideBranch) *BranchSide {
		if s == nil {
			return nil
		}
		out := branchSide(s.Branch)
		out.Misses, out.Executed, out.N = finiteOf(&s.Misses), finiteOf(s.Executed), s.N
		return out
	}
	row.Base, row.Head = of(b.Base), of(b.Head)
	switch b.Verdict {
	case branch.Improved:
		row.Verdict = Improved
	case branch.Regressed:
		row.Verdict = Regressed
	case branch.Unchanged:
		row.Verdict = Unchanged
	default:
		row.Verdict = Inconclusive
	}
	m := Change{Base: b.Misses.Base, Head: b.Misses.Head, Ratio: b.Misses.Ratio, Lo: b.Misses.CI.Lo, Hi: b.Misses.CI.Hi}
	row.Change = strings.TrimSpace("misses " + m.relative() + " " + m.interval())
	if word := string(b.Verdict); b.Verdict != branch.Improved && b.Verdict != branch.Regressed {
		row.Change = word + ": " + row.Change
	}
	if b.Note != "" {
		row.Change += "; " + b.Note
	}
	if b.Misses.Tested {
		row.Adjusted = b.Misses.Q
	}
	return row
}
