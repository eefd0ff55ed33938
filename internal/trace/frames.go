package trace

import (
	"cmp"
	"slices"
	"strings"
)

// A Frame is one that a surface showed, as Android's frame timeline reports it. Several layers of
// a process may share a token: they are one frame of it.
type Frame struct {
	Start, End   int64 // End is Unended if it is not known
	Token        int64 // of the process
	DisplayToken int64
	Process      ProcessID
	Layer        string
	// Display marks a frame of the whole display, which SurfaceFlinger makes.
	Display bool
	Jank    Jank
	Present PresentType
}

// Jank says why a frame was late: bits of JankType in
// FrameTimelineEvent of the tracing extension of Android's frameworks/native.
type Jank uint32

// Why frames are late.
const (
	JankNone              Jank = 1
	JankAppDeadlineMissed Jank = 64
	JankBufferStuffing    Jank = 128
	JankUnknown           Jank = 256
	JankDropped           Jank = 1024
	JankAppResynced       Jank = 4096
	jankOfSurfaceFlinger  Jank = 2 | 4 | 8 | 16 | 32
	jankOfApp             Jank = JankAppDeadlineMissed | JankAppResynced
)

// App reports whether the app missed the deadline of the frame.
func (j Jank) App() bool { return j&jankOfApp != 0 }

// SurfaceFlinger reports whether the display's side missed it.
func (j Jank) SurfaceFlinger() bool { return j&jankOfSurfaceFlinger != 0 }

// PresentType says when a frame was shown.
type PresentType uint32

// When frames are shown.
const (
	PresentOnTime  PresentType = 1
	PresentLate    PresentType = 2
	PresentEarly   PresentType = 3
	PresentDropped PresentType = 4
)

// AppFrames are the frames of apps: of those of several layers of a process with one token, which are
// one frame, there is the first, with the jank of all.
func (t *Timeline) AppFrames() []Frame {
	type key struct {
		process ProcessID
		token   int64
	}
	index := make(map[key]int)
	var frames []Frame
	for _, f := range t.Frames {
		if f.Display {
			continue
		}
		i, ok := index[key{f.Process, f.Token}]
		if !ok {
			index[key{f.Process, f.Token}] = len(frames)
			frames = append(frames, f)
			continue
		}
		g := &frames[i]
		g.Start, g.End, g.Jank = min(g.Start, f.Start), max(g.End, f.End), g.Jank|f.Jank
	}
	return frames
}

// doFrame is the slice in which the main thread of an app makes a frame, since Android 12 with its number, and drawFrame
// that in which its thread for rendering draws it.
const (
	doFrame   = "Choreographer#doFrame"
	drawFrame = "DrawFrame"
)

// frameNumber is the number behind the name of such a slice, "" if it has none.
func frameNumber(name, of string) (number string, ok bool) {
	rest, ok := strings.CutPrefix(name, of)
	if !ok {
		return "", false
	}
	number, spaced := strings.CutPrefix(strings.TrimPrefix(rest, "s"), " ")
	return number, spaced || number == ""
}

// slicesOfFrames are the slices of one of these names in threads of apps.
func (t *Timeline) slicesOfFrames(of string, main bool) (list []frameSlice) {
	numbers := make(map[NameID]string)
	for i, name := range t.names {
		if number, ok := frameNumber(name, of); ok {
			numbers[NameID(i)] = number
		}
	}
	if len(numbers) == 0 {
		return nil
	}
	for i := range t.Threads {
		th := &t.Threads[i]
		if th.Track == 0 || th.Process == 0 || th.Main != main {
			continue
		}
		for _, s := range t.Slices(th.Track, nil) {
			if number, ok := numbers[s.Name]; ok && s.Duration() > 0 {
				list = append(list, frameSlice{Span{Start: s.Start, End: s.End, Process: th.Process, Thread: ThreadID(i)}, number})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b frameSlice) int { return cmp.Compare(a.Start, b.Start) })
	return list
}

type frameSlice struct {
	Span
	number string
}

// MainThreadFrames are the times in which main threads of apps made frames, in order.
func (t *Timeline) MainThreadFrames() (list []Span) {
	for _, s := range t.slicesOfFrames(doFrame, true) {
		list = append(list, s.Span)
	}
	return list
}

// InitialDisplay is when the first frame was drawn that the main thread of an app made after its start began, as
// android/startup/time_to_display.sql of Perfetto's standard library has it.
func (t *Timeline) InitialDisplay(s *Startup) (end int64, ok bool) {
	if s.Process == 0 {
		return 0, false
	}
	if t.made == nil {
		t.made, t.drawn = t.slicesOfFrames(doFrame, true), t.slicesOfFrames(drawFrame, false)
	}
	for _, made := range t.made {
		if made.Process != s.Process || made.Start < s.Start {
			continue
		}
		for _, drawn := range t.drawn {
			if drawn.Process == s.Process && drawn.Start >= made.Start && drawn.number == made.number {
				return drawn.End, true
			}
		}
	}
	return 0, false
}

// FrameStart opens a frame. Its end comes with its cookie.
func (b *Builder) FrameStart(cookie int64, f Frame) {
	f.End = Unended
	if b.frames == nil {
		b.frames = make(map[int64]int)
	}
	b.frames[cookie] = len(b.t.Frames)
	b.t.Frames = append(b.t.Frames, f)
	b.clock(f.Start)
}

// FrameEnd closes the frame of a cookie.
func (b *Builder) FrameEnd(cookie, ts int64) {
	b.clock(ts)
	if i, ok := b.frames[cookie]; ok {
		b.t.Frames[i].End = ts
		delete(b.frames, cookie)
	}
}
