package objfile

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"

	"profdiff/internal/input/xz"
)

// elfSymbol must match Elf64_Sym and Elf32_Sym of the gABI.
type elfSymbol struct {
	name        uint32
	info        uint8
	shndx       uint16
	value, size uint64
}

func (s *elfSymbol) typ() elf.SymType { return elf.SymType(s.info & 0xf) }

func (s *elfSymbol) bind() elf.SymBind { return elf.SymBind(s.info >> 4) }

const stbGNUUnique = elf.SymBind(10) // one definition in the process; global

// Symbols returns the functions of the file: symbols of type STT_FUNC and
// STT_GNU_IFUNC wherever they are, symbols of type STT_NOTYPE in .text, and
// stubs of procedure linkage tables as symbols named "malloc@plt", the rest of these tables
// as "@plt". They come from .symtab, or if
// it has none from Go's table of functions, from .dynsym and from the .symtab of the ELF file in .gnu_debugdata
// ("MiniDebugInfo"). Undefined symbols and the mapping symbols of Arm and RISC-V
// ($x, $d, $a, $t) are left out. Of relocatable files, as kernel modules are, only
// .text is used because all sections have address 0. The error wraps
// [ErrNotFound] if there is no symbol table at all.
func (f *File) Symbols() (*SymbolTable, error) { return f.SymbolsBeside(f) }

// SymbolsBeside is Symbols for a separate debug file, which has no code: the stubs are taken
// from the file that it belongs to.
func (f *File) SymbolsBeside(exe *File) (*SymbolTable, error) {
	list, err := f.symbols()
	if err != nil {
		return nil, err
	}
	list.addPLT(exe)
	code := f.codeSpans()
	t := newSymbolTable(list.symbols, list.names, func(c candidate, next *candidate) uint64 {
		end := c.addr
		if i := code.find(c.addr); i >= 0 {
			end = code[i].hi
		}
		if next != nil && (end == c.addr || next.addr < end) {
			end = next.addr
		}
		return end
	})
	t.skipped = list.skipped
	t.locals = locals{list: list.locals, names: list.names}
	return t, nil
}

// FunctionNames yields the names of the functions of [File.Symbols], also where several are
// of one address.
func (f *File) FunctionNames() (iter.Seq[string], error) {
	list, err := f.symbols()
	if err != nil {
		return nil, err
	}
	return func(yield func(string) bool) {
		for i := range list.symbols {
			if !yield(string(list.names.name(list.symbols[i].id))) {
				return
			}
		}
	}, nil
}

// SymbolValue returns the value of a symbol of .symtab, of whatever type. ok is false if
// there is none of that name.
func (f *File) SymbolValue(name string) (value uint64, ok bool) {
	symtab := f.sectionOfType(elf.SHT_SYMTAB)
	if symtab == nil || uint64(symtab.link) >= uint64(len(f.sections)) {
		return 0, false
	}
	data, err := f.data(symtab, ".symtab")
	if err != nil {
		return 0, false
	}
	names, err := f.data(&f.sections[symtab.link], "string table of .symtab")
	if err != nil {
		return 0, false
	}
	c := &sectionReader{data: data, section: ".symtab", big: f.big}
	for c.remaining() >= f.symbolSize() {
		s := c.symbol(f.class64)
		if s.shndx != uint16(elf.SHN_UNDEF) && uint64(s.name) < uint64(len(names)) && string(stringAt(names, uint64(s.name), maxName)) == name {
			return s.value, true
		}
	}
	return 0, false
}

// symbolSize is the size of a symbol in the file, in bytes.
func (f *File) symbolSize() int {
	if f.class64 {
		return sizeofSym64
	}
	return sizeofSym32
}

// symbols reads the symbols of all tables, without procedure linkage tables.
func (f *File) symbols() (list symbolList, err error) {
	symtab, dynsym := f.sectionOfType(elf.SHT_SYMTAB), f.sectionOfType(elf.SHT_DYNSYM)
	debugdata := f.section(".gnu_debugdata")
	if symtab == nil {
		list.readGo(f)
	}
	if symtab == nil && dynsym == nil && debugdata == nil && len(list.symbols) == 0 {
		if f.sectionsErr != nil {
			return list, f.sectionsErr
		}
		return list, fmt.Errorf("symbol table %w", ErrNotFound)
	}
	if symtab != nil {
		if err := list.read(f, symtab, ".symtab"); err != nil {
			return list, err
		}
	}
	if symtab != nil && len(list.symbols) > 0 {
		return list, nil
	}
	if dynsym != nil {
		if err := list.read(f, dynsym, ".dynsym"); err != nil {
			return list, err
		}
	}
	if debugdata != nil {
		list.skipped = list.readDebugData(f, debugdata)
	}
	if list.skipped != nil && dynsym == nil {
		return list, list.skipped
	}
	return list, nil
}

// sectionOfType returns the first section of that type that has contents: files
// with only debug information keep the headers of the others.
func (f *File) sectionOfType(typ elf.SectionType) *section {
	for i := range f.sections {
		if f.sections[i].typ == typ && f.sections[i].size > 0 {
			return &f.sections[i]
		}
	}
	return nil
}

// symbolList gathers the symbols of several tables.
type symbolList struct {
	symbols []candidate
	locals  []localSymbol
	names   stringTables
	skipped error // why a part could not be read
}

// stringTables is the namer of symbols from several string tables; ids are offsets
// in all of them one after the other.
type stringTables []stringTable

type stringTable struct {
	base uint32
	data []byte
}

func (t stringTables) name(id uint32) []byte {
	i := len(t) - 1
	for i > 0 && t[i].base > id {
		i--
	}
	return stringAt(t[i].data, uint64(id-t[i].base), maxName)
}

// add adds a table and returns the id of its first byte; ok is false if there is
// no room.
func (t *stringTables) add(data []byte) (base uint32, ok bool) {
	var end uint64
	if n := len(*t); n > 0 {
		end = uint64((*t)[n-1].base) + uint64(len((*t)[n-1].data))
	}
	if end+uint64(len(data)) > math.MaxUint32 {
		return 0, false
	}
	*t = append(*t, stringTable{uint32(end), data})
	return uint32(end), true
}

// read adds the functions of a symbol table.
func (l *symbolList) read(f *File, table *section, name string) error {
	data, err := f.data(table, name)
	if err != nil {
		return err
	}
	if uint64(table.link) >= uint64(len(f.sections)) {
		return formatError(name, 0, "string table is section %d of %d", table.link, len(f.sections))
	}
	names, err := f.data(&f.sections[table.link], "string table of "+name)
	if err != nil {
		return err
	}
	base, ok := l.names.add(names)
	if !ok {
		return fmt.Errorf("%s: names of %d bytes: %w", name, len(names), ErrUnsupported)
	}

	text := -1
	for i := range f.sections {
		if f.named(&f.sections[i], ".text") {
			text = i
			break
		}
	}
	entsize := f.symbolSize()
	mapping := f.machine == elf.EM_ARM || f.machine == elf.EM_AARCH64 || f.machine == elf.EM_RISCV
	c := &sectionReader{data: data, section: name, big: f.big}
	functions := 0
	for d := *c; d.remaining() >= entsize; {
		if s := d.symbol(f.class64); s.typ() == elf.STT_FUNC || int(s.shndx) == text {
			functions++
		}
	}
	if l.symbols == nil {
		l.symbols = make([]candidate, 0, functions+8)
	}
	file := noFile // what the local symbols that follow are of
	for c.remaining() >= entsize {
		s := c.symbol(f.class64)
		if s.typ() == elf.STT_FILE {
			if file = noFile; uint64(s.name) < uint64(len(names)) && isSource(stringAt(names, uint64(s.name), maxName)) {
				file = base + s.name
			}
			continue
		}
		if s.shndx == uint16(elf.SHN_UNDEF) || s.name == 0 || uint64(s.name) >= uint64(len(names)) {
			continue
		}
		inText := int(s.shndx) == text
		var r rank
		switch s.typ() {
		case elf.STT_FUNC, elf.STT_GNU_IFUNC:
		case elf.STT_NOTYPE:
			if !inText || mapping && isMappingSymbol(stringAt(names, uint64(s.name), maxName)) {
				continue
			}
			r |= label
		default:
			continue
		}
		if f.typ == elf.ET_REL && !inText {
			continue
		}
		switch s.bind() {
		case elf.STB_GLOBAL, stbGNUUnique:
		case elf.STB_WEAK:
			r |= weak
		default:
			r |= local
		}
		switch {
		case f.machine == elf.EM_ARM, f.machine == elf.EM_MIPS && r&label == 0:
			s.value &^= 1 // marks Thumb and microMIPS code
		}
		if r == local {
			l.locals = append(l.locals, localSymbol{s.value, s.size, base + s.name, file})
		}
		l.symbols = append(l.symbols, candidate{s.value, s.size, base + s.name, r, 0})
	}
	return nil
}

// isMappingSymbol reports whether name marks a change between code and data, or
// between instruction sets, and not a place that programmers know: $a, $d, $t, $x,
// followed by nothing or by a dot; on RISC-V $x by the name of the instruction set.
// The dynamic linker of Android puts __dl_ before its symbols.
func isMappingSymbol(name []byte) bool {
	name = bytes.TrimPrefix(name, []byte("__dl_"))
	if len(name) < 2 || name[0] != '$' || bytes.IndexByte([]byte("adtx"), name[1]) < 0 {
		return false
	}
	return len(name) == 2 || name[2] == '.' || bytes.HasPrefix(name, []byte("$xrv"))
}

// maxDebugData is the most that .gnu_debugdata may expand to, as a multiple of its
// size plus 64 KiB. Symbol tables compress to a fifth or so.
const maxDebugData = 64

// readDebugData adds the functions of the ELF file in .gnu_debugdata.
func (l *symbolList) readDebugData(f *File, s *section) error {
	mini, err := f.debugData(s)
	if err != nil {
		return err
	}
	symtab := mini.sectionOfType(elf.SHT_SYMTAB)
	if symtab == nil {
		return nil
	}
	if err := l.read(mini, symtab, ".symtab"); err != nil {
		return fmt.Errorf(".gnu_debugdata: %w", err)
	}
	return nil
}

// debugData opens the ELF file in .gnu_debugdata.
func (f *File) debugData(s *section) (*File, error) {
	const name = ".gnu_debugdata"
	packed, err := f.data(s, name)
	if err != nil {
		return nil, err
	}
	limit := int64(len(packed))*maxDebugData + 1<<16
	data, err := inflateXZ(packed, name, min(limit, math.MaxInt32))
	if err != nil {
		return nil, err
	}
	mini, err := New(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return mini, nil
}

// inflateXZ returns what the xz stream in packed holds, at most limit bytes.
func inflateXZ(packed []byte, section string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(xz.NewReader(bytes.NewReader(packed), limit), limit+1))
	if need, ok := errors.AsType[xz.UnsupportedError](err); ok {
		return nil, fmt.Errorf("%s: xz %s: %w", section, string(need), ErrUnsupported)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: xz: %w", section, err)
	}
	if int64(len(data)) > limit {
		return nil, formatError(section, 0, "expands to more than %d bytes", limit)
	}
	return data, nil
}
