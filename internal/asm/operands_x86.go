package asm

import (
	"slices"
	"strconv"
	"strings"
)

var generalX86 = [16][]string{
	{"rax", "eax", "ax", "al", "ah"},
	{"rcx", "ecx", "cx", "cl", "ch"},
	{"rdx", "edx", "dx", "dl", "dh"},
	{"rbx", "ebx", "bx", "bl", "bh"},
	{"rsp", "esp", "sp", "spl"},
	{"rbp", "ebp", "bp", "bpl"},
	{"rsi", "esi", "si", "sil"},
	{"rdi", "edi", "di", "dil"},
}

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

// An OperandX86 is one operand of an instruction in AT&T syntax.
type OperandX86 struct {
	Text      string
	Register  Register // NoRegister if it is none
	Width     int      // of the register, bytes
	High      bool     // the second byte of the register: %ah
	Immediate *uint64  // nil if it is none
	Memory    *Memory  // nil if it is not in memory
	indirect  bool     // the target of a jump: *%rax, *(%rax)
}

// OperandX86Of reads an operand.
func OperandX86Of(s string) OperandX86 {
	o := OperandX86{Text: s, Register: NoRegister}
	if rest, ok := strings.CutPrefix(s, "*"); ok {
		s, o.indirect = rest, true
	}
	if v, ok := strings.CutPrefix(s, "$"); ok {
		n, _ := numberX86(v)
		o.Immediate = &n
		return o
	}
	if r, width := RegisterX86(s); r != NoRegister {
		o.Register, o.Width, o.High = r, width, width == 1 && strings.HasSuffix(s, "h")
		return o
	}
	if !strings.HasPrefix(s, "{") { // a mask or a rounding mode
		o.Memory = memoryX86(s)
	}
	return o
}

// isVector reports whether an operand is a register of vectors.
func (o *OperandX86) isVector() bool { return o.Register >= 32 && o.Register < 64 }

// memoryX86 reads an operand in memory: displacement(base, index, scale).
func memoryX86(s string) *Memory {
	m := &Memory{Base: NoRegister, Index: NoRegister, Scale: 1}
	open := strings.LastIndexByte(s, '(')
	if open < 0 || !strings.HasSuffix(s, ")") {
		m.Displacement, m.symbol = numberX86(s)
		return m
	}
	if open > 0 {
		m.Displacement, m.symbol = numberX86(strings.TrimSpace(s[:open]))
		m.parts++
	}
	for i, part := range strings.Split(s[open+1:len(s)-1], ",") {
		part = strings.TrimSpace(part)
		if part != "" && i < 2 {
			m.parts++
		}
		switch i {
		case 0:
			m.Base, _ = RegisterX86(part)
		case 1:
			m.Index, _ = RegisterX86(part)
		case 2:
			if n, err := strconv.ParseUint(part, 0, 8); err == nil {
				m.Scale = n
			}
		}
	}
	return m
}

// numberX86 is a number, or one for the name of a symbol.
func numberX86(s string) (n uint64, symbol bool) {
	if s == "" {
		return 0, false
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(n), false
	}
	if n, err := strconv.ParseUint(s, 0, 64); err == nil {
		return n, false
	}
	if i := strings.LastIndexAny(s, "+-"); i > 0 {
		if n, err := strconv.ParseInt(s[i:], 0, 64); err == nil {
			return Symbol(s[:i]) + uint64(n), true
		}
	}
	return Symbol(s), true
}

var (
	carry    = []Register{CF}
	allFlags = []Register{CF, ZF, OF}
)

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

// SuffixX86 is the width in bytes that the suffix of a mnemonic says: 4 for addl.
func SuffixX86(name string) int {
	return map[byte]int{'b': 1, 'w': 2, 'l': 4, 'q': 8}[name[len(name)-1]]
}

// A span says which operands of an instruction are meant.
type span uint8

const (
	noOperand span = iota
	sources        // all but the last
	last
	all
)

// A ruleX86 says what instructions read and write.
type ruleX86 struct {
	names                 string
	operands              int // how many there must be, 0 for any number
	reads, writes         span
	alsoReads, alsoWrites []Register
	class                 Class
}

// rulesX86 are the rules by mnemonic without suffix. What they do not say is in
// operationX86.
var rulesX86 = func() map[string]ruleX86 {
	byName := make(map[string]ruleX86)
	for _, r := range []ruleX86{
		{names: "mov movabs movabsq movnti", operands: 2, reads: sources, writes: last},
		{names: "lea", operands: 2, writes: last, class: ClassLea},
		{names: "add sub and or xor", operands: 2, reads: all, writes: last, alsoWrites: allFlags},
		{names: "adc sbb", operands: 2, reads: all, writes: last, alsoReads: carry, alsoWrites: allFlags},
		{names: "cmp test", reads: all, alsoWrites: allFlags},
		{names: "bt", reads: all, alsoWrites: carry},
		{names: "bts btr btc", reads: all, writes: last, alsoWrites: carry},
		{names: "inc dec", reads: all, writes: last, alsoWrites: []Register{ZF, OF}},
		{names: "neg", reads: all, writes: last, alsoWrites: allFlags},
		{names: "not bswap", reads: all, writes: last},
		{names: "shl sal shr sar rol ror shld shrd", reads: all, writes: last, alsoWrites: allFlags, class: ClassShift},
		{names: "rcl rcr", reads: all, writes: last, alsoReads: carry, alsoWrites: allFlags, class: ClassShift},
		{names: "shlx shrx sarx rorx", reads: sources, writes: last, class: ClassShift},
		{names: "andn blsr blsi blsmsk bextr bzhi bsf bsr popcnt lzcnt tzcnt pdep pext crc32", reads: sources, writes: last, alsoWrites: allFlags},
		{names: "imul", reads: all, writes: last, alsoWrites: allFlags, class: ClassMultiply},
		{names: "mul", reads: all, alsoReads: []Register{RAX}, alsoWrites: []Register{RAX, RDX, CF, ZF, OF}, class: ClassMultiply},
		{names: "mulx", reads: all, writes: last, alsoReads: []Register{RAX}, class: ClassMultiply},
		{names: "div idiv", reads: all, alsoReads: []Register{RAX, RDX}, alsoWrites: []Register{RAX, RDX, CF, ZF, OF}, class: ClassDivide},
		{names: "xchg", reads: all, writes: all},
		{names: "xadd", reads: all, writes: all, alsoWrites: allFlags},
		{names: "cmpxchg", reads: all, writes: last, alsoReads: []Register{RAX}, alsoWrites: []Register{RAX, CF, ZF, OF}},
		{names: "push", reads: all, class: ClassNone},
		{names: "pop", writes: last, class: ClassNone},
		{names: "leave leaveq", alsoReads: []Register{RBP}, alsoWrites: []Register{RSP, RBP}, class: ClassNone},
		{names: "cltq cwtl cbtw cdqe", alsoReads: []Register{RAX}, alsoWrites: []Register{RAX}},
		{names: "cqto cltd cqo cdq cwtd", alsoReads: []Register{RAX}, alsoWrites: []Register{RDX}},
		{names: "clc stc cmc", alsoReads: carry, alsoWrites: carry},
	} {
		for name := range strings.FieldsSeq(r.names) {
			byName[name] = r
		}
	}
	return byName
}()

// accessesX86 are the operands of one instruction, and what is known of it so far.
type accessesX86 struct {
	Operation
	operands []OperandX86
}

func (a *accessesX86) read(o *OperandX86) {
	if o.Memory != nil {
		a.Load = true
	} else if o.Register != NoRegister {
		a.Reads = append(a.Reads, o.Register)
	}
}

func (a *accessesX86) write(o *OperandX86) {
	switch {
	case o.Memory != nil:
		a.Store = true
	case o.Register != NoRegister:
		if o.Width < 4 && o.Register < 16 {
			a.Reads = append(a.Reads, o.Register) // the rest of it stays
		}
		a.Writes = append(a.Writes, o.Register)
	}
}

// each calls f for some of the operands.
func (a *accessesX86) each(which span, f func(*OperandX86)) {
	from, to := 0, len(a.operands)
	switch which {
	case noOperand:
		to = 0
	case sources:
		to = max(0, to-1)
	case last:
		from = max(0, to-1)
	}
	for i := range a.operands[from:to] {
		f(&a.operands[from+i])
	}
}

// apply does what a rule says.
func (a *accessesX86) apply(r *ruleX86) {
	a.Class = r.class
	a.each(r.reads, a.read)
	a.each(r.writes, a.write)
	a.Reads = append(a.Reads, r.alsoReads...)
	a.Writes = append(a.Writes, r.alsoWrites...)
}

func operationX86(text string) (op Operation, known bool) {
	name, rest := Mnemonic(X8664, text)
	texts := SplitOperands(rest)
	a := accessesX86{operands: make([]OperandX86, len(texts))}
	for i, s := range texts {
		a.operands[i] = OperandX86Of(s)
		if m := a.operands[i].Memory; m != nil {
			a.Memory, a.Address = s, m.registers()
		}
	}
	n := len(texts)
	for _, conditional := range []ruleX86{
		{names: "cmov", operands: 2, reads: all, writes: last, class: ClassSelect},
		{names: "set", operands: 1, writes: last, class: ClassSet},
		{names: "j", class: ClassBranch},
	} {
		c, ok := ConditionX86(name, conditional.names)
		if !ok || conditional.operands > 0 && conditional.operands != n {
			continue
		}
		if conditional.class == ClassBranch {
			a.Memory, a.Address = "", nil
		}
		conditional.alsoReads = c.flags()
		a.apply(&conditional)
		a.Flags = len(conditional.alsoReads)
		return a.Operation, true
	}
	same := n >= 2 && a.operands[n-1].Register != NoRegister && texts[n-2] == texts[n-1]
	if n > 0 && (a.operands[n-1].isVector() || n > 1 && a.operands[0].isVector()) {
		return vectorX86(a.Operation, name, a.operands, same), true
	}
	base := BaseX86(name)
	rule, ok := rulesX86[base]
	if !ok || rule.operands > 0 && rule.operands != n {
		return a.other(name)
	}
	switch base {
	case "xor", "sub", "sbb":
		if same { // no register decides what comes out
			rule.reads, a.Free = noOperand, base != "sbb"
		}
	case "shl", "sal", "shr", "sar", "rol", "ror", "rcl", "rcr", "shld", "shrd":
		if n > 1 && a.operands[0].Register == RCX { // by nothing leaves the flags as they are
			rule.alsoReads = allFlags
		}
	case "imul":
		switch {
		case n == 1:
			rule.writes, rule.alsoReads, rule.alsoWrites = noOperand, []Register{RAX}, []Register{RAX, RDX, CF, ZF, OF}
		case n > 2:
			rule.reads = sources
		}
	case "mulx":
		if n > 1 {
			a.write(&a.operands[n-2])
		}
	case "lea":
		if m := a.operands[0].Memory; m != nil {
			a.Reads, a.Components, a.Scaled = m.registers(), m.parts, m.Scale > 1
		}
		a.Address, a.Memory = nil, ""
	}
	a.apply(&rule)
	switch base {
	case "mov", "movabs", "movabsq", "movnti":
		if a.Load || a.Store {
			a.Class = ClassNone
		} else {
			a.Free = a.operands[0].Register != NoRegister && a.operands[1].Width >= 4
		}
	case "push":
		a.Store, a.Memory, a.Address = true, "-8(%rsp)", []Register{RSP}
	case "pop":
		a.Load, a.Memory, a.Address = true, "(%rsp)", []Register{RSP}
	case "leave", "leaveq":
		a.Load, a.Memory, a.Address = true, "(%rbp)", []Register{RBP}
	}
	return a.Operation, true
}

// other is the operation of what has no rule.
func (a *accessesX86) other(name string) (op Operation, known bool) {
	call, ret := strings.HasPrefix(name, "call"), strings.HasPrefix(name, "ret")
	switch {
	case name == "jmp" || name == "jmpq" || call || ret:
		a.Class = ClassBranch
		if len(a.operands) == 1 && a.operands[0].indirect {
			a.read(&a.operands[0])
		} else {
			a.Memory, a.Address = "", nil
		}
		a.Store, a.Load = call, a.Load || ret
		return a.Operation, true
	case hasPrefix(name, "nop", "endbr", "prefetch"):
		return Operation{Free: true, Class: ClassNone}, true
	case len(a.operands) == 2 && hasPrefix(name, "movz", "movs", "movbe"):
		a.apply(&ruleX86{reads: sources, writes: last})
		if a.Load && strings.HasPrefix(name, "movz") {
			a.Class = ClassNone
		}
		return a.Operation, true
	}
	a.apply(&ruleX86{reads: all, writes: last, alsoWrites: allFlags})
	return a.Operation, false
}

func hasPrefix(s string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) })
}

// vectorX86 is operationX86 for the instructions of SSE and AVX.
func vectorX86(op Operation, name string, operands []OperandX86, same bool) Operation {
	a := accessesX86{Operation: op, operands: operands}
	a.Class, a.Vector = ClassVector, true
	base := strings.TrimPrefix(name, "v")
	to := &operands[len(operands)-1]
	if isFloat(base) {
		a.Class = ClassFloat
	}
	if hasPrefix(base, "ucomi", "comi", "ptest") {
		a.each(all, a.read)
		a.Writes = append(a.Writes, allFlags...)
		return a.Operation
	}
	a.each(sources, a.read)
	zeroing := same && hasPrefix(base, "pxor", "xorp", "pcmpgt", "psub")
	move := hasPrefix(base, "mov", "lddqu", "pmov", "pbroadcast", "broadcast", "pabs", "pshufd", "pshuflw", "pshufhw", "extract", "pextr",
		"cvtdq", "cvttp", "cvtp", "cvttsd2si", "cvttss2si", "cvtsd2si")
	partial := hasPrefix(base, "movsd", "movss", "movhp", "movlp") && !a.Load
	switch {
	case to.Memory != nil:
		a.Store = true
	case zeroing:
		a.Reads, a.Free = nil, true
		a.Writes = append(a.Writes, to.Register)
	default:
		if (!move || partial) && base == name && to.Register >= 32 {
			a.Reads = append(a.Reads, to.Register) // legacy instructions change it
		}
		a.Writes = append(a.Writes, to.Register)
	}
	switch {
	case hasPrefix(base, "mova", "movu", "movdq"):
		if a.Load || a.Store {
			a.Class = ClassNone
		} else {
			a.Free = to.Register >= 32 && operands[0].Register >= 32
		}
	case a.Load && hasPrefix(base, "movsd", "movss", "movq", "movd"):
		a.Class = ClassNone
	}
	return a.Operation
}

// isFloat reports whether an instruction computes with floating-point numbers: addsd,
// vfmadd213ps without its v.
func isFloat(base string) bool {
	n := len(base)
	for _, name := range []string{"add", "sub", "mul", "min", "max", "cmp", "ucomi", "comi", "fmadd", "fmsub", "fnmadd", "fnmsub"} {
		if strings.HasPrefix(base, name) && n >= len(name)+2 && strings.IndexByte("sp", base[n-2]) >= 0 && strings.IndexByte("sd", base[n-1]) >= 0 {
			return true
		}
	}
	return false
}
