package compare

import (
	"fmt"
	"math"

	"profdiff/internal/stats"
	"profdiff/internal/verdict"
)

// An estimator estimates the ratios of one comparison: of the same pairs of runs all of them,
// or of the same two groups.
type estimator struct {
	tests   *stats.Tests
	pairing *verdict.Pairing
	// level is the least one-sided level at which what is estimated may be judged: that of the
	// family that it is in.
	level float64
}

func (t estimator) ratio(base, head []stats.WeightedCount) stats.Estimate {
	return t.pairing.Ratio(t.tests, base, head, t.level)
}

// test is ratio without Ratio, CI and what follows from them.
func (t estimator) test(base, head []stats.WeightedCount) stats.Estimate {
	return t.pairing.Test(t.tests, base, head, t.level)
}

// at is the estimator of what is judged at another level.
func (t estimator) at(level float64) estimator {
	t.level = level
	return t
}

// newEstimator is of families of one.
func (c *Comparison) newEstimator() estimator {
	t := estimator{tests: stats.New(c.Options.level()), pairing: &c.Pairing, level: (1 - verdict.Level) / 2}
	if c.Options.RankRuns > 0 {
		t.tests = stats.NewRanked(c.Options.level(), c.Options.RankRuns)
	}
	return t
}

// found is the estimator of what nobody named, at the level at which one function alone is
// found among all that are tested by their own cost. How many are tested does not depend on how
// the sides differ.
func (c *Comparison) found(e *Event) estimator {
	family := 0
	for i := range e.costs.self {
		if base, head := e.Normalization.levels(&e.costs.self[i]); c.heavyLevels(e, base, head) {
			family++
		}
	}
	return c.tests.at(c.Options.FalseDiscovery / 2 / float64(max(family, 1)))
}

// declared is the estimator of the total and of functions that the user named.
func (c *Comparison) declared() estimator {
	if c.Options.Level > 0 {
		return c.tests.at(c.Options.Level)
	}
	family := 1
	for i := range c.rows.rows {
		if c.rows.matches(c.base, c.head, i, c.Options.Focus) {
			family++
		}
	}
	return c.tests.at(c.tests.level / float64(family))
}

// secondCosts warns if the second run of a pair costs more than the first, or less: the mean
// difference between the sides, of pairs with head first and of pairs with base first, has that
// once with each sign. It hardly matters where both orders are as frequent.
func (c *Comparison) secondCosts(e *Event) {
	const clear = 0.01
	_, base, head := e.Normalization.measure(e.costs.whole)
	var ratios [2][]stats.WeightedCount // by which side is first
	for _, pair := range c.Pairing.Pairs {
		first := 0
		if pair.HeadFirst {
			first = 1
		}
		ratio := head[pair.Head].Weight / base[pair.Base].Weight
		ratios[first] = append(ratios[first], stats.WeightedCount{Weight: ratio})
	}
	if min(len(ratios[0]), len(ratios[1])) < 2 {
		return
	}
	s := c.tests.tests.Ratio(ratios[1], ratios[0])
	if s.Refused != "" || s.P >= clear {
		return
	}
	c.Warnings = append(c.Warnings, fmt.Sprintf("%s: to be second in a pair costs %+.2g%% (p %.2g): something that one run leaves behind changes the next",
		e.Name, 100*(math.Sqrt(s.Ratio)-1), s.P))
}
