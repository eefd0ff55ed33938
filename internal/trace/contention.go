package trace

import (
	"strconv"
	"strings"
)

// A Contention is what the Android runtime says of a lock in the name of a slice: the thread of
// the slice waits for it as long as the slice lasts.
type Contention struct {
	// Lock is the name of a lock of the runtime itself, "" for the monitor of a Java object.
	Lock string
	// Owner is the name of the thread that had the lock when the wait began, and OwnerTID its
	// number, 0 if unknown. Before Android 14 the number may be wrong, so that the thread has
	// to be looked for by its name if that of the number has another one.
	Owner    string
	OwnerTID int64
	// Held is where the owner took the monitor, and Blocked where this thread wants it.
	Held, Blocked Site
	// Waiters is how many others waited for the monitor already.
	Waiters int64
}

// A Site is a place in Java code, zero if it is unknown.
type Site struct {
	// Method is as the runtime prints it: "boolean android.os.MessageQueue.quit(int)".
	Method string
	File   string
	Line   int64 // -2 in native methods
}

// Name is the class and the method, without what it returns and takes.
func (s Site) Name() string {
	name, _, _ := strings.Cut(s.Method, "(")
	return name[strings.LastIndexByte(name, ' ')+1:]
}

// The words around the parts of names, from art/runtime/monitor.cc (PrettyContentionInfo,
// Monitor::Lock) and art/runtime/base/mutex-inl.h (ScopedContentionRecorder).
const (
	monitorPrefix = "monitor contention with owner "
	heldWord      = " at "
	waitersWord   = " waiters="
	blockedWord   = " blocking from "
	lockPrefix    = "Lock contention on "
	ownerWord     = " (owner tid: "
	// MonitorLock is the lock within a monitor: a slice of it below that of the monitor is the same wait.
	MonitorLock = "a monitor lock"
)

// ParseContention takes the name of a slice apart:
//
//	monitor contention with owner NAME (TID) at METHOD(FILE:LINE) waiters=N blocking from METHOD(FILE:LINE)
//	Lock contention on NAME (owner tid: TID)
//
// Of the first, both places may be absent. It reads from the right, because threads are called
// what their program likes, "pool (1) at 3" for example. ok is false for other names.
func ParseContention(name string) (c Contention, ok bool) {
	if rest, ok := strings.CutPrefix(name, lockPrefix); ok {
		return parseLock(rest)
	}
	rest, ok := strings.CutPrefix(name, monitorPrefix)
	if !ok {
		return c, false
	}
	if left, right, found := cutLast(rest, blockedWord); found {
		if c, ok = parseMonitor(left); ok {
			// The tracer cuts long names, so that the end of the last place may be missing.
			if c.Blocked, ok = parseSite(right); !ok {
				c.Blocked = Site{Method: right}
			}
			return c, true
		}
	}
	return parseMonitor(rest)
}

// parseMonitor parses "NAME (TID) at METHOD(FILE:LINE) waiters=N".
func parseMonitor(s string) (c Contention, ok bool) {
	if left, right, found := cutLast(s, waitersWord); found {
		if n, err := strconv.ParseUint(right, 10, 31); err == nil {
			s, c.Waiters = left, int64(n)
		}
	}
	if left, right, found := cutLast(s, ")"+heldWord); found {
		if site, ok := parseSite(right); ok {
			s, c.Held = left+")", site
		}
	}
	s, ok = strings.CutSuffix(s, ")")
	owner, tid, found := cutLast(s, " (")
	n, err := strconv.ParseUint(tid, 10, 31)
	c.Owner, c.OwnerTID = owner, int64(n)
	return c, ok && found && err == nil
}

// parseLock parses "NAME (owner tid: TID)".
func parseLock(s string) (c Contention, ok bool) {
	s, ok = strings.CutSuffix(s, ")")
	lock, tid, found := cutLast(s, ownerWord)
	n, err := strconv.ParseUint(tid, 10, 31)
	c.Lock, c.OwnerTID = lock, int64(n)
	return c, ok && found && lock != "" && err == nil
}

// parseSite parses "METHOD(FILE:LINE)".
func parseSite(s string) (site Site, ok bool) {
	s, ok = strings.CutSuffix(s, ")")
	method, place, found := cutLast(s, "(")
	file, line, colon := cutLast(place, ":")
	n, err := strconv.ParseInt(line, 10, 32)
	return Site{method, file, n}, ok && found && colon && method != "" && err == nil
}

// cutLast is strings.Cut around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
