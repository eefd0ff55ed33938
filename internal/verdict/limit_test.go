package verdict

import (
	"math"
	"testing"

	"profdiff/internal/stats"
)

func TestLimits(t *testing.T) {
	tests := stats.New(Level)
	five, two := 1.05, 1.02
	ratio := func(base, head []stats.WeightedCount) *stats.Estimate {
		e := tests.Ratio(base, head)
		if len(base) == 1 && base[0].WeightSq == 0 {
			e = tests.Exact(base[0], head[0])
		}
		return &e
	}
	around := func(mean float64) []stats.WeightedCount {
		return sampled(mean, 1.01*mean, 0.99*mean, mean, 1.005*mean, 0.995*mean)
	}
	wide := func(mean float64) []stats.WeightedCount {
		return sampled(mean, 1.1*mean, 0.9*mean, 1.05*mean, 0.95*mean, mean)
	}
	for _, test := range []struct {
		name   string
		limit  Limit
		want   Verdict
		basis  Basis
		capped bool
		warned bool
		needs  bool
	}{
		{"exceeded", Limit{Fail: &five, Estimate: ratio(around(10000), around(12000)), Runs: 6}, Fail, Exceeded, false, false, false},
		{"excluded", Limit{Fail: &five, Estimate: ratio(around(10000), around(10000)), Runs: 6}, Pass, Excluded, false, false, false},
		{"neither", Limit{Fail: &five, Estimate: ratio(wide(10000), wide(10300)), Runs: 6}, Inconclusive, Open, false, false, true},
		{"a warning", Limit{Warn: &two, Fail: &five, Estimate: ratio(around(10000), around(10350)), Runs: 6}, Warn, WarnExceeded, false, false, false},
		{"a warning, and the limit is open", Limit{Warn: &two, Fail: &five, Estimate: ratio(around(10000), around(10480)), Runs: 6}, Inconclusive, Open, false, true, true},
		{"a warning only, open", Limit{Warn: &five, Estimate: ratio(wide(10000), wide(10300)), Runs: 6}, Inconclusive, WarnOpen, false, false, true},
		{"too few runs to fail", Limit{Fail: &five, Estimate: ratio(sampled(10000, 10010), sampled(12000, 12010)), Runs: 2}, Warn, ExceededByDesign, true, false, false},
		{"fewer runs than the file requires", Limit{Fail: &five, Estimate: ratio(around(10000), around(12000)), Runs: 3}, Warn, ExceededByDesign, true, false, false},
		{"base was stored", Limit{Fail: &five, Estimate: ratio(around(10000), around(12000)), Runs: 6, Stored: true}, Warn, ExceededByDesign, true, false, false},
		{"one run a side excludes nothing", Limit{Fail: &five, Estimate: ratio(sampled(1e6), sampled(1e6)), Runs: 1}, Inconclusive, Open, true, false, false},
		{"few samples", Limit{Fail: &five, Estimate: ratio(around(10000), around(12000)), Runs: 6, FewSamples: true}, Inconclusive, ExceededByFew, false, false, false},
		{"less than half is left", Limit{Fail: &five, Estimate: ratio(around(10000), around(1000)), Runs: 6, Compared: true}, Warn, Collapsed, false, false, false},
		{"something is in the way", Limit{Fail: &five, Estimate: ratio(around(10000), around(12000)), Runs: 6, Blocked: true}, Inconclusive, NoTest, false, false, false},
		{"found after looks at something else", Limit{Fail: &five, Estimate: ratio(around(10000), around(12000)), Runs: 6, Found: true}, Warn, ExceededByFinding, false, false, false},
		{"found, excluded", Limit{Fail: &five, Estimate: ratio(around(10000), around(10000)), Runs: 6, Found: true}, Pass, Excluded, false, false, false},
		{"found, counted", Limit{Fail: &five, Estimate: ratio(counted(100), counted(106)), Exact: true, Runs: 1, Found: true}, Fail, Exceeded, false, false, false},
		{"decided before", Limit{Fail: &five, Estimate: ratio(wide(10000), wide(10300)), Runs: 6, Kept: new(stats.More)}, Fail, Exceeded, false, false, false},
		{"excluded before", Limit{Fail: &five, Estimate: ratio(wide(10000), wide(10300)), Runs: 6, Kept: new(stats.Neither)}, Pass, Excluded, false, false, false},
		{"left open by the looks", Limit{Fail: &five, Estimate: ratio(around(10000), around(12000)), Runs: 6, Kept: new(stats.Undecided)}, Inconclusive, Open, false, false, false},
		{"a warning that was decided", Limit{Warn: &five, Estimate: ratio(wide(10000), wide(10300)), Runs: 6, Kept: new(stats.More)}, Warn, WarnExceeded, false, false, false},
		{"decided, and blocked since", Limit{Fail: &five, Estimate: ratio(around(10000), around(12000)), Runs: 6, Blocked: true, Kept: new(stats.More)}, Inconclusive, NoTest, false, false, false},
		{"given", Limit{Fail: &five, Given: Warn}, Warn, NoTest, false, false, false},
		{"counted, exceeded", Limit{Fail: &five, Estimate: ratio(counted(100), counted(106)), Exact: true, Runs: 1}, Fail, Exceeded, false, false, false},
		{"counted, at the limit", Limit{Warn: &two, Fail: &five, Estimate: ratio(counted(100), counted(105)), Exact: true, Runs: 1}, Warn, WarnExceeded, false, false, false},
		{"counted, below", Limit{Fail: &five, Estimate: ratio(counted(100), counted(101)), Exact: true, Runs: 1}, Pass, Excluded, false, false, false},
		{"known between bounds", Limit{Fail: &five, Estimate: ratio(around(10000), around(10000)), Highest: ratio(around(10000), around(12000)), Runs: 6}, Inconclusive, Open, false, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			rule := LimitRule{Alpha: 0.05, Runs: LeastRuns}
			l := test.limit
			rule.Judge([]*Limit{&l})
			if l.Verdict != test.want || l.Basis != test.basis || l.Capped != test.capped || l.Warned != test.warned || (l.RunsNeeded > 0) != test.needs {
				t.Errorf("%s by %d, capped %t, warned %t, needs %d; want %s by %d, %t, %t", l.Verdict, l.Basis, l.Capped, l.Warned, l.RunsNeeded, test.want, test.basis, test.capped, test.warned)
			}
		})
	}
}

// TestLimitFamily checks that limits are corrected for their number, and that what is
// known without error is not counted.
func TestLimitFamily(t *testing.T) {
	tests := stats.New(Level)
	five := 1.05
	limit := func(head ...float64) *Limit {
		e := tests.Ratio(sampled(10000, 10300, 9700, 10100, 9900), sampled(head...))
		return &Limit{Fail: &five, Estimate: &e, Runs: 5}
	}
	barely := func() *Limit { return limit(10850, 11150, 10600, 10900, 10800) }
	rule := LimitRule{Alpha: 0.05, Runs: LeastRuns}
	alone := barely()
	rule.Judge([]*Limit{alone})
	if alone.Verdict != Fail || alone.Adjusted != alone.P || alone.P < 0.005 {
		t.Fatalf("alone: %s, p %v, adjusted %v: the example is none", alone.Verdict, alone.P, alone.Adjusted)
	}
	family := []*Limit{barely()}
	for range 19 {
		family = append(family, limit(10000, 10300, 9700, 10100, 9900))
	}
	rule.Judge(family)
	if l := family[0]; l.Verdict != Inconclusive || math.Abs(l.Adjusted-20*l.P) > 1e-9 || l.Smallest <= alone.Smallest {
		t.Errorf("of 20: %s, p %v, adjusted %v", l.Verdict, l.P, l.Adjusted)
	}
	for _, l := range family[1:] {
		l.Exact = true
	}
	rule.Judge(family)
	if l := family[0]; l.Verdict != Fail || l.Adjusted != l.P {
		t.Errorf("beside 19 that are known: %s, p %v, adjusted %v", l.Verdict, l.P, l.Adjusted)
	}
	// The first of two looks needs stronger evidence.
	rule = LimitRule{Alpha: 0.05, Runs: LeastRuns, Look: stats.FirstLook, Last: stats.SecondLook}
	first := barely()
	rule.Judge([]*Limit{first})
	if !(first.Adjusted > first.P) || rule.Corrected(stats.FirstLook, 1) >= rule.Corrected(stats.SecondLook, 1) {
		t.Errorf("first look: p %v, adjusted %v", first.P, first.Adjusted)
	}
}
