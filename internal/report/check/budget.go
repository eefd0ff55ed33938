package check

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"profdiff/internal/budget"
	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// WriteProof writes whether budgets can fail and stay silent.
func WriteProof(w io.Writer, p *budget.Proof) error {
	t := text.Table{Names: []int{0, 1}, Spare: [][]int{{4}, {5}, {3}}, Prose: true}
	t.Add("injected", "budget", "verdict", "estimate", "bound", "limit", "")
	red := 0
	for i := range p.Injections {
		x := &p.Injections[i]
		columns := cells{estimate: "-", bound: "-", limit: "-"}
		if x.Claim != nil {
			n := newNumbers(x.Claim)
			columns = row(&Budget{Verdict: x.Verdict, Deciding: &n})
		}
		remark := x.Reason
		if x.Red() {
			red++
			if x.What != "" {
				remark = "red, as it must be"
			}
		} else if x.Claim != nil && x.Claim.RunsNeeded > 0 && x.Verdict == verdict.Inconclusive {
			remark += "; " + runsNeededText(x.Claim.Relative(), x.Claim.RunsNeeded, x.Claim.Method)
		}
		t.Add(text.Dash(x.What), x.ID, x.Verdict.Word(verdict.Amount), columns.estimate, columns.bound, columns.limit, remark)
		t.Paint(2, story.StyleOf(x.Verdict))
	}
	if err := t.Write(w); err != nil {
		return err
	}
	var b strings.Builder
	for i := range p.Replays {
		r := &p.Replays[i]
		switch {
		case r.Reason != "":
			fmt.Fprintf(&b, "%s against itself: not replayed: %s\n", r.Side, r.Reason)
		case len(r.Failed) > 0:
			fmt.Fprintf(&b, "%s against itself, %d runs a side in recorded order: %d of %d budgets fail though nothing changed: %s\n",
				r.Side, r.Runs, len(r.Failed), r.Tested, text.Printable(strings.Join(r.Failed, ", ")))
		default:
			fmt.Fprintf(&b, "%s against itself, %d runs a side in recorded order: green, %d budgets\n", r.Side, r.Runs, r.Tested)
		}
	}
	holds := "does not hold"
	if p.Holds() {
		holds = "holds"
	}
	fmt.Fprintf(&b, "proof %s: %d of %d budgets fail when their cost grows by twice the limit\n", holds, red, len(p.Injections))
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteExplanation writes what each limit costs.
func WriteExplanation(w io.Writer, list []budget.Explanation) error {
	t := text.Table{Right: []bool{false, false, true, true, true, true, true, true}, Names: []int{0}, Spare: [][]int{{4}, {5}, {2}, {3}, {1}}, Prose: true}
	t.Add("budget", "limit", "runs", "noise", "sampling", "between runs", "shows", "runs needed", "")
	for i := range list {
		e := &list[i]
		limit := e.Limit
		if e.Kind != budget.RelativeKind {
			limit = "≤ " + limit
			if e.Claim.Least {
				limit = "≥ " + e.Limit
			}
		}
		shows := "-"
		if !math.IsInf(e.Smallest, 0) {
			shows = claimFormat(e.Claim.Relative(), e.Claim.Unit)(e.Smallest)
		}
		runs, needed := "-", "-"
		if e.Runs > 0 {
			runs = strconv.Itoa(e.Runs)
		}
		if e.RunsNeeded > 0 {
			needed = strconv.Itoa(e.RunsNeeded)
			if e.RunsNeeded >= stats.MaxRuns {
				needed += "+"
			}
		}
		t.Add(e.ID, limit, runs, noiseText(e.Noise), noiseText(e.Sampling), noiseText(e.Between), shows, needed, e.Reason)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := io.WriteString(w, `noise: standard deviation of one run; shows: least true value that fails in 9 of 10 checks with these runs;
runs needed: a side, for twice the limit to fail, and for no change to pass, in 9 of 10 checks
`)
	return err
}

func noiseText(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return strconv.FormatFloat(100*v, 'f', 1, 64) + "%"
}

// WriteProposals writes limits that hold tighter.
func WriteProposals(w io.Writer, list []budget.Proposal) error {
	t := text.Table{Right: []bool{false, true, true}, Names: []int{0}, Spare: [][]int{{3}}, Prose: true}
	t.Add("budget", "now", "proposed", "bound", "")
	n := 0
	for i := range list {
		p := &list[i]
		proposed := "-"
		if p.Note == "" {
			proposed = p.New.String()
			n++
		}
		t.Add(p.ID, p.Now.String(), proposed, interval(text.Interval(p.Range), relativeValue), p.Note)
	}
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%d of %d limits can be tighter and still be told from noise\n", n, len(list))
	return err
}

// WriteDraft writes a first budget file.
func WriteDraft(w io.Writer, d *budget.Draft, normalize string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Functions that have %.0f%% of %s in %d %s. Limits are twice what 10 runs a side can\n# show; profdiff budget explain says what each costs.\n",
		100*d.Covered, comment(d.Event), d.Runs, text.Plural(d.Runs, "run", "runs"))
	fmt.Fprintf(&b, "version: 1\ndefaults:\n  event: %s\n  normalize: %s\n  require: {runs: 8}\n  min_effect: 0.2%%\n  exclude: {dso: [\"[kernel.kallsyms]\"]}\nbudgets:\n",
		yamlString(d.Event), yamlString(normalize))
	for i := range d.Entries {
		e := &d.Entries[i]
		noise := ""
		if !math.IsNaN(e.Noise) {
			noise = fmt.Sprintf(", varies by %.1f%% from run to run", 100*e.Noise)
		}
		fmt.Fprintf(&b, "  # %.1f%% of the cost%s; twice the limit takes %d runs a side\n", 100*e.Share, noise, e.RunsNeeded)
		fmt.Fprintf(&b, "  - id: %s\n    match: {function: %s", yamlString(e.ID), yamlString(e.Function))
		if e.DSO != "" {
			fmt.Fprintf(&b, ", dso: %s", yamlString(e.DSO))
		}
		warn := budget.Relative(math.Round(500*float64(e.Limit)) / 1000)
		fmt.Fprintf(&b, "}\n    limit: {warn: %s, fail: %s}\n", warn, e.Limit)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// comment is a text that ends no comment.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// yamlString is a text in double quotes, unless it is a plain word.
func yamlString(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r >= 0x80 || !(unicode.IsLetter(r) || unicode.IsDigit(r) || slices.Contains([]rune{'_', '-', '.'}, r))
	}) && unicode.IsLetter(rune(s[0])) && !slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s)) {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range strings.ToValidUTF8(s, "\ufffd") {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsControl(r) || r <= 0xffff && unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
