package perfettotest

import "profdiff/internal/perfetto"

// Track adds a TrackDescriptor with a name, below a parent (0 for none).
func (s *Sequence) Track(uuid, parent uint64, name string) {
	s.Descriptor(new(Message).Uint(1, uuid).optional(5, parent).named(2, name))
}

// ProcessTrack adds the descriptor of a process's track.
func (s *Sequence) ProcessTrack(uuid uint64, pid int, name string) {
	s.Descriptor(new(Message).Uint(1, uuid).Message(3, new(Message).Uint(1, uint64(pid)).named(6, name)))
}

// ThreadTrack adds the descriptor of a thread's track, below that of a process (0 for none).
func (s *Sequence) ThreadTrack(uuid, parent uint64, pid, tid int, name string) {
	s.Descriptor(new(Message).Uint(1, uuid).optional(5, parent).
		Message(4, new(Message).Uint(1, uint64(pid)).Uint(2, uint64(tid)).named(5, name)))
}

// CounterTrack adds the descriptor of a counter: type 1 is the CPU time of a thread.
func (s *Sequence) CounterTrack(uuid, parent uint64, name string, kind, multiplier uint64, incremental bool) {
	c := new(Message).optional(1, kind).optional(4, multiplier)
	if incremental {
		c.Uint(5, 1)
	}
	s.Descriptor(new(Message).Uint(1, uuid).optional(5, parent).named(2, name).Message(8, c))
}

// Descriptor adds any TrackDescriptor.
func (s *Sequence) Descriptor(m *Message) {
	s.Packet(0, new(Message).Message(int(perfetto.TrackDescriptor), m))
}

// Types of track events (TrackEvent.Type).
const (
	typeBegin   = 1
	typeEnd     = 2
	typeInstant = 3
	typeCounter = 4
)

// Begin adds the begin of a slice. Names and categories are interned, "" for none. A track of 0
// is that of the defaults.
func (s *Sequence) Begin(at, track uint64, category, name string) {
	s.Event(at, s.event(typeBegin, track, category, name))
}

// End adds the end of a slice.
func (s *Sequence) End(at, track uint64) { s.Event(at, s.event(typeEnd, track, "", "")) }

// Instant adds an instant.
func (s *Sequence) Instant(at, track uint64, category, name string) {
	s.Event(at, s.event(typeInstant, track, category, name))
}

// Counter adds a value of a counter.
func (s *Sequence) Counter(at, track uint64, value int64) {
	s.Event(at, s.event(typeCounter, track, "", "").Int(30, value))
}

// event returns a TrackEvent.
func (s *Sequence) event(kind, track uint64, category, name string) *Message {
	m := new(Message)
	if iid := s.String(perfetto.EventCategories, category); iid != 0 {
		m.Uint(3, iid)
	}
	m.Uint(9, kind).optional(11, track)
	return m.optional(10, s.String(perfetto.EventNames, name))
}

// Event adds any TrackEvent.
func (s *Sequence) Event(at uint64, m *Message) {
	s.Packet(at, new(Message).Message(int(perfetto.TrackEvent), m))
}

// A Frame is one of a stack.
type Frame struct {
	Function string
	// Mapping is the path of the file, "" for none.
	Mapping string
	BuildID string // raw bytes
	RelPC   uint64
	// Start and End are addresses of the mapping.
	Start, End uint64
	File       string // of the source
	Line       uint64
}

// Stack interns a stack, whose first frame is the outermost, and returns its iid.
func (s *Sequence) Stack(frames ...Frame) uint64 {
	stack := new(Message)
	for _, f := range frames {
		stack.Uint(2, s.frame(f))
	}
	return s.Intern(perfetto.Callstacks, stack)
}

func (s *Sequence) frame(f Frame) uint64 {
	m := new(Message).optional(2, s.String(perfetto.FunctionNames, f.Function))
	if f.Mapping != "" {
		k := new(Message).optional(2, s.String(perfetto.BuildIDs, f.BuildID)).optional(4, f.Start).optional(5, f.End)
		m.Uint(3, s.Intern(perfetto.Mappings, k.Uint(7, s.String(perfetto.MappingPaths, f.Mapping))))
	}
	m.optional(4, f.RelPC).optional(5, s.String(perfetto.SourcePaths, f.File)).optional(6, f.Line)
	return s.Intern(perfetto.Frames, m)
}

// A Sample is a PerfSample.
type Sample struct {
	CPU, PID, TID int
	Mode          uint64 // 1 kernel, 2 user
	Stack         uint64 // iid
	Count         uint64 // of the timebase
	Followers     []uint64
	// UnwindError, Lost (kernel_records_lost) and Skipped (sample_skipped_reason) are left out
	// if they are 0; a reason 0 is a *uint64.
	UnwindError, Lost uint64
	Skipped           *uint64
}

// PerfDefaults sets, for the next packet and those after it, the timebase of samples: a
// counter of PerfEvents (10 is hw cycles, 1 the CPU clock), and its period or frequency.
func (s *Sequence) PerfDefaults(clock perfetto.ClockID, counter, period, frequency uint64) {
	timebase := new(Message).optional(1, period).optional(2, frequency).Uint(4, counter)
	m := new(Message).Message(12, new(Message).Message(1, timebase))
	s.Defaults(m.optional(58, uint64(clock)))
}

// Perf adds a PerfSample.
func (s *Sequence) Perf(at uint64, p Sample) {
	m := new(Message).Uint(1, uint64(p.CPU)).Uint(2, uint64(p.PID)).Uint(3, uint64(p.TID)).
		optional(4, p.Stack).optional(5, p.Mode).optional(6, p.Count)
	for _, v := range p.Followers {
		m.Uint(7, v)
	}
	m.optional(16, p.UnwindError).optional(17, p.Lost)
	if p.Skipped != nil {
		m.Uint(18, *p.Skipped)
	}
	s.Packet(at, new(Message).Message(int(perfetto.PerfSample), m))
}

// Streaming adds a StreamingProfilePacket: stacks, and µs since the sample before.
func (s *Sequence) Streaming(stacks []uint64, deltas []int64) {
	m := new(Message)
	for _, iid := range stacks {
		m.Uint(1, iid)
	}
	for _, d := range deltas {
		m.Int(2, d)
	}
	s.Packet(0, new(Message).Message(int(perfetto.StreamingProfile), m))
}

// A SurfaceFrame is the actual time of a frame of an app (FrameTimelineEvent).
type SurfaceFrame struct {
	Cookie, Token, DisplayToken int64
	PID                         int
	Layer                       string
	Present                     uint64 // 1 in time, 2 late, 3 early, 4 dropped
	Jank                        uint64 // bits: 1 none, 64 the app missed its deadline
}

// Frame adds a frame from begin to end.
func (s *Sequence) Frame(begin, end uint64, f SurfaceFrame) {
	m := new(Message).Int(1, f.Cookie).Int(2, f.Token).Int(3, f.DisplayToken).Uint(4, uint64(f.PID)).named(5, f.Layer).
		optional(6, f.Present).optional(9, f.Jank)
	s.Packet(begin, new(Message).Message(int(perfetto.FrameTimeline), new(Message).Message(4, m)))
	s.Packet(end, new(Message).Message(int(perfetto.FrameTimeline), new(Message).Message(5, new(Message).Int(1, f.Cookie))))
}

// ExpectedFrame adds the time in which a frame of an app was expected, from begin to end.
func (s *Sequence) ExpectedFrame(begin, end uint64, f SurfaceFrame) {
	m := new(Message).Int(1, f.Cookie).Int(2, f.Token).Int(3, f.DisplayToken).Uint(4, uint64(f.PID)).named(5, f.Layer)
	s.Packet(begin, new(Message).Message(int(perfetto.FrameTimeline), new(Message).Message(3, m)))
	s.Packet(end, new(Message).Message(int(perfetto.FrameTimeline), new(Message).Message(5, new(Message).Int(1, f.Cookie))))
}
