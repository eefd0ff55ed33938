package traces

import (
	"bytes"
	"testing"

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
