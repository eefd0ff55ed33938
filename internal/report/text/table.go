package text

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Table lays out columns of text. Cells of right-aligned columns end at one
// column, the last column is not padded.
type Table struct {
	Right []bool // by column
	Rows  [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) {
	for i := range cells {
		cells[i] = Printable(cells[i])
	}
	t.Rows = append(t.Rows, cells)
}

// Fact adds a row of a name and a value, unless there is no value.
func (t *Table) Fact(name, value string) {
	if value != "" {
		t.Add(name, value)
	}
}

// Write writes the table without spaces at the ends of lines.
func (t *Table) Write(w io.Writer) error {
	var widths []int
	for _, row := range t.Rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	out := bufio.NewWriter(w)
	for _, row := range t.Rows {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-Width(cell))
			if i < len(t.Right) && t.Right[i] {
				line.WriteString(pad + cell)
			} else {
				line.WriteString(cell + pad)
			}
		}
		out.WriteString(strings.TrimRight(line.String(), " "))
		out.WriteByte('\n')
	}
	return out.Flush()
}

// A Column is one of a table with rows of type T; it is left out if all its cells are
// "-".
type Column[T any] struct {
	Name  string
	Right bool
	Cell  func(T) string
}

// Left is a column whose cells start at one place.
func Left[T any](name string, cell func(T) string) Column[T] { return Column[T]{name, false, cell} }

// Right is a column whose cells end at one place.
func Right[T any](name string, cell func(T) string) Column[T] { return Column[T]{name, true, cell} }

// WriteColumns writes a table of rows.
func WriteColumns[T any](w io.Writer, columns []Column[T], rows []T) error {
	columns = slices.DeleteFunc(columns, func(c Column[T]) bool {
		return !slices.ContainsFunc(rows, func(r T) bool { return c.Cell(r) != "-" })
	})
	out := Table{}
	line := make([]string, len(columns))
	for i, c := range columns {
		out.Right = append(out.Right, c.Right)
		line[i] = c.Name
	}
	out.Add(line...)
	for _, r := range rows {
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = c.Cell(r)
		}
		out.Add(line...)
	}
	return out.Write(w)
}

// A Lines writes lines until the first error.
type Lines struct {
	W   io.Writer
	Err error
}

// Printf writes a line, without spaces at its end.
func (p *Lines) Printf(format string, args ...any) {
	if p.Err == nil {
		_, p.Err = fmt.Fprintln(p.W, strings.TrimRight(Printable(fmt.Sprintf(format, args...)), " "))
	}
}

// maxIndent is the depth of a call tree from which numbers stand for indentation: stacks
// may have as many frames as there are bytes in an input.
const maxIndent = 64

// Indent is in front of the name of a node.
func Indent(depth int) string {
	if depth <= maxIndent {
		return strings.Repeat("  ", depth)
	}
	return fmt.Sprintf("%s… depth %d: ", strings.Repeat("  ", maxIndent), depth)
}

// BaseName is the last element of a path.
func BaseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// Dash is s, or "-" if there is nothing.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Valid is s as a string of protobuf, which holds UTF-8 only.
func Valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
