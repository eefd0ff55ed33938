//go:build !linux

package calibrate

import "errors"

var errNoPin = errors.New("programs are kept on a CPU on Linux and Android only")

// allowed are the CPUs that this thread may run on.
func allowed() ([]int, error) { return nil, errNoPin }

// pin keeps the calling goroutine on one CPU until unpin is called.
func pin(int) (unpin func(), err error) { return nil, errNoPin }

func currentCPU() int { return -1 }
