package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"profdiff/internal/fleet"
	"profdiff/internal/input"
)

// A Partition is where rows of a table lie: those of one release and one day.
type Partition struct {
	Release string
	Day     string // on which profiles were taken, in UTC: "2026-11-23"
}

// PartitionOf is the partition of a row of the ledger.
func PartitionOf(p *fleet.Profile) Partition {
	return Partition{p.ReleaseID, time.Unix(0, p.TimeNS).UTC().Format(time.DateOnly)}
}

// Compare orders partitions by release and day.
func (p Partition) Compare(q Partition) int {
	return cmp.Or(cmp.Compare(p.Release, q.Release), cmp.Compare(p.Day, q.Day))
}

// Path is where a store that lies in dir has the rows of a batch.
func (p Partition) Path(dir, table, batch string) string {
	return filepath.Join(dir, table, "release="+escape(p.Release), "day="+p.Day, "b-"+batch+".parquet")
}

// escape makes the name of a directory of a release: as in a URL, and without names that mean another directory.
func escape(release string) string {
	if s := strings.ReplaceAll(url.PathEscape(release), "=", "%3D"); strings.Trim(s, ".") != "" {
		return s
	}
	return strings.ReplaceAll(release, ".", "%2E")
}

// A file is a file of a table.
type file struct {
	path string
	id   string // of the batch, or of the batches that were rolled up
	Partition
}

// files lists the files of a table: DIR/TABLE/release=RELEASE/day=DAY/b-BATCH.parquet, by release, day and batch.
func files(dir, table string) ([]file, error) {
	releases, err := subdirectories(filepath.Join(dir, table), "release=")
	if err != nil {
		return nil, err
	}
	var all []file
	for _, r := range releases {
		release, err := url.PathUnescape(r.value)
		if err != nil {
			return nil, fmt.Errorf("%s: is no directory of a release: %w", r.path, err)
		}
		days, err := subdirectories(r.path, "day=")
		if err != nil {
			return nil, err
		}
		for _, d := range days {
			found, err := inDirectory(d.path, "b-")
			if err != nil {
				return nil, err
			}
			for _, f := range found {
				f.Partition = Partition{release, d.value}
				all = append(all, f)
			}
		}
	}
	return all, nil
}

// A subdirectory is called KEY=VALUE.
type subdirectory struct{ path, value string }

// subdirectories lists the directories of dir whose names start with a key. There are none if there is no dir.
func subdirectories(dir, key string) ([]subdirectory, error) {
	entries, err := entriesOf(dir)
	var found []subdirectory
	for _, e := range entries {
		if value, ok := strings.CutPrefix(e.Name(), key); ok && e.IsDir() {
			found = append(found, subdirectory{filepath.Join(dir, e.Name()), value})
		}
	}
	return found, err
}

// inDirectory lists the tables PREFIX….parquet of a directory.
func inDirectory(dir, prefix string) ([]file, error) { return named(dir, prefix, ".parquet") }

// named lists the files of a directory whose names are a prefix, an id and a suffix, by id.
func named(dir, prefix, suffix string) ([]file, error) {
	entries, err := entriesOf(dir)
	var found []file
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		if id, prefixed := strings.CutPrefix(name, prefix); ok && prefixed {
			found = append(found, file{path: filepath.Join(dir, e.Name()), id: id})
		}
	}
	slices.SortFunc(found, func(a, b file) int { return cmp.Compare(a.id, b.id) })
	return found, err
}

// entriesOf lists a directory, which need not be there.
func entriesOf(dir string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, input.PathError(err)
	}
	return entries, nil
}
