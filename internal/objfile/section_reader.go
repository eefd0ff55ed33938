package objfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
)

// A sectionReader reads integers and strings from data. It keeps the first error; after
// it all reads give zero. It is the only code that indexes input.
type sectionReader struct {
	data    []byte
	off     int
	base    int64 // offset of data in its section or file
	section string
	big     bool // big-endian
	err     *FormatError
}

func (c *sectionReader) fail(format string, args ...any) {
	if c.err == nil {
		c.err = &FormatError{Section: c.section, Offset: c.pos(), Msg: fmt.Sprintf(format, args...)}
	}
	c.off = len(c.data)
}

func (c *sectionReader) short(n uint64) {
	if c.err == nil {
		c.fail("needs %d bytes, has %d", n, len(c.data)-c.off)
	}
}

// failure returns the sticky error as an error that is nil if there is none.
func (c *sectionReader) failure() error {
	if c.err != nil {
		return c.err
	}
	return nil
}

func (c *sectionReader) remaining() int { return len(c.data) - c.off }

// pos is the offset in the section or file.
func (c *sectionReader) pos() int64 { return c.base + int64(c.off) }

// seek moves to off bytes from the start of data.
func (c *sectionReader) seek(off uint64) {
	if c.err != nil {
		return
	}
	if off > uint64(len(c.data)) {
		c.fail("offset %#x is beyond the end %#x", off, len(c.data))
		return
	}
	c.off = int(off)
}

// at returns a sectionReader over the same data, off bytes from its start.
func (c *sectionReader) at(off uint64) *sectionReader {
	d := *c
	d.seek(off)
	return &d
}

func (c *sectionReader) u8() uint8 {
	if c.off+1 > len(c.data) {
		c.short(1)
		return 0
	}
	v := c.data[c.off]
	c.off++
	return v
}

func (c *sectionReader) u16() uint16 {
	if c.off+2 > len(c.data) {
		c.short(2)
		return 0
	}
	v := binary.LittleEndian.Uint16(c.data[c.off:])
	c.off += 2
	if c.big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

// u24 is for DW_FORM_strx3 and addrx3.
func (c *sectionReader) u24() uint32 {
	b := c.bytes(3)
	if b == nil {
		return 0
	}
	if c.big {
		return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
	}
	return uint32(b[2])<<16 | uint32(b[1])<<8 | uint32(b[0])
}

func (c *sectionReader) u32() uint32 {
	if c.off+4 > len(c.data) {
		c.short(4)
		return 0
	}
	v := binary.LittleEndian.Uint32(c.data[c.off:])
	c.off += 4
	if c.big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

func (c *sectionReader) u64() uint64 {
	if c.off+8 > len(c.data) {
		c.short(8)
		return 0
	}
	v := binary.LittleEndian.Uint64(c.data[c.off:])
	c.off += 8
	if c.big {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// uint reads an unsigned integer of size 1, 2, 4 or 8 bytes.
func (c *sectionReader) uint(size uint8) uint64 {
	switch size {
	case 1:
		return uint64(c.u8())
	case 2:
		return uint64(c.u16())
	case 4:
		return uint64(c.u32())
	case 8:
		return c.u64()
	}
	c.fail("integer of %d bytes", size)
	return 0
}

// word reads an unsigned integer of 8 bytes if wide is set, else of 4.
func (c *sectionReader) word(wide bool) uint64 {
	if wide {
		return c.u64()
	}
	return uint64(c.u32())
}

// uleb reads an unsigned LEB128 number. Bits beyond 64 are dropped.
func (c *sectionReader) uleb() uint64 {
	if c.off < len(c.data) && c.data[c.off] < 0x80 {
		v := uint64(c.data[c.off])
		c.off++
		return v
	}
	var v uint64
	for shift := uint(0); ; shift += 7 {
		if c.off >= len(c.data) {
			c.short(1)
			return 0
		}
		b := c.data[c.off]
		c.off++
		if shift < 64 {
			v |= uint64(b&0x7f) << shift
		}
		if b < 0x80 {
			return v
		}
	}
}

// sleb reads a signed LEB128 number.
func (c *sectionReader) sleb() int64 {
	var v int64
	for shift := uint(0); ; {
		if c.off >= len(c.data) {
			c.short(1)
			return 0
		}
		b := c.data[c.off]
		c.off++
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// skipLEB passes a LEB128 number of either kind.
func (c *sectionReader) skipLEB() {
	for c.off < len(c.data) {
		b := c.data[c.off]
		c.off++
		if b < 0x80 {
			return
		}
	}
	c.short(1)
}

// bytes returns the next n bytes, sharing memory with the input, nil if there are
// fewer.
func (c *sectionReader) bytes(n uint64) []byte {
	if n > uint64(c.remaining()) {
		c.short(n)
		return nil
	}
	b := c.data[c.off : c.off+int(n) : c.off+int(n)]
	c.off += int(n)
	return b
}

func (c *sectionReader) skip(n uint64) {
	if n > uint64(c.remaining()) {
		c.short(n)
		return
	}
	c.off += int(n)
}

// align skips to the next multiple of n, a power of two, counted from the start
// of data. The padding may be missing at the end.
func (c *sectionReader) align(n int) {
	c.off = min((c.off+n-1)&^(n-1), len(c.data))
}

// sub returns a sectionReader over the next n bytes and skips them.
func (c *sectionReader) sub(n uint64) sectionReader {
	d := *c
	d.base = c.pos()
	d.data = c.bytes(n)
	d.off = 0
	d.err = c.err
	return d
}

// cstring returns the bytes before the next NUL, which is consumed.
func (c *sectionReader) cstring() []byte {
	n := bytes.IndexByte(c.data[c.off:], 0)
	if n < 0 {
		c.fail("string is not terminated")
		return nil
	}
	b := c.data[c.off : c.off+n : c.off+n]
	c.off += n + 1
	return b
}

// symbol reads an Elf64_Sym or Elf32_Sym in one step, because tables of them are
// the largest arrays that are read.
func (c *sectionReader) symbol(class64 bool) (s elfSymbol) {
	if class64 {
		if c.off+sizeofSym64 > len(c.data) {
			c.short(sizeofSym64)
			return elfSymbol{}
		}
		b := c.data[c.off : c.off+sizeofSym64]
		c.off += sizeofSym64
		s = elfSymbol{
			name:  binary.LittleEndian.Uint32(b),
			info:  b[4],
			shndx: binary.LittleEndian.Uint16(b[6:]),
			value: binary.LittleEndian.Uint64(b[8:]),
			size:  binary.LittleEndian.Uint64(b[16:]),
		}
		if c.big {
			s.value = bits.ReverseBytes64(s.value)
			s.size = bits.ReverseBytes64(s.size)
		}
	} else {
		if c.off+sizeofSym32 > len(c.data) {
			c.short(sizeofSym32)
			return elfSymbol{}
		}
		b := c.data[c.off : c.off+sizeofSym32]
		c.off += sizeofSym32
		value, size := binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:])
		if c.big {
			value, size = bits.ReverseBytes32(value), bits.ReverseBytes32(size)
		}
		s = elfSymbol{
			name:  binary.LittleEndian.Uint32(b),
			value: uint64(value),
			size:  uint64(size),
			info:  b[12],
			shndx: binary.LittleEndian.Uint16(b[14:]),
		}
	}
	if c.big {
		s.name = bits.ReverseBytes32(s.name)
		s.shndx = bits.ReverseBytes16(s.shndx)
	}
	return s
}

// stringAt returns the NUL-terminated string at off in table, without the NUL,
// cut after limit bytes; nil if off is outside.
func stringAt(table []byte, off uint64, limit int) []byte {
	if off >= uint64(len(table)) {
		return nil
	}
	s := table[off:]
	if len(s) > limit {
		s = s[:limit]
	}
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return s
}

// readAt returns n bytes of r at off after a check against size, so that a
// claimed n does not allocate more than there is.
func readAt(r io.ReaderAt, size int64, section string, off, n uint64) ([]byte, error) {
	if off > uint64(size) || n > uint64(size)-off || n > math.MaxInt {
		return nil, formatError(section, int64(min(off, math.MaxInt64)), "%d bytes exceed the file of %d bytes", n, size)
	}
	b := make([]byte, n)
	if k, err := r.ReadAt(b, int64(off)); k < len(b) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("%s: read %d bytes at %#x: %w", section, n, off, err)
	}
	return b, nil
}
