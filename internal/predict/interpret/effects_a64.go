package interpret

import (
	"strconv"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
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

// effectA64 says what an instruction does.
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
	if e := effectGeneralA64(name, operands); e != nil {
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
