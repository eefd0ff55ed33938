package perffiletest

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"profdiff/internal/perffile"
)

// A step encodes one field of an item, or a few that belong together.
type step func(*encoder)

// A spec is the layout of an item: its fields in the order of their bytes.
type spec []step

// An encoder turns lines into bytes and keeps what they say of the recording.
type encoder struct {
	big    bool
	line   textLine
	events []event
	byID   map[uint64]int // number of the event with an id
	// attrSize is the size of a struct perf_event_attr in an attr line.
	attrSize int
	// sections are defaults for those that the header names.
	sections map[string]section
	features []perffile.Feature // default of the bitmap

	// Of the item that is being encoded:

	in       *textFields
	buf      []byte
	event    *event // of the record, nil if there is none
	misc     perffile.Misc
	ids      []byte            // list of ids of the attr line
	defaults map[string]uint64 // of fields that follow from other lines
	idSize   uint64            // bytes of the build ID in a record that has its size
	commit   func()            // takes over what the item says of the recording
	err      error
}

// A section is a place in the file.
type section struct{ off, size int64 }

func newEncoder(big bool) *encoder {
	return &encoder{big: big, byID: make(map[uint64]int)}
}

// fail keeps the first error.
func (x *encoder) fail(format string, args ...any) {
	if x.err == nil {
		x.err = fmt.Errorf(format, args...)
	}
}

func (x *encoder) run(s spec) {
	for _, step := range s {
		if x.err != nil {
			return
		}
		step(x)
	}
}

// put encodes an integer.
func (x *encoder) put(v uint64, width int) {
	if x.big {
		v = bits.ReverseBytes64(v) >> (64 - 8*width)
	}
	for range width {
		x.buf = append(x.buf, byte(v))
		v >>= 8
	}
}

func (x *encoder) order() binary.ByteOrder {
	if x.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// patch overwrites what has been encoded at off.
func (x *encoder) patch(off int, v uint64, width int) {
	whole := x.buf
	x.buf = whole[:off]
	x.put(v, width)
	x.buf = whole
}

// number is the value of an integer that is still to be encoded.
func (x *encoder) number(name string, width int, n *notation, absent uint64) uint64 {
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

// uint is an integer of width bytes.
func (x *encoder) uint(name string, width int, n *notation) uint64 {
	return x.uintOr(name, width, n, 0)
}

// uintOr is uint with a value for the case that the text leaves the field out.
func (x *encoder) uintOr(name string, width int, n *notation, absent uint64) uint64 {
	v := x.number(name, width, n, absent)
	x.put(v, width)
	return v
}

// count is the number of elements of the list that follows some fields later. The
// text has it only if someone wants it to lie.
func (x *encoder) count(name string, width int, list string) {
	n, err := textListLen(x.in.peek(list))
	if err != nil {
		x.fail("%s: %w", list, err)
	}
	x.uintOr(name, width, plain, n)
}

// countBytes is count of a byte string. It returns how many bytes there are.
func (x *encoder) countBytes(name string, width int, data string) uint64 {
	n := uint64(len(x.in.peek(data)) / 2)
	x.uintOr(name, width, plain, n)
	return n
}

func textListLen(s string) (n uint64, err error) {
	if s == "" {
		return 0, nil
	}
	err = eachElement(s, func(string) bool { n++; return true })
	return n, err
}

// eachElement calls f for the elements of a list until it returns false.
func eachElement(s string, f func(s string) bool) error {
	s, err := textInner(s, '[', ']')
	for err == nil && s != "" {
		var end int
		if end, err = textEnd(s, ','); err == nil {
			if !f(s[:end]) {
				break
			}
			s = strings.TrimPrefix(s[end:], ",")
		}
	}
	return err
}

func (x *encoder) list(name string, element func(s string)) {
	s, ok := x.in.take(name)
	if !ok || x.withheld(name, s) {
		return
	}
	err := eachElement(s, func(s string) bool {
		element(s)
		return x.err == nil
	})
	if err != nil {
		x.fail("%s: %w", name, err)
	}
}

// numbers is a list of integers.
func (x *encoder) numbers(name string, width int, n *notation) {
	x.list(name, func(s string) {
		v, err := n.parse(s, width)
		if err != nil {
			x.fail("%s: %w", name, err)
		}
		x.put(v, width)
	})
}

// structs is a list of structs.
func (x *encoder) structs(name string, s spec) {
	x.list(name, func(text string) { x.braces(name, text, s) })
}

// nested is a struct.
func (x *encoder) nested(name string, s spec) {
	text, ok := x.in.take(name)
	if !ok {
		text = "{}"
	}
	x.braces(name, text, s)
}

func (x *encoder) braces(name, text string, s spec) {
	if x.err != nil {
		return
	}
	outer := x.in
	var inner textFields
	text, err := textInner(text, '{', '}')
	if err == nil {
		err = inner.parse(text, ',')
	}
	x.in = &inner
	if err == nil {
		x.run(s)
		if err, x.err = x.err, nil; err == nil {
			err = inner.left()
		}
	}
	if err != nil {
		x.fail("%s: %w", name, err)
	}
	x.in = outer
}

// bytes is a byte string.
func (x *encoder) bytes(name string) {
	if s, ok := x.in.take(name); ok && !x.withheld(name, s) {
		b, err := hex.AppendDecode(x.buf, []byte(s))
		if err != nil {
			x.fail("%s: %w", name, err)
		}
		x.buf = b
	}
}

// withheld fails if a value is not there because it was not to be seen.
func (x *encoder) withheld(name, s string) bool {
	if !strings.HasPrefix(s, "?") {
		return false
	}
	x.fail("%s: is withheld: dump the recording with --memory", name)
	return true
}

// array is a byte string whose size does not depend on the text.
func (x *encoder) array(name string, n int) {
	at := len(x.buf)
	x.bytes(name)
	x.fill(name, at, n)
}

// fill pads what was encoded since at to n bytes.
func (x *encoder) fill(name string, at, n int) {
	if len(x.buf)-at > n {
		x.fail("%s: %d bytes do not fit into %d", name, len(x.buf)-at, n)
		return
	}
	x.buf = append(x.buf, make([]byte, n-(len(x.buf)-at))...)
}

// pad adds n zeros that align what precedes, unless the text says what is there.
func (x *encoder) pad(n int) {
	if !x.in.has(textTail) {
		x.buf = append(x.buf, make([]byte, n)...)
	}
}

const (
	// textTail is the field for what follows the fields of an item.
	textTail = "tail"
	// textRaw is the field that holds all of an item.
	textRaw = "raw"
	// textSampleID is the field that holds the sample_id at the end of a record.
	textSampleID = "sample_id"
)

// A string without NUL stands for itself, a NUL, and zeros up to a size that follows
// from its length. A string that holds a NUL stands for nothing but itself, so that
// whatever recorders leave behind the end of a string can be written.

func (x *encoder) unquote(name, s string) string {
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

// takeString is the string of a field, "" if the text leaves it out.
func (x *encoder) takeString(name string) string {
	quoted, ok := x.in.take(name)
	if !ok {
		return ""
	}
	return x.unquote(name, quoted)
}

// putString encodes a string with its padding.
func (x *encoder) putString(s string, size func(n int) int) {
	x.buf = append(x.buf, s...)
	if strings.IndexByte(s, 0) < 0 && size(len(s)) > len(s) {
		x.buf = append(x.buf, make([]byte, size(len(s))-len(s))...)
	}
}

func alignUp(n, to int) int { return (n + to - 1) / to * to }

// restString is a string that fills the rest of the item, padded to a multiple of
// align bytes.
func (x *encoder) restString(name string, align int) {
	x.putString(x.takeString(name), func(n int) int { return alignUp(n+1, align) })
}

// headerStringSize is the size of a perf_header_string without its length, must
// match NAME_ALIGN in tools/perf/util/header.h.
func headerStringSize(n int) int { return alignUp(n+1, 64) }

func (x *encoder) putHeaderString(s string) {
	size := len(s)
	if strings.IndexByte(s, 0) < 0 {
		size = headerStringSize(size)
	}
	x.put(uint64(size), 4)
	x.putString(s, headerStringSize)
}

// Constructors of the steps that most specs consist of.

func num(name string, width int, n *notation) step {
	return func(x *encoder) { x.uint(name, width, n) }
}

func u8(name string) step  { return num(name, 1, plain) }
func u16(name string) step { return num(name, 2, plain) }
func u32(name string) step { return num(name, 4, plain) }
func u64(name string) step { return num(name, 8, plain) }

// u64s is a list of integers.
func u64s(name string) step { return func(x *encoder) { x.numbers(name, 8, plain) } }

// blob is a byte string.
func blob(name string) step { return func(x *encoder) { x.bytes(name) } }

// text is a string that fills the rest of the item.
func text(name string) step { return func(x *encoder) { x.restString(name, 8) } }

// char is a char array of n bytes.
func char(name string, n int) step {
	return func(x *encoder) {
		at := len(x.buf)
		x.putString(x.takeString(name), func(int) int { return n })
		x.fill(name, at, n)
	}
}

// cstring is a string that ends with a NUL.
func cstring(name string) step {
	return func(x *encoder) { x.putString(x.takeString(name), func(n int) int { return n + 1 }) }
}

// headerString is a perf_header_string: a length, and a padded string.
func headerString(name string) step {
	return func(x *encoder) { x.putHeaderString(x.takeString(name)) }
}

// headerStrings is a counted list of perf_header_strings.
func headerStrings(count, name string) step {
	return func(x *encoder) {
		x.count(count, 4, name)
		x.list(name, func(s string) { x.putHeaderString(x.unquote(name, s)) })
	}
}

// structs is a counted list of structs.
func structs(count string, width int, name string, s ...step) step {
	return func(x *encoder) {
		x.count(count, width, name)
		x.structs(name, s)
	}
}

// nested is a struct.
func nested(name string, s ...step) step {
	return func(x *encoder) { x.nested(name, s) }
}

// optional is a field that old recorders do not write: it is there if the text has it.
func optional(name string, s step) step {
	return func(x *encoder) {
		if x.in.has(name) {
			s(x)
		}
	}
}
