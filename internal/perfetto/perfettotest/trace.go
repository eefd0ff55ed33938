// Package perfettotest builds Perfetto traces for tests, by the field numbers of the public
// definitions (protos/perfetto/trace in github.com/google/perfetto).
//
//  1. A [Trace] is a list of packets, in the order in which they are added.
//  2. Packets are added by a [Sequence], which is a writer: it interns strings, stacks and what
//     else packets refer to, and writes new ones into the packet that needs them first.
//  3. What has no method here is a [Message], written field by field, and [Sequence.Packet].
package perfettotest

import (
	"bytes"
	"compress/zlib"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"profdiff/internal/perfetto"
)

// A Trace is a trace that grows. The zero value is an empty one.
type Trace struct{ b Message }

// Bytes is the trace as a file.
func (t *Trace) Bytes() []byte { return bytes.Clone(t.b.b) }

// Reset forgets all packets; sequences keep what they interned.
func (t *Trace) Reset() { t.b.b = t.b.b[:0] }

// Packet adds a packet that is of no sequence, field by field.
func (t *Trace) Packet(packet *Message) { t.b.Message(1, packet) }

// Zlib replaces the trace by one that has all packets in a compressed one.
func (t *Trace) Zlib() {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write(t.b.b); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	t.b = Message{}
	t.Packet(new(Message).String(50, z.String()))
}

// Zstd is like [Trace.Zlib], with the other form.
func (t *Trace) Zstd() {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	z := w.EncodeAll(t.b.b, nil)
	t.b = Message{}
	t.Packet(new(Message).String(133, string(z)))
}

// A Sequence writes packets with its number, and knows what it has interned.
type Sequence struct {
	trace    *Trace
	id       uint32
	clock    perfetto.ClockID
	machine  uint32
	cleared  bool // by a packet
	interned map[string]uint64
	next     map[perfetto.Table]uint64
	pending  *Message // InternedData for the next packet
	defaults *Message
}

// Sequence returns a writer. Its first packet says that its state is cleared.
func (t *Trace) Sequence(id uint32) *Sequence {
	s := &Sequence{trace: t, id: id}
	s.Clear()
	return s
}

// Machine makes the sequence one of another machine.
func (s *Sequence) Machine(id uint32) *Sequence {
	s.machine = id
	return s
}

// Clock is the clock that further packets name, 0 for none.
func (s *Sequence) Clock(id perfetto.ClockID) *Sequence {
	s.clock = id
	return s
}

// Clear forgets what was interned: the next packet says so.
func (s *Sequence) Clear() {
	s.interned, s.next = make(map[string]uint64), make(map[perfetto.Table]uint64)
	s.pending, s.defaults, s.cleared = nil, nil, false
}

// Lose forgets the state on the side of the reader only: the next packet says that packets
// before it were dropped, for these reasons (bits of TracePacket.DataLossReason).
func (s *Sequence) Lose(reasons uint64) { s.Packet(0, new(Message).Uint(42, reasons)) }

// Defaults sets TracePacketDefaults for the next packet and those after it.
func (s *Sequence) Defaults(m *Message) { s.defaults = m }

// Packet adds a packet with these fields, at a time (none if it is 0).
func (s *Sequence) Packet(at uint64, packet *Message) {
	m := new(Message)
	if at != 0 {
		m.Uint(8, at)
		m.optional(58, uint64(s.clock))
	}
	m.Uint(10, uint64(s.id)).optional(98, uint64(s.machine))
	flags := uint64(2)
	if !s.cleared {
		flags |= 1
		s.cleared = true
	}
	m.Uint(13, flags)
	m.Message(59, s.defaults)
	m.Message(12, s.pending)
	s.defaults, s.pending = nil, nil
	m.b = append(m.b, packet.b...)
	s.trace.Packet(m)
}

// Intern returns the iid of a message without its iid, which is added to the next packet if it
// is new.
func (s *Sequence) Intern(table perfetto.Table, m *Message) uint64 {
	key := fmt.Sprint(table, ":", string(m.b))
	if iid, ok := s.interned[key]; ok {
		return iid
	}
	s.next[table]++
	iid := s.next[table]
	s.interned[key] = iid
	if s.pending == nil {
		s.pending = new(Message)
	}
	entry := new(Message).Uint(1, iid)
	entry.b = append(entry.b, m.b...)
	s.pending.Message(int(table), entry)
	return iid
}

// String is [Sequence.Intern] of a message that is an iid and a string, 0 for none.
func (s *Sequence) String(table perfetto.Table, text string) uint64 {
	if text == "" {
		return 0
	}
	return s.Intern(table, new(Message).String(2, text))
}

// A Clock is a clock in a snapshot.
type Clock struct {
	ID          perfetto.ClockID
	Time        uint64 // ticks
	Incremental bool
	Unit        uint64 // ns of a tick, 0 for 1
}

// Snapshot adds a ClockSnapshot with its primary clock, 0 for none.
func (s *Sequence) Snapshot(primary perfetto.ClockID, clocks ...Clock) {
	m := new(Message)
	for _, c := range clocks {
		k := new(Message).Uint(1, uint64(c.ID)).Uint(2, c.Time)
		if c.Incremental {
			k.Uint(3, 1)
		}
		m.Message(1, k.optional(4, c.Unit))
	}
	s.Packet(0, new(Message).Message(int(perfetto.ClockSnapshot), m.optional(2, uint64(primary))))
}

// A Process is one of a ProcessTree.
type Process struct {
	PID, Parent int
	Name        string
	Threads     []Thread
}

// A Thread is one of a process.
type Thread struct {
	TID  int
	Name string
}

// Processes adds a ProcessTree. Main threads need not be listed.
func (s *Sequence) Processes(at uint64, list ...Process) {
	m := new(Message)
	for _, p := range list {
		m.Message(1, new(Message).Uint(1, uint64(p.PID)).optional(2, uint64(p.Parent)).named(3, p.Name))
	}
	for _, p := range list {
		for _, t := range p.Threads {
			m.Message(2, new(Message).Uint(1, uint64(t.TID)).named(2, t.Name).Uint(3, uint64(p.PID)))
		}
	}
	s.Packet(at, new(Message).Message(int(perfetto.ProcessTree), m))
}

// System adds a SystemInfo with the release of a Linux kernel and the level of Android's API,
// 0 for none.
func (s *Sequence) System(release string, sdk int) {
	m := new(Message).Message(1, new(Message).String(1, "Linux").String(3, release))
	s.Packet(0, new(Message).Message(int(perfetto.SystemInfo), m.optional(5, uint64(sdk))))
}

// Packages adds a PackagesList: user ids of packages by name.
func (s *Sequence) Packages(names []string, uids []int) {
	m := new(Message)
	for i, name := range names {
		m.Message(1, new(Message).String(1, name).Uint(2, uint64(uids[i])))
	}
	s.Packet(0, new(Message).Message(int(perfetto.PackagesList), m))
}
