// Package report writes results as text, JSON, Markdown, HTML and CI formats.
package report

import (
	"bufio"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A table lays out columns of text. Cells of right-aligned columns end at one
// column, the last column is not padded.
type table struct {
	right []bool // by column
	rows  [][]string
}

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = printable(cells[i])
	}
	t.rows = append(t.rows, cells)
}

// printable replaces what would break a line or command a terminal: names come from
// recordings.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

func (t *table) write(w io.Writer) error {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	out := bufio.NewWriter(w)
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			if i > 0 {
				line.WriteString("  ")
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < len(t.right) && t.right[i] {
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

// siUnits scale weights of events that are counted.
var siUnits = []struct {
	scale  float64
	suffix string
}{{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e3, " k"}}

// timeUnits scale nanoseconds.
var timeUnits = []struct {
	scale  float64
	suffix string
}{{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}}

// formatWeight writes a weight with four significant digits: nanoseconds as time,
// others as numbers.
func formatWeight(v float64, unit string) string {
	units := siUnits
	suffix := ""
	if unit == "nanoseconds" {
		units, suffix = timeUnits, " ns"
	}
	for _, u := range units {
		if math.Abs(v) >= u.scale {
			return formatDigits(v/u.scale) + u.suffix
		}
	}
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64) + suffix
	}
	return formatDigits(v) + suffix
}

// formatDigits writes four significant digits of a number below 10,000.
func formatDigits(v float64) string {
	// Rounding may add a digit: 9.9999 has two before the point.
	if rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64); err == nil {
		v = rounded
	}
	switch a := math.Abs(v); {
	case a >= 1000:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// formatDelta is formatWeight with a sign.
func formatDelta(v float64, unit string) string {
	s := formatWeight(v, unit)
	if v > 0 {
		return "+" + s
	}
	return s
}

// formatRatio writes a ratio of two costs.
func formatRatio(r float64) string {
	switch {
	case math.IsNaN(r):
		return "-"
	case math.IsInf(r, 1):
		return "new"
	case r == 0:
		return "gone"
	case r >= 1000:
		return ">1000"
	case r < 0.001:
		return "<0.001"
	}
	return strconv.FormatFloat(r, 'f', 3, 64)
}

// formatBound writes a bound of a ratio's interval.
func formatBound(r float64) string {
	switch {
	case math.IsInf(r, 1):
		return "∞"
	case r == 0:
		return "0"
	case r >= 1000:
		return ">1000"
	case r < 0.001:
		return "<0.001"
	}
	return strconv.FormatFloat(r, 'f', 3, 64)
}

// formatShare writes a share of 0 to 1 as a percentage.
func formatShare(part, whole float64) string {
	if whole == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*part/whole, 'f', 2, 64) + "%"
}

// formatCount writes a number with separators.
func formatCount(n int64) string {
	s := strconv.FormatInt(n, 10)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		s = "-" + s
	}
	return s
}
