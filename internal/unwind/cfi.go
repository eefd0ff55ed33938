package unwind

import "math"

// A row is the state of a program: what holds at one address.
type row struct {
	cfa  location
	regs [NumRegisters]location
}

// maxRemember is how deep remember_state may nest. Compilers do not nest it.
const maxRemember = 16

// An execution is the run of the program of one CIE or FDE.
type execution struct {
	table *frameTable
	cie   *cie
	code  cursor
	start uint64 // address of the function
	size  uint32
	loc   uint32 // current address, from start
	row   row
	depth int // of the stack of remembered rows
}

// Instructions of DWARF 5, table 7.29; of GNU tools and of AArch64 (AADWARF64).
const (
	cfaAdvanceLoc   = 0x40
	cfaOffset       = 0x80
	cfaRestore      = 0xc0
	cfaNop          = 0x00
	cfaSetLoc       = 0x01
	cfaAdvanceLoc1  = 0x02
	cfaAdvanceLoc2  = 0x03
	cfaAdvanceLoc4  = 0x04
	cfaOffsetExt    = 0x05
	cfaRestoreExt   = 0x06
	cfaUndefined    = 0x07
	cfaSameValue    = 0x08
	cfaRegister     = 0x09
	cfaRemember     = 0x0a
	cfaRestoreState = 0x0b
	cfaDef          = 0x0c
	cfaDefRegister  = 0x0d
	cfaDefOffset    = 0x0e
	cfaDefExpr      = 0x0f
	cfaExpression   = 0x10
	cfaOffsetExtSF  = 0x11
	cfaDefSF        = 0x12
	cfaDefOffsetSF  = 0x13
	cfaValOffset    = 0x14
	cfaValOffsetSF  = 0x15
	cfaValExpr      = 0x16
	cfaAdvanceLoc8  = 0x1d // MIPS
	cfaNegateRAPC   = 0x2c // AArch64: as the next, with the program counter
	cfaNegateRA     = 0x2d // AArch64: the return address is signed from here on, or no longer; SPARC: window_save
	cfaArgsSize     = 0x2e
	cfaNegOffsetExt = 0x2f
)

// run runs the program. emit, which is nil for that of a CIE, gets each row
// with the place where it begins. code.bad is set if the program cannot be followed: what
// holds from loc on is not known then.
func (x *execution) run(emit func(loc uint32, r *row)) {
	// A step that is left out ends at the end of the function.
	advance := func(delta uint64) (goes bool) {
		if emit == nil {
			x.code.fail() // a CIE holds for all functions
			return false
		}
		if delta == 0 {
			return true
		}
		emit(x.loc, &x.row)
		if delta >= uint64(x.size-x.loc) {
			x.loc = x.size
			return false
		}
		x.loc += uint32(delta)
		return true
	}
	c := &x.code
	for c.more() {
		op := c.u8()
		low := uint64(op & 0x3f)
		goes := true
		switch op & 0xc0 {
		case cfaAdvanceLoc:
			goes = advance(low * x.cie.code)
		case cfaOffset:
			x.set(low, location{kind: atOffset, offset: x.factored(c.uleb())})
		case cfaRestore:
			x.restore(low)
		default:
			switch op {
			case cfaSetLoc:
				to := x.table.pointer(c, x.cie.encoding, x.cie.address)
				if at := x.start + uint64(x.loc); to < at {
					c.fail()
				} else {
					goes = advance(to - at)
				}
			case cfaAdvanceLoc1:
				goes = advance(c.uint(1) * x.cie.code)
			case cfaAdvanceLoc2:
				goes = advance(c.uint(2) * x.cie.code)
			case cfaAdvanceLoc4:
				goes = advance(c.uint(4) * x.cie.code)
			case cfaAdvanceLoc8:
				goes = advance(min(c.uint(8), math.MaxUint32) * x.cie.code)
			default:
				x.instruction(op)
			}
		}
		if c.bad {
			return
		}
		if !goes {
			return
		}
	}
	if emit != nil {
		emit(x.loc, &x.row)
	}
}

// instruction follows an instruction that changes the row.
func (x *execution) instruction(op uint8) {
	c := &x.code
	switch op {
	case cfaNop, cfaNegateRA, cfaNegateRAPC:
		// Whether a return address is signed shows when it is used.
	case cfaOffsetExt:
		r := c.uleb()
		x.set(r, location{kind: atOffset, offset: x.factored(c.uleb())})
	case cfaOffsetExtSF:
		r := c.uleb()
		x.set(r, location{kind: atOffset, offset: x.factored(uint64(c.sleb()))})
	case cfaNegOffsetExt:
		r := c.uleb()
		x.set(r, location{kind: atOffset, offset: x.factored(-c.uleb())})
	case cfaValOffset:
		r := c.uleb()
		x.set(r, location{kind: isOffset, offset: x.factored(c.uleb())})
	case cfaValOffsetSF:
		r := c.uleb()
		x.set(r, location{kind: isOffset, offset: x.factored(uint64(c.sleb()))})
	case cfaRestoreExt:
		x.restore(c.uleb())
	case cfaUndefined:
		x.set(c.uleb(), location{kind: undefined})
	case cfaSameValue:
		x.set(c.uleb(), location{kind: same})
	case cfaRegister:
		r := c.uleb()
		x.set(r, location{kind: inRegister, reg: x.register(c.uleb())})
	case cfaExpression:
		r := c.uleb()
		x.set(r, location{kind: atExpression, offset: x.expression()})
	case cfaValExpr:
		r := c.uleb()
		x.set(r, location{kind: isExpression, offset: x.expression()})
	case cfaRemember:
		if x.depth == maxRemember {
			c.fail()
			return
		}
		x.table.stack[x.depth] = x.row
		x.depth++
	case cfaRestoreState:
		if x.depth == 0 {
			c.fail()
			return
		}
		x.depth--
		x.row = x.table.stack[x.depth]
	case cfaDef:
		r := x.register(c.uleb())
		x.row.cfa = location{kind: inRegister, reg: r, offset: x.offset(c.uleb())}
	case cfaDefSF:
		r := x.register(c.uleb())
		x.row.cfa = location{kind: inRegister, reg: r, offset: x.factored(uint64(c.sleb()))}
	case cfaDefRegister:
		// The offset stays; behind an expression there is none.
		if x.row.cfa.kind != inRegister {
			x.row.cfa.offset = 0
		}
		x.row.cfa.kind, x.row.cfa.reg = inRegister, x.register(c.uleb())
	case cfaDefOffset:
		x.row.cfa.offset = x.offset(c.uleb())
		x.defined()
	case cfaDefOffsetSF:
		x.row.cfa.offset = x.factored(uint64(c.sleb()))
		x.defined()
	case cfaDefExpr:
		x.row.cfa = location{kind: isExpression, offset: x.expression()}
	case cfaArgsSize:
		c.uleb()
	default:
		c.fail()
	}
}

// defined fails if there is no register for the CFA whose offset was set.
func (x *execution) defined() {
	if x.row.cfa.kind != inRegister {
		x.code.fail()
	}
}

// set changes what is known of a register. Registers that are not followed are left out.
func (x *execution) set(register uint64, l location) {
	if register < NumRegisters {
		x.row.regs[register] = l
	}
}

// restore takes back what the program of the function says of a register.
func (x *execution) restore(register uint64) {
	if register < NumRegisters {
		x.row.regs[register] = x.cie.initial.regs[register]
	}
}

// register returns the number of a register that a value is taken from.
func (x *execution) register(n uint64) uint8 {
	if n >= NumRegisters {
		return none
	}
	return uint8(n)
}

// factored returns an offset that counts in units of the CIE.
func (x *execution) factored(n uint64) int32 {
	units := int64(n)
	if units != int64(int32(units)) || x.cie.dataStep != int64(int32(x.cie.dataStep)) {
		x.code.fail()
		return 0
	}
	return x.offset(uint64(units * x.cie.dataStep))
}

// offset returns an offset in bytes. No frame is larger than 2 GiB.
func (x *execution) offset(n uint64) int32 {
	if int64(n) != int64(int32(n)) {
		x.code.fail()
	}
	return int32(n)
}

// expression passes an expression and returns where its length stands in the section.
func (x *execution) expression() int32 {
	at := x.code.off
	x.code.bytes(x.code.uleb())
	return int32(at)
}
