package input

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"profdiff/internal/exchange"
)

// Files lists the recordings of a side: files themselves, "-" for standard input, addresses, and
// the recordings in directories in the order of their names. Backups in directories are left
// out, which note says in one line; it is "" if there are none.
func Files(paths []string) (files []string, note string, err error) {
	var backups []string
	for _, path := range paths {
		if path == "-" || exchange.Is(path) {
			files = append(files, path)
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, "", PathError(err)
		}
		if !info.IsDir() || IsRecording(path) {
			files = append(files, path)
			continue
		}
		recordings, old, err := within(path)
		if err != nil {
			return nil, "", err
		}
		files, backups = append(files, recordings...), append(backups, old...)
	}
	switch n := len(backups); {
	case n == 1:
		note = fmt.Sprintf("%s is a backup and no run; name the file to have it read", backups[0])
	case n > 1:
		note = fmt.Sprintf("%d backups are no runs, %s … %s; name a file to have it read", n, backups[0], backups[n-1])
	}
	return files, note, nil
}

// Present returns the error of the first path at which nothing is: a name that is misspelt is told
// before what directories have that are named with it.
func Present(paths []string) error {
	for _, path := range paths {
		if path == "-" || exchange.Is(path) {
			continue
		}
		if _, err := os.Stat(path); err != nil {
			return PathError(err)
		}
	}
	return nil
}

// IsBackup reports whether a file is by its name what was there before another file: what
// perf record moves out of its way (tools/perf/builtin-record.c: perf.data.old), and what
// editors keep.
func IsBackup(name string) bool {
	return strings.HasSuffix(name, ".old") || strings.HasSuffix(name, "~")
}

// symbolsName is the directory beside recordings that has what names their addresses.
const symbolsName = "symbols"

// within lists the recordings in a directory, and the backups. Hidden files are neither, nor are
// symbols.
func within(dir string) (files, backups []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, PathError(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := filepath.Join(dir, e.Name())
		if IsBackup(name) {
			backups = append(backups, name)
			continue
		}
		info, err := os.Stat(name) // of what a link points to
		switch {
		case err != nil:
			return nil, nil, PathError(err)
		case info.IsDir() && e.Name() == symbolsName:
			continue
		case info.IsDir() && !IsRecording(name):
			return nil, nil, fmt.Errorf("%s is a directory within a side: name the recordings, or the directories that have them alone", name)
		}
		files = append(files, name)
	}
	switch {
	case len(files) == 0 && len(backups) > 0:
		return nil, nil, fmt.Errorf("%s: directory has no recordings but backups: name %s to have it read", dir, backups[0])
	case len(files) == 0:
		return nil, nil, fmt.Errorf("%s: directory has no recordings", dir)
	}
	return files, backups, nil
}

// errIsDirectory says what to name instead of a directory: a file in it, or in one of those in it, before first, if it is that
// of two sides.
func errIsDirectory(dir string) error {
	files, _, _ := within(dir)
	if len(files) == 0 {
		files, _, _ = within(filepath.Join(dir, "before"))
	}
	entries, _ := os.ReadDir(dir)
	var beside []string
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case len(files) > 0 || strings.HasPrefix(e.Name(), ".") || e.Name() == symbolsName || IsBackup(name):
		case e.IsDir():
			files, _, _ = within(name)
		default:
			beside = append(beside, name)
		}
	}
	if files = append(files, beside...); len(files) == 0 {
		return fmt.Errorf("%s: is a directory: name a file", dir)
	}
	return fmt.Errorf("%s: is a directory: name files in it, such as %s", dir, files[0])
}
