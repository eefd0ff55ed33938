package query

import (
	gocmp "cmp"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/fleettest"
	"profdiff/internal/fleet/store"
	"profdiff/internal/verdict"
)

// small is a fleet with effects.
var small = fleettest.Fleet{
	Seed: 1, Profiles: 300, Devices: 60, Models: 3, Functions: 40, Batch: 70,
	Effects: map[int]float64{3: 1.6, 5: 0.5, 7: 0}, Fresh: 4,
}

func openStore(t testing.TB, f fleettest.Fleet) (*store.Store, string) {
	t.Helper()
	dir := f.Write(t, t.TempDir())
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// TestAsk finds the effects of a store that has several batches, and the same as of its rows in one
// stream that is sorted.
func TestAsk(t *testing.T) {
	s, _ := openStore(t, small)
	q := Question{"1.0", "1.1", fleettest.SampleType, Share, false}
	a, err := Ask(s, q, Scan{})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{}
	if err := s.ProfileFunctions(store.Selection{}, func(rows []fleet.ProfileFunction) error {
		f.facts = append(f.facts, rows...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	found, err := a.Functions(Scan{}, f.functions)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(found.Rows, a.Rows); diff != "" {
		t.Errorf("merged and sorted rows differ:\n%s", diff)
	}
	for i, effect := range small.Effects {
		r := a.Found.row(t, Self, fleettest.ID(i))
		if ratio := r.After.Mean / r.Before.Mean; r.Z() < 3 || (ratio > 1) != (effect > 1) {
			t.Errorf("%s, whose cost is %v of what it was, has ratio %.2f and z %.1f", fleettest.Name(i), effect, ratio, r.Z())
		}
	}
	if r := a.Found.row(t, Self, fleettest.ID(small.Fresh)); r.Before.Mean != 0 || r.After.Mean == 0 {
		t.Errorf("the new function has %+v", r)
	}
	if len(a.Categories) != 2 {
		t.Errorf("%d categories, of 2", len(a.Categories))
	}
	releases, types, err := Contents(s)
	if err != nil || len(releases) != 2 || releases[0].Name != "1.1" || releases[0].Profiles != 300 || !cmp.Equal(types, []string{fleettest.SampleType}) {
		t.Errorf("contents are %v, %v, %v", releases, types, err)
	}
	files, err := FilesOf(s, "gs://bucket/", q)
	both := func(table string) []Directory {
		return []Directory{{"gs://bucket/" + table + "/release=1.0", []string{"day"}, ""}, {"gs://bucket/" + table + "/release=1.1", []string{"day"}, ""}}
	}
	want := Files{
		"profiles": both("profiles"), "profile_functions": both("profile_functions"), "profile_categories": both("profile_categories"), "functions": both("functions"),
	}
	if diff := cmp.Diff(want, files); diff != "" || err != nil {
		t.Errorf("%v:\n%s", err, diff)
	}
}

// TestRolledUp compares units in place of devices. Where each device has a unit of its own, they are the same.
func TestRolledUp(t *testing.T) {
	few := small
	few.Devices = 12 // of which none of a model share a unit, see below
	for name, f := range map[string]fleettest.Fleet{"a device a unit": few, "devices that share units": {
		Seed: 2, Profiles: 900, Devices: 600, Models: 2, Functions: 30, Batch: 400, Effects: map[int]float64{3: 1.5},
	}} {
		s, _ := openStore(t, f)
		if _, err := s.Compact(); err != nil {
			t.Fatal(err)
		}
		for _, per := range []Per{Share, Work, Second} {
			q := Question{"1.0", "1.1", fleettest.SampleType, per, false}
			want, err := Ask(s, q, Scan{ByModel: true})
			if err != nil {
				t.Fatal(err)
			}
			q.RolledUp = true
			got, err := Ask(s, q, Scan{ByModel: true})
			if err != nil {
				t.Fatal(err)
			}
			shared := int64(0)
			for i := range want.Sides {
				w, g := &want.Sides[i], &got.Sides[i]
				if w.Profiles != g.Profiles || w.Devices != got.InUnits[i] || w.Samples != g.Samples || w.Weight != g.Weight || w.Divisor != g.Divisor {
					t.Errorf("%s, per %s: %+v of %d devices, and of devices %+v", name, per, *g, got.InUnits[i], *w)
				}
				shared += w.Devices - g.Devices
			}
			if (shared == 0) != (name == "a device a unit") {
				t.Errorf("%s: %d devices share a unit", name, shared)
			}
			for _, f := range got.Judge(verdict.Rule{Margin: verdict.Margin, FalseDiscovery: verdict.FalseDiscovery}).Functions {
				if f.Self.RunsNeeded != 0 {
					t.Errorf("%s, per %s: %s needs %d units, of which there are no more", name, per, f.Name, f.Self.RunsNeeded)
				}
			}
			rows := make(map[string]*Row)
			for i := range got.Rows {
				rows[got.Rows[i].what()] = &got.Rows[i]
			}
			for i := range want.Rows {
				w := &want.Rows[i]
				g := rows[w.what()]
				if g == nil {
					if shared == 0 {
						t.Errorf("%s, per %s: no row of %s", name, per, w.what())
					}
					continue
				}
				near := func(a, b, by float64) bool { return math.Abs(a-b) <= by*math.Abs(a) }
				if !near(w.After.Mean, g.After.Mean, 1e-9) || shared == 0 && !(near(w.Z(), g.Z(), 1e-9) && near(w.DF(), g.DF(), 1e-9)) {
					t.Errorf("%s, per %s: %s is %+v, of devices %+v", name, per, w.what(), *g, *w)
				}
			}
		}
	}
}

// TestCompareNames has numbers by their value.
func TestCompareNames(t *testing.T) {
	sorted := []string{"base", "before", "old", "", "1.0", "1.2", "1.9", "1.10", "1.10-rc", "2", "a", "a1", "a02", "a10", "b", "after", "head", "new"}
	for i, a := range sorted {
		for j, b := range sorted {
			if got := compareNames(a, b); got != gocmp.Compare(i, j) {
				t.Errorf("%q and %q: %d", a, b, got)
			}
		}
	}
}
