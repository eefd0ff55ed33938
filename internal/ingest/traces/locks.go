package traces

import (
	"strconv"

	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// contention is what the name of a slice says of a lock, nil if it says nothing.
func (p *profile) contention(name trace.NameID) *trace.Contention {
	c, known := p.locks[name]
	if !known {
		if parsed, ok := trace.ParseContention(p.tl.Name(name)); ok {
			c = &parsed
		}
		p.locks[name] = c
	}
	return c
}

// contended adds a slice to the contention profile, if it tells of a lock.
func (p *profile) contended(id trace.ThreadID, s []trace.Slice, stacks []run.StackID, i int) {
	c := p.contention(s[i].Name)
	if c == nil {
		return
	}
	if c.Lock == trace.MonitorLock && s[i].Parent >= 0 {
		if outer := p.contention(s[s[i].Parent].Name); outer != nil && outer.Lock == "" {
			return // the same wait
		}
	}
	th := &p.tl.Threads[id]
	owner := p.owner(th, c)
	var around run.StackID
	if s[i].Parent >= 0 {
		around = stacks[s[i].Parent]
	}
	held, wanted := p.sites(c)
	end, clipped := s[i].End, false
	if s[i].Unfinished() {
		end, clipped = p.tl.End, true
	}
	if p.opt.Waits {
		w := run.Wait{
			Kind: run.Contended, Thread: run.ThreadID(id), Start: s[i].Start, End: end, Clipped: clipped,
			Stack: p.b.Stack(around, wanted), State: "Blocked", For: c.Lock, Owner: run.ThreadID(owner),
		}
		if c.Held != (trace.Site{}) {
			w.OwnerStack = p.b.Stack(0, held)
		}
		p.addWait(&w)
	}
	time := p.spans.Overlap(id, th.Process, s[i].Start, end)
	if time <= 0 {
		return
	}
	l := p.contentionLabels(id, owner, c)
	stack := p.b.Stack(p.b.Stack(around, held), wanted)
	contentions, delay := p.event(&p.contentions, contentionsEvent, "count", true), p.event(&p.delay, delayEvent, "nanoseconds", true)
	p.b.AddSum(contentions, stack, l, 1, 1, 1)
	p.b.NoteSpan(run.TimedSample{Event: contentions, Stack: stack, Labels: l, Weight: 1, Time: s[i].Start})
	p.b.AddSum(delay, stack, l, 1, time, float64(time)*float64(time))
	p.noteSpan(delay, stack, l, id, th.Process, s[i].Start, end)
}

// sites are the locations where a lock was held and where it is wanted.
func (p *profile) sites(c *trace.Contention) (held, wanted uint32) {
	if c.Lock != "" {
		return p.location(run.Function{Name: "[held by another thread]"}, 0), p.location(run.Function{Name: "Lock contention on " + c.Lock}, 0)
	}
	return p.site(c.Held, "[held by a method that is not known]"), p.site(c.Blocked, "[wanted by a method that is not known]")
}

func (p *profile) site(s trace.Site, unknown string) uint32 {
	name := s.Name()
	if name == "" {
		return p.location(run.Function{Name: unknown}, 0)
	}
	f := p.b.Function(run.Function{Name: name, SystemName: s.Method, File: s.File})
	return p.b.Location(0, 0, run.Line{Function: f, Line: max(0, s.Line)})
}

// contentionLabels are those of a contention: who waits, who has the lock, whether the main thread
// waits, how many others waited already.
func (p *profile) contentionLabels(id, owner trace.ThreadID, c *trace.Contention) uint32 {
	th := &p.tl.Threads[id]
	name := c.Owner
	if name == "" {
		name = p.tl.Threads[owner].Name
	}
	l := run.Labels{Process: p.tl.Processes[th.Process].Name, Thread: th.Name, PID: -1, TID: -1, CPU: -1}
	if p.opt.PID {
		l.PID = p.tl.Processes[th.Process].PID
	}
	if p.opt.TID {
		l.TID = th.TID
	}
	l.Other = "main\x00" + strconv.FormatBool(th.Main) + "\x00owner\x00" + name + "\x00waiters\x00" + strconv.FormatInt(c.Waiters, 10) + "\x00"
	return p.b.Labels(l)
}

// owner is the thread that had the lock: by its number, in the process that waits; or by its name, if
// the number has another one there.
func (p *profile) owner(waiter *trace.Thread, c *trace.Contention) trace.ThreadID {
	if p.owners == nil {
		p.owners = make(map[ownerKey]trace.ThreadID)
		for i := range p.tl.Threads {
			th := &p.tl.Threads[i]
			if i == 0 || th.Process == 0 {
				continue
			}
			p.owners[ownerKey{process: th.Process, tid: th.TID}] = trace.ThreadID(i)
			key := ownerKey{process: th.Process, tid: trace.Unknown, name: th.Name}
			if _, twice := p.owners[key]; twice {
				p.owners[key] = 0
			} else {
				p.owners[key] = trace.ThreadID(i)
			}
		}
	}
	byTID := p.owners[ownerKey{process: waiter.Process, tid: c.OwnerTID}]
	if c.Owner == "" || byTID != 0 && sameThread(p.tl.Threads[byTID].Name, c.Owner) {
		return byTID
	}
	if byName := p.owners[ownerKey{process: waiter.Process, tid: trace.Unknown, name: c.Owner}]; byName != 0 {
		return byName
	}
	return byTID
}

// An ownerKey is a thread of a process, by its number or, if tid is trace.Unknown, its name.
type ownerKey struct {
	process trace.ProcessID
	tid     int64
	name    string
}

// maxComm is how much of the name of a thread the kernel keeps.
const maxComm = 15

// sameThread reports whether the kernel's name of a thread may be that of the runtime.
func sameThread(comm, name string) bool {
	if comm == name || comm == "" || name == "main" {
		return true
	}
	if len(name) > maxComm {
		// The kernel has the start of a name, or its end: Android sets that.
		return comm == name[:maxComm] || comm == name[len(name)-maxComm:]
	}
	return false
}

// listThreads makes the threads that waits refer to: the numbers are those of the timeline.
func (p *profile) listThreads() {
	out := p.b.Run()
	out.Threads = make([]run.Thread, len(p.tl.Threads))
	for i := range p.tl.Threads {
		th := &p.tl.Threads[i]
		process := &p.tl.Processes[th.Process]
		out.Threads[i] = run.Thread{Process: process.Name, Name: th.Name, PID: process.PID, TID: th.TID, Main: th.Main}
	}
	out.Threads[0] = run.Thread{}
}
