//go:build !linux

package input

import "time"

// created is when a file was created, zero if that is not known.
func created(string) time.Time { return time.Time{} }
