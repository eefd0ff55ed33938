package branches

import (
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/report/text"
)

// WriteText writes what a recording says of its branches as text, so many rows of a table, 0
// for all.
func WriteText(w io.Writer, d *Document, limit int) error {
	if d.All || limit <= 0 {
		limit = math.MaxInt
	}
	return text.ScreenOf(w).Gather(func(out *text.Screen) {
		if d.Sampled() {
			writeSampledFacts(out, d)
			writeSampledFunctions(out, d, limit)
		} else {
			writeBranchFacts(out, d)
		}
		if rows := pointers(d.Branches[:min(limit, len(d.Branches))]); len(rows) > 0 {
			fmt.Fprintf(out, "%s\n", branchTitle(d))
			text.WriteColumns(out, d.columns(), rows)
		}
		writeNotShown(out, "branch", max(0, len(d.Branches)-limit), d.Hidden)
		writeBranchAdvice(out, d)
	})
}

// branchTitle is above the table of branches.
func branchTitle(d *Document) string {
	switch a := d.Attribution; {
	case !d.Sampled():
		return ""
	case a != nil && a.Exact == a.Named:
		return "\nbranches that the samples are at"
	}
	return "\nbranches that may be behind the samples"
}

// columns lists the columns of the table of branches.
func (d *Document) columns() []text.Column[*Branch] {
	if d.Sampled() {
		return sampledColumns()
	}
	return branchColumns(d)
}

// pointers are the rows of a table.
func pointers[T any](list []T) []*T {
	rows := make([]*T, len(list))
	for i := range list {
		rows[i] = &list[i]
	}
	return rows
}

func writeBranchFacts(w io.Writer, d *Document) {
	if d.Counted() {
		writeSimulatedFacts(w, d)
		return
	}
	var names []string
	for i := range d.Events {
		names = append(names, branchEvent(&d.Events[i]))
	}
	events := strings.Join(names, ", ")
	if events == "" {
		events = "no events"
	}
	fmt.Fprintf(w, "tier %s (%s) of %s\n", d.Tier, d.Tier.Describe(), text.Printable(events))
	facts := text.Table{Prose: true}
	add := facts.Fact
	d.Input.add(add)
	add("samples", accountText(&d.Samples))
	add("entries", accountText(&d.Entries))
	if r := d.Ranges; r != (Ranges{}) {
		add("code", fmt.Sprintf("%s stretches between branches decoded, %s lack a branch, %s without a binary", text.Count(r.Decoded), text.Count(r.Broken), text.Count(r.NoCode)))
	}
	missed := fmt.Sprintf("of %s entries %s were mispredicted", text.Count(d.Entries.Used), text.Count(d.Misses))
	switch {
	case !d.Prediction.Known:
		add("prediction", "unknown: "+d.Prediction.Reason+". Rates of misses are not known, only how often branches were executed")
	case d.Tier == TierStacks:
		idle := "which are not counted"
		if d.ByCycles {
			idle = "which are counted where the cycles tell them"
		}
		add("prediction", missed+"; stacks hold no misses that ended not taken, "+idle)
		without := "without the oldest entry of each stack, before which it is not known what ran"
		if d.FirstIndex > 0 {
			without += fmt.Sprintf(", and the newest %d, in which misses are not as frequent as they are", d.FirstIndex)
		}
		add("rates", without)
	default:
		add("prediction", missed)
	}
	add("counts", d.counts())
	for i := range d.Totals.PMUs {
		addTotals(add, &d.Totals.PMUs[i])
	}
	add("cost", costText(d.MissCost))
	for _, warning := range d.Warnings {
		add("warning", warning)
	}
	facts.Write(w)
}

// add adds lines of what the recording is.
func (in *Input) add(add func(key, value string)) {
	add("input", in.Path)
	add("format", in.Format)
	add("tool", in.Tool)
	add("machine", strings.TrimSpace(in.Arch+" "+in.CPU))
}

// costText is what a miss costs, "" if that is not known.
func costText(c *Cost) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf("%s to %s cycles a miss (%s)", text.Cycles(c.Lo), text.Cycles(c.Hi), c.Source)
}

// counts says what counts are of.
func (d *Document) counts() string {
	switch {
	case d.Counted():
		return "exact, of the whole run"
	case d.Scaled():
		return "estimates for the whole recording"
	}
	return "entries of stacks"
}

// branchEvent describes an event in a few words.
func branchEvent(e *Event) string {
	s := fmt.Sprintf("%s (%s samples", e.Name, text.Count(e.Samples))
	if e.Period > 0 {
		s += ", period " + strconv.FormatUint(e.Period, 10)
	}
	if e.Precise {
		s += ", precise"
	}
	return s + ")"
}

// accountText is a line in = used + dropped by reason.
func accountText(a *Account) string {
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
func Accounting(d *Document) string {
	if d.Counted() {
		return "no samples: all is counted: " + simulatedCounts(d)
	}
	if d.Sampled() {
		return sampledAccounting(d)
	}
	return "samples: " + accountText(&d.Samples) + "; entries: " + accountText(&d.Entries)
}

func branchColumns(d *Document) []text.Column[*Branch] {
	count := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return text.Weight(*v, "count")
	}
	simulated := d.Counted()
	columns := []text.Column[*Branch]{
		text.Right("cycles lost", func(b *Branch) string { return lostCell(b.CyclesLost) }).Spared(14),
		text.Right("share", func(b *Branch) string { return shareCell(b.Share) }).Spared(10),
		text.Right("misses", func(b *Branch) string { return count(b.Misses) }),
		text.Right("of all", func(b *Branch) string { return shareCell(b.MissShare) }).Spared(12),
		text.Right("MPKI", func(b *Branch) string { return b.MPKI.cell(text.Digits) }).Spared(9),
		text.Right("of taken", func(b *Branch) string { return b.TakenRate.cell(text.Percent) }).Spared(8),
		text.Right("of executed", func(b *Branch) string { return rateCell(b) }).Spared(13),
		text.Right("n: missed/taken/all", func(b *Branch) string {
			if simulated {
				return "-" // misses and executed have columns
			}
			s := text.Count(*b.NMisses) + "/" + text.Count(*b.NTaken) + "/"
			if b.NotTaken == nil {
				return s + "-"
			}
			return s + text.Count(b.N)
		}).Spared(4),
	}
	if !d.Prediction.Known {
		columns = nil
	}
	if simulated {
		columns = append(columns, text.Right("executed", func(b *Branch) string { return count(b.Executed) }))
	}
	return append(columns, []text.Column[*Branch]{
		text.Right("taken", func(b *Branch) string { return count(b.Taken) }).Spared(3),
		text.Right("not taken", func(b *Branch) string { return count(b.NotTaken) }).Spared(2),
		text.Right("P(taken)", func(b *Branch) string { return b.PTaken.cell(text.Percent) }).Spared(11),
		text.Left("kind", func(b *Branch) string { return text.Dash(string(b.Kind)) }).Spared(7),
		text.Right("min(p,1-p)", func(b *Branch) string {
			if b.MinP == nil {
				return "-"
			}
			return text.Percent(*b.MinP)
		}).Spared(1),
		text.Left("class", func(b *Branch) string { return text.Dash(strings.Join(b.Classes, " or ")) }).Spared(6),
		text.Left("dso", func(b *Branch) string {
			if b.DSO == "" {
				return "-"
			}
			return path.Base(b.DSO)
		}).Spared(5),
		text.Names("branch", func(b *Branch) string { return b.where() }),
	}...)
}

// where is the place of a branch: function and offset, what is inlined there, and the
// source line.
func (p *Place) where() string {
	if p.ByLine() {
		return p.whereByLine()
	}
	var s strings.Builder
	s.WriteString(p.Address)
	if p.Function != "" {
		s.WriteString(" " + p.Function)
		if p.Offset != nil {
			s.WriteString(fmt.Sprintf("+%#x", *p.Offset))
		}
	}
	if n := len(p.Inlined); n > 1 {
		for _, f := range slices.Backward(p.Inlined[:n-1]) {
			s.WriteString(" > " + f.Function)
		}
	}
	if p.File != "" {
		s.WriteString(fmt.Sprintf(" (%s:%d)", path.Base(p.File), p.Line))
	}
	return s.String()
}

// cell is a value with its interval, unless it was counted.
func (e *Estimate) cell(format func(float64) string) string {
	if e == nil {
		return "-"
	}
	return (&Ratio{&e.Value, e.CI}).Text(format)
}

// rateCell is a rate with its interval, or its bounds.
func rateCell(b *Branch) string {
	switch {
	case b.RateMethod == "":
		return "-"
	case b.Rate == nil:
		return fmt.Sprintf("%s to %s [%s, %s]", text.Percent(b.RateBounds[0]), text.Percent(b.RateBounds[1]), text.Percent(b.CI[0]), text.Percent(b.CI[1]))
	}
	return (&Estimate{*b.Rate, b.CI}).cell(text.Percent)
}
