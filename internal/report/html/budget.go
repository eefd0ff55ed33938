package html

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/report/check"
	"profdiff/internal/report/diff"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// AddOutcome adds what a budget file says, which is then the verdict of the document. If
// nothing was compared, base and head are the recordings.
func (d *Document) AddOutcome(o *check.Document, base, head diff.Side, opt Options) {
	d.Title, d.options = "Performance budget", opt
	d.addFiles(&base, &head)
	if d.Tool == "" {
		d.Tool = opt.Tool
	}
	measured := d.Verdict
	if len(d.Runs) == 0 {
		for i, side := range []*diff.Side{&base, &head} {
			for k := range side.Runs {
				d.Runs = append(d.Runs, opt.run(&side.Runs[k], i == 1))
			}
		}
		if len(base.Runs) > 0 && len(head.Runs) > 0 {
			d.Base, d.Head = opt.side(&base), opt.side(&head)
		} else if len(head.Runs) > 0 {
			d.Base = opt.side(&head)
		}
	}
	d.Verdict = Verdict{Outcome: o.Outcome, Word: o.Outcome.Word(verdict.Amount), Sentence: opt.text(o.Decides)}
	for _, x := range o.Story.Sentences[1:] {
		x.Text = typesetNumbers(opt.text(x.Text))
		d.Verdict.More = append(d.Verdict.More, x)
	}
	for i := range o.Budgets {
		d.Budgets = append(d.Budgets, budgetOf(&o.Budgets[i]))
	}
	if measured.Sentence != "" {
		d.Verdict.Ground = append(d.Verdict.Ground, "The comparison itself, which has no limits: "+measured.Sentence+".") // whose outcome may be another
		for _, s := range measured.More {
			d.Verdict.Ground = append(d.Verdict.Ground, s.Text)
		}
		d.Verdict.Ground = append(d.Verdict.Ground, measured.Ground...)
	}
	for _, n := range o.Notes {
		d.Facts = append(d.Facts, Fact{"note", opt.text(n)})
	}
	for _, w := range o.Design.Warnings {
		if w = opt.text(w); !slices.Contains(d.Warnings, w) {
			d.Warnings = append(d.Warnings, w)
		}
	}
}

func budgetOf(r *check.Budget) Budget {
	b := Budget{Name: r.ID, Limit: "–", Measured: "–", Outcome: r.Verdict}
	reasons := append([]string(nil), r.Reasons...)
	reasons = append(reasons, r.Marks...)
	if c := r.Deciding; c != nil {
		write := func(v float64) string {
			switch {
			case math.IsNaN(v):
				return "–"
			case c.Relative:
				return percent(v) + thin + "%"
			case c.Unit == "percent":
				return share(v)
			}
			return weight(v, c.Unit)
		}
		b.Measured = write(float64(c.Estimate))
		if bound := c.Bound(r.Verdict, write); bound != "-" {
			b.Interval = minus(bound)
		}
		if c.Predicted {
			b.Interval = ""
			if c.Unit != "" {
				b.Measured += " " + c.Unit + ", predicted"
			}
			what := c.What
			if c.Range.Lo < c.Range.Hi {
				what += fmt.Sprintf(", %s to %s over several walks", write(c.Range.Lo), write(c.Range.Hi))
			}
			reasons = append(reasons, what)
		}
		b.Limit = minus(c.FailText)
		if c.FailText == "" && c.WarnText != "" {
			b.Limit = "warn " + minus(c.WarnText)
		}
		if c.RunsNeeded > 0 && r.Verdict == verdict.Inconclusive {
			n := plural(c.RunsNeeded, "run")
			if c.RunsNeeded >= stats.MaxRuns {
				n += " and more"
			}
			reasons = append(reasons, "about "+n+" a side would decide")
		}
	}
	b.Reason = strings.Join(reasons, "; ")
	return b
}
