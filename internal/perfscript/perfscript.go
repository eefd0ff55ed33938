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

// Recognise says how many lines of head are of perf script. It takes lines that nothing
// else has, a quarter of all at least: fields of a sample in their places, frames of call
// chains, branch stacks, and other records. Another quarter must at least look like it.
func Recognise(head input.Head) (e input.Evidence) {
	var r recogniser
	for line := range head.Lines() {
		if line = bytes.TrimRight(line, " \t"); len(line) == 0 {
			r.below = true
			continue
		}
		if line[0] == '#' {
			r.comment(line)
			continue
		}
		e.Seen++
		if r.line(line) {
			e.Known++
		}
	}
	e.Is = !r.trace && (r.certain > 0 && 4*r.certain >= e.Seen && 2*e.Known >= e.Seen || e.Seen == 0 && r.header)
	switch {
	case r.trace:
		e.Why = "they are of ftrace: record them with perf"
	case r.certain == 0:
		// Lines that could be of any text are no evidence, however many there are.
		e.Known = 0
		e.Why = "none has a process, an event and a time or period, and none is a frame below them"
	default:
		e.Why = "too many are others"
	}
	return e
}

// A recogniser tells lines of perf script from others.
type recogniser struct {
	below   bool // a line that may start a sample was above
	open    bool // the fields of a sample were above
	certain int  // lines that are nothing but perf script
	header  bool // there is a header of perf script
	trace   bool // a line was nothing but ftrace
}

func (r *recogniser) comment(line []byte) {
	r.header = r.header || bytes.HasPrefix(line, []byte("# ========"))
	r.trace = r.trace || bytes.HasPrefix(line, []byte("# tracer:"))
}

// line reports whether a line looks like one of perf script.
func (r *recogniser) line(line []byte) bool {
	switch {
	case line[0] == '\t':
		return r.frame(line)
	case FirstBranch(line) < len(line) || isBranchStack(line):
		r.certain++
		r.open = true
		return true
	}
	h, ok := ParseHeader(line)
	if text := FindRecord(line); text != nil {
		record, err := ParseRecord(text)
		is := err == nil && (record != Record{}) || ok && h.Strong()
		if is {
			r.certain++
		}
		return is
	}
	if r.open && line[0] == ' ' && !h.Strong() {
		// Frames of simpleperf, places in the source, or other fields of the sample.
		if f, isFrame := ParseFrame(line); isFrame {
			if f.DSO != nil && isAddress(line) {
				r.certain++
			}
			return true
		}
		if file, _ := ParseSourceLine(line); file != nil {
			return true
		}
	}
	r.open = false
	switch {
	case ok && isTrace(&h):
		r.trace = true
		return true
	case ok && h.isCertain(line), isOneLine(line, &h, ok):
		r.certain++
		r.open = true
		return true
	}
	r.open, r.below = ok, true
	return ok
}

// mostName is the longest name of a thread, in bytes.
const mostName = 15

// isCertain reports whether nothing but the start of a sample has these fields.
func (h *Header) isCertain(line []byte) bool {
	switch {
	case h.Event == nil || len(h.Comm) > mostName || bytes.ContainsAny(h.Event, `"'`):
		return false
	case h.HasTime:
		return true
	}
	return h.Rest == len(line) && (h.HasIDs || h.HasPeriod || len(h.Comm) > 0 && line[0] == ' ')
}

// isOneLine reports whether a line is a sample with its frame and without time and event:
// the frame has its file, or an address that is padded behind other fields.
func isOneLine(line []byte, h *Header, ok bool) bool {
	at := InlineFrame(line, 0)
	if at < 0 {
		return false
	}
	w := word{line: line}
	w.move(at)
	f, _ := ParseFrame(line[at:])
	isPadded := w.width() >= frameWidth
	switch {
	case !isAddress(w.text):
		return false
	case f.DSO != nil:
		return isPadded || len(w.text) >= leastAddress
	case !ok || !isPadded || !bytes.ContainsAny(w.text, "abcdef"): // a number in a column
		return false
	case len(f.Symbol) > 0:
		return !input.IsDigits(f.Symbol[:1])
	}
	return h.fields() > 1
}

// leastAddress is how many digits make an address that is not padded: words have fewer.
const leastAddress = 4

// isAddress reports whether text of hexadecimal digits is no word, such as add.
func isAddress(text []byte) bool { return bytes.ContainsAny(text, "0123456789") }

// frame reports whether a line that starts with TAB looks like a frame below others.
func (r *recogniser) frame(line []byte) bool {
	inlined, ok := IsFrame(line)
	if !ok || !r.below && !r.open {
		return r.open // a further field
	}
	at := skipSpace(line, 1)
	isPadded := at > 1 || wordEnd(line, 1) == 1+frameWidth
	if f, _ := ParseFrame(line); isAddress(line[at:wordEnd(line, at)]) && (inlined || isPadded || f.DSO != nil) {
		r.certain++
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
