package traces

import (
	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/trace"
)

// Fields of events of the kernel (protos/perfetto/trace/ftrace).
const (
	switchPrevComm  = 1
	switchPrevPID   = 2
	switchPrevState = 4
	switchNextComm  = 5
	switchNextPID   = 6
	wakingComm      = 1
	wakingPID       = 2
	blockedPID      = 1
	blockedCaller   = 2
	blockedIOWait   = 3
	printText       = 2
	newTaskPID      = 1
	newTaskComm     = 2
	newTaskFlags    = 3
	renamePID       = 1
	renameComm      = 3

	// cloneThread of clone(2): the new thread is of the process that started it.
	cloneThread = 0x10000
	// interruptFlags of common_flags: TRACE_FLAG_HARDIRQ and TRACE_FLAG_SOFTIRQ.
	interruptFlags = 0x08 | 0x10
)

// bundle reads the events of a bundle. Those before all CPUs have some are left out, but for switches in columns: they
// say what their CPU runs.
func (r *reader) bundle(p *perfetto.Packet) error {
	b, err := p.Bundle()
	if err != nil {
		return err
	}
	for e := range b.Events() {
		if e.Time < r.trace.KernelStart {
			continue
		}
		if err := r.kernelEvent(p, b.CPU, e); err != nil {
			p.Damaged(err)
		}
	}
	for s := range b.Switches() {
		next := r.tl.Thread(p.Machine, trace.Unknown, int64(s.NextPID))
		r.tl.Comm(next, s.NextComm)
		r.tl.CompactSwitch(b.CPU, s.Time, trace.RawState(s.PrevState), next)
	}
	for w := range b.Wakings() {
		if w.Time < r.trace.KernelStart {
			continue
		}
		r.tl.CompactWaking(b.CPU, w.Time, r.tl.Thread(p.Machine, trace.Unknown, int64(w.PID)), w.Flags&interruptFlags != 0)
	}
	return nil
}

// kernelEvent reads an event that stands alone.
func (r *reader) kernelEvent(p *perfetto.Packet, cpu uint32, e *perfetto.Event) error {
	m := e.Message()
	writer := func() trace.ThreadID { return r.tl.Thread(p.Machine, trace.Unknown, int64(e.PID)) }
	switch e.Kind {
	case perfetto.Print:
		for m.Next() {
			if m.Num == printText {
				r.mark(r.tl.Atrace(p.Machine, e.Time, int64(e.PID), m.Bytes()))
			} else {
				m.Skip()
			}
		}
	case perfetto.SchedSwitch:
		return r.schedSwitch(p, cpu, e.Time, m)
	case perfetto.SchedWaking:
		var thread trace.ThreadID
		var comm []byte
		for m.Next() {
			switch m.Num {
			case wakingPID:
				thread = r.tl.Thread(p.Machine, trace.Unknown, int64(int32(m.Uint())))
			case wakingComm:
				comm = m.Bytes()
			default:
				m.Skip()
			}
		}
		r.tl.Comm(thread, comm)
		r.tl.Waking(cpu, e.Time, thread, writer(), e.Flags&interruptFlags != 0)
	case perfetto.SchedBlockedReason:
		var thread trace.ThreadID
		var function trace.NameID
		wait := false
		for m.Next() {
			switch m.Num {
			case blockedPID:
				thread = r.tl.Thread(p.Machine, trace.Unknown, int64(int32(m.Uint())))
			case blockedCaller:
				function = r.interned(p.Sequence.Interned(perfetto.KernelSymbols, m.Uint()))
			case blockedIOWait:
				wait = m.Uint() != 0
			default:
				m.Skip()
			}
		}
		r.tl.BlockedReason(cpu, e.Time, thread, wait, function)
	case perfetto.TaskNewTask:
		return r.newTask(p, cpu, e, m)
	case perfetto.TaskRename:
		var thread trace.ThreadID
		for m.Next() {
			switch m.Num {
			case renamePID:
				thread = r.tl.Thread(p.Machine, trace.Unknown, int64(int32(m.Uint())))
			case renameComm:
				r.tl.Comm(thread, m.Bytes())
			default:
				m.Skip()
			}
		}
	}
	return m.Err
}

func (r *reader) schedSwitch(p *perfetto.Packet, cpu uint32, at int64, m input.Fields) error {
	var prev, next trace.ThreadID
	var prevComm, nextComm []byte
	var state int64
	for m.Next() {
		switch m.Num {
		case switchPrevComm:
			prevComm = m.Bytes()
		case switchPrevPID:
			prev = r.tl.Thread(p.Machine, trace.Unknown, int64(int32(m.Uint())))
		case switchPrevState:
			state = int64(m.Uint())
		case switchNextComm:
			nextComm = m.Bytes()
		case switchNextPID:
			next = r.tl.Thread(p.Machine, trace.Unknown, int64(int32(m.Uint())))
		default:
			m.Skip()
		}
	}
	r.tl.Comm(prev, prevComm)
	r.tl.Comm(next, nextComm)
	r.tl.Switch(cpu, at, prev, trace.RawState(state), next)
	return m.Err
}

// newTask reads that a thread was started. It is of the process of the thread that did, or is the
// first of a new process.
func (r *reader) newTask(p *perfetto.Packet, cpu uint32, e *perfetto.Event, m input.Fields) error {
	var tid int64
	var flags uint64
	var comm []byte
	for m.Next() {
		switch m.Num {
		case newTaskPID:
			tid = int64(int32(m.Uint()))
		case newTaskComm:
			comm = m.Bytes()
		case newTaskFlags:
			flags = m.Uint()
		default:
			m.Skip()
		}
	}
	parent := r.tl.Thread(p.Machine, trace.Unknown, int64(e.PID))
	pid := tid
	if flags&cloneThread != 0 {
		pid = r.tl.PIDOf(parent)
	}
	thread := r.tl.Thread(p.Machine, pid, tid)
	r.tl.Comm(thread, comm)
	r.tl.NewTask(cpu, e.Time, thread, parent)
	return m.Err
}

// mark counts what was written to trace_marker by whether it was of atrace.
func (r *reader) mark(ok bool) {
	if !ok {
		r.lost.marks++
	}
}

// Fields of packets of kernels other than Linux (protos/perfetto/trace/generic_kernel/generic_task.proto).
const (
	taskCPU       = 1
	taskComm      = 2
	taskTID       = 3
	taskStateKind = 4
	renameTaskTID = 1
	renameTask    = 2
)

// taskStates are the states of TaskStateEnum.
var taskStates = []trace.State{
	1: trace.Created, 2: trace.Runnable, 3: trace.Running, 4: trace.Sleeping, 5: trace.Uninterruptible,
	6: trace.Stopped, 7: trace.Zombie, 8: trace.Dead,
}

func (r *reader) taskState(p *perfetto.Packet) error {
	var cpu, kind uint64
	var thread trace.ThreadID
	var comm []byte
	m := p.Message()
	for m.Next() {
		switch m.Num {
		case taskCPU:
			cpu = m.Uint()
		case taskComm:
			comm = m.Bytes()
		case taskTID:
			thread = r.tl.Thread(p.Machine, trace.Unknown, int64(m.Uint()))
		case taskStateKind:
			kind = m.Uint()
		default:
			m.Skip()
		}
	}
	if m.Err != nil || !p.Timed || kind == 0 || kind >= uint64(len(taskStates)) {
		return m.Err
	}
	r.tl.Comm(thread, comm)
	r.tl.ThreadState(uint32(cpu), p.Time, thread, taskStates[kind])
	return nil
}

func (r *reader) taskRename(p *perfetto.Packet) error {
	var thread trace.ThreadID
	m := p.Message()
	for m.Next() {
		switch m.Num {
		case renameTaskTID:
			thread = r.tl.Thread(p.Machine, trace.Unknown, int64(m.Uint()))
		case renameTask:
			r.tl.Comm(thread, m.Bytes())
		default:
			m.Skip()
		}
	}
	return m.Err
}
