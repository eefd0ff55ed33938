package unwind

import "encoding/binary"

// A cursor reads little-endian numbers. After a read beyond the end bad is set, and all
// reads give zero.
type cursor struct {
	data []byte
	off  int
	bad  bool
}

func (c *cursor) fail() {
	c.bad = true
	c.off = len(c.data)
}

func (c *cursor) more() bool { return c.off < len(c.data) }

func (c *cursor) seek(off int) {
	if off < 0 || off > len(c.data) {
		c.fail()
		return
	}
	c.off = off
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.data)-c.off) {
		c.fail()
		return nil
	}
	b := c.data[c.off : c.off+int(n)]
	c.off += int(n)
	return b
}

func (c *cursor) u8() uint8 {
	if c.off >= len(c.data) {
		c.fail()
		return 0
	}
	c.off++
	return c.data[c.off-1]
}

// uint reads an unsigned number of size 1, 2, 4 or 8 bytes.
func (c *cursor) uint(size uint64) uint64 {
	b := c.bytes(size)
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	case 8:
		return binary.LittleEndian.Uint64(b)
	}
	c.fail()
	return 0
}

// int reads a signed number of size 1, 2, 4 or 8 bytes.
func (c *cursor) int(size uint64) uint64 {
	v := c.uint(size)
	unused := 64 - 8*size
	return uint64(int64(v<<unused) >> unused)
}

// maxLEB is the most bytes of a LEB128 number. A longer one, which only padding can make, is
// refused, so that reading it costs nothing to speak of.
const maxLEB = 10

func (c *cursor) uleb() uint64 {
	var v uint64
	for shift := uint(0); shift < 7*maxLEB; shift += 7 {
		b := c.u8()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	c.fail()
	return 0
}

func (c *cursor) sleb() int64 {
	var v int64
	for shift := uint(0); shift < 7*maxLEB; {
		b := c.u8()
		v |= int64(b&0x7f) << shift
		shift += 7
		if b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
	c.fail()
	return 0
}
