// Package scratch knows the files of this process that must not outlive it.
//
//  1. Who makes one says so by [Add], and calls what that returns when the file is removed or
//     has got its final name.
//  2. A signal that leaves no time for that calls [RemoveAll]: see package main.
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
	paths[path]++
	return sync.OnceFunc(func() {
		mu.Lock()
		defer mu.Unlock()
		if paths[path]--; paths[path] == 0 {
			delete(paths, path)
		}
	})
}

// RemoveAll removes all that was noted, with what is in it.
func RemoveAll() error {
	mu.Lock()
	defer mu.Unlock()
	var errs []error
	for path := range paths {
		errs = append(errs, os.RemoveAll(path))
	}
	clear(paths)
	return errors.Join(errs...)
}
