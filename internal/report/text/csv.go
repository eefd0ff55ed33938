package text

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// WriteCSV writes rows as CSV (RFC 4180, lines end with LF) below a header.
//
//  1. A row is made of the JSON form of T, so that columns have its names and numbers:
//     fields of an object in a row are name.field, and the bounds of an interval name.low and
//     name.high. What is null is empty.
//
//  2. Control characters in texts are replaced, see [Printable].
//
//  3. Texts that a spreadsheet takes for a formula begin with ' in CSV, as OWASP advises
//     against CSV injection: names come from recordings.
//
//  4. A field that rows may leave out has a column if one of them has it, behind the field that it follows there.
//
// T must not have maps or lists.
func WriteCSV[T any](w io.Writer, rows []T) error {
	var none T
	header, err := newCSVRow(&none)
	if err != nil {
		return err
	}
	names := header.names
	list := make([]*csvRow, len(rows))
	for i := range rows {
		if list[i], err = newCSVRow(&rows[i]); err != nil {
			return err
		}
		names = withNames(names, list[i].names)
	}
	out := csv.NewWriter(w)
	if err := out.Write(names); err != nil {
		return err
	}
	cells := make([]string, len(names))
	for _, row := range list {
		clear(cells)
		at := 0
		for i, name := range row.names {
			// Names of a row are in the order of the columns.
			at += slices.Index(names[at:], name)
			cells[at] = row.cells[i]
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// withNames are the names of columns with those of a row, which are in the same order.
func withNames(columns, row []string) []string {
	at := 0 // behind the column of the name before
	for _, name := range row {
		if i := slices.Index(columns[at:], name); i >= 0 {
			at += i + 1
			continue
		}
		columns = slices.Insert(columns, at, name)
		at++
	}
	return columns
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
