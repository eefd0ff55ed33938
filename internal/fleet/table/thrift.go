package table

import (
	"encoding/binary"
	"errors"
	"math"
)

// Types of fields in Thrift's compact protocol, as far as Parquet's metadata has them:
// https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftI32    = 5
	thriftI64    = 6
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftStruct = 12
)

// A thriftWriter writes a struct: fields in the order of their numbers.
type thriftWriter struct {
	b    []byte
	last []int // number of the last field, of each struct that is open
}

func (w *thriftWriter) begin() { w.last = append(w.last, 0) }

func (w *thriftWriter) end() {
	w.b = append(w.b, 0)
	w.last = w.last[:len(w.last)-1]
}

// field starts a field whose number is at most 15 more than that of the last.
func (w *thriftWriter) field(number int, kind byte) {
	last := &w.last[len(w.last)-1]
	w.b = append(w.b, byte(number-*last)<<4|kind)
	*last = number
}

func (w *thriftWriter) i32(number int, v int64) {
	w.field(number, thriftI32)
	w.b = binary.AppendVarint(w.b, v)
}

func (w *thriftWriter) i64(number int, v int64) {
	w.field(number, thriftI64)
	w.b = binary.AppendVarint(w.b, v)
}

func (w *thriftWriter) text(number int, s string) {
	w.field(number, thriftBinary)
	w.element(s)
}

// element is text as an element of a list.
func (w *thriftWriter) element(s string) {
	w.b = binary.AppendUvarint(w.b, uint64(len(s)))
	w.b = append(w.b, s...)
}

// list starts a list of n elements, which follow.
func (w *thriftWriter) list(number int, kind byte, n int) {
	w.field(number, thriftList)
	if n < 15 {
		w.b = append(w.b, byte(n)<<4|kind)
		return
	}
	w.b = append(w.b, 0xf0|kind)
	w.b = binary.AppendUvarint(w.b, uint64(n))
}

// structure starts a field that is a struct.
func (w *thriftWriter) structure(number int) {
	w.field(number, thriftStruct)
	w.begin()
}

// A thriftFields is a struct that was read, by the numbers of its fields.
type thriftFields map[int]any

var errThrift = errors.New("its metadata is damaged")

// maxThriftDepth bounds how deep structs and lists lie in each other: Parquet's to 6.
const maxThriftDepth = 12

// readThrift reads a struct and returns what follows it. What it takes of memory is bounded by the size of data.
func readThrift(data []byte) (fields thriftFields, rest []byte, err error) {
	r := thriftReader{b: data}
	fields = r.fields(0)
	if r.failed {
		return nil, nil, errThrift
	}
	return fields, r.b, nil
}

type thriftReader struct {
	b      []byte
	failed bool
}

func (r *thriftReader) fail() { r.b, r.failed = nil, true }

func (r *thriftReader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *thriftReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *thriftReader) varint() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *thriftReader) bytes(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail()
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *thriftReader) fields(depth int) thriftFields {
	if depth > maxThriftDepth {
		r.fail()
		return nil
	}
	fields := make(thriftFields)
	number := 0
	for !r.failed {
		head := r.byte()
		if head == 0 {
			break
		}
		if delta := int(head >> 4); delta > 0 {
			number += delta
		} else {
			number = int(r.varint())
		}
		if kind := head & 15; kind == thriftTrue || kind == thriftFalse {
			fields[number] = kind == thriftTrue
		} else {
			fields[number] = r.value(kind, depth+1)
		}
	}
	return fields
}

func (r *thriftReader) value(kind byte, depth int) any {
	switch kind {
	case thriftByte, thriftTrue, thriftFalse:
		return int64(r.byte())
	case thriftI16, thriftI32, thriftI64:
		return r.varint()
	case thriftDouble:
		if b := r.bytes(8); b != nil {
			return math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	case thriftBinary:
		return r.bytes(r.uvarint())
	case thriftStruct:
		return r.fields(depth)
	case thriftList, thriftSet:
		if depth > maxThriftDepth {
			break
		}
		head := r.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = r.uvarint()
		}
		if n > uint64(len(r.b)) { // each element is a byte at least
			break
		}
		list := make([]any, 0, n)
		for range n {
			list = append(list, r.value(head&15, depth+1))
		}
		return list
	}
	r.fail()
	return nil
}

// number is a field that is a number, 0 if there is none.
func (f thriftFields) number(field int) int64 {
	v, _ := f[field].(int64)
	return v
}

// has reports whether there is a field.
func (f thriftFields) has(field int) bool { return f[field] != nil }

func (f thriftFields) text(field int) string {
	v, _ := f[field].([]byte)
	return string(v)
}

func (f thriftFields) list(field int) []any {
	v, _ := f[field].([]any)
	return v
}

// structs are the structs in a list.
func (f thriftFields) structs(field int) (list []thriftFields) {
	for _, v := range f.list(field) {
		s, _ := v.(thriftFields)
		list = append(list, s)
	}
	return list
}

func (f thriftFields) structure(field int) thriftFields {
	v, _ := f[field].(thriftFields)
	return v
}
