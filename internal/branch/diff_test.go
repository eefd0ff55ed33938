package branch_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/diff"
	"profdiff/internal/perffile/perffiletest"
)

// diffRecordings compares two recordings of the same program.
func diffRecordings(t *testing.T, base, head string, opt diff.Options) *diff.Result {
	t.Helper()
	read := branch.WithApp(branch.ReadSlowdown(t))
	opt.Symfs = read.Names.Symfs
	var tables []*branch.Table
	for i, text := range []string{base, head} {
		data := perffiletest.Fixture(t, text)
		table, err := branch.Read([]string{"base.data", "head.data"}[i], bytes.NewReader(data), int64(len(data)), read)
		if err != nil {
			t.Fatal(err)
		}
		branch.CheckTable(t, table)
		branch.Advise(table, read.Names.Symfs)
		tables = append(tables, table)
	}
	d, err := diff.Compare(tables[:1], tables[1:], opt)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// diffText is a comparison in a few words.
func diffText(d *diff.Result) (list []string) {
	number := func(v float64) string { return fmt.Sprintf("%.4g", v) }
	ratio := func(c *diff.Change) string { return number(c.Base) + " → " + number(c.Head) }
	list = append(list, fmt.Sprintf("total %s per %s", ratio(d.Total), d.Normalization.Unit))
	for i := range d.Branches {
		b := &d.Branches[i]
		side := b.Base
		if side == nil {
			side = b.Head
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%#x %s %s %s %s %s", side.Address, side.Known(), b.Match, ratio(&b.Misses), b.Verdict, b.Note)))
	}
	for i := range d.Functions {
		f := &d.Functions[i]
		list = append(list, fmt.Sprintf("%s %s %s", f.Name, ratio(&f.Misses), f.Verdict))
	}
	return list
}

// TestDiffSampledRecordings compares imprecise samples of two runs: 400 misses of the
// loop of read_varints become 100, those of find_fields stay.
func TestDiffSampledRecordings(t *testing.T) {
	side := func(varints, fields int) string {
		return "header\n" + branch.MissAttr + branch.BranchAttr + branch.InstAttr + branch.SMMap + branch.SMSamples(varints, 1, 10, 0x40130c, "") + branch.SMSamples(fields, 1, 2000, 0x401271, "") +
			branch.SMSamples(200, 2, 4000, 0x4012f8, "") + branch.SMSamples(1000, 3, 5000, 0x4012f8, "")
	}
	d := diffRecordings(t, side(400, 100), side(100, 100), diff.Options{})
	got := diffText(d)
	want := []string{
		"total 5 → 2 per 1000 instructions",
		"0x401307 high offset 4 → 1 improved",
		"0x40126a high offset 1 → 1 inconclusive",
		"read_varints 4 → 1 improved",
		"find_fields 1 → 1 inconclusive",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// Twice the work with as many misses.
	d = diffRecordings(t, side(400, 100), side(400, 100), diff.Options{Ops: &[2]float64{1000, 2000}})
	if f := &d.Functions[0]; math.Abs(f.Misses.Ratio-0.5) > 1e-9 || f.Verdict != diff.Improved || d.Branches[0].Verdict != diff.Improved {
		t.Errorf("%v", diffText(d))
	}
	// The same twice.
	for _, f := range diffRecordings(t, side(400, 100), side(400, 100), diff.Options{}).Functions {
		if f.Verdict != diff.Inconclusive || f.Misses.Ratio != 1 {
			t.Errorf("%s: %s", f.Name, f.Verdict)
		}
	}
}

// TestDiffCounterRecordings compares counters read with samples of cycles: read_varints
// has half the misses, find_fields as many.
func TestDiffCounterRecordings(t *testing.T) {
	side := func(varints int) string {
		var b strings.Builder
		b.WriteString(branch.CNGroup)
		v := make([]int, 4)
		for i := range 120 {
			ip, misses := uint64(0x4012f8), varints
			if i%3 == 2 {
				ip, misses = 0x401271, 1000
			}
			v[0], v[1], v[2], v[3] = v[0]+100000, v[1]+misses, v[2]+10000, v[3]+50000
			b.WriteString(branch.CNSample(0, 10+i, ip, 1, v...))
		}
		return b.String()
	}
	got := diffText(diffRecordings(t, side(4000), side(2000), diff.Options{}))
	want := []string{
		"total 60 → 33.33 per 1000 instructions",
		"read_varints 53.33 → 26.67 improved",
		"find_fields 6.667 → 6.667 inconclusive",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestDiffSplits compares halves of one recording, between which there is no
// difference: at a level of 5 % at most 6 % of the branches may seem to differ, and
// corrected for their number, verdicts are rare.
func TestDiffSplits(t *testing.T) {
	halves := branch.RandomHalves(t)
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
			any = any || b.Verdict != diff.Inconclusive && b.Verdict != diff.Unchanged
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
				var sides [2][]*branch.Table
				for run := range test.runs {
					seed := uint64(round*100 + run)
					sides[0] = append(sides[0], branch.MachineTable(seed, test.base, 20000/test.runs))
					sides[1] = append(sides[1], branch.MachineTable(seed+50, test.head, 20000/test.runs))
				}
				d, err := diff.Compare(sides[0], sides[1], diff.Options{})
				if err != nil {
					t.Fatal(err)
				}
				b := changeAt(t, d, 0x1004)
				if b.Verdict == diff.Improved {
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
