// Package callgrind reads callgrind.out and cachegrind.out files.
//
// They hold what Valgrind's tools Callgrind and Cachegrind counted: costs by source
// line or instruction, and with Callgrind the calls and jumps between functions. The
// format is in the chapter "Callgrind Format Specification" of Valgrind's manual
// (https://valgrind.org/docs/manual/cl-format.html), version 1, of which Cachegrind
// writes a subset. Where Valgrind 3.19 writes something else than the manual says, both
// are read: see [Jump].
//
//  1. Lines with a key are headers: they say which events and positions follow.
//  2. Lines with numbers are costs, after the file and function they belong to. Positions may
//     be relative to the line before, names may be given once and then by number.
//  3. Costs, calls and jumps go to the [Visitor] as they come: nothing is kept but the names.
package callgrind

import (
	"io"
)

// A File is what a file says beside its costs.
type File struct {
	Format Format
	// Parts are the dumps in the file, at least one. Callgrind writes one for each time
	// that it dumps its counters and starts again from zero, and for each thread.
	Parts []*Part
	// Warnings say where the costs contradict the sums that the file states, each one
	// line for the user.
	Warnings []string
	// Truncated is set if the file ends without the sum that the tool which made it
	// writes last. A last line without an end was then not read.
	Truncated bool
	// Lines is the number of lines of the file.
	Lines int
}

// A Format tells whose subset of the format a file keeps to.
type Format uint8

//go:generate go -C ../tools tool stringer -type=Format -linecomment -output=../callgrind/format_string.go ../callgrind
const (
	Callgrind  Format = iota // callgrind
	Cachegrind               // cachegrind
)

// A Part is one dump of all counters.
type Part struct {
	// Creator is the program that made the file ("callgrind-3.19.0"), Command the
	// program that was measured, with its arguments. What a dump does not repeat of
	// these, it has from the one before.
	Creator, Command string
	PID              int64
	// Number counts the dumps of a program from 1, Thread its threads; 0 if not said.
	Number, Thread int64
	// Desc are the lines "desc: type: value".
	Desc      []Desc
	Positions []Position
	// Events are the short names of what was counted, such as Ir. Costs have this order.
	Events []string
	// Definitions are the long names of events and those that follow from others. The
	// latter have no costs of their own and are not evaluated.
	Definitions []EventDefinition
	// Summary is the cost of the run and Totals the cost of all lines, by event, as the
	// file states them; nil if it does not. Sum is the cost of the lines that were read.
	Summary, Totals, Sum []int64
}

// A Desc is a fact about a dump: "I1 cache", "Timerange", "Trigger", ….
type Desc struct{ Type, Value string }

// An EventDefinition describes an event.
type EventDefinition struct {
	Name string
	// Formula is a sum such as "Ir + 10 Bm", or "".
	Formula string
	Long    string
}

// A Position is a kind of number in front of costs.
type Position uint8

const (
	// InstrPosition is the address of an instruction in its object file.
	InstrPosition Position = iota
	// BlockPosition is the address of its basic block.
	BlockPosition
	// LinePosition is a line of a source file.
	LinePosition
)

// numPositions is the number of kinds of positions.
const numPositions = 3

// A Function is code with a name. The same one has the same address in all records of
// a file. Names that the tool did not know are "???", or "" where there is none.
type Function struct {
	Object string // file with the code
	File   string // source file
	// Name has the recursion level (f'2) and the callers (f'g'h) where the tool was
	// told to keep these apart.
	Name string
}

// A Place is where something was counted.
type Place struct {
	Function *Function
	// File is the source file of Line: not Function.File for code that was inlined.
	File string
	// Line, Address and Block are 0 where unknown or not recorded.
	Line           int64
	Address, Block uint64
}

// A Cost is what was counted at a place, without what functions called from there cost.
type Cost struct {
	Part *Part
	Place
	// Costs has one count for each event. They are negative in differences only.
	Costs []int64
}

// A Call is what was counted of the calls from one place to a function.
type Call struct {
	Part           *Part
	Caller, Callee Place
	Count          int64
	// Costs is the inclusive cost of the calls.
	Costs []int64
}

// A Jump is what was counted of the jumps from one place to another.
//
// Conditional ones are "jcnd=executed taken target" by the manual, and
// "jcnd=taken/executed target" as Valgrind 3.19 writes them.
type Jump struct {
	Part        *Part
	From, To    Place
	Conditional bool
	// Taken is how often the jump was taken, of Executed.
	Taken, Executed int64
}

// A Visitor gets the records of a file in their order. They are valid until it returns.
// Its errors end reading. Functions that are nil are not called.
type Visitor struct {
	Cost func(*Cost) error
	Call func(*Call) error
	Jump func(*Jump) error
}

// Read reads a file. Errors begin with the line, as in "line 17: …".
func Read(r io.Reader, v Visitor) (*File, error) {
	p := newParser(r, v)
	for p.next() {
	}
	p.finish()
	if p.err != nil {
		return nil, p.err
	}
	return &p.file, nil
}
