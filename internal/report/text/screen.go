package text

import (
	"io"
	"slices"
	"strings"
)

// A Screen writes to a terminal, or to what has its width: tables are fitted to it, other lines are
// broken at spaces. The start of a line that goes on is indented as the line is, and a bit more.
type Screen struct {
	w      io.Writer
	width  int  // in columns, 0 if lines may be of any length
	colour bool // words may have colours
	line   []byte
	// absent are the columns of tables for which there was no room.
	absent []string
}

// NewScreen makes a screen of a width, 0 for any, with colours or without. What is written to it goes
// to w by line: [Screen.Flush] writes the rest.
func NewScreen(w io.Writer, width int, colour bool) *Screen {
	return &Screen{w: w, width: width, colour: colour}
}

// ScreenOf is the screen that is written to: one of any width without colours, if w is none.
func ScreenOf(w io.Writer) *Screen {
	if s, ok := w.(*Screen); ok {
		return s
	}
	return NewScreen(w, 0, false)
}

// Width is the number of columns, 0 if lines may be of any length.
func (s *Screen) Width() int { return s.width }

// Absent are the columns of tables for which there was no room, each once.
func (s *Screen) Absent() []string { return s.absent }

func (s *Screen) miss(column string) {
	if !slices.Contains(s.absent, column) {
		s.absent = append(s.absent, column)
	}
}

// Write writes whole lines, fitted.
func (s *Screen) Write(p []byte) (int, error) {
	s.line = append(s.line, p...)
	end := strings.LastIndexByte(string(s.line), '\n') + 1
	if end == 0 {
		return len(p), nil
	}
	var out strings.Builder
	for line := range strings.Lines(string(s.line[:end])) {
		out.WriteString(s.fitted(strings.TrimSuffix(line, "\n")))
		out.WriteByte('\n')
	}
	s.line = append(s.line[:0], s.line[end:]...)
	if _, err := io.WriteString(s.w, out.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes the start of a line that was not ended.
func (s *Screen) Flush() error {
	_, err := io.WriteString(s.w, s.fitted(string(s.line)))
	s.line = s.line[:0]
	return err
}

// Gather writes what is put together without errors: to a screen like this one.
func (s *Screen) Gather(write func(*Screen)) error {
	var out strings.Builder
	like := NewScreen(&out, s.width, s.colour)
	write(like)
	if err := like.Flush(); err != nil {
		return err
	}
	for _, column := range like.absent {
		s.miss(column)
	}
	return s.Verbatim(out.String())
}

// Verbatim writes lines as they are, however wide: what is meant to be copied. Lines written before
// have ended.
func (s *Screen) Verbatim(lines string) error {
	_, err := io.WriteString(s.w, lines)
	return err
}

// fitted breaks a line that is too wide.
func (s *Screen) fitted(line string) string {
	if s.width <= 0 || shownWidth(line) <= s.width {
		return line
	}
	text := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(text)]
	return indent + strings.Join(Wrap(text, s.width-len(indent), s.width-len(indent)-2), "\n"+indent+"  ")
}

// Wrap breaks a text at spaces into lines that are at most so many columns wide, the first one and the
// others. A word that is wider is broken, behind a / if that is near.
func Wrap(s string, first, others int) (lines []string) {
	line, width := "", first
	for _, word := range phrases(s) {
		switch {
		case line == "":
			line = word
		case shownWidth(line)+1+shownWidth(word) <= width:
			line += " " + word
		default:
			lines, line, width = append(lines, line), word, others
		}
		for shownWidth(line) > width && !strings.Contains(line, "\x1b") && width >= least {
			n := fitting(line, width)
			if slash := strings.LastIndexByte(line[:n], '/'); slash > n/2 {
				n = slash + 1
			}
			lines, line, width = append(lines, line[:n]), line[n:], others
		}
	}
	return append(lines, line)
}

// phrases are the words of a text, a number with its unit as one.
func phrases(s string) (list []string) {
	for word := range strings.FieldsSeq(s) {
		last := len(list) - 1
		if last >= 0 && endsInDigit(list[last]) && units[strings.TrimRight(word, ".,;:)]")] {
			list[last] += " " + word
			continue
		}
		list = append(list, word)
	}
	return list
}

func endsInDigit(s string) bool { return s[len(s)-1] >= '0' && s[len(s)-1] <= '9' }

// units are what stands behind numbers, see [Weight] and [Amount].
var units = map[string]bool{
	"ns": true, "µs": true, "ms": true, "s": true, "k": true, "M": true, "G": true, "T": true, "B": true, "kB": true, "MB": true, "GB": true, "TB": true,
	"/s": true, "B/s": true, "kB/s": true, "MB/s": true, "GB/s": true, "bit/s": true, "kbit/s": true, "Mbit/s": true, "Gbit/s": true, "J": true, "W": true, "°C": true, "points": true,
}

// A Style is how a word looks on a screen with colours. It never tells what the word does not.
type Style string

// The styles: parameters of Select Graphic Rendition (ECMA-48, section 8.3.117).
const (
	Plain Style = ""
	Bold  Style = "1"
	Faint Style = "2"
	Red   Style = "31"
	Green Style = "32"
)

// Paint is a text in a style, if the screen has colours.
func (s *Screen) Paint(style Style, text string) string {
	if !s.colour || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// shownWidth is the width of a text that may be painted.
func shownWidth(s string) int {
	n := 0
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		n += Width(before)
		if !found {
			return n
		}
		_, s, _ = strings.Cut(after, "m")
	}
}
