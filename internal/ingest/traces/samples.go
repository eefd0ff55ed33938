package traces

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// samples reads what profilers sampled: PerfSample of traced_perf, StackSample, the packets of Chromium's
// sampler, callstacks of track events, and the profiles that V8 writes.
//
//  1. Each kind of sample is an event of the run, by the name of what was counted. The cost of a sample is
//     what the trace says it stands for (weights.go), or 1.
//  2. Threads are those of the timeline, so that all that a trace holds names them alike. They have their
//     names when all was read; until then samples are summed by thread.
//  3. Stacks are interned (stacks.go) and named at the end (symbols.go).
type samples struct {
	r      *reader
	b      *run.Builder
	opt    *reading.Options
	places *places
	names  *symbols
	v8     v8Profiles

	tally       *reading.Tally
	all         []run.TimedSample // instead of tally, if every sample is wanted, or those of some times
	first, last int64
	timed       bool

	streams              map[streamKey]*stream
	sources              map[writerKey]*source  // of PerfSample
	stacked              map[string]stackSource // events of StackSample, by descriptor
	weighted, unweighted callstackSums          // of track events
	followed             []uint64               // scratch
	unwind               map[string]int64       // incomplete stacks by what went wrong
	gaps                 int64
	stopped              bool // a profiler was stopped
}

func newSamples(r *reader, src *input.Source) *samples {
	p := newPlaces(r.b, r.opt)
	return &samples{
		r: r, b: r.b, opt: r.opt, places: p, names: newSymbols(p, src, r.opt), v8: v8Profiles{places: p}, tally: reading.NewTally(),
		streams: make(map[streamKey]*stream), sources: make(map[writerKey]*source), stacked: make(map[string]stackSource),
		weighted: make(callstackSums), unweighted: make(callstackSums), unwind: make(map[string]int64),
	}
}

// packet reads a packet, if it is one with samples.
func (s *samples) packet(p *perfetto.Packet) error {
	switch p.Kind {
	case perfetto.PerfSample:
		return s.perfSample(p)
	case perfetto.StackSample:
		return s.stackSample(p)
	case perfetto.StreamingProfile:
		return s.streamingProfile(p)
	}
	return nil
}

// who says where a sample was taken. Until the end, PID and TID of a reading.Thread are those that the
// timeline has: its names come last.
func (s *samples) who(thread trace.ThreadID, process trace.ProcessID, cpu int64, mode string) uint32 {
	return s.tally.Thread(reading.Thread{PID: -1 - int64(process), TID: int64(thread), CPU: cpu, Mode: mode})
}

// thread is what packets say by numbers: of a process, of a thread, or of both. Those below 0 are unknown.
func (s *samples) thread(machine uint32, pid, tid, cpu int64, mode string) (who uint32, process trace.ProcessID) {
	if !s.opt.CPU {
		cpu = -1
	}
	if !s.opt.Mode {
		mode = ""
	}
	thread := s.r.tl.Thread(machine, pid, tid)
	process = s.r.tl.Process(machine, pid)
	return s.who(thread, process, cpu, mode), process
}

// add adds one sample of an event. A sample at which several counters were read is one of each event.
func (s *samples) add(event, who uint32, stack run.StackID, at, weight int64) {
	s.b.Run().Accounting.In++
	if !s.timed {
		s.timed, s.first, s.last = true, at, at
	}
	s.first, s.last = min(s.first, at), max(s.last, at)
	if s.opt.Timeline || s.opt.During != nil {
		s.all = append(s.all, run.TimedSample{Event: event, Labels: who, Stack: stack, Weight: weight, Time: at})
		return
	}
	s.tally.Add(event, stack, who, weight)
}

// Fields of StackSample and what it refers to (protos/perfetto/trace/profiling/stack_sample.proto).
const (
	sampleTask          = 1
	sampleTaskIID       = 2
	sampleExecution     = 3
	sampleExecutionIID  = 4
	sampleCallstack     = 5
	sampleCallstackIID  = 6
	sampleUnwindError   = 7
	sampleUnwindIID     = 8
	sampleDescriptor    = 9
	sampleDescriptorIID = 10
	sampleWeight        = 11
	sampleFollowers     = 12
	sampleFollowerIIDs  = 13
	sampleFollowed      = 14

	contextPID   = 2
	contextTID   = 3
	contextAsync = 4

	executionCPU  = 2
	executionMode = 3

	descriptorName       = 2
	descriptorUnit       = 3
	descriptorUnitName   = 4
	descriptorMultiplier = 5

	defaultsStackSample = 100
	stackDefaultsSource = 1
	stackDefaultsMain   = 2
	stackDefaultsOthers = 3
)

// modes are StackSample.Mode, and perfModes Profiling.CpuMode, as labels have them.
var (
	modes     = [...]string{"", "Host User", "Host Kernel", "Hypervisor", "Guest User", "Guest Kernel"}
	perfModes = [...]string{"", "Host Kernel", "Host User", "Hypervisor", "Guest Kernel", "Guest User"}
)

func modeOf(names []string, n uint64) string {
	if n < uint64(len(names)) {
		return names[n]
	}
	return ""
}

// units are StackSample.Unit.
var units = [...]string{"", "nanoseconds", "cpu-cycles", "instructions", "bytes", "count", "count", "count", "count", "count"}

// event is the index of an event. Events of one name in different units are two.
func (s *samples) event(e run.Event) uint32 {
	i := s.b.Event(e)
	if e.Unit != "" && s.b.Run().Events[i].Unit != e.Unit {
		e.Name += "/" + e.Unit
		i = s.b.Event(e)
	}
	return i
}

// scaled is a weight that fits.
func scaled(weight, multiplier uint64) int64 {
	high, low := bits.Mul64(weight, multiplier)
	if high != 0 || low > maxWeight {
		return maxWeight
	}
	return int64(low)
}

// maxWeight is more than a sample can weigh.
const maxWeight = 1 << 62

// async says where a sample was taken that is of a fiber or the like, not of a thread.
func (s *samples) async(p *perfetto.Packet, iid uint64, pid, cpu int64, mode string) uint32 {
	var name, kind string
	if e := p.Sequence.Interned(asyncContexts, iid); e != nil {
		for f := e.Fields(); f.Next(); {
			switch f.Num {
			case 2:
				name = clean(f.Bytes())
			case 3:
				kind = clean(f.Bytes())
			default:
				f.Skip()
			}
		}
	}
	if name == "" {
		name = strings.TrimSpace(fmt.Sprintf("%s %d", kind, iid))
	}
	if !s.opt.CPU {
		cpu = -1
	}
	if !s.opt.Mode {
		mode = ""
	}
	process := s.r.tl.Process(p.Machine, pid)
	return s.tally.Thread(reading.Thread{Comm: name, PID: -1 - int64(process), CPU: cpu, Mode: mode})
}

// asyncContexts are the descriptors of fibers and the like.
const asyncContexts perfetto.Table = 51

// whole is the stack of a sample. known is false if the trace lacks it, failed says why its outer callers are
// missing, if they are.
func (s *samples) whole(stack run.StackID, known bool, failed string) run.StackID {
	if known && failed == "" {
		return stack
	}
	s.b.Run().Accounting.TruncatedStacks++
	s.unwind[cmp.Or(failed, "lost")]++
	if !known {
		return s.places.cut()
	}
	return s.places.incomplete(stack)
}

// A writerKey is a sequence of a machine.
type writerKey struct{ machine, sequence uint32 }

// Fields of StreamingProfilePacket.
const (
	streamingCallstacks = 1
	streamingDeltas     = 2
)

// samplerEvent is the event of Chromium's sampler, by the name of its data source.
const samplerEvent = "sampler_profiler"

// streamingProfile reads samples of the thread of a sequence. Their times are differences in
// microseconds, of which there may be more than callstacks.
func (s *samples) streamingProfile(p *perfetto.Packet) error {
	var callstacks, deltas []uint64
	f := p.Message()
	for f.Next() {
		switch f.Num {
		case streamingCallstacks:
			callstacks = f.Uints(callstacks)
		case streamingDeltas:
			deltas = f.Uints(deltas)
		default:
			f.Skip()
		}
	}
	if f.Err != nil {
		return f.Err
	}
	event := s.event(run.Event{Name: samplerEvent, Unit: "count"})
	seq := s.r.sequence(p)
	var pid, tid int64 = trace.Unknown, trace.Unknown
	if seq.hasThread {
		pid, tid = seq.thread.pid, seq.thread.tid
	}
	who, process := s.thread(p.Machine, pid, tid, -1, "")
	for i, d := range deltas {
		seq.time += int64(d)
		if i >= len(callstacks) {
			continue
		}
		at := s.r.monotonic(p, seq.time)
		stack, ok := s.places.callstack(p.Sequence, callstacks[i], process)
		s.add(event, who, s.whole(stack, ok, ""), at, 1)
	}
	if n := int64(len(callstacks) - len(deltas)); n > 0 {
		s.b.Run().Accounting.In += n
		s.b.Run().Accounting.Drop("without a time", n)
	}
	return nil
}

// Fields of TrackEvent that tell of samples, and of DebugAnnotation (protos/perfetto/trace/track_event).
const (
	eventAnnotation   = 4
	eventCallstack    = 55
	eventCallstackIID = 56
	eventStackWeight  = 57
	annotationNameIID = 1
	annotationJSON    = 9
	annotationName    = 10
)

// phaseSample is the phase of legacy events that hold parts of profiles.
const phaseSample = 'P'

// callstackEvent is the event of track events that have a callstack.
const callstackEvent = "callstacks"

func (s *samples) warn(format string, args ...any) {
	r := s.b.Run()
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}

// finish adds what waits, names all places, and labels samples with the names that the timeline has in the
// end. Those that were not taken in the times that are chosen (nil for all) are filtered.
func (s *samples) finish(t *trace.Timeline, spans *trace.Spans) {
	s.finishStreams()
	s.v8.finish(s)
	chosen := func(who uint32, at int64) bool {
		th := s.tally.Of(who)
		process := trace.ProcessID(-1 - th.PID)
		if process == 0 {
			process = t.Threads[th.TID].Process
		}
		return spans.Has(trace.ThreadID(th.TID), process, at)
	}
	s.finishCallstacks(chosen)
	s.names.finish(t)
	resolve := func(th reading.Thread) reading.Thread {
		thread := &t.Threads[th.TID]
		process := trace.ProcessID(-1 - th.PID)
		if process == 0 {
			process = thread.Process
		}
		th.PID = t.Processes[process].PID
		th.Comm = cmp.Or(th.Comm, thread.Name)
		if th.TID = thread.TID; th.TID == 0 {
			th.Comm = cmp.Or(th.Comm, idleName)
		}
		if name := t.Processes[process].Name; name != "" {
			s.tally.Comms[th.PID] = name
		}
		return th
	}
	s.tally.Flush(s.b, s.opt, func(event uint32, th reading.Thread) (uint32, reading.Thread) { return event, resolve(th) })
	if len(s.all) > 0 {
		slices.SortStableFunc(s.all, func(a, b run.TimedSample) int { return cmp.Compare(a.Time, b.Time) })
		for i := range s.all {
			d := &s.all[i]
			if !chosen(d.Labels, d.Time) {
				s.b.Run().Accounting.Filtered++
				continue
			}
			d.Labels = s.b.Labels(s.tally.Labels(d.Labels, s.opt, resolve))
			s.b.AddTimed(*d)
		}
		s.all = nil
	}
	s.warnings()
}

// idleName is what the kernel calls a CPU that has nothing to do.
const idleName = "swapper"

// span is the time from the first to the last sample or event of a timeline.
func (s *samples) span(t *trace.Timeline) (start, end int64) {
	switch {
	case !s.timed:
		return t.Start, t.End
	case t.Start == 0 && t.End == 0:
		return s.first, s.last
	}
	return min(s.first, t.Start), max(s.last, t.End)
}

// warnings says what makes samples less trustworthy.
func (s *samples) warnings() {
	if n := s.b.Run().Accounting.TruncatedStacks; n > 0 {
		var list []string
		for _, why := range slices.Sorted(maps.Keys(s.unwind)) {
			list = append(list, fmt.Sprintf("%s: %d", why, s.unwind[why]))
		}
		s.warn("%d samples have no whole stack, they are below %s (%s)", n, run.CutName, strings.Join(list, ", "))
	}
	if n := s.places.deep; n > 0 {
		s.warn("%d stacks have more than %d frames: the outer ones are %s", n, maxDepth, run.CutName)
	}
	if n := s.places.lost; n > 0 {
		s.warn("%d frames are not in the trace, which lost packets", n)
	}
	if n := s.gaps; n > 0 {
		s.warn("before %d samples others are missing: these weigh one interval, what was counted in between belongs to none", n)
	}
	if n := s.v8.bad; n > 0 {
		s.warn("%d parts of profiles of V8 are damaged", n)
	}
	if s.stopped {
		s.warn("the profiler stopped before the trace ended: it took more than it was allowed")
	}
}
