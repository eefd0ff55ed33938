package perffile

import (
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// A textStep is one field, or a few that belong together. It works both ways:
// it decodes the field and prints it, or parses what was printed and encodes it, so
// that writer and parser cannot disagree.
type textStep func(*textCodec)

// A textSpec is the layout of an item: its fields in the order of their bytes.
type textSpec []textStep

// A textCodec carries one item through its spec: from c to out if c is set,
// otherwise from in to buf.
type textCodec struct {
	big bool
	// state is what the lines so far say of the recording: events and their ids.
	state *File
	// attr is the event of the record, nil if there is none.
	attr *Attr
	misc Misc // of the record
	// attrSize is the size of a struct perf_event_attr in an attr line.
	attrSize int
	// sections are defaults for those that the header names.
	sections map[string]section
	features []Feature // default of the bitmap
	ids      []byte    // list of ids of the attr line

	c   *cursor
	out []byte
	sep byte // to be printed before the next field, 0 before the first in a struct

	in       *textFields
	buf      []byte
	defaults map[string]uint64 // of fields that follow from other lines
	idSize   uint64            // bytes of the build ID in a record that has its size
	commit   func()            // takes over what the item says of the recording
	err      error
}

func (x *textCodec) decoding() bool { return x.c != nil }

func (x *textCodec) failed() bool {
	if x.decoding() {
		return x.c.err != nil
	}
	return x.err != nil
}

// fail keeps the first error of encoding.
func (x *textCodec) fail(format string, args ...any) {
	if x.err == nil {
		x.err = fmt.Errorf(format, args...)
	}
}

func (x *textCodec) run(spec textSpec) {
	for _, step := range spec {
		if x.failed() {
			return
		}
		step(x)
	}
}

// key prints the name of a field.
func (x *textCodec) key(name string) {
	if x.sep != 0 {
		x.out = append(x.out, x.sep)
	}
	if x.sep != ' ' {
		x.sep = ','
	}
	x.out = append(x.out, name...)
	x.out = append(x.out, '=')
}

// put encodes an integer.
func (x *textCodec) put(v uint64, width int) {
	if x.big {
		v = bits.ReverseBytes64(v) >> (64 - 8*width)
	}
	for range width {
		x.buf = append(x.buf, byte(v))
		v >>= 8
	}
}

func (c *cursor) uint(width int) uint64 {
	switch width {
	case 1:
		return uint64(c.u8())
	case 2:
		return uint64(c.u16())
	case 4:
		return uint64(c.u32())
	}
	return c.u64()
}

// uint is an integer of width bytes.
func (x *textCodec) uint(name string, width int, n *notation) uint64 {
	return x.uintOr(name, width, n, 0)
}

// uintOr is uint with a value for the case that the text leaves the field out.
func (x *textCodec) uintOr(name string, width int, n *notation, absent uint64) uint64 {
	if x.decoding() {
		v := x.c.uint(width)
		x.print(name, v, width, n)
		return v
	}
	v := x.number(name, width, n, absent)
	x.put(v, width)
	return v
}

// print prints an integer that has been decoded.
func (x *textCodec) print(name string, v uint64, width int, n *notation) {
	if x.failed() || v == 0 && n.omitZero {
		return
	}
	x.key(name)
	x.out = n.append(x.out, v, width)
}

// number parses an integer that is still to be encoded.
func (x *textCodec) number(name string, width int, n *notation, absent uint64) uint64 {
	s, ok := x.in.take(name)
	if !ok {
		if v, ok := x.defaults[name]; ok {
			return v
		}
		return absent
	}
	v, err := n.parse(s, width)
	if err != nil {
		x.fail("%s: %w", name, err)
	}
	return v
}

// count is the number of elements of the list that follows some fields later. The
// text has it only if someone wants it to lie.
func (x *textCodec) count(name string, width int, list string) uint64 {
	if x.decoding() {
		return x.c.uint(width)
	}
	n, err := textListLen(x.in.peek(list))
	if err != nil {
		x.fail("%s: %w", list, err)
	}
	x.put(x.number(name, width, decimal, n), width)
	return n
}

// countBytes is count of a byte string.
func (x *textCodec) countBytes(name string, width int, data string) uint64 {
	if x.decoding() {
		return x.c.uint(width)
	}
	n := uint64(len(x.in.peek(data)) / 2)
	x.put(x.number(name, width, decimal, n), width)
	return n
}

func textListLen(s string) (n uint64, err error) {
	if s == "" {
		return 0, nil
	}
	s, err = textInner(s, '[', ']')
	for err == nil && s != "" {
		var end int
		end, err = textEnd(s, ',')
		n++
		s = strings.TrimPrefix(s[end:], ",")
	}
	return n, err
}

// list prints or parses n elements.
func (x *textCodec) list(name string, n uint64, element func(s string)) {
	if x.decoding() {
		x.key(name)
		x.out = append(x.out, '[')
		for i := uint64(0); i < n && !x.failed(); i++ {
			if i > 0 {
				x.out = append(x.out, ',')
			}
			element("")
		}
		x.out = append(x.out, ']')
		return
	}
	s, ok := x.in.take(name)
	if !ok {
		return
	}
	s, err := textInner(s, '[', ']')
	for err == nil && s != "" && x.err == nil {
		var end int
		if end, err = textEnd(s, ','); err == nil {
			element(s[:end])
			s = strings.TrimPrefix(s[end:], ",")
		}
	}
	if err != nil {
		x.fail("%s: %w", name, err)
	}
}

// numbers is a list of n integers.
func (x *textCodec) numbers(name string, n uint64, width int, nt *notation) {
	if x.decoding() && n > uint64(x.c.remaining()/width) {
		x.c.short(n * uint64(width))
		return
	}
	x.list(name, n, func(s string) {
		if x.decoding() {
			x.out = nt.append(x.out, x.c.uint(width), width)
			return
		}
		v, err := nt.parse(s, width)
		if err != nil {
			x.fail("%s: %w", name, err)
		}
		x.put(v, width)
	})
}

// restNumbers is a list of integers that fills the rest of the item.
func (x *textCodec) restNumbers(name string, width int, nt *notation) {
	n := uint64(0)
	if x.decoding() {
		n = uint64(x.c.remaining() / width)
	}
	x.numbers(name, n, width, nt)
}

// structs is a list of n structs of at least minSize bytes.
func (x *textCodec) structs(name string, n uint64, minSize int, spec textSpec) {
	if x.decoding() && n > uint64(x.c.remaining()/minSize) {
		x.c.short(n * uint64(minSize))
		return
	}
	x.list(name, n, func(s string) { x.braces(name, s, spec) })
}

// nested is a struct.
func (x *textCodec) nested(name string, spec textSpec) {
	if x.decoding() {
		x.key(name)
		x.braces(name, "", spec)
		return
	}
	s, ok := x.in.take(name)
	if !ok {
		s = "{}"
	}
	x.braces(name, s, spec)
}

func (x *textCodec) braces(name, s string, spec textSpec) {
	if x.decoding() {
		sep := x.sep
		x.sep = 0
		x.out = append(x.out, '{')
		x.run(spec)
		x.out = append(x.out, '}')
		x.sep = sep
		return
	}
	if x.err != nil {
		return
	}
	outer := x.in
	var inner textFields
	s, err := textInner(s, '{', '}')
	if err == nil {
		err = inner.parse(s, ',')
	}
	x.in = &inner
	if err == nil {
		x.run(spec)
		if err, x.err = x.err, nil; err == nil {
			err = inner.left()
		}
	}
	if err != nil {
		x.fail("%s: %w", name, err)
	}
	x.in = outer
}

// bytes is a byte string of n bytes.
func (x *textCodec) bytes(name string, n uint64) {
	if x.decoding() {
		b := x.c.bytes(n)
		if x.failed() {
			return
		}
		x.key(name)
		x.out = hex.AppendEncode(x.out, b)
		return
	}
	if s, ok := x.in.take(name); ok {
		b, err := hex.AppendDecode(x.buf, []byte(s))
		if err != nil {
			x.fail("%s: %w", name, err)
		}
		x.buf = b
	}
}

// array is a byte string whose size does not depend on the text.
func (x *textCodec) array(name string, n int) {
	if x.decoding() {
		x.bytes(name, uint64(n))
		return
	}
	at := len(x.buf)
	x.bytes(name, uint64(n))
	x.fill(name, at, n)
}

// fill pads what was encoded since at to n bytes.
func (x *textCodec) fill(name string, at, n int) {
	if len(x.buf)-at > n {
		x.fail("%s: %d bytes do not fit into %d", name, len(x.buf)-at, n)
		return
	}
	x.buf = append(x.buf, make([]byte, n-(len(x.buf)-at))...)
}

// restBytes is a byte string that fills the rest of the item, not printed if empty.
func (x *textCodec) restBytes(name string) {
	if x.decoding() && x.c.remaining() == 0 {
		return
	}
	n := uint64(0)
	if x.decoding() {
		n = uint64(x.c.remaining())
	}
	x.bytes(name, n)
}

// pad skips n zeros that align what precedes. If there is something else, it is
// left to the tail.
func (x *textCodec) pad(n int) {
	if !x.decoding() {
		if !x.in.has(textTail) {
			x.buf = append(x.buf, make([]byte, n)...)
		}
		return
	}
	for i := range n {
		if i >= x.c.remaining() || x.c.peek(i) != 0 {
			return
		}
	}
	x.c.skip(uint64(n))
}

// textTail is the field for what follows the fields of an item.
const textTail = "tail"

// A string without NUL stands for itself, a NUL, and zeros up to a size that follows
// from its length. A string that holds a NUL stands for nothing but itself, so that
// whatever recorders leave behind the end of a string can be written.

// quote prints what the bytes b of a string stand for.
func (x *textCodec) quote(b []byte, size func(n int) int) {
	s := cutNUL(b)
	if len(b) != size(len(s)) || !allZero(b[len(s):]) {
		s = b
	}
	x.out = strconv.AppendQuote(x.out, string(s))
}

func (x *textCodec) unquote(name, s string) string {
	if !strings.HasPrefix(s, `"`) {
		x.fail("%s: %q is not quoted", name, shorten(s))
		return ""
	}
	s, err := strconv.Unquote(s)
	if err != nil {
		x.fail("%s: %w", name, err)
	}
	return s
}

// putString encodes a string with its padding.
func (x *textCodec) putString(s string, size func(n int) int) {
	x.buf = append(x.buf, s...)
	if strings.IndexByte(s, 0) < 0 && size(len(s)) > len(s) {
		x.buf = append(x.buf, make([]byte, size(len(s))-len(s))...)
	}
}

// str is a string whose bytes, if decoding, are b.
func (x *textCodec) str(name string, b []byte, size func(n int) int) {
	if x.failed() {
		return
	}
	if x.decoding() {
		x.key(name)
		x.quote(b, size)
		return
	}
	var s string
	if quoted, ok := x.in.take(name); ok {
		s = x.unquote(name, quoted)
	}
	x.putString(s, size)
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func alignUp(n, to int) int { return (n + to - 1) / to * to }

// restString is a string that fills the rest of the item, padded to a multiple of
// align bytes.
func (x *textCodec) restString(name string, align int) {
	var b []byte
	if x.decoding() {
		b = x.c.rest()
	}
	x.str(name, b, func(n int) int { return alignUp(n+1, align) })
}

// chars is a char array of n bytes.
func (x *textCodec) chars(name string, n int) {
	var b []byte
	at := len(x.buf)
	if x.decoding() {
		b = x.c.bytes(uint64(n))
	}
	x.str(name, b, func(int) int { return n })
	if !x.decoding() {
		x.fill(name, at, n)
	}
}

// cstring is a string that ends with a NUL.
func (x *textCodec) cstring(name string) {
	var b []byte
	if x.decoding() {
		b = x.c.cstring()
		x.str(name, b, func(n int) int { return n })
		return
	}
	x.str(name, nil, func(n int) int { return n + 1 })
}

// headerStringSize is the size of a perf_header_string without its length, must
// match NAME_ALIGN in tools/perf/util/header.h.
func headerStringSize(n int) int { return alignUp(n+1, 64) }

// headerString is a perf_header_string: a length, and a padded string.
func (x *textCodec) headerString(name string) {
	if x.decoding() {
		x.str(name, x.c.bytes(uint64(x.c.u32())), headerStringSize)
		return
	}
	var s string
	if quoted, ok := x.in.take(name); ok {
		s = x.unquote(name, quoted)
	}
	x.putHeaderString(s)
}

func (x *textCodec) putHeaderString(s string) {
	size := len(s)
	if strings.IndexByte(s, 0) < 0 {
		size = headerStringSize(size)
	}
	x.put(uint64(size), 4)
	x.putString(s, headerStringSize)
}

// headerStrings is a list of n perf_header_strings.
func (x *textCodec) headerStrings(name string, n uint64) {
	if x.decoding() && n > uint64(x.c.remaining()/4) {
		x.c.short(n * 4)
		return
	}
	x.list(name, n, func(s string) {
		if x.decoding() {
			x.quote(x.c.bytes(uint64(x.c.u32())), headerStringSize)
		} else {
			x.putHeaderString(x.unquote(name, s))
		}
	})
}

// Constructors of the steps that most specs consist of.

func num(name string, width int, n *notation) textStep {
	return func(x *textCodec) { x.uint(name, width, n) }
}

func dec8(name string) textStep     { return num(name, 1, decimal) }
func dec16(name string) textStep    { return num(name, 2, decimal) }
func dec32(name string) textStep    { return num(name, 4, decimal) }
func dec64(name string) textStep    { return num(name, 8, decimal) }
func pid(name string) textStep      { return num(name, 4, signed) }
func addr(name string) textStep     { return num(name, 8, hexadecimal) }
func reserved(width int) textStep   { return num("reserved", width, hiddenZero) }
func restText(name string) textStep { return func(x *textCodec) { x.restString(name, 8) } }
func restHex(name string) textStep  { return func(x *textCodec) { x.restBytes(name) } }
func char(name string, n int) textStep {
	return func(x *textCodec) { x.chars(name, n) }
}

func headerString(name string) textStep {
	return func(x *textCodec) { x.headerString(name) }
}

// structs is a counted list of structs.
func structs(count string, width int, name string, minSize int, spec ...textStep) textStep {
	return func(x *textCodec) { x.structs(name, x.count(count, width, name), minSize, spec) }
}

// optional is a field that old recorders do not write: it is there if bytes remain,
// or if the text has it.
func optional(name string, step textStep) textStep {
	return func(x *textCodec) {
		if x.decoding() && x.c.remaining() > 0 || !x.decoding() && x.in.has(name) {
			step(x)
		}
	}
}
