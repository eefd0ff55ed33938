package wait

import (
	"cmp"
	"slices"
	"strings"

	"profdiff/internal/run"
)

// An alikeKey is what a report shows of the first link of a chain, and the rest of it.
type alikeKey struct {
	thread        run.ThreadID
	blocked, held Place
	lock, rule    string
	evidence      Evidence
	cycle         int32
	next          int32
}

// A likeness is chains that look the same in a report, though they are of several threads or runs.
type likeness struct {
	first chainID // one of them
	next  int32
	Sum
	last  map[State]int64 // by state without time; Place is nil
	place map[State]*Place
}

// chains lists who waited for whom. Chains of equal names are one: in a second recording, or in
// a pool, threads have other numbers.
func (b *builder) chains() {
	g := b.g
	known := make(map[alikeKey]int32)
	of := make([]int32, len(g.chains)) // index in all; chains stand behind what they lead to
	all := []*likeness{{}}
	places := func(stack run.StackID) Place {
		if p := b.place(stack); p != nil {
			return *p
		}
		return Place{}
	}
	for id := 1; id < len(g.chains); id++ {
		c := &g.chains[id]
		key := alikeKey{thread: b.alike[c.thread], next: of[c.next], cycle: c.cycle}
		if c.edge >= 0 {
			e := &g.edges[c.edge]
			w := &b.r.Waits[e.Wait]
			key.blocked, key.held = places(w.Stack), places(e.HolderStack)
			key.rule, key.evidence = e.Rule, e.Evidence
			if w.Kind != run.Dumped {
				key.lock = w.For
			}
		}
		i, ok := known[key]
		if !ok {
			i = int32(len(all))
			all = append(all, &likeness{first: chainID(id), next: key.next})
			known[key] = i
		}
		of[id] = i
		all[i].Add(&Sum{Count: c.count, TotalNS: c.total, LongestNS: c.longest, Clipped: c.clipped})
	}
	b.lastStates(of, all)
	listed := slices.DeleteFunc(all[1:], func(l *likeness) bool { return l.Count == 0 })
	slices.SortStableFunc(listed, func(x, y *likeness) int {
		return cmp.Or(x.compare(&y.Sum), -cmp.Compare(g.chains[x.first].depth, g.chains[y.first].depth), b.mainFirst(x, y), cmp.Compare(x.first, y.first))
	})
	for _, l := range listed {
		b.report.Waited.Add(&l.Sum)
		if g.chains[l.first].depth > 1 {
			b.report.Behind.Add(&l.Sum)
		}
	}
	if b.report.Dumps > 0 {
		b.report.Waited.TotalNS, b.report.Waited.LongestNS, b.report.Behind.TotalNS, b.report.Behind.LongestNS = 0, 0, 0, 0
	}
	if b.report.ChainsLeftOut = max(0, len(listed)-maxListed); b.report.ChainsLeftOut > 0 {
		listed = listed[:maxListed]
	}
	for _, l := range listed {
		c := Chain{Sum: l.Sum, Last: l.states()}
		c.Links, c.Threads, c.Cycle = b.links(l.first)
		if b.report.Dumps > 0 {
			c.TotalNS, c.LongestNS = 0, 0
		}
		b.report.Chains = append(b.report.Chains, c)
	}
}

// mainFirst orders chains by their first threads.
func (b *builder) mainFirst(x, y *likeness) int {
	first := func(l *likeness) *run.Thread { return &b.r.Threads[b.g.chains[l.first].thread] }
	t, u := first(x), first(y)
	if t.Main != u.Main {
		if t.Main {
			return -1
		}
		return 1
	}
	return strings.Compare(t.Name, u.Name)
}

// lastStates sums up what last threads of chains did.
func (b *builder) lastStates(of []int32, all []*likeness) {
	for k, took := range b.g.doing {
		l := all[of[k.chain]]
		if l.last == nil {
			l.last, l.place = make(map[State]int64), make(map[State]*Place)
		}
		s := b.state(k.state)
		key := State{State: s.State}
		if s.Place != nil {
			key.State += "\x00" + s.Place.Function
		}
		l.last[key] += took
		l.place[key] = s.Place
	}
}

// states lists what the last thread did, the longest first.
func (l *likeness) states() []State {
	list := make([]State, 0, len(l.last))
	for key, took := range l.last {
		name, _, _ := strings.Cut(key.State, "\x00")
		list = append(list, State{State: name, Place: l.place[key], TimeNS: took})
	}
	sortStates(list)
	return list
}

func sortStates(list []State) {
	name := func(s *State) string {
		if s.Place != nil {
			return s.State + s.Place.Function
		}
		return s.State
	}
	slices.SortFunc(list, func(x, y State) int {
		return cmp.Or(-cmp.Compare(x.TimeNS, y.TimeNS), strings.Compare(name(&x), name(&y)))
	})
}

// state is what a thread did, as a report shows it.
func (b *builder) state(state int32) State {
	switch state {
	case running:
		return State{State: "running"}
	case unknown:
		return State{State: "unknown"}
	}
	w := &b.r.Waits[state]
	switch {
	case strings.HasPrefix(w.State, "R+"):
		return State{State: "preempted"}
	case strings.HasPrefix(w.State, "R"):
		return State{State: "runnable"}
	}
	place := b.place(w.Stack)
	if place != nil && stateFrame(place.Function) {
		place = nil
	}
	return State{State: "blocked", Place: place}
}

// links lists the threads of a chain, up to maxLinks, and says how many they are and whether the last waits for one before it.
func (b *builder) links(id chainID) (links []Link, threads int, cycle bool) {
	g := b.g
	for {
		c := &g.chains[id]
		if c.cycle != 0 {
			edges := g.cycles[c.cycle-1].edges
			return b.round(links, edges, c.thread), threads + len(edges), true
		}
		if threads++; threads <= maxLinks {
			links = append(links, b.linkOf(c))
		}
		if c.next == 0 {
			return links, threads, false
		}
		id = c.next
	}
}

// round appends the links of a cycle, from a thread on.
func (b *builder) round(links []Link, cycle []int32, from run.ThreadID) []Link {
	at := slices.IndexFunc(cycle, func(e int32) bool { return b.g.edges[e].Waiter == from })
	for i := range cycle {
		if len(links) < maxLinks {
			e := cycle[(at+i)%len(cycle)]
			links = append(links, b.link(e, b.g.edges[e].Waiter))
		}
	}
	return links
}

func (b *builder) linkOf(c *chain) Link { return b.link(c.edge, c.thread) }

// link shows how a thread waits by an edge, which is -1 if it does not.
func (b *builder) link(edge int32, thread run.ThreadID) Link {
	l := Link{Thread: b.threads[thread]}
	if edge < 0 {
		return l
	}
	e := &b.g.edges[edge]
	w := &b.r.Waits[e.Wait]
	l.Blocked, l.Lock, l.Held = b.place(w.Stack), w.For, b.place(e.HolderStack)
	l.Evidence, l.Rule = e.Evidence, e.Rule
	if w.Kind == run.Dumped {
		l.HolderIn = b.place(w.OwnerStack)
	}
	return l
}

// cycles lists deadlocks, and what looks like one for a while. Who ended a wait can be in none: where rules lead in a circle, they do not
// tell when exactly a thread left its region.
func (b *builder) cycles() {
	g := b.g
	told := make([]bool, len(g.cycles)) // of waits that no filter leaves out
	behind := make([]map[run.ThreadID]bool, len(g.cycles))
	for id := 1; id < len(g.chains); id++ {
		c := &g.chains[id]
		if c.count == 0 || c.end == 0 {
			continue
		}
		told[c.end-1] = true
		if c.cycle == 0 {
			if behind[c.end-1] == nil {
				behind[c.end-1] = make(map[run.ThreadID]bool)
			}
			behind[c.end-1][c.thread] = true
		}
	}
	for i := range g.cycles {
		if c := &g.cycles[i]; told[i] && !slices.ContainsFunc(c.edges, func(e int32) bool { return g.edges[e].Evidence.strength() < Owned.strength() }) {
			if b.report.Dumps > 0 { // each is an instant long, also where it is in one after the other
				c.Count, c.TotalNS, c.LongestNS = c.TotalNS, 0, 0
			}
			if !slices.ContainsFunc(c.edges, func(e int32) bool { return !b.r.Waits[g.edges[e].Wait].Clipped }) {
				c.Clipped = c.Count
			}
			links := b.round(nil, c.edges, g.edges[c.edges[0]].Waiter)
			b.report.Cycles = append(b.report.Cycles, Cycle{Links: links, Threads: len(c.edges), Sum: c.Sum, Behind: len(behind[i])})
		}
	}
	slices.SortStableFunc(b.report.Cycles, func(x, y Cycle) int {
		return cmp.Or(x.compare(&y.Sum), -cmp.Compare(x.Threads, y.Threads))
	})
}

// blockers lists threads for which others waited.
func (b *builder) blockers() {
	g := b.g
	known := make(map[run.ThreadID]*Blocker)
	var list []*Blocker
	of := func(id run.ThreadID) *Blocker {
		k := known[b.alike[id]]
		if k == nil {
			k = &Blocker{Thread: b.threads[id], States: []State{}}
			known[b.alike[id]] = k
			list = append(list, k)
		}
		k.join(&b.threads[id])
		return k
	}
	for i := range g.edges {
		if e := &g.edges[i]; g.counts(int32(i)) {
			of(e.Holder).add(&b.r.Waits[e.Wait])
		}
	}
	for id := range g.nodes {
		if busy := g.nodes[id].busy; busy > 0 && b.report.Dumps == 0 {
			of(run.ThreadID(id)).HeldNS += busy
		}
	}
	b.behind(of)
	slices.SortStableFunc(list, func(x, y *Blocker) int {
		return cmp.Or(-cmp.Compare(x.HeldNS, y.HeldNS), x.compare(&y.Sum), strings.Compare(x.Name, y.Name))
	})
	for _, k := range list[:min(len(list), maxListed)] {
		sortStates(k.States)
		b.report.Blockers = append(b.report.Blockers, *k)
	}
}

// behind says what threads did while others waited for them.
func (b *builder) behind(of func(run.ThreadID) *Blocker) {
	if b.report.Dumps > 0 {
		return
	}
	for k, took := range b.g.behind {
		if took == 0 {
			continue
		}
		blocker, s := of(k.thread), b.state(k.state)
		i := slices.IndexFunc(blocker.States, func(o State) bool {
			return o.State == s.State && (o.Place == nil) == (s.Place == nil) && (s.Place == nil || o.Place.Function == s.Place.Function)
		})
		if i < 0 {
			i = len(blocker.States)
			blocker.States = append(blocker.States, s)
		}
		blocker.States[i].TimeNS += took
	}
}

// What chains are worth a line where nobody asked for them: single waits that a user may notice, and
// sums that are not next to nothing of the time of the recording.
const (
	noticedNS = 1_000_000
	nothing   = 0.001
)

// Matters reports whether a chain is worth a line where nobody asked for it.
func (r *Report) Matters(c *Sum) bool {
	return r.Dumps > 0 || c.LongestNS >= noticedNS || float64(c.TotalNS) >= nothing*float64(r.DurationNS)
}

// Ends reports whether o is how c ends: the same threads, as far as they are listed.
func (c *Chain) Ends(o *Chain) bool {
	n := len(c.Links) - len(o.Links)
	if n < 0 || c.Threads != len(c.Links) || o.Threads != len(o.Links) {
		return false
	}
	for i := range o.Links {
		if c.Links[n+i].Thread.alike() != o.Links[i].Thread.alike() {
			return false
		}
	}
	return true
}
