package core

import (
	"math"

	"profdiff/internal/disasm"
)

// A Fetch is how the front end of a core delivers operations: from lines of operations
// within aligned regions of code. A taken branch ends a line.
type Fetch struct {
	Region uint64 `json:"region,omitempty"` // bytes, a power of two; 0 if it is not known
	Line   int    `json:"line,omitempty"`   // operations
	// Lines are delivered at once; for more of the region that a loop starts in there is a
	// pause of a cycle after each such number. The next region, without a branch to it and
	// after more than a line, takes a cycle at least, and of a region that no loop starts
	// in Later operations are delivered in a cycle if there was no pause before. If Lines
	// is 0, a cycle delivers a line, or what there is of a region.
	Lines int `json:"lines,omitempty"`
	Later int `json:"later,omitempty"`
	// Call is the cycles of a call or a return.
	Call float64 `json:"call"`
	// Turn is the cycles that are lost when a branch goes another way than it went last,
	// and was foreseen to.
	Turn float64 `json:"turn,omitempty"`
}

// cycles is what so many operations of a region in a row take.
func (f *Fetch) cycles(operations int) float64 {
	lines := (operations + f.Line - 1) / f.Line
	if lines <= f.Lines {
		return float64(lines) / float64(f.Lines)
	}
	groups := (lines + f.Lines - 1) / f.Lines
	return float64(2*groups - 1)
}

// later is what so many operations take of a region that no loop starts in.
func (f *Fetch) later(operations int) float64 {
	if lines := (operations + f.Line - 1) / f.Line; lines <= f.Lines {
		return float64(lines) / float64(f.Lines)
	}
	return float64((operations + f.Later - 1) / f.Later)
}

// A fetching is the state of the front end. A group is what is fetched from one backward
// branch to the next.
type fetching struct {
	*Fetch
	takenPerCycle float64
	parts         bool    // the branches of a group need not take whole cycles
	start         float64 // of the group
	cycles        float64 // of it, for lines
	branches      float64 // cycles of it, for branches
	region        uint64
	regions       int  // since the last taken branch, if lines have none
	operations    int  // of the region
	fell          bool // into the region, without a branch, after more than a line
	inside        bool // the region is not the first of its group
	paused        bool // within the group
}

// fetch adds an operation whose last byte is at an address.
func (f *fetching) fetch(at uint64) {
	if f.Region == 0 {
		return
	}
	if f.Lines == 0 {
		if region := at / f.Region; region != f.region || f.operations == 0 {
			f.region = region
			f.regions++
		}
		f.operations++
		return
	}
	if region := at / f.Region; region != f.region || f.operations == 0 {
		fell := f.operations > f.Line
		inside := f.operations > 0 || f.inside
		f.flush()
		f.region, f.fell, f.inside = region, fell, inside
	}
	f.operations++
}

// flush ends a row of operations.
func (f *fetching) flush() {
	if f.Region > 0 && f.Lines == 0 {
		f.cycles += float64(max(f.regions, (f.operations+f.Line-1)/f.Line))
		f.operations, f.regions = 0, 0
	}
	if f.operations > 0 {
		cycles := f.Fetch.cycles(f.operations)
		if f.inside && !(f.paused && f.operations > f.Later) {
			cycles = f.later(f.operations)
		} else if f.operations > f.Lines*f.Line {
			f.paused = true
		}
		if f.fell {
			cycles = max(1, cycles)
		}
		f.cycles += cycles
		f.operations = 0
	}
}

// taken ends a block and returns when what follows is delivered.
func (f *fetching) taken(kind disasm.Kind, backward bool) float64 {
	f.flush()
	switch kind {
	case disasm.Call, disasm.IndirectCall, disasm.Return:
		f.branches += f.Call
	default:
		f.branches += 1 / f.takenPerCycle
	}
	branches := f.branches
	if !f.parts {
		branches = math.Ceil(branches)
	}
	front := f.start + max(f.cycles, branches)
	if backward {
		f.restart(front)
	}
	return front
}

// restart begins a group.
func (f *fetching) restart(at float64) {
	f.start, f.cycles, f.branches, f.regions, f.operations, f.inside, f.paused = at, 0, 0, 0, 0, false, false
}
