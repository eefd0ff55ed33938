package perfdata

import (
	"math"
	"slices"

	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
	"profdiff/internal/run"
	"profdiff/internal/symbolizer"
)

// A batch holds samples on their way from the goroutine that replays the recording
// to the one that adds them to the run.
type batch struct {
	samples   []batchSample
	locations []uint32   // of the frames of the samples, each leaf first
	unplaced  []unplaced // of those, the ones that [reader.settle] is to find
	counters  []perfsession.Counter
}

// A batchSample is what the run needs of a perfsession.Sample or Switch.
type batchSample struct {
	event    int // in File.Attrs, or switchIn and so on
	labels   uint32
	pid, tid int32
	time     uint64
	weight   int64
	thread   int // perfsession.Thread.ID
	// shared is how many of the outermost frames the thread's previous sample had, too.
	// They are not among the locations of the batch, which follow one another.
	shared, frames, counters int
	incomplete               bool

	stack run.StackID // once it is known; of what is no sample, that of the thread's latest sample
}

const (
	batchSamples = 512
	batches      = 3
)

// replay replays the recording and adds its samples to the run.
//
// Where what is known of the recording changes under way, as it does in pipe mode,
// and where the name of an address depends on the time, each sample is added before
// the next is read.
func (p *reader) replay() error {
	p.batch = new(batch)
	if !p.file.Pipe {
		p.full, p.free = make(chan *batch, batches), make(chan *batch, batches)
		for range batches - 1 {
			p.free <- new(batch)
		}
		p.added = make(chan struct{})
		go func() {
			defer close(p.added)
			for b := range p.full {
				p.add(b)
				p.free <- b
			}
		}()
	}
	err := p.session.Replay(p)
	p.join()
	return err
}

// join waits until all samples so far have been added. Afterwards the replay adds
// them itself.
func (p *reader) join() {
	if p.full == nil {
		return
	}
	p.settle(p.batch)
	p.full <- p.batch
	close(p.full)
	<-p.added
	p.batch, p.full = new(batch), nil
}

// Sample puts a sample in the batch.
func (p *reader) Sample(s *perfsession.Sample) error {
	p.noteJITDumps()
	if len(p.events) < len(p.file.Attrs) {
		p.addEvents()
	}
	// The leaf is needed in any case.
	shared := min(s.Shared, len(s.Frames)-1)
	if p.jitDumps {
		shared = 0
	}
	frames := s.Frames[:len(s.Frames)-shared]
	b := p.batch
	p.locate(b, s, frames)
	b.counters = append(b.counters, s.Counters...)
	p.put(batchSample{
		event: s.Event, labels: p.labelsOf(s), pid: s.Raw.PID, tid: s.Raw.TID, time: s.Raw.Time, weight: s.Weight,
		thread: s.Thread.ID, shared: shared, frames: len(frames), counters: len(s.Counters), incomplete: s.Incomplete,
	})
	if p.waits != nil {
		p.putWaits(s)
	}
	if p.next != nil && p.leaves[s.Event] {
		if tid, ok := p.next.Int(s.Raw.Raw); ok {
			p.put(batchSample{event: switchIn, tid: int32(tid), time: s.Raw.Time})
		}
	}
	return nil
}

// Switch notes the end of the time that a thread was off the CPU.
func (p *reader) Switch(s perfsession.Switch) error {
	switch {
	case p.traceOff && !s.Out:
		p.put(batchSample{event: switchIn, tid: s.TID, time: s.Time})
	case p.traceOff && s.Preempted && p.waits != nil:
		p.put(batchSample{event: preempted, tid: s.TID, time: s.Time})
	}
	return nil
}

func (p *reader) put(s batchSample) {
	b := p.batch
	b.samples = append(b.samples, s)
	switch {
	case p.full == nil:
		p.settle(b)
		p.add(b)
	case len(b.samples) == batchSamples:
		p.settle(b)
		p.full <- b
		p.batch = <-p.free
	}
}

// noteJITDumps tells the symbolizer of the files that have been mapped.
func (p *reader) noteJITDumps() {
	for ; p.dsosSeen < len(p.session.DSOs); p.dsosSeen++ {
		path := p.session.DSOs[p.dsosSeen].Path
		if symbolizer.IsJITDump(path) {
			p.join()
			p.z.AddJITDump(path)
			p.jitDumps = p.z.HasJITDumps()
		}
	}
}

// add adds the samples of a batch to the run and empties it. It goes through them once for each table
// that they are looked up in: the processor waits for memory that is far away, and where a step does not
// depend on the one before, it waits for several at a time.
func (p *reader) add(b *batch) {
	p.stacks(b)
	counters := b.counters
	for i := range b.samples {
		switch s := &b.samples[i]; {
		case s.event == switchIn:
			p.wake(s.tid, s.time)
		case s.event < 0:
			p.note(s)
		default:
			p.addSample(s, counters[:s.counters])
			counters = counters[s.counters:]
		}
	}
	b.samples, b.locations, b.counters = b.samples[:0], b.locations[:0], b.counters[:0]
}

// locate puts the locations of the frames of a sample in a batch.
func (p *reader) locate(b *batch, s *perfsession.Sample, frames []perfsession.Frame) {
	first := len(b.locations)
	b.locations = slices.Grow(b.locations, len(frames))[:first+len(frames)]
	for j := len(frames) - 1; j >= 0; j-- { // segments are numbered as callers show them
		f := &frames[j]
		var seen *placed
		if f.Map != nil && !p.jitDumps && !p.opt.UnknownOffset {
			seen = p.seen.of(f)
			if seen.is(f) {
				b.locations[first+j] = seen.location
				continue
			}
		}
		pl := p.place(s.Raw.PID, f)
		if p.jitDumps && !f.Kernel && !f.Guest && !f.CutOff && (f.Map == nil || !perfsession.IsFile(f.Map.DSO.Path)) {
			if pl.jit = p.z.JITFunction(s.Raw.PID, s.Raw.Time, f.Addr); pl.jit != 0 && f.Map == nil {
				pl.rel, pl.segment = f.Addr, p.unmapped(s.Raw.PID)<<placeFlagBits
			}
		}
		u := unplaced{place: pl, hash: pl.hash(), at: first + j, seen: seen}
		if seen != nil {
			u.now = placed{addr: f.Addr, mapping: uint32(f.Map.ID)}
		}
		b.unplaced = append(b.unplaced, u)
	}
	if len(frames) > 0 && frames[0].Map != nil {
		p.segments[p.segmentOf[frames[0].Map.ID]-1].count++
	}
}

// settle finds the locations of a batch that are not known yet. It asks for the slots of all before it looks at the
// places that they lead to: the processor waits for memory that is far away, and for several of these at a time.
func (p *reader) settle(b *batch) {
	for i := range b.unplaced {
		u := &b.unplaced[i]
		u.slot = p.placeTable.slot(u.hash)
	}
	for i := range b.unplaced {
		u := &b.unplaced[i]
		if u.slot == 0 || p.places[u.slot-1] != u.place {
			u.slot = 0
		}
	}
	for i := range b.unplaced {
		u := &b.unplaced[i]
		u.now.location = u.slot - 1
		if u.slot == 0 {
			u.now.location = p.placeTable.intern(&p.places, u.place, u.hash)
		}
		b.locations[u.at] = u.now.location
		if u.seen != nil {
			*u.seen = u.now
		}
	}
	b.unplaced = b.unplaced[:0]
}

// stacks finds the stacks of all samples of a batch. Mostly the thread's previous sample had the
// same callers, so that only what differs is looked up.
func (p *reader) stacks(b *batch) {
	locations := b.locations
	for i := range b.samples {
		s := &b.samples[i]
		if s.frames == 0 { // no sample
			s.stack = p.latestStack(s.thread)
			continue
		}
		if s.thread >= len(p.paths) {
			p.paths = append(p.paths, make([][]run.StackID, s.thread+1-len(p.paths))...)
		}
		path := p.paths[s.thread][:s.shared]
		if s.shared > 0 {
			s.stack = path[s.shared-1]
		}
		for _, location := range slices.Backward(locations[:s.frames]) {
			s.stack = p.b.Stack(s.stack, location)
			path = append(path, s.stack)
		}
		p.paths[s.thread] = path
		locations = locations[s.frames:]
	}
}

func (p *reader) addSample(s *batchSample, counters []perfsession.Counter) {
	event, stack := p.events[s.event], s.stack
	if event == noEvent {
		event = p.addEvent(s.event)
	}
	if s.incomplete {
		p.b.Run().Accounting.TruncatedStacks++
	}
	switch {
	case p.traceOff:
		if _, away := p.blocked[s.tid]; away && p.next != nil {
			delete(p.blocked, s.tid) // the switch to it is missing, and since when it is back is not known
			p.unseen++
		}
		p.wake(s.tid, s.time)
		if p.leaves[s.event] && (p.next == nil || s.tid > 0) { // each CPU has an idle thread 0, and -1 has exited
			p.leave(s, stack, "")
		} else if p.onCPU != noEvent {
			p.addAt(s.time, p.onCPU, stack, s.labels, s.weight)
		}
	case len(counters) > 0:
		if p.groupSampling() {
			p.addGroup(s, counters, stack)
			return
		}
		for _, c := range counters {
			if c.Event != s.event {
				p.addAt(s.time, p.counter(c.Event), stack, s.labels, int64(min(c.Delta, 1<<62)))
			}
		}
	}
	p.addAt(s.time, event, stack, s.labels, s.weight)
}

func (p *reader) addAt(time uint64, event uint32, stack run.StackID, labels uint32, weight int64) {
	p.b.AddTimed(run.TimedSample{Event: event, Stack: stack, Labels: labels, Weight: weight, Time: int64(min(time, math.MaxInt64))})
}

// groupSampling reports whether samples stand for all events of their group, as perf
// record -e '{a,b}:S' makes them: the members do not sample. simpleperf --add-counter
// does the same, but its reports keep to the event that sampled.
func (p *reader) groupSampling() bool {
	return !p.file.Info.Simpleperf()
}

// addGroup adds one sample for each event of the group, weighing what it counted
// since the last: must match evlist__deliver_sample in tools/perf/util/session.c.
func (p *reader) addGroup(s *batchSample, counters []perfsession.Counter, stack run.StackID) {
	account := &p.b.Run().Accounting
	for i, c := range counters {
		event := p.events[c.Event]
		if event == noEvent {
			event = p.addEvent(c.Event)
		}
		if i > 0 {
			account.In++
		}
		if c.Delta >= 1<<63 {
			account.Drop("weight over 2^63", 1)
			continue
		}
		p.addAt(s.time, event, stack, s.labels, int64(c.Delta))
	}
}

// counter returns the derived event for what was counted at samples of another.
func (p *reader) counter(event int) uint32 {
	if p.counters[event] == noEvent {
		a := &p.file.Attrs[event]
		p.counters[event] = p.b.Event(run.Event{Name: "counted:" + a.Name, Unit: eventUnit(a), Derived: true})
	}
	return p.counters[event]
}

// blocked is a thread that left the CPU.
type blocked struct {
	stack  run.StackID
	labels uint32
	time   uint64
	// Of waits.
	thread run.ThreadID
	state  string
}

// wake ends the time that a thread was off the CPU: at its next sample, or when a
// CPU goes to it. Must match ReportLib::ProcessSampleRecord in
// simpleperf/report_lib_interface.cpp.
func (p *reader) wake(tid int32, now uint64) {
	b, ok := p.blocked[tid]
	if !ok {
		return
	}
	delete(p.blocked, tid)
	if p.waits != nil {
		p.waits.add(p, tid, &b, now, false)
	}
	if !p.traceOff {
		return
	}
	off := int64(1)
	if b.time < now {
		off = int64(now - b.time)
	}
	p.b.AddTimed(run.TimedSample{Event: p.offCPU, Stack: b.stack, Labels: b.labels, Weight: off, Time: int64(min(now, math.MaxInt64)), Lasts: true})
}

// labelsKey identifies the labels of the samples of a thread.
type labelsKey struct {
	process, thread perfsession.NameID
	cpu             int32
	mode            perffile.Misc
	offCPU          bool
}

func (p *reader) labelsOf(s *perfsession.Sample) uint32 {
	offCPU := p.traceOff && p.leaves[s.Event]
	key := labelsKey{process: s.Thread.Process.Comm, thread: s.Thread.Comm, cpu: -1, offCPU: offCPU}
	if p.opt.CPU && p.file.Attrs[s.Event].SampleType.Has(perffile.SampleCPU) {
		key.cpu = int32(s.Raw.CPU)
	}
	if p.opt.Mode {
		key.mode = s.Raw.Misc.CPUMode()
	}
	for len(p.labelled) <= s.Thread.ID {
		p.labelled = append(p.labelled, labelled{})
	}
	latest := &p.labelled[s.Thread.ID]
	if latest.as != key || latest.labels == 0 {
		*latest = labelled{key, p.label(key, s) + 1}
	}
	return latest.labels - 1
}

// A labelled is what labels were found for.
type labelled struct {
	as     labelsKey
	labels uint32 // + 1, 0 is none yet
}

// label returns the labels for a key of the thread of a sample.
func (p *reader) label(key labelsKey, s *perfsession.Sample) uint32 {
	l := run.Labels{
		Process: p.session.Name(key.process), Thread: p.session.Name(key.thread),
		PID: -1, TID: -1, CPU: int64(key.cpu),
	}
	if p.opt.PID {
		l.PID = int64(s.Raw.PID)
	}
	if p.opt.TID {
		l.TID = int64(s.Raw.TID)
	}
	switch {
	case key.offCPU:
		l.State = "off-cpu"
	case p.traceOff:
		l.State = "on-cpu"
	}
	switch key.mode {
	case perffile.CPUModeKernel:
		l.Mode = "Host Kernel"
	case perffile.CPUModeUser:
		l.Mode = "Host User"
	case perffile.CPUModeHypervisor:
		l.Mode = "Hypervisor"
	case perffile.CPUModeGuestKernel:
		l.Mode = "Guest Kernel"
	case perffile.CPUModeGuestUser:
		l.Mode = "Guest User"
	}
	return p.b.Labels(l)
}
