package ingest

import (
	"fmt"

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
