package branches

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/report/text"
)

// isSampled reports whether a table is of single addresses, counters or totals, not of
// stacks or a simulation.
func isSampled(t *branch.Table) bool {
	return t.Sampled != nil || t.Tier == branch.TierTotals
}

// writeSampled writes a table of samples of single addresses, of counters or totals.
func writeSampled(w io.Writer, t *branch.Table, opt Options) error {
	if err := writeSampledFacts(w, t); err != nil {
		return err
	}
	if err := writeSampledFunctions(w, t, opt); err != nil {
		return err
	}
	rows := opt.shown(t)
	limited := rows
	if opt.Limit > 0 && !opt.All {
		limited = rows[:min(opt.Limit, len(rows))]
	}
	if len(rows) > 0 {
		title := "branches that may be behind the samples"
		if s := t.Sampled; s != nil && s.Attribution.Exact == s.Attribution.Named {
			title = "branches that the samples are at"
		}
		if _, err := fmt.Fprintf(w, "\n%s\n", title); err != nil {
			return err
		}
		if err := text.WriteColumns(w, sampledColumns(), limited); err != nil {
			return err
		}
	}
	if len(t.Branches) > 0 {
		if err := writeNotShown(w, "branch", len(rows)-len(limited), len(t.Branches)-len(rows)); err != nil {
			return err
		}
	}
	return writeBranchAdvice(w, t, rows)
}

// writeNotShown says how many rows are missing.
func writeNotShown(w io.Writer, what string, more, few int) error {
	var left []string
	if more > 0 {
		left = append(left, text.Count(int64(more))+" more")
	}
	if few > 0 {
		left = append(left, fmt.Sprintf("%s with fewer than %d misses", text.Count(int64(few)), branch.MinMisses))
	}
	if left == nil {
		return nil
	}
	_, err := fmt.Fprintf(w, "(not shown: %s; --all shows every %s)\n", strings.Join(left, ", "), what)
	return err
}

func writeSampledFacts(w io.Writer, t *branch.Table) error {
	var names []string
	for i := range t.Events {
		if e := &t.Events[i]; e.Rates {
			names = append(names, branchEvent(e))
		}
	}
	head := fmt.Sprintf("tier %s (%s)", t.Tier, t.Tier.Describe())
	if t.Tier == branch.TierPrecise && t.Sampled != nil && t.Sampled.Attribution.Exact == 0 && t.Sampled.Attribution.Named > 0 {
		head += ", none of them at its branch"
	}
	if len(names) > 0 {
		head += " of " + strings.Join(names, ", ")
	}
	if _, err := fmt.Fprintln(w, text.Printable(head)); err != nil {
		return err
	}
	facts := text.Table{}
	add := facts.Fact
	add("input", t.Name)
	add("format", t.Format)
	add("tool", t.Tool)
	add("machine", strings.TrimSpace(t.Arch+" "+t.CPU))
	if t.Tier != branch.TierTotals {
		add("samples", branchAccount(&t.Samples))
	}
	for i := range t.Totals {
		addTotals(add, &t.Totals[i])
	}
	if t.Sampled != nil {
		a := &t.Sampled.Attribution
		add("branches", attribution(a))
		if a.Named > a.Exact {
			add("names", "an interrupt comes some instructions behind the branch: candidates are the branches within 8 instructions before it, by how likely each is; misses of samples with several are shared")
			add("intervals", "of the misses of a branch reach from none of the shared samples to all of them")
		}
	}
	if t.Tier == branch.TierTotals {
		add("branches", "none can be named: totals say how many misses there are, not where")
	}
	if c := t.Cost; c != nil {
		add("cost", fmt.Sprintf("%s to %s cycles a miss (%s)", text.Cycles(c.Lo), text.Cycles(c.Hi), c.Source))
	}
	for _, warning := range t.Warnings {
		add("warning", warning)
	}
	return facts.Write(w)
}

// addTotals adds lines for what a PMU counted.
func addTotals(add func(key, value string), t *branch.Totals) {
	of := ""
	if t.PMU != "" {
		of = t.PMU + ": "
	}
	line := func(key, event string, a *branch.Amount) {
		if a == nil {
			return
		}
		s := of + text.Count(int64(a.Value+0.5))
		if !a.Counted {
			s += fmt.Sprintf(" [%s, %s], from %s samples (worth %s of equal weight)", text.Count(int64(a.CI[0])), text.Count(int64(a.CI[1]+0.5)), text.Count(a.Samples), text.Digits(a.Effective))
		}
		add(key, s+" "+event)
	}
	line("misses", "of "+t.MissEvent, t.Misses)
	line("executed", "of "+t.BranchEvent, t.Branches)
	line("instructions", "of "+t.InstructionEvent, t.Instructions)
	line("cycles", "of "+t.CycleEvent, t.Cycles)
	switch {
	case t.Rate != nil:
		add("miss rate", of+missRatio(t.Rate, text.Percent)+" of branches")
	case t.RateRefused != "":
		add("miss rate", of+"refused: "+t.RateRefused)
	case t.Misses != nil && t.Branches == nil:
		add("miss rate", of+"unknown, branches were not counted")
	}
	switch {
	case t.MPKI != nil:
		add("MPKI", of+missRatio(t.MPKI, text.Digits)+" misses per 1,000 instructions")
	case t.MPKIRefused != "":
		add("MPKI", of+"refused: "+t.MPKIRefused)
	}
	if t.Source != "" && t.Source != "samples" {
		add("totals", of+"by "+t.Source)
	}
}

// sampledAccounting is what became of samples, in one line.
func sampledAccounting(t *branch.Table) string {
	if t.Tier == branch.TierTotals {
		return "no samples: totals of counters"
	}
	s := "samples: " + branchAccount(&t.Samples)
	if t.Sampled != nil {
		a := &t.Sampled.Attribution
		var unnamed int64
		for _, n := range a.Unnamed {
			unnamed += n
		}
		s += fmt.Sprintf("; of misses: %d in = %d with branches + %d functions only + %d not mapped", a.In, a.Named, unnamed, a.Unmapped)
	}
	return s
}

// missRatio is a ratio with its interval, or its upper bound.
func missRatio(r *branch.Ratio, format func(float64) string) string {
	switch {
	case r == nil:
		return "-"
	case r.Value == nil:
		return "< " + format(r.CI[1])
	case r.CI == nil:
		return format(*r.Value)
	}
	return fmt.Sprintf("%s [%s, %s]", format(*r.Value), format(r.CI[0]), format(r.CI[1]))
}

// attribution says what is known of the samples of misses.
func attribution(a *branch.Attribution) string {
	if a.In == 0 {
		return "no sample of misses"
	}
	var reasons []string
	for _, reason := range slices.SortedFunc(maps.Keys(a.Unnamed), func(x, y string) int {
		if a.Unnamed[x] != a.Unnamed[y] {
			return int(a.Unnamed[y] - a.Unnamed[x])
		}
		return strings.Compare(x, y)
	}) {
		reasons = append(reasons, fmt.Sprintf("%s: %s", reason, text.Count(a.Unnamed[reason])))
	}
	if a.Unmapped > 0 {
		reasons = append(reasons, "not mapped: "+text.Count(a.Unmapped))
	}
	why := ""
	if reasons != nil {
		why = " (" + strings.Join(reasons, ", ") + ")"
	}
	if a.Named == 0 {
		return "none can be named" + why
	}
	s := fmt.Sprintf("%s samples of misses = %s with candidates", text.Count(a.In), text.Count(a.Named-a.Exact))
	if a.Exact > 0 {
		s += fmt.Sprintf(" + %s at their branches", text.Count(a.Exact))
	}
	return s + fmt.Sprintf(" + %s without%s", text.Count(a.In-a.Named), why)
}

func writeSampledFunctions(w io.Writer, t *branch.Table, opt Options) error {
	var rows []*branch.Function
	for i := range t.Functions() {
		if f := &t.Functions()[i]; opt.All || f.Enough {
			rows = append(rows, f)
		}
	}
	few := 0
	for i := range t.Functions() {
		if f := &t.Functions()[i]; !f.Enough && !opt.All && f.Misses.Value > 0 {
			few++
		}
	}
	if len(rows) == 0 && few == 0 {
		return nil
	}
	limited := rows
	if opt.Limit > 0 && !opt.All {
		limited = rows[:min(opt.Limit, len(rows))]
	}
	of := "functions that the samples are in, misses per branch of samples there"
	if t.Tier == branch.TierCounters {
		of = "functions that the samples are in, misses per branch counted up to them"
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", of); err != nil {
		return err
	}
	if len(limited) > 0 {
		if err := text.WriteColumns(w, sampledFunctionColumns(), limited); err != nil {
			return err
		}
	}
	return writeNotShown(w, "function", len(rows)-len(limited), few)
}

func amountCell(a *branch.Amount) string {
	if a == nil {
		return "-"
	}
	return fmt.Sprintf("%s [%s, %s]", text.Weight(a.Value, "count"), text.Weight(a.CI[0], "count"), text.Weight(a.CI[1], "count"))
}

func shareCell(v *float64) string {
	if v == nil {
		return "-"
	}
	return text.Share(*v, 1)
}

func lostCell(c *[2]float64) string {
	if c == nil {
		return "-"
	}
	return text.Weight(c[0], "count") + " to " + text.Weight(c[1], "count")
}

func nameCell(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func sampledFunctionColumns() []text.Column[*branch.Function] {
	type f = *branch.Function
	return []text.Column[f]{
		text.Right("cycles lost", func(f f) string { return lostCell(f.CyclesLost) }),
		text.Right("misses", func(f f) string { return amountCell(&f.Misses) }),
		text.Right("of all", func(f f) string { return shareCell(f.Share) }),
		text.Right("miss rate", func(f f) string { return missRatio(f.Rate, text.Percent) }),
		text.Right("MPKI", func(f f) string { return missRatio(f.MPKI, text.Digits) }),
		text.Right("samples", func(f f) string { return text.Count(f.Misses.Samples) }),
		text.Left("pmu", func(f f) string { return nameCell(f.PMU) }),
		text.Left("dso", func(f f) string { return path.Base(f.DSO) }),
		text.Left("function", func(f f) string {
			if f.Name == "" {
				return "[all, without names]"
			}
			return f.Name
		}),
	}
}

func sampledColumns() []text.Column[*branch.Branch] {
	type b = *branch.Branch
	return []text.Column[b]{
		text.Right("cycles lost", func(b b) string { return lostCell(b.CyclesLost) }),
		text.Right("share", func(b b) string { return shareCell(b.Share) }),
		text.Right("misses", func(b b) string {
			s := text.Weight(*b.Misses, "count")
			if b.MissesCI != nil {
				s += fmt.Sprintf(" [%s, %s]", text.Weight(b.MissesCI[0], "count"), text.Weight(b.MissesCI[1], "count"))
			}
			return s
		}),
		text.Right("of all", func(b b) string { return shareCell(b.MissShare) }),
		text.Right("MPKI", func(b b) string {
			if b.MPKI == nil {
				return "-"
			}
			return fmt.Sprintf("%s [%s, %s]", text.Digits(b.MPKI.Value), text.Digits(b.MPKI.Lo), text.Digits(b.MPKI.Hi))
		}),
		text.Right("of executed", func(b b) string { return branchRate(b.Rate) }),
		text.Right("samples: alone/shared", func(b b) string {
			if b.Sampled == nil {
				return "-"
			}
			return text.Count(b.Sampled.ExclusiveSamples) + "/" + text.Count(b.Sampled.SharedSamples)
		}),
		text.Left("confidence", func(b b) string { return string(b.Known()) }),
		text.Left("kind", func(b b) string { return nameCell(string(b.Kind)) }),
		text.Left("pmu", func(b b) string { return nameCell(b.PMU) }),
		text.Left("dso", func(b b) string { return path.Base(b.DSO) }),
		text.Left("likeliest branch, or", func(b b) string { return branchPlace(b) + branchCandidates(b) }),
	}
}

// textCandidates is how many other branches a row of text names.
const textCandidates = 3

// branchCandidates are the other branches that a row may be of.
func branchCandidates(b *branch.Branch) string {
	if b.Sampled == nil {
		return ""
	}
	var s strings.Builder
	shown := b.Sampled.Candidates[:min(len(b.Sampled.Candidates), textCandidates)]
	for len(shown) > 0 && shown[len(shown)-1].Part < 0.01 {
		shown = shown[:len(shown)-1]
	}
	for i := range shown {
		c := &shown[i]
		fmt.Fprintf(&s, ", or %#x", c.Address)
		if c.Function != "" && c.Function != b.Function {
			s.WriteString(" " + c.Function)
		}
		if c.Offset != nil {
			fmt.Fprintf(&s, "+%#x", *c.Offset)
		}
		fmt.Fprintf(&s, " (%.0f%%)", 100*c.Part)
	}
	if n := b.Alternatives() - len(shown); n > 0 {
		fmt.Fprintf(&s, ", or %d more", n)
	}
	return s.String()
}
