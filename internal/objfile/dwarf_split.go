package objfile

import (
	"cmp"
	"debug/elf"
	"fmt"
	"iter"
	"path"
	"slices"
)

// A SplitUnit says where the debug information of a compilation unit is that the compiler did
// not put into the object file (-gsplit-dwarf): in a .dwo file of its own, in the object file
// that was linked, or in a package of many, a .dwp file.
type SplitUnit struct {
	ID   uint64 // which tells it from that of another build
	Name string // of the .dwo file, as the compiler had it
	Dir  string // in which the compiler ran
}

// Path is the path of the .dwo file on the machine of the compiler.
func (s SplitUnit) Path() string {
	if path.IsAbs(s.Name) {
		return path.Clean(s.Name)
	}
	return path.Join(s.Dir, s.Name)
}

// SetSplit gives t a function that yields the files in which a unit may be, .dwo or .dwp, the
// most likely first. They have to stay open. t asks when an address of the unit is asked for,
// and takes the first file that has the unit, by its ID. Without one there are lines, and
// functions if the compiler left them in the object file.
func (t *LineTable) SetSplit(find func(SplitUnit) iter.Seq[*File]) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.findSplit = find
}

// full returns the unit with the entries of u, which is in another table if u is only its
// skeleton. What u says of lines holds for both.
func (t *LineTable) full(u *unit) (*LineTable, *unit) {
	if !u.sought {
		u.sought = true
		if u.splitTable, u.split = t.searchSplit(u); u.split != nil {
			u.split.linesTable, u.split.linesUnit = t, u
		}
	}
	if u.split != nil {
		return u.splitTable, u.split
	}
	return t, u
}

// searchSplit looks for the unit of which u is the skeleton.
func (t *LineTable) searchSplit(u *unit) (*LineTable, *unit) {
	r, err := t.loadRoot(u)
	if err != nil || r.dwoName.form == 0 {
		return nil, nil
	}
	s := SplitUnit{ID: r.dwoID, Name: t.string(u, r, r.dwoName), Dir: t.string(u, r, r.compDir)}
	if t.findSplit != nil {
		for f := range t.findSplit(s) {
			for _, table := range t.splitTables(f) {
				full, err := table.splitUnit(s.ID, u, r)
				t.note(err)
				if full != nil {
					return table, full
				}
			}
		}
	}
	return nil, nil
}

// splitTables returns the tables of a .dwo or .dwp file, which may only be used while t is
// locked: one of each .debug_info.dwo, of which GCC makes one for each type unit.
func (t *LineTable) splitTables(f *File) (tables []*LineTable) {
	if tables, ok := t.splits[f]; ok {
		return tables
	}
	const name = ".debug_info.dwo"
	index := f.debugSection("debug_cu_index")
	for i := range f.sections {
		s := &f.sections[i]
		if !f.named(s, name) || s.typ == elf.SHT_NOBITS {
			continue
		}
		table := &LineTable{
			info: f.contents(s, name, false), abbrev: f.debugSection("debug_abbrev.dwo"), str: f.debugSection("debug_str.dwo"),
			strOffsets: f.debugSection("debug_str_offsets.dwo"), rnglists: f.debugSection("debug_rnglists.dwo"),
			// These the linker has to relocate.
			addr: t.addr, ranges: t.ranges, codeAtZero: t.codeAtZero,
		}
		err := table.info.broken
		table.setBudgets()
		switch {
		case err != nil:
		case index != nil:
			table.packed, err = readSplitIndex(index)
		default:
			err = table.readUnits()
		}
		t.note(err)
		if table.packed != nil || slices.ContainsFunc(table.units, (*unit).canSplit) {
			tables = append(tables, table)
		}
	}
	if t.splits == nil {
		t.splits = make(map[*File][]*LineTable)
	}
	t.splits[f] = tables
	return tables
}

// canSplit reports whether u may be what a skeleton stands for.
func (u *unit) canSplit() bool { return u.typ == utCompile || u.typ == utSplitCompile }

// splitUnit returns the unit of a .dwo or .dwp file with an ID, nil if the file has none.
// Bases of what the linker relocates are those that the skeleton has, whose root is r.
func (t *LineTable) splitUnit(id uint64, skeleton *unit, r *unitRoot) (*unit, error) {
	if t.packed != nil {
		at, ok, err := t.packed.find(id)
		if !ok {
			return nil, err
		}
		i, known := slices.BinarySearchFunc(t.units, at.info, func(u *unit, off uint64) int { return cmp.Compare(u.off, off) })
		if known {
			return nil, formatError(".debug_cu_index", 0, "two units at %#x", at.info)
		}
		u, err := t.readUnitHeader(at.info)
		if err != nil || u == nil {
			return nil, err
		}
		u.at = at
		u.abbrevs += at.abbrev
		t.units = slices.Insert(t.units, i, u)
		return t.adopt(u, id, skeleton, r)
	}
	for _, u := range t.units {
		if full, err := t.adopt(u, id, skeleton, r); full != nil || err != nil {
			return full, err
		}
	}
	return nil, nil
}

// adopt gives u its skeleton if it has the ID.
func (t *LineTable) adopt(u *unit, id uint64, skeleton *unit, r *unitRoot) (*unit, error) {
	if u.skeleton != nil || u.addrSize != skeleton.addrSize || !u.canSplit() {
		return nil, nil
	}
	u.skeleton = r
	full, err := t.loadRoot(u)
	if err != nil {
		return nil, err
	}
	if full.dwoID != id {
		u.skeleton, u.root = nil, nil
		return nil, nil
	}
	return u, nil
}

// contributions are where the parts of a unit start in the sections of a .dwp file.
type contributions struct{ info, abbrev, strOffsets, rnglists uint64 }

// A splitIndex finds units in a .dwp file by their ID: .debug_cu_index (DWARF 5, 7.3.5.3, and
// version 2, https://gcc.gnu.org/wiki/DebugFissionDWP).
type splitIndex struct {
	c               *sectionReader
	slots, units    uint64
	columns         []uint32 // DW_SECT_…
	ids, rows, offs uint64   // where these tables start
}

// DW_SECT_… (DWARF 5, 7.3.5.3).
const (
	sectInfo       = 1
	sectAbbrev     = 3
	sectStrOffsets = 6
	sectRnglists   = 8 // in version 2: .debug_macro
)

func readSplitIndex(s *contents) (*splitIndex, error) {
	data, err := s.load()
	if err != nil {
		return nil, err
	}
	c := &sectionReader{data: data, section: s.name, big: s.big}
	version := c.u16()
	if rest := c.u16(); s.big && version == 0 {
		version = rest // in version 2 it has 4 bytes
	}
	columns := uint64(c.u32())
	x := &splitIndex{c: c, units: uint64(c.u32()), slots: uint64(c.u32())}
	const maxColumns = 16 // more than there are kinds of sections
	switch {
	case c.err != nil:
		return nil, c.err
	case version != 2 && version != 5:
		return nil, fmt.Errorf("%s: version %d: %w", s.name, version, ErrUnsupported)
	case x.slots&(x.slots-1) != 0 || columns > maxColumns || x.slots == 0 && x.units > 0:
		return nil, formatError(s.name, 0, "%d slots, %d columns, %d units", x.slots, columns, x.units)
	}
	x.ids = uint64(c.off)
	x.rows = x.ids + 8*x.slots
	c.seek(x.rows + 4*x.slots)
	for range columns {
		column := c.u32()
		if version == 2 && column == sectRnglists {
			column = 0
		}
		x.columns = append(x.columns, column)
	}
	x.offs = uint64(c.off)
	// A table of offsets, and one of sizes.
	c.skip(2 * 4 * columns * x.units)
	return x, c.failure()
}

// find returns where the parts of a unit start.
func (x *splitIndex) find(id uint64) (at contributions, ok bool, err error) {
	if x.slots == 0 {
		return at, false, nil
	}
	c, mask := *x.c, x.slots-1
	slot, step := id&mask, id>>32&mask|1
	for range x.slots {
		got := c.at(x.ids + 8*slot).u64()
		row := uint64(c.at(x.rows + 4*slot).u32())
		switch {
		case row == 0:
			return at, false, nil
		case row > x.units:
			return at, false, formatError(c.section, int64(x.rows+4*slot), "row %d of %d", row, x.units)
		case got != id:
			slot = (slot + step) & mask
			continue
		}
		offsets := c.at(x.offs + 4*uint64(len(x.columns))*(row-1))
		for _, column := range x.columns {
			off := uint64(offsets.u32())
			switch column {
			case sectInfo:
				at.info = off
			case sectAbbrev:
				at.abbrev = off
			case sectStrOffsets:
				at.strOffsets = off
			case sectRnglists:
				at.rnglists = off
			}
		}
		return at, offsets.err == nil, offsets.failure()
	}
	return at, false, nil
}
