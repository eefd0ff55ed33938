package objfile

import (
	"debug/dwarf"
	"fmt"
	"math"
)

// A unit is a compilation unit of .debug_info. Its header is read when the line
// table is made, its root entry when its ranges are needed, the rest when an
// address in it is asked for.
type unit struct {
	off, end uint64 // in .debug_info
	dies     uint64 // offset of the root entry in .debug_info
	abbrevs  uint64 // offset in .debug_abbrev
	encoding
	typ   uint8  // DW_UT_…
	dwoID uint64 // 0 if the header has none
	// at is where the parts of a unit of a .dwp file start.
	at contributions
	// skeleton is the root of the unit that stands for this one in the file with the code,
	// nil if this one is there itself.
	skeleton *unitRoot
	// inAranges is set if .debug_aranges has the ranges of the unit.
	inAranges bool

	root *unitRoot
	body *unitBody
	walk *unitScopes
	err  error // why one of these cannot be read

	line    *lineProgram
	lineErr error

	// split is the unit that this one stands for, in splitTable, nil if there is none or
	// it was not sought yet.
	split      *unit
	splitTable *LineTable
	sought     bool
	// linesUnit is the unit that has the lines of this one, in linesTable: its skeleton.
	linesUnit  *unit
	linesTable *LineTable
}

// Unit types (DWARF 5, 7.5.1).
const (
	utCompile      = 0x01
	utType         = 0x02
	utPartial      = 0x03
	utSkeleton     = 0x04
	utSplitCompile = 0x05
	utSplitType    = 0x06
)

// unitRoot is what the root entry of a unit says.
type unitRoot struct {
	tag        dwarf.Tag
	language   uint64
	name       value
	compDir    value
	stmtList   uint64
	hasLines   bool
	lowPC      uint64
	rnglists   uint64 // DW_AT_rnglists_base
	addrs      uint64 // DW_AT_addr_base
	strOffsets uint64 // DW_AT_str_offsets_base
	ranges     uint64 // DW_AT_GNU_ranges_base, for the unit that this one stands for
	dwoName    value  // of the file with that unit
	dwoID      uint64
	pc         pcAttrs
}

// unitBody is a unit in memory.
type unitBody struct {
	data    []byte // from unit.off to unit.end
	abbrevs *abbrevTable
}

// pcAttrs are the attributes that say which code an entry is about.
type pcAttrs struct {
	low, high, ranges value // form 0 if absent
}

func (p *pcAttrs) set(attr dwarf.Attr, v value) bool {
	switch attr {
	case dwarf.AttrLowpc:
		p.low = v
	case dwarf.AttrHighpc:
		p.high = v
	case dwarf.AttrRanges:
		p.ranges = v
	default:
		return false
	}
	return true
}

// readUnits reads the headers of all units. It stops at the first that is broken.
func (t *LineTable) readUnits() error {
	const maxPadding = 64 // bytes between units, which some linkers leave
	last := uint64(0)     // end of the last unit
	for off := uint64(0); off < t.info.length() && off < last+maxPadding; {
		u, err := t.readUnitHeader(off)
		if err != nil {
			return err
		}
		if u != nil {
			t.units = append(t.units, u)
			off, last = u.end, u.end
			continue
		}
		off += 4
	}
	return nil
}

// maxUnitHeader is the size of the longest header, of a type unit in 64-bit DWARF.
const maxUnitHeader = 40

// readUnitHeader returns nil for a unit of length 0.
func (t *LineTable) readUnitHeader(off uint64) (*unit, error) {
	c, err := t.info.reader(off, min(maxUnitHeader, t.info.length()-off))
	if err != nil {
		return nil, err
	}
	u := &unit{off: off}
	length := uint64(c.u32())
	if c.err == nil && length == 0 {
		return nil, nil
	}
	if length == 0xffffffff {
		u.wide = true
		length = c.u64()
	} else if length >= 0xfffffff0 {
		c.fail("reserved unit length %#x", length)
	}
	start := off + uint64(c.off)
	if c.err == nil && length > t.info.length()-start {
		c.fail("unit of %d bytes exceeds the section of %d bytes", length, t.info.length())
	}
	u.end = start + length
	u.version = c.u16()
	if c.err == nil && (u.version < 2 || u.version > 5) {
		// The next unit can still be found.
		u.err = fmt.Errorf("%s: unit at %#x: DWARF version %d: %w", t.info.name, off, u.version, ErrUnsupported)
		return u, nil
	}
	if u.version >= 5 {
		u.typ = c.u8()
		u.addrSize = c.u8()
		u.abbrevs = c.word(u.wide)
		switch u.typ {
		case utSkeleton, utSplitCompile:
			u.dwoID = c.u64()
		case utType, utSplitType:
			c.skip(8) // signature
			c.word(u.wide)
		}
	} else {
		u.typ = utCompile
		u.abbrevs = c.word(u.wide)
		u.addrSize = c.u8()
	}
	if c.err != nil {
		return nil, c.err
	}
	u.dies = off + uint64(c.off)
	switch {
	case u.addrSize != 2 && u.addrSize != 4 && u.addrSize != 8:
		u.err = fmt.Errorf("%s: unit at %#x: addresses of %d bytes: %w", t.info.name, off, u.addrSize, ErrUnsupported)
	case u.dies > u.end:
		u.err = formatError(t.info.name, int64(off), "unit of %d bytes is shorter than its header", length)
	case length > math.MaxUint32:
		u.err = fmt.Errorf("%s: unit at %#x: %d bytes: %w", t.info.name, off, length, ErrUnsupported)
	}
	return u, nil
}

// loadRoot reads the root entry of u.
func (t *LineTable) loadRoot(u *unit) (*unitRoot, error) {
	if u.root != nil || u.err != nil {
		return u.root, u.err
	}
	// Root entries are short. Read more only if this one is not.
	for n := min(u.end-u.dies, 256); ; n = u.end - u.dies {
		c, err := t.info.reader(u.dies, n)
		if err != nil {
			u.err = err
			return nil, err
		}
		r, err := t.readRoot(u, c)
		if err == nil {
			u.root = r
			return r, nil
		}
		if n == u.end-u.dies {
			u.err = err
			return nil, err
		}
	}
}

func (t *LineTable) readRoot(u *unit, c *sectionReader) (*unitRoot, error) {
	r := &unitRoot{dwoID: u.dwoID}
	code := c.uleb()
	if code == 0 {
		return r, c.failure()
	}
	a, err := t.rootAbbrev(u, code)
	if err != nil {
		return nil, err
	}
	// Defaults for DWARF 5 without the base attributes: after the headers.
	r.rnglists, r.addrs, r.strOffsets = 12, 8, 8
	if u.wide {
		r.rnglists, r.addrs, r.strOffsets = 20, 16, 16
	}
	if u.version < 5 { // GNU's extension to DWARF 4 has no headers
		r.addrs, r.strOffsets = 0, 0
	}
	r.rnglists += u.at.rnglists
	r.strOffsets += u.at.strOffsets
	if s := u.skeleton; s != nil {
		r.addrs, r.lowPC = s.addrs, s.lowPC
	}
	r.tag = a.tag
	for _, spec := range a.specs {
		v := u.read(c, spec)
		if r.pc.set(spec.attr, v) {
			continue
		}
		switch spec.attr {
		case dwarf.AttrName:
			r.name = v
		case dwarf.AttrCompDir:
			r.compDir = v
		case dwarf.AttrLanguage:
			r.language = v.u
		case dwarf.AttrStmtList:
			r.stmtList, r.hasLines = v.u, true
		case dwarf.AttrRnglistsBase:
			r.rnglists = v.u
		case dwarf.AttrAddrBase, attrGNUAddrBase:
			r.addrs = v.u
		case attrGNURangesBase:
			r.ranges = v.u
		case dwarf.AttrDwoName, attrGNUDwoName:
			r.dwoName = v
		case attrGNUDwoID:
			r.dwoID = v.u
		case dwarf.AttrStrOffsetsBase:
			r.strOffsets = v.u
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	if r.pc.low.form != 0 {
		if r.lowPC, err = t.address(u, r, r.pc.low); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// rootAbbrev finds one abbreviation without reading the whole table of the unit,
// of which it is nearly always the first.
func (t *LineTable) rootAbbrev(u *unit, code uint64) (*abbrev, error) {
	key := abbrevKey{u.abbrevs, u.encoding}
	if table := t.abbrevs[key]; table != nil {
		if a, ok := table.find(code); ok {
			return a, nil
		}
	} else {
		last := &t.lastRoot
		if last.abbrev != nil && last.key == key && last.code == code {
			return last.abbrev, nil
		}
		c, err := t.abbrevCursor(u)
		if err != nil {
			return nil, err
		}
		for start := c.off; ; {
			got, a, ok := readAbbrev(c, u.encoding, nil)
			if ok && got == code {
				last.key, last.code, last.abbrev = key, code, &a
				return &a, t.spendAbbrev(c.off - start)
			}
			if !ok {
				if err := t.spendAbbrev(c.off - start); err != nil {
					return nil, err
				}
				break
			}
		}
	}
	return nil, formatError(t.info.name, int64(u.dies), "abbreviation %d is not in the table at %#x", code, u.abbrevs)
}

type abbrevKey struct {
	off uint64
	encoding
}

func (t *LineTable) abbrevCursor(u *unit) (*sectionReader, error) {
	data, err := t.abbrev.load()
	if err != nil {
		return nil, err
	}
	if u.abbrevs >= uint64(len(data)) {
		return nil, formatError(t.info.name, int64(u.off), "abbreviation table at %#x is outside of its section", u.abbrevs)
	}
	return (&sectionReader{data: data, section: ".debug_abbrev", big: t.info.big}).at(u.abbrevs), nil
}

// spendAbbrev counts bytes of .debug_abbrev that were read, for units may claim
// the same ones, or parts of each other's, without end.
func (t *LineTable) spendAbbrev(n int) error {
	t.abbrevBudget -= int64(n)
	if t.abbrevBudget < 0 {
		return formatError(".debug_abbrev", 0, "tables overlap")
	}
	return nil
}

// loadBody reads the unit into memory.
func (t *LineTable) loadBody(u *unit) (*unitBody, error) {
	if _, err := t.loadRoot(u); err != nil {
		return nil, err
	}
	if u.body != nil {
		return u.body, nil
	}
	b, err := t.readBody(u)
	if err != nil {
		u.err = err
		return nil, err
	}
	u.body = b
	return b, nil
}

func (t *LineTable) readBody(u *unit) (*unitBody, error) {
	data, err := t.info.bytes(u.off, u.end-u.off)
	if err != nil {
		return nil, err
	}
	key := abbrevKey{u.abbrevs, u.encoding}
	table := t.abbrevs[key]
	if table == nil {
		c, err := t.abbrevCursor(u)
		if err != nil {
			return nil, err
		}
		start := c.off
		table = readAbbrevTable(c, u.encoding)
		if err := t.spendAbbrev(c.off - start); err != nil {
			return nil, err
		}
		t.abbrevs[key] = table
	}
	return &unitBody{data, table}, nil
}

// entries returns a sectionReader over the entries of a unit whose body is loaded.
func (t *LineTable) entries(u *unit) *sectionReader {
	c := &sectionReader{data: u.body.data, base: int64(u.off), section: t.info.name, big: t.info.big}
	return c.at(u.dies - u.off)
}

// string resolves the value of an attribute that is a string.
func (t *LineTable) string(u *unit, r *unitRoot, v value) string {
	switch v.form {
	case formString:
		return string(v.b[:min(len(v.b), maxName)])
	case formStrp:
		return t.str.str(v.u)
	case formLineStrp:
		return t.lineStr.str(v.u)
	case formStrx, formStrx1, formStrx2, formStrx3, formStrx4, formGNUStrIndex:
		size := uint64(u.offsetSize())
		if v.u > math.MaxUint32 {
			return ""
		}
		c, err := t.strOffsets.reader(r.strOffsets+v.u*size, size)
		if err != nil {
			return ""
		}
		return t.str.str(c.word(u.wide))
	case formGNUStrpAlt, formStrpSup:
		if t.sup != nil {
			return t.sup.str.str(v.u)
		}
	}
	return ""
}

// address resolves the value of an attribute that is an address.
func (t *LineTable) address(u *unit, r *unitRoot, v value) (uint64, error) {
	if v.form == formAddr {
		return v.u, nil
	}
	if !v.isAddress() {
		return 0, formatError(t.info.name, int64(u.off), "address in %v", v.form)
	}
	return t.addressAt(u, r, v.u)
}

// addressAt returns entry i of the unit's part of .debug_addr.
func (t *LineTable) addressAt(u *unit, r *unitRoot, i uint64) (uint64, error) {
	data, err := t.addr.load()
	if err != nil {
		return 0, err
	}
	if i > math.MaxUint32 {
		return 0, formatError(".debug_addr", int64(min(r.addrs, math.MaxInt64)), "index %d", i)
	}
	c := &sectionReader{data: data, section: ".debug_addr", big: t.info.big}
	c.seek(r.addrs + i*uint64(u.addrSize))
	a := c.uint(u.addrSize)
	return a, c.failure()
}
