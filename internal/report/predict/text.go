package predict

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"profdiff/internal/report/text"
)

// Options say how a prediction is shown.
type Options struct {
	// Width is how wide the terminal is: timelines stand beside each other if they fit.
	Width int
}

// WriteText writes a prediction as text: in full for one or a few loops, else a
// row for each.
func WriteText(w io.Writer, d *Document, opt Options) error {
	if _, err := fmt.Fprintf(w, "predicted by %s\n", text.Printable(predictedBy(&d.Toolchain))); err != nil {
		return err
	}
	if len(d.Loops) > 3 {
		return writePredictionRows(w, d)
	}
	for i := range d.Loops {
		if err := writeLoop(w, &d.Loops[i], opt); err != nil {
			return err
		}
	}
	return nil
}

// predictedBy is the toolchain and the model.
func predictedBy(m *Toolchain) string {
	s := fmt.Sprintf("llvm-mca of LLVM %s for %s, model %s", m.LLVM, m.MCPU, m.Model)
	if m.StandIn != "" {
		s += " of " + m.StandIn + " in its place"
	}
	if m.Core != "" {
		s += "; scheduled with the widths and latencies measured on " + m.Core
	}
	return s + fmt.Sprintf("; refill after a misprediction %s cycles (%s)", text.Cycles(m.RefillCycles), m.RefillSource)
}

func writeLoop(w io.Writer, r *Loop, opt Options) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	facts := text.Table{}
	facts.Add("loop", r.Function)
	facts.Add("unit", r.Unit)
	facts.Add("rates", ratesText(r.Rates))
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
	if m := r.Measured; m != nil {
		out.Add("speed-up, measured", intervalText(m)+"  ("+r.MeasuredBy+")")
	}
	if r.Program != nil {
		out.Add("of the program, predicted", fmt.Sprintf("%s with %s of the samples in the loop", intervalText(r.Program), text.Share(*r.ProgramShare, 1)))
	}
	out.Add("break-even, predicted", breakEvenText(r.BreakEven, r.Rates == Assumed))
	for _, f := range r.Flags {
		out.Add("flag", f)
	}
	if err := out.Write(w); err != nil {
		return err
	}
	if len(r.Timelines) > 0 {
		return writeTimelines(w, r.Timelines, opt.Width)
	}
	return nil
}

func ratesText(s Source) string {
	switch s {
	case Measured:
		return "measured: how often branches are taken and mispredicted is from branch stacks"
	case Given:
		return "given on the command line"
	case Known:
		return "known: how often branches are taken was counted, and their data is random with known odds"
	case Simulated:
		return "simulated: how often branches are taken was counted, mispredictions are Callgrind's where they are no more than the rarer direction"
	}
	return "assumed: nothing is known, each way is taken half of the time and half is mispredicted"
}

func intervalText(i *Interval) string {
	return fmt.Sprintf("×%s [%s, %s]", text.Factor(i.Value), text.Factor(i.Lo), text.Factor(i.Hi))
}

// writeSplit writes where the cycles of a unit go.
func writeSplit(w io.Writer, r *Loop) error {
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	t := text.Table{Right: []bool{false, true, true}}
	row := func(name string, of func(*Side) string) {
		t.Add(name, of(&r.Base), of(&r.Head))
	}
	number := func(v float64) string { return text.Digits(v) }
	t.Add("predicted cycles per unit", "before", "after")
	row("issue", func(c *Side) string { return number(c.Issue) })
	row("dependency", func(c *Side) string { return number(c.Dependency) })
	row("taken branches", func(c *Side) string { return number(c.TakenBranches) })
	row("mispredictions", func(c *Side) string { return number(c.Mispredictions) })
	row("sum", func(c *Side) string { return number(c.CyclesPerUnit) })
	row("from three walks", func(c *Side) string {
		return number(c.CyclesRange[0]) + " to " + number(c.CyclesRange[1])
	})
	row("llvm-mca alone", func(c *Side) string { return number(c.Trace) })
	row("instructions", func(c *Side) string { return number(c.InstructionsPerUnit) })
	row("branches taken", func(c *Side) string { return number(c.TakenPerUnit) })
	row("branches mispredicted", func(c *Side) string { return number(c.MissesPerUnit) })
	row("cycles a misprediction", func(c *Side) string {
		if c.MissesPerUnit == 0 {
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
func writePaths(w io.Writer, r *Loop) error {
	if len(r.Base.Paths)+len(r.Head.Paths) == 0 {
		return nil
	}
	t := text.Table{Right: []bool{false, false, true, true, true}}
	t.Add("llvm-mca, predicted", "way", "instructions", "cycles of one run", "of each of many")
	for i, name := range []string{"before", "after"} {
		for _, p := range []*Side{&r.Base, &r.Head}[i].Paths {
			t.Add(name, p.Way(), strconv.Itoa(p.Instructions), text.Cycles(p.CyclesOnce), text.Digits(p.CyclesSteady))
		}
	}
	if err := t.Write(w); err != nil {
		return err
	}
	more := fmt.Sprintf("(%d more ways before, %d after)\n", r.MorePaths[0], r.MorePaths[1])
	switch {
	case r.MorePaths == [2]int{} && r.AllPaths:
		more = ""
	case r.MorePaths == [2]int{}:
		more = "(there are more ways)\n"
	case !r.AllPaths:
		more = "(at least " + more[1:]
	}
	if _, err := io.WriteString(w, more); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}

// breakEvenText says in words from how many mispredictions the code without branches is
// faster.
func breakEvenText(b *BreakEven, assumed bool) string {
	if b == nil || b.Verdict == NoBranches {
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
	case AlwaysBranchless:
		return fmt.Sprintf("the branchless side (%s) wins at any rate of mispredictions (%s)", side, now)
	case NeverBranchless:
		return fmt.Sprintf("the branchless side (%s) wins at no rate: it would take %s mispredicted (%s)", side, text.Percent(b.Rate), now)
	case Undecided:
		return fmt.Sprintf("%s; %s: too close to say", at, now)
	case AboveRate:
		return fmt.Sprintf("%s; %s: it wins", at, now)
	}
	return fmt.Sprintf("%s; %s: it loses", at, now)
}

// writePredictionRows writes a row for each loop.
func writePredictionRows(w io.Writer, d *Document) error {
	t := text.Table{Right: []bool{false, true, true, true, true, true}}
	t.Add("loop", "before, predicted", "after, predicted", "speed-up, predicted", "measured", "break-even rate, predicted")
	for i := range d.Loops {
		r := &d.Loops[i]
		measured := "-"
		if m := r.Measured; m != nil {
			measured = intervalText(m)
		}
		rate := "-"
		if b := r.BreakEven; b != nil && b.Verdict != NoBranches {
			switch b.Verdict {
			case AlwaysBranchless:
				rate = "always"
			case NeverBranchless:
				rate = "never"
			default:
				rate = text.Percent(b.Rate)
			}
			rate += ", now " + text.Percent(b.MeasuredRate)
		}
		t.Add(r.Function, text.Digits(r.Base.CyclesPerUnit), text.Digits(r.Head.CyclesPerUnit), intervalText(&r.Speedup), measured, rate)
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	if err := t.Write(w); err != nil {
		return err
	}
	seen := make(map[string]bool)
	for i := range d.Loops {
		r := &d.Loops[i]
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
func writeTimelines(w io.Writer, both []Timeline, width int) error {
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
func timelineLines(t *Timeline, side, tab string) []string {
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
