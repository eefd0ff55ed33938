package disasm

// arm64Inst says what the instruction at addr does to the flow of control
// (DDI 0487, C4.1.66, "Branches, Exception Generating and System instructions").
// Every word is an instruction: one that is not known is Other.
func arm64Inst(word uint32, addr uint64) Inst {
	i := Inst{Addr: addr, Len: 4}
	offset := func(shift, bits int) uint64 {
		return addr + uint64(signExtend(uint64(word>>shift), bits)*4)
	}
	switch {
	case word&0xff000000 == 0x54000000: // B.cond, BC.cond
		i.Kind, i.Target = Conditional, offset(5, 19)
	case word&0xffc0001f == 0x5500001f: // RETAASPPC, RETABSPPC
		i.Kind = Return
	case word&0x7e000000 == 0x74000000: // CBcc, CBBcc, CBHcc
		i.Kind, i.Target = Conditional, offset(5, 9)
	case word&0x7e000000 == 0x34000000: // CBZ, CBNZ
		i.Kind, i.Target = Conditional, offset(5, 19)
	case word&0x7e000000 == 0x36000000: // TBZ, TBNZ
		i.Kind, i.Target = Conditional, offset(5, 14)
	case word&0xfc000000 == 0x14000000: // B
		i.Kind, i.Target = Jump, offset(0, 26)
	case word&0xfc000000 == 0x94000000: // BL
		i.Kind, i.Target = Call, offset(0, 26)
	case word&0xfe1f0000 == 0xd61f0000:
		i.Kind = arm64Register(word)
	case word&0xffe00000 == 0xd4200000, word&0xffe00000 == 0xd4400000, word&0xffff0000 == 0: // BRK, HLT, UDF
		i.Kind = Trap
	}
	i.Cond = i.Kind == Conditional
	return i
}

// arm64Register returns the kind of a branch to a register. Bit 11 marks the forms
// with pointer authentication (BRAA, BLRAAZ, RETAB, …).
func arm64Register(word uint32) Kind {
	if word>>10&0x3f&^3 != 0 { // op3 is 0, or 2 and 3 with authentication
		return Other
	}
	switch word >> 21 & 0xf {
	case 0, 8: // BR; BRAA, BRAB
		return IndirectJump
	case 1, 9: // BLR; BLRAA, BLRAB
		return IndirectCall
	case 2, 4: // RET, RETAA, RETAB; ERET, ERETAA, ERETAB
		return Return
	}
	return Other
}

const arm64NOP = 0xd503201f

// arm64Padding reports whether the word fills space between functions.
func arm64Padding(word uint32) bool { return word == arm64NOP || word == 0 }
