package traces

import (
	"math"

	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/trace"
)

// A trackEvent is a decoded TrackEvent.
type trackEvent struct {
	packet *perfetto.Packet
	at     int64

	kind            uint64
	name, category  trace.NameID
	trackUUID       uint64
	hasTrack        bool
	delta, absolute int64 // µs
	hasDelta        bool
	hasAbsolute     bool
	value           float64
	hasValue        bool
	phase           byte
	duration        int64 // µs
	id              uint64
	hasID, localID  bool
	idScope         []byte
	instantScope    uint64
	pid, tid        int64 // instead of those of the sequence; trace.Unknown if there are none
	hasLegacy       bool
	sampled         bool // has a callstack, or a part of a profile
	track           *described
	thread          trace.ThreadID
	process         trace.ProcessID
	on              trace.TrackID
}

// decode decodes a TrackEvent.
func (e *trackEvent) decode(r *reader, p *perfetto.Packet) error {
	*e = trackEvent{packet: p, pid: trace.Unknown, tid: trace.Unknown}
	categories := 0
	m := p.Message()
	for m.Next() {
		switch m.Num {
		case eventType:
			e.kind = m.Uint()
		case eventNameIID:
			e.name = r.interned(p.Sequence.Interned(perfetto.EventNames, m.Uint()))
		case eventName:
			e.name = r.tl.Name(m.Bytes())
		case eventCategoryIID:
			if m.Type == 2 { // packed
				for _, iid := range m.Uints(r.scratch[:0]) {
					e.addCategory(r, r.interned(p.Sequence.Interned(perfetto.EventCategories, iid)), &categories)
				}
			} else {
				e.addCategory(r, r.interned(p.Sequence.Interned(perfetto.EventCategories, m.Uint())), &categories)
			}
		case eventCategory:
			e.addCategory(r, r.tl.Name(m.Bytes()), &categories)
		case eventTrack:
			e.trackUUID, e.hasTrack = m.Uint(), true
		case eventDelta:
			e.delta, e.hasDelta = int64(m.Uint()), true
		case eventAbsolute:
			e.absolute, e.hasAbsolute = int64(m.Uint()), true
		case eventCounterValue:
			e.value, e.hasValue = float64(int64(m.Uint())), true
		case eventDoubleValue:
			e.value, e.hasValue = math.Float64frombits(m.Fixed64()), true
		case eventLegacy:
			m.Take(e.decodeLegacy(r, m.Message()))
		case eventCallstack, eventCallstackIID:
			m.Skip()
			e.sampled = true
		default:
			m.Skip()
		}
	}
	e.sampled = e.sampled || e.phase == phaseSample
	return m.Err
}

// addCategory adds a category to those that the event has; several are one name.
func (e *trackEvent) addCategory(r *reader, category trace.NameID, n *int) {
	if *n++; *n == 1 {
		e.category = category
		return
	}
	e.category = r.tl.NameString(r.tl.NameOf(e.category) + "," + r.tl.NameOf(category))
}

func (e *trackEvent) decodeLegacy(r *reader, m input.Fields) error {
	e.hasLegacy = true
	for m.Next() {
		switch m.Num {
		case legacyNameIID:
			if v := m.Uint(); e.name == 0 {
				e.name = r.interned(e.packet.Sequence.Interned(perfetto.EventNames, v))
			}
		case legacyPhase:
			e.phase = byte(m.Uint())
		case legacyDuration:
			e.duration = int64(m.Uint())
		case legacyUnscopedID, legacyGlobalID:
			e.id, e.hasID = m.Uint(), true
		case legacyLocalID:
			e.id, e.hasID, e.localID = m.Uint(), true, true
		case legacyIDScope:
			e.idScope = m.Bytes()
		case legacyInstantScope:
			e.instantScope = m.Uint()
		case legacyPID:
			e.pid = int64(int32(m.Uint()))
		case legacyTID:
			e.tid = int64(int32(m.Uint()))
		default:
			m.Skip()
		}
	}
	return m.Err
}

// trackEvent reads a TrackEvent.
//
//  1. Its time is that of the packet. Old writers have differences to the time of the last
//     descriptor of a thread, or absolute times, in µs on the monotonic clock.
//  2. Its track is the one that it names, else that of the defaults, else the thread of the last descriptor. Legacy
//     events may name another thread.
//  3. Its type, or the phase of a legacy event, says what happens there: see act. What is said to happen after
//     it was written is left out: see release.
func (r *reader) trackEvent(p *perfetto.Packet) error {
	e := &r.event
	if err := e.decode(r, p); err != nil {
		return err
	}
	seq := r.sequence(p)
	e.at = p.Time
	switch {
	case e.hasDelta:
		if !seq.hasThread {
			r.lost.timeless++
			return nil
		}
		seq.time += e.delta
		e.at = r.monotonic(p, seq.time)
	case e.hasAbsolute && e.absolute != 0:
		e.at = r.monotonic(p, e.absolute)
	case !p.Timed:
		r.lost.timeless++
		return nil
	}
	if !e.hasTrack {
		e.trackUUID, e.hasTrack = seq.defaultTrack(p)
	}
	if !r.place(e, seq) {
		return nil
	}
	if e.sampled {
		if err := r.samples.trackEvent(e); err != nil {
			return err
		}
	}
	switch {
	case p.Now:
		r.release(seq, e.at)
		seq.now = e.at
		r.now = max(r.now, e.at)
	case e.at > seq.now && seq.now != 0 && e.phase == 0 && e.kind <= typeInstant:
		seq.ahead = append(seq.ahead, *e)
		return nil
	}
	r.act(e, seq)
	return nil
}

// release takes the events that were kept until one that was written at a time. What is later than that
// cannot have happened: Chromium without a display has a clock of its own for pages, which is ahead of
// all others, and writes some times of it.
func (r *reader) release(seq *sequence, now int64) {
	for i := range seq.ahead {
		if e := &seq.ahead[i]; e.at > now+mostAhead {
			r.lost.ahead++
		} else {
			r.act(e, seq)
		}
	}
	seq.ahead = seq.ahead[:0]
}

// monotonic turns microseconds of the monotonic clock into a time of the trace, if snapshots
// relate the two.
func (r *reader) monotonic(p *perfetto.Packet, us int64) int64 {
	ns := us
	if us > math.MaxInt64/1000 || us < math.MinInt64/1000 {
		ns = 0
	}
	ns *= 1000
	if at, ok := p.Convert(perfetto.Monotonic, uint64(ns)); ok {
		return at
	}
	return ns
}

// place finds the track of an event. It returns false if that is not known.
func (r *reader) place(e *trackEvent, seq *sequence) bool {
	machine := e.packet.Machine
	if e.trackUUID != 0 {
		d := r.track(machine, e.trackUUID)
		if d == nil {
			r.lost.undescribed++
			return false
		}
		e.track, e.on, e.thread, e.process = d, d.id, d.thread, d.process
		return true
	}
	legacy := e.pid != trace.Unknown || seq.hasThread && (e.tid != trace.Unknown || !e.hasTrack || e.kind == 0)
	if !legacy {
		if r.global == 0 {
			r.global = r.tl.NewTrack(trace.Track{})
		}
		e.on = r.global
		return true
	}
	pid, tid := seq.thread.pid, seq.thread.tid
	if e.pid != trace.Unknown {
		pid, tid = e.pid, e.pid
	}
	if e.tid != trace.Unknown {
		tid = e.tid
	}
	if pid == 0 || tid == 0 {
		r.lost.undescribed++
		return false
	}
	e.thread = r.tl.Thread(machine, pid, tid)
	e.process = r.tl.Process(machine, pid)
	e.on = r.tl.ThreadTrack(e.thread)
	return true
}

// act tells the timeline what happened.
func (r *reader) act(e *trackEvent, seq *sequence) {
	phase := e.phase
	if phase == 0 {
		switch e.kind {
		case typeBegin:
			phase = 'B'
		case typeEnd:
			phase = 'E'
		case typeInstant:
			phase = 'I'
		case typeCounter:
			r.count(e, seq)
		case typeState:
			r.state(e)
		default:
			r.lost.typeless++
		}
	}
	switch phase {
	case 'B':
		r.tl.Begin(e.on, e.at, e.name, e.category)
	case 'E':
		r.tl.End(e.on, e.at, e.name, e.category)
	case 'X':
		if e.duration > math.MaxInt64/1000 {
			e.duration = 0
		}
		r.tl.Complete(e.on, e.at, e.duration*1000, e.name, e.category)
	case 'I', 'i', 'R':
		on := e.on
		if e.phase != 0 && e.instantScope != 0 && e.instantScope != instantScopeOfThread {
			process := e.process
			if e.instantScope != instantScopeOfProcess {
				process = 0
			}
			on = r.tl.AsyncTrack(process, 0)
		}
		r.tl.Complete(on, e.at, 0, e.name, e.category)
	case 'b', 'e', 'n', 'S', 'F':
		r.async(e, phase)
	}
}

// async reads legacy asynchronous events. Slices of one id nest: those of phases b and e within a category,
// those of S and F within a name, and each id_scope is its own.
func (r *reader) async(e *trackEvent, phase byte) {
	if !e.hasID || e.localID && e.process == 0 {
		r.lost.undescribed++
		return
	}
	scope := e.category
	if phase == 'S' || phase == 'F' {
		scope = e.name
	}
	if len(e.idScope) > 0 {
		scope = r.tl.NameString(r.tl.NameOf(e.category) + ":" + string(e.idScope))
	}
	track := r.tl.AsyncTrack(e.process, scope)
	switch phase {
	case 'b', 'S':
		r.tl.AsyncNest(track, e.at, e.name, int64(e.id))
	case 'e', 'F':
		r.tl.AsyncEnd(track, e.at, int64(e.id))
	case 'n':
		r.tl.Complete(track, e.at, 0, e.name, e.category)
	}
}

// count reads the value of a counter. Incremental ones add up on their sequence, until its state is cleared.
func (r *reader) count(e *trackEvent, seq *sequence) {
	d := e.track
	if d == nil || !d.counter || !e.hasValue {
		r.lost.undescribed++
		return
	}
	value := e.value * d.multiplier
	if d.incremental {
		if seq.counters == nil || seq.generation != e.packet.Sequence.Generation {
			seq.counters, seq.generation = make(map[uint64]float64), e.packet.Sequence.Generation
		}
		seq.counters[e.trackUUID] += value
		value = seq.counters[e.trackUUID]
	}
	r.tl.Count(d.process, r.tl.NameString(d.name), e.at, value)
}

// state reads the change of a state: it ends the one before and begins one, unless it has no name.
func (r *reader) state(e *trackEvent) {
	d := e.track
	if d == nil {
		r.lost.undescribed++
		return
	}
	if d.open {
		r.tl.End(d.id, e.at, 0, 0)
	}
	if d.open = e.name != 0; d.open {
		r.tl.Begin(d.id, e.at, e.name, e.category)
	}
}
