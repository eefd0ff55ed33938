package metrics

import (
	"math"
	"slices"
	"strings"

	"profdiff/internal/metric"
	"profdiff/internal/metric/diff"
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// NewDiff makes the document of a comparison of the files of two sides.
func NewDiff(c *diff.Comparison, base, head []*metric.Set, declared bool) *Diff {
	d := &Diff{
		Schema: DiffSchema, Base: []Input{}, Head: []Input{}, Margin: c.Margin, Tested: c.Tested, Declared: declared, Metrics: []DiffMetric{},
		OnlyBase: append([]string{}, c.Only[0]...), OnlyHead: append([]string{}, c.Only[1]...), Names: c.Names, Warnings: append([]string{}, c.Units...),
	}
	for _, s := range base {
		d.Base = append(d.Base, newInput(s))
	}
	for _, s := range head {
		d.Head = append(d.Head, newInput(s))
	}
	for i := range c.Metrics {
		d.Metrics = append(d.Metrics, newDiffMetric(&c.Metrics[i]))
	}
	single := slices.ContainsFunc(d.Metrics, func(m DiffMetric) bool { return m.single && m.tested() > 0 })
	verdicts := slices.ContainsFunc(d.Metrics, func(m DiffMetric) bool { return !m.single && m.tested() > 0 })
	switch {
	case single && verdicts:
		d.Leads = "of metrics with one run a side there are leads, no verdicts; several files a side recorded in turns would decide"
	case single:
		d.Leads = verdict.NoVerdicts + "; several files a side recorded in turns would decide"
	}
	d.Story = d.tell()
	return d
}

// tell makes the story of the metrics.
func (d *Diff) tell() *story.Story {
	var list []story.Measured
	for i := range d.Metrics {
		m := &d.Metrics[i]
		x := story.Measured{Where: m.Where}
		for j := range m.Rows {
			r := &m.Rows[j]
			if !r.Ratio.Known() || r.Needs > 0 {
				continue
			}
			x.Rows = append(x.Rows, story.Change{
				About: story.About{Kind: story.Metric, Name: m.Name}, Label: r.Statistic + " of " + m.Name, Mean: r.Statistic == "mean",
				Measure: r.measure, Values: true, Unit: m.Unit, Share: r.share, Base: float64(r.Base), Head: float64(r.Head),
				Ratio: float64(r.Ratio), CI: r.CI, Verdict: r.said, Strength: verdict.Strength{Lead: verdict.Lead(r.Lead), Distance: float64(r.Distance)}, RunsNeeded: r.RunsNeeded, Samples: -1,
			})
		}
		list = append(list, x)
	}
	leads := ""
	if d.Leads != "" {
		_, leads, _ = strings.Cut(d.Leads, "; ")
	}
	return story.OfMetrics(list, d.Margin, leads)
}

// tested is how many rows were.
func (m *DiffMetric) tested() (n int) {
	for _, r := range m.Rows {
		if r.P.Known() {
			n++
		}
	}
	return n
}

func newDiffMetric(m *diff.Metric) DiffMetric {
	x := DiffMetric{
		Name: m.Name, Unit: string(m.Unit), Direction: m.Direction.String(), Why: m.Why, Each: m.Each, RunsBase: m.Runs[0], RunsHead: m.Runs[1],
		ValuesBase: m.Values[0], ValuesHead: m.Values[1], Assumed: m.Assumed, Lacks: m.Lacks, Where: m.Where, Rows: []Row{}, Tails: []Tail{}, quantity: m.Quantity, single: m.Single(),
	}
	for i := range m.Rows {
		x.Rows = append(x.Rows, newRow(m, &m.Rows[i]))
	}
	for _, t := range m.Tails {
		tail := Tail{Side: "base", Part: t.Part, Bound: text.Number(t.Bound), Values: t.Values, Runs: t.Runs, Of: t.Of, Worst: []TailRun{}}
		if t.Side == 1 {
			tail.Side = "head"
		}
		for _, r := range t.Worst {
			tail.Worst = append(tail.Worst, TailRun{r.Run, r.Values, text.Number(r.Worst), r.Recording})
		}
		x.Tails = append(x.Tails, tail)
	}
	return x
}

func newRow(m *diff.Metric, r *diff.Row) Row {
	f := &r.Finding
	row := Row{
		Statistic: r.Statistic, Base: text.Number(r.Base.Value), BaseCI: text.Interval(r.Base.CI), Head: text.Number(r.Head.Value), HeadCI: text.Interval(r.Head.CI),
		Ratio: text.Number(f.Ratio), CI: text.Interval(f.CI), Verdict: string(r.Verdict), P: text.Number(text.Significant(f.P)), Adjusted: text.Number(text.Significant(f.Adjusted)),
		Method: string(f.Method), RunsNeeded: f.RunsNeeded, Smallest: text.Number(f.Smallest), Needs: r.Needs, Has: r.Has, share: r.Share,
		measure: m.Measure(r), Lead: string(f.Lead), Distance: text.Missing,
	}
	if f.Lead != verdict.NoLead {
		row.Distance = text.Number(text.Significant(f.Distance))
	}
	said := *f
	if row.measure != verdict.Amount { // by what is better, not by what is less
		said.Verdict = r.Verdict
	}
	row.said, row.mark = said.Verdict, said.Text(row.measure)
	if !f.Tested {
		row.P, row.Adjusted, row.Smallest = text.Missing, text.Missing, text.Missing
		row.CI = text.Interval(stats.Interval{Lo: math.NaN(), Hi: math.NaN()})
	}
	return row
}

// NewStall makes the document of what transfers wait.
func NewStall(s *diff.Stall) *Stall {
	sides := []string{"before", "after"}
	return &Stall{
		Metric: s.Metric, Bytes: s.Size, Before: text.Number(s.Rates[0].Value), BeforeCI: text.Interval(s.Rates[0].CI),
		After: text.Number(s.Rates[1].Value), AfterCI: text.Interval(s.Rates[1].CI), TookBefore: text.Number(s.Took[0].Value), TookAfter: text.Number(s.Took[1].Value),
		Slow: sides[s.Slow], Cost: text.Number(s.Cost.Value), CostCI: text.Interval(s.Cost.CI), Share: s.Share, Most: text.Number(s.Most),
		Unknown: s.Unknown, RunsBefore: s.Runs[0], RunsAfter: s.Runs[1], size: s.Text,
	}
}
