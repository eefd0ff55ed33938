package predict

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
	regRAX, regRCX, regRDX, regRSP register = 0, 1, 2, 4
)

// registerX86 is the register called %name and its width in bytes.
func registerX86(name string) (r register, width int) {
	name, ok := strings.CutPrefix(name, "%")
	if !ok {
		return regNone, 0
	}
	if i := strings.IndexByte(name, '{'); i > 0 { // mask
		name = strings.TrimSpace(name[:i])
	}
	for i, names := range generalX86 {
		if at := slices.Index(names, name); at >= 0 {
			return register(i), []int{8, 4, 2, 1, 1}[at]
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
			return register(n), width
		}
		return regNone, 0
	}
	for _, v := range []struct {
		prefix string
		first  register
		width  int
	}{{"xmm", 32, 16}, {"ymm", 32, 32}, {"zmm", 32, 64}, {"mm", 16, 8}, {"k", 24, 8}} {
		if rest, ok := strings.CutPrefix(name, v.prefix); ok {
			if n, err := strconv.Atoi(rest); err == nil && n >= 0 && n < 32 {
				return v.first + register(n), v.width
			}
		}
	}
	if name == "st" || strings.HasPrefix(name, "st(") {
		return 64, 10
	}
	return regNone, 0
}

// An operandX86 is one operand of an instruction.
type operandX86 struct {
	register register
	width    int
	memory   bool
	address  []register
	parts    int // of the address: base, index, displacement
	scaled   bool
	indirect bool
}

func operandX86Of(s string) (o operandX86) {
	o.register = regNone
	if rest, ok := strings.CutPrefix(s, "*"); ok {
		s, o.indirect = rest, true
	}
	if strings.HasPrefix(s, "$") {
		return o
	}
	open := strings.LastIndexByte(s, '(')
	if r, width := registerX86(s); r != regNone {
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
		if r, _ := registerX86(part); r != regNone {
			o.address = append(o.address, r)
		}
	}
	return o
}

var conditionsX86 = map[string][]register{
	"o": {regOF}, "no": {regOF}, "b": {regCF}, "c": {regCF}, "nae": {regCF}, "ae": {regCF}, "nb": {regCF}, "nc": {regCF},
	"e": {regZF}, "z": {regZF}, "ne": {regZF}, "nz": {regZF}, "s": {regZF}, "ns": {regZF}, "p": {regZF}, "np": {regZF}, "pe": {regZF}, "po": {regZF},
	"be": {regCF, regZF}, "na": {regCF, regZF}, "a": {regCF, regZF}, "nbe": {regCF, regZF},
	"l": {regOF, regZF}, "nge": {regOF, regZF}, "ge": {regOF, regZF}, "nl": {regOF, regZF},
	"le": {regOF, regZF}, "ng": {regOF, regZF}, "g": {regOF, regZF}, "nle": {regOF, regZF},
}

var allFlags = []register{regCF, regZF, regOF}

// unsuffixed are the mnemonics of general instructions that take a suffix for the width.
var unsuffixed = []string{
	"mov", "add", "sub", "and", "or", "xor", "adc", "sbb", "cmp", "test", "inc", "dec", "neg", "not", "shl", "sal", "shr", "sar",
	"rol", "ror", "rcl", "rcr", "shld", "shrd", "imul", "mul", "div", "idiv", "lea", "xchg", "xadd", "cmpxchg", "bt", "bts", "btr", "btc",
	"bsf", "bsr", "popcnt", "lzcnt", "tzcnt", "bswap", "push", "pop", "andn", "blsr", "blsi", "blsmsk", "bextr", "bzhi", "sarx", "shlx", "shrx",
	"rorx", "mulx", "pdep", "pext", "adcx", "adox", "movnti", "crc32",
}

// baseX86 is a mnemonic without its suffix, with what follows the name of a condition.
func baseX86(name string) string {
	if slices.Contains(unsuffixed, name) {
		return name
	}
	if n := len(name); n > 1 && strings.IndexByte("bwlq", name[n-1]) >= 0 && slices.Contains(unsuffixed, name[:n-1]) {
		return name[:n-1]
	}
	return name
}

// conditionX86 is the flags that a conditional instruction needs: cmovl, setne, jae.
func conditionX86(name, prefix string) ([]register, bool) {
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

func operationX86(text string) (op operation, known bool) {
	name, rest := mnemonic(X8664, text)
	texts := splitOperands(rest)
	operands := make([]operandX86, len(texts))
	for i, s := range texts {
		operands[i] = operandX86Of(s)
		if o := &operands[i]; o.memory {
			op.memory, op.address = s, o.address
		}
	}
	read := func(o *operandX86) {
		switch {
		case o == nil: // the assembler will refuse it
		case o.memory:
			op.load = true
		case o.register != regNone:
			op.reads = append(op.reads, o.register)
		}
	}
	write := func(o *operandX86) {
		switch {
		case o == nil:
		case o.memory:
			op.store = true
		case o.register != regNone:
			if o.width < 4 && o.register < 16 {
				op.reads = append(op.reads, o.register) // the rest of it stays
			}
			op.writes = append(op.writes, o.register)
		}
	}
	flags := func() { op.writes = append(op.writes, allFlags...) }
	n := len(operands)
	var last *operandX86
	if n > 0 {
		last = &operands[n-1]
	}
	same := n >= 2 && operands[n-1].register != regNone && operands[n-2].register == operands[n-1].register && texts[n-2] == texts[n-1]
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
		op.reads = append(op.reads, f...)
		op.class, op.flags = classSelect, len(f)
		return op, true
	}
	if f, ok := conditionX86(name, "set"); ok && n == 1 {
		write(last)
		op.reads = append(op.reads, f...)
		op.class, op.flags = classSet, len(f)
		return op, true
	}
	if f, ok := conditionX86(name, "j"); ok {
		op.reads, op.class, op.flags = f, classBranch, len(f)
		op.memory, op.address = "", nil
		return op, true
	}
	if n > 0 && last.register >= 32 && last.register < 64 || n > 1 && operands[0].register >= 32 && operands[0].register < 64 {
		return vectorX86(op, name, operands, same), true
	}
	switch base := baseX86(name); base {
	case "mov", "movabs", "movabsq", "movnti":
		if n != 2 {
			break
		}
		read(&operands[0])
		write(last)
		if op.load || op.store {
			op.class = classNone
		} else if operands[0].register != regNone && last.width >= 4 {
			op.free = true
		}
		return op, true
	case "lea":
		if n != 2 {
			break
		}
		op.reads, op.address, op.memory = operands[0].address, nil, ""
		op.components = operands[0].parts
		write(last)
		op.class = classLea
		return op, true
	case "add", "sub", "and", "or", "xor", "adc", "sbb":
		if n != 2 {
			break
		}
		if base == "adc" || base == "sbb" {
			op.reads = append(op.reads, regCF)
		}
		switch {
		case same && (base == "xor" || base == "sub"):
			op.free = true
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
		op.writes = append(op.writes, regCF)
		return op, true
	case "bts", "btr", "btc":
		readAll()
		write(last)
		op.writes = append(op.writes, regCF)
		return op, true
	case "inc", "dec":
		readAll()
		if n == 1 {
			write(last)
		}
		op.writes = append(op.writes, regZF, regOF)
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
		if n > 1 && operands[0].register == regRCX {
			op.reads = append(op.reads, allFlags...)
		}
		if base == "rcl" || base == "rcr" {
			op.reads = append(op.reads, regCF)
		}
		write(last)
		flags()
		op.class = classShift
		return op, true
	case "shlx", "shrx", "sarx", "rorx":
		readSources()
		write(last)
		op.class = classShift
		return op, true
	case "andn", "blsr", "blsi", "blsmsk", "bextr", "bzhi", "bsf", "bsr", "popcnt", "lzcnt", "tzcnt", "pdep", "pext", "crc32":
		readSources()
		write(last)
		flags()
		return op, true
	case "imul":
		op.class = classMultiply
		switch n {
		case 1:
			readAll()
			op.reads = append(op.reads, regRAX)
			op.writes = append(op.writes, regRAX, regRDX)
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
		op.class = classMultiply
		readAll()
		op.reads = append(op.reads, regRAX)
		if n > 1 {
			write(&operands[n-2])
			write(last)
			return op, true
		}
		op.writes = append(op.writes, regRAX, regRDX)
		flags()
		return op, true
	case "div", "idiv":
		readAll()
		op.reads = append(op.reads, regRAX, regRDX)
		op.writes = append(op.writes, regRAX, regRDX)
		op.class = classDivide
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
		op.reads = append(op.reads, regRAX)
		if n > 0 {
			write(last)
		}
		op.writes = append(op.writes, regRAX)
		flags()
		return op, true
	case "push":
		readAll()
		op.store, op.class, op.memory, op.address = true, classNone, "-8(%rsp)", []register{regRSP}
		return op, true
	case "pop":
		if n == 1 {
			write(last)
		}
		op.load, op.class, op.memory, op.address = true, classNone, "(%rsp)", []register{regRSP}
		return op, true
	}
	switch {
	case name == "jmp" || strings.HasPrefix(name, "call") || strings.HasPrefix(name, "ret") || name == "jmpq":
		op.class = classBranch
		if n == 1 && operands[0].indirect {
			read(last)
		} else {
			op.memory, op.address = "", nil
		}
		if strings.HasPrefix(name, "call") {
			op.store = true
		}
		if strings.HasPrefix(name, "ret") {
			op.load = true
		}
		return op, true
	case name == "nop" || strings.HasPrefix(name, "nop") || strings.HasPrefix(name, "endbr") || strings.HasPrefix(name, "prefetch"):
		return operation{free: true, class: classNone}, true
	case name == "cltq" || name == "cwtl" || name == "cbtw" || name == "cdqe":
		op.reads, op.writes = []register{regRAX}, []register{regRAX}
		return op, true
	case name == "cqto" || name == "cltd" || name == "cqo" || name == "cdq" || name == "cwtd":
		op.reads, op.writes = []register{regRAX}, []register{regRDX}
		return op, true
	case n == 2 && (strings.HasPrefix(name, "movz") || strings.HasPrefix(name, "movs") || strings.HasPrefix(name, "movbe")):
		read(&operands[0])
		write(last)
		if op.load && strings.HasPrefix(name, "movz") {
			op.class = classNone
		}
		return op, true
	case name == "clc" || name == "stc" || name == "cmc":
		op.reads, op.writes = []register{regCF}, []register{regCF}
		return op, true
	case name == "leave" || name == "leaveq":
		op.load, op.class, op.memory = true, classNone, "(%rbp)"
		op.address, op.reads, op.writes = []register{5}, []register{5}, []register{4, 5}
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
func vectorX86(op operation, name string, operands []operandX86, same bool) operation {
	n := len(operands)
	last := &operands[n-1]
	op.class, op.vector = classVector, true
	base := strings.TrimPrefix(name, "v")
	add := func(o *operandX86) {
		if o.memory {
			op.load = true
		} else if o.register != regNone {
			op.reads = append(op.reads, o.register)
		}
	}
	for _, name := range []string{"add", "sub", "mul", "min", "max", "cmp", "ucomi", "comi", "fmadd", "fmsub", "fnmadd", "fnmsub"} {
		if rest, ok := strings.CutPrefix(base, name); ok && len(rest) >= 2 && strings.IndexByte("sp", rest[len(rest)-2]) >= 0 && strings.IndexByte("sd", rest[len(rest)-1]) >= 0 {
			op.class = classFloat
		}
	}
	compare := strings.HasPrefix(base, "ucomi") || strings.HasPrefix(base, "comi") || strings.HasPrefix(base, "ptest")
	if compare {
		for i := range operands {
			add(&operands[i])
		}
		op.writes = append(op.writes, allFlags...)
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
	partial := (strings.HasPrefix(base, "movsd") || strings.HasPrefix(base, "movss") || strings.HasPrefix(base, "movhp") || strings.HasPrefix(base, "movlp")) && !op.load
	switch {
	case last.memory:
		op.store = true
	case zeroing:
		op.reads, op.free = nil, true
		op.writes = append(op.writes, last.register)
	default:
		if (!move || partial) && base == name && last.register >= 32 {
			op.reads = append(op.reads, last.register) // legacy instructions change it
		}
		op.writes = append(op.writes, last.register)
	}
	if strings.HasPrefix(base, "mova") || strings.HasPrefix(base, "movu") || strings.HasPrefix(base, "movdq") {
		if op.load || op.store {
			op.class = classNone
		} else {
			op.free = last.register >= 32 && operands[0].register >= 32
		}
	}
	if op.load && (strings.HasPrefix(base, "movsd") || strings.HasPrefix(base, "movss") || strings.HasPrefix(base, "movq") || strings.HasPrefix(base, "movd")) {
		op.class = classNone
	}
	return op
}
