package shape

import (
	"slices"
	"strings"

	"profdiff/internal/branch/code"
	"profdiff/internal/disasm"
)

// A Select says how code decides without a branch.
type Select string

// How code decides without a branch.
const (
	ConditionalMove Select = "conditional move" // cmov, csel, it with mov
	ConditionalSet  Select = "conditional set"  // setcc, cset
	CarryArithmetic Select = "carry"            // adc or sbb with a constant
	VectorSelect    Select = "vector select"    // of elements by a mask
)

// Selects says how an instruction decides without a branch, "" if it does not.
func Selects(text string) Select {
	mnemonic, operands, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch {
	case hasPrefix(mnemonic, "cmov", "fcmov"), slices.Contains([]string{"csel", "csinc", "csinv", "csneg", "cinc", "cinv", "cneg", "fcsel"}, mnemonic):
		return ConditionalMove
	case hasPrefix(mnemonic, "cset"), hasPrefix(mnemonic, "set") && strings.HasPrefix(operands, "%"):
		return ConditionalSet
	case hasPrefix(mnemonic, "adc", "sbb") && strings.HasPrefix(operands, "$"):
		return CarryArithmetic
	case hasPrefix(mnemonic, "blendv", "pblendv", "vblendv", "vpblendv", "vpblendm", "vblendm"), slices.Contains([]string{"bsl", "bit", "bif", "sel"}, mnemonic):
		return VectorSelect
	}
	if base, conditional := code.ArmMnemonic(mnemonic); conditional && base == "mov" && !strings.HasPrefix(operands, "pc") {
		return ConditionalMove
	}
	return ""
}

// ArmsEnd is the index of the first instruction behind the arms of a branch: where both
// ways meet, or where it jumps if that is soon.
func ArmsEnd(f *disasm.Function, at int) int {
	const soon = 64 // instructions
	in := &f.Insts[at]
	block, next, target := f.Block(in.Addr), f.Block(in.Next()), f.Block(in.Target)
	if block >= 0 && next >= 0 && target >= 0 {
		c := &codeText{f: f, parsed: make(map[int]operation)}
		if _, join, ok := c.meet(block, next, target); ok && join >= 0 && f.Blocks[join].First > at {
			return f.Blocks[join].First
		}
	}
	if to := f.Inst(in.Target); in.Target > in.Addr && to > at && to < at+soon {
		return to
	}
	return at + 1
}
