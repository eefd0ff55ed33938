package text

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteCSV writes rows as CSV (RFC 4180, lines end with LF) below a header.
//
//  1. A row is made of the JSON form of T, so that columns have its names and numbers:
//     fields of an object in a row are name.field, and the bounds of an interval name.low and
//     name.high. What is null is empty.
//  2. Control characters in texts are replaced, see [Printable].
//  3. Texts that a spreadsheet takes for a formula begin with ' in CSV, as OWASP advises
//     against CSV injection: names come from recordings.
//
// All rows must have the same fields, so that T must not have maps or lists.
func WriteCSV[T any](w io.Writer, rows []T) error {
	out := csv.NewWriter(w)
	var none T
	header, err := newCSVRow(&none)
	if err != nil {
		return err
	}
	if err := out.Write(header.names); err != nil {
		return err
	}
	for i := range rows {
		row, err := newCSVRow(&rows[i])
		if err != nil {
			return err
		}
		if err := out.Write(row.cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// A csvRow is a row that is made of JSON.
type csvRow struct {
	json         *json.Decoder
	names, cells []string
}

func newCSVRow(v any) (*csvRow, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	r := &csvRow{json: json.NewDecoder(bytes.NewReader(data))}
	r.json.UseNumber()
	return r, r.value("")
}

// value adds the cells of the next value.
func (r *csvRow) value(name string) error {
	token, err := r.json.Token()
	if err != nil {
		return err
	}
	switch t := token.(type) {
	case json.Delim:
		return r.fields(name, t)
	case string:
		r.add(name, csvText(t))
	case json.Number:
		r.add(name, t.String())
	case bool:
		r.add(name, strconv.FormatBool(t))
	default:
		r.add(name, "")
	}
	return nil
}

// fields adds the cells of an object, or of both bounds of an interval.
func (r *csvRow) fields(name string, open json.Delim) error {
	if name != "" {
		name += "."
	}
	bounds := []string{"low", "high"}
	for r.json.More() {
		var field string
		if open == '{' {
			key, err := r.json.Token()
			if err != nil {
				return err
			}
			field = key.(string)
		} else if len(bounds) > 0 {
			field, bounds = bounds[0], bounds[1:]
		} else {
			return fmt.Errorf("%s is a list, for which CSV has no column", name)
		}
		if err := r.value(name + field); err != nil {
			return err
		}
	}
	_, err := r.json.Token()
	return err
}

func (r *csvRow) add(name, cell string) {
	r.names = append(r.names, name)
	r.cells = append(r.cells, cell)
}

// csvText is a text that no spreadsheet takes for a formula.
func csvText(s string) string {
	s = Printable(s)
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune("=+-@＝＋－＠", first) {
		return "'" + s
	}
	return s
}
