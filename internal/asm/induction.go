package asm

import (
	"fmt"
	"strings"
)

// InductionStep is by how much an instruction adds to a register, 0 if it does not.
func InductionStep(arch Arch, text string) (Register, int) {
	name, rest := Mnemonic(arch, text)
	operands := SplitOperands(rest)
	var step int
	if arch == X8664 {
		if base := BaseX86(name); len(operands) == 2 && base == "add" {
			if _, err := fmt.Sscanf(operands[0], "$%v", &step); err == nil {
				r, _ := RegisterX86(operands[1])
				return r, step
			}
		} else if base == "inc" && len(operands) == 1 {
			r, _ := RegisterX86(operands[0])
			return r, 1
		}
		return NoRegister, 0
	}
	if name == "add" && len(operands) == 3 && operands[0] == operands[1] {
		if _, err := fmt.Sscanf(strings.TrimPrefix(operands[2], "#"), "%v", &step); err == nil {
			return RegisterA64(operands[0]), step
		}
	}
	if n := len(operands); (strings.HasPrefix(name, "ld") || strings.HasPrefix(name, "st")) && n >= 2 && strings.HasPrefix(operands[n-2], "[") {
		if _, err := fmt.Sscanf(strings.TrimPrefix(operands[n-1], "#"), "%v", &step); err == nil {
			if list := registersA64(operands[n-2]); len(list) > 0 {
				return list[0], step
			}
		}
	}
	return NoRegister, 0
}

// Scale is what the index of an address is multiplied by.
func Scale(arch Arch, memory string) int {
	var n int
	if arch == X8664 {
		if i := strings.LastIndexByte(memory, ','); i >= 0 {
			if _, err := fmt.Sscanf(memory[i+1:], "%d", &n); err == nil && n > 0 {
				return n
			}
		}
		return 1
	}
	if i := strings.LastIndex(memory, "lsl"); i >= 0 {
		if _, err := fmt.Sscanf(strings.TrimLeft(memory[i+3:], " #"), "%d", &n); err == nil && n > 0 && n < 8 {
			return 1 << n
		}
	}
	return 1
}

// mostConstant is the largest constant that cores add while they rename, as far as is
// known of the one that was measured: 1023, and nothing of 2048.
const mostConstant = 1023

// AddsConstant reports whether an instruction does nothing but add a small constant to a
// register of 64 bits, and set flags.
func AddsConstant(arch Arch, text string) bool {
	name, rest := Mnemonic(arch, text)
	operands := SplitOperands(rest)
	n := len(operands)
	if n == 0 {
		return false
	}
	if arch != X8664 {
		return (name == "add" || name == "sub") && n == 3 && strings.HasPrefix(operands[0], "x") && operands[2] != "" && strings.Trim(operands[2], "#-0123456789") == ""
	}
	if r, width := RegisterX86(operands[n-1]); r >= 16 || width != 8 {
		return false
	}
	small := func(n uint64) bool { return n <= mostConstant || -n <= mostConstant }
	switch BaseX86(name) {
	case "inc", "dec":
		return n == 1
	case "add", "sub":
		o := OperandX86Of(operands[0])
		return n == 2 && o.Immediate != nil && small(*o.Immediate)
	case "lea":
		m := OperandX86Of(operands[0]).Memory
		return n == 2 && m != nil && m.Base != NoRegister && m.Index == NoRegister && !m.symbol && small(m.Displacement)
	}
	return false
}
