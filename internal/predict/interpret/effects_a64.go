package interpret

import (
	"strconv"
	"strings"

	"profdiff/internal/disasm"
	"profdiff/internal/predict/asm"
)

// immediateA64 is the number in #12 or 12.
func immediateA64(s string) (uint64, bool) {
	s = strings.TrimPrefix(strings.TrimSpace(s), "#")
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return uint64(n), true
	}
	n, err := strconv.ParseUint(s, 0, 64)
	return n, err == nil
}

// bytesA64 is the width of a register by its name, 0 if it is none.
func bytesA64(name string) int {
	if name == "" {
		return 0
	}
	switch name[0] {
	case 'x':
		return 8
	case 'w':
		return 4
	case 's':
		if name == "sp" {
			return 8
		}
		return 4
	case 'd':
		return 8
	case 'q', 'v', 'z':
		return 16
	case 'h':
		return 2
	case 'b':
		return 1
	}
	return 0
}

// A sourceA64 is a register or number, shifted or extended.
type sourceA64 struct {
	register  asm.Register
	zero      bool
	immediate uint64
	constant  bool
	bytes     int
	extend    string
	shift     uint64
}

// sourceA64Of reads operands from index i on: x1 or x1, lsl #2 or w1, sxtw #2 or #12.
func sourceA64Of(operands []string, i int) (s sourceA64, ok bool) {
	if i >= len(operands) {
		return s, false
	}
	s.register, s.bytes = asm.NoRegister, bytesA64(operands[i])
	if n, is := immediateA64(operands[i]); is {
		s.immediate, s.constant = n, true
	} else if strings.HasPrefix(operands[i], "#") || strings.HasPrefix(operands[i], ":") {
		s.immediate, s.constant = asm.Symbol(operands[i]), true
	} else if operands[i] == "xzr" || operands[i] == "wzr" {
		s.zero = true
	} else if s.register = asm.RegisterA64(operands[i]); s.register == asm.NoRegister || s.register >= 32 {
		return s, false
	}
	if i+1 < len(operands) {
		name, amount, _ := strings.Cut(strings.TrimSpace(operands[i+1]), " ")
		s.extend = strings.ToLower(name)
		if amount != "" {
			if s.shift, ok = immediateA64(amount); !ok {
				return s, false
			}
		}
	}
	return s, true
}

func (s *sourceA64) get(x *Interpreter) value {
	if s.zero {
		return value{}
	}
	v := value{bits: s.immediate}
	if !s.constant {
		v = x.read(s.register)
		v.bits = truncate(v.bits, s.bytes)
	}
	switch s.extend {
	case "uxtb":
		v.bits = truncate(v.bits, 1)
	case "uxth":
		v.bits = truncate(v.bits, 2)
	case "uxtw":
		v.bits = truncate(v.bits, 4)
	case "sxtb":
		v.bits = uint64(signed(v.bits, 1))
	case "sxth":
		v.bits = uint64(signed(v.bits, 2))
	case "sxtw":
		v.bits = uint64(signed(v.bits, 4))
	case "lsr":
		return x.shiftRight(v, s.shift, s.bytes, false)
	case "asr":
		return x.shiftRight(v, s.shift, s.bytes, true)
	}
	v.bits <<= s.shift & 63
	return v
}

// A targetA64 is a register that is written.
type targetA64 struct {
	register asm.Register
	bytes    int
}

func targetA64Of(name string) targetA64 {
	return targetA64{asm.RegisterA64(name), bytesA64(name)}
}

func (t targetA64) set(x *Interpreter, v value) {
	if t.register != asm.NoRegister {
		v.bits = truncate(v.bits, t.bytes)
		x.write(t.register, v)
	}
}

// effectA64 is that of an instruction.
func effectA64(text string) effect {
	name, rest := asm.Mnemonic(asm.AArch64, text)
	operands := asm.SplitOperands(rest)
	op, _ := asm.OperationOf(asm.AArch64, text)
	switch kind, _ := asm.KindOf(asm.AArch64, text); kind {
	case disasm.Conditional, disasm.Jump, disasm.IndirectJump, disasm.Return, disasm.Trap:
		return func(*Interpreter) {}
	case disasm.Call, disasm.IndirectCall:
		return func(x *Interpreter) {
			for r := asm.Register(0); r <= 18; r++ {
				x.write(r, x.fresh(fromLoad))
			}
		}
	}
	if op.Load || op.Store {
		if e := memoryA64(name, operands, &op); e != nil {
			return e
		}
	}
	if e := arithmeticA64(name, operands); e != nil {
		return e
	}
	var memory *asm.Memory
	if m, index, ok := addressA64(op.Memory); ok && index == nil {
		memory = &m
	}
	return func(x *Interpreter) { x.otherwise(&op, memory, 16) }
}

// addressA64 reads [x0, x1, lsl #2]!, and what follows it.
func addressA64(operand string) (m asm.Memory, s *sourceA64, ok bool) {
	inner := strings.TrimSuffix(operand, "!")
	if !strings.HasPrefix(inner, "[") || !strings.HasSuffix(inner, "]") {
		return m, nil, false
	}
	parts := asm.SplitOperands(inner[1 : len(inner)-1])
	if len(parts) == 0 {
		return m, nil, false
	}
	m = asm.Memory{Base: asm.RegisterA64(parts[0]), Index: asm.NoRegister, Scale: 1}
	if m.Base == asm.NoRegister {
		return m, nil, false
	}
	if len(parts) > 1 {
		index, ok := sourceA64Of(parts, 1)
		if !ok {
			return m, nil, false
		}
		return m, &index, true
	}
	return m, nil, true
}

// memoryA64 is the effect of loads and stores.
func memoryA64(name string, operands []string, op *asm.Operation) effect {
	at := -1
	for i, o := range operands {
		if strings.HasPrefix(o, "[") {
			at = i
			break
		}
	}
	if at < 1 || strings.HasPrefix(operands[0], "{") {
		return nil
	}
	m, index, ok := addressA64(operands[at])
	if !ok {
		return nil
	}
	before := strings.HasSuffix(operands[at], "!")
	var after *sourceA64
	if at+1 < len(operands) {
		s, ok := sourceA64Of(operands, at+1)
		if !ok {
			return nil
		}
		after = &s
	}
	base, _, _ := strings.Cut(name, ".")
	signs := strings.Contains(base, "rs") || base == "ldpsw" // ldrsw
	bytes := bytesA64(operands[0])
	switch {
	case strings.HasSuffix(base, "sw"):
		bytes = 4
	case strings.HasSuffix(base, "b"):
		bytes = 1
	case strings.HasSuffix(base, "h"):
		bytes = 2
	}
	if bytes == 0 {
		bytes = 16
	}
	registers := operands[:at]
	if strings.HasPrefix(base, "stx") || strings.HasPrefix(base, "stlx") {
		registers = operands[1:at]
	}
	targets := make([]targetA64, len(registers))
	for i, r := range registers {
		targets[i] = targetA64Of(r)
	}
	load := op.Load
	writes := op.Writes
	return func(x *Interpreter) {
		address := x.address(&m)
		offset := value{}
		if index != nil {
			offset = index.get(x)
		}
		if index == nil || after == nil {
			address = value{address.bits + offset.bits, address.from | offset.from}
		}
		for i, t := range targets {
			one := value{address.bits + uint64(i*bytes), address.from}
			if load {
				v := x.load(one, bytes)
				if signs {
					v.bits = uint64(signed(v.bits, bytes))
				}
				t.set(x, v)
				continue
			}
			v := value{}
			if t.register != asm.NoRegister {
				v = x.read(t.register)
			}
			x.store(one, bytes, v)
		}
		if !load && len(writes) > 0 && len(targets) < len(operands[:at]) {
			x.write(writes[len(writes)-1], x.fresh(0)) // whether it was stored
		}
		switch {
		case before:
			x.write(m.Base, address)
		case after != nil:
			step := after.get(x)
			x.write(m.Base, value{address.bits + step.bits, address.from | step.from})
		}
	}
}

// arithmeticA64 is the effect of instructions that compute, nil of those whose values
// are not followed.
func arithmeticA64(name string, operands []string) effect {
	n := len(operands)
	if n == 0 || asm.RegisterA64(operands[0]) >= 32 && asm.RegisterA64(operands[0]) != asm.NoRegister && !strings.HasPrefix(name, "fcmp") {
		return nil
	}
	target := targetA64Of(operands[0])
	bytes := target.bytes
	compares := func(i int, negated bool, operands []string) effect {
		a, ok1 := sourceA64Of(operands[:i+1], i)
		b, ok2 := sourceA64Of(operands, i+1)
		if !ok1 || !ok2 {
			return nil
		}
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
	switch name {
	case "cmp", "cmn":
		return compares(0, name == "cmn", operands)
	case "ccmp", "ccmn":
		if n != 4 {
			return nil
		}
		compare := compares(0, name == "ccmn", operands[:2])
		bits, ok1 := immediateA64(operands[2])
		c, ok2 := asm.ConditionA64(operands[3])
		if compare == nil || !ok1 || !ok2 {
			return nil
		}
		return func(x *Interpreter) { x.compareIf(c, compare, bits) }
	case "fcmp", "fcmpe":
		if n != 2 {
			return nil
		}
		a, b := asm.RegisterA64(operands[0]), asm.RegisterA64(operands[1])
		return func(x *Interpreter) {
			v := value{}
			if b != asm.NoRegister {
				v = x.read(b)
			}
			x.compare(x.read(a), v, 8, b == asm.NoRegister, carryBelow)
			x.flags.ordered = true
		}
	case "tst":
		a, ok1 := sourceA64Of(operands[:1], 0)
		b, ok2 := sourceA64Of(operands, 1)
		if !ok1 || !ok2 {
			return nil
		}
		return func(x *Interpreter) {
			u, v := a.get(x), b.get(x)
			x.compare(value{u.bits & v.bits, u.from | v.from}, value{}, a.bytes, true, carryUnknown)
			x.giveFixed(true)
			if b.constant && v.bits&(v.bits-1) == 0 && u.from != 0 {
				x.flags.b.bits = v.bits
			}
		}
	case "cset", "csetm", "cinc", "cinv", "cneg", "csel", "csinc", "csinv", "csneg":
		return selectA64(name, operands, target)
	case "mov", "movz", "movn":
		s, ok := sourceA64Of(operands, 1)
		if !ok {
			return nil
		}
		return func(x *Interpreter) {
			v := s.get(x)
			if name == "movn" {
				v.bits = ^v.bits
			}
			target.set(x, v)
		}
	case "adr", "adrp":
		if n != 2 {
			return nil
		}
		v := value{bits: asm.Symbol(operands[1])}
		return func(x *Interpreter) { target.set(x, v) }
	case "movk":
		s, ok := sourceA64Of(operands, 1)
		if !ok || !s.constant || s.shift > 48 {
			return nil
		}
		return func(x *Interpreter) {
			v := x.read(target.register)
			v.bits = v.bits&^(0xffff<<s.shift) | s.get(x).bits
			target.set(x, v)
		}
	case "smull", "umull", "smaddl", "umaddl":
		a, ok1 := sourceA64Of(operands[:min(n, 2)], 1)
		b, ok2 := sourceA64Of(operands[:min(n, 3)], 2)
		c, ok3 := sourceA64{zero: true}, n == 3
		if n == 4 {
			c, ok3 = sourceA64Of(operands, 3)
		}
		if !ok1 || !ok2 || !ok3 {
			return nil
		}
		return func(x *Interpreter) {
			u, v, w := a.get(x), b.get(x), c.get(x)
			if name[0] == 's' {
				u.bits, v.bits = uint64(signed(u.bits, 4)), uint64(signed(v.bits, 4))
			}
			target.set(x, value{u.bits*v.bits + w.bits, u.from | v.from | w.from})
		}
	case "neg", "negs", "mvn", "sxtw", "sxth", "sxtb", "uxtw", "uxth", "uxtb":
		s, ok := sourceA64Of(operands, 1)
		if !ok {
			return nil
		}
		switch name[0] {
		case 's', 'u':
			s.extend, s.shift = name, 0
		}
		return func(x *Interpreter) {
			v := s.get(x)
			switch name {
			case "negs":
				x.compare(value{}, v, bytes, true, carryNonzero)
				v.bits = -v.bits
			case "neg":
				v.bits = -v.bits
			case "mvn":
				v.bits = ^v.bits
			}
			target.set(x, v)
		}
	case "ubfiz", "sbfiz", "ubfx", "sbfx", "bfi", "bfxil":
		if n != 4 {
			return nil
		}
		s, ok := sourceA64Of(operands[:2], 1)
		if !ok {
			return nil
		}
		low, ok1 := immediateA64(operands[2])
		width, ok2 := immediateA64(operands[3])
		if !ok1 || !ok2 || width == 0 || width > 64 {
			return nil
		}
		return func(x *Interpreter) {
			v := s.get(x)
			mask := ^uint64(0) >> (64 - width)
			switch {
			case name == "bfi":
				old := x.read(target.register)
				target.set(x, value{old.bits&^(mask<<(low&63)) | v.bits&mask<<(low&63), v.from | old.from})
				return
			case name == "bfxil":
				old := x.read(target.register)
				target.set(x, value{old.bits&^mask | v.bits>>(low&63)&mask, v.from | old.from})
				return
			case name[3] == 'x':
				v.bits >>= low & 63
			}
			shift := 64 - width
			if name[0] == 's' {
				v.bits = uint64(int64(v.bits<<shift) >> shift)
			} else {
				v.bits = v.bits << shift >> shift
			}
			if name[3] == 'i' {
				v.bits <<= low & 63
			}
			target.set(x, v)
		}
	}
	if n < 3 {
		return nil
	}
	a, ok1 := sourceA64Of(operands[:2], 1)
	b, ok2 := sourceA64Of(operands, 2)
	if !ok1 || !ok2 {
		return nil
	}
	switch name {
	case "add", "adds", "sub", "subs", "and", "ands", "orr", "orn", "eor", "eon", "bic", "bics", "lsl", "lsr", "asr", "mul", "adc", "adcs", "sbc", "sbcs":
	case "madd", "msub":
		if n != 4 {
			return nil
		}
		c, ok := sourceA64Of(operands, 3)
		if !ok {
			return nil
		}
		b, _ = sourceA64Of(operands[:3], 2)
		return func(x *Interpreter) {
			u, v, w := a.get(x), b.get(x), c.get(x)
			product := u.bits * v.bits
			if name == "msub" {
				product = -product
			}
			target.set(x, value{w.bits + product, u.from | v.from | w.from})
		}
	default:
		return nil
	}
	return func(x *Interpreter) {
		u, v := a.get(x), b.get(x)
		out := value{from: u.from | v.from}
		switch name {
		case "add", "adds":
			out.bits = u.bits + v.bits
		case "sub", "subs":
			out.bits = u.bits - v.bits
		case "and", "ands":
			out = x.masked(u, v)
		case "bic", "bics":
			v.bits = ^v.bits
			out = x.masked(u, v)
		case "orr":
			out.bits = u.bits | v.bits
		case "orn":
			out.bits = u.bits | ^v.bits
		case "eor":
			out.bits = u.bits ^ v.bits
		case "eon":
			out.bits = u.bits ^ ^v.bits
		case "lsl":
			out.bits = u.bits << (v.bits & uint64(8*bytes-1))
		case "lsr", "asr":
			out = x.shiftRight(u, v.bits, bytes, name == "asr")
			out.from |= v.from
		case "mul":
			out.bits = u.bits * v.bits
		case "adc", "adcs", "sbc", "sbcs":
			if name[0] == 's' {
				v.bits = truncate(^v.bits, bytes)
			}
			c := x.holds(asm.Condition{Relation: asm.AtLeast, Unsigned: true, Flag: asm.CarryFlag})
			out.bits = u.bits + v.bits + c.bits
			out.from |= c.from
		}
		switch name {
		case "subs":
			x.compare(u, v, bytes, b.constant, carryBelow)
		case "adds", "adcs", "sbcs":
			x.compare(out, value{}, bytes, true, carryUnknown)
			x.giveSum(u, v, out.bits, bytes)
		case "ands", "bics":
			x.compare(out, value{}, bytes, true, carryUnknown)
			x.giveFixed(true)
		}
		target.set(x, out)
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
