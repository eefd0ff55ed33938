// Package stacks makes tables of branch stacks: LBR of Intel and AMD, BRBE of Arm, SPE.
//
//  1. Each entry is a branch that was taken, with its prediction. The code between the
//     target of one and the next is decoded: conditional branches in it were not taken.
//  2. A sample is a cluster of executions that are not independent. Sums over samples of
//     executions and of their products give rates with intervals.
//  3. The newest entries of a stack are left out of rates: a sample is likelier to be taken
//     behind a miss. So are samples from before the period of an event had settled.
//  4. The median of the cycles behind misses less that behind hits is the cost of a miss.
//  5. Misses that ended not taken have no entry. A path with one such branch that took
//     longer than usual by half the cost of a miss tells of one, else rates are bounds.
//
// Entries follow struct perf_branch_entry in include/uapi/linux/perf_event.h and the field
// brstack of perf-script(1).
package stacks

import (
	"profdiff/internal/branch"
	"profdiff/internal/branch/code"
	"profdiff/internal/branch/counters"
	"profdiff/internal/perfsession"
)

// A stack is the branch stack of one sample, newest entry first.
type stack struct {
	event   int
	pid     int32
	weight  float64
	entries []entry
}

type entry struct {
	from, to                uint64
	mispredicted, predicted bool
	// notTaken is set if the branch is one that was not taken, which SPE records.
	notTaken  bool
	wrongPath bool
	cycles    uint16      // since the entry before, 0 if unknown
	kind      branch.Kind // by the kernel
}

// firstUnbiased is the first entry of a stack, from the newest, in which misses are as
// frequent as they are: a sample is likelier to be taken while the front end restarts
// behind a miss, so that the newest entry is a miss twice as often.
const firstUnbiased = 4

// A site is a branch while it is being counted.
type site struct {
	key  code.Place
	addr uint64 // as first recorded
	m    *perfsession.Mapping

	looked bool // at the code
	inst   code.Instruction
	known  bool        // inst is
	kind   branch.Kind // by the kernel

	// all are entries, by any event and at any index.
	all        [dims]int64
	targets    map[code.Place]int64
	moments    []*moments // by event
	current    [dims]int64
	stamp      int64
	slow, fast int64 // executions that were not taken, by cycles
	cost       *branch.Cost
}

// rangeKey is code that ran from the target of an entry to the next branch.
type rangeKey struct {
	dso      int
	from, to uint64
}

type codeRange struct {
	state rangeState
	conds []*site // that were not taken
	// cycles that it took behind an entry that was predicted, if there is one branch.
	cycles map[uint16]int64
}

type rangeState uint8

const (
	rangeDecoded rangeState = iota
	rangeBroken
	rangeNoCode
)

// pathKey is a branch, its target and the branch that comes next.
type pathKey struct {
	site *site
	to   code.Place
	next code.Place
}

// pathCycles are the cycles from one branch to the next, by prediction of the former.
type pathCycles struct {
	hit, miss map[uint16]int64
}

// maxRange bounds the code between two branches that is decoded, in bytes.
const maxRange = 1 << 14

// A Collector counts the branches of stacks.
type Collector struct {
	spaces   *perfsession.Spaces
	binaries *code.Files
	find     func(*perfsession.DSO, uint64) *code.File // of binaries, for tests
	events   []*eventState
	samples  branch.Account
	Entries  branch.Account
	ranges   branch.Ranges

	sites   map[code.Place]*site
	order   []*site
	known   map[rangeKey]*codeRange
	paths   map[pathKey]*pathCycles
	path    []pathKey // keys of paths in the order of appearance
	stamp   int64
	touched []*site
	valid   []resolved

	// Of perf.data: the current sample, and what settledWeights says of each event.
	sample stack
	Least  []uint64
	// Unknown says why predictions are not to be trusted, "" if nothing is wrong.
	Unknown                       string
	mispredicted, predicted, none int64
	notTaken                      int64 // entries
}

type eventState struct {
	branch.Event
	// every is set if all branches are recorded, not those of some kinds. single is
	// set if samples are of single branches, taken or not.
	every, single bool
	// first is the first index that rates are made from.
	first int
	// rated is the weight of the executions that rates are made from, in which each
	// entry of a sample counts as much as the others.
	rated float64
	gaps  int64 // ranges of unknown code, which may hide branches not taken
	spans int64 // all ranges
	lost  int64
	// weightless is set if samples do not say what they weigh.
	weightless bool
	// least is the weight below which samples are not used for rates, 0 for none: their
	// period had not settled.
	least float64
	// counted is what a counter that samples hold has of the event, all 0 if there is
	// none.
	counted counters.Total
	group   int // events of one number were always counted together; 0 for none
}

// resolved is an entry with its places.
type resolved struct {
	*entry
	index  int
	site   *site
	to     code.Place
	target *perfsession.Mapping
	gap    bool // an entry between this one and the older one is missing
}

// New returns a Collector of stacks in address spaces, with the code of files.
func New(s *perfsession.Spaces, b *code.Files) *Collector {
	return &Collector{
		spaces: s, binaries: b, find: b.Find, sites: make(map[code.Place]*site),
		known: make(map[rangeKey]*codeRange), paths: make(map[pathKey]*pathCycles),
	}
}

// event adds an event.
func (c *Collector) event(e branch.Event, every bool) int {
	first := firstUnbiased
	if e.Precise && e.Counts != branch.CountsMisses {
		first = 0
	}
	c.events = append(c.events, &eventState{Event: e, every: every, first: first})
	return len(c.events) - 1
}

// Reasons to drop samples and entries.
const (
	dropNoStack      = "no branch stack"
	DropInconsistent = "contradicts the binary"
	dropWrongPath    = "on a wrong path"
	DropHalf         = "without source or target"
	dropInSample     = "in a dropped sample"
	dropCallStack    = "call stack, not branches"
)

// LeaveOut counts a sample that is not used.
func (c *Collector) LeaveOut(reason string) {
	c.samples.In++
	c.samples.Drop(reason, 1)
}

// add counts one stack.
func (c *Collector) add(s *stack) {
	ev := c.events[s.event]
	c.samples.In++
	ev.Samples++
	// Until the period has settled weights are next to nothing, but stacks are as good as
	// others.
	unsettled := s.weight < ev.least
	if unsettled {
		ev.Unsettled++
	} else {
		ev.Weight += s.weight
	}
	if len(s.entries) == 0 {
		c.samples.Drop(dropNoStack, 1)
		return
	}
	ev.HasStacks = true
	c.Entries.In += int64(len(s.entries))
	if !c.resolve(s) {
		c.samples.Drop(DropInconsistent, 1)
		c.Entries.Drop(dropInSample, int64(len(s.entries)))
		return
	}
	c.samples.Used++
	c.Entries.Used += int64(len(c.valid))
	c.stamp++
	c.touched = c.touched[:0]
	for i := range c.valid {
		c.count(ev, i, !unsettled)
	}
	c.fold(s, ev)
}

// resolve finds the sites of the entries that are whole. It returns false if one
// cannot be in the binary.
func (c *Collector) resolve(s *stack) bool {
	c.valid = c.valid[:0]
	var halves, wrong int64
	for i := range s.entries {
		e := &s.entries[i]
		if e.wrongPath {
			wrong++
			continue
		}
		if e.from == 0 || e.to == 0 {
			halves++
			if n := len(c.valid); n > 0 {
				c.valid[n-1].gap = true
			}
			continue
		}
		m := c.spaces.Find(s.pid, e.from)
		r := resolved{entry: e, index: i, site: c.site(m, e.from), target: c.spaces.Find(s.pid, e.to)}
		r.to = code.PlaceOf(r.target, e.to)
		if !c.consistent(&r) {
			return false
		}
		c.valid = append(c.valid, r)
	}
	c.Entries.Drop(dropWrongPath, wrong)
	c.Entries.Drop(DropHalf, halves)
	return true
}

func (c *Collector) site(m *perfsession.Mapping, addr uint64) *site {
	key := code.PlaceOf(m, addr)
	s, ok := c.sites[key]
	if !ok {
		s = &site{key: key, addr: addr, m: m}
		c.sites[key] = s
		c.order = append(c.order, s)
	}
	return s
}

// look decodes the instruction of a site, once.
func (c *Collector) look(s *site) {
	if s.looked {
		return
	}
	s.looked = true
	if s.m == nil {
		return
	}
	if b := c.find(s.m.DSO, s.key.Rel); b != nil {
		if v, ok := b.Vaddr(s.key.Rel); ok {
			s.inst, s.known = b.Decode(v)
		}
	}
}

// consistent reports whether an entry can be: its source is a branch that can go to
// its target. Anything can be interrupted.
func (c *Collector) consistent(r *resolved) bool {
	s := r.site
	c.look(s)
	if !s.known || int64(r.entry.to) < 0 || int64(r.from) < 0 {
		return true
	}
	same := r.target != nil && r.target.DSO == s.m.DSO
	switch {
	case s.inst.Kind == branch.UnknownKind:
		return !same
	case r.notTaken:
		return s.inst.Kind == branch.Conditional
	case s.inst.Direct && same:
		v, ok := c.find(s.m.DSO, s.key.Rel).Vaddr(r.to.Rel)
		return ok && v == s.inst.Target
	}
	return !s.inst.Direct || r.target == nil
}

// count adds the entry i of the current sample, and what ran before it. Rates are
// made from entries of which it is known what ran before: else executions that were
// taken would count where those that were not do not. weighs is not set if the sample
// counts for the entries alone.
func (c *Collector) count(ev *eventState, i int, weighs bool) {
	e := &c.valid[i]
	s := e.site
	rate := weighs && e.index >= ev.first
	if ev.every && !ev.single {
		rate = c.before(ev, i, rate) && rate
	}
	if s.kind == branch.UnknownKind {
		s.kind = e.kind
	}
	what := taken
	switch {
	case e.notTaken:
		c.notTaken++
		what = entered
		if !e.mispredicted && !e.predicted {
			what = notTaken
		}
	case !e.mispredicted && !e.predicted:
		what = unsaid
	}
	c.tally(s, what, rate)
	switch {
	case e.mispredicted:
		c.mispredicted++
		c.tally(s, what+1, rate)
	case e.predicted:
		c.predicted++
	default:
		c.none++
	}
	if !e.notTaken {
		if s.targets == nil {
			s.targets = make(map[code.Place]int64, 1)
		}
		s.targets[e.to]++
	}
}

// tally counts an execution of a site in the current sample.
func (c *Collector) tally(s *site, what int, rate bool) {
	s.all[what]++
	if !rate {
		return
	}
	if s.stamp != c.stamp {
		s.stamp = c.stamp
		s.current = [dims]int64{}
		c.touched = append(c.touched, s)
	}
	s.current[what]++
}

// before counts the conditional branches between the entry i and the one before it,
// which were not taken. It returns false if it is not known what ran there.
func (c *Collector) before(ev *eventState, i int, rate bool) bool {
	if i+1 == len(c.valid) {
		return false
	}
	e, older := &c.valid[i], &c.valid[i+1]
	c.pathCycles(ev, older, e)
	r := c.between(older, e)
	ev.spans++
	switch r.state {
	case rangeBroken:
		c.ranges.Broken++
		return false
	case rangeNoCode:
		c.ranges.NoCode++
		ev.gaps++
		return true
	}
	c.ranges.Decoded++
	for _, s := range r.conds {
		c.tally(s, notTaken, rate)
	}
	if len(r.conds) == 1 && e.cycles > 0 && older.predicted && ev.Counts != branch.CountsMisses {
		if r.cycles == nil {
			r.cycles = make(map[uint16]int64)
		}
		r.cycles[e.cycles]++
	}
	return true
}

// between decodes what lies between the target of an entry and the next entry.
func (c *Collector) between(older, e *resolved) *codeRange {
	if older.target == nil || e.site.m == nil {
		return &codeRange{state: rangeNoCode}
	}
	if e.gap || older.to.DSO != e.site.key.DSO || older.to.Rel > e.site.key.Rel ||
		e.site.key.Rel-older.to.Rel > maxRange {
		return &codeRange{state: rangeBroken}
	}
	b := c.find(older.target.DSO, older.to.Rel)
	if b == nil {
		return &codeRange{state: rangeNoCode}
	}
	key := rangeKey{older.to.DSO, older.to.Rel, e.site.key.Rel}
	if r, ok := c.known[key]; ok {
		return r
	}
	r := c.decodeRange(b, older.target, key)
	c.known[key] = r
	return r
}

func (c *Collector) decodeRange(b *code.File, m *perfsession.Mapping, key rangeKey) *codeRange {
	start, okStart := b.Vaddr(key.from)
	end, okEnd := b.Vaddr(key.to)
	if !okStart || !okEnd || end-start != key.to-key.from {
		return &codeRange{state: rangeBroken}
	}
	r := &codeRange{}
	base := m.Start - m.PgOff
	for v := start; v < end; {
		i, ok := b.Decode(v)
		switch {
		case !ok, i.Ends, i.Kind != branch.UnknownKind && i.Kind != branch.Conditional, uint64(i.Len) > end-v:
			return &codeRange{state: rangeBroken}
		case i.Kind == branch.Conditional:
			rel := key.from + (v - start)
			s := c.site(m, base+rel)
			s.looked, s.known, s.inst = true, true, i
			r.conds = append(r.conds, s)
		}
		v += uint64(i.Len)
	}
	return r
}

// pathCycles notes how long it took from one branch to the next.
func (c *Collector) pathCycles(ev *eventState, older, e *resolved) {
	if e.cycles == 0 || e.gap || ev.Counts == branch.CountsMisses || !older.mispredicted && !older.predicted {
		return
	}
	key := pathKey{older.site, older.to, e.site.key}
	p, ok := c.paths[key]
	if !ok {
		p = &pathCycles{hit: make(map[uint16]int64), miss: make(map[uint16]int64)}
		c.paths[key] = p
		c.path = append(c.path, key)
	}
	if older.mispredicted {
		p.miss[e.cycles]++
	} else {
		p.hit[e.cycles]++
	}
}

// fold adds the counts of the current sample to the sums of its event. Its entries
// share its weight.
func (c *Collector) fold(s *stack, ev *eventState) {
	var entries, idle int64
	for _, t := range c.touched {
		entries += t.current[taken] + t.current[unsaid] + t.current[entered]
		idle += t.current[notTaken]
	}
	if ev.single {
		entries += idle
		idle = 0
	}
	if entries == 0 {
		return
	}
	w := s.weight / float64(entries)
	ev.rated += s.weight
	if ev.Counts == branch.CountsBranches {
		ev.rated += w * float64(idle)
	}
	for _, t := range c.touched {
		for len(t.moments) <= s.event {
			t.moments = append(t.moments, nil)
		}
		if t.moments[s.event] == nil {
			t.moments[s.event] = new(moments)
		}
		t.moments[s.event].add(&t.current, w)
	}
}
