package diff

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// Options say what of a comparison is shown.
type Options struct {
	// Limit is the number of rows of each table, 0 for all.
	Limit int
	// By is what tables are of: functions, or one of the comparison's groups.
	By run.GroupBy
	// Total orders functions by what they and their callees cost, instead of by
	// what they cost themselves.
	Total bool
}

// WriteText writes a comparison as text: what was compared and how, who waited for whom, and per event the
// total and the changes, largest first.
func WriteText(w io.Writer, c *Document, opt Options) error {
	t := text.Table{Prose: true}
	t.Add("base", c.Base.Name())
	t.Add("head", c.Head.Name())
	if c.Design.Fleet != nil {
		t.Add("compared", c.Design.Text)
	} else if c.Design.RunsBase > 1 && c.Design.RunsHead > 1 {
		t.Add("order", c.Design.Text)
	}
	t.Fact("took", c.Design.Took)
	for _, warning := range c.Design.Warnings {
		t.Add("warning", warning)
	}
	if l := c.Leads; l != nil {
		t.Add("leads", l.how()+":")
		t.Add("", l.Record)
		if l.Note != "" {
			t.Add("", "("+l.Note+")")
		}
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if err := writeWaits(w, c, opt); err != nil {
		return err
	}
	for i := range c.Events {
		if err := writeDiffEvent(w, c, &c.Events[i], opt); err != nil {
			return err
		}
	}
	return writeMetrics(w, c, opt)
}

// A costFormat writes normalized costs of an event, and verdicts on them.
type costFormat struct {
	unit    string
	share   bool
	measure verdict.Measure
}

func newCostFormat(e *Event) costFormat {
	return costFormat{e.Unit, e.Shares(), e.Measure()}
}

func (f costFormat) cost(v float64) string {
	if f.share {
		return text.Share(v, 1)
	}
	return text.Weight(v, f.unit)
}

func (f costFormat) delta(v float64) string {
	if f.share {
		return fmt.Sprintf("%+.2f points", 100*v)
	}
	return text.Delta(v, f.unit)
}

func writeDiffEvent(w io.Writer, c *Document, e *Event, opt Options) error {
	if opt.By != "" && opt.By != run.ByFunction {
		for i := range e.Groups {
			if e.Groups[i].By == opt.By {
				return writeGroup(w, c, e, &e.Groups[i], opt)
			}
		}
	}
	if err := writeEventSummary(w, c, e, functionChanges(e, opt)); err != nil {
		return err
	}
	if err := writeExplained(w, c, e, opt); err != nil {
		return err
	}
	return writeFunctions(w, c, e, opt)
}

// writeExplained writes the functions that explain the change with what they call, where rows
// by self cost do not say it.
func writeExplained(w io.Writer, c *Document, e *Event, opt Options) error {
	if len(e.Explained) == 0 || opt.Total || c.Design.Focus {
		return nil
	}
	format := newCostFormat(e)
	explained := "explained by one function with what it calls:"
	if n := len(e.Explained); n > 1 {
		explained = fmt.Sprintf("explained by %d functions with what they call:", n)
	}
	if _, err := fmt.Fprintln(w, explained); err != nil {
		return err
	}
	t := changeTable("dso", "function, with what it calls")
	for _, i := range e.Explained {
		f := &e.Functions[i]
		addChange(&t, &f.Total, format, f.File(), functionText(f))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w, "by what functions cost themselves:")
	return err
}

// A tally counts verdicts.
type tally struct {
	what    string // plural
	all     int
	changes []*Change // also those that were not tested
}

// functionChanges are what a table of functions shows, a cost shift once.
func functionChanges(e *Event, opt Options) tally {
	t := tally{what: "functions", all: len(e.Functions)}
	for i := range e.Functions {
		switch f := &e.Functions[i]; {
		case opt.Total:
			t.changes = append(t.changes, &f.Total)
		case f.Shift < 0:
			t.changes = append(t.changes, &f.Self)
		}
	}
	if !opt.Total {
		for i := range e.Shifts {
			t.changes = append(t.changes, &e.Shifts[i].Net)
		}
	}
	return t
}

// verdicts counts those that were tested, and each verdict.
func (t *tally) verdicts() (tested int, counts map[verdict.Verdict]int) {
	counts = make(map[verdict.Verdict]int)
	for _, ch := range t.changes {
		if ch.Tested {
			tested++
			counts[ch.Verdict]++
		}
	}
	return tested, counts
}

// leads counts those that are leads.
func (t *tally) leads() (n int) {
	for _, ch := range t.changes {
		if ch.Lead != verdict.NoLead {
			n++
		}
	}
	return n
}

// writeEventSummary says in a few lines what one event shows, and how sure that is.
func writeEventSummary(w io.Writer, c *Document, e *Event, t tally) error {
	per := ""
	n := &e.Normalization
	if c.Design.RunsBase > 1 || c.Design.RunsHead > 1 {
		per = " a run"
		if c.Design.Fleet != nil {
			per = " a profile"
		}
	}
	out := &strings.Builder{}
	fmt.Fprintf(out, "\n%s: %s → %s%s%s\n", text.Printable(e.Name),
		text.Weight(e.Raw.Base, e.Unit), text.Weight(e.Raw.Head, e.Unit), per, samplesText(&e.Raw))
	total := &e.Total
	switch n.Mode {
	case PerWork:
		if n.Per != "" {
			fmt.Fprintf(out, "per %s: %s → %s", n.Per, text.Weight(total.Base, e.Unit), text.Weight(total.Head, e.Unit))
			break
		}
		fmt.Fprintf(out, "per operation (%s%s): %s → %s", text.Printable(n.By), factorText(n), text.Weight(total.Base, e.Unit), text.Weight(total.Head, e.Unit))
	case PerReference:
		fmt.Fprintf(out, "relative to the %s, which differs by a factor of %s %s: %s → %s", text.Printable(n.By), text.Ratio(float64(n.Factor)), n.CI.String(),
			text.Weight(total.Base, e.Unit), text.Weight(total.Head, e.Unit))
	case OfTotal:
		fmt.Fprintf(out, "functions as shares of the total, assuming %s; the total", n.Assumes)
	default:
		fmt.Fprintf(out, "cost of a run, assuming %s; the total", n.Assumes)
	}
	fmt.Fprintf(out, ", ratio %s %s: %s\n", text.Ratio(float64(total.Ratio)), total.CI.String(), totalText(e))
	if total.Method == stats.Exact {
		out.WriteString("a simulator counted: ratios are exact")
	} else {
		fmt.Fprintf(out, "95%% intervals cover %s", noise(e, c))
	}
	tested, counts := t.verdicts()
	if total.Method.Single() {
		fmt.Fprintf(out, "\n%d of %d %s tested: %d leads, %s less and %s more, with the distance from noise; the number of tests is corrected for; ~ is within noise\n",
			tested, t.all, t.what, t.leads(), verdict.Less.Sign(), verdict.More.Sign())
	} else if e.Withheld != "" {
		fmt.Fprintf(out, "\n%d of %d %s tested, verdicts withheld: see the warning\n", tested, t.all, t.what)
	} else {
		fmt.Fprintf(out, "\n%d of %d %s tested: %s\n", tested, t.all, t.what, verdict.Tell(counts, e.Measure(), text.RoughPercent(c.Design.Margin)))
	}
	if e.Uniform != nil {
		fmt.Fprintf(out, "%s\n", e.Uniform.Sentence())
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// samplesText says how many samples there are, and how many equally weighted ones would
// tell as much if these are less. What was counted has none.
func samplesText(c *Change) string {
	if c.BaseSamples == 0 && c.HeadSamples == 0 {
		return ""
	}
	s := fmt.Sprintf(", %s → %s samples", text.Count(c.BaseSamples), text.Count(c.HeadSamples))
	if c.BaseNEff > 0.9*float64(c.BaseSamples) && c.HeadNEff > 0.9*float64(c.HeadSamples) {
		return s
	}
	return s + fmt.Sprintf(", effective sample size %.0f → %.0f", c.BaseNEff, c.HeadNEff)
}

// totalText is the verdict on everything, or why there is none.
func totalText(e *Event) string {
	if e.NoTotal != "" {
		return "no verdict\n" + text.Printable(e.NoTotal)
	}
	return e.Total.Text(e.Measure())
}

// factorText says by what factor the work of the sides differs, if it does.
func factorText(n *Normalization) string {
	if n.Factor == 1 && n.CI.Lo == 1 && n.CI.Hi == 1 {
		return ""
	}
	interval := ""
	if n.CI.Lo != n.CI.Hi {
		interval = " " + n.CI.String()
	}
	return fmt.Sprintf(", %s%s times as many in head", text.Ratio(float64(n.Factor)), interval)
}

// noise says what intervals cover.
func noise(e *Event, c *Document) string {
	m := e.Total.Method
	switch {
	case m == stats.Clusters:
		return "noise between devices"
	case m.Single():
		if e.Bursts {
			return "sampling noise and bursts only, one run a side: how runs differ is unknown"
		}
		return "sampling noise only, one run a side: how runs differ is unknown"
	case m == stats.Prediction:
		return "noise between the runs of one side, the other has one run: enough to warn, not to prove"
	case min(c.Design.RunsBase, c.Design.RunsHead) < 4:
		return fmt.Sprintf("noise between runs (%s), with fewer than 4 runs a side: enough to warn, not to prove", m)
	}
	return fmt.Sprintf("noise between runs (%s)", m)
}

var changeColumns = []string{"verdict", "base", "samples", "head", "samples", "delta", "ratio", "95% interval", "shows"}

// changeTable is a table of changes that have names.
func changeTable(names ...string) text.Table {
	const (
		base                     = 1
		baseSamples, headSamples = 2, 4
		delta, ratio, shows      = 5, 6, 8
	)
	t := text.Table{Right: []bool{false, true, true, true, true, true, true, false, true}, Spare: [][]int{{shows}, {baseSamples, headSamples}}}
	for i, name := range names {
		at := len(changeColumns) + i
		if name != "line" { // which ends in a number
			t.Names = append(t.Names, at)
		}
		if name == "dso" {
			t.Spare = append(t.Spare, []int{at})
		}
	}
	t.Spare = append(t.Spare, []int{delta}, []int{ratio}, []int{base})
	t.Add(append(changeColumns[:len(changeColumns):len(changeColumns)], names...)...)
	return t
}

// head is the header of a [changeTable] of an event: one run a side has leads, and a fleet devices.
func (d *Document) head(t *text.Table, e *Event) {
	if e.Single() {
		t.Rows[0][0] = "lead"
	}
	for i, name := range t.Rows[0] {
		if d.Design.Fleet != nil && name == "samples" {
			t.Rows[0][i] = "devices"
		}
	}
}

// addChange adds a row to a [changeTable].
func addChange(t *text.Table, c *Change, f costFormat, names ...string) {
	cells := []string{
		c.Text(f.measure),
		f.cost(c.Base), sampleCount(cmp.Or(c.BaseDevices, c.BaseSamples), c.Base), f.cost(c.Head), sampleCount(cmp.Or(c.HeadDevices, c.HeadSamples), c.Head),
		f.delta(c.Delta), text.Ratio(float64(c.Ratio)), c.CI.String(), formatSmallest(c),
	}
	t.Add(append(cells, names...)...)
	t.Paint(0, story.StyleOf(c.Verdict))
}

// sampleCount is a number of samples, "-" for a cost without.
func sampleCount(n int64, cost float64) string {
	if n == 0 && cost != 0 {
		return "-"
	}
	return text.Count(n)
}

// formatSmallest is the smallest change that the data could have shown.
func formatSmallest(c *Change) string {
	if !c.Smallest.Known() || c.Smallest <= 0 {
		return "-"
	}
	return "±" + text.RoughPercent(float64(c.Smallest))
}

// writeFunctions writes the functions of an event; a cost shift is one row.
func writeFunctions(w io.Writer, c *Document, e *Event, opt Options) error {
	format := newCostFormat(e)
	t := changeTable("dso", "function")
	c.head(&t, e)
	rows, hidden, hiddenDelta, callersOnly := 0, 0, 0.0, 0
	shown := make([]bool, len(e.Shifts))
	for _, i := range functionOrder(c, e, opt) {
		f := &e.Functions[i]
		c := &f.Self
		if opt.Total {
			c = &f.Total
		}
		if c.BaseSamples == 0 && c.HeadSamples == 0 && c.Base == 0 && c.Head == 0 {
			callersOnly++ // only calls others
			continue
		}
		shift := f.Shift
		if opt.Total {
			shift = -1
		}
		if shift >= 0 && shown[shift] {
			continue
		}
		if opt.Limit > 0 && rows >= opt.Limit {
			hidden++
			hiddenDelta += c.Delta
			continue
		}
		rows++
		if shift >= 0 {
			shown[shift] = true
			s := &e.Shifts[shift]
			addChange(&t, &s.Net, format, f.File(), shiftText(e, s, format))
			continue
		}
		addChange(&t, c, format, f.File(), functionText(f))
		addParts(&t, f, format, opt.Total)
	}
	if len(t.Rows) > 1 {
		if err := t.Write(w); err != nil {
			return err
		}
	}
	sum := ", " + format.delta(hiddenDelta) + " in all"
	if opt.Total {
		sum = "" // one is part of another
	}
	var err error
	switch {
	case hidden > 0:
		_, err = fmt.Fprintf(w, "(%s%s)\n", more(hidden, "function"), sum)
	case c.Design.Focus && callersOnly > 0:
		_, err = fmt.Fprintf(w, "(of the functions that match --focus, %d only call others: see --total)\n", callersOnly)
	case c.Design.Focus && len(t.Rows) == 1:
		_, err = fmt.Fprintln(w, noFocus)
	}
	return err
}

// addParts adds a row for each part of a function, below it: without a verdict, as that is on
// all of them together.
func addParts(t *text.Table, f *Function, format costFormat, total bool) {
	for i := range f.Parts {
		p := &f.Parts[i]
		base, head, samples := p.Cost(total)
		cells := []string{"", "", "", format.cost(head), sampleCount(samples, head), "", "", "", ""}
		if p.Side == baseSide {
			cells = []string{"", format.cost(base), sampleCount(samples, base), "", "", "", "", "", ""}
		}
		t.Add(append(cells, p.DSO, text.Indent(1)+"part: "+p.Name)...)
	}
}

// noFocus stands for a table without rows.
const noFocus = "(no function that matches --focus has samples)"

// more says that n things follow.
func more(n int, what string) string {
	if n == 1 {
		return "1 more " + what
	}
	return fmt.Sprintf("%d more %ss", n, what)
}

// functionOrder is the order of functions in a table: only those that the user named, if
// any. The parts of a cost shift stand where what remains of it does.
func functionOrder(c *Document, e *Event, opt Options) []int {
	var list []int
	for i := range e.Functions {
		if !c.Design.Focus || e.Functions[i].Focus {
			list = append(list, i)
		}
	}
	if opt.Total {
		sortByTotal(e, list)
		ranked(e, list, func(i int) *Change { return &e.Functions[i].Total })
		return list
	}
	slices.SortStableFunc(list, func(a, b int) int {
		delta := func(i int) float64 {
			if s := e.Functions[i].Shift; s >= 0 {
				return math.Abs(e.Shifts[s].Delta)
			}
			return math.Abs(e.Functions[i].Self.Delta)
		}
		return -cmp.Compare(delta(a), delta(b))
	})
	ranked(e, list, func(i int) *Change {
		if s := e.Functions[i].Shift; s >= 0 {
			return &e.Shifts[s].Net
		}
		return &e.Functions[i].Self
	})
	return list
}

// functionText names a function, and says how it was matched if not by its name.
func functionText(f *Function) string {
	if len(f.Parts) > 0 {
		return fmt.Sprintf("%s (%s, confidence %.2f)", f.became(func(name string) string { return name }), f.Match, f.Confidence)
	}
	switch f.Match {
	case string(align.Added):
		return f.Name + " (new)"
	case string(align.Removed):
		return f.Name + " (gone)"
	case string(align.Renamed), string(align.Normalized):
		if f.BaseName != f.Name {
			return fmt.Sprintf("%s (was %s: %s, confidence %.2f)", f.Name, f.BaseName, f.Match, f.Confidence)
		}
	case string(align.Moved):
		if f.Confidence == 1 {
			break // all of the file moved
		}
		return fmt.Sprintf("%s (was in %s)", f.Name, f.BaseDSO)
	}
	return f.Name
}

// became names the functions of both sides, as name writes a name.
func (f *Function) became(name func(string) string) string {
	side := func(names []string) string {
		var list []string
		for i, n := range names {
			if i == maxShiftParts {
				list = append(list, fmt.Sprintf("%d more", len(names)-i))
				break
			}
			list = append(list, name(n))
		}
		return strings.Join(list, " + ")
	}
	base, head := f.Sides()
	return side(base) + " → " + side(head)
}

// maxShiftParts is how many parts of a cost shift are named.
const maxShiftParts = 4

// shiftText names the parts of a cost shift, and sums up those beyond maxShiftParts.
func shiftText(e *Event, s *Shift, format costFormat) string {
	var (
		parts []string
		rest  float64
	)
	for i, p := range s.Parts {
		f := &e.Functions[p]
		if i >= maxShiftParts {
			rest += f.Self.Delta
			continue
		}
		parts = append(parts, functionText(f)+" "+format.delta(f.Self.Delta))
	}
	if more := len(s.Parts) - maxShiftParts; more > 0 {
		parts = append(parts, fmt.Sprintf("%d more %s", more, format.delta(rest)))
	}
	return fmt.Sprintf("moved under %s: %s; %s", e.Functions[s.Caller].Name, strings.Join(parts, ", "), s.remains(format))
}

// remains says what is left of a cost shift.
func (s *Shift) remains(format costFormat) string { return format.delta(s.Delta) + " remains" }

func writeGroup(w io.Writer, c *Document, e *Event, g *Group, opt Options) error {
	plural := map[run.GroupBy]string{ByModel: "functions on models", run.ByDSO: "DSOs", run.ByProcess: "processes", run.ByCategory: "categories"}
	rows := tally{what: cmp.Or(plural[g.By], string(g.By)+"s"), all: len(g.Rows)}
	for i := range g.Rows {
		rows.changes = append(rows.changes, &g.Rows[i].Self)
	}
	if err := writeEventSummary(w, c, e, rows); err != nil {
		return err
	}
	format := newCostFormat(e)
	t := changeTable(string(g.By))
	c.head(&t, e)
	list := slices.Clone(g.Rows)
	ranked(e, list, func(r Row) *Change { return &r.Self })
	hidden, hiddenDelta := 0, 0.0
	for i := range list {
		c := &list[i].Self
		if opt.Limit > 0 && len(t.Rows) > opt.Limit {
			hidden++
			hiddenDelta += c.Delta
			continue
		}
		addChange(&t, c, format, list[i].Label())
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if hidden > 0 {
		_, err := fmt.Fprintf(w, "(%s, %s in all)\n", more(hidden, "row"), format.delta(hiddenDelta))
		return err
	}
	return nil
}
