package traces

import (
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

// mostAhead is how much later than its writing an event may be, in nanoseconds: clocks are rounded.
const mostAhead = 1_000_000
