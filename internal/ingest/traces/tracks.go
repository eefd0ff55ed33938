package traces

import (
	"math"
	"path"
	"strings"

	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/trace"
)

// Fields of TrackDescriptor and what it refers to (protos/perfetto/trace/track_event/track_descriptor.proto).
const (
	trackUUID           = 1
	trackName           = 2
	trackProcess        = 3
	trackThread         = 4
	trackParent         = 5
	trackCounter        = 8
	trackOwn            = 9 // disallow_merging_with_system_tracks
	trackStaticName     = 10
	trackAtraceName     = 13
	trackState          = 18
	processPID          = 1
	processCmdline      = 2
	processName         = 6
	threadPID           = 1
	threadTID           = 2
	threadName          = 5
	threadReferenceTime = 6
	counterMultiplier   = 4
	counterIncremental  = 5
)

// A trackKey tells the tracks of a trace apart: each machine has its own.
type trackKey struct {
	machine uint32
	uuid    uint64
}

// A described is what descriptors say of a track.
type described struct {
	parent      uint64
	name        string
	pid, tid    int64 // tid is trace.Unknown if it is not of a thread
	own         bool
	state       bool
	counter     bool
	incremental bool
	multiplier  float64

	// What was made of it when it was used first.
	id      trace.TrackID
	thread  trace.ThreadID // that it is of, or below
	process trace.ProcessID
	open    bool // of a track of states: one is
}

// A threadDescriptor says which thread a process writes for.
type threadDescriptor struct {
	pid, tid      int64
	name          string
	referenceTime int64 // µs, 0 if there is none
}

func readThread(m input.Fields) (d threadDescriptor, err error) {
	d.pid, d.tid = trace.Unknown, trace.Unknown
	for m.Next() {
		switch m.Num {
		case threadPID:
			d.pid = int64(int32(m.Uint()))
		case threadTID:
			d.tid = int64(m.Uint())
		case threadName:
			d.name = string(m.Bytes())
		case threadReferenceTime:
			d.referenceTime = int64(m.Uint())
		default:
			m.Skip()
		}
	}
	return d, m.Err
}

func readProcess(m input.Fields) (pid int64, name string, err error) {
	pid = trace.Unknown
	var command string
	for m.Next() {
		switch m.Num {
		case processPID:
			pid = int64(int32(m.Uint()))
		case processName:
			name = programName(string(m.Bytes()))
		case processCmdline:
			if v := m.Bytes(); command == "" {
				command = programName(string(v))
			}
		default:
			m.Skip()
		}
	}
	if name == "" {
		name = command
	}
	return pid, name, m.Err
}

// programName is what a process is called whose command line begins with the word: the name of
// the program, or an Android package. Chromium has its whole command line as the first word, of which the type of the
// process matters.
func programName(word string) string {
	word = strings.TrimRight(word, "\x00 ")
	var kind string
	if before, options, ok := strings.Cut(word, " --"); ok {
		word = before
		if _, rest, ok := strings.Cut(" --"+options, " --type="); ok {
			kind, _, _ = strings.Cut(rest, " ")
			kind = " --type=" + kind
		}
	}
	if strings.HasPrefix(word, "/") {
		word = path.Base(word)
	}
	return word + kind
}

// nameThread names the thread of a descriptor.
func (r *reader) nameThread(machine uint32, d *threadDescriptor) {
	if d.tid > 0 {
		r.tl.NameThread(r.tl.Thread(machine, d.pid, d.tid), d.name, trace.GivenRank)
	}
}

// describeTrack takes what a TrackDescriptor says. They may come often: the first one that says
// what a track is of counts, the last one that has a name.
func (r *reader) describeTrack(p *perfetto.Packet) error {
	d := described{pid: trace.Unknown, tid: trace.Unknown, multiplier: 1}
	var uuid uint64
	has := false
	m := p.Message()
	for m.Next() {
		switch m.Num {
		case trackUUID:
			uuid, has = m.Uint(), true
		case trackParent:
			d.parent = m.Uint()
		case trackName, trackStaticName, trackAtraceName:
			d.name = string(m.Bytes())
		case trackOwn:
			d.own = m.Uint() != 0
		case trackState:
			m.Skip()
			d.state = true
		case trackProcess:
			pid, name, err := readProcess(m.Message())
			m.Take(err)
			if pid >= 0 && d.tid == trace.Unknown {
				d.pid = pid
				r.tl.NameProcess(r.tl.Process(p.Machine, pid), name, trace.GivenRank)
			}
		case trackThread:
			t, err := readThread(m.Message())
			m.Take(err)
			if t.pid >= 0 && t.tid > 0 {
				d.pid, d.tid = t.pid, t.tid
				if t.name == "" {
					t.name = d.name
				}
				r.nameThread(p.Machine, &t)
			}
		case trackCounter:
			d.counter = true
			m.Take(d.readCounter(m.Message()))
		default:
			m.Skip()
		}
	}
	if m.Err != nil || !has {
		return m.Err
	}
	key := trackKey{p.Machine, uuid}
	old := r.tracks[key]
	if old == nil {
		r.tracks[key] = &d
		return nil
	}
	if d.name != "" {
		old.name = d.name
	}
	if old.pid == trace.Unknown {
		old.pid, old.tid = d.pid, d.tid
	}
	if old.parent == 0 {
		old.parent = d.parent
	}
	old.own, old.state = old.own || d.own, old.state || d.state
	if d.counter && !old.counter {
		old.counter, old.incremental, old.multiplier = true, d.incremental, d.multiplier
	}
	return nil
}

func (d *described) readCounter(m input.Fields) error {
	for m.Next() {
		switch m.Num {
		case counterMultiplier:
			if v := int64(m.Uint()); v > 0 {
				d.multiplier = float64(v)
			}
		case counterIncremental:
			d.incremental = m.Uint() != 0
		default:
			m.Skip()
		}
	}
	return m.Err
}

// maxParents bounds the way to the track of a thread or a process: parents may form a cycle.
const maxParents = 64

// track is a track by its number, nil if nothing describes it. What it is of says the first of its
// parents that is of a thread or a process.
func (r *reader) track(machine uint32, uuid uint64) *described {
	d := r.tracks[trackKey{machine, uuid}]
	if d == nil || d.id != 0 {
		return d
	}
	at := d
	for range maxParents {
		if at.pid != trace.Unknown {
			d.process = r.tl.Process(machine, at.pid)
			if at.tid != trace.Unknown {
				d.thread = r.tl.Thread(machine, at.pid, at.tid)
			}
			break
		}
		parent := r.tracks[trackKey{machine, at.parent}]
		if parent == nil || at.parent == 0 {
			break
		}
		at = parent
	}
	switch {
	case d.tid == trace.Unknown:
		d.id = r.tl.NewTrack(trace.Track{Process: d.process, Name: d.name})
	case d.own:
		d.id = r.tl.NewTrack(trace.Track{Thread: d.thread, Own: true})
	default:
		d.id = r.tl.ThreadTrack(d.thread)
	}
	return d
}

// Fields of TrackEvent (protos/perfetto/trace/track_event/track_event.proto).
const (
	eventDelta            = 1
	eventCategoryIID      = 3
	eventLegacy           = 6
	eventType             = 9
	eventNameIID          = 10
	eventTrack            = 11
	eventAbsolute         = 16
	eventCategory         = 22
	eventName             = 23
	eventCounterValue     = 30
	eventDoubleValue      = 44
	legacyNameIID         = 1
	legacyPhase           = 2
	legacyDuration        = 3
	legacyUnscopedID      = 6
	legacyIDScope         = 7
	legacyLocalID         = 10
	legacyGlobalID        = 11
	legacyInstantScope    = 14
	legacyPID             = 18
	legacyTID             = 19
	defaultsTrackEvent    = 11
	defaultsTrack         = 11
	instantScopeOfThread  = 3
	instantScopeOfProcess = 2
)

// Types of track events.
const (
	typeBegin   = 1
	typeEnd     = 2
	typeInstant = 3
	typeCounter = 4
	typeState   = 5
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

// A sequence is what this reader knows of one.
type sequence struct {
	defaults  []byte // that track was read from
	track     uint64
	hasTrack  bool
	thread    threadDescriptor // the last one
	hasThread bool
	time      int64 // µs, that deltas of events add to
	counters  map[uint64]float64
	// The generation that counters are of.
	generation uint32
	now        int64        // when the last event was written
	ahead      []trackEvent // events after that, until it is known when the next one was written
}

// sequence is the state of the sequence of a packet.
func (r *reader) sequence(p *perfetto.Packet) *sequence {
	if r.lastSequence == p.Sequence {
		return r.last
	}
	s := r.sequences[p.Sequence]
	if s == nil {
		s = new(sequence)
		r.sequences[p.Sequence] = s
	}
	r.last, r.lastSequence = s, p.Sequence
	return s
}

// defaultTrack is the track that events of the sequence are on if they do not say otherwise.
func (s *sequence) defaultTrack(p *perfetto.Packet) (uuid uint64, ok bool) {
	f := p.Sequence.Defaults()
	data := f.Data()
	if len(data) == len(s.defaults) && (len(data) == 0 || &data[0] == &s.defaults[0]) {
		return s.track, s.hasTrack
	}
	s.defaults, s.track, s.hasTrack = data, 0, false
	for f.Next() {
		if f.Num != defaultsTrackEvent {
			f.Skip()
			continue
		}
		m := f.Message()
		for m.Next() {
			if m.Num == defaultsTrack {
				s.track, s.hasTrack = m.Uint(), true
			} else {
				m.Skip()
			}
		}
	}
	return s.track, s.hasTrack
}

// setThread takes what a descriptor says of the thread that writes a sequence. It outlives what
// else the sequence knows.
func (r *reader) setThread(p *perfetto.Packet, d *threadDescriptor) {
	s := r.sequence(p)
	if d.tid > 0 {
		s.thread, s.hasThread, s.time = *d, true, d.referenceTime
	}
}

// writerOf takes the thread of a track that a sequence describes: Chrome describes that of the writer last, and
// has events that name no track because they are of it.
func (r *reader) writerOf(p *perfetto.Packet) error {
	m := p.Message()
	for m.Next() {
		if m.Num != trackThread {
			m.Skip()
			continue
		}
		d, err := readThread(m.Message())
		r.setThread(p, &d)
		m.Take(err)
	}
	return m.Err
}

// interned is the name of an interned message.
func (r *reader) interned(e *perfetto.Entry) trace.NameID {
	if e == nil {
		return 0
	}
	if e.Value == 0 {
		e.Value = int(r.tl.Name(e.String())) + 1
	}
	return trace.NameID(e.Value - 1)
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

// mostAhead is how much later than its writing an event may be, in nanoseconds: clocks are rounded.
const mostAhead = 1_000_000

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
