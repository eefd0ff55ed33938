package unwind

// Operations of DWARF 5, table 7.9, which compilers and C libraries use in call frame
// information. There are no branches: nothing emits them, and without them each expression ends.
const (
	opAddr       = 0x03
	opDeref      = 0x06
	opConst1u    = 0x08
	opConst1s    = 0x09
	opConst2u    = 0x0a
	opConst2s    = 0x0b
	opConst4u    = 0x0c
	opConst4s    = 0x0d
	opConst8u    = 0x0e
	opConst8s    = 0x0f
	opConstu     = 0x10
	opConsts     = 0x11
	opDup        = 0x12
	opDrop       = 0x13
	opOver       = 0x14
	opPick       = 0x15
	opSwap       = 0x16
	opRot        = 0x17
	opAbs        = 0x19
	opAnd        = 0x1a
	opDiv        = 0x1b
	opMinus      = 0x1c
	opMod        = 0x1d
	opMul        = 0x1e
	opNeg        = 0x1f
	opNot        = 0x20
	opOr         = 0x21
	opPlus       = 0x22
	opPlusUconst = 0x23
	opShl        = 0x24
	opShr        = 0x25
	opShra       = 0x26
	opXor        = 0x27
	opEq         = 0x29
	opGe         = 0x2a
	opGt         = 0x2b
	opLe         = 0x2c
	opLt         = 0x2d
	opNe         = 0x2e
	opLit0       = 0x30
	opReg0       = 0x50
	opBreg0      = 0x70
	opRegx       = 0x90
	opBregx      = 0x92
	opDerefSize  = 0x94
	opNop        = 0x96
)

const (
	maxExpressionDepth = 64
	maxExpressionSteps = 256
	// maxStackSteps bounds the operations of all expressions for a stack: a register
	// seldom has one, and they have three operations or four.
	maxStackSteps = 1 << 16
)

// expressionStack is where an expression is evaluated.
type expressionStack [maxExpressionDepth]uint64

// evaluate returns the value of the expression at an offset of data. The
// stack holds first at the start, if push is set.
func (u *Unwinder) evaluate(data []byte, at int32, first uint64, push bool) (v uint64, ok bool) {
	c := cursor{data: data, off: int(at)}
	size := c.uleb()
	if size > uint64(len(c.data)-c.off) {
		return 0, false
	}
	c.data = c.data[:c.off+int(size)]
	s, n := &u.stackOfExpression, 0
	if push {
		s[0], n = first, 1
	}
	for steps := 0; c.more(); steps++ {
		if u.steps++; steps == maxExpressionSteps || u.steps > maxStackSteps {
			return 0, false
		}
		op := c.u8()
		needs, makes := 0, 1
		switch {
		case op >= opAbs && op <= opNe && op != opAbs && op != opNeg && op != opNot && op != opPlusUconst:
			needs = 2
		case op == opAbs, op == opNeg, op == opNot, op == opPlusUconst, op == opDeref, op == opDerefSize:
			needs = 1
		}
		if n < needs || n-needs+makes > maxExpressionDepth {
			return 0, false
		}
		if needs == 2 {
			v, ok := combine(op, s[n-2], s[n-1])
			if !ok {
				return 0, false
			}
			n--
			s[n-1] = u.truncated(v)
			continue
		}
		if n, ok = u.operate(op, &c, s, n); !ok || c.bad {
			return 0, false
		}
		if n > 0 {
			s[n-1] = u.truncated(s[n-1])
		}
	}
	if n == 0 || c.bad {
		return 0, false
	}
	return s[n-1], true
}

// operand returns the value of a register, which may be the program counter: expressions of
// PLT entries depend on how far in the entry it is.
func (u *Unwinder) operand(register uint8) (v uint64, ok bool) {
	if register == u.arch.pc && u.arch.pc != none {
		return u.regs.PC, true
	}
	return u.regs.get(register)
}

// truncated cuts a value to the size of an address.
func (u *Unwinder) truncated(v uint64) uint64 {
	if u.arch.word == 4 {
		return uint64(uint32(v))
	}
	return v
}

// operate follows an operation that is not binary on the n values of a stack that has room
// for one more. It returns how many there are afterwards.
func (u *Unwinder) operate(op uint8, c *cursor, s *expressionStack, n int) (int, bool) {
	push := func(v uint64) (int, bool) {
		s[n] = v
		return n + 1, true
	}
	switch {
	case op >= opLit0 && op < opReg0:
		return push(uint64(op - opLit0))
	case op >= opBreg0 && op < opRegx:
		v, ok := u.operand(op - opBreg0)
		if !ok {
			return n, false
		}
		return push(v + uint64(c.sleb()))
	}
	switch op {
	case opNop:
	case opAddr:
		return push(c.uint(u.arch.word))
	case opConst1u:
		return push(c.uint(1))
	case opConst1s:
		return push(c.int(1))
	case opConst2u:
		return push(c.uint(2))
	case opConst2s:
		return push(c.int(2))
	case opConst4u:
		return push(c.uint(4))
	case opConst4s:
		return push(c.int(4))
	case opConst8u:
		return push(c.uint(8))
	case opConst8s:
		return push(c.int(8))
	case opConstu:
		return push(c.uleb())
	case opConsts:
		return push(uint64(c.sleb()))
	case opBregx:
		r := c.uleb()
		if r >= NumRegisters {
			return n, false
		}
		v, ok := u.operand(uint8(r))
		if !ok {
			return n, false
		}
		return push(v + uint64(c.sleb()))
	case opDup, opOver, opPick:
		below := 0
		switch op {
		case opOver:
			below = 1
		case opPick:
			below = int(c.u8())
		}
		if below >= n {
			return n, false
		}
		return push(s[n-1-below])
	case opDrop:
		return n - 1, n > 0
	case opSwap:
		if n < 2 {
			return n, false
		}
		s[n-1], s[n-2] = s[n-2], s[n-1]
	case opRot:
		if n < 3 {
			return n, false
		}
		s[n-1], s[n-2], s[n-3] = s[n-2], s[n-3], s[n-1]
	case opDeref, opDerefSize:
		size := u.arch.word
		if op == opDerefSize {
			size = uint64(c.u8())
		}
		v, ok := u.read(s[n-1], size)
		s[n-1] = v
		return n, ok
	case opAbs:
		if int64(s[n-1]) < 0 {
			s[n-1] = -s[n-1]
		}
	case opNeg:
		s[n-1] = -s[n-1]
	case opNot:
		s[n-1] = ^s[n-1]
	case opPlusUconst:
		s[n-1] += c.uleb()
	default:
		return n, false
	}
	return n, true
}

// combine computes a op b.
func combine(op uint8, a, b uint64) (v uint64, ok bool) {
	truth := func(is bool) (uint64, bool) {
		if is {
			return 1, true
		}
		return 0, true
	}
	switch op {
	case opAnd:
		return a & b, true
	case opDiv:
		if b == 0 {
			return 0, false
		}
		return uint64(int64(a) / int64(b)), true
	case opMinus:
		return a - b, true
	case opMod:
		if b == 0 {
			return 0, false
		}
		return a % b, true
	case opMul:
		return a * b, true
	case opOr:
		return a | b, true
	case opPlus:
		return a + b, true
	case opShl:
		return a << b, true
	case opShr:
		return a >> b, true
	case opShra:
		return uint64(int64(a) >> b), true
	case opXor:
		return a ^ b, true
	case opEq:
		return truth(a == b)
	case opGe:
		return truth(int64(a) >= int64(b))
	case opGt:
		return truth(int64(a) > int64(b))
	case opLe:
		return truth(int64(a) <= int64(b))
	case opLt:
		return truth(int64(a) < int64(b))
	case opNe:
		return truth(a != b)
	}
	return 0, false
}
