package branches

import (
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// tell says what the branches of both sides show: how many misses there are in all, and which branches
// make up the difference.
func (d *DiffDocument) tell() *story.Story {
	f := &story.Facts{Margin: d.Margin}
	switch {
	case len(d.Different) > 0:
		f.Untested = "Nothing can be said of the program: " + d.Different[0]
	case d.Total != nil:
		f.Events = []story.Event{d.event()}
	}
	return story.Tell(f)
}

// event is of all misses, with branches as parts, or functions where samples tell no branch.
func (d *DiffDocument) event() story.Event {
	e := story.Event{
		Label: "branch misses", Plural: true, Per: "per " + d.Normalization.Unit, CPU: true, PartsAre: "branch",
		Total: d.change(d.Total, story.About{Kind: story.Total}, "", -1),
	}
	if len(d.Branches) == 0 {
		e.PartsAre = "function"
	}
	switch {
	case d.Normalization.Mode == PerEntry:
		e.NoTotal = "how often branches were executed is not known"
	case d.Total.Finding.Withheld:
		e.Withheld = verdict.BlockedWarning
	}
	for i := range d.Branches {
		b := &d.Branches[i]
		samples := int64(-1)
		for _, s := range []*DiffSide{b.Base, b.Head} {
			if s != nil && !d.Counted {
				samples = max(samples, 0) + s.NMisses
			}
		}
		p := b.Either()
		c := d.change(&b.Misses, story.About{Kind: story.Branch, Name: p.where(), DSO: p.DSO}, p.where(), samples)
		c.Verdict = b.Verdict
		e.Parts = append(e.Parts, c)
	}
	for i := range d.Functions {
		f := &d.Functions[i]
		name := f.Name
		if name == "" {
			name = f.BaseName
		}
		e.Parts = append(e.Parts, d.change(&f.Misses, story.About{Kind: story.Function, Name: name, DSO: f.DSO}, name, f.BaseSamples+f.HeadSamples))
	}
	return e
}

// mostOfPlace is how wide a branch is in a sentence.
const mostOfPlace = 80

func (d *DiffDocument) change(c *DiffChange, a story.About, label string, samples int64) story.Change {
	f := &c.Finding
	out := story.Change{
		About: a, Measure: verdict.Amount, Unit: "count", Base: c.Base, Head: c.Head, Ratio: float64(c.Ratio), CI: text.Interval(f.CI), Verdict: f.Verdict,
		Exact: d.Counted, Single: !d.Counted && len(d.Base) == 1 && len(d.Head) == 1, Capped: f.Capped, Strength: f.Strength(), WithinNoise: f.WithinNoise(), RunsNeeded: f.RunsNeeded,
		Samples: samples, Label: text.Elide(text.Printable(label), mostOfPlace),
	}
	if out.Verdict.Changed() && c.Head == 0 {
		out.Ratio = 0
	}
	return out
}
