// Package stackdump reads the stacks of threads that Android dumps: traces of ART,
// tombstones as text and in protobuf, and what debuggerd -b prints; and those that HotSpot dumps.
//
//  1. A line of text is the head of a process or a thread, a frame, a fact, or skipped. Lines
//     of logcat lose their prefix; those that are of no dump are skipped.
//  2. A tombstone in protobuf gives the same heads and frames by its fields.
//  3. A frame is native, of Java, or of the kernel. Each distinct text of one is taken apart
//     and named once, by what the dump says and by files of the user.
//  4. Lines on locks say who waits for whom in a dump, if that is wanted.
//  5. Each thread is one sample. Frames that the dump left out become one frame; native frames
//     that Java frames show as well are cut off.
//  6. What dumps agree on, the process, the build and the time, describes the recording.
package stackdump

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"time"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// The names of the formats.
const (
	Format    = "Android stack dumps"
	Tombstone = "Android tombstones in protobuf"
)

// event is the event of stack dumps: each stack of a thread is one sample.
const event = "stack-dumps"

// notShown stands for frames that a dump has left out.
const notShown = "[not shown]"

// Why threads of a dump are no samples.
const (
	noStackDropped  = "thread without a stack"
	emulatedDropped = "stack of emulated code"
)

// Read reads the stacks of threads that Android dumps as text: traces of ART
// (SIGQUIT, /data/anr), tombstones, and what debuggerd -b prints, several of them in a
// file or parts of one. Each stack is one sample; threads without one are dropped.
//
// A stack of ART has the native frames and, below them, the Java frames. Where the
// native ones go on through compiled Java code, which the Java frames show as well,
// they are cut off there; in other stacks, frames of the runtime that call Java code are
// left out. ShowARTFrames keeps both.
//
// Frames missing from the numbers of a stack and those for which a line of dots stands
// are one frame [not shown].
//
// Dumps may also be in the output of logcat, of which all else is skipped: tombstones, what
// ART writes there if there is no file for it, and what the watchdog of system_server does.
//
// Must match, in AOSP from Android 5 to 15, Thread::Dump in art/runtime/thread.cc,
// DumpNativeStack in art/runtime/native_stack_dump.cc, libdebuggerd/backtrace.cpp and
// libdebuggerd/tombstone_proto_to_text.cpp (before: tombstone.cpp) in system/core, and
// Unwinder::FormatFrame in system/unwinding/libunwindstack.
func Read(src *input.Source, opt *reading.Options) (*run.Run, error) {
	d := newDump(src, opt)
	for {
		line, ok := d.lines.Next()
		if !ok {
			break
		}
		d.line(bytes.TrimSpace(line))
	}
	if d.lines.Err() != nil {
		return nil, d.lines.Err()
	}
	return d.finish(Format)
}

func newDump(src *input.Source, opt *reading.Options) *dump {
	b := run.NewBuilder(src.Name)
	d := &dump{b: b, opt: opt, lines: src.Lines(), names: newNames(b, opt), locks: newLocks(b.Run(), opt.Waits), process: process{pid: -1}}
	d.event = b.Event(run.Event{Name: event, Unit: "count"})
	return d
}

type dump struct {
	b     *run.Builder
	opt   *reading.Options
	lines *input.Lines
	names *names
	locks *locks // nil unless waits are wanted
	event uint32

	process process
	thread  thread
	// logged is set if the current line is of a log, plain once a thread is not: logs
	// that tombstones quote are then nothing else.
	logged, plain bool
	// tag is that of a dump of ART in the log, which is the name of the process, "art" before
	// Android 8.
	tag string

	arch, build        agreed
	zoned, unzoned     timeSpan
	gaps, unwindFailed int64
}

// process is the process whose threads follow.
type process struct {
	name string
	pid  int64 // -1 if unknown
}

// thread is the thread that is being read.
type thread struct {
	open    bool
	reading bool // frames that follow belong to its stack
	// tombstone is set if other sections follow its stack, until the next thread.
	tombstone bool
	emulated  bool
	name      string
	state     string
	tid       int64
	number    int64 // of ART, 0 if unknown
	locks     []lockLine
	// native holds the locations of kernel and native frames, java the locations of Java
	// frames, leaf first. next is the number of the next native frame.
	native, java []uint32
	next         int
	gap, failed  bool
	// headed is set if there is a line above the stack, short if that is a short one,
	// zeros if all native frames are number 0, as the Play Console shows some.
	headed, short, zeros bool
}

// begin starts a thread.
func (d *dump) begin(t thread) {
	if old := &d.thread; old.open && old.short && !t.short && old.name == t.name && len(old.native)+len(old.java) == 0 {
		old.open = false
	}
	d.end()
	t.open = true
	d.plain = d.plain || !d.logged
	t.native, t.java, t.locks = d.thread.native[:0], d.thread.java[:0], nil
	d.thread = t
}

// end adds the stack of the current thread.
func (d *dump) end() {
	t := &d.thread
	if !t.open {
		return
	}
	t.open = false
	a := &d.b.Run().Accounting
	a.In++
	stack := d.stack()
	d.addLocks(stack)
	switch {
	case len(t.native)+len(t.java) == 0:
		a.Drop(noStackDropped, 1)
		return
	case t.emulated:
		a.Drop(emulatedDropped, 1)
		return
	}
	if t.gap {
		d.gaps++
	}
	if t.failed {
		d.unwindFailed++
	}
	if t.gap || t.failed {
		a.TruncatedStacks++
	}
	l := run.Labels{Process: d.process.name, Thread: t.name, PID: -1, TID: -1, CPU: -1, State: t.state}
	if d.opt.PID {
		l.PID = d.process.pid
	}
	if d.opt.TID {
		l.TID = t.tid
	}
	d.b.Add(d.event, stack, d.b.Labels(l), 1)
}

// stack returns the stack of the current thread, 0 if it has no frames.
func (d *dump) stack() (stack run.StackID) {
	t := &d.thread
	if t.emulated {
		return 0
	}
	line := len(t.locks) // lines on locks that stand below frames not yet added
	for i := len(t.java) - 1; i >= 0; i-- {
		stack = d.b.Stack(stack, t.java[i])
		for ; line > 0 && t.locks[line-1].frame > i; line-- {
			t.locks[line-1].stack = stack
		}
	}
	frames := t.native
	if !d.opt.ShowARTFrames {
		frames = reading.WithoutRuntime(frames, d.names.code, len(t.java) > 0)
	}
	for _, loc := range slices.Backward(frames) {
		stack = d.b.Stack(stack, loc)
	}
	return stack
}

// addLocks adds what the current thread says of locks.
func (d *dump) addLocks(stack run.StackID) {
	t := &d.thread
	if d.locks == nil || t.emulated || t.number == 0 && len(t.locks) == 0 {
		return // nobody refers to it
	}
	d.locks.add(lockThread{
		lockThreadKey: lockThreadKey{
			run.Thread{Process: d.process.name, Name: t.name, PID: d.process.pid, TID: t.tid, Main: t.number == 1 || t.tid >= 0 && t.tid == d.process.pid},
			t.number,
		},
		state: t.state, stack: stack, lines: t.locks,
	})
}

// line reads one line without the space around it: what a line is does not depend on
// how far it is indented.
func (d *dump) line(line []byte) {
	tag, message, logged := cutLog(line)
	if d.logged = logged; logged {
		if d.plain || !d.ofDump(tag, message) {
			return
		}
		line = message
	}
	switch {
	case len(line) == 0:
		d.emptyLine()
		return
	case d.frame(line):
		return
	}
	if h, ok := parseTombstoneThread(line); ok {
		d.end()
		d.process = h.process
		d.begin(thread{tombstone: true, name: h.name, tid: h.tid})
		return
	}
	if h, ok := parseThread(line); ok {
		d.begin(thread{reading: true, headed: true, short: h.short, name: h.name, tid: h.tid, number: h.number, state: h.state})
		return
	}
	switch {
	case bytes.HasPrefix(line, []byte("-----")), bytes.HasPrefix(line, []byte(tombstoneRule)):
		d.rule(line)
	case bytes.HasPrefix(line, []byte(threadRule)):
		d.end()
	case bytes.HasPrefix(line, []byte("Guest thread information for tid:")):
		d.emulated()
	case bytes.Equal(line, []byte("backtrace:")):
		d.backtrace()
	case d.thread.open && d.thread.tombstone:
		// Stacks of other times follow, such as where memory was freed.
		d.thread.reading = d.thread.reading && len(d.thread.native) == 0
	default:
		d.fact(line)
	}
}

// ofDump reports whether a line of a log is of a dump: debuggerd and the watchdog of
// system_server have tags of their own, and what has the tag of a thread's head is of ART.
func (d *dump) ofDump(tag, message []byte) bool {
	switch string(tag) {
	case logTag, d.tag:
		return true
	case watchdogTag:
		return !d.watchdog(message)
	}
	_, _, process := parseHeader(message)
	if _, thread := parseThread(message); process || thread {
		d.tag = string(tag)
		return true
	}
	return false
}

// watchdog starts a thread that the watchdog of system_server found blocked. It returns false
// for other lines. Must match WatchdogDiagnostics.java in frameworks/base of AOSP.
func (d *dump) watchdog(message []byte) bool {
	if bytes.HasPrefix(message, []byte("*** WATCHDOG KILLING")) || bytes.HasPrefix(message, []byte("*** GOODBYE!")) {
		d.endDump()
		d.process = process{name: "system_server", pid: -1}
		return true
	}
	name, ok := bytes.CutSuffix(message, []byte(" stack trace:"))
	if ok {
		d.begin(thread{reading: true, headed: true, name: input.Text(bytes.TrimSuffix(name, []byte(" annotated"))), tid: -1})
	}
	return ok
}

// emptyLine ends the stack of a thread. A tombstone has more of the thread behind it.
func (d *dump) emptyLine() {
	t := &d.thread
	switch {
	case !t.open || len(t.native)+len(t.java) == 0:
	case t.tombstone:
		t.reading = false
	default:
		d.end()
	}
}

// rule reads a line that separates dumps.
func (d *dump) rule(line []byte) {
	if bytes.HasPrefix(line, []byte("---------")) {
		d.thread.reading = false // what was logged
		return
	}
	d.endDump()
	d.process = process{pid: -1}
	if pid, at, ok := parseHeader(line); ok {
		d.process.pid = pid
		d.time(at)
	}
}

// backtrace starts the stack of a tombstone's thread, or of one whose head is missing.
func (d *dump) backtrace() {
	t := &d.thread
	if !t.open {
		d.begin(thread{tombstone: true, tid: -1})
	}
	t.reading = len(t.native) == 0
}

// emulated starts the thread of an app that an emulator of another architecture runs in
// the thread before, whose own stack is the stack of the emulator.
func (d *dump) emulated() {
	d.begin(thread{tombstone: true, emulated: true, name: d.thread.name, tid: d.thread.tid})
}

// fact reads a line "key: value" of a dump.
func (d *dump) fact(line []byte) {
	key, value, ok := bytes.Cut(line, []byte(": "))
	if !ok {
		if d.thread.open && bytes.HasPrefix(line, []byte("|")) {
			d.threadField(line)
		}
		return
	}
	v := bytes.Trim(bytes.TrimSpace(value), "'")
	switch string(key) {
	case "Build fingerprint":
		d.build.add(input.Text(v))
	case "ABI":
		d.arch.add(archOfABI(input.Text(v)))
	case "Timestamp":
		d.time(v)
	case "Cmd line", "Cmdline":
		d.process.name = commandName(v)
	}
}

// threadField reads "| sysTid=8269 nice=0 …" and "| held mutexes=…".
func (d *dump) threadField(line []byte) {
	if _, rest, ok := bytes.Cut(line, []byte("held mutexes=")); ok && d.locks != nil {
		names, ok := parseMutexes(rest)
		for _, name := range names {
			d.thread.locks = append(d.thread.locks, lockLine{kind: hasLocked, lock: name})
		}
		if !ok {
			d.locks.bad(line, d.lines.Number())
		}
		return
	}
	_, rest, ok := bytes.Cut(line, []byte("sysTid="))
	if !ok {
		return
	}
	id, _, _ := bytes.Cut(rest, []byte(" "))
	if tid, ok := parseID(id); ok {
		d.thread.tid = tid
	}
}

// time notes when a dump was made.
func (d *dump) time(at []byte) {
	if t, err := time.Parse("2006-01-02 15:04:05-0700", string(at)); err == nil {
		d.zoned.add(t)
	} else if t, err := time.Parse(time.DateTime, string(at)); err == nil {
		d.unzoned.add(t) // where the device was is unknown
	}
}

// frame adds a frame to the current thread, or starts one whose head is missing. It
// returns false for other lines.
func (d *dump) frame(line []byte) bool {
	t := &d.thread
	native, art := bytes.CutPrefix(line, []byte("native: "))
	if number, rest, ok := cutFrameNumber(native); ok {
		if !t.open {
			d.begin(thread{reading: true, tid: -1})
		}
		if t.reading {
			d.native(number, rest)
		}
		return true
	}
	if !t.open || !t.reading {
		return false
	}
	if art {
		t.failed = true // (Unwind failed for thread 8269: …)
		return true
	}
	if bytes.Equal(line, []byte("...")) || bytes.Equal(line, []byte("…")) {
		d.notShown(len(t.java) > 0)
		return true
	}
	if rest, ok := bytes.CutPrefix(line, []byte("- ")); ok {
		d.lock(rest)
		return true
	}
	if rest, ok := bytes.CutPrefix(line, []byte("kernel: ")); ok {
		d.kernel(rest)
		return true
	}
	if rest, ok := bytes.CutPrefix(line, []byte("at ")); ok {
		if loc, err := d.names.java(rest); err != nil {
			d.lines.Fail("%w", err)
		} else {
			t.java = append(t.java, loc)
		}
		return true
	}
	return false
}

// native adds the native frame with a number.
func (d *dump) native(number int, frame []byte) {
	t := &d.thread
	switch {
	case len(t.java) > 0:
		d.lines.Fail("native frame #%02d calls a Java frame in one stack", number)
		return
	case number == 0 && t.headed && (t.zeros || t.next == 1):
		t.zeros = true
	case number < t.next, t.zeros:
		d.lines.Fail("frame #%02d follows #%02d", number, t.next-1)
		return
	case number > t.next:
		d.notShown(false)
	}
	t.next = number + 1
	loc, err := d.names.native(frame)
	if err != nil {
		d.lines.Fail("frame #%02d: %w", number, err)
		return
	}
	t.native = append(t.native, loc)
}

// kernel adds a frame of the kernel, which stand above the native frames.
func (d *dump) kernel(frame []byte) {
	t := &d.thread
	loc, ok := d.names.kernel(frame)
	switch {
	case !ok:
	case t.next > 0 || len(t.java) > 0:
		d.lines.Fail("a frame of the kernel stands below others of its stack")
	default:
		t.native = append(t.native, loc)
	}
}

// lock adds what a line below a frame says of a lock.
func (d *dump) lock(line []byte) {
	if d.locks == nil {
		return
	}
	l, ok := parseLock(line)
	if !ok {
		d.locks.bad(line, d.lines.Number())
		return
	}
	l.frame = len(d.thread.java)
	d.thread.locks = append(d.thread.locks, l)
}

// endDump ends the current dump.
func (d *dump) endDump() {
	d.end()
	if d.locks != nil {
		d.locks.endDump()
	}
}

// notShown adds the frame that stands for those that are left out.
func (d *dump) notShown(java bool) {
	t := &d.thread
	t.gap = true
	list := &t.native
	if java {
		list = &t.java
	}
	loc := d.names.notShown()
	if n := len(*list); n == 0 || (*list)[n-1] != loc {
		*list = append(*list, loc)
	}
}

// finish completes the run.
func (d *dump) finish(name string) (*run.Run, error) {
	d.endDump()
	r := d.b.Run()
	a := &r.Accounting
	if a.In == 0 {
		return nil, errors.New("is a dump without threads")
	}
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	if a.In == a.TotalDropped() {
		warn("there are no samples")
	}
	if d.gaps > 0 {
		warn("frames are left out in %d of %d stacks: %s stands for them", d.gaps, a.In-a.TotalDropped(), notShown)
	}
	if d.unwindFailed > 0 {
		warn("native frames are missing in %d of %d stacks: the device could not unwind them", d.unwindFailed, a.In-a.TotalDropped())
	}
	r.Warnings = append(r.Warnings, d.names.warnings()...)
	if d.locks != nil {
		r.Warnings = append(r.Warnings, d.locks.warnings()...)
	}
	r.Recording = run.Recording{Format: name, Arch: d.arch.value(), Build: d.build.value()}
	switch {
	case d.unzoned.first.IsZero():
		r.Recording.Start, r.Recording.Duration = d.zoned.first.UTC(), d.zoned.last.Sub(d.zoned.first)
	case d.zoned.first.IsZero():
		r.Recording.Duration = d.unzoned.last.Sub(d.unzoned.first)
	}
	return d.b.Finish()
}

// agreed is a fact that holds if all dumps say the same.
type agreed struct {
	said     string
	disputed bool
}

func (a *agreed) add(value string) {
	a.disputed = a.disputed || a.said != "" && a.said != value
	a.said = value
}

func (a *agreed) value() string {
	if a.disputed {
		return ""
	}
	return a.said
}

// timeSpan is from the first to the last of several times.
type timeSpan struct{ first, last time.Time }

func (s *timeSpan) add(t time.Time) {
	if s.first.IsZero() || t.Before(s.first) {
		s.first = t
	}
	if t.After(s.last) {
		s.last = t
	}
}
