package disasm

// x86Flow follows the general registers of x86.
type x86Flow struct {
	text   []byte
	start  uint64
	bits64 bool

	x x86Inst
}

const (
	rax = 0
	rcx = 1
	rdx = 2
	rbx = 3
	rbp = 5
	rsi = 6
	rdi = 7
	r8  = 8
	r11 = 11
)

func (f *x86Flow) decode(in *Inst) *x86Inst {
	at := byteReader{data: f.text}.at(in.Addr - f.start)
	decodeX86(at.rest(), f.bits64, &f.x)
	return &f.x
}

// reg and rm return the registers of ModRM.
func (x *x86Inst) reg() int8 { return int8(x.modrm>>3&7 | x.rex&4<<1) }
func (x *x86Inst) rm() int8  { return int8(x.modrm&7 | x.rex&1<<3) }

func (x *x86Inst) inRegister() bool { return x.modrm >= 0xc0 }

// wide reports whether the operands of an instruction have the size of an address.
func (f *x86Flow) wide(x *x86Inst) bool { return !f.bits64 || x.rex&8 != 0 }

// pointer returns the size of an address.
func (f *x86Flow) pointer() uint8 {
	if f.bits64 {
		return 8
	}
	return 4
}

// address returns the address of the memory operand.
func (f *x86Flow) address(s *state, x *x86Inst, in *Inst) (value, bool) {
	if x.segment || f.bits64 && x.address {
		return value{}, false
	}
	v := value{kind: constant, base: uint64(x.disp)}
	switch x.base {
	case regNone:
	case regIP:
		v.base += in.Next()
	default:
		b := s.regs[x.base]
		if b.kind == number && x.index == regNone && x.disp != 0 {
			return value{}, false // a field of a structure
		}
		var ok bool
		if v, ok = add(v, b); !ok {
			return value{}, false
		}
	}
	if x.index != regNone {
		n := uint8(0)
		for 1<<n < x.scale {
			n++
		}
		i, ok := shifted(s.regs[x.index], n)
		if !ok {
			return value{}, false
		}
		return add(v, i)
	}
	return v, true
}

// loaded returns what an operand of width bytes in memory has.
func (f *x86Flow) loaded(s *state, x *x86Inst, in *Inst, width uint8, signed bool) (value, bool) {
	if at := f.slot(x); s.slot.ok && at == (slot{true, s.slot.base, s.slot.index, s.slot.scale, s.slot.disp, at.id}) {
		return value{kind: number, id: s.slot.id}, true
	}
	v, ok := f.address(s, x, in)
	if !ok {
		return value{}, false
	}
	return load(v, width, signed)
}

func (f *x86Flow) slot(x *x86Inst) slot {
	return slot{true, x.base, x.index, x.scale, x.disp, origin{}}
}

// operand returns the value of the operand that ModRM's rm selects.
func (f *x86Flow) operand(s *state, x *x86Inst, in *Inst, width uint8, signed bool) (value, bool) {
	if x.inRegister() {
		v := s.regs[x.rm()]
		return v, v.kind != 0
	}
	return f.loaded(s, x, in, width, signed)
}

// assign gives a register v, or an unknown number if not ok.
func assign(s *state, reg int8, addr uint64, v value, ok bool) {
	if ok {
		s.set(reg, v)
	} else {
		s.define(reg, addr)
	}
}

// narrow returns the value of the low bytes of a register as an unsigned number.
func narrow(v value, width uint8) (value, bool) {
	limit := uint64(1)<<(8*width) - 1
	switch {
	case v.kind == constant:
		v.base &= limit
	case v.kind == number && v.base == 0 && v.shift == 0:
		if v.limit == 0 || v.limit > limit {
			v.limit = limit
		}
	case v.kind == entry && v.base == 0 && v.shift == 0 && v.width == width:
		v.signed = false
	default:
		return value{}, false
	}
	return v, true
}

// truncated returns what 32 bits of a value are as an unsigned number. Tables have
// fewer than 2^32 entries and code is taken to do the right thing.
func truncated(v value) (value, bool) {
	switch {
	case v.kind == constant:
		v.base &= 0xffffffff
		return v, true
	case v.kind == number && v.base == 0 && v.shift == 0:
		return v, true
	case v.kind == entry && v.base == 0 && v.width <= 4 && !v.signed:
		return v, true
	case v.kind == entry && v.base == 0 && v.width == 4:
		v.signed = false
		return v, true
	}
	return value{}, false
}

func (f *x86Flow) step(s *state, in *Inst) {
	x := f.decode(in)
	flags := s.flags
	s.flags.ok = false
	if x.vector != legacy {
		f.vector(s, x, in)
		return
	}
	switch x.opmap {
	case mapOne:
		if f.one(s, x, in) {
			s.flags = flags
		}
	case map0F:
		if f.two(s, x, in) {
			s.flags = flags
		}
	default:
		f.clobber(s, in, x.reg(), x.rm())
	}
}

// clobber gives registers unknown numbers.
func (f *x86Flow) clobber(s *state, in *Inst, regs ...int8) {
	for _, r := range regs {
		s.define(r, in.Addr)
	}
}

// written handles an instruction that writes the operand of rm in a way that is not
// followed.
func (f *x86Flow) written(s *state, x *x86Inst, in *Inst, isByte bool) {
	if x.inRegister() {
		s.define(x.rm(), in.Addr)
		if isByte {
			s.define(x.rm()&^4, in.Addr) // AH and others
		}
		return
	}
	s.slot.ok = false
}

// one applies an instruction of the map of one byte. It reports whether the flags
// are as before.
func (f *x86Flow) one(s *state, x *x86Inst, in *Inst) bool {
	size := uint8(4)
	switch {
	case x.rex&8 != 0:
		size = 8
	case x.operand:
		size = 2
	}
	switch op := x.op; {
	case op < 0x40:
		f.arithmetic(s, x, in, size)
	case op == 0x80 || op == 0x81 || op == 0x83:
		f.withImmediate(s, x, in, size)
	case op >= 0x84 && op <= 0x98:
		return f.moves(s, x, in, size)
	case op < 0x50: // inc, dec
		s.define(int8(op&7), in.Addr)
	case op < 0x58: // push
		return true
	case op < 0x60: // pop
		s.define(int8(op&7|x.rex&1<<3), in.Addr)
		return true
	case op == 0x63 && f.bits64: // movslq
		v, ok := f.operand(s, x, in, 4, true)
		if ok && x.inRegister() && v.kind == entry {
			ok = v.width == 4 && v.base == 0 && v.shift == 0
			v.signed = true
		} else if ok && x.inRegister() {
			v, ok = truncated(v)
		}
		assign(s, x.reg(), in.Addr, v, ok)
		return true
	case op == 0x69 || op == 0x6b:
		s.define(x.reg(), in.Addr)
	case op == 0x68 || op == 0x6a:
		return true
	case op >= 0x70 && op <= 0x7f:
		return true
	case op == 0x99:
		s.define(rdx, in.Addr)
		return true
	case op == 0xa8 || op == 0xa9: // test
	case op >= 0xa4 && op <= 0xa7, op >= 0xaa && op <= 0xaf: // movs, stos and so on
		f.clobber(s, in, rax, rcx, rsi, rdi)
		s.slot.ok = false
	case op == 0x9b, op >= 0xf8 && op <= 0xfd: // fwait; clc, cld and so on
	case op == 0xc9: // leave
		s.define(rbp, in.Addr)
		return true
	case op >= 0xb0 && op <= 0xb7:
		r := int8(op&7 | x.rex&1<<3)
		f.clobber(s, in, r, r&^4)
		return true
	case op >= 0xb8 && op <= 0xbf:
		n := uint64(x.imm)
		if size == 4 {
			n &= 0xffffffff
		}
		s.set(int8(op&7|x.rex&1<<3), value{kind: constant, base: n})
		return true
	case op == 0xc1 && x.inRegister() && x.reg()&7 == 4: // shl imm, rm
		v, ok := shifted(s.regs[x.rm()], uint8(x.imm&63))
		assign(s, x.rm(), in.Addr, v, ok)
	case op == 0xc0 || op == 0xc1 || op >= 0xd0 && op <= 0xd3:
		f.written(s, x, in, op&1 == 0)
	case op == 0xc6 || op == 0xc7:
		f.written(s, x, in, op == 0xc6)
		return true
	case op == 0xf6 || op == 0xf7:
		switch x.reg() & 7 {
		case 0, 1: // test
		case 2, 3:
			f.written(s, x, in, op == 0xf6)
		default:
			f.clobber(s, in, rax, rdx)
		}
	case op == 0xfe, op == 0xff && x.reg()&7 < 2:
		f.written(s, x, in, op == 0xfe)
	case op == 0xff && x.reg()&7 == 6, op == 0xeb, op == 0xe9:
		return true
	case in.Kind == Call || in.Kind == IndirectCall:
		f.clobber(s, in, rax, rcx, rdx)
		if f.bits64 {
			f.clobber(s, in, rsi, rdi, r8, 9, 10, r11)
		}
		s.slot.ok = false
	case op >= 0xd8 && op <= 0xdf:
		s.define(rax, in.Addr) // fnstsw
		s.slot.ok = false
	case in.Kind.falls():
		f.unknown(s, in)
	}
	return false
}

// unknown applies an instruction that may change anything.
func (f *x86Flow) unknown(s *state, in *Inst) {
	for r := range int8(16) {
		s.define(r, in.Addr)
	}
	s.slot.ok = false
}

// arithmetic applies the operations on a register and another one or memory, and on rax
// and an immediate.
func (f *x86Flow) arithmetic(s *state, x *x86Inst, in *Inst, size uint8) {
	switch op := x.op; {
	case op == 0x38 || op == 0x39: // cmp rm, reg
		if v := s.regs[x.reg()]; v.kind == constant {
			f.compare(s, x, in, v.base, op == 0x38, size)
		}
	case op == 0x3a || op == 0x3b: // cmp reg, rm
		if x.inRegister() && s.regs[x.rm()].kind == constant {
			s.compare(x.reg(), s.regs[x.rm()].base, in.Addr)
		}
	case op == 0x3c || op == 0x3d: // cmp imm, rax
		s.compare(rax, ofSize(uint64(x.imm), op == 0x3c, size), in.Addr)
	case op == 0x01 && x.inRegister() && (size == 8 || !f.bits64): // add reg, rm
		v, ok := add(s.regs[x.rm()], s.regs[x.reg()])
		assign(s, x.rm(), in.Addr, v, ok)
	case op == 0x03 && (size == 8 || !f.bits64): // add rm, reg
		v, ok := value{}, false
		if x.inRegister() {
			v, ok = add(s.regs[x.reg()], s.regs[x.rm()])
		} else if table, found := f.loaded(s, x, in, f.pointer(), true); found {
			v, ok = add(s.regs[x.reg()], table)
		}
		assign(s, x.reg(), in.Addr, v, ok)
	case (op == 0x31 || op == 0x33 || op == 0x29 || op == 0x2b) && x.inRegister() && x.reg() == x.rm():
		s.set(x.reg(), value{kind: constant})
	case op == 0x25 && x.imm > 0: // and imm, rax
		id := s.define(rax, in.Addr)
		s.bind(bound{id, uint64(x.imm), true})
	default:
		switch op & 7 {
		case 0, 1:
			f.written(s, x, in, op&1 == 0)
		case 2, 3:
			s.define(x.reg(), in.Addr)
			if op&1 == 0 {
				s.define(x.reg()&^4, in.Addr)
			}
		default:
			s.define(rax, in.Addr)
		}
	}
}

// withImmediate applies the same operations with an immediate.
func (f *x86Flow) withImmediate(s *state, x *x86Inst, in *Inst, size uint8) {
	switch operation := x.reg() & 7; {
	case operation == 7: // cmp
		f.compare(s, x, in, uint64(x.imm), x.op == 0x80, size)
	case operation == 4 && x.op != 0x80 && x.inRegister() && x.imm > 0: // and imm, rm
		id := s.define(x.rm(), in.Addr)
		s.bind(bound{id, uint64(x.imm), true})
	case operation == 0 && x.op != 0x80 && x.inRegister() && (size == 8 || !f.bits64) && s.regs[x.rm()].kind == constant:
		v := s.regs[x.rm()]
		v.base += uint64(x.imm)
		s.set(x.rm(), v)
	default:
		f.written(s, x, in, x.op == 0x80)
	}
}

// moves applies what copies, exchanges, tests and extends. It reports whether the flags are
// as before.
func (f *x86Flow) moves(s *state, x *x86Inst, in *Inst, size uint8) bool {
	switch op := x.op; {
	case op == 0x84 || op == 0x85: // test
	case op == 0x89 && x.inRegister():
		f.move(s, x.rm(), s.regs[x.reg()], in, size)
		return true
	case op == 0x88 || op == 0x89:
		f.written(s, x, in, op == 0x88)
		return true
	case op == 0x86 || op == 0x87: // xchg
		f.written(s, x, in, op == 0x86)
		f.clobber(s, in, x.reg(), x.reg()&^4)
		return true
	case op == 0x8a:
		f.clobber(s, in, x.reg(), x.reg()&^4)
		return true
	case op == 0x8c:
		f.written(s, x, in, false)
		return true
	case op == 0x8b:
		v, ok := f.operand(s, x, in, size, false)
		if !ok {
			s.define(x.reg(), in.Addr)
		} else {
			f.move(s, x.reg(), v, in, size)
		}
		return true
	case op == 0x8d:
		v, ok := f.address(s, x, in)
		if !f.wide(x) {
			if ok {
				v, ok = truncated(v)
			}
		}
		assign(s, x.reg(), in.Addr, v, ok)
		return true
	case op == 0x90:
		return true
	case op > 0x90 && op < 0x98: // xchg
		f.clobber(s, in, rax, int8(op&7|x.rex&1<<3))
		return true
	case op == 0x98:
		// Extends eax, which is taken to be as it was.
		v := s.regs[rax]
		switch {
		case size == 8 && v.kind == entry && v.width == 4 && v.base == 0 && v.shift == 0:
			v.signed = true
			s.set(rax, v)
		case size == 8 && v.kind == number && v.base == 0:
		default:
			s.define(rax, in.Addr)
		}
		return true
	default:
		f.unknown(s, in)
	}
	return false
}

// move copies a value.
func (f *x86Flow) move(s *state, to int8, v value, in *Inst, size uint8) {
	ok := v.kind != 0
	switch {
	case size == 2:
		ok = false
	case size == 4 && f.bits64:
		v, ok = truncated(v)
	}
	assign(s, to, in.Addr, v, ok)
}

// compare notes cmp imm, rm.
func (f *x86Flow) compare(s *state, x *x86Inst, in *Inst, n uint64, isByte bool, size uint8) {
	n = ofSize(n, isByte, size)
	if x.inRegister() {
		if isByte && x.rex == 0 && x.modrm&4 != 0 {
			return // AH and others
		}
		s.compare(x.rm(), n, in.Addr)
		return
	}
	if x.segment {
		return
	}
	s.slot = f.slot(x)
	s.slot.id = origin{in.Addr, 0, inMemory}
	id := s.slot.id
	s.forget(id)
	s.slot = f.slot(x)
	s.slot.id = id
	s.compareValue(value{kind: number, id: id}, n)
}

// ofSize returns the low bytes of an immediate.
func ofSize(n uint64, isByte bool, size uint8) uint64 {
	if isByte {
		size = 1
	}
	return n & (1<<(8*size) - 1)
}

// two applies an instruction of the map after 0f. It reports whether the flags are
// as before.
func (f *x86Flow) two(s *state, x *x86Inst, in *Inst) bool {
	switch op := x.op; {
	case op >= 0x80 && op <= 0x8f, op == 0x1e, op == 0x1f, op == 0x18, op == 0x0d:
		return true
	case op >= 0x40 && op <= 0x4f:
		s.define(x.reg(), in.Addr)
		return true
	case op >= 0x90 && op <= 0x9f:
		f.written(s, x, in, true)
		return true
	case op == 0xb6 || op == 0xb7: // movzb, movzw
		width := op - 0xb5
		v, ok := f.operand(s, x, in, width, false)
		if ok && x.inRegister() && op == 0xb6 && x.rex == 0 && x.modrm&4 != 0 {
			ok = false
		}
		if !ok && !x.inRegister() {
			s.narrowed(x.reg(), in.Addr, 8*int(width))
			return true
		}
		if !ok && x.rm() != x.reg() {
			s.narrowed(x.reg(), in.Addr, 8*int(width))
			return true
		}
		if ok {
			v, ok = narrow(v, width)
		}
		if !ok {
			s.narrowed(x.reg(), in.Addr, 8*int(width))
			return true
		}
		s.set(x.reg(), v)
		return true
	case op == 0xbe || op == 0xbf: // movsb, movsw
		width := op - 0xbd
		v, ok := f.operand(s, x, in, width, true)
		if ok && x.inRegister() {
			ok = v.kind == entry && v.base == 0 && v.shift == 0 && v.width == width
			v.signed = true
		}
		assign(s, x.reg(), in.Addr, v, ok)
		return true
	case op == 0xaf, op == 0xb8, op == 0xbc, op == 0xbd:
		s.define(x.reg(), in.Addr)
	case op == 0xa3:
	case op == 0xab, op == 0xb3, op == 0xbb, op == 0xba, op == 0xa4, op == 0xa5, op == 0xac, op == 0xad:
		f.written(s, x, in, false)
	case op >= 0xc8 && op <= 0xcf:
		s.define(int8(op&7|x.rex&1<<3), in.Addr)
		return true
	case op == 0x2e || op == 0x2f: // ucomis changes flags
	case op == 0x11, op == 0x13, op == 0x17, op == 0x29, op == 0x2b, op == 0x7f, op == 0xd6, op == 0xe7:
		s.slot.ok = false // stores
		return true
	case op >= 0x10 && op <= 0x2b && op&0xf8 != 0x20, op >= 0x51 && op <= 0x7d, op == 0xc2, op == 0xc6,
		op >= 0xd0 && op != 0xd7:
		return true // vector registers
	case op == 0xa2 || op == 0x05 || op == 0x34 || op == 0x01: // cpuid, syscall, xgetbv
		f.clobber(s, in, rax, rbx, rcx, rdx, r11)
		s.slot.ok = false
	case op == 0x31 || op == 0x32: // rdtsc, rdmsr
		f.clobber(s, in, rax, rdx)
	default:
		f.clobber(s, in, rax)
		if x.hasModRM {
			f.clobber(s, in, x.reg())
			f.written(s, x, in, true)
		}
		s.slot.ok = false
	}
	return false
}

// vector applies an instruction with VEX, EVEX or XOP prefix. Few of them write
// general registers.
func (f *x86Flow) vector(s *state, x *x86Inst, in *Inst) {
	s.slot.ok = s.slot.ok && x.inRegister()
	if x.opmap == map0F {
		switch x.op {
		case 0x2c, 0x2d, 0x50, 0x93, 0xc5, 0xd7:
			s.define(x.reg(), in.Addr)
		case 0x7e:
			s.define(x.rm(), in.Addr)
		}
		return
	}
	if x.vector == vex && (x.opmap != map0F3A || x.op < 0x18 || x.op == 0xf0) || x.opmap >= mapXOP8 {
		// BMI, and extractions. mulx and blsr write a register that is in the prefix.
		f.clobber(s, in, x.reg(), x.rm())
		if x.op == 0xf3 || x.op == 0xf6 || x.opmap >= mapXOP8 {
			for r := range int8(16) {
				s.define(r, in.Addr)
			}
		}
	} else if x.op < 0x18 || x.op >= 0x78 && x.op <= 0x7c {
		f.clobber(s, in, x.reg(), x.rm())
	}
}

func (f *x86Flow) target(s *state, in *Inst) value {
	x := f.decode(in)
	if x.reg()&7 != 4 {
		return value{} // far
	}
	if x.inRegister() {
		return s.regs[x.rm()]
	}
	v, ok := f.loaded(s, x, in, f.pointer(), false)
	if !ok || x.index == regNone && v.kind == entry && x.base == regIP {
		return value{}
	}
	return v
}

func (f *x86Flow) edge(s *state, in *Inst, taken bool) (bound, bool) {
	x := f.decode(in)
	if !s.flags.ok || x.vector != legacy || x.opmap == mapOne && x.op&0xf0 != 0x70 || x.opmap > map0F {
		return bound{}, false
	}
	var below, equal bool // what holds if the branch is taken
	switch x.op & 0xf {
	case 2: // b
		below, equal = true, false
	case 3: // ae
		below, equal = false, true
	case 6: // be
		below, equal = true, true
	case 7: // a
		below, equal = false, false
	case 4: // e
		if taken {
			return bound{s.flags.id, s.flags.max, false}, true
		}
		return bound{}, false
	default:
		return bound{}, false
	}
	if !taken {
		below, equal = !below, !equal
	}
	switch {
	case !below || !equal && s.flags.max == 0:
		return bound{}, false
	case equal:
		return bound{s.flags.id, s.flags.max, false}, true
	}
	return bound{s.flags.id, s.flags.max - 1, false}, true
}
