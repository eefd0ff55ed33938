// Package perfscript parses the text of perf script, and of simpleperf's
// report_sample.py, which prints the same: line by line, with any choice of fields (-F)
// that tells samples apart.
//
//  1. A sample is a line
//     comm  pid/tid [cpu] misc time: period event: other fields
//     and then either its call chain, a line TAB address symbol+offset (dso) for each
//     frame and an empty line, or one frame or a branch stack at the end of the line.
//  2. Fields are told apart by form. The name of a thread may hold anything, so it is
//     what stands before the words that make the most fields ([ParseHeader]). A single
//     number before the time is a thread.
//  3. Lines with PERF_RECORD_ tell of other records (--show-mmap-events and the like,
//     [ParseRecord]), comments of the recording (--header, [ParseComment]).
//
// The sources are process_event and perf_sample__fprintf_brstack in
// tools/perf/builtin-script.c and sample__fprintf_callchain in
// tools/perf/util/evsel_fprintf.c of Linux.
package perfscript

import (
	"bytes"

	"profdiff/internal/input"
)

// Recognise says how many lines of head are of perf script. It takes a line that nothing
// else has: fields of a sample that are in their places, the frame of a call chain, a
// branch stack, a record or a line of --header; and half of all lines at least.
func Recognise(head input.Head) (e input.Evidence) {
	var r recogniser
	for line := range head.Lines() {
		if line = bytes.TrimRight(line, " \t"); len(line) == 0 {
			r.below = true
			continue
		}
		e.Seen++
		if r.line(line) {
			e.Known++
		}
	}
	e.Is = r.certain && 2*e.Known >= e.Seen
	e.Why = "none has a process, an event and a time or period, and none is a frame below them"
	switch {
	case r.trace:
		e.Is, e.Why = false, "they are of ftrace: record them with perf"
	case r.certain:
		e.Why = "too many are others"
	}
	return e
}

// A recogniser tells lines of perf script from others.
type recogniser struct {
	below   bool // a line that may start a sample was above
	open    bool // the fields of a sample were above
	certain bool // a line was nothing but perf script
	trace   bool // a line was nothing but ftrace
}

// line reports whether a line is known.
func (r *recogniser) line(line []byte) bool {
	switch {
	case line[0] == '#':
		r.certain = r.certain || bytes.HasPrefix(line, []byte("# ========"))
		r.trace = r.trace || bytes.HasPrefix(line, []byte("# tracer:"))
		return true
	case line[0] == '\t':
		return r.frame(line)
	case FirstBranch(line) < len(line) || IsBranchStack(line):
		r.certain, r.open = true, true
		return true
	}
	h, ok := ParseHeader(line)
	if record := FindRecord(line); record != nil && (ok || len(record) == len(line)) {
		r.certain = true
		return true
	}
	if r.open && line[0] == ' ' && !h.Strong() {
		// Frames of simpleperf, places in the source, or other fields of the sample.
		_, isFrame := IsFrame(line)
		if file, _ := ParseSourceLine(line); isFrame || file != nil {
			return true
		}
	}
	r.open = false
	switch {
	case ok && isTrace(&h):
		r.trace = true
		return true
	case ok && h.HasTime && h.Event != nil, ok && h.Event != nil && h.Rest == len(line) && (h.HasIDs || h.HasPeriod || len(h.Comm) > 0 && line[0] == ' '):
		r.certain, r.open = true, true
		return true
	}
	// Without time and event the only thing to go by is a frame: with its file, or an
	// address that is padded, behind other fields.
	if at := InlineFrame(line, 0); at >= 0 {
		w := word{line: line}
		w.move(at)
		f, _ := ParseFrame(line[at:])
		isPadded := w.width() >= frameWidth
		isMixed := bytes.ContainsAny(w.text, "0123456789") && bytes.ContainsAny(w.text, "abcdef") // no word, no number
		if f.DSO != nil && (isPadded || len(w.text) >= leastAddress) || ok && isPadded && isMixed {
			r.certain = true
			return true
		}
	}
	r.open = ok
	r.below = true
	return ok
}

// leastAddress is how many digits make an address that is not padded: words have fewer.
const leastAddress = 4

// frame reports whether a line that starts with TAB is a frame below others.
func (r *recogniser) frame(line []byte) bool {
	inlined, ok := IsFrame(line)
	if !ok || !r.below && !r.open {
		return r.open // a further field
	}
	if f, _ := ParseFrame(line); inlined || f.DSO != nil || wordEnd(line, 1) == 1+frameWidth || skipSpace(line, 1) > 1 {
		r.certain = true
	}
	return true
}

// isTrace reports whether a line is of ftrace, which puts the thread into the name,
// comm-tid, and flags behind the CPU: comm-tid [cpu] d..2. time: event:
func isTrace(h *Header) bool {
	if h.HasIDs || h.HasPeriod || !h.HasTime || h.Event == nil {
		return false
	}
	name := h.Comm
	if i := bytes.LastIndex(name, []byte(" [")); i >= 0 {
		digits, flags, ok := bytes.Cut(name[i+2:], []byte("]"))
		if ok && input.IsDigits(digits) && len(flags) > 0 {
			return true
		}
	}
	return h.CPU >= 0 && input.IsDigits(name[bytes.LastIndexByte(name, '-')+1:])
}
