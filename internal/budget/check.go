package budget

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"profdiff/internal/branch"
	"profdiff/internal/category"
	"profdiff/internal/compare"
	"profdiff/internal/run"
	"profdiff/internal/stats"
	"profdiff/internal/verdict"
	"profdiff/internal/yaml"
)

// Inputs are what a budget file is checked against.
type Inputs struct {
	// Base may be empty if all limits are absolute.
	Base, Head []*run.Run
	// Stored, if set, is where Base is from: it was recorded at another time than Head, so
	// that it can warn, and not fail.
	Stored *Stored
	// Noise, if set, are stored runs that tell how runs differ, where there is one run a
	// side.
	Noise *Stored
	// Today is the day, in UTC, on which waivers hold.
	Today Date
	// Streams are measured values by name, for budgets with samples.
	Streams map[string]Stream
	// Branches are the branch tables of the runs, for budgets with branch_cost.
	Branches [2][]*branch.Table
	// Predict predicts cycles of a loop, for budgets with mca; nil if nothing can.
	Predict func(PredictionRequest) (Prediction, error)
	// Ops, if set, are the operations in each run of base and of head, instead of a
	// counter of work.
	Ops *[2]float64
	// Categories says what a match by category means, nil for the built-in categories.
	Categories *category.Set
	// Code, if set, yields the files with code that the runs of a side loaded. It is asked
	// only if a function is limited that a side has no samples of.
	Code func(side int) []Code
	// Options are options of the comparison that the file cannot say.
	Options compare.Options
	// Strict fails also where cost only moved.
	Strict bool
	// Look says which of two planned looks this is, 0 for the first that the file plans.
	Look stats.Look
	// Declared says what looks decided that ended the recording, nil if there were none.
	Declared *Declared
	// Proposed is the budget file as the change that is checked would have it, nil if it is the same.
	Proposed *File
}

// A PredictionRequest asks for the cycles of one iteration of the hottest loop of the
// functions that Match accepts.
type PredictionRequest struct {
	Match  func(function, system, dso, file string) bool
	Target string // CPU as LLVM calls it, "" for the CPU of the recording
}

// A Prediction is what a model says of a loop in head.
type Prediction struct {
	Cycles float64 // of one iteration
	Lo, Hi float64 // its interval; both 0 if it has none
	Model  string  // what predicts, with version and CPU
	Loop   string  // where
}

// errNoBase is why limits relative to base cannot be checked.
var errNoBase = errors.New("no base to compare with")

// Check checks a budget file.
func (f *File) Check(in *Inputs) (*Outcome, error) {
	var loosened *Result
	if in.Proposed != nil {
		loosened = f.Loosened(in.Proposed)
	}
	f, err := f.with(in)
	if err != nil {
		return nil, err
	}
	if err := f.CheckDates(in.Today); err != nil {
		return nil, err
	}
	k, err := f.measure(in)
	if err != nil {
		return nil, err
	}
	if f.declared == nil {
		if err := f.canFail(k.family(), f.Defaults.Require.Runs); err != nil {
			return nil, yaml.Name(f.name, err)
		}
	}
	f.judge(k.results)
	o := &Outcome{File: f.name, Alpha: f.rule().Alpha, Look: f.look, Tests: k.family(), Design: k.design(), Comparison: k.comparison, Notes: k.notes}
	for _, r := range k.results {
		o.Results = append(o.Results, *r)
	}
	if loosened != nil {
		o.Results = append(o.Results, *loosened)
	}
	o.Discoveries = k.discoveries()
	f.outcome(o)
	o.Notes = append(append(o.Notes, o.lookNotes()...), f.declared.notes(o)...)
	return o, nil
}

// with is the file with what the inputs say of it.
func (f *File) with(in *Inputs) (*File, error) {
	own := *f
	own.Defaults.Strict = f.Defaults.Strict || in.Strict
	own.look, own.declared = in.Look, in.Declared
	switch {
	case f.Defaults.Looks == 2:
		own.look = max(in.Look, stats.FirstLook)
	case in.Look != stats.OnlyLook:
		return nil, ErrNoSecondLook
	}
	return &own, nil
}

// maxWaiver is for how long a waiver may hold.
const maxWaiver = 180 * 24 * time.Hour

// CheckDates refuses waivers that hold for too long.
func (f *File) CheckDates(today Date) error {
	for i := range f.Waivers {
		if w := &f.Waivers[i]; w.Until.Sub(today.Time) > maxWaiver {
			err := f.fail(fmt.Sprintf("waivers[%d].until", i), "%s is more than 180 days from %s", w.Until, today)
			return yaml.Name(f.name, err)
		}
	}
	return nil
}

// A check is one check of a file while it is made.
type check struct {
	file       *File
	in         *Inputs
	tests      *stats.Tests
	comparison *compare.Comparison // nil without base
	noCompare  string              // why there is none though there is a base
	tally      *tally
	event      string // the default event
	results    []*Result
	targets    []*target // by result, nil if it counts nothing
	notes      []string
	// places and callerPlaces are where functions are that a target counts, and those that
	// it is under; codeNames are functions of files that were searched.
	places, callerPlaces map[*target]*place
	codeNames            map[string]bool

	waivers map[string]*Waiver
	ranks   bool // absolute limits go by signed ranks
}

func (f *File) measure(in *Inputs) (*check, error) {
	k := &check{file: f, in: in, tests: stats.New(verdict.Level), waivers: make(map[string]*Waiver), codeNames: make(map[string]bool)}
	if f.Defaults.Test != "auto" {
		k.tests = stats.NewRanked(verdict.Level, f.rankRuns())
	}
	if f.NeedsProfiles() && len(in.Head) == 0 {
		return nil, errors.New("head has no runs")
	}
	for i := range f.Waivers {
		w := &f.Waivers[i]
		if w.Until.Before(in.Today.Time) {
			k.notes = append(k.notes, fmt.Sprintf("the waiver of %s expired on %s: its limit counts again", w.Budget, w.Until))
			continue
		}
		k.waivers[w.Budget] = w
	}
	if len(in.Head) > 0 {
		k.event = f.Defaults.Event
		if k.event == "" && len(in.Head[0].Events) > 0 {
			k.event = in.Head[0].Events[0].Name
		}
	}
	if err := k.compare(); err != nil {
		return nil, err
	}
	k.tally = newTally(in.Base, in.Head, k.comparison, in.Categories, &f.Defaults.Exclude)
	k.tally.stored = in.Stored
	if err := k.count(); err != nil {
		return nil, err
	}
	k.lookUp()
	n := len(in.Head)
	k.ranks = f.Defaults.Test != "welch" && n < 60 && 1/float64(int64(1)<<max(n, 1)) <= k.level()
	for i, r := range k.results {
		if err := k.claims(r, k.targets[i]); err != nil {
			return nil, err
		}
	}
	return k, k.addNoise()
}

// NeedsProfiles reports whether any budget is of recordings.
func (f *File) NeedsProfiles() bool {
	return slices.ContainsFunc(f.Budgets, func(b Budget) bool { return b.Samples == "" && b.MCA == nil })
}

// TakesOps reports whether costs are divided by work, so that operations can be given
// instead of a counter of it.
func (f *File) TakesOps() bool {
	return f.Defaults.Normalize.Mode == "work" || f.Defaults.Normalize.Mode == "auto"
}

// NeedsBranches reports whether any budget is of branches.
func (f *File) NeedsBranches() bool {
	return slices.ContainsFunc(f.Budgets, func(b Budget) bool { return b.BranchCost != "" })
}

// compare compares the sides as the file says.
func (k *check) compare() error {
	if len(k.in.Base) == 0 || len(k.in.Head) == 0 {
		return nil
	}
	d := &k.file.Defaults
	opt := k.in.Options
	opt.Ops = k.in.Ops
	opt.AllowBlockedOrder = d.Require.Order == "any" || k.in.Stored != nil
	if d.Test != "auto" {
		opt.RankRuns, opt.Unpaired = k.file.rankRuns(), true
	}
	base, head := k.in.Base, k.in.Head
	switch d.Normalize.Mode {
	case "work":
		opt.Normalize, opt.Work = compare.Work, d.Normalize.Work
		if opt.Ops != nil {
			opt.Work = ""
		}
	case "instructions":
		const counter = "instructions of the event"
		opt.Normalize, opt.Work, opt.Ops = compare.Work, counter, nil
		var err error
		if base, err = withInstructions(base, counter); err != nil {
			return err
		}
		if head, err = withInstructions(head, counter); err != nil {
			return err
		}
	default:
		opt.Normalize = compare.Mode(d.Normalize.Mode)
	}
	if r := d.Reference; r != nil {
		for _, glob := range r.Functions {
			opt.Reference = append(opt.Reference, globRegexp(glob))
		}
		for _, glob := range r.DSO {
			opt.ReferenceDSO = append(opt.ReferenceDSO, globRegexp(glob))
		}
		if r.MedianOfRatios != nil {
			opt.ReferenceSamples = int64(r.MedianOfRatios.MinSamples)
		}
	}
	if x := k.file.Discover; x != nil {
		if x.Q != nil {
			opt.FalseDiscovery = float64(*x.Q)
		}
		if x.MinShare != nil {
			opt.MinShare = float64(*x.MinShare)
		}
	}
	if k.in.Stored != nil {
		if err := k.in.Stored.lacks(head); err != nil {
			return err
		}
	}
	c, err := compare.Compare(base, head, opt)
	switch {
	case errors.Is(err, compare.ErrNoCommonEvent):
		k.noCompare = fmt.Sprintf("the sides differ in event: base has %s, head has %s", k.in.Base[0].EventNames(), k.in.Head[0].EventNames())
		return nil
	case err != nil:
		return err
	}
	k.comparison = c
	return nil
}

// withInstructions gives runs a counter of work: the total of their event instructions.
func withInstructions(runs []*run.Run, counter string) (list []*run.Run, err error) {
	for _, r := range runs {
		at, ok := r.EventIndex("instructions")
		if !ok {
			return nil, fmt.Errorf("%w: normalize: instructions: %s has no event instructions; it has %s", compare.ErrWork, r.Name, r.EventNames())
		}
		copied := *r
		copied.Counters = append(slices.Clone(r.Counters), run.Counter{Name: counter, Unit: "instructions", Value: float64(r.Events[at].Weight)})
		list = append(list, &copied)
	}
	return list, nil
}

// count makes the results and counts what they limit.
func (k *check) count() error {
	var targets, each []*target
	for i := range k.file.Budgets {
		b := &k.file.Budgets[i]
		var x *target
		if b.Samples == "" && b.MCA == nil && b.BranchCost == "" {
			x = k.target(b)
			if b.Each {
				each = append(each, x)
			}
			targets = append(targets, x)
		}
		k.add(b, b.ID, x)
	}
	k.tally.count(targets)
	if len(each) > 0 {
		return k.expand(each)
	}
	return nil
}

func (k *check) add(b *Budget, id string, x *target) {
	k.results = append(k.results, &Result{ID: id, Owner: b.Owner, Waiver: k.waivers[b.ID], Position: b.Position, Budget: b})
	k.targets = append(k.targets, x)
}

func (k *check) target(b *Budget) *target {
	x := &target{budget: b, matcher: newMatcher(b.Match), self: b.Metric == "self", events: []string{cmp.Or(b.Event, k.event)}}
	if b.Rate.Of != "" {
		x.events = []string{b.Rate.Of, b.Rate.Per}
	}
	return x
}

// maxEach is the most functions that budgets of each function may stand for.
const maxEach = 2000

// expand replaces budgets of each function by one for each function with enough samples. The
// samples of both sides together do not depend on what changed.
func (k *check) expand(each []*target) error {
	type part struct {
		name string
		x    *target
	}
	parts := make(map[*target][]part)
	var all []*target
	for _, x := range each {
		rows := make(map[int]*part)
		var order []int
		for _, side := range []int{1, 0} {
			for _, id := range x.matched[side] {
				s := &k.tally.symbols[side].list[id]
				p, ok := rows[s.row]
				if !ok {
					only := *x
					only.sums, only.matched = [2][2][]run.Sum{}, [2][]int32{}
					only.only = [2]map[int32]bool{{}, {}}
					p = &part{s.name, &only}
					rows[s.row] = p
					order = append(order, s.row)
				}
				p.x.only[side][id] = true
			}
		}
		for _, row := range order {
			parts[x] = append(parts[x], *rows[row])
			all = append(all, rows[row].x)
		}
	}
	if len(all) > maxEach {
		return fmt.Errorf("budgets of each function match %d functions, of at most %d: narrow their patterns", len(all), maxEach)
	}
	k.tally.count(all)
	results, targets := k.results, k.targets
	k.results, k.targets = nil, nil
	for i, r := range results {
		x := targets[i]
		if x == nil || !r.Budget.Each || len(parts[x]) == 0 {
			k.results, k.targets = append(k.results, r), append(k.targets, x)
			continue
		}
		list := slices.DeleteFunc(parts[x], func(p part) bool { return p.x.samples(0)+p.x.samples(1) < 2*int64(k.file.Defaults.Require.Samples) })
		slices.SortFunc(list, func(a, b part) int { return strings.Compare(a.name, b.name) })
		if len(list) == 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("no function has %d samples on both sides together: tested as one", 2*k.file.Defaults.Require.Samples))
			k.results, k.targets = append(k.results, r), append(k.targets, x)
		}
		for _, p := range list {
			k.add(r.Budget, r.ID+"/"+p.name, p.x)
		}
	}
	return nil
}

// samples counts the samples of the first event on one side.
func (x *target) samples(side int) (n int64) {
	for i := range x.sums[side][0] {
		n += x.sums[side][0][i].Count
	}
	return n
}

// weight is what one event costs on one side.
func (x *target) weight(side, event int) (w float64) {
	for i := range x.sums[side][event] {
		w += float64(x.sums[side][event][i].Weight)
	}
	return w
}

// family is the number of hypotheses of failures.
func (k *check) family() (n int) {
	for _, r := range k.results {
		b := r.Budget
		if b.MCA != nil {
			continue
		}
		if b.Limit != nil && b.Limit.Fail != nil {
			n++
		}
		if b.Max != nil && b.Max.Fail != nil && b.Max.Fail.Unit != Samples {
			n++
		}
		if b.Min != nil && b.Min.Fail != nil {
			n++
		}
	}
	return n
}

// level is the least one-sided level at which a limit is judged.
func (k *check) level() float64 {
	if k.file.level > 0 {
		return k.file.level
	}
	rule := k.file.rule()
	return rule.Corrected(rule.Look, k.family())
}

// design describes how the sides were recorded and compared.
func (k *check) design() Design {
	d := Design{Turns: (&verdict.Pairing{}).Turns(verdict.UnknownOrder), RunsBase: len(k.in.Base), RunsHead: len(k.in.Head), Base: k.in.Base, Head: k.in.Head}
	c := k.comparison
	if c == nil {
		d.Warnings = compare.RunWarnings(nil, k.in.Head)
		return d
	}
	d.Turns, d.Warnings = c.Pairing.Turns(c.Order), slices.Clone(c.Warnings)
	if k.in.Stored != nil {
		when := ""
		if !k.in.Base[0].Recording.Start.IsZero() {
			when = fmt.Sprintf(" (%s)", span(k.in.Base))
		}
		d.Warnings = append(d.Warnings, fmt.Sprintf("base was stored%s: what changed on the machine since then looks like a change of the program", when))
		if lacks := machineLacks(k.in.Head[0]); lacks != "" {
			d.Warnings = append(d.Warnings, fmt.Sprintf("neither base nor head says on which %s it was recorded: nothing shows that it was one machine", lacks))
		}
	}
	if d.Order == verdict.UnknownOrder && k.in.Stored == nil && d.RunsBase > 1 && d.RunsHead > 1 && k.file.Defaults.Require.Order != "any" {
		d.Warnings = append(d.Warnings, "the recordings do not tell in what order they were made: if one side came first, drift of the machine looks like a change")
	}
	if at := k.eventIndex(k.event); at >= 0 {
		n := c.Events[at].Normalization
		d.Normalization = "none, the cost of a run: assumes " + n.Assumes()
		if n.Mode != compare.None {
			d.Normalization = fmt.Sprintf("%s: %s, head/base %.4g", n.Mode, n.By, n.Factor)
		}
		if n.Mode == compare.Total {
			d.Warnings = append(d.Warnings, "composition: costs are shares of the total, so that the gain of one function is a loss of all others; normalize by work or a reference")
		}
	}
	return d
}

// eventIndex is the index of an event in the comparison, or -1.
func (k *check) eventIndex(name string) int {
	if k.comparison == nil {
		return -1
	}
	return slices.IndexFunc(k.comparison.Events, func(e compare.Event) bool { return run.SameEvent(e.Name, name) })
}

// discoveries are functions that cost more and are counted by no budget.
func (k *check) discoveries() (list []Discovery) {
	x := k.file.Discover
	if x == nil || x.Level != "note" || k.comparison == nil {
		return nil
	}
	counted := make(map[int]bool)
	for _, t := range k.targets {
		if t == nil {
			continue
		}
		for side, ids := range t.matched {
			for _, id := range ids {
				counted[k.tally.symbols[side].list[id].row] = true
			}
		}
	}
	at := k.eventIndex(k.event)
	if at < 0 {
		return nil
	}
	e := &k.comparison.Events[at]
	for i := range e.Functions {
		fn := &e.Functions[i]
		if fn.Self.Verdict != verdict.Regressed {
			continue
		}
		if id, ok := k.tally.symbols[1].ids[symbol{fn.Name, fn.DSO}]; ok && counted[k.tally.symbols[1].list[id].row] {
			continue
		}
		list = append(list, Discovery{Name: fn.Name, DSO: fn.DSO, Event: e.Name, Ratio: fn.Self.Ratio, CI: fn.Self.CI, Q: fn.Self.Adjusted})
	}
	return list
}
