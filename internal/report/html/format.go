package html

import (
	"math"
	"profdiff/internal/report/diff"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
	"strconv"
	"strings"
)

// Numbers of the first screen, with the signs of typography: U+2212 for minus and
// U+202F, a narrow space that does not break, in front of units. The scripts write
// numbers alike.

const thin = "\u202f"

type unitScale struct {
	scale float64
	name  string
}

var (
	countUnits = []unitScale{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}
	timeUnits  = []unitScale{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}}
)

// weight writes a weight with four significant digits.
func weight(v float64, unit string) string {
	units := countUnits
	if unit == "nanoseconds" {
		units = timeUnits
	}
	u := units[len(units)-1]
	for _, x := range units {
		if math.Abs(v) >= x.scale {
			u = x
			break
		}
	}
	s := digits(v / u.scale)
	if u.scale == 1 && v == math.Trunc(v) {
		s = minus(strconv.FormatFloat(v, 'f', 0, 64))
	}
	if u.name == "" {
		return s
	}
	return s + thin + u.name
}

// digits writes four significant digits of a number below 10,000.
func digits(v float64) string {
	// Rounding may add a digit: 9.9999 has two in front of the point.
	if rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 3, 64), 64); err == nil {
		v = rounded
	}
	places := 3
	switch a := math.Abs(v); {
	case a >= 1000:
		places = 0
	case a >= 100:
		places = 1
	case a >= 10:
		places = 2
	}
	return minus(strconv.FormatFloat(v, 'f', places, 64))
}

func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// share writes a part of 0 to 1 as a percentage.
func share(v float64) string { return minus(strconv.FormatFloat(100*v, 'f', 2, 64)) + thin + "%" }

// cost writes a cost of an event.
func (e *Event) cost(v float64) string {
	if e.Share {
		return share(v)
	}
	return weight(v, e.Unit)
}

// delta writes a difference of costs with its sign.
func (e *Event) delta(v float64) string {
	s := weight(v, e.Unit)
	if e.Share {
		s = minus(strconv.FormatFloat(100*v, 'f', 2, 64)) + thin + "pp"
	}
	if v > 0 {
		return "+" + s
	}
	return s
}

// percent writes a ratio as a relative change, without the sign of percent.
func percent(ratio float64) string {
	p := 100 * (ratio - 1)
	switch {
	case math.IsNaN(ratio):
		return "–"
	case math.IsInf(ratio, 1):
		return "∞"
	case p >= 1000:
		return "×" + strconv.FormatFloat(round(ratio, 3), 'f', -1, 64)
	case math.Abs(p) >= 99.95:
		p = math.Round(p)
		s := strconv.FormatFloat(p, 'f', 0, 64)
		if p > 0 {
			s = "+" + s
		}
		return minus(s)
	}
	s := strconv.FormatFloat(p, 'f', 1, 64)
	switch {
	case s == "-0.0" || s == "0.0":
		return "0.0"
	case p > 0:
		return "+" + s
	}
	return minus(s)
}

// changeOf is a change by its numbers.
func changeOf(base, head, ratio float64, ci stats.Interval) *diff.Change {
	return &diff.Change{Base: base, Head: head, Ratio: text.Number(ratio), CI: text.Interval(ci)}
}

// relative is the change of a cost in words: "−17.7 %", "new", "gone".
func relative(c *diff.Change) string {
	switch {
	case c.Base == 0 && c.Head > 0:
		return "new"
	case c.Head == 0 && c.Base > 0:
		return "gone"
	}
	s := percent(float64(c.Ratio))
	if s == "–" || s == "∞" || strings.HasPrefix(s, "×") {
		return s
	}
	return s + thin + "%"
}

// interval is that of a change: "[−18.6, −16.9]", "" if nothing is known.
func interval(c *diff.Change) string {
	if !known(&c.CI) {
		return ""
	}
	return "[" + percent(c.CI.Lo) + ", " + percent(c.CI.Hi) + "]"
}

// known reports whether the interval excludes anything.
func known(i *text.Interval) bool { return i.Lo > 0 || i.Hi > 0 && !math.IsInf(i.Hi, 1) }

// plural is "1 run", "2 runs".
func plural(n int, what string) string {
	if n == 1 {
		return "1" + " " + what
	}
	return count(int64(n)) + " " + what + "s"
}

// count writes a number with thin spaces between thousands.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "−", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
