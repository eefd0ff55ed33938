package simulated

import (
	"math"

	"profdiff/internal/callgrind"
)

// jumps say where the executions of a conditional branch went. Callgrind counts by block of
// code that ends with a branch, and the same branch ends several: the first pass of a loop is
// a block with what is before the loop. After the costs of a block it writes
//
//   - how often the branch jumped, and of how many executions, if it ever did;
//   - a call instead, if the jump left the object file or went to the start of a function, its
//     own or another, and also if the next instruction is the start of one;
//   - the costs of functions that it was told to skip, without a count;
//   - nothing if the branch never jumped.
type jumps struct {
	taken int64 // jumped
	fell  int64 // went on with the next instruction: nothing else is written
	open  int64 // may have done either
	// loose are jumps that do not stand behind the costs of a block, of so many executions.
	looseTaken, looseTested int64
}

// A passage is how often an instruction ran, and how often jumps and calls came to it.
type passage struct {
	ran, came int64
	// costs are of functions that were skipped, or also ran.
	costs int64
}

// A position is an instruction of an object file.
type position struct {
	object  string
	address uint64
}

func positionOf(p *callgrind.Place) position { return position{p.Function.Object, p.Address} }

// flow follows the records of a file from block to block.
type flow struct {
	// jumped is set if the file has jumps at all: it was recorded with them.
	jumped bool
	// excess is set if more jumps were taken than executed: Callgrind counts jumps while it
	// was told not to count costs (--toggle-collect).
	excess   bool
	passages map[string]map[uint64]passage // by object file and address
	row      position                      // the last with costs
	block    block
}

// A block is what stands behind the costs of a block of code with a branch.
type block struct {
	jumps         *jumps // of the branch, nil if there is no block
	ran, executed int64  // the instruction and the branch: as often, unless it is no jump
	taken, tested int64  // by conditional jumps
	called        int64  // calls that cannot be of the next instruction
	near          int64  // those that may be
	odd           bool   // with what no conditional jump does, or what skipped functions did
}

// maxBranch is more than the bytes of a conditional jump.
const maxBranch = 8

// passage changes what is known of an instruction. It returns false if that is too much.
func (f *flow) passage(at position, more passage) bool {
	if f.passages == nil {
		f.passages = make(map[string]map[uint64]passage)
	}
	of := f.passages[at.object]
	if of == nil {
		of = make(map[uint64]passage)
		f.passages[at.object] = of
	}
	p := of[at.address]
	if more.came < 0 || more.came > math.MaxInt64-p.came {
		return false
	}
	of[at.address] = passage{p.ran + more.ran, p.came + more.came, p.costs + more.costs}
	return true
}

// costs are costs at an instruction, of branches there if jumps is not nil.
func (f *flow) costs(at position, ran, branches int64, jumps *jumps) {
	again := at == f.row
	if again && ran != branches {
		f.block.odd = true // costs of a function that was skipped
		if branches == 0 {
			f.passage(at, passage{costs: ran})
			return
		}
	}
	f.end()
	f.row = at
	if at.address == 0 {
		return
	}
	if again {
		f.passage(at, passage{costs: ran})
	} else {
		f.passage(at, passage{ran: ran})
	}
	f.block = block{jumps: jumps, ran: ran, executed: branches}
}

// jump is a jump, conditional if jumps is where to count it. It returns false if there are
// too many.
func (f *flow) jump(j *callgrind.Jump, jumps *jumps) bool {
	f.jumped = true
	if j.Conditional && j.Taken > j.Executed {
		f.excess = true
	}
	b := &f.block
	n := min(j.Taken, b.executed-b.taken)
	switch ours := b.jumps != nil && f.row == positionOf(&j.From); {
	case ours && jumps != nil:
		b.taken += n
		b.tested = max(b.tested, j.Executed)
	case ours:
		b.odd = true
	case jumps != nil:
		if j.Executed > math.MaxInt64-jumps.looseTested {
			return false
		}
		jumps.looseTaken += min(j.Taken, j.Executed)
		jumps.looseTested += j.Executed
	}
	return f.passage(positionOf(&j.To), passage{came: j.Taken})
}

// call is a call. It returns false if there are too many.
func (f *flow) call(c *callgrind.Call) bool {
	from, to := positionOf(&c.Caller), positionOf(&c.Callee)
	if b := &f.block; b.jumps != nil && f.row == from {
		n := min(c.Count, b.executed-b.called-b.near)
		if to.object == from.object && to.address > from.address && to.address <= from.address+maxBranch {
			b.near += n
		} else {
			b.called += n
		}
	}
	return to.address == 0 || f.passage(to, passage{came: c.Count})
}

// end ends a block: its executions jumped, fell through, or may have done either.
func (f *flow) end() {
	b := f.block
	f.block = block{}
	if b.jumps == nil {
		return
	}
	if b.ran != b.executed && b.ran != 0 {
		b.odd = true
	}
	jumped := b.taken
	if !b.odd { // else the calls may be those of skipped functions
		jumped = min(b.executed, b.taken+b.called)
	}
	rest, open := b.executed-jumped, int64(0)
	switch {
	case b.odd:
		open = rest
	case b.near > 0 && jumped == 0:
		open = min(rest, b.near) // a branch jumps to one place: beside another, near is next
	case b.tested > 0:
		// A dump in the middle has a branch before it and where it went after it.
		open = min(rest, max(b.executed-b.tested, b.tested-b.executed))
	}
	b.jumps.taken += jumped
	b.jumps.open += open
	b.jumps.fell += rest - open
}

// taken says how often a branch at a position was taken at least and at most.
func (f *flow) taken(at position, j *jumps) (lo, hi int64) {
	n := j.taken + j.open + j.fell
	lo, hi = j.taken, j.taken+j.open
	switch {
	case !f.jumped:
		hi = n
	case j.looseTested > j.fell:
		lo, hi = min(n, lo+j.looseTaken), n
	default:
		lo, hi = lo+j.looseTaken, hi+j.looseTaken
	}
	if f.excess {
		lo = 0
	}
	next, found := f.next(at)
	if !found {
		return lo, hi
	}
	// No more fell through than the next instruction ran: what is left went where nothing
	// is written of it.
	if left := n - next.ran - next.costs; left > hi {
		hi = left
	} else {
		lo = max(lo, left)
	}
	// As often as nothing came to it, it was fallen through to.
	if most := n - (next.ran - next.came); f.jumped && most >= lo {
		hi = min(hi, most)
	}
	return lo, hi
}

// next is the next instruction that ran after a branch. None that did is in between, or it
// would be that one.
func (f *flow) next(at position) (next passage, found bool) {
	of := f.passages[at.object]
	if of[at.address].ran == 0 {
		return passage{}, false // instructions were not counted
	}
	for a := at.address + 1; a <= at.address+maxBranch; a++ {
		if p := of[a]; p.ran > 0 || p.costs > 0 {
			return p, true
		}
	}
	return passage{}, true
}
