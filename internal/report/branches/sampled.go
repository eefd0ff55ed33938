package branches

import (
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"profdiff/internal/report/text"
)

// writeNotShown says how many rows are missing.
func writeNotShown(w io.Writer, what string, more, few int) {
	var left []string
	if more > 0 {
		left = append(left, text.Count(int64(more))+" more")
	}
	if few > 0 {
		left = append(left, fmt.Sprintf("%s with fewer than %d misses", text.Count(int64(few)), MinMisses))
	}
	if left == nil {
		return
	}
	fmt.Fprintf(w, "(not shown: %s; --all shows every %s)\n", strings.Join(left, ", "), what)
}

func writeSampledFacts(w io.Writer, d *Document) {
	var names []string
	for i := range d.Events {
		if e := &d.Events[i]; e.Rates {
			names = append(names, branchEvent(e))
		}
	}
	head := fmt.Sprintf("tier %s (%s)", d.Tier, d.Tier.Describe())
	if a := d.Attribution; d.Tier == TierPrecise && a != nil && a.Exact == 0 && a.Named > 0 {
		head += ", none of them at its branch"
	}
	if len(names) > 0 {
		head += " of " + strings.Join(names, ", ")
	}
	fmt.Fprintln(w, text.Printable(head))
	facts := text.Table{Prose: true}
	add := facts.Fact
	d.Input.add(add)
	if !d.Totaled() {
		add("samples", accountText(&d.Samples))
	}
	for i := range d.Totals.PMUs {
		addTotals(add, &d.Totals.PMUs[i])
	}
	if a := d.Attribution; a != nil {
		add("branches", attribution(a))
		if a.Named > a.Exact {
			add("names", "an interrupt comes some instructions behind the branch: candidates are the branches within 8 instructions before it, by how likely each is; misses of samples with several are shared")
			add("intervals", "of the misses of a branch reach from none of the shared samples to all of them")
		}
	}
	if d.Totaled() {
		add("branches", "none can be named: totals say how many misses there are, not where")
	}
	add("cost", costText(d.Cost))
	for _, warning := range d.Warnings {
		add("warning", warning)
	}
	facts.Write(w)
}

// addTotals adds lines for what a PMU counted.
func addTotals(add func(key, value string), t *PMU) {
	of := ""
	if t.PMU != "" {
		of = t.PMU + ": "
	}
	line := func(key string, a *Amount) {
		if a == nil {
			return
		}
		s := of + text.Count(int64(a.Value+0.5))
		if a.CI != nil {
			s += fmt.Sprintf(" [%s, %s], from %s samples (worth %s of equal weight)", text.Count(int64(a.CI[0])), text.Count(int64(a.CI[1]+0.5)), text.Count(a.Samples), text.Digits(a.NEff))
		}
		add(key, s+" of "+a.Event)
	}
	line("misses", t.Misses)
	line("executed", t.Branches)
	line("instructions", t.Instructions)
	line("cycles", t.Cycles)
	switch {
	case t.Rate != nil:
		add("miss rate", of+t.Rate.Text(text.Percent)+" of branches")
	case t.RateRefused != "":
		add("miss rate", of+"refused: "+t.RateRefused)
	case t.Misses != nil && t.Branches == nil:
		add("miss rate", of+"unknown, branches were not counted")
	}
	switch {
	case t.MPKI != nil:
		add("MPKI", of+t.MPKI.Text(text.Digits)+" misses per 1,000 instructions")
	case t.MPKIRefused != "":
		add("MPKI", of+"refused: "+t.MPKIRefused)
	}
	if t.Source != "" && t.Source != "samples" {
		add("totals", of+"by "+t.Source)
	}
}

// sampledAccounting is what became of samples, in one line.
func sampledAccounting(d *Document) string {
	if d.Totaled() {
		return "no samples: totals of counters"
	}
	s := "samples: " + accountText(&d.Samples)
	if a := d.Attribution; a != nil {
		var unnamed int64
		for _, n := range a.Unnamed {
			unnamed += n
		}
		s += fmt.Sprintf("; of misses: %d in = %d with branches + %d functions only + %d not mapped", a.In, a.Named, unnamed, a.Unmapped)
	}
	return s
}

// attribution says what is known of the samples of misses.
func attribution(a *Attribution) string {
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

func writeSampledFunctions(w io.Writer, d *Document, limit int) {
	var rows []*Function
	few := 0
	for i := range d.Functions {
		switch f := &d.Functions[i]; {
		case d.All || f.Enough:
			rows = append(rows, f)
		case f.Misses.Value > 0:
			few++
		}
	}
	if len(rows) == 0 && few == 0 {
		return
	}
	limited := rows[:min(limit, len(rows))]
	of := "functions that the samples are in, misses per branch of samples there"
	if d.Tier == TierCounters {
		of = "functions that the samples are in, misses per branch counted up to them"
	}
	fmt.Fprintf(w, "\n%s\n", of)
	if len(limited) > 0 {
		text.WriteColumns(w, sampledFunctionColumns(), limited)
	}
	writeNotShown(w, "function", len(rows)-len(limited), few)
}

func amountCell(a *Amount) string {
	lo, hi := a.Interval()
	return fmt.Sprintf("%s [%s, %s]", text.Weight(a.Value, "count"), text.Weight(lo, "count"), text.Weight(hi, "count"))
}

func shareCell(v *float64) string {
	if v == nil {
		return "-"
	}
	return text.Share(*v, 1)
}

func lostCell(c []float64) string {
	if c == nil {
		return "-"
	}
	return text.Weight(c[0], "count") + " to " + text.Weight(c[1], "count")
}

func sampledFunctionColumns() []text.Column[*Function] {
	type f = *Function
	return []text.Column[f]{
		text.Right("cycles lost", func(f f) string { return lostCell(f.CyclesLost) }).Spared(7),
		text.Right("misses", func(f f) string { return amountCell(f.Misses) }),
		text.Right("of all", func(f f) string { return shareCell(f.MissShare) }).Spared(5),
		text.Right("miss rate", func(f f) string { return text.Dash(f.Rate.Text(text.Percent)) }).Spared(6),
		text.Right("MPKI", func(f f) string { return text.Dash(f.MPKI.Text(text.Digits)) }).Spared(3),
		text.Right("samples", func(f f) string { return text.Count(f.Misses.Samples) }).Spared(4),
		text.Left("pmu", func(f f) string { return text.Dash(f.PMU) }).Spared(1),
		text.Left("dso", func(f f) string { return path.Base(f.DSO) }).Spared(2),
		text.Names("function", func(f f) string {
			if f.Function == "" {
				return "[all, without names]"
			}
			return f.Function
		}),
	}
}

func sampledColumns() []text.Column[*Branch] {
	type b = *Branch
	return []text.Column[b]{
		text.Right("cycles lost", func(b b) string { return lostCell(b.CyclesLost) }).Spared(10),
		text.Right("share", func(b b) string { return shareCell(b.Share) }).Spared(8),
		text.Right("misses", func(b b) string {
			s := text.Weight(*b.Misses, "count")
			if b.MissesCI != nil {
				s += fmt.Sprintf(" [%s, %s]", text.Weight(b.MissesCI[0], "count"), text.Weight(b.MissesCI[1], "count"))
			}
			return s
		}),
		text.Right("of all", func(b b) string { return shareCell(b.MissShare) }).Spared(7),
		text.Right("MPKI", func(b b) string { return b.MPKI.cell(text.Digits) }).Spared(4),
		text.Right("of executed", func(b b) string { return rateCell(b) }).Spared(9),
		text.Right("samples: alone/shared", func(b b) string {
			if b.Sampled == nil {
				return "-"
			}
			return text.Count(b.Sampled.ExclusiveSamples) + "/" + text.Count(b.Sampled.SharedSamples)
		}).Spared(5),
		text.Left("confidence", func(b b) string { return string(b.Confidence) }).Spared(6),
		text.Left("kind", func(b b) string { return text.Dash(string(b.Kind)) }).Spared(3),
		text.Left("pmu", func(b b) string { return text.Dash(b.PMU) }).Spared(1),
		text.Left("dso", func(b b) string { return path.Base(b.DSO) }).Spared(2),
		text.Prose("likeliest branch, or", func(b b) string { return b.where() + branchCandidates(b) }),
	}
}

// textCandidates is how many other branches a row of text names.
const textCandidates = 3

// branchCandidates are the other branches that a row may be of.
func branchCandidates(b *Branch) string {
	var s strings.Builder
	shown := b.Candidates[:min(len(b.Candidates), textCandidates)]
	for len(shown) > 0 && shown[len(shown)-1].Part < 0.01 {
		shown = shown[:len(shown)-1]
	}
	for i := range shown {
		c := &shown[i]
		s.WriteString(", or " + c.Address)
		if c.Function != "" && c.Function != b.Function {
			s.WriteString(" " + c.Function)
		}
		if c.Offset != nil {
			fmt.Fprintf(&s, "+%#x", *c.Offset)
		}
		fmt.Fprintf(&s, " (%.0f%%)", 100*c.Part)
	}
	if n := b.Others() - len(shown); n > 0 {
		fmt.Fprintf(&s, ", or %d more", n)
	}
	return s.String()
}
