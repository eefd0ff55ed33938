package html

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/compare"
	"profdiff/internal/listing"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// Options say what goes into a document.
type Options struct {
	// Tool is the program with its version.
	Tool string
	// Paths keeps full paths, which tell of the machine of whoever recorded.
	Paths bool
	// Source has the text of source files, nil if it is not asked for.
	Source *listing.Source
	// Digest, if set, is the SHA-256 of an input.
	Digest func(name string) string
}

// FromComparison is the document of a comparison.
func FromComparison(c *compare.Comparison, opt Options) *Document {
	d := &Document{Title: "Profile comparison", Tool: opt.Tool, Base: opt.side(c.Base), Head: opt.side(c.Head)}
	for _, w := range c.Warnings {
		d.Warnings = append(d.Warnings, opt.text(w))
	}
	for _, i := range eventOrder(c) {
		d.Events = append(d.Events, opt.event(c, i))
	}
	if len(d.Events) > 0 {
		d.Verdict = verdictOf(c, &d.Events[0])
		d.Cards = cards(c, d.Events)
	}
	for i, side := range [][]*run.Run{c.Base, c.Head} {
		for _, r := range side {
			d.Runs = append(d.Runs, opt.run(r, i == 1))
		}
	}
	d.Facts = facts(c, d)
	return d
}

// eventOrder puts the event of time or cycles in front: it is what users mean by cost.
func eventOrder(c *compare.Comparison) []int {
	order := make([]int, len(c.Events))
	for i := range order {
		order[i] = i
	}
	first := slices.IndexFunc(c.Events, func(e compare.Event) bool {
		name, _ := run.SplitEvent(run.CanonicalEvent(e.Name))
		return slices.Contains([]string{"cpu-cycles", "cpu-clock", "task-clock", "on-cpu"}, name)
	})
	if first > 0 {
		order = slices.Insert(slices.Delete(order, first, first+1), 0, first)
	}
	return order
}

func (o *Options) text(s string) string {
	if o.Paths {
		return s
	}
	return trimPaths(s)
}

func (o *Options) name(s string) string {
	if o.Paths {
		return s
	}
	return trimName(s)
}

// side names a side by its recordings.
func (o *Options) side(runs []*run.Run) string {
	if len(runs) == 1 {
		return o.name(runs[0].Name)
	}
	dir := func(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }
	first := dir(runs[0].Name)
	if first != "" && !slices.ContainsFunc(runs, func(r *run.Run) bool { return dir(r.Name) != first }) {
		return o.name(strings.TrimSuffix(first, "/"))
	}
	return o.name(runs[0].Name) + " … " + o.name(runs[len(runs)-1].Name)
}

// perRun is what a normalization offers that tells the cost of each run.
type perRun interface {
	Runs(c *compare.Change) (base, head []float64)
}

func change(n *compare.Normalization, c *compare.Change) Change {
	out := Change{
		Base: c.Base, Head: c.Head, BaseSamples: c.BaseSamples, HeadSamples: c.HeadSamples,
		Ratio: c.Ratio, Lo: c.CI.Lo, Hi: c.CI.Hi,
		Tested: c.Tested, Adjusted: c.Adjusted, RunsNeeded: c.RunsNeeded,
	}
	if c.Tested {
		out.Verdict = outcome(c.Verdict)
		if runs, ok := any(n).(perRun); ok {
			out.BaseRuns, out.HeadRuns = runs.Runs(c)
		}
	}
	return out
}

func outcome(v verdict.Verdict) Outcome {
	switch v {
	case verdict.Improved:
		return Improved
	case verdict.Regressed:
		return Regressed
	case verdict.Unchanged:
		return Unchanged
	}
	return Inconclusive
}

func single(m stats.Method) bool { return m == stats.Sampling || m == stats.SamplingExact }

func (o *Options) event(c *compare.Comparison, index int) Event {
	e := &c.Events[index]
	n := e.Normalization
	out := Event{
		Name: e.Name, Unit: e.Unit, Per: "run", Withheld: e.Withheld, Single: single(e.Total.Method),
		Share: n.Mode == compare.Total, OffCPU: isOffCPU(e.Name), How: how(c, e),
		Functions: make([]Function, 0, len(e.Functions)),
	}
	if n.Mode == compare.Work {
		out.Per = "operation"
	}
	out.Total = change(n, &e.Total)
	for i := range e.Functions {
		f := &e.Functions[i]
		out.Functions = append(out.Functions, Function{
			Name: f.Name, DSO: f.DSO, BaseName: f.BaseName, BaseDSO: f.BaseDSO,
			Match: string(f.Match.Kind), Confidence: f.Match.Confidence, Reason: f.Match.Reason,
			Self: change(n, &f.Self), Total: change(n, &f.Total), Shift: f.Shift,
		})
	}
	for i := range e.Shifts {
		s := &e.Shifts[i]
		out.Shifts = append(out.Shifts, Shift{Caller: s.Caller, Parts: s.Parts, Net: change(n, &s.Net)})
	}
	for i := range e.Groups {
		g := Group{By: string(e.Groups[i].By)}
		for j := range e.Groups[i].Rows {
			row := &e.Groups[i].Rows[j]
			g.Rows = append(g.Rows, GroupRow{Name: o.text(row.Name), Self: change(n, &row.Self)})
		}
		out.Groups = append(out.Groups, g)
	}
	out.Lines = o.lines(c, index)
	out.Frames = frames(c, index)
	return out
}

func isOffCPU(event string) bool {
	name, _ := run.SplitEvent(event)
	return name == "off-cpu"
}

// Limits of the lines that are kept.
const (
	maxLines    = 20 // of a function
	leastOfLine = 0.0005
)

// lines are the heaviest source lines of each function.
func (o *Options) lines(c *compare.Comparison, index int) (list []Line) {
	e := &c.Events[index]
	all := c.LinesAbove(index, leastOfLine)
	slices.SortStableFunc(all, func(a, b compare.Line) int {
		return -cmp.Compare(max(a.Self.Base, a.Self.Head), max(b.Self.Base, b.Self.Head))
	})
	floor := leastOfLine * max(e.Total.Base, e.Total.Head)
	if e.Normalization.Mode == compare.Total {
		floor = leastOfLine
	}
	of := make(map[int]int)
	for i := range all {
		l := &all[i]
		if l.BaseLine == 0 && l.HeadLine == 0 || max(l.Self.Base, l.Self.Head) < floor || of[l.Function] == maxLines {
			continue
		}
		of[l.Function]++
		line := Line{Function: l.Function, File: l.File, BaseLine: l.BaseLine, HeadLine: l.HeadLine, Self: change(e.Normalization, &l.Self)}
		line.Self.BaseRuns, line.Self.HeadRuns = nil, nil
		if l.HeadLine > 0 {
			line.Text = o.Source.Line(l.File, l.HeadLine)
		}
		list = append(list, line)
	}
	return list
}

// how says what costs were divided by, and how they were tested.
func how(c *compare.Comparison, e *compare.Event) []string {
	n := e.Normalization
	var list []string
	factor := ""
	if n.Factor != 1 && !math.IsNaN(n.Factor) {
		factor = fmt.Sprintf(" It is %.3g times as much after as before.", n.Factor)
	}
	switch n.Mode {
	case compare.Work:
		list = append(list, "Costs are divided by the work that each run did ("+n.By+")."+factor)
	case compare.Reference:
		list = append(list, "Costs are relative to the "+n.By+", which should not have changed."+factor)
	case compare.Total:
		list = append(list, "Functions are shares of the total: a gain in one is a loss in all others.")
	default:
		list = append(list, "Costs are as recorded, divided by nothing.")
	}
	list = append(list, noise(c, e))
	if e.Withheld != "" {
		list = append(list, "Verdicts are withheld: "+e.Withheld+".")
	}
	if !single(e.Total.Method) {
		list = append(list, fmt.Sprintf("Functions with at least %s of the cost of both sides are tested as a family (Benjamini–Hochberg): of those called changed, up to %s may be false. Unchanged means that a change beyond %s is excluded.",
			shortPercent(c.Options.MinShare), shortPercent(c.Options.FalseDiscovery), shortPercent(c.Options.Margin)))
	}
	return list
}

func shortPercent(v float64) string { return fmt.Sprintf("%.3g", 100*v) + thin + "%" }

// noise says what intervals cover.
func noise(c *compare.Comparison, e *compare.Event) string {
	m := e.Total.Method
	name := strings.ReplaceAll(strings.ReplaceAll(string(m), "mann-whitney", "Mann–Whitney"), "welch", "Welch")
	switch {
	case m == stats.Exact:
		return "A simulator counted: ratios are exact."
	case single(m):
		return "Intervals of 95" + thin + "% cover sampling noise only: with one run a side, it is unknown how much runs differ."
	case m == stats.Prediction:
		return "Intervals of 95" + thin + "% cover noise between the runs of one side, the other has one run: enough to warn, not to prove."
	case min(len(c.Base), len(c.Head)) < 4:
		return "Intervals of 95" + thin + "% cover noise between runs (" + name + "); with fewer than 4 runs a side they are enough to warn, not to prove."
	}
	return "Intervals of 95" + thin + "% cover noise between runs (" + name + ")."
}

// maxListings is the number of functions whose code is in a report.
const maxListings = 40

// HottestFunctions are those of the first event that were tested, the most expensive
// first: a report lists their code.
func HottestFunctions(c *compare.Comparison) (list []listing.Function) {
	e := &c.Events[0]
	var order []*compare.Function
	for i := range e.Functions {
		if f := &e.Functions[i]; f.Self.Tested {
			order = append(order, f)
		}
	}
	weight := func(f *compare.Function) float64 { return f.Self.Base + f.Self.Head }
	slices.SortStableFunc(order, func(a, b *compare.Function) int { return -cmp.Compare(weight(a), weight(b)) })
	for _, f := range order[:min(len(order), maxListings)] {
		list = append(list, listing.Function{
			Name: f.Name, DSO: f.DSO, BaseName: f.BaseName, BaseDSO: f.BaseDSO,
			BaseSamples: f.Self.BaseSamples, HeadSamples: f.Self.HeadSamples,
		})
	}
	return list
}
