package input

import (
	"bytes"
	"encoding/json"
	"iter"
)

// HeadSize is how many bytes of an input decide its format.
const HeadSize = 64 << 10

const byteOrderMark = "\ufeff"

// A Head is the start of an input, at most [HeadSize] bytes. It is all of the input if
// that is shorter.
type Head []byte

// IsCut reports whether the input may go on behind the head.
func (h Head) IsCut() bool { return len(h) >= HeadSize }

// IsText reports whether there are no control characters that texts do not have. Names
// of functions may be no UTF-8.
func (h Head) IsText() bool {
	for _, c := range h {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != '\v' && c != 0x1b {
			return false
		}
	}
	return true
}

// Lines yields the lines that are complete, and the last one if it is all of the input.
func (h Head) Lines() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		rest := h.text()
		if h.IsCut() {
			rest = rest[:bytes.LastIndexByte(rest, '\n')+1]
		}
		for len(rest) > 0 {
			var line []byte
			line, rest, _ = bytes.Cut(rest, []byte("\n"))
			if !yield(bytes.TrimSuffix(line, []byte("\r"))) {
				return
			}
		}
	}
}

// text is the head without a byte order mark.
func (h Head) text() []byte { return bytes.TrimPrefix(h, []byte(byteOrderMark)) }

// FirstLine is the first line that is neither empty nor a comment, as far as it goes.
func (h Head) FirstLine() []byte {
	for rest := h.text(); len(rest) > 0; {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		if len(bytes.TrimSpace(line)) > 0 && line[0] != '#' {
			return line
		}
	}
	return nil
}

// Keys are the keys of the first JSON object, as far as it goes. There are none if other
// text than comments stands before it.
func (h Head) Keys() map[string]bool {
	keys := make(map[string]bool)
	if !bytes.HasPrefix(bytes.TrimLeft(h.FirstLine(), " \t"), []byte("{")) {
		return keys
	}
	dec := json.NewDecoder(bytes.NewReader(h[bytes.IndexByte(h, '{'):]))
	depth, isKey := 0, false
	for {
		t, err := dec.Token()
		if err != nil {
			break
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
			isKey = depth == 1
			continue
		case json.Delim('}'), json.Delim(']'):
			if depth--; depth == 0 {
				return keys
			}
			isKey = depth == 1
			continue
		}
		if depth != 1 {
			continue
		}
		if key, ok := t.(string); ok && isKey {
			keys[key] = true
			isKey = false
		} else {
			isKey = true
		}
	}
	return keys
}
