package html

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"profdiff/internal/report/diff"
	"profdiff/internal/report/text"
	"profdiff/internal/stats"
)

// Numbers of the first screen, with the signs of typography: U+2212 for minus and
// U+202F, a narrow space that does not break, in front of units. The scripts write
// numbers alike.

const thin = "\u202f"

// typeset gives a number of package text the signs of typography.
var typeset = strings.NewReplacer("-", "−", " ", thin, "%", thin+"%").Replace

// weight writes a weight with four significant digits.
func weight(v float64, unit string) string { return typeset(text.Weight(v, unit)) }

// digits writes four significant digits of a number below 10,000.
func digits(v float64) string { return typeset(text.Digits(v)) }

// inSentence are numbers among words: a sign, a space before a unit, a per cent sign.
var inSentence = regexp.MustCompile(`(^|[ \[(])-(\d)|(\d) (ns|µs|ms|s|[kMGT]?B|k|M|G|T)\b|(\d)%`)

// typesetNumbers is typeset for the numbers of a sentence; names stay.
func typesetNumbers(s string) string {
	return inSentence.ReplaceAllStringFunc(s, func(number string) string {
		if sign := strings.TrimLeft(number, " [("); strings.HasPrefix(sign, "-") {
			return number[:len(number)-len(sign)] + typeset(sign)
		}
		return typeset(number)
	})
}

func minus(s string) string { return strings.ReplaceAll(s, "-", "−") }

// share writes a part of 0 to 1 as a percentage.
func share(v float64) string { return typeset(text.Share(v, 1)) }

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
		s = strings.TrimSuffix(share(v), "%") + "pp"
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

// interval writes the interval of a change: "[−18.6, −16.9]", "" if nothing is known.
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

// count writes a number with separators between thousands.
func count(n int64) string { return typeset(text.Count(n)) }
