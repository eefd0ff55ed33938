package record

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Orders of recording, as the notes name them.
const (
	// Drawn is the order of new recordings: which side of a pair goes first is drawn by the
	// seed of the plan, balanced over the first four pairs, then by a coin for each pair.
	// Nothing that comes back after some number of runs then meets one side only.
	Drawn = "drawn"
	// ABBA is the fixed order of recordings that were begun by earlier versions.
	ABBA = "ABBA"
)

// balanced is how many pairs at the beginning have each side first equally often.
const balanced = 4

// An order says which side goes first in each pair: firsts[0] is of pair 1.
type order struct{ firsts []Side }

// newOrder is the order of so many pairs. A longer one of the same seed begins with it.
func newOrder(name string, seed uint64, pairs int) order {
	o := order{make([]Side, pairs)}
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	draw := rand.NewChaCha8(key) // specified as C2SP chacha8rand: a seed means the same for ever
	left := map[Side]uint64{Before: balanced / 2, After: balanced / 2}
	for i := range o.firsts {
		switch {
		case name != Drawn:
			o.firsts[i] = sides[i%2]
			continue
		case i == balanced:
			left = map[Side]uint64{Before: 1, After: 1} // from here on a coin, thrown each time
		}
		o.firsts[i] = Before
		if draw.Uint64()%(left[Before]+left[After]) >= left[Before] {
			o.firsts[i] = After
		}
		if i < balanced {
			left[o.firsts[i]]--
		}
	}
	return o
}

// pair is the two runs of a pair in the order of recording.
func (o order) pair(number int) [2]Job {
	first, second := Before, After
	if o.firsts[number-1] == After {
		first, second = After, Before
	}
	return [2]Job{{first, number}, {second, number}}
}

// String writes each pair as AB or BA, where A is before and B is after.
func (o order) String() string {
	names := make([]string, len(o.firsts))
	for i, side := range o.firsts {
		names[i] = "AB"
		if side == After {
			names[i] = "BA"
		}
	}
	return strings.Join(names, " ")
}

// checkOrder says whether the order of a recording is one that can be gone on with.
func (r *Recording) checkOrder() error {
	switch {
	case r.Order != Drawn && r.Order != ABBA && r.Order != "":
		return fmt.Errorf("has the order %q, want %s or %s", r.Order, Drawn, ABBA)
	case r.Order == Drawn && r.Plan.Seed == 0:
		return fmt.Errorf("has the order %s without its seed", Drawn)
	}
	return nil
}

// A Pair is two runs that were recorded next to each other, one of each side.
type Pair struct {
	Number        int  // from 1, as the runs are numbered
	First         Side // which run came first
	Before, After *Run
}

// Pairs are the complete pairs in the order in which they were recorded: those that were
// recorded again come last. Runs whose other half is missing are in none.
func (r *Recording) Pairs() (pairs []Pair) {
	for i := 1; i < len(r.Runs); i++ {
		first, second := &r.Runs[i-1], &r.Runs[i]
		switch {
		case first.Number != second.Number || first.Side == second.Side:
		case first.Side == Before:
			pairs = append(pairs, Pair{first.Number, Before, first, second})
		default:
			pairs = append(pairs, Pair{first.Number, After, second, first})
		}
	}
	return pairs
}
