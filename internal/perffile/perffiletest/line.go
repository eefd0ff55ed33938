package perffiletest

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A textLine is one line of the text form, taken apart but not interpreted.
type textLine struct {
	offset     int64 // -1 if it is not given
	size       int64 // likewise
	compressed bool  // the line belongs into the compressed record above it
	keyword    string
	arg        string // bare word after the keyword: of a feature, "pipe"
	fields     textFields
}

// textFields are the fields of a line or of a struct within it. They are taken in
// any order, but the order of the spec is fast.
type textFields struct {
	list []textField
	next int
}

type textField struct {
	name, value string
	taken       bool
}

func (f *textFields) find(name string) *textField {
	if f.next < len(f.list) && f.list[f.next].name == name && !f.list[f.next].taken {
		return &f.list[f.next]
	}
	for i := range f.list {
		if f.list[i].name == name && !f.list[i].taken {
			return &f.list[i]
		}
	}
	return nil
}

// has reports whether there is a field that has not been taken.
func (f *textFields) has(name string) bool { return f.find(name) != nil }

// had reports whether there is a field, taken or not.
func (f *textFields) had(name string) bool {
	return slices.ContainsFunc(f.list, func(field textField) bool { return field.name == name })
}

// peek returns a value without taking it, "" if there is none.
func (f *textFields) peek(name string) string {
	if field := f.find(name); field != nil {
		return field.value
	}
	return ""
}

func (f *textFields) take(name string) (value string, ok bool) {
	field := f.find(name)
	if field == nil {
		return "", false
	}
	field.taken = true
	f.next++
	return field.value, true
}

// left returns an error that names a field that nobody has taken.
func (f *textFields) left() error {
	for i := range f.list {
		if !f.list[i].taken {
			return fmt.Errorf("unexpected field %s", f.list[i].name)
		}
	}
	return nil
}

// parse takes fields apart that are separated by sep, which is a space on the level
// of a line and a comma in a struct.
func (f *textFields) parse(s string, sep byte) error {
	f.list, f.next = f.list[:0], 0
	for len(s) > 0 {
		end, err := textEnd(s, sep)
		if err != nil {
			return err
		}
		token, rest := s[:end], s[end:]
		if len(rest) > 0 {
			rest = rest[1:]
			if len(rest) == 0 && sep != ' ' {
				return errors.New("nothing after a comma")
			}
		}
		s = rest
		if token == "" && sep == ' ' {
			continue
		}
		if sep == ' ' && token[0] == '#' {
			return nil
		}
		name, value, ok := strings.Cut(token, "=")
		if !ok || !isTextName(name) {
			return fmt.Errorf("%q is no name=value", shorten(token))
		}
		f.list = append(f.list, textField{name: name, value: value})
	}
	return nil
}

func isTextName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_':
		default:
			return false
		}
	}
	return s != ""
}

func shorten(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// textEnd finds the first sep outside of quotes and brackets, or the end of s.
func textEnd(s string, sep byte) (int, error) {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			if i >= len(s) {
				return 0, errors.New("string is not closed")
			}
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth < 0 {
				return 0, fmt.Errorf("%q closes nothing", c)
			}
		case sep:
			if depth == 0 {
				return i, nil
			}
		}
	}
	if depth > 0 {
		return 0, errors.New("bracket is not closed")
	}
	return len(s), nil
}

// textInner returns what is between the brackets around s.
func textInner(s string, opening, closing byte) (string, error) {
	if len(s) < 2 || s[0] != opening || s[len(s)-1] != closing {
		return "", fmt.Errorf("%q is not in %c%c", shorten(s), opening, closing)
	}
	return s[1 : len(s)-1], nil
}

// parse takes a line apart. It reports false for a blank line or a comment.
func (l *textLine) parse(s string) (bool, error) {
	*l = textLine{offset: -1, size: -1, fields: textFields{list: l.fields.list[:0]}}
	s = strings.TrimLeft(strings.TrimRight(s, " \t\r"), " \t")
	if strings.HasPrefix(s, "|") {
		l.compressed = true
		s = strings.TrimLeft(s[1:], " \t")
	}
	if s == "" || s[0] == '#' {
		return false, nil
	}
	if s[0] == '@' || s[0] == '+' {
		var place string
		place, s = cutWord(s)
		if err := l.place(place); err != nil {
			return false, err
		}
	}
	l.keyword, s = cutWord(s)
	if !isTextName(l.keyword) {
		return false, fmt.Errorf("%q is no keyword", shorten(l.keyword))
	}
	if word, rest := cutWord(s); word != "" && word[0] != '#' && !strings.Contains(word, "=") {
		l.arg, s = word, rest
	}
	return true, l.fields.parse(s, ' ')
}

func cutWord(s string) (word, rest string) {
	i := strings.IndexByte(s, ' ')
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " ")
}

// place parses @OFFSET+SIZE, of which either may be absent.
func (l *textLine) place(s string) error {
	offset, size, hasSize := strings.Cut(s, "+")
	for _, part := range []struct {
		text string
		want bool
		to   *int64
	}{
		{strings.TrimPrefix(offset, "@"), offset != "", &l.offset},
		{size, hasSize, &l.size},
	} {
		if !part.want {
			continue
		}
		v, err := parseTextUint(part.text)
		if err != nil || v > 1<<62 {
			return fmt.Errorf("%q is no @OFFSET+SIZE", shorten(s))
		}
		*part.to = int64(v)
	}
	return nil
}

// parseTextUint parses a decimal or 0x number.
func parseTextUint(s string) (uint64, error) {
	if hex, ok := strings.CutPrefix(s, "0x"); ok {
		return strconv.ParseUint(hex, 16, 64)
	}
	return strconv.ParseUint(s, 10, 64)
}
