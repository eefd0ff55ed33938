package interpret

import (
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
)

// A placeX86 is an operand that is read or written.
type placeX86 struct {
	asm.OperandX86
	bytes int
}

// placeX86Of reads an operand; bytes is the width of operands that are no registers.
func placeX86Of(s string, bytes int) placeX86 {
	p := placeX86{asm.OperandX86Of(s), bytes}
	if p.Register != asm.NoRegister {
		p.bytes = p.Width
	}
	return p
}

func (p *placeX86) get(x *Interpreter) value {
	switch {
	case p.Immediate != nil:
		return value{bits: *p.Immediate}
	case p.Memory != nil:
		return x.load(x.address(p.Memory), p.bytes)
	}
	v := x.read(p.Register)
	if p.High {
		v.bits >>= 8
	}
	v.bits = truncate(v.bits, p.bytes)
	return v
}

func (p *placeX86) set(x *Interpreter, v value) {
	switch {
	case p.Memory != nil:
		x.store(x.address(p.Memory), p.bytes, v)
	case p.Register == asm.NoRegister:
	case p.bytes >= 4 || p.Register >= 16:
		v.bits = truncate(v.bits, p.bytes)
		x.write(p.Register, v)
	default: // the rest of it stays
		old := x.read(p.Register)
		shift := 0
		if p.High {
			shift = 8
		}
		mask := truncate(^uint64(0), p.bytes) << shift
		x.write(p.Register, value{old.bits&^mask | v.bits<<shift&mask, v.from | old.from})
	}
}

// widthX86 is how many bytes the operands of an instruction have.
func widthX86(name, base string, operands []string) int {
	for i := len(operands) - 1; i >= 0; i-- {
		if r, width := asm.RegisterX86(operands[i]); r != asm.NoRegister && !(i == 0 && len(operands) > 1 && r == asm.RCX && width == 1 && shiftsX86[base]) {
			return width
		}
	}
	if base != name {
		return asm.SuffixX86(name)
	}
	return 8
}

var shiftsX86 = map[string]bool{"shl": true, "sal": true, "shr": true, "sar": true, "rol": true, "ror": true, "rcl": true, "rcr": true}

// effectX86 says what an instruction in AT&T syntax does.
func effectX86(text string) effect {
	name, rest := asm.Mnemonic(asm.X8664, text)
	texts := asm.SplitOperands(rest)
	op, _ := asm.OperationOf(asm.X8664, text)
	if e := effectGeneralX86(name, texts); e != nil {
		return e
	}
	bytes := widthX86(name, asm.BaseX86(name), texts)
	var memory *asm.Memory
	for _, s := range texts {
		if p := placeX86Of(s, bytes); p.Memory != nil && op.Memory != "" {
			memory = p.Memory
		}
	}
	if op.Class.Vector() || op.Vector {
		bytes = vectorBytesX86(name, texts)
	}
	switch kind, _ := asm.KindOf(asm.X8664, text); kind {
	case disasm.Conditional, disasm.Jump, disasm.IndirectJump, disasm.Return, disasm.Trap:
		return func(*Interpreter) {}
	case disasm.Call, disasm.IndirectCall:
		return callX86
	}
	if strings.Contains(name, "comis") && len(op.Reads) > 0 { // of numbers in registers
		return func(x *Interpreter) {
			var first value
			if memory != nil {
				first = x.load(x.address(memory), bytes)
			} else {
				first = x.read(op.Reads[0])
			}
			x.compare(x.read(op.Reads[len(op.Reads)-1]), first, 8, false, carryBelow)
			x.flags.ordered = true
		}
	}
	return func(x *Interpreter) { x.otherwise(&op, memory, bytes) }
}

// callX86 is a call: the registers that it need not keep have new values.
func callX86(x *Interpreter) {
	for _, r := range []asm.Register{0, 1, 2, 6, 7, 8, 9, 10, 11} {
		x.write(r, x.fresh(fromLoad))
	}
	for r := asm.Register(32); r < 64; r++ {
		x.write(r, x.fresh(fromLoad))
	}
}

func vectorBytesX86(name string, texts []string) int {
	switch {
	case strings.HasSuffix(name, "ss") || name == "movd" || name == "vmovd":
		return 4
	case strings.HasSuffix(name, "sd") || name == "movq" || name == "vmovq" || strings.Contains(name, "movh") || strings.Contains(name, "movl"):
		return 8
	}
	width := 16
	for _, s := range texts {
		if r, w := asm.RegisterX86(s); r >= 32 && r < 64 {
			width = max(width, w)
		}
	}
	return width
}

// An instX86 is an instruction whose values are followed.
type instX86 struct {
	base        string // the mnemonic without its suffix
	places      []placeX86
	first, last *placeX86 // nil without operands
	bytes       int       // width
	same        bool      // both operands are one register
}

// effectsX86 are the effects by mnemonic, and how many operands there must be.
var effectsX86 = func() map[string]followedX86 {
	byName := make(map[string]followedX86)
	for names, f := range map[string]followedX86{
		"add and or xor":              {2, 2, (*instX86).logic},
		"sub cmp":                     {2, 2, (*instX86).subtract},
		"test":                        {2, 2, (*instX86).test},
		"adc sbb":                     {2, 2, (*instX86).withCarry},
		"inc dec":                     {1, 1, (*instX86).count},
		"neg":                         {1, 1, (*instX86).negate},
		"not":                         {1, 1, (*instX86).invert},
		"shl sal shr sar":             {1, 2, (*instX86).shift},
		"imul":                        {2, 3, (*instX86).multiply},
		"bt bts btr btc":              {2, 2, (*instX86).bit},
		"mov movabs movabsq movnti":   {2, 2, (*instX86).move},
		"lea":                         {2, 2, (*instX86).addressOf},
		"push":                        {1, 1, (*instX86).push},
		"pop":                         {1, 1, (*instX86).pop},
		"xchg":                        {2, 2, (*instX86).exchange},
		"cltq cdqe cltd cdq cqto cqo": {0, 0, (*instX86).signOfAccumulator},
	} {
		for name := range strings.FieldsSeq(names) {
			byName[name] = f
		}
	}
	return byName
}()

// A followedX86 is the effect of instructions with so many operands.
type followedX86 struct {
	least, most int
	do          func(*instX86, *Interpreter)
}

// effectGeneralX86 is the effect of the instructions whose values are followed, nil of
// others.
func effectGeneralX86(name string, texts []string) effect {
	n := len(texts)
	in := &instX86{base: asm.BaseX86(name), places: make([]placeX86, n)}
	in.bytes = widthX86(name, in.base, texts)
	for i, s := range texts {
		in.places[i] = placeX86Of(s, in.bytes)
		if r := in.places[i].Register; r != asm.NoRegister && r >= 16 {
			return nil // vectors
		}
	}
	if n > 0 {
		in.first, in.last = &in.places[0], &in.places[n-1]
		in.same = n == 2 && texts[0] == texts[1] && in.first.Register != asm.NoRegister
	}
	if c, ok := asm.ConditionX86(name, "cmov"); ok && n == 2 {
		return selectX86(c, in.first, in.last)
	}
	if c, ok := asm.ConditionX86(name, "set"); ok && n == 1 {
		in.last.bytes = 1
		return func(x *Interpreter) { in.last.set(x, x.holds(c)) }
	}
	if n == 2 {
		if from, signs, ok := extensionX86(name, texts[0]); ok {
			source := placeX86Of(texts[0], from)
			return func(x *Interpreter) {
				v := source.get(x)
				if signs {
					v.bits = uint64(signed(v.bits, from))
				}
				in.last.set(x, v)
			}
		}
	}
	f, ok := effectsX86[in.base]
	switch {
	case !ok || n < f.least || n > f.most:
		return nil
	case in.base == "lea" && in.first.Memory == nil:
		return nil
	case strings.HasPrefix(in.base, "bt") && in.last.Memory != nil && in.first.Immediate == nil:
		return nil // of all bits that follow there
	}
	return func(x *Interpreter) { f.do(in, x) }
}

func selectX86(c asm.Condition, from, to *placeX86) effect {
	return func(x *Interpreter) {
		a, b := from.get(x), to.get(x)
		met := x.holds(c)
		if met.bits == 0 {
			a = b
		}
		a.from |= met.from
		to.set(x, a)
	}
}

// extensionX86 is the width that movzx, movsx and their kin read.
func extensionX86(name, source string) (bytes int, signs, ok bool) {
	rest, zero := strings.CutPrefix(name, "movz")
	if !zero {
		if rest, ok = strings.CutPrefix(name, "movs"); !ok {
			return 0, false, false
		}
	}
	if name == "movslq" || name == "movsxd" {
		return 4, true, true
	}
	rest = strings.TrimPrefix(rest, "x")
	if rest == "" { // movzx, by its operand
		if r, width := asm.RegisterX86(source); r != asm.NoRegister {
			return width, !zero, true
		}
		return 0, false, false
	}
	switch rest[0] {
	case 'b':
		return 1, !zero, len(rest) <= 2
	case 'w':
		return 2, !zero, len(rest) <= 2
	}
	return 0, false, false
}
