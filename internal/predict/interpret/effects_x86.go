package interpret

import (
	"strings"

	"profdiff/internal/disasm"
	"profdiff/internal/predict/asm"
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

// effectX86 is that of an instruction in AT&T syntax.
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

// effectGeneralX86 is the effect of the instructions whose values are followed, nil of
// others.
func effectGeneralX86(name string, texts []string) effect {
	n := len(texts)
	base := asm.BaseX86(name)
	bytes := widthX86(name, base, texts)
	places := make([]placeX86, n)
	for i, s := range texts {
		places[i] = placeX86Of(s, bytes)
		if r := places[i].Register; r != asm.NoRegister && r >= 16 {
			return nil // vectors
		}
	}
	if n == 0 {
		switch name {
		case "cltq", "cdqe":
			return func(x *Interpreter) {
				v := x.read(asm.RAX)
				x.write(asm.RAX, value{uint64(signed(v.bits, 4)), v.from})
			}
		case "cltd", "cdq", "cqto", "cqo":
			bytes := 4
			if name == "cqto" || name == "cqo" {
				bytes = 8
			}
			return func(x *Interpreter) {
				v := x.shiftRight(x.read(asm.RAX), uint64(8*bytes-1), bytes, true)
				x.write(asm.RDX, v)
			}
		}
		return nil
	}
	last := &places[n-1]
	first := &places[0]
	if c, ok := asm.ConditionX86(name, "cmov"); ok && n == 2 {
		return selectX86(c, first, last)
	}
	if c, ok := asm.ConditionX86(name, "set"); ok && n == 1 {
		last.bytes = 1
		return func(x *Interpreter) { last.set(x, x.holds(c)) }
	}
	if n == 2 {
		if from, signs, ok := extensionX86(name, texts[0]); ok {
			source := placeX86Of(texts[0], from)
			return func(x *Interpreter) {
				v := source.get(x)
				if signs {
					v.bits = uint64(signed(v.bits, from))
				}
				last.set(x, v)
			}
		}
	}
	if e := arithmeticX86(base, texts, places, bytes); e != nil {
		return e
	}
	switch base {
	case "mov", "movabs", "movabsq", "movnti":
		if n == 2 {
			return func(x *Interpreter) { last.set(x, first.get(x)) }
		}
	case "lea":
		if n == 2 && first.Memory != nil {
			return func(x *Interpreter) { last.set(x, x.address(first.Memory)) }
		}
	case "push":
		return func(x *Interpreter) {
			v := first.get(x)
			top := x.read(asm.RSP)
			top.bits -= 8
			x.write(asm.RSP, top)
			x.store(top, 8, v)
		}
	case "pop":
		return func(x *Interpreter) {
			top := x.read(asm.RSP)
			v := x.load(top, 8)
			top.bits += 8
			x.write(asm.RSP, top)
			last.set(x, v)
		}
	case "xchg":
		if n == 2 {
			return func(x *Interpreter) {
				a, b := first.get(x), last.get(x)
				first.set(x, b)
				last.set(x, a)
			}
		}
	}
	return nil
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

// arithmeticX86 is the effect of instructions that compute.
func arithmeticX86(base string, texts []string, places []placeX86, bytes int) effect {
	n := len(places)
	first, last := &places[0], &places[n-1]
	result := func(x *Interpreter, v value) {
		x.compare(v, value{}, bytes, true, carryUnknown)
		last.set(x, v)
	}
	top := func(bits uint64) bool { return signed(bits, bytes) < 0 }
	same := n == 2 && texts[0] == texts[1] && first.Register != asm.NoRegister
	constant := first.Immediate != nil
	switch base {
	case "add", "and", "or", "xor":
		if n != 2 {
			return nil
		}
		return func(x *Interpreter) {
			a, b := first.get(x), last.get(x)
			v := value{from: a.from | b.from}
			switch base {
			case "add":
				v.bits = a.bits + b.bits
			case "and":
				v = x.masked(a, b)
			case "or":
				v.bits = a.bits | b.bits
			case "xor":
				v.bits = a.bits ^ b.bits
				if same {
					v.from = 0
				}
			}
			result(x, v)
			if base == "add" {
				x.give(truncate(v.bits, bytes) < b.bits, top((a.bits^v.bits)&(b.bits^v.bits)))
			} else {
				x.giveFixed(false)
			}
		}
	case "sub", "cmp":
		if n != 2 {
			return nil
		}
		return func(x *Interpreter) {
			a, b := first.get(x), last.get(x)
			v := value{b.bits - a.bits, a.from | b.from}
			if same {
				v, a, b = value{}, value{}, value{}
			}
			x.compare(b, a, bytes, constant, carryBelow)
			if base == "sub" {
				last.set(x, v)
			}
		}
	case "test":
		if n != 2 {
			return nil
		}
		return func(x *Interpreter) {
			a, b := first.get(x), last.get(x)
			x.compare(value{a.bits & b.bits, a.from | b.from}, value{}, bytes, true, carryUnknown)
			x.giveFixed(false)
			if mask := signed(a.bits, bytes); constant && mask > 0 && mask&(mask-1) == 0 { // asks for one bit
				x.flags.b.bits = uint64(mask)
				if b.from == 0 {
					x.flags.b.bits = 0
				}
			}
		}
	case "adc", "sbb":
		if n != 2 {
			return nil
		}
		carry := asm.Condition{Relation: asm.LessThan, Unsigned: true, Flag: asm.CarryFlag}
		return func(x *Interpreter) {
			c := x.holds(carry)
			a, b := first.get(x), last.get(x)
			if same && base == "sbb" {
				a, b = value{}, value{}
			}
			v := value{b.bits + a.bits + c.bits, a.from | b.from | c.from}
			if base == "sbb" {
				v.bits = b.bits - a.bits - c.bits
			}
			flags := x.flags
			result(x, v)
			switch all := truncate(v.bits, bytes); {
			case base == "adc":
				x.give(all < b.bits || all == b.bits && c.bits != 0, top((a.bits^v.bits)&(b.bits^v.bits)))
			case !same:
				less := truncate(a.bits, bytes)
				x.give(b.bits < less || b.bits == less && c.bits != 0, top((a.bits^b.bits)&(b.bits^v.bits)))
			case flags.a.from|flags.b.from == 0:
				x.give(c.bits != 0, false)
			default:
				x.flags = flags // the carry stays
			}
		}
	case "inc", "dec", "neg", "not":
		if n != 1 {
			return nil
		}
		return func(x *Interpreter) {
			v := last.get(x)
			old, flags := v, x.flags
			switch base {
			case "inc":
				v.bits++
			case "dec":
				v.bits--
			case "neg":
				v.bits = -v.bits
			case "not":
				v.bits = ^v.bits
				last.set(x, v)
				return
			}
			result(x, v)
			if base == "neg" {
				x.compare(value{}, old, bytes, true, carryNonzero)
				return
			}
			x.give(false, top(old.bits^v.bits) && top(old.bits) == (base == "dec"))
			x.flags.below, x.flags.carried = flags.holds(asm.Condition{Relation: asm.LessThan, Unsigned: true, Flag: asm.CarryFlag}) // it stays
			x.flags.carried = x.flags.carried && flags.a.from|flags.b.from == 0
		}
	case "shl", "sal", "shr", "sar":
		if n > 2 {
			return nil
		}
		return func(x *Interpreter) {
			count := value{bits: 1}
			if n == 2 {
				count = first.get(x)
			}
			old := last.get(x)
			limit := uint64(31)
			if bytes == 8 {
				limit = 63
			}
			k := count.bits & limit
			v := old
			var out uint64 // the last bit that is shifted out
			if base == "shl" || base == "sal" {
				v.bits <<= k
				out = old.bits >> ((8*uint64(bytes) - k) & 63)
			} else {
				v = x.shiftRight(v, k, bytes, base == "sar")
				out = uint64(signed(old.bits, bytes)) >> ((k - 1) & 63)
				if base == "shr" {
					out = old.bits >> ((k - 1) & 63)
				}
			}
			v.from |= count.from
			if k == 0 && count.from == 0 {
				last.set(x, v)
				return // the flags stay
			}
			result(x, v)
			if k <= 8*uint64(bytes) {
				x.give(out&1 != 0, base != "sar" && top(old.bits^v.bits))
			}
		}
	case "imul":
		if n < 2 {
			return nil
		}
		return func(x *Interpreter) {
			a, b := first.get(x), places[1].get(x)
			result(x, value{a.bits * b.bits, a.from | b.from})
		}
	case "bt", "bts", "btr", "btc":
		if n != 2 || last.Memory != nil && first.Immediate == nil { // of all that follows there
			return nil
		}
		return func(x *Interpreter) {
			a, b := first.get(x), last.get(x)
			at := a.bits & uint64(8*bytes-1)
			x.compare(value{}, value{b.bits >> at & 1, a.from | b.from}, 8, true, carryNonzero)
			v := value{b.bits, a.from | b.from}
			switch base {
			case "bt":
				return
			case "bts":
				v.bits |= 1 << at
			case "btr":
				v.bits &^= 1 << at
			case "btc":
				v.bits ^= 1 << at
			}
			last.set(x, v)
		}
	}
	return nil
}
