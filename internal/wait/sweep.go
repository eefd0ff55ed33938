package wait

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"profdiff/internal/run"
)

// A chainID is an index in graph.chains; 0 is no chain.
type chainID int32

// maxChains bounds the memory for chains that are told apart. A chain behind a holder changes
// with everything that the holder waits for, so that thousands of waiters behind thousands of
// changes would be millions of chains; those beyond are taken as the waiter and its holder.
const maxChains = 1 << 20

// A chain is a thread and the rest of its chain behind it.
type chain struct {
	// edge is one of the edges by which the thread waits, -1 for the last thread. Chains are
	// interned by what of it a report shows.
	edge int32
	next chainID
	// thread is the first of the chain.
	thread run.ThreadID
	// cycle is the index + 1 in graph.cycles of a thread that waits for itself in the end; then
	// next is 0, and the threads of the cycle follow.
	cycle int32
	// end is the cycle + 1 in which the chain ends, however far away, and depth how many threads follow.
	end, depth int32

	count, clipped int64 // waits that had this chain
	total          int64
	longest        int64 // within one wait
	last           int32 // the wait that total was added for last
	current        int64 // and what it had of it
}

// A cycle is threads that wait for one another, and how long they did, also if filters leave them out.
type cycle struct {
	// edges lead to the next; the last leads to the first.
	edges []int32
	Sum
	last, current int64 // when it was seen last, and how long it had lasted then
}

// A linkKey is what tells the links of chains apart: chains of equal keys are one.
type linkKey struct {
	next     chainID
	cycle    int32
	thread   run.ThreadID
	blocked  run.StackID
	held     run.StackID
	lock     string
	rule     string
	evidence Evidence
}

// A graph is who waits for whom at an instant, and the sums until then.
type graph struct {
	r        *run.Run
	edges    []Edge
	states   []stateSpan
	nodes    []node // by run.ThreadID
	chains   []chain
	known    map[linkKey]chainID
	cycles   []cycle
	cycleIDs map[string]int32
	// doing is what last threads did while others waited for them, by chain and by thread.
	doing  map[chainState]int64
	behind map[threadState]int64
	// now is the time up to which all is summed.
	now      int64
	epoch    int32
	affected []run.ThreadID
	path     []run.ThreadID
	// overflow is how many links were not told apart, for maxChains.
	overflow int64
}

// A stateSpan is a time in which a thread was off the CPU.
type stateSpan struct {
	thread     run.ThreadID
	start, end int64
	wait       int32
}

type chainState struct {
	chain chainID
	state int32 // a wait that tells the state, or one of running and unknown
}

type threadState struct {
	thread run.ThreadID
	state  int32
}

// States of a thread of which no wait tells.
const (
	running int32 = -1
	unknown int32 = -2
)

// A node is a thread of the graph.
type node struct {
	open []int32 // edges by which it waits
	cur  int32   // the strongest of them, -1 if there is none
	// Threads whose cur leads here, as a list.
	first, next, prev run.ThreadID
	chain             chainID
	root              run.ThreadID // the last of the chain
	state             int32
	since             int64 // up to which its chain has its time
	mark, path        int32 // epochs in which it was found affected, and in which it is on the path
	// owned is the number of threads that wait for a lock which this one has; busy and busySince
	// are the time in which there was one.
	owned           int32
	busy, busySince int64
	onCPU           int32 // running or unknown: what it does if no wait tells
}

// An event is a begin or an end of an edge or a span of a state.
type event struct {
	at    int64
	index int32 // of an edge; of a state as ^index
	begin bool
}

// sweep sums up, by chain, the time in which threads waited for others.
//
//  1. Begins and ends are in the order of time; those of one instant are taken together.
//  2. Threads whose chain may change are those whose edge or state changes, and all that wait for them. The time since
//     the last change goes to the chains that they had.
//  3. Edges change, and their chains are followed anew: to a thread whose chain is known, to the
//     end, or back to a thread of the path, which is a cycle.
//
// Its time is that of sorting and of the changes of chains. It does not recurse.
func sweep(r *run.Run, edges []Edge) *graph {
	g := &graph{
		r: r, edges: edges, nodes: make([]node, len(r.Threads)+1), chains: make([]chain, 1),
		known: make(map[linkKey]chainID), cycleIDs: make(map[string]int32),
		doing: make(map[chainState]int64), behind: make(map[threadState]int64),
	}
	for i := range g.nodes {
		g.nodes[i].cur, g.nodes[i].onCPU = -1, unknown
	}
	events := g.events()
	for i := range g.nodes {
		g.nodes[i].state = g.nodes[i].onCPU
	}
	for len(events) > 0 {
		n := 1
		for n < len(events) && events[n].at == events[0].at {
			n++
		}
		g.now = events[0].at
		g.step(events[:n])
		events = events[n:]
	}
	return g
}

// events lists begins and ends in the order of time, and finds out which threads are known to run when they do not wait.
func (g *graph) events() []event {
	holder := make([]bool, len(g.nodes))
	var events []event
	for i := range g.edges {
		e := &g.edges[i]
		if e.End > e.Start {
			holder[e.Holder] = true
			events = append(events, event{e.Start, int32(i), true}, event{e.End, int32(i), false})
		}
	}
	for i := range g.r.Waits {
		w := &g.r.Waits[i]
		if w.Kind != run.OffCPU || !holder[w.Thread] {
			continue
		}
		g.nodes[w.Thread].onCPU = running
		if w.End > w.Start {
			s := ^int32(len(g.states))
			g.states = append(g.states, stateSpan{w.Thread, w.Start, w.End, int32(i)})
			events = append(events, event{w.Start, s, true}, event{w.End, s, false})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return events
}

// step takes the events of one instant.
func (g *graph) step(events []event) {
	g.epoch++
	g.affected = g.affected[:0]
	for _, e := range events {
		if e.index >= 0 {
			g.affect(g.edges[e.index].Waiter)
		} else {
			g.affect(g.states[^e.index].thread)
		}
	}
	for i := 0; i < len(g.affected); i++ {
		id := g.affected[i]
		g.flush(id)
		for d := g.nodes[id].first; d != 0; d = g.nodes[d].next {
			g.affect(d)
		}
	}
	for _, ends := range []bool{true, false} {
		for _, e := range events {
			if e.begin == ends {
				continue
			}
			if e.index >= 0 {
				g.change(e)
			} else if s := &g.states[^e.index]; e.begin {
				g.nodes[s.thread].state = s.wait
			} else if n := &g.nodes[s.thread]; n.state == s.wait {
				n.state = n.onCPU
			}
		}
	}
	for _, e := range events {
		if e.index >= 0 {
			g.choose(g.edges[e.index].Waiter)
		}
	}
	for _, id := range g.affected {
		g.nodes[id].chain = 0
	}
	for _, id := range g.affected {
		g.follow(id)
	}
}

// affect notes that the chain of a thread may change.
func (g *graph) affect(id run.ThreadID) {
	if n := &g.nodes[id]; n.mark != g.epoch {
		n.mark = g.epoch
		g.affected = append(g.affected, id)
	}
}

// flush gives the time since the last change to the chain of a thread, and to what the last thread of it did.
func (g *graph) flush(id run.ThreadID) {
	n := &g.nodes[id]
	if n.owned > 0 {
		n.busy += g.now - n.busySince
		g.behind[threadState{id, n.state}] += g.now - n.busySince
		n.busySince = g.now
	}
	took := g.now - n.since
	n.since = g.now
	if n.cur < 0 || took == 0 {
		return
	}
	c := &g.chains[n.chain]
	if c.cycle != 0 {
		g.cycles[c.cycle-1].lasts(id, g, took)
	}
	if !g.counts(n.cur) {
		return
	}
	if wait := int32(g.edges[n.cur].Wait); c.count == 0 || c.last != wait {
		c.last, c.current = wait, 0
		c.count++
		if g.r.Waits[wait].Clipped {
			c.clipped++
		}
	}
	c.total += took
	c.current += took
	c.longest = max(c.longest, c.current)
	if n.root != 0 {
		g.doing[chainState{n.chain, g.nodes[n.root].state}] += took
	}
}

// lasts adds time to a cycle, if the thread is the first of it.
func (c *cycle) lasts(id run.ThreadID, g *graph, took int64) {
	if g.edges[c.edges[0]].Waiter != id {
		return
	}
	if c.Count == 0 || c.last < g.now-took {
		c.Count++
		c.current = 0
	}
	c.last = g.now
	c.TotalNS += took
	c.current += took
	c.LongestNS = max(c.LongestNS, c.current)
}

// counts reports whether an edge is a wait to be told, and not only the rest of a chain: a thread that sleeps
// until it is woken may have nothing to do, and filters leave waits out.
func (g *graph) counts(edge int32) bool {
	e := &g.edges[edge]
	return e.Evidence != Woke && !g.r.Waits[e.Wait].Filtered
}

// change begins or ends an edge.
func (g *graph) change(e event) {
	n := &g.nodes[g.edges[e.index].Waiter]
	if e.begin {
		n.open = append(n.open, e.index)
	} else if i := slices.Index(n.open, e.index); i >= 0 {
		n.open = slices.Delete(n.open, i, i+1)
	}
}

// choose sets the edge by which a thread waits: the strongest, then the one that began last.
func (g *graph) choose(id run.ThreadID) {
	n := &g.nodes[id]
	best := int32(-1)
	for _, i := range n.open {
		if best < 0 || g.stronger(&g.edges[i], &g.edges[best]) {
			best = i
		}
	}
	if best == n.cur {
		return
	}
	if n.cur >= 0 {
		g.unlink(id)
	}
	if n.cur = best; best >= 0 {
		g.link(id)
	}
}

func (g *graph) stronger(a, b *Edge) bool {
	return cmp.Or(cmp.Compare(a.Evidence.strength(), b.Evidence.strength()), cmp.Compare(a.Start, b.Start), cmp.Compare(b.Wait, a.Wait)) > 0
}

// link puts a thread among those that wait for its holder.
func (g *graph) link(id run.ThreadID) {
	n := &g.nodes[id]
	h := &g.nodes[g.edges[n.cur].Holder]
	n.prev, n.next = 0, h.first
	if h.first != 0 {
		g.nodes[h.first].prev = id
	}
	h.first = id
	if g.counts(n.cur) {
		if h.owned == 0 {
			h.busySince = g.now
		}
		h.owned++
	}
}

// unlink undoes link.
func (g *graph) unlink(id run.ThreadID) {
	n, holder := &g.nodes[id], g.edges[g.nodes[id].cur].Holder
	h := &g.nodes[holder]
	if n.prev != 0 {
		g.nodes[n.prev].next = n.next
	} else {
		h.first = n.next
	}
	if n.next != 0 {
		g.nodes[n.next].prev = n.prev
	}
	n.prev, n.next = 0, 0
	if g.counts(n.cur) {
		if h.owned == 1 {
			h.busy += g.now - h.busySince
			g.behind[threadState{holder, h.state}] += g.now - h.busySince
		}
		h.owned--
	}
}

// follow finds the chain of a thread.
func (g *graph) follow(id run.ThreadID) {
	g.path = g.path[:0]
	for {
		n := &g.nodes[id]
		if n.chain != 0 || n.mark == g.epoch && n.path == g.epoch {
			break
		}
		if n.cur < 0 {
			n.chain, n.root = g.intern(linkKey{thread: id}, -1), id
			break
		}
		n.path = g.epoch
		g.path = append(g.path, id)
		id = g.edges[n.cur].Holder
	}
	if g.nodes[id].chain == 0 { // on the path: from there on it is a cycle
		at := slices.Index(g.path, id)
		g.close(g.path[at:])
		g.path = g.path[:at]
	}
	for _, id := range slices.Backward(g.path) {
		n := &g.nodes[id]
		h := &g.nodes[g.edges[n.cur].Holder]
		n.chain, n.root = g.intern(g.key(n.cur, h.chain), n.cur), h.root
		if g.chains[n.chain].next != h.chain { // not told apart
			n.root = 0
		}
	}
}

// close makes the chains of threads that wait in a cycle.
func (g *graph) close(threads []run.ThreadID) {
	lowest := slices.Index(threads, slices.Min(threads))
	edges := make([]int32, len(threads))
	var key []byte
	for i := range threads {
		edges[i] = g.nodes[threads[(lowest+i)%len(threads)]].cur
		k := g.key(edges[i], 0)
		for _, n := range []uint32{uint32(k.thread), uint32(k.blocked), uint32(k.held), uint32(k.evidence.strength())} {
			key = binary.LittleEndian.AppendUint32(key, n)
		}
		key = append(append(append(append(key, k.lock...), 0), k.rule...), 0)
	}
	number, ok := g.cycleIDs[string(key)]
	if !ok {
		g.cycles = append(g.cycles, cycle{edges: edges})
		number = int32(len(g.cycles))
		g.cycleIDs[string(key)] = number
	}
	for _, id := range threads {
		n := &g.nodes[id]
		n.chain, n.root = g.intern(linkKey{thread: id, cycle: number}, n.cur), 0
	}
}

// key is what tells the link by an edge apart.
func (g *graph) key(edge int32, next chainID) linkKey {
	e := &g.edges[edge]
	w := &g.r.Waits[e.Wait]
	return linkKey{next: next, thread: e.Waiter, blocked: w.Stack, held: e.HolderStack, lock: w.For, rule: e.Rule, evidence: e.Evidence}
}

// intern returns the chain of a key.
func (g *graph) intern(key linkKey, edge int32) chainID {
	id, ok := g.known[key]
	if ok {
		return id
	}
	if len(g.chains) >= maxChains && edge >= 0 && key.next != 0 && g.chains[key.next].next != 0 {
		g.overflow++
		next := g.intern(linkKey{thread: g.edges[edge].Holder}, -1)
		return g.intern(g.key(edge, next), edge)
	}
	c := chain{edge: edge, next: key.next, thread: key.thread, cycle: key.cycle, end: key.cycle}
	if key.cycle != 0 {
		c.depth = int32(len(g.cycles[key.cycle-1].edges)) - 1
	}
	if key.next != 0 {
		c.depth, c.end = g.chains[key.next].depth+1, g.chains[key.next].end
	}
	if len(g.chains) == math.MaxInt32 {
		return 0
	}
	id = chainID(len(g.chains))
	g.chains = append(g.chains, c)
	g.known[key] = id
	return id
}
