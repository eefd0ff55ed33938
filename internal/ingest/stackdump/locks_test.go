package stackdump

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
)

// lockLines are the waits and holds of a run, a line each.
func lockLines(r *run.Run) (list []string) {
	thread := func(id run.ThreadID) string {
		t := r.Threads[id]
		if id == 0 {
			return "nobody"
		}
		name := fmt.Sprintf("%s/%s %d/%d", t.Process, t.Name, t.PID, t.TID)
		if t.Main {
			name += " main"
		}
		return name
	}
	stack := func(id run.StackID) string {
		var names []string
		for _, loc := range r.Stacks.Append(nil, id) {
			names = append(names, r.Functions[r.Locations[loc].Lines[0].Function].Name)
		}
		return strings.Join(names, "<")
	}
	for _, w := range r.Waits {
		s := fmt.Sprintf("%d: %s (%s) in %s waits for %s", w.Start, thread(w.Thread), w.State, stack(w.Stack), w.For)
		if w.Owner != 0 {
			s += fmt.Sprintf(" of %s in %s", thread(w.Owner), stack(w.OwnerStack))
		}
		if w.Kind != run.Dumped || w.End != w.Start || w.Waker != 0 {
			s += " and is no wait of a dump"
		}
		list = append(list, s)
	}
	for _, h := range r.Holds {
		list = append(list, fmt.Sprintf("%d: %s took %s in %s", h.Start, thread(h.Thread), h.Of, stack(h.Stack)))
	}
	return list
}

// logLines are lines in a log, each but one with a prefix.
func logLines(prefix, other string, lines ...string) string {
	return other + "\n" + prefix + strings.Join(lines, "\n"+prefix) + "\n" + other + "\n"
}

func TestLocks(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
		warnings   []string
	}{
		{
			"cycle", `----- pid 40 at 2023-11-14 22:13:20 -----
Cmd line: app

"main" prio=5 tid=1 Blocked
  | sysTid=40 nice=-10
  | held mutexes=
  at a.Cart.get(Cart.java:3)
  - waiting to lock <0x0a> (a a.Store) held by thread 17
  - locked <0x0b> (a a.Cart)
  at a.Cart.draw(Cart.java:9)
  - locked <0x0b> (a a.Cart)

"worker" daemon prio=5 tid=17 Blocked
  | sysTid=52 nice=0
  | held mutexes= "mutator lock"(shared held) "thread list lock"
  at a.Cart.put(Cart.java:20)
  - waiting to lock <0x0b> (a a.Cart) held by thread 1
  at a.Store.load(Store.java:8)
  - locked <0x0a> (a a.Store)
  ... repeated 3 times
  at java.lang.Thread.run(Thread.java:1)
----- end 40 -----
`,
			[]string{
				"1: app/main 40/40 main (Blocked) in a.Cart.get<a.Cart.draw waits for 0x0a (a a.Store) of app/worker 40/52 in a.Cart.put<a.Store.load<java.lang.Thread.run",
				"1: app/worker 40/52 (Blocked) in a.Cart.put<a.Store.load<java.lang.Thread.run waits for 0x0b (a a.Cart) of app/main 40/40 main in a.Cart.get<a.Cart.draw",
				"1: app/main 40/40 main took 0x0b (a a.Cart) in a.Cart.draw",
				"1: app/worker 40/52 took 0x0a (a a.Store) in a.Store.load<java.lang.Thread.run",
				"1: app/worker 40/52 took thread list lock in ",
				"1: app/worker 40/52 took mutator lock (shared) in ",
			},
			nil,
		},
		{
			"what is waited on is released", "\"a\" prio=5 tid=3 TimedWaiting\nat java.lang.Object.wait(Native method)\n- waiting on <0x0a> (a X)\nat a.B.c(B.java:1)\n- locked <0x0a> (a X)\n" +
				"\"b\" prio=5 tid=4 Sleeping\nat java.lang.Thread.sleep(Native method)\n- sleeping on <0x0c> (a Y)\nat a.B.d(B.java:1)\n- locked <0x0d> (a Z)\n",
			[]string{
				"1: /b -1/-1 (Sleeping) in java.lang.Thread.sleep<a.B.d waits for 0x0c (a Y)",
				"1: /b -1/-1 took 0x0d (a Z) in a.B.d",
			},
			nil,
		},
		{
			"addresses and numbers hold within one dump", "----- pid 4 at 2023-11-14 22:13:20 -----\n\"a\" prio=5 tid=3 Blocked\nat a.B.c(B.java:1)\n- waiting to lock <0x0a> (a X) held by thread 5\n----- end 4 -----\n" +
				"----- pid 4 at 2023-11-14 22:13:21 -----\n\"b\" prio=5 tid=5 Native\nat a.B.d(B.java:1)\n- locked <0x0a> (a X)\n----- end 4 -----\n",
			[]string{"1: /a 4/-1 (Blocked) in a.B.c waits for 0x0a (a X)", "2: /b 4/-1 took 0x0a (a X) in a.B.d"},
			[]string{"1 of 1 threads that wait for a lock wait for a thread that is not in the dump"},
		},
		{
			"dumps without a line between", "\"a\" tid=1 Blocked\nat a.B.c(B.java:1)\n- waiting to lock <0x0a> (a X) held by thread 5\n\"b\" tid=5 Native\nat a.B.d(B.java:1)\n- locked <0x0a> (a X)\n" +
				"\"a\" tid=1 Native\n\"a\" prio=5 tid=1 Blocked\nat a.B.e(B.java:1)\n- waiting to lock <0x0a> (a X) held by thread 5\n\"c\" tid=5 Native\nat a.B.d(B.java:1)\n- locked <0x0a> (a X)\n",
			[]string{
				"1: /a -1/-1 main (Blocked) in a.B.c waits for 0x0a (a X) of /b -1/-1 in a.B.d", "2: /a -1/-1 main (Blocked) in a.B.e waits for 0x0a (a X) of /c -1/-1 in a.B.d",
				"1: /b -1/-1 took 0x0a (a X) in a.B.d", "2: /c -1/-1 took 0x0a (a X) in a.B.d",
			},
			nil,
		},
		{
			"numbers are those of ART", "\"a\" prio=5 tid=3 Blocked\n| sysTid=17\nat a.B.c(B.java:1)\n- waiting to lock <0x0a> (a X) held by thread 17\n\"b\" prio=5 tid=17 Native\n| sysTid=3\nat a.B.d(B.java:1)\n- locked <0x0a> (a X)\n",
			[]string{"1: /a -1/17 (Blocked) in a.B.c waits for 0x0a (a X) of /b -1/3 in a.B.d", "1: /b -1/3 took 0x0a (a X) in a.B.d"},
			nil,
		},
		{
			"owner that has no stack, and one that lists another object of that address", "\"a\" prio=5 tid=3 Blocked\nat a.B.c(B.java:1)\n- waiting to lock <0x0a> (a X) held by thread 5\n" +
				"\"b\" prio=5 tid=5 Native\n\n\"c\" prio=5 tid=6 WaitingForLockInflation\nat a.B.c(B.java:1)\n- waiting for lock inflation of <@addr=0x0c> (a X) held by thread 7\n\"d\" prio=5 tid=7 Native\nat a.B.d(B.java:1)\n- locked <0x0c> (a Y)\n",
			[]string{
				"1: /a -1/-1 (Blocked) in a.B.c waits for 0x0a (a X) of /b -1/-1 in ", "1: /c -1/-1 (WaitingForLockInflation) in a.B.c waits for 0x0c (a X) of /d -1/-1 in a.B.d",
				"1: /d -1/-1 took 0x0c (a Y) in a.B.d",
			},
			[]string{"2 of 2 threads that wait for a lock wait for a thread that does not list the lock as its own: threads are dumped one after the other, and it may have released it"},
		},
		{
			"several owners, none, itself, unknown", "\"a\" prio=5 tid=1 Blocked\nat a.B.c(B.java:1)\n- waiting to lock <0x0a> (a X) held by thread 2\n\"b\" prio=5 tid=2 Native\nat a.B.c(B.java:1)\n- locked <0x0a> (a X)\n" +
				"\"c\" prio=5 tid=3 Native\nat a.B.c(B.java:1)\n- locked <0x0a> (a X)\n\"d\" prio=5 tid=4 Blocked\nat a.B.c(B.java:1)\n- waiting to lock <0x0a> (a X)\n" +
				"\"e\" prio=5 tid=5 Blocked\nat a.B.c(B.java:1)\n- waiting to lock <0x0b> (a X)\n\"f\" prio=5 tid=6 Blocked\nat a.B.c(B.java:1)\n- waiting to lock <0x0c> (a X) held by thread 6\n" +
				"\"g\" prio=5 tid=7 Blocked\nat a.B.c(B.java:1)\n- waiting to lock an unknown object\n",
			[]string{
				"1: /a -1/-1 main (Blocked) in a.B.c waits for 0x0a (a X) of /b -1/-1 in a.B.c", "1: /d -1/-1 (Blocked) in a.B.c waits for 0x0a (a X)",
				"1: /e -1/-1 (Blocked) in a.B.c waits for 0x0b (a X)", "1: /f -1/-1 (Blocked) in a.B.c waits for 0x0c (a X)", "1: /g -1/-1 (Blocked) in a.B.c waits for ",
				"1: /b -1/-1 took 0x0a (a X) in a.B.c", "1: /c -1/-1 took 0x0a (a X) in a.B.c",
			},
			[]string{
				"1 of 5 threads that wait for a lock wait for an object that the dump does not name",
				"1 of 5 threads that wait for a lock wait for what no thread lists as locked: who has it is not known",
				"1 of 5 threads that wait for a lock are said to wait for themselves, which is not taken for a cycle",
				"2 of 5 threads that wait for a lock wait for a lock that several threads list as theirs: threads are dumped one after the other",
			},
		},
		{
			"Dalvik", "\"a\" prio=5 tid=11 MONITOR\nat a.B.c(B.java:1)\n- waiting to lock <0x41f73ee8> (a java.lang.Object) held by tid=16 (Crashlytics (1))\n\"b\" prio=5 tid=16 TIMED_WAIT\nat java.lang.Object.wait(Native Method)\n- waiting on <0x41f935e0> (a java.lang.VMThread) held by tid=16 (b)\n",
			[]string{"1: /a -1/-1 (MONITOR) in a.B.c waits for 0x41f73ee8 (a java.lang.Object) of /b -1/-1 in java.lang.Object.wait"},
			[]string{"1 of 1 threads that wait for a lock wait for a thread that does not list the lock as its own: threads are dumped one after the other, and it may have released it"},
		},
		{
			"ART in the log", logLines("07-27 17:42:46.314  4171 18233 I com.example.app: ", "07-27 17:42:46.315  1000  1022 W ActivityManager: x", "----- pid 4171 at 2023-11-14 22:13:20 -----", "Cmd line: app",
				`"a" prio=5 tid=1 Blocked`, "  | sysTid=4171 nice=0", "  at a.B.c(B.java:1)", "  - waiting to lock <0x0a> (a X) held by thread 2", "", `"b" prio=5 tid=2 Native`, "  at a.B.d(B.java:1)", "  - locked <0x0a> (a X)"),
			[]string{"1: app/a 4171/4171 main (Blocked) in a.B.c waits for 0x0a (a X) of app/b 4171/-1 in a.B.d", "1: app/b 4171/-1 took 0x0a (a X) in a.B.d"},
			nil,
		},
		{
			"watchdog in the log", logLines("07-27 17:42:46.314  1000  1033 W Watchdog: ", "07-27 17:42:46.315  1000  1022 W art     : at x", "*** WATCHDOG KILLING SYSTEM PROCESS: Blocked in handler on main thread (main)",
				"main annotated stack trace:", "    at a.B.c(B.java:1)", "    - waiting to lock <0x0000000a> (a X)", "android.display annotated stack trace:", "    at a.B.d(B.java:1)", "    - locked <0x0000000a> (a X)", "*** GOODBYE!"),
			[]string{"1: system_server/main -1/-1 () in a.B.c waits for 0x0000000a (a X) of system_server/android.display -1/-1 in a.B.d", "1: system_server/android.display -1/-1 took 0x0000000a (a X) in a.B.d"},
			nil,
		},
		{
			"lines that are not understood", "\"a\" prio=5 tid=1 Blocked\n| held mutexes= \"x\"(shared \nat a.B.c(B.java:1)\n- waiting to lock <0x0a> (a X) held by thread\n- locked <zz> (a X)\n- wants <0x0a> (a X)\n- locked <0x0a> (a X\n- locked <0x0b> (a X)\n",
			[]string{"1: /a -1/-1 main took 0x0b (a X) in a.B.c"},
			[]string{`5 lines on locks are left out because they are not understood: line 2 is "| held mutexes= \"x\"(shared"`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := ingesttest.Read(t, Read, []byte(tt.text), &reading.Options{Waits: true})
			if d := cmp.Diff(tt.want, lockLines(r)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.warnings, ingesttest.ReaderWarnings(r)); d != "" {
				t.Errorf("warnings (-want +got):\n%s", d)
			}
			r = ingesttest.Read(t, Read, []byte(tt.text), &reading.Options{})
			if n := len(r.Threads) + len(r.Waits) + len(r.Holds) + len(ingesttest.ReaderWarnings(r)); n > 0 {
				t.Errorf("what nobody asked for is there: %d threads, %d waits, %d holds, %q", len(r.Threads), len(r.Waits), len(r.Holds), r.Warnings)
			}
		})
	}
}
