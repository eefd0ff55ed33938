package stacks

import (
	"math/rand/v2"
	"testing"

	"profdiff/internal/branch"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/branch/diff"
	"profdiff/internal/verdict"
)

// randomHalves returns a function that cuts the branch stacks of a recording in two at
// random, or if odd is set into odd and even samples.
func randomHalves(t *testing.T) func(r *rand.Rand, odd bool) [2]*branch.Table {
	stacks, empty := keep(t, branchtest.Recording(t, "lbr/test.lbr"), branchtest.Recording(t, "lbr"))
	return func(r *rand.Rand, odd bool) (tables [2]*branch.Table) {
		halves := [2]*Collector{empty(), empty()}
		order := r.Perm(len(stacks))
		for i := range stacks {
			half := order[i] & 1
			if odd {
				half = i & 1
			}
			halves[half].add(&stacks[i])
		}
		for i, h := range halves {
			tables[i] = &branch.Table{Name: "half"}
			h.Finish(tables[i], &branch.Options{}, nil, "")
		}
		return tables
	}
}

// machineTable runs the loop of stack_machine_test.go with a miss rate and returns the table
// of its stacks.
func machineTable(seed uint64, miss float64, iterations int) *branch.Table {
	c := withProgram(loop)
	m := &machine{
		r: rand.New(rand.NewPCG(11, seed)), collector: c, period: 97, elsewhere: 0.6,
		seen: make(map[uint64]*truth), every: func(e string) bool { return e == "taken" },
	}
	m.event = c.event(branch.Event{Name: "event", Period: 97, Counts: branch.CountsTaken}, true)
	m.run(iterations, 0.6, miss, false)
	t := &branch.Table{Name: "machine"}
	c.Finish(t, &branch.Options{}, nil, "")
	return t
}

// TestDiffSplits compares halves of one recording, between which there is no
// difference: at a level of 5 % at most 6 % of the branches may seem to differ, and
// corrected for their number, small values are rare.
func TestDiffSplits(t *testing.T) {
	halves := randomHalves(t)
	r := rand.New(rand.NewPCG(1, 2))
	var misses, rates, flaggedMisses, flaggedRates, verdicts, matched, unmatched int
	const splits = 31
	for split := range splits {
		tables := halves(r, split == 0)
		d, err := diff.Compare(tables[:1], tables[1:], diff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		any := false
		for i := range d.Branches {
			b := &d.Branches[i]
			if b.Base != nil && b.Head != nil {
				matched++
			} else {
				unmatched++
			}
			misses++
			if b.Misses.P < 0.05 {
				flaggedMisses++
			}
			if b.Rate != nil {
				rates++
				if b.Rate.P < 0.05 {
					flaggedRates++
				}
			}
			any = any || b.Misses.Adjusted <= 0.05
			if b.Misses.Verdict != verdict.Inconclusive {
				t.Errorf("split %d: one run a side is %s", split, b.Misses.Verdict)
			}
		}
		if any {
			verdicts++
		}
	}
	t.Logf("misses: %d of %d differ, %.2f %%; rates: %d of %d, %.2f %%; any q of 5 %% or less in %d of %d splits; %d matched, %d on one side only",
		flaggedMisses, misses, 100*float64(flaggedMisses)/float64(misses), flaggedRates, rates, 100*float64(flaggedRates)/float64(rates), verdicts, splits, matched, unmatched)
	for _, part := range []struct{ flagged, tests int }{{flaggedMisses, misses}, {flaggedRates, rates}} {
		if part.tests < 1000 || float64(part.flagged) > 0.06*float64(part.tests) {
			t.Errorf("%d of %d differ", part.flagged, part.tests)
		}
	}
	if verdicts > splits/10 {
		t.Errorf("%d of %d comparisons have a q of 5 %% or less", verdicts, splits)
	}
}

// changeAt is the change of the branch that machineTable changes.
func changeAt(t *testing.T, d *diff.Result, address uint64) *diff.BranchChange {
	t.Helper()
	for i := range d.Branches {
		b := &d.Branches[i]
		if b.Base != nil && b.Base.Address == address {
			return b
		}
	}
	t.Fatalf("no branch %#x", address)
	return nil
}

// TestDiffPower counts how often a miss rate that falls by half is seen, that one that
// stays is not said to change, and that intervals hold the truth.
func TestDiffPower(t *testing.T) {
	rounds := 20
	if testing.Short() {
		rounds = 10
	}
	for _, test := range []struct {
		name       string
		runs       int
		base, head float64
		least      int // verdicts that improved
		most       int
		ratio      float64
	}{
		{"half, in one run a side", 1, 0.2, 0.1, 0, 0, 0.5}, // intervals only
		{"a tenth, in one run a side", 1, 0.2, 0.02, 0, 0, 0.1},
		{"none, in one run a side", 1, 0.2, 0.2, 0, 0, 1},
		{"half, 4 runs", 4, 0.2, 0.1, rounds * 95 / 100, rounds, 0.5},
		{"none, 4 runs", 4, 0.2, 0.2, 0, rounds / 10, 1},
		{"half, 8 runs", 8, 0.2, 0.1, rounds * 95 / 100, rounds, 0.5},
	} {
		t.Run(test.name, func(t *testing.T) {
			improved, held, rates, rateHeld := 0, 0, 0, 0
			for round := range rounds {
				var sides [2][]*branch.Table
				for run := range test.runs {
					seed := uint64(round*100 + run)
					sides[0] = append(sides[0], machineTable(seed, test.base, 20000/test.runs))
					sides[1] = append(sides[1], machineTable(seed+50, test.head, 20000/test.runs))
				}
				d, err := diff.Compare(sides[0], sides[1], diff.Options{})
				if err != nil {
					t.Fatal(err)
				}
				b := changeAt(t, d, 0x1004)
				if b.Misses.Verdict == verdict.Improved {
					improved++
				}
				if b.Misses.CI.Contains(test.ratio) {
					held++
				}
				if b.Rate == nil {
					continue // a run has too few misses
				}
				rates++
				if b.Rate.CI.Contains(test.ratio) {
					rateHeld++
				}
			}
			t.Logf("improved %d of %d, the interval of misses holds the truth %d times, that of the rate %d of %d", improved, rounds, held, rateHeld, rates)
			if improved < test.least || improved > test.most {
				t.Errorf("improved in %d of %d, want %d to %d", improved, rounds, test.least, test.most)
			}
			if held < rounds*85/100 || rateHeld < rates*85/100 || rates == 0 {
				t.Errorf("intervals hold the truth %d of %d and %d of %d times", held, rounds, rateHeld, rates)
			}
		})
	}
}
