package predict

import "strings"

// A register is one whose value instructions pass on. Parts of a register are the same.
type register uint8

// Registers: 64 of general use and vectors, then flags in groups that cores rename
// apart, then those that never change.
const (
	regCF   register = 100 // carry
	regZF   register = 101 // zero, sign and the rest
	regOF   register = 102 // overflow
	regNone register = 255
)

// resultRegister is where functions leave what they return: %rax or x0.
const resultRegister register = 0

// maxRegister is the number of registers.
const maxRegister = 104

// An operation is what the core does for an instruction, as far as it concerns time.
type operation struct {
	reads, writes []register
	address       []register // that a load or store needs first
	memory        string     // the operand in memory, "" if there is none
	load, store   bool
	// free is set for copies and zeroing that register renaming does.
	free bool
	// class is the kind of execution unit.
	class class
	// flags is how many groups of flags a condition needs.
	flags int
	// components is those of the address of an lea.
	components int
	vector     bool
}

// A class is a kind of execution unit.
type class uint8

const (
	classALU class = iota
	classShift
	classMultiply
	classDivide
	classSelect // conditional moves
	classSet
	classBranch
	classLea
	classVector
	classFloat // arithmetic of floating-point numbers
	classNone  // loads, stores, nothing
	classes
)

// vector reports whether the units of a class are those of vectors.
func (c class) vector() bool { return c == classVector || c == classFloat }

// operationOf reads the operands of an instruction. ok is false if it is not known what
// it reads and writes; then it reads and writes all that it names.
func operationOf(arch Arch, text string) (op operation, ok bool) {
	if arch == X8664 {
		return operationX86(text)
	}
	return operationARM64(text)
}

// splitOperands splits at the commas outside of brackets.
func splitOperands(s string) (operands []string) {
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				operands = append(operands, strings.TrimSpace(s[from:i]))
				from = i + 1
			}
		}
	}
	if last := strings.TrimSpace(s[from:]); last != "" {
		operands = append(operands, last)
	}
	return operands
}
