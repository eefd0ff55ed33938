package html

import (
	"slices"
	"strings"
)

// qualityName is the card that stands last.
const qualityName = "Data quality"

// Add adds the sections of another document that d does not have. The verdict of d stays;
// under it stands the verdict of the other, with the first thing that it rests on.
func (d *Document) Add(other *Document) {
	if s := other.Verdict.Sentence; s != "" {
		ground := other.Verdict.Ground
		d.Also = append(d.Also, Fact{other.Title, strings.Join(append([]string{s + "."}, ground[:min(len(ground), 1)]...), " ")})
	}
	d.files = append(d.files, other.files...)
	for _, w := range other.Warnings {
		d.Warnings = append(d.Warnings, other.Title+": "+w)
	}
	isQuality := func(c Card) bool { return c.Name == qualityName }
	at := slices.IndexFunc(d.Cards, isQuality)
	if at < 0 {
		at = len(d.Cards)
	}
	d.Cards = slices.Insert(d.Cards, at, slices.DeleteFunc(slices.Clone(other.Cards), isQuality)...)
	for _, f := range other.Facts {
		d.Facts = append(d.Facts, Fact{other.Title + ": " + f.Name, f.Text})
	}
	if d.Branches == nil {
		d.Branches = other.Branches
	}
	if d.Pipeline == nil {
		d.Pipeline = other.Pipeline
	}
	d.addReasons(other)
}
