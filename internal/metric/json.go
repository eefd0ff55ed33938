package metric

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"profdiff/internal/input"
)

// maxJSON bounds a file that is one JSON value, which is read as a whole.
const maxJSON = 256 << 20

// decodeJSON reads an input that is one JSON value into v. Errors have the line.
func decodeJSON(src *input.Source, v any) error {
	data, err := src.ReadAll(maxJSON)
	if err != nil {
		return err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	data = withNulls(data)
	err = json.Unmarshal(data, v)
	var at int64 = -1
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = e.Offset
		if at >= int64(len(bytes.TrimRight(data, " \t\r\n"))) {
			err = errors.New("ends too early")
		}
	} else if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at = e.Offset
		err = fmt.Errorf("%s is no %s", e.Value, e.Field)
		if e.Field == "" {
			err = fmt.Errorf("%s where an object is expected", e.Value)
		}
	}
	if at >= 0 {
		return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:min(at, int64(len(data)))], []byte("\n")), err)
	}
	return err
}

// withNulls replaces what programs write for numbers that are none by null: NaN, Infinity
// and -Infinity are no JSON (RFC 8259, section 6).
func withNulls(data []byte) []byte {
	words := [][]byte{[]byte("-Infinity"), []byte("Infinity"), []byte("NaN")}
	if !bytes.Contains(data, words[1]) && !bytes.Contains(data, words[2]) {
		return data
	}
	out := make([]byte, 0, len(data)+len(data)/16)
	inString := false
scan:
	for i := 0; i < len(data); i++ {
		switch {
		case inString && data[i] == '\\' && i+1 < len(data):
			out = append(out, data[i])
			i++
		case data[i] == '"':
			inString = !inString
		case !inString:
			for _, word := range words {
				if bytes.HasPrefix(data[i:], word) {
					out = append(out, "null"...)
					i += len(word) - 1
					continue scan
				}
			}
		}
		out = append(out, data[i])
	}
	return out
}

// A number is a number of JSON. What is no number, but null or a text, is NaN.
type number float64

// UnmarshalJSON reads a number, null, or a text of a number.
func (n *number) UnmarshalJSON(text []byte) error {
	var f float64
	if text[0] == '"' || text[0] == 'n' {
		*n = number(math.NaN())
		return nil
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	*n = number(f)
	return nil
}

// finite keeps the numbers, and counts what is none.
func (s *Set) finite(numbers []number, reason string) []float64 {
	values := make([]float64, 0, len(numbers))
	for _, n := range numbers {
		if v := float64(n); math.IsNaN(v) || math.IsInf(v, 0) {
			s.lose(reason, "")
		} else {
			values = append(values, v)
		}
	}
	s.Read += len(numbers)
	return values
}

// scaled is a number as the file has it in the unit of a metric, NaN if there is none.
func (m *Metric) scaled(n *number) float64 {
	if n == nil {
		return math.NaN()
	}
	return float64(*n) * m.Scale
}
