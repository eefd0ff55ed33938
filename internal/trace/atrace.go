package trace

import (
	"bytes"
	"strconv"
)

// Atrace feeds what a thread of a machine wrote to trace_marker by the rules of Android's atrace:
//
//	B|PID|name                a slice of the thread that writes begins; the name is all that follows
//	E|PID or E                its topmost one ends
//	C|PID|name|value          the value of a counter
//	S|PID|name|cookie         an asynchronous slice begins, F|PID|name|cookie ends it
//	G|PID|track|name|cookie   one on a named track begins, H|PID|track|cookie ends it
//	I|PID|name                an instant, N|PID|track|name one on a track
//
// It reports whether text is one of these; programs write what they like to trace_marker. The
// source is src/trace_processor/importers/systrace/systrace_parser.h of Perfetto, which has the quirks
// of writers: a stray newline or zero at the end, H with a name before the cookie, counters with a
// category after the value. A PID of 0 is not known.
func (b *Builder) Atrace(machine uint32, ts, tid int64, text []byte) bool {
	text = bytes.TrimRight(text, "\n\x00")
	if len(text) == 0 {
		return false
	}
	kind, rest := cutField(text)
	pidText, rest := cutField(rest)
	pid, err := strconv.ParseUint(string(pidText), 10, 32)
	if len(kind) == 0 || err != nil && kind[0] != 'E' {
		return false
	}
	a := atrace{b: b, machine: machine, ts: ts, tid: tid, pid: int64(pid)}
	if pid == 0 {
		a.pid = Unknown
	}
	switch kind[0] {
	case 'B':
		if len(rest) == 0 {
			rest = emptyName
		}
		b.Begin(a.track(), ts, b.Name(rest), 0)
	case 'E':
		b.End(a.track(), ts, 0, 0)
	case 'I':
		name, _ := cutField(rest)
		if len(name) == 0 {
			return false
		}
		b.Complete(a.track(), ts, 0, b.Name(name), 0)
	case 'C':
		name, rest := cutField(rest)
		text, _ := cutField(rest)
		value, err := strconv.ParseInt(string(text), 10, 64)
		if len(name) == 0 || err != nil {
			return false
		}
		b.Count(b.Process(machine, a.pid), b.Name(name), ts, float64(value))
	case 'S', 'F', 'G', 'H', 'N':
		return a.async(kind[0], rest)
	default:
		return false
	}
	return true
}

var emptyName = []byte("[empty slice name]")

// atrace is one text of a thread.
type atrace struct {
	b        *Builder
	machine  uint32
	ts       int64
	tid, pid int64
}

func (a *atrace) track() TrackID {
	return a.b.ThreadTrack(a.b.Thread(a.machine, a.pid, a.tid))
}

// async reads what follows the PID of asynchronous slices, and of instants on tracks.
func (a *atrace) async(kind byte, rest []byte) bool {
	b := a.b
	track, rest := cutField(rest)
	second, rest := cutField(rest)
	third, _ := cutField(rest)
	name, cookieText := second, third
	switch {
	case kind == 'S' || kind == 'F':
		name, cookieText = track, second
	case kind == 'H' && len(third) == 0:
		name, cookieText = nil, second
	}
	var cookie int64
	if kind != 'N' {
		var err error
		if cookie, err = strconv.ParseInt(string(cookieText), 10, 64); err != nil {
			return false
		}
	}
	if len(track) == 0 || len(name) == 0 && kind != 'H' {
		return false
	}
	id := b.AsyncTrack(b.Process(a.machine, a.pid), b.Name(track))
	switch kind {
	case 'S':
		b.AsyncBegin(id, a.ts, b.Name(name), cookie)
	case 'G':
		b.AsyncNest(id, a.ts, b.Name(name), cookie)
	case 'F', 'H':
		b.AsyncEnd(id, a.ts, cookie)
	case 'N':
		b.Complete(id, a.ts, 0, b.Name(name), 0)
	}
	return true
}

// cutField returns what stands before the next bar, and what follows it.
func cutField(text []byte) (field, rest []byte) {
	field, rest, _ = bytes.Cut(text, []byte{'|'})
	return field, rest
}
