package html

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"profdiff/internal/report/branches"
	"profdiff/internal/report/diff"
	"profdiff/internal/verdict"
)

// FromBranchDiff is the page of the branches of two sides.
func FromBranchDiff(c *branches.DiffDocument, opt Options) *Document {
	d := &Document{
		Title: "Branches", Base: opt.inputs(c.Base), Head: opt.inputs(c.Head), Tool: opt.Tool,
		Branches: &Branches{Base: opt.branchSource(c.Runs[0][0]), Head: opt.branchSource(c.Runs[1][0]), Hidden: c.Hidden, Code: c.Code}, options: opt,
	}
	for _, x := range slices.Concat(c.Base, c.Head) {
		d.files = append(d.files, x.Path)
	}
	for i := range c.Branches {
		d.Branches.Rows = append(d.Branches.Rows, branchChange(&c.Branches[i]))
	}
	for i := range c.Functions {
		d.Branches.Functions = append(d.Branches.Functions, functionChange(&c.Functions[i]))
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

func branchDiffVerdict(c *branches.DiffDocument) Verdict {
	v := Verdict{Outcome: Info}
	if len(c.Different) > 0 {
		v.Outcome = verdict.Inconclusive
	}
	if t := c.Total; t != nil {
		ch := missesOf(t)
		v.Sentence = fmt.Sprintf("Branch misses per %s, %s: %s → %s, %s", c.Normalization.Unit, c.Tier.Describe(), weight(t.Base, "count"), weight(t.Head, "count"), relative(ch))
		if !c.Counted && known(&ch.CI) {
			v.Sentence += fmt.Sprintf(" [95"+thin+"%% interval %s to %s"+thin+"%%]", percent(ch.CI.Lo), percent(ch.CI.Hi))
		}
	}
	what := "Misses of branches: "
	if len(c.Functions) > 0 {
		what = "Misses of branches and functions: "
	}
	of := "No branch has the misses that it takes to say anything"
	if verdicts := c.Verdicts(true); verdicts != "" {
		of = what + verdicts
	}
	if v.Sentence == "" {
		v.Sentence = of
	} else {
		v.Ground = append(v.Ground, of+".")
	}
	v.Ground = append(v.Ground, largestMissChanges(c)...)
	v.Ground = append(v.Ground, fmt.Sprintf("%s before, %d after: %s (tier %s).", plural(len(c.Base), "run"), len(c.Head), c.Tier.Describe(), c.Tier))
	if c.Counted {
		v.Ground = append(v.Ground, "A simulator counted: there are no tests.")
	}
	return v
}

// largestMissChanges names the branches whose misses grew and shrank most, of those that
// were shown to.
func largestMissChanges(c *branches.DiffDocument) (list []string) {
	var grew, shrank *branches.DiffBranch
	for i := range c.Branches {
		b := &c.Branches[i]
		d := b.Misses.Delta
		switch b.Verdict {
		case verdict.Regressed, verdict.New:
			if grew == nil || d > grew.Misses.Delta {
				grew = b
			}
		case verdict.Improved, verdict.Removed:
			if shrank == nil || d < shrank.Misses.Delta {
				shrank = b
			}
		}
	}
	for _, x := range []struct {
		word string
		b    *branches.DiffBranch
	}{{"Largest growth", grew}, {"Largest reduction", shrank}} {
		if x.b != nil {
			row := branchChange(x.b)
			list = append(list, fmt.Sprintf("%s: %s %s (%s → %s).", x.word, short(row.Function, 80), row.Place, weight(x.b.Misses.Base, "count"), weight(x.b.Misses.Head, "count")))
		}
	}
	return list
}

// addBranchCards are the misses, and the cycles that they cost.
func (d *Document) addBranchCards(c *branches.DiffDocument) {
	if t := c.Total; t != nil {
		ch := missesOf(t)
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
		Change: fmt.Sprintf("[%s, %s]", signed(float64(s.Predicted.CI[0])), signed(float64(s.Predicted.CI[1]))), Outcome: Info,
		Note: fmt.Sprintf("at %.3g to %.3g cycles a miss (%s)", s.MissCost.Lo, s.MissCost.Hi, s.MissCost.Source),
	}
	if s.Measured != nil {
		card.Note += fmt.Sprintf("; measured %s: %s", signed(*s.Measured), s.Finding)
	}
	d.Cards = append(d.Cards, card)
}

func (o *Options) inputs(list []branches.Input) string {
	if len(list) == 1 {
		return o.name(list[0].Path)
	}
	return o.name(list[0].Path) + " … " + o.name(list[len(list)-1].Path)
}

func branchChange(b *branches.DiffBranch) Branch {
	side := b.Head
	if side == nil {
		side = b.Base
	}
	row := placeOf(&side.Place)
	of := func(s *branches.DiffSide) *BranchSide {
		if s == nil {
			return nil
		}
		out := branchSide(s.First)
		out.Misses, out.Executed, out.N = finite(s.Misses), finiteOf(s.Executed), s.N
		return out
	}
	row.Base, row.Head, row.Code = of(b.Base), of(b.Head), b.Code
	if b.Base != nil && b.Base.Line != row.Line {
		row.BaseLine = b.Base.Line
	}
	row.Verdict = b.Verdict
	row.Change = missChange(&b.Misses)
	if b.Note != "" {
		row.Change += "; " + b.Note
	}
	if f := &b.Misses.Finding; f.Tested {
		row.Adjusted = f.Adjusted
	}
	return row
}

// missesOf is a change of misses as one of costs.
func missesOf(c *branches.DiffChange) *diff.Change {
	return changeOf(c.Base, c.Head, c.Finding.Ratio, c.Finding.CI)
}

// missChange is a change of misses in words. Of what one side alone has there is no
// ratio.
func missChange(c *branches.DiffChange) string {
	ch, v := missesOf(c), c.Finding.Verdict
	if ch.CI.Lo == ch.CI.Hi { // counted
		ch.CI.Lo, ch.CI.Hi = 0, math.Inf(1)
	}
	switch v {
	case verdict.New, verdict.Removed:
		return v.Word(verdict.Amount)
	case verdict.Improved, verdict.Regressed:
		return strings.TrimSpace("misses " + relative(ch) + " " + interval(ch))
	}
	return strings.TrimSpace(v.Word(verdict.Amount) + ": misses " + relative(ch) + " " + interval(ch))
}

func functionChange(f *branches.FunctionDiff) BranchFunction {
	out := BranchFunction{Name: f.Name, DSO: path.Base(f.DSO), PMU: f.Core, Verdict: f.Verdict, Change: missChange(&f.Misses)}
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
