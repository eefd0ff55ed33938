package unwind

import "encoding/binary"

// keepsLink reports whether a function of Arm that starts at an address or before has the return
// address in the link register at another: at its start, before the instruction that saves
// it, and before the one that returns by it.
func (m *Module) keepsLink(vaddr, start uint64) bool {
	if vaddr == start {
		return true
	}
	// So many bytes of a function are looked at for the instruction that saves it.
	const prologue = 32
	code, err := m.source.File.Loaded(vaddr, prologue)
	if err != nil {
		return false
	}
	thumb := m.isThumb(vaddr)
	for first := true; ; first = false {
		size, is := 4, armOther
		switch {
		case len(code) < 4:
			return false
		case thumb:
			size, is = thumbInstruction(code)
		default:
			is = armInstruction(binary.LittleEndian.Uint32(code))
		}
		switch {
		case is == armSavesLink:
			return true
		case is == armReturnsByLink:
			return first // before, others may take the frame down
		case is == armBranches:
			return false
		}
		code = code[size:]
	}
}

// isThumb reports whether the code at an address is Thumb, as far as symbols tell.
func (m *Module) isThumb(vaddr uint64) bool {
	if m.states == nil {
		m.states = m.source.File.CodeStates()
	}
	thumb, _ := m.states.Thumb(vaddr)
	return thumb
}

// What instructions of Arm do with the link register.
const (
	armOther         = iota
	armSavesLink     // push {…, lr}
	armReturnsByLink // bx lr
	armBranches
)

func armInstruction(word uint32) int {
	switch {
	case word&0xffff4000 == 0xe92d4000, word == 0xe52de004: // push, str lr, [sp, #-4]!
		return armSavesLink
	case word == 0xe12fff1e:
		return armReturnsByLink
	case word>>25&7 == 5, word&0x0ffffff0 == 0x012fff10, word&0x0ffffff0 == 0x012fff30, word&0x0fff8000 == 0x08bd8000: // b, bl, bx, blx, pop {…, pc}
		return armBranches
	}
	return armOther
}

// thumbInstruction returns also the size of the instruction in bytes.
func thumbInstruction(code []byte) (size, is int) {
	half := binary.LittleEndian.Uint16(code)
	next := binary.LittleEndian.Uint16(code[2:])
	switch {
	case half>>11 >= 0x1d: // 4 bytes
		size = 4
		switch {
		case half == 0xe92d && next&0x4000 != 0, half == 0xf84d && next == 0xed04: // push.w, str.w lr, [sp, #-4]!
			return size, armSavesLink
		case half>>11 == 0x1e && next&0x8000 != 0, half == 0xe8bd && next&0x8000 != 0: // b, bl, blx, msr; pop.w {…, pc}
			return size, armBranches
		}
		return size, armOther
	case half&0xff00 == 0xb500: // push
		return 2, armSavesLink
	case half == 0x4770:
		return 2, armReturnsByLink
	case half&0xff00 == 0x4700, half&0xff00 == 0xbd00, half>>12 == 0xd, half>>11 == 0x1c, half&0xf500 == 0xb100: // bx, blx; pop {…, pc}; b; cbz
		return 2, armBranches
	}
	return 2, armOther
}
