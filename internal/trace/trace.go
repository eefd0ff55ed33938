// Package trace has the timeline of a trace: processes, threads, slices, what threads did when,
// counters, frames. It knows nothing of files: readers tell a [Builder] what happened, in any
// order of time, and get a [Timeline].
//
//  1. Each event goes to a tape, as a difference of time and few numbers, about eight bytes: slices by
//     track, scheduling by CPU. Names are kept once (tape.go).
//  2. Tracks get their thread or process when that is known, which may be at the end. All tracks
//     of a thread that may be merged are one (builder.go).
//  3. Begins and ends of a track are sorted by time, stably and only where they are out of order,
//     and matched: slices with parents (merge.go, slices.go).
//  4. Switches and wakings of all CPUs are merged by time; of them follow the states of each
//     thread, each with what ended it (sched.go, state.go).
//  5. Frames are paired by their cookies, startups are found by names of slices (frames.go,
//     startups.go). Both choose times of a trace, as slices do (during.go).
//
// The rules are those of the importers of Perfetto's trace processor (src/trace_processor/importers:
// common/slice_tracker.cc, common/thread_state_tracker.cc, ftrace/ftrace_sched_event_tracker.cc, types/task_state.cc),
// so that figures are the same; where they differ, the file says so.
package trace

import "math"

// A NameID is a name of a [Timeline]; 0 is "".
type NameID uint32

// A ProcessID is an index in [Timeline.Processes]; 0 is none, or one that is not known.
type ProcessID uint32

// A ThreadID is an index in [Timeline.Threads]; 0 is none, or one that is not known.
type ThreadID uint32

// A TrackID is an index in [Timeline.Tracks]; 0 is none.
type TrackID uint32

// Unknown is a PID or a TID that is not known.
const Unknown = -1

// Unended is the end of what has none in the trace: it went on, or its end was lost.
const Unended = math.MinInt64

// A Process is one process of a trace.
type Process struct {
	Name string
	PID  int64
	// Machine is that of traces of several machines, 0 for the one that recorded.
	Machine uint32
	// Package is the Android package, "" if it is not known.
	Package string

	rank Rank
}

// A Thread is one thread of a trace.
type Thread struct {
	Process ProcessID
	Name    string
	TID     int64
	// Machine is as in Process.
	Machine uint32
	// Main marks the main thread of its process.
	Main bool
	// Track has its slices, 0 if it has none.
	Track TrackID

	rank Rank
}

// Idle reports whether this is what a CPU does without work, which is no thread.
func (t *Thread) Idle() bool { return t.TID == 0 }

// A Track has slices: those of a thread, which nest, or others.
type Track struct {
	// Thread is 0 if it is not of a thread.
	Thread  ThreadID
	Process ProcessID
	Name    string
	// Async marks a track whose slices overlap and do not nest: begins and ends meet by cookies.
	Async bool
	// Own marks a track of a thread that is not to be merged with its others.
	Own bool

	tapes  []tape
	begins int  // records that may make a slice
	merged bool // into another of its thread
}

// A Slice is a time with a name. Times are in nanoseconds on the clock of the trace.
type Slice struct {
	Start int64
	// End is Unended if there is none. An instant ends when it starts.
	End            int64
	Name, Category NameID
	// Parent is the index of the slice that this one is in, -1 if there is none. It stands
	// before its children.
	Parent int32
	Depth  uint16
}

// Unfinished reports whether the slice has no end.
func (s *Slice) Unfinished() bool { return s.End == Unended }

// Duration is 0 for an unfinished slice.
func (s *Slice) Duration() int64 {
	if s.Unfinished() {
		return 0
	}
	return s.End - s.Start
}

// SliceLoss counts what of begins and ends made no slice with an end.
type SliceLoss struct {
	// Orphans are ends without a begin, Unfinished slices without an end, TooDeep slices in more than
	// 512 others, Overlapping slices with a duration that begin in one slice and end after it.
	Orphans, Unfinished, TooDeep, Overlapping int64
}

// An Interval is a time in which a thread was in one state.
type Interval struct {
	Start int64
	// End is Unended for the last interval of a thread, which went on when the trace ended, and
	// where events were lost.
	End   int64
	State State
	// CPU is where it ran; -1 if it did not.
	CPU int32
	// IOWait says whether a blocked thread waited for a disk, Function where in the kernel.
	IOWait   bool
	Function NameID
	// Waker ended the wait that the thread was in before it could run, and Interrupt is set if that
	// happened in an interrupt, where Waker is only the thread that was interrupted.
	// They stand at the runnable interval after a blocked one.
	Waker     ThreadID
	Interrupt bool
}

// A Counter sums up the values of a counter.
type Counter struct {
	Process ProcessID
	Name    string
	Values  int64
	Min     float64
	Max     float64
	// Last is the latest value, at LastAt.
	Last   float64
	LastAt int64
}

// A Timeline is what happened in a trace.
type Timeline struct {
	// Start and End are the times of the first and of the last event; both are 0 if there is none.
	Start, End int64
	Processes  []Process
	Threads    []Thread
	Tracks     []Track
	Counters   []Counter
	Frames     []Frame
	// SDK is Android's version as a number, 0 if it is not known.
	SDK int
	// Sched counts what is known of scheduling.
	Sched SchedCounts

	names  []string
	states []tape // by thread
	// Once they are asked for.
	startups []Startup
	// made and drawn are the slices of frames in main threads and in threads for rendering.
	made, drawn []frameSlice
}

// Name returns the name.
func (t *Timeline) Name(id NameID) string { return t.names[id] }

// Names is the number of names, which count from 0.
func (t *Timeline) Names() int { return len(t.names) }
