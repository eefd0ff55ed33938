package interpret

import (
	"strings"

	"profdiff/internal/asm"
)

// An instA64 is an instruction whose values are followed.
type instA64 struct {
	name     string
	operands []string
	target   targetA64
	wrong    bool // an operand is missing or cannot be followed
}

// effectsA64 are the effects by mnemonic.
var effectsA64 = func() map[string]func(*instA64) effect {
	byName := make(map[string]func(*instA64) effect)
	for names, f := range map[string]func(*instA64) effect{
		"cmp cmn":             func(in *instA64) effect { return in.compare(0, in.name == "cmn", in.operands) },
		"ccmp ccmn":           (*instA64).conditionalCompare,
		"fcmp fcmpe":          (*instA64).floatCompare,
		"tst":                 (*instA64).test,
		"csel csinc csinv":    (*instA64).selection,
		"csneg cset csetm":    (*instA64).selection,
		"cinc cinv cneg":      (*instA64).selection,
		"mov movz movn":       (*instA64).move,
		"movk":                (*instA64).moveKeep,
		"adr adrp":            (*instA64).addressOf,
		"smull umull":         (*instA64).multiply,
		"smaddl umaddl":       (*instA64).multiply,
		"madd msub":           (*instA64).multiply,
		"neg negs mvn":        (*instA64).unary,
		"sxtw sxth sxtb":      (*instA64).unary,
		"uxtw uxth uxtb":      (*instA64).unary,
		"ubfiz sbfiz bfi":     (*instA64).bitfield,
		"ubfx sbfx bfxil":     (*instA64).bitfield,
		"add adds sub subs":   (*instA64).binary,
		"and ands bic bics":   (*instA64).binary,
		"orr orn eor eon mul": (*instA64).binary,
		"lsl lsr asr":         (*instA64).binary,
		"adc adcs sbc sbcs":   (*instA64).binary,
	} {
		for name := range strings.FieldsSeq(names) {
			byName[name] = f
		}
	}
	return byName
}()

// effectGeneralA64 is the effect of instructions that compute, nil of those whose values
// are not followed.
func effectGeneralA64(name string, operands []string) effect {
	f := effectsA64[name]
	if f == nil || len(operands) == 0 {
		return nil
	}
	if r := asm.RegisterA64(operands[0]); r >= 32 && r != asm.NoRegister && !strings.HasPrefix(name, "fcmp") {
		return nil // vectors
	}
	in := &instA64{name: name, operands: operands, target: targetA64Of(operands[0])}
	e := f(in)
	if in.wrong {
		return nil
	}
	return e
}

// one is operand i without a shift after it, the number zero if it is not there.
func (in *instA64) one(i int) sourceA64 {
	return in.shifted(in.operands[:min(i+1, len(in.operands))], i)
}

// shifted is operand i with the shift or extension after it.
func (in *instA64) shifted(operands []string, i int) sourceA64 {
	s, ok := sourceA64Of(operands, i)
	in.wrong = in.wrong || !ok
	return s
}

// number is an operand that must be a number.
func (in *instA64) number(i int) uint64 {
	if i >= len(in.operands) {
		in.wrong = true
		return 0
	}
	n, ok := immediateA64(in.operands[i])
	in.wrong = in.wrong || !ok
	return n
}

// compare compares operand i with the next, or with its opposite.
func (in *instA64) compare(i int, negated bool, operands []string) effect {
	a, b := in.one(i), in.shifted(operands, i+1)
	return func(x *Interpreter) {
		u, v := a.get(x), b.get(x)
		w := v
		if negated {
			w.bits = -v.bits
		}
		x.compare(u, w, a.bytes, b.constant || b.zero, carryBelow)
		if negated {
			x.giveSum(u, v, u.bits+v.bits, a.bytes)
		}
	}
}

func (in *instA64) conditionalCompare() effect {
	if len(in.operands) != 4 {
		return nil
	}
	compare, bits := in.compare(0, in.name == "ccmn", in.operands[:2]), in.number(2)
	c, ok := asm.ConditionA64(in.operands[3])
	in.wrong = in.wrong || !ok
	return func(x *Interpreter) { x.compareIf(c, compare, bits) }
}

func (in *instA64) floatCompare() effect {
	if len(in.operands) != 2 {
		return nil
	}
	a, b := asm.RegisterA64(in.operands[0]), asm.RegisterA64(in.operands[1])
	return func(x *Interpreter) {
		v := value{}
		if b != asm.NoRegister {
			v = x.read(b)
		}
		x.compare(x.read(a), v, 8, b == asm.NoRegister, carryBelow)
		x.flags.ordered = true
	}
}

func (in *instA64) test() effect {
	a, b := in.one(0), in.shifted(in.operands, 1)
	return func(x *Interpreter) {
		u, v := a.get(x), b.get(x)
		x.compare(value{u.bits & v.bits, u.from | v.from}, value{}, a.bytes, true, carryUnknown)
		x.giveFixed(true)
		if b.constant && v.bits&(v.bits-1) == 0 && u.from != 0 {
			x.flags.b.bits = v.bits
		}
	}
}

// shortSelections are the selections of one register or none: the same with two.
var shortSelections = map[string]string{"cset": "csinc", "csetm": "csinv", "cinc": "csinc", "cinv": "csinv", "cneg": "csneg"}

// selection is a conditional selection.
func (in *instA64) selection() effect {
	n := len(in.operands)
	c, ok := asm.ConditionA64(in.operands[n-1])
	in.wrong = !ok
	a, b := sourceA64{zero: true}, sourceA64{zero: true}
	name, short := shortSelections[in.name]
	switch {
	case short:
		c.Relation = c.Relation.Opposite()
		if strings.HasPrefix(in.name, "cset") {
			break
		}
		in.wrong = in.wrong || n != 3
		a = in.one(1)
		b = a
	default:
		name = in.name
		in.wrong = in.wrong || n != 4
		a, b = in.one(1), in.one(2)
	}
	return func(x *Interpreter) {
		u, v := a.get(x), b.get(x)
		met := x.holds(c)
		switch name {
		case "csinc":
			v.bits++
		case "csinv":
			v.bits = ^v.bits
		case "csneg":
			v.bits = -v.bits
		}
		if met.bits == 0 {
			u = v
		}
		u.from |= met.from
		in.target.set(x, u)
	}
}

func (in *instA64) move() effect {
	s := in.shifted(in.operands, 1)
	return func(x *Interpreter) {
		v := s.get(x)
		if in.name == "movn" {
			v.bits = ^v.bits
		}
		in.target.set(x, v)
	}
}

func (in *instA64) moveKeep() effect {
	s := in.shifted(in.operands, 1)
	if !s.constant || s.shift > 48 {
		return nil
	}
	return func(x *Interpreter) {
		v := x.read(in.target.register)
		v.bits = v.bits&^(0xffff<<s.shift) | s.get(x).bits
		in.target.set(x, v)
	}
}

func (in *instA64) addressOf() effect {
	if len(in.operands) != 2 {
		return nil
	}
	v := value{bits: asm.Symbol(in.operands[1])}
	return func(x *Interpreter) { in.target.set(x, v) }
}

// multiply is a multiplication whose product is added or subtracted, or has twice as
// many bits.
func (in *instA64) multiply() effect {
	a, b, c := in.one(1), in.one(2), sourceA64{zero: true}
	if long := strings.HasSuffix(in.name, "mull"); !long || len(in.operands) == 4 {
		c = in.shifted(in.operands, 3)
	} else {
		in.wrong = in.wrong || len(in.operands) != 3
	}
	return func(x *Interpreter) {
		u, v, w := a.get(x), b.get(x), c.get(x)
		if in.name[0] == 's' {
			u.bits, v.bits = uint64(signed(u.bits, 4)), uint64(signed(v.bits, 4))
		}
		product := u.bits * v.bits
		if in.name == "msub" {
			product = -product
		}
		in.target.set(x, value{w.bits + product, u.from | v.from | w.from})
	}
}

// unary is a negation or an extension.
func (in *instA64) unary() effect {
	s := in.shifted(in.operands, 1)
	if in.name[0] == 's' || in.name[0] == 'u' {
		s.extend, s.shift = in.name, 0
	}
	return func(x *Interpreter) {
		v := s.get(x)
		switch in.name {
		case "negs":
			x.compare(value{}, v, in.target.bytes, true, carryNonzero)
			v.bits = -v.bits
		case "neg":
			v.bits = -v.bits
		case "mvn":
			v.bits = ^v.bits
		}
		in.target.set(x, v)
	}
}

// bitfield moves a row of bits to the bottom (x), or from there (i).
func (in *instA64) bitfield() effect {
	s, low, width := in.one(1), in.number(2), in.number(3)
	if len(in.operands) != 4 || width == 0 || width > 64 {
		return nil
	}
	low &= 63
	mask := ^uint64(0) >> (64 - width)
	return func(x *Interpreter) {
		v := s.get(x)
		switch in.name {
		case "bfi":
			old := x.read(in.target.register)
			v = value{old.bits&^(mask<<low) | v.bits&mask<<low, v.from | old.from}
		case "bfxil":
			old := x.read(in.target.register)
			v = value{old.bits&^mask | v.bits>>low&mask, v.from | old.from}
		case "ubfx":
			v.bits = v.bits >> low & mask
		case "sbfx":
			v.bits = uint64(int64(v.bits>>low<<(64-width)) >> (64 - width))
		case "ubfiz":
			v.bits = v.bits & mask << low
		case "sbfiz":
			v.bits = uint64(int64(v.bits<<(64-width))>>(64-width)) << low
		}
		in.target.set(x, v)
	}
}

// binary is an operation on two values, with flags where its name ends in s.
func (in *instA64) binary() effect {
	a, b, bytes := in.one(1), in.shifted(in.operands, 2), in.target.bytes
	name, flags := strings.CutSuffix(in.name, "s")
	inverts := false
	if of, ok := map[string]string{"bic": "and", "orn": "orr", "eon": "eor"}[name]; ok {
		name, inverts = of, true
	}
	return func(x *Interpreter) {
		u, v := a.get(x), b.get(x)
		if inverts {
			v.bits = ^v.bits
		}
		out := value{from: u.from | v.from}
		switch name {
		case "add":
			out.bits = u.bits + v.bits
		case "sub":
			out.bits = u.bits - v.bits
		case "and":
			out = x.masked(u, v)
		case "orr":
			out.bits = u.bits | v.bits
		case "eor":
			out.bits = u.bits ^ v.bits
		case "lsl":
			out.bits = u.bits << (v.bits & uint64(8*bytes-1))
		case "lsr", "asr":
			out = x.shiftRight(u, v.bits, bytes, name == "asr")
			out.from |= v.from
		case "mul":
			out.bits = u.bits * v.bits
		case "adc", "sbc":
			if name == "sbc" {
				v.bits = truncate(^v.bits, bytes)
			}
			c := x.holds(asm.Condition{Relation: asm.AtLeast, Unsigned: true, Flag: asm.CarryFlag})
			out.bits = u.bits + v.bits + c.bits
			out.from |= c.from
		}
		switch {
		case !flags:
		case name == "sub":
			x.compare(u, v, bytes, b.constant, carryBelow)
		case name == "and":
			x.compare(out, value{}, bytes, true, carryUnknown)
			x.giveFixed(true)
		default:
			x.compare(out, value{}, bytes, true, carryUnknown)
			x.giveSum(u, v, out.bits, bytes)
		}
		in.target.set(x, out)
	}
}

// compareIf sets the flags by a comparison if a condition is met, else to the bits of an
// instruction: N, Z, C, V.
func (x *Interpreter) compareIf(c asm.Condition, compare effect, bits uint64) {
	const negative, zero, carry, overflow = 8, 4, 2, 1
	from := x.flags.a.from | x.flags.b.from
	met := x.holds(c)
	switch {
	case met.from != 0, bits&negative != 0 && bits&zero != 0:
		compare(x)
		from |= met.from | x.flags.a.from | x.flags.b.from
		x.compare(x.fresh(from), value{}, 8, true, carryUnknown)
		x.flags.unknown = true
	case met.bits != 0:
		compare(x)
	default:
		v := value{bits: 1}
		if bits&negative != 0 {
			v.bits = 1 << 63
		} else if bits&zero != 0 {
			v.bits = 0
		}
		x.compare(v, value{}, 8, true, carryBelow)
		x.give(bits&carry == 0, bits&overflow != 0)
	}
}

// giveSum says what the carry and the overflow of u + v are.
func (x *Interpreter) giveSum(u, v value, sum uint64, bytes int) {
	u.bits, v.bits = truncate(u.bits, bytes), truncate(v.bits, bytes)
	carry := truncate(sum, bytes) < u.bits || truncate(sum, bytes) == u.bits && v.bits != 0 // one more was added
	x.give(!carry, signed((u.bits^sum)&(v.bits^sum), bytes) < 0)
}
