package objfile

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
)

// A stub is code of a procedure linkage table that jumps to a function of another file.
type stub struct {
	addr, size uint64
	slot       uint64 // address of the entry of the GOT that it jumps through
}

// pltSections are the sections with stubs: .plt.sec has what calls go to where .plt is only
// for lazy binding (IBT), .plt.got has stubs of functions whose address is taken, too.
var pltSections = []string{".plt", ".plt.sec", ".plt.got", ".iplt"}

// addPLT adds the stubs of procedure linkage tables as symbols named "malloc@plt", as objdump
// and perf do, and around them the sections as symbols named "@plt".
//
//  1. Code of a stub says through which slot of the GOT it jumps.
//  2. The relocation of this slot has the symbol.
//
// Sources are the psABIs of x86-64, AArch64 and Arm, and the linkers GNU ld, lld and mold.
func (l *symbolList) addPLT(f *File) {
	names := []byte("@plt\x00")
	stubs := make(map[uint64][]stub) // by slot
	var sections, found []candidate
	for i := range f.sections {
		s := &f.sections[i]
		if s.flags&elf.SHF_EXECINSTR == 0 || s.size == 0 || !slices.ContainsFunc(pltSections, func(name string) bool { return f.named(s, name) }) {
			continue
		}
		sections = append(sections, candidate{s.addr, s.size, 0, local | label, 0})
		if s.typ == elf.SHT_NOBITS {
			continue // of a file with debug information only
		}
		if code, err := f.data(s, ".plt"); err == nil {
			for _, x := range f.stubs(code, s) {
				stubs[x.slot] = append(stubs[x.slot], x)
			}
		}
	}
	if len(sections) == 0 {
		return
	}
	var functions map[uint64]candidate
	nameAt := func(addr uint64) string {
		if functions == nil {
			functions = l.preferred()
		}
		c, ok := functions[addr]
		if !ok {
			return ""
		}
		return string(l.names.name(c.id))
	}
	f.relocations(nameAt, func(slot uint64, name string) (more bool) {
		for _, x := range stubs[slot] {
			found = append(found, candidate{x.addr, x.size, uint32(len(names)), local, 0})
		}
		if len(stubs[slot]) > 0 {
			names = append(append(names, name...), "@plt\x00"...)
			delete(stubs, slot)
		}
		return len(stubs) > 0
	})
	base, ok := l.names.add(names)
	if !ok {
		return
	}
	for _, c := range append(sections, found...) {
		c.id += base
		l.symbols = append(l.symbols, c)
	}
}

// stubs finds the stubs in code of a section.
func (f *File) stubs(code []byte, s *section) (list []stub) {
	// decode finds the slot of the stub at an offset, 0 if there is none.
	var decode func(code []byte, addr uint64) (slot uint64)
	step, most := 4, uint64(16) // between starts, and bytes of a stub
	switch {
	case f.machine == elf.EM_X86_64 && !f.big:
		decode, step = x86Stub, 8
	case f.machine == elf.EM_AARCH64 && !f.big:
		decode, most = a64Stub, 24
	case f.machine == elf.EM_ARM && !f.big:
		decode, most = armStub, 20
	default:
		return nil
	}
	for off := 0; off < len(code); off += step {
		addr := s.addr + uint64(off)
		slot := decode(code[off:], addr)
		if slot == 0 || len(list) > 0 && list[len(list)-1].slot == slot {
			continue // what follows a landing pad or the switch from Thumb is of its stub
		}
		if n := len(list); n > 0 {
			list[n-1].size = min(list[n-1].size, addr-list[n-1].addr)
		}
		list = append(list, stub{addr, min(most, uint64(len(code)-off)), slot})
	}
	return list
}

// x86Stub decodes endbr64, or the index of mold's stubs, and bnd, of which all may be missing,
// and jmp *slot(%rip).
func x86Stub(code []byte, addr uint64) (slot uint64) {
	at := 0
	skip := func(prefix string, n int) {
		if len(code) >= at+n && string(code[at:at+len(prefix)]) == prefix {
			at += n
		}
	}
	skip("\xf3\x0f\x1e\xfa", 4) // endbr64
	skip("\x41\xbb", 6)         // mov $index,%r11d
	skip("\xf2", 1)             // bnd
	if len(code) < at+6 || code[at] != 0xff || code[at+1] != 0x25 {
		return 0
	}
	return addr + uint64(at) + 6 + uint64(int64(int32(binary.LittleEndian.Uint32(code[at+2:]))))
}

// a64Stub decodes an optional bti c, and adrp x16, page; ldr x17, [x16, #off].
func a64Stub(code []byte, addr uint64) (slot uint64) {
	const btiC = 0xd503245f
	word := func(i int) uint32 { return binary.LittleEndian.Uint32(code[4*i:]) }
	if len(code) >= 12 && word(0) == btiC {
		code, addr = code[4:], addr+4
	}
	if len(code) < 8 || word(0)&0x9f00001f != 0x90000010 || word(1)&0xffc003ff != 0xf9400211 {
		return 0
	}
	page := int64(int32(word(0)<<8)>>13)<<2 | int64(word(0)>>29&3) // immhi:immlo
	return addr&^0xfff + uint64(page<<12) + uint64(word(1)>>10&0xfff)*8
}

// armStub decodes bx pc; nop of Thumb, which may be missing, two or three additions to ip of
// which the first adds pc, and ldr pc, [ip, #off]!.
func armStub(code []byte, addr uint64) (slot uint64) {
	const bxPC = 0x4778
	if len(code) >= 4 && binary.LittleEndian.Uint16(code) == bxPC {
		code, addr = code[4:], addr+4
	}
	for i := 0; 4*i+4 <= len(code) && i < 4; i++ {
		w := binary.LittleEndian.Uint32(code[4*i:])
		imm := w & 0xff
		if turn := w >> 8 & 0xf * 2; turn != 0 {
			imm = imm>>turn | imm<<(32-turn)
		}
		switch {
		case i == 0 && w&0xfffff000 == 0xe28fc000: // add ip, pc, #imm
			slot = addr + 8 + uint64(imm)
		case i > 0 && w&0xfffff000 == 0xe28cc000: // add ip, ip, #imm
			slot += uint64(imm)
		case i > 0 && w&0xfffff000 == 0xe5bcf000: // ldr pc, [ip, #off]!
			return (slot + uint64(w&0xfff)) & 0xffffffff
		default:
			return 0
		}
	}
	return 0
}

// preferred are the symbols that name addresses where functions start.
func (l *symbolList) preferred() map[uint64]candidate {
	t := &SymbolTable{names: l.names}
	at := make(map[uint64]candidate, len(l.symbols))
	for _, c := range l.symbols {
		if other, ok := at[c.addr]; !ok || t.prefer(c, other) < 0 {
			at[c.addr] = c
		}
	}
	return at
}

// relocations yields the addresses that are filled in when the file is loaded, with the name of
// the symbol there, those of procedure linkage tables first. A function that chooses which one
// to fill in (IRELATIVE) has the name of both, which nameAt tells, or is written as objdump does.
func (f *File) relocations(nameAt func(addr uint64) string, yield func(slot uint64, name string) (more bool)) {
	irelative := map[elf.Machine]uint32{
		elf.EM_X86_64: uint32(elf.R_X86_64_IRELATIVE), elf.EM_AARCH64: uint32(elf.R_AARCH64_IRELATIVE), elf.EM_ARM: uint32(elf.R_ARM_IRELATIVE),
	}[f.machine]
	thumb := uint64(0) // bit of addresses
	if f.machine == elf.EM_ARM {
		thumb = 1
	}
	var symbols, names []byte
	if d := f.sectionOfType(elf.SHT_DYNSYM); d != nil && uint64(d.link) < uint64(len(f.sections)) {
		var err error
		if symbols, err = f.data(d, ".dynsym"); err == nil {
			names, err = f.data(&f.sections[d.link], ".dynstr")
		}
		if err != nil {
			return
		}
	}
	symbol := func(i uint64) []byte {
		size := uint64(f.symbolSize())
		if i >= uint64(len(symbols))/size {
			return nil
		}
		c := &sectionReader{data: symbols[i*size:], section: ".dynsym", big: f.big}
		return stringAt(names, uint64(c.symbol(f.class64).name), maxName)
	}
	for _, plt := range []bool{true, false} {
		for i := range f.sections {
			s := &f.sections[i]
			if s.typ != elf.SHT_RELA && s.typ != elf.SHT_REL || s.flags&elf.SHF_ALLOC == 0 {
				continue
			}
			if is := f.named(s, ".rela.plt") || f.named(s, ".rel.plt"); is != plt {
				continue
			}
			data, err := f.data(s, "relocations")
			if err != nil {
				continue
			}
			c := &sectionReader{data: data, section: "relocations", big: f.big}
			for c.err == nil && c.remaining() > 0 {
				slot, info, addend := c.word(f.class64), c.word(f.class64), uint64(0)
				if s.typ == elf.SHT_RELA {
					addend = c.word(f.class64)
				}
				index, typ := info>>8, uint32(info&0xff)
				if f.class64 {
					index, typ = info>>32, uint32(info)
				}
				name := ""
				switch {
				case index > 0:
					if name = string(symbol(index)); name != "" && addend != 0 {
						name += fmt.Sprintf("+%#x", addend)
					}
				case typ == irelative:
					if s.typ == elf.SHT_REL {
						if word, err := f.Loaded(slot, 4); err == nil && len(word) == 4 {
							addend = uint64(binary.LittleEndian.Uint32(word))
						}
					}
					if name = nameAt(addend &^ thumb); name == "" {
						name = fmt.Sprintf("*ABS*+%#x", addend)
					}
				}
				if c.err == nil && name != "" && !yield(slot, name) {
					return
				}
			}
		}
	}
}
