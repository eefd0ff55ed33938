package unwind

import (
	"fmt"
	"math"

	"profdiff/internal/objfile"
)

// A Source says where a Module takes its tables from.
type Source struct {
	// File is the object file as it was loaded. It must stay open as long as the Module is used.
	File *objfile.File
	// Debug returns the separate debug file, nil if there is none. It is called at most
	// once, if File has no call frame information. It may be nil.
	Debug func() *objfile.File
	// Function returns the name of the function at an address of the file, "" if it is
	// not known. It is asked where the end of a stack shows in nothing else: programs written in Go,
	// and the end marks of Arm's tables. It may be nil.
	Function func(vaddr uint64) string
}

// A Module finds the rules of one object file. Its tables are read when they are
// first needed. It may be used by one goroutine at a time.
type Module struct {
	source Source
	arch   *Arch
	code   []addressRange
	isGo   bool

	tables []table        // that were read
	unread []func() table // in the order in which they are asked; nil if there is no such
	cache  map[uint64]*rule
	calls  map[uint64]callSite // before return addresses
	states *objfile.CodeStates // nil until they are needed
}

// A table knows the rules of some addresses.
type table interface {
	// find returns nil for an address that the table does not have. exact is set if the
	// program stood there, so that the function may just begin or end.
	find(vaddr uint64, exact bool) *rule
}

type addressRange struct{ lo, hi uint64 }

// within reports whether an address is in one of the ranges. If there are none, all are.
func within(code []addressRange, addr uint64) bool {
	for _, r := range code {
		if addr >= r.lo && addr < r.hi {
			return true
		}
	}
	return len(code) == 0
}

// maxCached bounds the rules that are kept by address.
const maxCached = 1 << 18

// NewModule returns the Module of an object file. The error wraps [objfile.ErrUnsupported]
// if it is for a machine that cannot be unwound.
func NewModule(source Source) (*Module, error) {
	f := source.File
	arch := archOf(f.Arch())
	if arch == nil || f.BigEndian() || f.Is64() != (arch.word == 8) {
		return nil, fmt.Errorf("unwinding of %s: %w", f.Arch(), objfile.ErrUnsupported)
	}
	m := &Module{source: source, arch: arch, cache: make(map[uint64]*rule), calls: make(map[uint64]callSite)}
	for _, s := range f.Segments() {
		if end := s.Vaddr + max(s.MemSize, s.FileSize); s.Executable && end > s.Vaddr {
			m.code = append(m.code, addressRange{s.Vaddr, end})
		}
	}
	for _, name := range []string{".gopclntab", ".data.rel.ro.gopclntab"} {
		if _, ok := f.Section(name); ok {
			m.isGo = true
		}
	}
	m.unread = []func() table{
		func() table { return m.frames(f, ".eh_frame") },
		func() table { return m.headedFrames(f) },
		func() table { return m.frames(f, ".debug_frame") },
		func() table {
			mini, err := f.DebugData()
			if err != nil {
				return nil
			}
			return m.frames(mini, ".debug_frame")
		},
		func() table {
			// To look for a file costs much, and a file that has a table needs no other.
			if source.Debug == nil || len(m.tables) > 0 {
				return nil
			}
			if debug := source.Debug(); debug != nil {
				return m.frames(debug, ".debug_frame")
			}
			return nil
		},
		func() table { return m.exceptions(f) },
	}
	return m, nil
}

// frames returns the table of a section, nil if the file does not have it.
func (m *Module) frames(f *objfile.File, name string) table {
	data, err := f.SectionData(name)
	if err != nil {
		return nil
	}
	s, _ := f.Section(name)
	if t := newFrameTable(data, s.Vaddr, name == ".eh_frame", m.arch.word, m.code); t != nil {
		return t
	}
	return nil
}

// headedFrames returns the .eh_frame of a file without section headers.
func (m *Module) headedFrames(f *objfile.File) table {
	vaddr, size, ok := f.Table(objfile.EHFrameHeader)
	if !ok {
		return nil
	}
	head, err := f.Loaded(vaddr, size)
	if err != nil || len(head) < 4 || head[0] != 1 {
		return nil
	}
	header := frameTable{data: head, vaddr: vaddr}
	c := cursor{data: head, off: 4}
	start := header.pointer(&c, head[1], uint8(m.arch.word))
	if c.bad {
		return nil
	}
	data, err := f.Loaded(start, math.MaxUint32)
	if err != nil {
		return nil
	}
	// It ends at an entry without length; what follows may be anything.
	all, end := frameTable{data: data, eh: true}, 0
	for end < len(data) {
		e, ok := all.entryAt(end)
		if !ok || e.end == e.id {
			break
		}
		end = e.end
	}
	if t := newFrameTable(data[:end], start, true, m.arch.word, m.code); t != nil {
		return t
	}
	return nil
}

// exceptions returns the .ARM.exidx of a file.
func (m *Module) exceptions(f *objfile.File) table {
	if m.arch.Name != arm32.Name {
		return nil
	}
	data, err := f.SectionData(".ARM.exidx")
	s, _ := f.Section(".ARM.exidx")
	if err != nil {
		vaddr, size, ok := f.Table(objfile.ARMExidx)
		if !ok {
			return nil
		}
		if data, err = f.Loaded(vaddr, size); err != nil {
			return nil
		}
		s.Vaddr = vaddr
	}
	if len(data) < exidxEntry {
		return nil
	}
	return &exidxTable{module: m, data: data, vaddr: s.Vaddr}
}

// function returns the name of a function, "" if it is not known.
func (m *Module) function(vaddr uint64) string {
	if m.source.Function == nil {
		return ""
	}
	return m.source.Function(vaddr)
}

// find returns the rule for an address of the file. exact is set if the program stood there,
// and not set if it is inside the call instruction before a return address.
func (m *Module) find(vaddr uint64, exact bool) *rule {
	key := vaddr << 1
	if exact {
		key |= 1
	}
	r, ok := m.cache[key]
	if !ok {
		if len(m.cache) == maxCached {
			clear(m.cache)
		}
		r = m.search(vaddr, exact)
		m.cache[key] = r
	}
	return r
}

func (m *Module) search(vaddr uint64, exact bool) *rule {
	if m.isGo && isGoRoot(m.function(vaddr)) {
		return rootRule
	}
	r := m.tabled(vaddr, exact)
	// The table of a trampoline may say less than the kernel's frame has, and before its first
	// instruction, where the call would be, may be another function.
	if r.kind == ruleNone || r.signal || r.kind == ruleEHABI || r == linkRule || m.isGo {
		if t := m.trampoline(vaddr, exact); t != nil {
			return t
		}
	}
	switch {
	case r.kind == ruleNone && m.isEntry(vaddr):
		return rootRule
	case r.kind == ruleNone && exact:
		return m.tableless(vaddr)
	}
	return r
}

// isEntry reports whether an address without a table is in the code where the kernel starts the
// program or its interpreter. Written in assembler, it often has none: that of ld.so.
func (m *Module) isEntry(vaddr uint64) bool {
	// The longest known, of ld.so, has 64 bytes; a function behind shorter ones has a table or
	// another name.
	const longest = 64
	entry := m.source.File.Entry()
	if entry == 0 || vaddr < entry || vaddr-entry >= longest {
		return false
	}
	switch name := m.function(vaddr); name {
	case "":
		return len(m.tables) > 0
	case m.function(entry), "_dl_start_user": // the latter is ld.so's second half
		return true
	}
	return false
}

// tabled returns what the tables have for an address.
func (m *Module) tabled(vaddr uint64, exact bool) *rule {
	for i := 0; ; i++ {
		for i == len(m.tables) {
			if len(m.unread) == 0 {
				return noRule
			}
			read := m.unread[0]
			m.unread = m.unread[1:]
			if t := read(); t != nil {
				m.tables = append(m.tables, t)
			}
		}
		if r := m.tables[i].find(vaddr, exact); r != nil {
			return r
		}
	}
}

// isGoRoot reports whether a function of Go's runtime is where a stack begins, or where it
// goes on in other memory than that of the dump: the stack of a goroutine behind that
// of its thread.
func isGoRoot(name string) bool {
	switch name {
	case "runtime.goexit", "runtime.mstart", "runtime.rt0_go", "runtime.systemstack", "runtime.mcall",
		"runtime.morestack", "runtime.asmcgocall", "runtime.gogo", "runtime.goexit.abi0", "runtime.mstart.abi0",
		"runtime.rt0_go.abi0", "runtime.systemstack.abi0", "runtime.morestack.abi0", "runtime.asmcgocall.abi0":
		return true
	}
	return false
}
