package ingest

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// A protoCursor reads the fields of one protobuf message. It keeps the first error;
// after it there are no more fields. It is the only code that indexes messages.
type protoCursor struct {
	data []byte
	off  int
	base int64 // offset of data in the input
	num  protowire.Number
	typ  protowire.Type
	err  error
}

// next moves to the next field. It returns false at the end and after an error.
func (c *protoCursor) next() bool {
	if c.err != nil || c.off >= len(c.data) {
		return false
	}
	num, typ, n := protowire.ConsumeTag(c.data[c.off:])
	if n < 0 {
		c.fail(protowire.ParseError(n))
		return false
	}
	c.num, c.typ = num, typ
	c.off += n
	return true
}

// uint reads the value of a varint field.
func (c *protoCursor) uint() uint64 {
	if c.typ != protowire.VarintType {
		c.wrongType()
		return 0
	}
	return c.varint()
}

// varint reads a number without a tag.
func (c *protoCursor) varint() uint64 {
	if c.off < len(c.data) && c.data[c.off] < 0x80 {
		c.off++
		return uint64(c.data[c.off-1])
	}
	v, n := protowire.ConsumeVarint(c.data[c.off:])
	if n < 0 {
		c.fail(protowire.ParseError(n))
		return 0
	}
	c.off += n
	return v
}

// bytes reads the value of a field of bytes. It shares memory with the message.
func (c *protoCursor) bytes() []byte {
	if c.typ != protowire.BytesType {
		c.wrongType()
		return nil
	}
	v, n := protowire.ConsumeBytes(c.data[c.off:])
	if n < 0 {
		c.fail(protowire.ParseError(n))
		return nil
	}
	c.off += n
	return v
}

// message reads the value of a field that is a message.
func (c *protoCursor) message() protoCursor {
	v := c.bytes()
	return protoCursor{data: v, base: c.base + int64(c.off-len(v)), err: c.err}
}

// uints appends the values of a field of repeated integers, which may be packed.
func (c *protoCursor) uints(to []uint64) []uint64 {
	if c.typ != protowire.BytesType {
		return append(to, c.uint())
	}
	packed := c.message()
	packed.num = c.num
	to = packed.varints(to)
	c.take(packed.err)
	return to
}

// varints appends all numbers of a message that has no tags.
func (c *protoCursor) varints(to []uint64) []uint64 {
	if rest := c.data[c.off:]; cap(to)-len(to) < len(rest) {
		n := 0
		for _, b := range rest {
			if b < 0x80 {
				n++
			}
		}
		to = slices.Grow(to, n)
	}
	for c.err == nil && c.off < len(c.data) {
		to = append(to, c.varint())
	}
	return to
}

// skip passes over the value of a field.
func (c *protoCursor) skip() {
	n := protowire.ConsumeFieldValue(c.num, c.typ, c.data[c.off:])
	if n < 0 {
		c.fail(protowire.ParseError(n))
		return
	}
	c.off += n
}

// take makes the error of a field that is a message that of the cursor.
func (c *protoCursor) take(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *protoCursor) wrongType() {
	c.fail(fmt.Errorf("wrong wire type %d", c.typ))
}

func (c *protoCursor) fail(err error) {
	if c.err == nil {
		c.err = fmt.Errorf("field %d at %#x: %w", c.num, c.base+int64(c.off), err)
	}
}

// A protoStream reads the fields of a message that is too large to hold. Like
// protoCursor it keeps the first error.
type protoStream struct {
	r     *bufio.Reader
	limit int64 // bytes that the message may have
	off   int64
	num   protowire.Number
	typ   protowire.Type
	err   error
}

// next moves to the next field. It returns false at the end and after an error.
func (s *protoStream) next() bool {
	if s.err != nil {
		return false
	}
	if _, err := s.r.Peek(1); err != nil {
		if err != io.EOF {
			s.err = err
		}
		return false
	}
	s.num = 0
	num, typ := protowire.DecodeTag(s.varint())
	if num < protowire.MinValidNumber {
		s.fail(fmt.Errorf("no field has number %d", num))
	}
	s.num, s.typ = num, typ
	return s.err == nil
}

// varint reads a number without a tag.
func (s *protoStream) varint() uint64 {
	const maxSize = 10
	head, err := s.r.Peek(maxSize)
	if err != nil && err != io.EOF {
		s.take(err)
		return 0
	}
	v, n := protowire.ConsumeVarint(head)
	if n < 0 {
		s.fail(protowire.ParseError(n))
		return 0
	}
	s.discard(n)
	return v
}

// uint reads the value of a varint field.
func (s *protoStream) uint() uint64 {
	if s.typ != protowire.VarintType {
		s.fail(fmt.Errorf("wrong wire type %d", s.typ))
		return 0
	}
	return s.varint()
}

// length reads how many bytes the value of a field of bytes has.
func (s *protoStream) length() int {
	if s.typ != protowire.BytesType {
		s.fail(fmt.Errorf("wrong wire type %d", s.typ))
		return 0
	}
	n := s.varint()
	if s.err == nil && n > uint64(s.limit-s.off) {
		s.fail(fmt.Errorf("has %d bytes, the input may have %d", n, s.limit))
	}
	if s.err != nil {
		return 0
	}
	return int(n)
}

// read appends the next n bytes. A length that lies does not cost memory.
func (s *protoStream) read(to []byte, n int) []byte {
	const chunk = 1 << 20
	for n > 0 && s.err == nil {
		to = slices.Grow(to, min(n, chunk))
		m, err := io.ReadFull(s.r, to[len(to):len(to)+min(n, chunk)])
		to = to[:len(to)+m]
		n -= m
		s.off += int64(m)
		s.end(err)
	}
	return to
}

// message reads the value of a field that is a message.
func (s *protoStream) message() protoCursor {
	n := s.length()
	off := s.off
	return protoCursor{data: s.read(nil, n), base: off, err: s.err}
}

// uints appends the values of a field of repeated integers, which may be packed.
func (s *protoStream) uints(to []uint64) []uint64 {
	if s.typ != protowire.BytesType {
		return append(to, s.uint())
	}
	packed := s.message()
	packed.num = s.num
	to = packed.varints(to)
	s.take(packed.err)
	return to
}

// skip passes over the value of a field.
func (s *protoStream) skip() {
	switch s.typ {
	case protowire.VarintType:
		s.varint()
	case protowire.Fixed32Type:
		s.discard(4)
	case protowire.Fixed64Type:
		s.discard(8)
	case protowire.BytesType:
		s.discard(s.length())
	default:
		s.fail(fmt.Errorf("wrong wire type %d", s.typ))
	}
}

func (s *protoStream) discard(n int) {
	n, err := s.r.Discard(n)
	s.off += int64(n)
	s.end(err)
	if s.off > s.limit && s.err == nil {
		s.err = fmt.Errorf("has more than %d bytes", s.limit)
	}
}

// end takes the error of a read, which must not meet the end of the input.
func (s *protoStream) end(err error) {
	switch err {
	case nil:
	case io.EOF, io.ErrUnexpectedEOF:
		s.fail(io.ErrUnexpectedEOF)
	default:
		s.take(err)
	}
}

func (s *protoStream) take(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *protoStream) fail(err error) {
	s.take(fmt.Errorf("field %d at %#x: %w", s.num, s.off, err))
}
