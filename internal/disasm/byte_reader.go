package disasm

import "encoding/binary"

// A byteReader reads little-endian integers from data. After the first read beyond the
// end, bad is set and all reads give zero. It is the only code that indexes input.
type byteReader struct {
	data []byte
	off  int
	bad  bool
}

func (c *byteReader) u8() uint8 {
	if c.off >= len(c.data) {
		c.bad = true
		return 0
	}
	v := c.data[c.off]
	c.off++
	return v
}

// peek returns the next byte and leaves it there, 0 if there is none.
func (c *byteReader) peek() uint8 {
	if c.off >= len(c.data) {
		return 0
	}
	return c.data[c.off]
}

func (c *byteReader) bytes(n int) []byte {
	if n < 0 || n > len(c.data)-c.off {
		c.bad = true
		c.off = len(c.data)
		return nil
	}
	b := c.data[c.off : c.off+n]
	c.off += n
	return b
}

// uint reads an integer of n bytes: 1, 2, 4 or 8.
func (c *byteReader) uint(n int) uint64 {
	b := c.bytes(n)
	if b == nil {
		return 0
	}
	switch n {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// int reads a signed integer of n bytes.
func (c *byteReader) int(n int) int64 {
	return signExtend(c.uint(n), n*8)
}

// signExtend returns the low bits of v as a signed number.
func signExtend(v uint64, bits int) int64 {
	return int64(v<<(64-bits)) >> (64 - bits)
}

// uleb reads an unsigned LEB128 number (DWARF 5, 7.6).
func (c *byteReader) uleb() uint64 {
	var v uint64
	for shift := 0; ; shift += 7 {
		b := c.u8()
		if shift > 63 {
			c.bad = true
		}
		if c.bad {
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
}

// at returns a reader that starts at off.
func (c byteReader) at(off uint64) byteReader {
	if off > uint64(len(c.data)) {
		return byteReader{bad: true}
	}
	return byteReader{data: c.data, off: int(off)}
}

// rest returns what has not been read.
func (c byteReader) rest() []byte { return c.data[c.off:] }

func (c *byteReader) remaining() int { return len(c.data) - c.off }
