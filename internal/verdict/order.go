package verdict

import (
	"cmp"
	"slices"
	"time"
)

// Order is how the recordings of both sides follow each other in time.
type Order string

// The orders.
const (
	UnknownOrder Order = "unknown"
	// Interleaved: the sides take turns, so that drift meets both alike.
	Interleaved Order = "interleaved"
	// Blocked: all runs of one side precede those of the other, so that drift looks like
	// a change.
	Blocked Order = "blocked"
)

// BlockedWarning says what is wrong with a blocked order.
const BlockedWarning = "all runs of one side were recorded before those of the other: drift of the machine looks like a change; record them in turns (ABBA)"

// A Moment says when the first sample of a run was taken.
type Moment struct {
	Start time.Time // by the time of day, zero if unknown
	// Clock is by the clock of the machine Host, in nanoseconds, 0 if unknown. Host is ""
	// if unknown.
	Clock uint64
	Host  string
}

// OrderOf is the order of the runs of both sides: by the time of day where all have it,
// else by the clock of the machine if no two are known to be of different machines. Runs of
// both sides at the same moment, as copies or made up ones are, have no order.
func OrderOf(base, head []Moment) Order {
	type turn struct {
		at   int64
		head bool
	}
	var turns []turn
	hosts := make(map[string]bool)
	started, clocked := true, true
	for _, m := range slices.Concat(base, head) {
		started = started && !m.Start.IsZero()
		clocked = clocked && m.Clock != 0
		if m.Host != "" {
			hosts[m.Host] = true
		}
	}
	if !started && (!clocked || len(hosts) > 1) {
		return UnknownOrder
	}
	for side, moments := range [][]Moment{base, head} {
		for _, m := range moments {
			at := int64(m.Clock)
			if started {
				at = m.Start.UnixNano()
			}
			turns = append(turns, turn{at, side == 1})
		}
	}
	slices.SortFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	changes := 0
	for i := 1; i < len(turns); i++ {
		switch before, turn := turns[i-1], turns[i]; {
		case before.head == turn.head:
		case before.at == turn.at:
			return UnknownOrder
		default:
			changes++
		}
	}
	if changes > 1 {
		return Interleaved
	}
	return Blocked
}

// Forbids reports whether the order of so many runs a side forbids verdicts.
func (o Order) Forbids(base, head int) bool { return o == Blocked && base > 1 && head > 1 }
