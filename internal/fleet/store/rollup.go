package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/table"
	"profdiff/internal/input"
)

// rollUp is the id of the roll-up of a release: which batches have its profiles, and what the view has of each. A
// roll-up with another id is stale: profiles came or went.
func (s *Store) rollUp(release string) string {
	h := sha256.New()
	h.Write([]byte("roll-up 2\n")) // with durations and counts of samples
	for _, f := range s.ledger {
		if b := s.batches[f.id]; f.Release == release && b.seen > 0 {
			fmt.Fprintf(h, "%s %d %x\n", b.id, b.seen, b.sum)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Releases are the releases that the ledger has, sorted.
func (s *Store) Releases() []string {
	var all []string
	for _, f := range s.ledger {
		if s.batches[f.id].seen > 0 {
			all = append(all, f.Release)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rollUpPath is where the roll-up of a release is: DIR/TABLE/release=RELEASE/u-HASH.parquet.
func (s *Store) rollUpPath(name, release, id string) string {
	return filepath.Join(s.dir, name, "release="+escape(release), "u-"+id+".parquet")
}

// rollUps are the files of the roll-ups of the selected releases, and the releases of which there is none that is up to
// date.
func (s *Store) rollUps(name string, sel Selection) (fresh []file, missing []string, err error) {
	for _, r := range s.Releases() {
		if !sel.release(r) {
			continue
		}
		f := file{id: s.rollUp(r), Partition: Partition{Release: r}}
		f.path = s.rollUpPath(name, r, f.id)
		switch _, err := os.Stat(f.path); {
		case err == nil:
			fresh = append(fresh, f)
		case errors.Is(err, os.ErrNotExist):
			missing = append(missing, r)
		default:
			return nil, nil, input.PathError(err)
		}
	}
	return fresh, missing, nil
}

// RolledUp reports whether roll-ups of all selected releases are there and up to date.
func (s *Store) RolledUp(sel Selection) (bool, error) {
	_, missing, err := s.rollUps(fleet.TableUnits, sel)
	return err == nil && len(missing) == 0, err
}

// Units hands on the roll-up of profiles, in the order of the table. It is an error if one of the selected releases has none that
// is up to date, see [Store.RolledUp]. The slice is used again.
func (s *Store) Units(sel Selection, each func([]fleet.Unit) error) error {
	return rolledUp(s, fleet.TableUnits, sel, each, func(u *fleet.Unit) string { return u.SampleType })
}

// FunctionUnits hands on the roll-up of facts, as [Store.Units] does.
func (s *Store) FunctionUnits(sel Selection, each func([]fleet.FunctionUnit) error) error {
	return rolledUp(s, fleet.TableFunctionUnits, sel, each, func(u *fleet.FunctionUnit) string { return u.SampleType })
}

func rolledUp[T table.Row](s *Store, name string, sel Selection, each func([]T) error, sampleType func(*T) string) error {
	all, missing, err := s.rollUps(name, sel)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return s.stale(name, missing[0])
	}
	for _, f := range all {
		if err := table.Read(f.path, func(rows []T) error {
			rows = slices.DeleteFunc(rows, func(row T) bool { return !sel.sampleType(sampleType(&row)) })
			if len(rows) == 0 {
				return nil
			}
			return each(rows)
		}); err != nil {
			return err
		}
	}
	return nil
}

// Compact rolls up the releases whose roll-ups are missing or stale, removes the stale ones, and returns the releases that it
// rolled up.
func (s *Store) Compact() ([]string, error) {
	_, missing, err := s.rollUps(fleet.TableUnits, Selection{})
	if err != nil {
		return nil, err
	}
	for _, r := range missing {
		if err := s.compact(r); err != nil {
			return nil, err
		}
	}
	_, err = s.removeStale()
	return missing, err
}

// removeStale removes roll-ups of profiles that have changed since. What says that there is one goes first.
func (s *Store) removeStale() (removed int, err error) {
	for _, name := range []string{fleet.TableUnits, fleet.TableFunctionUnits} {
		fresh, _, err := s.rollUps(name, Selection{})
		if err != nil {
			return removed, err
		}
		releases, err := subdirectories(filepath.Join(s.dir, name), "release=")
		if err != nil {
			return removed, err
		}
		for _, r := range releases {
			found, err := inDirectory(r.path, "u-")
			if err != nil {
				return removed, err
			}
			for _, f := range found {
				if slices.ContainsFunc(fresh, func(g file) bool { return g.path == f.path }) {
					continue
				}
				if err := os.Remove(f.path); err != nil {
					return removed, input.PathError(err)
				}
				if name == fleet.TableUnits {
					removed++
				}
			}
		}
	}
	return removed, nil
}

// compact rolls up one release. The memory is bounded by the profiles of the release, and the pages of its files at hand.
func (s *Store) compact(release string) error {
	units, of, err := s.sumProfiles(release)
	if err != nil {
		return err
	}
	id := s.rollUp(release)
	w, err := table.Create[fleet.FunctionUnit](s.rollUpPath(fleet.TableFunctionUnits, release, id))
	if err != nil {
		return err
	}
	for left := units; len(left) > 0; {
		n := slices.IndexFunc(left, func(u *fleet.Unit) bool { return u.SampleType != left[0].SampleType })
		if n < 0 {
			n = len(left)
		}
		if err := s.sumFunctions(left[:n], of, w.Write); err != nil {
			return errors.Join(err, w.Discard())
		}
		left = left[n:]
	}
	if err := w.Close(); err != nil {
		return err
	}
	rows := make([]fleet.Unit, len(units))
	for i, u := range units {
		rows[i] = *u
	}
	return table.Write(s.rollUpPath(fleet.TableUnits, release, id), rows)
}

// sumProfiles sums the profiles of a release by unit, in the order of the table, and says of which unit each is.
func (s *Store) sumProfiles(release string) (units []*fleet.Unit, of map[profileKey]*fleet.Unit, err error) {
	type unitKey struct {
		sampleType, model string
		unit              int32
	}
	known := make(map[unitKey]*fleet.Unit)
	devices := make(map[string]bool) // of a unit
	of = make(map[profileKey]*fleet.Unit)
	for p, err := range s.Profiles(Selection{Releases: []string{release}}) {
		if err != nil {
			return nil, nil, err
		}
		key := unitKey{p.SampleType, p.DeviceModel, p.UnitID}
		u := known[key]
		if u == nil {
			u = &fleet.Unit{ReleaseID: release, SampleType: p.SampleType, DeviceModel: p.DeviceModel, UnitID: p.UnitID, WorkUnits: new(int64), DurationNS: new(int64), SampleCount: new(int64)}
			known[key], units = u, append(units, u)
		}
		id, err := profileBytes(p.ProfileID)
		if err != nil {
			return nil, nil, err
		}
		of[profileKey{id, s.release[release], s.types[p.SampleType]}] = u
		u.Profiles++
		if device := fmt.Sprint(p.SampleType, "\x00", p.DeviceModel, "\x00", p.DeviceID); !devices[device] {
			devices[device] = true
			u.Devices++
		}
		if err := add(&u.Weight, p.Weight); err != nil {
			return nil, nil, err
		}
		if err := add(u.SampleCount, p.SampleCount); err != nil {
			return nil, nil, err
		}
		if u.WorkUnits, err = addKnown(u.WorkUnits, p.WorkUnits); err != nil {
			return nil, nil, err
		}
		if u.DurationNS, err = addKnown(u.DurationNS, &p.DurationNS); err != nil {
			return nil, nil, err
		}
	}
	slices.SortFunc(units, func(a, b *fleet.Unit) int {
		return cmp.Or(cmp.Compare(a.SampleType, b.SampleType), cmp.Compare(a.DeviceModel, b.DeviceModel), cmp.Compare(a.UnitID, b.UnitID))
	})
	return units, of, nil
}

// sumFunctions sums the facts of the profiles of some units of a release, which are of one sample type, by function and then by unit, in
// the order of units.
func (s *Store) sumFunctions(units []*fleet.Unit, of map[profileKey]*fleet.Unit, write func([]fleet.FunctionUnit) error) error {
	release, sampleType := units[0].ReleaseID, units[0].SampleType
	number := make(map[*fleet.Unit]int32, len(units))
	for i, u := range units {
		number[u] = int32(i)
	}
	sums := make([]fleet.FunctionUnit, len(units)) // of the function at hand
	any := make([]bool, len(units))
	var rows []fleet.FunctionUnit
	flush := func() error {
		rows = rows[:0]
		for i, u := range units {
			if any[i] {
				sums[i].ReleaseID, sums[i].SampleType, sums[i].DeviceModel, sums[i].UnitID = release, sampleType, u.DeviceModel, u.UnitID
				rows = append(rows, sums[i])
			}
		}
		clear(sums)
		clear(any)
		return write(rows)
	}
	last := int64(0)
	err := s.FactsByFunction(Selection{Releases: []string{release}, SampleType: sampleType}, func(profile, batch string) (int32, error) {
		b := s.batches[batch]
		if b == nil {
			return -1, fmt.Errorf("%s: facts are of batch %q, which its ledger does not have", s.dir, batch)
		}
		if ok, err := s.sees(b, profile, sampleType); !ok || err != nil {
			return -1, err
		}
		id, err := profileBytes(profile)
		u := of[profileKey{id, b.release, s.types[sampleType]}]
		if u == nil && err == nil {
			err = fmt.Errorf("%s: batch %s has facts of profile %s, which its ledger does not have", s.dir, batch, profile)
		}
		return number[u], err
	}, func(f *Facts) error {
		if f.Function != last {
			if err := flush(); err != nil {
				return err
			}
			last = f.Function
		}
		for i, n := range f.Of {
			sum := &sums[n]
			sum.FunctionID, any[n] = f.Function, true
			if err := errors.Join(add(&sum.SelfSum, f.Self[i]), add(&sum.TotalSum, f.Total[i])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return flush()
}

// addKnown adds to a sum that is nil once a part of it is not known: nil, or not above 0.
func addKnown(sum, v *int64) (*int64, error) {
	if sum == nil || v == nil || *v <= 0 {
		return nil, nil
	}
	return sum, add(sum, *v)
}

// add adds to a sum that may not overflow.
func add(sum *int64, v int64) error {
	total := *sum + v
	if (total > *sum) != (v > 0) && v != 0 {
		return errors.New("the values of a unit add up to more than 2^63")
	}
	*sum = total
	return nil
}
