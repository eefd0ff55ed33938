package input

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields are the fields of one protobuf message, one after the other. The first error is
// kept; after it there are no more fields. No other code indexes messages.
type Fields struct {
	// Num and Type tell the current field, whose value comes next.
	Num  protowire.Number
	Type protowire.Type
	// Base is the offset of the message in the input.
	Base int64
	Err  error

	data []byte
	off  int
}

// NewFields returns the fields of a message, which starts at base in the input.
func NewFields(message []byte, base int64) Fields { return Fields{data: message, Base: base} }

// Again returns the fields from the first one on.
func (c *Fields) Again() Fields { return NewFields(c.data, c.Base) }

// Data is the message itself.
func (c *Fields) Data() []byte { return c.data }

// Offset is how many bytes of the message were read.
func (c *Fields) Offset() int { return c.off }

// Next moves to the next field. It returns false at the end and after an error.
func (c *Fields) Next() bool {
	if c.Err != nil || c.off >= len(c.data) {
		return false
	}
	if b := c.data[c.off]; b < 0x80 && b >= 1<<3 { // a tag of one byte, which most are
		c.Num, c.Type = protowire.Number(b>>3), protowire.Type(b&7)
		c.off++
		return true
	}
	num, typ, n := protowire.ConsumeTag(c.data[c.off:])
	if n < 0 {
		c.Fail(protowire.ParseError(n))
		return false
	}
	c.Num, c.Type = num, typ
	c.off += n
	return true
}

// Uint reads the value of a varint field.
func (c *Fields) Uint() uint64 {
	if c.Type != protowire.VarintType {
		c.wrongType()
		return 0
	}
	return c.Varint()
}

// Varint reads a number without a tag.
func (c *Fields) Varint() uint64 {
	if c.off < len(c.data) && c.data[c.off] < 0x80 {
		c.off++
		return uint64(c.data[c.off-1])
	}
	v, n := protowire.ConsumeVarint(c.data[c.off:])
	if n < 0 {
		c.Fail(protowire.ParseError(n))
		return 0
	}
	c.off += n
	return v
}

// Bytes reads the value of a field of bytes. It shares memory with the message.
func (c *Fields) Bytes() []byte {
	if c.Type != protowire.BytesType {
		c.wrongType()
		return nil
	}
	if c.off < len(c.data) {
		if n := int(c.data[c.off]); n < 0x80 && n < len(c.data)-c.off { // a length of one byte
			c.off += 1 + n
			return c.data[c.off-n : c.off]
		}
	}
	v, n := protowire.ConsumeBytes(c.data[c.off:])
	if n < 0 {
		c.Fail(protowire.ParseError(n))
		return nil
	}
	c.off += n
	return v
}

// Message reads the value of a field that is a message.
func (c *Fields) Message() Fields {
	v := c.Bytes()
	return Fields{data: v, Base: c.Base + int64(c.off-len(v)), Err: c.Err}
}

// Uints appends the values of a field of repeated integers, which may be packed.
func (c *Fields) Uints(to []uint64) []uint64 {
	if c.Type != protowire.BytesType {
		return append(to, c.Uint())
	}
	packed := c.Message()
	packed.Num = c.Num
	to = packed.Varints(to)
	c.Take(packed.Err)
	return to
}

// Numbers are the values of a field of repeated integers, packed or not, one after the other.
type Numbers struct {
	num     protowire.Number
	message Fields
	packed  Fields
}

// Numbers returns the values of field num of the whole message.
func (c *Fields) Numbers(num protowire.Number) Numbers { return Numbers{num: num, message: c.Again()} }

// Next returns the next value. It returns false at the end and after an error.
func (n *Numbers) Next() (uint64, bool) {
	for {
		if p := &n.packed; p.off < len(p.data) && p.Err == nil {
			if b := p.data[p.off]; b < 0x80 {
				p.off++
				return uint64(b), true
			}
			v := p.Varint()
			return v, p.Err == nil
		}
		n.message.Take(n.packed.Err)
		if !n.message.Next() {
			return 0, false
		}
		switch {
		case n.message.Num != n.num:
			n.message.Skip()
		case n.message.Type == protowire.BytesType:
			n.packed = n.message.Message()
			n.packed.Num = n.num
		default:
			v := n.message.Uint()
			return v, n.message.Err == nil
		}
	}
}

// Err is the first error.
func (n *Numbers) Err() error {
	n.message.Take(n.packed.Err)
	return n.message.Err
}

// Varints appends all numbers of a message that has no tags.
func (c *Fields) Varints(to []uint64) []uint64 {
	if rest := c.data[c.off:]; cap(to)-len(to) < len(rest) {
		n := 0
		for _, b := range rest {
			if b < 0x80 {
				n++
			}
		}
		to = slices.Grow(to, n)
	}
	for c.Err == nil && c.off < len(c.data) {
		to = append(to, c.Varint())
	}
	return to
}

// Fixed64 reads the value of a field of eight bytes: fixed64 or double.
func (c *Fields) Fixed64() uint64 {
	if c.Type != protowire.Fixed64Type {
		c.wrongType()
		return 0
	}
	v, n := protowire.ConsumeFixed64(c.data[c.off:])
	if n < 0 {
		c.Fail(protowire.ParseError(n))
		return 0
	}
	c.off += n
	return v
}

// Skip passes over the value of a field.
func (c *Fields) Skip() {
	switch c.Type {
	case protowire.VarintType:
		c.Varint()
		return
	case protowire.BytesType:
		c.Bytes()
		return
	}
	n := protowire.ConsumeFieldValue(c.Num, c.Type, c.data[c.off:])
	if n < 0 {
		c.Fail(protowire.ParseError(n))
		return
	}
	c.off += n
}

// Take keeps err, unless there is an error already.
func (c *Fields) Take(err error) {
	if c.Err == nil {
		c.Err = err
	}
}

func (c *Fields) wrongType() {
	c.Fail(fmt.Errorf("wrong wire type %d", c.Type))
}

// Fail keeps err with the place of the field.
func (c *Fields) Fail(err error) {
	if c.Err == nil {
		c.Err = fmt.Errorf("field %d at %#x: %w", c.Num, c.Base+int64(c.off), err)
	}
}

// A FieldStream reads the fields of a message that is too large to hold. Like [Fields]
// it keeps the first error.
type FieldStream struct {
	// Num and Type tell the current field, whose value comes next.
	Num  protowire.Number
	Type protowire.Type
	Err  error

	r     *bufio.Reader
	limit int64 // bytes that the message may have
	off   int64
	view  []byte // what View copied
}

// NewFieldStream reads a message of at most limit bytes that is not compressed.
func NewFieldStream(r io.Reader, limit int64) *FieldStream {
	return &FieldStream{r: bufio.NewReaderSize(r, HeadSize), limit: limit}
}

// Reset starts to read another message.
func (s *FieldStream) Reset(r io.Reader) {
	s.r.Reset(r)
	*s = FieldStream{r: s.r, limit: s.limit, view: s.view}
}

// Offset is how many bytes of the input were read.
func (s *FieldStream) Offset() int64 { return s.off }

// Next moves to the next field. It returns false at the end and after an error.
func (s *FieldStream) Next() bool {
	if s.Err != nil {
		return false
	}
	if _, err := s.r.Peek(1); err != nil {
		if err != io.EOF {
			s.Err = err
		}
		return false
	}
	s.Num = 0
	num, typ := protowire.DecodeTag(s.Varint())
	if num < protowire.MinValidNumber {
		s.Fail(fmt.Errorf("no field has number %d", num))
	}
	s.Num, s.Type = num, typ
	return s.Err == nil
}

// Varint reads a number without a tag.
func (s *FieldStream) Varint() uint64 {
	const maxSize = 10
	head, err := s.r.Peek(maxSize)
	if err != nil && err != io.EOF {
		s.Take(err)
		return 0
	}
	v, n := protowire.ConsumeVarint(head)
	if n < 0 {
		s.Fail(protowire.ParseError(n))
		return 0
	}
	s.discard(n)
	return v
}

// Uint reads the value of a varint field.
func (s *FieldStream) Uint() uint64 {
	if s.Type != protowire.VarintType {
		s.Fail(fmt.Errorf("wrong wire type %d", s.Type))
		return 0
	}
	return s.Varint()
}

// Length reads how many bytes the value of a field of bytes has.
func (s *FieldStream) Length() int {
	if s.Type != protowire.BytesType {
		s.Fail(fmt.Errorf("wrong wire type %d", s.Type))
		return 0
	}
	n := s.Varint()
	if s.Err == nil && n > uint64(s.limit-s.off) {
		s.Fail(fmt.Errorf("has %d bytes, the input may have %d", n, s.limit))
	}
	if s.Err != nil {
		return 0
	}
	return int(n)
}

// Read appends the next n bytes. A length that lies does not cost memory.
func (s *FieldStream) Read(to []byte, n int) []byte {
	const chunk = 1 << 20
	for n > 0 && s.Err == nil {
		part := min(n, max(chunk, len(to)))
		to = slices.Grow(to, part)
		m, err := io.ReadFull(s.r, to[len(to):len(to)+part])
		to = to[:len(to)+m]
		n -= m
		s.off += int64(m)
		s.end(err)
	}
	return to
}

// View returns the next n bytes, which are valid until the next call. At the end of the input
// there may be fewer, and an error. A length that lies does not cost memory.
func (s *FieldStream) View(n int) []byte {
	if n > s.r.Size() {
		s.view = s.Read(s.view[:0], n)
		return s.view
	}
	b, err := s.r.Peek(n)
	s.off += int64(len(b))
	s.end(err)
	// What was peeked is there.
	_, _ = s.r.Discard(len(b))
	return b
}

// Message reads the value of a field that is a message.
func (s *FieldStream) Message() Fields {
	n := s.Length()
	off := s.off
	return Fields{data: s.Read(nil, n), Base: off, Err: s.Err}
}

// Uints appends the values of a field of repeated integers, which may be packed.
func (s *FieldStream) Uints(to []uint64) []uint64 {
	if s.Type != protowire.BytesType {
		return append(to, s.Uint())
	}
	packed := s.Message()
	packed.Num = s.Num
	to = packed.Varints(to)
	s.Take(packed.Err)
	return to
}

// Skip passes over the value of a field.
func (s *FieldStream) Skip() {
	switch s.Type {
	case protowire.VarintType:
		s.Varint()
	case protowire.Fixed32Type:
		s.discard(4)
	case protowire.Fixed64Type:
		s.discard(8)
	case protowire.BytesType:
		s.discard(s.Length())
	default:
		s.Fail(fmt.Errorf("wrong wire type %d", s.Type))
	}
}

func (s *FieldStream) discard(n int) {
	n, err := s.r.Discard(n)
	s.off += int64(n)
	s.end(err)
	if s.off > s.limit && s.Err == nil {
		s.Err = fmt.Errorf("has more than %d bytes", s.limit)
	}
}

// end takes the error of a read, which must not meet the end of the input.
func (s *FieldStream) end(err error) {
	switch err {
	case nil:
	case io.EOF, io.ErrUnexpectedEOF:
		s.Fail(io.ErrUnexpectedEOF)
	default:
		s.Take(err)
	}
}

// Take keeps err, unless there is an error already.
func (s *FieldStream) Take(err error) {
	if s.Err == nil {
		s.Err = err
	}
}

// Fail keeps err with the place of the field.
func (s *FieldStream) Fail(err error) {
	s.Take(fmt.Errorf("field %d at %#x: %w", s.Num, s.off, err))
}
