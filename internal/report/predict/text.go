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

// WriteText writes a prediction as text: in full for one or a few loops, the answer first; else
// a row for each.
func WriteText(w io.Writer, d *Document, opt Options) error {
	if len(d.Loops) > 3 {
		return writePredictionRows(w, d)
	}
	for i := range d.Loops {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if err := writeLoop(w, d, &d.Loops[i], opt); err != nil {
			return err
		}
	}
	return nil
}

// writeLoop writes one loop: what is predicted, from what on the other side is faster, what was
// measured; then what it is made of.
func writeLoop(w io.Writer, d *Document, r *Loop, opt Options) error {
	if r.NotPredicted != "" {
		return writeRefused(w, d, r)
	}
	answer := facts{}
	answer.add("predicted", intervalText(&r.Speedup)+", "+r.Verdict.Word()+" (90% interval)")
	if r.Program != nil {
		answer.add("program", fmt.Sprintf("%s, %s: %s of its samples are in the loop", intervalText(r.Program), r.ProgramVerdict.Word(), text.Share(*r.ProgramShare, 1)))
	}
	answer.add("break-even", r.BreakEvenText)
	if r.Doubt != "" {
		answer.add("doubt", r.Doubt)
	}
	if r.Remedy != "" {
		answer.add("to shrink it", r.Remedy)
	}
	if m := r.Measured; m != nil {
		answer.add("measured", fmt.Sprintf("%s, %s (%s)", intervalText(m), verdictOf(m).Word(), r.MeasuredBy))
	}
	answer.add("loop", r.Function)
	answer.add("unit", r.Unit)
	answer.add("rates", ratesText(r.Rates))
	if err := answer.write(w); err != nil {
		return err
	}
	if err := writeSplit(w, r); err != nil {
		return err
	}
	if err := writePaths(w, r); err != nil {
		return err
	}
	end := facts{}
	end.add("model", predictedBy(&d.Toolchain))
	if len(d.Toolchain.Repairs) > 0 {
		end.add("repairs", repairsText(d.Toolchain.Repairs))
	}
	for _, f := range r.Flags {
		end.add("flag", f)
	}
	if err := end.write(w); err != nil {
		return err
	}
	if len(r.Timelines) > 0 {
		var drawn strings.Builder
		if err := writeTimelines(&drawn, r.Timelines, opt.Width); err != nil {
			return err
		}
		return text.ScreenOf(w).Verbatim(drawn.String())
	}
	return nil
}

// writeRefused writes what is known of a loop whose cycles are not predicted.
func writeRefused(w io.Writer, d *Document, r *Loop) error {
	f := facts{}
	f.add("not predicted", r.NotPredicted)
	for i, side := range []*Side{&r.Base, &r.Head} {
		f.add([]string{"before", "after"}[i], side.Executed())
	}
	if m := r.Measured; m != nil {
		f.add("measured", fmt.Sprintf("%s, %s (%s)", intervalText(m), verdictOf(m).Word(), r.MeasuredBy))
	}
	f.add("loop", r.Function)
	f.add("unit", r.Unit)
	f.add("model", predictedBy(&d.Toolchain))
	for _, flag := range r.Flags {
		f.add("flag", flag)
	}
	return f.write(w)
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

// repairsText says what of the code was simulated as something else.
func repairsText(list []Repair) string {
	var parts []string
	for _, r := range list {
		parts = append(parts, fmt.Sprintf("%s %d", r.Class, r.Instructions))
	}
	return "instructions that the model is wrong about, simulated as others: " + strings.Join(parts, ", ")
}

// column is the width that facts are wrapped at.
const column = 80

// facts are names with values, which are wrapped beside the names.
type facts struct{ list [][2]string }

func (f *facts) add(name, value string) {
	f.list = append(f.list, [2]string{text.Printable(name), text.Printable(value)})
}

func (f *facts) write(w io.Writer) error {
	widest := 0
	for _, fact := range f.list {
		widest = max(widest, utf8.RuneCountInString(fact[0]))
	}
	p := &text.Lines{W: w}
	width := column
	if shown := text.ScreenOf(w).Width(); shown > 0 {
		width = min(width, shown)
	}
	for _, fact := range f.list {
		name := fact[0]
		for _, line := range text.Wrap(fact[1], width-widest-2, width-widest-2) {
			p.Printf("%-*s  %s", widest, name, line)
			name = ""
		}
	}
	return p.Err
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
	t := text.Table{Right: []bool{false, true, true}, Names: []int{0}}
	row := func(name string, of func(*Side) string) {
		t.Add(name, of(&r.Base), of(&r.Head))
	}
	number := func(v text.Number) string { return text.Digits(float64(v)) }
	t.Add("predicted cycles per unit", "before", "after")
	row("issue", func(c *Side) string { return number(c.Issue) })
	row("dependency", func(c *Side) string { return number(c.Dependency) })
	row("taken branches", func(c *Side) string { return number(c.TakenBranches) })
	row("mispredictions", func(c *Side) string { return number(c.Mispredictions) })
	if r.Base.Called > 0 || r.Head.Called > 0 {
		row("calls, by their samples", func(c *Side) string { return number(c.Called) })
	}
	row("sum", func(c *Side) string { return number(c.CyclesPerUnit) })
	row("from three walks", func(c *Side) string {
		return text.Digits(c.CyclesRange[0]) + " to " + text.Digits(c.CyclesRange[1])
	})
	row("llvm-mca alone", func(c *Side) string { return number(c.Trace) })
	row("instructions", func(c *Side) string { return text.Digits(c.InstructionsPerUnit) })
	row("branches taken", func(c *Side) string { return text.Digits(c.TakenPerUnit) })
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
	t := text.Table{Right: []bool{false, false, true, true, true}, Names: []int{1}, Spare: [][]int{{2}, {4}}}
	t.Add("llvm-mca, predicted", "way", "instructions", "cycles of one run", "of each of many")
	for i, name := range []string{"before", "after"} {
		for _, p := range []*Side{&r.Base, &r.Head}[i].Paths {
			t.Add(name, p.Way(), strconv.Itoa(p.Instructions), text.Cycles(p.CyclesOnce), text.Digits(p.CyclesSteady))
		}
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if more := r.MoreWays(); more != "" {
		if _, err := fmt.Fprintf(w, "(%s)\n", more); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// breakEvenText says in words from how many mispredictions on the code without branches is
// faster. It names a winner at a rate only where the interval of the speed-up there does.
func breakEvenText(b *BreakEven, verdict Verdict, assumed bool) string {
	if b == nil || b.Verdict == NoBranches {
		return "neither side has more branches that data decide"
	}
	branchless, branchy := "after", "before"
	if !b.Base {
		branchless, branchy = branchy, branchless
	}
	word := "now"
	if assumed {
		word = "assumed"
	}
	now := fmt.Sprintf("; %s %s: %s", word, text.Percent(b.MeasuredRate), verdict.Word())
	even := "even at no rate of mispredictions"
	if b.Rate > 0 {
		even = "even at " + text.Percent(b.Rate) + " mispredicted"
	}
	switch {
	case b.Verdict == AlwaysBranchless, b.Hi <= 0:
		return branchless + " is faster at any rate of mispredictions" + now
	case b.Verdict == NeverBranchless, b.Lo >= mostMissed:
		return branchy + " is faster at any rate of mispredictions up to " + text.Percent(mostMissed) + now
	case b.Lo <= 0 && b.Hi >= 1:
		return even + ", but no rate decides" + now
	case b.Lo <= 0:
		return fmt.Sprintf("%s is faster above %s mispredicted", branchless, text.Percent(b.Hi)) + now
	case b.Hi >= 1:
		return fmt.Sprintf("%s is faster below %s mispredicted", branchy, text.Percent(b.Lo)) + now
	}
	return fmt.Sprintf("%s is faster above %s mispredicted, %s below %s", branchless, text.Percent(b.Hi), branchy, text.Percent(b.Lo)) + now
}

// mostMissed is the rate of mispredictions of a branch that no predictor foresees.
const mostMissed = 0.5

// writePredictionRows writes a row for each loop.
func writePredictionRows(w io.Writer, d *Document) error {
	t := text.Table{Right: []bool{false, true, true, true, false, true, true}, Names: []int{0}, Spare: [][]int{{6}, {1, 2}, {5}}, Least: 16}
	t.Add("loop", "before", "after", "predicted, 90% interval", "", "measured", "break-even")
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
				rate = text.Percent(max(0, b.Rate))
			}
			rate += ", now " + text.Percent(b.MeasuredRate)
		}
		if r.NotPredicted != "" {
			t.Add(r.Function, "-", "-", "-", r.Verdict.Word(), measured, "-")
			t.Paint(4, r.Verdict.style())
			continue
		}
		t.Add(r.Function, text.Digits(float64(r.Base.CyclesPerUnit)), text.Digits(float64(r.Head.CyclesPerUnit)), intervalText(&r.Speedup), r.Verdict.Word(), measured, rate)
		t.Paint(4, r.Verdict.style())
	}
	if err := t.Write(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	end := facts{}
	remedies := make(map[string]bool)
	for i := range d.Loops {
		if r := &d.Loops[i]; r.NotPredicted != "" {
			end.add("not predicted", r.Function+": "+r.NotPredicted)
		}
		if r := d.Loops[i].Remedy; r != "" && !remedies[r] {
			remedies[r] = true
			end.add("to shrink it", r)
		}
	}
	end.add("model", predictedBy(&d.Toolchain))
	if len(d.Toolchain.Repairs) > 0 {
		end.add("repairs", repairsText(d.Toolchain.Repairs))
	}
	seen := make(map[string]bool)
	for i := range d.Loops {
		r := &d.Loops[i]
		for _, f := range r.Flags {
			if !seen[f] {
				seen[f] = true
				end.add("flag", f)
			}
		}
	}
	return end.write(w)
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
