package predict

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"profdiff/internal/predict"
	"profdiff/internal/report/text"
)

// Options say how a prediction is shown.
type Options struct {
	// Width is that of the terminal: timelines stand beside each other if they fit.
	Width int
}

// WriteText writes a prediction as text: in full for one or a few loops, else a
// row for each.
func WriteText(w io.Writer, p *predict.Prediction, opt Options) error {
	if _, err := fmt.Fprintf(w, "predicted by %s\n", text.Printable(predictedBy(p.Machine))); err != nil {
		return err
	}
	if len(p.Results) > 3 {
		return writePredictionRows(w, p)
	}
	for _, r := range p.Results {
		if err := writeResult(w, r, opt); err != nil {
			return err
		}
	}
	return nil
}

// predictedBy is the toolchain and the model.
func predictedBy(m *predict.Machine) string {
	s := fmt.Sprintf("llvm-mca of LLVM %s for %s, model %s", m.Version, m.Model.CPU, m.Model.Name)
	if m.Model.StandIn != "" {
		s += " of " + m.Model.StandIn + " in its place"
	}
	if m.Core != nil {
		s += "; scheduled with the widths and latencies measured on " + m.Core.Name
	}
	return s + fmt.Sprintf("; refill after a misprediction %s cycles (%s)", text.Cycles(m.Refill), m.RefillSource)
}

func writeResult(w io.Writer, r *predict.Result, opt Options) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	facts := text.Table{}
	facts.Add("loop", r.Pair.Name)
	facts.Add("unit", r.Pair.Unit)
	facts.Add("rates", ratesText(r.Pair.Source))
	if err := facts.Write(w); err != nil {
		return err
	}
	if err := writeSplit(w, r); err != nil {
		return err
	}
	if err := writePaths(w, r); err != nil {
		return err
	}
	out := text.Table{}
	out.Add("speed-up, predicted", intervalText(&r.Speedup))
	if m := r.Pair.Measured; m != nil {
		out.Add("speed-up, measured", intervalText(m)+"  ("+r.Pair.MeasuredBy+")")
	}
	if r.Program != nil {
		out.Add("of the program, predicted", fmt.Sprintf("%s with %s of the samples in the loop", intervalText(r.Program), text.Share(*r.Pair.ProgramShare, 1)))
	}
	out.Add("break-even, predicted", breakEvenText(r.BreakEven, r.Pair.Source == predict.SourceAssumed))
	for _, f := range r.Flags {
		out.Add("flag", f)
	}
	if err := out.Write(w); err != nil {
		return err
	}
	if r.Timelines != nil {
		return writeTimelines(w, r.Timelines, opt.Width)
	}
	return nil
}

func ratesText(s predict.Source) string {
	switch s {
	case predict.SourceMeasured:
		return "measured: how often branches are taken and mispredicted is from branch stacks"
	case predict.SourceGiven:
		return "given on the command line"
	case predict.SourceKnown:
		return "known: how often branches are taken was counted, and their data is random with known odds"
	case predict.SourceSimulated:
		return "simulated: how often branches are taken was counted, mispredictions are Callgrind's where they are no more than the rarer direction"
	}
	return "assumed: nothing is known, each way is taken half of the time and half is mispredicted"
}

func intervalText(i *predict.Interval) string {
	return fmt.Sprintf("×%s [%s, %s]", text.Factor(i.Value), text.Factor(i.Lo), text.Factor(i.Hi))
}

// writeSplit writes where the cycles of a unit go.
func writeSplit(w io.Writer, r *predict.Result) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	t := text.Table{Right: []bool{false, true, true}}
	row := func(name string, of func(*predict.Cycles) string) {
		t.Add(name, of(&r.Base), of(&r.Head))
	}
	number := func(v float64) string { return text.Digits(v) }
	t.Add("predicted cycles per unit", "before", "after")
	row("issue", func(c *predict.Cycles) string { return number(c.Issue) })
	row("dependency", func(c *predict.Cycles) string { return number(c.Dependency) })
	row("taken branches", func(c *predict.Cycles) string { return number(c.Taken) })
	row("mispredictions", func(c *predict.Cycles) string { return number(c.Misses) })
	row("sum", func(c *predict.Cycles) string { return number(c.Total) })
	row("from three walks", func(c *predict.Cycles) string {
		return number(c.Lo) + " to " + number(c.Hi)
	})
	row("llvm-mca alone", func(c *predict.Cycles) string { return number(c.MCA) })
	row("instructions", func(c *predict.Cycles) string { return number(c.Instructions) })
	row("branches taken", func(c *predict.Cycles) string { return number(c.TakenBranches) })
	row("branches mispredicted", func(c *predict.Cycles) string { return number(c.Mispredicted) })
	row("cycles a misprediction", func(c *predict.Cycles) string {
		if c.Mispredicted == 0 {
			return "-"
		}
		return number(c.MissCost)
	})
	if err := t.Write(w); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// writePaths writes the ways through both sides.
func writePaths(w io.Writer, r *predict.Result) error {
	if len(r.Paths[0])+len(r.Paths[1]) == 0 {
		return nil
	}
	t := text.Table{Right: []bool{false, false, true, true, true}}
	t.Add("llvm-mca, predicted", "way", "instructions", "cycles of one run", "of each of many")
	for i, name := range []string{"before", "after"} {
		for _, p := range r.Paths[i] {
			way := p.Name
			if p.Listing {
				way = "listing, which is no way"
			}
			t.Add(name, way, strconv.Itoa(p.Instructions), text.Cycles(p.Once), text.Digits(p.Steady))
		}
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if !r.AllPaths {
		if _, err := fmt.Fprintln(w, "(there are more ways)"); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// breakEvenText says in words from how many mispredictions the code without branches is
// faster.
func breakEvenText(b *predict.BreakEven, assumed bool) string {
	if b == nil || b.Verdict == predict.NoBranches {
		return "neither side has more branches that data decide"
	}
	side := "after"
	if !b.Base {
		side = "before"
	}
	word := "now"
	if assumed {
		word = "assumed"
	}
	now := fmt.Sprintf("%s %s, %s a unit", word, text.Percent(b.MeasuredRate), text.Digits(b.MeasuredMisses))
	at := fmt.Sprintf("the branchless side (%s) wins above %s mispredicted, %s a unit", side, text.Percent(b.Rate), text.Digits(b.Misses))
	switch b.Verdict {
	case predict.AlwaysBranchless:
		return fmt.Sprintf("the branchless side (%s) wins at any rate of mispredictions (%s)", side, now)
	case predict.NeverBranchless:
		return fmt.Sprintf("the branchless side (%s) wins at no rate: it would take %s mispredicted (%s)", side, text.Percent(b.Rate), now)
	case predict.Undecided:
		return fmt.Sprintf("%s; %s: too close to say", at, now)
	case predict.AboveRate:
		return fmt.Sprintf("%s; %s: it wins", at, now)
	}
	return fmt.Sprintf("%s; %s: it loses", at, now)
}

// writePredictionRows writes a row for each loop.
func writePredictionRows(w io.Writer, p *predict.Prediction) error {
	t := text.Table{Right: []bool{false, true, true, true, true, true}}
	t.Add("loop", "before, predicted", "after, predicted", "speed-up, predicted", "measured", "break-even rate, predicted")
	for _, r := range p.Results {
		measured := "-"
		if m := r.Pair.Measured; m != nil {
			measured = intervalText(m)
		}
		rate := "-"
		if b := r.BreakEven; b != nil && b.Verdict != predict.NoBranches {
			switch b.Verdict {
			case predict.AlwaysBranchless:
				rate = "always"
			case predict.NeverBranchless:
				rate = "never"
			default:
				rate = text.Percent(b.Rate)
			}
			rate += ", now " + text.Percent(b.MeasuredRate)
		}
		t.Add(r.Pair.Name, text.Digits(r.Base.Total), text.Digits(r.Head.Total), intervalText(&r.Speedup), measured, rate)
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := t.Write(w); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for _, r := range p.Results {
		for _, f := range r.Flags {
			if !seen[f] {
				seen[f] = true
				if _, err := fmt.Fprintf(w, "flag  %s\n", text.Printable(f)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// writeTimelines writes two timelines beside each other if they fit, else one below the
// other. Rows stay as llvm-mca draws them.
func writeTimelines(w io.Writer, both *[2]predict.Timeline, width int) error {
	var columns [2][]string
	var widest [2]int
	for i := range both {
		columns[i] = timelineLines(&both[i], []string{"before", "after"}[i], " ")
		for _, line := range columns[i] {
			widest[i] = max(widest[i], utf8.RuneCountInString(line))
		}
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if widest[0]+4+widest[1] > width {
		for i := range columns {
			for _, line := range timelineLines(&both[i], []string{"before", "after"}[i], "\t") {
				if _, err := fmt.Fprintln(w, line); err != nil {
					return err
				}
			}
		}
		return nil
	}
	// The rulers of long timelines have two lines.
	for i := range columns {
		for missing := firstRow(columns[1-i]) - firstRow(columns[i]); missing > 0; missing-- {
			columns[i] = slices.Insert(columns[i], 2, "")
		}
	}
	for k := range max(len(columns[0]), len(columns[1])) {
		var left, right string
		if k < len(columns[0]) {
			left = columns[0][k]
		}
		if k < len(columns[1]) {
			right = columns[1][k]
		}
		line := left
		if right != "" {
			line += strings.Repeat(" ", widest[0]-utf8.RuneCountInString(left)) + "    " + right
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// firstRow is the first line of a timeline with an instruction.
func firstRow(lines []string) int {
	return max(0, slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "[") }))
}

// timelineLines are the lines of a timeline with what stands for the tabulator behind
// mnemonics.
func timelineLines(t *predict.Timeline, side, tab string) []string {
	lines := []string{side + ": " + text.Printable(t.Title), "predicted by llvm-mca, " + text.Printable(t.Note)}
	for i, line := range t.Lines {
		parts := strings.Split(line, "\t")
		for k := range parts {
			parts[k] = text.Printable(parts[k])
		}
		line = strings.Join(parts, tab)
		if t.Marks[i] != "" {
			line += "  <- " + t.Marks[i]
		}
		lines = append(lines, line)
	}
	return lines
}
