package debuginfod

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A cache is the directory that the clients of a user share. Below it is a directory for
// each build ID, with a file for each kind. Files of one number each beside them say how long
// what is kept.
type cache struct {
	dir     string
	cleaned bool
}

// A control is a file with a number of seconds, and what the number is if there is none.
type control struct {
	name      string
	otherwise int64
}

var (
	cleanInterval = control{"cache_clean_interval_s", 86400}
	maxUnused     = control{"max_unused_age_s", 604800}
	missFor       = control{"cache_miss_s", 600}
)

// ours are the files in a cache that may be removed when nobody used them for long,
// relative to its directory.
var ours = regexp.MustCompile(`^(metadata.*|[a-f0-9]+(/hdr.*|/debuginfo|/executable|/source.*|/section.*|))$`)

// cacheDir is where the cache is, "" if the environment does not say.
func cacheDir(getenv func(string) string) string {
	if dir := getenv("DEBUGINFOD_CACHE_PATH"); dir != "" {
		return dir
	}
	home := getenv("HOME")
	if home != "" {
		old := filepath.Join(home, ".debuginfod_client_cache")
		if info, err := os.Stat(old); err == nil && info.IsDir() {
			return old
		}
	}
	if dir := getenv("XDG_CACHE_HOME"); dir != "" {
		return filepath.Join(dir, "debuginfod_client")
	}
	if home == "" {
		return ""
	}
	return filepath.Join(home, ".cache", "debuginfod_client")
}

// path is the place of a file.
func (c *cache) path(kind Kind, buildID string) string {
	return filepath.Join(c.dir, buildID, string(kind))
}

// state is what the cache knows of a file.
type state int

const (
	unknown state = iota
	missed        // no server had it
	held
)

// state looks at the place of a file. That of one that is held counts as used.
func (c *cache) state(path string) (state, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return unknown, nil
	case err != nil:
		return unknown, err
	case !info.Mode().IsRegular():
		return unknown, fmt.Errorf("%s: not a regular file", path)
	case info.Size() > 0:
		os.Chtimes(path, time.Now(), time.Time{}) // who may read it may not be its owner
		return held, nil
	}
	seconds, _, err := c.read(missFor)
	if err != nil || time.Since(info.ModTime()) > seconds {
		return unknown, err
	}
	return missed, nil
}

// miss notes that no server has a file. What another client puts there meanwhile stays.
func (c *cache) miss(path string) {
	if info, err := os.Lstat(path); err == nil && info.Size() == 0 {
		os.Remove(path) // of an earlier time
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return
	}
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666); err == nil {
		f.Close()
	}
}

// create makes a file beside the place of another.
func (c *cache) create(path string) (*os.File, error) {
	var err error
	for range 2 { // a client that cleans the cache may remove the directory
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			var f *os.File
			if f, err = os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*"); err == nil {
				return f, nil
			}
		}
	}
	return nil, err
}

// put moves a file to its place.
func (c *cache) put(from, path string, modified time.Time) error {
	os.Chtimes(from, time.Now(), modified) // so that it says how old the file is, no more
	if err := os.Chmod(from, 0o400); err != nil {
		return err
	}
	return os.Rename(from, path)
}

// read reads a control file, which is made if there is none, and says when it was written.
func (c *cache) read(of control) (seconds time.Duration, at time.Time, err error) {
	name := filepath.Join(c.dir, of.name)
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		if err = os.WriteFile(name, fmt.Append(nil, of.otherwise), 0o666); err == nil {
			info, err = os.Lstat(name)
		}
	}
	if err != nil {
		return 0, time.Time{}, err
	}
	n := of.otherwise
	if info.Mode().IsRegular() && info.Size() < 64 {
		if text, err := os.ReadFile(name); err == nil {
			var got int64
			if _, err := fmt.Sscan(strings.TrimSpace(string(text)), &got); err == nil && got >= 0 && got < 1<<33 {
				n = got
			}
		}
	}
	return time.Duration(n) * time.Second, info.ModTime(), nil
}

// clean makes the cache if there is none, and removes what nobody used for long, if that was
// not done for a while.
func (c *cache) clean() error {
	if c.cleaned {
		return nil
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	interval, last, err := c.read(cleanInterval)
	if err != nil {
		return err
	}
	c.cleaned = true
	if time.Since(last) < interval {
		return nil
	}
	now := time.Now()
	os.Chtimes(filepath.Join(c.dir, cleanInterval.name), now, now) // early: others start meanwhile
	age, _, err := c.read(maxUnused)
	if err != nil {
		return err
	}
	var dirs []string
	filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(c.dir, path)
		if err != nil || relErr != nil || !ours.MatchString(filepath.ToSlash(name)) {
			return nil
		}
		info, err := d.Info()
		switch {
		case err != nil:
		case d.IsDir() && now.Sub(info.ModTime()) >= age:
			dirs = append(dirs, path)
		case d.Type().IsRegular() && now.Sub(accessed(info)) >= age:
			os.Remove(path)
		}
		return nil
	})
	for _, dir := range dirs {
		os.Remove(dir) // fails if it is not empty
	}
	return nil
}
