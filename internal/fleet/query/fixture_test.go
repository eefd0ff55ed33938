package query

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"testing"

	"profdiff/internal/fleet"
)

const cpu = "cpu/nanoseconds"

// A fixture is a store without files.
type fixture struct {
	ledger []fleet.Profile
	facts  []fleet.ProfileFunction
}

// profile adds a profile that spends in functions, by id, and the rest in none.
func (f *fixture) profile(release, model, device string, weight int64, spent map[int64]int64) *fleet.Profile {
	id := fmt.Sprintf("%032x", len(f.ledger))
	f.ledger = append(f.ledger, fleet.Profile{
		ProfileID: id, BatchID: "00", ReleaseID: release, DeviceModel: model, DeviceID: device, SampleType: cpu,
		Weight: weight, SampleCount: max(1, weight/1_000_000), SchemaVersion: fleet.Schema, DurationNS: 10 * weight,
	})
	for fn, v := range spent {
		f.facts = append(f.facts, fleet.ProfileFunction{SampleType: cpu, FunctionID: fn, ProfileID: id, BatchID: "00", SelfValue: v, TotalValue: 2 * v})
	}
	return &f.ledger[len(f.ledger)-1]
}

func (f *fixture) profiles() iter.Seq2[fleet.Profile, error] {
	return func(yield func(fleet.Profile, error) bool) {
		for _, p := range f.ledger {
			if !yield(p, nil) {
				return
			}
		}
	}
}

func (f *fixture) functions(call func([]fleet.ProfileFunction) error) error {
	slices.SortFunc(f.facts, func(a, b fleet.ProfileFunction) int {
		return cmp.Or(cmp.Compare(a.FunctionID, b.FunctionID), cmp.Compare(a.ProfileID, b.ProfileID))
	})
	for part := range slices.Chunk(f.facts, 100) {
		if err := call(part); err != nil {
			return err
		}
	}
	return nil
}

func (f *fixture) population(t testing.TB, per Per) *Population {
	t.Helper()
	p, err := NewPopulation(Question{"1.0", "1.1", cpu, per, false}, f.profiles())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (f *fixture) compare(t testing.TB, per Per, s Scan) (*Population, *Found) {
	t.Helper()
	p := f.population(t, per)
	found, err := p.Functions(s, f.functions)
	if err != nil {
		t.Fatal(err)
	}
	return p, found
}

// row is a row of functions by id.
func (f *Found) row(t testing.TB, v Value, id int64) *Row {
	t.Helper()
	for i := range f.Rows {
		if r := &f.Rows[i]; r.By == Function && r.Value == v && r.FunctionID == id {
			return r
		}
	}
	t.Fatalf("no row of function %d by %s", id, v)
	return nil
}
