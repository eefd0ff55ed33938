package traces

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// Fields of PerfSample and of what describes its counters (protos/perfetto/trace/profiling/profile_packet.proto,
// protos/perfetto/common/perf_events.proto).
const (
	perfCPU       = 1
	perfPID       = 2
	perfTID       = 3
	perfCallstack = 4
	perfMode      = 5
	perfCount     = 6
	perfFollowers = 7
	perfUnwind    = 16
	perfLost      = 17
	perfSkipped   = 18
	perfProducer  = 19

	defaultsPerf     = 12
	perfTimebase     = 1
	perfFollower     = 4
	timebasePeriod   = 1
	timebaseRate     = 2
	timebaseTrace    = 3
	timebaseCounter  = 4
	timebaseRaw      = 5
	timebaseName     = 10
	timebaseModifier = 12
	followerCounter  = 1
	followerTrace    = 2
	followerRaw      = 3
	followerName     = 4
	followerModifier = 5
)

// counters are PerfEvents.Counter, by the names that perf has for them.
var counters = [...]string{
	1: "cpu-clock", 2: "page-faults", 3: "task-clock", 4: "context-switches", 5: "cpu-migrations", 6: "minor-faults", 7: "major-faults",
	8: "alignment-faults", 9: "emulation-faults", 10: "cpu-cycles", 11: "instructions", 12: "cache-references", 13: "cache-misses",
	14: "branch-instructions", 15: "branch-misses", 16: "bus-cycles", 17: "stalled-cycles-frontend", 18: "stalled-cycles-backend",
	19: "ref-cycles", 20: "dummy",
}

// skipped are PerfSample.SampleSkipReason.
var skipped = [...]string{"skipped", "process not readable", "not unwound", "not unwound in time", "of other processes"}

// unwindErrors are Profiling.StackUnwindError, of which 1 is none.
var unwindErrors = [...]string{
	"error", "", "memory invalid", "no unwind information", "unsupported", "no map", "too many frames", "repeated frame", "invalid ELF file",
	"system call", "thread timed out", "thread gone", "machine unknown", "maps not readable", "invalid parameter", "ptrace failed",
}

// A source is what the defaults of a sequence say of its PerfSamples.
type source struct {
	defaults []byte
	event    uint32
	// interval is what the counter counts from sample to sample, 0 if the recorder varies it.
	interval  uint64
	followers []uint32 // events
}

// A streamKey is one counter of the kernel: that of a sequence on a CPU.
type streamKey struct {
	writerKey
	cpu uint32
}

// A stream turns values of a counter into weights of samples: a sample stands for what was counted since the one
// before.
//
//  1. Counters count from when they were set up, so the first sample has its value, unless that is
//     more than an interval: then samples before it were lost.
//  2. Samples that were skipped count, too: what they stand for is not that of the next one. They are written at
//     once, while others wait to be unwound, so a stream is put in order by its values first.
//  3. If more than an interval was counted since the sample before, some are missing. What they
//     stood for is not given to the next one.
type stream struct {
	source  *source
	pending []counted // by count
	values  []uint64  // of followers, as many for each of pending
	last    uint64
	before  []uint64 // values of followers at last
	started bool
}

// A counted is a sample whose weight is not known yet.
type counted struct {
	count   uint64
	at      int64
	who     uint32
	stack   run.StackID
	skipped bool
}

// maxPending is how many samples of a stream wait for those that are to stand before them: more than the
// queue of traced_perf's unwinder has for one CPU.
const maxPending = 1024

// perfSample reads one of four things: that records were lost, that the profiler did something, that a sample was
// skipped, or a sample.
func (s *samples) perfSample(p *perfetto.Packet) error {
	var cpu uint32
	var pid, tid int64 = trace.Unknown, trace.Unknown
	var count, lost, callstack, unwind uint64
	var mode string
	skip := -1
	hasCount, producer, unwinding := false, false, false
	s.followed = s.followed[:0]
	f := p.Message()
	for f.Next() {
		switch f.Num {
		case perfCPU:
			cpu = uint32(f.Uint())
		case perfPID:
			pid = int64(uint32(f.Uint()))
		case perfTID:
			tid = int64(uint32(f.Uint()))
		case perfCallstack:
			callstack = f.Uint()
		case perfMode:
			mode = modeOf(perfModes[:], f.Uint())
		case perfCount:
			count, hasCount = f.Uint(), true
		case perfFollowers:
			s.followed = f.Uints(s.followed)
		case perfUnwind:
			unwind, unwinding = f.Uint(), true
		case perfLost:
			lost = f.Uint()
		case perfSkipped:
			skip = int(min(f.Uint(), uint64(len(skipped))))
		case perfProducer:
			f.Skip()
			producer = true
		default:
			f.Skip()
		}
	}
	account := &s.b.Run().Accounting
	switch {
	case f.Err != nil:
		return f.Err
	case lost > 0:
		account.Lost = reading.AddSaturating(account.Lost, int64(min(lost, maxWeight)))
		return nil
	case producer:
		s.stopped = true
		return nil
	}
	src := s.perfSource(p.Sequence)
	c := counted{count: count, at: p.Time, skipped: true}
	switch {
	case skip >= 0:
		account.In++
		account.Drop(skipped[min(skip, len(skipped)-1)], 1)
	case pid < 0 && callstack == 0:
		account.In++
		account.Drop("only counted", 1)
	default:
		c.skipped = false
		var process trace.ProcessID
		c.who, process = s.thread(p.Machine, pid, tid, int64(cpu), mode)
		known, failed := true, ""
		if callstack != 0 {
			c.stack, known = s.places.callstack(p.Sequence, callstack, process)
		}
		if unwinding && unwind != 1 {
			failed = cmp.Or(modeOf(unwindErrors[:], unwind), "error")
		}
		c.stack = s.whole(c.stack, known, failed)
	}
	if !hasCount {
		if !c.skipped {
			s.add(src.event, c.who, c.stack, c.at, int64(min(max(src.interval, 1), maxWeight)))
		}
		return nil
	}
	key := streamKey{writerKey{p.Machine, p.SequenceID}, cpu}
	st := s.streams[key]
	if st == nil {
		st = &stream{}
		s.streams[key] = st
	}
	if st.source != src {
		s.flush(st, len(st.pending))
		st.source, st.before = src, make([]uint64, len(src.followers))
	}
	st.push(c, s.followed)
	if len(st.pending) >= maxPending {
		s.flush(st, maxPending/2)
	}
	return nil
}

// push adds a sample where its count belongs. Mostly that is the end.
func (st *stream) push(c counted, followed []uint64) {
	n := len(st.before)
	i := len(st.pending)
	for i > 0 && st.pending[i-1].count > c.count {
		i--
	}
	st.pending = slices.Insert(st.pending, i, c)
	st.values = slices.Insert(st.values, i*n, st.before...)
	copy(st.values[i*n:(i+1)*n], followed)
}

// flush adds the first n samples of a stream.
func (s *samples) flush(st *stream, n int) {
	for i := range n {
		c := &st.pending[i]
		values := st.values[i*len(st.before) : (i+1)*len(st.before)]
		all, weight := st.weight(i)
		if all > weight {
			s.gaps++
		}
		if !c.skipped {
			s.add(st.source.event, c.who, c.stack, c.at, int64(min(weight, maxWeight)))
			for k, v := range values {
				if v >= st.before[k] && (st.started || all == weight) {
					s.add(st.source.followers[k], c.who, c.stack, c.at, int64(min(part(v-st.before[k], weight, all), maxWeight)))
				}
			}
		}
		st.started, st.last = true, max(st.last, c.count)
		for k, v := range values {
			st.before[k] = max(st.before[k], v)
		}
	}
	st.pending = slices.Delete(st.pending, 0, n)
	st.values = slices.Delete(st.values, 0, n*len(st.before))
}

// weight is what was counted since the sample before sample i, and how much of that it stands for.
func (st *stream) weight(i int) (all, weight uint64) {
	count, interval := st.pending[i].count, st.source.interval
	if count < st.last {
		return max(interval, 1), max(interval, 1) // a later one was added already
	}
	all = count - st.last
	switch {
	case interval > 0 && all/3 > interval/2:
		return all, interval
	case interval > 0 || st.started:
		return all, all
	case i+1 < len(st.pending):
		return all, min(all, st.pending[i+1].count-count)
	}
	return all, all
}

// part is v × weight / all.
func part(v, weight, all uint64) uint64 {
	if weight == all {
		return v
	}
	return uint64(float64(v) / float64(all) * float64(weight))
}

// finishStreams adds the samples that wait, in the order in which their streams began.
func (s *samples) finishStreams() {
	keys := slices.SortedFunc(maps.Keys(s.streams), func(a, b streamKey) int {
		return cmp.Or(cmp.Compare(a.machine, b.machine), cmp.Compare(a.sequence, b.sequence), cmp.Compare(a.cpu, b.cpu))
	})
	for _, key := range keys {
		st := s.streams[key]
		s.flush(st, len(st.pending))
	}
}

// perfSource is what the defaults of a sequence say of its samples.
func (s *samples) perfSource(seq *perfetto.Sequence) *source {
	defaults := seq.Defaults()
	key := writerKey{seq.Machine, seq.ID}
	if known := s.sources[key]; known != nil && bytes.Equal(known.defaults, defaults.Data()) {
		return known
	}
	src := &source{defaults: defaults.Data()}
	// Before Android 12 there were no defaults, and no other counter.
	e := run.Event{Name: "cpu-clock", Unit: "nanoseconds"}
	for defaults.Next() {
		if defaults.Num != defaultsPerf {
			defaults.Skip()
			continue
		}
		for d := defaults.Message(); d.Next(); {
			switch d.Num {
			case perfTimebase:
				e = timebase(d.Message())
			case perfFollower:
				src.followers = append(src.followers, s.event(follower(d.Message())))
			default:
				d.Skip()
			}
		}
	}
	src.event = s.event(e)
	src.interval = e.Period
	if e.Unit == "nanoseconds" && e.Frequency > 0 {
		src.interval = uint64(time.Second) / e.Frequency
	}
	s.sources[key] = src
	return src
}

// timebase is the event of a PerfEvents.Timebase.
func timebase(f input.Fields) run.Event {
	var e run.Event
	c := counter{name: "cpu-clock"} // if none is said
	for f.Next() {
		switch f.Num {
		case timebasePeriod:
			e.Period = f.Uint()
		case timebaseRate:
			e.Frequency = f.Uint()
		case timebaseCounter:
			c.standard(f.Uint())
		case timebaseTrace:
			c.tracepoint(f.Message())
		case timebaseRaw:
			c.raw(f.Message())
		case timebaseName:
			c.given = clean(f.Bytes())
		case timebaseModifier:
			c.modify(f.Uints(nil))
		default:
			f.Skip()
		}
	}
	e.Name, e.Unit = c.event()
	return e
}

// follower is the event of a FollowerEvent.
func follower(f input.Fields) (e run.Event) {
	var c counter
	for f.Next() {
		switch f.Num {
		case followerCounter:
			c.standard(f.Uint())
		case followerTrace:
			c.tracepoint(f.Message())
		case followerRaw:
			c.raw(f.Message())
		case followerName:
			c.given = clean(f.Bytes())
		case followerModifier:
			c.modify(f.Uints(nil))
		default:
			f.Skip()
		}
	}
	e.Name, e.Unit = c.event()
	return e
}

// A counter is what an event counts.
type counter struct {
	name, given, modifiers string
}

func (c *counter) standard(n uint64) {
	c.name = "unknown"
	if n < uint64(len(counters)) && counters[n] != "" {
		c.name = counters[n]
	}
}

// tracepoint takes the name of one: sched/sched_switch is sched:sched_switch.
func (c *counter) tracepoint(f input.Fields) {
	c.name = "tracepoint"
	for f.Next() {
		if f.Num == 1 {
			c.name = strings.Replace(clean(f.Bytes()), "/", ":", 1)
		} else {
			f.Skip()
		}
	}
}

// raw takes the numbers of an event, in the form of perf: the PMU, or the type, and the configurations.
func (c *counter) raw(f input.Fields) {
	var n [5]uint64
	pmu := ""
	for f.Next() {
		switch {
		case f.Num >= 1 && f.Num <= 4:
			n[f.Num] = f.Uint()
		case f.Num == 5:
			pmu = clean(f.Bytes())
		default:
			f.Skip()
		}
	}
	terms := []string{fmt.Sprintf("config=%#x", n[2])}
	for i, v := range n[3:] {
		if v != 0 {
			terms = append(terms, fmt.Sprintf("config%d=%#x", i+1, v))
		}
	}
	if pmu == "" {
		pmu = fmt.Sprintf("type%d", n[1])
	}
	c.name = pmu + "/" + strings.Join(terms, ",") + "/"
}

// modify takes what of the CPU is counted, as perf writes it.
func (c *counter) modify(list []uint64) {
	for _, m := range list {
		if m >= 1 && m <= 3 {
			c.modifiers += "ukh"[m-1 : m]
		}
	}
}

// event is the name that was given, or that of the counter, and the unit.
func (c *counter) event() (name, unit string) {
	name = cmp.Or(c.given, c.name, "unknown")
	if c.modifiers != "" {
		name += ":" + c.modifiers
	}
	return name, run.EventUnit(cmp.Or(c.name, "unknown"))
}
