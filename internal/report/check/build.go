package check

import (
	"strings"

	"profdiff/internal/budget"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
)

// New makes the document of an outcome. tool names the program and version.
func New(o *budget.Outcome, tool string) *Document {
	d := &Document{
		Schema: Schema, Outcome: o.Verdict, Blocks: o.Blocks, File: o.File, Alpha: o.Alpha, Tests: o.Tests, Tool: tool,
		Budgets: []Budget{}, Discoveries: []Discovery{}, Notes: append([]string{}, o.Notes...),
		Design: Design{
			Turns: o.Design.Turns, RunsBase: o.Design.RunsBase, RunsHead: o.Design.RunsHead, Devices: o.Design.Devices,
			Normalization: o.Design.Normalization, Warnings: append([]string{}, o.Design.Warnings...),
			Base: diff.NewSide(o.Design.Base), Head: diff.NewSide(o.Design.Head),
		},
	}
	if o.Look != stats.OnlyLook {
		d.Look = &Look{int(o.Look), text.Significant(o.Look.Level(o.Alpha)), o.Open()}
	}
	for i := range o.Results {
		d.Budgets = append(d.Budgets, newBudget(&o.Results[i]))
	}
	for _, x := range o.Discoveries {
		d.Discoveries = append(d.Discoveries, Discovery{x.Name, x.DSO, x.Event, text.Number(x.Ratio), text.Interval(x.CI), text.Significant(x.Q)})
	}
	d.Decides = decides(d)
	d.Story = d.tell()
	return d
}

// tell makes the story of the budgets.
func (d *Document) tell() *story.Story {
	var list []story.Budgeted
	for i := range d.Budgets {
		b := story.Budgeted{Name: d.Budgets[i].ID, Decides: strings.HasPrefix(d.Decides, d.Budgets[i].ID+":")}
		if c := d.Budgets[i].Deciding; c != nil && c.Relative && !c.Predicted {
			b.Ratio, b.CI = float64(c.Estimate), c.Range
		}
		list = append(list, b)
	}
	return story.OfLimits(d.Outcome, d.Decides, list)
}

func newBudget(r *budget.Result) Budget {
	b := Budget{
		ID: r.ID, Rule: r.ID, File: r.File, Verdict: r.Verdict, Marks: []string{}, Owner: r.Owner, Waived: r.Has(budget.Waived),
		Functions: append([]string{}, r.Functions...), Line: r.Position.Line, Notes: append([]string{}, r.Notes...), Claims: []Claim{},
		Location: Location{r.Location.Function, r.Location.DSO, r.Location.File, r.Location.Line},
		Numbers:  Numbers{Estimate: text.Missing, CI: []text.Number{}, CIAlpha: []float64{}, Smallest: text.Missing, Base: text.Missing, Head: text.Missing}, Reasons: r.Reasons,
	}
	if r.Budget != nil {
		b.Rule = r.Budget.ID
	}
	for _, m := range r.Marks {
		b.Marks = append(b.Marks, string(m))
	}
	for i, reason := range r.Reasons {
		if i > 0 {
			b.Reason += "; "
		}
		b.Reason += reason
	}
	if w := r.Waiver; w != nil {
		b.Waiver = &Waiver{w.Ceiling.String(), w.Until.String(), w.Issue, w.Reason, w.By}
	}
	for _, c := range r.Claims {
		n := newNumbers(c)
		b.Claims = append(b.Claims, Claim{c.Verdict, c.Reason, n})
		if c == r.Deciding {
			b.Numbers, b.Deciding = n, &n
		}
	}
	if r.Deciding != nil && b.Deciding == nil { // it is none of the claims
		n := newNumbers(r.Deciding)
		b.Deciding = &n
	}
	return b
}

func newNumbers(c *budget.Claim) Numbers {
	n := Numbers{
		Kind: string(c.Kind), Least: c.Least, What: c.What, Unit: c.Unit, Estimate: text.Number(c.Value), CI: []text.Number{text.Number(c.Range.Lo), text.Number(c.Range.Hi)}, CIAlpha: []float64{text.Significant(c.Levels[0]), text.Significant(c.Levels[1])},
		Method: c.Method, RunsNeeded: c.RunsNeeded, Smallest: text.Number(c.Smallest), Base: text.Number(c.Base), Head: text.Number(c.Head),
		RunsBase: c.RunsBase, RunsHead: c.RunsHead, SamplesBase: c.SamplesBase, SamplesHead: c.SamplesHead, Capped: c.Capped,
		Limit: c.Fail, Warn: c.Warn, Range: text.Interval(c.Range), Adjusted: c.Adjusted, FailText: c.FailText, WarnText: c.WarnText,
		Relative: c.Relative(), Predicted: c.Kind == budget.PredictedKind,
	}
	if c.Fail != nil && c.Method != "" {
		p, adjusted := text.Significant(c.P), text.Significant(c.Adjusted)
		n.P, n.PHolm = &p, &adjusted
	}
	return n
}
