package interpret

import "profdiff/internal/asm"

// borrow is the condition that the carry is set.
var borrow = asm.Condition{Relation: asm.LessThan, Unsigned: true, Flag: asm.CarryFlag}

// result writes what comes out, and the flags of it but for carry and overflow.
func (in *instX86) result(x *Interpreter, v value) {
	x.compare(v, value{}, in.bytes, true, carryUnknown)
	in.last.set(x, v)
}

// top is the sign bit.
func (in *instX86) top(bits uint64) bool { return signed(bits, in.bytes) < 0 }

func (in *instX86) logic(x *Interpreter) {
	a, b := in.first.get(x), in.last.get(x)
	v := value{from: a.from | b.from}
	switch in.base {
	case "add":
		v.bits = a.bits + b.bits
	case "and":
		v = x.masked(a, b)
	case "or":
		v.bits = a.bits | b.bits
	case "xor":
		v.bits = a.bits ^ b.bits
		if in.same {
			v.from = 0
		}
	}
	in.result(x, v)
	if in.base == "add" {
		x.give(truncate(v.bits, in.bytes) < b.bits, in.top((a.bits^v.bits)&(b.bits^v.bits)))
	} else {
		x.giveFixed(false)
	}
}

func (in *instX86) subtract(x *Interpreter) {
	a, b := in.first.get(x), in.last.get(x)
	v := value{b.bits - a.bits, a.from | b.from}
	if in.same {
		v, a, b = value{}, value{}, value{}
	}
	x.compare(b, a, in.bytes, in.first.Immediate != nil, carryBelow)
	if in.base == "sub" {
		in.last.set(x, v)
	}
}

func (in *instX86) test(x *Interpreter) {
	a, b := in.first.get(x), in.last.get(x)
	x.compare(value{a.bits & b.bits, a.from | b.from}, value{}, in.bytes, true, carryUnknown)
	x.giveFixed(false)
	if mask := signed(a.bits, in.bytes); in.first.Immediate != nil && mask > 0 && mask&(mask-1) == 0 { // asks for one bit
		x.flags.b.bits = uint64(mask)
		if b.from == 0 {
			x.flags.b.bits = 0
		}
	}
}

// withCarry is adc and sbb.
func (in *instX86) withCarry(x *Interpreter) {
	c := x.holds(borrow)
	a, b := in.first.get(x), in.last.get(x)
	subtracts := in.base == "sbb"
	if in.same && subtracts {
		a, b = value{}, value{}
	}
	v := value{b.bits + a.bits + c.bits, a.from | b.from | c.from}
	if subtracts {
		v.bits = b.bits - a.bits - c.bits
	}
	flags := x.flags
	in.result(x, v)
	switch all := truncate(v.bits, in.bytes); {
	case !subtracts:
		x.give(all < b.bits || all == b.bits && c.bits != 0, in.top((a.bits^v.bits)&(b.bits^v.bits)))
	case !in.same:
		less := truncate(a.bits, in.bytes)
		x.give(b.bits < less || b.bits == less && c.bits != 0, in.top((a.bits^b.bits)&(b.bits^v.bits)))
	case flags.a.from|flags.b.from == 0:
		x.give(c.bits != 0, false)
	default:
		x.flags = flags // the carry stays
	}
}

// count is inc and dec.
func (in *instX86) count(x *Interpreter) {
	v := in.last.get(x)
	old, flags := v, x.flags
	if in.base == "inc" {
		v.bits++
	} else {
		v.bits--
	}
	in.result(x, v)
	x.give(false, in.top(old.bits^v.bits) && in.top(old.bits) == (in.base == "dec"))
	x.flags.below, x.flags.carried = flags.holds(borrow) // it stays
	x.flags.carried = x.flags.carried && flags.a.from|flags.b.from == 0
}

func (in *instX86) negate(x *Interpreter) {
	old := in.last.get(x)
	in.last.set(x, value{-old.bits, old.from})
	x.compare(value{}, old, in.bytes, true, carryNonzero)
}

func (in *instX86) invert(x *Interpreter) {
	v := in.last.get(x)
	v.bits = ^v.bits
	in.last.set(x, v)
}

func (in *instX86) shift(x *Interpreter) {
	count := value{bits: 1}
	if len(in.places) == 2 {
		count = in.first.get(x)
	}
	old := in.last.get(x)
	width := 8 * uint64(in.bytes)
	k := count.bits & (max(width, 32) - 1)
	v := old
	var out uint64 // the last bit that is shifted out
	switch in.base {
	case "shl", "sal":
		v.bits <<= k
		out = old.bits >> ((width - k) & 63)
	case "shr":
		v = x.shiftRight(v, k, in.bytes, false)
		out = old.bits >> ((k - 1) & 63)
	case "sar":
		v = x.shiftRight(v, k, in.bytes, true)
		out = uint64(signed(old.bits, in.bytes)) >> ((k - 1) & 63)
	}
	v.from |= count.from
	if k == 0 && count.from == 0 {
		in.last.set(x, v)
		return // the flags stay
	}
	in.result(x, v)
	if k <= width {
		x.give(out&1 != 0, in.base != "sar" && in.top(old.bits^v.bits))
	}
}

func (in *instX86) multiply(x *Interpreter) {
	a, b := in.first.get(x), in.places[1].get(x)
	in.result(x, value{a.bits * b.bits, a.from | b.from})
}

// bit is bt, which asks for a bit, and what changes it besides.
func (in *instX86) bit(x *Interpreter) {
	a, b := in.first.get(x), in.last.get(x)
	at := a.bits & uint64(8*in.bytes-1)
	x.compare(value{}, value{b.bits >> at & 1, a.from | b.from}, 8, true, carryNonzero)
	v := value{b.bits, a.from | b.from}
	switch in.base {
	case "bt":
		return
	case "bts":
		v.bits |= 1 << at
	case "btr":
		v.bits &^= 1 << at
	case "btc":
		v.bits ^= 1 << at
	}
	in.last.set(x, v)
}

func (in *instX86) move(x *Interpreter) { in.last.set(x, in.first.get(x)) }

func (in *instX86) addressOf(x *Interpreter) { in.last.set(x, x.address(in.first.Memory)) }

func (in *instX86) push(x *Interpreter) {
	v := in.first.get(x)
	top := x.read(asm.RSP)
	top.bits -= 8
	x.write(asm.RSP, top)
	x.store(top, 8, v)
}

func (in *instX86) pop(x *Interpreter) {
	top := x.read(asm.RSP)
	v := x.load(top, 8)
	top.bits += 8
	x.write(asm.RSP, top)
	in.last.set(x, v)
}

func (in *instX86) exchange(x *Interpreter) {
	a, b := in.first.get(x), in.last.get(x)
	in.first.set(x, b)
	in.last.set(x, a)
}

// signOfAccumulator extends the sign of %eax to %rax, or of %eax or %rax to %rdx.
func (in *instX86) signOfAccumulator(x *Interpreter) {
	v := x.read(asm.RAX)
	switch in.base {
	case "cltq", "cdqe":
		x.write(asm.RAX, value{uint64(signed(v.bits, 4)), v.from})
	case "cltd", "cdq":
		x.write(asm.RDX, x.shiftRight(v, 31, 4, true))
	default:
		x.write(asm.RDX, x.shiftRight(v, 63, 8, true))
	}
}
