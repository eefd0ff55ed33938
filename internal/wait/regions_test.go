package wait

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/run"
)

// ms is a millisecond.
const ms = 1_000_000

// regionLines are the regions of a report, one line each.
func regionLines(report *Report) (lines []string) {
	for _, x := range report.Regions {
		words := []string{fmt.Sprintf("%s: %s in %s, %s, %d ms in %d, while %d:", x.Rule, x.Thread.Name, x.Place.Function, x.Evidence, x.TotalNS/ms, x.Count, x.While.Count)}
		for _, p := range x.Waiters {
			words = append(words, fmt.Sprintf("%s %d ms in %d", p.Name, p.TotalNS/ms, p.Count))
		}
		for _, p := range x.Behind {
			words = append(words, fmt.Sprintf("< %s %d ms in %d", p.Name, p.TotalNS/ms, p.Count))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

// A testWait is one of a thread of process 1, or of another if its name is like b@2. Times are in ms.
type testWait struct {
	thread     string
	start, end int64
	stack      string
	waker      string
	wakerStack string
	state      string
}

func recordingOf(t *testing.T, waits []testWait) *run.Run {
	t.Helper()
	rec := newRecording()
	thread := func(name string) run.ThreadID {
		if name == "" {
			return 0
		}
		name, process, _ := strings.Cut(name, "@")
		pid := int64(1)
		if process != "" {
			pid = 2
		}
		return rec.thread(name, pid, int64(100*pid)+int64(name[0]))
	}
	for _, w := range waits {
		rec.Run().Waits = append(rec.Run().Waits, run.Wait{
			Thread: thread(w.thread), Start: w.start * ms, End: w.end * ms, Stack: rec.stack(strings.ReplaceAll(w.stack, " ", ";")),
			Waker: thread(w.waker), WakerStack: rec.stack(strings.ReplaceAll(w.wakerStack, " ", ";")), State: w.state,
		})
	}
	return rec.finish(t)
}

const testRules = `regions:
  - {name: cache, wants: ^Cache_lock$, leaves: ^Cache_unlock$}
  - {name: table, wants: ^lock$, from: ^Table_, except: ^try$, holds: ^Table_write$, blocked: ^send$}
  - {name: shared, wants: ^Shared_lock$, leaves: ^Shared_unlock$, scope: machine}
  - {name: upload, holds: ^with_lock$, blocked: [^send$, ^recv$]}
`

func TestRegions(t *testing.T) {
	rules, err := ParseRules("test.yaml", []byte(testRules))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		waits   []testWait
		want    []string
		unknown int64
	}{
		{
			name: "who wakes as it leaves had it",
			waits: []testWait{
				{thread: "a", start: 0, end: 30, stack: "main Cache_lock futex", waker: "b", wakerStack: "work Cache_unlock"},
				{thread: "b", start: 5, end: 25, stack: "work disk"},
				{thread: "b", start: 40, end: 50, stack: "work disk"},
				{thread: "b", start: 60, end: 70, stack: "work other"},
				{thread: "b", start: 28, end: 29, stack: "work preempted", state: "R+"},
			},
			want: []string{"cache: b in disk, released it, 30 ms in 2, while 1: a 20 ms in 1"},
		},
		{
			name: "one waker after the other",
			waits: []testWait{
				{thread: "a", start: 0, end: 30, stack: "main Cache_lock futex", waker: "b", wakerStack: "work Cache_unlock"},
				{thread: "b", start: 0, end: 10, stack: "work Cache_lock futex", waker: "c", wakerStack: "work Cache_unlock"},
				{thread: "b", start: 15, end: 25, stack: "work disk"},
				{thread: "c", start: 2, end: 9, stack: "work net"},
			},
			want: []string{
				"cache: c in net, released it, 7 ms in 1, while 1: a 7 ms in 1 b 7 ms in 1",
				"cache: b in disk, released it, 10 ms in 1, while 1: a 10 ms in 1",
			},
		},
		{
			name: "a waker that leaves something else had nothing",
			waits: []testWait{
				{thread: "a", start: 0, end: 30, stack: "main Cache_lock futex", waker: "b", wakerStack: "work signal"},
				{thread: "b", start: 5, end: 25, stack: "work disk"},
			},
			unknown: 1,
		},
		{
			name: "nor has a waker of another process",
			waits: []testWait{
				{thread: "a", start: 0, end: 30, stack: "main Cache_lock futex", waker: "b@2", wakerStack: "work Cache_unlock"},
				{thread: "b@2", start: 5, end: 25, stack: "work disk"},
			},
			unknown: 1,
		},
		{
			name: "but of the machine",
			waits: []testWait{
				{thread: "a", start: 0, end: 30, stack: "main Shared_lock futex", waker: "b@2", wakerStack: "work Shared_unlock"},
				{thread: "b@2", start: 5, end: 25, stack: "work disk"},
			},
			want: []string{"shared: b in disk, released it, 20 ms in 1, while 1: a 20 ms in 1"},
		},
		{
			name: "who is in it",
			waits: []testWait{
				{thread: "a", start: 0, end: 30, stack: "main Table_read lock futex"},
				{thread: "b", start: 5, end: 25, stack: "work Table_write x send"},
				{thread: "c", start: 5, end: 25, stack: "work Table_write x recv"},
			},
			want: []string{"table: b in x, was in the region, 20 ms in 1, while 1: a 20 ms in 1"},
		},
		{
			name: "until it waits out of it",
			waits: []testWait{
				{thread: "a", start: 0, end: 60, stack: "main Table_read lock futex"},
				{thread: "b", start: 5, end: 25, stack: "work Table_write x send"},
				{thread: "b", start: 26, end: 28, stack: "work Table_write x send"},
				{thread: "b", start: 30, end: 70, stack: "work idle"},
			},
			want: []string{"table: b in x, was in the region, 22 ms in 2, while 2: a 22 ms in 1"},
		},
		{
			name: "two are in it",
			waits: []testWait{
				{thread: "a", start: 0, end: 30, stack: "main Table_read lock futex"},
				{thread: "b", start: 5, end: 25, stack: "work Table_write x send"},
				{thread: "c", start: 5, end: 25, stack: "work Table_write y send"},
			},
			unknown: 1,
		},
		{
			name: "other callers, and stacks that are excepted",
			waits: []testWait{
				{thread: "a", start: 0, end: 30, stack: "main List_read lock futex"},
				{thread: "a", start: 40, end: 50, stack: "try Table_read lock futex"},
				{thread: "b", start: 5, end: 45, stack: "work Table_write x send"},
			},
		},
		{
			name: "a region for which nobody has to wait",
			waits: []testWait{
				{thread: "a", start: 0, end: 30, stack: "main with_lock x recv"},
				{thread: "a", start: 40, end: 50, stack: "main recv with_lock x"},
			},
			want: []string{"upload: a in x, , 30 ms in 1, while 0:"},
		},
		{
			name: "behind",
			waits: []testWait{
				{thread: "m", start: 0, end: 30, stack: "main Cache_lock futex", waker: "a", wakerStack: "work Cache_unlock"},
				{thread: "a", start: 0, end: 29, stack: "main Table_read lock futex"},
				{thread: "b", start: 5, end: 25, stack: "work Table_write x send"},
			},
			want: []string{
				"table: b in x, was in the region, 20 ms in 1, while 1: a 20 ms in 1 < m 20 ms in 1",
				"cache: a in lock, released it, 29 ms in 1, while 1: m 29 ms in 1",
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			report := New(recordingOf(t, test.waits), rules)
			if diff := cmp.Diff(test.want, regionLines(report)); diff != "" {
				t.Error(diff)
			}
			var unknown int64
			for _, w := range report.Wanted {
				unknown += w.Unknown.Count
			}
			if unknown != test.unknown {
				t.Errorf("%d waits are for nobody known, want %d", unknown, test.unknown)
			}
		})
	}
}

// timed is a recording in which b has the cache whenever it reads the disk, and a wants it then. c sleeps at
// its own pace, and d is woken whenever b is, if it shall follow.
func timed(t *testing.T, seed uint64, holds, follows bool) *run.Run {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 7))
	var waits []testWait
	for now := int64(0); now < 4000; {
		start, took := now+random.Int64N(20), 5+random.Int64N(20)
		end := start + took
		waits = append(waits, testWait{thread: "b", start: start, end: end, stack: "work disk"})
		if follows {
			waits = append(waits, testWait{thread: "d", start: start, end: end, stack: "follow"})
		}
		wanted := start + random.Int64N(took)
		if !holds {
			wanted = now + random.Int64N(60)
			end = wanted + 1 + random.Int64N(20)
		}
		if random.IntN(3) == 0 {
			waits = append(waits, testWait{thread: "a", start: wanted, end: end, stack: "main Cache_lock futex"})
		}
		now = max(end, start+took) + 20 + random.Int64N(20)
	}
	for now := random.Int64N(10); now < 4000; {
		end := now + 1 + random.Int64N(10)
		waits = append(waits, testWait{thread: "c", start: now, end: end, stack: "sleep"})
		now = end + 1
	}
	return recordingOf(t, waits)
}

// TestTiming checks that a holder is found by times, that two that fit are both named, and that in
// recordings without one hardly ever a thread is blamed.
func TestTiming(t *testing.T) {
	rules, err := ParseRules("test.yaml", []byte(testRules))
	if err != nil {
		t.Fatal(err)
	}
	const runs = 40
	blamed := 0
	for seed := range uint64(runs) {
		report := New(timed(t, seed, true, false), rules)
		if len(report.Regions) != 1 || report.Regions[0].Thread.Name != "b" || report.Regions[0].Evidence != EndedTogether {
			t.Errorf("seed %d: %q", seed, regionLines(report))
		} else if x := report.Regions[0]; x.Timing == nil || x.Timing.Matched != x.Timing.Waits || x.Timing.ByChance > 2 || x.Timing.P > 0.01 {
			t.Errorf("seed %d: %+v", seed, x.Timing)
		}
		report = New(timed(t, seed, true, true), rules)
		if len(report.Regions) != 0 || len(report.Notes) == 0 || !strings.Contains(report.Notes[0], "b (thread 198) to") || !strings.Contains(report.Notes[0], "d (thread 200) to") {
			t.Errorf("seed %d: two threads fit: %q, %q", seed, regionLines(report), report.Notes)
		}
		if report = New(timed(t, seed, false, false), rules); len(report.Regions) > 0 {
			blamed++
		}
	}
	if blamed > runs/10 {
		t.Errorf("in %d of %d recordings without a holder, one was named", blamed, runs)
	}
}

// TestRegionsAddUp checks of random waits that what is told is within what there is.
func TestRegionsAddUp(t *testing.T) {
	rules, err := ParseRules("test.yaml", []byte(testRules))
	if err != nil {
		t.Fatal(err)
	}
	stacks := strings.Split("main Cache_lock futex|work disk|x Table_read lock|y Table_write z send|main Shared_lock|with_lock recv|sleep", "|")
	wakers := strings.Split("work Cache_unlock|work Shared_unlock|other", "|")
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 3))
		var waits []testWait
		for thread := range strings.FieldsSeq("a b c d e@2 f@2") {
			for now := int64(0); now < 500; {
				w := testWait{thread: thread, start: now + random.Int64N(10), stack: stacks[random.IntN(len(stacks))]}
				w.end = w.start + 1 + random.Int64N(30)
				now = w.end + 1
				if random.IntN(2) == 0 {
					w.waker, w.wakerStack = string("abcd"[random.IntN(4)]), wakers[random.IntN(3)]
				}
				waits = append(waits, w)
			}
		}
		r := recordingOf(t, waits)
		b := newBuilder(r)
		b.stacks = newClassifier(r, rules)
		found := b.findRegions(rules)
		for _, e := range found.edges {
			if w := &r.Waits[e.Wait]; e.Waiter != w.Thread || e.Holder == e.Waiter || e.Holder == 0 || e.Start < w.Start || e.End > w.End || e.Start > e.End || e.Rule == "" {
				t.Fatalf("seed %d: edge %+v of wait %+v", seed, e, *w)
			}
		}
		for _, x := range New(r, rules).Regions {
			for _, p := range append(x.Waiters, x.Behind...) {
				if p.LongestNS > 30*ms || p.TotalNS > p.Count*30*ms {
					t.Fatalf("seed %d: %+v", seed, p)
				}
			}
			if x.While.Count > x.Count || x.While.TotalNS > x.TotalNS || x.LongestNS > 30*ms {
				t.Fatalf("seed %d: %+v", seed, x)
			}
		}
	}
}

// BenchmarkRegions finds regions in a million waits of a hundred threads.
func BenchmarkRegions(b *testing.B) {
	rec := newRecording()
	stacks := []run.StackID{
		rec.stack("start_thread;worker;parse"), rec.stack("start_thread;worker;pthread_mutex_lock;__lll_lock_wait;futex"),
		rec.stack("start_thread;worker;read;disk"), rec.stack("start_thread;pool;pthread_cond_wait;futex"),
	}
	unlock := rec.stack("start_thread;worker;pthread_mutex_unlock;futex_wake")
	random := rand.New(rand.NewPCG(1, 2))
	r := rec.Run()
	var threads []run.ThreadID
	for i := range 100 {
		threads = append(threads, rec.thread(fmt.Sprint("t", i), 1, int64(i+1)))
	}
	now := make([]int64, len(threads))
	for range 1_000_000 {
		i := random.IntN(len(threads))
		w := run.Wait{Thread: threads[i], Start: now[i] + random.Int64N(10_000), Stack: stacks[random.IntN(len(stacks))]}
		w.End = w.Start + random.Int64N(100_000)
		now[i] = w.End + 1
		if random.IntN(2) == 0 {
			w.Waker, w.WakerStack = threads[random.IntN(len(threads))], unlock
		}
		r.Waits = append(r.Waits, w)
	}
	for b.Loop() {
		x := newBuilder(r)
		x.stacks = newClassifier(r, Builtin())
		found := x.findRegions(Builtin())
		found.listHeld(found.edges)
	}
}

// TestHeldLock checks that of a lock that the input tells only the time counts in which others waited for it: nothing
// tells since when the thread had it, nor whether it had it when nobody wanted it.
func TestHeldLock(t *testing.T) {
	rec := newRecording()
	for _, line := range []string{
		"main 1000000 9000000 worker next enqueue", "other 6000000 12000000 worker next enqueue", "main 20000000 22000000 worker next enqueue",
	} {
		rec.wait(t, run.Contended, line)
	}
	for _, line := range []string{"worker 5000000 900000000 - S:[sleeping] -"} {
		rec.wait(t, run.OffCPU, line)
	}
	want := []string{"lock: worker in [sleeping], owned it when the wait began, 9 ms in 2, while 2: main 6 ms in 2 other 6 ms in 1"}
	if diff := cmp.Diff(want, regionLines(New(rec.finish(t), nil))); diff != "" {
		t.Errorf("regions (-want +got):\n%s", diff)
	}
}
