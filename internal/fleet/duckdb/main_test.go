package main

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/fleettest"
	"profdiff/internal/fleet/query"
	"profdiff/internal/fleet/store"
)

// TestRows asks DuckDB and profdiff for all rows of a store of 600 profiles, and gets the same: z and degrees
// of freedom within 1e-9.
func TestRows(t *testing.T) {
	f := fleettest.Fleet{
		Seed: 11, Profiles: 300, Devices: 80, Models: 4, Functions: 60, Batch: 90,
		Effects: map[int]float64{2: 1.3, 9: 0.6, 12: 0}, Fresh: 20,
	}
	dir := f.Write(t, t.TempDir())
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		per               query.Per
		rolledUp, renamed bool
	}{{query.Share, false, false}, {query.Work, false, false}, {query.Second, false, false}, {query.Share, true, false}, {query.Second, true, false}, {query.Share, false, true}, {query.Share, true, true}} {
		if x.renamed {
			// The function that is gone has the name of the new one.
			if err := s.SetRenames([]fleet.Rename{{FromID: fleettest.ID(12), ToID: fleettest.ID(20), Origin: "declared"}}); err != nil {
				t.Fatal(err)
			}
		}
		q := query.Question{Before: "1.0", After: "1.1", SampleType: fleettest.SampleType, Per: x.per, RolledUp: x.rolledUp}
		want, err := query.Ask(s, q, query.Scan{ByModel: true})
		if err != nil {
			t.Fatal(err)
		}
		got := asked(t, s, dir, q)
		same(t, want.Rows, got.Rows)
		if !x.rolledUp {
			same(t, want.Categories, got.Categories)
		}
	}
}

// TestExact has devices that spend more, and less, than floating-point numbers tell exactly: sums are those of profdiff all the same.
func TestExact(t *testing.T) {
	f := fleettest.Fleet{Seed: 12, Profiles: 120, Devices: 40, Models: 2, Functions: 20, Batch: 50, Sample: 2_000_000_000_001}
	dir := f.Write(t, t.TempDir())
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	weights := make(map[string]int64)
	for p, err := range s.Profiles(store.Selection{}) {
		if err != nil {
			t.Fatal(err)
		}
		weights[p.DeviceID] += p.Weight
	}
	large := 0
	for _, w := range weights {
		if w > 1<<53 {
			large++
		}
	}
	if large == 0 || large == len(weights) {
		t.Fatalf("%d of %d devices spend more than 2^53: that is no test", large, len(weights))
	}
	q := query.Question{Before: "1.0", After: "1.1", SampleType: fleettest.SampleType, Per: query.Share}
	want, err := query.Ask(s, q, query.Scan{ByModel: true})
	if err != nil {
		t.Fatal(err)
	}
	got := asked(t, s, dir, q)
	same(t, want.Rows, got.Rows)
}

// asked asks DuckDB.
func asked(t *testing.T, s *store.Store, dir string, q query.Question) *query.Answer {
	t.Helper()
	request, err := query.NewRequest(s, dir, q, true)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := answer(t.Context(), bytes.NewReader(text), &out); err != nil {
		t.Fatal(err)
	}
	got, err := query.Take(s, q, &out, "duckdb")
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func same(t *testing.T, want, got []query.Row) {
	t.Helper()
	if len(got) != len(want) || len(want) == 0 {
		t.Fatalf("%d rows, profdiff has %d", len(got), len(want))
	}
	for i := range want {
		w, g := &want[i], &got[i]
		if w.By != g.By || w.Value != g.Value || w.FunctionID != g.FunctionID || w.Model != g.Model || w.Category != g.Category ||
			w.Before.Devices != g.Before.Devices || w.After.Devices != g.After.Devices {
			t.Fatalf("row %d is %+v, profdiff has %+v", i, *g, *w)
		}
		for _, x := range [][2]float64{{w.Z(), g.Z()}, {w.DF(), g.DF()}, {w.Before.Mean, g.Before.Mean}, {w.After.Mean, g.After.Mean}} {
			if !(math.Abs(x[0]-x[1]) <= 1e-9*math.Abs(x[0])) {
				t.Errorf("row %d has %.15g, profdiff %.15g", i, x[1], x[0])
			}
		}
	}
}

// TestErrors ends with one line that says what was wrong.
func TestErrors(t *testing.T) {
	for request, says := range map[string]string{
		"":                            "the request",
		`{"views":["CREATE VIEW"]}`:   "in: CREATE VIEW",
		`{"queries":["SELECT 1+"]}`:   "syntax error",
		`{"memory":"a lot"}`:          "in: SET memory_limit",
		`{"queries":["SELECT x"]}`:    "x",
		`{"views":["SELECT error('')`: "the request",
	} {
		if err := answer(t.Context(), strings.NewReader(request), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", request, err, says)
		}
	}
}
