//go:build unix

package output

import (
	"os"
	"syscall"
)

// umask is what the user wants no new file to allow.
var umask = func() os.FileMode {
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	return os.FileMode(mask)
}()

// keepOwner gives a file the owner of another, where that is allowed.
func keepOwner(name string, old os.FileInfo) {
	if owner, ok := old.Sys().(*syscall.Stat_t); ok {
		_ = os.Lchown(name, int(owner.Uid), int(owner.Gid)) // else it is of who wrote it
	}
}
