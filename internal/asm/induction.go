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
