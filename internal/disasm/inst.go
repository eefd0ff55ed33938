package disasm

import "errors"

var (
	// errArch says that the code is for a machine that is not decoded.
	errArch = errors.New("cannot decode code for this machine")
	// errNoCode says that there is no code at an address.
	errNoCode = errors.New("no code")
	// errInvalid says that the bytes at an address are not an instruction.
	errInvalid = errors.New("not an instruction")
	// ErrNoFunction says that neither symbols nor unwinding information know a
	// function at an address.
	ErrNoFunction = errors.New("no function")
)

// A Kind says what an instruction does to the flow of control.
type Kind uint8

const (
	Other        Kind = iota // the next instruction follows
	Conditional              // jumps to Target or goes on
	Jump                     // jumps to Target
	IndirectJump             // jumps to where a register or memory says
	Call                     // calls Target
	IndirectCall             // calls what a register or memory says
	Return                   // from a function, an interrupt or a system call
	Trap                     // does not go on: ud2, int3, brk, udf
)

// String returns the name of the kind in reports. IndirectCall is "indirect" like
// IndirectJump: the same predictor serves both.
func (k Kind) String() string {
	switch k {
	case Conditional:
		return "conditional"
	case Jump:
		return "direct"
	case IndirectJump, IndirectCall:
		return "indirect"
	case Call:
		return "call"
	case Return:
		return "return"
	case Trap:
		return "trap"
	}
	return "other"
}

// falls reports whether control may go on at the next instruction. Calls are
// taken to return.
func (k Kind) falls() bool {
	return k == Other || k == Conditional || k == Call || k == IndirectCall
}

// An Inst is one instruction.
type Inst struct {
	Addr   uint64 // link-time virtual address
	Len    int    // bytes
	Target uint64 // of direct branches and calls, else 0
	Kind   Kind
	Cond   bool // may fall through and jump
}

// Next returns the address after the instruction.
func (i *Inst) Next() uint64 { return i.Addr + uint64(i.Len) }
