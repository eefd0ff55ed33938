package wait

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"profdiff/internal/interval"
	"profdiff/internal/run"
)

// A regionKey tells the regions of a report apart.
type regionKey struct {
	rule, lock string
	thread     run.ThreadID
	place      Place
}

// A heldRegion is a Region while it is summed up.
type heldRegion struct {
	Region
	rule   int // -1 for locks that the input tells
	stacks map[threadStack]bool
	waits  map[int32]bool                // of the holder
	while  map[int32]bool                // of these, those while someone waited
	known  map[int32][]interval.Interval // of locks that the input tells: the parts of these in which someone waited
	dumps  map[int64]bool                // in which the thread had it while someone waited
	direct map[int32]int64               // how long others waited meanwhile, by their waits
	behind map[int32]int64               // and others behind those
}

type threadStack struct {
	thread run.ThreadID
	stack  run.StackID
}

// listHeld makes the regions of the report: who had one and waited, and who waited for that.
func (s *regions) listHeld(edges []Edge) []Region {
	h := &heldList{regions: s, rows: make(map[regionKey]*heldRegion)}
	for i := range edges {
		if edges[i].Evidence.strength() > Woke.strength() {
			h.edges = append(h.edges, edges[i])
		}
	}
	h.index()
	for rule, list := range s.inside {
		if !s.rules[rule].wants.None() {
			continue // who waits there need not matter to anybody
		}
		for _, i := range list {
			if !s.r.Waits[i].Filtered {
				h.rowOf(rule, "", i)
			}
		}
	}
	for i := range h.edges {
		h.addEdge(&h.edges[i])
	}
	return h.finish()
}

// addEdge adds what a thread did, in a time in which another waited for it.
func (h *heldList) addEdge(e *Edge) {
	wait := &h.r.Waits[e.Wait]
	if wait.Kind == run.Dumped {
		x := h.row(-1, lockType(wait.For), e.Holder, h.b.place(wait.OwnerStack))
		x.Evidence = e.Evidence
		x.dumps[wait.Start] = true
		x.direct[int32(e.Wait)]++
		h.walk(x, e.Holder, e.Waiter, e.Start, e.End, 0)
		return
	}
	rule := slices.IndexFunc(h.rules, func(r rule) bool { return r.name == e.Rule })
	lock := ""
	if rule < 0 {
		lock = wait.For
	}
	for _, held := range h.waits(e.Holder, e.Start, e.End) {
		x := h.rowOf(rule, lock, held)
		if e.Evidence.strength() > x.Evidence.strength() {
			x.Evidence = e.Evidence
		}
		if e.Evidence == EndedTogether && x.Timing == nil {
			x.Timing = h.timing[timingKey{rule, h.b.one[e.Holder]}]
		}
		x.while[held] = true
		w := &h.r.Waits[held]
		from, to := max(e.Start, w.Start), min(e.End, w.End)
		x.known[held] = append(x.known[held], interval.Interval{Start: from, End: to})
		x.direct[int32(e.Wait)] += to - from
		h.walk(x, e.Holder, e.Waiter, from, to, 0)
	}
}

// lockType is what a lock in a dump is called without its address, which tells only within the dump
// which it is: "java.lang.Object" of "0x0a12 (a java.lang.Object)".
func lockType(lock string) string {
	_, kind, _ := strings.Cut(lock, " (a ")
	return strings.TrimSuffix(kind, ")")
}

type heldList struct {
	*regions
	edges    []Edge
	rows     map[regionKey]*heldRegion
	order    []*heldRegion
	byHolder [][]int32 // edges, in the order of their starts
	lasts    [][]int64 // the latest end of these up to each
	steps    int
}

// index sorts the edges by their holders.
func (h *heldList) index() {
	h.byHolder, h.lasts = make([][]int32, len(h.r.Threads)), make([][]int64, len(h.r.Threads))
	for i := range h.edges {
		h.byHolder[h.edges[i].Holder] = append(h.byHolder[h.edges[i].Holder], int32(i))
	}
	for thread, list := range h.byHolder {
		slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(h.edges[a].Start, h.edges[b].Start) })
		var last int64
		for _, i := range list {
			last = max(last, h.edges[i].End)
			h.lasts[thread] = append(h.lasts[thread], last)
		}
	}
}

// waits are the waits of a thread that overlap with a time.
func (h *heldList) waits(thread run.ThreadID, from, to int64) (found []int32) {
	list := h.blocked[thread]
	i := sort.Search(len(list), func(i int) bool { return h.r.Waits[list[i]].End > from })
	for ; i < len(list) && h.r.Waits[list[i]].Start < to; i++ {
		found = append(found, list[i])
	}
	return found
}

// rowOf is the row for a wait within a region.
func (h *heldList) rowOf(rule int, lock string, wait int32) *heldRegion {
	w := &h.r.Waits[wait]
	x := h.row(rule, lock, w.Thread, h.b.place(w.Stack))
	x.waits[wait] = true
	x.stacks[threadStack{w.Thread, w.Stack}] = true
	return x
}

func (h *heldList) row(rule int, lock string, thread run.ThreadID, place *Place) *heldRegion {
	name, region := "lock", cmp.Or(lock, "a lock")
	if rule >= 0 {
		name, region = h.rules[rule].name, cmp.Or(h.rules[rule].region, h.rules[rule].name)
	}
	k := regionKey{rule: name, lock: lock, thread: h.b.one[thread]}
	if place != nil {
		k.place = *place
	}
	x := h.rows[k]
	if x == nil {
		x = &heldRegion{
			Region: Region{Rule: name, Region: region, Thread: h.b.threads[thread], Place: k.place}, rule: rule,
			stacks: make(map[threadStack]bool), waits: make(map[int32]bool), while: make(map[int32]bool), dumps: make(map[int64]bool), known: make(map[int32][]interval.Interval),
			direct: make(map[int32]int64), behind: make(map[int32]int64),
		}
		h.rows[k] = x
		h.order = append(h.order, x)
	}
	x.Thread.join(&h.b.threads[thread])
	return x
}

const (
	// maxBehind is how many threads behind the first waiter are looked at, and maxSteps how often
	// in all.
	maxBehind = 8
	maxSteps  = 1 << 20
)

// walk adds who waited, in a time, for a thread that waited for a region.
func (h *heldList) walk(x *heldRegion, holder, waiter run.ThreadID, from, to int64, depth int) {
	if depth == maxBehind {
		return
	}
	list := h.byHolder[waiter]
	i := sort.Search(len(list), func(i int) bool { return h.edges[list[i]].Start >= to })
	for i--; i >= 0 && h.lasts[waiter][i] > from && h.steps < maxSteps; i-- {
		h.steps++
		e := &h.edges[list[i]]
		if e.End <= from || e.Waiter == holder {
			continue
		}
		a, b := max(from, e.Start), min(to, e.End)
		x.behind[int32(e.Wait)] += b - a
		h.walk(x, holder, e.Waiter, a, b, depth+1)
	}
}

// finish sums up the rows. Within a region of a rule a wait of the thread at the same stack counts, whether or not
// another thread waited meanwhile: it is the same code. Of stacks that tell no more than that the thread
// waits, this cannot be said. Of a lock that the input tells, nobody knows how long a thread had it while no other
// one waited: only that part of a wait counts.
func (h *heldList) finish() []Region {
	list := make([]Region, 0, len(h.order))
	for _, x := range h.order {
		if x.rule >= 0 && !waiting().MatchString(x.Place.Function) {
			for at := range x.stacks {
				for _, i := range h.blocked[at.thread] {
					if h.r.Waits[i].Stack == at.stack && !h.r.Waits[i].Filtered {
						x.waits[i] = true
					}
				}
			}
		}
		for i := range x.waits {
			x.within(&x.Sum, &h.r.Waits[i], i)
		}
		for i := range x.while {
			x.within(&x.While, &h.r.Waits[i], i)
		}
		x.Sum.Count += int64(len(x.dumps))
		x.While.Count += int64(len(x.dumps))
		x.Waiters, x.Behind = h.parties(x.direct), h.parties(x.behind)
		if len(x.Waiters)+len(x.Behind) == 0 && (x.rule < 0 || !h.rules[x.rule].wants.None()) {
			continue // all who waited are filtered
		}
		list = append(list, x.Region)
	}
	slices.SortStableFunc(list, func(a, b Region) int {
		x, y := a.Waited(), b.Waited()
		return cmp.Or(x.compare(&y), a.Sum.compare(&b.Sum), cmp.Compare(a.Thread.Name, b.Thread.Name), cmp.Compare(a.Place.Function, b.Place.Function))
	})
	return list[:min(len(list), maxListed)]
}

// within adds a wait of the holder, or the parts of it in which the thread is known to have had the region.
func (x *heldRegion) within(sum *Sum, w *run.Wait, i int32) {
	if x.rule >= 0 {
		sum.add(w)
		return
	}
	x.known[i] = interval.Union(x.known[i])
	for _, s := range x.known[i] {
		part := *w
		part.Start, part.End, part.Clipped = s.Start, s.End, w.Clipped && s.End == w.End
		sum.add(&part)
	}
}

// Waited is what others waited for a region, by themselves or behind others.
func (r *Region) Waited() (sum Sum) {
	for _, p := range r.Waiters {
		sum.Add(&p.Sum)
	}
	for _, p := range r.Behind {
		sum.Add(&p.Sum)
	}
	return sum
}

// parties sums up by thread for how long others waited meanwhile.
func (h *heldList) parties(times map[int32]int64) []Party {
	found := make(parties)
	for i, took := range times {
		w := h.r.Waits[i]
		if w.Filtered {
			continue
		}
		if w.Kind != run.Dumped {
			w.Start, w.End = 0, min(took, w.End-w.Start)
		}
		found.add(h.b, w.Thread, &w)
	}
	return found.sorted()
}

// wanted sums up the waits for regions by rule, and those without an edge.
func (s *regions) wanted() []Wanted {
	known := make(map[int]bool)
	for i := range s.edges {
		known[s.edges[i].Wait] = true
	}
	sums := make([]Wanted, len(s.rules))
	for i, rule := range s.wants {
		w := &s.r.Waits[i]
		if rule < 0 || w.Filtered {
			continue
		}
		sums[rule].add(w)
		if !known[i] {
			sums[rule].Unknown.add(w)
		}
	}
	list := []Wanted{}
	for i, sum := range sums {
		if sum.Count > 0 {
			sum.Rule, sum.Region = s.rules[i].name, cmp.Or(s.rules[i].region, s.rules[i].name)
			list = append(list, sum)
		}
	}
	slices.SortStableFunc(list, func(a, b Wanted) int { return a.Sum.compare(&b.Sum) })
	return list
}
