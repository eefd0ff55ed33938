package disasm

import (
	"cmp"
	"fmt"
	"slices"
)

// A Function is the code of one function with its control-flow graph.
//
// Calls are taken to return unless the name of the function says that it does not
// or the caller ends there. Jumps out of the function have no edge.
type Function struct {
	Name       string // mangled; "" if there is no symbol where it starts
	Start, End uint64 // End is after the last instruction, padding left out
	// Insts are in order of address: those that can be reached from Start, then in
	// the gaps whatever can be decoded (landing pads of exceptions, the targets of
	// jump tables that were not found) except for padding. They may overlap where
	// the code jumps into an instruction.
	Insts []Inst
	// Blocks are the basic blocks in order of address. Calls do not end one. The
	// block at Start is the entry.
	Blocks []Block
	// Loops are in order of the headers' addresses, each outer before the inner.
	Loops []Loop
	// Incomplete says why the graph lacks edges: "jump table at 0x…", "code that
	// cannot be decoded at 0x…"; "" if it does not.
	Incomplete string

	code    *Code
	text    []byte
	blockOf []int32 // block of an instruction
	loopOf  []int   // innermost loop of a block, or -1
	entry   int     // block at Start
}

// A Block is a basic block.
type Block struct {
	First, End int // Insts[First:End]
	// Succs and Preds are indexes of blocks in ascending order, each once.
	Succs, Preds []int
	// Dominator is the immediate dominator: the last block that is on all ways to
	// this one. It is -1 for the entry and where unreachable code starts.
	Dominator int
	// Reachable is set if there is a way from the entry.
	Reachable bool
}

// A Loop is a natural loop: the blocks from which a back edge can be reached
// without going through the header, which dominates them all. Loops with the same
// header are one.
type Loop struct {
	Header    int
	Blocks    []int // in order of address, blocks of inner loops included
	BackEdges []int // blocks that jump to the header, in order of address
	Parent    int   // next outer loop, or -1
	Depth     int   // 1 for the outermost
	// Irreducible is set for a cycle with several entries: its Header is the entry
	// with the lowest address and does not dominate it.
	Irreducible bool
}

// maxFunction is the size of functions in bytes beyond which they are cut. Where
// symbols are missing a function seems to reach over all that follow it.
const maxFunction = 2 << 20

// FunctionAt returns the function that addr is in. Symbols and .eh_frame tell where
// it starts and ends; an address in a nested function or after a label is in the
// function around it. The error wraps [ErrNoFunction] if neither knows the address
// and [ErrNoCode] if the file does not hold the code.
func (c *Code) FunctionAt(addr uint64) (*Function, error) {
	name, start, end, err := c.bounds().at(addr)
	if err != nil {
		return nil, err
	}
	return c.function(name, start, end)
}

func (c *Code) function(name string, start, end uint64) (*Function, error) {
	text, err := c.text(start, min(end-start, maxFunction))
	if err != nil {
		return nil, err
	}
	f := &Function{Name: name, Start: start, End: start + uint64(len(text)), code: c, text: text}
	if c.machine == other {
		if _, err := c.foreign.function(start, start+uint64(len(text))); err != nil {
			return nil, err
		}
	}
	d := newDescent(f)
	if end-start > maxFunction {
		d.incomplete("more than %d MiB of code", maxFunction>>20)
	}
	d.run()
	d.f = nil
	c.pool.Put(d)
	return f, nil
}

// Block returns the index of the block that addr is in, -1 if it is in none.
func (f *Function) Block(addr uint64) int {
	if i := f.Inst(addr); i >= 0 {
		return int(f.blockOf[i])
	}
	return -1
}

// Inst returns the index of the instruction that addr is in, -1 if it is in none.
func (f *Function) Inst(addr uint64) int {
	i, found := slices.BinarySearchFunc(f.Insts, addr, func(i Inst, addr uint64) int { return cmp.Compare(i.Addr, addr) })
	if found {
		return i
	}
	// Only instructions that overlap others are not directly before addr.
	for i--; i >= 0 && addr-f.Insts[i].Addr < maxX86; i-- {
		if addr < f.Insts[i].Next() {
			return i
		}
	}
	return -1
}

// LoopOf returns the index of the innermost loop that a block is in, -1 if it is in
// none.
func (f *Function) LoopOf(block int) int {
	if block < 0 || block >= len(f.loopOf) {
		return -1
	}
	return f.loopOf[block]
}

// Text returns the assembly of instruction i in GNU syntax, for x86 in the syntax of AT&T.
// Targets of branches are addresses. What golang.org/x/arch does not know is
// ".byte 0x…" or ".inst 0x…".
func (f *Function) Text(i int) string {
	in := &f.Insts[i]
	at := byteReader{data: f.text}.at(in.Addr - f.Start)
	b := at.bytes(in.Len)
	if at.bad {
		return fmt.Sprintf("# no code at %#x", in.Addr)
	}
	switch f.code.machine {
	case arm64:
		return arm64Text(b, in)
	case other:
		d, _ := f.code.foreign.at(in.Addr)
		return d.Text
	}
	return x86Text(b, in, f.code.machine == x86_64)
}
