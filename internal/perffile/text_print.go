package perffile

import (
	"encoding/hex"
	"slices"
	"strconv"
)

// A textStep decodes one field, or a few that belong together, and prints it.
type textStep func(*textPrinter)

// A textSpec is the layout of an item: its fields in the order of their bytes.
type textSpec []textStep

// A textPrinter carries one item through its spec: from c to out.
type textPrinter struct {
	big bool
	// file is the recording.
	file *File
	// attr is the event of the record, nil if there is none.
	attr *Attr
	misc Misc // of the record
	// memory is [TextOptions.Memory].
	memory bool
	// attrSize is the size of a struct perf_event_attr in an attr line.
	attrSize int

	c   *fieldReader
	out []byte
	sep byte // to be printed before the next field, 0 before the first in a struct
	// lossy is set if the item has bytes that its fields do not stand for.
	lossy bool
}

func (x *textPrinter) failed() bool { return x.c.err != nil }

func (x *textPrinter) run(spec textSpec) {
	for _, step := range spec {
		if x.failed() {
			return
		}
		step(x)
	}
}

// key prints the name of a field.
func (x *textPrinter) key(name string) {
	if x.sep != 0 {
		x.out = append(x.out, x.sep)
	}
	if x.sep != ' ' {
		x.sep = ','
	}
	x.out = append(x.out, name...)
	x.out = append(x.out, '=')
}

func (c *fieldReader) uint(width int) uint64 {
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
func (x *textPrinter) uint(name string, width int, n *notation) uint64 {
	v := x.c.uint(width)
	x.print(name, v, width, n)
	return v
}

// print prints an integer that has been decoded.
func (x *textPrinter) print(name string, v uint64, width int, n *notation) {
	if x.failed() || v == 0 && n.omitZero {
		return
	}
	x.key(name)
	x.out = n.append(x.out, v, width)
}

// list prints n elements.
func (x *textPrinter) list(name string, n uint64, element func()) {
	x.key(name)
	x.out = append(x.out, '[')
	for i := uint64(0); i < n && !x.failed(); i++ {
		if i > 0 {
			x.out = append(x.out, ',')
		}
		element()
	}
	x.out = append(x.out, ']')
}

// fits reports whether n elements of at least size bytes may be there.
func (x *textPrinter) fits(n uint64, size int) bool {
	if n > uint64(x.c.remaining()/size) {
		x.c.short(n * uint64(size))
		return false
	}
	return true
}

// numbers is a list of n integers.
func (x *textPrinter) numbers(name string, n uint64, width int, nt *notation) {
	if x.fits(n, width) {
		x.list(name, n, func() { x.out = nt.append(x.out, x.c.uint(width), width) })
	}
}

// structs is a list of n structs of at least minSize bytes.
func (x *textPrinter) structs(name string, n uint64, minSize int, spec textSpec) {
	if x.fits(n, minSize) {
		x.list(name, n, func() { x.braces(spec) })
	}
}

func (x *textPrinter) braces(spec textSpec) {
	sep := x.sep
	x.sep = 0
	x.out = append(x.out, '{')
	x.run(spec)
	x.out = append(x.out, '}')
	x.sep = sep
}

// bytes is a byte string of n bytes.
func (x *textPrinter) bytes(name string, n uint64) {
	b := x.c.bytes(n)
	if x.failed() {
		return
	}
	x.key(name)
	x.out = hex.AppendEncode(x.out, b)
}

// secret is a byte string that may hold memory of programs.
func (x *textPrinter) secret(name string, n uint64) {
	if x.memory {
		x.bytes(name, n)
		return
	}
	x.c.skip(n)
	x.withheld(name, n)
}

// withheld stands for n bytes or elements.
func (x *textPrinter) withheld(name string, n uint64) {
	if x.failed() {
		return
	}
	x.key(name)
	x.out = appendWithheld(x.out, int(n))
}

func appendWithheld(out []byte, n int) []byte {
	return strconv.AppendInt(append(out, '?'), int64(n), 10)
}

// holdsMemory reports whether records hold memory of programs that is not to be printed, or
// may do so, the header being damaged.
func (x *textPrinter) holdsMemory() bool {
	const memory = SampleRegsUser | SampleRegsIntr | SampleStackUser
	return !x.memory && (x.file == nil || slices.ContainsFunc(x.file.Attrs, func(a Attr) bool { return a.SampleType&memory != 0 }))
}

// restBytes is a byte string that fills the rest of the item, not printed if empty.
func (x *textPrinter) restBytes(name string) {
	if n := x.c.remaining(); n > 0 {
		x.bytes(name, uint64(n))
	}
}

// pad skips n zeros that align what precedes, at the end of an item. If there is
// something else, it is left to the tail. The text stands for padding or for a tail, so
// that an item that has both, or neither, is not what it stands for.
func (x *textPrinter) pad(n int) {
	if n == 0 {
		return
	}
	rest := x.c.data[x.c.off:]
	padded := len(rest) >= n && allZero(rest[:n])
	if padded {
		x.c.skip(uint64(n))
	}
	x.lossy = x.lossy || padded == (x.c.remaining() > 0)
}

// textTail is the field for what follows the fields of an item.
const textTail = "tail"

// A string without NUL stands for itself, a NUL, and zeros up to a size that follows
// from its length. A string that holds a NUL stands for nothing but itself, so that
// whatever recorders leave behind the end of a string can be written.

// quote prints what the bytes b of a string stand for.
func (x *textPrinter) quote(b []byte, size func(n int) int) {
	s := cutNUL(b)
	if len(b) != size(len(s)) || !allZero(b[len(s):]) {
		x.lossy = x.lossy || len(s) == len(b) // no NUL: the text stands for one
		s = b
	}
	x.out = strconv.AppendQuote(x.out, string(s))
}

// str is a string whose bytes are b.
func (x *textPrinter) str(name string, b []byte, size func(n int) int) {
	if x.failed() {
		return
	}
	x.key(name)
	x.quote(b, size)
}

func allZero(b []byte) bool {
	return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 })
}

func alignUp(n, to int) int { return (n + to - 1) / to * to }

// verbatim is the size of a string that is not padded.
func verbatim(n int) int { return n }

// headerStringSize is the size of a perf_header_string without its length, must
// match NAME_ALIGN in tools/perf/util/header.h.
func headerStringSize(n int) int { return alignUp(n+1, 64) }

// Constructors of the steps that most specs consist of.

func num(name string, width int, n *notation) textStep {
	return func(x *textPrinter) { x.uint(name, width, n) }
}

func dec8(name string) textStep  { return num(name, 1, decimal) }
func dec16(name string) textStep { return num(name, 2, decimal) }
func dec32(name string) textStep { return num(name, 4, decimal) }
func dec64(name string) textStep { return num(name, 8, decimal) }
func pid(name string) textStep   { return num(name, 4, signed) }
func addr(name string) textStep  { return num(name, 8, hexadecimal) }
func hidden(width int) textStep  { return num("reserved", width, hiddenZero) }
func blob(name string) textStep  { return func(x *textPrinter) { x.restBytes(name) } }
func cstr(name string) textStep  { return func(x *textPrinter) { x.str(name, x.c.cstring(), verbatim) } }

// text is a string that fills the rest of the item, padded to a multiple of align
// bytes.
func text(name string, align int) textStep {
	return func(x *textPrinter) {
		x.str(name, x.c.rest(), func(n int) int { return alignUp(n+1, align) })
	}
}

// array is a byte string of n bytes.
func array(name string, n uint64) textStep {
	return func(x *textPrinter) { x.bytes(name, n) }
}

// char is a char array of n bytes.
func char(name string, n int) textStep {
	return func(x *textPrinter) { x.str(name, x.c.bytes(uint64(n)), func(int) int { return n }) }
}

// headerString is a perf_header_string: a length, and a padded string.
func headerString(name string) textStep {
	return func(x *textPrinter) { x.str(name, x.c.bytes(uint64(x.c.u32())), headerStringSize) }
}

// headerStrings is a counted list of perf_header_strings.
func headerStrings(name string) textStep {
	return func(x *textPrinter) {
		if n := uint64(x.c.u32()); x.fits(n, 4) {
			x.list(name, n, func() { x.quote(x.c.bytes(uint64(x.c.u32())), headerStringSize) })
		}
	}
}

// sizedBytes is a byte string after its size, padded to a multiple of align bytes.
func sizedBytes(width int, name string, align int) textStep {
	return func(x *textPrinter) {
		n := x.c.uint(width)
		x.bytes(name, n)
		x.pad(int(-n & uint64(align-1)))
	}
}

// restNumbers is a list of integers that fills the rest of the item.
func restNumbers(name string, width int, n *notation) textStep {
	return func(x *textPrinter) { x.numbers(name, uint64(x.c.remaining()/width), width, n) }
}

// structs is a list of structs after a count of width bytes.
func structs(width int, name string, minSize int, spec ...textStep) textStep {
	return func(x *textPrinter) { x.structs(name, x.c.uint(width), minSize, spec) }
}

// nested is a struct.
func nested(name string, spec ...textStep) textStep {
	return func(x *textPrinter) {
		x.key(name)
		x.braces(spec)
	}
}

// optional are fields that old recorders do not write: they are there if bytes remain.
func optional(spec ...textStep) textStep {
	return func(x *textPrinter) {
		for _, step := range spec {
			if x.c.remaining() > 0 {
				step(x)
			}
		}
	}
}
