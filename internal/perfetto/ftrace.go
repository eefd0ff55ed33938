package perfetto

import (
	"fmt"
	"iter"
	"math"

	"profdiff/internal/input"
)

// Numbers of fields of FtraceEventBundle and CompactSched
// (protos/perfetto/trace/ftrace/ftrace_event_bundle.proto).
const (
	bundleCPU          = 1
	bundleEvent        = 2
	bundleLostEvents   = 3
	bundleCompactSched = 4
	bundleClock        = 5
	bundleTimestamp    = 6
	bundleBootTime     = 7
	bundleLastRead     = 9
	bundlePreviousEnd  = 10
	bundleError        = 8
	eventTimestamp     = 1
	eventPID           = 2
	eventFlags         = 5
	switchTimestamp    = 1
	switchPrevState    = 2
	switchNextPID      = 3
	switchNextPrio     = 4
	compactStrings     = 5
	switchNextComm     = 6
	wakingTimestamp    = 7
	wakingPID          = 8
	wakingTargetCPU    = 9
	wakingPrio         = 10
	wakingComm         = 11
	wakingFlags        = 12
)

// Bounds on bundles.
const (
	maxCPUs  = 1024
	maxComms = 1 << 16
	noCPU    = 1<<64 - 1
)

// An EventKind says what an event of the kernel is: the number of its field in FtraceEvent
// (protos/perfetto/trace/ftrace/ftrace_event.proto).
type EventKind int32

// The kinds of events that are read.
const (
	Print              EventKind = 3
	SchedSwitch        EventKind = 4
	SuspendResume      EventKind = 9
	SchedWakeup        EventKind = 17
	SchedBlockedReason EventKind = 18
	SchedWaking        EventKind = 20
	SchedWakeupNew     EventKind = 114
	TaskNewTask        EventKind = 235
	TaskRename         EventKind = 236
	SchedProcessExit   EventKind = 238
	SchedProcessFork   EventKind = 239
	SchedProcessFree   EventKind = 240
)

// A Bundle has events of the kernel on one CPU, as they were read from its buffer.
type Bundle struct {
	CPU uint32
	// Lost is set if events before those of the bundle were overwritten.
	Lost bool

	packet  *Packet
	clock   *clock
	fields  input.Fields
	compact input.Fields
	comms   [][]byte
}

// bundleHead has what a bundle says of itself.
type bundleHead struct {
	cpu          uint64
	lost         bool
	clock        uint64
	ftrace, boot int64
	paired       bool  // both times are there
	previousEnd  int64 // of the bundle before, 0 if it is not told
	compact      input.Fields
	errors       int64 // of the recorder
}

func readBundleHead(m input.Fields) (h bundleHead, err error) {
	h.cpu = noCPU
	times := 0
	for m.Next() {
		switch m.Num {
		case bundleCPU:
			h.cpu = m.Uint()
		case bundleLostEvents:
			h.lost = m.Uint() != 0
		case bundleCompactSched:
			h.compact = m.Message()
		case bundleClock:
			h.clock = m.Uint()
		case bundleTimestamp:
			h.ftrace = int64(m.Uint())
			times++
		case bundleBootTime:
			h.boot = int64(m.Uint())
			times++
		case bundleLastRead, bundlePreviousEnd:
			h.previousEnd = int64(m.Uint())
		case bundleError:
			h.errors++
			m.Skip()
		default:
			m.Skip()
		}
	}
	h.paired = times == 2
	return h, m.Err
}

// clockID is the clock of a bundle, 0 if it is not known.
func (h *bundleHead) clockID() ClockID {
	switch h.clock {
	case 0:
		return BootTime
	case 2, 3: // global, local
		return ftraceLocal
	case 4:
		return MonotonicRaw
	}
	return 0
}

// surveyBundle notes the time on both clocks that a bundle was read at.
func (t *Trace) surveyBundle(h *header, m input.Fields) error {
	b, err := readBundleHead(m)
	id := b.clockID()
	cpu := sequenceKey{h.machine, uint32(b.cpu)}
	if err == nil && id != 0 && b.cpu < maxCPUs && !t.cpus[cpu] {
		t.cpus[cpu] = true
		if b.previousEnd != 0 {
			t.begins = append(t.begins, moment{keyOf(h.machine, h.sequence, id), b.previousEnd})
		}
	}
	key := sequenceKey{h.machine, h.sequence}
	if err != nil || !b.paired || id == 0 || id == BootTime || t.ftrace[key] == b.ftrace {
		return nil
	}
	t.ftrace[key] = b.ftrace
	return t.clocks.add(h.machine, h.sequence, []tick{{id: id, value: uint64(b.ftrace), unit: 1}, {id: BootTime, value: uint64(b.boot), unit: 1}}, 0)
}

// A moment is a time of a clock.
type moment struct {
	clock clockKey
	ns    int64
}

// kernelStart is since when the events of all CPUs are there: the buffer of each CPU begins elsewhere, behind
// the bundle before its first one.
func (t *Trace) kernelStart() int64 {
	start := int64(math.MinInt64)
	for _, m := range t.begins {
		if at, ok := t.clocks.convert(t.clocks.get(m.clock), m.ns); ok {
			start = max(start, at)
		}
	}
	return start
}

// Bundle decodes a packet of kind [FtraceEvents].
func (p *Packet) Bundle() (*Bundle, error) {
	m := p.Message()
	h, err := readBundleHead(m)
	if err != nil {
		return nil, err
	}
	switch {
	case h.cpu == noCPU:
		return nil, fmt.Errorf("bundle at %#x: does not say of which CPU", p.Offset)
	case h.cpu >= maxCPUs:
		return nil, fmt.Errorf("bundle at %#x: CPU %d, more than %d are damage", p.Offset, h.cpu, maxCPUs)
	}
	t := p.trace
	id := h.clockID()
	if id == 0 {
		return nil, fmt.Errorf("bundle at %#x: unknown clock %d", p.Offset, h.clock)
	}
	b := &t.bundle
	*b = Bundle{CPU: uint32(h.cpu), Lost: h.lost, packet: p, fields: m, compact: h.compact, comms: b.comms[:0]}
	b.clock = t.clocks.get(keyOf(p.Machine, p.SequenceID, id))
	t.Losses.Kernel.Pages += h.errors
	if h.lost {
		t.Losses.Kernel.Bundles++
	}
	for f := h.compact.Again(); f.Next(); {
		if f.Num != compactStrings {
			f.Skip()
			continue
		}
		if b.comms = append(b.comms, f.Bytes()); len(b.comms) > maxComms {
			return nil, fmt.Errorf("bundle at %#x: more than %d names", p.Offset, maxComms)
		}
	}
	return b, nil
}

// time converts a time of the bundle.
func (b *Bundle) time(value uint64) (int64, bool) {
	t := b.packet.trace
	ns, ok := t.clocks.convert(b.clock, int64(value))
	if !ok {
		t.Losses.unconverted(b.clock.key.id, 1)
	}
	return ns, ok
}

// An Event is one of the kernel.
type Event struct {
	Kind EventKind
	Time int64 // ns, on the clock of the trace
	// PID is the thread that ran (common_pid).
	PID int32
	// Flags are common_flags: 0x18 are those of interrupts.
	Flags uint32

	message input.Fields
}

// Message has the fields of the event.
func (e *Event) Message() input.Fields { return e.message }

// Events yields the events that stand in a bundle one by one. An event is valid until the
// next one. Those that cannot be decoded are counted.
func (b *Bundle) Events() iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		var e Event
		m := b.fields.Again()
		for m.Next() {
			if m.Num != bundleEvent {
				m.Skip()
				continue
			}
			e = Event{}
			var at uint64
			f := m.Message()
			for f.Next() {
				if f.Type == bytesType {
					e.Kind = EventKind(f.Num)
					e.message = f.Message()
					continue
				}
				switch f.Num {
				case eventTimestamp:
					at = f.Uint()
				case eventPID:
					e.PID = int32(f.Uint())
				case eventFlags:
					e.Flags = uint32(f.Uint())
				default:
					f.Skip()
				}
			}
			if f.Err != nil {
				b.packet.Damaged(f.Err)
				continue
			}
			var ok bool
			if e.Time, ok = b.time(at); ok && e.Kind != 0 && !yield(&e) {
				return
			}
		}
	}
}

// A Switch is a switch of threads that stands in columns: they do not tell which thread ran
// before. That is the one that the CPU switched to last.
type Switch struct {
	Time              int64 // ns, on the clock of the trace
	PrevState         int64
	NextPID, NextPrio int32
	NextComm          []byte
}

// Switches yields the switches that stand in columns. See [Bundle.Events].
func (b *Bundle) Switches() iter.Seq[*Switch] {
	return func(yield func(*Switch) bool) {
		c := &b.compact
		var s Switch
		b.columns(func(at int64, v *[maxColumns]uint64) bool {
			s = Switch{Time: at, PrevState: int64(v[0]), NextPID: int32(v[1]), NextPrio: int32(v[2]), NextComm: b.comms[v[3]]}
			return yield(&s)
		}, 3, c.Numbers(switchTimestamp), c.Numbers(switchPrevState), c.Numbers(switchNextPID), c.Numbers(switchNextPrio), c.Numbers(switchNextComm))
	}
}

// A Waking is a thread that is made able to run, as columns have it.
type Waking struct {
	Time      int64 // ns, on the clock of the trace
	PID, Prio int32
	TargetCPU int32
	Comm      []byte
	// Flags are as in [Event]; FlagsKnown is not set if there are none in the trace.
	Flags      uint32
	FlagsKnown bool
}

// Wakings yields the wakings that stand in columns. See [Bundle.Events].
func (b *Bundle) Wakings() iter.Seq[*Waking] {
	return func(yield func(*Waking) bool) {
		c := &b.compact
		var w Waking
		flags := c.Numbers(wakingFlags)
		b.columns(func(at int64, v *[maxColumns]uint64) bool {
			w = Waking{Time: at, PID: int32(v[0]), TargetCPU: int32(v[1]), Prio: int32(v[2]), Comm: b.comms[v[3]]}
			var bits uint64
			bits, w.FlagsKnown = flags.Next()
			w.Flags = uint32(bits)
			return yield(&w)
		}, 3, c.Numbers(wakingTimestamp), c.Numbers(wakingPID), c.Numbers(wakingTargetCPU), c.Numbers(wakingPrio), c.Numbers(wakingComm))
	}
}

// maxColumns is how many columns there are beside the times.
const maxColumns = 4

// columns walks through columns in step: times, as differences, and others, of which number
// comm is an index of names. It gives each row to f until that returns false.
func (b *Bundle) columns(f func(at int64, row *[maxColumns]uint64) bool, comm int, times input.Numbers, others ...input.Numbers) {
	var at uint64
	var row [maxColumns]uint64
	for {
		delta, more := times.Next()
		for i := range others {
			v, ok := others[i].Next()
			if ok != more {
				b.packet.trace.Losses.Kernel.Columns++
				return
			}
			row[i] = v
		}
		if !more {
			break
		}
		if row[comm] >= uint64(len(b.comms)) {
			b.packet.trace.Losses.Kernel.Columns++
			return
		}
		at += delta
		if ns, ok := b.time(at); ok && !f(ns, &row) {
			return
		}
	}
	err := times.Err()
	for i := range others {
		if err == nil {
			err = others[i].Err()
		}
	}
	if err != nil {
		b.packet.Damaged(err)
	}
}
