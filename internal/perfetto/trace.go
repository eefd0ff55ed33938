// Package perfetto decodes Perfetto's protobuf traces, as Android, Chromium and perfetto's SDK
// write them (protos/perfetto/trace in github.com/google/perfetto). It knows nothing of
// profiles: what packets mean, others say.
//
//  1. A trace is a list of packets, each behind its length; some hold compressed packets. A
//     last packet that ends too early is normal: what stands before it is read.
//  2. Nothing in a trace is in order: what describes tracks and threads, names addresses and
//     sets clocks may stand behind what needs it. So a trace is read twice. [Open] reads it for
//     the first time, takes the snapshots of clocks and hands on the packets that describe
//     others; [Trace.Packets] then yields all packets. That needs no packet to be kept, and
//     costs less than a tenth of the time; a stream is copied to disk for it.
//  3. Packets of one writer are a [Sequence]. It has defaults, and messages that were interned
//     under a number, which are known from where the writer says that it starts anew until
//     packets of it are lost. Packets that need what is not known are skipped and counted.
//  4. A time is on the clock that its packet names, or the defaults of its sequence, or the
//     trace. Times are converted to the clock of the trace by snapshots that have several
//     clocks; there are clocks that count from packet to packet.
//  5. Events of the kernel come in bundles, in part as columns: [Packet.Bundle].
//  6. What recorders, kernel and this reader lost is counted by cause: [Losses].
//
// Errors say where in the input, uncompressed, something is wrong. A packet that cannot be
// decoded is counted and left out; where packets cannot be told apart, reading ends.
package perfetto

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"profdiff/internal/input"
)

// Limits. Packets of real traces have some megabytes at most, symbols included.
const (
	maxPacket    = 64 << 20
	maxInflated  = 16 << 20 // of a packet that was compressed
	maxSequences = 1 << 18
)

// bytesType is the wire type of fields that have a length.
const bytesType = 2

var (
	errTooManyEntries   = fmt.Errorf("has more than %d interned messages at one time", maxEntries)
	errTooManySequences = fmt.Errorf("has more than %d sequences", maxSequences)
)

// A Trace is a trace of which the first reading is done.
type Trace struct {
	// Losses are those of the second reading, as far as it went.
	Losses Losses
	// Counts says how many packets of each kind were read, when the second reading is over.
	Counts map[Kind]int64
	// KernelStart is since when events of the kernel are there of all CPUs, math.MinInt64 if nothing
	// tells.
	KernelStart int64

	at     io.ReaderAt
	size   int64
	clocks clocks

	counts      [lastField + 1]int64 // by kind
	sequences   map[sequenceKey]*Sequence
	last        *Sequence
	generations uint32
	entries     int
	cpus        map[sequenceKey]bool  // by machine and CPU: a bundle of it was seen
	begins      []moment              // of what each CPU has
	ftrace      map[sequenceKey]int64 // last time of the kernel's clock in a snapshot
	packet      Packet
	bundle      Bundle
	opt         Options
	err         error
}

// Options say how to read a trace.
type Options struct {
	// Describe is called with each packet that describes others, in the first reading; nil for nothing.
	Describe func(*Packet)
	// AllowTruncated reads what stands before a place behind which no packet can be found.
	AllowTruncated bool
}

type sequenceKey struct{ machine, id uint32 }

// Open reads a trace for the first time. It calls opt.Describe in the order of the file, where times are not
// known yet.
func Open(src *input.Source, opt Options) (*Trace, error) {
	at, size, err := src.Random()
	if err != nil {
		return nil, err
	}
	t := &Trace{at: at, size: size, opt: opt, ftrace: make(map[sequenceKey]int64), cpus: make(map[sequenceKey]bool)}
	t.packet.trace = t
	if err := t.read(t.survey); err != nil {
		return nil, err
	}
	t.clocks.connect()
	t.KernelStart = t.kernelStart()
	return t, nil
}

// Packets reads the trace again and yields its packets in the order of the file. A packet and
// what it shares memory with are valid until the next one. See [Trace.Err].
func (t *Trace) Packets() iter.Seq[*Packet] {
	return func(yield func(*Packet) bool) {
		t.Losses, t.Counts, t.counts = Losses{}, make(map[Kind]int64), [lastField + 1]int64{}
		t.sequences, t.last, t.entries = make(map[sequenceKey]*Sequence), nil, 0
		t.err = t.read(func(h *header) error { return t.replay(h, yield) })
		if errors.Is(t.err, errStopped) {
			t.err = nil
		}
		for kind, n := range t.counts {
			if n > 0 {
				t.Counts[Kind(kind)] = n
			}
		}
		for _, s := range t.sequences {
			if s.skipped && !s.used {
				t.Losses.Sequences++
			}
		}
	}
}

// errStopped ends a reading whose packets nobody takes any more.
var errStopped = errors.New("stopped")

// Err says why [Trace.Packets] ended, nil if that was the end of the trace.
func (t *Trace) Err() error { return t.err }

// survey takes from a packet what others need.
func (t *Trace) survey(h *header) error {
	p := &t.packet
	for _, d := range h.data {
		m := input.NewFields(d.message, d.base)
		switch d.kind {
		case ClockSnapshot:
			ticks, primary, err := readSnapshot(m)
			if err != nil {
				continue // the second reading counts it
			}
			if err := t.clocks.add(h.machine, h.sequence, ticks, primary); err != nil {
				return err
			}
		case RemoteClockSync:
			t.clocks.sync(h.machine, m)
		case FtraceEvents:
			if err := t.surveyBundle(h, m); err != nil {
				return err
			}
		}
		if t.opt.Describe != nil && d.kind.describes() {
			*p = Packet{Offset: h.offset, Kind: d.kind, Machine: h.machine, SequenceID: h.sequence, data: d, trace: t}
			t.opt.Describe(p)
		}
	}
	return nil
}

// replay brings the state of the packet's sequence up to date and yields what it holds.
func (t *Trace) replay(h *header, yield func(*Packet) bool) error {
	s, err := t.sequence(h)
	if err != nil {
		return err
	}
	switch {
	case h.cleared || h.flags&flagStateCleared != 0:
		t.generations++
		s.clear(t.generations)
	case h.dropped != 0:
		s.valid = false
	}
	if h.defaults.message != nil {
		if err := s.setDefaults(h.defaults.fields()); err != nil {
			t.Losses.damaged(err)
		}
	}
	if h.interned.message != nil && s.valid {
		if err := s.intern(h.interned.fields()); err == errTooManyEntries {
			return err
		} else if err != nil {
			t.Losses.damaged(err)
		}
	}
	for _, d := range h.data {
		if d.kind == ClockSnapshot {
			t.rebase(h, d.fields())
		}
	}
	if h.flags&flagNeedsState != 0 {
		if !s.valid {
			s.skipped = true
			t.Losses.Skipped++
			return nil
		}
		s.used = true
	}
	p := &t.packet
	*p = Packet{Offset: h.offset, Machine: h.machine, Sequence: s, SequenceID: h.sequence, trace: t}
	if h.timed {
		id := h.clockID
		if id == 0 {
			id = s.clockID
		}
		var ok bool
		if p.Time, ok = t.time(s, id, h.timestamp); !ok {
			t.Losses.unconverted(id, 1)
			return nil
		}
		p.Timed, p.Now = true, h.clockID == 0
	}
	for _, d := range h.data {
		if d.kind <= lastField {
			t.counts[d.kind]++
		}
		t.Losses.take(d)
		p.Kind, p.data = d.kind, d
		if !yield(p) {
			return errStopped
		}
	}
	return nil
}

// sequence returns that of a packet.
func (t *Trace) sequence(h *header) (*Sequence, error) {
	if s := t.last; s != nil && s.ID == h.sequence && s.Machine == h.machine {
		t.Losses.dropped(h.dropped)
		return s, nil
	}
	key := sequenceKey{h.machine, h.sequence}
	s := t.sequences[key]
	if s == nil {
		// The first packet of each sequence says that packets before it were dropped.
		if len(t.sequences) >= maxSequences {
			return nil, errTooManySequences
		}
		s = &Sequence{ID: h.sequence, Machine: h.machine, entries: &t.entries}
		t.sequences[key] = s
	} else {
		t.Losses.dropped(h.dropped)
	}
	t.last = s
	return s, nil
}

// rebase sets the clocks of a sequence that count increments.
func (t *Trace) rebase(h *header, m input.Fields) {
	ticks, _, err := readSnapshot(m)
	if err != nil {
		t.Losses.damaged(err)
		return
	}
	for _, tick := range ticks {
		if tick.incremental {
			k := t.clocks.get(keyOf(h.machine, h.sequence, tick.id))
			k.last = scale(tick.value, k.unit)
		}
	}
}

// time converts the value of a clock, 0 for the one that the trace takes by default, to the
// time of the trace.
func (t *Trace) time(s *Sequence, id ClockID, value uint64) (int64, bool) {
	if id == 0 {
		id = t.clocks.defaultID()
	}
	if s.clock == nil || s.clockOf != id {
		s.clock, s.clockOf = t.clocks.get(keyOf(s.Machine, s.ID, id)), id
	}
	return t.clocks.convert(s.clock, s.clock.ns(value))
}

// RealTime is the date and time at a time of the trace, if a snapshot tells it.
func (t *Trace) RealTime(at int64) (time.Time, bool) {
	c := &t.clocks
	real := c.byKey[clockKey{id: RealTime}]
	if c.target == nil || real == nil {
		return time.Time{}, false
	}
	if real == c.target {
		return time.Unix(0, at).UTC(), true
	}
	list := pairs(c.target.readings, real.readings)
	if len(list) == 0 {
		return time.Time{}, false
	}
	best := list[0]
	for _, p := range list {
		if p.from <= at {
			best = p
		}
	}
	return time.Unix(0, add(best.to, add(at, -best.from))).UTC(), true
}

// Clock is the clock that all times are converted to.
func (t *Trace) Clock() ClockID { return t.clocks.defaultID() }

// A Packet is a message of a trace, with what its sequence says of it.
type Packet struct {
	// Offset is where in the input, uncompressed, the packet is.
	Offset int64
	// Kind says what the packet holds. A packet that holds several messages is yielded for
	// each.
	Kind Kind
	// Time is in ns on the clock of the trace, if Timed is set.
	Time  int64
	Timed bool
	// Now is set if the packet names no clock: then its time, on the clock of the sequence, is
	// when it was written. Others may tell of what was before.
	Now bool
	// Machine has processes and clocks of its own; 0 is the machine that recorded.
	Machine uint32
	// Sequence is nil for packets that describe others, in the first reading.
	Sequence   *Sequence
	SequenceID uint32

	data  part
	trace *Trace
}

// Message is what the packet holds.
func (p *Packet) Message() input.Fields { return p.data.fields() }

// Convert turns the value of a clock, in ticks of that clock, into a time of the trace.
func (p *Packet) Convert(id ClockID, value uint64) (int64, bool) {
	c := &p.trace.clocks
	k := c.get(keyOf(p.Machine, p.SequenceID, id))
	ns, ok := c.convert(k, k.ns(value))
	if !ok {
		p.trace.Losses.unconverted(id, 1)
	}
	return ns, ok
}

// Damaged notes that what the packet holds cannot be decoded.
func (p *Packet) Damaged(err error) { p.trace.Losses.damaged(err) }

// read calls f with the header of each packet, and with those of packets that are compressed.
func (t *Trace) read(f func(*header) error) error {
	r := reader{losses: &t.Losses, f: f}
	s := input.NewFieldStream(io.NewSectionReader(t.at, 0, t.size), math.MaxInt64)
	if err := r.read(s); err != nil {
		return err
	}
	if errors.Is(s.Err, io.ErrUnexpectedEOF) {
		t.Losses.Truncated = true
		return nil
	}
	switch {
	case s.Err == nil:
	case r.packets == 0:
		return fmt.Errorf("%w: no packet can be found behind that", s.Err)
	case !t.opt.AllowTruncated:
		return fmt.Errorf("%w: no packet can be found behind that; --allow-truncated reads what stands before", s.Err)
	default:
		t.Losses.Broken = s.Err
	}
	return nil
}

// A reader takes a trace apart.
type reader struct {
	losses *Losses
	f      func(*header) error

	h      header
	blocks input.Blocks
	inner  *input.FieldStream
	within int64 // the place of the compressed packet that is read, 0 for none

	packets int64 // that were read
}

// read reads packets until the end, or an error of the function that takes them. An error of
// the stream stays there.
func (r *reader) read(s *input.FieldStream) error {
	for s.Next() {
		if s.Num != 1 || s.Type != bytesType {
			s.Skip()
			continue
		}
		n := s.Length()
		off := s.Offset()
		most := maxPacket
		if r.within != 0 {
			most = maxInflated
		}
		if n > most {
			s.Fail(fmt.Errorf("packet of %d bytes: more than %d are damage", n, most))
			break
		}
		message := s.View(n)
		if s.Err != nil {
			break
		}
		if r.within != 0 {
			off = r.within
		}
		r.packets++
		if err := r.h.scan(message, off); err != nil {
			r.damaged(err)
			continue
		}
		var err error
		if r.h.compressed.message != nil {
			err = r.inflate(off)
		} else {
			err = r.f(&r.h)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inflate reads the packets of a compressed one. Their place is that of all.
func (r *reader) inflate(off int64) error {
	if r.within != 0 {
		r.damaged(errors.New("compressed packets"))
		return nil
	}
	r.within = off
	defer func() { r.within = 0 }()
	inflate := r.blocks.Zlib
	if r.h.compressed.kind == fieldZstdPackets {
		inflate = r.blocks.Zstd
	}
	if err := inflate(r.h.compressed.message); err != nil {
		r.damaged(err)
		return nil
	}
	if r.inner == nil {
		r.inner = input.NewFieldStream(nil, math.MaxInt64)
	}
	r.inner.Reset(&r.blocks)
	if err := r.read(r.inner); err != nil {
		return err
	}
	if err := r.inner.Err; err != nil {
		r.damaged(err)
	}
	return nil
}

// damaged counts what cannot be decoded.
func (r *reader) damaged(err error) {
	if r.within != 0 {
		err = fmt.Errorf("in the compressed packet at %#x: %w", r.within, err)
	}
	r.losses.damaged(err)
}

// A part is a message within a packet. It starts at base in the input.
type part struct {
	kind    Kind
	message []byte
	base    int64
}

func (d *part) fields() input.Fields { return input.NewFields(d.message, d.base) }

// A header has the fields of a packet.
type header struct {
	offset             int64
	timestamp          uint64
	clockID            ClockID
	sequence, machine  uint32
	flags, dropped     uint32
	timed, cleared     bool
	interned, defaults part
	compressed         part
	data               []part
}

// scan takes a packet apart.
func (h *header) scan(message []byte, off int64) error {
	*h = header{offset: off, data: h.data[:0]}
	f := input.NewFields(message, off)
	for f.Next() {
		if f.Type == bytesType {
			m := f.Bytes()
			p := part{Kind(f.Num), m, off + int64(f.Offset()-len(m))}
			switch f.Num {
			case fieldInternedData:
				h.interned = p
			case fieldPacketDefaults:
				h.defaults = p
			case fieldZlibPackets, fieldZstdPackets:
				h.compressed = p
			case fieldMarker:
			default:
				h.data = append(h.data, p)
			}
			continue
		}
		if f.Type != 0 {
			f.Skip()
			continue
		}
		switch v := f.Varint(); f.Num {
		case fieldTimestamp:
			h.timestamp, h.timed = v, true
		case fieldClockID:
			h.clockID = ClockID(v)
		case fieldSequenceID:
			h.sequence = uint32(v)
		case fieldSequenceFlags:
			h.flags = uint32(v)
		case fieldStateCleared:
			h.cleared = v != 0
		case fieldPacketDropped:
			h.dropped = uint32(v)
		case fieldMachineID:
			h.machine = uint32(v)
		}
	}
	return f.Err
}
