package html

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/report/diff"
	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// Options say what goes into a document.
type Options struct {
	// Tool is the program with its version.
	Tool string
	// Paths keeps full paths, which tell of the machine of whoever recorded, and Commands the command
	// lines of what was recorded. Private keeps no directory at all, not even of inputs.
	Paths, Commands, Private bool
	// Project is a directory below which inputs may be named with theirs.
	Project string
}

// FromComparison is the page of a comparison.
func FromComparison(c *diff.Document, opt Options) *Document {
	d := &Document{Title: "Profile comparison", Tool: opt.Tool, Base: opt.side(&c.Base), Head: opt.side(&c.Head), Listings: c.Listings, Sources: c.Sources, options: opt}
	d.addFiles(&c.Base, &c.Head)
	for _, w := range c.Design.Warnings {
		d.Warnings = append(d.Warnings, opt.text(w))
	}
	for _, i := range eventOrder(c) {
		d.Events = append(d.Events, opt.event(c, &c.Events[i]))
	}
	if len(d.Events) > 0 {
		d.Verdict = opt.verdictOf(c, &d.Events[0])
		d.Verdict.Ground = append(d.Verdict.Ground, opt.leads(c)...)
		d.Cards = cards(c, d.Events)
	}
	for i, side := range []*diff.Side{&c.Base, &c.Head} {
		for k := range side.Runs {
			d.Runs = append(d.Runs, opt.run(&side.Runs[k], i == 1))
		}
	}
	d.Facts = facts(c, d)
	d.Waiting = waitingOf(c.Waits)
	return d
}

// leads say how to get verdicts on what one run a side tells.
func (o *Options) leads(c *diff.Document) []string {
	l := c.Leads
	if l == nil {
		return nil
	}
	if !o.Commands {
		return []string{"profdiff diff prints the command that records what would decide."}
	}
	return []string{"This records what would decide: " + l.Record}
}

// eventOrder puts the event in front that users mean by cost, as the story does.
func eventOrder(c *diff.Document) []int {
	order := make([]int, len(c.Events))
	for i := range order {
		order[i] = i
	}
	first := slices.IndexFunc(c.Events, func(e diff.Event) bool { return diff.IsCost(e.Name) })
	if first > 0 {
		order = slices.Insert(slices.Delete(order, first, first+1), 0, first)
	}
	return order
}

// addFiles names recordings, by which texts may call them.
func (d *Document) addFiles(sides ...*diff.Side) {
	for _, s := range sides {
		for i := range s.Runs {
			d.files = append(d.files, s.Runs[i].Path)
		}
	}
}

// side names a side by its recordings.
func (o *Options) side(s *diff.Side) string {
	if len(s.Runs) == 1 {
		return o.name(s.Runs[0].Path)
	}
	dir := func(name string) string { return name[:strings.LastIndexByte(name, '/')+1] }
	first := dir(s.Runs[0].Path)
	if first != "" && !slices.ContainsFunc(s.Runs, func(r diff.Run) bool { return dir(r.Path) != first }) {
		return o.name(strings.TrimSuffix(first, "/"))
	}
	return o.name(s.Runs[0].Path) + " … " + o.name(s.Runs[len(s.Runs)-1].Path)
}

func (o *Options) event(c *diff.Document, of *diff.Event) Event {
	e := o.named(of)
	out := Event{Event: e, Per: "run", Share: e.Shares(), Single: e.Single(), OffCPU: isOffCPU(e.Name), How: how(c, e), Frames: e.Frames}
	if e.Normalization.Mode == diff.PerWork {
		out.Per = "operation"
	}
	out.Per = cmp.Or(e.Normalization.Per, out.Per)
	return out
}

// named is an event whose groups have names without the directories of whoever recorded.
func (o *Options) named(of *diff.Event) *diff.Event {
	e := *of
	e.Groups = nil
	for _, g := range of.Groups {
		g.Rows = slices.Clone(g.Rows)
		for i := range g.Rows {
			g.Rows[i].Name, g.Rows[i].BaseName = o.text(g.Rows[i].Label()), ""
		}
		e.Groups = append(e.Groups, g)
	}
	if w := of.Waterfall; w != nil {
		own := *w
		own.Bars = slices.Clone(w.Bars)
		for i := range own.Bars {
			if b := &own.Bars[i]; b.Function < 0 {
				b.Name = o.text(b.Name)
			}
		}
		e.Waterfall = &own
	}
	return &e
}

func isOffCPU(event string) bool {
	name, _ := run.SplitEvent(event)
	return name == "off-cpu"
}

// how says what costs were divided by, and how they were tested.
func how(c *diff.Document, e *diff.Event) []string {
	n := e.Normalization
	var list []string
	factor := ""
	if n.Factor != 1 && !math.IsNaN(float64(n.Factor)) {
		factor = fmt.Sprintf(" It is %.3g times as much after as before.", n.Factor)
	}
	switch n.Mode {
	case diff.PerWork:
		list = append(list, "Costs are divided by the work that each "+c.Design.Unit()+" did ("+n.By+")."+factor)
	case diff.PerReference:
		list = append(list, "Costs are relative to the "+n.By+", which should not have changed."+factor)
	case diff.OfTotal:
		list = append(list, "Functions are shares of the total: a gain in one is a loss in all others, which is why a verdict has to hold against what did not change, too.")
	default:
		list = append(list, "Costs are of a run, divided by nothing: that assumes "+n.Assumes+".")
	}
	if e.NoTotal != "" {
		list = append(list, "The total has no verdict: "+e.NoTotal+".")
	}
	list = append(list, noise(c, e))
	if e.Withheld != "" {
		list = append(list, "Verdicts are withheld: "+e.Withheld+".")
	}
	switch {
	case e.Single():
	case c.Design.Fleet != nil:
		list = append(list, fmt.Sprintf("Functions that at least %d devices have are tested as a family (Benjamini–Hochberg): of those called changed, up to %s may be false. Unchanged means that a change beyond %s is excluded. The models of devices have the same weights on both sides.",
			diff.LeastDevices, shortPercent(c.Design.FalseDiscovery), shortPercent(c.Design.Margin)))
	default:
		list = append(list, fmt.Sprintf("Functions with at least %s of the cost of both sides are tested as a family (Benjamini–Hochberg): of those called changed, up to %s may be false. Unchanged means that a change beyond %s is excluded.",
			shortPercent(c.Design.MinShare), shortPercent(c.Design.FalseDiscovery), shortPercent(c.Design.Margin)))
	}
	return list
}

func shortPercent(v float64) string { return fmt.Sprintf("%.3g", 100*v) + thin + "%" }

// noise says what intervals cover.
func noise(c *diff.Document, e *diff.Event) string {
	m := e.Total.Method
	name := cmp.Or(map[stats.Method]string{
		stats.MannWhitney: "Mann–Whitney", stats.Welch: "Welch", stats.PairedT: "paired t", stats.SignedRank: "signed ranks of pairs",
	}[m], string(m))
	switch {
	case m == stats.Exact:
		return "A simulator counted: ratios are exact."
	case m == stats.Clusters:
		return "Intervals of 95" + thin + "% cover noise between devices."
	case e.Single():
		return "Intervals of 95" + thin + "% cover sampling noise only: with one run a side, it is unknown how much runs differ."
	case m == stats.Prediction:
		return "Intervals of 95" + thin + "% cover noise between the runs of one side, the other has one run: enough to warn, not to prove."
	case min(c.Design.RunsBase, c.Design.RunsHead) < 4:
		return "Intervals of 95" + thin + "% cover noise between runs (" + name + "); with fewer than 4 runs a side they are enough to warn, not to prove."
	}
	return "Intervals of 95" + thin + "% cover noise between runs (" + name + ")."
}
