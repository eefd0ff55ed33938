package recording

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/branch"
	"profdiff/internal/branch/advice"
	"profdiff/internal/branch/branchtest"
	"profdiff/internal/branch/diff"
	"profdiff/internal/perffile/perffiletest"
	"profdiff/internal/verdict"
)

// diffRecordings compares recordings of the same program.
func diffRecordings(t *testing.T, base, head []string, opt diff.Options) *diff.Result {
	t.Helper()
	read := withApp(readSlowdown(t))
	opt.Objects = read.Names.Objects
	tables := func(name string, runs []string) (list []*branch.Table) {
		for _, text := range runs {
			data := perffiletest.Fixture(t, text)
			table, err := readBytes(name, data, read)
			if err != nil {
				t.Fatal(err)
			}
			branchtest.CheckTable(t, table)
			advice.Add(table, read.Names.Objects)
			list = append(list, table)
		}
		return list
	}
	d, err := diff.Compare(tables("base.data", base), tables("head.data", head), opt)
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
		list = append(list, strings.TrimSpace(fmt.Sprintf("%#x %s %s %s %s %s", side.Address, side.Known(), b.Match, ratio(&b.Misses), b.Misses.Verdict, b.Note)))
	}
	for i := range d.Functions {
		f := &d.Functions[i]
		list = append(list, fmt.Sprintf("%s %s %s", f.Name, ratio(&f.Misses), f.Misses.Verdict))
	}
	return list
}

// fourRuns are runs that differ a little, by what makes one of a number.
func fourRuns(of func(n int) string, n int) (runs []string) {
	for _, percent := range []int{100, 99, 101, 100} {
		runs = append(runs, of(n*percent/100))
	}
	return runs
}

// TestDiffSampledRecordings compares imprecise samples: 400 misses of the
// loop of read_varints become 100, those of find_fields stay.
func TestDiffSampledRecordings(t *testing.T) {
	side := func(varints int) string {
		const fields = 100
		return "header\n" + missAttr + branchAttr + instAttr + smMap + smSamples(varints, 1, 10, 0x40130c, "") + smSamples(fields, 1, 2000, 0x401271, "") +
			smSamples(200, 2, 4000, 0x4012f8, "") + smSamples(1000, 3, 5000, 0x4012f8, "")
	}
	d := diffRecordings(t, fourRuns(side, 400), fourRuns(side, 100), diff.Options{})
	got := diffText(d)
	want := []string{
		"total 5 → 2 per 1000 instructions",
		"0x401307 high offset 4 → 1 improved",
		"0x40126a high offset 1 → 1 unchanged",
		"read_varints 4 → 1 improved",
		"find_fields 1 → 1 unchanged",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// One run a side has the same costs, and no verdict.
	one := diffText(diffRecordings(t, []string{side(400)}, []string{side(100)}, diff.Options{}))
	for i := range want[1:] {
		want[1+i] = strings.NewReplacer("improved", "inconclusive", "unchanged", "inconclusive").Replace(want[1+i])
	}
	if diff := cmp.Diff(want, one); diff != "" {
		t.Errorf("one run a side, -want +got:\n%s", diff)
	}
	// Twice the work with as many misses.
	d = diffRecordings(t, fourRuns(side, 400), fourRuns(side, 400), diff.Options{Ops: &[2]float64{1000, 2000}})
	if f := &d.Functions[0]; math.Abs(f.Misses.Ratio-0.5) > 1e-9 || f.Misses.Verdict != verdict.Improved || d.Branches[0].Misses.Verdict != verdict.Improved {
		t.Errorf("%v", diffText(d))
	}
	// The same twice.
	for _, f := range diffRecordings(t, []string{side(400)}, []string{side(400)}, diff.Options{}).Functions {
		if f.Misses.Verdict != verdict.Inconclusive || f.Misses.Ratio != 1 {
			t.Errorf("%s: %s", f.Name, f.Misses.Verdict)
		}
	}
}

// TestDiffCounterRecordings compares counters read with samples of cycles: read_varints
// has half the misses, find_fields as many.
func TestDiffCounterRecordings(t *testing.T) {
	side := func(varints int) string {
		var b strings.Builder
		b.WriteString(cnGroup)
		v := make([]int, 4)
		for i := range 120 {
			ip, misses := uint64(0x4012f8), varints
			if i%3 == 2 {
				ip, misses = 0x401271, 1000
			}
			v[0], v[1], v[2], v[3] = v[0]+100000, v[1]+misses, v[2]+10000, v[3]+50000
			b.WriteString(cnSample(0, 10+i, ip, 1, v...))
		}
		return b.String()
	}
	got := diffText(diffRecordings(t, fourRuns(side, 4000), fourRuns(side, 2000), diff.Options{}))
	want := []string{
		"total 60 → 33.33 per 1000 instructions",
		"read_varints 53.33 → 26.67 improved",
		"find_fields 6.667 → 6.667 unchanged",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
