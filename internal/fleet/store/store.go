// Package store is the layout of the tables of package fleet as files, and what queries may see of them.
//
//  1. A store is a directory of tables, a table a directory of releases, a release a directory of days: see
//     [Partition]. A batch has one file in each table that it has rows for.
//
//  2. The ledger, the table of profiles, is written last: facts of a batch that the ledger does not have are not seen.
//
//  3. A profile may be in several batches: it was read again, by another version, or lists overlap. The view has, of each
//     release, profile and sample type, the row of the ledger with the highest schema_version, then the highest
//     decoder_version, then the least batch_id, and facts of that batch only. In SQL:
//
//     SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY release_id, profile_id, sample_type
//     ORDER BY schema_version DESC, decoder_version DESC, batch_id) AS rn FROM profiles) t WHERE rn = 1
//
//     and facts are joined to it by profile_id, sample_type and batch_id, which is of one release.
//
//     The same bytes in two releases count in both: whoever lists them there says so, as for a release that is compared with
//     itself, and neither is to lose what the other has. They are counted, as they say nothing of how the releases differ
//     ([Summary.Shared]). In one release they count once, whatever device they are said to be of: two
//     devices do not record the same bytes, so that one recording would count as two that agree. Where batches do not agree on what
//     is known of it, that is counted, too ([Store.Disputed]).
//
//  4. Functions and stacks have ids that are hashes of what they are: rows of an id are all the same, and a store in
//     which they are not is refused.
//
// Memory is bounded by the profiles of the ledger, some 50 bytes each, and for [Store.Functions] and [Store.Stacks] by the
// ids.
package store

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"profdiff/internal/fleet"
	"profdiff/internal/fleet/table"
	"profdiff/internal/input"
)

// A Store is a directory of tables, as it was when it was opened.
type Store struct {
	dir     string
	ledger  []file
	batches map[string]*batch // by id
	profile map[profileKey]*batch
	release map[string]int32 // numbers
	types   map[string]int32 // likewise
	sums    []uint64         // hashes of the sample types
}

// A Selection says of which releases and which sample type rows are. What is empty selects all.
type Selection struct {
	Releases   []string
	SampleType string
}

func (sel Selection) release(r string) bool {
	return len(sel.Releases) == 0 || slices.Contains(sel.Releases, r)
}

func (sel Selection) sampleType(s string) bool { return sel.SampleType == "" || sel.SampleType == s }

// A profileKey is a profile of a release, and one of its sample types.
type profileKey struct {
	id                  [16]byte
	release, sampleType int32
}

// A batch is a batch that the ledger has.
type batch struct {
	id              string
	release         int32
	schema, decoder int32
	rows, seen      int    // of the ledger, and how many of them the view has
	sum             uint64 // of what the view has of the batch: other rows, another sum
}

// before says which of two batches that have the same profile the view has.
func (b *batch) before(c *batch) bool {
	switch {
	case b.schema != c.schema:
		return b.schema > c.schema
	case b.decoder != c.decoder:
		return b.decoder > c.decoder
	}
	return b.id < c.id
}

// ErrEmpty is of a directory without a ledger.
var ErrEmpty = errors.New("is no store, or an empty one")

// Open opens the store that lies in a directory and reads its ledger.
func Open(dir string) (*Store, error) {
	if info, err := os.Stat(dir); err != nil {
		return nil, input.PathError(err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s: is no directory: a store is one, which profdiff fleet ingest makes", dir)
	}
	s := &Store{dir: dir, batches: make(map[string]*batch), profile: make(map[profileKey]*batch), release: make(map[string]int32), types: make(map[string]int32)}
	var err error
	if s.ledger, err = files(dir, fleet.TableProfiles); err != nil {
		return nil, err
	}
	if len(s.ledger) == 0 {
		return nil, fmt.Errorf("%s: %w: there is no %s", dir, ErrEmpty, filepath.Join(fleet.TableProfiles, "release=*", "day=*", "b-*.parquet"))
	}
	for _, f := range s.ledger {
		if err := s.addBatch(f); err != nil {
			return nil, err
		}
	}
	for key, b := range s.profile {
		b.seen++
		b.sum += binary.BigEndian.Uint64(key.id[:]) ^ s.sums[key.sampleType]
	}
	return s, nil
}

// addBatch reads a file of the ledger.
func (s *Store) addBatch(f file) error {
	if s.batches[f.id] != nil {
		return fmt.Errorf("%s: batch %s is elsewhere in %s, too: one of them is a copy that has to go", f.path, f.id, filepath.Join(s.dir, fleet.TableProfiles))
	}
	release, ok := s.release[f.Release]
	if !ok {
		release = int32(len(s.release))
		s.release[f.Release] = release
	}
	b := &batch{id: f.id, release: release}
	s.batches[f.id] = b
	return table.Read(f.path, func(rows []fleet.Profile) error {
		for i := range rows {
			p := &rows[i]
			if b.rows == 0 {
				b.schema, b.decoder = p.SchemaVersion, p.DecoderVersion
			}
			id, err := profileBytes(p.ProfileID)
			switch {
			case err != nil:
				return fmt.Errorf("%s: is damaged: %w", f.path, err)
			case p.BatchID != f.id || PartitionOf(p) != f.Partition || p.SchemaVersion != b.schema || p.DecoderVersion != b.decoder:
				return fmt.Errorf("%s: is damaged or was moved: profile %s is of batch %s, release %q, %s", f.path, p.ProfileID, p.BatchID, p.ReleaseID, PartitionOf(p).Day)
			case b.schema > fleet.Schema:
				return fmt.Errorf("%s: was written by a newer profdiff: its tables are of version %d, and this profdiff knows %d", f.path, b.schema, fleet.Schema)
			}
			b.rows++
			key := profileKey{id, b.release, s.typeNumber(p.SampleType)}
			if had := s.profile[key]; had == nil || b.before(had) {
				s.profile[key] = b
			}
		}
		return nil
	})
}

// typeNumber numbers sample types.
func (s *Store) typeNumber(name string) int32 {
	n, ok := s.types[name]
	if !ok {
		n = int32(len(s.types))
		s.types[strings.Clone(name)] = n
		s.sums = append(s.sums, uint64(fleet.FunctionID("", name, "")))
	}
	return n
}

func profileBytes(id string) (b [16]byte, err error) {
	if len(id) != hex.EncodedLen(len(b)) {
		return b, fmt.Errorf("%q is no id of a profile", id)
	}
	_, err = hex.Decode(b[:], []byte(id))
	return b, err
}

// sees reports whether the view has the facts of a profile in a batch.
func (s *Store) sees(b *batch, profile, sampleType string) (bool, error) {
	if b.seen == b.rows {
		return true, nil // no other batch has any of its profiles
	}
	id, err := profileBytes(profile)
	n, ok := s.types[sampleType]
	return ok && s.profile[profileKey{id, b.release, n}] == b, err
}

// Profiles are the rows of the ledger that the view has, by release, day, batch and profile.
func (s *Store) Profiles(sel Selection) iter.Seq2[fleet.Profile, error] {
	return rowsOf(func(each func([]fleet.Profile) error) error {
		return seen(s, s.ledger, sel, each, func(p *fleet.Profile) (string, string, string) { return p.ProfileID, p.SampleType, p.BatchID })
	})
}

// ProfileFunctions hands on facts that the view has, by release, day and batch, and in a batch in the order of the table. The
// slice is used again.
func (s *Store) ProfileFunctions(sel Selection, each func([]fleet.ProfileFunction) error) error {
	return facts(s, fleet.TableProfileFunctions, sel, each, func(f *fleet.ProfileFunction) (string, string, string) {
		return f.ProfileID, f.SampleType, f.BatchID
	})
}

// ProfileCategories hands on what profiles spent by category, as [Store.ProfileFunctions] does.
func (s *Store) ProfileCategories(sel Selection, each func([]fleet.ProfileCategory) error) error {
	return facts(s, fleet.TableProfileCategories, sel, each, func(f *fleet.ProfileCategory) (string, string, string) {
		return f.ProfileID, f.SampleType, f.BatchID
	})
}

// Samples hands on what profiles spent by stack, as [Store.ProfileFunctions] does.
func (s *Store) Samples(sel Selection, each func([]fleet.Sample) error) error {
	return facts(s, fleet.TableSamples, sel, each, func(f *fleet.Sample) (string, string, string) {
		return f.ProfileID, f.SampleType, f.BatchID
	})
}

func facts[T table.Row](s *Store, name string, sel Selection, each func([]T) error, of func(*T) (profile, sampleType, batch string)) error {
	all, err := files(s.dir, name)
	if err != nil {
		return err
	}
	return seen(s, all, sel, each, of)
}

// seen hands on the rows of files that the view has.
func seen[T table.Row](s *Store, all []file, sel Selection, each func([]T) error, of func(*T) (profile, sampleType, batch string)) error {
	for _, f := range all {
		b := s.batches[f.id]
		if b == nil || b.seen == 0 || !sel.release(f.Release) {
			continue
		}
		if err := table.Read(f.path, func(rows []T) error {
			kept := rows[:0]
			for i := range rows {
				profile, sampleType, id := of(&rows[i])
				if id != f.id {
					return fmt.Errorf("%s: is damaged: it has a row of batch %q", f.path, id)
				}
				if !sel.sampleType(sampleType) {
					continue
				}
				ok, err := s.sees(b, profile, sampleType)
				if err != nil {
					return fmt.Errorf("%s: is damaged: %w", f.path, err)
				}
				if ok {
					kept = append(kept, rows[i])
				}
			}
			if len(kept) == 0 {
				return nil
			}
			return each(kept)
		}); err != nil {
			return err
		}
	}
	return nil
}

// Functions are the functions of all batches, each once, in no order.
func (s *Store) Functions() iter.Seq2[fleet.Function, error] {
	return rowsOf(func(each func([]fleet.Function) error) error {
		names := make(map[int64]fleet.Function)
		return distinct(s, fleet.TableFunctions, each, func(f *fleet.Function, path string) (bool, error) {
			had, ok := names[f.FunctionID]
			if !ok {
				names[f.FunctionID] = *f
				return true, nil
			}
			if had != *f {
				return false, fmt.Errorf("%s: function %d is %s in %s of %q, and elsewhere %s in %s of %q: equal ids of different functions make sums wrong",
					path, f.FunctionID, f.Name, f.Module, f.File, had.Name, had.Module, had.File)
			}
			return false, nil
		})
	})
}

// Stacks are the stacks of all batches, each once, in no order.
func (s *Store) Stacks() iter.Seq2[fleet.Stack, error] {
	return rowsOf(func(each func([]fleet.Stack) error) error {
		had := make(map[[16]byte]bool)
		return distinct(s, fleet.TableStacks, each, func(k *fleet.Stack, path string) (bool, error) {
			if had[k.StackID] {
				return false, nil
			}
			had[k.StackID] = true
			if fleet.StackID(k.Frames) != k.StackID {
				return false, fmt.Errorf("%s: is damaged: stack %x has other frames than its id says", path, k.StackID)
			}
			return true, nil
		})
	})
}

// distinct hands on rows of batches that the ledger has, as far as a function keeps them.
func distinct[T table.Row](s *Store, name string, each func([]T) error, keep func(row *T, path string) (bool, error)) error {
	all, err := files(s.dir, name)
	if err != nil {
		return err
	}
	for _, f := range all {
		if s.batches[f.id] == nil {
			continue
		}
		if err := table.Read(f.path, func(rows []T) error {
			kept := rows[:0]
			for i := range rows {
				ok, err := keep(&rows[i], f.path)
				if err != nil {
					return err
				}
				if ok {
					kept = append(kept, rows[i])
				}
			}
			return each(kept)
		}); err != nil {
			return err
		}
	}
	return nil
}

// Renames are what is renamed, by id.
func (s *Store) Renames() ([]fleet.Rename, error) {
	all, err := inDirectory(filepath.Join(s.dir, fleet.TableRenames), "r-")
	var renames []fleet.Rename
	for _, f := range all {
		err = errors.Join(err, table.Read(f.path, func(rows []fleet.Rename) error {
			renames = append(renames, rows...)
			return nil
		}))
	}
	return renames, err
}

// SetRenames replaces what is renamed.
func (s *Store) SetRenames(renames []fleet.Rename) error {
	dir := filepath.Join(s.dir, fleet.TableRenames)
	old, err := inDirectory(dir, "r-")
	if err != nil {
		return err
	}
	name := ""
	if len(renames) > 0 {
		name = filepath.Join(dir, "r-"+fleet.ProfileID(fmt.Append(nil, renames))[:16]+".parquet")
		if err := table.Write(name, renames); err != nil {
			return err
		}
	}
	for _, f := range old {
		if f.path == name {
			continue
		}
		if err := os.Remove(f.path); err != nil {
			return input.PathError(err)
		}
	}
	return nil
}

// Files are the files of a table that may have rows which the view has: of batches that the ledger has. Engines read them, with the
// view as SQL; see the comment of the package.
func (s *Store) Files(name string) ([]string, error) {
	var all []file
	var err error
	switch name {
	case fleet.TableRenames:
		all, err = inDirectory(filepath.Join(s.dir, name), "r-")
	case fleet.TableUnits, fleet.TableFunctionUnits:
		all, _, err = s.rollUps(name, Selection{})
	default:
		all, err = files(s.dir, name)
		all = slices.DeleteFunc(all, func(f file) bool { return s.batches[f.id] == nil })
	}
	paths := make([]string, len(all))
	for i, f := range all {
		paths[i] = f.path
	}
	return paths, err
}

// rowsOf makes a sequence of what is handed on in slices. The last element is the error, if there was one.
func rowsOf[T any](read func(each func([]T) error) error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		stopped := errors.New("stopped")
		err := read(func(rows []T) error {
			for _, row := range rows {
				if !yield(row, nil) {
					return stopped
				}
			}
			return nil
		})
		if err != nil && err != stopped {
			var none T
			yield(none, err)
		}
	}
}
