//go:build !linux

package calibrate

import "errors"

var errNoPin = errors.New("programs are kept on a CPU on Linux and Android only")

// Allowed are the CPUs that this thread may run on.
func Allowed() ([]int, error) { return nil, errNoPin }

// Pin keeps the calling goroutine on one CPU until unpin is called.
func Pin(int) (unpin func(), err error) { return nil, errNoPin }
