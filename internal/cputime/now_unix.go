//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Now is the CPU time of this process until now, user and system; 0 if the kernel does not
// tell.
func Now() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
