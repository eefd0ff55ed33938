//go:build !linux

package record

// machineName is what uname -m prints: not known here.
func machineName() string { return "" }

// FreeBytes is how much is free on the disk of a folder; false if it cannot be asked.
func FreeBytes(string) (int64, bool) { return 0, false }
