package store

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"profdiff/internal/fleet"
)

// TestFactsByFunction has batches of two releases and of two sample types in a file, of which some profiles are hidden: the same facts
// come in the order of functions as come in that of files.
func TestFactsByFunction(t *testing.T) {
	dir := t.TempDir()
	for i, b := range []*Batch{sampled("1", 1, "a", "b", "c"), sampled("1", 2, "c", "d"), sampled("2", 2, "a", "e")} {
		for n := range 200 {
			name := fmt.Sprint("f", n*(i+1))
			id := fleet.FunctionID("m", name, "")
			b.Functions = append(b.Functions, fleet.Function{FunctionID: id, Name: name, Module: "m"})
			for k := range b.Profiles {
				b.Facts = append(b.Facts, fleet.ProfileFunction{SampleType: cpu, FunctionID: id, ProfileID: b.Profiles[k].ProfileID, SelfValue: int64(n), TotalValue: int64(2*n + k)})
			}
		}
		for _, p := range b.Profiles {
			p.SampleType = "alloc/bytes"
			b.Profiles = append(b.Profiles, p)
		}
		for _, f := range b.Facts {
			f.SampleType, f.SelfValue = "alloc/bytes", 3*f.SelfValue
			b.Facts = append(b.Facts, f)
		}
		put(t, dir, b)
	}
	s := open(t, dir)
	for _, sel := range []Selection{{SampleType: cpu}, {SampleType: "alloc/bytes"}, {SampleType: cpu, Releases: []string{"2"}}, {SampleType: "none"}} {
		type sum [3]int64 // rows, self, total
		want, got := make(map[string]sum), make(map[string]sum)
		if err := s.ProfileFunctions(sel, func(rows []fleet.ProfileFunction) error {
			for _, f := range rows {
				key := fmt.Sprint(f.FunctionID, f.ProfileID, f.BatchID)
				was := want[key]
				want[key] = sum{was[0] + 1, was[1] + f.SelfValue, was[2] + f.TotalValue}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var names []string
		last := int64(-1 << 63)
		if err := s.FactsByFunction(sel, func(profile, batch string) (int32, error) {
			if ok, err := s.sees(s.batches[batch], profile, sel.SampleType); !ok {
				return -1, err
			}
			names = append(names, profile+batch)
			return int32(len(names) - 1), nil
		}, func(f *Facts) error {
			if f.Function < last {
				t.Errorf("function %d follows %d", f.Function, last)
			}
			last = f.Function
			for i, n := range f.Of {
				key := fmt.Sprint(f.Function, names[n])
				was := got[key]
				got[key] = sum{was[0] + 1, was[1] + f.Self[i], was[2] + f.Total[i]}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" || (len(want) == 0) != (sel.SampleType == "none") {
			t.Errorf("%+v: facts by function are others (-want +got):\n%s", sel, diff)
		}
	}
	stop := errors.New("stop")
	if err := s.FactsByFunction(Selection{SampleType: cpu}, func(string, string) (int32, error) { return 0, stop }, func(*Facts) error { return nil }); err != stop {
		t.Errorf("the error of a number is %v", err)
	}
	if err := s.FactsByFunction(Selection{SampleType: cpu}, func(string, string) (int32, error) { return 0, nil }, func(*Facts) error { return stop }); err != stop {
		t.Errorf("the error of facts is %v", err)
	}
}
