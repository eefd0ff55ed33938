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
const BlockedWarning = "all runs of one side were recorded before those of the other: drift of the machine looks like a change; record them in turns, as profdiff record does"

// A Moment says when the first sample of a run was taken.
type Moment struct {
	Start time.Time // by the time of day, zero if unknown
	// Clock is by the clock of the machine Host, in nanoseconds, 0 if unknown. Host is ""
	// if unknown.
	Clock uint64
	Host  string
}

// A turn is one run of either side.
type turn struct {
	at   int64
	head bool
	run  int // of its side
}

// turnsOf are the runs of both sides in the order of recording: by the time of day where all
// have it, else by the clock of the machine if no two are known to be of different machines.
// It is nil if the order is unknown. Runs of both sides at the same moment, as copies or
// made up ones are, have no order.
func turnsOf(base, head []Moment) (turns []turn) {
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
		return nil
	}
	for side, moments := range [][]Moment{base, head} {
		for i, m := range moments {
			at := int64(m.Clock)
			if started {
				at = m.Start.UnixNano()
			}
			turns = append(turns, turn{at, side == 1, i})
		}
	}
	slices.SortStableFunc(turns, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	for i := 1; i < len(turns); i++ {
		if turns[i-1].head != turns[i].head && turns[i-1].at == turns[i].at {
			return nil
		}
	}
	return turns
}

// Recorded are the runs of one side by when they were recorded, by index: as they are if
// that is unknown.
func Recorded(runs []Moment) []int {
	order := make([]int, len(runs))
	turns := turnsOf(runs, nil)
	for i := range order {
		if order[i] = i; turns != nil {
			order[i] = turns[i].run
		}
	}
	return order
}

// OrderOf is the order of the runs of both sides.
func OrderOf(base, head []Moment) Order {
	turns := turnsOf(base, head)
	if len(turns) == 0 {
		return UnknownOrder
	}
	changes := 0
	for i := 1; i < len(turns); i++ {
		if turns[i-1].head != turns[i].head {
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
