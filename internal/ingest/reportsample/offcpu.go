package reportsample

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
)

// offCPU finds out for how long threads were off the CPU, from recordings made with
// simpleperf record --trace-offcpu: a sample of sched:sched_switch says where a
// thread left the CPU, and its next sample, or the next switch to it, when it was
// back. The samples of a report are not in order of time, so all are kept until the
// end, in a few bytes each.
type offCPU struct {
	ticks []tick
}

type tick struct {
	time   uint64 // nanoseconds
	tid    int32
	kind   tickKind
	thread uint32 // of the sample, see reading.Tally
	stack  run.StackID
}

type tickKind uint8

const (
	sampleTick   tickKind = iota // a sample on the CPU
	leaveTick                    // a sample of a thread that leaves the CPU
	switchOnTick                 // a CPU goes to a thread
)

// derive adds to the event off the time that follows each sample of a thread that
// leaves the CPU, at least 1 ns, as ReportLib::ProcessSampleRecord in
// simpleperf/report_lib_interface.cpp has it. It returns the number of threads that
// did not come back.
//
// wait is told of each, if it is not nil.
func (o *offCPU) derive(t *reading.Tally, off uint32, wait func(from *tick, end uint64)) (blocked int) {
	slices.SortStableFunc(o.ticks, func(a, b tick) int {
		return cmp.Or(cmp.Compare(a.tid, b.tid), cmp.Compare(a.time, b.time))
	})
	for i := range o.ticks {
		from := &o.ticks[i]
		if from.kind != leaveTick {
			continue
		}
		if i+1 == len(o.ticks) || o.ticks[i+1].tid != from.tid {
			blocked++
			continue
		}
		ns := int64(min(o.ticks[i+1].time-from.time, 1<<62))
		t.AddAt(int64(min(o.ticks[i+1].time, math.MaxInt64)), true, off, from.stack, from.thread, max(ns, 1))
		if wait != nil {
			wait(from, o.ticks[i+1].time)
		}
	}
	return blocked
}

// addWait adds the time from a tick until a thread was back as a wait.
func (r *reader) addWait(from *tick, end uint64) {
	u := r.b.Run()
	if len(u.Threads) == 0 {
		u.Threads = make([]run.Thread, 1)
	}
	id, ok := r.waiting[from.tid]
	if !ok {
		id = run.ThreadID(len(u.Threads))
		r.waiting[from.tid] = id
		t := run.Thread{PID: -1, TID: int64(from.tid)}
		if named, ok := r.threads[from.tid]; ok {
			t.Name, t.PID = named.name, int64(named.pid)
			t.Process, t.Main = r.threads[named.pid].name, named.pid == from.tid
		}
		u.Threads = append(u.Threads, t)
	}
	r.b.AddWait(run.Wait{Thread: id, Start: int64(from.time), End: int64(end), Stack: from.stack})
}

// blockedWarning tells of time off the CPU that is not counted.
func blockedWarning(threads int) string {
	return fmt.Sprintf("%d threads were off the CPU at the end: that time is not counted", threads)
}
