package branches

import (
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/report/story"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// WriteDiffText writes a comparison of branches as text: what was compared and how,
// what it should save, and so many branches, 0 for all, those whose misses changed most first.
func WriteDiffText(w io.Writer, d *DiffDocument, limit int) error {
	if limit <= 0 {
		limit = math.MaxInt
	}
	rows := pointers(d.Branches[:min(limit, len(d.Branches))])
	var left []string
	if n := len(d.Branches) - len(rows); n > 0 {
		left = append(left, text.Count(int64(n))+" more")
	}
	if d.Hidden > 0 {
		left = append(left, fmt.Sprintf("%s with fewer than %d misses on either side", text.Count(int64(d.Hidden)), MinMisses))
	}
	if n := d.HiddenFunctions; n > 0 {
		left = append(left, fmt.Sprintf("%s functions with fewer than %d samples on either side", text.Count(int64(n)), MinMisses))
	}
	return text.ScreenOf(w).Gather(func(out *text.Screen) {
		if len(d.Story.Sentences) > 0 {
			d.Story.Write(out)
			fmt.Fprintln(out)
		}
		writeBranchesDiffFacts(out, d)
		if len(rows) > 0 {
			fmt.Fprintln(out)
			text.WriteColumns(out, diffColumns(d), rows)
			writeBranchesDiffFunctions(out, d, rows)
		}
		writeFunctionsDiff(out, d, limit)
		if len(left) > 0 {
			fmt.Fprintf(out, "(not shown: %s)\n", strings.Join(left, ", "))
		}
	})
}

func writeBranchesDiffFacts(w io.Writer, d *DiffDocument) {
	t := text.Table{Prose: true}
	t.Add("base", sideText(d.Runs[0]))
	t.Add("head", sideText(d.Runs[1]))
	for _, s := range d.Different {
		t.Add("different", s+": nothing can be said of the program")
	}
	if len(d.Base) > 1 && len(d.Head) > 1 && !d.Counted {
		t.Add("order", d.Design.Text)
	}
	t.Add("misses", normalizedText(d))
	t.Add("tests", branchTests(d))
	if total := d.Total; total == nil {
		t.Add("total", "not added up: cores of several kinds had the misses")
	} else {
		t.Add("total", fmt.Sprintf("%s → %s misses per %s, ratio %s", text.Per(total.Base), text.Per(total.Head), d.Normalization.Unit, branchRatio(total)))
	}
	if s := d.Savings; s != nil {
		for _, line := range savingsText(d, s) {
			t.Add(line[0], line[1])
		}
	} else if len(d.Different) == 0 && d.Normalization.Mode != PerEntry {
		t.Add("predicted", "nothing, as what a miss costs is unknown: --cpu or --miss-cost tell it")
	}
	t.Fact("branches", d.Verdicts(false))
	for _, warning := range d.Warnings {
		t.Add("warning", warning)
	}
	t.Write(w)
}

// sideText names the runs of a side.
func sideText(runs []*Document) string {
	first := runs[0]
	kind := fmt.Sprintf("tier %s, %s", first.Tier, first.Tier.Describe())
	if first.Counted() {
		kind += " by " + first.Input.Format
	}
	if len(runs) == 1 {
		return fmt.Sprintf("%s (%s)", first.Input.Path, kind)
	}
	return fmt.Sprintf("%d runs, %s … %s (%s)", len(runs), first.Input.Path, runs[len(runs)-1].Input.Path, kind)
}

func normalizedText(d *DiffDocument) string {
	n := &d.Normalization
	s := "per " + n.Unit
	switch n.Mode {
	case PerWork:
		s += fmt.Sprintf(" (--ops), of which head did %s times as many", text.Ratio(float64(n.Factor)))
	case PerInstruction:
		s += fmt.Sprintf(", of which head executed %s times as many", text.Ratio(float64(n.Factor)))
	case PerReference:
		s += fmt.Sprintf(": head did %s times the work, by the branches of both", text.Ratio(float64(n.Factor)))
	case PerEntry:
		s += ": how often branches were executed in all is not known"
	default:
		s += ", as if both did the same work; --ops tells if not"
	}
	if n.Branches > 0 {
		s += fmt.Sprintf("; the branches of both were executed %s times as often (median of %d)", text.Ratio(float64(n.Executions)), n.Branches)
	}
	return s
}

// branchTests says how verdicts were found.
func branchTests(d *DiffDocument) string {
	if d.Counted {
		return fmt.Sprintf("none: all was counted, and %s is within %s", verdict.Unchanged.Word(verdict.Amount), formatMargin(d.Margin))
	}
	how := ""
	switch d.Method {
	case stats.Sampling, stats.SamplingExact:
		return "sampling noise of one run a side, exact for few misses: no verdict, as how much runs differ is unknown"
	case stats.Prediction:
		how = "one run against how much several differ"
	case stats.Welch:
		how = fmt.Sprintf("Welch's t between runs, %d and %d", len(d.Base), len(d.Head))
	case stats.MannWhitney:
		how = fmt.Sprintf("Mann-Whitney between runs, %d and %d", len(d.Base), len(d.Head))
	case stats.PairedT:
		how = fmt.Sprintf("t of the log ratios of %d pairs", d.Design.Pairs)
	case stats.SignedRank:
		how = fmt.Sprintf("signed ranks of %d pairs", d.Design.Pairs)
	default:
		how = string(d.Method)
	}
	return fmt.Sprintf("%s; of the verdicts at most %s are wrong on average (Benjamini-Hochberg over the branches shown)", how, formatMargin(verdict.FalseDiscovery))
}

func formatMargin(m float64) string { return strconv.FormatFloat(100*m, 'g', 3, 64) + " %" }

// savingsText says what the misses should save and what was measured.
func savingsText(d *DiffDocument, s *DiffSavings) (lines [][2]string) {
	unit := d.Normalization.Unit
	terms := fmt.Sprintf("%s misses at %s to %s cycles", text.Signed(s.Misses.Value), text.Cycles(s.MissCost.Lo), text.Cycles(s.MissCost.Hi))
	if i := s.Instructions; i != nil && *i != 0 {
		terms += fmt.Sprintf(", %s instructions at %.2f to %.2f a cycle (%s)", text.Signed(*i), s.IPC[0], s.IPC[1], s.IPCSource)
	}
	lines = append(lines, [2]string{"predicted", fmt.Sprintf("%s [%s, %s] cycles per %s: %s", text.Signed(s.Predicted.Value), text.Signed(float64(s.Predicted.CI[0])), text.Signed(float64(s.Predicted.CI[1])), unit, terms)})
	if s.Measured != nil {
		lines = append(lines, [2]string{"measured", fmt.Sprintf("%s cycles per %s: %s", text.Signed(*s.Measured), unit, s.Finding)})
	} else {
		lines = append(lines, [2]string{"measured", "nothing: neither the recordings nor --cycles tell the cycles of both sides"})
	}
	return lines
}

// branchRatio is a ratio with its interval if it was sampled.
func branchRatio(c *DiffChange) string {
	ratio := text.Ratio(float64(c.Ratio))
	if c.CI == nil {
		return ratio
	}
	return fmt.Sprintf("%s [%s, %s]", ratio, text.Bound(float64(c.CI[0])), text.Bound(float64(c.CI[1])))
}

func adjustedCell(c *DiffChange) string {
	if !c.Q.Known() {
		return "-"
	}
	return strconv.FormatFloat(float64(c.Q), 'g', 2, 64)
}

func diffColumns(d *DiffDocument) []text.Column[*DiffBranch] {
	side := func(s *DiffSide, v float64) string {
		if s == nil && v == 0 {
			return "-"
		}
		return text.Per(v)
	}
	misses := func(s *DiffSide) string {
		if s == nil {
			return "0"
		}
		return text.Count(s.NMisses)
	}
	return []text.Column[*DiffBranch]{
		text.Right("base", func(b *DiffBranch) string { return side(b.Base, b.Misses.Base) }).Spared(8),
		text.Right("head", func(b *DiffBranch) string { return side(b.Head, b.Misses.Head) }).Spared(9),
		text.Right("change", func(b *DiffBranch) string { return text.Signed(b.Misses.Delta) }),
		text.Right("ratio", func(b *DiffBranch) string { return branchRatio(&b.Misses) }).Spared(7),
		text.Right("q", func(b *DiffBranch) string { return adjustedCell(&b.Misses) }).Spared(4),
		text.Right("n: missed", func(b *DiffBranch) string {
			if d.Counted {
				return "-"
			}
			return misses(b.Base) + " → " + misses(b.Head)
		}).Spared(5),
		text.Right("rate", func(b *DiffBranch) string {
			if b.Rate == nil {
				return "-"
			}
			s := text.Percent(b.Rate.Base) + " → " + text.Percent(b.Rate.Head)
			if !b.RateOfAll {
				s += " of taken"
			}
			if !d.Counted {
				s += " (× " + branchRatio(b.Rate) + ")"
			}
			return s
		}).Spared(6),
		text.Left("verdict", func(b *DiffBranch) string { return b.Verdict.Word(verdict.Amount) }).Painted(func(b *DiffBranch) text.Style { return story.StyleOf(b.Verdict) }),
		text.Left("match", func(b *DiffBranch) string { return text.Dash(string(b.Match)) }).Spared(1),
		text.Left("kind", func(b *DiffBranch) string { return text.Dash(string(b.Either().Kind)) }).Spared(2),
		text.Left("dso", func(b *DiffBranch) string { return path.Base(b.Either().DSO) }).Spared(3),
		text.Prose("branch", func(b *DiffBranch) string {
			s := b.Either().where()
			if b.Base != nil && b.Head != nil && b.Base.Line != b.Head.Line {
				s += fmt.Sprintf(", line %d in head", b.Head.Line)
			}
			if b.Note != "" {
				s += ": " + b.Note
			}
			if b.ReplacedBy != nil {
				s += "; " + b.ReplacedBy.Now
			}
			return s
		}),
	}
}

// writeBranchesDiffFunctions writes the misses of functions that lost branches or got
// new ones.
func writeBranchesDiffFunctions(w io.Writer, d *DiffDocument, rows []*DiffBranch) {
	seen := make(map[*DiffFunction]bool)
	out := text.Table{Right: []bool{true, true, true}, Prose: true}
	out.Add("base", "head", "change", "all branches of a function that lost some or got new ones")
	for i := range rows {
		f := rows[i].Function
		if f == nil || seen[f] {
			continue
		}
		seen[f] = true
		out.Add(text.Per(f.Base), text.Per(f.Head), text.Signed(f.Head-f.Base), fmt.Sprintf("%s (%d → %d branches)", f.Name, f.BaseBranches, f.HeadBranches))
	}
	if len(seen) == 0 {
		return
	}
	fmt.Fprintln(w)
	out.Write(w)
}

// writeFunctionsDiff writes the misses in functions, of samples that do not tell the
// branch for sure.
func writeFunctionsDiff(w io.Writer, d *DiffDocument, limit int) {
	rows := d.Functions[:min(limit, len(d.Functions))]
	if len(rows) == 0 {
		return
	}
	fmt.Fprintln(w)
	cores := slices.ContainsFunc(rows, func(f FunctionDiff) bool { return f.Core != "" })
	out := text.Table{Right: []bool{true, true, true, true, true, true}, Names: []int{7, 8}, Spare: [][]int{{7}, {4}, {5}, {3}, {0}, {1}}}
	head := []string{"base", "head", "change", "ratio", "q", "samples", "verdict", "dso", "function"}
	if cores {
		head = append(head[:7], "core", "dso", "function")
		out.Names, out.Spare = []int{8, 9}, append([][]int{{8}}, out.Spare[1:]...)
	}
	out.Add(head...)
	for i := range rows {
		f := &rows[i]
		name := f.Name
		switch {
		case name == "":
			name = f.BaseName
		case f.BaseName != "" && f.BaseName != name:
			name += ", in base " + f.BaseName
		}
		line := []string{
			text.Per(f.Misses.Base), text.Per(f.Misses.Head), text.Signed(f.Misses.Delta), branchRatio(&f.Misses), adjustedCell(&f.Misses),
			text.Count(f.BaseSamples) + " → " + text.Count(f.HeadSamples), f.Verdict.Word(verdict.Amount), f.DSO, name,
		}
		if cores {
			line = append(line[:7], f.Core, f.DSO, name)
		}
		out.Add(line...)
		out.Paint(6, story.StyleOf(f.Verdict))
	}
	out.Write(w)
	if n := len(d.Functions) - len(rows); n > 0 {
		fmt.Fprintf(w, "(not shown: %s more functions)\n", text.Count(int64(n)))
	}
}
