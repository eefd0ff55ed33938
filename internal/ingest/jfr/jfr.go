// Package jfr reads recordings of Java Flight Recorder, as the JDK (from 11 on) and async-profiler write them.
//
//  1. A recording is one chunk after the other. Each is taken as a whole: its header says where its metadata is, which
//     says what the fields of events and constants are. Nothing is known of them but names of fields.
//  2. Constants are read first, as events may stand before what they refer to: names, methods, stacks, threads.
//  3. Events of the kinds in the table become samples, with the weight that the table says: the period of the sampler,
//     the bytes that an allocation stands for, how long a thread waited.
//  4. A stack becomes one of the run where the first event refers to it. Frames that the compiler inlined share the
//     location of the frame that they are in.
//  5. Other events with stacks are counted, and told of.
//
// The format has no specification; the sources are JEP 328, jdk.jfr.internal.consumer in the JDK, which reads it, and
// flightRecorder.cpp and jfrMetadata.cpp of async-profiler. A reader of 1,400 lines in Go exists, jfr-parser of Grafana: it has no
// threads, no CPUTimeSample and no NativeMethodSample, takes ticks for nanoseconds, and leaves frames and samples out without
// a word where a constant is missing. What is read here has to balance.
package jfr

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// Read reads a recording of Java Flight Recorder.
//
// CPU time is samples times the period that the settings in the recording tell. The JDK's own sampler looks at no more
// than five threads at a time, and leaves out those whose stack it cannot walk, so that the sum may be less than the
// time on the CPU; async-profiler and the JDK's CPUTimeSample count that.
func Read(src *input.Source, opt *reading.Options) (*run.Run, error) {
	r := reader{b: run.NewBuilder(src.Name), opt: opt, others: make(map[string]int64)}
	r.files = reading.NewFiles(r.b)
	in := &bytesReader{r: src.Reader}
	for number := 1; ; number++ {
		at := in.at
		k, err := readChunk(in)
		if k == nil && err == nil {
			break
		}
		if err == nil {
			err = r.chunk(k)
		}
		switch {
		case err == nil && !k.open:
			continue
		case err == nil:
			// The JVM writes where the last complete part ends each second.
			r.warn("the recording was not finished: the last second or so is missing")
		case opt.AllowTruncated && r.read > 0 && isCut(err):
			r.warn("the recording ends in chunk %d, which cannot be read", number)
		case isCut(err):
			return nil, fmt.Errorf("chunk %d at %#x %w; --allow-truncated reads the chunks before", number, at, err)
		default:
			return nil, fmt.Errorf("chunk %d at %#x %w", number, at, err)
		}
		break
	}
	return r.finish()
}

// isCut reports whether a chunk lacks its end.
func isCut(err error) bool {
	return errors.Is(err, errUnfinished) || errors.Is(err, io.ErrUnexpectedEOF)
}

// A reader makes a run of chunks.
type reader struct {
	b     *run.Builder
	opt   *reading.Options
	files reading.Files
	read  int // chunks

	settings settings
	timed    []timed          // samples that are kept until they are in order
	memory   []allocation     // of native memory, and what gave it back
	others   map[string]int64 // events with stacks that are no samples, by type
	pid      int64

	first, last int64 // times of samples, 0 for none
}

func (r *reader) warn(format string, args ...any) {
	run := r.b.Run()
	run.Warnings = append(run.Warnings, fmt.Sprintf(format, args...))
}

// A timed is samples at one time. A span lasts, or is of several samples.
type timed struct {
	run.TimedSample
	count int64
	span  bool
}

// add adds samples.
func (r *reader) add(s timed) {
	r.b.Run().Accounting.In += s.count
	if s.Time > 0 {
		if r.first == 0 || s.Time < r.first {
			r.first = s.Time
		}
		r.last = max(r.last, s.Time)
	}
	if r.opt.Timeline {
		r.timed = append(r.timed, s)
		return
	}
	r.addSum(&s)
}

func (r *reader) addSum(s *timed) {
	r.b.AddSum(s.Event, s.Stack, s.Labels, s.count, s.Weight, float64(s.Weight)/float64(s.count)*float64(s.Weight))
}

// flush adds what was kept, in the order of time.
func (r *reader) flush() {
	if !r.opt.Timeline {
		return
	}
	r.b.KeepTimeline()
	slices.SortStableFunc(r.timed, func(a, b timed) int { return cmp.Compare(a.Time, b.Time) })
	for i := range r.timed {
		s := &r.timed[i]
		if !s.span {
			r.b.AddTimed(s.TimedSample)
			continue
		}
		r.addSum(s)
		r.b.NoteSpan(s.TimedSample)
	}
	r.timed = nil
}

// finish completes the run.
func (r *reader) finish() (*run.Run, error) {
	if r.read == 0 {
		return nil, errors.New("has no chunk")
	}
	r.flush()
	r.keepLive()
	r.nameEvents()
	rec := &r.b.Run().Recording
	rec.Format, rec.Tool = "jfr", "JDK Flight Recorder"
	if version := r.settings.async["version"]; version != "" {
		rec.Tool = "async-profiler " + version
	}
	if r.first > 0 {
		rec.Start, rec.Duration = time.Unix(0, r.first).UTC(), time.Duration(r.last-r.first)
		rec.FirstSample, rec.LastSample = uint64(r.first), uint64(r.last)
	}
	if r.settings.guessed {
		r.warn("the recording does not tell its period: %v is assumed, so that times are good for shares only", jdkPeriod)
	}
	rec.Holds = r.holds()
	return r.b.Finish()
}

// holds tells of the events with stacks that are no samples here, the most frequent first.
func (r *reader) holds() string {
	names := slices.SortedFunc(maps.Keys(r.others), func(a, b string) int {
		return cmp.Or(-cmp.Compare(r.others[a], r.others[b]), strings.Compare(a, b))
	})
	const most = 4
	var parts []string
	for i, name := range names {
		if i == most && len(names) > most+1 {
			parts = append(parts, fmt.Sprintf("events of %d other types", len(names)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%d %s", r.others[name], name))
	}
	if len(parts) == 0 {
		return ""
	}
	return "also " + strings.Join(parts, ", ")
}
