package otlp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"

	"profdiff/internal/input"
	schema "profdiff/internal/otlp"
)

// tables are the dictionary. Messages of tables that nothing is computed from stay as bytes.
type tables struct {
	mappings, locations, functions, stacks spans
	strings                                []string
	attributes                             []attribute
	links                                  []link
}

// spans are the messages of a table, as places in the dictionary.
type spans struct {
	data []byte
	base int64
	at   [][2]uint32
}

func (s *spans) add(c *input.Fields) {
	m := c.Message()
	end := uint32(c.Offset())
	s.at = append(s.at, [2]uint32{end - uint32(len(m.Data())), end})
}

// message returns one, whose index was checked.
func (s *spans) message(i uint64) input.Fields {
	at := s.at[i]
	return input.NewFields(s.data[at[0]:at[1]], s.base+int64(at[0]))
}

// An attribute is a name and its values, of which there are several if it is an array.
type attribute struct {
	key    string
	values []value
	unit   string
}

// A value is text or a number.
type value struct {
	text    string
	number  int64
	numeric bool
}

// String is the value as text.
func (v *value) String() string {
	if v.numeric {
		return strconv.FormatInt(v.number, 10)
	}
	return v.text
}

// A link is a pair of identifiers in hexadecimal, "" for none.
type link struct{ trace, span string }

// decode fills the tables. Strings come first, which others refer to.
func (t *tables) decode(c *input.Fields) error {
	for _, s := range []*spans{&t.mappings, &t.locations, &t.functions, &t.stacks} {
		s.data, s.base = c.Data(), c.Base
	}
	var attributes spans
	attributes.data, attributes.base = c.Data(), c.Base
	for c.Next() {
		switch c.Num {
		case schema.DictionaryMapping:
			t.mappings.add(c)
		case schema.DictionaryLocation:
			t.locations.add(c)
		case schema.DictionaryFunction:
			t.functions.add(c)
		case schema.DictionaryLink:
			m := c.Message()
			t.links = append(t.links, readLink(&m))
			c.Take(m.Err)
		case schema.DictionaryString:
			t.strings = append(t.strings, string(c.Bytes()))
		case schema.DictionaryAttribute:
			attributes.add(c)
		case schema.DictionaryStack:
			t.stacks.add(c)
		default:
			c.Fail(notKnown("the dictionary"))
		}
	}
	if c.Err != nil {
		return c.Err
	}
	if len(t.strings) > 0 && t.strings[0] != "" {
		return errors.New("the first string of the dictionary is not empty")
	}
	for i := range attributes.at {
		m := attributes.message(uint64(i))
		t.attributes = append(t.attributes, t.attribute(&m))
		if m.Err != nil {
			return m.Err
		}
	}
	return nil
}

// str returns a string that a message refers to. Index 0 is none, even in a dictionary without
// strings.
func (t *tables) str(c *input.Fields, i uint64) string {
	if i == 0 {
		return ""
	}
	if i >= uint64(len(t.strings)) {
		c.Fail(fmt.Errorf("refers to string %d, the dictionary has %d", i, len(t.strings)))
		return ""
	}
	return t.strings[i]
}

func readLink(c *input.Fields) (l link) {
	for c.Next() {
		switch c.Num {
		case schema.LinkTrace:
			l.trace = identifier(c.Bytes())
		case schema.LinkSpan:
			l.span = identifier(c.Bytes())
		default:
			c.Fail(notKnown("a link"))
		}
	}
	return l
}

// identifier is an identifier in hexadecimal. One that is zero is none.
func identifier(id []byte) string {
	if len(bytes.Trim(id, "\x00")) == 0 {
		return ""
	}
	return hex.EncodeToString(id)
}

func (t *tables) attribute(c *input.Fields) (a attribute) {
	for c.Next() {
		switch c.Num {
		case schema.AttributeKey:
			a.key = t.str(c, c.Uint())
		case schema.AttributeValue:
			m := c.Message()
			a.values = t.values(&m, a.values, 0)
			c.Take(m.Err)
		case schema.AttributeUnit:
			a.unit = t.str(c, c.Uint())
		default:
			c.Fail(notKnown("an attribute"))
		}
	}
	return a
}

// keyValue reads an attribute that stands outside of the dictionary.
func (t *tables) keyValue(c *input.Fields) (a attribute) {
	for c.Next() {
		switch c.Num {
		case schema.KeyValueKey:
			a.key = string(c.Bytes())
		case schema.KeyValueKeyIndex:
			a.key = t.str(c, c.Uint())
		case schema.KeyValueValue:
			m := c.Message()
			a.values = t.values(&m, a.values, 0)
			c.Take(m.Err)
		default:
			c.Skip()
		}
	}
	return a
}

// values reads a message AnyValue. Arrays become several values, and so do maps, with key=value as
// text; truth and fractions become text.
func (t *tables) values(c *input.Fields, to []value, depth int) []value {
	const deepest = 4
	if depth > deepest {
		c.Fail(errors.New("values are nested too deeply"))
		return to
	}
	text := func(s string) { to = append(to, value{text: s}) }
	for c.Next() {
		switch c.Num {
		case schema.AnyString:
			text(string(c.Bytes()))
		case schema.AnyStringIndex:
			text(t.str(c, c.Uint()))
		case schema.AnyBool:
			text(strconv.FormatBool(c.Uint() != 0))
		case schema.AnyInt:
			to = append(to, value{number: int64(c.Uint()), numeric: true})
		case schema.AnyDouble:
			text(strconv.FormatFloat(math.Float64frombits(c.Fixed64()), 'g', -1, 64))
		case schema.AnyBytes:
			text(hex.EncodeToString(c.Bytes()))
		case schema.AnyArray:
			list := c.Message()
			for list.Next() {
				m := list.Message()
				to = t.values(&m, to, depth+1)
				list.Take(m.Err)
			}
			c.Take(list.Err)
		case schema.AnyKeyValues:
			list := c.Message()
			for list.Next() {
				m := list.Message()
				a := t.keyValue(&m)
				for i := range a.values {
					text(a.key + "=" + a.values[i].String())
				}
				list.Take(m.Err)
			}
			c.Take(list.Err)
		default:
			c.Fail(notKnown("a value"))
		}
	}
	return to
}
