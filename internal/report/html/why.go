package html

import (
	"fmt"
	"math"
	"path"
	"strings"

	"profdiff/internal/report/diff"
)

// A metaReason is a reason with the tab of the page that has the evidence, "" for the card of the
// function.
type metaReason struct {
	Text string `json:"text"`
	View string `json:"view,omitempty"`
}

// Link is the fragment that opens the evidence.
func (r *metaReason) Link(function, dso string) string {
	if r.View == "" {
		return functionLink(function, dso)
	}
	view := "#view=" + r.View
	if strings.HasPrefix(r.View, lineView) {
		view += "&" + strings.TrimPrefix(functionLink(function, dso), "#")
	}
	return view
}

// lineView shows a line of head in the source of both sides.
const lineView = "source&line=h"

// reasonsOf are the reasons of a function.
func reasonsOf(f *diff.Function) (list []metaReason) {
	for i := range f.Why {
		x := &f.Why[i]
		r := metaReason{Text: typesetNumbers(x.Text)}
		switch {
		case x.Kind == diff.WhyPrediction:
			r.View = "pipeline"
		case x.Branches:
			r.View = "branches"
		case x.Sources:
			r.View = fmt.Sprintf("%s%d", lineView, x.Line)
		}
		list = append(list, r)
	}
	return list
}

// leastMisses is the share of all misses that a branch has to have more or less for it to be a
// reason.
const leastMisses = 0.01

// addReasons says of the functions of a comparison what sections tell of them: the branch with
// most misses more or less, and what a model predicts of a loop.
func (d *Document) addReasons(sections *Document) {
	if b := sections.Branches; b != nil && b.Head != nil {
		for name, row := range furthest(b) {
			d.because(func(f *diff.Function) bool { return f.Name == name && path.Base(f.DSO) == path.Base(row.DSO) }, missedAt(row))
		}
	}
	if p := sections.Pipeline; p != nil {
		for i := range p.Loops {
			// It is called by its function, and by what tells loops of that apart.
			if l := &p.Loops[i]; l.Base != nil && l.Predicted != nil {
				said := diff.Reason{Kind: diff.WhyPrediction, Text: fmt.Sprintf("predicted ×%.2f", l.Predicted.Value)}
				d.because(func(f *diff.Function) bool { return strings.HasPrefix(l.Name+", ", f.Name+", ") }, said)
			}
		}
	}
}

func missedAt(row *Branch) diff.Reason {
	x := diff.Missed(missesMore(row), "misses", row.Line)
	x.Branches = true
	return x
}

// missesMore is how many more misses a branch has after, 0 if that is not known.
func missesMore(row *Branch) float64 {
	of := func(s *BranchSide) (float64, bool) {
		if s == nil {
			return 0, true // the side does not have the branch
		}
		if s.Misses == nil {
			return 0, false
		}
		return *s.Misses, true
	}
	base, known := of(row.Base)
	head, alsoKnown := of(row.Head)
	if !known || !alsoKnown {
		return 0
	}
	return head - base
}

// furthest are by function the branches whose misses changed most, if that is worth a reason.
func furthest(b *Branches) map[string]*Branch {
	best := make(map[string]*Branch)
	var all [2]float64
	for i := range b.Rows {
		row := &b.Rows[i]
		for k, s := range []*BranchSide{row.Base, row.Head} {
			if s != nil && s.Misses != nil {
				all[k] += *s.Misses
			}
		}
		if old := best[row.Function]; old == nil || math.Abs(missesMore(row)) > math.Abs(missesMore(old)) {
			best[row.Function] = row
		}
	}
	for name, row := range best {
		if !(math.Abs(missesMore(row)) >= leastMisses*max(all[0], all[1])) || missesMore(row) == 0 {
			delete(best, name)
		}
	}
	return best
}

// because adds a reason to functions, in all events.
func (d *Document) because(of func(*diff.Function) bool, r diff.Reason) {
	for i := range d.Events {
		e := d.Events[i].Event
		for j := range e.Functions {
			if f := &e.Functions[j]; of(f) {
				f.Because(r)
			}
		}
	}
}
