package budget

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"profdiff/internal/input"
	"profdiff/internal/run"
)

// A StoredDir is a directory of a baseline, with the runs that were added and those there are.
type StoredDir struct {
	Dir        string
	Added, All int
}

// Store adds runs to a baseline. What is there stays.
func Store(dir, benchmark string, runs []*run.Run, write func(name string, text []byte) error) (dirs []StoredDir, err error) {
	of := func(dir string) *StoredDir {
		for i := range dirs {
			if dirs[i].Dir == dir {
				return &dirs[i]
			}
		}
		dirs = append(dirs, StoredDir{Dir: dir})
		return &dirs[len(dirs)-1]
	}
	for _, r := range runs {
		stored := newStoredRun(benchmark, r)
		if len(stored.Events) == 0 {
			return nil, fmt.Errorf("%s: has no samples to store", r.Name)
		}
		text, err := json.Marshal(stored)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		text = append(text, '\n')
		to := filepath.Join(dir, stored.Key.dir())
		if err := os.MkdirAll(to, 0o777); err != nil {
			return nil, input.PathError(err)
		}
		d := of(to)
		name := Hash(text)[:12] + ".json"
		if !stored.Start.IsZero() {
			name = stored.Start.UTC().Format("20060102T150405Z-") + name
		}
		name = filepath.Join(to, name)
		if _, err := os.Stat(name); err == nil {
			continue // the same bytes
		}
		if err := write(name, text); err != nil {
			return nil, err
		}
		d.Added++
	}
	for i := range dirs {
		files, err := storedFiles(dirs[i].Dir)
		if err != nil {
			return dirs[:i], err
		}
		dirs[i].All = len(files)
	}
	return dirs, nil
}

// The most runs of a baseline, and bytes of all of them.
const (
	maxStored      = 1000
	maxStoredBytes = 256 << 20
)

// storedFiles are the stored runs in a directory of a baseline.
func storedFiles(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, input.PathError(err)
	}
	bytes := int64(0)
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") && !e.IsDir() {
			name = filepath.Join(dir, name)
			info, err := os.Stat(name)
			if err != nil {
				return nil, input.PathError(err)
			}
			files = append(files, name)
			bytes += info.Size()
		}
	}
	if bytes > maxStoredBytes {
		return nil, fmt.Errorf("%s: has %d bytes, of at most %d: remove old runs", dir, bytes, maxStoredBytes)
	}
	if len(files) > maxStored {
		return nil, fmt.Errorf("%s: has %d runs, of at most %d: remove old ones", dir, len(files), maxStored)
	}
	return files, nil
}

// ReadBaseline reads the stored runs that can be compared with a run. benchmark is "" if it
// does not matter.
func ReadBaseline(dir, benchmark string, head *run.Run) (*Stored, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, input.PathError(err)
	}
	want := newBaselineKey(benchmark, head)
	var found, others, benchmarks []string
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		files, err := storedFiles(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if len(files) == 0 {
			continue
		}
		first, err := readStored(files[0])
		if err != nil {
			return nil, err
		}
		key := first.Key
		if benchmark == "" {
			want.Benchmark = key.Benchmark
		}
		switch diff := key.differs(want); {
		case diff == "":
			found = files
			benchmarks = append(benchmarks, key.Benchmark)
		case !slices.Contains(others, diff):
			others = append(others, diff)
		}
	}
	names := slices.Clone(benchmarks)
	slices.Sort(names)
	switch names = slices.Compact(names); {
	case len(names) == 1 && len(benchmarks) > 1:
		return nil, fmt.Errorf("%s: has the runs of one key in %d directories: is one a copy?", dir, len(benchmarks))
	case len(names) > 1:
		return nil, fmt.Errorf("%s: has several benchmarks, choose with --benchmark: %s", dir, strings.Join(names, "; "))
	case len(found) == 0 && len(others) == 0:
		return nil, fmt.Errorf("%s: has no stored runs: profdiff budget store writes them", dir)
	case len(found) == 0:
		return nil, fmt.Errorf("%s: no stored run is like %s: those there are of %s", dir, head.Name, strings.Join(others, "; "))
	}
	var runs []*StoredRun
	for _, name := range found {
		s, err := readStored(name)
		if err != nil {
			return nil, err
		}
		if diff := s.Key.differs(runKey(runs, s)); diff != "" {
			return nil, fmt.Errorf("%s: is of %s, unlike others beside it", name, diff)
		}
		s.Name = name
		runs = append(runs, s)
	}
	return newStored(runs)
}

// runKey is the key of the first run, or of one that is the first.
func runKey(runs []*StoredRun, s *StoredRun) BaselineKey {
	if len(runs) == 0 {
		return s.Key
	}
	return runs[0].Key
}

func readStored(name string) (s *StoredRun, err error) {
	err = input.Read(name, nil, func(src *input.Source) error {
		data, err := io.ReadAll(io.LimitReader(src.Reader, maxStoredSize+1))
		if err == nil {
			s, err = parseStoredRun(data)
		}
		return err
	})
	return s, err
}
