package ingest

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"profdiff/internal/run"
)

// counters sums the rows of a perf stat or simpleperf stat into the counters of a
// run. Rows for different CPUs, threads and intervals add up.
type counters struct {
	order []string
	sums  map[string]*counterSum
	// seen holds the rows of the current interval: a counter that comes twice was
	// asked for twice.
	seen     map[string]bool
	repeated map[string]bool
	means    bool
}

type counterSum struct {
	unit             string
	value            float64
	running, enabled float64 // nanoseconds
	share            float64 // of the time, where no running time is given
	rows, missing    int
}

// A counterRow is one reading of a counter.
type counterRow struct {
	scope   string // CPU, thread, …
	name    string
	unit    string // as printed
	value   float64
	counted bool    // else value says why not
	running float64 // nanoseconds, 0 is unknown
	share   float64 // of the time in which it ran, 0 is unknown
	mean    bool    // of repeated runs
}

func newCounters() *counters {
	return &counters{sums: make(map[string]*counterSum), seen: make(map[string]bool), repeated: make(map[string]bool)}
}

// interval starts a new interval.
func (c *counters) interval() { clear(c.seen) }

// add adds one reading.
func (c *counters) add(row counterRow) {
	key := row.scope + "\x00" + row.name
	if c.seen[key] {
		c.repeated[row.name] = true
		return
	}
	c.seen[key] = true
	c.means = c.means || row.mean
	s, ok := c.sums[row.name]
	if !ok {
		s = &counterSum{}
		c.sums[row.name] = s
		c.order = append(c.order, row.name)
	}
	if !row.counted {
		s.missing++
		return
	}
	unit, factor := counterUnit(row.name, row.unit)
	s.unit = unit
	s.value += row.value * factor
	s.rows++
	if row.share > 0 {
		s.share += row.share
		s.running += row.running
		s.enabled += row.running / row.share
	}
}

// counterUnit returns the base unit of a counter and the factor to it. perf prints
// times in milliseconds; before Linux 4.19 it did so without a unit.
func counterUnit(name, unit string) (base string, factor float64) {
	switch strings.ToLower(unit) {
	case "ns":
		return "nanoseconds", 1
	case "us", "usec":
		return "nanoseconds", 1e3
	case "ms", "msec":
		return "nanoseconds", 1e6
	case "s", "sec":
		return "nanoseconds", 1e9
	case "":
		if base := run.EventUnit(name); base != "nanoseconds" || name == "duration_time" {
			return base, 1
		}
		return "nanoseconds", 1e6
	}
	return unit, 1
}

// store gives the sums to r.
func (c *counters) store(r *run.Run) {
	warn := func(format string, args ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...)) }
	for _, name := range c.order {
		s := c.sums[name]
		if c.repeated[name] {
			warn("%s is counted more than once, the first is taken", name)
		}
		if s.rows == 0 {
			warn("%s was not counted", name)
			continue
		}
		if s.missing > 0 {
			warn("%s was not counted in %d of %d readings", name, s.missing, s.missing+s.rows)
		}
		out := run.Counter{Name: name, Unit: s.unit, Value: s.value}
		switch {
		case s.enabled > 0:
			out.Running = s.running / s.enabled
		case s.share > 0:
			out.Running = s.share / float64(s.rows)
		}
		r.Counters = append(r.Counters, out)
	}
	if c.means {
		warn("values are means of repeated runs")
	}
}

// parseCounter reads a value as perf prints it, with the decimal point and the
// separators of thousands of any locale.
func parseCounter(s string) (float64, bool) {
	var b strings.Builder
	dot := strings.LastIndexAny(s, ".,")
	// A separator is a decimal point if it is the only one of its kind, unless three
	// digits follow a comma.
	decimal := dot >= 0 && strings.Count(s, s[dot:dot+1]) == 1 && (s[dot] == '.' || len(s)-dot-1 != 3)
	digits := 0
	for i, r := range s {
		switch {
		case '0' <= r && r <= '9':
			b.WriteRune(r)
			digits++
		case i == dot && decimal:
			b.WriteByte('.')
		case r == '-' && i == 0:
			b.WriteByte('-')
		case (r == '.' || r == ',' || r == '\'' || r == '\u2019' || r == ' ' || r == '\u00a0' || r == '\u202f') && digits > 0 && i < len(s)-1:
		default:
			return 0, false
		}
	}
	if digits == 0 {
		return 0, false
	}
	v, err := strconv.ParseFloat(b.String(), 64)
	return v, err == nil && !math.IsInf(v, 0) && v >= 0
}

// isUncounted reports whether perf prints this instead of a value.
func isUncounted(s string) bool { return s == "<not counted>" || s == "<not supported>" }
