package waits

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/wait"
)

// TestCompareUnknown checks that a chain that one side does not have is called none only where that side
// has no waits of which it may be.
func TestCompareUnknown(t *testing.T) {
	const ms = 1_000_000
	sum := func(n, total int64) wait.Sum {
		return wait.Sum{Count: n, TotalNS: total * ms, LongestNS: total * ms / max(n, 1)}
	}
	thread := func(name string) wait.Thread { return wait.Thread{Name: name} }
	base := &wait.Report{
		Chains: []wait.Chain{{
			Links: []wait.Link{{Thread: thread("a"), Rule: "lock of it", Evidence: wait.EndedTogether}, {Thread: thread("b")}}, Threads: 2, Sum: sum(4, 1793),
		}},
		Wanted: []wait.Wanted{{Rule: "lock of it", Region: "a lock", Sum: sum(10, 3029), Unknown: sum(6, 1236)}},
	}
	side := func(w ...wait.Wanted) *wait.Report { return &wait.Report{Wanted: w} }
	for _, test := range []struct {
		name          string
		head          *wait.Report
		chain, region string
	}{
		{
			"twice as long", side(wait.Wanted{Rule: "lock of it", Region: "a lock", Sum: sum(7, 5534), Unknown: sum(7, 5534)}),
			"not known (5.534 s), 448.2 ms → not known", "5.534 s, 302.9 ms → 790.6 ms, 40.81% → all",
		},
		{"gone", side(), "none, 448.2 ms → none", "none, 302.9 ms → none, 40.81% → none"},
		{
			"next to nothing", side(wait.Wanted{Rule: "lock of it", Region: "a lock", Sum: sum(1, 30), Unknown: sum(1, 30)}),
			"none, 448.2 ms → none", "30.00 ms, 302.9 ms → 30.00 ms, 40.81% → all",
		},
		{
			"all are known", side(wait.Wanted{Rule: "lock of it", Region: "a lock", Sum: sum(7, 5534)}),
			"none, 448.2 ms → none", "5.534 s, 302.9 ms → 790.6 ms, 40.81% → none",
		},
		{
			"of another rule", side(wait.Wanted{Rule: "mutex", Region: "mutex", Sum: sum(1, 20), Unknown: sum(1, 20)}),
			"none, 448.2 ms → none", "none, 302.9 ms → none, 40.81% → none",
		},
		{"stacks are cut", &wait.Report{Unnamed: sum(9, 3600)}, "not known (3.600 s), 448.2 ms → not known", "none, 302.9 ms → none, 40.81% → none"},
		{"no waits at all", nil, "not known, 448.2 ms → not known", "not known, 302.9 ms → not known, 40.81% → -"},
	} {
		c := Compare(base, test.head, 1, 1)
		if len(c.Chains) != 1 || len(c.Regions) != 1 {
			t.Errorf("%s: %+v", test.name, c)
			continue
		}
		chain, region := &c.Chains[0], &c.Regions[0]
		got := []string{chain.Of, chain.Base.String(), chain.Head.String() + ", " + chain.Longest(), region.Of, region.Base.String(), region.Head.String() + ", " + region.Longest() + ", " + region.Unknown()}
		want := []string{"a ← b", "1.793 s", test.chain, "a lock (lock of it)", "3.029 s", test.region}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}

	// Dumps without waits for locks have none.
	dump := &wait.Report{Dumps: 1, Chains: []wait.Chain{{Links: []wait.Link{{Thread: thread("a"), Evidence: wait.HeldAtDump}, {Thread: thread("b")}}, Threads: 2, Sum: wait.Sum{Count: 1}}}}
	if c := Compare(dump, nil, 1, 1); len(c.Chains) != 1 || c.Chains[0].Head.String() != "none" || c.Chains[0].Longest() != "" {
		t.Errorf("dumps: %+v", c.Chains)
	}

	// Of several runs, what is wanted adds up.
	two := wait.Join([]*wait.Report{base, base})
	if c := Compare(two, two, 2, 2); len(c.Regions) != 1 || c.Regions[0].Base.String() != "3.029 s" || c.Regions[0].Base.Unknown.Count != 12 {
		t.Errorf("two runs: %+v", c.Regions)
	}
}
