package unwind

import (
	"math"
	"slices"
)

// A frameTable is an .eh_frame or .debug_frame section: common information entries (CIE),
// and for each function a frame description entry (FDE) with a program that makes one row for
// each range of addresses (DWARF 5, section 6.4; Linux Standard Base Core 5.0, section 10.6).
type frameTable struct {
	data  []byte
	vaddr uint64 // of the section, 0 if it is not loaded
	eh    bool   // .eh_frame
	word  uint64
	fdes  []fde // by start

	cies  map[uint32]*cie  // by offset
	ran   map[uint32]rows  // of the FDEs whose program ran, by offset
	begin []uint32         // of each row, from the start of its function
	which []uint16         // rule of each row, by index in rules
	rules ruleSet          // of all rows
	stack [maxRemember]row // for remember_state
}

// An fde is where a function is, and its entry.
type fde struct {
	start  uint64
	size   uint32
	offset uint32 // of the entry in the section
}

// rows are the rows of a function in frameTable.begin and which.
type rows struct{ first, count uint32 }

// A cie is what functions have in common.
type cie struct {
	version  uint8
	encoding uint8 // of addresses (DW_EH_PE)
	address  uint8 // bytes of an address
	segment  uint8 // bytes of a segment selector
	ra       uint8 // register of the return address
	signal   bool
	sized    bool // entries say how much augmentation data they have
	code     uint64
	dataStep int64 // data alignment factor
	program  int   // offset of its program in the section
	end      int   // of the program
	initial  row
	broken   bool // its program cannot be followed
}

// entry is the header of a CIE or an FDE.
type entry struct {
	offset uint32 // of the entry
	id     int    // offset of the id field
	body   int    // offset of what follows the id
	end    int
	cie    int // offset of the CIE of an FDE, -1 of a CIE
}

// entryAt reads the header of the entry at off, and reports whether there is one. An entry of
// length 0 has no body: linkers leave them between tables.
func (t *frameTable) entryAt(off int) (e entry, ok bool) {
	c := cursor{data: t.data, off: off}
	e.offset, e.cie = uint32(off), -1
	length, size := c.uint(4), uint64(4)
	if length == math.MaxUint32 {
		length, size = c.uint(8), 8
	}
	if c.bad || length > uint64(len(t.data)-c.off) {
		return e, false
	}
	e.id, e.end = c.off, c.off+int(length)
	if length == 0 {
		e.body = e.end
		return e, true
	}
	if t.eh {
		size = 4
	}
	c.data = c.data[:e.end]
	id := c.uint(size)
	e.body = c.off
	switch {
	case c.bad:
		e.body = e.end
	case t.eh && id != 0:
		// From the field back to the CIE.
		if id > uint64(e.id) {
			e.body = e.end
			return e, true
		}
		e.cie = e.id - int(id)
	case !t.eh && id != 1<<(8*size)-1:
		if id >= uint64(len(t.data)) {
			e.body = e.end
			return e, true
		}
		e.cie = int(id)
	}
	return e, true
}

// newFrameTable indexes a section, and returns nil if it has no functions. Entries that make no
// sense, functions without code and those outside of executable memory are left out.
func newFrameTable(data []byte, vaddr uint64, eh bool, word uint64, code []addressRange) *frameTable {
	if len(data) == 0 || uint64(len(data)) > math.MaxInt32 {
		return nil
	}
	t := &frameTable{data: data, vaddr: vaddr, eh: eh, word: word, cies: make(map[uint32]*cie), ran: make(map[uint32]rows)}
	if t.index(code); len(t.fdes) == 0 {
		// Segments of the images that JIT compilers make are not where their code is.
		if t.index(nil); len(t.fdes) == 0 {
			return nil
		}
	}
	return t
}

// index finds the functions that start in code.
func (t *frameTable) index(code []addressRange) {
	count, data := 0, t.data
	for off := 0; off < len(data); {
		e, ok := t.entryAt(off)
		if !ok {
			break
		}
		if e.cie >= 0 && e.body < e.end {
			count++
		}
		off = e.end
	}
	t.fdes = make([]fde, 0, count)
	var common cie // of the entry before: entries of one CIE mostly follow each other
	last := -1
	for off := 0; off < len(data); {
		e, ok := t.entryAt(off)
		if !ok {
			break
		}
		off = e.end
		if e.cie < 0 || e.body >= e.end {
			continue
		}
		if e.cie != last {
			if last = -1; !t.parseCIE(e.cie, &common) {
				continue
			}
			last = e.cie
		}
		c := cursor{data: t.data[:e.end], off: e.body}
		start, size := t.addresses(&c, &common)
		if c.bad || size == 0 || start > math.MaxUint64-size || !within(code, start) {
			continue
		}
		t.fdes = append(t.fdes, fde{start, uint32(min(size, math.MaxUint32)), e.offset})
	}
	byStart := func(a, b fde) int {
		switch {
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return 1
		}
		return 0
	}
	if !slices.IsSortedFunc(t.fdes, byStart) {
		slices.SortStableFunc(t.fdes, byStart)
	}
	// Of several that start together the first has the say.
	t.fdes = slices.CompactFunc(t.fdes, func(a, b fde) bool { return a.start == b.start })
}

// addresses reads the range of a function.
func (t *frameTable) addresses(c *cursor, common *cie) (start, size uint64) {
	c.bytes(uint64(common.segment))
	start = t.pointer(c, common.encoding, common.address)
	// The size has the format of the address, without what it is relative to.
	size = t.pointer(c, common.encoding&0xf, common.address)
	if common.address == 4 {
		start, size = uint64(uint32(start)), uint64(uint32(size))
	}
	return start, size
}

// Encodings of pointers (LSB Core 5.0, section 10.5.1).
const (
	encodingOmit = 0xff
	encodingPC   = 0x10 // relative to the place of the pointer
)

// pointer reads an encoded pointer. It fails where a base is needed that only a
// process has.
func (t *frameTable) pointer(c *cursor, encoding, address uint8) uint64 {
	at := t.vaddr + uint64(c.off)
	var v uint64
	switch encoding & 0xf {
	case 0x0:
		v = c.uint(uint64(address))
	case 0x1:
		v = c.uleb()
	case 0x2:
		v = c.uint(2)
	case 0x3:
		v = c.uint(4)
	case 0x4:
		v = c.uint(8)
	case 0x9:
		v = uint64(c.sleb())
	case 0xa:
		v = c.int(2)
	case 0xb:
		v = c.int(4)
	case 0xc:
		v = c.int(8)
	default:
		c.fail()
	}
	switch encoding & 0x70 {
	case 0:
	case encodingPC:
		v += at
	default:
		c.fail()
	}
	return v
}

// maxAugmentation bounds the letters of an augmentation. Known are z, R, P, L, S, B, G.
const maxAugmentation = 16

// parseCIE reads the CIE at off, without running its program.
func (t *frameTable) parseCIE(off int, p *cie) bool {
	e, ok := t.entryAt(off)
	if !ok || e.cie >= 0 || e.body >= e.end {
		return false
	}
	c := cursor{data: t.data[:e.end], off: e.body}
	*p = cie{version: c.u8(), address: uint8(t.word)}
	var letters [maxAugmentation]byte
	n := 0
	for b := c.u8(); b != 0; b = c.u8() {
		if n == maxAugmentation || c.bad {
			return false
		}
		letters[n] = b
		n++
	}
	switch p.version {
	case 1, 3:
	case 4:
		p.address, p.segment = c.u8(), c.u8()
		if p.address != 4 && p.address != 8 || p.segment > 8 {
			return false
		}
	default:
		return false
	}
	if n >= 2 && letters[0] == 'e' && letters[1] == 'h' {
		return false // GCC 2: nothing has it any more
	}
	p.code, p.dataStep = c.uleb(), c.sleb()
	ra := uint64(c.u8())
	if p.version != 1 {
		c.off--
		ra = c.uleb()
	}
	if ra >= NumRegisters {
		return false
	}
	p.ra = uint8(ra)
	program := -1
	for i, letter := range letters[:n] {
		known := true
		switch {
		case i == 0 && letter == 'z':
			p.sized = true
			size := c.uleb()
			if size > uint64(len(c.data)-c.off) {
				return false
			}
			program = c.off + int(size)
		case letter == 'R':
			p.encoding = c.u8()
		case letter == 'P':
			// Only its size matters.
			if enc := c.u8(); enc != encodingOmit {
				t.pointer(&c, enc&0xf, p.address)
			}
		case letter == 'L':
			c.u8()
		case letter == 'S':
			p.signal = true
		case letter == 'B', letter == 'G':
			// Return addresses are signed with the B key; memory is tagged.
		case p.sized:
			// The size tells where the program starts.
			known = false
		default:
			return false
		}
		if !known {
			break
		}
	}
	if program >= 0 {
		c.seek(program)
	}
	if c.bad {
		return false
	}
	p.program, p.end = c.off, e.end
	return true
}

// cieAt returns the CIE at off, its program run; nil if there is none that makes sense.
func (t *frameTable) cieAt(off int) *cie {
	p, ok := t.cies[uint32(off)]
	if ok {
		return p
	}
	p = new(cie)
	if !t.parseCIE(off, p) {
		p = nil
	} else {
		x := execution{table: t, cie: p, code: cursor{data: t.data[:p.end], off: p.program}}
		x.run(nil)
		p.initial, p.broken = x.row, x.code.bad
	}
	t.cies[uint32(off)] = p
	return p
}

// find returns the rule for an address, nil if the table does not have it.
func (t *frameTable) find(vaddr uint64, _ bool) *rule {
	i, j := 0, len(t.fdes)
	for i < j {
		if m := int(uint(i+j) >> 1); t.fdes[m].start <= vaddr {
			i = m + 1
		} else {
			j = m
		}
	}
	// Functions may overlap by mistake: then one that starts earlier may go on behind.
	for k := i - 1; k >= max(i-2, 0); k-- {
		if f := &t.fdes[k]; vaddr-f.start < uint64(f.size) {
			return t.rowOf(f, uint32(vaddr-f.start))
		}
	}
	return nil
}

// rowOf returns the rule that a function has at an offset, and runs its program the first time.
func (t *frameTable) rowOf(f *fde, at uint32) *rule {
	r, ok := t.ran[f.offset]
	if !ok {
		r = t.run(f)
		t.ran[f.offset] = r
	}
	begin := t.begin[r.first : r.first+r.count]
	i, found := slices.BinarySearch(begin, at)
	if !found {
		i--
	}
	if i < 0 {
		return badRule
	}
	return t.rules.list[t.which[int(r.first)+i]]
}

// run runs the program of a function and keeps its rows.
func (t *frameTable) run(f *fde) rows {
	first := uint32(len(t.begin))
	e, _ := t.entryAt(int(f.offset))
	common := t.cieAt(e.cie)
	if common == nil || common.broken {
		return rows{first, 0}
	}
	c := cursor{data: t.data[:e.end], off: e.body}
	t.addresses(&c, common)
	if common.sized {
		c.bytes(c.uleb())
	}
	if c.bad {
		return rows{first, 0}
	}
	x := execution{table: t, cie: common, code: c, start: f.start, size: f.size, row: common.initial}
	x.run(func(loc uint32, r *row) {
		which := t.rules.add(r, common, t.data)
		if n := len(t.which); n > int(first) && t.which[n-1] == which {
			return
		}
		t.begin, t.which = append(t.begin, loc), append(t.which, which)
	})
	if x.code.bad {
		// What came before holds, the rest is not known.
		t.begin, t.which = append(t.begin, x.loc), append(t.which, t.rules.bad())
	}
	return rows{first, uint32(len(t.begin)) - first}
}
