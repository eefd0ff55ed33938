// Slim makes a small copy of a recorded program, which still has what reports of its
// recordings need: its build ID and addresses, its debug information, and the symbols and code of
// the functions that are named.
//
//	profdiff convert --to json -o - --symfs DIR RECORDING | jq -r '.functions[].system_name' |
//		go -C internal/tools run ./slim IN OUT
//
// Functions are named on standard input, one a line. What has debug information is kept too.
// Predictions follow calls: -calls keeps what they need, of functions for x86-64. Recordings
// with --call-graph dwarf need -unwind.
//
//  1. The ELF header, the program headers and the notes stay where they are (System V ABI,
//     chapter 4), so that addresses translate as before.
//  2. Code becomes one section for each run of kept functions, and one without contents
//     (SHT_NOBITS) for each gap between two, as in files with debug information only.
//  3. Symbols of kept code, and of what it calls, are kept.
//  4. Sections with debug information are compressed (SHF_COMPRESSED), without those that
//     say where variables are and how to unwind. What the stubs of
//     imported functions are told by (.plt, .got, .rela.plt) is kept, other data is not.
package main

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

func main() {
	calls := flag.Int("calls", 0, "keep also what kept functions call, `N` calls deep")
	unwind := flag.Bool("unwind", false, "keep what tells how to unwind all functions (.eh_frame)")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: slim [-calls N] [-unwind] IN OUT, with names of functions on standard input")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(flag.Arg(0), flag.Arg(1), os.Stdin, *calls, *unwind); err != nil {
		fmt.Fprintln(os.Stderr, "slim:", err)
		os.Exit(1)
	}
}

func run(in, out string, names io.Reader, calls int, unwind bool) error {
	file, err := os.ReadFile(in)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(names)
	if err != nil {
		return err
	}
	small, err := slim(file, strings.Split(string(text), "\n"), calls, unwind)
	if err != nil {
		return fmt.Errorf("%s: %w", in, err)
	}
	return os.WriteFile(out, small, 0o777)
}

// A span is a range of addresses.
type span struct{ start, end uint64 }

// page is as much of the start of a file as is kept: the headers and the notes are there.
const page = 4096

func slim(file []byte, names []string, calls int, unwind bool) ([]byte, error) {
	f, err := elf.NewFile(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if f.Class != elf.ELFCLASS64 || f.Data != elf.ELFDATA2LSB || f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return nil, errors.New("is no linked ELF file of 64 bits, little-endian")
	}
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	extend(f, symbols)
	kept, err := keptCode(f, symbols, names, calls)
	if err != nil {
		return nil, err
	}
	w := writer{out: slices.Clone(file[:page]), whole: stubs}
	if unwind {
		w.whole = append(slices.Clone(stubs), ".eh_frame", ".eh_frame_hdr")
	}
	w.section(elf.Section64{}, "", nil)
	for i, s := range f.Sections[1:] {
		if err := w.copy(s, i+1, kept); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	called, err := callees(f, symbols, kept, 1) // which listings name
	if err != nil {
		return nil, err
	}
	if err := w.symbols(symbols, append(called, kept...)); err != nil {
		return nil, err
	}
	return w.finish(), nil
}

// extend gives functions that have no size, as functions written in assembly, the code up
// to the next symbol or to the end of the section.
func extend(f *elf.File, symbols []elf.Symbol) {
	var starts []uint64
	for _, s := range symbols {
		if function(s) {
			starts = append(starts, s.Value)
		}
	}
	slices.Sort(starts)
	for i := range symbols {
		s := &symbols[i]
		if !function(*s) || s.Size > 0 {
			continue
		}
		in := f.Sections[s.Section]
		end := in.Addr + in.Size
		if next, _ := slices.BinarySearch(starts, s.Value+1); next < len(starts) {
			end = min(end, starts[next])
		}
		if end > s.Value {
			s.Size = end - s.Value
		}
	}
}

// keptCode are the functions that are named or have debug information, by address.
func keptCode(f *elf.File, symbols []elf.Symbol, names []string, calls int) ([]span, error) {
	named := make(map[string]bool)
	for _, n := range names {
		named[n] = true
	}
	var kept []span
	for _, s := range symbols {
		if function(s) && named[s.Name] {
			kept = append(kept, span{s.Value, s.Value + s.Size})
		}
	}
	if f.Section(".debug_info") != nil {
		d, err := f.DWARF()
		if err != nil {
			return nil, err
		}
		for r := d.Reader(); ; {
			e, err := r.Next()
			if err != nil {
				return nil, err
			}
			if e == nil {
				break
			}
			if e.Tag == dwarf.TagCompileUnit {
				ranges, err := d.Ranges(e)
				if err != nil {
					return nil, err
				}
				for _, r := range ranges {
					kept = append(kept, span{r[0], r[1]})
				}
				r.SkipChildren()
			}
		}
	}
	called, err := callees(f, symbols, kept, calls)
	if err != nil {
		return nil, err
	}
	kept = append(kept, called...)
	slices.SortFunc(kept, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return kept, nil
}

// callees are the functions that kept ones call or jump to, as many calls deep.
func callees(f *elf.File, symbols []elf.Symbol, kept []span, calls int) ([]span, error) {
	text := f.Section(".text")
	code, err := text.Data()
	if err != nil {
		return nil, err
	}
	at := make(map[uint64]span)
	for _, s := range symbols {
		if function(s) && s.Size > at[s.Value].end-at[s.Value].start {
			at[s.Value] = span{s.Value, s.Value + s.Size}
		}
	}
	var all []span
	seen := make(map[span]bool)
	for callers := kept; calls > 0; calls-- {
		var next []span
		for _, c := range callers {
			for pc := c.start; pc >= text.Addr && pc < min(c.end, text.Addr+text.Size); {
				i, err := x86asm.Decode(code[pc-text.Addr:], 64)
				if err != nil {
					pc++ // data, or an instruction that is not known: go on behind it
					continue
				}
				pc += uint64(i.Len)
				if rel, ok := i.Args[0].(x86asm.Rel); ok {
					if to, ok := at[pc+uint64(int64(rel))]; ok && !seen[to] {
						seen[to] = true
						next = append(next, to)
					}
				}
			}
		}
		all, callers = append(all, next...), next
	}
	return all, nil
}

// function reports whether a symbol names code in the file.
func function(s elf.Symbol) bool {
	typ := elf.ST_TYPE(s.Info)
	return (typ == elf.STT_FUNC || typ == elf.STT_GNU_IFUNC || typ == elf.STT_NOTYPE) && s.Section != elf.SHN_UNDEF && s.Section < elf.SHN_LORESERVE
}

// A writer appends sections to the start of a file.
type writer struct {
	out     []byte
	headers []elf.Section64
	names   []byte
	whole   []string // sections that are kept though they are loaded
}

// section adds a section. Its contents, unless nil, get a place of their own.
func (w *writer) section(h elf.Section64, name string, contents []byte) {
	h.Name = uint32(len(w.names))
	w.names = append(append(w.names, name...), 0)
	if contents != nil {
		w.out = append(w.out, make([]byte, -len(w.out)&7)...)
		h.Off, h.Size = uint64(len(w.out)), uint64(len(contents))
		w.out = append(w.out, contents...)
	}
	w.headers = append(w.headers, h)
}

// stubs are the sections by which the stubs of imported functions are told.
var stubs = []string{".plt", ".plt.got", ".plt.sec", ".got", ".got.plt", ".rela.plt", ".rela.dyn", ".dynsym", ".dynstr", ".init", ".fini"}

// copy adds what is kept of a section.
func (w *writer) copy(s *elf.Section, index int, kept []span) error {
	h := elf.Section64{
		Type: uint32(s.Type), Flags: uint64(s.Flags), Addr: s.Addr, Off: s.Offset, Size: s.Size, Link: s.Link, Info: s.Info,
		Addralign: s.Addralign, Entsize: s.Entsize,
	}
	// Sections have other numbers than before, and few need to name others.
	h.Link, h.Info = 0, 0
	code := s.Flags&elf.SHF_EXECINSTR != 0 && !slices.Contains(w.whole, s.Name)
	switch {
	case s.Name == ".debug_loclists", s.Name == ".debug_loc", s.Name == ".debug_frame":
		return nil
	case s.Type == elf.SHT_NOBITS, s.Type == elf.SHT_SYMTAB, s.Type == elf.SHT_STRTAB && s.Flags&elf.SHF_ALLOC == 0, s.Type == elf.SHT_NULL:
		if s.Type == elf.SHT_NOBITS {
			w.section(h, s.Name, nil)
		}
		return nil
	case s.Type == elf.SHT_NOTE && s.Offset+s.FileSize <= page:
		w.section(h, s.Name, nil)
		return nil
	case code:
		return w.code(s, h, kept)
	case s.Flags&elf.SHF_ALLOC != 0 && !slices.Contains(w.whole, s.Name):
		h.Type = uint32(elf.SHT_NOBITS)
		w.section(h, s.Name, nil)
		return nil
	}
	data, err := s.Data()
	if err != nil {
		return err
	}
	if strings.HasPrefix(s.Name, ".debug_") {
		return w.compressed(h, s.Name, data)
	}
	w.section(h, s.Name, data)
	return nil
}

// compressed adds a section with debug information.
func (w *writer) compressed(h elf.Section64, name string, data []byte) error {
	var b bytes.Buffer
	head := elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: uint64(len(data)), Addralign: max(h.Addralign, 1)}
	if err := binary.Write(&b, binary.LittleEndian, head); err != nil {
		return err
	}
	z, err := zlib.NewWriterLevel(&b, zlib.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if b.Len() < len(data) {
		h.Flags |= uint64(elf.SHF_COMPRESSED)
		h.Addralign = 8
		data = b.Bytes()
	}
	w.section(h, name, data)
	return nil
}

// code adds a section with code: the first bytes, by which readers see that the file has
// code, and kept functions.
func (w *writer) code(s *elf.Section, h elf.Section64, kept []span) error {
	data, err := s.Data()
	if err != nil {
		return err
	}
	const slack = 16 // after a function, for the padding that ends it
	at, end := s.Addr, s.Addr+s.Size
	part := func(to uint64, keep bool) {
		if to <= at {
			return
		}
		p := h
		p.Addr, p.Addralign = at, 1
		if keep {
			w.section(p, s.Name, data[at-s.Addr:to-s.Addr])
		} else {
			p.Type, p.Off, p.Size = uint32(elf.SHT_NOBITS), h.Off+at-s.Addr, to-at
			w.section(p, s.Name, nil)
		}
		at = to
	}
	keep := span{s.Addr, min(s.Addr+slack, end)}
	for _, k := range kept {
		if k.end <= s.Addr || k.start >= end {
			continue
		}
		if k.start > keep.end+64 {
			part(keep.end, true)
			part(max(k.start, at), false)
			keep = span{at, at}
		}
		keep.end = max(keep.end, min(k.end+slack, end))
	}
	part(keep.end, true)
	part(end, false)
	return nil
}

// symbols adds the function symbols in ranges of addresses. They say that they are in the first
// section with code: which one it is matters to linkers only.
func (w *writer) symbols(all []elf.Symbol, kept []span) error {
	code := slices.IndexFunc(w.headers, func(h elf.Section64) bool { return h.Flags&uint64(elf.SHF_EXECINSTR) != 0 })
	text := []byte{0}
	list := []elf.Sym64{{}}
	for _, s := range all {
		within := func(k span) bool { return s.Value >= k.start && s.Value < k.end }
		if function(s) && slices.ContainsFunc(kept, within) {
			list = append(list, elf.Sym64{Name: uint32(len(text)), Info: s.Info, Other: s.Other, Shndx: uint16(code), Value: s.Value, Size: s.Size})
			text = append(append(text, s.Name...), 0)
		}
	}
	// Local symbols come first.
	local := func(s elf.Sym64) bool { return elf.ST_BIND(s.Info) == elf.STB_LOCAL }
	slices.SortStableFunc(list, func(a, b elf.Sym64) int {
		switch {
		case local(a) == local(b):
			return 0
		case local(a):
			return -1
		}
		return 1
	})
	global := slices.IndexFunc(list, func(s elf.Sym64) bool { return !local(s) })
	if global < 0 {
		global = len(list)
	}
	var table bytes.Buffer
	if err := binary.Write(&table, binary.LittleEndian, list); err != nil {
		return err
	}
	h := elf.Section64{Type: uint32(elf.SHT_SYMTAB), Link: uint32(len(w.headers) + 1), Info: uint32(global), Addralign: 8, Entsize: elf.Sym64Size}
	w.section(h, ".symtab", table.Bytes())
	w.section(elf.Section64{Type: uint32(elf.SHT_STRTAB), Addralign: 1}, ".strtab", text)
	return nil
}

// finish adds the names and headers of sections, and notes in the ELF header where they are.
func (w *writer) finish() []byte {
	const name = ".shstrtab"
	w.section(elf.Section64{Type: uint32(elf.SHT_STRTAB), Addralign: 1}, name, append(slices.Clone(w.names), name+"\x00"...))
	w.out = append(w.out, make([]byte, -len(w.out)&7)...)
	le := binary.LittleEndian
	le.PutUint64(w.out[40:], uint64(len(w.out))) // e_shoff
	le.PutUint16(w.out[60:], uint16(len(w.headers)))
	le.PutUint16(w.out[62:], uint16(len(w.headers)-1)) // e_shstrndx
	for i := range w.headers {
		// The kinds of a header have a fixed size: writing to memory does not fail.
		w.out, _ = binary.Append(w.out, le, &w.headers[i])
	}
	return w.out
}
