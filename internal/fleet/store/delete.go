package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/table"
	"profdiff/internal/input"
)

// A Deletion is what was deleted of a device.
type Deletion struct {
	Profiles int `json:"profiles"`
	Batches  int `json:"batches"`  // that had them, and were written again without
	Orphans  int `json:"orphans"`  // files of batches that the ledger does not have, which were removed
	RollUps  int `json:"roll_ups"` // that had sums of the device, and were removed
}

// Delete deletes all profiles of a device, by its pseudonym: batches that have some are written again without
// them, and functions and stacks that only they had go, too. A deletion that was interrupted is done again. What workers
// left that did not end is removed, as nobody knows whose it is: no worker may be at work. The store has to be
// opened again afterwards.
func (s *Store) Delete(device string) (*Deletion, error) {
	d := new(Deletion)
	for _, f := range s.ledger {
		if err := s.deleteFrom(f, device, d); err != nil {
			return nil, err
		}
	}
	if err := s.deleteOrphans(d); err != nil {
		return nil, err
	}
	if err := s.deleteReceipts(device); err != nil {
		return nil, err
	}
	if d.Batches == 0 {
		return d, nil
	}
	after, err := Open(s.dir)
	if errors.Is(err, ErrEmpty) {
		after, err = &Store{dir: s.dir}, nil
	}
	if err == nil {
		d.RollUps, err = after.removeStale()
	}
	return d, err
}

// deleteFrom writes a batch again without the profiles of a device.
func (s *Store) deleteFrom(f file, device string, d *Deletion) error {
	b := new(Batch)
	gone := make(map[string]bool)
	if err := table.Read(f.path, func(rows []fleet.Profile) error {
		for _, p := range rows {
			if p.DeviceID == device {
				gone[p.ProfileID] = true
			} else {
				b.Profiles = append(b.Profiles, p)
			}
		}
		return nil
	}); err != nil || len(gone) == 0 {
		return err
	}
	d.Profiles += len(gone)
	d.Batches++
	if len(b.Profiles) > 0 {
		if err := s.readFacts(f, b, gone); err != nil {
			return err
		}
		if _, err := b.Write(s.dir); err != nil {
			return err
		}
	}
	// Without the row of the ledger nobody sees the others.
	for _, name := range append([]string{fleet.TableProfiles}, factTables...) {
		if err := os.Remove(f.Path(s.dir, name, f.id)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return input.PathError(err)
		}
	}
	return nil
}

// factTables are the tables of batches besides the ledger.
var factTables = []string{
	fleet.TableProfileFunctions, fleet.TableProfileCategories, fleet.TableSamples, fleet.TableStacks, fleet.TableFunctions,
}

// readFacts reads the rows of a batch but those of profiles that are gone, and the functions and stacks that they need.
func (s *Store) readFacts(f file, b *Batch, gone map[string]bool) error {
	functions, stacks := make(map[int64]bool), make(map[[16]byte]bool)
	numbers := make(map[int64]int32) // of functions in frames
	var ids []int64
	err := errors.Join(
		readSome(s, f, fleet.TableProfileFunctions, &b.Facts, func(r *fleet.ProfileFunction) bool {
			functions[r.FunctionID] = functions[r.FunctionID] || !gone[r.ProfileID]
			return !gone[r.ProfileID]
		}),
		readSome(s, f, fleet.TableProfileCategories, &b.Categories, func(r *fleet.ProfileCategory) bool { return !gone[r.ProfileID] }),
		readSome(s, f, fleet.TableSamples, &b.Samples, func(r *fleet.Sample) bool {
			stacks[r.StackID] = stacks[r.StackID] || !gone[r.ProfileID]
			return !gone[r.ProfileID]
		}),
		readEach(s, f, fleet.TableStacks, func(r *fleet.Stack) {
			if !stacks[r.StackID] {
				return
			}
			frames := make([]int32, len(r.Frames))
			for i, id := range r.Frames {
				n, ok := numbers[id]
				if !ok {
					n = int32(len(ids))
					numbers[id], functions[id] = n, true
					ids = append(ids, id)
				}
				frames[i] = n
			}
			b.Stacks = append(b.Stacks, Stack{ID: r.StackID, Frames: frames})
		}),
		readSome(s, f, fleet.TableFunctions, &b.Functions, func(r *fleet.Function) bool { return functions[r.FunctionID] }),
	)
	for i := range b.Stacks {
		b.Stacks[i].Functions = ids
	}
	return err
}

// readSome appends the rows of a table of a batch that are to be kept.
func readSome[T table.Row](s *Store, f file, name string, to *[]T, keep func(*T) bool) error {
	return readEach(s, f, name, func(row *T) {
		if keep(row) {
			*to = append(*to, *row)
		}
	})
}

// readEach reads the rows of a table of a batch, which need not be there.
func readEach[T table.Row](s *Store, f file, name string, each func(*T)) error {
	path := f.Path(s.dir, name, f.id)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return table.Read(path, func(rows []T) error {
		for i := range rows {
			each(&rows[i])
		}
		return nil
	})
}

// deleteOrphans removes files of batches that the ledger does not have.
func (s *Store) deleteOrphans(d *Deletion) error {
	for _, name := range append([]string{fleet.TableProfiles}, factTables...) {
		if err := filepath.WalkDir(filepath.Join(s.dir, name), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && strings.HasPrefix(entry.Name(), table.Unfinished) {
				d.Orphans++
				err = os.Remove(path)
			}
			return err
		}); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return input.PathError(err)
		}
		all, err := files(s.dir, name)
		if err != nil {
			return err
		}
		for _, f := range all {
			// A batch that was just written again is in the ledger, of which this store does not know.
			if _, err := os.Stat(f.Path(s.dir, fleet.TableProfiles, f.id)); !errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err := os.Remove(f.path); err != nil {
				return input.PathError(err)
			}
			d.Orphans++
		}
	}
	return nil
}

// deleteReceipts takes what was dropped of a device out of receipts.
func (s *Store) deleteReceipts(device string) error {
	all, err := s.Receipts()
	if err != nil {
		return err
	}
	for _, r := range all {
		n := len(r.Dropped)
		r.Dropped = slices.DeleteFunc(r.Dropped, func(d Dropped) bool { return strings.Contains(d.Source, device) })
		if len(r.Dropped) == n {
			continue
		}
		if err := WriteReceipt(s.dir, r); err != nil {
			return err
		}
	}
	return nil
}
