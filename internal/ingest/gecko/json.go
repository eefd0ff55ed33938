package gecko

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"profdiff/internal/input"
)

// A jsonReader reads JSON piece by piece and keeps the first error; after it, it
// reads nothing.
type jsonReader struct {
	dec *json.Decoder
	err error

	cells, padding int // of tables of rows
}

func (r *jsonReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("at %#x: "+format, append([]any{r.dec.InputOffset()}, args...)...)
	}
}

func (r *jsonReader) token() json.Token {
	if r.err != nil {
		return nil
	}
	t, err := r.dec.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		r.fail("%w", err)
		return nil
	}
	return t
}

func (r *jsonReader) more() bool { return r.err == nil && r.dec.More() }

// open reads the start of an object or array. null is an empty one.
func (r *jsonReader) open(want json.Delim) bool {
	switch t := r.token(); {
	case r.err != nil || t == nil:
		return false
	case t != want:
		r.fail("%v where %v should start", t, want)
		return false
	}
	return true
}

// object calls read for each key, which must read its value.
func (r *jsonReader) object(read func(key string)) {
	if !r.open('{') {
		return
	}
	for r.more() {
		key, _ := r.token().(string)
		if r.err == nil {
			read(key)
		}
	}
	r.token()
}

// array calls read for each element, which it must read.
func (r *jsonReader) array(read func()) {
	if !r.open('[') {
		return
	}
	for r.more() {
		read()
	}
	r.token()
}

// skip passes over a value.
func (r *jsonReader) skip() {
	for depth := 0; ; {
		switch r.token() {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if r.err != nil || depth <= 0 {
			return
		}
	}
}

// text reads a string; other values give "".
func (r *jsonReader) text() string {
	switch t := r.token().(type) {
	case string:
		return strings.ReplaceAll(strings.ToValidUTF8(t, "\ufffd"), "\x00", "\ufffd")
	case json.Delim:
		r.rest()
	}
	return ""
}

// number reads a number; other values give NaN.
func (r *jsonReader) number() float64 {
	switch t := r.token().(type) {
	case float64:
		return t
	case json.Delim:
		r.rest()
	}
	return math.NaN()
}

// id reads a process or thread, which is a number or a string with one. "123.1" is
// the second of a name.
func (r *jsonReader) id() int64 {
	var s string
	switch t := r.token().(type) {
	case float64:
		s = strconv.FormatFloat(t, 'f', -1, 64)
	case string:
		s, _, _ = strings.Cut(t, ".")
	case json.Delim:
		r.rest()
	}
	id, err := strconv.ParseInt(s, 10, 32)
	if err != nil || id < 0 {
		return -1
	}
	return id
}

// rest passes over what is left of a value whose start has been read.
func (r *jsonReader) rest() {
	for depth := 1; depth > 0 && r.err == nil; {
		switch r.token() {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

// A table is a table of numbers. What is no number is NaN.
type table struct {
	rows    int
	columns map[string][]float64
}

func (t *table) column(name string) ([]float64, bool) {
	c, ok := t.columns[name]
	return c, ok
}

// wanted are the columns that are kept. Others are of any length in real profiles, even of none.
var wanted = map[string]bool{
	"stack": true, "time": true, "timeDeltas": true, "weight": true, "threadCPUDelta": true, "prefix": true, "frame": true, "func": true,
	"location": true, "address": true, "line": true, "column": true, "name": true, "resource": true, "fileName": true, "source": true,
	"lineNumber": true, "lib": true, "filename": true, "startTime": true, "endTime": true, "phase": true,
}

// maxColumns is the most columns of a row that are kept.
const maxColumns = 32

// table reads a table, of rows with a schema (schema, data) or of columns (length and
// an array for each). other, which may be nil, reads further fields.
func (r *jsonReader) table(other func(key string) bool) table {
	t := table{columns: make(map[string][]float64)}
	length := -1.0
	var data [][]float64
	schema := make(map[string]int)
	hasSchema := false
	rows := 0
	r.object(func(key string) {
		switch {
		case other != nil && other(key):
		case key == "length":
			length = r.number()
		case key == "schema":
			hasSchema = true
			r.object(func(name string) {
				if i := r.number(); i >= 0 && i < maxColumns && i == math.Trunc(i) {
					schema[name] = int(i)
				}
			})
		case key == "data":
			r.array(func() {
				data = r.row(data, rows)
				rows++
			})
		case !wanted[key]:
			r.skip()
		default:
			if c, ok := r.column(); ok {
				t.columns[key] = c
			}
		}
	})
	if hasSchema {
		t.rows = rows
		for name, i := range schema {
			if i < len(data) {
				t.columns[name] = data[i] // rows beyond its end have no number
			}
		}
		return t
	}
	for _, c := range t.columns {
		t.rows = max(t.rows, len(c))
	}
	if length >= 0 && length != float64(t.rows) && t.rows > 0 {
		r.fail("table says that it has %v rows, but has %d", length, t.rows)
	}
	for name, c := range t.columns {
		if len(c) != t.rows {
			r.fail("column %s has %d rows, others have %d", name, len(c), t.rows)
		}
	}
	return t
}

// row reads a row into columns. Cells at the end of a row may be missing. Data of markers in the processed format, which are
// objects or nothing, are no rows.
func (r *jsonReader) row(columns [][]float64, row int) [][]float64 {
	switch t := r.token(); t {
	case json.Delim('['):
	case json.Delim('{'):
		r.rest()
		return columns
	case nil:
		return columns
	default:
		r.fail("%v where [ should start", t)
		return columns
	}
	for i := 0; r.more(); i++ {
		v := r.number()
		if i < maxColumns {
			if i == len(columns) {
				columns = append(columns, nil)
			}
			// Columns that start late cost more memory than the input takes.
			r.padding += row - len(columns[i])
			if r.padding > 8*r.cells+input.HeadSize {
				r.fail("rows have too uneven lengths")
				return columns
			}
			columns[i] = append(pad(columns[i], row), v)
		}
		r.cells++
	}
	r.token()
	return columns
}

// pad completes a column by what is no number.
func pad(c []float64, rows int) []float64 {
	for len(c) < rows {
		c = append(c, math.NaN())
	}
	return c
}

// column reads an array of numbers. Other values are passed over: ok is false.
func (r *jsonReader) column() (c []float64, ok bool) {
	switch r.token() {
	case json.Delim('['):
		for r.more() {
			c = append(c, r.number())
		}
		r.token()
		return c, r.err == nil
	case json.Delim('{'):
		r.rest()
	}
	return nil, false
}
