package run

import (
	"math/rand/v2"
	"slices"
	"testing"
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
