package stackdump

import (
	"bytes"
	"fmt"
	"slices"

	"profdiff/internal/input"
	"profdiff/internal/run"
)

// locks collects the threads of one dump after the other with the lines on locks in their
// stacks, and at the end of each dump says who waits for whom.
//
//  1. A thread that waits to lock an object waits for its owner. ART names the owner by its own
//     number of the thread, "tid=" and not "sysTid=", which holds within one dump. HotSpot does
//     not name it: there it is the only thread that has the lock.
//  2. A thread that waits or sleeps on an object has released it: nobody owns what it waits for,
//     and that it locked it before, which other lines of its stack say, holds no longer. Others can
//     wait behind it only if it has another lock: else it waits for no lock, and is left out.
//  3. The owner should list the lock. Threads are dumped one after the other, so that it may have
//     gone on since: such waits are counted and remarked, and the owner is kept.
//
// Must match, in AOSP from Android 5 to 15, StackDumpVisitor in art/runtime/thread.cc and
// Monitor::DescribeWait in art/runtime/monitor.cc.
type locks struct {
	r     *run.Run
	ids   map[lockThreadKey]run.ThreadID
	dumps int64 // that began
	// threads are those of the current dump, numbers those of ART.
	threads []lockThread
	numbers map[int64]int
	// malformed are lines on locks that were not understood, of which the first is remembered.
	malformed int
	first     string

	// blocked are threads that wait to lock something, the others those of them of which
	// something is wrong.
	blocked, unknown, unowned, absent, unlisted, several, himself int
}

// lockThreadKey tells threads apart: those of ART have its number, the kernel's may be missing.
type lockThreadKey struct {
	thread run.Thread
	number int64
}

// lockThread is a thread of the current dump.
type lockThread struct {
	lockThreadKey
	state string
	stack run.StackID
	lines []lockLine
	holds bool // a lock that it took in a frame
	id    run.ThreadID
}

// A lockKind says what a thread does with a lock.
type lockKind uint8

const (
	waitsToLock lockKind = iota // what another thread has
	waitsOn                     // an object that it has released
	parksFor                    // what may be a lock, if another thread has it
	hasLocked
)

// lockLine is what a line below a frame says of a lock.
type lockLine struct {
	kind  lockKind
	lock  string // its address and class, "" for an unknown object
	owner int64  // ART's number of the thread that has it, 0 if the line does not say
	// frame is the number of frames of Java above the line, stack that of the frame and its
	// callers.
	frame int
	stack run.StackID
}

// newLocks is nil unless waits are wanted.
func newLocks(r *run.Run, wanted bool) *locks {
	if !wanted {
		return nil
	}
	return &locks{r: r, ids: make(map[lockThreadKey]run.ThreadID), dumps: 1, numbers: make(map[int64]int)}
}

// lockKinds are how lines on locks begin.
var lockKinds = []struct {
	prefix string
	kind   lockKind
}{
	{"locked ", hasLocked},
	{"waiting to lock ", waitsToLock},
	{"waiting for lock inflation of ", waitsToLock},
	{"waiting on ", waitsOn},
	{"sleeping on ", waitsOn},
}

// parseLock reads a line on a lock without the dash before it:
//
//	waiting to lock <0x0e57b6a0> (a java.lang.Object) held by thread 17
//	waiting to lock <0x2b0a8c80> (a java.lang.Object) held by tid=12 (Binder_3)
//	waiting on <@addr=0x12c0a710> (a java.lang.Class<a.b>)
//	waiting to lock an unknown object
//	locked <0x0e57b6a0> (a java.lang.Object)
//
// The second is how Dalvik named the owner.
func parseLock(line []byte) (l lockLine, ok bool) {
	for _, k := range lockKinds {
		rest, found := bytes.CutPrefix(line, []byte(k.prefix))
		if !found {
			continue
		}
		l = lockLine{kind: k.kind}
		if object, owner, held := cutLast(rest, " held by "); held {
			if l.owner, ok = parseOwner(owner); !ok {
				return l, false
			}
			rest = object
		}
		if bytes.Equal(rest, []byte("an unknown object")) {
			return l, true
		}
		l.lock, ok = parseLockName(rest)
		return l, ok
	}
	return l, false
}

// parseLockName reads "<0x0e57b6a0> (a java.lang.Object)".
func parseLockName(b []byte) (name string, ok bool) {
	address, class, ok := bytes.Cut(b, []byte("> (a "))
	if !ok {
		return "", false
	}
	address, ok = bytes.CutPrefix(address, []byte("<"))
	address = bytes.TrimPrefix(address, []byte("@addr="))
	class, closed := bytes.CutSuffix(class, []byte(")"))
	digits, hex := bytes.CutPrefix(address, []byte("0x"))
	if !ok || !closed || !hex || !input.IsHex(digits) || len(class) == 0 {
		return "", false
	}
	return string(address) + " (a " + input.Text(class) + ")", true
}

// parseOwner reads "thread 17" or "tid=12 (Binder_3)".
func parseOwner(b []byte) (int64, bool) {
	if id, ok := bytes.CutPrefix(b, []byte("thread ")); ok {
		return parseID(id)
	}
	id, ok := bytes.CutPrefix(b, []byte("tid="))
	if !ok {
		return 0, false
	}
	id, _, _ = bytes.Cut(id, []byte(" "))
	return parseID(id)
}

// parseMutexes reads what follows "held mutexes=", the locks of the runtime itself:
//
//	"mutator lock"(shared held) "thread list lock"
func parseMutexes(b []byte) (names []string, ok bool) {
	for b = bytes.TrimSpace(b); len(b) > 0; b = bytes.TrimSpace(b) {
		rest, quoted := bytes.CutPrefix(b, []byte(`"`))
		name, rest, closed := bytes.Cut(rest, []byte(`"`))
		if !quoted || !closed || len(name) == 0 {
			return names, false
		}
		text := input.Text(name)
		if how, found := bytes.CutPrefix(rest, []byte("(")); found {
			if how, rest, closed = bytes.Cut(how, []byte(")")); !closed {
				return names, false
			}
			text += " (" + input.Text(bytes.TrimSuffix(how, []byte(" held"))) + ")"
		}
		names = append(names, text)
		b = rest
	}
	return names, true
}

// bad counts a line that is not understood.
func (x *locks) bad(line []byte, number int) {
	if x.malformed == 0 {
		x.first = fmt.Sprintf("line %d is %q", number, input.Clip(line))
	}
	x.malformed++
}

// add adds a thread of the current dump.
func (x *locks) add(t lockThread) {
	if t.number != 0 {
		// Numbers of ART are of one thread each: where one comes again, another dump has begun.
		if _, again := x.numbers[t.number]; again {
			x.endDump()
		}
		x.numbers[t.number] = len(x.threads)
	}
	x.threads = append(x.threads, t)
}

// lockOwners are the threads of a dump by what they have.
type lockOwners struct {
	first map[string]*lockThread // that lists a lock
	count map[string]int
	lists map[listedLock]bool
}

type listedLock struct {
	lock   string
	thread *lockThread
}

// endDump says who waits for whom in the current dump, if it has threads.
func (x *locks) endDump() {
	if len(x.threads) == 0 {
		return
	}
	owners := lockOwners{make(map[string]*lockThread), make(map[string]int), make(map[listedLock]bool)}
	for i := range x.threads {
		t := &x.threads[i]
		for _, l := range t.held() {
			t.holds = t.holds || l.stack != 0
			if owners.count[l.lock]++; owners.count[l.lock] == 1 {
				owners.first[l.lock] = t
			}
			owners.lists[listedLock{l.lock, t}] = true
			x.r.Holds = append(x.r.Holds, run.Hold{Thread: x.thread(t), Start: x.dumps, End: x.dumps, Stack: l.stack, Of: l.lock})
		}
	}
	for i := range x.threads {
		t := &x.threads[i]
		for _, l := range t.lines {
			wants := l.kind == waitsToLock || l.kind == parksFor && owners.count[l.lock] == 1
			if l.kind == hasLocked || !wants && !t.holds {
				continue
			}
			w := run.Wait{Kind: run.Dumped, Thread: x.thread(t), Start: x.dumps, End: x.dumps, Stack: t.stack, State: t.state, For: l.lock}
			if wants {
				if owner := x.owner(t, &l, &owners); owner != nil {
					w.Owner, w.OwnerStack = x.thread(owner), owner.stack
				}
			}
			x.r.Waits = append(x.r.Waits, w)
		}
	}
	x.threads = x.threads[:0]
	clear(x.numbers)
	x.dumps++
}

// held are the lines on locks that a thread has, each lock once, where it took it first,
// without what it waits for: that it has released.
func (t *lockThread) held() []lockLine {
	if !slices.ContainsFunc(t.lines, func(l lockLine) bool { return l.kind == hasLocked }) {
		return nil
	}
	done := make(map[string]bool)
	for _, l := range t.lines {
		if l.kind != hasLocked {
			done[l.lock] = true
		}
	}
	var list []lockLine
	for _, l := range slices.Backward(t.lines) { // the frame that was called first is last
		if l.kind == hasLocked && l.lock != "" && !done[l.lock] {
			done[l.lock] = true
			list = append(list, l)
		}
	}
	return list
}

// owner is who has what t waits to lock, or nil; what is wrong is counted.
func (x *locks) owner(t *lockThread, l *lockLine, owners *lockOwners) *lockThread {
	x.blocked++
	if l.lock == "" {
		x.unknown++
	}
	if l.owner == 0 {
		switch owners.count[l.lock] {
		case 0:
			if l.lock != "" {
				x.unowned++
			}
			return nil
		case 1:
			if owners.first[l.lock] != t {
				return owners.first[l.lock]
			}
			x.himself++
			return nil
		}
		x.several++
		return nil
	}
	i, ok := x.numbers[l.owner]
	if !ok {
		x.absent++
		return nil
	}
	owner := &x.threads[i]
	switch {
	case owner == t:
		x.himself++
		return nil
	case l.lock != "" && !owners.lists[listedLock{l.lock, owner}]:
		x.unlisted++
	case owners.count[l.lock] > 1:
		x.several++
	}
	return owner
}

// thread returns the id of a thread.
func (x *locks) thread(t *lockThread) run.ThreadID {
	if t.id != 0 {
		return t.id
	}
	id, ok := x.ids[t.lockThreadKey]
	if !ok {
		if len(x.r.Threads) == 0 {
			x.r.Threads = append(x.r.Threads, run.Thread{PID: -1, TID: -1})
		}
		id = run.ThreadID(len(x.r.Threads))
		x.r.Threads = append(x.r.Threads, t.thread)
		x.ids[t.lockThreadKey] = id
	}
	t.id = id
	return id
}

// warnings say what is wrong with the lines on locks.
func (x *locks) warnings() []string {
	var list []string
	add := func(n int, text string) {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d of %d threads that wait for a lock %s", n, x.blocked, text))
		}
	}
	add(x.unknown, "wait for an object that the dump does not name")
	add(x.unowned, "wait for what no thread lists as locked: who has it is not known")
	add(x.absent, "wait for a thread that is not in the dump")
	add(x.himself, "are said to wait for themselves, which is not taken for a cycle")
	add(x.several, "wait for a lock that several threads list as theirs: threads are dumped one after the other")
	add(x.unlisted, "wait for a thread that does not list the lock as its own: threads are dumped one after the other, and it may have released it")
	if x.malformed > 0 {
		list = append(list, fmt.Sprintf("%d lines on locks are left out because they are not understood: %s", x.malformed, x.first))
	}
	return list
}
