package ftrace

import (
	"bytes"
	"time"

	"profdiff/internal/trace"
)

// An outcome is what became of an event.
type outcome uint8

const (
	used      outcome = iota
	redundant         // it says nothing that others do not
	marker            // of a program, in a form of its own
	bad               // its arguments are not understood
)

// events are the events that are read, by name.
//
// The sources are include/trace/events/{sched,task,workqueue}.h of Linux; sched_blocked_reason is of
// Android's kernels.
var events map[string]func(*reader, *line, *thread) outcome

func init() {
	events = map[string]func(*reader, *line, *thread) outcome{
		"sched_switch":            (*reader).switched,
		"sched_waking":            (*reader).wakes,
		"sched_wakeup":            (*reader).wakesUp,
		"sched_wakeup_new":        (*reader).starts,
		"sched_blocked_reason":    (*reader).blocked,
		"sched_process_fork":      (*reader).forks,
		"sched_process_exit":      (*reader).exits,
		"task_newtask":            (*reader).newTask,
		"task_rename":             (*reader).renamed,
		"tracing_mark_write":      (*reader).marked,
		"print":                   (*reader).marked,
		"0":                       (*reader).marked, // before Linux 3.4
		"workqueue_execute_start": (*reader).works,
		"workqueue_execute_end":   (*reader).worked,
	}
}

// switched reads sched_switch.
func (r *reader) switched(l *line, _ *thread) outcome {
	s, ok := parseSwitch(l.args)
	if !ok {
		return bad
	}
	state := trace.SwitchState(0)
	if n, isNumber := parseInt(s.state); isNumber {
		state = trace.RawState(n)
	} else {
		state = trace.StateLetters(string(s.state))
	}
	prev, next := r.thread(s.prev, -1, s.prevComm), r.thread(s.next, -1, s.nextComm)
	r.b.Switch(l.cpu, l.time, prev.id, state, next.id)
	return used
}

// wakes reads sched_waking, which happens where the waker runs.
func (r *reader) wakes(l *line, waker *thread) outcome {
	name, tid, ok := parseWoken(l.args)
	if !ok {
		return bad
	}
	r.waking = true
	r.b.Waking(l.cpu, l.time, r.thread(tid, -1, name).id, waker.id, l.interrupt())
	return used
}

// wakesUp reads sched_wakeup, which may happen on another CPU than that of the waker. Where there
// is sched_waking, which comes before it, it says nothing more.
func (r *reader) wakesUp(l *line, waker *thread) outcome {
	name, tid, ok := parseWoken(l.args)
	switch {
	case !ok:
		return bad
	case r.waking:
		return redundant
	}
	r.b.Waking(l.cpu, l.time, r.thread(tid, -1, name).id, waker.id, l.interrupt())
	return used
}

// starts reads sched_wakeup_new: a thread can run for the first time.
func (r *reader) starts(l *line, parent *thread) outcome {
	name, tid, ok := parseWoken(l.args)
	if !ok {
		return bad
	}
	r.b.NewTask(l.cpu, l.time, r.thread(tid, -1, name).id, parent.id)
	return used
}

// blocked reads sched_blocked_reason: "pid=269 iowait=0 caller=worker_thread+0x534/0x820".
func (r *reader) blocked(l *line, _ *thread) outcome {
	tid, ok := number(l.args, "pid")
	ioWait, ok2 := number(l.args, "iowait")
	caller, _ := field(l.args, "caller")
	if !ok || !ok2 || tid < 0 {
		return bad
	}
	function, _, _ := bytes.Cut(caller, []byte("+0x"))
	r.b.BlockedReason(l.cpu, l.time, r.thread(tid, -1, nil).id, ioWait != 0, r.b.Name(function))
	return used
}

// forks reads sched_process_fork: "comm=bash pid=1 child_comm=bash child_pid=2". The child may be
// a process or a thread.
func (r *reader) forks(l *line, _ *thread) outcome {
	tid, ok := number(l.args, "child_pid")
	if !ok || tid < 0 {
		return bad
	}
	r.thread(tid, -1, comm(l.args, "child_comm=", " child_pid="))
	return used
}

// exits reads sched_process_exit: the next switch says that the thread is dead.
func (r *reader) exits(*line, *thread) outcome { return redundant }

// newTask reads task_newtask: "pid=2 comm=bash clone_flags=3d0f00 oom_score_adj=0".
func (r *reader) newTask(l *line, parent *thread) outcome {
	tid, ok := number(l.args, "pid")
	if !ok || tid < 0 {
		return bad
	}
	flags, _ := field(l.args, "clone_flags")
	const cloneThread = 0x10000
	tgid := tid
	if n, isHex := parseHex(flags); !isHex {
		return bad
	} else if n&cloneThread != 0 {
		tgid = parent.tgid
	}
	r.thread(tid, tgid, comm(l.args, "comm=", " clone_flags="))
	return used
}

// parseHex reads hexadecimal digits, with 0x before them or not.
func parseHex(b []byte) (n uint64, ok bool) {
	b = bytes.TrimPrefix(b, []byte("0x"))
	const most = 16
	if len(b) == 0 || len(b) > most {
		return 0, false
	}
	for _, c := range b {
		switch {
		case c >= '0' && c <= '9':
			n = n<<4 | uint64(c-'0')
		case c >= 'a' && c <= 'f':
			n = n<<4 | uint64(c-'a'+10)
		default:
			return 0, false
		}
	}
	return n, true
}

// renamed reads task_rename: "pid=2 oldcomm=bash newcomm=ls oom_score_adj=0".
func (r *reader) renamed(l *line, _ *thread) outcome {
	tid, ok := number(l.args, "pid")
	if !ok || tid < 0 {
		return bad
	}
	r.thread(tid, -1, comm(l.args, " newcomm=", " oom_score_adj="))
	return used
}

// marked reads what a program wrote to trace_marker. trace-cmd prints the function in the kernel
// before it.
func (r *reader) marked(l *line, t *thread) outcome {
	text := l.args
	if r.b.Atrace(0, l.time, l.tid, text) {
		return used
	}
	if _, after, ok := bytes.Cut(text, []byte(": ")); ok && r.b.Atrace(0, l.time, l.tid, after) {
		return used
	}
	if ms, ok := bytes.CutPrefix(text, clockSync); ok {
		return r.clock(l.time, ms)
	}
	if bytes.HasPrefix(text, clockSync[:bytes.IndexByte(clockSync, ' ')]) {
		return redundant
	}
	return marker
}

// clockSync is what atrace writes when a trace begins: the time of the world in milliseconds, and
// other clocks in lines of their own.
var clockSync = []byte("trace_event_clock_sync: realtime_ts=")

// clock notes what time it was in the world.
func (r *reader) clock(at int64, ms []byte) outcome {
	const most = 1 << 42 // the year 2109
	n, ok := parseInt(ms)
	if !ok || n > most {
		return bad
	}
	if r.facts.Real.IsZero() {
		r.facts.Real, r.facts.RealAt = time.UnixMilli(n).UTC(), at
	}
	return redundant
}

// works reads workqueue_execute_start: "work struct 000000009b0d1b1c: function vmstat_update".
func (r *reader) works(l *line, t *thread) outcome {
	_, function, ok := bytes.Cut(l.args, []byte("function "))
	if !ok || len(function) == 0 {
		return bad
	}
	r.b.Begin(r.b.ThreadTrack(t.id), l.time, r.b.Name(function), r.b.NameString(workqueue))
	return used
}

// worked reads workqueue_execute_end.
func (r *reader) worked(l *line, t *thread) outcome {
	r.b.End(r.b.ThreadTrack(t.id), l.time, 0, r.b.NameString(workqueue))
	return used
}

// workqueue is the category of slices of the kernel's workers.
const workqueue = "workqueue"
