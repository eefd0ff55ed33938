package metric

import (
	"bytes"
	"encoding/json"
	"fmt"

	"profdiff/internal/input"
)

// A record is a JSON object with its keys in order; cells of what is neither number nor text
// are "".
type record struct {
	names, cells []string
}

// parseRecord reads an object. Values that are objects or lists are left out.
func parseRecord(text []byte) (r record, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return r, false
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return r, false
		}
		var v any
		if err := dec.Decode(&v); err != nil {
			return r, false
		}
		name, _ := key.(string)
		switch v := v.(type) {
		case json.Number:
			r.names, r.cells = append(r.names, name), append(r.cells, v.String())
		case string:
			r.names, r.cells = append(r.names, name), append(r.cells, v)
		case bool, nil:
			r.names, r.cells = append(r.names, name), append(r.cells, "")
		}
	}
	_, err := dec.Token()
	return r, err == nil && !dec.More()
}

// A recordTable has the names of all keys of some records, and their cells in that order.
type recordTable struct {
	index map[string]int
	names []string
	rows  [][]string
}

// mostNames bounds the keys of records: more are no names of columns.
const mostNames = 1000

func newRecordTable(records []record) *recordTable {
	t := &recordTable{index: make(map[string]int)}
	for _, r := range records {
		for _, name := range r.names {
			if _, ok := t.index[name]; !ok && len(t.names) < mostNames {
				t.index[name], t.names = len(t.names), append(t.names, name)
			}
		}
	}
	for _, r := range records {
		t.rows = append(t.rows, t.cells(r))
	}
	return t
}

// cells are those of a record in the order of the table. Keys that are new are left out.
func (t *recordTable) cells(r record) []string {
	cells := make([]string, len(t.names))
	for i, name := range r.names {
		if at, ok := t.index[name]; ok {
			cells[at] = r.cells[i]
		}
	}
	return cells
}

// sampleLines are the records of the lines of a head, and how many lines it has.
func sampleLines(head input.Head) (records []record, seen int) {
	for line := range head.Lines() {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if seen++; seen > mostSample {
			break
		}
		if r, ok := parseRecord(line); ok {
			records = append(records, r)
		}
	}
	return records, seen
}

// recogniseNDJSON recognises lines that are JSON objects, of which a key is measured.
func recogniseNDJSON(head input.Head) (e input.Evidence) {
	records, seen := sampleLines(head)
	e.Seen, e.Known = seen, len(records)
	if len(records) == 0 || 4*len(records) < 3*seen {
		return input.Evidence{}
	}
	t := newRecordTable(records)
	if _, e.Why = roles(t.names, t.rows); e.Why == "" && len(records) == 1 {
		e.Why = "one is too few to tell"
	}
	e.Is = e.Why == ""
	return e
}

// readNDJSON reads lines that are records.
func readNDJSON(src *input.Source, s *Set) error {
	records, _ := sampleLines(src.Head)
	t := newRecordTable(records)
	list, why := roles(t.names, t.rows)
	if why != "" {
		return fmt.Errorf("has %s", why)
	}
	c, lines := newColumns(s, t.names, list), src.Lines()
	for {
		line, ok := lines.Next()
		if !ok {
			break
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		where := fmt.Sprintf("line %d", lines.Number())
		if r, ok := parseRecord(line); ok {
			c.row(t.cells(r), where)
		} else {
			s.Read++
			s.lose("a line that is no JSON object", where)
		}
		if err := c.err(); err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	c.finish()
	return nil
}

// sampleArray are the records that a JSON array begins with.
func sampleArray(head input.Head) (records []record) {
	dec := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(head, []byte("\ufeff"))))
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil
	}
	for dec.More() && len(records) < mostSample {
		var text json.RawMessage
		if dec.Decode(&text) != nil {
			break
		}
		r, ok := parseRecord(text)
		if !ok {
			return nil
		}
		records = append(records, r)
	}
	return records
}

// recogniseArray recognises a JSON array of objects, of which a key is measured.
func recogniseArray(head input.Head) (e input.Evidence) {
	t := newRecordTable(sampleArray(head))
	if len(t.rows) == 0 {
		return e
	}
	_, why := roles(t.names, t.rows)
	return input.Evidence{Is: why == ""}
}

// readArray reads a JSON array of records.
func readArray(src *input.Source, s *Set) error {
	t := newRecordTable(sampleArray(src.Head))
	list, why := roles(t.names, t.rows)
	if why != "" {
		return fmt.Errorf("has %s", why)
	}
	var all []json.RawMessage
	if err := decodeJSON(src, &all); err != nil {
		return err
	}
	c := newColumns(s, t.names, list)
	for i, text := range all {
		where := fmt.Sprintf("object %d", i+1)
		if r, ok := parseRecord(text); ok {
			c.row(t.cells(r), where)
		} else {
			s.Read++
			s.lose("a value that is no object", where)
		}
		if err := c.err(); err != nil {
			return err
		}
	}
	c.finish()
	return nil
}
