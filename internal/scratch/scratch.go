// Package scratch knows the files of this process that must not outlive it.
//
//  1. Who makes one does so by [File] or [Dir], or says so by [Add], and calls what that returns when the file is
//     removed or has got its final name.
//  2. A signal that leaves no time for that calls [End]: see package main. Nothing is made after it, and what
//     [Whole] does is done before it or not at all.
package scratch

import (
	"errors"
	"os"
	"sync"
)

var (
	mu    sync.Mutex
	paths = make(map[string]int)
)

// Add notes a file or a directory, which does not have to be there yet. The function that it
// returns takes the note back, and removes nothing.
func Add(path string) (forget func()) {
	mu.Lock()
	defer mu.Unlock()
	return add(path)
}

func add(path string) (forget func()) {
	paths[path]++
	return sync.OnceFunc(func() {
		mu.Lock()
		defer mu.Unlock()
		if paths[path]--; paths[path] == 0 {
			delete(paths, path)
		}
	})
}

// File makes a file as [os.CreateTemp] does, and notes it.
func File(dir, pattern string) (f *os.File, forget func(), err error) {
	mu.Lock()
	defer mu.Unlock()
	if f, err = os.CreateTemp(dir, pattern); err != nil {
		return nil, nil, err
	}
	return f, add(f.Name()), nil
}

// Dir makes a directory as [os.MkdirTemp] does, and notes it.
func Dir(dir, pattern string) (path string, forget func(), err error) {
	mu.Lock()
	defer mu.Unlock()
	if path, err = os.MkdirTemp(dir, pattern); err != nil {
		return "", nil, err
	}
	return path, add(path), nil
}

// Whole calls what must not be done by half. It takes a moment, and calls nothing of this package.
func Whole(do func() error) error {
	mu.Lock()
	defer mu.Unlock()
	return do()
}

// End removes all that was noted, before the process ends: whoever makes or notes a file then waits forever.
func End() error {
	mu.Lock()
	return removeAll()
}

// removeAll removes all that was noted, with what is in it.
func removeAll() error {
	var errs []error
	for path := range paths {
		errs = append(errs, os.RemoveAll(path))
	}
	clear(paths)
	return errors.Join(errs...)
}
