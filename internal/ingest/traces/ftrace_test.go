package traces

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
)

func FuzzFtrace(f *testing.F) {
	for _, s := range []string{
		" a-1 ( 1) [000] ..... 1.0: tracing_mark_write: B|1|monitor contention with owner b (2) at f(F:1) waiters=0 blocking from g(G:2)\n a-1 ( 1) [000] ..... 1.5: tracing_mark_write: E|1\n",
		" a-1 [000] d..2. 1.0: sched_switch: prev_comm=a prev_pid=1 prev_prio=1 prev_state=D ==> next_comm=b next_pid=2 next_prio=1\n b-2 [000] d..2. 1.1: sched_waking: comm=a pid=1\n b-2 [000] d..2. 1.2: sched_switch: prev_comm=b prev_pid=2 prev_prio=1 prev_state=Z ==> next_comm=a next_pid=1 next_prio=1\n",
		"# tracer: nop\n a-1 [000] 1.0: print: S|1|x|7\n a-1 [000] 1.1: print: F|1|x|7\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
			return // gzip is undone before
		}
		ingesttest.Fuzz(t, ReadFtrace, data, &reading.Options{PID: true, TID: true, Waits: true})
	})
}

// TestFtraceLost checks that a thread that left a CPU twice, so that what was between is lost, is not
// taken to have waited until the end of the trace.
func TestFtraceLost(t *testing.T) {
	const text = ` a-1 [000] d..2. 1.000000: sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=R ==> next_comm=b next_pid=2 next_prio=120
 a-1 [000] d..2. 2.000000: sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=S ==> next_comm=b next_pid=2 next_prio=120
 b-2 [000] d..2. 2.500000: sched_switch: prev_comm=b prev_pid=2 prev_prio=120 prev_state=X ==> next_comm=a next_pid=1 next_prio=120
 a-1 [000] d..2. 5.000000: sched_switch: prev_comm=a prev_pid=1 prev_prio=120 prev_state=D ==> next_comm=c next_pid=3 next_prio=120
 c-3 [000] d..2. 6.000000: sched_switch: prev_comm=c prev_pid=3 prev_prio=120 prev_state=S ==> next_comm=d next_pid=4 next_prio=120
`
	r := ingesttest.Read(t, ReadFtrace, []byte(text), &reading.Options{Waits: true})
	got := make(map[string]int64)
	for _, s := range r.Samples {
		l := r.Labels[s.Labels]
		got[l.Thread+" "+l.State] += s.Weight
	}
	if d := cmp.Diff(map[string]int64{"a S": 5e8, "a D": 1e9}, got); d != "" {
		t.Errorf("off-CPU (-want +got):\n%s", d)
	}
	if len(r.Waits) != 2 || r.Waits[0].Clipped || !r.Waits[1].Clipped {
		t.Errorf("waits %+v", r.Waits)
	}
	if d := cmp.Diff([]string{
		"1 times a thread left a CPU on which it did not run: switches before were lost, and how long it had waited is not known", "1 times another thread left a CPU than the one that ran there",
	}, ingesttest.ReaderWarnings(r)); d != "" {
		t.Errorf("warnings (-want +got):\n%s", d)
	}
}

// TestFtraceIdle checks that slices of interrupts, which an idle CPU writes, are accounted for, and
// that the trace says when it was recorded.
func TestFtraceIdle(t *testing.T) {
	const text = `          <idle>-0 (-----) [001] d.h3 1.000000: tracing_mark_write: B|0|rd_ptr_irq
               a-1 (    1) [000] ...1 1.500000: tracing_mark_write: B|1|draw
          <idle>-0 (-----) [001] d.h3 2.000000: tracing_mark_write: E|0|rd_ptr_irq
               a-1 (    1) [000] ...1 2.500000: tracing_mark_write: E|1
               a-1 (    1) [000] ...1 3.000000: tracing_mark_write: trace_event_clock_sync: realtime_ts=1572597457436
`
	r := ingesttest.Read(t, ReadFtrace, []byte(text), &reading.Options{})
	if got, want := r.Accounting.String(), "samples: 2 in = 1 out + 0 filtered + 1 dropped (slices of interrupts of an idle CPU: 1); 0 lost; 0.0% of frames unknown"; got != want {
		t.Errorf("accounting %s, want %s", got, want)
	}
	if got, want := r.Recording.Start.UnixMilli(), int64(1572597455436); got != want {
		t.Errorf("recorded at %d ms, want %d", got, want)
	}
}
