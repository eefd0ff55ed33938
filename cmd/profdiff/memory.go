package main

import (
	"os"

	"profdiff/internal/limit"
)

// needsLess is the annotation of a command that has none of the filters of recordings: how it needs less memory.
const needsLess = "needs-less-memory"

// memoryFlag is the flag that says how much memory a command may use; 0 is not set.
type memoryFlag int64

func (f *memoryFlag) Set(text string) error {
	size, err := limit.Parse(text)
	*f = memoryFlag(size)
	return err
}

func (f *memoryFlag) String() string { return "" }
func (f *memoryFlag) Type() string   { return "SIZE" }

// bytes is the limit.
func (f *memoryFlag) bytes() int64 {
	if *f != 0 {
		return int64(*f)
	}
	return limit.Machine(os.DirFS("/"))
}
