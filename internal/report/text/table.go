package text

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Table lays out columns of text. Cells of right-aligned columns end at one
// column, the last column is not padded. On a [Screen] that is too narrow, columns are left out
// and names elided; numbers are never cut.
type Table struct {
	Right []bool // by column
	Rows  [][]string
	// Names are columns of names, which [Elide] makes as narrow as it takes.
	Names []int
	// Spare are columns without which a row is still one, some that go together: the first are left
	// out first, while names have less room than Least, [leastName] if that is 0.
	Spare [][]int
	Least int
	// Prose is set if the last column is of sentences: they go on in lines below.
	Prose  bool
	styles map[[2]int]Style
	// heads are lines in front of rows, and names the cells that know how to be short.
	heads map[int][]string
	names map[[2]int]func(room int) string
}

// leastName is the width of names up to which columns are left out for them, and least the width at
// which a name is still one.
const (
	leastName = 24
	least     = 8
)

// Add adds a row.
func (t *Table) Add(cells ...string) {
	for i := range cells {
		cells[i] = Printable(cells[i])
	}
	t.Rows = append(t.Rows, cells)
}

// Paint gives a cell of the row that was added last a style.
func (t *Table) Paint(column int, style Style) {
	if t.styles == nil {
		t.styles = make(map[[2]int]Style)
	}
	t.styles[[2]int{len(t.Rows) - 1, column}] = style
}

// Head puts a line in front of the row that is added next.
func (t *Table) Head(line string) {
	if t.heads == nil {
		t.heads = make(map[int][]string)
	}
	t.heads[len(t.Rows)] = append(t.heads[len(t.Rows)], line)
}

// Short says how a cell of the row that was added last is made as narrow as a room, instead of by
// [Elide].
func (t *Table) Short(column int, short func(room int) string) {
	if t.names == nil {
		t.names = make(map[[2]int]func(int) string)
	}
	t.names[[2]int{len(t.Rows) - 1, column}] = short
}

// Fact adds a row of a name and a value, unless there is no value.
func (t *Table) Fact(name, value string) {
	if value != "" {
		t.Add(name, value)
	}
}

// Write writes the table without spaces at the ends of lines.
func (t *Table) Write(w io.Writer) error {
	screen := ScreenOf(w)
	widths := t.fit(screen)
	out := bufio.NewWriter(screen.w) // rows are not broken, even if there is no room for their numbers
	for i := range len(t.Rows) + 1 {
		for _, line := range t.heads[i] {
			out.WriteString(screen.fitted(line) + "\n")
		}
		if i < len(t.Rows) {
			out.WriteString(t.line(screen, i, t.Rows[i], widths) + "\n")
		}
	}
	return out.Flush()
}

// line is a row as it is shown.
func (t *Table) line(screen *Screen, row int, cells []string, widths []int) string {
	var line strings.Builder
	at, before := 0, ""
	for i, cell := range cells {
		if widths[i] < 0 {
			continue
		}
		line.WriteString(before)
		at += len(before)
		before = gap
		if t.Prose && i == len(widths)-1 && screen.width > at {
			cell = strings.Join(Wrap(cell, screen.width-at, screen.width-at), "\n"+strings.Repeat(" ", at))
			line.WriteString(cell)
			continue
		}
		pad := strings.Repeat(" ", max(0, widths[i]-Width(cell)))
		cell = screen.Paint(t.styles[[2]int{row, i}], cell)
		if i < len(t.Right) && t.Right[i] {
			line.WriteString(pad + cell)
		} else {
			line.WriteString(cell + pad)
		}
		at += widths[i]
	}
	return strings.TrimRight(line.String(), " ")
}

// gap is between two columns.
const gap = "  "

// fit is the width of each column, -1 for one that is left out. Names are elided to fit.
func (t *Table) fit(screen *Screen) []int {
	var widths []int
	for _, row := range t.Rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	for i, w := range widths {
		if w == 0 && i > 0 {
			widths[i] = -1 // an empty one in front indents
		}
	}
	if screen.width <= 0 || len(widths) == 0 {
		return widths
	}
	if last := len(widths) - 1; t.Prose {
		widths[last] = min(widths[last], leastName)
	}
	room := t.room(widths, screen.width)
	for _, columns := range t.Spare {
		if room >= cmp.Or(t.Least, leastName) {
			break
		}
		for _, column := range columns {
			if column < len(widths) && widths[column] >= 0 {
				screen.miss(t.Rows[0][column])
				widths[column] = -1
			}
		}
		room = t.room(widths, screen.width)
	}
	room = max(room, least)
	for _, column := range t.Names {
		if column >= len(widths) || widths[column] <= room {
			continue
		}
		widths[column] = 0
		for i, row := range t.Rows {
			if column >= len(row) {
				continue
			}
			if short, ok := t.names[[2]int{i, column}]; ok && Width(row[column]) > room {
				row[column] = Printable(short(room))
			}
			row[column] = Elide(row[column], room)
			widths[column] = max(widths[column], Width(row[column]))
		}
	}
	return widths
}

// room is the width that no name may exceed: [unbounded] if all fit.
func (t *Table) room(widths []int, width int) int {
	used := -len(gap)
	var names []int
	for i, w := range widths {
		switch {
		case w < 0:
			continue
		case slices.Contains(t.Names, i):
			names = append(names, w)
		default:
			used += w
		}
		used += len(gap)
	}
	slices.Sort(names)
	left := width - used
	for i, w := range names {
		if share := left / (len(names) - i); w > share {
			return share
		}
		left -= w
	}
	if left < 0 {
		return 0 // numbers alone are wider
	}
	return unbounded
}

const unbounded = 1 << 30

// A Column is one of a table with rows of type T; it is left out if all its cells are
// "-".
type Column[T any] struct {
	Name  string
	Right bool
	Cell  func(T) string
	// names is set for a column of names, and spare is how soon a column is left out where there is
	// no room: 1 first, 0 never. See [Table].
	names bool
	spare int
	short func(cell string, room int) string
	prose bool
	style func(T) Style
}

// Left is a column whose cells start at one place.
func Left[T any](name string, cell func(T) string) Column[T] {
	return Column[T]{Name: name, Cell: cell}
}

// Right is a column whose cells end at one place.
func Right[T any](name string, cell func(T) string) Column[T] {
	return Column[T]{Name: name, Right: true, Cell: cell}
}

// Names is a column of names.
func Names[T any](name string, cell func(T) string) Column[T] {
	return Column[T]{Name: name, Cell: cell, names: true}
}

// Phrases is a column of what is no name: it is cut at the end.
func Phrases[T any](name string, cell func(T) string) Column[T] {
	return Column[T]{Name: name, Cell: cell, names: true, short: CutEnd}
}

// Prose is a column of sentences, the last one: they go on in lines below.
func Prose[T any](name string, cell func(T) string) Column[T] {
	return Column[T]{Name: name, Cell: cell, prose: true}
}

// Spared is the column as one that is left out where there is no room: 1 first.
func (c Column[T]) Spared(order int) Column[T] {
	c.spare = order
	return c
}

// Painted is the column with cells that have styles.
func (c Column[T]) Painted(style func(T) Style) Column[T] {
	c.style = style
	return c
}

// WriteColumns writes a table of rows.
func WriteColumns[T any](w io.Writer, columns []Column[T], rows []T) error {
	columns = slices.DeleteFunc(columns, func(c Column[T]) bool {
		return !slices.ContainsFunc(rows, func(r T) bool { return c.Cell(r) != "-" })
	})
	out := Table{}
	line := make([]string, len(columns))
	for i, c := range columns {
		out.Right = append(out.Right, c.Right)
		out.Prose = c.prose
		line[i] = c.Name
		if c.names {
			out.Names = append(out.Names, i)
		}
		if c.spare > 0 {
			out.Spare = append(out.Spare, []int{i})
		}
	}
	slices.SortStableFunc(out.Spare, func(a, b []int) int { return columns[a[0]].spare - columns[b[0]].spare })
	out.Add(line...)
	for _, r := range rows {
		line := make([]string, len(columns))
		for i, c := range columns {
			line[i] = c.Cell(r)
		}
		out.Add(line...)
		for i, c := range columns {
			if c.style != nil {
				out.Paint(i, c.style(r))
			}
			if c.short != nil {
				cell := line[i]
				out.Short(i, func(room int) string { return c.short(cell, room) })
			}
		}
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

// Indented is how the name of a node is made as narrow as a room, see [Table.Short].
func Indented(depth int, name string) func(room int) string {
	return func(room int) string {
		indent := Indent(min(depth, max(0, room-least)/2))
		return indent + Elide(name, room-Width(indent))
	}
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
