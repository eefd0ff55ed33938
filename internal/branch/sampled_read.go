package branch

import (
	"errors"
	"fmt"
	"slices"

	"profdiff/internal/perffile"
)

// readSamples fills in totals, functions, blocks and branches from samples of misses.
func (f *sampledTable) readSamples(lost map[int]int64) error {
	t := f.t
	total := int64(0)
	for i := range f.s.events {
		total += int64(len(f.s.events[i].samples))
	}
	used := make(map[int]bool)
	for _, s := range f.sets {
		for r := range roles {
			attr := s.attrs[r]
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
			t.Samples.drop(dropEvent, int64(len(f.s.events[i].samples)))
		}
	}
	f.attribute()
	return nil
}

// kept yields the samples of an event whose period has settled.
func (f *sampledTable) kept(attr int, yield func(*sampledAt)) (dropped int64) {
	if attr >= len(f.s.events) {
		return 0
	}
	list := f.s.events[attr].samples
	least := uint64(0)
	if f.file.Attrs[attr].FixedPeriod() == 0 {
		weights := make([]uint64, len(list))
		for i := range list {
			weights[i] = list[i].weight
		}
		least = settled(weights)
	}
	for i := range list {
		if list[i].weight < least {
			dropped++
			continue
		}
		yield(&list[i])
	}
	return dropped
}

// weigh sums up an event of a set and finds how its weights make counts.
func (f *sampledTable) weigh(s *roleSet, r role, lost map[int]int64, total int64) error {
	attr := s.attrs[r]
	a := &f.file.Attrs[attr]
	sum := &s.tallies[r]
	dropped := f.kept(attr, func(at *sampledAt) { sum.add(float64(at.weight)) })
	f.t.Samples.Used += sum.n
	f.t.Samples.drop(dropUnsettled, dropped)
	sum.unitless = float64(a.FixedPeriod())
	if a.FixedPeriod() == 0 && !a.SampleType.Has(perffile.SamplePeriod) {
		if r == roleMisses {
			return fmt.Errorf("%s varied its period and samples do not have it: record with a fixed period (-c) or with periods (perf record --period)", a.Name)
		}
		s.refused[r] = "periods of " + a.Name + " varied and are not known"
		return nil
	}
	s.k[r] = 1
	n := lost[attr]
	if all := lost[-1]; all > 0 && total > 0 {
		// Of which event is not known.
		n += int64(float64(all) * float64(sum.n) / float64(total))
	}
	if sum.n > 0 {
		s.k[r] += float64(n) / float64(sum.n)
	}
	counter, ok := f.counted[attr]
	if c := f.statOf(s, r); c != nil {
		s.running[r] = c.Running
		if sum.sum > 0 && c.Value > 0 {
			s.k[r] = c.Value / sum.sum
		}
		return nil
	}
	if !ok {
		return nil
	}
	s.running[r] = counter.running
	if sum.sum > 0 && counter.value > 0 {
		// The counter has also seen what samples that were lost or came too early stand for.
		k := counter.value / sum.sum
		if k > 1.05*s.k[r] || k < 0.95*s.k[r] {
			f.warn("%s counted %.0f, its samples stand for %.0f: the counter is taken", a.Name, counter.value, sum.sum)
		}
		s.k[r] = k
	}
	return nil
}

func (f *sampledTable) warn(format string, args ...any) {
	f.t.Warnings = append(f.t.Warnings, fmt.Sprintf(format, args...))
}

// Parts of the time in which events ran.
const (
	runningWarn   = 0.90
	runningRefuse = 0.25
)

// ratios decides which ratios of a set can be made, and makes those of the totals.
func (f *sampledTable) ratios(s *roleSet) {
	t := &s.totals
	t.PMU, t.Source = s.pmu, "samples"
	for r := range roles {
		if s.running[r] > 0 && s.running[r] < runningWarn {
			f.warn("%s ran %.0f %% of the time: its count is extrapolated", f.file.Attrs[s.attrs[r]].Name, 100*s.running[r])
		}
		if r != roleMisses && s.attrs[r] >= 0 && s.refused[r] == "" {
			s.refused[r] = f.refuse(s, r)
		}
		if s.refused[r] != "" {
			f.warn("no ratio with %s: %s", f.file.Attrs[s.attrs[r]].Name, s.refused[r])
		}
		if s.attrs[r] < 0 || s.k[r] == 0 {
			continue
		}
		a := s.tallies[r].scaled(s.k[r]).amount()
		name := f.file.Attrs[s.attrs[r]].Name
		switch r {
		case roleMisses:
			t.Misses, t.MissEvent = &a, name
		case roleBranches:
			t.Branches, t.BranchEvent = &a, name
		case roleInstructions:
			t.Instructions, t.InstructionEvent = &a, name
		case roleCycles:
			t.Cycles, t.CycleEvent = &a, name
		}
	}
	m := s.tallies[roleMisses].scaled(s.k[roleMisses])
	ratio := func(r role, factor float64) *Ratio {
		if s.k[r] == 0 || s.refused[r] != "" {
			return nil
		}
		return ratioOf(m, s.tallies[r].scaled(s.k[r]), factor)
	}
	t.Rate, t.MPKI = ratio(roleBranches, 1), ratio(roleInstructions, 1000)
	t.RateRefused, t.MPKIRefused = s.refused[roleBranches], s.refused[roleInstructions]
	f.silentMultiplexing()
}

// refuse says why misses cannot be compared with an event, "" if they can.
func (f *sampledTable) refuse(s *roleSet, r role) string {
	m, o := s.running[roleMisses], s.running[r]
	if m == 0 || o == 0 {
		return ""
	}
	for _, x := range []struct {
		running float64
		role    role
	}{{m, roleMisses}, {o, r}} {
		if x.running < runningRefuse {
			return fmt.Sprintf("%s ran %.0f %% of the time only", f.file.Attrs[s.attrs[x.role]].Name, 100*x.running)
		}
	}
	if m+o <= 1 && f.t.Tier != TierCounters && !f.sameGroup(s.attrs[roleMisses], s.attrs[r]) {
		return "the events did not run at the same time: record them as a group"
	}
	return ""
}

// sameGroup reports whether events were always counted together.
func (f *sampledTable) sameGroup(a, b int) bool {
	for _, g := range f.file.Info.Groups {
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
func (f *sampledTable) silentMultiplexing() {
	n := 0
	for i := range f.file.Attrs {
		a := &f.file.Attrs[i]
		if a.Type != perffile.TypeSoftware && a.Type != perffile.TypeTracepoint && a.Type != perffile.TypeBreakpoint && len(f.counted) == 0 && attrCounts(a, &f.file.Info) != CountsCycles {
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
func (f *sampledTable) attribute() {
	a := &Attribution{Unnamed: make(map[string]int64)}
	f.t.Attribution = a
	n := &namer{sampledTable: f, at: a}
	for _, s := range f.sets {
		for r := roleBranches; r < roles; r++ {
			if s.attrs[r] < 0 || s.k[r] == 0 {
				continue
			}
			f.kept(s.attrs[r], func(at *sampledAt) {
				f.function(s, at.place).tallies[r].add(float64(at.weight))
			})
		}
	}
	f.runs()
	for _, s := range f.sets {
		precise := f.file.Attrs[s.attrs[roleMisses]].Flags.PreciseIP()
		tallies := make(map[placeOfMisses]*tally)
		var order []placeOfMisses
		f.kept(s.attrs[roleMisses], func(at *sampledAt) {
			f.function(s, at.place).tallies[roleMisses].add(float64(at.weight))
			key := placeOfMisses{s.index, at.place, precise > 0 && at.exact}
			if precise > 1 {
				key.exact = true
			}
			if tallies[key] == nil {
				tallies[key] = new(tally)
				order = append(order, key)
			}
			tallies[key].add(float64(at.weight))
		})
		for _, key := range order {
			n.misses(key, *tallies[key])
		}
	}
	n.finish()
	f.blocks()
}

// runs tells the walkers which code has run, by the event of each set that tells it
// best, and which functions call others.
func (f *sampledTable) runs() {
	for _, s := range f.sets {
		best := roleMisses
		for _, r := range []role{roleBranches, roleCycles, roleInstructions} {
			if s.tallies[r].n > 0 {
				best = r
				break
			}
		}
		for r := range roles {
			if s.attrs[r] < 0 {
				continue
			}
			counts := make(map[int32]float64)
			var order []int32
			f.kept(s.attrs[r], func(at *sampledAt) {
				if _, ok := counts[at.place]; !ok {
					order = append(order, at.place)
				}
				counts[at.place]++
			})
			for _, place := range order {
				l := f.locate(place)
				if l.walker == nil {
					continue
				}
				n := counts[place]
				if r != best {
					n = 0
				}
				if err := l.walker.Add(l.addr, n); err != nil && !errors.Is(err, errMuchCode) {
					l.walker, l.unnamed = nil, "no function known"
				}
			}
		}
	}
}

// takeStat replaces the totals of a set by those of perf stat, if the options have any.
func (f *sampledTable) takeStat(s *roleSet) {
	stat := f.opt.Stat
	if stat == nil {
		return
	}
	mode := f.file.Attrs[s.attrs[roleMisses]].Flags & modes
	if c, _ := findCounter(stat, roleMisses, f.file.Info.Arch, s.pmu, mode); c == nil {
		f.warn("%s has no count of what %s counts", stat.Name, f.file.Attrs[s.attrs[roleMisses]].Name)
	} else if seen := s.tallies[roleMisses].sum; seen > 0 && (c.Value > 2*seen || c.Value < seen/2) {
		f.warn("%s has %.0f %s, the samples stand for %.0f: the runs may differ", stat.Name, c.Value, c.Name, seen)
	}
	s.totals.Source = stat.Name
	takeTotals(&s.totals, stat, f.file.Info.Arch, mode, f.t)
}

// statOf returns the counter of a role for a set, nil if there is none.
func (f *sampledTable) statOf(s *roleSet, r role) *Counter {
	if f.opt.Stat == nil {
		return nil
	}
	c, _ := findCounter(f.opt.Stat, r, f.file.Info.Arch, s.pmu, f.file.Attrs[s.attrs[roleMisses]].Flags&modes)
	return c
}
