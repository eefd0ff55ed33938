// Package compare compares two sets of Runs and says which differences are real.
//
//  1. Events are paired by name. Functions of both sides become rows: package align finds the
//     ones whose names differ.
//  2. Costs of each run are divided by its work, a counter or a number of operations; else by
//     nothing, as runs that do the same can be compared, or in windows of time by all costs.
//     On request it is the cost of functions that do not change, or the median of the ratios
//     of functions (Anders and Huber, 2010).
//  3. Package stats estimates the ratio of each row. Of a single run a side the order of
//     samples tells how they cluster, which makes them count as fewer.
//  4. Families of ratios go to package verdict: what the user named; functions that were
//     found, by self and by total cost; the rows of each group. Rows below a share of the
//     cost of both sides are not tested (Bourgon, Gentleman and Huber, 2010).
//  5. Verdicts are withheld where the recordings do not bear them: order, conditions,
//     divisors that moved, shares that only mirror others. That all functions changed by
//     one factor is a finding of its own.
//  6. Cost that only moved is found: between a function that one side does not have and
//     those that call it or are called by it, if little of it remains as a change.
//  7. The few functions are found that explain the change with what they call.
//  8. Call trees, lines, callers and callees are computed from the rows when asked for.
package compare

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/category"
	"profdiff/internal/run"
	"profdiff/internal/verdict"
)

// Options say how to compare. Zero values are replaced by the defaults named.
type Options struct {
	Normalize Mode // Auto
	// Work is the counter of work, "" to look for one. Ops, if set, are the
	// operations in each run of base and of head.
	Work string
	Ops  *[2]float64
	// Reference names the functions of Reference, and ReferenceDSO files all of whose
	// functions are; nil for the median of the ratios of functions with at least
	// ReferenceSamples samples on both sides, 25.
	Reference, ReferenceDSO []*regexp.Regexp
	ReferenceSamples        int64
	Renames                 []align.Rename
	// Focus are functions whose verdicts are declared.
	Focus []*regexp.Regexp
	// Margin is the relative change that does not matter, 0.02.
	Margin float64
	// FalseDiscovery is the share of false ones among the functions called
	// changed that were not declared, 0.10.
	FalseDiscovery float64
	// MinShare is the share of the pooled weight from which functions are tested,
	// 0.002.
	MinShare float64
	// RankRuns is the number of runs a side from which ranks are tested, 8.
	RankRuns int
	// Unpaired compares two groups of runs even if their order shows pairs.
	Unpaired bool
	// AllowBlockedOrder gives verdicts even if all runs of one side were recorded
	// before those of the other.
	AllowBlockedOrder bool
	// Level is the least one-sided level at which what is declared is judged, 0 if all of it is
	// judged here and now.
	Level float64
	// Stopped says what ended the recording, nil if its runs were a number.
	Stopped *Stopped
	// GroupBy are groups to compare beside functions.
	GroupBy []run.GroupBy
	// Most is how many functions are compared one by one, the heaviest of both sides, or what the user named; the
	// others are one, [OtherFunctions]. 0 is all.
	Most int
	// Categories says what run.ByCategory sorts into, nil for the built-in categories.
	Categories *category.Set

	// pairing, if set, says what the times of the runs need not show.
	pairing *verdict.Pairing
}

func (o Options) withDefaults() Options {
	o.Normalize = cmp.Or(o.Normalize, Auto)
	o.Margin = cmp.Or(o.Margin, verdict.Margin)
	o.ReferenceSamples = cmp.Or(o.ReferenceSamples, minReferenceSamples)
	o.FalseDiscovery = cmp.Or(o.FalseDiscovery, verdict.FalseDiscovery)
	o.MinShare = cmp.Or(o.MinShare, 0.002)
	return o
}

// A Comparison is the result of comparing two sides, each of one run or more.
type Comparison struct {
	Base, Head []*run.Run
	Options    Options
	Order      verdict.Order
	// Pairing says which runs are compared with each other.
	Pairing verdict.Pairing
	Events  []Event
	// Warnings tell why numbers of this comparison deserve less trust.
	Warnings []string

	base, head *side
	names      naming
	rows       *rowset
	tests      estimator
}

// An Event is what one event says.
type Event struct {
	// Name is the event as the base side has it.
	Name, Unit    string
	Normalization *Normalization
	// Raw is the weight of all samples, Total the normalized one. Of shares Total
	// is Raw.
	Raw, Total Change
	Functions  []Function
	Groups     []Group
	Shifts     []Shift
	// Explained are the functions that explain the change with what they call, where no few
	// rows by self cost do: indices in Functions.
	Explained []int
	// Uniform is set if all functions changed by one factor.
	Uniform *Uniform
	// Withheld says why there are no verdicts, "" if there are. NoTotal says why there is
	// none on the total alone.
	Withheld, NoTotal string

	tests estimator // of what nobody named
	pair  eventPair
	costs *costs
	// rest are divisors by what did not change, if costs are shares; else nil.
	rest *Normalization
}

// A Function is one function on both sides.
type Function struct {
	// Name and DSO are head's, or base's if head has none. BaseName and BaseDSO
	// are "" if the function is new.
	Name, SystemName, DSO string
	BaseName, BaseDSO     string
	Match                 Match
	// Parts are the functions that this one became, or was: of a side that has several,
	// the heaviest first. Name and BaseName are of the heaviest.
	Parts       []Part
	Self, Total Change
	// Focus is set if the user named the function.
	Focus bool
	// Shift is an index in Event.Shifts if the change is part of a cost shift,
	// else -1.
	Shift int

	row int
}

// A Group is the weight by threads, files, …
type Group struct {
	By   run.GroupBy
	Rows []GroupRow
}

// A GroupRow is one thread, file, … on both sides.
type GroupRow struct {
	// Name is head's, or base's if head has none. BaseName is "" if the row is new.
	Name, BaseName string
	Self           Change
}

// Compare compares two sides.
func Compare(base, head []*run.Run, opt Options) (*Comparison, error) {
	opt = opt.withDefaults()
	warnings, err := checkSides(base, head)
	if err != nil {
		return nil, err
	}
	pairs, notCompared, err := pairEvents(base, head)
	if err != nil {
		return nil, err
	}
	pairs, empty, err := sampledEvents(pairs, base, head)
	if err != nil {
		return nil, err
	}
	notCompared = append(notCompared, empty...)
	c := &Comparison{Base: base, Head: head, Options: opt, Order: verdict.OrderOf(Moments(base), Moments(head))}
	c.Pairing = verdict.PairsOf(Moments(base), Moments(head), opt.Unpaired)
	if opt.pairing != nil {
		c.Pairing = *opt.pairing
	}
	run.TellApart(slices.Concat(base, head)...)
	together(func() { c.base = newSide(base) }, func() { c.head = newSide(head) })
	c.gather(pairs)
	categories := c.categories()
	defer categories() // nobody reads the runs afterwards
	c.base.list()
	c.head.list()
	c.names = newNaming(c.base, c.head)
	// Who compares two machines has to know that before all else.
	c.Warnings = slices.Concat(differing(base, head), c.Warnings, notCompared, warnings, audit(base, head, c.names))
	if c.blocked() {
		c.Warnings = append(c.Warnings, verdict.BlockedWarning)
	}
	in := newRooms(c.base, c.head)
	if err := c.match(&pairs[0], in); err != nil {
		return nil, err
	}
	for _, re := range opt.Focus {
		if !c.rows.match(c.base, c.head, re) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("no function matches --focus %s", re))
		}
	}
	c.tests = c.newEstimator()
	for i := range pairs {
		e, err := c.compareEvent(&pairs[i], in, categories)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pairs[i].name, err)
		}
		c.Events = append(c.Events, *e)
	}
	for i := range c.Events {
		c.Events[i].Explained = c.explain(i)
	}
	return c, nil
}

// blocked reports whether the order of recording forbids verdicts.
func (c *Comparison) blocked() bool { return c.Order.Forbids(len(c.Base), len(c.Head)) }

func (o *Options) rule() verdict.Rule {
	return verdict.Rule{Margin: o.Margin, FalseDiscovery: o.FalseDiscovery}
}

// match finds the symbols of both sides and their counterparts.
func (c *Comparison) match(p *eventPair, in rooms) error {
	// What calls what matters only if there is a function that one side does not have.
	names := make(map[symbol]int)
	for _, s := range c.base.symbols {
		names[s] |= 1
	}
	for _, s := range c.head.symbols {
		s.dso = c.names.of(run.ByDSO, true, s.dso)
		names[s] |= 2
	}
	only := 0
	for _, sides := range names {
		only |= 3 &^ sides
	}
	in.each(
		func() { c.base.describe(p.base, only == 0, in.base) },
		func() { c.head.describe(p.head, only == 0, in.head) },
	)
	var err error
	c.rows, err = matchSymbols(c.base, c.head, align.Options{Renames: c.Options.Renames, Files: c.names.same[run.ByDSO]})
	return err
}

// eventPair is one event with its index in each run.
type eventPair struct {
	name, unit string
	base, head []int // index in Run.Events by run
}

// pairEvents finds the events that all runs have, in the order of the first base run.
// Events that only one side has are named; runs of a side must have the same ones.
func pairEvents(base, head []*run.Run) (pairs []eventPair, notCompared []string, err error) {
	find := func(side []*run.Run, e *run.Event) (at []int, lacks *run.Run) {
		for _, r := range side {
			j, found := r.EventIndex(e.Name)
			if !found || r.Events[j].Unit != e.Unit {
				return nil, r
			}
			at = append(at, j)
		}
		return at, nil
	}
	events := func(side []*run.Run, name string) (list []eventPair, err error) {
		for i := range side[0].Events {
			e := &side[0].Events[i]
			at, lacks := find(side, e)
			if lacks != nil && !e.Derived {
				return nil, fmt.Errorf("%w: %s of %s has the event %s, %s has %s; choose events with --event",
					errMixedSide, side[0].Name, name, e.Name, lacks.Name, lacks.EventNames())
			}
			if lacks == nil {
				list = append(list, eventPair{name: e.Name, unit: e.Unit, base: at})
			}
		}
		for _, r := range side[1:] {
			for i := range r.Events {
				if _, lacks := find(side[:1], &r.Events[i]); lacks != nil && !r.Events[i].Derived {
					return nil, fmt.Errorf("%w: %s of %s has the event %s, %s has %s; choose events with --event",
						errMixedSide, r.Name, name, r.Events[i].Name, side[0].Name, side[0].EventNames())
				}
			}
		}
		return list, nil
	}
	ofBase, err := events(base, "base")
	if err != nil {
		return nil, nil, err
	}
	ofHead, err := events(head, "head")
	if err != nil {
		return nil, nil, err
	}
	paired := make(map[int]bool) // index in ofHead
	for _, p := range ofBase {
		k := slices.IndexFunc(ofHead, func(h eventPair) bool {
			j, ok := head[0].EventIndex(p.name)
			return ok && h.base[0] == j && h.unit == p.unit
		})
		if k < 0 {
			notCompared = append(notCompared, fmt.Sprintf("head does not have the event %s: it is not compared", p.name))
			continue
		}
		paired[k] = true
		p.head = ofHead[k].base
		pairs = append(pairs, p)
	}
	for k, p := range ofHead {
		if !paired[k] {
			notCompared = append(notCompared, fmt.Sprintf("base does not have the event %s: it is not compared", p.name))
		}
	}
	if len(pairs) == 0 {
		return nil, nil, fmt.Errorf("%w: %s has %s; %s has %s", ErrNoCommonEvent,
			base[0].Name, base[0].EventNames(), head[0].Name, head[0].EventNames())
	}
	return pairs, notCompared, nil
}

// sampledEvents returns the events that all runs have samples of, and names the others.
// It is an error if no event is left.
func sampledEvents(pairs []eventPair, base, head []*run.Run) (sampled []eventPair, notCompared []string, err error) {
	for _, p := range pairs {
		lacks := ""
		for side, at := range [][]int{p.base, p.head} {
			for i, r := range [][]*run.Run{base, head}[side] {
				if e := &r.Events[at[i]]; lacks == "" && (e.Samples == 0 && !e.Simulated || e.Weight <= 0) {
					lacks = r.Name
					if n := r.Accounting.Filtered; n > 0 {
						lacks += fmt.Sprintf(" after filtering out %d", n)
					}
				}
			}
		}
		if lacks == "" {
			sampled = append(sampled, p)
			continue
		}
		if err == nil {
			err = fmt.Errorf("%s: %w in %s", p.name, ErrNoSamples, lacks)
		}
		notCompared = append(notCompared, fmt.Sprintf("%s has no samples of the event %s: it is not compared", lacks, p.name))
	}
	if len(sampled) == 0 {
		return nil, nil, err
	}
	return sampled, notCompared, nil
}

func (c *Comparison) compareEvent(p *eventPair, in rooms, categories func() [][]run.Row) (*Event, error) {
	e := &Event{Name: p.name, Unit: p.unit, pair: *p}
	e.costs = rowCosts(c.base, c.head, c.rows, p, in)
	c.addBursts(e)
	simulated, complete := true, true
	for side, at := range [][]int{p.base, p.head} {
		for i, r := range [][]*run.Run{c.Base, c.Head}[side] {
			e := &r.Events[at[i]]
			simulated = simulated && e.Simulated
			complete = complete && e.Complete && e.Lost == 0 && r.Accounting.Lost == 0
		}
	}
	declared := c.declared()
	n, err := normalization(c.base, c.head, c.rows, e.costs, declared, simulated, &c.Options)
	if err != nil {
		return nil, err
	}
	n.complete = complete
	e.Normalization = n
	raw := newNormalization(None, len(c.Base), len(c.Head))
	raw.simulated, raw.complete = simulated, complete
	e.Raw = raw.newChange(declared, e.costs.whole)
	e.Total = n.newChange(declared, e.costs.whole)
	if n.Mode == Total {
		e.Total = raw.newChange(declared, e.costs.whole)
	}
	e.tests = c.found(e)
	e.Functions = c.functions(e)
	for _, by := range c.Options.GroupBy {
		e.Groups = append(e.Groups, c.group(by, e, categories))
	}
	rule := c.Options.rule()
	families := c.families(e)
	for i := range families {
		families[i].judge(rule)
	}
	rule.Declared([]*verdict.Finding{&e.Raw.Finding})
	mirrored := ""
	if n.Mode == Total {
		mirrored = c.dropMirrored(e, families, e.tests)
	}
	e.Shifts = c.shifts(e, e.tests)
	c.keep(e, len(c.Events) == 0)
	c.Warnings = append(c.Warnings, auditEvent(p, c.Base, c.Head)...)
	if n.Mode == Work && c.Options.Ops == nil && verdict.FarApart(n.Factor) {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s: head did %.3g times as many operations (%s) as base: what a run costs once is shared by more or fewer", e.Name, n.Factor, n.By))
	}
	if found := workCounters(c.base, c.head); c.Options.Normalize == Auto && n.Mode != Work && len(found) > 1 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s: any of %q could count work: choose one with --work", e.Name, found))
	}
	if said := e.unequal(&c.Pairing); said != "" && c.Options.Normalize == Auto && n.Mode == None && !c.Base[0].Events[p.base[0]].Derived {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %s", e.Name, said))
	}
	e.Uniform = c.uniform(e, declared)
	c.secondCosts(e)
	c.withhold(e, mirrored)
	c.contradictions(e)
	return e, nil
}

// functions are the rows that the event has samples of, by absolute change.
func (c *Comparison) functions(e *Event) []Function {
	declared := c.declared()
	order := c.rowsByChange(e)
	// There may be many, and each is large: they are made in their order, at their place.
	list := make([]Function, len(order))
	eachTogether(len(order), func(k int) {
		i := order[k]
		r, f := &c.rows.rows[i], &list[k]
		f.Match, f.Shift, f.row = r.match, -1, int(i)
		if r.base >= 0 {
			s := &c.base.facts[r.base]
			f.Name, f.SystemName, f.DSO, f.BaseName, f.BaseDSO = s.Name, s.SystemName, s.DSO, s.Name, s.DSO
		}
		if r.head >= 0 {
			s := &c.head.facts[r.head]
			f.Name, f.SystemName, f.DSO = s.Name, s.SystemName, s.DSO
		}
		f.Focus = c.rows.matches(c.base, c.head, int(i), c.Options.Focus)
		tests := e.tests
		if f.Focus {
			tests = declared
		}
		f.Self = e.Normalization.newChange(tests, e.costs.self[i])
		f.Total = e.Normalization.newChange(tests, e.costs.total[i])
	})
	c.addParts(e, list)
	return list
}

// rowsByChange are the rows that an event has samples of: those whose own cost changed most come
// first, then those whose cost with callees did, then by name.
func (c *Comparison) rowsByChange(e *Event) []int32 {
	type change struct{ self, total float64 }
	changes := make([]change, len(c.rows.rows))
	var order []int32
	for i := range changes {
		if !e.costs.total[i].zero() {
			base, head := e.Normalization.levels(&e.costs.self[i])
			totalBase, totalHead := e.Normalization.levels(&e.costs.total[i])
			changes[i] = change{math.Abs(head - base), math.Abs(totalHead - totalBase)}
			order = append(order, int32(i))
		}
	}
	names := func(i int32) (name, dso, baseName string) {
		r := &c.rows.rows[i]
		if r.base >= 0 {
			s := &c.base.facts[r.base]
			name, dso, baseName = s.Name, s.DSO, s.Name
		}
		if r.head >= 0 {
			s := &c.head.facts[r.head]
			name, dso = s.Name, s.DSO
		}
		return name, dso, baseName
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &changes[i], &changes[j]
		if by := cmp.Or(cmp.Compare(b.self, a.self), cmp.Compare(b.total, a.total)); by != 0 {
			return by
		}
		name, dso, baseName := names(i)
		name2, dso2, baseName2 := names(j)
		return cmp.Or(strings.Compare(name, name2), strings.Compare(dso, dso2), strings.Compare(baseName, baseName2))
	})
	return order
}

// categories starts to group all runs by category, base first, which takes about as long as all that comes before
// it is asked for. Nothing is done if nobody will ask.
func (c *Comparison) categories() func() [][]run.Row {
	if !slices.Contains(c.Options.GroupBy, run.ByCategory) {
		return func() [][]run.Row { return nil }
	}
	set := c.Options.Categories
	if set == nil {
		set = category.Builtin()
	}
	var rows [][]run.Row
	grouped := make(chan struct{})
	go func() {
		rows = set.Groups(slices.Concat(c.Base, c.Head))
		close(grouped)
	}()
	return func() [][]run.Row {
		<-grouped
		return rows
	}
}

// group compares by threads, files, …
func (c *Comparison) group(by run.GroupBy, e *Event, categories func() [][]run.Row) Group {
	g := Group{By: by}
	index := make(map[string]int)
	var sums []cost
	var known [][]run.Row // of all runs
	if by == run.ByCategory {
		known = categories()
	}
	for side, runs := range [][]*run.Run{c.Base, c.Head} {
		for i, r := range runs {
			var rows []run.Row
			if by == run.ByCategory {
				rows = known[side*len(c.Base)+i]
			} else {
				rows = r.GroupSelf(by)
			}
			for j := range rows {
				name := c.names.of(by, false, rows[j].Name)
				key := c.names.of(by, side == 1, rows[j].Name)
				k, ok := index[key]
				if !ok {
					k = len(sums)
					index[key] = k
					sums = append(sums, newCost(len(c.Base), len(c.Head)))
					g.Rows = append(g.Rows, GroupRow{})
				}
				g.Rows[k].Name = name
				if side == 0 {
					g.Rows[k].BaseName = name
					sums[k].base[i].Add(&rows[j].Self[e.pair.base[i]])
				} else {
					sums[k].head[i].Add(&rows[j].Self[e.pair.head[i]])
				}
			}
		}
	}
	for i := range g.Rows {
		g.Rows[i].Self = e.Normalization.newChange(e.tests, sums[i])
	}
	g.Rows = slices.DeleteFunc(g.Rows, func(r GroupRow) bool { return r.Self.cost.zero() })
	slices.SortStableFunc(g.Rows, func(a, b GroupRow) int {
		return cmp.Or(-cmp.Compare(math.Abs(a.Self.Delta()), math.Abs(b.Self.Delta())), strings.Compare(a.Name, b.Name))
	})
	return g
}

// families are what is tested together. The total and the functions that the user named are
// declared, by self and by total cost, and so are categories. What nobody named are families
// of their own, functions by self and by total cost, and the rows of each group, so that what
// else is shown changes no verdict. The filter by pooled share does not depend on the
// difference between the sides (Bourgon, Gentleman and Huber, 2010).
func (c *Comparison) families(e *Event) []family {
	named := []family{{declared: true, changes: []*Change{&e.Total}}, {declared: true}}
	found := []family{{}, {}}
	for i := range e.Functions {
		f := &e.Functions[i]
		for k, ch := range []*Change{&f.Self, &f.Total} {
			switch {
			case f.cut():
				// How many stacks were cut off is no cost, and what changed of many functions none.
			case f.Focus:
				named[k].changes = append(named[k].changes, ch)
			case c.heavy(e, ch):
				found[k].changes = append(found[k].changes, ch)
			}
		}
	}
	list := append(named, found...)
	for i := range e.Groups {
		rows := family{declared: e.Groups[i].By == run.ByCategory}
		for j := range e.Groups[i].Rows {
			if ch := &e.Groups[i].Rows[j].Self; rows.declared || c.heavy(e, ch) {
				rows.changes = append(rows.changes, ch)
			}
		}
		list = append(list, rows)
	}
	return list
}

// cut reports whether the function stands for callers that recordings lack, or for functions that have no row of
// their own.
func (f *Function) cut() bool {
	return f.DSO == "" && (f.Name == run.CutName || f.Name == OtherFunctions)
}

// heavy reports whether a cost has the pooled share from which it is tested.
func (c *Comparison) heavy(e *Event, ch *Change) bool { return c.heavyLevels(e, ch.Base, ch.Head) }

func (c *Comparison) heavyLevels(e *Event, base, head float64) bool {
	whole := e.Total.Base + e.Total.Head
	if e.Normalization.Mode == Total {
		whole = 2
	}
	return base+head >= c.Options.MinShare*whole
}

// Measure is what an event measures, by its name and unit: the words for changes of it depend
// on that. A larger share of the time may be the same time, and who sleeps longer need not be slower.
func Measure(event, unit string, shares bool) verdict.Measure {
	if run.IsTime(event, unit) && !run.IsWait(event) && !shares {
		return verdict.Time
	}
	return verdict.Amount
}

// withhold takes verdicts back that the recordings cannot bear, and says why.
func (c *Comparison) withhold(e *Event, mirrored string) {
	n := e.Normalization
	ground := verdict.Ground{
		Blocked: c.blocked() && !c.Options.AllowBlockedOrder, By: n.By, Factor: n.Factor,
		Estimated: n.estimated(&c.Options), Shares: n.Mode == Total, Window: n.Window, Mirrored: mirrored,
	}
	if e.NoTotal = ground.RefusesTotal(); e.NoTotal != "" {
		e.Total.Forbid()
	}
	if e.Withheld = ground.Refuses(e.findings()); e.Withheld == "" {
		return
	}
	if !c.blocked() {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s: %s; give the work done with --ops or --work, or compare as it is with --normalize none", e.Name, e.Withheld))
	}
	if c.blocked() {
		e.Raw.Withhold()
	}
	e.Total.Withhold()
	for i := range e.Functions {
		e.Functions[i].Self.Withhold()
		e.Functions[i].Total.Withhold()
	}
	for i := range e.Groups {
		for j := range e.Groups[i].Rows {
			e.Groups[i].Rows[j].Self.Withhold()
		}
	}
	for i := range e.Shifts {
		e.Shifts[i].Net.Withhold()
	}
}

// findings are what is said of the functions by their self cost.
func (e *Event) findings() []*verdict.Finding {
	list := make([]*verdict.Finding, len(e.Functions))
	for i := range e.Functions {
		list[i] = &e.Functions[i].Self.Finding
	}
	return list
}

// contradictions warns of functions whose mean cost moves against what most runs show.
func (c *Comparison) contradictions(e *Event) {
	var names []string
	for i := range e.Functions {
		for _, ch := range []*Change{&e.Functions[i].Self, &e.Functions[i].Total} {
			if ch.Verdict.Better() && ch.Delta() > 0 || ch.Verdict.Worse() && ch.Delta() < 0 {
				names = append(names, e.Functions[i].Name)
				break
			}
		}
	}
	if n := len(names); n > 3 {
		names = append(names[:3], fmt.Sprintf("%d more", n-3))
	}
	if len(names) > 0 {
		c.Warnings = append(c.Warnings, fmt.Sprintf("%s: means move against the verdict, which goes by most runs: a few runs differ much from the others; see %s", e.Name, strings.Join(names, ", ")))
	}
}
