package verdict

import (
	"cmp"
	"fmt"
	"slices"

	"profdiff/internal/stats"
)

// A Pair are two runs, one of each side, that were recorded next to each other.
type Pair struct {
	Base, Head int // indices among the runs of the side
	HeadFirst  bool
}

// A Pairing says which runs are compared with each other, so that what changes slowly, as
// a machine that gets warm, is not taken for a difference between the sides.
type Pairing struct {
	// Pairs are in the order of recording. Without any, the sides are two groups of runs.
	Pairs []Pair
	// Left is the number of runs that are in no pair, because a run beside them is missing.
	// They are in no test. Gaps are the pairs that were recorded after such a run.
	Left int
	Gaps []int
	// Why says why runs that were recorded in turns are in no pairs, "" if they are.
	Why string
}

// PairsOf are the pairs of two sides whose runs were recorded in turns. Whether there are any
// follows from the times of the runs alone, never from what they cost:
//
//  1. Runs of different sides that follow each other can be a pair. Of all ways to choose them
//     so that no run is in two, it is one of those with the most pairs, and of these the one
//     whose runs are nearest in time: with all runs there is one way only.
//  2. There are no pairs if they are fewer than a verdict needs, if more than a third of the
//     runs of a side are in none, or if the same side is first in each: all that changes
//     slowly would be a difference between the sides then.
//  3. Nor are there if the user wants the sides unpaired.
func PairsOf(base, head []Moment, unpaired bool) (p Pairing) {
	if OrderOf(base, head) != Interleaved {
		return p
	}
	pairs, gaps := nearest(turnsOf(base, head))
	headFirst := 0
	for _, pair := range pairs {
		if pair.HeadFirst {
			headFirst++
		}
	}
	switch {
	case unpaired:
		p.Why = "on request"
	case len(pairs) < LeastRuns:
		p.Why = fmt.Sprintf("%d pairs are too few", len(pairs))
	case 3*len(pairs) < 2*max(len(base), len(head)):
		p.Why = fmt.Sprintf("%d runs have no run of the other side beside them", len(base)+len(head)-2*len(pairs))
	case headFirst == 0:
		p.Why = "base is first in all pairs"
	case headFirst == len(pairs):
		p.Why = "head is first in all pairs"
	default:
		p.Pairs, p.Left, p.Gaps = pairs, len(base)+len(head)-2*len(pairs), gaps
	}
	return p
}

// nearest are the most pairs of neighbours, and of these those that are nearest in time, and before
// which of them, but the first, a turn is in none.
func nearest(turns []turn) (pairs []Pair, gaps []int) {
	// best[i] is of the first i turns.
	type choice struct {
		pairs  int
		gaps   int64
		paired bool // the last two of the turns are a pair
	}
	best := make([]choice, len(turns)+1)
	for i := 1; i <= len(turns); i++ {
		best[i] = choice{pairs: best[i-1].pairs, gaps: best[i-1].gaps}
		if i < 2 || turns[i-2].head == turns[i-1].head {
			continue
		}
		with := choice{best[i-2].pairs + 1, best[i-2].gaps + turns[i-1].at - turns[i-2].at, true}
		if cmp.Or(cmp.Compare(with.pairs, best[i].pairs), cmp.Compare(best[i].gaps, with.gaps)) > 0 {
			best[i] = with
		}
	}
	pairs = make([]Pair, best[len(turns)].pairs)
	last := len(pairs) // that a gap was seen before
	for i, k := len(turns), len(pairs); i > 0; {
		if !best[i].paired {
			if k > 0 && k < last {
				gaps, last = append(gaps, k), k
			}
			i--
			continue
		}
		k--
		first, second := turns[i-2], turns[i-1]
		pairs[k] = Pair{first.run, second.run, false}
		if first.head {
			pairs[k] = Pair{second.run, first.run, true}
		}
		i -= 2
	}
	slices.Reverse(gaps)
	return pairs, gaps
}

// A Sequence is how pairs follow each other.
type Sequence string

// The sequences.
const (
	// FixedSequence is ABBA: the side that was first in a pair is second in the next.
	FixedSequence Sequence = "ABBA"
	// DrawnSequence has no rule, as if a coin had said which side is first. Only it is safe
	// from what repeats itself every four runs.
	DrawnSequence Sequence = "drawn"
	// EitherSequence is of few pairs: ABBA, or drawn and ABBA by chance.
	EitherSequence Sequence = "ABBA or drawn"
)

// clearlyFixed is how often the sides have to change their places from pair to pair to be in ABBA: a
// coin does that once in 128 times.
const clearlyFixed = 7

// Sequence is "" without pairs. Two pairs with a run between them that is in none say nothing: there
// may have been a pair that lost the other run.
func (p *Pairing) Sequence() Sequence {
	if len(p.Pairs) == 0 {
		return ""
	}
	changes := 0
	for i := 1; i < len(p.Pairs); i++ {
		switch {
		case slices.Contains(p.Gaps, i):
		case p.Pairs[i-1].HeadFirst == p.Pairs[i].HeadFirst:
			return DrawnSequence
		default:
			changes++
		}
	}
	if changes < clearlyFixed {
		return EitherSequence
	}
	return FixedSequence
}

// Turns say for a document in which order the runs of two sides were recorded, and which are
// compared with each other.
type Turns struct {
	Order    Order    `json:"order"`    // interleaved, blocked or unknown
	Pairs    int      `json:"pairs"`    // 0 if the sides are compared as two groups of runs
	Sequence Sequence `json:"sequence"` // of pairs: ABBA, drawn, or "ABBA or drawn" of few
	LeftOut  int      `json:"left_out"` // runs in no pair, which are in no test
	// Text says all that for a table.
	Text string `json:"-"`
}

// Turns are those of a pairing of runs that were recorded in an order.
func (p *Pairing) Turns(o Order) Turns {
	t := Turns{Order: o, Pairs: len(p.Pairs), Sequence: p.Sequence(), LeftOut: p.Left, Text: string(o)}
	if len(p.Pairs) == 0 {
		if p.Why != "" {
			t.Text += ", compared as two groups: " + p.Why
		}
		return t
	}
	t.Text = fmt.Sprintf("%d pairs, ", len(p.Pairs))
	t.Text += map[Sequence]string{
		FixedSequence: "ABBA (fixed order)", DrawnSequence: "order drawn", EitherSequence: "in ABBA, or drawn so by chance",
	}[t.Sequence]
	switch p.Left {
	case 0:
	case 1:
		t.Text += "; 1 run is in no pair and in no test"
	default:
		t.Text += fmt.Sprintf("; %d runs are in no pair and in no test", p.Left)
	}
	return t
}

// Ratio estimates the ratio of a quantity of all runs of both sides, in the order of the
// moments that the pairing was made of: of pairs where there are any, see [stats.Tests.Pairs]
// for alpha, else of two groups.
func (p *Pairing) Ratio(t *stats.Tests, base, head []stats.WeightedCount, alpha float64) stats.Estimate {
	if len(p.Pairs) == 0 {
		return t.Ratio(base, head)
	}
	base, head = p.split(base, head)
	return t.Pairs(base, head, alpha)
}

// Test is Ratio without what [stats.Tests.Test] leaves out.
func (p *Pairing) Test(t *stats.Tests, base, head []stats.WeightedCount, alpha float64) stats.Estimate {
	if len(p.Pairs) == 0 {
		return t.Test(base, head)
	}
	base, head = p.split(base, head)
	return t.TestPairs(base, head, alpha)
}

// split are the runs of base and of head by pair.
func (p *Pairing) split(base, head []stats.WeightedCount) (b, h []stats.WeightedCount) {
	b, h = make([]stats.WeightedCount, len(p.Pairs)), make([]stats.WeightedCount, len(p.Pairs))
	for i, pair := range p.Pairs {
		b[i], h[i] = base[pair.Base], head[pair.Head]
	}
	return b, h
}
