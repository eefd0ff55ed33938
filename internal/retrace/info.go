package retrace

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// An info is what R8 writes in a comment as a JSON object: the keys that this
// package uses, at the top level.
type info struct {
	id, version, fileName, signature []byte
	positions                        map[uint32]uint32
}

// scanInfo reads an object as R8 writes it, and as its documentation does:
// with quotes of either kind, or none around a key. It keeps what stands before a
// mistake.
func scanInfo(text []byte) info {
	var info info
	c := infoCursor{data: text}
	c.object(func(key []byte) {
		switch string(key) {
		case "id":
			info.id = c.scalar()
		case "version":
			info.version = c.scalar()
		case "fileName":
			info.fileName = c.scalar()
		case "signature":
			info.signature = c.scalar()
		case "positions":
			info.positions = make(map[uint32]uint32)
			c.object(func(key []byte) {
				value := c.scalar()
				from, err1 := strconv.ParseUint(string(key), 10, 31)
				to, err2 := strconv.ParseUint(string(value), 10, 31)
				if err1 == nil && err2 == nil {
					info.positions[uint32(from)] = uint32(to)
				}
			})
		default:
			c.skipValue()
		}
	})
	return info
}

// An infoCursor reads lenient JSON. After a mistake all reads give nothing. It is
// the only code that indexes such text.
type infoCursor struct {
	data []byte
	off  int
	bad  bool
}

// next skips spaces and returns the byte there, or 0 at the end.
func (c *infoCursor) next() byte {
	for !c.bad && c.off < len(c.data) {
		if b := c.data[c.off]; b != ' ' && b != '\t' {
			return b
		}
		c.off++
	}
	return 0
}

// accept consumes b if it is next.
func (c *infoCursor) accept(b byte) bool {
	if c.next() != b {
		return false
	}
	c.off++
	return true
}

// object calls member with each key; member consumes the value.
func (c *infoCursor) object(member func(key []byte)) {
	if !c.accept('{') {
		c.skipValue()
		return
	}
	for !c.accept('}') {
		key := c.scalar()
		if !c.accept(':') {
			c.bad = true
			return
		}
		member(key)
		if !c.accept(',') && c.next() != '}' {
			c.bad = true
			return
		}
	}
}

// scalar returns a string, or a word or number as it is.
func (c *infoCursor) scalar() []byte {
	switch quote := c.next(); quote {
	case '"', '\'':
		return c.quoted(quote)
	case '{', '[':
		c.skipValue()
		return nil
	}
	if c.bad {
		return nil
	}
	start := c.off
	for c.off < len(c.data) && bytes.IndexByte([]byte(" \t,:{}[]\"'"), c.data[c.off]) < 0 {
		c.off++
	}
	if c.off == start {
		c.bad = true
		return nil
	}
	return c.data[start:c.off]
}

func (c *infoCursor) quoted(quote byte) []byte {
	start := c.off + 1
	escaped := false
	for i := start; i < len(c.data); i++ {
		switch c.data[i] {
		case '\\':
			escaped = true
			i++
		case quote:
			c.off = i + 1
			if escaped {
				return unescapeJSON(c.data[start:i])
			}
			return c.data[start:i]
		}
	}
	c.bad = true
	return nil
}

// skipValue consumes a value of any kind. It does not recurse: depth is up to the file.
func (c *infoCursor) skipValue() {
	for depth := 0; !c.bad; {
		switch b := c.next(); b {
		case 0:
			c.bad = true
		case '{', '[':
			depth++
			c.off++
		case '}', ']':
			depth--
			c.off++
		case ',', ':':
			c.off++
		default:
			c.scalar()
		}
		if depth <= 0 {
			return
		}
	}
}

// unescapeJSON returns s as it is if it has a quote or an escape that JSON forbids.
func unescapeJSON(s []byte) []byte {
	var out string
	if json.Unmarshal(bytes.Join([][]byte{{'"'}, s, {'"'}}, nil), &out) != nil {
		return s
	}
	return []byte(out)
}
