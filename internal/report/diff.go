package report

import (
	"fmt"
	"io"
	"math"

	"profdiff/internal/compare"
	"profdiff/internal/run"
)

// DiffOptions say what of a comparison is shown.
type DiffOptions struct {
	// Limit is the number of functions by event, 0 for all.
	Limit int
}

// WriteDiff writes a comparison as text: per event the totals and the functions
// by absolute change of their self weight.
func WriteDiff(w io.Writer, c *compare.Comparison, opt DiffOptions) error {
	t := table{}
	t.add("base", sideName(c.Base))
	t.add("head", sideName(c.Head))
	for _, warning := range c.Warnings {
		t.add("warning", warning)
	}
	if err := t.write(w); err != nil {
		return err
	}
	for i := range c.Events {
		if err := writeDiffEvent(w, &c.Events[i], len(c.Base), len(c.Head), opt); err != nil {
			return err
		}
	}
	return nil
}

func sideName(side []*run.Run) string {
	if len(side) == 1 {
		return side[0].Name
	}
	return fmt.Sprintf("%d runs, %s … %s", len(side), side[0].Name, side[len(side)-1].Name)
}

func writeDiffEvent(w io.Writer, e *compare.Event, runsBase, runsHead int, opt DiffOptions) error {
	per := ""
	if runsBase > 1 || runsHead > 1 {
		per = " a run"
	}
	total := &e.Total
	if _, err := fmt.Fprintf(w, "\n%s: %s → %s%s, ratio %s %s; %s → %s samples\n95%% intervals cover %s; ~ marks changes within it\n",
		e.Name, formatWeight(total.Base, e.Unit), formatWeight(total.Head, e.Unit), per,
		formatRatio(total.Ratio()), formatInterval(total), formatCount(total.BaseSamples), formatCount(total.HeadSamples), e.Noise); err != nil {
		return err
	}
	if len(e.Functions) == 0 {
		return nil
	}
	t := table{right: []bool{false, true, true, true, true, true, true}}
	t.add("", "base", "samples", "head", "samples", "delta", "ratio", "95% interval", "dso", "function")
	hidden, hiddenDelta := 0, 0.0
	for i := range e.Functions {
		f := &e.Functions[i]
		if f.Self.BaseSamples == 0 && f.Self.HeadSamples == 0 {
			continue // only calls others
		}
		if opt.Limit > 0 && len(t.rows) > opt.Limit {
			hidden++
			hiddenDelta += f.Self.Delta()
			continue
		}
		mark := ""
		if f.Self.WithinNoise() {
			mark = "~"
		}
		t.add(mark,
			formatWeight(f.Self.Base, e.Unit), formatCount(f.Self.BaseSamples),
			formatWeight(f.Self.Head, e.Unit), formatCount(f.Self.HeadSamples),
			formatDelta(f.Self.Delta(), e.Unit), formatRatio(f.Self.Ratio()), formatInterval(&f.Self), f.DSO, f.Name)
	}
	if err := t.write(w); err != nil {
		return err
	}
	if hidden > 0 {
		_, err := fmt.Fprintf(w, "(%d more functions, %s in all)\n", hidden, formatDelta(hiddenDelta, e.Unit))
		return err
	}
	return nil
}

func formatInterval(c *compare.Change) string {
	if c.CI.Lo == 0 && math.IsInf(c.CI.Hi, 1) {
		return "[unknown]"
	}
	return "[" + formatBound(c.CI.Lo) + ", " + formatBound(c.CI.Hi) + "]"
}
