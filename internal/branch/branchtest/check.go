package branchtest

import (
	"math"
	"strings"
	"testing"

	"profdiff/internal/branch"
)

// checkSampled checks what holds for every table of samples of single addresses or
// counters.
func checkSampled(t testing.TB, table *branch.Table) {
	t.Helper()
	if !table.Samples.Balanced() {
		t.Errorf("samples do not add up: %+v", table.Samples)
	}
	a := &table.Sampled.Attribution
	if !a.Balanced() {
		t.Errorf("samples of misses do not add up: %+v", a)
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6*math.Max(1, math.Abs(want)) {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	if table.Tier != branch.TierCounters {
		var misses, all float64
		var n, named int64
		for _, f := range table.Sampled.Functions {
			misses += f.Misses.Value
			n += f.Misses.Samples
			named += f.Named
		}
		for _, x := range table.Totals {
			if x.Misses != nil {
				all += x.Misses.Value
			}
		}
		near("misses of functions", misses, all)
		if n != a.In || named != a.Named {
			t.Errorf("functions have %d samples of misses, %d named, want %d and %d", n, named, a.In, a.Named)
		}
		var weight, blocks float64
		for _, b := range table.Branches {
			weight += *b.Misses
			near("parts of "+b.Function, b.Sampled.Exclusive+b.Sampled.Shared, *b.Misses)
			if b.MissesCI[0] > *b.Misses*(1+1e-9) || b.MissesCI[1] < *b.Misses*(1-1e-9) {
				t.Errorf("%s+%#x: %v misses not in %v", b.DSO, b.Address, *b.Misses, *b.MissesCI)
			}
			for _, c := range b.Sampled.Candidates {
				if c.Part < 0 || c.Part > 1+1e-9 || c.Address == b.Address {
					t.Errorf("%s+%#x: candidate %+v", b.DSO, b.Address, c)
				}
			}
		}
		for _, b := range table.Sampled.Blocks {
			blocks += b.Misses.Value
			if b.Start >= b.End {
				t.Errorf("block %+v", b)
			}
		}
		if weight > all*(1+1e-9) || blocks > all*(1+1e-9) || weight > blocks*(1+1e-9) {
			t.Errorf("%v misses, %v in blocks, %v with branches", all, blocks, weight)
		}
	}
	for _, x := range table.Totals {
		CheckRatio(t, x.Rate)
		CheckRatio(t, x.MPKI)
	}
	for _, f := range table.Sampled.Functions {
		CheckRatio(t, f.Rate)
		CheckRatio(t, f.MPKI)
		for _, a := range []*branch.Amount{&f.Misses, f.Branches, f.Instructions, f.Cycles} {
			if a != nil && (!(a.CI[0] <= a.Value*(1+1e-9)) || !(a.Value <= a.CI[1]*(1+1e-9)) || math.IsInf(a.CI[1], 0)) {
				t.Errorf("%s: amount %+v", f.Name, *a)
			}
		}
	}
}

// CheckRatio checks what holds for every ratio.
func CheckRatio(t testing.TB, r *branch.Ratio) {
	t.Helper()
	if r == nil || r.CI == nil {
		return
	}
	if math.IsNaN(r.CI[0]) || math.IsNaN(r.CI[1]) || math.IsInf(r.CI[1], 0) || r.CI[0] > r.CI[1] ||
		r.Value != nil && (*r.Value < r.CI[0]*(1-1e-9) || *r.Value > r.CI[1]*(1+1e-9)) {
		t.Errorf("ratio %v in %v", r.Value, *r.CI)
	}
}

// CheckTable checks what holds for every table.
func CheckTable(t testing.TB, table *branch.Table) {
	t.Helper()
	if table.Sampled != nil {
		checkSampled(t, table)
		return
	}
	if !table.Samples.Balanced() {
		t.Errorf("samples do not add up: %+v", table.Samples)
	}
	if !table.Stacks.Entries.Balanced() {
		t.Errorf("entries do not add up: %+v", table.Stacks.Entries)
	}
	var entries, misses int64
	var executed float64
	for i := range table.Branches {
		b := &table.Branches[i]
		misses += b.Stacks.Mispredicted
		entries += b.Stacks.Taken
		executed += *b.Taken
		if table.Tier == branch.TierPrecise {
			entries += *b.Stacks.NotTaken
		}
		if r := b.Rate; r != nil {
			if r.Method == branch.ByBounds && (r.CI[0] > r.Bounds[0] || r.CI[1] < r.Bounds[1]) || r.Bounds[0] > r.Bounds[1] {
				t.Errorf("%s+%#x: rate %+v", b.DSO, b.Address, *r)
			}
			if v := r.Value; v != nil && (*v < r.CI[0] || *v > r.CI[1]) {
				t.Errorf("%s+%#x: rate %v not in %v", b.DSO, b.Address, *v, r.CI)
			}
		}
		for _, e := range []*branch.Estimate{b.PTaken, b.Stacks.TakenRate} {
			if e != nil && (e.Lo > e.Value || e.Value > e.Hi || e.Lo < 0 || e.Hi > 1) {
				t.Errorf("%s+%#x: estimate %+v", b.DSO, b.Address, *e)
			}
		}
	}
	var counted float64
	onlyTaken := table.Scaled && table.Samples.Lost == 0
	for _, e := range table.Events {
		if e.Rates {
			counted += e.Weight
			onlyTaken = onlyTaken && e.Counts == branch.CountsTaken
		}
	}
	if strings.Contains(strings.Join(table.Warnings, "\n"), "the counter is taken") {
		counted = table.Stacks.Rated
	}
	if onlyTaken && math.Abs(executed/counted-1) > 1e-6 {
		t.Errorf("branches were taken %v times, the events counted %v", executed, counted)
	}
	if entries != table.Stacks.Entries.Used {
		t.Errorf("branches have %d entries, %d were used", entries, table.Stacks.Entries.Used)
	}
	if table.Unknown == "" && misses != table.Misses {
		t.Errorf("branches have %d misses, entries %d", misses, table.Misses)
	}
}
