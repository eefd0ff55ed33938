package asm

import "strings"

// A Register is one whose value instructions pass on. Parts of a register are the same.
type Register uint8

// Registers: 64 of general use and vectors, then flags in groups that cores rename
// apart, then those that never change.
const (
	CF         Register = 100 // carry
	ZF         Register = 101 // zero, sign and the rest
	OF         Register = 102 // overflow
	NoRegister Register = 255
)

// Registers of x86-64 that instructions use without naming them, or address the stack by.
const (
	RAX Register = 0
	RCX Register = 1
	RDX Register = 2
	RSP Register = 4
	RBP Register = 5
)

// ResultRegister is where functions leave what they return: %rax or x0.
const ResultRegister Register = 0

// Registers is the number of registers.
const Registers = 104

// An Operation is what the core does for an instruction, as far as it concerns time.
type Operation struct {
	Reads, Writes []Register
	Address       []Register // that a load or store needs first
	Memory        string     // the operand in memory, "" if there is none
	Load, Store   bool
	// Free is set for copies and zeroing that register renaming does.
	Free bool
	// Class is the kind of execution unit.
	Class Class
	// Flags is how many groups of flags a condition needs.
	Flags int
	// Components counts what an lea adds: base, index and displacement. Scaled is set if it
	// multiplies its index.
	Components int
	Scaled     bool
	Vector     bool
}

// A Class is a kind of execution unit.
type Class uint8

// The kinds of execution units.
const (
	ClassALU Class = iota
	ClassShift
	ClassMultiply
	ClassDivide
	ClassSelect // conditional moves
	ClassSet
	ClassBranch
	ClassLea
	ClassVector
	ClassFloat // arithmetic of floating-point numbers
	ClassNone  // loads, stores, nothing
	Classes    // how many there are
)

// Vector reports whether vector units execute a class.
func (c Class) Vector() bool { return c == ClassVector || c == ClassFloat }

// OperationOf reads the operands of an instruction. ok is false if it is not known what
// it reads and writes; then it reads and writes all that it names.
func OperationOf(arch Arch, text string) (op Operation, ok bool) {
	if arch == X8664 {
		return operationX86(text)
	}
	return operationA64(text)
}

// SplitOperands splits at the commas outside of brackets.
func SplitOperands(s string) (operands []string) {
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

// A Memory is an operand in memory: Base + Index * Scale + Displacement.
type Memory struct {
	Base, Index  Register // NoRegister if there is none
	Scale        uint64
	Displacement uint64 // a number for the name of a symbol, see [Symbol]

	symbol bool // the displacement is the name of a symbol
	parts  int  // how many there are of base, index and displacement
}

// registers are the base and the index.
func (m *Memory) registers() (list []Register) {
	for _, r := range []Register{m.Base, m.Index} {
		if r != NoRegister {
			list = append(list, r)
		}
	}
	return list
}

// Symbol is a number for what is known by its name only.
func Symbol(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return h &^ 63
}
