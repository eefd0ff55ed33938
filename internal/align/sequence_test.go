package align

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestSequencesMany aligns sequences that are too long for a table: anchors split them.
func TestSequencesMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var base, head []string
	for i := range 6000 {
		x := fmt.Sprint(i % 3000)
		if i%7 == 0 {
			x = fmt.Sprint("only ", i)
		}
		if rng.IntN(20) > 0 {
			base = append(base, x)
		}
		if rng.IntN(20) > 0 {
			head = append(head, x)
		}
	}
	pairs := Sequences(base, head)
	if len(pairs) < 5000 {
		t.Errorf("%d of 6000 are aligned", len(pairs))
	}
	last := [2]int{-1, -1}
	for _, p := range pairs {
		if p[0] <= last[0] || p[1] <= last[1] || base[p[0]] != head[p[1]] {
			t.Fatalf("%v follows %v", p, last)
		}
		last = p
	}
}
