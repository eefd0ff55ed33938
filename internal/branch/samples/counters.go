package samples

import (
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/branch/counters"
	"profdiff/internal/branch/estimate"
	"profdiff/internal/branch/events"
	"profdiff/internal/branch/totals"
)

// Reasons to drop samples with counters.
const (
	DropNoCounters   = "without counters of misses"
	DropCounterFell  = "a counter went back"
	dropNotInGroup   = "of another group"
	intervalsWarning = "counts are those from one sample to the next of the same thread or CPU, and are given to the function of the later: fit for functions that run long, not for single branches"
)

// readCounters fills in totals and functions from counters that samples hold. Each
// sample stands for what was counted since the one before it.
func (f *table) readCounters() {
	t := f.t
	f.warn(intervalsWarning)
	for _, s := range f.sets {
		for r := range events.Roles {
			attr := s.Attrs[r]
			if attr < 0 {
				continue
			}
			t.Events[attr].Rates = true
			c := f.counted[attr]
			s.k[r], s.running[r] = 1, c.Running
			if c.Running > 0 && c.Running < 1 {
				s.k[r] = 1 / c.Running
			}
		}
	}
	var values [events.Roles]uint64
	for i := range f.s.Counters.Samples {
		c := &f.s.Counters.Samples[i]
		deltas := f.s.Counters.Of(c)
		used := false
		for _, s := range f.sets {
			var has [events.Roles]bool
			clear(values[:])
			for r := range events.Roles {
				i := slices.IndexFunc(deltas, func(d counters.Delta) bool { return s.Attrs[r] == d.Attr })
				if i >= 0 {
					has[r], values[r] = true, deltas[i].By
				}
			}
			if !has[events.Misses] {
				continue
			}
			used = true
			row := f.function(s, c.Place)
			for r := range events.Roles {
				if !has[r] {
					continue
				}
				row.tallies[r].Add(float64(values[r]))
				s.tallies[r].Add(float64(values[r]))
				row.pairs[r].Add(float64(values[events.Misses]), float64(values[r]))
			}
		}
		if used {
			t.Samples.Used++
		} else {
			t.Samples.Drop(DropNoCounters, 1)
		}
	}
	t.Samples.Drop(DropCounterFell, f.s.Counters.Broken)
	var all int64
	for i := range f.s.events {
		all += int64(len(f.s.events[i].samples))
	}
	t.Samples.Drop(branch.DropEvent, all-f.s.Counters.Broken-int64(len(f.s.Counters.Samples)))
	for _, s := range f.sets {
		f.ratios(s)
		f.countedTotals(s)
		f.takeStat(s)
	}
	f.unnamedCounters()
}

// countedTotals replaces the totals by what counters counted to the end.
func (f *table) countedTotals(s *roleSet) {
	t := &s.totals
	t.Source = "counters"
	for r, p := range totals.Parts(t) {
		if attr := s.Attrs[r]; attr >= 0 {
			*p.Amount = estimate.Counted(f.counted[attr].Value)
		}
	}
	totals.SetRatios(t)
}

// unnamedCounters says that counters name no branch.
func (f *table) unnamedCounters() {
	a := &f.t.Sampled.Attribution
	const reason = "counters say how many, not where"
	for _, row := range f.order {
		n := row.tallies[events.Misses].N
		a.In += n
		a.Unnamed[reason] += n
		row.Unnamed = map[string]int64{reason: n}
	}
}
