package checkout

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Names in the folder of a build.
const (
	treeName  = "tree"
	builtName = "built" // is there when the tree is built; its time is that of the last use
)

// lockName is that of the lock beside the folder of a build.
const lockName = ".lock"

// What is kept: a compiler may be another one tomorrow, and disks are not endless.
const (
	maxAge    = 24 * time.Hour
	maxBuilds = 8
)

// A lock is of the folder of a build: shared by those who use what is there, or of one alone
// who builds or removes it.
type lock struct{ file *os.File }

func (l *lock) unlock() { l.file.Close() }

// tryLock locks a place as flock(2) does, but does not wait.
func tryLock(place string, how int) (*lock, error) {
	for {
		f, err := os.OpenFile(place+lockName, os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			return nil, err
		}
		if err := flock(f, how); err != nil {
			f.Close()
			return nil, err
		}
		mine, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if now, err := os.Stat(f.Name()); err == nil && os.SameFile(mine, now) {
			return &lock{f}, nil
		}
		f.Close() // pruned meanwhile
	}
}

// obtain returns a shared lock of a place where something is built. If nothing is, it has
// build do so. It waits for others who build the same.
func obtain(ctx context.Context, place string, wait func(), build func() error) (*lock, error) {
	if err := os.MkdirAll(filepath.Dir(place), 0o777); err != nil {
		return nil, err
	}
	for waited := false; ; {
		l, err := tryLock(place, shared)
		if err == nil {
			if isBuilt(place) {
				return l, nil
			}
			l.unlock()
			if l, err = tryLock(place, exclusive); err == nil {
				if !isBuilt(place) {
					err = build()
				}
				l.unlock()
				if err != nil {
					return nil, err
				}
				continue
			}
		}
		if !errors.Is(err, errLocked) {
			return nil, err
		}
		if !waited {
			waited = true
			wait()
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func isBuilt(place string) bool {
	_, err := os.Stat(filepath.Join(place, builtName))
	return err == nil
}

// prune removes what is old, and what an earlier process left when it was killed. What is in
// use stays.
func prune(cache string) {
	locks, _ := filepath.Glob(filepath.Join(cache, "*"+lockName))
	type build struct {
		place       string
		built, used time.Time // zero if it is not built
	}
	var builds []build
	for _, lock := range locks {
		b := build{place: strings.TrimSuffix(lock, lockName)}
		if folder, err := os.Stat(b.place); err == nil {
			if info, err := os.Stat(filepath.Join(b.place, builtName)); err == nil {
				b.built, b.used = folder.ModTime(), info.ModTime()
			}
		}
		builds = append(builds, b)
	}
	slices.SortFunc(builds, func(a, b build) int { return b.used.Compare(a.used) })
	for i, b := range builds {
		if i < maxBuilds && time.Since(b.built) < maxAge {
			continue
		}
		if l, err := tryLock(b.place, exclusive); err == nil {
			if os.RemoveAll(b.place) == nil {
				_ = os.Remove(l.file.Name())
			}
			l.unlock()
		}
	}
}
