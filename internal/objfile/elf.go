package objfile

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"math"
	"os"
)

// A File is an ELF file. Its methods read what they need through the
// [io.ReaderAt] it was made from and may be called concurrently.
type File struct {
	r       io.ReaderAt
	size    int64
	closer  io.Closer
	class64 bool
	big     bool
	typ     elf.Type
	machine elf.Machine
	entry   uint64

	progs    []prog
	sections []section
	names    []byte // section name string table
	// sectionsErr says why sections is empty although the header promises some.
	// Some applications are shipped with broken section tables on purpose.
	sectionsErr error
}

// A Segment is a program header of type PT_LOAD.
type Segment struct {
	Vaddr      uint64 // address of the first byte
	Offset     uint64 // of the first byte in the file
	FileSize   uint64 // bytes in the file
	MemSize    uint64 // bytes in memory; the rest is zeros
	Executable bool
}

// A Section is what the section header table says of a section.
type Section struct {
	Vaddr  uint64 // 0 if it is not loaded
	Offset uint64 // in the file
	Size   uint64 // bytes
}

// prog must match Elf64_Phdr and Elf32_Phdr of the gABI, as far as it is used.
type prog struct {
	typ    elf.ProgType
	flags  elf.ProgFlag
	off    uint64
	vaddr  uint64
	filesz uint64
	memsz  uint64
	align  uint64
}

// section must match Elf64_Shdr and Elf32_Shdr of the gABI, as far as it is used.
type section struct {
	name    uint32 // offset in the section name string table
	typ     elf.SectionType
	link    uint32
	info    uint32
	flags   elf.SectionFlag
	addr    uint64
	off     uint64
	size    uint64
	align   uint64
	entsize uint64
}

const (
	sizeofEhdr32, sizeofEhdr64 = 52, 64
	sizeofPhdr32, sizeofPhdr64 = 32, 56
	sizeofShdr32, sizeofShdr64 = 40, 64
	sizeofSym32, sizeofSym64   = 16, 24
	pnXNum                     = 0xffff // e_phnum is in sh_info of section 0
)

// Open opens the ELF file called name. The caller closes it.
func Open(name string) (*File, error) {
	// What is no regular file may hang or act if it is opened.
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", name)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	f, err := New(file, info.Size())
	if err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.closer = file
	return f, nil
}

// New reads the headers of an ELF file of size bytes. r must stay readable as long
// as the File and its line table are used; symbol tables do not need it. A section
// table outside of the file is not an error, the file then has no sections.
func New(r io.ReaderAt, size int64) (*File, error) {
	const where = "ELF header"
	ident, err := readAt(r, size, where, 0, uint64(min(max(size, 0), sizeofEhdr64)))
	if err != nil {
		return nil, err
	}
	c := &sectionReader{data: ident, section: where}
	if !bytes.Equal(c.bytes(4), []byte(elf.ELFMAG)) {
		return nil, formatError(where, 0, "not an ELF file")
	}
	f := &File{r: r, size: size}
	class, data := elf.Class(c.u8()), elf.Data(c.u8())
	switch class {
	case elf.ELFCLASS32:
	case elf.ELFCLASS64:
		f.class64 = true
	default:
		c.fail("unknown class %d", class)
	}
	switch data {
	case elf.ELFDATA2LSB:
	case elf.ELFDATA2MSB:
		f.big = true
	default:
		c.fail("unknown byte order %d", data)
	}
	c.big = f.big
	c.seek(elf.EI_NIDENT)
	f.typ = elf.Type(c.u16())
	f.machine = elf.Machine(c.u16())
	c.skip(4) // e_version
	f.entry = c.word(f.class64)
	phoff := c.word(f.class64)
	shoff := c.word(f.class64)
	c.skip(4) // e_flags
	c.skip(2) // e_ehsize
	phentsize, phnum := uint64(c.u16()), uint64(c.u16())
	shentsize, shnum := uint64(c.u16()), uint64(c.u16())
	shstrndx := uint32(c.u16())
	if c.err != nil {
		return nil, c.err
	}

	if shoff != 0 {
		f.sectionsErr = f.readSections(shoff, shentsize, shnum, shstrndx, &phnum)
	}
	if phoff != 0 && phnum != 0 {
		if err := f.readProgs(phoff, phentsize, phnum); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// readSections reads the section headers. phnum is replaced if the number of
// program headers does not fit in the ELF header.
func (f *File) readSections(off, entsize, num uint64, strndx uint32, phnum *uint64) error {
	const where = "section headers"
	want := uint64(sizeofShdr32)
	if f.class64 {
		want = sizeofShdr64
	}
	if entsize < want {
		return formatError(where, int64(min(off, math.MaxInt64)), "entries of %d bytes", entsize)
	}
	if num == 0 || *phnum == pnXNum || strndx == uint32(elf.SHN_XINDEX) {
		b, err := readAt(f.r, f.size, where, off, want)
		if err != nil {
			return err
		}
		first := f.readSection(&sectionReader{data: b, section: where, big: f.big})
		if num == 0 {
			num = first.size
		}
		if *phnum == pnXNum {
			*phnum = uint64(first.info)
		}
		if strndx == uint32(elf.SHN_XINDEX) {
			strndx = first.link
		}
	}
	if num > uint64(f.size)/entsize {
		return formatError(where, int64(min(off, math.MaxInt64)), "%d entries exceed the file", num)
	}
	b, err := readAt(f.r, f.size, where, off, num*entsize)
	if err != nil {
		return err
	}
	c := &sectionReader{data: b, base: int64(off), section: where, big: f.big}
	sections := make([]section, num)
	for i := range sections {
		sections[i] = f.readSection(c.at(uint64(i) * entsize))
	}
	if uint64(strndx) < uint64(len(sections)) {
		// A missing name table leaves the sections without names.
		f.names, _ = f.data(&sections[strndx], "section names")
	}
	f.sections = sections
	return nil
}

func (f *File) readSection(c *sectionReader) section {
	s := section{name: c.u32(), typ: elf.SectionType(c.u32())}
	s.flags = elf.SectionFlag(c.word(f.class64))
	s.addr = c.word(f.class64)
	s.off = c.word(f.class64)
	s.size = c.word(f.class64)
	s.link, s.info = c.u32(), c.u32()
	s.align = c.word(f.class64)
	s.entsize = c.word(f.class64)
	return s
}

func (f *File) readProgs(off, entsize, num uint64) error {
	const where = "program headers"
	want := uint64(sizeofPhdr32)
	if f.class64 {
		want = sizeofPhdr64
	}
	if entsize < want {
		return formatError(where, int64(min(off, math.MaxInt64)), "entries of %d bytes", entsize)
	}
	if num > uint64(f.size)/entsize {
		return formatError(where, int64(min(off, math.MaxInt64)), "%d entries exceed the file", num)
	}
	b, err := readAt(f.r, f.size, where, off, num*entsize)
	if err != nil {
		return err
	}
	base := &sectionReader{data: b, base: int64(off), section: where, big: f.big}
	f.progs = make([]prog, num)
	for i := range f.progs {
		c := base.at(uint64(i) * entsize)
		p := prog{typ: elf.ProgType(c.u32())}
		if f.class64 {
			p.flags = elf.ProgFlag(c.u32())
		}
		p.off = c.word(f.class64)
		p.vaddr = c.word(f.class64)
		c.word(f.class64) // p_paddr
		p.filesz = c.word(f.class64)
		p.memsz = c.word(f.class64)
		if !f.class64 {
			p.flags = elf.ProgFlag(c.u32())
		}
		p.align = c.word(f.class64)
		f.progs[i] = p
	}
	return nil
}

// Close closes the file if it was opened by [Open].
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Whole returns an error if the file ends before what its section headers say it holds, as a
// part of a file does.
func (f *File) Whole() error {
	if f.sectionsErr != nil {
		return f.sectionsErr
	}
	for i := range f.sections {
		if s := &f.sections[i]; s.typ != elf.SHT_NOBITS && s.typ != elf.SHT_NULL && (s.off > uint64(f.size) || s.size > uint64(f.size)-s.off) {
			return formatError("section headers", 0, "section %d of %d bytes at %#x exceeds the file of %d bytes", i, s.size, s.off, f.size)
		}
	}
	return nil
}

// ReaderAt returns the file itself, for parts of it that this package does not decode.
func (f *File) ReaderAt() io.ReaderAt { return f.r }

// Arch is the machine the code is for, named as uname -m does on Linux where that
// is one name: "x86_64", "aarch64", "riscv64", "s390x", …; "386" for 32-bit x86
// and "arm" for 32-bit Arm. A machine without a name is "machine-N", N being
// e_machine.
func (f *File) Arch() string {
	suffix := func(name string) string {
		if f.class64 {
			return name + "64"
		}
		return name
	}
	switch f.machine {
	case elf.EM_X86_64:
		return "x86_64"
	case elf.EM_386:
		return "386"
	case elf.EM_AARCH64:
		return "aarch64"
	case elf.EM_ARM:
		return "arm"
	case elf.EM_RISCV:
		if f.class64 {
			return "riscv64"
		}
		return "riscv32"
	case elf.EM_PPC64:
		if f.big {
			return "ppc64"
		}
		return "ppc64le"
	case elf.EM_PPC:
		return "ppc"
	case elf.EM_S390:
		if f.class64 {
			return "s390x"
		}
		return "s390"
	case elf.EM_MIPS:
		return suffix("mips")
	case elf.EM_LOONGARCH:
		if f.class64 {
			return "loongarch64"
		}
		return "loongarch32"
	case elf.EM_SPARCV9:
		return "sparc64"
	}
	return fmt.Sprintf("machine-%d", uint16(f.machine))
}

// Segments returns the PT_LOAD segments in the order of the file.
func (f *File) Segments() []Segment {
	var s []Segment
	for _, p := range f.progs {
		if p.typ == elf.PT_LOAD {
			s = append(s, Segment{p.vaddr, p.off, p.filesz, p.memsz, p.flags&elf.PF_X != 0})
		}
	}
	return s
}

// minExecutableVaddr returns the lowest address of the executable PT_LOAD segments
// and the file offset of that segment, 0 and 0 if there are none, as in the ELF
// images that JIT compilers make. It mirrors ReadMinExecutableVaddr of
// simpleperf, which recordings are made with: address in file =
// ip − start of mapping + offset of mapping − offset + vaddr.
func (f *File) minExecutableVaddr() (vaddr, offset uint64) {
	found := false
	for _, p := range f.progs {
		if p.typ == elf.PT_LOAD && p.flags&elf.PF_X != 0 && (!found || p.vaddr < vaddr) {
			vaddr, offset, found = p.vaddr, p.off, true
		}
	}
	return vaddr, offset
}

// VaddrOfOffset returns the address of the byte at off in the file, looked up in
// the PT_LOAD segments, first in the executable ones.
func (f *File) VaddrOfOffset(off uint64) (uint64, bool) {
	for _, executable := range []bool{true, false} {
		for _, p := range f.progs {
			if p.typ == elf.PT_LOAD && (p.flags&elf.PF_X != 0) == executable && off >= p.off && off-p.off < p.filesz {
				return p.vaddr + (off - p.off), true
			}
		}
	}
	return 0, false
}

// Section returns the first section of that name.
func (f *File) Section(name string) (Section, bool) {
	s := f.section(name)
	if s == nil {
		return Section{}, false
	}
	return Section{s.addr, s.off, s.size}, true
}

func (f *File) section(name string) *section {
	for i := range f.sections {
		if f.named(&f.sections[i], name) {
			return &f.sections[i]
		}
	}
	return nil
}

func (f *File) named(s *section, name string) bool {
	// One byte more than the name, to see that it ends there.
	return string(stringAt(f.names, uint64(s.name), len(name)+1)) == name
}

// data returns the bytes of a section as they are in the file.
func (f *File) data(s *section, name string) ([]byte, error) {
	if s.typ == elf.SHT_NOBITS {
		return nil, fmt.Errorf("%s: contents %w", name, ErrNotFound)
	}
	return readAt(f.r, f.size, name, s.off, s.size)
}

// Text returns the n bytes at vaddr of a section with code or, in files without
// sections, of an executable segment. The error wraps [ErrNotFound] if that
// address has no code or the file does not hold it, as files with only debug
// information do not.
func (f *File) Text(vaddr, n uint64) ([]byte, error) {
	where := fmt.Sprintf("text at %#x", vaddr)
	var start, size, off uint64
	switch s, any := f.codeSection(vaddr); {
	case s != nil && s.typ == elf.SHT_NOBITS:
		return nil, fmt.Errorf("%s: contents %w", where, ErrNotFound)
	case s != nil:
		start, size, off = s.addr, s.size, s.off
	case any:
	default:
		if p := f.codeSegment(vaddr); p != nil && vaddr-p.vaddr < p.filesz {
			start, size, off = p.vaddr, p.filesz, p.off
		}
	}
	if size == 0 {
		return nil, fmt.Errorf("%s: %w", where, ErrNotFound)
	}
	if n > size-(vaddr-start) {
		return nil, fmt.Errorf("%s: %d bytes exceed the code from %#x on: %w", where, n, start, ErrNotFound)
	}
	return readAt(f.r, f.size, where, off+(vaddr-start), n)
}

// codeSection returns the section with code that holds vaddr, nil if there is none.
// any is set if there are sections with code.
func (f *File) codeSection(vaddr uint64) (s *section, any bool) {
	for i := range f.sections {
		s := &f.sections[i]
		if s.flags&elf.SHF_ALLOC == 0 || s.flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		if f.typ == elf.ET_REL && !f.named(s, ".text") {
			continue // all sections are at 0
		}
		any = true
		if vaddr >= s.addr && vaddr-s.addr < s.size {
			return s, true
		}
	}
	return nil, any
}

// codeSegment returns the executable segment that holds vaddr, nil if there is
// none.
func (f *File) codeSegment(vaddr uint64) *prog {
	for i := range f.progs {
		p := &f.progs[i]
		if p.typ == elf.PT_LOAD && p.flags&elf.PF_X != 0 && vaddr >= p.vaddr && vaddr-p.vaddr < max(p.memsz, p.filesz) {
			return p
		}
	}
	return nil
}

// codeSpans returns the address ranges of code. Segments tell only if there are no
// sections: they may hold other things.
func (f *File) codeSpans() spans {
	var list spans
	for i := range f.sections {
		if s := &f.sections[i]; s.flags&elf.SHF_ALLOC != 0 && s.flags&elf.SHF_EXECINSTR != 0 && s.size <= math.MaxUint64-s.addr {
			list = append(list, span{lo: s.addr, hi: s.addr + s.size})
		}
	}
	if list == nil {
		for _, p := range f.progs {
			if size := max(p.memsz, p.filesz); p.typ == elf.PT_LOAD && p.flags&elf.PF_X != 0 && size <= math.MaxUint64-p.vaddr {
				list = append(list, span{lo: p.vaddr, hi: p.vaddr + size})
			}
		}
	}
	list.index()
	return list
}
