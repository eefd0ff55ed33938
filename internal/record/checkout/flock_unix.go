//go:build unix

package checkout

import (
	"os"
	"syscall"
)

// Ways to lock a file.
const (
	shared    = syscall.LOCK_SH
	exclusive = syscall.LOCK_EX
)

// errLocked says that somebody else has a lock.
var errLocked = syscall.EWOULDBLOCK

// flock locks a file, if nobody else has it locked.
func flock(f *os.File, how int) error {
	return syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
}
