package reading

import (
	"math/rand/v2"
	"testing"
)

// TestRecent compares with a map: what is found is what was set last.
func TestRecent(t *testing.T) {
	var r Recent
	known, rng, found := make(map[[3]uint64]uint32), rand.New(rand.NewPCG(1, 2)), 0
	for i := range uint32(200_000) {
		k := [3]uint64{rng.Uint64N(4), rng.Uint64N(4), rng.Uint64N(5000)}
		got, ok := r.Get(k[0], k[1], k[2])
		if want, is := known[k]; ok && (!is || got != want) {
			t.Fatalf("%v: got %d, want %d, %v", k, got, want, is)
		}
		if ok {
			found++
		}
		if !ok || i%7 == 0 {
			r.Set(k[0], k[1], k[2], i)
			known[k] = i
		}
	}
	if found == 0 {
		t.Error("nothing is found again")
	}
}
