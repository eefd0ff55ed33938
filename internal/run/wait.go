package run

import "slices"

// A ThreadID is an index in Run.Threads. 0 is no thread, or one that is not known.
type ThreadID uint32

// A Thread is one thread of a recording that tells its waits.
type Thread struct {
	Process, Name string
	PID, TID      int64 // -1 if unknown
	// Main marks the main thread of its process.
	Main bool
}

// A WaitKind says what tells of a wait.
type WaitKind uint8

// The kinds of waits.
const (
	// OffCPU is from a switch away from the thread until it runs again.
	OffCPU WaitKind = iota
	// Contended is a lock that another thread has, as the runtime reports it.
	Contended
	// Dumped is a thread that waits for a lock at the moment of a dump.
	Dumped
)

// A Wait is a time in which a thread did not go on, and for whom, as far as the input tells.
type Wait struct {
	Kind   WaitKind
	Thread ThreadID
	// Start and End are in nanoseconds on the clock of the recording. In a dump both are the
	// number of the dump in its input: no duration is known.
	Start, End int64
	// Clipped is set if the recording begins or ends within the wait, which then was longer.
	Clipped bool
	// Stack is where the thread waits.
	Stack StackID
	// State is that of the thread: "S", "D", "R" while it could run and had no CPU, "R+" if
	// that was taken from it, "Blocked", "TimedWaiting".
	State string
	// For is what it waits for: the address or the name of a lock, or "".
	For string
	// Owner has it, at OwnerStack, when the wait begins.
	Owner      ThreadID
	OwnerStack StackID
	// Waker ended the wait at WakerStack, if it was no interrupt.
	Waker      ThreadID
	WakerStack StackID
	Interrupt  bool
	// Filtered is set if a filter leaves the wait out. It is kept because others may have
	// waited behind it.
	Filtered bool
}

// ShortWaits are the waits of a run that are not among Run.Waits, because there were too many:
// all that took less than Below.
type ShortWaits struct {
	Count int64
	// Time is the sum of what they took, and Below what all of them are shorter than, in
	// nanoseconds.
	Time, Below int64
}

// A Hold is a time in which a thread has a lock. In a dump Start and End are its number.
type Hold struct {
	Thread     ThreadID
	Start, End int64
	// Stack is where it was taken.
	Stack StackID
	// Of is the lock, as in Wait.For.
	Of string
}

// MostWaits is the number of waits off the CPU that a run keeps at most, in some 120 MB.
const MostWaits = 1 << 20

// AddWait adds a wait. Of more waits off the CPU than a run keeps, the shorter half is summed
// instead (Run.ShortWaits), each time that there are too many: the long ones are what costs time.
func (b *Builder) AddWait(w Wait) {
	r := b.r
	if w.Kind == OffCPU {
		if b.waits == b.mostWaits && w.End-w.Start >= r.ShortWaits.Below {
			b.sumShortWaits()
		}
		if w.End-w.Start < r.ShortWaits.Below {
			r.ShortWaits.add(&w)
			return
		}
		b.waits++
	}
	// Many waits grow in few steps: what is copied stays in memory for a while.
	if n := len(r.Waits); n == cap(r.Waits) && n >= 1<<16 {
		r.Waits = slices.Grow(r.Waits, 3*n)
	}
	r.Waits = append(r.Waits, w)
}

func (s *ShortWaits) add(w *Wait) {
	s.Count++
	s.Time += w.End - w.Start
}

// sumShortWaits moves the shorter half of the waits off the CPU to Run.ShortWaits.
func (b *Builder) sumShortWaits() {
	r := b.r
	times := make([]int64, 0, b.waits)
	for i := range r.Waits {
		if w := &r.Waits[i]; w.Kind == OffCPU {
			times = append(times, w.End-w.Start)
		}
	}
	slices.Sort(times)
	short := &r.ShortWaits
	short.Below = times[len(times)/2] + 1
	r.Waits = slices.DeleteFunc(r.Waits, func(w Wait) bool {
		drop := w.Kind == OffCPU && w.End-w.Start < short.Below
		if drop {
			short.add(&w)
			b.waits--
		}
		return drop
	})
}
