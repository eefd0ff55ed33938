package html

import (
	"fmt"
	"math"
	"path"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/branch/diff"
	"profdiff/internal/report/branches"
	"profdiff/internal/verdict"
)

// FromBranchDiff is the document of the branches of two sides. Listings, if any, are the
// code of functions with their branches.
func FromBranchDiff(c *diff.Result, listings []branches.Code, opt Options) *Document {
	d := &Document{
		Title: "Branches", Base: opt.tables(c.Base), Head: opt.tables(c.Head), Tool: opt.Tool,
		Branches: &Branches{Base: opt.branchSource(c.Base[0]), Head: opt.branchSource(c.Head[0]), Hidden: c.Hidden},
	}
	before, after := make(branchPlaces), make(branchPlaces)
	for i := range c.Branches {
		b := &c.Branches[i]
		if b.Base != nil {
			before.add(b.Base.Branch, i)
		}
		if b.Head != nil {
			after.add(b.Head.Branch, i)
		}
		d.Branches.Rows = append(d.Branches.Rows, branchChange(b))
	}
	for i := range c.Functions {
		d.Branches.Functions = append(d.Branches.Functions, functionChange(&c.Functions[i]))
	}
	for _, l := range listings {
		d.Branches.addCode(l.Base, l.Head, before, after, opt)
	}
	for _, w := range c.Different {
		d.Warnings = append(d.Warnings, opt.text(w)+": nothing can be said of the program")
	}
	for _, w := range c.Warnings {
		d.Warnings = append(d.Warnings, opt.text(w))
	}
	d.Verdict = branchDiffVerdict(c)
	d.addBranchCards(c)
	d.Facts = []Fact{{"misses are", "per " + c.Normalization.Unit}}
	return d
}

func branchDiffVerdict(c *diff.Result) Verdict {
	v := Verdict{Outcome: Info}
	if len(c.Different) > 0 {
		v.Outcome = verdict.Inconclusive
	}
	if t := c.Total; t != nil {
		ch := changeOf(t.Base, t.Head, t.Ratio, t.CI)
		v.Sentence = fmt.Sprintf("Branch misses per %s, %s: %s → %s, %s", c.Normalization.Unit, c.Base[0].Tier.Describe(), weight(t.Base, "count"), weight(t.Head, "count"), relative(ch))
		if !c.Counted && known(&ch.CI) {
			v.Sentence += fmt.Sprintf(" [95"+thin+"%% interval %s to %s"+thin+"%%]", percent(t.CI.Lo), percent(t.CI.Hi))
		}
	}
	counts := make(map[verdict.Verdict]int)
	for i := range c.Branches {
		counts[c.Branches[i].Misses.Verdict]++
	}
	for i := range c.Functions {
		counts[c.Functions[i].Misses.Verdict]++
	}
	var verdicts []string
	for _, k := range verdict.TwoSided {
		if n := counts[k]; n > 0 {
			verdicts = append(verdicts, fmt.Sprintf("%d %s", n, k))
		}
	}
	what := "branches"
	if len(c.Functions) > 0 {
		what = "branches and functions"
	}
	of := "No branch has the misses that it takes to say anything"
	if len(verdicts) > 0 {
		of = "Of the " + what + " " + strings.Join(verdicts, ", ")
	}
	if v.Sentence == "" {
		v.Sentence = of
	} else {
		v.Ground = append(v.Ground, of+".")
	}
	v.Ground = append(v.Ground, largestMissChanges(c)...)
	v.Ground = append(v.Ground, fmt.Sprintf("%s before, %d after: %s (tier %s).", plural(len(c.Base), "run"), len(c.Head), c.Base[0].Tier.Describe(), c.Base[0].Tier))
	if c.Counted {
		v.Ground = append(v.Ground, "A simulator counted: there are no tests.")
	}
	return v
}

// largestMissChanges names the branches whose misses grew and shrank most, of those that
// were shown to.
func largestMissChanges(c *diff.Result) (list []string) {
	var grew, shrank *diff.BranchChange
	for i := range c.Branches {
		b := &c.Branches[i]
		d := b.Misses.Delta()
		switch b.Misses.Verdict {
		case verdict.Regressed, verdict.New:
			if grew == nil || d > grew.Misses.Delta() {
				grew = b
			}
		case verdict.Improved, verdict.Removed:
			if shrank == nil || d < shrank.Misses.Delta() {
				shrank = b
			}
		}
	}
	for _, x := range []struct {
		word string
		b    *diff.BranchChange
	}{{"Largest growth", grew}, {"Largest reduction", shrank}} {
		if x.b != nil {
			row := branchChange(x.b)
			list = append(list, fmt.Sprintf("%s: %s %s (%s → %s).", x.word, short(row.Function, 80), row.Place, weight(x.b.Misses.Base, "count"), weight(x.b.Misses.Head, "count")))
		}
	}
	return list
}

// addBranchCards are the misses, and the cycles that they cost.
func (d *Document) addBranchCards(c *diff.Result) {
	if t := c.Total; t != nil {
		ch := changeOf(t.Base, t.Head, t.Ratio, t.CI)
		card := Card{Name: "Branch misses per " + c.Normalization.Unit, Base: weight(t.Base, "count"), Head: weight(t.Head, "count"), Change: relative(ch), Outcome: Info}
		if c.Counted {
			card.Note = "counted by a simulator"
		} else {
			card.Change = strings.TrimSpace(card.Change + " " + interval(ch))
		}
		d.Cards = append(d.Cards, card)
	}
	s := c.Savings
	if s == nil {
		return
	}
	signed := func(v float64) string {
		if v > 0 {
			return "+" + weight(v, "count")
		}
		return weight(v, "count")
	}
	card := Card{
		Name: "Cycles per " + c.Normalization.Unit + ", predicted from the misses", Base: signed(s.Predicted.Value),
		Change: fmt.Sprintf("[%s, %s]", signed(s.Predicted.Lo), signed(s.Predicted.Hi)), Outcome: Info,
		Note: fmt.Sprintf("at %.3g to %.3g cycles a miss (%s)", s.Cost.Lo, s.Cost.Hi, s.Cost.Source),
	}
	if s.Measured != nil {
		card.Note += fmt.Sprintf("; measured %s: %s", signed(*s.Measured), s.Finding)
	}
	d.Cards = append(d.Cards, card)
}

func (o *Options) tables(list []*branch.Table) string {
	if len(list) == 1 {
		return o.name(list[0].Name)
	}
	return o.name(list[0].Name) + " … " + o.name(list[len(list)-1].Name)
}

func branchChange(b *diff.BranchChange) Branch {
	side := b.Head
	if side == nil {
		side = b.Base
	}
	row := placeOf(side.Branch)
	of := func(s *diff.SideBranch) *BranchSide {
		if s == nil {
			return nil
		}
		out := branchSide(s.Branch)
		out.Misses, out.Executed, out.N = finiteOf(&s.Misses), finiteOf(s.Executed), s.N
		return out
	}
	row.Base, row.Head = of(b.Base), of(b.Head)
	row.Verdict = b.Misses.Verdict
	row.Change = missChange(&b.Misses, b.Misses.Verdict)
	if b.Note != "" {
		row.Change += "; " + b.Note
	}
	if b.Misses.Tested {
		row.Adjusted = b.Misses.Adjusted
	}
	return row
}

// missChange is a change of misses in words. Of what one side alone has there is no
// ratio.
func missChange(c *diff.Change, v verdict.Verdict) string {
	ch := changeOf(c.Base, c.Head, c.Ratio, c.CI)
	if ch.CI.Lo == ch.CI.Hi { // counted
		ch.CI.Lo, ch.CI.Hi = 0, math.Inf(1)
	}
	switch v {
	case verdict.New, verdict.Removed:
		return string(v)
	case verdict.Improved, verdict.Regressed:
		return strings.TrimSpace("misses " + relative(ch) + " " + interval(ch))
	}
	return strings.TrimSpace(string(v) + ": misses " + relative(ch) + " " + interval(ch))
}

func functionChange(f *diff.Function) BranchFunction {
	out := BranchFunction{Name: f.Name, DSO: path.Base(f.DSO), PMU: f.PMU, Verdict: f.Misses.Verdict, Change: missChange(&f.Misses, f.Misses.Verdict)}
	if f.Name == "" {
		out.Name = f.BaseName
	}
	if f.BaseName != "" {
		out.Base = &FunctionMisses{Misses: f.Misses.Base, Samples: f.BaseSamples}
		if f.BaseName != out.Name {
			out.Change += "; was " + short(f.BaseName, 60)
		}
	}
	if f.Name != "" {
		out.Head = &FunctionMisses{Misses: f.Misses.Head, Samples: f.HeadSamples}
	}
	return out
}
