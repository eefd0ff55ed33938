package wait

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"profdiff/internal/interval"
	"profdiff/internal/run"
)

// Limits of what a report lists. Sums are of all.
const (
	maxListed  = 200
	maxLinks   = 32
	maxParties = 50
)

// New makes the report of a run. Edges that rules find count as those that the input tells; the
// rules are the built-in ones if nil.
func New(r *run.Run, rules *Rules) *Report {
	if rules == nil {
		rules = Builtin()
	}
	b := newBuilder(r)
	b.report.DurationNS = r.Recording.Duration.Nanoseconds()
	b.stacks = newClassifier(r, rules)
	b.all()
	b.locks()
	found := b.findRegions(rules)
	edges := edgesOf(r, found.edges)
	b.report.Regions, b.report.Wanted = found.listHeld(edges), found.wanted()
	b.report.Notes = append(b.report.Notes, found.notes...)
	var note string
	if b.report.Unnamed, note = found.futexes(); note != "" {
		b.report.Notes = append(b.report.Notes, note)
	}
	b.g = sweep(r, edges)
	b.chains()
	b.cycles()
	b.blockers()
	b.notes()
	return b.report
}

// Known reports whether anything waited for a thread that is known.
func (r *Report) Known() bool {
	return len(r.Locks)+len(r.Chains)+len(r.Cycles)+len(r.Regions)+len(r.Wanted) > 0
}

type builder struct {
	r      *run.Run
	g      *graph
	report *Report
	// threads are how reports show threads, alike the first of those that a report shows as one,
	// and one the first of those of which there is one in each process, else the thread itself.
	threads []Thread
	alike   []run.ThreadID
	one     []run.ThreadID
	// stacks are what rules say of stacks, and places where these wait.
	stacks *classifier
	places map[run.StackID]*Place
}

func newBuilder(r *run.Run) *builder {
	b := &builder{r: r, places: make(map[run.StackID]*Place), report: &Report{Locks: []Lock{}, Waiters: []Party{}, Chains: []Chain{}, Cycles: []Cycle{}, Blockers: []Blocker{}, Regions: []Region{}, Wanted: []Wanted{}, Notes: []string{}}}
	known := make(map[Thread]run.ThreadID, len(r.Threads))
	for i := range r.Threads {
		t := &r.Threads[i]
		b.threads = append(b.threads, Thread{Name: cmp.Or(t.Name, run.NoLabel), Process: t.Process, PID: t.PID, TID: t.TID, Main: t.Main})
		key := b.threads[i].alike()
		if _, ok := known[key]; !ok {
			known[key] = run.ThreadID(i)
		}
		b.alike = append(b.alike, known[key])
	}
	type name struct {
		pid   int64
		alike run.ThreadID
	}
	names := make(map[name]int)
	for i := range b.threads {
		names[name{b.threads[i].PID, b.alike[i]}]++
	}
	b.one = slices.Clone(b.alike)
	for i := range b.threads {
		if names[name{b.threads[i].PID, b.alike[i]}] > 1 {
			b.one[i] = run.ThreadID(i)
		}
	}
	return b
}

// add adds a wait.
func (s *Sum) add(w *run.Wait) {
	s.Count++
	if w.Kind != run.Dumped {
		s.TotalNS += w.End - w.Start
		s.LongestNS = max(s.LongestNS, w.End-w.Start)
	}
	if w.Clipped {
		s.Clipped++
	}
}

// Add adds what o has added up.
func (s *Sum) Add(o *Sum) {
	s.Count += o.Count
	s.TotalNS += o.TotalNS
	s.LongestNS = max(s.LongestNS, o.LongestNS)
	s.Clipped += o.Clipped
}

// compare orders sums, the longest first.
func (s *Sum) compare(o *Sum) int {
	return cmp.Or(-cmp.Compare(s.TotalNS, o.TotalNS), -cmp.Compare(s.Count, o.Count))
}

// alike is what threads have in common that a report shows as one: those of several
// recordings of a program, and threads of one name in one process.
func (t *Thread) alike() Thread { return Thread{Name: t.Name, Process: t.Process, Main: t.Main} }

// join makes t stand for o, too.
func (t *Thread) join(o *Thread) {
	if t.PID != o.PID {
		t.PID = -1
	}
	if t.TID != o.TID {
		t.TID = -1
	}
}

// locked reports whether a wait is one for a lock.
func locked(w *run.Wait) bool { return w.Kind != run.OffCPU && !w.Filtered }

// all sums up the waits for locks.
func (b *builder) all() {
	dumps := make(map[int64]bool)
	byHolder := make(map[run.ThreadID][]interval.Interval)
	waiters := make(parties)
	for i := range b.r.Waits {
		w := &b.r.Waits[i]
		if w.Kind == run.Dumped {
			dumps[w.Start] = true
		}
		if !locked(w) {
			continue
		}
		b.report.All.add(w)
		if w.Owner == 0 {
			b.report.Unknown.add(w)
		}
		waiters.add(b, w.Thread, w)
		if b.r.Threads[w.Thread].Main {
			b.report.Main.add(w)
		}
		if w.Kind == run.Contended {
			byHolder[w.Owner] = append(byHolder[w.Owner], interval.Interval{Start: w.Start, End: w.End})
		}
	}
	b.report.Dumps = len(dumps)
	b.report.Waiters, b.report.WaiterCount = waiters.sorted(), len(waiters)
	for _, times := range byHolder {
		b.report.HeldNS += interval.Length(interval.Union(times))
	}
}

// A lockSite is a row of the list of locks while it is summed up.
type lockSite struct {
	Lock
	names            map[string]bool
	waiters, holders parties
	times            map[run.ThreadID][]interval.Interval
}

// locks sums up waits for locks by where they were held and wanted.
func (b *builder) locks() {
	type key struct {
		held, blocked Place
		lock          string
	}
	sites := make(map[key]*lockSite)
	taken := takenAt(b.r)
	var order []*lockSite
	for i := range b.r.Waits {
		w := &b.r.Waits[i]
		if !locked(w) {
			continue
		}
		var k key
		if p := b.place(taken(w)); p != nil {
			k.held = *p
		}
		if p := b.place(w.Stack); p != nil {
			k.blocked = *p
		}
		if w.Kind != run.Dumped && k.held == (Place{}) {
			k.lock = w.For // in dumps it is an address, which tells only within one dump what is the same lock
		}
		site := sites[k]
		if site == nil {
			site = &lockSite{Lock: Lock{Held: k.held, Blocked: k.blocked}, names: make(map[string]bool), waiters: make(parties), holders: make(parties), times: make(map[run.ThreadID][]interval.Interval)}
			sites[k] = site
			order = append(order, site)
		}
		site.add(w)
		site.names[w.For] = true
		site.waiters.add(b, w.Thread, w)
		if b.r.Threads[w.Thread].Main {
			site.Main.add(w)
		}
		if w.Owner != 0 {
			site.holders.add(b, w.Owner, w)
		}
		if w.Kind == run.Contended {
			site.times[w.Owner] = append(site.times[w.Owner], interval.Interval{Start: w.Start, End: w.End})
		}
	}
	for _, site := range order {
		if len(site.names) == 1 {
			for name := range site.names {
				site.Lock.Lock = name
			}
		}
		for _, times := range site.times {
			site.HeldNS += interval.Length(interval.Union(times))
		}
		site.Waiters, site.Holders = site.waiters.sorted(), site.holders.sorted()
		site.WaiterCount, site.HolderCount = len(site.waiters), len(site.holders)
		b.report.Locks = append(b.report.Locks, site.Lock)
	}
	slices.SortStableFunc(b.report.Locks, func(x, y Lock) int {
		return cmp.Or(x.compare(&y.Sum), -cmp.Compare(x.Main.Count, y.Main.Count), strings.Compare(x.Blocked.Function, y.Blocked.Function), strings.Compare(x.Held.Function, y.Held.Function))
	})
}

// parties sums up waits by thread.
type parties map[run.ThreadID]*Party

func (p parties) add(b *builder, id run.ThreadID, w *run.Wait) {
	party := p[b.alike[id]]
	if party == nil {
		party = &Party{Thread: b.threads[id]}
		p[b.alike[id]] = party
	}
	party.join(&b.threads[id])
	party.add(w)
}

// sorted lists main threads first, and then those with the longest waits.
func (p parties) sorted() []Party {
	list := make([]Party, 0, len(p))
	for _, party := range p {
		list = append(list, *party)
	}
	slices.SortFunc(list, func(x, y Party) int {
		if x.Main != y.Main {
			if x.Main {
				return -1
			}
			return 1
		}
		return cmp.Or(x.compare(&y.Sum), strings.Compare(x.Name, y.Name), strings.Compare(x.Process, y.Process))
	})
	return list[:min(len(list), maxParties)]
}

// notes says what the input does not tell.
func (b *builder) notes() {
	note := func(format string, args ...any) {
		b.report.Notes = append(b.report.Notes, fmt.Sprintf(format, args...))
	}
	var clipped int64
	for i := range b.r.Waits {
		w := &b.r.Waits[i]
		if !locked(w) {
			continue
		}
		if w.Clipped {
			clipped++
		}
	}
	if b.report.All.Count == 0 && len(b.report.Chains) == 0 {
		note("what tells of locks: traces of Android with the atrace category dalvik; stacks that Android dumps; perf record -e 'sched:sched_switch,sched:sched_waking,lock:contention_begin,lock:contention_end'")
	}
	if unknown := b.report.Unknown.Count; unknown > 0 {
		note("of %d of %d waits for a lock the recording does not tell who had it", unknown, b.report.All.Count)
	}
	if clipped > 0 {
		note("%d of %d waits are cut by an end of the recording: they were longer", clipped, b.report.All.Count)
	}
	const many = 0.01
	if share := b.r.Accounting.LostShare(); share > many && len(b.r.Waits) > 0 {
		note("%.1f%% of the samples were lost: waits are missing, and others end when the thread was seen next", 100*share)
	}
	if s := &b.r.ShortWaits; s.Count > 0 {
		note("%d waits shorter than %s are too many to be followed: their threads count as running", s.Count, time.Duration(s.Below))
	}
	if g := b.g; g.overflow > 0 {
		note("chains are told apart up to %d; of the others only the first two threads count", maxChains)
	}
}
