// Package text writes numbers, units, names and tables: each output says the same thing in
// the same words.
//
//  1. Numbers have as many digits as are of use: four for costs, three for ratios.
//  2. A table is as wide as its cells; a column of "-" is left out.
//  3. Names come from recordings: what breaks a line, commands a terminal or means something
//     in Markdown is replaced or escaped (GitHub Flavored Markdown 0.29, CommonMark 0.31).
//  4. JSON has null for what is no number (RFC 8259, section 6).
package text

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

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

// byteUnits scale bytes.
var byteUnits = []struct {
	scale  float64
	suffix string
}{{1e12, " TB"}, {1e9, " GB"}, {1e6, " MB"}, {1e3, " kB"}}

// Weight writes a weight with four significant digits: nanoseconds as time, bytes with
// their unit, others as numbers.
func Weight(v float64, unit string) string {
	by, suffix := Scale(v, unit)
	if by == 1 && v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64) + suffix
	}
	return Digits(v/by) + suffix
}

// Scale is what Weight divides a weight by, and what it writes behind it.
func Scale(v float64, unit string) (by float64, suffix string) {
	units, suffix := siUnits, ""
	switch unit {
	case "nanoseconds":
		units, suffix = timeUnits, " ns"
	case "bytes":
		units, suffix = byteUnits, " B"
	}
	for _, u := range units {
		if math.Abs(v) >= u.scale {
			return u.scale, u.suffix
		}
	}
	return 1, suffix
}

// amounts are what units of measured values end in, behind a prefix of SI.
var amounts = map[string]string{
	"bytes/second": "B/s", "bits/second": "bit/s", "count/second": "/s", "joules": "J", "watts": "W",
}

// Amount writes a measured value with its unit: 12.50 ms, 609.1 MB/s, 5%. A unit that has no
// short form is left out.
func Amount(v float64, unit string) string {
	switch {
	case math.IsNaN(v):
		return "-"
	case math.IsInf(v, 0):
		return "∞"
	case unit == "percent":
		return strconv.FormatFloat(v, 'g', 4, 64) + "%"
	case unit == "celsius":
		return strconv.FormatFloat(v, 'g', 4, 64) + " °C"
	}
	end, ok := amounts[unit]
	small := math.Abs(v) < 1 && v != 0
	if small {
		s := strconv.FormatFloat(v, 'g', 4, 64)
		switch {
		case unit == "nanoseconds":
			s += " ns"
		case unit == "bytes":
			s += " B"
		case ok:
			s += " " + end
		}
		return s
	}
	s := Weight(v, unit)
	switch {
	case !ok:
	case strings.HasSuffix(s, "k") || strings.HasSuffix(s, "M") || strings.HasSuffix(s, "G") || strings.HasSuffix(s, "T"):
		s += end
	default:
		s += " " + end
	}
	return s
}

// Digits writes four significant digits of a number below 10,000.
func Digits(v float64) string {
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

// Delta is Weight with a sign.
func Delta(v float64, unit string) string {
	s := Weight(v, unit)
	if v > 0 {
		return "+" + s
	}
	return s
}

// Ratio writes a ratio of two costs.
func Ratio(r float64) string {
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

// Bound writes a bound of a ratio's interval.
func Bound(r float64) string {
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

// Share writes a share of 0 to 1 as a percentage.
func Share(part, whole float64) string {
	if whole == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*part/whole, 'f', 2, 64) + "%"
}

// Count writes a number with separators.
func Count(n int64) string {
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

// RoughPercent writes a share of 0 to 1 as a percentage with one decimal, from 10 % with
// none, and says only that it is more than 1000 %.
func RoughPercent(v float64) string {
	switch p := 100 * v; {
	case p >= 1000:
		return ">1000%"
	case p >= 10:
		return fmt.Sprintf("%.0f%%", p)
	default:
		return fmt.Sprintf("%.1f%%", p)
	}
}

// Percent writes a share of 0 to 1 as a percentage with one decimal.
func Percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) + "%" }

// Cycles writes what a miss costs with four significant digits.
func Cycles(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

// CappedPercent is Percent, and says only that it is more than 1000 %.
func CappedPercent(v float64) string {
	if !(v < 10) {
		return RoughPercent(v)
	}
	return strconv.FormatFloat(100*v, 'f', 1, 64) + "%"
}

// Factor writes a factor with three significant digits.
func Factor(v float64) string {
	switch {
	case math.IsInf(v, 0) || math.IsNaN(v):
		return "∞"
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Change writes a ratio as a change in percent.
func Change(ratio float64) string {
	switch {
	case math.IsNaN(ratio):
		return "-"
	case math.IsInf(ratio, 1):
		return "new"
	case ratio == 0:
		return "gone"
	case ratio >= 100:
		return ">+9900%"
	}
	s := strconv.FormatFloat(100*(ratio-1), 'f', 1, 64)
	if s == "-0.0" {
		s = "0.0"
	}
	if !strings.HasPrefix(s, "-") {
		s = "+" + s
	}
	return s + "%"
}

// P writes a p-value.
func P(p float64) string {
	switch {
	case p >= 0.9995:
		return "1"
	case p < 0.0001:
		return "<0.0001"
	case p < 0.001:
		return strconv.FormatFloat(p, 'f', 4, 64)
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// Plural is a noun in the number that goes with n.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// A Carry rounds the numbers of a series to whole ones so that any stretch of them
// adds up to their exact sum, at most one more or less: what rounding takes from a
// number is given to the next that is not zero. From the start of the series it is at
// most a half. A series of whole numbers stays as it is.
type Carry float64

// Round is the whole number for v, the next of the series.
func (c *Carry) Round(v float64) int64 {
	if v == 0 {
		return 0 // or a stack would cost something that a side does not have
	}
	v += float64(*c)
	r := math.Round(v)
	// Weights saturate, and so do their means.
	switch {
	case r >= math.MaxInt64:
		return math.MaxInt64
	case r <= -math.MaxInt64:
		return -math.MaxInt64
	}
	*c = Carry(v - r)
	return int64(r)
}

// Per writes what is per unit of work, with small values.
func Per(v float64) string {
	if math.IsInf(v, 0) {
		return strings.TrimPrefix(strings.Replace(strconv.FormatFloat(v, 'g', -1, 64), "Inf", "∞", 1), "+")
	}
	if a := math.Abs(v); a > 0 && a < 1 || math.IsNaN(v) {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return Weight(v, "count")
}

// Signed is Per with a sign.
func Signed(v float64) string {
	if v > 0 {
		return "+" + Per(v)
	}
	return Per(v)
}

// Relative writes a ratio as a change in percent, and a large one as a factor: +4.2%, ×18.5.
func Relative(ratio float64) string {
	switch {
	case math.IsNaN(ratio):
		return "-"
	case math.IsInf(ratio, 1):
		return "∞"
	case ratio >= 10_000:
		return "×" + strings.ReplaceAll(Weight(ratio, "count"), " ", "")
	case ratio >= 10:
		return "×" + Factor(ratio)
	}
	s := strconv.FormatFloat(100*(ratio-1), 'f', 1, 64)
	switch {
	case s == "-0.0" || s == "0.0":
		return "0.0%"
	case s == "-100.0" || ratio == 0:
		return "-100%"
	case ratio > 1:
		s = "+" + s
	}
	return s + "%"
}
