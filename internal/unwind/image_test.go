package unwind

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"profdiff/internal/objfile"
)

// A part is what an image has at an address.
type part struct {
	header uint32 // type of a program header that leads there, beside the loadable one; 0 for none
	vaddr  uint64
	data   []byte
}

// image returns an ELF file without sections for a processor, with a segment for each part. All
// are executable.
func image(a *Arch, parts ...part) []byte {
	var headers []elf.Prog64
	at := uint64(0x1000)
	var body []byte
	for _, p := range parts {
		h := elf.Prog64{
			Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Off: at, Vaddr: p.vaddr,
			Filesz: uint64(len(p.data)), Memsz: uint64(len(p.data)), Align: 1,
		}
		headers = append(headers, h)
		if p.header != 0 {
			h.Type = p.header
			headers = append(headers, h)
		}
		body = append(body, p.data...)
		at += uint64(len(p.data))
	}
	machines := map[string]elf.Machine{"x86_64": elf.EM_X86_64, "386": elf.EM_386, "aarch64": elf.EM_AARCH64, "arm": elf.EM_ARM}
	class := elf.ELFCLASS64
	if a.word == 4 {
		class = elf.ELFCLASS32
	}
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(class), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}
	var b bytes.Buffer
	write := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	if a.word == 8 {
		write(elf.Header64{
			Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(machines[a.Name]), Version: 1, Phoff: 64, Ehsize: 64,
			Phentsize: 56, Phnum: uint16(len(headers)),
		})
		write(headers)
	} else {
		write(elf.Header32{
			Ident: ident, Type: uint16(elf.ET_DYN), Machine: uint16(machines[a.Name]), Version: 1, Phoff: 52, Ehsize: 52,
			Phentsize: 32, Phnum: uint16(len(headers)),
		})
		for _, h := range headers {
			write(elf.Prog32{
				Type: h.Type, Off: uint32(h.Off), Vaddr: uint32(h.Vaddr), Filesz: uint32(h.Filesz), Memsz: uint32(h.Memsz),
				Flags: h.Flags, Align: 1,
			})
		}
	}
	b.Write(make([]byte, 0x1000-b.Len()))
	b.Write(body)
	return b.Bytes()
}

func imageModule(t testing.TB, a *Arch, parts ...part) *Module {
	t.Helper()
	data := image(a, parts...)
	f, err := objfile.New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return module(t, Source{File: f})
}

// A section makes an .eh_frame or .debug_frame.
type section struct {
	eh   bool
	word int
	data []byte
}

// entry appends an entry and returns its offset.
func (s *section) entry(body []byte) int {
	at := len(s.data)
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	s.data = binary.LittleEndian.AppendUint32(s.data, uint32(len(body)))
	s.data = append(s.data, body...)
	return at
}

// cie appends a CIE with absolute addresses, whose code factor is 1 and data factor -8.
func (s *section) cie(augmentation string, ra byte, program ...byte) int {
	id := uint32(0xffffffff)
	if s.eh {
		id = 0
	}
	body := binary.LittleEndian.AppendUint32(nil, id)
	body = append(body, 1)
	body = append(body, augmentation...)
	body = append(body, 0, 1, 0x78, ra)
	if len(augmentation) > 0 && augmentation[0] == 'z' {
		body = append(body, byte(len(augmentation)-1))
		for range augmentation[1:] {
			body = append(body, 0) // as absolute addresses
		}
	}
	return s.entry(append(body, program...))
}

// fde appends an FDE of a CIE.
func (s *section) fde(cie int, start, size uint64, sized bool, program ...byte) int {
	back := uint32(cie)
	if s.eh {
		back = uint32(len(s.data) + 4 - cie)
	}
	body := binary.LittleEndian.AppendUint32(nil, back)
	for _, v := range []uint64{start, size} {
		body = append(body, binary.LittleEndian.AppendUint64(nil, v)[:s.word]...)
	}
	if sized {
		body = append(body, 0)
	}
	return s.entry(append(body, program...))
}

// framesOf returns the Module of an x86-64 file with one function of 0x100 bytes at 0x2000, whose
// CIE says that the CFA is rsp+8 and the return address there.
func framesOf(t testing.TB, program ...byte) *Module {
	t.Helper()
	s := section{eh: true, word: 8}
	s.fde(s.cie("zR", 16, cfaDef, 7, 8, cfaOffset|16, 1), 0x2000, 0x100, true, program...)
	return moduleOf(t, amd64, s.data)
}

// moduleOf returns the Module of a file with code from 0x2000 to 0x3000, and that .eh_frame.
func moduleOf(t testing.TB, a *Arch, frames []byte) *Module {
	t.Helper()
	const at = 0x8000
	// Version, encodings, and where the frames are: relative to the place.
	header := binary.LittleEndian.AppendUint32([]byte{1, 0x1b, 0xff, 0xff}, at-(0x7000+4))
	return imageModule(t, a, part{0, 0x2000, make([]byte, 0x1000)}, part{objfile.EHFrameHeader, 0x7000, header}, part{0, at, frames})
}
