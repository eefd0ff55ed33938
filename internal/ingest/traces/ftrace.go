package traces

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"profdiff/internal/ftrace"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// Ftrace is what text of ftrace is called.
const Ftrace = ftrace.Format

// ReadFtrace reads text of ftrace, and systrace HTML.
func ReadFtrace(src *input.Source, opt *reading.Options) (*run.Run, error) {
	tb := trace.NewBuilder()
	facts, err := ftrace.Read(src, tb)
	if err != nil {
		return nil, err
	}
	tl := tb.Finish()
	b := run.NewBuilder(src.Name)
	out := b.Run()
	out.Recording = run.Recording{Format: Ftrace, CPUs: facts.CPUs, Timeline: true}
	if facts.Tracer != "" && facts.Tracer != "nop" {
		out.Recording.Tool = "tracer " + facts.Tracer
	}
	setTimes(&out.Recording, tl.Start, tl.End)
	if !facts.Real.IsZero() {
		out.Recording.Start = facts.Real.Add(time.Duration(tl.Start - facts.RealAt))
	}
	p, err := newProfile(b, tl, opt)
	if err != nil {
		return nil, err
	}
	loss := p.add()
	out.Warnings = append(out.Warnings, ftraceWarnings(facts)...)
	out.Warnings = append(out.Warnings, timelineWarnings(out, tl, loss, "")...)
	out, err = b.Finish()
	if err == nil && out.Accounting.In == 0 && len(out.Samples) == 0 {
		return nil, fmt.Errorf("has too little: of %d events no slice follows and no time in which a thread had no CPU", facts.Events)
	}
	return out, err
}

// ftraceWarnings say what is missing in text of ftrace.
func ftraceWarnings(f *ftrace.Facts) (list []string) {
	warn := func(n int64, format string, args ...any) {
		if n != 0 {
			list = append(list, fmt.Sprintf(format, append([]any{n}, args...)...))
		}
	}
	warn(f.Overwritten, "%d events were overwritten before the first ones: the buffer of the tracer was too small")
	warn(f.Lost, "%d events were lost by the tracer: what depends on them, such as states of threads, is wrong for a while")
	warn(f.Gaps, "%d times the tracer lost events, and did not count how many")
	warn(f.Malformed, "%d of %d lines are left out because they are no events or are not understood: %s", f.Lines, f.FirstMalformed)
	warn(f.Markers, "%d marks of programs are not of atrace, and are left out")
	if others := otherEvents(f.Others); others != "" {
		list = append(list, "events that are not read: "+others)
	}
	return list
}

// otherEvents lists events with their numbers, the most frequent ones.
func otherEvents(others map[string]int64) string {
	const most = 5
	names := slices.SortedFunc(maps.Keys(others), func(a, b string) int {
		return cmp.Or(-cmp.Compare(others[a], others[b]), strings.Compare(a, b))
	})
	var list []string
	for _, name := range names[:min(len(names), most)] {
		list = append(list, fmt.Sprintf("%d %s", others[name], name))
	}
	if more := len(names) - most; more > 0 {
		list = append(list, fmt.Sprintf("%d more kinds", more))
	}
	return strings.Join(list, ", ")
}

// setTimes notes when a trace begins and ends, on its clock.
func setTimes(rec *run.Recording, start, end int64) {
	rec.Duration = time.Duration(end - start)
	rec.FirstSample, rec.LastSample = uint64(max(0, start)), uint64(max(0, end))
}

// timelineWarnings say what of scheduling and of slices is missing. Slices that are left out are
// accounted for in out.
func timelineWarnings(out *run.Run, tl *trace.Timeline, loss trace.SliceLoss, kernel string) (list []string) {
	line := func(n int64, format string, args ...any) {
		if n != 0 {
			list = append(list, fmt.Sprintf(format, append([]any{n}, args...)...))
		}
	}
	line(tl.Sched.Lost, "%d times a thread left a CPU on which it did not run: switches before were lost, and how long it had waited is not known")
	line(tl.Sched.Mismatched, "%d times another thread left a CPU than the one that ran there")
	line(tl.Sched.Invalid, "%d states of threads are none that the kernel %s has", kernel)
	line(tl.Sched.Disordered, "%d states of threads cannot follow those before them and are left out")
	if loss.Orphans > manyOrphans*out.Accounting.In/100 {
		line(loss.Orphans, "%d ends of slices have no begin: it was before the trace, or is lost")
	}
	// They were begun, so that they came in.
	a := &out.Accounting
	a.In += loss.TooDeep + loss.Overlapping
	a.Drop("slices in more than 512 others", loss.TooDeep)
	a.Drop("slices that begin in another one and end after it", loss.Overlapping)
	line(loss.TooDeep, "%d slices are in more than 512 others and are left out")
	line(loss.Overlapping, "%d slices begin in another one and end after it, and are left out")
	return list
}
