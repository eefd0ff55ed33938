package branch

import "slices"

// Reasons to drop samples with counters.
const (
	dropNoCounters   = "without counters of misses"
	dropCounterFell  = "a counter went back"
	dropNotInGroup   = "of another group"
	intervalsWarning = "counts are those from one sample to the next of the same thread or CPU, and are given to the function of the later: fit for functions that run long, not for single branches"
)

// readCounters fills in totals and functions from counters that samples hold. Each
// sample stands for what was counted since the one before it.
func (f *sampledTable) readCounters() {
	t := f.t
	f.warn(intervalsWarning)
	for _, s := range f.sets {
		for r := range roles {
			attr := s.attrs[r]
			if attr < 0 {
				continue
			}
			t.Events[attr].Rates = true
			c := f.counted[attr]
			s.k[r], s.running[r] = 1, c.running
			if c.running > 0 && c.running < 1 {
				s.k[r] = 1 / c.running
			}
		}
	}
	var values [roles]uint64
	for i := range f.s.counters.samples {
		c := &f.s.counters.samples[i]
		deltas := f.s.counters.of(c)
		used := false
		for _, s := range f.sets {
			var has [roles]bool
			clear(values[:])
			for r := range roles {
				i := slices.IndexFunc(deltas, func(d counterDelta) bool { return s.attrs[r] == d.attr })
				if i >= 0 {
					has[r], values[r] = true, deltas[i].delta
				}
			}
			if !has[roleMisses] {
				continue
			}
			used = true
			row := f.function(s, c.place)
			for r := range roles {
				if !has[r] {
					continue
				}
				row.tallies[r].add(float64(values[r]))
				s.tallies[r].add(float64(values[r]))
				row.pairs[r].add(float64(values[roleMisses]), float64(values[r]))
			}
		}
		if used {
			t.Samples.Used++
		} else {
			t.Samples.drop(dropNoCounters, 1)
		}
	}
	t.Samples.drop(dropCounterFell, f.s.counters.broken)
	var all int64
	for i := range f.s.events {
		all += int64(len(f.s.events[i].samples))
	}
	t.Samples.drop(dropEvent, all-f.s.counters.broken-int64(len(f.s.counters.samples)))
	for _, s := range f.sets {
		f.ratios(s)
		f.countedTotals(s)
		f.takeStat(s)
	}
	f.unnamedCounters()
}

// countedTotals replaces the totals by what counters counted to the end.
func (f *sampledTable) countedTotals(s *roleSet) {
	t := &s.totals
	t.Source = "counters"
	for r, p := range partsOf(t) {
		if attr := s.attrs[r]; attr >= 0 {
			*p.amount = countedAmount(f.counted[attr].value)
		}
	}
	setRatios(t)
}

// unnamedCounters says that counters name no branch.
func (f *sampledTable) unnamedCounters() {
	a := &Attribution{Unnamed: make(map[string]int64)}
	f.t.Attribution = a
	const reason = "counters say how many, not where"
	for _, row := range f.order {
		n := row.tallies[roleMisses].n
		a.In += n
		a.Unnamed[reason] += n
		row.Unnamed = map[string]int64{reason: n}
	}
}
