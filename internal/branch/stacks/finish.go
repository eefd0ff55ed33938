package stacks

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/branch/code"
	"profdiff/internal/branch/counters"
	"profdiff/internal/perfsession"
	"profdiff/internal/stats"
	"profdiff/internal/symbolizer"
)

// finisher turns what was collected into a Table.
type finisher struct {
	*Collector
	t *branch.Table
	z *symbolizer.Symbolizer
	// rated are the events that rates are made from.
	rated []int
	// scale turns the weights of those into executions of the recording.
	scale  float64
	misses float64 // of all branches, in such weights
}

// Finish makes the table of what was collected. z names addresses, nil to leave them
// without names; cpuid is what the recording calls its CPU.
func (c *Collector) Finish(t *branch.Table, opt *branch.Options, z *symbolizer.Symbolizer, cpuid string) {
	f := &finisher{Collector: c, t: t, z: z, scale: 1}
	t.Tier = branch.TierStacks
	if c.notTaken > 0 {
		t.Tier = branch.TierPrecise
	}
	t.Samples, t.Stacks = c.samples, &branch.StackTable{Entries: c.Entries, Ranges: c.ranges}
	t.Misses = c.mispredicted
	t.Unknown = c.unknownPrediction()
	f.chooseEvents()
	for _, e := range c.events {
		t.Events = append(t.Events, e.Event)
	}
	f.totals()
	f.costs(opt, cpuid)
	f.slowPaths()
	for _, s := range c.order {
		f.misses += f.moments(s).total(missedTotal)
	}
	for _, s := range c.order {
		t.Branches = append(t.Branches, f.branch(s))
	}
	// Code that was decoded but never ran through has sites too.
	t.Branches = slices.DeleteFunc(t.Branches, func(b branch.Branch) bool {
		return b.Stacks.Taken == 0 && (b.Stacks.NotTaken == nil || *b.Stacks.NotTaken == 0)
	})
	f.warn()
	order(t.Branches)
}

// Check says what is missing that makes a table pointless. names are of the
// events, hint is how to get branch stacks.
func (c *Collector) Check(opt *branch.Options, names []string, hint string) error {
	if err := opt.Missing(names); err != nil {
		return err
	}
	switch {
	case c.Entries.In > 0:
		return nil
	case c.samples.Dropped[dropCallStack] > 0:
		return errors.New("holds call stacks of the hardware (--call-graph lbr), no branch stacks: " + hint)
	case c.samples.Dropped[branch.DropEvent] > 0 && len(opt.Events) > 0:
		return errors.New("no branch stacks in samples of these events")
	}
	return errors.New("no branch stacks: " + hint)
}

// unknownPrediction says why entries do not tell which branches were mispredicted.
func (c *Collector) unknownPrediction() string {
	switch {
	case c.Entries.Used == 0:
		return "no entry of a branch stack is whole"
	case c.Unknown != "":
		return c.Unknown
	case c.mispredicted == 0 && c.predicted == 0:
		return "no entry says whether it was predicted"
	case c.mispredicted == 0:
		return fmt.Sprintf("none of %d entries is mispredicted, as from hardware or tools that do not tell", c.predicted)
	}
	return ""
}

// chooseEvents picks the events whose stacks rates are made from: those that count
// branches, else the one with most samples. Stacks of misses are taken where there was
// a miss, so that rates from them are too high: they are the last resort.
func (f *finisher) chooseEvents() {
	for _, counts := range []branch.Counts{branch.CountsTaken, branch.CountsBranches, branch.CountsOther, branch.CountsMisses} {
		for i, e := range f.events {
			is := e.Counts
			if is == branch.CountsCycles || is == branch.CountsInstructions {
				is = branch.CountsOther
			}
			if is == counts && e.HasStacks {
				f.rated = append(f.rated, i)
			}
		}
		if len(f.rated) == 0 {
			continue
		}
		if counts == branch.CountsOther { // whose weights have different units
			most := slices.MaxFunc(f.rated, func(a, b int) int {
				return cmp.Or(cmp.Compare(f.events[a].Samples, f.events[b].Samples), cmp.Compare(b, a))
			})
			f.rated = []int{most}
		}
		break
	}
	for _, i := range f.rated {
		f.events[i].Rates = true
		f.t.Stacks.FirstIndex = max(f.t.Stacks.FirstIndex, f.events[i].first)
	}
}

// totals finds how executions in the recording follow from executions in stacks.
func (f *finisher) totals() {
	var weight, rated, scaled float64
	whole := len(f.rated) > 0
	for _, i := range f.rated {
		e := f.events[i]
		weight += e.Weight
		rated += e.rated
		scaled += e.Weight * e.scale()
		switch {
		case e.weightless, e.refused(nil) != "", e.Counts != branch.CountsTaken && e.Counts != branch.CountsBranches:
			whole = false
		case e.Counts == branch.CountsBranches && (!e.every || float64(e.gaps) > 0.05*float64(e.spans)):
			// Without the code, branches that were not taken are not known.
			whole = false
		}
	}
	f.t.Scaled = whole && rated > 0 && weight > 0
	if f.t.Scaled {
		f.scale = scaled / rated
	}
	f.t.Stacks.Rated = f.scale * rated
	for _, e := range f.events {
		if e.weightless || e.Weight == 0 {
			continue
		}
		sum := e.Weight * e.scale()
		if reason := e.refused(f.ratedEvent()); reason != "" {
			f.t.Warnings = append(f.t.Warnings, fmt.Sprintf("%s is not used: %s", e.Name, reason))
			continue
		}
		switch e.Counts {
		case branch.CountsInstructions:
			f.t.Instructions = plus(f.t.Instructions, sum)
		case branch.CountsCycles:
			f.t.Cycles = plus(f.t.Cycles, sum)
		}
	}
}

// ratedEvent is the first event that rates are made from, nil if there is none.
func (f *finisher) ratedEvent() *eventState {
	if len(f.rated) == 0 {
		return nil
	}
	return f.events[f.rated[0]]
}

// scale turns the weights of samples into what the event counted: as its counter says,
// which was extrapolated to the time in which it did not run, else by what was lost.
func (e *eventState) scale() float64 {
	if e.counted.Value > 0 && e.Weight > 0 {
		return e.counted.Value / e.Weight
	}
	return 1 + float64(e.lost)/float64(max(e.Samples-e.Unsettled, 1))
}

// refused says why amounts of an event, or its ratio to another, are not to be trusted,
// "" if they are.
func (e *eventState) refused(other *eventState) string {
	switch running := e.counted.Running; {
	case running == 0:
	case running < counters.RefuseBelow:
		return fmt.Sprintf("it ran %.0f %% of the time only", 100*running)
	case other != nil && other != e && (e.group == 0 || e.group != other.group) && other.counted.Running > 0 && running+other.counted.Running <= 1:
		return fmt.Sprintf("it did not run at the same time as %s: record them as a group", other.Name)
	}
	return ""
}

// plus adds to an amount that may not be known yet.
func plus(a *float64, b float64) *float64 {
	if a != nil {
		b += *a
	}
	return &b
}

// moments returns the sums of a site over the chosen events.
func (f *finisher) moments(s *site) *moments {
	var m moments
	for _, i := range f.rated {
		if i < len(s.moments) && s.moments[i] != nil {
			m.merge(s.moments[i])
		}
	}
	return &m
}

// branch makes the row of a site.
func (f *finisher) branch(s *site) branch.Branch {
	f.look(s)
	m := f.moments(s)
	b := branch.Branch{Kind: s.kind}
	if s.known && s.inst.Kind != branch.UnknownKind {
		b.Kind = s.inst.Kind
	} else if s.known {
		b.Kind = branch.Transfer
	}
	f.name(s, &b)
	b.Stacks = &branch.StackCounts{
		Runtime:      s.addr,
		Rel:          s.key.Rel,
		Taken:        s.all[taken] + s.all[unsaid],
		Mispredicted: s.all[missed] + s.all[enteredMS],
		Predicted:    s.all[taken] - s.all[missed] + s.all[entered] - s.all[enteredMS],
	}
	all := f.notTaken > 0 // executions that were not taken have entries
	idle := s.all[notTaken] + s.all[entered]
	seesIdle := all || s.known && b.Kind == branch.Conditional && f.everyBranch()
	switch {
	case seesIdle:
		b.Stacks.NotTaken = &idle
	case b.Kind != branch.Conditional && b.Kind != branch.UnknownKind:
		b.Stacks.NotTaken = new(int64)
	}
	if f.t.Unknown != "" {
		b.Stacks.Mispredicted, b.Stacks.Predicted = 0, 0
	}
	b.Stacks.Targets, b.Stacks.TopTarget = topTarget(s.targets)
	b.N = m.count[taken] + m.count[unsaid] + m.count[notTaken] + m.count[entered]
	b.NTaken = m.count[taken] + m.count[unsaid]
	b.NMisses, b.Samples = m.count[missed]+m.count[enteredMS], m.n
	f.probability(&b, m)
	if f.t.Unknown == "" {
		f.rate(&b, s, m, all)
	}
	f.amounts(&b, s, m)
	b.Enough = f.t.Unknown != "" || b.Stacks.Mispredicted >= branch.MinMisses
	return b
}

// everyBranch reports whether the stacks of the chosen events hold all branches.
func (f *finisher) everyBranch() bool {
	for _, i := range f.rated {
		if !f.events[i].every {
			return false
		}
	}
	return len(f.rated) > 0
}

// amounts fills in executions and misses, and what these cost.
func (f *finisher) amounts(b *branch.Branch, s *site, m *moments) {
	known := f.t.Unknown == ""
	misses := missedTotal
	if b.Rate != nil && b.Rate.Method == branch.ByCycles {
		misses[notTaken] = float64(s.slow) / float64(s.slow+s.fast)
	}
	if f.t.Scaled {
		b.Taken = new(f.scale * m.total(takenTotal))
		if b.Stacks.NotTaken != nil {
			b.NotTaken = new(f.scale * m.total(idleTotal))
		}
		if known {
			b.Misses = new(f.scale * m.total(misses))
		}
	} else {
		b.Taken = new(float64(b.Stacks.Taken))
		if n := b.Stacks.NotTaken; n != nil {
			b.NotTaken = new(float64(*n))
		}
		if known {
			b.Misses = new(float64(b.Stacks.Mispredicted))
		}
	}
	if b.NotTaken != nil {
		b.Executed = new(*b.Taken + *b.NotTaken)
	}
	if !known {
		return
	}
	b.Stacks.Noise.Seen = f.weight(m, missedTotal)
	b.Stacks.Noise.Misses = f.weight(m, misses)
	switch {
	case f.t.Scaled && f.misses > 0:
		b.MissShare = new(m.total(missedTotal) / f.misses)
	case !f.t.Scaled && f.t.Misses > 0:
		b.MissShare = new(float64(b.Stacks.Mispredicted) / float64(f.t.Misses))
	}
	b.Cost = s.cost
	if b.Cost == nil {
		b.Cost = f.t.Cost
	}
	if !f.t.Scaled || b.NMisses < branch.MinMisses {
		return
	}
	half := stats.Z95 * f.scale * math.Sqrt(m.squares(misses))
	n := branch.Estimate{Value: *b.Misses, Lo: max(0, *b.Misses-half), Hi: *b.Misses + half}
	b.MissesCI = &[2]float64{n.Lo, n.Hi}
	if f.t.Instructions != nil {
		per := 1000 / *f.t.Instructions
		b.MPKI = &branch.Estimate{Value: n.Value * per, Lo: n.Lo * per, Hi: n.Hi * per}
	}
	b.Lose(n, f.t.Cycles)
}

// weight is what some executions weigh in the recording, with its variance. Executions of
// one sample are not independent.
func (f *finisher) weight(m *moments, what vector) stats.WeightedCount {
	return stats.WeightedCount{Weight: f.scale * m.total(what), WeightSq: f.scale * f.scale * m.squares(what)}
}

func topTarget(targets map[code.Place]int64) (n int, share float64) {
	var sum, most int64
	for _, v := range targets {
		sum += v
		most = max(most, v)
	}
	if sum == 0 {
		return 0, 0
	}
	return len(targets), float64(most) / float64(sum)
}

// name fills in where the branch is.
func (f *finisher) name(s *site, b *branch.Branch) {
	b.Address = s.addr
	b.DSO = "[unmapped]"
	if s.m != nil {
		b.DSO, b.BuildID = f.binaries.NameOf(s.m.DSO, s.key.Rel)
		b.Address = s.key.Rel
	}
	if f.z == nil {
		return
	}
	sym := f.z.Symbolize(perfsession.Frame{Addr: s.addr, Map: s.m, Kernel: int64(s.addr) < 0}, f.spaces.Kernel(), 0)
	b.SetSymbol(&sym)
}

func order(list []branch.Branch) {
	slices.SortFunc(list, func(a, b branch.Branch) int {
		return cmp.Or(
			-cmp.Compare(a.Centre, b.Centre), -cmp.Compare(a.Stacks.Mispredicted, b.Stacks.Mispredicted),
			-cmp.Compare(a.Stacks.Taken, b.Stacks.Taken), strings.Compare(a.DSO, b.DSO), strings.Compare(a.BuildID, b.BuildID),
			cmp.Compare(a.Address, b.Address), cmp.Compare(a.Stacks.Runtime, b.Stacks.Runtime),
		)
	})
}

// warn says what limits the table.
func (f *finisher) warn() {
	t := f.t
	warn := func(format string, args ...any) { t.Warnings = append(t.Warnings, fmt.Sprintf(format, args...)) }
	if n := t.Samples.Dropped[DropInconsistent]; n > 0 && n*20 > t.Samples.In {
		warn("%d of %d samples contradict the binaries, which may be of another build", n, t.Samples.In)
	}
	for _, e := range f.events {
		c := e.counted
		if e.Unsettled > 0 {
			warn("%d of %d samples of %s came before its period had settled: their entries are counted, but are not in rates", e.Unsettled, e.Samples, e.Name)
		}
		if by := 1 + float64(e.lost)/float64(max(e.Samples-e.Unsettled, 1)); c.Value > 0 && e.Weight > 0 && (e.scale() > 1.05*by || e.scale() < 0.95*by) {
			warn("%s counted %.0f, its samples stand for %.0f: the counter is taken", e.Name, c.Value, e.Weight)
		}
		if c.Running > 0 && c.Running < counters.WarnBelow {
			warn("%s ran %.0f %% of the time: its count is extrapolated", e.Name, 100*c.Running)
		}
	}
	if t.Unknown != "" {
		return
	}
	for _, i := range f.rated {
		e := f.events[i]
		switch {
		case e.Counts == branch.CountsMisses:
			warn("stacks are those of %s: rates are of the branches before a miss, and too high where misses come together", e.Name)
		case !t.Scaled && e.Counts == branch.CountsBranches:
			warn("%s counts branches that are not taken too, of which stacks without the binaries do not tell: counts are entries of stacks", e.Name)
		case !t.Scaled && e.refused(nil) != "":
			warn("counts are entries of stacks, not scaled to %s: %s", e.Name, e.refused(nil))
		case !t.Scaled && e.weightless:
			warn("the periods of %s are not known: counts are entries of stacks", e.Name)
		case !t.Scaled:
			warn("%s does not count branches: counts are entries of stacks, and slow code has more of them", e.Name)
		}
		if !e.every {
			warn("%s records branches of some kinds only: executions that are not taken are not known", e.Name)
		}
	}
	if c := f.none; c > 0 {
		warn("%d entries do not say whether they were predicted: rates are of the others", c)
	}
	if r := t.Stacks.Ranges; r.Decoded > 0 && r.Broken*50 > r.Decoded+r.Broken {
		warn("%d of %d stretches of code between branches lack a branch: executions that were not taken in these are not counted", r.Broken, r.Decoded+r.Broken)
	}
}
