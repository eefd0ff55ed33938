package input

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Files lists the recordings of a side: files themselves, "-" for standard input, and
// the files in directories in the order of their names.
func Files(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		if path == "-" {
			files = append(files, path)
			continue
		}
		info, err := os.Stat(path)
		if err != nil {
			return nil, PathError(err)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		within, err := within(path)
		if err != nil {
			return nil, err
		}
		files = append(files, within...)
	}
	return files, nil
}

// within lists the recordings in a directory.
func within(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, PathError(err)
	}
	if isThreads(dir) {
		return nil, fmt.Errorf("%s: %w", dir, directoryError(dir))
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := filepath.Join(dir, e.Name())
		info, err := os.Stat(name) // of what a link points to
		switch {
		case err != nil:
			return nil, PathError(err)
		case info.IsDir():
			return nil, fmt.Errorf("%s is a directory within a side: name the recordings, or the directories that have them alone", name)
		}
		files = append(files, name)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: directory has no recordings", dir)
	}
	return files, nil
}
