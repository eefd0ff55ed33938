package metrics

import (
	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// A Line is a row of the table of a comparison, as it is read.
type Line struct {
	// Name is the metric with the statistic. What is not known is "-".
	Name, Base, Head, Delta, Change, Interval string
	Ratio                                     float64
	CI                                        text.Interval
	// Verdict is by what is better, Word what people read, or that it is a lead.
	Verdict verdict.Verdict
	Word    string
	Lead    verdict.Lead
}

// Lines are the rows of all metrics, as far as there are values enough.
func (d *Diff) Lines() (list []Line) {
	for _, l := range tableOf(d.Metrics) {
		r := l.row
		out := Line{
			Name: l.m.Name + " " + r.Statistic, Base: l.amount(r.Base), Head: l.amount(r.Head), Delta: "-", Change: l.change(), Interval: l.interval(),
			Ratio: float64(r.Ratio), CI: r.CI, Verdict: r.said, Word: r.said.Word(r.measure), Lead: verdict.Lead(r.Lead),
		}
		if r.Base.Known() && r.Head.Known() {
			if out.Delta = l.amount(r.Head - r.Base); r.Head > r.Base {
				out.Delta = "+" + out.Delta
			}
		}
		switch {
		case l.m.single && r.Lead != "":
			out.Word = "lead: " + r.Lead
		case l.m.single:
			out.Verdict, out.Word = verdict.Inconclusive, "within noise"
		}
		list = append(list, out)
	}
	return list
}

// Remarks say of each metric what its numbers do not: why nothing was compared, where the change
// sits, and which runs hold the worst values.
func (d *Diff) Remarks() (list []string) {
	for i := range d.Metrics {
		list = append(list, d.Metrics[i].remarks(len(d.Metrics) > 1)...)
	}
	return append(list, notes(d.Metrics)...)
}

// Summary counts the verdicts.
func (d *Diff) Summary() string { return d.summary() }
