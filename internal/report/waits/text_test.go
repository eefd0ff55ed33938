package waits

import (
	"strings"
	"testing"

	"profdiff/internal/wait"
)

// TestSectionOfUnknownHolders checks that waits of which nobody is known to be the cause are told before tables,
// too, if they matter.
func TestSectionOfUnknownHolders(t *testing.T) {
	for ns, want := range map[int64]string{
		5_534_000_000: "\nwaits for a lock (rule): 5.534 s in 1 wait; who had it is not known for 5.534 s in 1 wait\n",
		50_000:        "",
	} {
		sum := wait.Sum{Count: 1, TotalNS: ns, LongestNS: ns}
		var got strings.Builder
		r := &wait.Report{DurationNS: 6_000_000_000, Wanted: []wait.Wanted{{Rule: "rule", Region: "a lock", Sum: sum, Unknown: sum}}}
		if err := WriteSection(&got, r); err != nil || got.String() != want {
			t.Errorf("%d: %q, %v", ns, got.String(), err)
		}
	}
}

// TestSectionOrder checks that what may have been stuck comes first, then what was waited longest, and that circles and regions
// of no importance are told only to who asks.
func TestSectionOrder(t *testing.T) {
	const us, ms = 1_000, 1_000_000
	link := func(name string, e wait.Evidence) wait.Link {
		return wait.Link{Thread: wait.Thread{Name: name}, Evidence: e}
	}
	sum := func(ns, clipped int64) wait.Sum {
		return wait.Sum{Count: 1, TotalNS: ns, LongestNS: ns, Clipped: clipped}
	}
	circle := func(a, b string, ns, clipped int64) wait.Cycle {
		return wait.Cycle{Links: []wait.Link{link(a, wait.Owned), link(b, wait.Owned)}, Threads: 2, Sum: sum(ns, clipped)}
	}
	region := func(name string, ns int64) wait.Region {
		return wait.Region{Thread: wait.Thread{Name: name}, Region: "a lock", Rule: "lock", Sum: sum(ns, 0), Place: wait.Place{Function: "[sleeping]"}, Waiters: []wait.Party{{Thread: wait.Thread{Name: "w"}, Sum: sum(ns, 0)}}}
	}
	r := &wait.Report{
		DurationNS: 4_000 * ms,
		All:        sum(9*ms, 0),
		HeldNS:     9 * ms,
		Cycles:     []wait.Cycle{circle("a", "b", 2*ms, 0), circle("c", "d", 60*us, 0), circle("e", "f", 1*ms, 1)},
		Chains:     []wait.Chain{{Links: []wait.Link{link("main", wait.Owned), link("g", wait.NoEvidence)}, Threads: 2, Sum: sum(5*ms, 0)}},
		Regions:    []wait.Region{region("g", 3*ms), region("h", 100*us)},
	}
	heads := func(write func(*strings.Builder) error) string {
		var got strings.Builder
		if err := write(&got); err != nil {
			t.Fatal(err)
		}
		var list []string
		for line := range strings.SplitSeq(got.String(), "\n") {
			if strings.Contains(line, Arrow) && !strings.HasPrefix(line, " ") || strings.Contains(line, "while it held") {
				list = append(list, strings.TrimSpace(line))
			}
		}
		return strings.Join(list, "\n")
	}
	want := "deadlock: e ← f ← e; for 1.000 ms, when the recording ended\n" +
		"main ← g: 5.000 ms in 1 wait\n" +
		"no deadlock, as it ended: a ← b ← a; for 2.000 ms\n" +
		"g slept while it held a lock: 3.000 ms in 1 wait"
	if got := heads(func(b *strings.Builder) error { return WriteSection(b, r) }); got != want {
		t.Errorf("section:\n%s\nwant\n%s", got, want)
	}
	want = "deadlock: e ← f ← e; for 1.000 ms, when the recording ended\n" +
		"no deadlock, as it ended: a ← b ← a; for 2.000 ms\n" +
		"no deadlock, as it ended: c ← d ← c; for 60.00 µs\n" +
		"g slept while it held a lock: 3.000 ms in 1 wait\n" +
		"h slept while it held a lock: 100.0 µs in 1 wait"
	if got := heads(func(b *strings.Builder) error { return WriteLocks(b, r, 0) }); got != want {
		t.Errorf("locks:\n%s\nwant\n%s", got, want)
	}
}
