// Package shape looks at the code around conditional branches.
//
//  1. The two ways from a branch are followed for a few blocks to where they meet again with
//     the least code between. What is there are the sides.
//  2. The instructions of the sides are read from their text: stores, calls, divisions, and
//     loads that may fault.
//  3. In a loop, it is looked for where a register that a side writes is read before it is
//     written: for an address, or by way of other instructions by the branch itself.
//  4. It is looked for what the branch tests: an element of data that may be in any order, or
//     what the iteration before left.
package shape

import (
	"slices"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
)

// A Shape is what the code around a conditional branch looks like.
type Shape struct {
	// Meets is set if both ways meet again soon, after the sides: what is executed if
	// the branch is not taken, and if it is.
	Meets bool
	Sides [2]Side
	// Exit is set if one way leaves the innermost loop; TakenStays if that is not the
	// one of the jump.
	Exit, TakenStays bool
	// Compares is how many branches on constants the same register has in a row.
	Compares int
	// Independent is set if the branch tests elements of data that may be in any order.
	Independent bool
	// Feeds says where in a loop what the sides write is needed, "" if nowhere.
	Feeds string
}

// A Side is the code between a branch and where both ways meet.
type Side struct {
	N                                         int // instructions
	Stores, Calls, Divisions, Loads, Branches int
}

// The limits of code in which both ways of a branch are looked for to meet.
const (
	maxSideBlocks = 8
	maxMeetDepth  = 4
)

// Of looks at the code around the branch at an address, nil if it is not understood.
func Of(f *disasm.Function, addr uint64) *Shape {
	at := f.Inst(addr)
	block := f.Block(addr)
	if at < 0 || block < 0 || f.Insts[at].Kind != disasm.Conditional {
		return nil
	}
	b := &f.Blocks[block]
	if len(b.Succs) != 2 || b.End != at+1 {
		return nil
	}
	c := &codeText{f: f, parsed: make(map[int]operation)}
	next, target := f.Block(f.Insts[at].Next()), f.Block(f.Insts[at].Target)
	if next < 0 || target < 0 {
		return nil
	}
	s := &Shape{Compares: c.compares(block)}
	loop := f.LoopOf(block)
	if loop >= 0 {
		in := func(b int) bool { return slices.Contains(f.Loops[loop].Blocks, b) }
		s.Exit = in(next) != in(target)
		s.TakenStays = in(target)
		s.Independent = c.independent(loop, block)
	}
	sides, join, ok := c.meet(block, next, target)
	if !ok {
		return s
	}
	s.Meets = true
	for i, blocks := range sides {
		s.Sides[i] = c.side(block, blocks)
	}
	if loop >= 0 {
		s.Feeds = c.feeds(loop, block, join, slices.Concat(sides[0], sides[1]))
	}
	return s
}

// meet finds where the ways from a branch meet, with the least code before: a block, or
// the end of the function, -1. It returns the blocks of each side too.
func (c *codeText) meet(block, next, target int) (sides [2][]int, join int, ok bool) {
	best := -1
	try := func(at int) {
		a, okA := c.region(next, at, block)
		b, okB := c.region(target, at, block)
		if !okA || !okB {
			return
		}
		n := 0
		for _, i := range slices.Concat(a, b) {
			n += c.f.Blocks[i].End - c.f.Blocks[i].First
		}
		if best < 0 || n < best {
			best, join, sides = n, at, [2][]int{a, b}
		}
	}
	seen := []int{next, target}
	for from, depth := 0, 0; depth < maxMeetDepth; depth++ {
		to := len(seen)
		for _, i := range seen[from:to] {
			for _, s := range c.f.Blocks[i].Succs {
				if s != block && !slices.Contains(seen, s) {
					seen = append(seen, s)
				}
			}
		}
		from = to
	}
	for _, at := range seen {
		try(at)
	}
	try(-1)
	return sides, join, best >= 0
}

// region are the blocks from a start to where the ways join, -1 for the end of the
// function. All ways lead there, and none in from elsewhere.
func (c *codeText) region(start, join, branch int) (blocks []int, ok bool) {
	if start == join {
		return nil, true
	}
	blocks = []int{start}
	for n := 0; n < len(blocks); n++ {
		b := &c.f.Blocks[blocks[n]]
		last := &c.f.Insts[b.End-1]
		if len(b.Succs) == 0 && (join >= 0 || last.Kind != disasm.Return) {
			return nil, false
		}
		for _, s := range b.Succs {
			switch {
			case s == join || slices.Contains(blocks, s):
			case s == branch || len(blocks) == maxSideBlocks:
				return nil, false
			default:
				blocks = append(blocks, s)
			}
		}
	}
	for _, i := range blocks {
		for _, p := range c.f.Blocks[i].Preds {
			if p != branch && !slices.Contains(blocks, p) && join >= 0 {
				return nil, false
			}
		}
	}
	return blocks, true
}

// nearby is how far a load may be from one before, in bytes, to be of the same object.
const nearby = 64

// side counts what is in the blocks of one side. Loads that are near one in the block of
// the branch are taken not to fault nor to miss the cache.
func (c *codeText) side(block int, blocks []int) (s Side) {
	var loaded []operation
	for i := c.f.Blocks[block].First; i < c.f.Blocks[block].End; i++ {
		op := c.operation(i)
		loaded = slices.DeleteFunc(loaded, func(o operation) bool { return slices.Contains(op.defs, o.base()) })
		if op.base() != asm.NoRegister && !slices.Contains(op.defs, op.base()) {
			loaded = append(loaded, op)
		}
	}
	near := func(op operation) bool {
		return op.base() != asm.NoRegister && slices.ContainsFunc(loaded, func(o operation) bool {
			return o.base() == op.base() && max(o.displacement-op.displacement, op.displacement-o.displacement) <= nearby
		})
	}
	for _, b := range blocks {
		for i := c.f.Blocks[b].First; i < c.f.Blocks[b].End; i++ {
			op := c.operation(i)
			switch c.f.Insts[i].Kind {
			case disasm.Jump, disasm.Return:
				continue
			case disasm.Conditional:
				s.Branches++
			case disasm.Call, disasm.IndirectCall, disasm.IndirectJump, disasm.Trap:
				s.Calls++
			}
			s.N++
			if op.stores {
				s.Stores++
			}
			if op.divides {
				s.Divisions++
			}
			if op.loads && !near(op) && !op.onStack {
				s.Loads++
			}
		}
	}
	return s
}

// compares is how many conditional branches in a row compare one register with
// constants.
func (c *codeText) compares(block int) int {
	register := c.compared(block)
	if register == asm.NoRegister {
		return 0
	}
	seen := []int{block}
	for n := 0; n < len(seen) && len(seen) < 256; n++ {
		b := &c.f.Blocks[seen[n]]
		for _, o := range slices.Concat(b.Succs, b.Preds) {
			if !slices.Contains(seen, o) && c.compared(o) == register {
				seen = append(seen, o)
			}
		}
	}
	return len(seen)
}

// compared is the register that the last instructions of a block compare with a
// constant to branch, asm.NoRegister if they do not.
func (c *codeText) compared(block int) asm.Register {
	b := &c.f.Blocks[block]
	if b.End-b.First < 2 || c.f.Insts[b.End-1].Kind != disasm.Conditional {
		return asm.NoRegister
	}
	op := c.operation(b.End - 2)
	if !op.compares || !op.constant || len(op.uses) != 1 {
		return asm.NoRegister
	}
	return op.uses[0]
}

// feeds says where in a loop what the sides of a branch write is needed: for an address
// or for the branch itself, by way of any instructions of the loop. It errs on the
// safe side: of what the branch needs, registers are not followed in order.
func (c *codeText) feeds(loop, block, join int, sides []int) string {
	if len(sides) == 0 || join < 0 {
		return ""
	}
	in := c.f.Loops[loop].Blocks
	carried := make(map[asm.Register]bool)
	for _, b := range sides {
		for i := c.f.Blocks[b].First; i < c.f.Blocks[b].End; i++ {
			for _, r := range c.operation(i).defs {
				read, address := c.read(r, join, in)
				if address {
					return "the address of a load in the loop"
				}
				if read {
					carried[r] = true
				}
			}
		}
	}
	needed := c.needed(block, in)
	for r := range carried {
		if needed[r] {
			return "needed by the branch itself the next time round the loop"
		}
	}
	return ""
}

// read reports whether a register is read from a block on, in some blocks, before it is
// written, and whether for the address of a load.
func (c *codeText) read(register asm.Register, from int, in []int) (read, address bool) {
	if !slices.Contains(in, from) {
		return false, false
	}
	seen := []int{from}
	for n := 0; n < len(seen); n++ {
		b := &c.f.Blocks[seen[n]]
		written := false
		for i := b.First; i < b.End && !written; i++ {
			op := c.operation(i)
			read = read || slices.Contains(op.uses, register)
			address = address || op.loads && slices.Contains(op.address, register)
			written = slices.Contains(op.defs, register)
		}
		if written {
			continue
		}
		for _, s := range b.Succs {
			if slices.Contains(in, s) && !slices.Contains(seen, s) {
				seen = append(seen, s)
			}
		}
	}
	return read, address
}

// needed are the registers that a branch depends on by way of the instructions of some
// blocks.
func (c *codeText) needed(block int, in []int) map[asm.Register]bool {
	needed := make(map[asm.Register]bool)
	for _, r := range c.tested(block) {
		needed[r] = true
	}
	for changed := true; changed; {
		changed = false
		for _, b := range in {
			for i := c.f.Blocks[b].First; i < c.f.Blocks[b].End; i++ {
				op := c.operation(i)
				if !slices.ContainsFunc(op.defs, func(r asm.Register) bool { return needed[r] }) {
					continue
				}
				for _, r := range op.uses {
					if !needed[r] {
						needed[r], changed = true, true
					}
				}
			}
		}
	}
	return needed
}

// tested are the registers that a branch depends on: its own, or the registers of the last
// comparison before it.
func (c *codeText) tested(block int) []asm.Register {
	b := &c.f.Blocks[block]
	uses := slices.Clone(c.operation(b.End - 1).uses)
	for i := b.End - 2; i >= b.First && len(uses) == 0; i-- {
		if op := c.operation(i); op.compares || op.arithmetic {
			uses = append(uses, op.uses...)
		}
	}
	return uses
}
