package metrics

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// WriteDiff writes a comparison as text: what happened, a table of all statistics of all metrics, up
// to a limit of metrics, 0 for all, and what each says beside its numbers.
func WriteDiff(w io.Writer, d *Diff, limit int) error {
	if err := d.Story.Write(w); err != nil {
		return err
	}
	lines := text.Lines{W: w}
	d.writeSides(&lines)
	shown := d.Metrics
	if limit > 0 && len(shown) > limit {
		shown = shown[:limit]
	}
	if d.Leads != "" {
		lines.Printf("leads    %s", d.Leads)
	}
	lines.Printf("%s", d.summary())
	if lines.Err != nil {
		return lines.Err
	}
	if len(shown) > 0 {
		if err := text.WriteColumns(w, columns(), tableOf(shown)); err != nil {
			return err
		}
	}
	if n := len(d.Metrics) - len(shown); n > 0 {
		lines.Printf("… and %d more metrics; --limit 0 shows all, --metric REGEXP some", n)
	}
	for i := range shown {
		for _, s := range shown[i].remarks(len(shown) > 1) {
			lines.Printf("%s", s)
		}
	}
	for _, s := range notes(shown) {
		lines.Printf("note: %s", s)
	}
	if d.Stall != nil {
		lines.Printf("")
		d.Stall.write(&lines)
	}
	return lines.Err
}

// writeSides says what was compared.
func (d *Diff) writeSides(lines *text.Lines) {
	for _, side := range []struct {
		name string
		in   []Input
	}{{"base", d.Base}, {"head", d.Head}} {
		what := fmt.Sprintf("%s, %s", side.in[0].Path, side.in[0].Format)
		if n := len(side.in); n > 1 {
			what = fmt.Sprintf("%d files, %s … %s, %s", n, side.in[0].Path, side.in[n-1].Path, side.in[0].Format)
		}
		lines.Printf("%-7s  %s", side.name, what)
	}
	for _, warning := range d.Warnings {
		lines.Printf("warning  %s", warning)
	}
	for _, only := range []struct {
		name string
		list []string
	}{{"base", d.OnlyBase}, {"head", d.OnlyHead}} {
		if n := len(only.list); n > 0 {
			lines.Printf("only     %s has %s", only.name, first(only.list))
		}
	}
	if d.Names != "" {
		lines.Printf("names    %s", d.Names)
	}
	for _, side := range [][]Input{d.Base, d.Head} {
		for i := range side {
			for _, l := range side[i].Lost {
				lines.Printf("not read %d of %d of %s: %s", l.Count, side[i].Read, side[i].Path, l.Reason)
			}
		}
	}
	lines.Printf("")
}

func first(list []string) string {
	const most = 3
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), len(list)-most)
}

// summary counts the verdicts.
func (d *Diff) summary() string {
	counts, amounts := make(map[verdict.Verdict]int), make(map[verdict.Verdict]int)
	leads, near, measure := 0, 0, verdict.Time // unless something else has a verdict
	for i := range d.Metrics {
		for _, r := range d.Metrics[i].Rows {
			switch {
			case r.Lead != "":
				leads++
			case r.Method != "" && d.Metrics[i].single && r.mark == "~":
				near++
			case r.Method != "" && r.measure == verdict.Amount && r.said.Changed():
				amounts[r.said]++
			case r.Method != "":
				counts[r.said]++
				if r.measure == verdict.Quality {
					measure = verdict.Quality
				}
			}
		}
	}
	open := counts[verdict.Inconclusive]
	if n := len(counts) + len(amounts); d.Leads != "" && (n == 0 || n == 1 && open > 0) {
		s := fmt.Sprintf("%d %s, %d statistics tested: %d %s, %d within noise", len(d.Metrics), text.Plural(len(d.Metrics), "metric", "metrics"), d.Tested, leads, text.Plural(leads, "lead", "leads"), near)
		if open > 0 {
			s += fmt.Sprintf(", %d %s (?)", open, verdict.Inconclusive.Word(measure))
		}
		return s
	}
	s := fmt.Sprintf("%d %s, %d statistics tested: %s",
		len(d.Metrics), text.Plural(len(d.Metrics), "metric", "metrics"), d.Tested, verdict.Tell(counts, measure, text.RoughPercent(d.Margin)))
	if len(amounts) > 0 {
		of := verdict.Amount
		s += fmt.Sprintf("; %d %s, %d %s where it is not known what is better", amounts[verdict.Improved], verdict.Improved.Word(of), amounts[verdict.Regressed], verdict.Regressed.Word(of))
	}
	if leads+near > 0 {
		s += fmt.Sprintf("; of one run a side %d %s, %d within noise", leads, text.Plural(leads, "lead", "leads"), near)
	}
	return s
}

// A line is a row of the table.
type line struct {
	m   *DiffMetric
	row *Row
	// head is set in the first line of a metric, which names it.
	head bool
}

func tableOf(metrics []DiffMetric) (list []line) {
	for i := range metrics {
		m := &metrics[i]
		named := false
		for j := range m.Rows {
			r := &m.Rows[j]
			if r.Needs > 0 {
				continue // a note says how many values it takes
			}
			list = append(list, line{m, r, !named})
			named = true
		}
	}
	return list
}

func columns() []text.Column[line] {
	return []text.Column[line]{
		text.Left("verdict", func(l line) string { return l.row.mark }),
		text.Left("of", func(l line) string { return l.row.Statistic }),
		text.Right("base", func(l line) string { return l.amount(l.row.Base) }).Spared(5),
		text.Right("head", func(l line) string { return l.amount(l.row.Head) }),
		text.Right("change", func(l line) string { return l.change() }),
		text.Right("95% interval", func(l line) string { return l.interval() }),
		text.Right("shows", func(l line) string { return l.shows() }).Spared(1),
		text.Right("runs", func(l line) string {
			if !l.head {
				return ""
			}
			return fmt.Sprintf("%d+%d", l.m.RunsBase, l.m.RunsHead)
		}).Spared(4),
		text.Right("values", func(l line) string {
			if !l.head {
				return ""
			}
			return fmt.Sprintf("%s+%s", text.Count(int64(l.m.ValuesBase)), text.Count(int64(l.m.ValuesHead)))
		}).Spared(2),
		text.Left("better", func(l line) string {
			switch {
			case l.row.share:
				return "lower"
			case !l.head:
				return ""
			}
			return l.m.Direction
		}).Spared(3),
		text.Names("metric", func(l line) string {
			if !l.head {
				return ""
			}
			return l.m.Name
		}),
	}
}

func (l line) amount(v text.Number) string {
	if l.row.share {
		return text.Share(float64(v), 1)
	}
	return text.Amount(float64(v), l.m.Unit)
}

func (l line) change() string {
	r := float64(l.row.Ratio)
	switch {
	case math.IsNaN(r) || !l.row.Ratio.Known() && !math.IsInf(r, 1):
		return "-"
	case math.IsInf(r, 1):
		return "new"
	case r == 0 && l.row.share:
		return "gone"
	}
	return changed(r)
}

func changed(r float64) string {
	switch {
	case math.IsInf(r, 1):
		return "∞"
	case r >= 100:
		return fmt.Sprintf("×%.3g", r)
	}
	s := fmt.Sprintf("%+.1f%%", 100*(r-1))
	if s == "-0.0%" || s == "+0.0%" {
		return "0.0%"
	}
	return s
}

func (l line) interval() string {
	lo, hi := l.row.CI.Lo, l.row.CI.Hi
	switch {
	case math.IsNaN(lo):
		return "-"
	case lo <= 0 && math.IsInf(hi, 1):
		return "[unknown]"
	}
	return fmt.Sprintf("[%s, %s]", changed(lo), changed(hi))
}

func (l line) shows() string {
	v := float64(l.row.Smallest)
	switch {
	case !l.row.Smallest.Known() || v <= 0 || l.row.share:
		return "-"
	case v > 10:
		return "±>1000%"
	case v < 0.1:
		return fmt.Sprintf("±%.1f%%", 100*v)
	}
	return fmt.Sprintf("±%.0f%%", 100*v)
}

// remarks are what a metric says beside its numbers.
func (m *DiffMetric) remarks(several bool) (list []string) {
	name := ""
	if several {
		name = m.Name + ": "
	}
	for _, s := range []string{m.Lacks, m.Where} {
		if s != "" {
			list = append(list, name+s)
		}
	}
	for i := range m.Tails {
		list = append(list, name+m.Tails[i].text(m.Unit, m.Direction))
	}
	return list
}

// text says which runs hold the worst values.
func (t *Tail) text(unit, direction string) string {
	worst, relation := "slowest", "≥"
	switch {
	case direction == "higher":
		worst, relation = "lowest", "≤"
	case unit != "nanoseconds":
		worst = "highest"
	}
	var runs []string
	for _, r := range t.Worst {
		s := fmt.Sprintf("%d in %s", r.Values, cmp.Or(r.Recording, r.Run))
		if r.Worst.Known() {
			s += fmt.Sprintf(" (%s)", text.Amount(float64(r.Worst), unit))
		}
		runs = append(runs, s)
	}
	return fmt.Sprintf("%s %s%% of %s (%s %s) are in %d of %d runs: %s", worst, strconv.FormatFloat(100*(1-t.Part), 'g', 2, 64), t.Side, relation, text.Amount(float64(t.Bound), unit), t.Runs, t.Of, strings.Join(runs, ", "))
}

// notes say how to read the table, each once.
func notes(metrics []DiffMetric) (list []string) {
	add := func(s string) {
		if s != "" && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	needs, has := make(map[string]int), math.MaxInt
	runs, unknown := false, (*DiffMetric)(nil)
	for i := range metrics {
		m := &metrics[i]
		add(m.Assumed)
		if m.Each != "" {
			add(fmt.Sprintf("a value is %s: quantiles are of these, not of single operations", m.Each))
		}
		if m.Direction == "unknown" && unknown == nil {
			unknown = m
		}
		runs = runs || m.Assumed == "" && m.Lacks == ""
		for _, r := range m.Rows {
			if r.Needs > 0 {
				needs[r.Statistic] = r.Needs
				has = min(has, r.Has)
			}
		}
	}
	if slices.ContainsFunc(metrics, func(m DiffMetric) bool { return m.single && m.tested() > 0 }) {
		add("▽ is less and △ more, with the distance from the noise within a run; the number of tests is corrected for; ~ is within noise")
	}
	if runs {
		add("95% intervals cover noise between runs")
	}
	var parts []string
	for _, q := range []string{"p50", "p90", "p95", "p99"} {
		if needs[q] > 0 {
			parts = append(parts, fmt.Sprintf("%s needs at least %d", q, needs[q]))
		}
	}
	if len(parts) > 0 {
		least := "a side has"
		if len(metrics) > 1 {
			least = "the metric with fewest has"
		}
		add(fmt.Sprintf("%s values a side; %s %d", strings.Join(parts, ", "), least, has))
	}
	if unknown != nil {
		add(fmt.Sprintf("whether less or more is better is not known of %s: --better '%s=lower' or =higher says it", unknown.Name, cmp.Or(unknown.quantity, unknown.Name)))
	}
	return list
}

// write says what a transfer waits, and what that takes for granted.
func (s *Stall) write(lines *text.Lines) {
	ns := func(v text.Number) string { return text.Amount(float64(v), "nanoseconds") }
	lines.Printf("stall: %s for each transfer of %s%s, %.0f%% of its time", ns(s.Cost), s.size, s.interval(), 100*s.Share)
	lines.Printf("  before %s: %s a transfer; after %s: %s; the difference is the stall, if the side %s waits once in each",
		text.Amount(float64(s.Before), "bits/second"), ns(s.TookBefore), text.Amount(float64(s.After), "bits/second"), ns(s.TookAfter), s.Slow)
	lines.Printf("  at most %s, if the transfer itself took no time", ns(s.Most))
	if s.Unknown != "" {
		lines.Printf("  %s", s.Unknown)
	}
	lines.Printf("  assumes that transfers follow one another, and that each moves %s: one of half the size waits for half as long", s.size)
}

func (s *Stall) interval() string {
	if math.IsNaN(s.CostCI.Lo) {
		return ""
	}
	return fmt.Sprintf(" [%s, %s]", text.Amount(s.CostCI.Lo, "nanoseconds"), text.Amount(s.CostCI.Hi, "nanoseconds"))
}

// WriteStall writes what transfers wait, as text or as JSON.
func WriteStall(w io.Writer, d *Stall, asJSON bool) error {
	if asJSON {
		return text.WriteJSON(w, d)
	}
	lines := text.Lines{W: w}
	d.write(&lines)
	return lines.Err
}

// WriteDiffJSON writes a comparison as JSON: see diff.schema.json.
func WriteDiffJSON(w io.Writer, d *Diff) error { return text.WriteJSON(w, d) }

// maxMarkdownMetrics is how many metrics a pull request gets.
const maxMarkdownMetrics = 15

// WriteDiffMarkdown writes a comparison as GitHub Flavored Markdown for a pull request.
func WriteDiffMarkdown(w io.Writer, d *Diff) error {
	lines := text.Lines{W: w}
	if len(d.Story.Sentences) > 0 {
		lines.Printf("%s", text.MarkdownStory(d.Story.Word, d.Story.Texts()))
		lines.Printf("")
	}
	lines.Printf("**Metrics**: %s", d.summary())
	if d.Leads != "" {
		lines.Printf("")
		lines.Printf("%s", text.MarkdownProse(d.Leads, 1000))
	}
	lines.Printf("")
	shown := d.Metrics[:min(len(d.Metrics), maxMarkdownMetrics)]
	lines.Printf("| verdict | metric | of | base | head | change | 95%% interval |")
	lines.Printf("| --- | --- | --- | ---: | ---: | ---: | --- |")
	for _, l := range tableOf(shown) {
		lines.Printf("| %s | %s | %s | %s | %s | %s | %s |", l.row.mark, text.MarkdownCell(text.MarkdownCode(l.m.Name, text.MaxName)), l.row.Statistic, l.amount(l.row.Base), l.amount(l.row.Head), l.change(), l.interval())
	}
	lines.Printf("")
	if n := len(d.Metrics) - len(shown); n > 0 {
		lines.Printf("… and %d more metrics", n)
		lines.Printf("")
	}
	for i := range shown {
		m := &shown[i]
		for _, s := range m.remarks(false) {
			lines.Printf("* %s: %s", text.MarkdownCode(m.Name, text.MaxName), text.MarkdownProse(s, 1000))
		}
	}
	if d.Names != "" {
		lines.Printf("* %s", text.MarkdownProse(d.Names, 1000))
	}
	for _, s := range notes(shown) {
		lines.Printf("* %s", text.MarkdownProse(s, 1000))
	}
	return lines.Err
}
