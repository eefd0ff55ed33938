package disasm

import (
	"bytes"
	"io"
	"math"

	"profdiff/internal/objfile"
)

// Relocations that are read (System V ABI, AMD64 supplement, table 4.9; ELF for the
// Arm 64-bit Architecture, 5.7.11 and 5.7.14).
const (
	relX86GlobDat    = 6
	relX86JumpSlot   = 7
	relX86Relative   = 8
	relARM64GlobDat  = 1025
	relARM64JumpSlot = 1026
	relARM64Relative = 1027
)

// imports is what the dynamic linker fills in.
type imports struct {
	slots    map[uint64]string // name of the function whose address is at an address
	relative map[uint64]uint64 // addresses in this file, by the address they are at
}

// section returns the contents of a section, as much as the file holds.
func (c *Code) section(name string) ([]byte, objfile.Section) {
	s, ok := c.file.Section(name)
	if !ok || c.data == nil || s.Offset > math.MaxInt64 || s.Size > math.MaxInt64 {
		return nil, s
	}
	// What the file claims to have and has not is not read.
	data, _ := io.ReadAll(io.NewSectionReader(c.data, int64(s.Offset), int64(s.Size)))
	return data, s
}

// readImports reads the relocations of the 64-bit machines.
func (c *Code) readImports() imports {
	im := imports{slots: make(map[uint64]string), relative: make(map[uint64]uint64)}
	if c.machine != x86_64 && c.machine != arm64 || c.relocatable {
		return im
	}
	symbols, _ := c.section(".dynsym")
	strings, _ := c.section(".dynstr")
	for _, name := range []string{".rela.dyn", ".rela.plt"} {
		data, _ := c.section(name)
		for r := (&byteReader{data: data}); r.remaining() >= 24; {
			at, info, addend := r.uint(8), r.uint(8), r.uint(8)
			switch typ := uint32(info); {
			case c.machine == x86_64 && typ == relX86Relative, c.machine == arm64 && typ == relARM64Relative:
				im.relative[at] = addend
			case c.machine == x86_64 && (typ == relX86GlobDat || typ == relX86JumpSlot),
				c.machine == arm64 && (typ == relARM64GlobDat || typ == relARM64JumpSlot):
				symbol := byteReader{data: symbols}.at(info >> 32 * 24)
				str := byteReader{data: strings}.at(symbol.uint(4))
				if n := bytes.IndexByte(str.rest(), 0); n > 0 && !symbol.bad {
					im.slots[at] = string(str.bytes(n))
				}
			}
		}
	}
	return im
}

// readStubs finds the entries of the procedure linkage tables that lead to functions
// which do not return as others do.
func (c *Code) readStubs(b *bounds) {
	if c.machine == other {
		return
	}
	for _, name := range []string{".plt", ".plt.sec", ".plt.got"} {
		s, ok := c.file.Section(name)
		if !ok {
			continue
		}
		text, err := c.text(s.Vaddr, s.Size)
		if err != nil {
			continue
		}
		var first, second Inst // the two before
		for i := range c.Range(s.Vaddr, s.Vaddr+uint64(len(text))) {
			if i.Kind == IndirectJump {
				start, slot := c.stub(text, s.Vaddr, first, second, i)
				if r := returnsOf(b.imports.slots[slot]); r != normally {
					b.special[start] = r
				}
			}
			first, second = second, i
		}
	}
}

// stub returns where the stub that ends with jump starts, and the address that it
// reads the target from.
func (c *Code) stub(text []byte, base uint64, first, second, jump Inst) (start, slot uint64) {
	if c.machine == x86_64 {
		start = jump.Addr
		var x x86Inst
		if second.Len > 0 {
			at := byteReader{data: text}.at(second.Addr - base)
			if decodeX86(at.rest(), true, &x) && x.isEndbr() {
				start = second.Addr
			}
		}
		at := byteReader{data: text}.at(jump.Addr - base)
		if decodeX86(at.rest(), true, &x) && x.base == regIP {
			slot = jump.Next() + uint64(x.disp)
		}
		return start, slot
	}
	// adrp x16, page; ldr x17, [x16, offset]; add x16, x16, offset; br x17
	at := byteReader{data: text}.at(first.Addr - base)
	at.off -= 4
	if first.Len == 0 || at.off < 0 {
		return 0, 0
	}
	adrp, ldr := uint32(at.uint(4)), uint32(at.uint(4))
	if adrp&0x9f000000 != 0x90000000 || ldr&0xffc00000 != 0xf9400000 {
		return 0, 0
	}
	start = first.Addr - 4
	page := start&^0xfff + uint64(signExtend(uint64(adrp>>5&0x7ffff)<<2|uint64(adrp>>29&3), 21))<<12
	return start, page + uint64(ldr>>10&0xfff)*8
}
