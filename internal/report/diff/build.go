package diff

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"profdiff/internal/compare"
	"profdiff/internal/listing"
	"profdiff/internal/report/text"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// Parts are what outputs need beside what all of them show.
type Parts struct {
	// Tree is the call tree, of what the options choose.
	Tree *TreeOptions
	// Lines are all source lines.
	Lines bool
	// Neighbors are callers and callees of the functions that the user named.
	Neighbors bool
	// Stacks are all call stacks with what was spent in each.
	Stacks bool
	// Page is what a report in HTML has.
	Page *Page
	// Code says how the code of functions that are told is compared, for a summary; nil if there is to
	// be none. A page compares code anyway.
	Code *listing.Options
	// Commands are the arguments of what was recorded, in the line that records it again.
	Commands bool
}

// A Page says what a report in HTML has: frames, the heaviest lines, the costs of each run,
// builds, digests of the inputs, and listings.
type Page struct {
	// Listing says where binaries and the text of lines are.
	Listing listing.Options
	// Digest is the SHA-256 of an input, "" if it is not known. It may be nil.
	Digest func(name string) string
}

// TreeOptions say which nodes of a call tree are shown.
type TreeOptions struct {
	// MinShare leaves out nodes that cost less of the total on both sides, 0 to 1.
	MinShare float64
	// Callers has the leaves as roots.
	Callers bool
}

// New makes the document of a comparison, with the parts that are asked for.
func New(c *compare.Comparison, parts Parts) *Document {
	d := &Document{
		Schema: Schema, Base: NewSide(c.Base), Head: NewSide(c.Head),
		Design: Design{
			Turns: c.Pairing.Turns(c.Order), RunsBase: len(c.Base), RunsHead: len(c.Head),
			Margin: c.Options.Margin, Warnings: append([]string{}, c.Warnings...),
			FalseDiscovery: c.Options.FalseDiscovery, MinShare: c.Options.MinShare, Focus: len(c.Options.Focus) > 0,
		},
		Events: make([]Event, 0, len(c.Events)), Explained: []Row{}, Categories: []Row{}, Threads: []Row{}, DSOs: []Row{}, Metrics: []Metrics{},
	}
	if a, b, differ, result := compare.Durations(c.Base, c.Head); differ && result {
		d.Design.Took = fmt.Sprintf("%v → %v a run", a.Round(time.Millisecond), b.Round(time.Millisecond))
	}
	if s := c.Options.Stopped; s != nil {
		d.Design.Turns.Text += "; " + s.String()
		d.Design.Stopped = &Stopped{s.Pairs, s.Cap}
	}
	for _, x := range compare.Disturbances(c.Base, c.Head) {
		for _, s := range []*Side{&d.Base, &d.Head} {
			for i := range s.Runs {
				if s.Runs[i].Path == x.Run.Name {
					s.Runs[i].Warnings = append(s.Runs[i].Warnings, x.What)
				}
			}
		}
	}
	functions, shifts := 0, 0
	for i := range c.Events {
		functions += len(c.Events[i].Functions)
		shifts += len(c.Events[i].Shifts)
	}
	// Events have parts of these: they must not move.
	d.Functions, d.Shifts = make([]Function, 0, functions), make([]Shift, 0, shifts)
	b := builder{Document: d, c: c, perRun: parts.Page != nil, commands: parts.Commands}
	for i := range c.Events {
		b.addEvent(&c.Events[i])
		base, head := c.Calls(i)
		for j := range base {
			b.Events[i].Functions[j].Calls = [2]float64{base[j], head[j]}
		}
	}
	b.addMetrics()
	b.addLeads()
	d.Story = d.tell()
	for i := range d.Events {
		e := &d.Events[i]
		e.Waterfall = waterfall(e)
		if parts.Lines {
			e.Lines = b.lines(i)
		}
		if parts.Neighbors {
			e.Neighbors = b.neighbors(i)
		}
		if parts.Tree != nil {
			e.Tree = b.tree(i, parts.Tree)
		}
		if parts.Page != nil {
			e.HotLines = b.hotLines(i)
			e.Frames, e.Times = frames(c, i)
		}
	}
	if parts.Code != nil && parts.Page == nil {
		b.Listings = listing.Of(c.Base, c.Head, c.Events[0].Name, b.told(), *parts.Code)
		defer func() { d.Listings = nil }() // which only a page has
	}
	if parts.Stacks {
		d.Stacks = c.Stacks()
	}
	if p := parts.Page; p != nil {
		d.Base.addPage(c.Base, p)
		d.Head.addPage(c.Head, p)
		b.addCode(p)
	}
	d.addReasons()
	return d
}

// A builder makes a document.
type builder struct {
	*Document
	c *compare.Comparison
	// perRun has the costs of each run in changes that were tested.
	perRun bool
	// commands has the arguments of what was recorded.
	commands bool
}

// addEvent adds an event with its functions, shifts and groups.
func (b *builder) addEvent(e *compare.Event) {
	d, n := b.Document, e.Normalization
	out := Event{
		Name: e.Name, Unit: e.Unit,
		Normalization: Normalization{n.Mode, n.By, text.Number(n.Factor), text.Interval(n.CI), n.Assumes(), n.Window, ""},
		Raw:           b.change(e, &e.Raw), Withheld: e.Withheld, NoTotal: noTotal(e), Uniform: uniform(e.Uniform), Total: b.change(e, &e.Total),
	}
	firstShift, firstFunction := len(d.Shifts), len(d.Functions)
	for i := range e.Shifts {
		s := &e.Shifts[i]
		shift := Shift{Event: e.Name, CallerName: e.Functions[s.Caller].Name, Net: b.change(e, &s.Net), Caller: s.Caller, Parts: s.Parts}
		for _, p := range s.Parts {
			shift.PartNames = append(shift.PartNames, e.Functions[p].Name)
		}
		d.Shifts = append(d.Shifts, shift)
	}
	for i := range e.Functions {
		f := &e.Functions[i]
		row := Function{
			Name: f.Name, BaseName: f.BaseName, DSO: f.DSO, BaseDSO: f.BaseDSO,
			Match: string(f.Match.Kind), Confidence: f.Match.Confidence, Reason: f.Match.Reason,
			Event: e.Name, Self: b.change(e, &f.Self), Total: b.change(e, &f.Total), Shift: f.Shift, Focus: f.Focus,
			Parts: make([]Part, 0, len(f.Parts)),
		}
		for j := range f.Parts {
			p := &f.Parts[j]
			part := Part{Side: baseSide, Name: p.Name, DSO: p.DSO, Self: p.Self, Total: p.Total, SelfSamples: p.SelfSamples, TotalSamples: p.TotalSamples}
			if p.Head {
				part.Side = headSide
			}
			row.Parts = append(row.Parts, part)
		}
		if f.Shift >= 0 {
			index := firstShift + f.Shift
			row.InShift = &index
		}
		out.Bursts = out.Bursts || f.Self.Bursts > 2
		d.Functions = append(d.Functions, row)
	}
	out.Functions, out.Shifts = d.Functions[firstFunction:], d.Shifts[firstShift:]
	out.Explained = e.Explained
	for _, i := range e.Explained {
		f := &e.Functions[i]
		d.Explained = append(d.Explained, Row{Name: f.Name, Event: e.Name, Self: b.change(e, &f.Total)})
	}
	for i := range e.Groups {
		g := Group{By: e.Groups[i].By}
		for j := range e.Groups[i].Rows {
			row := &e.Groups[i].Rows[j]
			g.Rows = append(g.Rows, Row{Name: row.Name, BaseName: row.BaseName, Event: e.Name, Self: b.change(e, &row.Self)})
		}
		out.Groups = append(out.Groups, g)
		if list, ok := map[run.GroupBy]*[]Row{run.ByCategory: &d.Categories, run.ByThread: &d.Threads, run.ByDSO: &d.DSOs}[g.By]; ok {
			*list = append(*list, g.Rows...)
		}
	}
	d.Events = append(d.Events, out)
}

// change is a change of an event, with the costs of each run if they are wanted.
func (b *builder) change(e *compare.Event, c *compare.Change) Change {
	d := newChange(c)
	if b.perRun && c.Tested {
		d.BaseRuns, d.HeadRuns = e.Normalization.Runs(c)
	}
	return d
}

func newChange(c *compare.Change) Change {
	d := Change{
		Base: c.Base, Head: c.Head, Delta: c.Delta(), Ratio: text.Number(c.Ratio), CI: text.Interval(c.CI),
		Method: c.Method, P: text.Significant(c.P), Q: text.Missing, PHolm: text.Missing, Verdict: c.Verdict, Capped: c.Capped,
		RunsNeeded: c.RunsNeeded, Smallest: text.Missing, WithinNoise: c.WithinNoise(), BaseSamples: c.BaseSamples, HeadSamples: c.HeadSamples,
		BaseNEff: c.BaseEffective, HeadNEff: c.HeadEffective,
		Tested: c.Tested, Adjusted: c.Adjusted, Withheld: c.Withheld, Lead: c.Lead, Few: c.Few, Distance: text.Missing,
	}
	if c.Tested && c.Method.Single() {
		d.Distance = text.Number(text.Significant(c.Distance))
	}
	if c.Repeated != nil {
		repeated := text.Interval(*c.Repeated)
		d.Repeated = &repeated
	}
	if c.Tested {
		d.Smallest = text.Number(c.Smallest)
		if adjusted := text.Number(text.Significant(c.Adjusted)); c.Declared {
			d.PHolm = adjusted
		} else {
			d.Q = adjusted
		}
	}
	return d
}

// addMetrics joins the events by function.
func (b *builder) addMetrics() {
	metrics := b.c.Metrics()
	for i := range metrics {
		m := &metrics[i]
		row := Metrics{
			Name: m.Name, DSO: m.DSO, DeltaCycles: text.Missing, FromInstructions: text.Number(m.FromInstructions), FromIPC: text.Number(m.FromIPC),
			IPCBase: text.Number(m.IPC.Base), IPCHead: text.Number(m.IPC.Head), MPKIBase: text.Number(m.MPKI.Base), MPKIHead: text.Number(m.MPKI.Head),
			Changes: make([]*Change, len(m.Changes)), Focus: m.Focus, Rates: m.Cycles != nil && m.Instructions != nil,
		}
		if m.Cycles != nil {
			row.DeltaCycles = text.Number(m.Cycles.Delta())
		}
		for j, at := range m.At {
			switch {
			case m.Function < 0:
				row.Changes[j] = &b.Events[j].Total
			case at >= 0:
				row.Changes[j] = &b.Events[j].Functions[at].Self
			}
		}
		b.Metrics = append(b.Metrics, row)
	}
	if len(metrics) > 0 {
		whole := &metrics[0]
		b.addRate(IPC, whole.IPC, whole.InstructionsAt, whole.CyclesAt, 1)
		b.addRate(MPKI, whole.MPKI, whole.BranchMissesAt, whole.InstructionsAt, 1000)
	}
}

// addRate adds a rate of everything, tested between runs if there are several on each side.
// num and den are indices of events, or -1.
func (b *builder) addRate(kind RateKind, r compare.Rate, num, den int, scale float64) {
	if math.IsNaN(r.Base) || math.IsNaN(r.Head) || num < 0 || den < 0 {
		return
	}
	ch := Change{Base: r.Base, Head: r.Head, Ratio: text.Number(r.Head / r.Base)}
	if len(b.c.Base) > 1 && len(b.c.Head) > 1 {
		values := func(side []*run.Run) (list []stats.WeightedCount) {
			for _, r := range side {
				i, okNum := r.EventIndex(b.Events[num].Name)
				j, okDen := r.EventIndex(b.Events[den].Name)
				if okNum && okDen && r.Events[j].Weight > 0 {
					list = append(list, stats.WeightedCount{Weight: scale * float64(r.Events[i].Weight) / float64(r.Events[j].Weight)})
				}
			}
			return list
		}
		e := b.c.Pairing.Ratio(stats.New(verdict.Level), values(b.c.Base), values(b.c.Head), (1-verdict.Level)/2)
		ch.Ratio, ch.CI, ch.P, ch.Tested = text.Number(e.Ratio), text.Interval(e.CI), e.P, true
		switch {
		case e.P > 1-verdict.Level:
			ch.Verdict = verdict.Inconclusive
		case (e.Ratio > 1) == (kind == IPC): // more of it is better
			ch.Verdict = verdict.Improved
		default:
			ch.Verdict = verdict.Regressed
		}
	}
	b.Rates = append(b.Rates, Rate{kind, ch})
}

func (b *builder) line(e *compare.Event, l *compare.Line) Line {
	return Line{Function: l.Function, File: l.File, BaseLine: l.BaseLine, HeadLine: l.HeadLine, Self: newChange(&l.Self), BaseAt: l.BaseAt, HeadAt: l.HeadAt}
}

// lines are all lines of an event.
func (b *builder) lines(event int) (list []Line) {
	all := b.c.Lines(event)
	for i := range all {
		list = append(list, b.line(&b.c.Events[event], &all[i]))
	}
	return list
}

// Limits of the heaviest lines.
const (
	maxLines    = 20 // of a function
	leastOfLine = 0.0005
)

// hotLines are the heaviest lines of each function.
func (b *builder) hotLines(event int) (list []Line) {
	e := &b.c.Events[event]
	all := b.c.LinesAbove(event, leastOfLine)
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
		list = append(list, b.line(e, l))
	}
	return list
}

// addCode adds the machine code of functions and the text of lines.
func (b *builder) addCode(p *Page) {
	text := &p.Listing.Source
	candidates := b.sourceCandidates()
	// What is told here, and what listings find in binaries, says which text fits.
	for _, x := range candidates {
		x.tell(text)
	}
	b.Listings = listing.Of(b.c.Base, b.c.Head, b.c.Events[0].Name, b.hottest(), p.Listing)
	for i := range b.Events {
		lines := b.Events[i].HotLines
		for k := range lines {
			if l := &lines[k]; l.HeadLine > 0 {
				l.Text = text.Head.Line(l.HeadAt.Path, l.HeadLine)
			} else {
				l.Text = text.Base.Line(l.BaseAt.Path, l.BaseLine)
			}
		}
	}
	b.Sources = b.sources(text, candidates)
}

// neighbors are callers and callees of the functions that the user named.
func (b *builder) neighbors(event int) (list []Neighborhood) {
	functions := b.c.Events[event].Functions
	of := func(from []compare.Neighbor) (to []Neighbor) {
		for i := range from {
			to = append(to, Neighbor{from[i].Function, newChange(&from[i].Calls)})
		}
		return to
	}
	for i := range functions {
		if functions[i].Focus {
			callers, callees := b.c.Neighbors(event, i)
			list = append(list, Neighborhood{i, of(callers), of(callees)})
		}
	}
	return list
}

// tree is the call tree of an event, as far as the options show it.
func (b *builder) tree(event int, opt *TreeOptions) *Tree {
	tree := b.c.Tree(event)
	if opt.Callers {
		tree = b.c.CallerTree(event)
	}
	out := &Tree{MinShare: opt.MinShare}
	floor := opt.MinShare * max(tree.Base[compare.TreeRoot], tree.Head[compare.TreeRoot])
	var shown []compare.TreeNode
	var walk func(n compare.TreeNode, depth int)
	walk = func(n compare.TreeNode, depth int) {
		shown = append(shown, n)
		out.Nodes = append(out.Nodes, TreeNode{Depth: depth, Function: int(tree.Function[n]), Base: tree.Base[n], Head: tree.Head[n]})
		for _, child := range tree.Children(n) {
			if max(tree.Base[child], tree.Head[child]) < floor {
				out.Hidden++
				continue
			}
			walk(child, depth+1)
		}
	}
	walk(compare.TreeRoot, 0)
	costs := tree.Costs(shown)
	for i := range out.Nodes {
		c := costs.Change(i)
		out.Nodes[i].Ratio, out.Nodes[i].CI = text.Number(c.Ratio), text.Interval(c.CI)
	}
	return out
}

// told are the functions of the first event that a summary lists.
func (b *builder) told() (list []listing.Function) {
	e := &b.Events[0]
	_, bars := e.Movers()
	slices.SortStableFunc(bars, func(x, y Bar) int { return -cmp.Compare(math.Abs(x.Change.Delta), math.Abs(y.Change.Delta)) })
	ranked(e, bars, func(x Bar) *Change { return x.Change })
	for i := range bars {
		if at := bars[i].Function; at >= 0 && bars[i].Shift == nil && len(list) < 2*summaryRows {
			list = append(list, listed(&e.Functions[at]))
		}
	}
	return list
}

// listed is a function of which the code is looked for.
func listed(f *Function) listing.Function {
	return listing.Function{
		Name: f.Name, DSO: f.DSO, BaseName: f.BaseName, BaseDSO: f.BaseDSO,
		BaseSamples: f.Self.BaseSamples, HeadSamples: f.Self.HeadSamples,
	}
}

// maxListings is the number of functions whose code is listed.
const maxListings = 40

// hottest are the functions of the first event that were tested, the most expensive first.
func (b *builder) hottest() (list []listing.Function) {
	e := &b.Events[0]
	var order []*Function
	for i := range e.Functions {
		if f := &e.Functions[i]; f.Self.Tested {
			order = append(order, f)
		}
	}
	weight := func(f *Function) float64 { return f.Self.Base + f.Self.Head }
	slices.SortStableFunc(order, func(a, b *Function) int { return -cmp.Compare(weight(a), weight(b)) })
	for _, f := range order[:min(len(order), maxListings)] {
		list = append(list, listed(f))
	}
	return list
}

// NewSide are the recordings of a side.
func NewSide(side []*run.Run) Side {
	s := Side{Runs: make([]Run, 0, len(side))}
	for _, r := range side {
		s.Commit = cmp.Or(s.Commit, r.Recording.Commit)
		d := Run{
			Path: r.Name, Format: r.Recording.Format, DurationNS: r.Recording.Duration.Nanoseconds(),
			SamplesIn: r.Accounting.In, SamplesOut: r.Accounting.Out, Lost: r.Accounting.Lost, Unwound: r.Accounting.Unwound.Known(),
			Recording: r.Recording, Accounting: r.Accounting, Events: r.Events, Warnings: append([]string{}, r.Warnings...),
		}
		if !r.Recording.Start.IsZero() {
			d.RecordedAt = r.Recording.Start.Format(time.RFC3339Nano)
		}
		s.Runs = append(s.Runs, d)
	}
	return s
}

// NewPageSide is NewSide with what only a report in HTML has.
func NewPageSide(side []*run.Run, p *Page) Side {
	s := NewSide(side)
	s.addPage(side, p)
	return s
}

// maxBuilds is the number of binaries that are named of a run.
const maxBuilds = 3

// addPage adds builds and digests.
func (s *Side) addPage(side []*run.Run, p *Page) {
	for i, r := range side {
		s.Runs[i].Builds = builds(r)
		if p.Digest != nil {
			s.Runs[i].Digest = p.Digest(r.Name)
		}
	}
}

// builds are the binaries that most samples were in, by their build IDs.
func builds(r *run.Run) (list []Build) {
	weights, sampled := make([]int64, len(r.Mappings)), make([]bool, len(r.Mappings))
	for i := range r.Samples {
		if s := &r.Samples[i]; s.Stack != 0 {
			m := r.Locations[r.Stacks.Location(s.Stack)].Mapping
			weights[m] += s.Count
			sampled[m] = true
		}
	}
	var order []int
	for m := range weights {
		if sampled[m] && r.Mappings[m].BuildID != "" {
			order = append(order, m)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(-cmp.Compare(weights[a], weights[b]), cmp.Compare(a, b)) })
	for _, m := range order[:min(len(order), maxBuilds)] {
		list = append(list, Build{r.Mappings[m].File, r.Mappings[m].BuildID})
	}
	return list
}

func uniform(u *compare.Uniform) *Uniform {
	if u == nil {
		return nil
	}
	return &Uniform{u.Functions, text.Number(u.Factor), text.Interval(u.CI), text.Number(u.Spread)}
}

// noTotal says why there is no verdict on the total, and what would give one; "" if there is
// one.
func noTotal(e *compare.Event) string {
	switch {
	case e.NoTotal == "":
		return ""
	case e.Normalization.Window != "":
		return e.NoTotal + "; " + adviceOfWindow
	}
	return e.NoTotal + "; " + adviceOfWork
}

// What would give a total a verdict.
const (
	adviceOfWork   = "--work or --ops gives the work done"
	adviceOfWindow = adviceOfWork + ", --normalize none compares runs that did the same"
)
