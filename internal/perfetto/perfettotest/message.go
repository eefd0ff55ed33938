package perfettotest

import "google.golang.org/protobuf/encoding/protowire"

// A Message is a protobuf message that is written field by field.
type Message struct{ b []byte }

// Bytes is the message as it is written.
func (m *Message) Bytes() []byte { return m.b }

// Uint adds an unsigned number, an enum or, as 0 or 1, a bool.
func (m *Message) Uint(num int, v uint64) *Message {
	m.b = protowire.AppendTag(m.b, protowire.Number(num), protowire.VarintType)
	m.b = protowire.AppendVarint(m.b, v)
	return m
}

// Int adds a signed number that is not zigzag.
func (m *Message) Int(num int, v int64) *Message { return m.Uint(num, uint64(v)) }

// Fixed64 adds eight bytes.
func (m *Message) Fixed64(num int, v uint64) *Message {
	m.b = protowire.AppendTag(m.b, protowire.Number(num), protowire.Fixed64Type)
	m.b = protowire.AppendFixed64(m.b, v)
	return m
}

// String adds a string.
func (m *Message) String(num int, s string) *Message {
	m.b = protowire.AppendTag(m.b, protowire.Number(num), protowire.BytesType)
	m.b = protowire.AppendString(m.b, s)
	return m
}

// Message adds a message, unless it is nil.
func (m *Message) Message(num int, sub *Message) *Message {
	if sub == nil {
		return m
	}
	return m.String(num, string(sub.b))
}

// Packed adds numbers as one packed field.
func (m *Message) Packed(num int, list ...uint64) *Message {
	var packed []byte
	for _, v := range list {
		packed = protowire.AppendVarint(packed, v)
	}
	return m.String(num, string(packed))
}

// optional adds a number unless it is 0.
func (m *Message) optional(num int, v uint64) *Message {
	if v == 0 {
		return m
	}
	return m.Uint(num, v)
}

// named adds a string unless it is empty.
func (m *Message) named(num int, s string) *Message {
	if s == "" {
		return m
	}
	return m.String(num, s)
}

// Append adds all fields of another message.
func (m *Message) Append(other *Message) *Message {
	m.b = append(m.b, other.b...)
	return m
}
