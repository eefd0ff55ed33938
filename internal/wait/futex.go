package wait

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"profdiff/internal/run"
)

// lockCall matches functions of the kernel in which threads wait for locks, but also for work.
var lockCall = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(__\w+_sys_(futex\w*|semop|semtimedop\w*)|do_futex|futex_(wait|lock_pi)\w*|(do|ksys)_semtimedop)(\.|$)`)
})

// noLock matches functions in which a thread waits for something else in these calls: a condition, the
// end of a thread, work.
var noLock = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)cond(ition)?_?(variable|var|timed|clock)?_?wait|condition_?variable|condvar|(^|_|::|\.)sem(aphore)?_?\w*wait|pthread_\w*join|thread(handle)?[_.:]+join|(^|[.:])park|object.*[.:]wait|^runtime\.`)
})

// inLockCall reports whether a stack is in a system call for locks, and whether it names something else
// that the thread waits for there.
func inLockCall(r *run.Run, stack run.StackID) (in, other bool) {
	for id := stack; id != 0; id = r.Stacks.Parent(id) {
		l := &r.Locations[r.Stacks.Location(id)]
		kind := r.Mappings[l.Mapping].Kind
		kernel := kind == run.KernelMapping || kind == run.ModuleMapping || kind == run.UnknownMapping
		for _, line := range l.Lines {
			f := &r.Functions[line.Function]
			switch {
			case f.Unknown:
			case kernel && lockCall().MatchString(f.Name):
				in = true
			case noLock().MatchString(f.Name):
				other = true
			}
		}
	}
	return in, other
}

// futexes sums up for how long threads waited in system calls for locks where neither a rule nor the input tells for
// what, and says so: none and "" if that is little, or less than what is told.
func (s *regions) futexes() (unnamed Sum, note string) {
	type fact struct{ in, other bool }
	facts := make(map[run.StackID]fact)
	var all, told Sum
	wakers := false
	for i := range s.r.Waits {
		w := &s.r.Waits[i]
		wakers = wakers || w.Waker != 0
		switch {
		case w.Kind != run.OffCPU:
			return Sum{}, "" // the input tells of locks by itself
		case w.Filtered || w.Stack == 0 || strings.HasPrefix(w.State, "R"):
			continue
		}
		f, ok := facts[w.Stack]
		if !ok {
			f.in, f.other = inLockCall(s.r, w.Stack)
			facts[w.Stack] = f
		}
		if s.wants[i] >= 0 {
			told.add(w)
		}
		if !f.in {
			continue
		}
		all.add(w)
		if s.wants[i] < 0 && !f.other {
			unnamed.add(w)
		}
	}
	if unnamed.TotalNS < noticedNS || unnamed.TotalNS <= told.TotalNS {
		return Sum{}, ""
	}
	length := func(ns int64) time.Duration { return time.Duration(ns).Round(time.Microsecond) }
	note = fmt.Sprintf("threads waited %s in %d waits in futex and other system calls for locks, where they wait for work as well; of %s the stacks tell neither the lock nor who had it: perf record --call-graph dwarf tells which",
		length(all.TotalNS), all.Count, length(unnamed.TotalNS))
	if !wakers {
		note += ", and -e sched:sched_waking who ended the wait"
	}
	return unnamed, note
}
