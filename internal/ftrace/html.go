package ftrace

import (
	"bytes"

	"profdiff/internal/input"
	"profdiff/internal/trace"
)

// traceData starts a part of the HTML of systrace: one of them is the text of the tracer, others
// are lists of processes and of groups. The attributes of the script may stand in any order.
var traceData = []byte(`class="trace-data"`)

var scriptEnd = []byte("</script>")

// isHTML reports whether head is of the HTML of systrace. The page of its viewer, of two
// megabytes, may stand before the first part: then the name of a script in it tells.
func isHTML(head input.Head) bool {
	start := bytes.ToLower(bytes.TrimSpace(head[:min(len(head), 256)]))
	if !bytes.HasPrefix(start, []byte("<!doctype html")) && !bytes.HasPrefix(start, []byte("<html")) {
		return false
	}
	for _, mark := range [][]byte{traceData, []byte("trace_viewer"), []byte("Android System Trace"), []byte("linuxPerfData"), []byte("tr-ui-timeline-view"), []byte("trace-viewer")} {
		if bytes.Contains(head, mark) {
			return true
		}
	}
	return false
}

// html reads the parts of a page.
func (r *reader) html() {
	for {
		b, ok := r.lines.Next()
		if !ok {
			return
		}
		if first, ok := afterTag(b); ok {
			r.part(bytes.Clone(first))
		} else if bytes.HasPrefix(bytes.TrimLeft(b, " \t"), dataString) {
			r.dataString()
		}
	}
}

// dataString starts the text in the systrace of 2012, which has it as one string of the script; a line
// of it ends with lineInString.
var (
	dataString   = []byte(`var linuxPerfData = "\`)
	lineInString = []byte(`\n\`)
)

// dataString reads that string. The line that ends it has no text.
func (r *reader) dataString() {
	for {
		b, ok := r.lines.Next()
		if !ok || !bytes.HasSuffix(b, lineInString) {
			return
		}
		r.line(b)
	}
}

// afterTag returns what follows the tag of a script of class trace-data at the start of a line. The
// script of the viewer has such tags within its lines.
func afterTag(b []byte) (rest []byte, ok bool) {
	after, found := bytes.CutPrefix(bytes.TrimLeft(b, " \t"), []byte("<script"))
	if !found {
		return nil, false
	}
	tag, rest, closed := bytes.Cut(after, []byte(">"))
	return rest, closed && bytes.Contains(tag, traceData)
}

// part reads one part, whose first line may stand behind the tag that starts it.
func (r *reader) part(first []byte) {
	read := r.line
	begun := false
	for b, ok := first, true; ok; b, ok = r.lines.Next() {
		text, _, end := bytes.Cut(b, scriptEnd)
		switch {
		case begun:
			read(text)
		case len(bytes.TrimSpace(text)) > 0:
			begun = true
			fields := bytes.Fields(text)
			switch {
			case bytes.HasPrefix(text, []byte("PROCESS DUMP")), string(fields[0]) == "USER":
				read = r.process
			case text[0] == '{', text[0] == '[', bytes.HasPrefix(text, []byte("CGROUP DUMP")):
				read = func([]byte) {} // other data
			}
			read(text)
		}
		if end {
			return
		}
	}
}

// process reads a line of a list of processes, of what ps prints: with the name at the end of nine
// columns, or a thread in four.
//
//	USER  PID  PPID  VSZ  RSS  WCHAN  PC  S  NAME  COMM
//	USER  PID  TID  CMD
func (r *reader) process(b []byte) {
	fields := bytes.Fields(b)
	const short, long = 4, 9
	if len(fields) >= short && string(fields[0]) == "USER" {
		r.shortList = string(fields[2]) == "TID"
		return
	}
	switch {
	case len(fields) < short, !r.shortList && len(fields) < long:
	case r.shortList:
		pid, ok := parseInt(fields[1])
		tid, ok2 := parseInt(fields[2])
		if ok && ok2 {
			t := r.thread(tid, pid, nil)
			r.b.NameThread(t.id, input.Text(bytes.Join(fields[3:], []byte(" "))), trace.TreeRank)
		}
	default:
		if pid, ok := parseInt(fields[1]); ok {
			r.b.NameProcess(r.b.Process(0, pid), input.Text(fields[long-1]), trace.TreeRank)
		}
	}
}
