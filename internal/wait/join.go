package wait

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Join adds up the reports of the runs of one side: what has the same names is one. Nil reports are
// of runs that tell of no waits. It returns nil if all are.
func Join(reports []*Report) *Report {
	reports = slices.DeleteFunc(slices.Clone(reports), func(r *Report) bool { return r == nil })
	if len(reports) < 2 {
		return append(reports, nil)[0]
	}
	all := &Report{Notes: []string{}, Runs: len(reports)}
	for _, r := range reports {
		all.All.Add(&r.All)
		all.Main.Add(&r.Main)
		all.Unknown.Add(&r.Unknown)
		all.Unnamed.Add(&r.Unnamed)
		all.Waited.Add(&r.Waited)
		all.Behind.Add(&r.Behind)
		all.HeldNS += r.HeldNS
		all.DurationNS += r.DurationNS
		all.Dumps += r.Dumps
		all.ChainsLeftOut += r.ChainsLeftOut
		for _, n := range r.Notes {
			if !slices.Contains(all.Notes, n) {
				all.Notes = append(all.Notes, n)
			}
		}
	}
	all.Locks = joined(reports, func(r *Report) []Lock { return r.Locks },
		func(l *Lock) any { return [2]Place{l.Held, l.Blocked} }, (*Lock).join, func(l *Lock) *Sum { return &l.Sum })
	all.Waiters = joinParties(reports, func(r *Report) []Party { return r.Waiters })
	all.WaiterCount = len(all.Waiters)
	all.Chains = joined(reports, func(r *Report) []Chain { return r.Chains }, (*Chain).key, (*Chain).join, func(c *Chain) *Sum { return &c.Sum })
	all.Cycles = joined(reports, func(r *Report) []Cycle { return r.Cycles },
		func(c *Cycle) any { return linksKey(c.Links) }, (*Cycle).join, func(c *Cycle) *Sum { return &c.Sum })
	all.Blockers = joined(reports, func(r *Report) []Blocker { return r.Blockers },
		func(b *Blocker) any { return b.alike() }, joinBlocker, func(b *Blocker) *Sum { return &b.Sum })
	slices.SortStableFunc(all.Blockers, func(x, y Blocker) int { return -cmp.Compare(x.HeldNS, y.HeldNS) })
	all.Regions = joinRegions(reports)
	all.Wanted = joined(reports, func(r *Report) []Wanted { return r.Wanted },
		func(x *Wanted) any { return [2]string{x.Rule, x.Region} }, func(x, o *Wanted) { x.Unknown.Add(&o.Unknown) }, func(x *Wanted) *Sum { return &x.Sum })
	return all
}

// joined adds up parts of reports with equal keys, and puts those with the longest waits first.
func joined[T any](reports []*Report, get func(*Report) []T, key func(*T) any, join func(*T, *T), sum func(*T) *Sum) []T {
	known := make(map[any]int)
	list := []T{}
	for _, r := range reports {
		part := get(r)
		for i := range part {
			k := key(&part[i])
			at, ok := known[k]
			if !ok {
				known[k] = len(list)
				list = append(list, part[i])
				continue
			}
			join(&list[at], &part[i])
			sum(&list[at]).Add(sum(&part[i]))
		}
	}
	slices.SortStableFunc(list, func(x, y T) int { return sum(&x).compare(sum(&y)) })
	return list
}

func joinParties(reports []*Report, get func(*Report) []Party) []Party {
	list := joined(reports, get, func(p *Party) any { return p.alike() },
		func(p, o *Party) { p.Thread.join(&o.Thread) }, func(p *Party) *Sum { return &p.Sum })
	slices.SortStableFunc(list, func(x, y Party) int { return mainFirst(&x.Thread, &y.Thread) })
	return list
}

func addParties(x, y []Party) []Party {
	return joinParties([]*Report{{Waiters: x}, {Waiters: y}}, func(r *Report) []Party { return r.Waiters })
}

// mainFirst orders main threads before others.
func mainFirst(x, y *Thread) int {
	switch {
	case x.Main == y.Main:
		return 0
	case x.Main:
		return -1
	}
	return 1
}

// join adds what o has to l, but for its sum.
func (l *Lock) join(o *Lock) {
	if l.Lock != o.Lock {
		l.Lock = ""
	}
	l.Main.Add(&o.Main)
	l.HeldNS += o.HeldNS
	l.Waiters, l.Holders = addParties(l.Waiters, o.Waiters), addParties(l.Holders, o.Holders)
	l.WaiterCount, l.HolderCount = max(l.WaiterCount, o.WaiterCount, len(l.Waiters)), max(l.HolderCount, o.HolderCount, len(l.Holders))
}

// linksKey is what reports show of links.
func linksKey(links []Link) string {
	var key strings.Builder
	place := func(p *Place) Place {
		if p == nil {
			return Place{}
		}
		return *p
	}
	for i := range links {
		l := &links[i]
		fmt.Fprintf(&key, "%+v %+v %+v %q %s\n", l.Thread.alike(), place(l.Blocked), place(l.Held), l.Rule, l.Evidence)
	}
	return key.String()
}

func (c *Chain) key() any { return fmt.Sprintf("%s%d %v", linksKey(c.Links), c.Threads, c.Cycle) }

// join adds what o has to c, but for its sum.
func (c *Chain) join(o *Chain) {
	joinLinks(&c.Links, o.Links)
	c.Last = joinStates(c.Last, o.Last)
}

// joinLinks makes links stand for those of another chain with the same names. They are of several reports, which keep
// theirs.
func joinLinks(links *[]Link, other []Link) {
	*links = slices.Clone(*links)
	for i := range *links {
		l := &(*links)[i]
		l.Thread.join(&other[i].Thread)
		if l.Lock != other[i].Lock {
			l.Lock = ""
		}
	}
}

func (c *Cycle) join(o *Cycle) {
	joinLinks(&c.Links, o.Links)
	c.Behind = max(c.Behind, o.Behind)
}

func joinBlocker(b, o *Blocker) {
	b.Thread.join(&o.Thread)
	b.HeldNS += o.HeldNS
	b.States = joinStates(b.States, o.States)
}

// joinStates adds up times in equal states.
func joinStates(x, y []State) []State {
	list := slices.Clone(x)
	for _, s := range y {
		at := slices.IndexFunc(list, func(o State) bool {
			return o.State == s.State && (o.Place == nil) == (s.Place == nil) && (s.Place == nil || o.Place.Function == s.Place.Function)
		})
		if at < 0 {
			list = append(list, s)
		} else {
			list[at].TimeNS += s.TimeNS
		}
	}
	sortStates(list)
	return list
}

// joinRegions adds up what was held by the same rule, in the same thread and place. That for which others waited
// longest is first.
func joinRegions(reports []*Report) []Region {
	list := joined(reports, func(r *Report) []Region { return r.Regions },
		func(r *Region) any { return [3]any{r.Rule, r.Thread.alike(), r.Place} }, (*Region).join, func(r *Region) *Sum { return &r.Sum })
	cost := func(r *Region) (sum Sum) {
		for i := range r.Waiters {
			sum.Add(&r.Waiters[i].Sum)
		}
		return sum
	}
	slices.SortStableFunc(list, func(x, y Region) int {
		a, b := cost(&x), cost(&y)
		return a.compare(&b)
	})
	return list
}

func (r *Region) join(o *Region) {
	r.Thread.join(&o.Thread)
	r.While.Add(&o.While)
	r.Waiters, r.Behind = addParties(r.Waiters, o.Waiters), addParties(r.Behind, o.Behind)
	switch {
	case r.Timing == nil:
		r.Timing = o.Timing
	case o.Timing != nil:
		t := *r.Timing
		t.Waits += o.Timing.Waits
		t.add(&o.Timing.Fit)
		t.Others = slices.Clone(t.Others)
		for _, f := range o.Timing.Others {
			if i := slices.IndexFunc(t.Others, func(x Fit) bool { return x.Thread.alike() == f.Thread.alike() }); i >= 0 {
				t.Others[i].add(&f)
			} else {
				t.Others = append(t.Others, f)
			}
		}
		r.Timing = &t
	}
}

// add adds what fits in another run. P is the larger of both, which claims no more than either.
func (f *Fit) add(o *Fit) {
	f.Thread.join(&o.Thread)
	f.Matched += o.Matched
	f.WithinNS = max(f.WithinNS, o.WithinNS)
	f.ByChance += o.ByChance
	f.P = max(f.P, o.P)
}
