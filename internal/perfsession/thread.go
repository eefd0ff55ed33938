package perfsession

import (
	"profdiff/internal/perffile"
	"profdiff/internal/slots"
)

// A Thread is a thread of the recording. Its fields change as records are
// replayed; during a call with a sample they are as of the sample's time.
type Thread struct {
	// ID numbers the threads of a session from 0.
	ID       int
	PID, TID int32
	Process  *Process
	// Comm is the thread's name as an index for Session.Name.
	Comm NameID
	// Ended is set when it has ended.
	Ended bool

	// There may be as many threads as samples: each field counts.
	recent  uint32  // how many of frames, at their end, are of its previous sample, leaf first
	version uint32  // of the address spaces then
	frames  []Frame // buffer
}

// A Process is an address space with the threads that share it.
type Process struct {
	PID int32
	// Comm is the name of the main thread.
	Comm  NameID
	space space
	// started is when it was forked, or else ran its first program, 0 if no record tells.
	started uint64
}

// A NameID is an interned name of a thread. 0 is "".
type NameID uint32

// Name returns the name with the given id.
func (s *Session) Name(id NameID) string { return s.names[id] }

// ProcessName returns the name of the latest process of a number, as it is now.
func (s *Session) ProcessName(pid int32) string {
	if p, ok := s.processes[pid]; ok {
		return s.Name(p.Comm)
	}
	return ""
}

func (s *Session) intern(name []byte) NameID {
	hash := slots.HashBytes(name)
	at, ok := s.nameIDs.Find(hash, func(i uint32) bool { return s.names[i] == string(name) })
	if !ok {
		s.nameIDs.Put(at, hash, len(s.names))
		s.names = append(s.names, string(name))
	}
	return NameID(s.nameIDs.Index(at))
}

// thread returns the thread tid of process pid, making up what no record has told.
func (s *Session) thread(pid, tid int32) *Thread {
	latest := &s.latest[uint32(tid)%uint32(len(s.latest))]
	if t := *latest; t != nil && t.TID == tid && t.PID == pid {
		return t
	}
	t, ok := s.threads[tid]
	if !ok || t.PID != pid {
		p := s.process(pid)
		t = &Thread{ID: s.Threads, PID: pid, TID: tid, Process: p, Comm: p.Comm}
		s.Threads++
		s.threads[tid] = t
	}
	*latest = t
	return t
}

func (s *Session) process(pid int32) *Process {
	p, ok := s.processes[pid]
	if !ok {
		p = s.Spaces.process(pid)
		if pid == 0 {
			// The kernel names its idle threads so, no record does.
			p.Comm = s.intern([]byte("swapper"))
		}
	}
	return p
}

// exit forgets what a thread that has ended no longer needs.
func (s *Session) exit(t perffile.Task) {
	if t, ok := s.threads[t.TID]; ok {
		t.recent, t.frames, t.Ended = 0, nil, true
	}
}

func (s *Session) comm(c perffile.Comm, time uint64) {
	t := s.thread(c.PID, c.TID)
	t.Comm = s.intern(c.Name)
	if c.PID == c.TID {
		t.Process.Comm = t.Comm
	}
	if c.Exec {
		// The kernel notes an exec when the old mappings are gone, and then the new ones.
		t.Process.space.clear()
		if t.Process.started == 0 && t.frames == nil {
			t.Process.started = time
		}
	}
}

// fork starts a thread or process. A new thread or process with the number of one
// that is still known replaces it.
func (s *Session) fork(t perffile.Task, misc perffile.Misc, time uint64) {
	if t.TID == t.PTID {
		return
	}
	parent := s.thread(t.PPID, t.PTID)
	clear(s.latest[:])
	delete(s.threads, t.TID)
	if t.PID != t.PPID && t.PID == t.TID {
		p := &Process{PID: t.PID, Comm: parent.Comm, started: time}
		if old := s.processes[t.PID]; s.simpleperf && old != nil && old.space.root != nil {
			// simpleperf may have noted mappings of the child before the fork.
			p.space = old.space
			p.space.cover(parent.Process.space.root, s.mapping)
		} else if misc&perffile.MiscForkExec == 0 {
			p.space = parent.Process.space.fork()
		}
		s.replace(p)
	}
	child := s.thread(t.PID, t.TID)
	child.Comm = parent.Comm
}
