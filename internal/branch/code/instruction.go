package code

import (
	"profdiff/internal/branch"
	"profdiff/internal/disasm"
)

// A Decoder reads instructions of one file.
type Decoder interface {
	// decode decodes the instruction at an address of the file. ok is false if there
	// is none.
	Decode(vaddr uint64) (i Instruction, ok bool)
}

// An Instruction is what matters here of one.
type Instruction struct {
	Len    int
	Kind   branch.Kind // UnknownKind if it is no branch
	Target uint64
	Direct bool // target is known
	Ends   bool // the next instruction does not follow
}

// decoded is code that disasm decodes.
type decoded struct{ code *disasm.Code }

// Decode implements [Decoder].
func (d decoded) Decode(vaddr uint64) (Instruction, bool) {
	i, err := d.code.Decode(vaddr)
	if err != nil || i.Len <= 0 {
		return Instruction{}, false
	}
	out := Instruction{Len: i.Len, Target: i.Target}
	switch i.Kind {
	case disasm.Conditional:
		out.Kind, out.Direct = branch.Conditional, i.Target != 0
	case disasm.Jump:
		out.Kind, out.Direct, out.Ends = branch.Direct, i.Target != 0, true
	case disasm.IndirectJump:
		out.Kind, out.Ends = branch.Indirect, true
	case disasm.Call:
		out.Kind, out.Direct = branch.Call, i.Target != 0
	case disasm.IndirectCall:
		out.Kind = branch.Indirect
	case disasm.Return:
		out.Kind, out.Ends = branch.Return, true
	case disasm.Trap:
		out.Ends = true
	}
	return out, true
}

// IsKind reports whether an instruction can be a branch of a kind.
func IsKind(i disasm.Kind, kind branch.Kind) bool {
	switch kind {
	case branch.Conditional:
		return i == disasm.Conditional
	case branch.Direct:
		return i == disasm.Jump
	case branch.Indirect:
		return i == disasm.IndirectJump || i == disasm.IndirectCall
	case branch.Call:
		return i == disasm.Call || i == disasm.IndirectCall
	case branch.Return:
		return i == disasm.Return
	}
	return i != disasm.Other
}

// KindOf is the kind of a branch instruction, UnknownKind if it is none.
func KindOf(i *disasm.Inst) branch.Kind {
	switch i.Kind {
	case disasm.Conditional:
		return branch.Conditional
	case disasm.Jump:
		return branch.Direct
	case disasm.IndirectJump, disasm.IndirectCall:
		return branch.Indirect
	case disasm.Call:
		return branch.Call
	case disasm.Return:
		return branch.Return
	}
	return branch.UnknownKind
}
