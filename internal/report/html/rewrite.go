package html

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"profdiff/internal/report/text"
	"profdiff/internal/verdict"
)

// A shape is what may stand at a place in JSON, by a Go type, and what stood there.
type shape struct {
	path     string
	of       reflect.Type
	nullable bool
	elem     *shape            // of arrays
	fields   map[string]*field // of objects
	names    []string          // of fields, in order
	tally
}

// A field is one of an object.
type field struct {
	*shape
	at int
	// missing is what it is if an object does not have it, nil if it need not.
	missing []byte
}

// A tally is what was seen at all places of a shape.
type tally struct {
	// found is set if there was any, even an empty one.
	found bool
	// n are elements of arrays, or bytes of marks.
	n int
	// low and high are the least and the greatest integer. lowSum and highSum are the
	// least and the greatest running sum of the integers of an array.
	low, high, lowSum, highSum int64
	// above is by how much at most such a sum exceeds the number of elements between the
	// first and the last that it has.
	above int64
	last  int64 // of integers
}

func shapeOf(t reflect.Type, path string) *shape {
	s := &shape{path: path, of: t}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
		s.of, s.nullable = t, true
	}
	switch t.Kind() {
	case reflect.Slice:
		s.nullable = true
		s.elem = shapeOf(t.Elem(), path)
	case reflect.Array:
		s.elem = shapeOf(t.Elem(), path)
	case reflect.Struct:
		s.fields = make(map[string]*field)
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous {
				continue
			}
			name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				name = f.Name
			}
			own := &field{shape: shapeOf(f.Type, strings.TrimPrefix(path+"."+name, ".")), at: len(s.names)}
			if option != "omitempty" {
				own.missing, _ = json.Marshal(reflect.Zero(f.Type).Interface()) // zeros have JSON
			}
			s.fields[name] = own
			s.names = append(s.names, name)
		}
	}
	return s
}

// at is the shape below another, by names of fields.
func (s *shape) at(path string) *shape {
	for name := range strings.SplitSeq(path, ".") {
		for s.elem != nil {
			s = s.elem
		}
		s = s.fields[name].shape
	}
	return s
}

// A letters is a text whose letters are marks of columns.
type letters interface{ has(text string) error }

// checkOf is what text of a type has to pass instead of being cleaned, nil for none.
func checkOf(t reflect.Type) func(text string) error {
	if t == reflect.TypeFor[verdict.Verdict]() {
		return isOutcome
	}
	if l, ok := reflect.Zero(t).Interface().(letters); ok {
		return l.has
	}
	return nil
}

func isOutcome(text string) error {
	if v := verdict.Verdict(text); v != "" && v != Info && v.Sign() == "" {
		return fmt.Errorf("%q is no outcome", short(text, 20))
	}
	return nil
}

// A rewriter writes JSON as encoding/json would, with nothing that the shape does not
// have, and text that is clean.
type rewriter struct {
	dec   *json.Decoder
	out   []byte
	limit int
}

// rewriteJSON is the JSON of a value of a type, and what was seen. It is the same if
// [Write] wrote it.
func rewriteJSON(text []byte, t reflect.Type, limit int) ([]byte, *shape, error) {
	if !utf8.Valid(text) {
		return nil, nil, errors.New("JSON is not UTF-8")
	}
	w := &rewriter{dec: json.NewDecoder(bytes.NewReader(text)), out: make([]byte, 0, len(text)), limit: limit}
	w.dec.UseNumber()
	s := shapeOf(t, "")
	err := w.value(s)
	if err == nil {
		if _, end := w.dec.Token(); end != io.EOF {
			err = errors.New("has more than one value")
		}
	}
	if err != nil {
		return nil, nil, fmt.Errorf("JSON at offset %d: %w", w.dec.InputOffset(), err)
	}
	return w.out, s, nil
}

func (w *rewriter) token() (json.Token, error) {
	t, err := w.dec.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return t, err
}

func (w *rewriter) value(s *shape) error {
	token, err := w.token()
	if err != nil {
		return err
	}
	if len(w.out) > w.limit {
		return fmt.Errorf("more than %d bytes", w.limit)
	}
	switch v := token.(type) {
	case nil:
		if !s.nullable {
			return s.unexpected("null")
		}
		w.out = append(w.out, "null"...)
		return nil
	case bool:
		if s.of.Kind() != reflect.Bool {
			return s.unexpected("a bool")
		}
		w.out = strconv.AppendBool(w.out, v)
		return nil
	case json.Number:
		return w.number(s, v.String())
	case string:
		if s.of == packedType {
			if err := w.packed(s, v); err != nil {
				return fmt.Errorf("%s: %w", s.path, err)
			}
			return nil
		}
		if s.of.Kind() != reflect.String {
			return s.unexpected("a text")
		}
		if check := checkOf(s.of); check != nil {
			if err := check(v); err != nil {
				return fmt.Errorf("%s: %w", s.path, err)
			}
			s.found, s.n = true, s.n+len(v)
		} else {
			v = cleanOf(s.of, text.Clean)(v)
		}
		quoted, err := json.Marshal(v)
		w.out = append(w.out, quoted...)
		return err
	case json.Delim:
		switch {
		case v == '[' && s.elem != nil:
			return w.array(s)
		case v == '{' && s.fields != nil:
			return w.object(s)
		}
		return s.unexpected(map[json.Delim]string{'[': "an array", '{': "an object"}[v])
	}
	return s.unexpected("something")
}

func (s *shape) unexpected(what string) error {
	if s.path == "" {
		return fmt.Errorf("%s is not expected", what)
	}
	return fmt.Errorf("%s: %s is not expected", short(s.path, 80), what)
}

// maxNumber is the number of bytes of the longest number.
const maxNumber = 32

func (w *rewriter) number(s *shape, text string) error {
	var err error
	switch s.of.Kind() {
	case reflect.Int: // indices and counts
		var v int64
		if v, err = strconv.ParseInt(text, 10, 32); err == nil {
			s.integer(v)
		}
	case reflect.Int64:
		var v int64
		if v, err = strconv.ParseInt(text, 10, 64); err == nil {
			s.integer(v)
		}
	case reflect.Float64:
		_, err = strconv.ParseFloat(text, 64)
	default:
		return s.unexpected("a number")
	}
	if err != nil || len(text) > maxNumber {
		return fmt.Errorf("%s: %s is no number that can be here", s.path, short(text, maxNumber))
	}
	w.out = append(w.out, text...)
	return nil
}

// integer adds an integer. last is what array looks at.
func (t *tally) integer(v int64) {
	if !t.found {
		t.found, t.low, t.high = true, v, v
	}
	t.low, t.high, t.last = min(t.low, v), max(t.high, v), v
}

// sums adds the sum of the elements of an array up to an index.
func (t *tally) sums(sum, index int64) {
	above := sum - max(index-1, 0)
	if t.n == 0 && index == 0 {
		t.lowSum, t.highSum, t.above = sum, sum, above
	}
	t.lowSum, t.highSum, t.above = min(t.lowSum, sum), max(t.highSum, sum), max(t.above, above)
}

func (w *rewriter) object(s *shape) error {
	seen := make([]bool, len(s.names))
	w.out = append(w.out, '{')
	for n := 0; ; n++ {
		token, err := w.token()
		if err != nil {
			return err
		}
		if token == json.Delim('}') {
			break
		}
		name, _ := token.(string)
		f := s.fields[name]
		switch {
		case f == nil:
			return fmt.Errorf("field %q is not known", short(name, 60))
		case seen[f.at]:
			return fmt.Errorf("second field %s", name)
		}
		seen[f.at] = true
		w.key(n, name)
		if err := w.value(f.shape); err != nil {
			return err
		}
	}
	for i, name := range s.names {
		if missing := s.fields[name].missing; !seen[i] && missing != nil {
			w.key(len(w.out), name)
			w.out = append(w.out, missing...)
		}
	}
	w.out = append(w.out, '}')
	return nil
}

func (w *rewriter) key(n int, name string) {
	if n > 0 && w.out[len(w.out)-1] != '{' {
		w.out = append(w.out, ',')
	}
	w.out = append(append(append(w.out, '"'), name...), '"', ':')
}

func (w *rewriter) array(s *shape) error {
	w.out = append(w.out, '[')
	var sum int64
	n := 0
	for ; w.dec.More(); n++ {
		if n > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(s.elem); err != nil {
			return err
		}
		sum += s.elem.last // 0 but of integers
		s.sums(sum, int64(n))
	}
	if _, err := w.token(); err != nil {
		return err
	}
	if s.of.Kind() == reflect.Array && n != s.of.Len() {
		return fmt.Errorf("%s: %d elements, not %d", s.path, n, s.of.Len())
	}
	s.found, s.n = true, s.n+n
	w.out = append(w.out, ']')
	return nil
}
