package run

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestShortWaits checks that of too many waits the longest stay, and that none gets lost.
func TestShortWaits(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		b := NewBuilder("x")
		b.mostWaits = 1 + random.IntN(100)
		n, spread := random.IntN(1000), 1+random.Int64N(500)
		var all []int64
		var sum int64
		for i := range n {
			w := Wait{Start: int64(i), End: int64(i) + random.Int64N(spread)}
			all, sum = append(all, w.End-w.Start), sum+w.End-w.Start
			b.AddWait(w)
			b.AddWait(Wait{Kind: Dumped, Start: 1, End: 1})
			b.AddWait(Wait{Kind: Contended, Start: 1, End: 2})
		}
		r := b.Run()
		var kept []int64
		others := 0
		for _, w := range r.Waits {
			if w.Kind != OffCPU {
				others++
				continue
			}
			kept = append(kept, w.End-w.Start)
			sum -= w.End - w.Start
		}
		s := r.ShortWaits
		switch {
		case others != 2*n:
			t.Errorf("seed %d: %d waits of other kinds are left of %d", seed, others, 2*n)
		case len(kept) > b.mostWaits, n <= b.mostWaits && s != ShortWaits{}:
			t.Errorf("seed %d: %d waits, of at most %d %d are kept, and %v", seed, n, b.mostWaits, len(kept), s)
		case len(kept)+int(s.Count) != n, sum != s.Time:
			t.Errorf("seed %d: of %d waits, %d are kept and %d summed; %d ns are missing, %d summed", seed, n, len(kept), s.Count, sum, s.Time)
		}
		slices.Sort(all)
		slices.Sort(kept)
		if !slices.Equal(kept, all[s.Count:]) {
			t.Errorf("seed %d: the waits that are kept are not the longest", seed)
		}
	}
}

// TestMergeWaits checks that waits of several recordings do not meet, whatever their clocks, and that
// a thread of both is one.
func TestMergeWaits(t *testing.T) {
	recording := func(start int64, other string) *Run {
		b := NewBuilder("r")
		r := b.Run()
		r.Threads = []Thread{{}, {Name: "main", PID: 1, TID: 1, Main: true}, {Name: other, PID: 1, TID: 2}}
		stack := b.Stack(0, b.Location(0, 0, Line{Function: b.Function(Function{Name: "f" + other})}))
		b.AddWait(Wait{Kind: Contended, Thread: 1, Owner: 2, Waker: 2, Stack: stack, OwnerStack: stack, WakerStack: stack, Start: start, End: start + 10})
		r.Holds = append(r.Holds, Hold{Thread: 2, Stack: stack, Start: start - 5, End: start + 10})
		done, err := b.Finish()
		if err != nil {
			t.Fatal(err)
		}
		return done
	}
	const clock = 1 << 62
	m, err := Merge("all", []*Run{recording(clock, "x"), recording(7, "y"), recording(clock, "x")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range m.Waits {
		f := m.Functions[m.Locations[m.Stacks.Location(w.Stack)].Lines[0].Function].Name
		if w.Stack != w.OwnerStack || w.Stack != w.WakerStack || w.Owner != w.Waker {
			t.Errorf("%+v", w)
		}
		got = append(got, fmt.Sprint(m.Threads[w.Thread].Name, m.Threads[w.Owner].Name, f, w.Start, w.End))
	}
	for _, h := range m.Holds {
		got = append(got, fmt.Sprint(m.Threads[h.Thread].Name, h.Start, h.End))
	}
	want := []string{"mainxfx5 15", "mainyfy21 31", "mainxfx37 47", "x0 15", "y16 31", "x32 47"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(m.Threads) != 4 {
		t.Errorf("%d threads", len(m.Threads))
	}
}
