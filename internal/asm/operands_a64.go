package asm

import (
	"strconv"
	"strings"
)

// RegisterA64 is the register with a name, NoRegister if it is none or always zero.
func RegisterA64(name string) Register {
	name = strings.TrimSpace(name)
	if i := strings.IndexAny(name, ".["); i > 0 { // v0.4s, v0.s[1]
		name = name[:i]
	}
	switch name {
	case "sp", "wsp":
		return 31
	case "lr":
		return 30
	case "xzr", "wzr", "":
		return NoRegister
	}
	n, err := strconv.Atoi(name[1:])
	if err != nil || n < 0 || n > 31 {
		return NoRegister
	}
	switch name[0] {
	case 'x', 'w':
		if n < 31 {
			return Register(n)
		}
	case 'v', 'q', 'd', 's', 'h', 'b', 'z':
		return 32 + Register(n)
	case 'p':
		return 64 + Register(n&15)
	}
	return NoRegister
}

// registersA64 lists the registers that an operand names: x0, {v0.4s, v1.4s},
// [x0, x1, lsl 2].
func registersA64(operand string) (list []Register) {
	for _, part := range strings.FieldsFunc(operand, func(c rune) bool { return strings.ContainsRune("{}[]!, ", c) }) {
		if r := RegisterA64(part); r != NoRegister {
			list = append(list, r)
		}
	}
	return list
}

// operationA64 is OperationOf for AArch64: the first operand is written, the others
// are read, but for stores, comparisons and branches.
func operationA64(text string) (op Operation, ok bool) {
	name, rest := Mnemonic(AArch64, text)
	operands := SplitOperands(rest)
	memory := -1
	for i, o := range operands {
		if strings.HasPrefix(o, "[") {
			memory = i
			op.Memory, op.Address = o, registersA64(o)
		}
	}
	read := func(list []string) {
		for _, o := range list {
			if !strings.HasPrefix(o, "[") && !strings.HasPrefix(o, "#") {
				op.Reads = append(op.Reads, registersA64(o)...)
			}
		}
	}
	after := func() { // [x0], 8 and [x0, 8]! change the address
		if memory >= 0 && len(op.Address) > 0 && (strings.HasSuffix(op.Memory, "!") || memory+1 < len(operands)) {
			op.Writes = append(op.Writes, op.Address[0])
		}
	}
	base, _, _ := strings.Cut(name, ".")
	switch {
	case strings.HasPrefix(name, "b.") || strings.HasPrefix(name, "bc.") || flowA64(name) != 0:
		op.Class = ClassBranch
		if strings.HasPrefix(name, "cb") || strings.HasPrefix(name, "tb") || strings.HasPrefix(name, "br") || strings.HasPrefix(name, "blr") {
			read(operands[:min(1, len(operands))])
		} else if name != "b" && name != "bl" && name != "ret" {
			op.Reads = append(op.Reads, ZF)
		}
		return op, true
	case strings.HasPrefix(base, "st") && memory >= 0:
		op.Store, op.Class = true, ClassNone
		read(operands[:memory])
		after()
		if strings.HasPrefix(base, "stx") || strings.HasPrefix(base, "stlx") {
			op.Writes = append(op.Writes, registersA64(operands[0])...)
		}
		return op, true
	case strings.HasPrefix(base, "ld") && memory >= 0:
		op.Load, op.Class = true, ClassNone
		for _, o := range operands[:memory] {
			op.Writes = append(op.Writes, registersA64(o)...)
		}
		after()
		return op, true
	case base == "cmp" || base == "cmn" || base == "tst" || base == "fcmp" || base == "fcmpe" || base == "ccmp" || base == "ccmn":
		read(operands)
		if strings.HasPrefix(base, "cc") {
			op.Reads = append(op.Reads, ZF)
		}
		op.Writes = append(op.Writes, ZF)
		return op, true
	case base == "nop" || base == "hint" || base == "bti" || strings.HasPrefix(base, "prf"):
		return Operation{Free: true, Class: ClassNone}, true
	}
	if len(operands) == 0 {
		return op, false
	}
	op.Writes = append(op.Writes, registersA64(operands[0])...)
	read(operands[1:])
	switch base {
	case "csel", "csinc", "csinv", "csneg", "cset", "csetm", "cinc", "cinv", "cneg", "fcsel", "adc", "sbc", "ngc":
		op.Reads = append(op.Reads, ZF)
		op.Class = ClassSelect
	case "adcs", "sbcs":
		op.Reads = append(op.Reads, ZF)
		op.Writes = append(op.Writes, ZF)
	case "adds", "subs", "ands", "bics", "negs":
		op.Writes = append(op.Writes, ZF)
	case "mul", "madd", "msub", "smull", "umull", "smulh", "umulh", "smaddl", "umaddl":
		op.Class = ClassMultiply
	case "sdiv", "udiv":
		op.Class = ClassDivide
	case "movk", "bfi", "bfxil", "bfm", "fmla", "mla", "fmls":
		op.Reads = append(op.Reads, op.Writes...)
	case "lsl", "lsr", "asr", "ror", "extr", "ubfx", "sbfx", "ubfiz", "sbfiz":
		op.Class = ClassShift
	}
	if len(op.Writes) > 0 && op.Writes[0] >= 32 && op.Writes[0] < 64 {
		op.Class, op.Vector = ClassVector, true
	}
	return op, true
}
