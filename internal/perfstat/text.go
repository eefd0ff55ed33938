package perfstat

import (
	"fmt"
	"strconv"
	"strings"

	"profdiff/internal/input"
)

// The lines that say what was counted.
const (
	perfHead          = "Performance counter stats for "
	simpleperfHead    = "Performance counter statistics:"
	simpleperfCSVHead = "Performance counter statistics,"
)

// readText reads the text of perf stat or simpleperf stat: lines
//
//	VALUE [UNIT] EVENT [# METRIC] [( +- PART% )] [(RUNNING%)]
//
// between a line that says what was counted and the time that it took. What the
// program printed may precede it. Must match print_counter_line of
// tools/perf/util/stat-display.c of Linux and CounterSummaries::ShowText of
// simpleperf/cmd_stat.cpp.
func readText(src *input.Source) (*Stat, error) {
	lines, counters := src.Lines(), newCounters()
	s := &Stat{Name: src.Name}
	open := false
	for {
		raw, ok := lines.Next()
		if !ok {
			break
		}
		line := strings.TrimSpace(input.Text(raw))
		switch {
		case strings.HasPrefix(line, perfHead):
			if s.Format != "" {
				lines.Fail("a second run: give one")
			}
			s.Format, s.Tool, open = textName, "perf", true
			if before, ok := strings.CutSuffix(line, " runs):"); ok {
				counters.means = true
				s.Repeats, _ = strconv.Atoi(before[strings.LastIndexByte(before, '(')+1:])
			}
		case strings.HasPrefix(line, simpleperfHead):
			if s.Format != "" {
				lines.Fail("a second interval: give one")
			}
			s.Format, s.Tool, open = simpleperfTextName, "simpleperf", true
		case !open, line == "", line[0] == '#':
			if open && (strings.Contains(line, "thread_name") || strings.Contains(line, "# cpu ")) {
				lines.Fail("counts by thread or CPU: only those of all are read")
			}
		case strings.Contains(line, "seconds time elapsed"), strings.HasPrefix(line, "Total test time:"):
			open = false
			took, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "Total test time:")), " ")
			if at, ok := parseValue(took); ok {
				s.Duration = seconds(at)
			}
		default:
			r, err := parseTextRow(line)
			if err != nil {
				lines.Fail("%w", err)
			} else if r.name != "" {
				counters.add(r)
			}
		}
	}
	if len(counters.order) == 0 {
		lines.Fail("file ends without a counter")
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return counters.store(s)
}

// parseTextRow reads a line. The reading has no name if the line is no count.
func parseTextRow(line string) (r reading, err error) {
	if before, after, ok := strings.Cut(line, "#"); ok {
		// The share of the time stands behind the metric.
		line = before
		if i := strings.Index(after, "( +-"); i >= 0 {
			line += " " + after[i:]
		} else if i := strings.LastIndexByte(after, '('); i >= 0 {
			line += " " + after[i:]
		}
	}
	if i := strings.LastIndexByte(line, '('); i >= 0 {
		if text, ok := strings.CutSuffix(strings.TrimSpace(line[i+1:]), "%)"); ok && !strings.Contains(text, "+-") {
			share, ok := parseValue(strings.TrimSpace(text))
			if !ok || share > 100 {
				return r, fmt.Errorf("%q is no part of the time", input.Clip(line[i:]))
			}
			r.share = share / 100
			line = line[:i]
		}
	}
	if i := strings.Index(line, "( +-"); i >= 0 {
		spread, _, _ := strings.Cut(line[i+len("( +-"):], "%")
		if v, ok := parseValue(strings.TrimSpace(spread)); ok {
			r.spread = v / 100
		}
		line = line[:i]
	}
	f := strings.Fields(line)
	switch {
	case len(f) >= 3 && f[0] == "<not":
		return reading{name: f[len(f)-1]}, nil
	case len(f) < 2 || strings.HasSuffix(f[0], "%"):
		return reading{}, nil // a metric in a line of its own
	case len(f) == 3 && f[2] == "user", f[1] == "seconds":
		return reading{}, nil // times of the process
	}
	value, unit, _ := strings.Cut(f[0], "(") // 0.688190(ms)
	r.unit = strings.TrimSuffix(unit, ")")
	if last := f[len(f)-1]; last[0] == '(' { // task-clock (msec) of old versions
		r.unit = strings.Trim(last, "()")
		f = f[:len(f)-1]
	}
	if len(f) == 3 {
		r.unit = f[1]
	}
	r.value, r.counted = parseValue(value)
	r.name = f[len(f)-1]
	if !r.counted || len(f) < 2 || len(f) > 3 || !isEventName(r.name) || r.value >= maxValue {
		return reading{}, fmt.Errorf("%q is no count of perf stat or simpleperf stat", input.Clip(line))
	}
	return r, nil
}

// maxValue is more than a counter of 64 bits has.
const maxValue = 1e20
