package check

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// WriteText writes an outcome as text: the outcome of the build and what decides it, a line for
// each budget, why those that did not pass did not, and notes.
func WriteText(w io.Writer, o *Document) error {
	said := append([]string{o.Sentence()}, o.also()...)
	if _, err := fmt.Fprintf(w, "%s\n\n", strings.Join(said, "\n")); err != nil {
		return err
	}
	t := text.Table{Right: []bool{false, false, true, false, false, true, true, true}, Names: []int{1, 8}, Spare: [][]int{{7}, {8}, {6}, {5}, {3}, {4}}}
	t.Add("verdict", "budget", "estimate", boundTitle(o.Alpha), "limit", o.Design.repeated(), "p (Holm)", "shows", "owner")
	for i := range o.Budgets {
		r := &o.Budgets[i]
		c := row(r)
		t.Add(markedVerdict(r), r.ID, c.estimate, c.bound, c.limit, c.runs, c.p, c.shows, cmp.Or(r.Owner, "-"))
		t.Paint(0, story.StyleOf(r.Verdict))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	var b strings.Builder
	for i := range o.Budgets {
		r := &o.Budgets[i]
		for _, reason := range reasons(r) {
			fmt.Fprintf(&b, "%s: %s\n", text.Printable(r.ID), text.Printable(reason))
		}
		for _, note := range r.Notes {
			fmt.Fprintf(&b, "note: %s: %s\n", text.Printable(r.ID), text.Printable(note))
		}
		if r.Waived {
			fmt.Fprintf(&b, "note: %s: %s\n", text.Printable(r.ID), text.Printable(waiverText(r.Waiver)))
		}
	}
	for _, d := range o.Discoveries {
		fmt.Fprintf(&b, "note: %s has no budget and costs %s %s\n", text.Printable(d.Name), text.Change(float64(d.Ratio)), interval(d.CI, relativeValue))
	}
	for _, note := range o.Notes {
		fmt.Fprintf(&b, "note: %s\n", text.Printable(note))
	}
	for _, warning := range o.Design.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", text.Printable(warning))
	}
	if o.Design.Normalization != "" {
		fmt.Fprintf(&b, "normalization: %s\n", text.Printable(o.Design.Normalization))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markedVerdict is a verdict with the circumstances.
func markedVerdict(r *Budget) string {
	if len(r.Marks) == 0 {
		return r.Verdict.Word(verdict.Amount)
	}
	return fmt.Sprintf("%s (%s)", r.Verdict.Word(verdict.Amount), strings.Join(r.Marks, ", "))
}

// reasons say why a budget did not pass, and what it would take.
func reasons(r *Budget) []string {
	list := append([]string{}, r.Reasons...)
	if r.Verdict == verdict.Inconclusive && r.Deciding != nil && r.Deciding.RunsNeeded > 0 && len(list) > 0 {
		list[len(list)-1] += "; " + runsNeededText(r.Deciding.Relative, r.Deciding.RunsNeeded, r.Deciding.Method)
	}
	return list
}

func runsNeededText(relative bool, runs int, m stats.Method) string {
	if m == stats.Clusters {
		return "needs about " + text.Count(int64(runs)) + " devices a release"
	}
	n := strconv.Itoa(runs)
	if runs >= stats.MaxRuns {
		n = strconv.Itoa(stats.MaxRuns) + " or more"
	}
	if relative {
		return "needs about " + n + " runs a side"
	}
	return "needs about " + n + " runs"
}

func waiverText(w *Waiver) string {
	s := fmt.Sprintf("waived up to %s until %s: %s", w.Ceiling, w.Until, w.Reason)
	if w.By != "" {
		s += ", by " + w.By
	}
	if w.Issue != "" {
		s += ", " + w.Issue
	}
	return s
}

// cells are the cells of one budget.
type cells struct{ what, estimate, bound, limit, runs, p, shows string }

func row(r *Budget) cells {
	c := r.Deciding
	if c == nil {
		return cells{"-", "-", "-", "-", "-", "-", "-"}
	}
	format := claimFormat(c.Relative, c.Unit)
	row := cells{what: c.What, estimate: format(float64(c.Estimate)), bound: c.Bound(r.Verdict, format), limit: limit(c), runs: "-", p: "-", shows: "-"}
	switch {
	case c.Relative && c.RunsBase+c.RunsHead > 0:
		row.runs = fmt.Sprintf("%d+%d", c.RunsBase, c.RunsHead)
	case c.RunsHead > 0:
		row.runs = strconv.Itoa(c.RunsHead)
	}
	if c.Limit != nil && c.Method != "" && c.Method != stats.Exact && !c.Predicted && row.bound != "-" {
		row.p = text.P(c.Adjusted)
	}
	if c.Smallest.Known() && c.Smallest > 0 {
		row.shows = format(float64(c.Smallest))
	}
	return row
}

func limit(c *Numbers) string {
	sign := ""
	if !c.Relative {
		sign = "≤ "
		if c.Least {
			sign = "≥ "
		}
	}
	switch {
	case c.FailText != "" && c.WarnText != "":
		return fmt.Sprintf("%s%s, warn %s", sign, c.FailText, c.WarnText)
	case c.FailText != "":
		return sign + c.FailText
	case c.WarnText != "":
		return "warn " + sign + c.WarnText
	}
	return "-"
}

// claimFormat formats values of a claim.
func claimFormat(relative bool, unit string) func(float64) string {
	if relative {
		return relativeValue
	}
	switch unit {
	case "percent":
		return percentValue
	case "nanoseconds":
		return func(v float64) string {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return "-"
			}
			return text.Weight(v, "nanoseconds")
		}
	case "samples":
		return func(v float64) string { return checkNumber(v) }
	case "bytes", "bytes/second", "bits/second", "count/second", "joules", "watts", "celsius":
		return func(v float64) string { return text.Amount(v, unit) }
	}
	return func(v float64) string {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "-"
		}
		if math.Abs(v) < 1 {
			return checkNumber(v)
		}
		return strings.TrimSpace(text.Weight(v, unit))
	}
}

// percentValue writes a part of 1 as a percentage.
func percentValue(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	if v > 0 && v < 0.01 {
		return strconv.FormatFloat(100*v, 'g', 3, 64) + "%"
	}
	return strconv.FormatFloat(100*v, 'f', 2, 64) + "%"
}

// checkNumber writes three significant digits.
func checkNumber(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	return strconv.FormatFloat(v, 'g', max(3, digitsBefore(v)), 64)
}

// digitsBefore is the number of digits before the point.
func digitsBefore(v float64) int {
	if math.Abs(v) < 1 {
		return 0
	}
	return int(math.Log10(math.Abs(v))) + 1
}

func relativeValue(ratio float64) string { return text.Change(ratio) }

func interval(i text.Interval, format func(float64) string) string {
	if math.IsNaN(i.Lo) && math.IsNaN(i.Hi) || i.Lo <= 0 && math.IsInf(i.Hi, 1) {
		return "-"
	}
	hi := format(i.Hi)
	if math.IsInf(i.Hi, 1) {
		hi = "∞"
	}
	return fmt.Sprintf("[%s, %s]", format(i.Lo), hi)
}

// boundWords say a bound in a sentence.
var boundWords = strings.NewReplacer(" ≤ ", ", at most ", " ≥ ", ", at least ", " > ", ", more than ")

// measured says what was measured, "" if nothing was.
func measured(c *cells) string {
	if c.estimate == "-" {
		return ""
	}
	s := c.estimate
	if c.bound != "-" {
		s += boundWords.Replace(" " + c.bound)
	}
	if c.what != "" && c.what != "-" {
		s += " of " + text.Printable(c.what)
	}
	return s
}

// message says in one line what a budget says.
func message(r *Budget) string {
	c := row(r)
	var b strings.Builder
	b.WriteString(markedVerdict(r))
	if m := measured(&c); m != "" {
		fmt.Fprintf(&b, ": %s", m)
	}
	if reasons := reasons(r); len(reasons) > 0 {
		fmt.Fprintf(&b, ": %s", strings.Join(reasons, "; "))
	}
	if c.limit != "-" {
		fmt.Fprintf(&b, " (limit %s)", c.limit)
	}
	if r.Owner != "" {
		fmt.Fprintf(&b, ", owner %s", r.Owner)
	}
	return text.Printable(b.String())
}

// repeated is what each side has several of.
func (d *Design) repeated() string {
	if d.Devices {
		return "devices"
	}
	return "runs"
}

// orderText says how the runs were recorded.
func orderText(d *Design) string {
	if d.Devices {
		return fmt.Sprintf("%d devices against %d, %s", d.RunsHead, d.RunsBase, d.Text)
	}
	if d.RunsBase == 0 {
		return fmt.Sprintf("%d runs", d.RunsHead)
	}
	order := d.Text
	if d.Order == verdict.UnknownOrder {
		order = "order unknown"
	}
	return fmt.Sprintf("%d runs against %d, %s", d.RunsHead, d.RunsBase, order)
}
