package predict

import (
	"strconv"
	"strings"
)

// registerA64 is the register with a name, regNone if it is none or always zero.
func registerA64(name string) register {
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
		return regNone
	}
	n, err := strconv.Atoi(name[1:])
	if err != nil || n < 0 || n > 31 {
		return regNone
	}
	switch name[0] {
	case 'x', 'w':
		if n < 31 {
			return register(n)
		}
	case 'v', 'q', 'd', 's', 'h', 'b', 'z':
		return 32 + register(n)
	case 'p':
		return 64 + register(n&15)
	}
	return regNone
}

// registersA64 are those that an operand names: x0, {v0.4s, v1.4s}, [x0, x1, lsl 2].
func registersA64(operand string) (list []register) {
	for _, part := range strings.FieldsFunc(operand, func(c rune) bool { return strings.ContainsRune("{}[]!, ", c) }) {
		if r := registerA64(part); r != regNone {
			list = append(list, r)
		}
	}
	return list
}

// operationARM64 is operationOf for AArch64: the first operand is written, the others
// are read, but for stores, comparisons and branches.
func operationARM64(text string) (op operation, ok bool) {
	name, rest := mnemonic(AArch64, text)
	operands := splitOperands(rest)
	memory := -1
	for i, o := range operands {
		if strings.HasPrefix(o, "[") {
			memory = i
			op.memory, op.address = o, registersA64(o)
		}
	}
	read := func(list []string) {
		for _, o := range list {
			if !strings.HasPrefix(o, "[") && !strings.HasPrefix(o, "#") {
				op.reads = append(op.reads, registersA64(o)...)
			}
		}
	}
	after := func() { // [x0], 8 and [x0, 8]! change the address
		if memory >= 0 && len(op.address) > 0 && (strings.HasSuffix(op.memory, "!") || memory+1 < len(operands)) {
			op.writes = append(op.writes, op.address[0])
		}
	}
	base, _, _ := strings.Cut(name, ".")
	switch {
	case strings.HasPrefix(name, "b.") || strings.HasPrefix(name, "bc.") || flowARM64(name) != 0:
		op.class = classBranch
		if strings.HasPrefix(name, "cb") || strings.HasPrefix(name, "tb") || strings.HasPrefix(name, "br") || strings.HasPrefix(name, "blr") {
			read(operands[:min(1, len(operands))])
		} else if name != "b" && name != "bl" && name != "ret" {
			op.reads = append(op.reads, regZF)
		}
		return op, true
	case strings.HasPrefix(base, "st") && memory >= 0:
		op.store, op.class = true, classNone
		read(operands[:memory])
		after()
		if strings.HasPrefix(base, "stx") || strings.HasPrefix(base, "stlx") {
			op.writes = append(op.writes, registersA64(operands[0])...)
		}
		return op, true
	case strings.HasPrefix(base, "ld") && memory >= 0:
		op.load, op.class = true, classNone
		for _, o := range operands[:memory] {
			op.writes = append(op.writes, registersA64(o)...)
		}
		after()
		return op, true
	case base == "cmp" || base == "cmn" || base == "tst" || base == "fcmp" || base == "fcmpe" || base == "ccmp" || base == "ccmn":
		read(operands)
		if strings.HasPrefix(base, "cc") {
			op.reads = append(op.reads, regZF)
		}
		op.writes = append(op.writes, regZF)
		return op, true
	case base == "nop" || base == "hint" || base == "bti" || strings.HasPrefix(base, "prf"):
		return operation{free: true, class: classNone}, true
	}
	if len(operands) == 0 {
		return op, false
	}
	op.writes = append(op.writes, registersA64(operands[0])...)
	read(operands[1:])
	switch base {
	case "csel", "csinc", "csinv", "csneg", "cset", "csetm", "cinc", "cinv", "cneg", "fcsel", "adc", "sbc", "ngc":
		op.reads = append(op.reads, regZF)
		op.class = classSelect
	case "adcs", "sbcs":
		op.reads = append(op.reads, regZF)
		op.writes = append(op.writes, regZF)
	case "adds", "subs", "ands", "bics", "negs":
		op.writes = append(op.writes, regZF)
	case "mul", "madd", "msub", "smull", "umull", "smulh", "umulh", "smaddl", "umaddl":
		op.class = classMultiply
	case "sdiv", "udiv":
		op.class = classDivide
	case "movk", "bfi", "bfxil", "bfm", "fmla", "mla", "fmls":
		op.reads = append(op.reads, op.writes...)
	case "lsl", "lsr", "asr", "ror", "extr", "ubfx", "sbfx", "ubfiz", "sbfiz":
		op.class = classShift
	}
	if len(op.writes) > 0 && op.writes[0] >= 32 && op.writes[0] < 64 {
		op.class, op.vector = classVector, true
	}
	return op, true
}
