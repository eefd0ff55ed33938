package objfile

import (
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
)

// A LineTable tells from DWARF, versions 2 to 5, which functions and lines the
// code at an address is from. It reads a compilation unit when an address in it is
// asked for and keeps it, also from the file that has what was split off, see
// [LineTable.SetSplit]. A LineTable may be used concurrently.
//
// It does not use the readers of package debug/dwarf: they build every entry of a
// unit in memory and allocate what the header of a line number program claims.
type LineTable struct {
	info, abbrev, line, str, lineStr   *contents
	ranges, rnglists, addr, strOffsets *contents
	codeAtZero                         bool

	mu        sync.Mutex
	units     []*unit
	index     spans // ids are indexes of units
	abbrevs   map[abbrevKey]*abbrevTable
	functions map[uint64]*functionName // by offset in .debug_info
	lastRoot  struct {
		key    abbrevKey
		code   uint64
		abbrev *abbrev
	}
	sup *LineTable
	err error

	findSplit func(SplitUnit) iter.Seq[*File]
	splits    map[*File][]*LineTable
	packed    *splitIndex // of a .dwp file

	// What may still be read of data that can be referred to more than once.
	abbrevBudget, rangeBudget, lineBudget int64
}

// A Frame is one function at an address. Where functions were inlined there are
// several for one address.
type Frame struct {
	// Name is DW_AT_name, qualified with the names of namespaces and classes if
	// there is no LinkageName; "" if only the line is known.
	Name string
	// LinkageName is the mangled name; "" if there is none, as in C and Go.
	LinkageName string
	// File is the path of the source file as the compiler saw it, made absolute
	// with the directory of the compilation; "" if it is not known.
	File string
	// Line and Column count from 1; 0 if not known.
	Line, Column int
	// StartLine is the line that the function is declared in, 0 if not known.
	StartLine int
	// Origin is the file that the function is declared in if it is local to a compilation
	// unit, as static functions of C are, so that other files may have others of its name;
	// "" if it is not, or if the file is not known.
	Origin string
	// Discriminator tells apart blocks of the line, or calls there; 0 if there is none.
	Discriminator uint32
	// Inlined is set for all but the last frame of an address: the function was inlined
	// into the function of the next frame, at the next frame's line.
	Inlined bool
}

// functionName is what there is to say of a function wherever it is called.
type functionName struct {
	name, linkage string
	origin        string // see Frame
	line          int
}

// Lines returns the line table. The error wraps [ErrNotFound] if the file has none
// and [ErrUnsupported] for relocatable files (kernel modules), whose debug
// information is not linked. Information that comes from broken data later is
// missing in what [LineTable.Frames] returns; [LineTable.Err] says why.
func (f *File) Lines() (*LineTable, error) {
	t := &LineTable{info: f.debugSection("debug_info")}
	if t.info == nil || t.info.broken == nil && t.info.size == 0 {
		if f.sectionsErr != nil {
			return nil, f.sectionsErr
		}
		return nil, fmt.Errorf("line table %w", ErrNotFound)
	}
	if t.info.broken != nil {
		return nil, t.info.broken
	}
	// The supplementary files of dwz are of this type too, but without relocations.
	if f.typ == elf.ET_REL && (f.section(".rela.debug_info") != nil || f.section(".rel.debug_info") != nil) {
		return nil, fmt.Errorf("line table of a relocatable file: %w", ErrUnsupported)
	}
	t.abbrev = f.debugSection("debug_abbrev")
	t.line = f.debugSection("debug_line")
	t.str = f.debugSection("debug_str")
	t.lineStr = f.debugSection("debug_line_str")
	t.ranges = f.debugSection("debug_ranges")
	t.rnglists = f.debugSection("debug_rnglists")
	t.addr = f.debugSection("debug_addr")
	t.strOffsets = f.debugSection("debug_str_offsets")
	t.codeAtZero = f.codeSpans().find(0) >= 0
	if err := t.open(f.debugSection("debug_aranges")); err != nil {
		return nil, err
	}
	return t, nil
}

// open reads what is needed to find the unit of an address.
func (t *LineTable) open(aranges *contents) error {
	t.setBudgets()
	if err := t.readUnits(); err != nil {
		if len(t.units) == 0 {
			return err
		}
		t.note(err)
	}
	t.readAranges(aranges)
	for i, u := range t.units {
		if u.inAranges || u.typ != utCompile && u.typ != utSkeleton {
			continue
		}
		r, err := t.loadRoot(u)
		if err == nil {
			t.index, err = t.addSpans(t.index, u, r, &r.pc, uint32(i))
		}
		t.note(err)
	}
	t.index.index()
	return nil
}

// setBudgets bounds what is read of data that can be referred to more than once.
func (t *LineTable) setBudgets() {
	const slack = 1 << 16
	t.abbrevs = make(map[abbrevKey]*abbrevTable)
	t.functions = make(map[uint64]*functionName)
	t.abbrevBudget = int64(4*t.abbrev.length() + slack)
	t.rangeBudget = int64(t.info.length() + t.ranges.length() + t.rnglists.length() + slack)
	t.lineBudget = int64(2*t.line.length() + slack)
}

// readAranges takes the ranges of units from .debug_aranges. Compilers write it for
// all units or none; the root entries of units that it does not mention are read
// instead.
func (t *LineTable) readAranges(aranges *contents) {
	data, err := aranges.load()
	if err != nil {
		t.note(err)
		return
	}
	all := &sectionReader{data: data, section: ".debug_aranges", big: t.info.big}
	byOffset := make(map[uint64]int, len(t.units))
	for i, u := range t.units {
		byOffset[u.off] = i
	}
	for all.err == nil && all.remaining() > 0 {
		start := all.off
		length, wide := uint64(all.u32()), false
		if length == 0xffffffff {
			length, wide = all.u64(), true
		}
		header := all.off - start
		c := all.sub(length)
		version := c.u16()
		i, known := byOffset[c.word(wide)]
		addrSize, segSize := c.u8(), c.u8()
		if c.err != nil || version != 2 || !known || segSize != 0 || addrSize != 4 && addrSize != 8 {
			continue
		}
		// Tuples are aligned to their size, from the start of the header.
		tuple := 2 * int(addrSize)
		if pad := (header + c.off) % tuple; pad != 0 {
			c.skip(uint64(tuple - pad))
		}
		for c.remaining() >= tuple {
			lo := c.uint(addrSize)
			hi := lo + c.uint(addrSize)
			if lo < hi && !t.discarded(addrSize, lo) {
				t.index = append(t.index, span{lo: lo, hi: hi, id: uint32(i)})
				t.units[i].inAranges = true
			}
		}
	}
	t.note(all.failure())
}

// note keeps the first error.
func (t *LineTable) note(err error) {
	if t.err == nil {
		t.err = err
	}
}

// Err returns the first error met in the data so far, nil if there was none. The
// addresses it concerns have no frames, or frames without names or lines.
func (t *LineTable) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// Frames returns the functions at an address, innermost first, nil if nothing is
// known. The first frame has the line of the code at the address: the nearest preceding
// row of the line table has it, or if that row has none, the nearest row before it from
// the same function. The other frames have the lines of the calls
// that were inlined. A function name may be missing where there are only lines, as
// in assembler code.
//
// An address in the middle of an instruction is fine; for a return address ask for
// the address before it.
func (t *LineTable) Frames(vaddr uint64) []Frame {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sup != nil {
		t.sup.mu.Lock()
		defer t.sup.mu.Unlock()
	}
	var lines []Frame
	for i := t.index.find(vaddr); i >= 0; i = t.index.next(i, vaddr) {
		u := t.units[t.index[i].id]
		frames, err := t.frames(u, vaddr)
		t.note(err)
		if len(frames) > 0 && frames[0].Name != "" {
			return frames
		}
		if lines == nil {
			lines = frames
		}
	}
	return lines
}

func (t *LineTable) frames(u *unit, vaddr uint64) ([]Frame, error) {
	in, full := t.full(u)
	s, err := in.scopes(full)
	if err != nil {
		return nil, err
	}
	// Without lines there are still functions.
	lines, err := t.lines(u)
	here := Frame{}
	at := s.ranges.find(vaddr)
	if lines != nil {
		if row, ok := s.rowAt(lines, vaddr, at); ok {
			here.File, here.Line, here.Column = t.path(u, row.file), int(row.line), int(row.column)
			here.Discriminator = row.discriminator
		}
	}
	if at < 0 {
		if here.File == "" {
			return nil, err
		}
		return []Frame{here}, err
	}
	first := int32(s.ranges[at].id)
	n := 1
	for i := first; s.functions[i].inlined && s.functions[i].parent >= 0; i = s.functions[i].parent {
		n++
	}
	frames := make([]Frame, 0, n)
	for i := first; i >= 0; {
		f := &s.functions[i]
		name, nameErr := in.function(full.off + uint64(f.die))
		if err == nil {
			err = nameErr
		}
		here.Name, here.LinkageName, here.Origin, here.StartLine, here.Inlined = name.name, name.linkage, name.origin, name.line, f.inlined
		frames = append(frames, here)
		if !f.inlined {
			break
		}
		here = Frame{File: t.path(u, f.callFile), Line: int(f.callLine), Column: int(f.callColumn), Discriminator: f.callDiscriminator}
		i = f.parent
	}
	if here = frames[0]; len(frames) == 1 && here.Name == "" && here.File == "" {
		return nil, err
	}
	frames[len(frames)-1].Inlined = false
	return frames, err
}

// rowAt returns the row that covers vaddr. at is the innermost range of a function
// with vaddr, −1 if there is none.
func (s *unitScopes) rowAt(lines *lineProgram, vaddr uint64, at int) (lineRow, bool) {
	rows := lines.find(vaddr)
	if len(rows) == 0 {
		return lineRow{}, false
	}
	row := rows[len(rows)-1]
	if row.line != 0 || at < 0 {
		return row, true
	}
	// Code that the compiler made without a line of its own.
	for i := len(rows) - 2; i >= 0 && rows[i].addr >= s.ranges[at].lo; i-- {
		if j := s.ranges.find(rows[i].addr); rows[i].line != 0 && j >= 0 && s.ranges[j].id == s.ranges[at].id {
			return rows[i], true
		}
	}
	return row, true
}

// SetSupplementary gives t the file that several debug files share, which dwz
// makes and [File.AltDebugLink] names. Without it names from there are missing.
// Several tables may have one in common.
func (t *LineTable) SetSupplementary(sup *LineTable) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if sup != t {
		t.sup = sup
	}
}

// attrMIPSLinkageName is what GCC before 4.5 wrote for DW_AT_linkage_name.
const attrMIPSLinkageName = dwarf.Attr(0x2007)

// attrGNUDiscriminator is the discriminator of the call of an inlined subroutine.
const attrGNUDiscriminator = dwarf.Attr(0x2136)

// What GCC and Clang write for units that are split off in DWARF 4
// (https://gcc.gnu.org/wiki/DebugFission).
const (
	attrGNUDwoName    = dwarf.Attr(0x2130)
	attrGNUDwoID      = dwarf.Attr(0x2131)
	attrGNURangesBase = dwarf.Attr(0x2132)
	attrGNUAddrBase   = dwarf.Attr(0x2133)
)

// maxReferences bounds the chain from a function to its name: concrete instance,
// abstract instance, declaration.
const maxReferences = 8

// function returns the names of the function whose entry is at off.
func (t *LineTable) function(off uint64) (*functionName, error) {
	if f := t.functions[off]; f != nil {
		return f, nil
	}
	f, err := t.resolve(off)
	t.functions[off] = f
	return f, err
}

// resolve gathers the names of the function at off from its entry and those that
// it refers to: the abstract instance of an inlined function, the declaration in a
// class, which may be in other units and in the supplementary file.
func (t *LineTable) resolve(off uint64) (*functionName, error) {
	f := &functionName{}
	global := false
	var declared struct {
		t    *LineTable
		u    *unit
		file uint32
	}
	var named struct {
		t   *LineTable
		u   *unit
		off uint64
	}
	for range maxReferences {
		u, err := t.unitWith(off)
		if err != nil {
			return f, err
		}
		e, err := t.entry(u, off-u.off)
		if err != nil {
			return f, err
		}
		f.linkage = cmp.Or(f.linkage, e.linkage)
		f.line = cmp.Or(f.line, e.line)
		global = global || e.external
		if declared.file == 0 && e.file != 0 {
			declared.t, declared.u, declared.file = t, u, e.file
		}
		if f.name == "" && e.name != "" {
			f.name = e.name
			named.t, named.u, named.off = t, u, off
		}
		if e.origin.form == 0 {
			break
		}
		var external bool
		if off, external = u.reference(e.origin); external {
			if t = t.sup; t == nil {
				break
			}
		}
	}
	if declared.t != nil && !global {
		t, u := declared.t, declared.u
		if u.linesUnit != nil {
			t, u = u.linesTable, u.linesUnit
		}
		if _, err := t.lines(u); err == nil { // names of files
			f.origin = t.path(u, declared.file)
		}
	}
	if f.linkage == "" && named.t != nil {
		scope, err := named.t.scopeName(named.u, named.off-named.u.off, f.name, maxScopes)
		f.name = scope + f.name
		return f, err
	}
	return f, nil
}

// namedEntry is what an entry says of its name.
type namedEntry struct {
	tag           dwarf.Tag
	name, linkage string
	line          int
	file          uint32 // in the unit's line table
	external      bool
	origin        value // the entry it is a copy of or completes
}

// entry reads the entry at off in u, which is loaded.
func (t *LineTable) entry(u *unit, off uint64) (e namedEntry, err error) {
	c := t.entries(u)
	c.seek(off)
	a, ok := u.body.abbrevs.find(c.uleb())
	if !ok {
		return e, formatError(t.info.name, int64(u.off+off), "reference to no entry")
	}
	e.tag = a.tag
	for _, spec := range a.specs {
		switch spec.attr {
		case dwarf.AttrLinkageName, attrMIPSLinkageName:
			e.linkage = t.string(u, u.root, u.read(c, spec))
		case dwarf.AttrName:
			e.name = t.string(u, u.root, u.read(c, spec))
		case dwarf.AttrDeclLine:
			e.line = int(u.read(c, spec).uint32())
		case dwarf.AttrDeclFile:
			e.file = u.read(c, spec).uint32()
		case dwarf.AttrExternal:
			e.external = u.read(c, spec).u != 0
		case dwarf.AttrAbstractOrigin, dwarf.AttrSpecification:
			e.origin = u.read(c, spec)
		default:
			u.skip(c, spec)
		}
	}
	return e, c.failure()
}

// unitWith returns the unit of the entry at off, loaded.
func (t *LineTable) unitWith(off uint64) (*unit, error) {
	i, found := slices.BinarySearchFunc(t.units, off, func(u *unit, off uint64) int { return cmp.Compare(u.off, off) })
	if !found {
		i--
	}
	if i < 0 || off >= t.units[i].end || off < t.units[i].dies {
		return nil, formatError(t.info.name, int64(min(off, math.MaxInt64)), "reference to no unit")
	}
	_, err := t.loadBody(t.units[i])
	return t.units[i], err
}

// maxScopes bounds how many functions and classes are nested in each other.
const maxScopes = 8

// scopeName returns the names of the namespaces, classes and functions around the
// entry at off in u, which is called name, each with "::" after it.
func (t *LineTable) scopeName(u *unit, off uint64, name string, depth int) (string, error) {
	s, err := t.scopes(u)
	if err != nil || depth == 0 {
		return "", err
	}
	scope := ""
	for i := s.containers.find(off); i >= 0 && len(scope) < maxName; i = s.containers.next(i, off) {
		at := uint64(s.containers[i].id)
		if at == off {
			continue // the function itself
		}
		e, err := t.entry(u, at)
		if err != nil {
			return scope, err
		}
		switch {
		case e.tag == dwarf.TagSubprogram, e.tag == dwarf.TagInlinedSubroutine:
			outer, err := t.qualifiedName(u.off+at, depth-1)
			if outer != "" {
				scope = outer + "::" + scope
			}
			return scope, err
		case e.name != "":
		case e.tag == dwarf.TagNamespace:
			e.name = "(anonymous namespace)"
		case name == "operator()":
			e.name = "{lambda}"
		default:
			e.name = "(anonymous class)"
		}
		scope, name = e.name+"::"+scope, e.name
	}
	return scope, nil
}

// qualifiedName returns the name of the function at off with what it is in.
func (t *LineTable) qualifiedName(off uint64, depth int) (string, error) {
	for range maxReferences {
		u, err := t.unitWith(off)
		if err != nil {
			return "", err
		}
		e, err := t.entry(u, off-u.off)
		if err != nil {
			return "", err
		}
		if e.name != "" {
			scope, err := t.scopeName(u, off-u.off, e.name, depth)
			return scope + e.name, err
		}
		if e.origin.form == 0 {
			break
		}
		var external bool
		if off, external = u.reference(e.origin); external {
			if t = t.sup; t == nil {
				break
			}
		}
	}
	return "", nil
}
