// Package protobuf writes messages of protobuf field by field, and reads small ones. What is large,
// or what a user names, is read by package input.
//
// Source: https://protobuf.dev/programming-guides/encoding/.
package protobuf

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Message appends a field that is a message or bytes.
func Message(to []byte, field protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), body)
}

// String appends a field that is a string, made UTF-8.
func String(to []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(to, field, protowire.BytesType), strings.ToValidUTF8(s, "\ufffd"))
}

// Number appends an integer. Zero is the default and is left out.
func Number(to []byte, field protowire.Number, v uint64) []byte {
	if v == 0 {
		return to
	}
	return Present(to, field, v)
}

// Present appends an integer even if it is zero.
func Present(to []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), v)
}

// Packed appends repeated integers.
func Packed(to []byte, field protowire.Number, values []uint64) []byte {
	if len(values) == 0 {
		return to
	}
	var body []byte
	for _, v := range values {
		body = protowire.AppendVarint(body, v)
	}
	return Message(to, field, body)
}

// Each calls read with the fields of a message: with their bytes, or with their number.
func Each(message []byte, read func(field protowire.Number, body []byte, number uint64)) error {
	for len(message) > 0 {
		field, typ, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		var body []byte
		var number uint64
		switch typ {
		case protowire.BytesType:
			body, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			number, n = protowire.ConsumeVarint(message)
		default:
			n = protowire.ConsumeFieldValue(field, typ, message)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		read(field, body, number)
		message = message[n:]
	}
	return nil
}
