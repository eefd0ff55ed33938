//go:build !unix

package checkout

import (
	"errors"
	"os"
)

// Ways to lock a file.
const (
	shared = iota
	exclusive
)

// errLocked says that somebody else has a lock.
var errLocked = errors.New("is locked")

// flock locks nothing: commits are built where files can be locked.
func flock(*os.File, int) error { return errors.ErrUnsupported }
