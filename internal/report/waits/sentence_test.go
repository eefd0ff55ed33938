package waits

import (
	"testing"

	"profdiff/internal/wait"
)

// TestSentence checks what of the waits comes first.
func TestSentence(t *testing.T) {
	const ms = 1_000_000
	link := func(name string) wait.Link { return wait.Link{Thread: wait.Thread{Name: name, Main: name == "main"}} }
	chain := func(total int64, names ...string) wait.Chain {
		c := wait.Chain{Threads: len(names), Sum: wait.Sum{Count: 2, TotalNS: total * ms, LongestNS: total * ms / 2}}
		for _, n := range names {
			c.Links = append(c.Links, link(n))
		}
		return c
	}
	ruled := chain(40, "main", "collector", "transfer")
	ruled.Links[0].Rule = "flip"
	dumped := chain(0, "main", "disk")
	dumped.Count, dumped.Links[0].HolderIn = 1, &wait.Place{Function: "rename0"}
	circle := wait.Cycle{Links: []wait.Link{link("main"), link("worker")}, Threads: 2, Behind: 2}
	open := func(ns int64) wait.Cycle {
		c := circle
		c.Sum = wait.Sum{Count: 1, TotalNS: ns, LongestNS: ns, Clipped: 1}
		return c
	}
	for _, test := range []struct {
		name   string
		report wait.Report
		want   string
	}{
		{"nothing", wait.Report{}, ""},
		{"a main thread before others that waited longer", wait.Report{Chains: []wait.Chain{chain(90, "a", "b"), ruled}}, "main waited for collector, which waited for transfer (flip): 40.00 ms in 2 waits, longest 20.00 ms"},
		{"no main thread", wait.Report{Chains: []wait.Chain{chain(90, "a", "b"), chain(50, "c", "b")}}, "a waited for b: 90.00 ms in 2 waits, longest 45.00 ms"},
		{"too little", wait.Report{DurationNS: 1e12, Chains: []wait.Chain{chain(1, "main", "b")}}, ""},
		{"many threads", wait.Report{Chains: []wait.Chain{chain(90, "a", "b", "c", "d", "e", "f")}}, "a waited for b, which waited for c, which waited for d, and so on through 2 more threads: 90.00 ms in 2 waits, longest 45.00 ms"},
		{"a deadlock in a dump", wait.Report{Dumps: 1, Cycles: []wait.Cycle{circle}, Chains: []wait.Chain{dumped}}, "Deadlock: main waits for worker, which waits for main; 2 more threads wait behind it"},
		{"a deadlock in a trace", wait.Report{Cycles: []wait.Cycle{open(2 * ms)}, Chains: []wait.Chain{ruled}}, "Deadlock, of 2.000 ms when the recording ended: main waits for worker, which waits for main; 2 more threads wait behind it"},
		{"a circle of a moment when the trace ended", wait.Report{DurationNS: 1e12, Cycles: []wait.Cycle{open(ms / 10)}}, ""},
		{"what ended was none", wait.Report{Cycles: []wait.Cycle{circle}, Chains: []wait.Chain{ruled}}, "main waited for collector, which waited for transfer (flip): 40.00 ms in 2 waits, longest 20.00 ms"},
		{"a dump", wait.Report{Dumps: 1, Chains: []wait.Chain{dumped}}, "main waits for disk, which is in rename0"},
		{"many dumps", wait.Report{Dumps: 3000, Chains: []wait.Chain{dumped}}, "main waits for disk, which is in rename0, in 1 of 3,000 dumps"},
		{"dumps", wait.Report{Dumps: 3, Chains: []wait.Chain{dumped}}, "main waits for disk, which is in rename0, in 1 of 3 dumps"},
	} {
		if got := Sentence(&test.report); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestWaited checks how a wait is told of which a trace knows the state alone.
func TestWaited(t *testing.T) {
	for place, want := range map[string]string{
		"[sleeping]": "slept", "[uninterruptible, I/O]": "waited for I/O", "[uninterruptible]": "waited in the kernel",
		"read": "waited in read", "[libc.so]": "waited in [libc.so]",
	} {
		if got := waited(place); got != want {
			t.Errorf("%s: %q, want %q", place, got, want)
		}
	}
}
