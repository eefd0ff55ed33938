package disasm

// maxX86 is the length that no instruction of x86 exceeds.
const maxX86 = 15

// x86Inst is an instruction of x86 as it is encoded.
type x86Inst struct {
	length   int
	opmap    x86Map
	op       uint8 // opcode
	vector   x86Vector
	rex      uint8 // REX prefix, or what VEX has in its place, with W
	modrm    uint8
	hasModRM bool
	operand  bool  // 66 prefix
	address  bool  // 67 prefix
	segment  bool  // FS or GS prefix, which change the address
	rep      uint8 // f2 or f3 prefix
	base     int8  // register of the memory operand, or regNone, regIP
	index    int8  // register or regNone
	scale    uint8 // 1, 2, 4, 8
	disp     int64
	imm      int64 // immediate, relative target or address
}

const (
	regNone = -1
	regIP   = 16 // base of addresses relative to the next instruction
)

// x86Map is a table of opcodes: of one byte, after 0f, and so on. VEX, EVEX and
// XOP number them, and 4 to 10 exist only there.
type x86Map uint8

const (
	mapOne x86Map = iota
	map0F
	map0F38
	map0F3A
	map5    x86Map = 5
	map6    x86Map = 6
	map7    x86Map = 7
	mapXOP8 x86Map = 8
	mapXOP9 x86Map = 9
	mapXOPA x86Map = 10
)

type x86Vector uint8

const (
	legacy x86Vector = iota
	vex              // prefixes c4, c5 and XOP's 8f
	evex             // prefix 62
)

// What follows the opcodes of a byte, one letter each in rows of 16:
//
//	.  nothing                m  ModRM
//	b  imm8                   B  ModRM, imm8
//	w  imm16                  q  ModRM, two imm8 with prefix 66 or f2
//	z  imm of operand size    Z  ModRM, imm of operand size
//	v  the same, or imm64     G  ModRM, imm if reg is 0 or 1
//	e  imm16, imm8            r  ModRM of registers, whatever mod says
//	j  rel8                   J  rel32, or rel16
//	o  address                f  far address, not in 64-bit mode
//	p  prefix                 -  not an opcode
//	s  nothing, not in 64-bit mode
//	c  imm8, not in 64-bit mode
//	y  ModRM and imm8, not in 64-bit mode
const x86OneByte = "" +
	"mmmmbzssmmmmbzsp" + // 00
	"mmmmbzssmmmmbzss" + // 10
	"mmmmbzpsmmmmbzps" + // 20
	"mmmmbzpsmmmmbzps" + // 30
	"ssssssssssssssss" + // 40
	"................" + // 50
	"ssmmppppzZbB...." + // 60
	"jjjjjjjjjjjjjjjj" + // 70
	"BZyBmmmmmmmmmmmm" + // 80
	"..........f....." + // 90
	"oooo....bz......" + // a0
	"bbbbbbbbvvvvvvvv" + // b0
	"BBw.mmBZe.w..bs." + // c0
	"mmmmccs.mmmmmmmm" + // d0
	"jjjjbbbbJJfj...." + // e0
	"p.pp..GG......mm" //   f0

const x860F = "" +
	"mmmm-.....-.-m.B" + // 00
	"mmmmmmmmmmmmmmmm" + // 10
	"rrrr----mmmmmmmm" + // 20
	"......-.p-p-----" + // 30
	"mmmmmmmmmmmmmmmm" + // 40
	"mmmmmmmmmmmmmmmm" + // 50
	"mmmmmmmmmmmmmmmm" + // 60
	"BBBBmmm.qm--mmmm" + // 70
	"JJJJJJJJJJJJJJJJ" + // 80
	"mmmmmmmmmmmmmmmm" + // 90
	"...mBmmm...mBmmm" + // a0
	"mmmmmmmmmmBmmmmm" + // b0
	"mmBmBBBm........" + // c0
	"mmmmmmmmmmmmmmmm" + // d0
	"mmmmmmmmmmmmmmmm" + // e0
	"mmmmmmmmmmmmmmmm" //   f0

// decodeX86 decodes the instruction at the beginning of data into x. It reports
// whether there is one.
func decodeX86(data []byte, bits64 bool, x *x86Inst) bool {
	if len(data) > maxX86 {
		data = data[:maxX86]
	}
	c := byteReader{data: data}
	*x = x86Inst{base: regNone, index: regNone}

prefixes:
	for !c.bad {
		x.op = c.u8()
		switch x.op {
		case 0x26, 0x2e, 0x36, 0x3e, 0xf0:
		case 0x64, 0x65:
			x.segment = true
		case 0x66:
			x.operand = true
		case 0x67:
			x.address = true
		case 0xf2, 0xf3:
			x.rep = x.op
		default:
			if !bits64 || x.op&0xf0 != 0x40 {
				break prefixes
			}
			x.rex = x.op // counts only right before the opcode
			continue
		}
		x.rex = 0
	}

	var form byte
	switch next := c.peek(); {
	case x.op == 0x0f:
		form = x.escaped(&c)
	case (x.op == 0xc4 || x.op == 0xc5 || x.op == 0x62) && (bits64 || next >= 0xc0):
		form = x.prefixed(&c, bits64)
	case x.op == 0x8f && next&0x1f >= 8: // in POP the reg field is 0
		form = x.prefixed(&c, bits64)
	default:
		form = x86OneByte[x.op]
	}
	if bits64 {
		switch form {
		case 's', 'c', 'y', 'f':
			return false
		}
	}
	switch form {
	case 'm', 'B', 'Z', 'q', 'G', 'r', 'y':
		x.hasModRM = true
		x.modrm = c.u8()
		if x.modrm < 0xc0 && form != 'r' {
			if bits64 || !x.address {
				x.memory(&c, bits64)
			} else {
				x.memory16(&c)
			}
		}
	}
	x.immediate(&c, form, bits64)
	x.length = c.off
	return !c.bad && form != '-' && form != 'p' && x.defined()
}

// escaped reads the opcode after 0f and returns its form.
func (x *x86Inst) escaped(c *byteReader) byte {
	x.opmap = map0F
	x.op = c.u8()
	switch x.op {
	case 0x38:
		x.opmap, x.op = map0F38, c.u8()
		return 'm'
	case 0x3a:
		x.opmap, x.op = map0F3A, c.u8()
		return 'B'
	}
	return x860F[x.op]
}

// prefixed reads a VEX, EVEX or XOP prefix, whose first byte is in x.op, and the
// opcode, and returns its form.
func (x *x86Inst) prefixed(c *byteReader, bits64 bool) byte {
	if x.rex != 0 || x.operand || x.rep != 0 {
		return '-'
	}
	first := x.op
	p0 := c.u8()
	x.vector = vex
	switch first {
	case 0xc5:
		x.opmap = map0F
		x.rex = ^p0 >> 5 & 4
		p0 &= 3 // pp
	default:
		if first == 0x62 {
			x.vector = evex
			x.opmap = x86Map(p0 & 7)
			if p0&8 != 0 {
				return '-'
			}
		} else {
			x.opmap = x86Map(p0 & 0x1f)
		}
		x.rex = ^p0 >> 5 & 7
		p1 := c.u8()
		x.rex |= p1 >> 4 & 8
		p0 = p1 & 3
		if first == 0x62 {
			if p1&4 == 0 {
				return '-'
			}
			c.u8()
		}
	}
	switch p0 {
	case 1:
		x.operand = true
	case 2:
		x.rep = 0xf3
	case 3:
		x.rep = 0xf2
	}
	if !bits64 {
		x.rex = 0
	}
	x.op = c.u8()
	if (first == 0x8f) != (x.opmap >= mapXOP8) {
		return '-'
	}
	switch x.opmap {
	case map0F:
		switch {
		case x.op == 0x77 && x.vector == vex:
			return '.' // vzeroupper, vzeroall
		case x.op >= 0x70 && x.op <= 0x73, x.op == 0xc2, x.op >= 0xc4 && x.op <= 0xc6:
			return 'B'
		}
		return 'm'
	case map0F38, mapXOP9:
		return 'm'
	case map5, map6:
		if x.vector == evex {
			return 'm'
		}
	case map0F3A, mapXOP8:
		return 'B'
	case map7, mapXOPA:
		if x.vector == vex {
			x.operand = false // the immediate has 4 bytes
			return 'Z'
		}
	}
	return '-'
}

// memory reads what follows ModRM for an operand in memory, with 32 and 64 bits of
// address.
func (x *x86Inst) memory(c *byteReader, bits64 bool) {
	mod, rm := x.modrm>>6, int8(x.modrm&7)
	x.scale = 1
	x.base = rm | int8(x.rex&1)<<3
	if rm == 4 {
		sib := c.u8()
		rm = int8(sib & 7)
		x.base = rm | int8(x.rex&1)<<3
		x.scale = 1 << (sib >> 6)
		x.index = int8(sib>>3&7) | int8(x.rex&2)<<2
		if x.index == 4 {
			x.index = regNone
		}
		if mod == 0 && rm == 5 {
			x.base = regNone
		}
	} else if mod == 0 && rm == 5 {
		x.base = regNone
		if bits64 {
			x.base = regIP
		}
	}
	switch {
	case mod == 1:
		// EVEX scales it, which nobody asks for: branches have no EVEX forms.
		x.disp = c.int(1)
	case mod == 2 || mod == 0 && rm == 5:
		x.disp = c.int(4)
	}
}

// memory16 reads what follows ModRM for an operand in memory with 16 bits of
// address, whose registers are not kept.
func (x *x86Inst) memory16(c *byteReader) {
	mod, rm := x.modrm>>6, x.modrm&7
	x.segment = true
	switch {
	case mod == 1:
		x.disp = c.int(1)
	case mod == 2 || mod == 0 && rm == 6:
		x.disp = c.int(2)
	}
}

func (x *x86Inst) immediate(c *byteReader, form byte, bits64 bool) {
	wide := x.rex&8 != 0
	full := 4
	if x.operand && !wide {
		full = 2
	}
	switch form {
	case 'b', 'B', 'c', 'y', 'j':
		x.imm = c.int(1)
	case 'w':
		x.imm = c.int(2)
	case 'z', 'Z':
		x.imm = c.int(full)
	case 'v':
		if wide {
			full = 8
		}
		x.imm = c.int(full)
	case 'e':
		c.uint(2)
		c.u8()
	case 'q':
		if x.operand || x.rep == 0xf2 {
			c.uint(2)
		}
	case 'G':
		if x.modrm>>3&7 < 2 {
			if x.op == 0xf6 {
				full = 1
			}
			x.imm = c.int(full)
		}
	case 'J':
		// In 64-bit mode Intel's processors ignore the prefix and AMD's do not;
		// compilers never emit it.
		if bits64 {
			full = 4
		}
		x.imm = c.int(full)
	case 'o':
		switch {
		case bits64 && !x.address:
			x.imm = c.int(8)
		case !bits64 && x.address:
			x.imm = c.int(2)
		default:
			x.imm = c.int(4)
		}
	case 'f':
		c.bytes(full)
		c.uint(2)
	}
}

// defined reports whether the reg field of ModRM selects an instruction where that
// matters most: in opcodes that runs of data often look like.
func (x *x86Inst) defined() bool {
	if x.opmap != mapOne || !x.hasModRM {
		return true
	}
	reg := x.modrm >> 3 & 7
	switch x.op {
	case 0x8f:
		return reg == 0
	case 0xc6, 0xc7:
		return reg == 0 || x.modrm == 0xf8 // xabort, xbegin
	case 0xfe:
		return reg < 2
	case 0xff:
		return reg < 7 && (x.modrm < 0xc0 || reg != 3 && reg != 5)
	case 0x8d:
		return x.modrm < 0xc0
	}
	return true
}

// inst says what x, which is at addr, does to the flow of control.
func (x *x86Inst) inst(addr uint64, bits64 bool) Inst {
	i := Inst{Addr: addr, Len: x.length}
	if x.vector != legacy {
		return i
	}
	relative := false
	switch x.opmap {
	case mapOne:
		switch op := x.op; {
		case op >= 0x70 && op <= 0x7f, op >= 0xe0 && op <= 0xe3: // jcc, loop, jrcxz
			i.Kind, relative = Conditional, true
		case op == 0xeb || op == 0xe9:
			i.Kind, relative = Jump, true
		case op == 0xe8:
			i.Kind, relative = Call, true
		case op == 0xc2, op == 0xc3, op == 0xca, op == 0xcb, op == 0xcf: // ret, lret, iret
			i.Kind = Return
		case op == 0xcc:
			i.Kind = Trap
		case op == 0x9a:
			i.Kind = IndirectCall // far
		case op == 0xea:
			i.Kind = IndirectJump // far
		case op == 0xff:
			switch x.modrm >> 3 & 7 {
			case 2, 3:
				i.Kind = IndirectCall
			case 4, 5:
				i.Kind = IndirectJump
			}
		case op == 0xc7 && x.modrm == 0xf8: // xbegin: an abort goes to the target
			i.Cond, relative = true, true
		}
	case map0F:
		switch op := x.op; {
		case op >= 0x80 && op <= 0x8f:
			i.Kind, relative = Conditional, true
		case op == 0x07, op == 0x35: // sysret, sysexit
			i.Kind = Return
		case op == 0x0b, op == 0xb9, op == 0xff: // ud2, ud1, ud0
			i.Kind = Trap
		}
	}
	if relative {
		i.Target = i.Next() + uint64(x.imm)
		switch {
		case !bits64 && x.operand:
			i.Target &= 0xffff
		case !bits64:
			i.Target &= 0xffffffff
		}
		i.Cond = i.Cond || i.Kind == Conditional
	}
	return i
}

// padding reports whether x fills space between functions: int3, nop in all its
// forms, and zeros, which decode as an addition.
func (x *x86Inst) padding() bool {
	if x.vector != legacy {
		return false
	}
	switch x.opmap {
	case mapOne:
		switch x.op {
		case 0x90, 0xcc:
			return x.rex&1 == 0
		case 0x00:
			return x.modrm == 0 && x.length == 2
		case 0x8d: // lea 0(%rsi),%rsi and the like, of old assemblers
			return x.rex&8 != 0 && x.index == regNone && x.disp == 0 && x.base == int8(x.modrm>>3&7|x.rex&4<<1)
		}
	case map0F:
		return x.op == 0x1f
	}
	return false
}

// isEndbr reports whether x is endbr64 or endbr32.
func (x *x86Inst) isEndbr() bool {
	return x.vector == legacy && x.opmap == map0F && x.op == 0x1e && x.rep == 0xf3 && x.modrm&0xfe == 0xfa
}
