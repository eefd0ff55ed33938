package store

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"profdiff/internal/fleet"
	"profdiff/internal/input"
)

// A Summary says what is in a store.
type Summary struct {
	Dir      string            `json:"dir"`
	Releases []ReleaseSummary  `json:"releases"`
	Tables   []TableSummary    `json:"tables"`
	Models   []ModelSummary    `json:"models"`
	Specs    int               `json:"specs"` // of which there are receipts
	Listed   Account           `json:"profiles"`
	Samples  Account           `json:"samples"`
	Dropped  map[string]string `json:"dropped,omitempty"` // by reason: one of the profiles
	// Hidden are rows of the ledger that the view does not have: their profiles are in other batches, too.
	Hidden int64 `json:"hidden"`
	// Shared are profiles that count in more than one release, as these have the same bytes.
	Shared int64 `json:"shared"`
	// Disputed are those of which batches say different things, nil if there are none.
	Disputed *Disputed `json:"disputed,omitempty"`
	// Orphans are batches of which there are facts and no ledger: their workers have not ended, or died.
	Orphans int `json:"orphans"`

	models map[string]int // in Models, while it is filled in
}

// A ReleaseSummary says what a store has of a release.
type ReleaseSummary struct {
	Release  string        `json:"release"`
	Profiles int64         `json:"profiles"`
	Devices  int64         `json:"devices"`
	Models   int64         `json:"models"`
	First    string        `json:"first_day"`
	Last     string        `json:"last_day"`
	Undated  int64         `json:"undated"` // profiles of which the time is not known
	Batches  int           `json:"batches"`
	RolledUp bool          `json:"rolled_up"`
	Types    []TypeSummary `json:"sample_types"`
}

// A TypeSummary says what a store has of a sample type of a release.
type TypeSummary struct {
	SampleType string  `json:"sample_type"`
	Profiles   int64   `json:"profiles"`
	Samples    int64   `json:"samples"`
	Weight     float64 `json:"weight"`
}

// A ModelSummary says how many profiles a device model has, by release in the order of the releases.
type ModelSummary struct {
	Model    string  `json:"device_model"`
	Profiles []int64 `json:"profiles"`
	Devices  []int64 `json:"devices"`
}

// A TableSummary says how large a table is.
type TableSummary struct {
	Table string `json:"table"`
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"`
}

// Summary counts what the store has.
func (s *Store) Summary() (*Summary, error) {
	sum := &Summary{Dir: s.dir, Releases: []ReleaseSummary{}, Models: []ModelSummary{}, models: make(map[string]int)}
	for _, b := range s.batches {
		sum.Hidden += int64(b.rows - b.seen)
	}
	sum.Shared = s.shared()
	for _, r := range s.Releases() {
		sum.Releases = append(sum.Releases, ReleaseSummary{Release: r})
	}
	for i := range sum.Releases {
		if err := s.summarize(sum, i); err != nil {
			return nil, err
		}
	}
	var err error
	if sum.Disputed, err = s.Disputed(Selection{}); err != nil {
		return nil, err
	}
	slices.SortFunc(sum.Models, func(a, b ModelSummary) int { return strings.Compare(a.Model, b.Model) })
	if err := s.measure(sum); err != nil {
		return nil, err
	}
	return sum, s.receipted(sum)
}

// shared counts the profiles that more than one release has.
func (s *Store) shared() (n int64) {
	const several = -1
	of := make(map[[16]byte]int32, len(s.profile))
	for key := range s.profile {
		switch had, ok := of[key.id]; {
		case !ok:
			of[key.id] = key.release
		case had != key.release && had != several:
			of[key.id] = several
			n++
		}
	}
	return n
}

// summarize counts one release.
func (s *Store) summarize(sum *Summary, index int) error {
	r := &sum.Releases[index]
	sel := Selection{Releases: []string{r.Release}}
	profiles, devices := make(map[[16]byte]bool), make(map[string]bool)
	types := make(map[string]*TypeSummary)
	for p, err := range s.Profiles(sel) {
		if err != nil {
			return err
		}
		t := types[p.SampleType]
		if t == nil {
			t = &TypeSummary{SampleType: p.SampleType}
			types[p.SampleType] = t
		}
		t.Profiles++
		t.Samples += p.SampleCount
		t.Weight += float64(p.Weight)
		id, err := profileBytes(p.ProfileID)
		if err != nil {
			return err
		}
		if profiles[id] {
			continue
		}
		profiles[id] = true
		if day := PartitionOf(&p).Day; p.TimeNS != 0 {
			if r.First == "" || day < r.First {
				r.First = day
			}
			r.Last = max(r.Last, day)
		} else {
			r.Undated++
		}
		m := sum.model(p.DeviceModel)
		m.Profiles[index]++
		if m.Profiles[index] == 1 {
			r.Models++
		}
		if device := p.DeviceModel + "\x00" + p.DeviceID; !devices[device] {
			devices[device] = true
			m.Devices[index]++
		}
	}
	r.Profiles, r.Devices = int64(len(profiles)), int64(len(devices))
	for _, t := range types {
		r.Types = append(r.Types, *t)
	}
	slices.SortFunc(r.Types, func(a, b TypeSummary) int { return strings.Compare(a.SampleType, b.SampleType) })
	for _, f := range s.ledger {
		if f.Release == r.Release && s.batches[f.id].seen > 0 {
			r.Batches++
		}
	}
	var err error
	r.RolledUp, err = s.RolledUp(sel)
	return err
}

// model is the row of a model.
func (sum *Summary) model(name string) *ModelSummary {
	i, ok := sum.models[name]
	if !ok {
		i = len(sum.Models)
		sum.models[name] = i
		n := len(sum.Releases)
		sum.Models = append(sum.Models, ModelSummary{name, make([]int64, n), make([]int64, n)})
	}
	return &sum.Models[i]
}

// measure adds up sizes of files.
func (s *Store) measure(sum *Summary) error {
	orphans := make(map[string]bool)
	for _, name := range append([]string{fleet.TableProfiles}, append(slices.Clone(factTables), fleet.TableUnits, fleet.TableFunctionUnits, fleet.TableRenames)...) {
		t := TableSummary{Table: name}
		if err := filepath.WalkDir(filepath.Join(s.dir, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".parquet") {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			t.Files++
			t.Bytes += info.Size()
			if id, ok := strings.CutPrefix(strings.TrimSuffix(d.Name(), ".parquet"), "b-"); ok && s.batches[id] == nil {
				orphans[id] = true
			}
			return nil
		}); err != nil && !os.IsNotExist(err) {
			return input.PathError(err)
		}
		sum.Tables = append(sum.Tables, t)
	}
	sum.Orphans = len(orphans)
	return nil
}

// receipted adds up receipts. A profile that several specs list is counted for each.
func (s *Store) receipted(sum *Summary) error {
	all, err := s.Receipts()
	if err != nil {
		return err
	}
	for _, r := range all {
		sum.Specs++
		sum.Listed.Add(r.Profiles)
		sum.Samples.Add(r.Samples)
		for _, d := range r.Dropped {
			if sum.Dropped == nil {
				sum.Dropped = make(map[string]string)
			}
			if sum.Dropped[d.Reason] == "" {
				sum.Dropped[d.Reason] = d.Source + ": " + d.Detail
			}
		}
	}
	return nil
}

// A Spent is what a release spent in a function.
type Spent struct {
	fleet.Function
	Self  float64 `json:"self"`  // of the weight, 0 to 1
	Total float64 `json:"total"` // likewise
}

// Top lists the functions in which a release spent most, and what it spent in all.
func (s *Store) Top(release, sampleType string, n int) (top []Spent, weight float64, err error) {
	sel := Selection{Releases: []string{release}, SampleType: sampleType}
	for p, err := range s.Profiles(sel) {
		if err != nil {
			return nil, 0, err
		}
		weight += float64(p.Weight)
	}
	sums := make(map[int64]*Spent)
	add := func(id, self, total int64) {
		f := sums[id]
		if f == nil {
			f = new(Spent)
			f.FunctionID = id
			sums[id] = f
		}
		f.Self += float64(self) / weight
		f.Total += float64(total) / weight
	}
	rolled, err := s.RolledUp(sel)
	switch {
	case err != nil:
	case rolled:
		err = s.FunctionUnits(sel, func(rows []fleet.FunctionUnit) error {
			for i := range rows {
				add(rows[i].FunctionID, rows[i].SelfSum, rows[i].TotalSum)
			}
			return nil
		})
	default:
		err = s.ProfileFunctions(sel, func(rows []fleet.ProfileFunction) error {
			for i := range rows {
				add(rows[i].FunctionID, rows[i].SelfValue, rows[i].TotalValue)
			}
			return nil
		})
	}
	if err != nil {
		return nil, 0, err
	}
	for _, f := range sums {
		top = append(top, *f)
	}
	slices.SortFunc(top, func(a, b Spent) int {
		return cmp.Or(-cmp.Compare(a.Self, b.Self), -cmp.Compare(a.Total, b.Total), cmp.Compare(a.FunctionID, b.FunctionID))
	})
	top = top[:min(n, len(top))]
	for f, err := range s.Functions() {
		if err != nil {
			return nil, 0, err
		}
		if i := slices.IndexFunc(top, func(t Spent) bool { return t.FunctionID == f.FunctionID }); i >= 0 {
			top[i].Function = f
		}
	}
	return top, weight, nil
}

// SampleType is the sample type of a release to look at if nobody says: the one of most profiles, and of these that of time on
// the CPU, or the first.
func (sum *Summary) SampleType(release string) (string, error) {
	i := slices.IndexFunc(sum.Releases, func(r ReleaseSummary) bool { return r.Release == release })
	if i < 0 {
		var known []string
		for _, r := range sum.Releases {
			known = append(known, r.Release)
		}
		return "", fmt.Errorf("%s: has no release %q, but %s", sum.Dir, release, strings.Join(known, ", "))
	}
	types := slices.Clone(sum.Releases[i].Types)
	slices.SortStableFunc(types, func(a, b TypeSummary) int {
		return cmp.Or(-cmp.Compare(a.Profiles, b.Profiles), -cmp.Compare(order(a.SampleType), order(b.SampleType)))
	})
	return types[0].SampleType, nil
}

// order puts time on the CPU before all else.
func order(sampleType string) int {
	name, _, _ := strings.Cut(sampleType, "/")
	return 1 + slices.Index([]string{"cpu-cycles", "task-clock", "cpu-clock", "cpu"}, name)
}
