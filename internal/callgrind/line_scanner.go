package callgrind

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode"
)

// A lineScanner takes a line apart. It keeps the first error; after it all numbers are
// zero. It is the only code that indexes input.
type lineScanner struct {
	line []byte
	off  int
	err  error
}

func (c *lineScanner) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
	c.off = len(c.line)
}

// space skips spaces and tabs and reports whether anything follows.
func (c *lineScanner) space() bool {
	for c.off < len(c.line) && (c.line[c.off] == ' ' || c.line[c.off] == '\t') {
		c.off++
	}
	return c.off < len(c.line)
}

// peek is the next byte, or 0 at the end.
func (c *lineScanner) peek() byte {
	if c.off < len(c.line) {
		return c.line[c.off]
	}
	return 0
}

// byte skips b and reports whether it was next.
func (c *lineScanner) byte(b byte) bool {
	if c.off < len(c.line) && c.line[c.off] == b {
		c.off++
		return true
	}
	return false
}

// key returns letters that are followed by = or :, and that; or "" and 0.
func (c *lineScanner) key() (key []byte, delimiter byte) {
	for i := c.off; i < len(c.line); i++ {
		switch b := c.line[i]; {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z':
		case (b == '=' || b == ':') && i > c.off:
			key = c.line[c.off:i]
			c.off = i + 1
			return key, b
		default:
			return nil, 0
		}
	}
	return nil, 0
}

// word returns what is before the next space, or nil at the end.
func (c *lineScanner) word() []byte {
	c.space()
	start := c.off
	for c.off < len(c.line) && c.line[c.off] != ' ' && c.line[c.off] != '\t' {
		c.off++
	}
	if start == c.off {
		return nil
	}
	return c.line[start:c.off]
}

// cut returns what is before the next delimiter and skips that; all that is left if
// there is none.
func (c *lineScanner) cut(delimiter byte) (before []byte, found bool) {
	start := c.off
	i := bytes.IndexByte(c.line[start:], delimiter)
	if i < 0 {
		c.off = len(c.line)
		return c.line[start:], false
	}
	c.off = start + i + 1
	return c.line[start : start+i], true
}

// rest returns what is left, without spaces around it.
func (c *lineScanner) rest() []byte {
	start := c.off
	c.off = len(c.line)
	return bytes.Trim(c.line[start:], " \t")
}

// uint reads a number, decimal or with 0x in front hexadecimal, that ends where digits
// do.
func (c *lineScanner) uint() uint64 {
	start := c.off
	v := uint64(0)
	for c.off < len(c.line) {
		d := c.line[c.off] - '0'
		if d > 9 {
			break
		}
		if v > math.MaxUint64/10 || v == math.MaxUint64/10 && d > math.MaxUint64%10 {
			c.overflow(start)
			return 0
		}
		v = 10*v + uint64(d)
		c.off++
	}
	switch {
	case c.off == start:
		c.noNumber(start)
		return 0
	case v == 0 && c.off == start+1 && (c.peek() == 'x' || c.peek() == 'X'):
		return c.hex(start)
	}
	return v
}

// hex reads the digits behind 0x; the number began at start.
func (c *lineScanner) hex(start int) uint64 {
	c.off++
	first := c.off
	v := uint64(0)
	for ; c.off < len(c.line); c.off++ {
		d := hexDigit(c.line[c.off])
		if d > 15 {
			break
		}
		if v >= 1<<60 {
			c.overflow(start)
			return 0
		}
		v = v<<4 | uint64(d)
	}
	if c.off == first {
		c.noNumber(start)
		return 0
	}
	return v
}

func hexDigit(b byte) byte {
	switch {
	case '0' <= b && b <= '9':
		return b - '0'
	case 'a' <= b && b <= 'f':
		return b - 'a' + 10
	case 'A' <= b && b <= 'F':
		return b - 'A' + 10
	}
	return 16
}

// wordAt is the word that begins at start, for messages.
func (c *lineScanner) wordAt(start int) string {
	if c.err != nil {
		return ""
	}
	c.off = start
	return clip(c.word())
}

func (c *lineScanner) overflow(start int) { c.fail("%s exceeds 2^64", plain(c.wordAt(start))) }

func (c *lineScanner) noNumber(start int) {
	if start >= len(c.line) {
		c.fail("ends where a number is expected")
		return
	}
	c.fail("%q is no number", c.wordAt(start))
}

// end checks that a number ends with its word.
func (c *lineScanner) end(start int) {
	if c.off < len(c.line) && c.line[c.off] != ' ' && c.line[c.off] != '\t' {
		c.noNumber(start)
	}
}

// count reads a word that is a number, which may be negative.
func (c *lineScanner) count() int64 {
	c.space()
	start := c.off
	v := c.signed()
	c.end(start)
	return v
}

// ratio reads a word "number" or "number/number"; the second is -1 if it is missing.
func (c *lineScanner) ratio() (a, b int64) {
	c.space()
	start := c.off
	a, b = c.signed(), -1
	if c.byte('/') {
		if b = c.signed(); b < 0 {
			c.noNumber(start)
		}
	}
	c.end(start)
	return a, b
}

// signed reads a number whose amount is below 2^63.
func (c *lineScanner) signed() int64 {
	start := c.off
	negative := c.byte('-')
	v := c.uint()
	switch {
	case v > math.MaxInt64:
		c.fail("%s exceeds 2^63", plain(c.wordAt(start)))
		return 0
	case negative:
		return -int64(v)
	}
	return int64(v)
}

// position reads a word that is a position: a number, or +number, -number or * relative
// to base.
func (c *lineScanner) position(base uint64) uint64 {
	c.space()
	start := c.off
	v := base
	switch c.peek() {
	case '+':
		d := c.distance(start)
		v += d
		if v < d {
			c.fail("position %s is above 2^64", plain(c.wordAt(start)))
		}
	case '-':
		d := c.distance(start)
		if d > v {
			c.fail("position %s is below zero", plain(c.wordAt(start)))
		}
		v -= d
	case '*':
		c.off++
	default:
		v = c.uint()
	}
	c.end(start)
	if c.err != nil {
		return 0
	}
	return v
}

// distance reads the number behind a sign at start.
func (c *lineScanner) distance(start int) uint64 {
	c.off++
	if b := c.peek(); b < '0' || b > '9' {
		c.noNumber(start)
		return 0
	}
	return c.uint()
}

// plain is input for a message that does not quote it.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '?'
		}
		return r
	}, s)
}

// clip shortens input for a message.
func clip(b []byte) string {
	const most = 60
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
