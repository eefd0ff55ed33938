package objfile

import (
	"bytes"
	"cmp"
	"debug/elf"
	"slices"
)

// CodeStates say which 32-bit Arm code of a file is Thumb.
type CodeStates struct {
	marks []codeMark // by address
}

type codeMark struct {
	addr  uint64
	thumb bool
}

// CodeStates returns what symbols tell: where mapping symbols ($a, $t) start code, and
// by bit 0 which functions are Thumb. It is empty for other machines. Broken tables
// count as far as they can be read.
func (f *File) CodeStates() *CodeStates {
	t := &CodeStates{}
	if f.machine != elf.EM_ARM || f.class64 {
		return t
	}
	t.read(f, elf.SHT_SYMTAB)
	t.read(f, elf.SHT_DYNSYM)
	if s := f.section(".gnu_debugdata"); s != nil {
		if mini, err := f.debugData(s); err == nil {
			t.read(mini, elf.SHT_SYMTAB)
		}
	}
	slices.SortStableFunc(t.marks, func(a, b codeMark) int { return cmp.Compare(a.addr, b.addr) })
	t.marks = slices.CompactFunc(t.marks, func(a, b codeMark) bool { return a.addr == b.addr })
	return t
}

func (t *CodeStates) read(f *File, typ elf.SectionType) {
	table := f.sectionOfType(typ)
	if table == nil || uint64(table.link) >= uint64(len(f.sections)) {
		return
	}
	data, err := f.data(table, "symbol table")
	if err != nil {
		return
	}
	names, err := f.data(&f.sections[table.link], "string table")
	if err != nil {
		return
	}
	c := &sectionReader{data: data, section: "symbol table", big: f.big}
	for c.remaining() >= sizeofSym32 {
		s := c.symbol(false)
		switch {
		case s.shndx == uint16(elf.SHN_UNDEF):
		case s.typ() == elf.STT_FUNC:
			t.marks = append(t.marks, codeMark{s.value &^ 1, s.value&1 != 0})
		case s.typ() == elf.STT_NOTYPE:
			name := bytes.TrimPrefix(stringAt(names, uint64(s.name), 8), []byte("__dl_"))
			if isMappingSymbol(name) && (name[1] == 'a' || name[1] == 't') {
				t.marks = append(t.marks, codeMark{s.value, name[1] == 't'})
			}
		}
	}
}

// Thumb reports whether the code at an address is Thumb; known is false if nothing
// tells.
func (t *CodeStates) Thumb(vaddr uint64) (thumb, known bool) {
	i, found := slices.BinarySearchFunc(t.marks, vaddr, func(m codeMark, addr uint64) int { return cmp.Compare(m.addr, addr) })
	if !found {
		i--
	}
	if i < 0 {
		return false, false
	}
	return t.marks[i].thumb, true
}
