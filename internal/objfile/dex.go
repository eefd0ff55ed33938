package objfile

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"unicode/utf16"
)

// The DEX format, https://source.android.com/docs/core/runtime/dex-format, and
// CompactDex ("cdex"), in which Android 9 to 13 kept the code of installed apps:
// art/libdexfile/dex/compact_dex_file.h.
const (
	dexMagic         = "dex\n"
	compactDexMagic  = "cdex"
	dexHeaderSize    = 0x70
	dexHeaderSizeV41 = 0x78
	compactDexHeader = 0x88
	dexEndianTag     = 0x12345678
	sizeofClassDef   = 32
	sizeofMethodID   = 8
	sizeofTypeID     = 4
	sizeofStringID   = 4
)

// dexHeader must match header_item, as far as it is used.
type dexHeader struct {
	compact                      bool
	version                      int // 35 to 41 of DEX, 1 of CompactDex
	fileSize                     uint32
	stringIDs, typeIDs           dexTable
	methodIDs, classDefs         dexTable
	dataSize, dataOff            uint32
	containerSize, containerBase uint32 // version 41
}

// A dexTable is an array of n items at off.
type dexTable struct{ n, off uint32 }

func readDexHeader(c *sectionReader) (h dexHeader, err error) {
	magic, version := c.bytes(4), c.bytes(4)
	if c.err != nil {
		return h, c.err
	}
	switch h.compact = string(magic) == compactDexMagic; {
	case !h.compact && string(magic) != dexMagic:
		return h, formatError("dex", c.base, "not a DEX file")
	case version[3] != 0:
		return h, formatError("dex", c.base, "version %q", version)
	}
	for _, d := range version[:3] {
		if d < '0' || d > '9' {
			return h, formatError("dex", c.base, "version %q", version)
		}
		h.version = h.version*10 + int(d-'0')
	}
	if h.compact && h.version != 1 || !h.compact && (h.version < 35 || h.version > 41) {
		return h, fmt.Errorf("dex: %s version %03d: %w", bytes.TrimSpace(magic), h.version, ErrUnsupported)
	}
	c.skip(4 + 20) // checksum, signature
	h.fileSize = c.u32()
	headerSize, endian := c.u32(), c.u32()
	c.skip(8 + 4) // link, map
	table := func() dexTable { return dexTable{c.u32(), c.u32()} }
	h.stringIDs = table()
	h.typeIDs = table()
	table() // prototypes
	table() // fields
	h.methodIDs = table()
	h.classDefs = table()
	h.dataSize, h.dataOff = c.u32(), c.u32()
	if h.version == 41 {
		h.containerSize, h.containerBase = c.u32(), c.u32()
	}
	if c.err != nil {
		return h, c.err
	}
	want := uint32(dexHeaderSize)
	switch {
	case h.compact:
		want = compactDexHeader
	case h.version == 41:
		want = dexHeaderSizeV41
	}
	if headerSize < want || endian != dexEndianTag || h.fileSize < headerSize {
		return h, formatError("dex", c.base, "header of %d bytes, endian tag %#x, file of %d bytes", headerSize, endian, h.fileSize)
	}
	return h, nil
}

// DexSymbols returns the methods with code of the DEX or CompactDex file at
// dexOffset in r, which has size bytes: a .dex or .vdex file, or an image of a .dex
// file that was extracted from an APK. Addr is the offset in r of the instructions,
// as in recordings of simpleperf, Len is their size in bytes. Names are class and
// method without parameters, "java.lang.Class.getName". The error wraps
// [ErrUnsupported] if the version is not known.
func DexSymbols(r io.ReaderAt, size int64, dexOffset uint64) (*SymbolTable, error) {
	if dexOffset > uint64(max(size, 0)) {
		return nil, formatError("dex", int64(min(dexOffset, math.MaxInt64)), "offset is beyond the end %#x", size)
	}
	head, err := readAt(r, size, "dex", dexOffset, min(dexHeaderSizeV41, uint64(size)-dexOffset))
	if err != nil {
		return nil, err
	}
	h, err := readDexHeader(&sectionReader{data: head, base: int64(dexOffset), section: "dex"})
	if err != nil {
		return nil, err
	}
	d := &dexFile{header: h, seen: make(map[uint32]bool)}
	base, length := dexOffset, uint64(h.fileSize)
	if h.version == 41 {
		// Offsets count from the start of the container.
		if uint64(h.containerBase) > dexOffset {
			return nil, formatError("dex", int64(dexOffset), "container starts %#x before the header", h.containerBase)
		}
		base, length = dexOffset-uint64(h.containerBase), uint64(h.containerSize)
	}
	if d.ids, err = d.read(r, size, base, length); err != nil {
		return nil, err
	}
	d.data = d.ids
	if h.compact {
		// Offsets of data count from the start of the data, which files share.
		if d.data, err = d.read(r, size, base+uint64(h.dataOff), uint64(h.dataSize)); err != nil {
			return nil, err
		}
	}
	return d.symbols()
}

// dexFile is a DEX file in memory.
type dexFile struct {
	header  dexHeader
	ids     *sectionReader // what offsets of tables count from
	data    *sectionReader // what offsets of strings, classes and code count from
	methods []dexMethod
	list    []candidate
	seen    map[uint32]bool // offsets of class data
}

type dexMethod struct{ class, name uint32 } // offsets of strings in data

func (d *dexFile) read(r io.ReaderAt, size int64, off, n uint64) (*sectionReader, error) {
	data, err := readAt(r, size, "dex", off, n)
	if err != nil {
		return nil, err
	}
	return &sectionReader{data: data, base: int64(off), section: "dex"}, nil
}

func (d *dexFile) symbols() (*SymbolTable, error) {
	defs := d.ids.at(uint64(d.header.classDefs.off))
	for range d.header.classDefs.n {
		c := defs.sub(sizeofClassDef)
		c.skip(24)
		off := c.u32() // class_data_off
		if c.err != nil {
			return nil, c.err
		}
		// A class without members has no data.
		if off != 0 {
			if err := d.readClass(off); err != nil {
				return nil, err
			}
		}
	}
	names := &dexNames{data: d.data.data, methods: d.methods}
	return newSymbolTable(d.list, names, noLimit), nil
}

// readClass reads a class_data_item.
func (d *dexFile) readClass(off uint32) error {
	c := d.data.at(uint64(off))
	if d.seen[off] {
		return formatError("dex", c.pos(), "two classes have the same data")
	}
	d.seen[off] = true
	fields := satAdd(c.uleb(), c.uleb())
	direct, virtual := c.uleb(), c.uleb()
	for i := uint64(0); i < fields && c.err == nil; i++ {
		c.skipLEB() // field_idx_diff
		c.skipLEB() // access_flags
	}
	for _, n := range []uint64{direct, virtual} {
		method := uint64(0)
		for i := uint64(0); i < n && c.err == nil; i++ {
			method += c.uleb() & math.MaxUint32
			c.skipLEB() // access_flags
			code := c.uleb()
			if c.err == nil && code != 0 {
				if err := d.addMethod(method, code); err != nil {
					return err
				}
			}
		}
	}
	return c.failure()
}

func satAdd(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// addMethod adds method number m with its code_item at off.
func (d *dexFile) addMethod(m, off uint64) error {
	// Every method takes 3 bytes at least; more come only from overlapping lists.
	if len(d.methods) > len(d.data.data)/3 {
		return formatError("dex", d.data.base, "class data overlap")
	}
	id := d.item(d.header.methodIDs, m, sizeofMethodID)
	class := uint64(id.u16())
	id.skip(2) // proto_idx
	name := uint64(id.u32())
	typ := d.item(d.header.typeIDs, class, sizeofTypeID)
	classOff := d.item(d.header.stringIDs, uint64(typ.u32()), sizeofStringID)
	nameOff := d.item(d.header.stringIDs, name, sizeofStringID)
	method := dexMethod{classOff.u32(), nameOff.u32()}
	for _, c := range []*sectionReader{id, typ, classOff, nameOff} {
		if c.err != nil {
			return c.err
		}
	}
	code := d.data.at(off)
	units := d.codeSize(code)
	if code.err == nil && 2*units > uint64(code.remaining()) {
		code.fail("%d code units exceed the file", units)
	}
	if code.err != nil {
		return code.err
	}
	d.list = append(d.list, candidate{addr: uint64(code.pos()), size: 2 * units, id: uint32(len(d.methods))})
	d.methods = append(d.methods, method)
	return nil
}

// codeSize moves c from the start of a code_item to its instructions and returns
// their number of 16-bit units.
func (d *dexFile) codeSize(c *sectionReader) uint64 {
	if !d.header.compact {
		c.skip(2 + 2 + 2 + 2 + 4) // registers, ins, outs, tries, debug_info_off
		return uint64(c.u32())
	}
	const (
		countShift       = 5
		flagBigInsnsSize = 1 << 4
	)
	start := c.off
	c.skip(2) // sizes that fit in 4 bits each
	packed := c.u16()
	n := uint64(packed >> countShift)
	if packed&flagBigInsnsSize != 0 {
		// What does not fit precedes the item, backwards.
		if start < 4 {
			c.fail("code item without room before it")
			return 0
		}
		before := c.at(uint64(start) - 4)
		n += uint64(before.u16()) << 16
		n += uint64(before.u16())
	}
	return n
}

// item returns a sectionReader at entry i of a table.
func (d *dexFile) item(t dexTable, i uint64, size uint64) *sectionReader {
	c := d.ids.at(uint64(t.off))
	if i >= uint64(t.n) {
		c.fail("index %d of a table of %d", i, t.n)
	}
	c.skip(i * size)
	return c
}

// dexNames is the namer of methods; ids are indexes.
type dexNames struct {
	data    []byte
	methods []dexMethod
}

func (n *dexNames) name(id uint32) []byte {
	m := n.methods[id]
	class := n.string(m.class)
	if len(class) > 1 && class[0] == 'L' && class[len(class)-1] == ';' {
		class = bytes.ReplaceAll(class[1:len(class)-1], []byte{'/'}, []byte{'.'})
	}
	name := make([]byte, 0, len(class)+64)
	name = append(append(name, class...), '.')
	return append(name, n.string(m.name)...)
}

// string returns the string_data_item at off in UTF-8.
func (n *dexNames) string(off uint32) []byte {
	c := (&sectionReader{data: n.data, section: "dex"}).at(uint64(off))
	c.skipLEB() // length in UTF-16 code units
	return utf8FromMUTF8(stringAt(n.data, uint64(c.off), maxName))
}

// utf8FromMUTF8 converts the encoding of DEX strings, in which every UTF-16 code
// unit is encoded on its own and NUL has two bytes.
func utf8FromMUTF8(s []byte) []byte {
	if bytes.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0 {
		return s
	}
	var units []uint16
	for c := (&sectionReader{data: s}); c.remaining() > 0; {
		switch b := uint16(c.u8()); {
		case b < 0x80:
			units = append(units, b)
		case b < 0xe0:
			units = append(units, b&0x1f<<6|uint16(c.u8())&0x3f)
		default:
			units = append(units, b&0xf<<12|uint16(c.u8())&0x3f<<6|uint16(c.u8())&0x3f)
		}
	}
	return []byte(string(utf16.Decode(units)))
}
