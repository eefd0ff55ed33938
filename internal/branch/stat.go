package branch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Stat is what perf stat or simpleperf stat counted in one run, or on average in
// several.
type Stat struct {
	Name, Format, Tool string
	Counters           []Counter
	Warnings           []string
}

// A Counter is the total of an event.
type Counter struct {
	Name  string // as it was asked for
	Value float64
	// Running is the part of the time in which it ran, 0 if that is not known. Below 1
	// the value was extrapolated.
	Running float64
}

const (
	perfStatHead       = "Performance counter stats for "
	simpleperfStatHead = "Performance counter statistics:"
	maxStatLine        = 1 << 16
	maxStatCounters    = 1 << 12
)

// IsStatText reports whether head, the start of a file, is the text of perf stat or
// simpleperf stat. What they print for programs (-x, -j, --csv) is not.
func IsStatText(head []byte) bool {
	for line := range bytes.Lines(head) {
		line = bytes.TrimSpace(line)
		if bytes.HasPrefix(line, []byte(perfStatHead)) || bytes.HasPrefix(line, []byte(simpleperfStatHead)) {
			return true
		}
	}
	return false
}

// ReadStatText reads the text of perf stat or simpleperf stat: lines
//
//	VALUE [UNIT] EVENT [# METRIC] [( +- PART% )] [(RUNNING%)]
//
// between a line that says what was counted and the time that it took. What the
// program printed may precede it. Must match print_counter_line of
// tools/perf/util/stat-display.c of Linux and CounterSummaries::ShowText of
// simpleperf/cmd_stat.cpp.
func ReadStatText(name string, r io.Reader) (*Stat, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 4096), maxStatLine)
	s := &Stat{Name: name}
	number, open := 0, false
	for lines.Scan() {
		number++
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, perfStatHead):
			if s.Format != "" {
				return nil, fmt.Errorf("line %d: a second run: give one", number)
			}
			s.Format, s.Tool, open = "perf stat", "perf", true
			if strings.HasSuffix(line, " runs):") {
				s.Warnings = append(s.Warnings, "values are means of repeated runs")
			}
		case strings.HasPrefix(line, simpleperfStatHead):
			if s.Format != "" {
				return nil, fmt.Errorf("line %d: a second interval: give one", number)
			}
			s.Format, s.Tool, open = "simpleperf stat", "simpleperf", true
		case !open, line == "", line[0] == '#':
			if open && strings.Contains(line, "thread_name") || open && strings.Contains(line, "# cpu ") {
				return nil, fmt.Errorf("line %d: counts by thread or CPU: only those of all are read", number)
			}
		case strings.Contains(line, "seconds time elapsed"), strings.HasPrefix(line, "Total test time:"):
			open = false
		default:
			c, counted, err := parseStatLine(line)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", number, err)
			}
			if !counted {
				if c.Name != "" {
					s.Warnings = append(s.Warnings, c.Name+" was not counted")
				}
				continue
			}
			if slices.ContainsFunc(s.Counters, func(o Counter) bool { return o.Name == c.Name }) {
				s.Warnings = append(s.Warnings, c.Name+" is counted more than once, the first is taken")
				continue
			}
			if len(s.Counters) == maxStatCounters {
				return nil, fmt.Errorf("line %d: more than %d counters", number, maxStatCounters)
			}
			s.Counters = append(s.Counters, c)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("line %d: %w", number+1, err)
	}
	if len(s.Counters) == 0 {
		return nil, errors.New("no counters")
	}
	return s, nil
}

// parseStatLine reads a line. counted is false if it has no count: with a name if the
// event was not counted.
func parseStatLine(line string) (c Counter, counted bool, err error) {
	if before, after, ok := strings.Cut(line, "#"); ok {
		// The share of the time stands behind the metric.
		line = before
		if i := strings.LastIndexByte(after, '('); i >= 0 {
			line += " " + after[i:]
		}
	}
	if i := strings.LastIndexByte(line, '('); i >= 0 {
		if text, ok := strings.CutSuffix(strings.TrimSpace(line[i+1:]), "%)"); ok && !strings.Contains(text, "+-") {
			part, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || !(part >= 0 && part <= 100) {
				return c, false, fmt.Errorf("%q is no part of the time", Clip(line[i:]))
			}
			c.Running = part / 100
			line = line[:i]
		}
	}
	if i := strings.Index(line, "( +-"); i >= 0 {
		line = line[:i]
	}
	f := strings.Fields(line)
	if len(f) >= 3 && f[0] == "<not" {
		return Counter{Name: f[len(f)-1]}, false, nil
	}
	if len(f) < 2 {
		return c, false, nil // a metric in a line of its own
	}
	value, _, _ := strings.Cut(f[0], "(") // 0.688190(ms)
	if strings.Count(value, ".") > 1 {    // thousands of some locales
		value = strings.ReplaceAll(value, ".", "")
	}
	c.Value, err = strconv.ParseFloat(strings.NewReplacer(",", "", "'", "", "\u202f", "", "\u00a0", "").Replace(value), 64)
	if err != nil {
		if strings.HasSuffix(f[0], "%") {
			return c, false, nil
		}
		return c, false, fmt.Errorf("%q is no count of perf stat or simpleperf stat", Clip(line))
	}
	if last := f[len(f)-1]; last[0] == '(' { // task-clock (msec) of old versions
		f = f[:len(f)-1]
	}
	if len(f) == 3 && f[2] == "user" || len(f) >= 3 && f[1] == "seconds" {
		return Counter{}, false, nil // times of the process
	}
	c.Name = f[len(f)-1]
	if len(f) < 2 || len(f) > 3 || !(c.Value >= 0 && c.Value < 1e19) {
		return c, false, fmt.Errorf("%q is no count of perf stat or simpleperf stat", Clip(line))
	}
	return c, true, nil
}

// Clip shortens text for messages.
func Clip(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
