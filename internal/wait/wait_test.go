package wait

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/run"
)

// wait adds the wait of a line "waiter FROM TO owner blocked held"; "-" is nothing. The owner of an
// off-CPU wait is who ended it, and blocked begins with its state: "S:a;b".
func (r *recording) wait(t *testing.T, kind run.WaitKind, line string) {
	t.Helper()
	var waiter, owner, blocked, held string
	w := run.Wait{Kind: kind}
	if _, err := fmt.Sscan(line, &waiter, &w.Start, &w.End, &owner, &blocked, &held); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	named := func(s string) string { return strings.Trim(s, "-") }
	w.Thread, w.Owner, w.OwnerStack = r.thread(waiter, -1, -1), r.thread(named(owner), -1, -1), r.stack(named(held))
	if kind == run.OffCPU {
		w.Waker, w.Owner = w.Owner, 0
		w.State, blocked, _ = strings.Cut(blocked, ":")
	}
	w.Stack = r.stack(named(blocked))
	r.Run().Waits = append(r.Run().Waits, w)
}

// chainLines prints chains: names, times, what the last thread did.
func chainLines(report *Report) (lines []string) {
	for _, c := range report.Chains {
		var names []string
		for _, l := range c.Links {
			name := l.Thread.Name
			if l.Blocked != nil {
				name += "(" + l.Blocked.Function + ")"
			}
			if l.Evidence == Woke {
				name += "~"
			}
			names = append(names, name)
		}
		parts := []string{fmt.Sprintf("%s: %d in %d, longest %d", strings.Join(names, " < "), c.TotalNS, c.Count, c.LongestNS)}
		if c.Cycle {
			parts = append(parts, "cycle")
		}
		for _, s := range c.Last {
			part := fmt.Sprintf("%d %s", s.TimeNS, s.State)
			if s.Place != nil {
				part += " " + s.Place.Function
			}
			parts = append(parts, part)
		}
		lines = append(lines, strings.Join(parts, ", "))
	}
	return lines
}

func TestChains(t *testing.T) {
	for _, c := range []struct {
		name            string
		locks, off      []string
		filter          func(*run.Wait) bool
		chains, blocker []string
	}{
		{
			name:  "the holder begins to wait later, which belongs to the chain from then on",
			locks: []string{"main 0 100 worker next enqueue", "worker 30 80 io read write"},
			chains: []string{
				"main(next) < worker(read) < io: 50 in 1, longest 50, 50 unknown", "main(next) < worker: 50 in 1, longest 50, 50 unknown",
				"worker(read) < io: 50 in 1, longest 50, 50 unknown",
			},
			blocker: []string{"worker 100", "io 50"},
		},
		{
			name:    "what the last thread did",
			locks:   []string{"main 0 100 worker next enqueue"},
			off:     []string{"worker 10 20 - R:put -", "worker 20 50 - D:put;blkdev -", "worker 90 200 - R+:put -", "main 0 100 worker S:futex -"},
			chains:  []string{"main(next) < worker: 100 in 1, longest 100, 50 running, 30 blocked blkdev, 10 preempted, 10 runnable"},
			blocker: []string{"worker 100"},
		},
		{
			name:  "who woke the holder goes on with the chain, who woke others does not begin one",
			locks: []string{"main 0 100 worker next enqueue"},
			off:   []string{"worker 10 60 server S:binder -", "idle 0 90 main S:poll -", "server 20 30 disk D:read -", "server 70 80 other D:read -"},
			chains: []string{
				"main(next) < worker: 50 in 1, longest 50, 50 running", "main(next) < worker(binder)~ < server: 40 in 1, longest 40, 40 running",
				"main(next) < worker(binder)~ < server(read)~ < disk: 10 in 1, longest 10, 10 unknown",
			},
			blocker: []string{"worker 100"},
		},
		{
			name:    "a CPU without work wakes nobody",
			locks:   []string{"main 0 100 worker next enqueue"},
			off:     []string{"worker 10 60 swapper/3 S:binder -"},
			chains:  []string{"main(next) < worker: 100 in 1, longest 100, 50 blocked binder, 50 running"},
			blocker: []string{"worker 100"},
		},
		{
			name:  "a deadlock, and who waits behind it",
			locks: []string{"a 0 100 b x y", "b 10 100 a y x", "c 20 100 a x x"},
			chains: []string{
				"a(x) < b(y): 90 in 1, longest 90, cycle", "b(y) < a(x): 90 in 1, longest 90, cycle",
				"c(x) < a(x) < b(y): 80 in 1, longest 80, cycle", "a(x) < b: 10 in 1, longest 10, 10 unknown",
			},
			blocker: []string{"a 90", "b 100"},
		},
		{
			name:    "two waits at once are one time",
			locks:   []string{"a 0 50 h x y", "b 20 60 h x y"},
			chains:  []string{"a(x) < h: 50 in 1, longest 50, 50 unknown", "b(x) < h: 40 in 1, longest 40, 40 unknown"},
			blocker: []string{"h 60"},
		},
		{
			name:    "what is filtered is no wait, but a reason of others",
			locks:   []string{"main 0 100 worker next enqueue", "worker 30 80 io read write"},
			filter:  func(w *run.Wait) bool { return w.Thread != 1 },
			chains:  []string{"main(next) < worker(read) < io: 50 in 1, longest 50, 50 unknown", "main(next) < worker: 50 in 1, longest 50, 50 unknown"},
			blocker: []string{"worker 100"},
		},
		{
			name:    "equal names of several waits are one chain",
			locks:   []string{"main 0 10 worker next enqueue", "main 20 50 worker next enqueue", "main 60 60 worker next enqueue"},
			chains:  []string{"main(next) < worker: 40 in 2, longest 30, 40 unknown"},
			blocker: []string{"worker 40"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := newRecording()
			for _, line := range c.locks {
				rec.wait(t, run.Contended, line)
			}
			for _, line := range c.off {
				rec.wait(t, run.OffCPU, line)
			}
			r := rec.finish(t)
			for i := range r.Waits {
				r.Waits[i].Filtered = c.filter != nil && c.filter(&r.Waits[i])
			}
			report := New(r, nil)
			if diff := cmp.Diff(c.chains, chainLines(report)); diff != "" {
				t.Errorf("chains: -want +got\n%s", diff)
			}
			var blockers []string
			for _, k := range report.Blockers {
				blockers = append(blockers, fmt.Sprintf("%s %d", k.Name, k.HeldNS))
			}
			slices.Sort(blockers)
			slices.Sort(c.blocker)
			if diff := cmp.Diff(c.blocker, blockers); diff != "" {
				t.Errorf("blockers: -want +got\n%s", diff)
			}
		})
	}
}

// TestSweep compares the sweep with what is found by looking at every instant on its own.
func TestSweep(t *testing.T) {
	const threads, end = 6, 40
	seeds := uint64(2000)
	if testing.Short() {
		seeds = 300
	}
	for seed := range seeds {
		rnd := rand.New(rand.NewPCG(seed, 1))
		rec := newRecording()
		name := func() string { return string(rune('a' + rnd.IntN(threads))) }
		for i := range threads {
			rec.thread(string(rune('a'+i)), -1, -1)
		}
		for range 1 + rnd.IntN(12) {
			from := rnd.IntN(end)
			line := fmt.Sprintf("%s %d %d %s", name(), from, from+rnd.IntN(end-from), name())
			if rnd.IntN(3) > 0 {
				rec.wait(t, run.Contended, line+" f"+name()+" g")
			} else {
				rec.wait(t, run.OffCPU, line+" S:s -")
			}
		}
		r := rec.finish(t)
		edges := edgesOf(r, nil)
		want := make(map[string]int64)
		for at := range int64(end) {
			cur := make([]*Edge, threads+1)
			for i := range edges {
				e := &edges[i]
				if e.Start <= at && at < e.End && (cur[e.Waiter] == nil || (&graph{}).stronger(e, cur[e.Waiter])) {
					cur[e.Waiter] = e
				}
			}
			for _, e := range cur {
				if e == nil || e.Evidence == Woke {
					continue
				}
				var names []string
				seen := make(map[run.ThreadID]bool)
				for ; e != nil && !seen[e.Waiter]; e = cur[e.Holder] {
					seen[e.Waiter] = true
					names = append(names, chainName(r, e))
					if cur[e.Holder] == nil {
						names = append(names, r.Threads[e.Holder].Name)
					}
				}
				want[strings.Join(names, " < ")]++
			}
		}
		got := make(map[string]int64)
		g := sweep(r, edges)
		for id := 1; id < len(g.chains); id++ {
			if g.chains[id].total == 0 {
				continue
			}
			var names []string
			for i := chainID(id); i != 0; i = g.chains[i].next {
				c := &g.chains[i]
				switch {
				case c.cycle != 0:
					cycle := g.cycles[c.cycle-1].edges
					at := slices.IndexFunc(cycle, func(e int32) bool { return edges[e].Waiter == c.thread })
					for k := range cycle {
						names = append(names, chainName(r, &edges[cycle[(at+k)%len(cycle)]]))
					}
				case c.edge >= 0:
					names = append(names, chainName(r, &edges[c.edge]))
				default:
					names = append(names, r.Threads[c.thread].Name)
				}
			}
			got[strings.Join(names, " < ")] += g.chains[id].total
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d: -every instant +sweep\n%s", seed, diff)
		}
		var doing, last int64
		for _, took := range g.doing {
			doing += took
		}
		for id := range g.chains {
			if c := &g.chains[id]; c.end == 0 {
				last += c.total
			}
		}
		if doing != last {
			t.Fatalf("seed %d: last threads did %d of %d", seed, doing, last)
		}
	}
}

func chainName(r *run.Run, e *Edge) string {
	w := &r.Waits[e.Wait]
	return fmt.Sprint(r.Threads[e.Waiter].Name, w.Stack, e.HolderStack, e.Evidence)
}

// TestDumps: 200,000 threads, a chain of half of them, and a cycle of a quarter, behind which the rest waits.
func TestDumps(t *testing.T) {
	const n = 200_000
	rec := newRecording()
	b := rec.Run()
	for i := range n {
		b.Threads = append(b.Threads, run.Thread{Name: fmt.Sprint("t", i), PID: -1, TID: -1})
	}
	wait := func(i, owner int) {
		b.Waits = append(b.Waits, run.Wait{Kind: run.Dumped, Thread: run.ThreadID(i + 1), Owner: run.ThreadID(owner + 1), For: "0x1"})
	}
	for i := range n/2 - 1 {
		wait(i, i+1)
	}
	for i := n / 2; i < 3*n/4; i++ {
		wait(i, max(n/2, (i+1)%(3*n/4)))
	}
	for i := 3 * n / 4; i < n; i++ {
		wait(i, n/2)
	}
	report := New(rec.finish(t), nil)
	if report.Dumps != 1 || report.All.Count != n-1 || report.Waited.Count != n-1 {
		t.Errorf("%d dumps, %d waits, %d in chains", report.Dumps, report.All.Count, report.Waited.Count)
	}
	if len(report.Cycles) != 1 || report.Cycles[0].Threads != n/4 || report.Cycles[0].Behind != n/4 {
		t.Errorf("cycles: %+v", report.Cycles)
	}
	longest := report.Chains[0]
	if longest.Threads != n/2 || longest.Links[0].Thread.Name != "t0" || longest.Cycle || len(longest.Links) != maxLinks {
		t.Errorf("the longest chain has %d threads, from %s", longest.Threads, longest.Links[0].Thread.Name)
	}
	if report.ChainsLeftOut != n-1-maxListed {
		t.Errorf("%d chains are left out", report.ChainsLeftOut)
	}
}

// TestCycleInDumps checks in how many dumps a deadlock is counted: in each, also if these follow one another.
func TestCycleInDumps(t *testing.T) {
	rec := newRecording()
	for _, dump := range []int{0, 1, 2, 5} {
		for _, line := range []string{"a %d %d b f g", "b %d %d a g f", "c %d %d a h f"} {
			rec.wait(t, run.Dumped, fmt.Sprintf(line, dump, dump+1))
		}
	}
	rec.wait(t, run.Dumped, "a 3 4 b f g")
	report := New(rec.finish(t), nil)
	if len(report.Cycles) != 1 || report.Cycles[0].Count != 4 || report.Cycles[0].TotalNS != 0 || report.Cycles[0].Behind != 1 || report.Dumps != 5 {
		t.Errorf("%d dumps, cycles %+v", report.Dumps, report.Cycles)
	}
}

// TestCycles checks that only threads that wait for each other until the recording ends are taken
// for a deadlock.
func TestCycles(t *testing.T) {
	for _, clipped := range []bool{false, true} {
		rec := newRecording()
		rec.wait(t, run.Contended, "a 0 100 b f g")
		rec.wait(t, run.Contended, "b 40 100 a g f")
		for i := range rec.Run().Waits {
			rec.Run().Waits[i].Clipped = clipped
		}
		report := New(rec.finish(t), nil)
		if len(report.Cycles) != 1 || report.Cycles[0].TotalNS != 60 || report.Cycles[0].Clipped != map[bool]int64{true: 1}[clipped] {
			t.Errorf("clipped %v: %+v", clipped, report.Cycles)
		}
	}
}
