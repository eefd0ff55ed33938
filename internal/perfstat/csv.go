package perfstat

import (
	"bytes"
	"strings"

	"profdiff/internal/input"
)

// readCSV reads what perf stat -x SEP writes. A row is
//
//	[time,][scope,[cpus,]]value,unit,event,[cgroup,][variance%,]running,share[,metric,unit]
//
// with a time of intervals (-I) and a scope of -A, --per-core, --per-thread and the
// like. The separator may be any text. With --summary, rows without a time follow;
// they are what counts then. Must match print_counter_aggrdata and its callees in
// tools/perf/util/stat-display.c of Linux.
func readCSV(src *input.Source) (*Stat, error) {
	lines, results := src.Lines(), newResults()
	separator := csvSeparator(src.Head)
	for {
		raw, ok := lines.Next()
		if !ok {
			break
		}
		if len(bytes.TrimSpace(raw)) == 0 || raw[0] == '#' || separator == "" || isUnnamed(raw) {
			continue
		}
		fields := splitRow(raw, separator)
		r, prefix, ok := parseRow(fields)
		switch {
		case ok:
		case isMetricRow(fields):
			continue
		default:
			lines.Fail("%q is no row of perf stat", input.Clip(raw))
			continue
		}
		at, isInterval := intervalTime(prefix)
		switch {
		case isInterval:
			prefix = prefix[1:]
		case len(prefix) > 0 && strings.TrimSpace(prefix[0]) == "summary":
			prefix = prefix[1:]
		}
		r.scope = strings.Join(prefix, separator)
		if isInterval {
			results.add(r, &at)
		} else {
			results.add(r, nil)
		}
	}
	return results.stat(src, csvName, lines)
}

// isUnnamed reports whether a line says that a thread ended before its name was read, which
// perf stat --per-thread writes among the rows on its standard error. Must match
// comm_init in tools/perf/util/thread_map.c of Linux.
func isUnnamed(line []byte) bool {
	return bytes.HasPrefix(line, []byte("Couldn't resolve comm name for pid "))
}

// splitRow takes a line apart into its fields.
func splitRow(line []byte, separator string) []string {
	return split(input.Text(line), separator)
}

func split(text, separator string) []string {
	cut := " \t"
	if separator == "\t" {
		cut = " "
	}
	return strings.SplitN(strings.Trim(text, cut), separator, maxFields)
}

const (
	// minFields is as many fields as the shortest row has: value, unit, event, running time, share.
	minFields = 5
	// maxFields is more fields than rows have.
	maxFields = 64
)

// intervalTime reads the time of an interval, in seconds.
func intervalTime(prefix []string) (seconds float64, ok bool) {
	if len(prefix) == 0 {
		return 0, false
	}
	whole, fraction, ok := strings.Cut(strings.TrimSpace(prefix[0]), ".")
	if !ok || len(fraction) != 9 {
		return 0, false
	}
	return parseValue(whole + "." + fraction)
}

// csvSeparator finds the separator of perf stat -x in the first row: what stands
// around the event and before the running time and the share, 100.00.
func csvSeparator(head input.Head) string {
	for line := range head.Lines() {
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		text := input.Text(line)
		for _, sep := range []string{",", ";", "\t", "|", ":", " ", "!", "@", "#", "%", "^", "&", "~", "::", ",,", "||"} {
			if strings.Count(text, sep)+1 < minFields {
				continue // most lines of most texts
			}
			if _, _, ok := parseRow(split(text, sep)); ok {
				return sep
			}
		}
	}
	return ""
}

// parseRow takes a row apart. prefix is what stands before the value.
func parseRow(fields []string) (r reading, prefix []string, ok bool) {
	for i := 0; i < len(fields) && i <= 3 && i+4 < len(fields); i++ {
		value := strings.TrimSpace(fields[i])
		r = reading{unit: fields[i+1], name: fields[i+2]}
		if r.counted = !isUncounted(value); r.counted {
			if r.value, ok = parseValue(value); !ok {
				continue
			}
		}
		if _, isNumber := parseValue(r.name); isNumber || !isEventName(r.name) || !isUnit(r.unit) {
			continue
		}
		rest := fields[i+3:]
		if s, ok := strings.CutSuffix(rest[0], "%"); ok {
			if spread, ok := parseValue(s); ok {
				r.mean, r.spread = true, spread/100
				rest = rest[1:]
			}
		} else if _, isNumber := parseValue(rest[0]); !isNumber {
			r.name += " cgroup=" + rest[0]
			rest = rest[1:]
		}
		if len(rest) < 2 {
			continue
		}
		running, ok1 := parseValue(rest[0])
		share, ok2 := parseValue(rest[1])
		if !ok1 || !ok2 || share > 100.5 {
			continue
		}
		r.running, r.share = running, min(share/100, 1)
		return r, fields[:i], true
	}
	return reading{}, nil, false
}

func isUnit(unit string) bool {
	if unit == "" {
		return true
	}
	_, isNumber := parseValue(unit)
	return !isNumber && len(unit) <= 24 && !isUncounted(unit)
}

// isEventName reports whether s may name an event.
func isEventName(s string) bool {
	for i := range len(s) {
		if isLetter(s[i]) {
			return !isUncounted(s)
		}
	}
	return false
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isMetricRow reports whether a row has but a further metric of the counter above:
// perf leaves the fields before it empty.
func isMetricRow(fields []string) bool {
	n := 0
	for _, f := range fields {
		if f == "" {
			n++
		}
	}
	return n >= 4
}
