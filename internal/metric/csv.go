package metric

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/input"
)

// mostSample is how many rows decide what the columns are for.
const mostSample = 1000

// recogniseCSV recognises a table with a head of names, whose rows have as many cells, and in
// which a column is measured.
func recogniseCSV(head input.Head) (e input.Evidence) {
	t := newCSVTable(head)
	if t == nil {
		return e
	}
	_, why := roles(t.names, t.rows)
	if why == noNumbers {
		return e // any text has lines of as many words
	}
	e.Seen, e.Known = t.seen, len(t.rows)
	switch {
	case why != "":
		e.Why = why
	case 4*len(t.rows) < 3*t.seen:
		e.Why = "too few have as many cells as the first"
	default:
		e.Is = true
	}
	return e
}

// A csvTable is the start of a table.
type csvTable struct {
	separator rune
	names     []string
	rows      [][]string
	seen      int
}

// newCSVTable reads the start of a table, nil if its first line is no head.
func newCSVTable(head input.Head) *csvTable {
	var t *csvTable
	for line := range head.Lines() {
		if isCSVComment(line) {
			continue
		}
		if t == nil {
			if t = newCSVHead(line); t == nil {
				return nil
			}
			continue
		}
		if t.seen++; t.seen > mostSample {
			break
		}
		if cells := splitCSV(line, t.separator); len(cells) == len(t.names) {
			t.rows = append(t.rows, cells)
		}
	}
	if t == nil || len(t.rows) == 0 {
		return nil
	}
	return t
}

func isCSVComment(line []byte) bool {
	line = bytes.TrimSpace(line)
	return len(line) == 0 || line[0] == '#'
}

// newCSVHead reads the names of columns: none is a number or empty, none comes twice.
func newCSVHead(line []byte) *csvTable {
	if len(line) > 1<<16 {
		return nil
	}
	t := &csvTable{separator: ','}
	most := 0
	for _, separator := range ",;\t|" {
		if n := strings.Count(string(line), string(separator)); n > most {
			most, t.separator = n, separator
		}
	}
	t.names = splitCSV(line, t.separator)
	seen := make(map[string]bool)
	for i, name := range t.names {
		name = strings.TrimSpace(name)
		if isFinite(parseNumber(name)) || seen[name] || name == "" && i > 0 || len(name) > 200 || strings.ContainsAny(name, "{}<>\\\"") {
			return nil
		}
		seen[name], t.names[i] = true, name
	}
	return t
}

// splitCSV splits a line into cells; there are none if a quote is not closed.
func splitCSV(line []byte, separator rune) []string {
	if bytes.IndexByte(line, '"') < 0 {
		return strings.Split(string(line), string(separator))
	}
	r := csv.NewReader(bytes.NewReader(line))
	r.Comma, r.LazyQuotes = separator, true
	cells, err := r.Read()
	if err != nil {
		return nil
	}
	return cells
}

// readCSV reads the columns of a table.
func readCSV(src *input.Source, s *Set) error {
	t := newCSVTable(src.Head)
	if t == nil {
		return fmt.Errorf("line 1: is no head of a table")
	}
	list, why := roles(t.names, t.rows)
	if why != "" {
		return fmt.Errorf("has %s", why)
	}
	c, lines, isHead := newColumns(s, t.names, list), src.Lines(), true
	for {
		line, ok := lines.Next()
		if !ok {
			break
		}
		if isCSVComment(line) {
			continue
		}
		if isHead {
			isHead = false
			continue
		}
		cells := splitCSV(line, t.separator)
		switch {
		case slices.Equal(cells, t.names): // of tables that were put together
		case len(cells) != len(t.names):
			s.Read++
			s.lose("a row with another number of cells than the first", fmt.Sprintf("line %d", lines.Number()))
		default:
			c.row(cells, fmt.Sprintf("line %d", lines.Number()))
		}
		if err := c.err(); err != nil {
			return fmt.Errorf("line %d: %w", lines.Number(), err)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	c.finish()
	return nil
}
