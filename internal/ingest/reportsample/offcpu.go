package reportsample

import (
	"cmp"
	"fmt"
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
func (o *offCPU) derive(t *reading.Tally, off uint32) (blocked int) {
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
		t.Add(off, from.stack, from.thread, max(ns, 1))
	}
	return blocked
}

// blockedWarning tells of time off the CPU that is not counted.
func blockedWarning(threads int) string {
	return fmt.Sprintf("%d threads were off the CPU at the end: that time is not counted", threads)
}
