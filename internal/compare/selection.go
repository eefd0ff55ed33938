package compare

import (
	"cmp"
	"regexp"

	"profdiff/internal/run"
	"profdiff/internal/stats"
)

// ChangeOf compares what a caller chose of the samples of one event, an index in Events:
// their sums in each run of Base and of Head. It is normalized and tested as functions
// are, but in no family: Adjusted is P, and there is no verdict. bursts are the factors by
// which the samples of single runs vary more than independent ones, see
// [stats.BlockSumsPhi]; nil if unknown. Shares are of what did not change, so that the change of
// one function does not look like one of another. level is the least one-sided level at which the
// change may be judged.
func (c *Comparison) ChangeOf(event int, level float64, base, head []run.Sum, bursts *[2]float64) Change {
	e := &c.Events[event]
	return cmp.Or(e.rest, e.Normalization).newChange(c.tests.at(level), cost{base: base, head: head, bursts: bursts})
}

// Whole is the normalized cost of everything: the means over the runs of a side. In shares
// it is 1.
func (c *Comparison) Whole(event int) (base, head float64) {
	e := &c.Events[event]
	return e.Normalization.means(&e.costs.whole)
}

// Row is the row of a function of one side by its name and the base name of its file:
// functions with one row are the same one. It is -1 for functions that are in no run of the
// side.
func (c *Comparison) Row(head bool, name, dso string) int {
	s, rowOf := c.base, c.rows.base
	if head {
		s, rowOf = c.head, c.rows.head
	}
	id, ok := s.ids.Find(s.symbols, symbol{name, dso})
	if !ok {
		return -1
	}
	return int(rowOf[id])
}

// inFile reports whether any expression matches the file of the row.
func (s *rowset) inFile(base, head *side, i int, expressions []*regexp.Regexp) bool {
	r := &s.rows[i]
	for _, re := range expressions {
		if r.base >= 0 && re.MatchString(base.symbols[r.base].dso) || r.head >= 0 && re.MatchString(head.symbols[r.head].dso) {
			return true
		}
	}
	return false
}

// Simulated reports whether a simulator counted the event in all runs: nothing was sampled.
func (n *Normalization) Simulated() bool { return n.simulated }

// Normalized are the sums of one side of an event by run as the comparison tests them.
func (c *Comparison) Normalized(event int, head bool, sums []run.Sum) []stats.WeightedCount {
	n := c.Events[event].Normalization
	divisors := n.base
	if head {
		divisors = n.head
	}
	counts, _ := n.normalize(sums, divisors, 1, false)
	return counts
}
