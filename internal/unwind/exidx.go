package unwind

import (
	"encoding/binary"
	"math/bits"
)

// An exidxTable is the .ARM.exidx section: for each function eight bytes, in the order of their
// addresses. The second four are instructions, lead to instructions in .ARM.extab, or
// say that the function cannot be unwound (EHABI32, sections 6 to 10). They hold
// for the body of a function, not for its first and last instructions.
type exidxTable struct {
	module *Module
	data   []byte
	vaddr  uint64
}

const exidxEntry = 8

// prel31 returns what the 31-bit offset in word leads to from its place.
func prel31(word uint32, place uint64) uint64 {
	return uint64(uint32(place) + uint32(int32(word<<1)>>1))
}

func (t *exidxTable) word(i, field int) (v uint32, place uint64) {
	off := i*exidxEntry + 4*field
	return binary.LittleEndian.Uint32(t.data[off:]), t.vaddr + uint64(off)
}

func (t *exidxTable) start(i int) uint64 { return prel31(t.word(i, 0)) &^ 1 }

// find returns the rule for an address. An entry holds up to the next one.
func (t *exidxTable) find(vaddr uint64, exact bool) *rule {
	i, j := 0, len(t.data)/exidxEntry
	for i < j {
		if m := int(uint(i+j) >> 1); t.start(m) <= vaddr {
			i = m + 1
		} else {
			j = m
		}
	}
	if i == 0 || !within(t.module.code, vaddr) {
		return nil
	}
	i--
	if exact && t.module.keepsLink(vaddr, t.start(i)) {
		return linkRule
	}
	word, place := t.word(i, 1)
	const cannotUnwind = 1
	if word == cannotUnwind {
		return t.outermost(i, vaddr, exact)
	}
	if instructions := t.instructions(word, place); instructions != nil {
		return &rule{kind: ruleEHABI, data: instructions}
	}
	return badRule
}

// outermost returns the rule for a function that cannot be unwound. That is how the first
// function of a thread is marked, but also what was built without tables, because it calls nothing
// that can throw.
func (t *exidxTable) outermost(i int, vaddr uint64, exact bool) *rule {
	if exact {
		return linkRule
	}
	entry := t.module.source.File.Entry() &^ 1
	if entry >= t.start(i) && (i+1 == len(t.data)/exidxEntry || entry < t.start(i+1)) {
		return rootRule
	}
	if name := t.module.function(vaddr); name != "" && !isThreadRoot(name) {
		return noRule
	}
	return rootRule
}

// isThreadRoot reports whether a function is where a program or a thread begins in the C
// libraries of Linux.
func isThreadRoot(name string) bool {
	switch name {
	case "_start", "_start_c", "__start", "clone", "__clone", "clone3", "__clone3", "thread_start", "__thread_start",
		"__bionic_clone", "__libc_start_main", "_dl_start", "_dlstart":
		return true
	}
	return false
}

// instructions returns the instructions that the second word of an entry has or leads to, nil if there
// are none that make sense.
func (t *exidxTable) instructions(word uint32, place uint64) []byte {
	var buf [4]byte
	if word>>31 != 0 {
		if word>>24 != 0x80 {
			return nil // other than that of personality 0 do not fit in
		}
		binary.BigEndian.PutUint32(buf[:], word)
		return append([]byte(nil), buf[1:]...)
	}
	// A header, and up to 255 words. They are little-endian words, and the instructions
	// are in them from the most significant byte down.
	const longest = 4 * (2 + 255)
	extab, err := t.module.source.File.Loaded(prel31(word, place), longest)
	if err != nil || len(extab) < 4 {
		return nil
	}
	switch {
	case extab[3]>>7 == 0:
		// An address: a personality routine of its own. GNU's for C++ and C have
		// the number of words, and then the instructions.
		if extab = extab[4:]; len(extab) < 4 {
			return nil
		}
		return words(extab, int(extab[3]), 1)
	case extab[3] == 0x80:
		return words(extab, 0, 1)
	case extab[3] == 0x81, extab[3] == 0x82:
		return words(extab, int(extab[2]), 2)
	}
	return nil
}

// words returns the bytes of 1 + n words in the order of instructions, without the first skip;
// nil if there are fewer.
func words(data []byte, n, skip int) []byte {
	if len(data) < 4*(1+n) {
		return nil
	}
	list := make([]byte, 0, 4*(1+n))
	for i := range 1 + n {
		list = binary.BigEndian.AppendUint32(list, binary.LittleEndian.Uint32(data[4*i:]))
	}
	return list[skip:]
}

// An interpreter follows the instructions of an exception table (EHABI32, section 10.3).
type interpreter struct {
	u      *Unwinder
	vsp    uint64 // virtual stack pointer
	popped uint32 // registers that were loaded
}

// byEHABI follows a rule of exception tables.
func (u *Unwinder) byEHABI(r *rule, exact bool) (end End, more bool) {
	sp, ok := u.regs.get(u.arch.sp)
	if !ok {
		return u.failure(exact), false
	}
	x := interpreter{u: u, vsp: sp}
	c := cursor{data: r.data}
	for finished := false; c.more() && !finished; {
		if finished, ok = x.instruction(&c); !ok || c.bad {
			return BadTable, false
		}
		x.vsp = uint64(uint32(x.vsp))
	}
	u.next.put(u.arch.sp, x.vsp)
	from := u.arch.pc
	if x.popped>>u.arch.pc&1 == 0 {
		from = u.arch.link
		if !exact && x.popped>>u.arch.link&1 == 0 {
			// What a call leaves in the link register holds only until the next.
			return RanOff, false
		}
	}
	if u.next.PC, ok = u.next.get(from); !ok {
		return u.failure(exact), false
	}
	u.next.forget(u.arch.pc)
	return 0, true
}

// instruction follows the next instruction. It reports whether it was the last, and whether
// there is such an instruction.
func (x *interpreter) instruction(c *cursor) (finished, ok bool) {
	op := c.u8()
	low := uint64(op & 7)
	switch {
	case op>>6 == 0: // 00xxxxxx
		x.vsp += uint64(op&0x3f)<<2 + 4
	case op>>6 == 1: // 01xxxxxx
		x.vsp -= uint64(op&0x3f)<<2 + 4
	case op>>4 == 0x8: // 1000iiii iiiiiiii: r4 to r15
		mask := uint32(op&0xf)<<8 | uint32(c.u8())
		x.pop(mask << 4)
		return false, mask != 0 // 0: refuse to unwind
	case op>>4 == 0x9: // 1001nnnn: from a register
		v, known := x.u.next.get(op & 0xf)
		x.vsp = v
		return false, known && op != 0x9d && op != 0x9f
	case op>>4 == 0xa: // 1010lnnn: r4 to r4+nnn, and r14 if l is set
		x.pop((1<<(low+1)-1)<<4 | uint32(op&8)<<(14-3))
	case op == 0xb0:
		return true, true
	case op == 0xb1: // 0000iiii: r0 to r3
		mask := uint32(c.u8())
		x.pop(mask & 0xf)
		return false, mask != 0 && mask < 0x10
	case op == 0xb2:
		x.vsp += 0x204 + c.uleb()<<2
	case op == 0xb3: // sssscccc: FSTMFDX of double registers
		x.vsp += 8*(uint64(c.u8()&0xf)+1) + 4
	case op == 0xb4: // the code that authenticates the return address
		x.vsp += 4
	case op == 0xb5: // it was made with this stack pointer
	case op&^7 == 0xb8: // FSTMFDX of d8 to d8+nnn
		x.vsp += 8*(low+1) + 4
	case op == 0xc6, op == 0xc8, op == 0xc9: // sssscccc: wR, d16 and up, d
		x.vsp += 8 * (uint64(c.u8()&0xf) + 1)
	case op == 0xc7: // 0000iiii: wCGR0 to 3
		mask := c.u8()
		x.vsp += 4 * uint64(bits.OnesCount8(mask))
		return false, mask != 0 && mask < 0x10
	case op&^7 == 0xc0, op&^7 == 0xd0: // wR10 to wR10+nnn, d8 to d8+nnn
		x.vsp += 8 * (low + 1)
	default:
		return false, false // spare
	}
	return false, true
}

// pop loads registers, the lowest from the lowest address.
func (x *interpreter) pop(mask uint32) {
	a := x.u.arch
	at := x.vsp
	for rest := mask; rest != 0; rest &= rest - 1 {
		n := uint8(bits.TrailingZeros32(rest))
		if v, ok := x.u.read(at, 4); ok {
			x.u.next.put(n, v)
		} else {
			x.u.next.forget(n)
		}
		at = uint64(uint32(at + 4))
	}
	x.popped |= mask
	x.vsp = at
	if mask>>a.sp&1 != 0 {
		// Unknown if it could not be read; then nothing can be read from there.
		x.vsp, _ = x.u.next.get(a.sp)
	}
}
