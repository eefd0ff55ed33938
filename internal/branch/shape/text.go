package shape

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/disasm"
)

// A codeText reads from the text of instructions what they do to registers and memory.
type codeText struct {
	f      *disasm.Function
	parsed map[int]operation
}

// An operation is what an instruction does.
type operation struct {
	uses, defs []string // registers, by the name of the widest
	address    []string // registers of the address
	memory     string   // operand, "" without
	// displacement is what the operand adds to its registers.
	displacement int64
	loads        bool
	stores       bool
	divides      bool
	onStack      bool // memory is relative to the stack or the instruction
	compares     bool // sets flags and nothing else
	constant     bool // with a constant
	arithmetic   bool // neither moves, loads nor stores
}

func (c *codeText) operation(i int) operation {
	op, ok := c.parsed[i]
	if !ok {
		text := c.f.Text(i)
		if strings.Contains(text, "%") || strings.Contains(text, "$") {
			op = parseX86(text)
		} else {
			op = parseArm64(text)
		}
		c.parsed[i] = op
	}
	return op
}

// base is the only register of the address, "" if there are more or none.
func (o *operation) base() string {
	if o.memory == "" || len(o.address) != 1 {
		return ""
	}
	return o.address[0]
}

var displacement = regexp.MustCompile(`^-?(?:0x[0-9a-f]+|[0-9]+)\(|#-?(?:0x[0-9a-f]+|[0-9]+)\]`)

// displaced is the constant in an operand of memory.
func displaced(operand string) int64 {
	text := strings.Trim(displacement.FindString(operand), "#(]")
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		return 0
	}
	return n
}

// operands splits at commas outside of brackets.
func operands(text string) (list []string) {
	depth, start := 0, 0
	for i, r := range text {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ',':
			if depth == 0 {
				list = append(list, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	if rest := strings.TrimSpace(text[start:]); rest != "" {
		list = append(list, rest)
	}
	return list
}

var x86Register = regexp.MustCompile(`%[a-z][a-z0-9]*`)

// x86Registers are the registers in an operand, by one name for all widths.
func x86Registers(text string) (list []string) {
	for _, r := range x86Register.FindAllString(text, -1) {
		list = append(list, x86Family(r[1:]))
	}
	return list
}

func x86Family(r string) string {
	if n := strings.TrimRight(r, "bwd"); len(r) > 1 && r[0] == 'r' && r[1] >= '0' && r[1] <= '9' {
		return n
	}
	switch r {
	case "al", "ah", "ax", "eax":
		return "rax"
	case "bl", "bh", "bx", "ebx":
		return "rbx"
	case "cl", "ch", "cx", "ecx":
		return "rcx"
	case "dl", "dh", "dx", "edx":
		return "rdx"
	case "sil", "si", "esi":
		return "rsi"
	case "dil", "di", "edi":
		return "rdi"
	case "bpl", "bp", "ebp":
		return "rbp"
	case "spl", "sp", "esp":
		return "rsp"
	}
	if strings.HasPrefix(r, "ymm") || strings.HasPrefix(r, "zmm") {
		return "x" + r[1:]
	}
	return r
}

// hasPrefix reports whether a mnemonic starts with one of some prefixes.
func hasPrefix(mnemonic string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(mnemonic, p) })
}

// parseX86 reads an instruction in the syntax of AT&T: the last operand is written.
func parseX86(text string) (op operation) {
	mnemonic, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	for mnemonic == "lock" || mnemonic == "rep" || mnemonic == "repe" || mnemonic == "repne" || mnemonic == "repz" || mnemonic == "repnz" {
		mnemonic, rest, _ = strings.Cut(strings.TrimSpace(rest), " ")
	}
	list := operands(rest)
	op.compares = hasPrefix(mnemonic, "cmp", "test", "ucomi", "comi", "vucomi", "vcomi", "bt") && !hasPrefix(mnemonic, "cmpxchg", "cmps", "bts", "btr", "btc")
	op.divides = hasPrefix(mnemonic, "div", "idiv", "vdiv", "sqrt", "vsqrt")
	op.arithmetic = !hasPrefix(mnemonic, "mov", "lea", "push", "pop", "nop", "vmov", "set", "cmov")
	lea := hasPrefix(mnemonic, "lea", "nop", "prefetch")
	wide := hasPrefix(mnemonic, "mul", "div", "idiv") && !hasPrefix(mnemonic, "muls", "mulp", "divs", "divp") || hasPrefix(mnemonic, "imul") && len(list) == 1
	writes := !op.compares && !wide && !hasPrefix(mnemonic, "push", "j", "call", "nop", "prefetch")
	replaces := hasPrefix(mnemonic, "mov", "lea", "pop", "set", "vmov") // what was in the register is lost
	for i, o := range list {
		last := i == len(list)-1
		registers := x86Registers(o)
		if strings.HasPrefix(o, "$") {
			op.constant = true
			continue
		}
		if strings.Contains(o, "(") || !strings.HasPrefix(o, "%") && !strings.HasPrefix(o, "*") && !hasPrefix(mnemonic, "j", "call", "loop") || strings.HasPrefix(o, "%fs:") || strings.HasPrefix(o, "%gs:") {
			op.uses = append(op.uses, registers...)
			op.address = append(op.address, registers...)
			if lea {
				continue
			}
			op.memory, op.displacement = o, displaced(o)
			op.onStack = strings.Contains(o, "(%rsp") || strings.Contains(o, "%rip)") || strings.Contains(o, "(%esp") || len(registers) == 0
			store := last && writes
			op.stores = op.stores || store
			op.loads = op.loads || !store || !replaces
			continue
		}
		if last && writes {
			op.defs = append(op.defs, registers...)
			if replaces && len(list) > 1 {
				continue
			}
		}
		op.uses = append(op.uses, registers...)
	}
	switch {
	case hasPrefix(mnemonic, "push"):
		op.stores = true
	case wide: // rdx:rax
		op.uses, op.defs = append(op.uses, "rax", "rdx"), append(op.defs, "rax", "rdx")
	case hasPrefix(mnemonic, "xchg", "xadd"):
		op.defs = op.uses
	case hasPrefix(mnemonic, "stos", "movs") && len(list) == 0:
		op.stores = true
	}
	op.uses = unique(op.uses)
	return op
}

var arm64Register = regexp.MustCompile(`\b([wxvbhsdq])([0-9]{1,2})\b|\b(sp|wsp)\b`)

// arm64Registers are the registers in an operand, by one name for all widths.
func arm64Registers(text string) (list []string) {
	for _, m := range arm64Register.FindAllStringSubmatch(text, -1) {
		switch {
		case m[3] != "":
			list = append(list, "sp")
		case m[1] == "w" || m[1] == "x":
			list = append(list, "x"+m[2])
		default:
			list = append(list, "v"+m[2])
		}
	}
	return list
}

// parseArm64 reads an instruction of AArch64: the first operand is written.
func parseArm64(text string) (op operation) {
	mnemonic, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
	list := operands(rest)
	op.compares = hasPrefix(mnemonic, "cmp", "cmn", "tst", "ccmp", "ccmn", "fcmp", "fccmp")
	op.divides = hasPrefix(mnemonic, "udiv", "sdiv", "fdiv", "fsqrt")
	load := hasPrefix(mnemonic, "ld", "swp", "cas")
	store := hasPrefix(mnemonic, "st", "swp", "cas") || hasPrefix(mnemonic, "ldadd", "ldclr", "ldset", "ldeor")
	op.arithmetic = !load && !store && !hasPrefix(mnemonic, "mov", "adr", "nop", "csel", "cset", "fmov")
	branch := hasPrefix(mnemonic, "b", "cb", "tb", "ret") && !hasPrefix(mnemonic, "bfi", "bfx", "bic", "bif", "bit", "bsl")
	written := 1
	switch {
	case branch, op.compares, hasPrefix(mnemonic, "st", "prf", "nop"):
		written = 0
	case hasPrefix(mnemonic, "ldp", "ldxp", "ldaxp", "ldnp", "ldpsw"):
		written = 2
	}
	for i, o := range list {
		registers := arm64Registers(o)
		switch {
		case strings.HasPrefix(o, "["):
			op.uses = append(op.uses, registers...)
			op.address = append(op.address, registers...)
			op.memory, op.displacement = o, displaced(o)
			op.onStack = slices.Contains(registers, "sp")
			op.loads, op.stores = load, store
			if strings.HasSuffix(o, "!") || i < len(list)-1 { // writes the address back
				op.defs = append(op.defs, registers[:min(1, len(registers))]...)
			}
		case i < written:
			op.defs = append(op.defs, registers...)
			if hasPrefix(mnemonic, "movk", "bfi", "bfxil", "ins") {
				op.uses = append(op.uses, registers...)
			}
		case len(registers) == 0:
			op.constant = op.constant || strings.HasPrefix(o, "#")
		default:
			op.uses = append(op.uses, registers...)
		}
	}
	op.uses = unique(op.uses)
	return op
}

func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// EndsBlock reports whether the instruction at an address ends its block.
func EndsBlock(f *disasm.Function, addr uint64) bool {
	b := f.Block(addr)
	return b >= 0 && f.Insts[f.Blocks[b].End-1].Addr == addr
}
