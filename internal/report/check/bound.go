package check

import (
	"fmt"
	"math"
	"strings"

	"profdiff/internal/verdict"
)

// boundTitle is the head of a column of bounds.
func boundTitle(alpha float64) string { return fmt.Sprintf("%.6g%% bound", 100*(1-alpha)) }

// Bound writes what decided: at most so much for what passes, at least so much for what
// fails, or the other way round where less is worse, else all that is left open. Beside the limit it reads as the verdict does, also
// where rounding would make both one number. It is "-" if nothing is excluded.
func (c *Numbers) Bound(v verdict.Verdict, format func(float64) string) string {
	lo, hi := c.Range.Lo, c.Range.Hi
	switch {
	case math.IsNaN(lo) && math.IsNaN(hi) || lo <= 0 && math.IsInf(hi, 1):
		return "-"
	case lo == hi && c.Predicted:
		return "-"
	case lo == hi:
		return "exact"
	case v == verdict.Pass && c.Least:
		return "≥ " + c.end(lo, format)
	case v == verdict.Fail && c.Least:
		if s := c.end(hi, format); strings.HasPrefix(s, "<") {
			return s
		}
		return "≤ " + c.end(hi, format)
	case v == verdict.Pass:
		return "≤ " + c.end(hi, format)
	case v == verdict.Fail:
		if s := c.end(lo, format); strings.HasPrefix(s, ">") {
			return s
		}
		return "≥ " + c.end(lo, format)
	}
	return fmt.Sprintf("[%s, %s]", c.end(lo, format), c.end(hi, format))
}

// end writes one end of a range: where it cannot be told from a limit by its digits, by the limit.
func (c *Numbers) end(v float64, format func(float64) string) string {
	switch {
	case math.IsInf(v, 1):
		return "∞"
	case c.Relative && v == 0: // nothing less is possible
		return "-100%"
	}
	s := format(v)
	for _, limit := range []struct {
		value *float64
		text  string
	}{{c.Limit, c.FailText}, {c.Warn, c.WarnText}} {
		// A whole number may be written shorter than what is next to it.
		if limit.value == nil || format(*limit.value) != s && format(math.Nextafter(*limit.value, v)) != s {
			continue
		}
		text, _, _ := strings.Cut(limit.text, " (")
		if v > *limit.value && !c.Least {
			return "> " + text
		}
		if v < *limit.value && c.Least {
			return "< " + text
		}
		return text
	}
	return s
}
