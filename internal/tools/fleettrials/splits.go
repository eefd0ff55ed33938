package main

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/query"
	"profdiff/internal/fleet/store"
	"profdiff/internal/stats"
)

// level is that of intervals; splits count p-values only.
const level = 0.95

// A fold is one release of a store, summed by device: a comparison sums by device in any case, so that
// splits of the fold give what splits of the profiles give, and need not read facts again.
type fold struct {
	devices []fleet.Profile // one row for all profiles of a device
	facts   []fleet.ProfileFunction
	models  int
}

// A deviceFact is a function on a device.
type deviceFact struct {
	device   int32
	function int64
}

// newFold reads a release.
func newFold(dir, release, sampleType string) (*fold, error) {
	s, err := store.Open(dir)
	if err != nil {
		return nil, err
	}
	f := &fold{}
	device := make(map[[2]string]int32)
	profile := make(map[string]int32)
	models := make(map[string]bool)
	sel := store.Selection{Releases: []string{release}, SampleType: sampleType}
	for row, err := range s.Profiles(sel) {
		if err != nil {
			return nil, err
		}
		key := [2]string{row.DeviceModel, row.DeviceID}
		i, ok := device[key]
		if !ok {
			i = int32(len(f.devices))
			device[key] = i
			row := row
			row.ProfileID, row.BatchID, row.Weight, row.SampleCount = strconv.Itoa(int(i)), "fold", 0, 0
			f.devices = append(f.devices, row)
			models[row.DeviceModel] = true
		}
		profile[row.ProfileID] = i
		f.devices[i].Weight += row.Weight
		f.devices[i].SampleCount += row.SampleCount
	}
	if len(f.devices) == 0 {
		return nil, fmt.Errorf("%s: has no profile of %s in release %s", dir, sampleType, release)
	}
	f.models = len(models)
	self, total := make(map[deviceFact]int64), make(map[deviceFact]int64)
	err = s.ProfileFunctions(sel, func(rows []fleet.ProfileFunction) error {
		for i := range rows {
			at, ok := profile[rows[i].ProfileID]
			if !ok {
				return fmt.Errorf("profile %s has facts, and is not in the ledger", rows[i].ProfileID)
			}
			key := deviceFact{at, rows[i].FunctionID}
			self[key] += rows[i].SelfValue
			total[key] += rows[i].TotalValue
		}
		return nil
	})
	for key, v := range total {
		f.facts = append(f.facts, fleet.ProfileFunction{
			SampleType: sampleType, FunctionID: key.function, ProfileID: f.devices[key.device].ProfileID, BatchID: "fold",
			SelfValue: self[key], TotalValue: v,
		})
	}
	slices.SortFunc(f.facts, func(a, b fleet.ProfileFunction) int {
		return cmp.Or(cmp.Compare(a.FunctionID, b.FunctionID), cmp.Compare(a.ProfileID, b.ProfileID))
	})
	return f, err
}

// split gives each device one of two releases by chance, the first with a probability.
func (f *fold) split(seed uint64, part float64) iter.Seq2[fleet.Profile, error] {
	rng := rand.New(rand.NewPCG(seed, 0))
	return func(yield func(fleet.Profile, error) bool) {
		for _, row := range f.devices {
			row.ReleaseID = "other"
			if rng.Float64() < part {
				row.ReleaseID = "one"
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}

// limits are the p-values that are counted.
var limits = [...]float64{0.05, 0.01, 0.001, 1e-4, 1e-5}

// A tally counts p-values.
type tally struct {
	tests int
	below [len(limits)]int
	// called is the number of splits in which anything was called at a false discovery rate of 5 %.
	splits, called int
}

// splits compares halves of one release, of which nothing is to be said: devices are the units, with the
// statistics of `profdiff fleet compare`.
func (f *fold) splits(n int, part float64, by query.By) (*tally, error) {
	t := &tally{}
	tests := stats.New(level)
	var facts []fleet.ProfileFunction
	for seed := range n {
		p, err := query.NewPopulation(query.Question{Before: "one", After: "other", SampleType: f.devices[0].SampleType, Per: query.Share}, f.split(uint64(seed), part))
		if err != nil {
			return nil, err
		}
		// A scan may change the rows that it is given.
		facts = append(facts[:0], f.facts...)
		found, err := p.Functions(query.Scan{Values: []query.Value{query.Self}, ByModel: by == query.Model}, func(each func([]fleet.ProfileFunction) error) error { return each(facts) })
		if err != nil {
			return nil, err
		}
		var all []float64
		for i := range found.Rows {
			if found.Rows[i].By != by {
				continue
			}
			// Whatever the degrees of freedom are, p is not below the limits then, and most of the time goes into it.
			if found.Rows[i].Z() < 1.9 {
				all = append(all, 1)
				continue
			}
			e := p.Estimate(tests, &found.Rows[i])
			if e.Refused != "" {
				return nil, errors.New("a function that can be tested was refused: " + e.Refused)
			}
			all = append(all, e.P)
		}
		t.add(all)
	}
	return t, nil
}

// add counts the p-values of a split.
func (t *tally) add(all []float64) {
	slices.Sort(all)
	called := false
	for i, p := range all {
		t.tests++
		for k, limit := range limits {
			if p < limit {
				t.below[k]++
			}
		}
		called = called || p*float64(len(all)) < 0.05*float64(i+1)
	}
	t.splits++
	if called {
		t.called++
	}
}

// print prints a table.
func (t *tally) print(f *fold) {
	fmt.Printf("%d splits of %d devices of %d models, %d tests\n\n", t.splits, len(f.devices), f.models, t.tests)
	fmt.Println("| p below | expected | found |")
	fmt.Println("| --- | --- | --- |")
	for k, limit := range limits {
		fmt.Printf("| %g | %g %% | %.3g %% |\n", limit, 100*limit, 100*float64(t.below[k])/float64(t.tests))
	}
	fmt.Printf("\nat a false discovery rate of 5 %%, %d of %d splits call something\n", t.called, t.splits)
}
