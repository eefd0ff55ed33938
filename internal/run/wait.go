package run

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
	// State is that of the thread: "S", "D", "R" while it could run and had no CPU,
	// "Blocked", "TimedWaiting".
	State string
	// For is what it waits for: the address or the name of a lock, or "".
	For string
	// Owner has it, at OwnerStack, when the wait begins.
	Owner      ThreadID
	OwnerStack StackID
	// Waker ended the wait, if it was no interrupt.
	Waker     ThreadID
	Interrupt bool
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
