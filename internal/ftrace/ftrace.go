// Package ftrace reads text of the tracer in the kernel: what /sys/kernel/tracing/trace, trace-cmd
// report and Android's atrace print, and the HTML in which systrace embeds that. It feeds a
// [trace.Builder].
//
//  1. A line is an event: a thread, a CPU, flags, a time, the name of the event, its arguments (line.go).
//     Lines that start with # are comments, of which some tell facts; all others are counted.
//  2. Events of scheduling, of threads that start or change their name, and what programs wrote to
//     trace_marker go to the builder (events.go). Others are counted by name.
//  3. HTML has the text in scripts of class trace-data, and lists of processes too (html.go).
//  4. Where the tracer says that it lost events, they are counted.
package ftrace

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"profdiff/internal/input"
	"profdiff/internal/trace"
)

// Format is the name of the format.
const Format = "ftrace text or systrace HTML"

// Recognise tells text of ftrace by lines that nothing else has: in front of the CPU in brackets
// the number of the thread belongs to its name, "xz-12 [001]", where perf script has a space;
// and names of events have no colon.
func Recognise(head input.Head) input.Evidence {
	if isHTML(head) {
		return input.Evidence{Is: true}
	}
	return recognised(head)
}

// Facts say what a trace is of and what is missing in it.
type Facts struct {
	CPUs   int    // 0 if unknown
	Tracer string // "nop" if only events were traced
	// Real is what time it was at RealAt, in nanoseconds on the clock of the trace; zero if unknown.
	Real   time.Time
	RealAt int64
	// Lines are those that are no comments. Events are lines that were used, Redundant are events
	// that say what others say too, Others those that say nothing of slices or scheduling, by name, Markers what
	// programs wrote to trace_marker in forms of their own. Malformed lines are no events, or
	// their arguments are not understood.
	Lines, Events, Redundant, Markers, Malformed int64
	Others                                       map[string]int64
	FirstMalformed                               string
	// Lost are events that the tracer says it dropped, Overwritten those at the start of which only
	// the number is left. Gaps are how often it lost an unknown number.
	Lost, Overwritten, Gaps int64
}

// statesOf is the version of the kernel whose numbers of states are read. Only trace-cmd report -R
// prints numbers: 0x100 is preempted since that version, and was never a state of its own before.
const statesOf = "4.14"

// maxOthers is the most names of events that are counted apart.
const maxOthers = 1000

// Read feeds all of a trace to b. The facts are there even if it returns an error.
func Read(src *input.Source, b *trace.Builder) (*Facts, error) {
	r := &reader{b: b, lines: src.Lines(), threads: make(map[int64]*thread)}
	r.facts.Others = make(map[string]int64)
	b.Kernel(statesOf)
	if isHTML(src.Head) {
		r.html()
	} else {
		r.text()
	}
	f := &r.facts
	if err := r.lines.Err(); err != nil {
		return f, err
	}
	if f.Events == 0 && f.Tracer != "" && f.Tracer != "nop" {
		return f, fmt.Errorf("is of the tracer %s, without events of scheduling or marks of programs", f.Tracer)
	}
	if f.Events == 0 && f.Malformed > 0 && f.Malformed == f.Lines {
		return f, fmt.Errorf("has no line that is an event with a time in seconds: %s", f.FirstMalformed)
	}
	if f.Events == 0 {
		return f, errors.New("has no events of scheduling and no marks of programs")
	}
	return f, nil
}

type reader struct {
	b       *trace.Builder
	lines   *input.Lines
	facts   Facts
	threads map[int64]*thread // by number
	waking  bool              // sched_waking was seen
	// shortList is set if the list of processes has threads.
	shortList bool
}

// thread is what is known of a thread.
type thread struct {
	id   trace.ThreadID
	comm []byte
	tgid int64
}

func (r *reader) text() {
	for {
		b, ok := r.lines.Next()
		if !ok {
			return
		}
		r.line(b)
	}
}

// line reads a line of the tracer.
func (r *reader) line(b []byte) {
	b = bytes.TrimRight(bytes.TrimSuffix(b, lineInString), " \t")
	switch {
	case len(b) == 0, bytes.HasPrefix(b, []byte("#####")): // a CPU's buffer starts
		return
	case b[0] == '#':
		r.comment(b)
		return
	case bytes.HasPrefix(b, []byte("cpus=")):
		r.comment(b)
		return
	case bytes.Equal(b, []byte("TRACE:")): // what atrace says before
		r.facts.Lines, r.facts.Malformed, r.facts.FirstMalformed = 0, 0, ""
		return
	case r.loss(b):
		return
	}
	r.facts.Lines++
	l, ok := parseLine(b)
	if !ok {
		r.malformed(b)
		return
	}
	t := r.thread(l.tid, l.tgid, l.task)
	act := events[string(l.event)]
	if act == nil {
		r.other(l.event)
		return
	}
	switch act(r, &l, t) {
	case used:
		r.facts.Events++
	case marker:
		r.facts.Markers++
	case redundant:
		r.facts.Redundant++
	case bad:
		r.malformed(b)
	}
}

func (r *reader) malformed(b []byte) {
	if r.facts.Malformed == 0 {
		r.facts.FirstMalformed = fmt.Sprintf("line %d is %q", r.lines.Number(), input.Clip(bytes.TrimSpace(b)))
	}
	r.facts.Malformed++
}

// other counts an event that is not used.
func (r *reader) other(event []byte) {
	if event == nil {
		event = []byte("function")
	}
	if n, ok := r.facts.Others[string(event)]; ok || len(r.facts.Others) < maxOthers {
		r.facts.Others[input.Text(event)] = n + 1
	} else {
		r.facts.Others["…"]++
	}
}

// comment reads facts of comments:
//
//	# tracer: nop
//	# entries-in-buffer/entries-written: 30747/31000   #P:2
//	cpus=2
func (r *reader) comment(b []byte) {
	if tracer, ok := bytes.CutPrefix(b, []byte("# tracer: ")); ok {
		r.facts.Tracer = input.Text(bytes.TrimSpace(tracer))
	}
	if _, counts, ok := bytes.Cut(b, []byte("entries-in-buffer/entries-written: ")); ok {
		word, _ := cutWord(counts)
		in, written, _ := bytes.Cut(word, []byte("/"))
		n, ok := parseInt(in)
		m, ok2 := parseInt(written)
		if ok && ok2 && m > n {
			r.facts.Overwritten += m - n
		}
	}
	cpus, ok := bytes.CutPrefix(b, []byte("cpus="))
	if !ok {
		_, cpus, ok = bytes.Cut(b, []byte("#P:"))
	}
	const most = 1 << 16
	if n, isNumber := parseInt(cpus); ok && isNumber && n <= most {
		r.facts.CPUs = int(n)
	}
}

// loss counts what a line says of lost events: "CPU:1 [LOST 123 EVENTS]", "CPU 1: 123 MISSED EVENTS
// recorded", "CPU:1 [EVENTS DROPPED]". It returns false for other lines.
func (r *reader) loss(b []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(b, " "), []byte("CPU"))
	if !ok || !bytes.HasSuffix(rest, []byte("EVENTS]")) && !bytes.HasSuffix(rest, []byte("DROPPED]")) {
		return false
	}
	_, rest, _ = bytes.Cut(rest, []byte("["))
	rest, _ = bytes.CutPrefix(rest, []byte("LOST "))
	digits, _ := cutWord(rest)
	if n, ok := parseInt(digits); ok {
		r.facts.Lost += n
	} else {
		r.facts.Gaps++
	}
	return true
}

// thread returns what is known of a thread, with what a line tells of it.
func (r *reader) thread(tid, tgid int64, comm []byte) *thread {
	t := r.threads[tid]
	if t == nil || tgid >= 0 && t.tgid != tgid {
		if t == nil {
			t = &thread{tgid: -1}
			r.threads[tid] = t
		}
		if t.id == 0 || tgid >= 0 {
			t.id = r.b.Thread(0, tgid, tid)
		}
		if tgid >= 0 {
			t.tgid, t.comm = tgid, nil
		}
	}
	if tid != 0 && len(comm) > 0 && !bytes.Equal(comm, t.comm) && !isPlaceholder(comm) {
		t.comm = append(t.comm[:0], comm...)
		r.b.NameThread(t.id, input.Text(comm), trace.CommRank)
	}
	return t
}

// isPlaceholder reports whether the kernel did not know the name of a thread.
func isPlaceholder(comm []byte) bool {
	switch string(comm) {
	case "<...>", "<idle>", "<unknown>":
		return true
	}
	return false
}
