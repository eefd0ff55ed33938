package diff

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"profdiff/internal/align"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// Limits of a comparison as Markdown. GitHub refuses comments of more characters.
const (
	maxMarkdownLines      = 60
	maxMarkdownCharacters = 65536
	maxMarkdownRows       = 8
	minMarkdownRows       = 2 // a table of less is left out
	maxMarkdownWarnings   = 5
	maxMarkdownWarning    = 300 // runes
	maxMarkdownEvents     = 20
	maxMarkdownParts      = 4 // of a cost shift
	maxMarkdownPart       = 40
	maxMarkdownDSO        = 40
	maxMarkdownCommand    = 4000
)

// WriteMarkdown writes a comparison as GitHub Flavored Markdown for a pull request:
// a verdict per event, warnings, and the functions that cost less and more. It has
// at most 60 lines: with many events tables are shorter, then left out.
func WriteMarkdown(w io.Writer, c *Document, opt Options) error {
	d := &markdownDiff{c: c, opt: opt}
	for i := range c.Events {
		if i == maxMarkdownEvents {
			break
		}
		d.events = append(d.events, d.event(&c.Events[i]))
	}
	_, err := io.WriteString(w, d.fitting())
	return err
}

// A markdownDiff is a comparison and what of it fits.
type markdownDiff struct {
	c      *Document
	opt    Options
	events []markdownEvent
	// shown is how many events are shown, tables how many of them have tables, and rows
	// how many rows each table has.
	shown, tables, rows int
}

// A markdownEvent is an event and the rows of its tables, largest change first.
type markdownEvent struct {
	*Event
	format     costFormat
	less, more []markdownRow // by what was decided
	moved      []markdownRow // cost shifts without a verdict
	divided    []markdownRow // functions with parts, likewise
	leads      []markdownRow // of one run a side
	explained  []markdownRow // functions that explain the change with what they call
}

// A markdownRow is a function, or a cost shift.
type markdownRow struct {
	function, shift int // shift is -1 for a function
	change          *Change
}

func (d *markdownDiff) event(e *Event) markdownEvent {
	m := markdownEvent{Event: e, format: newCostFormat(e)}
	add := func(r markdownRow) {
		switch {
		case r.change.Verdict == verdict.Improved:
			m.less = append(m.less, r)
		case r.change.Verdict == verdict.Regressed:
			m.more = append(m.more, r)
		case r.change.Lead != verdict.NoLead && r.shift < 0 && !d.opt.Total && e.Functions[r.function].Elsewhere:
		case r.change.Lead != verdict.NoLead:
			m.leads = append(m.leads, r)
		case r.shift >= 0:
			m.moved = append(m.moved, r)
		case len(e.Functions[r.function].Parts) > 0:
			m.divided = append(m.divided, r)
		}
	}
	seen := make([]bool, len(e.Shifts))
	for _, i := range functionOrder(d.c, e, d.opt) {
		f := &e.Functions[i]
		switch {
		case d.opt.Total:
			add(markdownRow{i, -1, &f.Total})
		case f.Shift < 0:
			add(markdownRow{i, -1, &f.Self})
		case !seen[f.Shift]:
			seen[f.Shift] = true
			add(markdownRow{i, f.Shift, &e.Shifts[f.Shift].Net})
		}
	}
	if !d.opt.Total && !d.c.Design.Focus {
		for _, i := range e.Explained {
			m.explained = append(m.explained, markdownRow{i, -1, &e.Functions[i].Total})
		}
	}
	for _, rows := range [][]markdownRow{m.less, m.more} {
		slices.SortStableFunc(rows, func(a, b markdownRow) int {
			return -cmp.Compare(math.Abs(a.change.Delta), math.Abs(b.change.Delta))
		})
	}
	return m
}

// fitting is the longest form within the limits.
func (d *markdownDiff) fitting() string {
	fits := func(s string) bool {
		return strings.Count(s, "\n") <= maxMarkdownLines && utf8.RuneCountInString(s) <= maxMarkdownCharacters
	}
	most := maxMarkdownRows
	if d.opt.Limit > 0 {
		most = min(most, d.opt.Limit)
	}
	d.shown = len(d.events)
	for d.tables = d.shown; d.tables > 0; d.tables-- {
		for d.rows = most; d.rows >= min(most, minMarkdownRows); d.rows-- {
			if s := d.String(); fits(s) {
				return s
			}
		}
	}
	for d.shown > 1 {
		if s := d.String(); fits(s) {
			return s
		}
		d.shown--
	}
	return d.String()
}

func (d *markdownDiff) String() string {
	out := &strings.Builder{}
	if s := d.c.Story; s != nil && len(s.Sentences) > 0 {
		fmt.Fprintf(out, "%s\n\n", text.MarkdownStory(s.Word, s.Texts()))
	}
	events := d.events[:d.shown]
	for i := range events {
		if len(events) > 1 {
			out.WriteString("- ")
		}
		fmt.Fprintf(out, "%s\n", d.verdict(&events[i]))
	}
	if n := len(d.c.Events) - len(events); n > 0 {
		fmt.Fprintf(out, "- %d more events are not shown.\n", n)
	}
	fmt.Fprintf(out, "\n%s\n", d.ground())
	if l := d.c.Leads; l != nil {
		head, rest, _ := strings.Cut(l.How(), "; ")
		fmt.Fprintf(out, "\n**%s.** %s:\n", head, rest)
		if len(l.Record) <= maxMarkdownCommand {
			fmt.Fprintf(out, "\n~~~~sh\n%s\n~~~~\n", text.Printable(l.Record))
		}
		if l.Note != "" {
			fmt.Fprintf(out, "\n(%s)\n", text.MarkdownProse(l.Note, maxMarkdownWarning))
		}
	}
	d.warnings(out)
	for i := range events {
		d.functions(out, &events[i], i < d.tables)
	}
	d.legend(out)
	return out.String()
}

// verdict says in one sentence what the total of an event does.
func (d *markdownDiff) verdict(e *markdownEvent) string {
	total, n := &e.Total, e.Normalization
	name := text.MarkdownCode(e.Name, text.MaxName)
	word := total.Verdict.Title(e.Measure())
	out := &strings.Builder{}
	switch {
	case total.Verdict.Changed():
		fmt.Fprintf(out, "**%s: %s %s**", word, name, text.Change(float64(total.Ratio)))
	case total.Verdict == verdict.Unchanged:
		fmt.Fprintf(out, "**%s: %s** within %s", word, name, text.RoughPercent(d.c.Design.Margin))
	case total.Withheld && e.NoTotal != "":
		fmt.Fprintf(out, "**No verdict on %s** in all (%s)", name, text.MarkdownProse(e.NoTotal, maxMarkdownWarning))
	case total.Withheld:
		fmt.Fprintf(out, "**No verdict on %s**", name)
	case total.Method.Single() && total.WithinNoise:
		fmt.Fprintf(out, "**No verdict on %s**, the difference is within sampling noise", name)
	case total.Method.Single():
		fmt.Fprintf(out, "**No verdict on %s** from one run a side, though the difference is beyond sampling noise", name)
	case total.RunsNeeded > 0 && total.Method == stats.Clusters:
		fmt.Fprintf(out, "**%s: %s**, %s would probably settle it", word, name, runsText(total.RunsNeeded, total.Method))
	case total.RunsNeeded >= 1000:
		fmt.Fprintf(out, "**%s: %s**, 1000 runs a side and more would be needed", word, name)
	case total.RunsNeeded > 0:
		fmt.Fprintf(out, "**%s: %s**, %d runs a side would probably settle it", word, name, total.RunsNeeded)
	default:
		fmt.Fprintf(out, "**%s: %s**", word, name)
	}
	fmt.Fprintf(out, ": %s → %s", text.Weight(total.Base, e.Unit), text.Weight(total.Head, e.Unit))
	switch n.Mode {
	case PerWork:
		if n.Per != "" {
			fmt.Fprintf(out, " per %s", n.Per)
			break
		}
		fmt.Fprintf(out, " per operation (%s)", text.MarkdownProse(n.By, text.MaxName))
	case PerReference:
		fmt.Fprintf(out, " relative to the %s, which differs by a factor of %s %s", text.MarkdownProse(n.By, text.MaxName), text.Ratio(float64(n.Factor)), n.CI.String())
	case OfTotal:
		fmt.Fprintf(out, " a %s", cmp.Or(n.Per, "run"))
	default:
		fmt.Fprintf(out, " a run, assuming %s", n.Assumes)
	}
	fmt.Fprintf(out, ", ratio %s with 95%% interval %s", text.Ratio(float64(total.Ratio)), total.CI.String())
	if m := total.Method; m != d.events[0].Total.Method {
		fmt.Fprintf(out, " by %s", m)
	}
	if d.c.Design.Fleet != nil {
		fmt.Fprintf(out, ", from %s and %s samples.", text.Count(e.Raw.BaseSamples), text.Count(e.Raw.HeadSamples))
	} else {
		fmt.Fprintf(out, ", from %s and %s samples.", text.Count(total.BaseSamples), text.Count(total.HeadSamples))
	}
	if e.Uniform != nil {
		fmt.Fprintf(out, " In sum, %s.", e.Uniform.Sentence())
	}
	return out.String()
}

// ground says what the verdicts rest on.
func (d *markdownDiff) ground() string {
	if f := d.c.Design.Fleet; f != nil {
		return fmt.Sprintf("It rests on %s; intervals cover %s.", text.MarkdownProse(f.Ground(), maxMarkdownWarning), noise(&d.c.Events[0], d.c))
	}
	base, head := d.c.Design.RunsBase, d.c.Design.RunsHead
	runs := func(n int) string {
		if n == 1 {
			return "1 run"
		}
		return fmt.Sprintf("%d runs", n)
	}
	s := runs(base) + " a side"
	if base != head {
		s = runs(base) + " of base and " + runs(head) + " of head"
	}
	if d.c.Base.Commit != "" && d.c.Head.Commit != "" {
		s += fmt.Sprintf(" of %s and %s", text.MarkdownCode(d.c.Base.Commit, text.MaxName), text.MarkdownCode(d.c.Head.Commit, text.MaxName))
	}
	if base > 1 && head > 1 {
		pairs := ""
		if d.c.Design.Pairs > 0 {
			pairs = ": " + d.c.Design.Text
		}
		s += map[verdict.Order]string{
			verdict.Interleaved: ", recorded in turns" + pairs,
			verdict.Blocked:     ", all of one side recorded before those of the other",
		}[d.c.Design.Order]
		if d.c.Design.Order == verdict.UnknownOrder {
			s += ", recorded in unknown order"
		}
	}
	return fmt.Sprintf("It rests on %s; intervals cover %s.", s, noise(&d.c.Events[0], d.c))
}

func (d *markdownDiff) warnings(out *strings.Builder) {
	list := d.c.Design.Warnings
	if len(list) == 0 {
		return
	}
	shown := list[:min(len(list), maxMarkdownWarnings)]
	head := fmt.Sprintf("%d warnings", len(list))
	if len(list) == 1 {
		head = "1 warning"
	}
	if len(shown) < len(list) {
		head += fmt.Sprintf(", the first %d", len(shown))
	}
	fmt.Fprintf(out, "\n**%s:**\n", head)
	for _, warning := range shown {
		fmt.Fprintf(out, "- %s\n", text.MarkdownProse(warning, maxMarkdownWarning))
	}
}

// functions writes the tables of an event, and what was tested.
func (d *markdownDiff) functions(out *strings.Builder, e *markdownEvent, tables bool) {
	out.WriteString("\n")
	if d.shown > 1 {
		fmt.Fprintf(out, "%s: ", text.MarkdownCode(e.Name, text.MaxName))
	}
	if len(e.less)+len(e.more) == 0 && !e.Total.Method.Single() {
		why := ""
		if e.Withheld != "" {
			why = ": verdicts are withheld, as the warning says"
		}
		fmt.Fprintf(out, "**No change of a function was shown**%s. ", why)
	}
	fmt.Fprintf(out, "%s\n", d.counts(e))
	if len(e.moved) > 0 {
		fmt.Fprintf(out, "\n%s\n", d.movedText(e))
	}
	if len(e.divided) > 0 {
		fmt.Fprintf(out, "\n%s\n", d.dividedText(e))
	}
	if tables {
		d.table(out, e, "Explained by, with what it calls", e.explained)
		d.table(out, e, verdict.Improved.Title(e.Measure()), e.less)
		d.table(out, e, verdict.Regressed.Title(e.Measure()), e.more)
		d.table(out, e, "Lead", e.leads)
	}
}

// counts says how many functions were tested, with which results, and what could have
// been shown.
func (d *markdownDiff) counts(e *markdownEvent) string {
	changes := functionChanges(e.Event, d.opt)
	tested, counts := changes.verdicts()
	var smallest []float64
	for _, ch := range changes.changes {
		if !ch.Tested {
			continue
		}
		smallest = append(smallest, float64(ch.Smallest))
	}
	shifts := ""
	if !d.opt.Total && len(e.Shifts) > 0 {
		shifts = " (cost that moved between functions counts once)"
	}
	s := fmt.Sprintf("%d of %d functions were tested%s", tested, len(e.Functions), shifts)
	switch {
	case e.Total.Method.Single():
		s += fmt.Sprintf(": leads beyond sampling noise, after a correction for their number: %d.", changes.leads())
	case e.Withheld != "":
		s += "."
	default:
		s += ": " + strings.TrimSuffix(verdict.Tell(counts, e.Measure(), text.RoughPercent(d.c.Design.Margin)), " (?)") + "."
	}
	slices.Sort(smallest)
	var could []string
	add := func(what string, v float64) {
		if v > 0 && !math.IsInf(v, 0) {
			could = append(could, fmt.Sprintf("%s for %s", text.RoughPercent(v), what))
		}
	}
	add("the total", float64(e.Total.Smallest))
	if tested > 0 {
		add("the function that was measured best", smallest[0])
	}
	if tested > 1 {
		add("half of the functions", smallest[(tested-1)/2])
	}
	if len(could) > 0 {
		s += " The smallest change that could have been shown is " + strings.Join(could, ", ") + "."
	}
	return s
}

// movedText names cost shifts whose sum has no verdict.
func (d *markdownDiff) movedText(e *markdownEvent) string {
	const most = 2
	var list []string
	for _, r := range e.moved[:min(len(e.moved), most)] {
		s := &e.Shifts[r.shift]
		list = append(list, d.shift(e, s))
	}
	if n := len(e.moved) - most; n > 0 {
		list = append(list, fmt.Sprintf("and %d more", n))
	}
	return "Cost that moved, with no change decided in all: " + strings.Join(list, "; ") + "."
}

// dividedText names functions that became several, or that several became, whose sum has no
// verdict.
func (d *markdownDiff) dividedText(e *markdownEvent) string {
	const most = 2
	var list []string
	for _, r := range e.divided[:min(len(e.divided), most)] {
		list = append(list, fmt.Sprintf("%s, together %s → %s", d.function(&e.Functions[r.function], text.MaxName), e.format.cost(r.change.Base), e.format.cost(r.change.Head)))
	}
	if n := len(e.divided) - most; n > 0 {
		list = append(list, fmt.Sprintf("and %d more", n))
	}
	return "Functions that became several, or one, with no change decided in all: " + strings.Join(list, "; ") + "."
}

func (d *markdownDiff) table(out *strings.Builder, e *markdownEvent, title string, rows []markdownRow) {
	if len(rows) == 0 {
		return
	}
	repeated := "samples"
	if d.c.Design.Fleet != nil {
		repeated = "devices"
	}
	fmt.Fprintf(out, "\n| %s | base | head | delta | ratio | 95%% interval | %s | dso |\n", title, repeated)
	out.WriteString("| --- | ---: | ---: | ---: | ---: | --- | ---: | --- |\n")
	hidden, hiddenDelta := 0, 0.0
	for i, r := range rows {
		ch := r.change
		if i >= d.rows {
			hidden++
			hiddenDelta += ch.Delta
			continue
		}
		f := &e.Functions[r.function]
		name := d.function(f, text.MaxName)
		if r.shift >= 0 {
			name = d.shift(e, &e.Shifts[r.shift])
		}
		if ch.Lead != verdict.NoLead {
			name = ch.Text(e.Measure()) + " " + name
		}
		dso := ""
		if f.DSO != "" {
			dso = text.MarkdownCode(f.File(), maxMarkdownDSO)
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %s | %s → %s | %s |\n", text.MarkdownCell(name), e.format.cost(ch.Base), e.format.cost(ch.Head), e.format.delta(ch.Delta),
			text.Ratio(float64(ch.Ratio)), ch.CI.String(), text.Count(cmp.Or(ch.BaseDevices, ch.BaseSamples)), text.Count(cmp.Or(ch.HeadDevices, ch.HeadSamples)), text.MarkdownCell(dso))
		if r.shift < 0 && (d.opt.Total || ch == &f.Self) {
			d.parts(out, e, f)
		}
	}
	if hidden > 0 {
		fmt.Fprintf(out, "| %d more | | | %s | | | | |\n", hidden, e.format.delta(hiddenDelta))
	}
}

// parts adds a row for each part of a function, without a verdict of its own.
func (d *markdownDiff) parts(out *strings.Builder, e *markdownEvent, f *Function) {
	for i := range f.Parts[:min(len(f.Parts), maxMarkdownParts)] {
		p := &f.Parts[i]
		base, head, samples := p.Cost(d.opt.Total)
		cells := [2]string{"", e.format.cost(head)}
		if p.Side == baseSide {
			cells = [2]string{e.format.cost(base), ""}
		}
		fmt.Fprintf(out, "| ↳ %s | %s | %s | | | | %s | |\n", text.MarkdownCell(text.MarkdownCode(p.Name, text.MaxName)), cells[0], cells[1], text.Count(samples))
	}
}

// function names a function, and says how it was matched if not by its name.
func (d *markdownDiff) function(f *Function, limit int) string {
	if len(f.Parts) > 0 {
		return fmt.Sprintf("%s (%s, confidence %.2f)", f.became(func(name string) string { return text.MarkdownCode(name, maxMarkdownPart) }), f.Match, f.Confidence)
	}
	name := text.MarkdownCode(f.Name, limit)
	switch f.Match {
	case string(align.Added):
		return name + " (new)"
	case string(align.Removed):
		return name + " (gone)"
	case string(align.Renamed), string(align.Normalized):
		if f.BaseName != f.Name {
			return fmt.Sprintf("%s (was %s: %s, confidence %.2f)", name, text.MarkdownCode(f.BaseName, limit), f.Match, f.Confidence)
		}
	case string(align.Moved):
		if f.Confidence == 1 {
			break // all of the file moved
		}
		return fmt.Sprintf("%s (was in %s)", name, text.MarkdownCode(f.BaseDSO, maxMarkdownDSO))
	}
	return name
}

// shift names the parts of a cost shift.
func (d *markdownDiff) shift(e *markdownEvent, s *Shift) string {
	var parts []string
	for _, p := range s.Parts[:min(len(s.Parts), maxMarkdownParts)] {
		f := &e.Functions[p]
		parts = append(parts, d.function(f, maxMarkdownPart)+" "+e.format.delta(f.Self.Delta))
	}
	if n := len(s.Parts) - maxMarkdownParts; n > 0 {
		parts = append(parts, fmt.Sprintf("%d more", n))
	}
	return fmt.Sprintf("moved under %s: %s; %s", text.MarkdownCode(e.Functions[s.Caller].Name, maxMarkdownPart), strings.Join(parts, ", "), s.remains(e.format))
}

// decided are the words for changes that were shown.
func (d *markdownDiff) decided() string {
	var words []string
	for i := range d.events[:d.shown] {
		of := d.events[i].Measure()
		if s := verdict.Improved.Word(of) + " and " + verdict.Regressed.Word(of); !slices.Contains(words, s) {
			words = append(words, s)
		}
	}
	s := strings.Join(words, ", ")
	return strings.ToUpper(s[:1]) + s[1:]
}

// legend says how to read it.
func (d *markdownDiff) legend(out *strings.Builder) {
	opt := &d.c.Design
	what := "what functions cost themselves"
	if d.opt.Total {
		what = "what functions and their callees cost"
	}
	costs := "as recorded"
	switch d.c.Events[0].Normalization.Mode {
	case PerWork:
		costs = "divided by the operations of each run"
		if per := d.c.Events[0].Normalization.Per; per != "" {
			costs = "per " + per
		}
	case PerReference:
		costs = "divided by what functions cost that should not have changed"
	case OfTotal:
		costs = "as shares of the total, so that a gain in one function is a loss in all others"
	}
	out.WriteString("\n<details><summary>How to read this</summary>\n\n")
	fmt.Fprintf(out, "- Base and head are %s, %s, means over %ss. The ratio is head over base as the test estimates it.\n", what, costs, opt.Unit())
	if d.c.Events[0].Total.Method.Single() {
		out.WriteString("- One run a side gives no verdicts: how much runs of one side differ is unknown.\n")
	} else {
		fmt.Fprintf(out, "- %s hold against the noise between %ss: of the functions called so, up to %s may be false. %s means that a change of more than %s is excluded, %s that neither is shown.\n",
			d.decided(), opt.Unit(), text.RoughPercent(opt.FalseDiscovery), verdict.Unchanged.Title(verdict.Time), text.RoughPercent(opt.Margin), verdict.Inconclusive.Word(verdict.Time))
	}
	if opt.Fleet != nil {
		fmt.Fprintf(out, "- Models of devices have the same weights on both sides. Functions that fewer than %d devices have are not tested.\n", LeastDevices)
		out.WriteString("\n</details>\n")
		return
	}
	fmt.Fprintf(out, "- Functions with less than %s of the cost of both sides are not tested. Cost that moved between functions under one caller, as by inlining, is one row.\n", text.Share(opt.MinShare, 1))
	out.WriteString("\n</details>\n")
}
