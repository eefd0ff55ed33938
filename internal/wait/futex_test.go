package wait

import (
	"testing"

	"profdiff/internal/run"
)

// TestFutexes checks that waits in futex of which the stacks tell nothing are told, where these are most.
func TestFutexes(t *testing.T) {
	const note = "threads waited 1.3s in 2 waits in futex and other system calls for locks, where they wait for work as well; " +
		"of 1.3s the stacks tell neither the lock nor who had it: perf record --call-graph dwarf tells which"
	cut := []testWait{
		{thread: "a", start: 0, end: 800, stack: "__x64_sys_futex do_futex futex_wait futex_wait_queue schedule", state: "S"},
		{thread: "b", start: 0, end: 500, stack: "[unknown] __x64_sys_futex do_futex futex_wait schedule", state: "S"},
	}
	for _, test := range []struct {
		name string
		more testWait
		want string
	}{
		{"no wakers", testWait{thread: "c", start: 0, end: 10, stack: "read"}, note + ", and -e sched:sched_waking who ended the wait"},
		{"wakers", testWait{thread: "c", start: 0, end: 10, stack: "read", waker: "a"}, note},
		{"less than what is told", testWait{thread: "c", start: 0, end: 1400, stack: "pthread_mutex_lock __lll_lock_wait"}, ""},
	} {
		r := recordingOf(t, append([]testWait{test.more}, cut...))
		if got := futexNote(r); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		report := New(r, nil)
		if unnamed := report.Unnamed.Count; (unnamed == 2) != (test.want != "") {
			t.Errorf("%s: %d unnamed waits", test.name, unnamed)
		}
		if has := len(report.Notes) > 0 && report.Notes[0] == test.want; has != (test.want != "") {
			t.Errorf("%s: the report has the notes %q", test.name, report.Notes)
		}
	}
	for name, stack := range map[string]string{
		"a condition":       "pool pthread_cond_wait __x64_sys_futex do_futex",
		"the end of thread": "main __pthread_clockjoin_ex __x64_sys_futex do_futex",
		"work of Go":        "runtime.notesleep runtime.futexsleep __x64_sys_futex",
		"something else":    "main read __x64_sys_read schedule",
	} {
		if got := futexNote(recordingOf(t, []testWait{{thread: "a", start: 0, end: 900, stack: stack}})); got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := futexNote(recordingOf(t, []testWait{{thread: "a", start: 0, end: 900, stack: "do_futex", state: "R+"}})); got != "" {
		t.Errorf("a thread that could run: %q", got)
	}
}

func futexNote(r *run.Run) string {
	b := newBuilder(r)
	rules := Builtin()
	b.stacks = newClassifier(r, rules)
	_, note := b.findRegions(rules).futexes()
	return note
}
