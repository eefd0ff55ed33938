package perfdata

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
	"profdiff/internal/run"
)

// What the replay tells of threads beside samples, as the event of a batchSample.
const (
	// switchIn: a CPU went to thread tid.
	switchIn = -1 - iota
	// preempted: thread tid, which has left the CPU, could have gone on.
	preempted
	// leaves: thread tid leaves the CPU in the state that the weight is.
	leaves
	// wakes: the thread of the latest sample wakes thread tid; in an interrupt if the weight is 1.
	wakes
	// contends: thread tid wants the kernel's lock at the address that the weight is.
	contends
	// acquires: thread tid has it, or gave up.
	acquires
)

// waits finds out who waited when, from off-CPU recordings:
//
//  1. A thread waits from where it leaves the CPU until it is back, as for the event off-cpu.
//     Where only samples of sched:sched_switch say so, the thread that comes next is back.
//  2. Its state is prev_state of sched:sched_switch, or R+ if the record of the switch says that
//     it was preempted.
//  3. The first sched:sched_waking, or else sched:sched_wakeup, of the thread while it is away
//     tells its waker. In an interrupt the thread that it hit has nothing to do with it. From
//     then on the thread could run, which is a wait of its own, in state R.
//  4. A wait within lock:contention_begin and lock:contention_end is for that lock.
type waits struct {
	// bySwitches is set if times are known from samples of sched:sched_switch alone.
	bySwitches bool

	// Of the goroutine that replays. points are by index in File.Attrs.
	points []*point
	known  []*perfsession.Thread // by ID, of those with samples

	// Of the goroutine that adds. threads are by perfsession.Thread.ID, and labels by their
	// number in the run, of the latest sample.
	threads []run.ThreadID
	labels  []uint32
	states  map[int32]int64 // of threads that leave next
	wakers  map[int32]waker // of threads that are away
	wanted  map[int32]int64 // locks
	locks   map[int64]string
}

// A waker ended a wait.
type waker struct {
	thread    run.ThreadID
	stack     run.StackID
	time      uint64
	interrupt bool
}

// A point is what is read of the raw data of a tracepoint: one field, or two.
type point struct {
	what          int
	first, second perffile.TracepointField
}

func newWaits() *waits {
	return &waits{
		labels: make([]uint32, 1), states: make(map[int32]int64), wakers: make(map[int32]waker),
		wanted: make(map[int32]int64), locks: make(map[int64]string),
	}
}

// addPoints notes the tracepoints among the events that have become known.
func (w *waits) addPoints(f *perffile.File, timed bool) {
	names := make(map[string]bool)
	layouts := make([]*perffile.Tracepoint, len(f.Attrs))
	for i := range f.Attrs {
		if t := f.Tracepoint(&f.Attrs[i]); t != nil && f.Attrs[i].FixedPeriod() == 1 && f.Attrs[i].SampleType.Has(perffile.SampleRaw) {
			layouts[i] = t
			names[t.Name] = true
		}
	}
	w.bySwitches = !timed && names["sched_switch"]
	w.points = make([]*point, len(f.Attrs))
	for i, t := range layouts {
		if t == nil {
			continue
		}
		var first, second string
		p := new(point)
		switch t.System + ":" + t.Name {
		case "sched:sched_switch":
			p.what, first, second = leaves, "prev_state", "next_pid"
		case "sched:sched_waking":
			p.what, first, second = wakes, "pid", "common_flags"
		case "sched:sched_wakeup":
			if names["sched_waking"] {
				continue
			}
			p.what, first, second = wakes, "pid", "common_flags"
		case "lock:contention_begin":
			p.what, first, second = contends, "lock_addr", "lock_addr"
		case "lock:contention_end":
			p.what, first, second = acquires, "lock_addr", "lock_addr"
		default:
			continue
		}
		var ok1, ok2 bool
		p.first, ok1 = t.Field(first)
		p.second, ok2 = t.Field(second)
		if ok1 && ok2 {
			w.points[i] = p
		}
	}
}

// putWaits puts in the batch what a sample that is there already tells of waits.
func (p *reader) putWaits(s *perfsession.Sample) {
	w := p.waits
	for len(w.known) <= s.Thread.ID {
		w.known = append(w.known, nil)
	}
	w.known[s.Thread.ID] = s.Thread
	if len(w.points) < len(p.file.Attrs) {
		w.addPoints(p.file, p.traceOff)
	}
	point := w.points[s.Event]
	if point == nil {
		return
	}
	first, ok1 := point.first.Int(s.Raw.Raw)
	second, ok2 := point.second.Int(s.Raw.Raw)
	if !ok1 || !ok2 {
		return
	}
	told := batchSample{event: point.what, labels: p.labelsOf(s), pid: s.Raw.PID, tid: s.Raw.TID, time: s.Raw.Time, weight: first, thread: s.Thread.ID}
	switch point.what {
	case leaves:
		p.put(told)
		if w.bySwitches && p.next == nil {
			p.put(batchSample{event: switchIn, tid: int32(second), time: s.Raw.Time})
		}
		return
	case wakes:
		// TRACE_FLAG_HARDIRQ, _SOFTIRQ and _NMI of include/linux/trace_events.h. What wakes
		// in the idle thread is an interrupt.
		const interrupts = 0x08 | 0x10 | 0x40
		told.tid, told.weight = int32(first), 0
		if second&interrupts != 0 || s.Raw.TID == 0 {
			told.weight = 1
		}
	}
	p.put(told)
}

// note takes in what the replay tells beside samples.
func (p *reader) note(s *batchSample) {
	w := p.waits
	switch s.event {
	case preempted:
		if b, ok := p.blocked[s.tid]; ok && b.state == "" {
			b.state = "R+"
			p.blocked[s.tid] = b
		}
	case leaves:
		switch {
		case p.next != nil: // it has just left
			if b, away := p.blocked[s.tid]; away {
				b.state = stateLetter(s.weight)
				p.blocked[s.tid] = b
			}
		case w.bySwitches:
			p.leave(s, s.stack, stateLetter(s.weight))
		default:
			w.states[s.tid] = s.weight
		}
	case wakes:
		if _, away := p.blocked[s.tid]; away {
			if _, awake := w.wakers[s.tid]; !awake {
				w.wakers[s.tid] = waker{w.thread(p, s), s.stack, s.time, s.weight == 1}
			}
		}
	case contends:
		w.wanted[s.tid] = s.weight
	case acquires:
		delete(w.wanted, s.tid)
	}
}

// latestStack is the stack of the latest sample of a thread.
func (p *reader) latestStack(thread int) run.StackID {
	if thread >= len(p.paths) || len(p.paths[thread]) == 0 {
		return 0
	}
	path := p.paths[thread]
	return path[len(path)-1]
}

// leave notes that a thread leaves the CPU.
func (p *reader) leave(s *batchSample, stack run.StackID, state string) {
	b := blocked{stack: stack, labels: s.labels, time: s.time, state: state}
	if w := p.waits; w != nil {
		b.thread = w.thread(p, s)
		if state, ok := w.states[s.tid]; ok {
			b.state = stateLetter(state)
			delete(w.states, s.tid)
		}
		delete(w.wakers, s.tid)
	}
	p.blocked[s.tid] = b
}

// thread is the thread of a sample, 0 for the idle threads.
func (w *waits) thread(p *reader, s *batchSample) run.ThreadID {
	if s.pid == 0 && s.event != wakes {
		return 0
	}
	for len(w.threads) <= s.thread {
		w.threads = append(w.threads, 0)
	}
	id := w.threads[s.thread]
	if id == 0 {
		r := p.b.Run()
		if len(r.Threads) == 0 {
			r.Threads = make([]run.Thread, 1)
		}
		id = run.ThreadID(len(r.Threads))
		w.threads[s.thread] = id
		r.Threads = append(r.Threads, run.Thread{})
		w.labels = append(w.labels, 0)
	}
	w.labels[id] = s.labels
	return id
}

// add adds the wait of a thread that is back.
func (w *waits) add(p *reader, tid int32, b *blocked, end uint64, clipped bool) {
	if b.thread == 0 || end < b.time {
		return
	}
	wait := run.Wait{
		Thread: b.thread, Start: int64(b.time), End: int64(end), Clipped: clipped, Stack: b.stack, State: b.state,
	}
	if lock, ok := w.wanted[tid]; ok && !strings.HasPrefix(b.state, "R") {
		if w.locks[lock] == "" {
			w.locks[lock] = fmt.Sprintf("%#x", uint64(lock))
		}
		wait.For = w.locks[lock]
	}
	by, ok := w.wakers[tid]
	if !ok {
		p.b.AddWait(wait)
		return
	}
	delete(w.wakers, tid)
	if wait.Interrupt = by.interrupt; !by.interrupt {
		wait.Waker, wait.WakerStack = by.thread, by.stack
	}
	wait.End, wait.Clipped = int64(by.time), false
	p.b.AddWait(wait)
	p.b.AddWait(run.Wait{Thread: wait.Thread, Start: wait.End, End: int64(end), Clipped: clipped, Stack: b.stack, State: "R"})
}

// finish adds the waits of threads that did not come back, and names the threads.
func (w *waits) finish(p *reader) {
	for _, tid := range slices.Sorted(maps.Keys(p.blocked)) {
		b := p.blocked[tid]
		if b.thread == 0 || b.state == "X" || b.state == "Z" || w.known[slices.Index(w.threads, b.thread)].Ended {
			continue
		}
		w.add(p, tid, &b, p.session.Stats.Last, true)
	}
	r := p.b.Run()
	for i, id := range w.threads {
		if id == 0 {
			continue
		}
		t, l := w.known[i], p.b.LabelsAt(w.labels[id])
		r.Threads[id] = run.Thread{
			Process: l.Process, Name: l.Thread, PID: int64(t.PID), TID: int64(t.TID), Main: t.PID == t.TID,
		}
	}
}

// stateLetter is how the kernel prints a prev_state of sched:sched_switch (TASK_REPORT of
// include/linux/sched.h): the lowest of the bits decides, and beyond those are threads that were
// preempted.
func stateLetter(state int64) string {
	const letters = "SDTtXZPI"
	for i := range letters {
		if state&(1<<i) != 0 {
			return letters[i : i+1]
		}
	}
	if state != 0 {
		return "R+"
	}
	return "R"
}
