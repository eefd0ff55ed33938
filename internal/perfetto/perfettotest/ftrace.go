package perfettotest

import "profdiff/internal/perfetto"

// A Bundle is a FtraceEventBundle that grows.
type Bundle struct {
	sequence          *Sequence
	m                 Message
	switches, wakings columns
	strings           []string
}

// columns are those of CompactSched.
type columns struct {
	last uint64
	rows [6][]uint64
}

// Bundle starts a bundle of a CPU. [Bundle.Done] adds it to the trace.
func (s *Sequence) Bundle(cpu int) *Bundle {
	b := &Bundle{sequence: s}
	b.m.Uint(1, uint64(cpu))
	return b
}

// Event adds any FtraceEvent.
func (b *Bundle) Event(at uint64, pid int, kind perfetto.EventKind, m *Message) *Bundle {
	return b.FlaggedEvent(at, pid, 0, kind, m)
}

// FlaggedEvent adds any FtraceEvent with common_flags.
func (b *Bundle) FlaggedEvent(at uint64, pid int, flags uint64, kind perfetto.EventKind, m *Message) *Bundle {
	b.m.Message(2, new(Message).Uint(1, at).Uint(2, uint64(pid)).optional(5, flags).Message(int(kind), m))
	return b
}

// Print adds what a thread wrote into the trace, atrace's events for instance.
func (b *Bundle) Print(at uint64, pid int, text string) *Bundle {
	return b.Event(at, pid, perfetto.Print, new(Message).String(2, text))
}

// A Task is a thread as events of the scheduler have it.
type Task struct {
	PID, Prio int
	Comm      string
}

// Switch adds a sched_switch. Bits of the state are those of the kernel: 0 can run, 1 sleeps,
// 2 sleeps without interruption.
func (b *Bundle) Switch(at uint64, prev Task, state int64, next Task) *Bundle {
	m := new(Message).named(1, prev.Comm).Uint(2, uint64(prev.PID)).Uint(3, uint64(prev.Prio)).Int(4, state).
		named(5, next.Comm).Uint(6, uint64(next.PID)).Uint(7, uint64(next.Prio))
	return b.Event(at, prev.PID, perfetto.SchedSwitch, m)
}

// Waking adds a sched_waking of a task, by the thread with a pid, or by an interrupt while that
// ran if flags have 0x10 or 0x8.
func (b *Bundle) Waking(at uint64, by int, flags uint64, task Task, cpu int) *Bundle {
	m := new(Message).named(1, task.Comm).Uint(2, uint64(task.PID)).Uint(3, uint64(task.Prio)).Uint(4, 1).Uint(5, uint64(cpu))
	return b.FlaggedEvent(at, by, flags, perfetto.SchedWaking, m)
}

// Blocked adds a sched_blocked_reason: where in the kernel the last wait of a thread was. The
// function is interned.
func (b *Bundle) Blocked(at uint64, by, pid int, function string, io bool) *Bundle {
	m := new(Message).Uint(1, uint64(pid)).optional(2, b.sequence.String(perfetto.KernelSymbols, function))
	if io {
		m.Uint(3, 1)
	}
	return b.Event(at, by, perfetto.SchedBlockedReason, m)
}

// CompactSwitch adds a switch to the columns, which have no previous thread.
func (b *Bundle) CompactSwitch(at uint64, state int64, next Task) *Bundle {
	b.switches.add(at, uint64(state), uint64(next.PID), uint64(next.Prio), b.comm(next.Comm))
	return b
}

// CompactWaking adds a waking to the columns.
func (b *Bundle) CompactWaking(at uint64, flags uint64, task Task, cpu int) *Bundle {
	b.wakings.add(at, uint64(task.PID), uint64(cpu), uint64(task.Prio), b.comm(task.Comm), flags)
	return b
}

func (c *columns) add(at uint64, row ...uint64) {
	c.rows[0] = append(c.rows[0], at-c.last)
	c.last = at
	for i, v := range row {
		c.rows[i+1] = append(c.rows[i+1], v)
	}
}

func (b *Bundle) comm(name string) uint64 {
	for i, s := range b.strings {
		if s == name {
			return uint64(i)
		}
	}
	b.strings = append(b.strings, name)
	return uint64(len(b.strings) - 1)
}

// Start says since when the buffer of the CPU has all events.
func (b *Bundle) Start(at uint64) *Bundle {
	b.m.Uint(10, at)
	return b
}

// Lost says that events before those of the bundle were lost.
func (b *Bundle) Lost() *Bundle {
	b.m.Uint(3, 1)
	return b
}

// Clock says which clock times are on (FtraceClock: 2 global, 3 local, 4 raw), and what it was
// when the clock since boot was at a time.
func (b *Bundle) Clock(clock, ftrace, boot uint64) *Bundle {
	b.m.Uint(5, clock).Uint(6, ftrace).Uint(7, boot)
	return b
}

// Done adds the bundle to the trace.
func (b *Bundle) Done() {
	if len(b.strings) > 0 {
		m := new(Message)
		for _, s := range b.strings {
			m.String(5, s)
		}
		for i, num := range []int{1, 2, 3, 4, 6} {
			m.Packed(num, b.switches.rows[i]...)
		}
		for i, num := range []int{7, 8, 9, 10, 11, 12} {
			m.Packed(num, b.wakings.rows[i]...)
		}
		b.m.Message(4, m)
	}
	b.sequence.Packet(0, new(Message).Message(int(perfetto.FtraceEvents), &b.m))
}
