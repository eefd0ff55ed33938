package perfstat

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/input"
)

// counters sums readings. Readings of different CPUs, threads and intervals add up.
type counters struct {
	order []string
	sums  map[string]*counterSum
	// seen holds the rows of the current interval: a counter that comes twice was
	// asked for twice.
	seen     map[string]bool
	repeated map[string]bool
	means    bool
	full     bool // there are more counters than maxCounters
}

// maxCounters is more counters than anybody asks for.
const maxCounters = 1 << 12

type counterSum struct {
	unit             string
	value            float64
	running, enabled float64 // nanoseconds
	share            float64 // of the time, where no running time is given
	rows, missing    int
	spread           float64 // of the last row
}

// A reading is what one line says of a counter.
type reading struct {
	scope   string // CPU, thread, …
	name    string
	unit    string // as printed
	value   float64
	counted bool    // else value says why not
	running float64 // nanoseconds, 0 is unknown
	share   float64 // of the time in which it ran, 0 is unknown
	mean    bool    // of repeated runs
	spread  float64 // of the mean, a part of it, 0 is unknown
}

func newCounters() *counters {
	return &counters{sums: make(map[string]*counterSum), seen: make(map[string]bool), repeated: make(map[string]bool)}
}

// results are the counters of a run as tools print them for programs: readings of
// intervals, and totals. If there are totals, they are the sums of the intervals.
type results struct {
	totals, intervals *counters
	rows              int
	last              float64 // time of the last interval in seconds, 0 if there is none
}

func newResults() *results { return &results{totals: newCounters(), intervals: newCounters()} }

// add adds a reading of the interval that ended at a time in seconds, or a total if that
// is nil.
func (t *results) add(r reading, at *float64) {
	t.rows++
	if at == nil {
		t.totals.add(r)
		return
	}
	if *at != t.last {
		clear(t.intervals.seen)
		t.last = *at
	}
	t.intervals.add(r)
}

// stat makes the result of what perf wrote in a format.
func (t *results) stat(src *input.Source, format string, lines *input.Lines) (*Stat, error) {
	if lines.Err() == nil && t.rows == 0 {
		lines.Fail("file ends without a counter")
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	s := &Stat{Name: src.Name, Format: format, Tool: "perf", Duration: seconds(t.last)}
	if len(t.totals.order) == 0 {
		t.totals = t.intervals
	}
	return t.totals.store(s)
}

func seconds(s float64) time.Duration { return time.Duration(min(s*1e9, 1<<62)) }

// add adds one reading.
func (c *counters) add(r reading) {
	key := r.scope + "\x00" + r.name
	if c.seen[key] {
		c.repeated[r.name] = true
		return
	}
	c.seen[key] = true
	c.means = c.means || r.mean
	s, ok := c.sums[r.name]
	if !ok {
		if len(c.order) == maxCounters {
			c.full = true
			return
		}
		s = &counterSum{}
		c.sums[r.name] = s
		c.order = append(c.order, r.name)
	}
	if !r.counted {
		s.missing++
		return
	}
	unit, factor := baseUnit(r.name, r.unit)
	s.unit = unit
	s.value += r.value * factor
	s.spread = r.spread
	s.rows++
	if r.share > 0 {
		s.share += r.share
		s.running += r.running
		s.enabled += r.running / r.share
	}
}

// baseUnit returns the base unit of a counter and the factor to it. perf prints times
// in milliseconds; before Linux 4.19 it did so without a unit.
func baseUnit(name, unit string) (base string, factor float64) {
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
		if event, _, _ := strings.Cut(name, ":"); event == "cpu-clock" || event == "task-clock" {
			return "nanoseconds", 1e6
		}
	}
	return unit, 1
}

// store completes a Stat with the sums.
func (c *counters) store(to *Stat) (*Stat, error) {
	if c.full {
		return nil, fmt.Errorf("has more than %d counters", maxCounters)
	}
	warn := func(format string, args ...any) { to.Warnings = append(to.Warnings, fmt.Sprintf(format, args...)) }
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
		out := Counter{Name: name, Unit: s.unit, Value: s.value}
		if s.rows == 1 {
			out.Spread = s.spread
		}
		switch {
		case s.enabled > 0:
			out.Running = s.running / s.enabled
		case s.share > 0:
			out.Running = s.share / float64(s.rows)
		}
		to.Counters = append(to.Counters, out)
	}
	if c.means {
		warn("values are means of repeated runs")
	}
	return to, nil
}

// parseValue reads a value as perf prints it, with the decimal point and the
// separators of thousands of any locale.
func parseValue(s string) (float64, bool) {
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
