package run

import (
	"fmt"
	"strings"
)

// Unwound counts samples whose stacks were recorded as memory (perf record --call-graph
// dwarf) by how far unwinding came.
type Unwound struct {
	// Whole stacks begin where a thread begins.
	Whole int64 `json:"whole"`
	// Cut stacks go on behind what was recorded of them.
	Cut int64 `json:"cut_off_by_dump_size"`
	// NoTable stacks end in a file without unwind information, NoFile in one that was
	// not found as it was recorded.
	NoTable int64 `json:"no_unwind_information"`
	NoFile  int64 `json:"file_missing_or_other_build"`
	// RanOff stacks end where unwind information led to what is no stack.
	RanOff int64 `json:"ran_off"`
	// NoRegisters counts samples without what unwinding starts from.
	NoRegisters int64 `json:"no_registers"`
}

// Total is the number of stacks.
func (u *Unwound) Total() int64 {
	return u.Whole + u.Cut + u.NoTable + u.NoFile + u.RanOff + u.NoRegisters
}

// Known is u, nil if no stack was to be unwound.
func (u *Unwound) Known() *Unwound {
	if u.Total() == 0 {
		return nil
	}
	return u
}

// Add adds the counts of b.
func (u *Unwound) Add(b *Unwound) {
	u.Whole += b.Whole
	u.Cut += b.Cut
	u.NoTable += b.NoTable
	u.NoFile += b.NoFile
	u.RanOff += b.RanOff
	u.NoRegisters += b.NoRegisters
}

// String says how many stacks are whole, and of the others why not: "90 of 100 stacks whole
// (10 cut off by the dump's size)".
func (u *Unwound) String() string {
	text := fmt.Sprintf("%d of %d stacks whole", u.Whole, u.Total())
	var why []string
	for _, c := range []struct {
		n    int64
		what string
	}{
		{u.Cut, "cut off by the dump's size"},
		{u.NoTable, "without unwind information"},
		{u.NoFile, "with a file missing or of another build"},
		{u.RanOff, "ran off the stack"},
		{u.NoRegisters, "without registers"},
	} {
		if c.n > 0 {
			why = append(why, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if len(why) > 0 {
		text += " (" + strings.Join(why, ", ") + ")"
	}
	return text
}
