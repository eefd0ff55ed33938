package trace

import (
	"container/heap"
	"slices"
)

// SchedCounts says what was read of scheduling.
type SchedCounts struct {
	Switches, Wakings int64
	// Skipped are switches and wakings in compact form before the first switch of their CPU,
	// which do not say what ran there.
	Skipped int64
	// Spurious are wakings of threads that were not blocked.
	Spurious int64
	// Lost is how often a thread left a CPU on which it did not run: events before were lost.
	Lost int64
	// Mismatched is how often another thread left a CPU than the one that ran there.
	Mismatched int64
	// Invalid are states that the kernel cannot have reported, Disordered those that cannot follow
	// the one before.
	Invalid, Disordered int64
}

// The kinds of records of CPUs.
const (
	switchRecord byte = iota
	compactSwitchRecord
	wakingRecord
	compactWakingRecord
	blockedRecord
	newTaskRecord
	stateRecord
)

// A scheduler has events of scheduling, and makes states of threads of them.
type scheduler struct {
	kernel kernelVersion
	from   int64 // when states begin
	cpus   map[uint32]*cpu
	order  []*cpu
	counts SchedCounts
}

type cpu struct {
	number uint32
	events tape
	// While states are computed: what runs, and whether that is known.
	current ThreadID
	known   bool
}

func (s *scheduler) cpu(number uint32) *cpu {
	c := s.cpus[number]
	if c == nil {
		if s.cpus == nil {
			s.cpus = make(map[uint32]*cpu)
		}
		c = &cpu{number: number}
		s.cpus[number] = c
		s.order = append(s.order, c)
	}
	return c
}

// SchedFrom says from when on all CPUs have events of scheduling. Before, they only tell what a CPU runs.
func (b *Builder) SchedFrom(ts int64) { b.sched.from = ts }

// Switch says that a CPU leaves prev, which then is in a state, and runs next.
func (b *Builder) Switch(cpu uint32, ts int64, prev ThreadID, state SwitchState, next ThreadID) {
	b.sched.cpu(cpu).events.add(switchRecord, ts, uint64(prev), uint64(state), uint64(next))
	b.clock(ts)
}

// CompactSwitch says that a CPU leaves what it ran, which then is in a state, and runs next.
func (b *Builder) CompactSwitch(cpu uint32, ts int64, state SwitchState, next ThreadID) {
	b.sched.cpu(cpu).events.add(compactSwitchRecord, ts, uint64(state), uint64(next))
	b.clock(ts)
}

// Waking says that a waker, 0 if it is not known, wakes a thread; interrupt, that it was
// interrupted and something else did.
func (b *Builder) Waking(cpu uint32, ts int64, thread, waker ThreadID, interrupt bool) {
	b.sched.cpu(cpu).events.add(wakingRecord, ts, uint64(thread), uint64(waker)<<1|bit(interrupt))
	b.clock(ts)
}

// CompactWaking is [Builder.Waking] by what the CPU runs.
func (b *Builder) CompactWaking(cpu uint32, ts int64, thread ThreadID, interrupt bool) {
	b.sched.cpu(cpu).events.add(compactWakingRecord, ts, uint64(thread), bit(interrupt))
	b.clock(ts)
}

// BlockedReason says where in the kernel a thread was blocked last, and whether it waited
// for a disk.
func (b *Builder) BlockedReason(cpu uint32, ts int64, thread ThreadID, ioWait bool, function NameID) {
	b.sched.cpu(cpu).events.add(blockedRecord, ts, uint64(thread), uint64(function)<<1|bit(ioWait))
	b.clock(ts)
}

// NewTask says that a thread was started by another one.
func (b *Builder) NewTask(cpu uint32, ts int64, thread, parent ThreadID) {
	b.sched.cpu(cpu).events.add(newTaskRecord, ts, uint64(thread), uint64(parent))
	b.clock(ts)
}

// ThreadState says that a thread is in a state from now on, for recorders that tell states
// and not switches. The CPU is where it runs or ran.
func (b *Builder) ThreadState(cpu uint32, ts int64, thread ThreadID, state State) {
	b.sched.cpu(cpu).events.add(stateRecord, ts, uint64(thread), uint64(state))
	b.clock(ts)
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// A cpuEvent is a record of a CPU.
type cpuEvent struct {
	ts      int64
	a, b, c uint64
	kind    byte
}

func (e *cpuEvent) read(r *tapeReader) bool {
	var ok bool
	if e.kind, e.ts, ok = r.next(); !ok {
		return false
	}
	e.a, e.b, e.c = r.number(), r.number(), 0
	if e.kind == switchRecord {
		e.c = r.number()
	}
	return true
}

// A cpuQueue gives the events of a CPU in the order of time, of equal times in that in which
// they came.
//
//  1. Events of a CPU are nearly in order: those of a few milliseconds come together. So a chunk of
//     the tape is sorted at a time, with what is left of those before it.
//  2. An event is the next one if it is not younger than all in chunks that are not read yet.
type cpuQueue struct {
	cpu    *cpu
	event  cpuEvent
	reader tapeReader
	oldest []int64    // by chunk, the oldest event in it or behind it
	sorted []cpuEvent // from at on
	at     int
	buffer []cpuEvent
}

func newCPUQueue(c *cpu) *cpuQueue {
	q := &cpuQueue{cpu: c}
	if c.events.unsorted {
		q.oldest = c.events.oldest
		for i := len(q.oldest) - 2; i >= 0; i-- {
			q.oldest[i] = min(q.oldest[i], q.oldest[i+1])
		}
	}
	q.reader = c.events.take()
	return q
}

func (q *cpuQueue) next() bool {
	if q.oldest == nil && q.at == len(q.sorted) {
		return q.event.read(&q.reader)
	}
	for len(q.oldest) > 0 && (q.at == len(q.sorted) || q.sorted[q.at].ts > q.oldest[0]) {
		q.fill()
	}
	if q.at == len(q.sorted) {
		return false
	}
	q.event = q.sorted[q.at]
	q.at++
	return true
}

// fill reads a chunk.
func (q *cpuQueue) fill() {
	q.sorted = q.sorted[:copy(q.sorted, q.sorted[q.at:])]
	q.at = 0
	var e cpuEvent
	for left := len(q.reader.chunks) - 1; e.read(&q.reader); {
		q.sorted = append(q.sorted, e)
		if len(q.reader.chunks) == left && len(q.reader.rest) == 0 {
			break
		}
	}
	q.oldest = q.oldest[1:]
	q.sorted, q.buffer = mergeRuns(q.sorted, q.buffer)
}

// mergeRuns sorts events stably by time and returns them, and a buffer for the next call. What
// is in order already is only merged.
func mergeRuns(events, buffer []cpuEvent) (sorted, rest []cpuEvent) {
	buffer = slices.Grow(buffer[:0], len(events))
	for {
		runs := 0
		merged := buffer[:0]
		for from := 0; from < len(events); runs++ {
			middle := runEnd(events, from)
			end := runEnd(events, middle)
			a, b := events[from:middle], events[middle:end]
			for len(a) > 0 && len(b) > 0 {
				if b[0].ts < a[0].ts {
					merged, b = append(merged, b[0]), b[1:]
				} else {
					merged, a = append(merged, a[0]), a[1:]
				}
			}
			merged = append(append(merged, a...), b...)
			from = end
		}
		events, buffer = merged, events
		if runs <= 1 {
			return events, buffer
		}
	}
}

// runEnd is where the events that are in order from an index on end.
func runEnd(events []cpuEvent, from int) int {
	if from >= len(events) {
		return from
	}
	end := from + 1
	for end < len(events) && events[end].ts >= events[end-1].ts {
		end++
	}
	return end
}

// cpuHeap has the CPU with the oldest next event first; of equal ones that whose number is lower.
type cpuHeap []*cpuQueue

func (h cpuHeap) Len() int      { return len(h) }
func (h cpuHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *cpuHeap) Push(x any)   { *h = append(*h, x.(*cpuQueue)) }
func (h cpuHeap) Less(i, j int) bool {
	a, b := &h[i].event, &h[j].event
	return a.ts < b.ts || a.ts == b.ts && h[i].cpu.number < h[j].cpu.number
}

func (h *cpuHeap) Pop() any {
	last := len(*h) - 1
	q := (*h)[last]
	*h = (*h)[:last]
	return q
}

// finish computes the states of threads and returns them as tapes of intervals, by thread.
//
//  1. Events of all CPUs are merged by time.
//  2. A switch ends the state of the thread that leaves, which was running or else events were lost: then the end of
//     that state is not known. Its new state is the one that the kernel reports, where
//     preempted is runnable. The other thread runs; if it ran elsewhere, that ends there.
//  3. Compact switches do not say who leaves: it is who came last. Before the first switch of a CPU
//     nothing follows from its compact switches and wakings.
//  4. A waking makes a blocked thread runnable and names its waker. One of a thread that is not blocked
//     changes nothing. Of a thread of which nothing is known before, it is the start.
//  5. A reason for being blocked is for the last blocked interval of the thread, which may have ended,
//     but only until it runs again.
//  6. What a CPU does without work is no thread.
func (s *scheduler) finish(t *Timeline) []tape {
	h := make(cpuHeap, 0, len(s.order))
	for _, c := range s.order {
		if q := newCPUQueue(c); q.next() {
			h = append(h, q)
		}
	}
	if len(h) == 0 {
		return nil
	}
	heap.Init(&h)
	m := states{s: s, t: t, threads: make([]threadState, len(t.Threads)), tapes: make([]tape, len(t.Threads))}
	for len(h) > 0 {
		q := h[0]
		m.event(q.cpu, &q.event)
		if q.next() {
			heap.Fix(&h, 0)
		} else {
			heap.Pop(&h)
		}
	}
	for i := range m.threads {
		m.flush(ThreadID(i))
	}
	return m.tapes
}

// states computes the states of threads.
type states struct {
	s       *scheduler
	t       *Timeline
	threads []threadState
	tapes   []tape
}

// A threadState has what of a thread may still change: its last interval, and the blocked one
// before it while it could run and did not.
type threadState struct {
	blocked, last       Interval
	hasBlocked, hasLast bool
}

func (m *states) event(c *cpu, e *cpuEvent) {
	counts := &m.s.counts
	switch e.kind {
	case switchRecord:
		counts.Switches++
		if c.known && c.current != ThreadID(e.a) {
			counts.Mismatched++
		}
		m.switched(c, e.ts, ThreadID(e.a), SwitchState(e.b), ThreadID(e.c))
		c.known, c.current = true, ThreadID(e.c)
	case compactSwitchRecord:
		counts.Switches++
		switch {
		case !c.known:
			counts.Skipped++
		case e.ts >= m.s.from:
			m.switched(c, e.ts, c.current, SwitchState(e.a), ThreadID(e.b))
		}
		c.known, c.current = true, ThreadID(e.b)
	case wakingRecord:
		counts.Wakings++
		m.woken(ThreadID(e.a), e.ts, ThreadID(e.b>>1), e.b&1 != 0)
	case compactWakingRecord:
		counts.Wakings++
		if c.known {
			m.woken(ThreadID(e.a), e.ts, c.current, e.b&1 != 0)
		} else {
			counts.Skipped++
		}
	case blockedRecord:
		st := &m.threads[e.a]
		at := &st.blocked
		switch {
		case st.hasLast && st.last.State.Blocked():
			at = &st.last
		case !st.hasBlocked:
			return
		}
		at.IOWait, at.Function = e.b&1 != 0, NameID(e.b>>1)
	case newTaskRecord:
		m.open(ThreadID(e.a), Interval{Start: e.ts, State: Runnable, CPU: -1, Waker: ThreadID(e.b)})
	case stateRecord:
		m.told(c, e.ts, ThreadID(e.a), State(e.b))
	}
}

// told takes the state of a thread that a recorder tells. If one runs where another one did, the other one's
// state is not known until that is told, which may be for the same time.
func (m *states) told(c *cpu, ts int64, thread ThreadID, state State) {
	st := &m.threads[thread]
	switch {
	case st.hasLast && (st.last.State == Zombie && state != Dead || st.last.State == Running && state == Running),
		st.hasLast && state == Created:
		m.s.counts.Disordered++
		return
	case st.hasLast && st.last.State == Invalid && st.last.Start == ts && state != Running:
		st.last.State = state
		return
	}
	in := Interval{Start: ts, State: state, CPU: -1}
	if state == Running {
		if c.known && c.current != thread && m.threads[c.current].last.State == Running {
			m.close(c.current, ts)
			m.open(c.current, Interval{Start: ts, State: Invalid, CPU: -1})
		}
		c.known, c.current, in.CPU = true, thread, int32(c.number)
	} else if c.current == thread {
		c.known = false
	}
	m.close(thread, ts)
	m.open(thread, in)
}

func (m *states) switched(c *cpu, ts int64, prev ThreadID, state SwitchState, next ThreadID) {
	p := &m.threads[prev]
	if p.hasLast && p.last.State != Running {
		m.s.counts.Lost++
	} else {
		m.close(prev, ts)
	}
	decoded := state.state(m.s.kernel)
	if decoded == Invalid {
		m.s.counts.Invalid++
	}
	m.open(prev, Interval{Start: ts, State: decoded, CPU: -1})
	m.close(next, ts)
	m.open(next, Interval{Start: ts, State: Running, CPU: int32(c.number)})
}

func (m *states) woken(thread ThreadID, ts int64, waker ThreadID, interrupt bool) {
	st := &m.threads[thread]
	if st.hasLast {
		if !st.last.State.Blocked() {
			m.s.counts.Spurious++
			return
		}
		m.close(thread, ts)
	}
	m.open(thread, Interval{Start: ts, State: Runnable, CPU: -1, Waker: waker, Interrupt: interrupt})
}

// close ends the last interval of a thread.
func (m *states) close(id ThreadID, ts int64) {
	if st := &m.threads[id]; st.hasLast && st.last.End == Unended {
		st.last.End = ts
	}
}

// open starts an interval of a thread. The one before is written, unless it is a blocked one
// whose reason may follow.
func (m *states) open(id ThreadID, in Interval) {
	if id == 0 || m.t.Threads[id].Idle() {
		return
	}
	st := &m.threads[id]
	in.End = Unended
	if st.hasLast && st.last.State.Blocked() && in.State == Runnable {
		st.blocked, st.hasBlocked = st.last, true
	} else {
		m.flush(id)
	}
	st.last, st.hasLast = in, true
}

// flush writes the intervals of a thread that are kept.
func (m *states) flush(id ThreadID) {
	st := &m.threads[id]
	if st.hasBlocked {
		writeInterval(&m.tapes[id], &st.blocked)
		st.hasBlocked = false
	}
	if st.hasLast {
		writeInterval(&m.tapes[id], &st.last)
		st.hasLast = false
	}
}

// The bits of records of intervals say which numbers follow.
const (
	endedBit byte = 1 << iota
	runningBit
	reasonBit
	ioWaitBit
	wakerBit
	interruptBit
)

func writeInterval(t *tape, in *Interval) {
	var kind byte
	var buf [4]uint64
	numbers := buf[:0]
	if in.End != Unended {
		kind |= endedBit
		numbers = append(numbers, uint64(in.End-in.Start))
	}
	if in.State == Running {
		kind |= runningBit
		numbers = append(numbers, uint64(in.CPU+1))
	} else {
		numbers = append(numbers, uint64(in.State))
	}
	if in.Function != 0 {
		kind |= reasonBit
		numbers = append(numbers, uint64(in.Function))
	}
	if in.IOWait {
		kind |= ioWaitBit
	}
	if in.Waker != 0 {
		kind |= wakerBit
		numbers = append(numbers, uint64(in.Waker))
	}
	if in.Interrupt {
		kind |= interruptBit
	}
	t.add(kind, in.Start, numbers...)
}

// HasStates reports whether anything is known of the states of threads.
func (t *Timeline) HasStates() bool { return t.states != nil }

// DropStates gives up what a thread did, when it was looked at.
func (t *Timeline) DropStates(id ThreadID) {
	if t.states != nil {
		t.states[id] = tape{}
	}
}

// States calls visit with what a thread did, in the order of time. visit must not keep the
// interval.
func (t *Timeline) States(id ThreadID, visit func(*Interval)) {
	if t.states == nil {
		return
	}
	r := t.states[id].read()
	var in Interval
	for {
		kind, ts, ok := r.next()
		if !ok {
			return
		}
		in = Interval{Start: ts, End: Unended, CPU: -1, State: Running, IOWait: kind&ioWaitBit != 0, Interrupt: kind&interruptBit != 0}
		if kind&endedBit != 0 {
			in.End = ts + int64(r.number())
		}
		if kind&runningBit != 0 {
			in.CPU = int32(r.number()) - 1
		} else {
			in.State = State(r.number())
		}
		if kind&reasonBit != 0 {
			in.Function = NameID(r.number())
		}
		if kind&wakerBit != 0 {
			in.Waker = ThreadID(r.number())
		}
		visit(&in)
	}
}
