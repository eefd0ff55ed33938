package branches

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"strings"

	"profdiff/internal/report/text"
)

// writeSimulatedFacts writes what a simulation is of.
func writeSimulatedFacts(w io.Writer, d *Document) {
	var names []string
	var executed float64
	for _, e := range d.Events {
		switch e.Counts {
		case CountsBranches:
			executed += e.Weight
			fallthrough
		case CountsMisses:
			names = append(names, e.Name)
		}
	}
	fmt.Fprintf(w, "tier %s (%s by %s) of %s\n", d.Tier, d.Tier.Describe(), d.Input.Format, strings.Join(names, ", "))
	facts := text.Table{Prose: true}
	facts.Add("input", d.Input.Path)
	facts.Add("format", d.Input.Format)
	facts.Add("tool", d.Input.Tool)
	facts.Add("counts", "exact, of the whole run: "+simulatedCounts(d))
	facts.Add("prediction", fmt.Sprintf("of %s branches executed %s were mispredicted by a simple model of a predictor: a CPU learns patterns that it does not, and may mispredict returns, which it does not count", text.Count(int64(executed)), text.Count(d.Misses)))
	if d.ByLine {
		facts.Add("places", "the line is named, not the branch: a row is all branches of a line (callgrind --dump-instr=yes tells them apart)")
	}
	facts.Add("cost", cmp.Or(costText(d.Cost), "unknown, as is the CPU: --cpu or --miss-cost tell it"))
	for _, warning := range d.Warnings {
		facts.Add("warning", warning)
	}
	facts.Write(w)
}

// simulatedCounts are the totals by event.
func simulatedCounts(d *Document) string {
	var counts []string
	for _, e := range d.Events {
		s := e.Name + " " + text.Count(int64(e.Weight))
		if e.Unplaced > 0 {
			s += " (and " + text.Count(int64(e.Unplaced)) + " at no place)"
		}
		counts = append(counts, s)
	}
	return strings.Join(counts, ", ")
}

// whereByLine is the place of a row that is all branches of a line.
func (p *Place) whereByLine() string {
	s := "unknown line"
	if p.Line != 0 {
		s = fmt.Sprintf("line %d", p.Line)
	}
	if p.File != "" {
		s += " of " + path.Base(p.File)
	}
	if p.Function != "" {
		s += " in " + p.Function
	}
	return s
}
