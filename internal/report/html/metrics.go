package html

import (
	"slices"
	"strings"

	"profdiff/internal/report/metrics"
	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// A Metric is a statistic of a metric on both sides, written.
type Metric struct {
	Name     string          `json:"name"`
	Base     string          `json:"base"`
	Head     string          `json:"head"`
	Delta    string          `json:"delta"`
	Change   string          `json:"change"`
	Interval string          `json:"interval"`
	Verdict  verdict.Verdict `json:"verdict"`
	Word     string          `json:"word"`
	Lead     string          `json:"lead,omitempty"`
	Ratio    *float64        `json:"ratio"`
	Lo       *float64        `json:"lo"`
	Hi       *float64        `json:"hi"`
}

// maxMetrics is how many rows a page has.
const maxMetrics = 60

// FromMetrics is the page of a comparison of metrics.
func FromMetrics(m *metrics.Diff, opt Options) *Document {
	d := &Document{Title: "Comparison of metrics", Tool: opt.Tool, options: opt}
	sides := [2]*string{&d.Base, &d.Head}
	for i, list := range [][]metrics.Input{m.Base, m.Head} {
		for k := range list {
			d.files = append(d.files, list[k].Path)
		}
		if len(list) > 0 {
			*sides[i] = opt.name(list[0].Path)
			if n := len(list); n > 1 {
				*sides[i] += " … " + opt.name(list[n-1].Path)
			}
		}
	}
	if m.Story != nil {
		d.Verdict.tell(m.Story, &opt)
	}
	d.Verdict.Ground = append(d.Verdict.Ground, m.Summary()+".")
	if m.Leads != "" {
		d.Verdict.Ground = append(d.Verdict.Ground, title(m.Leads)+".")
	}
	d.Warnings = slices.Clone(m.Warnings)
	lines := m.Lines()
	for _, l := range lines[:min(len(lines), maxMetrics)] {
		d.Metrics = append(d.Metrics, Metric{
			Name: l.Name, Base: typeset(l.Base), Head: typeset(l.Head), Delta: typeset(l.Delta), Change: typeset(l.Change), Interval: typeset(l.Interval),
			Verdict: l.Verdict, Word: l.Word, Lead: string(l.Lead), Ratio: finite(l.Ratio), Lo: finite(l.CI.Lo), Hi: finite(l.CI.Hi),
		})
	}
	for _, r := range m.Remarks() {
		d.Remarks = append(d.Remarks, typesetNumbers(r))
	}
	if n := len(lines) - len(d.Metrics); n > 0 {
		d.Remarks = append(d.Remarks, plural(n, "more row")+" in the output of profdiff diff.")
	}
	return d
}

// metrics are the tables of metrics, what was decided first, nil if there are none.
func (m *meta) metrics() *moversView {
	if len(m.Metrics) == 0 {
		return nil
	}
	v := &moversView{Only: "Verdicts are on all rows together, as one family"}
	t := moversTable{Title: "Metrics", What: "Metric"}
	rank := func(x *Metric) int {
		switch {
		case x.Verdict.Changed() && x.Verdict.Better() == m.Verdict.Outcome.Better():
			return 0
		case x.Verdict.Changed():
			return 1
		case x.Lead != "":
			return 2
		}
		return 3
	}
	list := slices.Clone(m.Metrics)
	slices.SortStableFunc(list, func(a, b Metric) int { return rank(&a) - rank(&b) })
	words := []string{}
	for i := range list {
		x := &list[i]
		at := slices.Index(words, x.Word)
		if at < 0 {
			at, words = len(words), append(words, x.Word)
			mark := x.Verdict.Sign()
			if x.Lead != "" {
				mark = verdict.Lead(x.Lead).Sign()
			}
			t.Groups = append(t.Groups, moversGroup{Title: title(x.Word), Mark: mark, Class: x.Verdict})
		}
		g := &t.Groups[at]
		row := moverRow{Name: x.Name, Short: text.Elide(x.Name, nameRoom), Base: x.Base, Head: x.Head, Delta: x.Delta, Change: x.Change, Interval: strings.TrimSuffix(x.Interval, "–")}
		if row.Narrow = text.Elide(x.Name, narrowRoom); row.Narrow == row.Short {
			row.Narrow = ""
		}
		if g.Class.Changed() {
			row.Mark = g.Mark
		}
		j := jsonChange{Base: 1, Head: 1, Ratio: x.Ratio, Lo: x.Lo, Hi: x.Hi}
		row.Bar = barOf(j.change(), mostReach)
		g.Rows = append(g.Rows, row)
	}
	v.Tables, v.Ends = []moversTable{t}, barEnds(mostReach)
	return v
}
