package branches

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/report/text"
)

// Options say which branches are shown.
type Options struct {
	// All shows every branch, else those with enough misses to say anything.
	All bool
	// Limit is the number of rows of text, 0 for all.
	Limit int
}

// shown are the branches that the options ask for.
func (o *Options) shown(t *branch.Table) (rows []*branch.Branch) {
	for i := range t.Branches {
		if b := &t.Branches[i]; o.All || b.Enough {
			rows = append(rows, b)
		}
	}
	return rows
}

// WriteText writes what a recording says of its branches as text.
func WriteText(w io.Writer, t *branch.Table, opt Options) error {
	if isSampled(t) {
		return writeSampled(w, t, opt)
	}
	if err := writeBranchFacts(w, t); err != nil {
		return err
	}
	rows := opt.shown(t)
	limited := rows
	if opt.Limit > 0 && !opt.All {
		limited = rows[:min(opt.Limit, len(rows))]
	}
	if len(limited) > 0 {
		if err := writeBranchRows(w, t, limited); err != nil {
			return err
		}
	}
	if err := writeNotShown(w, "branch", len(rows)-len(limited), len(t.Branches)-len(rows)); err != nil {
		return err
	}
	return writeBranchAdvice(w, t, rows)
}

func writeBranchFacts(w io.Writer, t *branch.Table) error {
	if t.Counted() {
		return writeSimulatedFacts(w, t)
	}
	var names []string
	for i := range t.Events {
		names = append(names, branchEvent(&t.Events[i]))
	}
	events := strings.Join(names, ", ")
	if events == "" {
		events = "no events"
	}
	if _, err := fmt.Fprintf(w, "tier %s (%s) of %s\n", t.Tier, t.Tier.Describe(), text.Printable(events)); err != nil {
		return err
	}
	facts := text.Table{}
	add := facts.Fact
	add("input", t.Name)
	add("format", t.Format)
	add("tool", t.Tool)
	add("machine", strings.TrimSpace(t.Arch+" "+t.CPU))
	add("samples", branchAccount(&t.Samples))
	add("entries", branchAccount(&t.Stacks.Entries))
	if r := t.Stacks.Ranges; r != (branch.Ranges{}) {
		add("code", fmt.Sprintf("%s stretches between branches decoded, %s lack a branch, %s without a binary", text.Count(r.Decoded), text.Count(r.Broken), text.Count(r.NoCode)))
	}
	switch {
	case t.Unknown != "":
		add("prediction", "unknown: "+t.Unknown+". Rates of misses are not known, only how often branches were executed")
	case t.Tier == branch.TierStacks:
		idle := "which are not counted"
		if slices.ContainsFunc(t.Branches, func(b branch.Branch) bool { return b.Rate != nil && b.Rate.Method == branch.ByCycles }) {
			idle = "which are counted where the cycles tell them"
		}
		add("prediction", fmt.Sprintf("of %s entries %s were mispredicted; stacks hold no misses that ended not taken, %s", text.Count(t.Stacks.Entries.Used), text.Count(t.Misses), idle))
	default:
		add("prediction", fmt.Sprintf("of %s entries %s were mispredicted", text.Count(t.Stacks.Entries.Used), text.Count(t.Misses)))
	}
	if t.Unknown == "" && t.Tier == branch.TierStacks {
		without := "without the oldest entry of each stack, before which it is not known what ran"
		if t.Stacks.FirstIndex > 0 {
			without += fmt.Sprintf(", and the newest %d, in which misses are not as frequent as they are", t.Stacks.FirstIndex)
		}
		add("rates", without)
	}
	if t.Scaled {
		add("counts", "estimates for the whole recording")
	} else {
		add("counts", "entries of stacks")
	}
	for i := range t.Totals {
		addTotals(add, &t.Totals[i])
	}
	if c := t.Cost; c != nil && t.Unknown == "" {
		add("cost", fmt.Sprintf("%s to %s cycles a miss (%s)", text.Cycles(c.Lo), text.Cycles(c.Hi), c.Source))
	}
	for _, warning := range t.Warnings {
		add("warning", warning)
	}
	return facts.Write(w)
}

// branchEvent describes an event in a few words.
func branchEvent(e *branch.Event) string {
	s := fmt.Sprintf("%s (%s samples", e.Name, text.Count(e.Samples))
	if e.Period > 0 {
		s += ", period " + strconv.FormatUint(e.Period, 10)
	}
	if e.Precise {
		s += ", precise"
	}
	return s + ")"
}

// branchAccount is a line in = used + dropped by reason.
func branchAccount(a *branch.Account) string {
	var dropped int64
	var reasons []string
	for _, reason := range slices.Sorted(maps.Keys(a.Dropped)) {
		dropped += a.Dropped[reason]
		reasons = append(reasons, fmt.Sprintf("%s: %d", reason, a.Dropped[reason]))
	}
	s := fmt.Sprintf("%d in = %d used + %d dropped", a.In, a.Used, dropped)
	if len(reasons) > 0 {
		s += " (" + strings.Join(reasons, ", ") + ")"
	}
	if a.Lost > 0 {
		s += fmt.Sprintf("; %d lost", a.Lost)
	}
	return s
}

// Accounting is what became of samples and entries, in one line.
func Accounting(t *branch.Table) string {
	if t.Counted() {
		return "no samples: all is counted: " + simulatedCounts(t)
	}
	if isSampled(t) {
		return sampledAccounting(t)
	}
	return "samples: " + branchAccount(&t.Samples) + "; entries: " + branchAccount(&t.Stacks.Entries)
}

type branchColumn = text.Column[*branch.Branch]

func writeBranchRows(w io.Writer, t *branch.Table, rows []*branch.Branch) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return text.WriteColumns(w, branchColumns(t), rows)
}

func branchColumns(t *branch.Table) []branchColumn {
	count := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return text.Weight(*v, "count")
	}
	simulated := t.Counted()
	columns := []branchColumn{
		text.Right("cycles lost", func(b *branch.Branch) string {
			if b.CyclesLost == nil {
				return "-"
			}
			return text.Weight(b.CyclesLost[0], "count") + " to " + text.Weight(b.CyclesLost[1], "count")
		}),
		text.Right("share", func(b *branch.Branch) string {
			if b.Share == nil {
				return "-"
			}
			return text.Share(*b.Share, 1)
		}),
		text.Right("misses", func(b *branch.Branch) string { return count(b.Misses) }),
		text.Right("of all", func(b *branch.Branch) string {
			if b.MissShare == nil {
				return "-"
			}
			return text.Share(*b.MissShare, 1)
		}),
		text.Right("MPKI", func(b *branch.Branch) string {
			if b.MPKI == nil {
				return "-"
			}
			if simulated {
				return text.Digits(b.MPKI.Value)
			}
			return fmt.Sprintf("%s [%s, %s]", text.Digits(b.MPKI.Value), text.Digits(b.MPKI.Lo), text.Digits(b.MPKI.Hi))
		}),
		text.Right("of taken", func(b *branch.Branch) string { return branchEstimate(b.TakenRate()) }),
		text.Right("of executed", func(b *branch.Branch) string { return branchRate(b.Rate) }),
		text.Right("n: missed/taken/all", func(b *branch.Branch) string {
			if simulated {
				return "-" // misses and executed have columns
			}
			s := text.Count(b.NMisses) + "/" + text.Count(b.NTaken) + "/"
			if b.NotTaken == nil {
				return s + "-"
			}
			return s + text.Count(b.N)
		}),
	}
	if t.Unknown != "" {
		columns = nil
	}
	if simulated {
		columns = append(columns, text.Right("executed", func(b *branch.Branch) string { return count(b.Executed) }))
	}
	return append(columns, []branchColumn{
		text.Right("taken", func(b *branch.Branch) string { return count(b.Taken) }),
		text.Right("not taken", func(b *branch.Branch) string { return count(b.NotTaken) }),
		text.Right("P(taken)", func(b *branch.Branch) string {
			if simulated && b.PTaken != nil {
				return text.Percent(b.PTaken.Value)
			}
			return branchEstimate(b.PTaken)
		}),
		text.Left("kind", func(b *branch.Branch) string {
			if b.Kind == branch.UnknownKind {
				return "-"
			}
			return string(b.Kind)
		}),
		text.Right("min(p,1-p)", func(b *branch.Branch) string {
			p, ok := b.MinP()
			if !ok {
				return "-"
			}
			return text.Percent(p)
		}),
		text.Left("class", func(b *branch.Branch) string {
			if len(b.Classes) == 0 {
				return "-"
			}
			var s []string
			for _, c := range b.Classes {
				s = append(s, string(c))
			}
			return strings.Join(s, " or ")
		}),
		text.Left("dso", func(b *branch.Branch) string {
			if b.DSO == "" {
				return "-"
			}
			return path.Base(b.DSO)
		}),
		text.Left("branch", branchPlace),
	}...)
}

// branchPlace is where a branch is: function and offset, what is inlined there, and
// the source line.
func branchPlace(b *branch.Branch) string {
	if b.ByLine {
		return branchLine(b)
	}
	s := fmt.Sprintf("%#x", b.Address)
	if b.Function != "" {
		s += " " + b.Function
		if b.Offset != nil {
			s += fmt.Sprintf("+%#x", *b.Offset)
		}
	}
	if n := len(b.Inlined); n > 1 {
		var names []string
		for _, f := range slices.Backward(b.Inlined[:n-1]) {
			names = append(names, f.Name)
		}
		s += " > " + strings.Join(names, " > ")
	}
	if b.File != "" {
		s += fmt.Sprintf(" (%s:%d)", path.Base(b.File), b.Line)
	}
	return s
}

// branchEstimate is a rate with its interval.
func branchEstimate(e *branch.Estimate) string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%s [%s, %s]", text.Percent(e.Value), text.Percent(e.Lo), text.Percent(e.Hi))
}

// branchRate is a rate with its interval, or its bounds.
func branchRate(r *branch.Rate) string {
	switch {
	case r == nil:
		return "-"
	case r.Method == branch.Counted:
		return text.Percent(*r.Value)
	case r.Value == nil:
		return fmt.Sprintf("%s to %s [%s, %s]", text.Percent(r.Bounds[0]), text.Percent(r.Bounds[1]), text.Percent(r.CI[0]), text.Percent(r.CI[1]))
	}
	return branchEstimate(&branch.Estimate{Value: *r.Value, Lo: r.CI[0], Hi: r.CI[1]})
}
