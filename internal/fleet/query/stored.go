package query

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/store"
)

// An Answer is what a comparison found.
type Answer struct {
	*Population
	Found
	// Categories are rows, none if the store has no categories.
	Categories []Row
	// Names are the functions of the store, by id.
	Names map[int64]fleet.Function
	// Disputed are profiles of both releases of which batches say different things, nil if there are none.
	Disputed *store.Disputed
	// Engine is what computed the rows.
	Engine string
}

// itself is the engine that is this program.
const itself = "profdiff"

// A Release is a release that a store has.
type Release struct {
	Name        string
	Profiles    int64
	Types       map[string]int64 // profiles by sample type
	First, Last int64            // when the first and the last profile was taken, since 1970, in ns, of those that tell; 0 if none does
}

// Contents are the releases of a store, the newest first, by when the first profile was taken: late profiles of an old release
// make it no newer. Where profiles of one do not tell when they were taken, all are sorted by name, the last first. Types are sample types by how many profiles have them.
func Contents(s *store.Store) (releases []Release, types []string, err error) {
	byName := make(map[string]*Release)
	of := make(map[string]int64)
	for p, err := range s.Profiles(store.Selection{}) {
		if err != nil {
			return nil, nil, err
		}
		r, ok := byName[p.ReleaseID]
		if !ok {
			name := strings.Clone(p.ReleaseID)
			r = &Release{Name: name, Types: make(map[string]int64)}
			byName[name] = r
		}
		r.Profiles++
		if p.TimeNS > 0 {
			if r.First == 0 || p.TimeNS < r.First {
				r.First = p.TimeNS
			}
			r.Last = max(r.Last, p.TimeNS)
		}
		count(of, p.SampleType)
		count(r.Types, p.SampleType)
	}
	for _, r := range byName {
		releases = append(releases, *r)
	}
	timeless := slices.ContainsFunc(releases, func(r Release) bool { return r.First == 0 })
	slices.SortFunc(releases, func(a, b Release) int {
		if timeless {
			return -compareNames(a.Name, b.Name)
		}
		return cmp.Or(-cmp.Compare(a.First, b.First), -cmp.Compare(a.Last, b.Last), -compareNames(a.Name, b.Name))
	})
	for t := range of {
		types = append(types, t)
	}
	slices.SortFunc(types, func(a, b string) int { return cmp.Or(-cmp.Compare(of[a], of[b]), strings.Compare(a, b)) })
	return releases, types, nil
}

// count counts a name, which may be of memory that is used again.
func count(of map[string]int64, name string) {
	if _, ok := of[name]; !ok {
		name = strings.Clone(name)
	}
	of[name]++
}

// compareNames orders names of releases, numbers in them by their value: 1.9 is before 1.10, and before is before after.
func compareNames(a, b string) int {
	// Names that say which side they are need no other order.
	side := func(name string) int {
		switch name {
		case "before", "base", "old":
			return -1
		case "after", "head", "new":
			return 1
		}
		return 0
	}
	if c := cmp.Compare(side(a), side(b)); c != 0 {
		return c
	}
	digits := func(s string) int {
		return len(s) - len(strings.TrimLeft(s, "0123456789"))
	}
	for x, y := a, b; x != "" && y != ""; {
		n, m := digits(x), digits(y)
		if n == 0 || m == 0 {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		// A longer number without leading zeros is larger.
		v, w := strings.TrimLeft(x[:n], "0"), strings.TrimLeft(y[:m], "0")
		if c := cmp.Or(cmp.Compare(len(v), len(w)), strings.Compare(v, w)); c != 0 {
			return c
		}
		x, y = x[n:], y[m:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}

// Ask compares two releases of a store.
func Ask(s *store.Store, q Question, scan Scan) (*Answer, error) {
	a, err := prepare(s, q)
	if err != nil {
		return nil, err
	}
	if scan.Renames, err = renames(s); err != nil {
		return nil, err
	}
	found, err := a.functions(scan, func(each func(*store.Facts) error) error {
		if q.RolledUp {
			return s.UnitsByFunction(q.selection(), func(release, model string, unit int32) int32 { return a.unitOf(unitKey(release, model, unit), "") }, each)
		}
		return s.FactsByFunction(q.selection(), func(profile, batch string) (int32, error) { return a.unitOf(profile, batch), nil }, each)
	})
	if err != nil {
		return nil, err
	}
	a.Found = *found
	if q.RolledUp {
		return a, nil
	}
	a.Categories, err = a.Population.Categories(func(each func([]fleet.ProfileCategory) error) error {
		return s.ProfileCategories(q.selection(), each)
	})
	return a, err
}

// prepare reads all that a comparison wants but the facts.
func prepare(s *store.Store, q Question) (*Answer, error) {
	var p *Population
	var err error
	if q.RolledUp {
		p, err = NewRolledUp(q, func(yield func(fleet.Unit, error) bool) {
			err := s.Units(q.selection(), func(rows []fleet.Unit) error {
				for i := range rows {
					if !yield(rows[i], nil) {
						return errStopped
					}
				}
				return nil
			})
			if err != nil && err != errStopped {
				yield(fleet.Unit{}, err)
			}
		})
	} else {
		p, err = NewPopulation(q, s.Profiles(q.selection()))
	}
	if err != nil {
		return nil, err
	}
	a := &Answer{Population: p, Names: make(map[int64]fleet.Function), Engine: itself}
	if a.Disputed, err = s.Disputed(store.Selection{Releases: []string{q.Before, q.After}}); err != nil {
		return nil, err
	}
	for f, err := range s.Functions() {
		if err != nil {
			return nil, err
		}
		a.Names[f.FunctionID] = f
	}
	return a, nil
}

func (q *Question) selection() store.Selection {
	return store.Selection{Releases: []string{q.Before, q.After}, SampleType: q.SampleType}
}

// errStopped ends a stream of which no more is wanted.
var errStopped = errors.New("stopped")

// renames are ids of functions that stand for another: what a user declared comes before what was found.
func renames(s *store.Store) (map[int64]int64, error) {
	list, err := s.Renames()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b fleet.Rename) int {
		rank := func(r fleet.Rename) int {
			if r.Origin == declared {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ToID, b.ToID))
	})
	to := make(map[int64]int64)
	for _, r := range list {
		if _, ok := to[r.FromID]; !ok {
			to[r.FromID] = r.ToID
		}
	}
	return to, nil
}

// releaseOf is the directory of a release that a file is in.
func releaseOf(file string) string { return filepath.Base(filepath.Dir(filepath.Dir(file))) }

// has reports whether the directory of a release is of one that is compared.
func (q *Question) has(directory string) bool {
	of := func(release string) string { return releaseOf(store.Partition{Release: release}.Path("", "", "")) }
	return directory == of(q.Before) || directory == of(q.After)
}

// FilesOf are the files of a store that an engine reads for a question, below base.
func FilesOf(s *store.Store, base string, q Question) (Files, error) {
	files := make(Files)
	for _, t := range tables {
		list, err := s.Files(t.name)
		if err != nil {
			return nil, err
		}
		for _, name := range list {
			d := Directory{Path: strings.TrimSuffix(base, "/") + "/" + t.name}
			if t.name == fleet.TableUnits || t.name == fleet.TableFunctionUnits {
				// A roll-up is one file, and stale ones may be beside it.
				if release := filepath.Base(filepath.Dir(name)); q.RolledUp && q.has(release) {
					files[t.name] = append(files[t.name], Directory{Path: d.Path + "/" + release, File: filepath.Base(name)})
				}
				continue
			}
			if t.name != fleet.TableRenames {
				d.Partitions = []string{"release", "day"}
			}
			if len(d.Partitions) > 0 {
				release := releaseOf(name)
				if !q.has(release) {
					continue
				}
				d = Directory{Path: d.Path + "/" + release, Partitions: d.Partitions[1:]}
			}
			if !slices.ContainsFunc(files[t.name], func(o Directory) bool { return o.Path == d.Path }) {
				files[t.name] = append(files[t.name], d)
			}
		}
	}
	return files, nil
}
