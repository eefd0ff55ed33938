package objfile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/ulikunitz/xz"
)

// elfImage describes an ELF file to be built.
type elfImage struct {
	class32    bool
	big        bool
	typ        elf.Type
	machine    elf.Machine
	segments   []testSegment
	sections   []testSection
	noSections bool // leave out the section header table
	after      int  // place the section header table this far beyond the end
}

type testSegment struct {
	typ                       elf.ProgType
	flags                     elf.ProgFlag
	vaddr, off, filesz, memsz uint64
	align                     uint64
	section                   string // take off and filesz from this section
}

type testSection struct {
	name    string
	typ     elf.SectionType
	flags   elf.SectionFlag
	addr    uint64
	data    []byte
	size    uint64 // of SHT_NOBITS
	link    string // name of the section in sh_link
	align   uint64
	symbols []testSymbol // data of a symbol table
}

type testSymbol struct {
	name        string
	value, size uint64
	typ         elf.SymType
	bind        elf.SymBind
	section     string // "" is undefined
}

// writer appends integers of a byte order.
type writer struct {
	bytes.Buffer
	order binary.AppendByteOrder
}

func (w *writer) u16(v uint16) { w.Write(w.order.AppendUint16(nil, v)) }
func (w *writer) u32(v uint32) { w.Write(w.order.AppendUint32(nil, v)) }
func (w *writer) u64(v uint64) { w.Write(w.order.AppendUint64(nil, v)) }

func (w *writer) pad(n int) {
	for w.Len()%n != 0 {
		w.WriteByte(0)
	}
}

func newWriter(big bool) *writer {
	if big {
		return &writer{order: binary.BigEndian}
	}
	return &writer{order: binary.LittleEndian}
}

// build returns the bytes of the file. String tables of symbol tables are made.
func (im elfImage) build(t testing.TB) []byte {
	t.Helper()
	w := newWriter(im.big)
	word := func(v uint64) {
		if im.class32 {
			w.u32(uint32(v))
		} else {
			w.u64(v)
		}
	}
	sections := append([]testSection{{}}, im.sections...)
	index := func(name string) uint32 {
		for i, s := range sections {
			if s.name == name && i > 0 {
				return uint32(i)
			}
		}
		t.Fatalf("no section %q", name)
		return 0
	}
	for i := range sections {
		s := &sections[i]
		if s.symbols == nil {
			continue
		}
		names := []byte{0}
		sym := newWriter(im.big)
		sym.Write(make([]byte, sizeofSym64-8*btoi(im.class32)))
		for _, y := range s.symbols {
			shndx := uint16(0)
			if y.section != "" {
				shndx = uint16(index(y.section))
			}
			name := uint32(0)
			if y.name != "" {
				name = uint32(len(names))
				names = append(append(names, y.name...), 0)
			}
			info := byte(y.bind)<<4 | byte(y.typ)
			sym.u32(name)
			if im.class32 {
				sym.u32(uint32(y.value))
				sym.u32(uint32(y.size))
				sym.Write([]byte{info, 0})
				sym.u16(shndx)
			} else {
				sym.Write([]byte{info, 0})
				sym.u16(shndx)
				sym.u64(y.value)
				sym.u64(y.size)
			}
		}
		s.data = sym.Bytes()
		s.link = s.name + ".str"
		sections = append(sections, testSection{name: s.link, typ: elf.SHT_STRTAB, data: names})
	}
	sections = append(sections, testSection{name: ".shstrtab", typ: elf.SHT_STRTAB})
	names := []byte{0}
	nameOff := make([]uint32, len(sections))
	for i, s := range sections[1:] {
		nameOff[i+1] = uint32(len(names))
		names = append(append(names, s.name...), 0)
	}
	sections[len(sections)-1].data = names

	ehsize, phsize, shsize := sizeofEhdr64, sizeofPhdr64, sizeofShdr64
	if im.class32 {
		ehsize, phsize, shsize = sizeofEhdr32, sizeofPhdr32, sizeofShdr32
	}
	// Contents follow the headers.
	off := uint64(ehsize + phsize*len(im.segments))
	offsets := make([]uint64, len(sections))
	var contents bytes.Buffer
	for i, s := range sections {
		for off%8 != 0 {
			contents.WriteByte(0)
			off++
		}
		offsets[i] = off
		contents.Write(s.data)
		off += uint64(len(s.data))
	}
	for off%8 != 0 {
		contents.WriteByte(0)
		off++
	}

	w.WriteString(elf.ELFMAG)
	w.Write([]byte{byte(2 - btoi(im.class32)), byte(1 + btoi(im.big)), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	w.u16(uint16(im.typ))
	w.u16(uint16(im.machine))
	w.u32(1)
	word(0)
	if len(im.segments) > 0 {
		word(uint64(ehsize))
	} else {
		word(0)
	}
	if im.noSections {
		word(0)
	} else {
		word(off + uint64(im.after))
	}
	w.u32(0)
	w.u16(uint16(ehsize))
	w.u16(uint16(phsize))
	w.u16(uint16(len(im.segments)))
	w.u16(uint16(shsize))
	if im.noSections {
		w.u16(0)
		w.u16(0)
	} else {
		w.u16(uint16(len(sections)))
		w.u16(uint16(len(sections) - 1))
	}
	for _, p := range im.segments {
		if p.section != "" {
			i := index(p.section)
			p.off, p.filesz = offsets[i], uint64(len(sections[i].data))
		}
		w.u32(uint32(p.typ))
		if !im.class32 {
			w.u32(uint32(p.flags))
		}
		word(p.off)
		word(p.vaddr)
		word(p.vaddr)
		word(p.filesz)
		word(p.memsz)
		if im.class32 {
			w.u32(uint32(p.flags))
		}
		word(p.align)
	}
	w.Write(contents.Bytes())
	if im.noSections {
		return w.Bytes()
	}
	for i, s := range sections {
		w.u32(nameOff[i])
		w.u32(uint32(s.typ))
		word(uint64(s.flags))
		word(s.addr)
		word(offsets[i])
		if s.typ == elf.SHT_NOBITS {
			word(s.size)
		} else {
			word(uint64(len(s.data)))
		}
		link := uint32(0)
		if s.link != "" {
			link = index(s.link)
		}
		w.u32(link)
		w.u32(0)
		word(max(s.align, 1))
		word(0)
	}
	return w.Bytes()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// parse builds the file and opens it.
func (im elfImage) parse(t testing.TB) *File {
	t.Helper()
	return parseELF(t, im.build(t))
}

func parseELF(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// note returns an ELF note.
func note(big bool, name string, typ uint32, desc []byte, align int) []byte {
	w := newWriter(big)
	w.u32(uint32(len(name) + 1))
	w.u32(uint32(len(desc)))
	w.u32(typ)
	w.WriteString(name + "\x00")
	w.pad(align)
	w.Write(desc)
	w.pad(align)
	return w.Bytes()
}

// text is a section of n bytes of code.
func text(name string, addr uint64, n int) testSection {
	return testSection{
		name: name, typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR,
		addr: addr, data: bytes.Repeat([]byte{0x90}, n),
	}
}

func compressXZ(t testing.TB, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := xz.WriterConfig{DictCap: 1 << 16}.NewWriter(&buf)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}
