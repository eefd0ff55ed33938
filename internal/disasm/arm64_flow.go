package disasm

// arm64Flow follows the general registers of AArch64.
type arm64Flow struct {
	text  []byte
	start uint64
}

const regZR = 31 // or the stack pointer

func (f *arm64Flow) word(in *Inst) uint32 {
	at := byteReader{data: f.text}.at(in.Addr - f.start)
	return uint32(at.uint(4))
}

// fields of an instruction.
func arm64Rd(w uint32) int8 { return int8(w & 31) }
func arm64Rn(w uint32) int8 { return int8(w >> 5 & 31) }
func arm64Rm(w uint32) int8 { return int8(w >> 16 & 31) }

// get returns what a register holds where 31 is zero.
func (f *arm64Flow) get(s *state, r int8) value {
	if r == regZR {
		return value{kind: constant}
	}
	return s.regs[r]
}

// put sets a register where 31 is discarded.
func (f *arm64Flow) put(s *state, r int8, in *Inst, v value, ok bool) {
	if r != regZR {
		assign(s, r, in.Addr, v, ok)
	}
}

func (f *arm64Flow) step(s *state, in *Inst) {
	w := f.word(in)
	switch in.Kind {
	case Conditional:
		return // keeps the flags
	case Call, IndirectCall:
		for r := range int8(19) {
			s.define(r, in.Addr)
		}
		s.define(30, in.Addr)
		s.flags.ok = false
		return
	case Other:
	default:
		return
	}
	switch w >> 25 & 0xf {
	case 8, 9:
		f.immediate(s, in, w)
	case 5, 13:
		f.register(s, in, w)
	case 4, 6, 12, 14:
		f.memory(s, in, w)
	case 7, 15:
		// Vector instructions may write a general register, and FCMP the flags.
		s.flags.ok = false
		f.put(s, arm64Rd(w), in, value{}, false)
	case 10, 11:
		if w&0xfff00000 == 0xd5300000 { // MRS
			f.put(s, arm64Rd(w), in, value{}, false)
		}
	default: // SVE and what is to come
		s.flags.ok = false
		f.put(s, arm64Rd(w), in, value{}, false)
	}
}

// immediate applies data processing with an immediate (C4.1.65).
func (f *arm64Flow) immediate(s *state, in *Inst, w uint32) {
	rd, wide := arm64Rd(w), w>>31 != 0
	switch w >> 23 & 7 {
	case 0, 1: // ADR, ADRP
		n := uint64(signExtend(uint64(w>>5&0x7ffff)<<2|uint64(w>>29&3), 21))
		v := value{kind: constant, base: in.Addr + n}
		if wide {
			v.base = in.Addr&^0xfff + n<<12
		}
		f.put(s, rd, in, v, true)
		return
	case 2: // ADD, SUB
		n := uint64(w >> 10 & 0xfff)
		if w>>22&1 != 0 {
			n <<= 12
		}
		rn := arm64Rn(w)
		if w>>29&1 != 0 { // sets flags
			if w>>30&1 != 0 && rn != regZR {
				s.compare(rn, n, in.Addr)
			} else {
				s.flags.ok = false
			}
			f.put(s, rd, in, value{}, false)
			return
		}
		v := s.regs[rn] // 31 is the stack pointer
		ok := v.kind == constant && wide || n == 0 && wide
		if w>>30&1 != 0 {
			n = -n
		}
		v.base += n
		assign(s, rd, in.Addr, v, ok && v.kind != 0)
		return
	case 4: // AND, ORR, EOR, ANDS
		if w>>29&3 == 3 {
			s.flags.ok = false
		}
		if w>>29&3 == 0 && w>>16&0x3f == 0 && (w>>22&1 != 0 || w>>15&1 == 0) { // a mask of low bits
			s.narrowed(rd, in.Addr, int(w>>10&0x3f+1))
			return
		}
	case 5: // MOVN, MOVZ, MOVK
		n, shift := uint64(w>>5&0xffff), w>>21&3*16
		switch w >> 29 & 3 {
		case 2:
			f.put(s, rd, in, value{kind: constant, base: n << shift}, true)
			return
		case 3:
			v := f.get(s, rd)
			v.base = v.base&^(0xffff<<shift) | n<<shift
			f.put(s, rd, in, v, v.kind == constant)
			return
		}
	case 6: // SBFM, BFM, UBFM
		r, e := w>>16&0x3f, w>>10&0x3f
		v := f.get(s, arm64Rn(w))
		switch opc := w >> 29 & 3; {
		case opc == 2 && r == 0 && (e == 7 || e == 15 || e == 31): // UXTB, UXTH
			var ok bool
			if e == 31 {
				v, ok = truncated(v)
			} else {
				v, ok = narrow(v, uint8(e+1)/8)
			}
			if !ok && e < 31 {
				s.narrowed(rd, in.Addr, int(e+1))
				return
			}
			f.put(s, rd, in, v, ok)
			return
		case opc == 2 && e >= r: // UBFX
			s.narrowed(rd, in.Addr, int(e-r+1))
			return
		case opc == 2 && wide && 63-e == 64-r: // LSL
			v, ok := shifted(v, uint8(63-e))
			f.put(s, rd, in, v, ok)
			return
		case opc == 0 && r == 0 && (e == 7 || e == 15 || e == 31): // SXTB, SXTH, SXTW
			v, ok := extended(v, uint8(e+1)/8)
			f.put(s, rd, in, v, ok)
			return
		}
	}
	f.put(s, rd, in, value{}, false)
}

// extended returns the sign extension of the low bytes of a value.
func extended(v value, width uint8) (value, bool) {
	switch {
	case v.kind == entry && v.base == 0 && v.shift == 0 && v.width == width:
		v.signed = true
		return v, true
	case v.kind == number && width == 4:
		return truncated(v)
	}
	return value{}, false
}

// register applies data processing with registers (C4.1.68).
func (f *arm64Flow) register(s *state, in *Inst, w uint32) {
	rd, rn, rm := arm64Rd(w), arm64Rn(w), arm64Rm(w)
	wide := w>>31 != 0
	switch {
	case w&0x1f000000 == 0x0a000000: // logical, shifted register
		if w>>29&3 == 3 {
			s.flags.ok = false
		}
		if w&0x60e0fc00 == 0x20000000 && rn == regZR { // MOV
			v := f.get(s, rm)
			ok := v.kind != 0
			if !wide {
				v, ok = truncated(v)
			}
			f.put(s, rd, in, v, ok)
			return
		}
	case w&0x1f000000 == 0x0b000000: // ADD, SUB
		sub, flags := w>>30&1 != 0, w>>29&1 != 0
		if flags {
			s.flags.ok = false
			if v := f.get(s, rm); sub && v.kind == constant && rn != regZR && w&0x20fc00 == 0 {
				s.compare(rn, v.base, in.Addr)
			}
			f.put(s, rd, in, value{}, false)
			return
		}
		if sub || !wide {
			break
		}
		a, b := value{}, f.get(s, rm)
		ok := true
		if w>>21&1 == 0 { // shifted
			a = f.get(s, rn)
			if w>>22&3 != 0 {
				break
			}
			b, ok = shifted(b, uint8(w>>10&0x3f))
		} else { // extended; 31 is the stack pointer
			a = s.regs[rn]
			switch w >> 13 & 7 {
			case 2: // UXTW
				b, ok = truncated(b)
			case 4:
				b, ok = extended(b, 1)
			case 5:
				b, ok = extended(b, 2)
			case 6:
				b, ok = extended(b, 4)
			case 0:
				b, ok = narrow(b, 1)
			case 1:
				b, ok = narrow(b, 2)
			}
			if ok {
				b, ok = shifted(b, uint8(w>>10&7))
			}
		}
		if ok {
			a, ok = add(a, b)
		}
		if rd == regZR && w>>21&1 == 0 {
			return
		}
		assign(s, rd, in.Addr, a, ok)
		return
	case w&0x1fe00000 == 0x1a400000: // CCMP, CCMN
		s.flags.ok = false
		return
	case w&0x1fe00000 == 0x1a000000: // ADC, SBC, RMIF, SETF
		s.flags.ok = false
	}
	f.put(s, rd, in, value{}, false)
}

// memory applies loads and stores (C4.1.66).
func (f *arm64Flow) memory(s *state, in *Inst, w uint32) {
	rt, rn, rm := arm64Rd(w), arm64Rn(w), arm64Rm(w)
	size := w >> 30
	vector := w>>26&1 != 0
	opc := w >> 22 & 3
	switch {
	case w&0x3b200c00 == 0x38200800: // register offset
		if vector || opc == 0 {
			return
		}
		at, ok := f.get(s, rm), true
		switch w >> 13 & 7 {
		case 2: // UXTW
			at, ok = truncated(at)
		case 6: // SXTW
			at, ok = extended(at, 4)
		}
		if ok && w>>12&1 != 0 {
			at, ok = shifted(at, uint8(size))
		}
		v := s.regs[rn]
		if ok {
			v, ok = add(v, at)
		}
		f.loaded(s, in, rt, v, ok, size, opc)
		return
	case w&0x3b000000 == 0x39000000: // unsigned offset
		if vector || opc == 0 {
			return
		}
		v := s.regs[rn]
		f.loaded(s, in, rt, v, w>>10&0xfff == 0, size, opc)
		return
	case w&0x3b000000 == 0x18000000: // literal
		if !vector {
			f.put(s, rt, in, value{}, false)
		}
		return
	case w&0x3a000000 == 0x28000000: // pairs
		if !vector {
			f.put(s, rt, in, value{}, false)
			f.put(s, int8(w>>10&31), in, value{}, false)
		}
		if w>>23&1 != 0 {
			f.put(s, rn, in, value{}, false)
		}
		return
	case w&0x3b200000 == 0x38000000: // immediate with 9 bits
		if !vector && opc != 0 {
			f.put(s, rt, in, value{}, false)
		}
		if w>>10&1 != 0 {
			f.put(s, rn, in, value{}, false)
		}
		return
	}
	for _, r := range []int8{rt, rn, rm, int8(w >> 10 & 31)} {
		f.put(s, r, in, value{}, false)
	}
}

// loaded sets rt to what is at address v.
func (f *arm64Flow) loaded(s *state, in *Inst, rt int8, v value, ok bool, size, opc uint32) {
	if size == 3 && opc != 1 {
		return // prefetch
	}
	width := uint8(1) << size
	if ok {
		v, ok = load(v, width, opc > 1)
	}
	if !ok && opc == 1 && width < 4 && rt != regZR {
		s.narrowed(rt, in.Addr, int(8*width))
		return
	}
	f.put(s, rt, in, v, ok)
}

func (f *arm64Flow) target(s *state, in *Inst) value {
	if w := f.word(in); w>>11&1 == 0 {
		return f.get(s, arm64Rn(w))
	}
	return value{}
}

func (f *arm64Flow) edge(s *state, in *Inst, taken bool) (bound, bool) {
	w := f.word(in)
	if !s.flags.ok || w&0xff000000 != 0x54000000 {
		return bound{}, false
	}
	id, n := s.flags.id, s.flags.max
	switch cond := w & 15; {
	case cond == 8 && !taken, cond == 9 && taken, cond == 0 && taken: // HI, LS, EQ
		return bound{id, n, false}, true
	case cond == 2 && !taken && n > 0, cond == 3 && taken && n > 0: // HS, LO
		return bound{id, n - 1, false}, true
	}
	return bound{}, false
}
