package perffile

import (
	"encoding/binary"
	"fmt"
	"math/bits"
)

// A FormatError says what in a file contradicts the format, and where.
type FormatError struct {
	Section string // "header", "attrs", "data", "feature CMDLINE", …
	Offset  int64  // in the file; of the record that holds the data if it was compressed
	Msg     string
	// Truncated is set if the file ends too early and what precedes the end
	// can be read with Options.AllowTruncated.
	Truncated bool
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("%s: %s at %#x", e.Section, e.Msg, e.Offset)
}

// A fieldReader reads integers and strings from data. It keeps the first error; after
// it all reads give zero. It is the only code that indexes input.
type fieldReader struct {
	data    []byte
	off     int
	base    int64 // offset of data in the file
	section string
	big     bool // big-endian
	err     *FormatError
}

func (c *fieldReader) fail(format string, args ...any) {
	if c.err == nil {
		c.err = &FormatError{Section: c.section, Offset: c.base + int64(c.off), Msg: fmt.Sprintf(format, args...)}
	}
	c.off = len(c.data)
}

func (c *fieldReader) short(n uint64) {
	if c.err == nil {
		c.fail("needs %d bytes, has %d", n, len(c.data)-c.off)
	}
}

// failure returns the sticky error as an error that is nil if there is none.
func (c *fieldReader) failure() error {
	if c.err != nil {
		return c.err
	}
	return nil
}

func (c *fieldReader) remaining() int { return len(c.data) - c.off }

func (c *fieldReader) u8() uint8 {
	if c.off+1 > len(c.data) {
		c.short(1)
		return 0
	}
	v := c.data[c.off]
	c.off++
	return v
}

func (c *fieldReader) u16() uint16 {
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

func (c *fieldReader) u32() uint32 {
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

func (c *fieldReader) u64() uint64 {
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

// u64s appends n integers to dst.
func (c *fieldReader) u64s(dst []uint64, n uint64) []uint64 {
	if n > uint64(c.remaining())/8 {
		c.short(n * 8)
		return dst
	}
	src := c.data[c.off : c.off+int(n)*8]
	c.off += len(src)
	at := len(dst)
	if cap(dst)-at < int(n) {
		dst = append(dst, make([]uint64, n)...)
	} else {
		dst = dst[:at+int(n)]
	}
	out := dst[at:]
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(src[8*i:])
	}
	if c.big {
		for i := range out {
			out[i] = bits.ReverseBytes64(out[i])
		}
	}
	return dst
}

// bytes returns the next n bytes, sharing memory with the input.
func (c *fieldReader) bytes(n uint64) []byte {
	if n > uint64(c.remaining()) {
		c.short(n)
		return nil
	}
	b := c.data[c.off : c.off+int(n) : c.off+int(n)]
	c.off += int(n)
	return b
}

// peek returns the byte that is i bytes on, or 0 beyond the end.
func (c *fieldReader) peek(i int) byte {
	if i < 0 || i >= c.remaining() {
		return 0
	}
	return c.data[c.off+i]
}

func (c *fieldReader) skip(n uint64) { c.bytes(n) }

// rest returns all that remains.
func (c *fieldReader) rest() []byte { return c.bytes(uint64(c.remaining())) }

// cstring returns the bytes before the next NUL, which is consumed.
func (c *fieldReader) cstring() []byte {
	for i := c.off; i < len(c.data); i++ {
		if c.data[i] == 0 {
			b := c.data[c.off:i:i]
			c.off = i + 1
			return b
		}
	}
	c.fail("string is not terminated")
	return nil
}

// fixedString returns the string in the next n bytes, which ends at the first NUL
// or with the n bytes.
func (c *fieldReader) fixedString(n uint64) []byte {
	return cutNUL(c.bytes(n))
}

func cutNUL(b []byte) []byte {
	for i := range b {
		if b[i] == 0 {
			return b[:i]
		}
	}
	return b
}

// headerString reads perf's struct perf_header_string: a length and that many
// bytes of a NUL-padded string.
func (c *fieldReader) headerString() string {
	return string(c.fixedString(uint64(c.u32())))
}

// bitfield extracts width bits at off from the memory image of C bitfields in a
// 64-bit word. Compilers for big-endian machines allocate bitfields from the most
// significant bit.
func bitfield(word uint64, off, width uint, big bool) uint64 {
	if big {
		off = 64 - off - width
	}
	return word >> off & (1<<width - 1)
}
