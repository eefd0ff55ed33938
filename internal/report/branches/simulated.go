package branches

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/report/text"
)

// writeSimulatedFacts writes what a simulation is of.
func writeSimulatedFacts(w io.Writer, t *branch.Table) error {
	var names []string
	var executed float64
	for _, e := range t.Events {
		switch e.Counts {
		case branch.CountsBranches:
			executed += e.Weight
			fallthrough
		case branch.CountsMisses:
			names = append(names, e.Name)
		}
	}
	if _, err := fmt.Fprintf(w, "tier %s (%s by %s) of %s\n", t.Tier, t.Tier.Describe(), t.Format, strings.Join(names, ", ")); err != nil {
		return err
	}
	facts := text.Table{}
	facts.Add("input", t.Name)
	facts.Add("format", t.Format)
	facts.Add("tool", t.Tool)
	facts.Add("counts", "exact, of the whole run: "+simulatedCounts(t))
	facts.Add("prediction", fmt.Sprintf("of %s branches executed %s were mispredicted by a simple model of a predictor: a CPU learns patterns that it does not, and may mispredict returns, which it does not count", text.Count(int64(executed)), text.Count(t.Misses)))
	if slices.ContainsFunc(t.Branches, func(b branch.Branch) bool { return b.ByLine }) {
		facts.Add("places", "the line is named, not the branch: a row is all branches of a line (callgrind --dump-instr=yes tells them apart)")
	}
	if c := t.Cost; c != nil {
		facts.Add("cost", fmt.Sprintf("%s to %s cycles a miss (%s)", text.Cycles(c.Lo), text.Cycles(c.Hi), c.Source))
	} else {
		facts.Add("cost", "unknown, as is the CPU: --cpu or --miss-cost tell it")
	}
	for _, warning := range t.Warnings {
		facts.Add("warning", warning)
	}
	return facts.Write(w)
}

// simulatedCounts are the totals by event.
func simulatedCounts(t *branch.Table) string {
	var counts []string
	for _, e := range t.Events {
		s := e.Name + " " + text.Count(int64(e.Weight))
		if e.Unplaced > 0 {
			s += " (and " + text.Count(int64(e.Unplaced)) + " at no place)"
		}
		counts = append(counts, s)
	}
	return strings.Join(counts, ", ")
}

// branchLine is the place of a row that is all branches of a line.
func branchLine(b *branch.Branch) string {
	s := "unknown line"
	if b.Line != 0 {
		s = fmt.Sprintf("line %d", b.Line)
	}
	if b.File != "" {
		s += " of " + path.Base(b.File)
	}
	if b.Function != "" {
		s += " in " + b.Function
	}
	return s
}
