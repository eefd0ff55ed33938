package input

import (
	"time"

	"golang.org/x/sys/unix"
)

// created is when a file was created, zero if its file system does not tell (statx(2)).
func created(name string) time.Time {
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, name, 0, unix.STATX_BTIME, &s); err != nil || s.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(s.Btime.Sec, int64(s.Btime.Nsec))
}
