// Package traces makes runs of traces: recordings of what happened when, in which samples are
// but one part.
//
//  1. The packets of a Perfetto trace tell a [trace.Builder] what happened: what describes tracks, threads
//     and processes in a first reading, events in a second one (tracks.go, kernel.go, frames.go).
//  2. What profilers sampled becomes events of a run, by what they counted (samples.go, weights.go, v8.go). Stacks
//     are interned as they come (stacks.go) and named at the end (symbols.go).
//  3. The timeline becomes events of a run (profile.go): slices are wall time, whose stack is their
//     nesting; what threads did while they had no CPU is off-CPU time, below the slices that were
//     open; slices that tell of locks are contention.
//  4. What is missing is counted by cause, and becomes warnings.
package traces

import (
	"fmt"
	"time"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// Perfetto is what the format of Perfetto's traces is called.
const Perfetto = "Perfetto trace"

// Read reads a Perfetto trace.
func Read(src *input.Source, opt *reading.Options) (*run.Run, error) {
	r := newReader(src, opt)
	tl, err := r.read(src)
	if err != nil {
		return nil, err
	}
	return r.finish(tl)
}

func newReader(src *input.Source, opt *reading.Options) *reader {
	r := &reader{
		opt:       opt,
		b:         run.NewBuilder(src.Name),
		tl:        trace.NewBuilder(),
		tracks:    make(map[trackKey]*described),
		sequences: make(map[*perfetto.Sequence]*sequence),
		facts:     facts{packages: make(map[int64]string), uids: make(map[trace.ProcessID]int64)},
	}
	r.samples = newSamples(r, src)
	return r
}

// read makes the timeline.
func (r *reader) read(src *input.Source) (*trace.Timeline, error) {
	t, err := perfetto.Open(src, perfetto.Options{Describe: r.describe, AllowTruncated: r.opt.AllowTruncated})
	if err != nil {
		return nil, err
	}
	r.trace = t
	r.tl.SchedFrom(t.KernelStart)
	for p := range t.Packets() {
		if err := r.packet(p); err != nil {
			p.Damaged(err)
		}
	}
	if err := t.Err(); err != nil {
		return nil, err
	}
	for _, seq := range r.sequences {
		r.release(seq, r.now)
	}
	r.givePackages()
	return r.tl.Finish(), nil
}

// A reader reads a Perfetto trace.
type reader struct {
	opt       *reading.Options
	b         *run.Builder
	samples   *samples
	trace     *perfetto.Trace
	tl        *trace.Builder
	tracks    map[trackKey]*described
	sequences map[*perfetto.Sequence]*sequence
	// The sequence of the last packet.
	last         *sequence
	lastSequence *perfetto.Sequence
	now          int64         // the latest time of seq.now
	global       trace.TrackID // of events that name no track
	event        trackEvent
	scratch      []uint64
	facts        facts
	// real is a moment on the clock of the world and on that of the trace.
	real, realAt int64
	lost         lost
}

// lost counts events that say too little.
type lost struct {
	// timeless have no time, undescribed no track that is described, typeless no type; marks were written to
	// trace_marker and are not of atrace; ahead happened later than they were written.
	timeless, undescribed, typeless, marks, ahead int64
}

// account counts these events as dropped, whatever they were to tell.
func (l *lost) account(a *run.Accounting) {
	a.In += l.timeless + l.undescribed + l.ahead + l.typeless
	a.Drop("without a time", l.timeless)
	a.Drop("on a track that nothing describes", l.undescribed)
	a.Drop("later than they were written", l.ahead)
	a.Drop("without a type", l.typeless)
}

// packet reads a packet in the second reading.
func (r *reader) packet(p *perfetto.Packet) error {
	switch p.Kind {
	case perfetto.TrackEvent:
		return r.trackEvent(p)
	case perfetto.FtraceEvents:
		return r.bundle(p)
	case perfetto.ThreadDescriptor:
		d, err := readThread(p.Message())
		r.setThread(p, &d)
		return err
	case perfetto.TrackDescriptor:
		return r.writerOf(p)
	case perfetto.FrameTimeline:
		return r.frame(p)
	case perfetto.GenericTaskState:
		return r.taskState(p)
	case perfetto.GenericTaskRename:
		return r.taskRename(p)
	case perfetto.ClockSnapshot:
		if r.real == 0 && p.Machine == 0 {
			return r.wallClock(p)
		}
	default:
		return r.samples.packet(p)
	}
	return nil
}

// wallClock notes what the clock of the world was at a time of the trace.
func (r *reader) wallClock(p *perfetto.Packet) error {
	m := p.Message()
	for m.Next() {
		if m.Num != snapshotClock {
			m.Skip()
			continue
		}
		var id, value uint64
		c := m.Message()
		for c.Next() {
			switch c.Num {
			case clockID:
				id = c.Uint()
			case clockValue:
				value = c.Uint()
			default:
				c.Skip()
			}
		}
		m.Take(c.Err)
		if id == uint64(perfetto.RealTime) {
			if at, ok := p.Convert(perfetto.RealTime, value); ok {
				r.real, r.realAt = int64(value), at
			}
		}
	}
	return m.Err
}

// Fields of ClockSnapshot and its clocks.
const (
	snapshotClock = 1
	clockID       = 1
	clockValue    = 2
)

// finish makes the run.
func (r *reader) finish(tl *trace.Timeline) (*run.Run, error) {
	b := r.b
	out := b.Run()
	out.Recording = r.facts.Recording
	rec := &out.Recording
	rec.Format, rec.Timeline = Perfetto, true
	switch {
	case r.facts.chrome != "":
		rec.Tool = "Chrome " + r.facts.chrome
	case r.facts.tracing != "":
		rec.Tool = r.facts.tracing
	}
	p, err := newProfile(b, tl, r.opt)
	if err != nil {
		return nil, err
	}
	r.samples.finish(tl, p.spans)
	loss := p.add()
	start, end := r.samples.span(tl)
	setTimes(rec, start, end)
	if r.real != 0 {
		rec.Start = time.Unix(0, r.real+start-r.realAt).UTC()
	}
	r.say(out, tl)
	r.warn(out, tl, loss)
	done, err := b.Finish()
	if err != nil {
		return nil, err
	}
	done.Recording.Holds += busiest(done)
	r.samples.names.unnamed(done)
	return done, nil
}

// manyOrphans are ends without a begin, in percent of slices, above which something is wrong: a few
// slices are open when a trace starts.
const manyOrphans = 1

// warn says what is missing.
func (r *reader) warn(out *run.Run, tl *trace.Timeline, loss trace.SliceLoss) {
	out.Warnings = append(out.Warnings, r.trace.Losses.Lines()...)
	line := func(n int64, format string, args ...any) {
		if n != 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf(format, append([]any{n}, args...)...))
		}
	}
	line(r.lost.timeless, "%d track events have no time and are left out")
	line(r.lost.undescribed, "%d track events are on tracks that nothing describes and are left out")
	line(r.lost.ahead, "%d track events are later than they were written, and are left out: their clock is not that of the trace")
	line(r.lost.typeless, "%d track events have neither type nor phase and are left out")
	r.lost.account(&out.Accounting)
	out.Warnings = append(out.Warnings, timelineWarnings(out, tl, loss, r.facts.Kernel)...)
}
