package traces

import (
	"slices"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// The events that are made of a timeline.
const (
	// slicesEvent is wall time, in nanoseconds: that of a slice without that of slices in it.
	slicesEvent = "slices"
	// asyncEvent is that of slices that are of no thread.
	asyncEvent = "async-slices"
	// offCPUEvent is the time in which threads had no CPU.
	offCPUEvent = "off-cpu"
	// contentionsEvent is how often threads waited for a lock that another one had, and delayEvent
	// how long, as Go's block profiles call them.
	contentionsEvent = "contentions"
	delayEvent       = "delay"
)

// A profile makes events of a run of a timeline.
//
//  1. A slice is a sample of slices: its stack is the slices that it is in, its weight the
//     time that is not of slices in it. A slice without an end is on stacks, and is dropped itself.
//  2. An interval in which a thread had no CPU, and had not exited, is a sample of off-cpu: its stack is the slices that were open when
//     it began, the state, and the function of the kernel, if that is known. Where the trace ends meanwhile,
//     the interval does too.
//  3. A slice that says which lock a thread waits for is a sample of contentions and delay: the stack is
//     where the lock was held, and below where it was wanted. The slice of the lock within a monitor is part of
//     that of the monitor, and is left out.
//  4. What is not in the times that were chosen (trace.During) is filtered; what is in part counts in part.
type profile struct {
	b     *run.Builder
	tl    *trace.Timeline
	opt   *reading.Options
	spans *trace.Spans // nil for all

	slices, async, offCPU, contentions, delay uint32

	frames  map[trace.NameID]uint32 // locations of slices
	kernel  map[trace.NameID]uint32 // and of functions of the kernel
	states  map[stateKey]uint32
	mapping uint32 // of the kernel
	locks   map[trace.NameID]*trace.Contention
	owners  map[ownerKey]trace.ThreadID
	loss    trace.SliceLoss
}

type stateKey struct {
	state  trace.State
	ioWait bool
}

// newProfile prepares the events of a timeline. It fails if the times that were asked for are not there.
func newProfile(b *run.Builder, tl *trace.Timeline, opt *reading.Options) (*profile, error) {
	spans, err := chosenTimes(b.Run(), tl, opt.During)
	if err != nil {
		return nil, err
	}
	if opt.Timeline {
		b.KeepTimeline()
	}
	return &profile{
		b: b, tl: tl, opt: opt, spans: spans,
		frames: make(map[trace.NameID]uint32), kernel: make(map[trace.NameID]uint32),
		states: make(map[stateKey]uint32), locks: make(map[trace.NameID]*trace.Contention),
	}, nil
}

// add adds the events, and returns what of the slices is missing.
func (p *profile) add() trace.SliceLoss {
	if p.opt.Waits {
		p.listThreads()
	}
	for _, id := range p.tl.Sorted() {
		p.thread(id)
	}
	p.dropIdle()
	for i := range p.tl.Tracks {
		if t := &p.tl.Tracks[i]; t.Thread == 0 {
			p.asyncTrack(trace.TrackID(i))
		} else if t.Own {
			p.track(trace.TrackID(i), t.Thread)
		}
	}
	out := p.b.Run()
	if len(out.Events) == 0 {
		p.event(&p.slices, slicesEvent, "nanoseconds", false) // that there are none
	}
	for _, index := range []uint32{p.slices, p.async, p.offCPU, p.contentions, p.delay} {
		// A slice that takes much of the time is none that weighs too much.
		if index != 0 {
			out.Events[index-1].MaxWeight = 0
		}
	}
	out.Measured = p.measure()
	return p.loss
}

// dropIdle counts the slices of interrupts that came while a CPU was idle: they are no thread's,
// and those of all CPUs are on one track.
func (p *profile) dropIdle() {
	acc := &p.b.Run().Accounting
	for i := range p.tl.Threads {
		th := &p.tl.Threads[i]
		if i == 0 || !th.Idle() || th.Track == 0 {
			continue
		}
		for _, s := range p.tl.Slices(th.Track, &p.loss) {
			if s.End != s.Start {
				acc.In++
				acc.Drop("slices of interrupts of an idle CPU", 1)
			}
		}
	}
}

// event adds an event when it is needed first. A trace has all that happened.
func (p *profile) event(index *uint32, name, unit string, derived bool) uint32 {
	if *index == 0 {
		*index = 1 + p.b.Event(run.Event{Name: name, Unit: unit, Derived: derived, Complete: true})
	}
	return *index - 1
}

// labels are those of samples of a thread.
func (p *profile) labels(id trace.ThreadID, state string) uint32 {
	th := &p.tl.Threads[id]
	process := &p.tl.Processes[th.Process]
	l := run.Labels{Process: process.Name, Thread: th.Name, PID: -1, TID: -1, CPU: -1, State: state}
	if p.opt.PID {
		l.PID = process.PID
	}
	if p.opt.TID {
		l.TID = th.TID
	}
	return p.b.Labels(l)
}

// thread adds what a thread did.
func (p *profile) thread(id trace.ThreadID) {
	th := &p.tl.Threads[id]
	var s []trace.Slice
	var stacks []run.StackID
	if th.Track != 0 {
		s, stacks = p.track(th.Track, id)
	}
	p.waits(id, s, stacks)
	p.tl.DropStates(id)
}

// track adds the slices of a track of a thread, and returns them with their stacks.
func (p *profile) track(track trace.TrackID, id trace.ThreadID) ([]trace.Slice, []run.StackID) {
	s := p.tl.Slices(track, &p.loss)
	if len(s) == 0 {
		return nil, nil
	}
	stacks := make([]run.StackID, len(s))
	inner := make([]int64, len(s)) // time of slices in each
	own := make([]int64, len(s))   // time without it
	th := &p.tl.Threads[id]
	for i := len(s) - 1; i >= 0; i-- {
		if parent := s[i].Parent; parent >= 0 && !s[i].Unfinished() {
			inner[parent] += p.spans.Overlap(id, th.Process, s[i].Start, s[i].End)
		}
	}
	labels := p.labels(id, "")
	acc := &p.b.Run().Accounting
	for i := range s {
		var caller run.StackID
		if s[i].Parent >= 0 {
			caller = stacks[s[i].Parent]
		}
		stacks[i] = p.b.Stack(caller, p.frame(s[i].Name))
		if s[i].End == s[i].Start {
			continue // an instant
		}
		acc.In++
		if s[i].Unfinished() {
			acc.Drop("slices that end after the trace or not at all", 1)
			p.contended(id, s, stacks, i)
			continue
		}
		time := p.spans.Overlap(id, th.Process, s[i].Start, s[i].End)
		if time == 0 {
			acc.Filtered++
			p.contended(id, s, stacks, i) // others may have waited behind it
			continue
		}
		self := time - inner[i]
		own[i] = self
		p.b.AddSum(p.event(&p.slices, slicesEvent, "nanoseconds", false), stacks[i], labels, 1, self, float64(self)*float64(self))
		p.contended(id, s, stacks, i)
	}
	if p.opt.Timeline {
		p.noteSlices(id, s, stacks, labels, own)
	}
	return s, stacks
}

// noteSlices says when the slices of a track were, each without the slices in it and no longer than its own
// time: slices that overlap have less of it than is between them.
func (p *profile) noteSlices(id trace.ThreadID, s []trace.Slice, stacks []run.StackID, labels uint32, own []int64) {
	told := make([]int64, len(s)) // up to which time
	tell := func(i int32, end int64) {
		p.noteUpTo(&own[i], p.slices-1, stacks[i], labels, id, p.tl.Threads[id].Process, told[i], end)
	}
	for i := range s {
		told[i] = s[i].Start
		if parent := s[i].Parent; parent >= 0 && !s[i].Unfinished() && !s[parent].Unfinished() {
			tell(parent, s[i].Start)
			told[parent] = max(told[parent], s[i].End)
		}
	}
	for i := range s {
		if !s[i].Unfinished() {
			tell(int32(i), s[i].End)
		}
	}
}

// noteSpan says when time of an event was spent that was added, as far as it was chosen.
func (p *profile) noteSpan(event uint32, stack run.StackID, labels uint32, id trace.ThreadID, process trace.ProcessID, start, end int64) {
	left := end - start
	p.noteUpTo(&left, event, stack, labels, id, process, start, end)
}

// noteUpTo is noteSpan of no more than the time that is left, from the start on.
func (p *profile) noteUpTo(left *int64, event uint32, stack run.StackID, labels uint32, id trace.ThreadID, process trace.ProcessID, start, end int64) {
	if !p.opt.Timeline || start >= end {
		return
	}
	p.spans.Cut(id, process, start, end, func(start, end int64, chosen bool) {
		if n := min(end-start, *left); chosen && n > 0 {
			*left -= n
			p.b.NoteSpan(run.TimedSample{Event: event, Stack: stack, Labels: labels, Weight: n, Time: start + n, Lasts: true})
		}
	})
}

// frame is the location of a slice.
func (p *profile) frame(name trace.NameID) uint32 {
	loc, ok := p.frames[name]
	if !ok {
		loc = p.location(run.Function{Name: sliceName(p.tl.Name(name))}, 0)
		p.frames[name] = loc
	}
	return loc
}

func (p *profile) location(f run.Function, mapping uint32) uint32 {
	f.SystemName = f.Name
	return p.b.Location(mapping, 0, run.Line{Function: p.b.Function(f)})
}

// asyncTrack adds slices that are of no thread. They may overlap, and stand for no stack.
func (p *profile) asyncTrack(id trace.TrackID) {
	t := &p.tl.Tracks[id]
	for _, s := range p.tl.Slices(id, &p.loss) {
		if s.End == s.Start || s.Unfinished() {
			continue
		}
		time := p.spans.Overlap(0, t.Process, s.Start, s.End)
		if time == 0 {
			continue
		}
		l := p.b.Labels(run.Labels{Process: p.tl.Processes[t.Process].Name, Thread: t.Name, PID: -1, TID: -1, CPU: -1})
		event, stack := p.event(&p.async, asyncEvent, "nanoseconds", true), p.b.Stack(0, p.frame(s.Name))
		p.b.AddSum(event, stack, l, 1, time, float64(time)*float64(time))
		p.noteSpan(event, stack, l, 0, t.Process, s.Start, s.End)
	}
}

// waits adds the time in which a thread had no CPU.
func (p *profile) waits(id trace.ThreadID, s []trace.Slice, stacks []run.StackID) {
	if !p.tl.HasStates() {
		return
	}
	w := waiting{p: p, id: id, process: p.tl.Threads[id].Process, open: opener{slices: s, stacks: stacks}}
	last := trace.Interval{State: trace.Running} // none
	p.tl.States(id, func(in *trace.Interval) {
		w.add(&last, in)
		last = *in
	})
	w.add(&last, nil)
}

// waiting adds intervals in which a thread had no CPU.
type waiting struct {
	p       *profile
	id      trace.ThreadID
	process trace.ProcessID
	open    opener
	kinds   []waitKind // a thread waits in few ways
}

// A waitKind is what waits in one state have in common.
type waitKind struct {
	stateKey
	name     string
	labels   uint32
	location uint32
}

// kind is that of an interval.
func (w *waiting) kind(in *trace.Interval) *waitKind {
	key := stateKey{in.State, in.IOWait}
	i := slices.IndexFunc(w.kinds, func(k waitKind) bool { return k.stateKey == key })
	if i < 0 {
		i = len(w.kinds)
		name := in.State.String()
		w.kinds = append(w.kinds, waitKind{key, name, w.p.labels(w.id, name), w.p.stateLocation(key)})
	}
	return &w.kinds[i]
}

// add adds an interval, behind which comes next, nil if it is the last one of the thread. Where events
// were lost meanwhile nobody knows how long it was: it is left out.
func (w *waiting) add(in, next *trace.Interval) {
	p := w.p
	if in.State == trace.Running || in.State.Exited() {
		return
	}
	end, clipped := in.End, false
	if end == trace.Unended {
		if next != nil {
			return
		}
		end, clipped = p.tl.End, true
	}
	if end <= in.Start {
		return
	}
	kind := w.kind(in)
	stack := p.waitStack(p.b.Stack(w.open.at(in.Start), kind.location), in)
	if time := p.spans.Overlap(w.id, w.process, in.Start, end); time > 0 {
		event := p.event(&p.offCPU, offCPUEvent, "nanoseconds", true)
		p.b.AddSum(event, stack, kind.labels, 1, time, float64(time)*float64(time))
		p.noteSpan(event, stack, kind.labels, w.id, w.process, in.Start, end)
	}
	if !p.opt.Waits {
		return
	}
	wait := run.Wait{
		Kind: run.OffCPU, Thread: run.ThreadID(w.id), Start: in.Start, End: end, Clipped: clipped,
		Stack: stack, State: kind.name,
	}
	if next != nil && next.Start == end {
		wait.Interrupt = next.Interrupt
		if !next.Interrupt {
			wait.Waker = run.ThreadID(next.Waker)
		}
	}
	p.addWait(&wait)
}

// addWait adds a wait. What of it is not in the times that were chosen is filtered: others may have waited behind it.
func (p *profile) addWait(w *run.Wait) {
	id := trace.ThreadID(w.Thread)
	p.spans.Cut(id, p.tl.Threads[id].Process, w.Start, w.End, func(start, end int64, chosen bool) {
		part := *w
		part.Start, part.End, part.Filtered = start, end, !chosen
		p.b.AddWait(part)
	})
}

// An opener finds the slices of a thread that were open at a time; times come in order.
type opener struct {
	slices []trace.Slice
	stacks []run.StackID
	next   int
	top    int32 // innermost, +1
}

// at is the stack of slices that are open at a time.
func (o *opener) at(ts int64) run.StackID {
	for o.next < len(o.slices) && o.slices[o.next].Start <= ts {
		if s := &o.slices[o.next]; s.End != s.Start {
			o.top = int32(o.next) + 1
		}
		o.next++
	}
	for o.top > 0 {
		s := &o.slices[o.top-1]
		if s.Unfinished() || s.End > ts {
			return o.stacks[o.top-1]
		}
		o.top = s.Parent + 1
	}
	return 0
}

// stateNames are what frames for states are called.
var stateNames = map[trace.State]string{
	trace.Runnable: "[runnable, no CPU]", trace.Preempted: "[preempted]", trace.Sleeping: "[sleeping]",
	trace.Uninterruptible: "[uninterruptible]", trace.IdleTask: "[idle kernel thread]", trace.Stopped: "[stopped]",
	trace.Traced: "[traced]", trace.Zombie: "[exited]", trace.Dead: "[exited]", trace.Parked: "[parked]", trace.TaskDead: "[exited]",
	trace.Created: "[created]", trace.Invalid: "[unknown state]",
}

// stateLocation is what stands for a state on stacks.
func (p *profile) stateLocation(key stateKey) uint32 {
	loc, ok := p.states[key]
	if !ok {
		name := stateNames[key.state]
		if name == "" {
			name = "[" + key.state.String() + "]"
		}
		if key.ioWait {
			name = strings.TrimSuffix(name, "]") + ", I/O]"
		}
		loc = p.location(run.Function{Name: name}, 0)
		p.states[key] = loc
	}
	return loc
}

// waitStack is the stack of an interval: that with its state, and the function of the kernel in which it waits.
func (p *profile) waitStack(stack run.StackID, in *trace.Interval) run.StackID {
	if in.Function == 0 {
		return stack
	}
	loc, ok := p.kernel[in.Function]
	if !ok {
		if p.mapping == 0 {
			p.mapping = p.b.Mapping(run.Mapping{File: "[kernel.kallsyms]", Kind: run.KernelMapping, HasFunctions: true})
		}
		name, _, _ := strings.Cut(p.tl.Name(in.Function), "+0x")
		loc = p.location(run.Function{Name: name}, p.mapping)
		p.kernel[in.Function] = loc
	}
	return p.b.Stack(stack, loc)
}
