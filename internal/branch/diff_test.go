package branch

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDiffSplits compares halves of one recording, between which there is no
// difference: at a level of 5 % at most 6 % of the branches may seem to differ, and
// corrected for their number, verdicts are rare.
func TestDiffSplits(t *testing.T) {
	stacks, empty := keep(t, recording(t, "lbr/test.lbr"), recording(t, "lbr"))
	r := rand.New(rand.NewPCG(1, 2))
	var misses, rates, flaggedMisses, flaggedRates, verdicts, matched, unmatched int
	const splits = 31
	for split := range splits {
		halves := [2]*collector{empty(), empty()}
		order := r.Perm(len(stacks))
		for i := range stacks {
			half := order[i] & 1
			if split == 0 { // odd and even samples
				half = i & 1
			}
			halves[half].add(&stacks[i])
		}
		var tables [2]*Table
		for i, h := range halves {
			tables[i] = &Table{Name: "half"}
			h.finish(tables[i], &Options{}, nil, "")
		}
		d, err := Compare(tables[:1], tables[1:], DiffOptions{})
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
			any = any || b.Verdict != Inconclusive && b.Verdict != Unchanged
		}
		if any {
			verdicts++
		}
	}
	t.Logf("misses: %d of %d differ, %.2f %%; rates: %d of %d, %.2f %%; any verdict in %d of %d splits; %d matched, %d on one side only",
		flaggedMisses, misses, 100*float64(flaggedMisses)/float64(misses), flaggedRates, rates, 100*float64(flaggedRates)/float64(rates), verdicts, splits, matched, unmatched)
	for _, part := range []struct{ flagged, tests int }{{flaggedMisses, misses}, {flaggedRates, rates}} {
		if part.tests < 1000 || float64(part.flagged) > 0.06*float64(part.tests) {
			t.Errorf("%d of %d differ", part.flagged, part.tests)
		}
	}
	if verdicts > splits/10 {
		t.Errorf("%d of %d comparisons have a verdict", verdicts, splits)
	}
}

// TestDiffMessageHeap compares a comparator with branches with one without.
func TestDiffMessageHeap(t *testing.T) {
	dir := "../../profiles/message-heap/callgrind/"
	base, head := readSimulated(t, dir+"before.out", &Options{}), readSimulated(t, dir+"after.out", &Options{})
	d, err := Compare([]*Table{base}, []*Table{head}, DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !d.Counted || d.Normalization.Mode != PerRun || d.Normalization.Executions != 1 || d.Normalization.Branches < 50 {
		t.Errorf("counted %t, %+v", d.Counted, d.Normalization)
	}
	if d.Total.Base != float64(base.Misses) || d.Total.Head != float64(head.Misses) {
		t.Errorf("total %v → %v, want %d → %d", d.Total.Base, d.Total.Head, base.Misses, head.Misses)
	}
	type row struct {
		Function   string
		Line       int64
		Base, Head float64
		Verdict    Verdict
	}
	var got []row
	for _, b := range d.Branches[:5] {
		place := b.Base
		if place == nil {
			place = b.Head
		}
		got = append(got, row{place.Function, place.Line, b.Misses.Base, b.Misses.Head, b.Verdict})
		if b.Verdict == Removed && (b.Function == nil || *b.Function != FunctionChange{Name: "message_compare", Base: 1826923, BaseBranches: 3}) {
			t.Errorf("line %d: function %+v", place.Line, b.Function)
		}
	}
	want := []row{
		{"message_compare", 108, 1678970, 0, Removed},
		{"heap_sift_up", 138, 6, 298493, Regressed}, // which tests the result
		{"message_compare", 110, 101806, 0, Removed},
		{"heap_sift_down", 151, 324, 51186, Regressed},
		{"message_compare", 112, 46147, 0, Removed},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// The binaries tell what the comparator has instead, though no branch of it is left.
	d, err = Compare([]*Table{base}, []*Table{head}, DiffOptions{Symfs: searchPath("../../profiles/message-heap/symbols")})
	if err != nil {
		t.Fatal(err)
	}
	if r := d.Branches[0].ReplacedBy; r == nil || r.By != ConditionalSet || r.Text != "setg %dl" || r.Line != 104 || r.Head <= r.Base {
		t.Errorf("replaced by %+v", *r)
	}
	if rows := len(d.Branches) + d.Hidden; rows >= len(base.Branches)+len(head.Branches) || rows < max(len(base.Branches), len(head.Branches)) {
		t.Errorf("%d rows of %d and %d branches", rows, len(base.Branches), len(head.Branches))
	}
}

// machineTable runs the loop of stack_machine_test.go with a miss rate and returns the table
// of its stacks.
func machineTable(seed uint64, miss float64, iterations int) *Table {
	c := withProgram(loop)
	m := &machine{
		r: rand.New(rand.NewPCG(11, seed)), collector: c, period: 97, elsewhere: 0.6,
		seen: make(map[uint64]*truth), every: func(e string) bool { return e == "taken" },
	}
	m.event = c.event(Event{Name: "event", Period: 97, Counts: CountsTaken}, true)
	m.run(iterations, 0.6, miss, false)
	t := &Table{Name: "machine"}
	c.finish(t, &Options{}, nil, "")
	return t
}

// changeAt is the change of the branch that machineTable changes.
func changeAt(t *testing.T, d *Diff, runtime uint64) *BranchChange {
	t.Helper()
	for i := range d.Branches {
		b := &d.Branches[i]
		if b.Base != nil && b.Base.runtime == runtime {
			return b
		}
	}
	t.Fatalf("no branch %#x", runtime)
	return nil
}

// TestDiffPower counts how often a miss rate that falls by half is seen, that one that
// stays is not said to change, and that intervals hold the truth.
func TestDiffPower(t *testing.T) {
	const rounds = 20
	for _, test := range []struct {
		name       string
		runs       int
		base, head float64
		least      int // verdicts that improved
		most       int
		ratio      float64
	}{
		{"half", 1, 0.2, 0.1, rounds * 95 / 100, rounds, 0.5},
		{"a tenth", 1, 0.2, 0.02, rounds, rounds, 0.1},
		{"none", 1, 0.2, 0.2, 0, rounds / 10, 1},
		{"half, 4 runs", 4, 0.2, 0.1, rounds * 95 / 100, rounds, 0.5},
		{"none, 4 runs", 4, 0.2, 0.2, 0, rounds / 10, 1},
		{"half, 8 runs", 8, 0.2, 0.1, rounds * 95 / 100, rounds, 0.5},
	} {
		t.Run(test.name, func(t *testing.T) {
			improved, held, rates, rateHeld := 0, 0, 0, 0
			for round := range rounds {
				var sides [2][]*Table
				for run := range test.runs {
					seed := uint64(round*100 + run)
					sides[0] = append(sides[0], machineTable(seed, test.base, 20000/test.runs))
					sides[1] = append(sides[1], machineTable(seed+50, test.head, 20000/test.runs))
				}
				d, err := Compare(sides[0], sides[1], DiffOptions{})
				if err != nil {
					t.Fatal(err)
				}
				b := changeAt(t, d, 0x1004)
				if b.Verdict == Improved {
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
