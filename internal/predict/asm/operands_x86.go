package asm

import (
	"slices"
	"strconv"
	"strings"
)

var (
	generalX86 = [16][]string{
		{"rax", "eax", "ax", "al", "ah"},
		{"rcx", "ecx", "cx", "cl", "ch"},
		{"rdx", "edx", "dx", "dl", "dh"},
		{"rbx", "ebx", "bx", "bl", "bh"},
		{"rsp", "esp", "sp", "spl"},
		{"rbp", "ebp", "bp", "bpl"},
		{"rsi", "esi", "si", "sil"},
		{"rdi", "edi", "di", "dil"},
	}
	RAX, RCX, RDX, RSP Register = 0, 1, 2, 4
)

// RegisterX86 is the register called %name and its width in bytes.
func RegisterX86(name string) (r Register, width int) {
	name, ok := strings.CutPrefix(name, "%")
	if !ok {
		return NoRegister, 0
	}
	if i := strings.IndexByte(name, '{'); i > 0 { // mask
		name = strings.TrimSpace(name[:i])
	}
	for i, names := range generalX86 {
		if at := slices.Index(names, name); at >= 0 {
			return Register(i), []int{8, 4, 2, 1, 1}[at]
		}
	}
	if rest, ok := strings.CutPrefix(name, "r"); ok && rest != "" {
		width := 8
		switch rest[len(rest)-1] {
		case 'd':
			width, rest = 4, rest[:len(rest)-1]
		case 'w':
			width, rest = 2, rest[:len(rest)-1]
		case 'b':
			width, rest = 1, rest[:len(rest)-1]
		}
		if n, err := strconv.Atoi(rest); err == nil && n >= 8 && n < 16 {
			return Register(n), width
		}
		return NoRegister, 0
	}
	for _, v := range []struct {
		prefix string
		first  Register
		width  int
	}{{"xmm", 32, 16}, {"ymm", 32, 32}, {"zmm", 32, 64}, {"mm", 16, 8}, {"k", 24, 8}} {
		if rest, ok := strings.CutPrefix(name, v.prefix); ok {
			if n, err := strconv.Atoi(rest); err == nil && n >= 0 && n < 32 {
				return v.first + Register(n), v.width
			}
		}
	}
	if name == "st" || strings.HasPrefix(name, "st(") {
		return 64, 10
	}
	return NoRegister, 0
}

// An operandX86 is one operand of an instruction.
type operandX86 struct {
	register Register
	width    int
	memory   bool
	address  []Register
	parts    int // of the address: base, index, displacement
	scaled   bool
	indirect bool
}

func operandX86Of(s string) (o operandX86) {
	o.register = NoRegister
	if rest, ok := strings.CutPrefix(s, "*"); ok {
		s, o.indirect = rest, true
	}
	if strings.HasPrefix(s, "$") {
		return o
	}
	open := strings.LastIndexByte(s, '(')
	if r, width := RegisterX86(s); r != NoRegister {
		o.register, o.width = r, width
		return o
	}
	if strings.HasPrefix(s, "{") {
		return o
	}
	o.memory = true
	if open < 0 || !strings.HasSuffix(s, ")") {
		return o
	}
	if open > 0 {
		o.parts++
	}
	for i, part := range strings.Split(s[open+1:len(s)-1], ",") {
		part = strings.TrimSpace(part)
		if i == 2 {
			o.scaled = part != "1" && part != ""
			continue
		}
		if part == "" {
			continue
		}
		o.parts++
		if r, _ := RegisterX86(part); r != NoRegister {
			o.address = append(o.address, r)
		}
	}
	return o
}

var conditionsX86 = map[string][]Register{
	"o": {OF}, "no": {OF}, "b": {CF}, "c": {CF}, "nae": {CF}, "ae": {CF}, "nb": {CF}, "nc": {CF},
	"e": {ZF}, "z": {ZF}, "ne": {ZF}, "nz": {ZF}, "s": {ZF}, "ns": {ZF}, "p": {ZF}, "np": {ZF}, "pe": {ZF}, "po": {ZF},
	"be": {CF, ZF}, "na": {CF, ZF}, "a": {CF, ZF}, "nbe": {CF, ZF},
	"l": {OF, ZF}, "nge": {OF, ZF}, "ge": {OF, ZF}, "nl": {OF, ZF},
	"le": {OF, ZF}, "ng": {OF, ZF}, "g": {OF, ZF}, "nle": {OF, ZF},
}

var allFlags = []Register{CF, ZF, OF}

// unsuffixed are the mnemonics of general instructions that take a suffix for the width.
var unsuffixed = []string{
	"mov", "add", "sub", "and", "or", "xor", "adc", "sbb", "cmp", "test", "inc", "dec", "neg", "not", "shl", "sal", "shr", "sar",
	"rol", "ror", "rcl", "rcr", "shld", "shrd", "imul", "mul", "div", "idiv", "lea", "xchg", "xadd", "cmpxchg", "bt", "bts", "btr", "btc",
	"bsf", "bsr", "popcnt", "lzcnt", "tzcnt", "bswap", "push", "pop", "andn", "blsr", "blsi", "blsmsk", "bextr", "bzhi", "sarx", "shlx", "shrx",
	"rorx", "mulx", "pdep", "pext", "adcx", "adox", "movnti", "crc32",
}

// BaseX86 is a mnemonic without its suffix, with what follows the name of a condition.
func BaseX86(name string) string {
	if slices.Contains(unsuffixed, name) {
		return name
	}
	if n := len(name); n > 1 && strings.IndexByte("bwlq", name[n-1]) >= 0 && slices.Contains(unsuffixed, name[:n-1]) {
		return name[:n-1]
	}
	return name
}

// conditionX86 is the flags that a conditional instruction needs: cmovl, setne, jae.
func conditionX86(name, prefix string) ([]Register, bool) {
	rest, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return nil, false
	}
	if f, ok := conditionsX86[rest]; ok {
		return f, true
	}
	if prefix == "cmov" && len(rest) > 1 && strings.IndexByte("wlq", rest[len(rest)-1]) >= 0 {
		f, ok := conditionsX86[rest[:len(rest)-1]]
		return f, ok
	}
	return nil, false
}

func operationX86(text string) (op Operation, known bool) {
	name, rest := Mnemonic(X8664, text)
	texts := SplitOperands(rest)
	operands := make([]operandX86, len(texts))
	for i, s := range texts {
		operands[i] = operandX86Of(s)
		if o := &operands[i]; o.memory {
			op.Memory, op.Address = s, o.address
		}
	}
	read := func(o *operandX86) {
		switch {
		case o == nil: // the assembler will refuse it
		case o.memory:
			op.Load = true
		case o.register != NoRegister:
			op.Reads = append(op.Reads, o.register)
		}
	}
	write := func(o *operandX86) {
		switch {
		case o == nil:
		case o.memory:
			op.Store = true
		case o.register != NoRegister:
			if o.width < 4 && o.register < 16 {
				op.Reads = append(op.Reads, o.register) // the rest of it stays
			}
			op.Writes = append(op.Writes, o.register)
		}
	}
	flags := func() { op.Writes = append(op.Writes, allFlags...) }
	n := len(operands)
	var last *operandX86
	if n > 0 {
		last = &operands[n-1]
	}
	same := n >= 2 && operands[n-1].register != NoRegister && operands[n-2].register == operands[n-1].register && texts[n-2] == texts[n-1]
	readAll := func() {
		for i := range operands {
			read(&operands[i])
		}
	}
	readSources := func() {
		for i := range operands[:max(0, n-1)] {
			read(&operands[i])
		}
	}
	if f, ok := conditionX86(name, "cmov"); ok && n == 2 {
		readAll()
		write(last)
		op.Reads = append(op.Reads, f...)
		op.Class, op.Flags = ClassSelect, len(f)
		return op, true
	}
	if f, ok := conditionX86(name, "set"); ok && n == 1 {
		write(last)
		op.Reads = append(op.Reads, f...)
		op.Class, op.Flags = ClassSet, len(f)
		return op, true
	}
	if f, ok := conditionX86(name, "j"); ok {
		op.Reads, op.Class, op.Flags = f, ClassBranch, len(f)
		op.Memory, op.Address = "", nil
		return op, true
	}
	if n > 0 && last.register >= 32 && last.register < 64 || n > 1 && operands[0].register >= 32 && operands[0].register < 64 {
		return vectorX86(op, name, operands, same), true
	}
	switch base := BaseX86(name); base {
	case "mov", "movabs", "movabsq", "movnti":
		if n != 2 {
			break
		}
		read(&operands[0])
		write(last)
		if op.Load || op.Store {
			op.Class = ClassNone
		} else if operands[0].register != NoRegister && last.width >= 4 {
			op.Free = true
		}
		return op, true
	case "lea":
		if n != 2 {
			break
		}
		op.Reads, op.Address, op.Memory = operands[0].address, nil, ""
		op.Components = operands[0].parts
		write(last)
		op.Class = ClassLea
		return op, true
	case "add", "sub", "and", "or", "xor", "adc", "sbb":
		if n != 2 {
			break
		}
		if base == "adc" || base == "sbb" {
			op.Reads = append(op.Reads, CF)
		}
		switch {
		case same && (base == "xor" || base == "sub"):
			op.Free = true
		case same && base == "sbb":
		default:
			readAll()
		}
		write(last)
		flags()
		return op, true
	case "cmp", "test":
		readAll()
		flags()
		return op, true
	case "bt":
		readAll()
		op.Writes = append(op.Writes, CF)
		return op, true
	case "bts", "btr", "btc":
		readAll()
		write(last)
		op.Writes = append(op.Writes, CF)
		return op, true
	case "inc", "dec":
		readAll()
		if n == 1 {
			write(last)
		}
		op.Writes = append(op.Writes, ZF, OF)
		return op, true
	case "neg":
		readAll()
		if n == 1 {
			write(last)
		}
		flags()
		return op, true
	case "not", "bswap":
		readAll()
		if n == 1 {
			write(last)
		}
		return op, true
	case "shl", "sal", "shr", "sar", "rol", "ror", "rcl", "rcr", "shld", "shrd":
		if n == 0 {
			break
		}
		readAll()
		if n > 1 && operands[0].register == RCX {
			op.Reads = append(op.Reads, allFlags...)
		}
		if base == "rcl" || base == "rcr" {
			op.Reads = append(op.Reads, CF)
		}
		write(last)
		flags()
		op.Class = ClassShift
		return op, true
	case "shlx", "shrx", "sarx", "rorx":
		readSources()
		write(last)
		op.Class = ClassShift
		return op, true
	case "andn", "blsr", "blsi", "blsmsk", "bextr", "bzhi", "bsf", "bsr", "popcnt", "lzcnt", "tzcnt", "pdep", "pext", "crc32":
		readSources()
		write(last)
		flags()
		return op, true
	case "imul":
		op.Class = ClassMultiply
		switch n {
		case 1:
			readAll()
			op.Reads = append(op.Reads, RAX)
			op.Writes = append(op.Writes, RAX, RDX)
		case 2:
			readAll()
			write(last)
		default:
			readSources()
			write(last)
		}
		flags()
		return op, true
	case "mul", "mulx":
		op.Class = ClassMultiply
		readAll()
		op.Reads = append(op.Reads, RAX)
		if n > 1 {
			write(&operands[n-2])
			write(last)
			return op, true
		}
		op.Writes = append(op.Writes, RAX, RDX)
		flags()
		return op, true
	case "div", "idiv":
		readAll()
		op.Reads = append(op.Reads, RAX, RDX)
		op.Writes = append(op.Writes, RAX, RDX)
		op.Class = ClassDivide
		flags()
		return op, true
	case "xchg", "xadd":
		readAll()
		for i := range operands {
			write(&operands[i])
		}
		if base == "xadd" {
			flags()
		}
		return op, true
	case "cmpxchg":
		readAll()
		op.Reads = append(op.Reads, RAX)
		if n > 0 {
			write(last)
		}
		op.Writes = append(op.Writes, RAX)
		flags()
		return op, true
	case "push":
		readAll()
		op.Store, op.Class, op.Memory, op.Address = true, ClassNone, "-8(%rsp)", []Register{RSP}
		return op, true
	case "pop":
		if n == 1 {
			write(last)
		}
		op.Load, op.Class, op.Memory, op.Address = true, ClassNone, "(%rsp)", []Register{RSP}
		return op, true
	}
	switch {
	case name == "jmp" || strings.HasPrefix(name, "call") || strings.HasPrefix(name, "ret") || name == "jmpq":
		op.Class = ClassBranch
		if n == 1 && operands[0].indirect {
			read(last)
		} else {
			op.Memory, op.Address = "", nil
		}
		if strings.HasPrefix(name, "call") {
			op.Store = true
		}
		if strings.HasPrefix(name, "ret") {
			op.Load = true
		}
		return op, true
	case name == "nop" || strings.HasPrefix(name, "nop") || strings.HasPrefix(name, "endbr") || strings.HasPrefix(name, "prefetch"):
		return Operation{Free: true, Class: ClassNone}, true
	case name == "cltq" || name == "cwtl" || name == "cbtw" || name == "cdqe":
		op.Reads, op.Writes = []Register{RAX}, []Register{RAX}
		return op, true
	case name == "cqto" || name == "cltd" || name == "cqo" || name == "cdq" || name == "cwtd":
		op.Reads, op.Writes = []Register{RAX}, []Register{RDX}
		return op, true
	case n == 2 && (strings.HasPrefix(name, "movz") || strings.HasPrefix(name, "movs") || strings.HasPrefix(name, "movbe")):
		read(&operands[0])
		write(last)
		if op.Load && strings.HasPrefix(name, "movz") {
			op.Class = ClassNone
		}
		return op, true
	case name == "clc" || name == "stc" || name == "cmc":
		op.Reads, op.Writes = []Register{CF}, []Register{CF}
		return op, true
	case name == "leave" || name == "leaveq":
		op.Load, op.Class, op.Memory = true, ClassNone, "(%rbp)"
		op.Address, op.Reads, op.Writes = []Register{5}, []Register{5}, []Register{4, 5}
		return op, true
	}
	readAll()
	if n > 0 {
		write(last)
	}
	flags()
	return op, false
}

// vectorX86 is operationX86 for the instructions of SSE and AVX.
func vectorX86(op Operation, name string, operands []operandX86, same bool) Operation {
	n := len(operands)
	last := &operands[n-1]
	op.Class, op.Vector = ClassVector, true
	base := strings.TrimPrefix(name, "v")
	add := func(o *operandX86) {
		if o.memory {
			op.Load = true
		} else if o.register != NoRegister {
			op.Reads = append(op.Reads, o.register)
		}
	}
	for _, name := range []string{"add", "sub", "mul", "min", "max", "cmp", "ucomi", "comi", "fmadd", "fmsub", "fnmadd", "fnmsub"} {
		if rest, ok := strings.CutPrefix(base, name); ok && len(rest) >= 2 && strings.IndexByte("sp", rest[len(rest)-2]) >= 0 && strings.IndexByte("sd", rest[len(rest)-1]) >= 0 {
			op.Class = ClassFloat
		}
	}
	compare := strings.HasPrefix(base, "ucomi") || strings.HasPrefix(base, "comi") || strings.HasPrefix(base, "ptest")
	if compare {
		for i := range operands {
			add(&operands[i])
		}
		op.Writes = append(op.Writes, allFlags...)
		return op
	}
	for i := range operands[:n-1] {
		add(&operands[i])
	}
	zeroing := same && (strings.HasPrefix(base, "pxor") || strings.HasPrefix(base, "xorp") || strings.HasPrefix(base, "pcmpgt") || strings.HasPrefix(base, "psub"))
	move := strings.HasPrefix(base, "mov") || strings.HasPrefix(base, "lddqu") || strings.HasPrefix(base, "pmov") || strings.HasPrefix(base, "pbroadcast") ||
		strings.HasPrefix(base, "broadcast") || strings.HasPrefix(base, "pabs") || strings.HasPrefix(base, "pshufd") || strings.HasPrefix(base, "pshuflw") ||
		strings.HasPrefix(base, "pshufhw") || strings.HasPrefix(base, "extract") || strings.HasPrefix(base, "pextr") || strings.HasPrefix(base, "cvtdq") ||
		strings.HasPrefix(base, "cvttp") || strings.HasPrefix(base, "cvtp") || strings.HasPrefix(base, "cvttsd2si") || strings.HasPrefix(base, "cvttss2si") || strings.HasPrefix(base, "cvtsd2si")
	partial := (strings.HasPrefix(base, "movsd") || strings.HasPrefix(base, "movss") || strings.HasPrefix(base, "movhp") || strings.HasPrefix(base, "movlp")) && !op.Load
	switch {
	case last.memory:
		op.Store = true
	case zeroing:
		op.Reads, op.Free = nil, true
		op.Writes = append(op.Writes, last.register)
	default:
		if (!move || partial) && base == name && last.register >= 32 {
			op.Reads = append(op.Reads, last.register) // legacy instructions change it
		}
		op.Writes = append(op.Writes, last.register)
	}
	if strings.HasPrefix(base, "mova") || strings.HasPrefix(base, "movu") || strings.HasPrefix(base, "movdq") {
		if op.Load || op.Store {
			op.Class = ClassNone
		} else {
			op.Free = last.register >= 32 && operands[0].register >= 32
		}
	}
	if op.Load && (strings.HasPrefix(base, "movsd") || strings.HasPrefix(base, "movss") || strings.HasPrefix(base, "movq") || strings.HasPrefix(base, "movd")) {
		op.Class = ClassNone
	}
	return op
}
