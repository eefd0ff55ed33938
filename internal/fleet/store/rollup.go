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
		return fmt.Errorf("%s: release %s has changed since it was rolled up: profdiff fleet compact %s does it again", filepath.Join(s.dir, name), missing[0], s.dir)
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

// A unitKey is what rows of a roll-up are of.
type unitKey struct {
	sampleType, model string
	unit              int32
}

func (k unitKey) compare(l unitKey) int {
	return cmp.Or(cmp.Compare(k.sampleType, l.sampleType), cmp.Compare(k.model, l.model), cmp.Compare(k.unit, l.unit))
}

// compact rolls up one release. The memory is bounded by the roll-up, and by the profiles of the release.
func (s *Store) compact(release string) error {
	sel := Selection{Releases: []string{release}}
	number := make(map[unitKey]int)
	var keys []unitKey
	var units []fleet.Unit
	devices := make(map[string]bool) // of a unit
	unitOf := make(map[profileKey]int)
	for p, err := range s.Profiles(sel) {
		if err != nil {
			return err
		}
		key := unitKey{p.SampleType, p.DeviceModel, p.UnitID}
		n, ok := number[key]
		if !ok {
			n = len(units)
			number[key], keys = n, append(keys, key)
			units = append(units, fleet.Unit{ReleaseID: release, SampleType: p.SampleType, DeviceModel: p.DeviceModel, UnitID: p.UnitID, WorkUnits: new(int64), DurationNS: new(int64), SampleCount: new(int64)})
		}
		id, err := profileBytes(p.ProfileID)
		if err != nil {
			return err
		}
		unitOf[profileKey{id, s.types[p.SampleType]}] = n
		u := &units[n]
		u.Profiles++
		if device := fmt.Sprint(n, p.DeviceID); !devices[device] {
			devices[device] = true
			u.Devices++
		}
		if err := add(&u.Weight, p.Weight); err != nil {
			return err
		}
		if err := add(u.SampleCount, p.SampleCount); err != nil {
			return err
		}
		if u.WorkUnits, err = addKnown(u.WorkUnits, p.WorkUnits); err != nil {
			return err
		}
		if u.DurationNS, err = addKnown(u.DurationNS, &p.DurationNS); err != nil {
			return err
		}
	}
	functions, err := s.sumFunctions(sel, unitOf, keys)
	if err != nil {
		return err
	}
	slices.SortFunc(units, func(a, b fleet.Unit) int {
		return unitKey{a.SampleType, a.DeviceModel, a.UnitID}.compare(unitKey{b.SampleType, b.DeviceModel, b.UnitID})
	})
	for i := range functions {
		functions[i].ReleaseID = release
	}
	id := s.rollUp(release)
	if err := table.Write(s.rollUpPath(fleet.TableFunctionUnits, release, id), functions); err != nil {
		return err
	}
	return table.Write(s.rollUpPath(fleet.TableUnits, release, id), units)
}

// sumFunctions sums the facts of a release by unit and function, and sorts them by sample type, function, model, unit.
func (s *Store) sumFunctions(sel Selection, unitOf map[profileKey]int, keys []unitKey) ([]fleet.FunctionUnit, error) {
	type key struct {
		function int64
		unit     int
	}
	number := make(map[key]int)
	var sums []fleet.FunctionUnit
	err := s.ProfileFunctions(sel, func(rows []fleet.ProfileFunction) error {
		for i := range rows {
			f := &rows[i]
			id, err := profileBytes(f.ProfileID)
			if err != nil {
				return err
			}
			unit, ok := unitOf[profileKey{id, s.types[f.SampleType]}]
			if !ok {
				return fmt.Errorf("%s: batch %s has facts of profile %s, which its ledger does not have", s.dir, f.BatchID, f.ProfileID)
			}
			n, ok := number[key{f.FunctionID, unit}]
			if !ok {
				n = len(sums)
				number[key{f.FunctionID, unit}] = n
				k := keys[unit]
				sums = append(sums, fleet.FunctionUnit{SampleType: k.sampleType, DeviceModel: k.model, UnitID: k.unit, FunctionID: f.FunctionID})
			}
			if err := errors.Join(add(&sums[n].SelfSum, f.SelfValue), add(&sums[n].TotalSum, f.TotalValue)); err != nil {
				return err
			}
		}
		return nil
	})
	slices.SortFunc(sums, func(a, b fleet.FunctionUnit) int {
		return cmp.Or(cmp.Compare(a.SampleType, b.SampleType), cmp.Compare(a.FunctionID, b.FunctionID), cmp.Compare(a.DeviceModel, b.DeviceModel), cmp.Compare(a.UnitID, b.UnitID))
	})
	return sums, err
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
