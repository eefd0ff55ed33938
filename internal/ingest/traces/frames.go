package traces

import (
	"profdiff/internal/perfetto"
	"profdiff/internal/trace"
)

// Fields of FrameTimelineEvent (frameworks/native/tracing of Android).
const (
	frameActualDisplay = 2
	frameActualSurface = 4
	frameEnd           = 5
	frameCookie        = 1
	frameToken         = 2
	displayPID         = 3
	displayPresent     = 4
	displayJank        = 7
	surfaceDisplay     = 3
	surfacePID         = 4
	surfaceLayer       = 5
	surfacePresent     = 6
	surfaceJank        = 9
)

// frame reads an event of a frame's timeline. Times that were expected are not needed: whether a frame
// was late the system says itself.
func (r *reader) frame(p *perfetto.Packet) error {
	m := p.Message()
	for m.Next() {
		switch m.Num {
		case frameActualDisplay, frameActualSurface:
			f := trace.Frame{Start: p.Time, Display: m.Num == frameActualDisplay}
			var cookie int64
			v := m.Message()
			for v.Next() {
				switch {
				case v.Num == frameCookie:
					cookie = int64(v.Uint())
				case v.Num == frameToken:
					f.Token = int64(v.Uint())
				case !f.Display && v.Num == surfaceDisplay:
					f.DisplayToken = int64(v.Uint())
				case !f.Display && v.Num == surfacePID, f.Display && v.Num == displayPID:
					f.Process = r.tl.Process(p.Machine, int64(int32(v.Uint())))
				case !f.Display && v.Num == surfaceLayer:
					f.Layer = string(v.Bytes())
				case !f.Display && v.Num == surfacePresent, f.Display && v.Num == displayPresent:
					f.Present = trace.PresentType(v.Uint())
				case !f.Display && v.Num == surfaceJank, f.Display && v.Num == displayJank:
					f.Jank = trace.Jank(v.Uint())
				default:
					v.Skip()
				}
			}
			m.Take(v.Err)
			r.tl.FrameStart(cookie, f)
		case frameEnd:
			var cookie int64
			v := m.Message()
			for v.Next() {
				if v.Num == frameCookie {
					cookie = int64(v.Uint())
				} else {
					v.Skip()
				}
			}
			m.Take(v.Err)
			r.tl.FrameEnd(cookie, p.Time)
		default:
			m.Skip()
		}
	}
	return m.Err
}
