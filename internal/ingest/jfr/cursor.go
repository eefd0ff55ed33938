package jfr

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
)

// A cursor reads a chunk from front to back. After its first error it reads zeros.
type cursor struct {
	data []byte // to the end of what may be read
	pos  int    // in data, from the start of the chunk
	err  error
}

func (c *cursor) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("at %#x of the chunk: "+format, append([]any{c.pos}, args...)...)
	}
}

// take returns the next n bytes, nil if there are not so many.
func (c *cursor) take(n int64) []byte {
	if c.err != nil || n < 0 || n > int64(len(c.data)-c.pos) {
		c.fail("%d bytes are needed where %d are left", n, len(c.data)-c.pos)
		return nil
	}
	b := c.data[c.pos : c.pos+int(n)]
	c.pos += int(n)
	return b
}

func (c *cursor) byte() byte {
	if b := c.take(1); b != nil {
		return b[0]
	}
	return 0
}

// number reads an integer of any size: seven bits a byte, the lowest first, and the ninth byte whole.
func (c *cursor) number() int64 {
	var v uint64
	for shift := 0; shift < 56; shift += 7 {
		b := c.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return int64(v)
		}
	}
	return int64(v | uint64(c.byte())<<56)
}

// count reads a number of things that take at least a byte each.
func (c *cursor) count() int {
	n := c.number()
	if n < 0 || n > int64(len(c.data)-c.pos) {
		c.fail("%d things follow in %d bytes", n, len(c.data)-c.pos)
		return 0
	}
	return int(n)
}

// Encodings of strings.
const (
	nullString = iota
	emptyString
	pooledString
	utf8String
	utf16String
	latin1String
)

// str reads a string; pool is where those are that stand there by number, and may be nil.
func (c *cursor) str(pool map[int64]string) string {
	switch encoding := c.byte(); encoding {
	case nullString, emptyString:
		return ""
	case pooledString:
		return pool[c.number()]
	case utf8String:
		return strings.ReplaceAll(strings.ToValidUTF8(string(c.take(c.number())), "\ufffd"), "\x00", "\ufffd")
	case utf16String:
		units := make([]uint16, c.count())
		for i := range units {
			v := c.number()
			if v < 0 || v > math.MaxUint16 {
				v = '\ufffd'
			}
			units[i] = uint16(v)
		}
		return strings.ReplaceAll(string(utf16.Decode(units)), "\x00", "\ufffd")
	case latin1String:
		var s strings.Builder
		for _, b := range c.take(c.number()) {
			s.WriteRune(rune(b))
		}
		return strings.ReplaceAll(s.String(), "\x00", "\ufffd")
	default:
		c.fail("string has the unknown encoding %d", encoding)
		return ""
	}
}
