package disasm

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"profdiff/internal/objfile"
)

// image is a linked ELF file of 64 bits.
type image struct {
	machine elf.Machine
	parts   []part
	symbols []objfile.Symbol
}

// part is a section that is loaded in a segment of its own.
type part struct {
	name string
	addr uint64
	data []byte
}

const textAddr = 0x401000

// bytes returns the file.
func (m *image) bytes() []byte {
	le := binary.LittleEndian
	type header struct {
		name                string
		typ                 elf.SectionType
		flags               elf.SectionFlag
		addr, link, entsize uint64
		data                []byte
		off                 uint64
	}
	sections := []header{{}}
	text := uint16(0)
	for _, p := range m.parts {
		h := header{name: p.name, typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, addr: p.addr, data: p.data}
		if p.name == ".text" {
			h.flags |= elf.SHF_EXECINSTR
			text = uint16(len(sections))
		}
		sections = append(sections, h)
	}
	if m.symbols != nil {
		strtab, symtab := []byte{0}, make([]byte, 24)
		for _, s := range m.symbols {
			symtab = le.AppendUint32(symtab, uint32(len(strtab)))
			symtab = append(symtab, byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC), 0)
			symtab = le.AppendUint16(symtab, text)
			symtab = le.AppendUint64(symtab, s.Addr)
			symtab = le.AppendUint64(symtab, s.Len)
			strtab = append(append(strtab, s.Name...), 0)
		}
		sections = append(sections,
			header{name: ".symtab", typ: elf.SHT_SYMTAB, link: uint64(len(sections) + 1), entsize: 24, data: symtab},
			header{name: ".strtab", typ: elf.SHT_STRTAB, data: strtab})
	}
	names := []byte{0}
	for i := range sections {
		names = append(append(names, sections[i].name...), 0)
	}
	names = append(names, ".shstrtab\x00"...)
	sections = append(sections, header{name: ".shstrtab", typ: elf.SHT_STRTAB, data: names})

	const ehsize, phsize, shsize = 64, 56, 64
	off := uint64(ehsize + phsize*len(m.parts))
	for i := range sections {
		sections[i].off = off
		off += uint64(len(sections[i].data))
	}
	b := []byte(elf.ELFMAG)
	b = append(b, byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT))
	b = append(b, make([]byte, 9)...)
	b = le.AppendUint16(b, uint16(elf.ET_EXEC))
	b = le.AppendUint16(b, uint16(m.machine))
	b = le.AppendUint32(b, uint32(elf.EV_CURRENT))
	b = le.AppendUint64(b, textAddr)
	b = le.AppendUint64(b, ehsize)
	b = le.AppendUint64(b, off)
	b = le.AppendUint32(b, 0)
	for _, n := range []int{ehsize, phsize, len(m.parts), shsize, len(sections), len(sections) - 1} {
		b = le.AppendUint16(b, uint16(n))
	}
	for i, p := range m.parts {
		flags := elf.PF_R
		if p.name == ".text" {
			flags |= elf.PF_X
		}
		b = le.AppendUint32(b, uint32(elf.PT_LOAD))
		b = le.AppendUint32(b, uint32(flags))
		n := uint64(len(p.data))
		for _, v := range []uint64{sections[i+1].off, p.addr, p.addr, n, n, 1} {
			b = le.AppendUint64(b, v)
		}
	}
	for _, s := range sections {
		b = append(b, s.data...)
	}
	name := uint32(1)
	for i, s := range sections {
		if i > 0 {
			b = le.AppendUint32(b, name)
		} else {
			b = le.AppendUint32(b, 0)
		}
		if i > 0 {
			name += uint32(len(s.name)) + 1
		} else {
			name = 2 // after the empty name of the first
		}
		b = le.AppendUint32(b, uint32(s.typ))
		for _, v := range []uint64{uint64(s.flags), s.addr, s.off, uint64(len(s.data))} {
			b = le.AppendUint64(b, v)
		}
		b = le.AppendUint32(b, uint32(s.link))
		b = le.AppendUint32(b, 0)
		b = le.AppendUint64(b, 1)
		b = le.AppendUint64(b, s.entsize)
	}
	return b
}

// code returns the code of the file.
func (m *image) code(t testing.TB) *Code {
	t.Helper()
	data := m.bytes()
	f, err := objfile.New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// function returns the function at the beginning of text.
func function(t testing.TB, machine elf.Machine, text []byte, more ...part) *Function {
	t.Helper()
	m := image{
		machine: machine, parts: append([]part{{".text", textAddr, text}}, more...),
		symbols: []objfile.Symbol{{Addr: textAddr, Len: uint64(len(text)), Name: "f"}},
	}
	f, err := m.code(t).FunctionAt(textAddr)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
