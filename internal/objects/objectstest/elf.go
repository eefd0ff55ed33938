// Package objectstest makes object files for tests: small ELF files from a few words, archives,
// and stores of files.
package objectstest

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"testing"
	"testing/fstest"
)

// An ELF is a small ELF file: code, symbols, a build ID.
type ELF struct {
	BuildID   string // in hexadecimal
	Type      elf.Type
	Vaddr     uint64 // of .text, which is at TextOffset in the file
	Size      uint64 // of .text, 0x1000 if 0
	Symbols   []Symbol
	DebugLink string
}

// A Symbol is a function of an ELF file.
type Symbol struct {
	Name       string
	Addr, Size uint64
}

// TextOffset is where in the file the code is.
const (
	TextOffset = 0x1000
	textSize   = 0x1000
)

// File is the ELF file in a file system.
func (e ELF) File(t testing.TB) *fstest.MapFile {
	return &fstest.MapFile{Data: e.Build(t), Mode: 0o644}
}

// Build is what the ELF file holds.
func (e ELF) Build(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	put := func(w *bytes.Buffer, v any) {
		if err := binary.Write(w, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	size := cmp.Or(e.Size, textSize)
	sections := []elf.Section64{{}}
	names := []byte{0}
	var contents bytes.Buffer // from TextOffset on
	section := func(name string, s elf.Section64, data []byte) {
		s.Name, s.Off, s.Size = uint32(len(names)), uint64(TextOffset+contents.Len()), uint64(len(data))
		names = append(append(names, name...), 0)
		sections = append(sections, s)
		contents.Write(data)
		contents.Write(make([]byte, -len(data)&7))
	}
	section(".text", elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: e.Vaddr}, make([]byte, size))
	if e.BuildID != "" {
		id, err := hex.DecodeString(e.BuildID)
		if err != nil {
			t.Fatal(err)
		}
		var note bytes.Buffer
		put(&note, []uint32{4, uint32(len(id)), 3}) // NT_GNU_BUILD_ID
		note.WriteString("GNU\x00")
		note.Write(id)
		section(".note.gnu.build-id", elf.Section64{Type: uint32(elf.SHT_NOTE)}, note.Bytes())
	}
	if e.DebugLink != "" {
		link := append([]byte(e.DebugLink), make([]byte, 4-len(e.DebugLink)%4+4)...)
		section(".gnu_debuglink", elf.Section64{Type: uint32(elf.SHT_PROGBITS)}, link)
	}
	if e.Symbols != nil {
		var table bytes.Buffer
		strs := []byte{0}
		put(&table, elf.Sym64{})
		for _, s := range e.Symbols {
			put(&table, elf.Sym64{
				Name: uint32(len(strs)), Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1, Value: s.Addr, Size: s.Size,
			})
			strs = append(append(strs, s.Name...), 0)
		}
		section(".symtab", elf.Section64{Type: uint32(elf.SHT_SYMTAB), Link: uint32(len(sections) + 1), Entsize: elf.Sym64Size}, table.Bytes())
		section(".strtab", elf.Section64{Type: uint32(elf.SHT_STRTAB)}, strs)
	}
	section(".shstrtab", elf.Section64{Type: uint32(elf.SHT_STRTAB)}, append(names, ".shstrtab\x00"...))

	typ := e.Type
	if typ == 0 {
		typ = elf.ET_DYN
	}
	h := elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1},
		Type:  uint16(typ), Machine: uint16(elf.EM_X86_64), Version: 1,
		Phoff: 64, Shoff: uint64(TextOffset + contents.Len()),
		Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64, Shnum: uint16(len(sections)), Shstrndx: uint16(len(sections) - 1),
	}
	if typ == elf.ET_REL {
		h.Phoff, h.Phnum = 0, 0
	}
	put(&out, h)
	put(&out, elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Off: TextOffset,
		Vaddr: e.Vaddr, Filesz: size, Memsz: size,
	})
	out.Write(make([]byte, TextOffset-out.Len()))
	out.Write(contents.Bytes())
	put(&out, sections)
	return out.Bytes()
}
