package samples

import (
	"errors"
	"fmt"
	"slices"

	"profdiff/internal/branch"
	"profdiff/internal/branch/counters"
	"profdiff/internal/branch/estimate"
	"profdiff/internal/branch/events"
	"profdiff/internal/branch/skid"
	"profdiff/internal/branch/totals"
	"profdiff/internal/perffile"
	"profdiff/internal/perfstat"
)

// readSamples fills in totals, functions, blocks and branches from samples of misses.
func (f *table) readSamples(lost map[int]int64) error {
	t := f.t
	total := int64(0)
	for i := range f.s.events {
		total += int64(len(f.s.events[i].samples))
	}
	used := make(map[int]bool)
	for _, s := range f.sets {
		for r := range events.Roles {
			attr := s.Attrs[r]
			if attr < 0 {
				continue
			}
			used[attr] = true
			t.Events[attr].Rates = true
			if err := f.weigh(s, r, lost, total); err != nil {
				return err
			}
		}
		f.ratios(s)
		f.takeStat(s)
	}
	for i := range f.s.events {
		if !used[i] {
			t.Samples.Drop(branch.DropEvent, int64(len(f.s.events[i].samples)))
		}
	}
	f.attribute()
	return nil
}

// of are the samples of an event, once it was weighed those whose period has settled.
func (f *table) of(attr int) []sampleAt {
	if attr >= len(f.s.events) {
		return nil
	}
	return f.s.events[attr].samples
}

// settle leaves out the samples of an event whose period had not settled, and counts them.
func (f *table) settle(attr int) {
	list := f.of(attr)
	if len(list) == 0 || f.File.Attrs[attr].FixedPeriod() != 0 {
		return
	}
	weights := make([]uint64, len(list))
	for i := range list {
		weights[i] = list[i].weight
	}
	least := estimate.Settled(weights)
	settled := slices.DeleteFunc(list, func(at sampleAt) bool { return at.weight < least })
	f.t.Samples.Drop(DropUnsettled, int64(len(list)-len(settled)))
	f.s.events[attr].samples = settled
}

// weigh sums up an event of a set and finds how its weights make counts.
func (f *table) weigh(s *roleSet, r events.Role, lost map[int]int64, total int64) error {
	attr := s.Attrs[r]
	a := &f.File.Attrs[attr]
	sum := &s.tallies[r]
	f.settle(attr)
	for _, at := range f.of(attr) {
		sum.Add(float64(at.weight))
	}
	f.t.Samples.Used += sum.N
	sum.Unitless = float64(a.FixedPeriod())
	if a.FixedPeriod() == 0 && !a.SampleType.Has(perffile.SamplePeriod) {
		if r == events.Misses {
			return fmt.Errorf("%s varied its period and samples do not have it: record with a fixed period (-c) or with periods (perf record --period)", a.Name)
		}
		s.refused[r] = "periods of " + a.Name + " varied and are not known"
		return nil
	}
	s.k[r] = 1
	n := lost[attr]
	if all := lost[-1]; all > 0 && total > 0 {
		// Of which event is not known.
		n += int64(float64(all) * float64(sum.N) / float64(total))
	}
	if sum.N > 0 {
		s.k[r] += float64(n) / float64(sum.N)
	}
	counter, ok := f.counted[attr]
	if c := f.statOf(s, r); c != nil {
		s.running[r] = c.Running
		if sum.Sum > 0 && c.Value > 0 {
			s.k[r] = c.Value / sum.Sum
		}
		return nil
	}
	if !ok {
		return nil
	}
	s.running[r] = counter.Running
	if sum.Sum > 0 && counter.Value > 0 {
		// The counter has also seen what samples that were lost or came too early stand for.
		k := counter.Value / sum.Sum
		if k > 1.05*s.k[r] || k < 0.95*s.k[r] {
			f.warn("%s counted %.0f, its samples stand for %.0f: the counter is taken", a.Name, counter.Value, sum.Sum)
		}
		s.k[r] = k
	}
	return nil
}

func (f *table) warn(format string, args ...any) {
	f.t.Warnings = append(f.t.Warnings, fmt.Sprintf(format, args...))
}

// ratios decides which ratios of a set can be made, and makes the ratios of its totals.
func (f *table) ratios(s *roleSet) {
	t := &s.totals
	t.PMU, t.Source = s.PMU, "samples"
	parts := totals.Parts(t)
	for r := range events.Roles {
		if s.running[r] > 0 && s.running[r] < counters.WarnBelow {
			f.warn("%s ran %.0f %% of the time: its count is extrapolated", f.File.Attrs[s.Attrs[r]].Name, 100*s.running[r])
		}
		if r != events.Misses && s.Attrs[r] >= 0 && s.refused[r] == "" {
			s.refused[r] = f.refuse(s, r)
		}
		if s.refused[r] != "" {
			f.warn("no ratio with %s: %s", f.File.Attrs[s.Attrs[r]].Name, s.refused[r])
		}
		if s.Attrs[r] < 0 || s.k[r] == 0 {
			continue
		}
		a := s.tallies[r].Scaled(s.k[r]).Amount()
		name := f.File.Attrs[s.Attrs[r]].Name
		*parts[r].Amount, *parts[r].Event = &a, name
	}
	m := s.tallies[events.Misses].Scaled(s.k[events.Misses])
	ratio := func(r events.Role, factor float64) *branch.Ratio {
		if s.k[r] == 0 || s.refused[r] != "" {
			return nil
		}
		return estimate.RatioOf(m, s.tallies[r].Scaled(s.k[r]), factor)
	}
	t.Rate, t.MPKI = ratio(events.Branches, 1), ratio(events.Instructions, 1000)
	t.RateRefused, t.MPKIRefused = s.refused[events.Branches], s.refused[events.Instructions]
	f.silentMultiplexing()
}

// refuse says why misses cannot be compared with an event, "" if they can.
func (f *table) refuse(s *roleSet, r events.Role) string {
	m, o := s.running[events.Misses], s.running[r]
	if m == 0 || o == 0 {
		return ""
	}
	for _, x := range []struct {
		running float64
		role    events.Role
	}{{m, events.Misses}, {o, r}} {
		if x.running < counters.RefuseBelow {
			return fmt.Sprintf("%s ran %.0f %% of the time only", f.File.Attrs[s.Attrs[x.role]].Name, 100*x.running)
		}
	}
	if m+o <= 1 && f.t.Tier != branch.TierCounters && !f.sameGroup(s.Attrs[events.Misses], s.Attrs[r]) {
		return "the events did not run at the same time: record them as a group"
	}
	return ""
}

// sameGroup reports whether events were always counted together.
func (f *table) sameGroup(a, b int) bool {
	for _, g := range f.File.Info.Groups {
		lo, hi := int(g.Leader), int(g.Leader)+int(min(g.N, 1<<20))
		if a >= lo && a < hi && b >= lo && b < hi {
			return true
		}
	}
	return false
}

// fewCounters is how many events fit into the counters of most cores.
const fewCounters = 4

// silentMultiplexing warns where events may have taken turns and the recording does
// not say.
func (f *table) silentMultiplexing() {
	n := 0
	for i := range f.File.Attrs {
		a := &f.File.Attrs[i]
		if a.Type != perffile.TypeSoftware && a.Type != perffile.TypeTracepoint && a.Type != perffile.TypeBreakpoint && len(f.counted) == 0 && events.CountsOf(a, &f.File.Info) != branch.CountsCycles {
			n++
		}
	}
	text := fmt.Sprintf("%d events beside cycles were recorded without their running times: if the CPU has fewer counters they took turns, and the counts are too low", n)
	if n > fewCounters && !slices.Contains(f.t.Warnings, text) {
		f.t.Warnings = append(f.t.Warnings, text)
	}
}

// A placeOfMisses is an address with samples of misses of one set.
type placeOfMisses struct {
	set   int
	place int32
	exact bool
}

// attribute counts samples by function and block, and names branches.
func (f *table) attribute() {
	n := &namer{table: f, at: &f.t.Sampled.Attribution}
	for _, s := range f.sets {
		for r := events.Branches; r < events.Roles; r++ {
			if s.Attrs[r] < 0 || s.k[r] == 0 {
				continue
			}
			for _, at := range f.of(s.Attrs[r]) {
				f.function(s, at.place).tallies[r].Add(float64(at.weight))
			}
		}
	}
	f.runs()
	for _, s := range f.sets {
		precise := f.File.Attrs[s.Attrs[events.Misses]].Flags.PreciseIP()
		tallies := make(map[placeOfMisses]*estimate.Tally)
		var order []placeOfMisses
		for _, at := range f.of(s.Attrs[events.Misses]) {
			f.function(s, at.place).tallies[events.Misses].Add(float64(at.weight))
			key := placeOfMisses{s.index, at.place, precise > 0 && at.exact}
			if precise > 1 {
				key.exact = true
			}
			if tallies[key] == nil {
				tallies[key] = new(estimate.Tally)
				order = append(order, key)
			}
			tallies[key].Add(float64(at.weight))
		}
		for _, key := range order {
			n.misses(key, *tallies[key])
		}
	}
	n.finish()
	f.blocks()
}

// runs tells the walkers which code has run, by the event of each set that tells it
// best, and which functions call others.
func (f *table) runs() {
	for _, s := range f.sets {
		best := events.Misses
		for _, r := range []events.Role{events.Branches, events.Cycles, events.Instructions} {
			if s.tallies[r].N > 0 {
				best = r
				break
			}
		}
		for r := range events.Roles {
			if s.Attrs[r] < 0 {
				continue
			}
			counts := make(map[int32]float64)
			var order []int32
			for _, at := range f.of(s.Attrs[r]) {
				if _, ok := counts[at.place]; !ok {
					order = append(order, at.place)
				}
				counts[at.place]++
			}
			for _, place := range order {
				l := f.locate(place)
				if l.walker == nil {
					continue
				}
				n := counts[place]
				if r != best {
					n = 0
				}
				if err := l.walker.Add(l.addr, n); err != nil && !errors.Is(err, skid.ErrMuchCode) {
					l.walker, l.unnamed = nil, "no function known"
				}
			}
		}
	}
}

// takeStat replaces the totals of a set by those of perf stat, if the options have any.
func (f *table) takeStat(s *roleSet) {
	stat := f.Options.Stat
	if stat == nil {
		return
	}
	mode := f.File.Attrs[s.Attrs[events.Misses]].Flags & events.Modes
	if c, _ := totals.Find(stat, events.Misses, f.File.Info.Arch, s.PMU, mode); c == nil {
		f.warn("%s has no count of what %s counts", stat.Name, f.File.Attrs[s.Attrs[events.Misses]].Name)
	} else if seen := s.tallies[events.Misses].Sum; seen > 0 && (c.Value > 2*seen || c.Value < seen/2) {
		f.warn("%s has %.0f %s, the samples stand for %.0f: the runs may differ", stat.Name, c.Value, c.Name, seen)
	}
	s.totals.Source = stat.Name
	totals.Take(&s.totals, stat, f.File.Info.Arch, mode, f.t)
}

// statOf returns the counter of a role for a set, nil if there is none.
func (f *table) statOf(s *roleSet, r events.Role) *perfstat.Counter {
	if f.Options.Stat == nil {
		return nil
	}
	c, _ := totals.Find(f.Options.Stat, r, f.File.Info.Arch, s.PMU, f.File.Attrs[s.Attrs[events.Misses]].Flags&events.Modes)
	return c
}
