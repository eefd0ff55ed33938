package stackdump

import (
	"bytes"
	"regexp"
	"strconv"
	"time"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// HotSpot is the name of the format.
const HotSpot = "HotSpot thread dumps"

// Lines of dumps of HotSpot.
const (
	hotspotDump      = "Full thread dump "
	hotspotState     = "java.lang.Thread.State: "
	hotspotOwned     = "Locked ownable synchronizers:"
	hotspotDeadlock  = "Found " // one Java-level deadlock: the stacks of its threads follow again
	hotspotDeadlocks = "Java-level deadlock"
)

// RecogniseHotSpot tells a dump by its first line, or by the line above one of its threads.
func RecogniseHotSpot(head input.Head) input.Evidence {
	for line := range head.Lines() {
		line = bytes.TrimSpace(line)
		if _, ok := parseHotSpotThread(line); ok || bytes.HasPrefix(line, []byte(hotspotDump)) {
			return input.Evidence{Is: true}
		}
	}
	return input.Evidence{}
}

// ReadHotSpot reads what jstack, jcmd Thread.print and SIGQUIT print of the threads of HotSpot,
// several of them in a file or parts of one, as Read reads dumps of ART. Who has a lock is known by
// who lists it; of locks of java.util.concurrent, if jstack -l was asked.
//
// Must match, in JDK 7 to 25, JavaThread::print_on and print_stack_on in
// src/hotspot/share/runtime/javaThread.cpp, javaVFrame::print_lock_info_on in vframe.cpp, and
// ThreadService in services/threadService.cpp.
func ReadHotSpot(src *input.Source, opt *reading.Options) (*run.Run, error) {
	d := newDump(src, opt)
	h := hotspot{d: d}
	for {
		line, ok := d.lines.Next()
		if !ok {
			break
		}
		h.line(bytes.TrimSpace(line))
	}
	if d.lines.Err() != nil {
		d.end()
		return nil, d.lines.Err()
	}
	return d.finish(HotSpot)
}

// hotspot is where a line stands.
type hotspot struct {
	d       *dump
	owned   bool // in the list of synchronizers of a thread
	repeats bool // stacks of a deadlock, which stand above too
}

func (h *hotspot) line(line []byte) {
	d := h.d
	if head, ok := parseHotSpotThread(line); ok {
		h.owned, h.repeats = false, false
		d.begin(thread{reading: true, headed: true, name: head.name, tid: head.tid, state: head.state})
		return
	}
	switch {
	case bytes.HasPrefix(line, []byte(hotspotDump)):
		d.endDump()
		h.repeats = false
	case bytes.HasPrefix(line, []byte(hotspotDeadlock)) && bytes.Contains(line, []byte(hotspotDeadlocks)):
		d.end()
		h.repeats = true
	case h.repeats:
	case h.fact(line), !d.thread.open:
	case bytes.HasPrefix(line, []byte(hotspotState)):
		d.thread.state = input.Text(line[len(hotspotState):])
	case bytes.Equal(line, []byte(hotspotOwned)):
		h.owned = true
	case bytes.HasPrefix(line, []byte("- ")):
		h.lock(line[len("- "):])
	case bytes.HasPrefix(line, []byte("at ")) && !h.owned:
		loc, err := d.names.java(hotspotFrame(line[len("at "):]))
		if err != nil {
			d.lines.Fail("%w", err)
			return
		}
		d.thread.java = append(d.thread.java, loc)
	}
}

// fact reads a line above a dump: when it was made, and of which process, as jcmd says. It returns
// false for other lines.
func (h *hotspot) fact(line []byte) bool {
	if len(line) == 0 || !isDigit(line[0]) {
		return false
	}
	d := h.d
	if t, err := time.Parse(time.DateTime, string(line)); err == nil {
		d.unzoned.add(t)
		return true
	}
	pid, found := bytes.CutSuffix(line, []byte(":"))
	id, ok := parseID(pid)
	if !found || !ok {
		return false
	}
	d.endDump()
	d.process.pid = id
	return true
}

// Lines on locks as HotSpot prints them, beside those that ART has too.
var hotspotLocks = []struct {
	prefix string
	kind   lockKind
}{
	{"parking to wait for ", parksFor},
	{"waiting to re-lock in wait() ", waitsToLock},
}

// Without an address there is nothing to find: the lock was optimized away, or its object was not known.
var hotspotNameless = [][]byte{
	[]byte("<no object reference available>"), []byte("<owner is scalar replaced>"), []byte("waiting on the Class initialization monitor for "), []byte("eliminated "), []byte("None"),
}

// lock reads a line below a frame, or one of a synchronizer that a thread has.
func (h *hotspot) lock(line []byte) {
	d := h.d
	if d.locks == nil {
		return
	}
	for _, nameless := range hotspotNameless {
		if bytes.Contains(line, nameless) {
			return
		}
	}
	l, ok := parseLock(line)
	if h.owned {
		l.kind = hasLocked
		l.lock, ok = parseLockName(line)
	}
	for _, form := range hotspotLocks {
		if rest, found := bytes.CutPrefix(line, []byte(form.prefix)); found {
			l.kind = form.kind
			l.lock, ok = parseLockName(bytes.TrimLeft(rest, " "))
		}
	}
	if !ok {
		d.locks.bad(line, d.lines.Number())
		return
	}
	if !h.owned {
		l.frame = len(d.thread.java)
	}
	d.thread.locks = append(d.thread.locks, l)
}

// parseHotSpotThread reads the line above a thread:
//
//	"main" #1 prio=5 os_prio=0 cpu=42.92ms elapsed=4.09s tid=0x00007fd4a8017ea0 nid=0x636c waiting on condition  [0x00007fd4aef1e000]
//	"main" #1 [25452] prio=5 os_prio=0 cpu=42.92ms elapsed=4.09s tid=0x00007fd4a8017ea0 nid=25452 runnable  [0x00007fd4aef1e000]
//	"main" prio=10 tid=0x00007f5e3c008800 nid=0x2a11 runnable [0x00007f5e44a2d000]
//
// What it is doing is its state, until that of Java follows.
func parseHotSpotThread(line []byte) (h threadHeader, ok bool) {
	if len(line) == 0 || line[0] != '"' {
		return h, false
	}
	before, fields, ok := cutLast(line, " tid=0x")
	if !ok {
		return h, false
	}
	end := bytes.LastIndexByte(before, '"')
	_, fields, ok = bytes.Cut(fields, []byte(" nid="))
	if end < 1 || !ok {
		return h, false
	}
	id, state, _ := bytes.Cut(fields, []byte(" "))
	h = threadHeader{name: input.Text(before[1:end]), tid: -1}
	if tid, err := strconv.ParseInt(string(id), 0, 32); err == nil && tid >= 0 {
		h.tid = tid
	}
	state, _, _ = bytes.Cut(state, []byte("["))
	h.state = input.Text(bytes.TrimSpace(state))
	return h, true
}

// hiddenClass is the address that the JVM puts behind the names of classes of lambdas, which differs from
// run to run.
var hiddenClass = regexp.MustCompile(`/(?:0x[0-9a-f]+|\d+)(\.[^./(]+\()`)

// hotspotFrame is a frame without the module of its class, and without addresses:
//
//	java.lang.Thread.sleep(java.base@17.0.15/Native Method)
//	L$$Lambda$1/0x00007fd428000a08.run(Unknown Source)
func hotspotFrame(frame []byte) []byte {
	name, place, ok := cutLast(frame, "(")
	if !ok {
		return frame
	}
	if _, after, found := cutLast(place, "/"); found {
		frame = append(append(bytes.Clone(name), '('), after...)
	}
	if bytes.IndexByte(name, '/') >= 0 {
		frame = hiddenClass.ReplaceAll(frame, []byte("$1"))
	}
	return frame
}
