package report

import (
	"fmt"
	"io"
	"math"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// DiffOptions say what of a comparison is shown.
type DiffOptions struct {
	// Limit is the number of rows of each table, 0 for all.
	Limit int
	// By is what tables are of: functions, or one of the comparison's groups.
	By run.GroupBy
	// Total orders functions by what they and their callees cost, instead of by
	// what they cost themselves.
	Total bool
}

// WriteDiff writes a comparison as text: what was compared and how, and per event the
// total and the changes, largest first.
func WriteDiff(w io.Writer, c *compare.Comparison, opt DiffOptions) error {
	t := table{}
	t.add("base", sideName(c.Base))
	t.add("head", sideName(c.Head))
	if len(c.Base) > 1 && len(c.Head) > 1 {
		t.add("order", string(c.Order))
	}
	for _, warning := range c.Warnings {
		t.add("warning", warning)
	}
	if err := t.write(w); err != nil {
		return err
	}
	for i := range c.Events {
		if err := writeDiffEvent(w, c, &c.Events[i], opt); err != nil {
			return err
		}
	}
	return writeMetrics(w, c, opt)
}

func sideName(side []*run.Run) string {
	if len(side) == 1 {
		return side[0].Name
	}
	return fmt.Sprintf("%d runs, %s … %s", len(side), side[0].Name, side[len(side)-1].Name)
}

// A costFormat writes normalized costs of an event.
type costFormat struct {
	unit  string
	share bool
}

func newCostFormat(e *compare.Event) costFormat {
	return costFormat{e.Unit, e.Normalization.Mode == compare.Total}
}

func (f costFormat) cost(v float64) string {
	if f.share {
		return formatShare(v, 1)
	}
	return formatWeight(v, f.unit)
}

func (f costFormat) delta(v float64) string {
	if f.share {
		return fmt.Sprintf("%+.2f points", 100*v)
	}
	return formatDelta(v, f.unit)
}

func writeDiffEvent(w io.Writer, c *compare.Comparison, e *compare.Event, opt DiffOptions) error {
	if err := writeEventSummary(w, c, e); err != nil {
		return err
	}
	if opt.By != "" && opt.By != run.ByFunction {
		for i := range e.Groups {
			if e.Groups[i].By == opt.By {
				return writeGroup(w, e, &e.Groups[i], opt)
			}
		}
	}
	return writeFunctions(w, e, opt)
}

// writeEventSummary says in a few lines what one event shows, and how sure that is.
func writeEventSummary(w io.Writer, c *compare.Comparison, e *compare.Event) error {
	per := ""
	if len(c.Base) > 1 || len(c.Head) > 1 {
		per = " a run"
	}
	n := e.Normalization
	out := &strings.Builder{}
	fmt.Fprintf(out, "\n%s: %s → %s%s, %s → %s samples%s\n", printable(e.Name),
		formatWeight(e.Raw.Base, e.Unit), formatWeight(e.Raw.Head, e.Unit), per,
		formatCount(e.Raw.BaseSamples), formatCount(e.Raw.HeadSamples), effectiveText(&e.Raw))
	total := &e.Total
	switch n.Mode {
	case compare.Work:
		fmt.Fprintf(out, "per operation (%s%s): %s → %s", printable(n.By), factorText(n), formatWeight(total.Base, e.Unit), formatWeight(total.Head, e.Unit))
	case compare.Reference:
		fmt.Fprintf(out, "relative to the %s, which differs by a factor of %s %s: %s → %s", printable(n.By), formatRatio(n.Factor), formatInterval(n.CI),
			formatWeight(total.Base, e.Unit), formatWeight(total.Head, e.Unit))
	case compare.Total:
		fmt.Fprintf(out, "functions as shares of the total, a gain in one is a loss in all others; the total")
	default:
		fmt.Fprintf(out, "not normalized, the total")
	}
	fmt.Fprintf(out, ", ratio %s %s: %s\n", formatRatio(total.Ratio), formatInterval(total.CI), verdictText(total))
	fmt.Fprintf(out, "95%% intervals cover %s", noise(e, c))
	counts := make(map[compare.Verdict]int)
	tested := 0
	for i := range e.Functions {
		if f := &e.Functions[i]; f.Self.Tested && f.Shift < 0 {
			tested++
			counts[f.Self.Verdict]++
		}
	}
	for i := range e.Shifts {
		tested++
		counts[e.Shifts[i].Net.Verdict]++
	}
	if single(total.Method) {
		out.WriteString("; ~ marks changes within it\n")
	} else {
		fmt.Fprintf(out, "\n%d of %d functions tested: %d improved, %d regressed, %d unchanged within %s, %d inconclusive\n", tested, len(e.Functions),
			counts[compare.Improved], counts[compare.Regressed], counts[compare.Unchanged], formatPercent(c.Options.Margin), counts[compare.Inconclusive])
	}
	if e.Withheld != "" {
		fmt.Fprintf(out, "verdicts withheld: %s\n", printable(e.Withheld))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// effectiveText says how many equally weighted samples would tell as much, if it is
// less.
func effectiveText(c *compare.Change) string {
	if c.BaseEffective > 0.9*float64(c.BaseSamples) && c.HeadEffective > 0.9*float64(c.HeadSamples) {
		return ""
	}
	return fmt.Sprintf(", effective sample size %.0f → %.0f", c.BaseEffective, c.HeadEffective)
}

// factorText says by what factor the work of the sides differs, if it does.
func factorText(n *compare.Normalization) string {
	if n.Factor == 1 && n.CI.Lo == 1 && n.CI.Hi == 1 {
		return ""
	}
	interval := ""
	if n.CI.Lo != n.CI.Hi {
		interval = " " + formatInterval(n.CI)
	}
	return fmt.Sprintf(", %s%s times as many in head", formatRatio(n.Factor), interval)
}

// single reports whether a method knows sampling noise only.
func single(m stats.Method) bool { return m == stats.Sampling || m == stats.SamplingExact }

// noise says what intervals cover.
func noise(e *compare.Event, c *compare.Comparison) string {
	m := e.Total.Method
	switch {
	case single(m):
		for i := range e.Functions {
			if e.Functions[i].Self.Bursts > 2 {
				return "sampling noise and bursts only, one run a side: how runs differ is unknown"
			}
		}
		return "sampling noise only, one run a side: how runs differ is unknown"
	case m == stats.Prediction:
		return "noise between the runs of one side, the other has one run: enough to warn, not to prove"
	case min(len(c.Base), len(c.Head)) < 4:
		return fmt.Sprintf("noise between runs (%s), with fewer than 4 runs a side: enough to warn, not to prove", m)
	}
	return fmt.Sprintf("noise between runs (%s)", m)
}

// verdictText is a verdict for a table: "~" for no difference, "?" for none shown, "-"
// for not tested.
func verdictText(c *compare.Change) string {
	switch {
	case !c.Tested:
		return "-"
	case single(c.Method) && c.WithinNoise() || c.Verdict == compare.Unchanged:
		return "~"
	case c.Verdict != compare.Inconclusive:
		return string(c.Verdict)
	case c.RunsNeeded >= 1000:
		return "? 1000+ runs"
	case c.RunsNeeded > 0:
		return fmt.Sprintf("? %d runs", c.RunsNeeded)
	}
	return "?"
}

var changeColumns = []string{"verdict", "base", "samples", "head", "samples", "delta", "ratio", "95% interval", "shows"}

func changeTable(names ...string) table {
	t := table{right: []bool{false, true, true, true, true, true, true, false, true}}
	t.add(append(changeColumns[:len(changeColumns):len(changeColumns)], names...)...)
	return t
}

// changeCells are the cells of changeColumns.
func changeCells(c *compare.Change, f costFormat) []string {
	return []string{
		verdictText(c),
		f.cost(c.Base), formatCount(c.BaseSamples), f.cost(c.Head), formatCount(c.HeadSamples),
		f.delta(c.Delta()), formatRatio(c.Ratio), formatInterval(c.CI), formatSmallest(c),
	}
}

// formatSmallest is the smallest change that the data could have shown.
func formatSmallest(c *compare.Change) string {
	if !c.Tested || math.IsInf(c.Smallest, 0) || math.IsNaN(c.Smallest) || c.Smallest <= 0 {
		return "-"
	}
	return "±" + formatPercent(c.Smallest)
}

func formatPercent(v float64) string {
	switch p := 100 * v; {
	case p >= 1000:
		return ">1000%"
	case p >= 10:
		return fmt.Sprintf("%.0f%%", p)
	default:
		return fmt.Sprintf("%.1f%%", p)
	}
}

func formatInterval(i stats.Interval) string {
	if i.Lo == 0 && math.IsInf(i.Hi, 1) {
		return "[unknown]"
	}
	return "[" + formatBound(i.Lo) + ", " + formatBound(i.Hi) + "]"
}

// writeFunctions writes the functions of an event; a cost shift is one row.
func writeFunctions(w io.Writer, e *compare.Event, opt DiffOptions) error {
	format := newCostFormat(e)
	t := changeTable("dso", "function")
	hidden, hiddenDelta := 0, 0.0
	shown := make([]bool, len(e.Shifts))
	for _, i := range functionOrder(e, opt) {
		f := &e.Functions[i]
		c := &f.Self
		if opt.Total {
			c = &f.Total
		}
		if c.BaseSamples == 0 && c.HeadSamples == 0 {
			continue // only calls others
		}
		shift := f.Shift
		if opt.Total {
			shift = -1
		}
		if shift >= 0 && shown[shift] {
			continue
		}
		if opt.Limit > 0 && len(t.rows) > opt.Limit {
			hidden++
			hiddenDelta += c.Delta()
			continue
		}
		if shift >= 0 {
			shown[shift] = true
			s := &e.Shifts[shift]
			t.add(append(changeCells(&s.Net, format), f.DSO, shiftText(e, s, format))...)
			continue
		}
		t.add(append(changeCells(c, format), f.DSO, functionText(f))...)
	}
	if len(t.rows) == 1 {
		return nil
	}
	if err := t.write(w); err != nil {
		return err
	}
	if hidden > 0 {
		_, err := fmt.Fprintf(w, "(%d more functions, %s in all)\n", hidden, format.delta(hiddenDelta))
		return err
	}
	return nil
}

// functionOrder is the order of functions in a table: those that the user named first.
func functionOrder(e *compare.Event, opt DiffOptions) []int {
	var focus, rest []int
	for i := range e.Functions {
		if e.Functions[i].Focus {
			focus = append(focus, i)
		} else {
			rest = append(rest, i)
		}
	}
	if len(focus) > 0 {
		return focus
	}
	if opt.Total {
		sortByTotal(e, rest)
	}
	return rest
}

// functionText names a function, and says how it was matched if not by its name.
func functionText(f *compare.Function) string {
	switch f.Match.Kind {
	case align.Added:
		return f.Name + " (new)"
	case align.Removed:
		return f.Name + " (gone)"
	case align.Renamed, align.Normalized:
		if f.BaseName != f.Name {
			return fmt.Sprintf("%s (was %s: %s, confidence %.2f)", f.Name, f.BaseName, f.Match.Kind, f.Match.Confidence)
		}
	case align.Moved:
		if f.Match.Confidence == 1 {
			break // all of the file moved
		}
		return fmt.Sprintf("%s (was in %s)", f.Name, f.BaseDSO)
	}
	return f.Name
}

// shiftText names the parts of a cost shift.
func shiftText(e *compare.Event, s *compare.Shift, format costFormat) string {
	var parts []string
	for _, p := range s.Parts {
		f := &e.Functions[p]
		parts = append(parts, functionText(f)+" "+format.delta(f.Self.Delta()))
	}
	return fmt.Sprintf("moved under %s: %s", e.Functions[s.Caller].Name, strings.Join(parts, ", "))
}

func writeGroup(w io.Writer, e *compare.Event, g *compare.Group, opt DiffOptions) error {
	format := newCostFormat(e)
	t := changeTable(string(g.By))
	hidden, hiddenDelta := 0, 0.0
	for i := range g.Rows {
		c := &g.Rows[i].Self
		if opt.Limit > 0 && len(t.rows) > opt.Limit {
			hidden++
			hiddenDelta += c.Delta()
			continue
		}
		t.add(append(changeCells(c, format), g.Rows[i].Name)...)
	}
	if err := t.write(w); err != nil {
		return err
	}
	if hidden > 0 {
		_, err := fmt.Fprintf(w, "(%d more rows, %s in all)\n", hidden, format.delta(hiddenDelta))
		return err
	}
	return nil
}
