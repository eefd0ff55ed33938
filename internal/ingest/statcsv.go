package ingest

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"profdiff/internal/input"
	"profdiff/internal/run"
)

// readPerfStatCSV reads what perf stat -x SEP writes. A row is
//
//	[time,][scope,[cpus,]]value,unit,event,[cgroup,][variance%,]running,share[,metric,unit]
//
// with a time of intervals (-I) and a scope of -A, --per-core, --per-thread and the
// like. The separator may be any text. With --summary, rows without a time follow;
// they are what counts then. Must match print_counter_aggrdata and its callees in
// tools/perf/util/stat-display.c of Linux.
func readPerfStatCSV(src *input.Source, _ *Options) (*run.Run, error) {
	lines := src.Lines()
	intervals, totals := newCounters(), newCounters()
	separator := statSeparator(src.Head)
	var last float64
	hasIntervals := false
	scope := -1 // number of fields before the value, as the first rows have it
	for {
		raw, ok := lines.Next()
		if !ok {
			break
		}
		line := strings.TrimSpace(text(raw))
		if separator == "\t" {
			line = strings.Trim(text(raw), " ")
		}
		if line == "" || line[0] == '#' || separator == "" {
			continue
		}
		fields := strings.SplitN(line, separator, maxStatFields)
		row, prefix, ok := parseStatRow(fields)
		switch {
		case ok:
		case isMetricRow(fields):
			continue
		default:
			lines.Fail("%q is no row of perf stat", input.Clip(raw))
			continue
		}
		at, isInterval := statTime(prefix)
		switch {
		case isInterval:
			if at != last {
				intervals.interval()
				last = at
			}
			hasIntervals = true
			row.scope = strings.Join(prefix[1:], separator)
			intervals.add(row)
		default:
			if len(prefix) > 0 && strings.TrimSpace(prefix[0]) == "summary" {
				prefix = prefix[1:]
			}
			row.scope = strings.Join(prefix, separator)
			totals.add(row)
		}
		scope = len(prefix)
	}
	if lines.Err() == nil && scope < 0 {
		lines.Fail("file ends without a counter")
	}
	if lines.Err() != nil {
		return nil, lines.Err()
	}
	return statRun(src, "perf stat -x", totals, intervals, hasIntervals, last)
}

// maxStatFields is more fields than rows have.
const maxStatFields = 64

// statRun makes the run of counters that perf stat printed. If there are totals they
// are the sums of the intervals.
func statRun(src *input.Source, format string, totals, intervals *counters, hasIntervals bool, last float64) (*run.Run, error) {
	b := run.NewBuilder(src.Name)
	r := b.Run()
	r.Recording.Format, r.Recording.Tool = format, "perf"
	if hasIntervals {
		r.Recording.Duration = time.Duration(min(last*1e9, 1<<62))
	}
	if len(totals.order) == 0 {
		totals = intervals
	}
	totals.store(r)
	return b.Finish()
}

// statTime reads the time of an interval, in seconds.
func statTime(prefix []string) (seconds float64, ok bool) {
	if len(prefix) == 0 {
		return 0, false
	}
	whole, fraction, ok := strings.Cut(strings.TrimSpace(prefix[0]), ".")
	if !ok || len(fraction) != 9 {
		return 0, false
	}
	return parseCounter(whole + "." + fraction)
}

// statSeparator finds the separator of perf stat -x in the first row: what stands
// around the event and before the running time and the share, 100.00.
func statSeparator(head input.Head) string {
	for line := range head.Lines() {
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		for _, sep := range []string{",", ";", "\t", "|", ":", " ", "!", "@", "#", "%", "^", "&", "~", "::", ",,", "||"} {
			trimmed := strings.Trim(string(line), " ")
			if _, _, ok := parseStatRow(strings.SplitN(trimmed, sep, maxStatFields)); ok {
				return sep
			}
		}
	}
	return ""
}

// isPerfStat reports whether head has rows of perf stat -x. Separators that texts are
// full of must make a row of every line.
func isPerfStat(head input.Head) bool {
	sep := statSeparator(head)
	if sep == "" || sep == "," || sep == ";" || sep == "\t" {
		return sep != ""
	}
	for line := range head.Lines() {
		fields := strings.SplitN(strings.Trim(string(line), " "), sep, maxStatFields)
		if _, _, ok := parseStatRow(fields); !ok && len(line) > 0 && line[0] != '#' && !isMetricRow(fields) {
			return false
		}
	}
	return true
}

// parseStatRow takes a row apart. prefix is what stands before the value.
func parseStatRow(fields []string) (row counterRow, prefix []string, ok bool) {
	for i := 0; i < len(fields) && i <= 3 && i+4 < len(fields); i++ {
		value := strings.TrimSpace(fields[i])
		row = counterRow{unit: fields[i+1], name: fields[i+2]}
		if row.counted = !isUncounted(value); row.counted {
			if row.value, ok = parseCounter(value); !ok {
				continue
			}
		}
		if _, isNumber := parseCounter(row.name); isNumber || !isEventName(row.name) || !isStatUnit(row.unit) {
			continue
		}
		rest := fields[i+3:]
		if s, ok := strings.CutSuffix(rest[0], "%"); ok {
			if _, ok := parseCounter(s); ok {
				row.mean = true
				rest = rest[1:]
			}
		} else if _, isNumber := parseCounter(rest[0]); !isNumber {
			row.name += " cgroup=" + rest[0]
			rest = rest[1:]
		}
		if len(rest) < 2 {
			continue
		}
		running, ok1 := parseCounter(rest[0])
		share, ok2 := parseCounter(rest[1])
		if !ok1 || !ok2 || share > 100.5 {
			continue
		}
		row.running, row.share = running, min(share/100, 1)
		return row, fields[:i], true
	}
	return counterRow{}, nil, false
}

func isStatUnit(unit string) bool {
	if unit == "" {
		return true
	}
	_, isNumber := parseCounter(unit)
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

// readSimpleperfStat reads what simpleperf stat --csv writes: sections that start
// with "Performance counter statistics," and end with the test time, with rows
//
//	[thread,pid,tid,][cpu,]value,event,comment,[share%][,(generated)],
//
// where the value may have its unit: 0.688190(ms). With --interval there is a
// section per interval, each the sum since the start unless --interval-only-values
// was given. Must match CounterSummaries::ShowCSV in simpleperf/cmd_stat.cpp.
func readSimpleperfStat(src *input.Source, _ *Options) (*run.Run, error) {
	lines := src.Lines()
	var sections []*counters
	var seconds float64
	open := false
	for {
		raw, ok := lines.Next()
		if !ok {
			break
		}
		line := strings.TrimSpace(text(raw))
		fields := strings.SplitN(line, ",", maxStatFields)
		switch {
		case line == "":
		case fields[0] == "Performance counter statistics":
			if open {
				lines.Fail("section before has no end")
			}
			sections = append(sections, newCounters())
			open = true
		case fields[0] == "Total test time" && len(fields) > 1:
			if seconds, ok = parseCounter(fields[1]); !ok || !open {
				lines.Fail("%q is no test time", input.Clip(raw))
			}
			open = false
		case !open:
			lines.Fail("%q is none of simpleperf stat --csv", input.Clip(raw))
		default:
			if strings.Contains(line, ",tid,") && strings.Contains(line, ",time_enabled,") {
				continue // --verbose
			}
			row, ok := parseSimpleperfRow(fields)
			if !ok {
				lines.Fail("%q is no row of simpleperf stat --csv", input.Clip(raw))
				continue
			}
			if !slices.Contains(fields, "(generated)") { // the sum of :u and :k
				sections[len(sections)-1].add(row)
			}
		}
	}
	switch {
	case lines.Err() != nil:
	case len(sections) == 0:
		lines.Fail("file ends without a counter")
	case open:
		lines.Fail("file ends within a section")
	}
	if lines.Err() != nil {
		return nil, lines.Err()
	}
	b := run.NewBuilder(src.Name)
	r := b.Run()
	r.Recording.Format, r.Recording.Tool = "simpleperf stat --csv", "simpleperf"
	r.Recording.Duration = time.Duration(min(seconds*1e9, 1<<62))
	sum, cumulative := sumSections(sections)
	sum.store(r)
	if cumulative && len(sections) > 1 {
		r.Warnings = append(r.Warnings, "there are several intervals, each taken as the sum since the start: right unless --interval-only-values was given")
	}
	return b.Finish()
}

// sumSections makes one of the sections of intervals: the last, or the sum if a
// counter has gone down, which sums since the start cannot.
func sumSections(sections []*counters) (sum *counters, cumulative bool) {
	for i := 1; i < len(sections); i++ {
		for name, s := range sections[i].sums {
			if before := sections[i-1].sums[name]; before != nil && s.value < before.value {
				return addSections(sections), false
			}
		}
	}
	return sections[len(sections)-1], true
}

func addSections(sections []*counters) *counters {
	sum := newCounters()
	for _, c := range sections {
		for _, name := range c.order {
			s := *c.sums[name]
			if total := sum.sums[name]; total != nil {
				total.value += s.value
				total.running += s.running
				total.enabled += s.enabled
				total.share += s.share
				total.rows += s.rows
				total.missing += s.missing
				continue
			}
			sum.order = append(sum.order, name)
			sum.sums[name] = &s
		}
	}
	return sum
}

// parseSimpleperfRow takes a row apart. Names of threads may hold commas.
func parseSimpleperfRow(fields []string) (row counterRow, ok bool) {
	for i := 0; i+1 < len(fields); i++ {
		value, unit, hasUnit := strings.Cut(fields[i], "(")
		v, isValue := parseCounter(value)
		if !isValue || strings.Contains(value, ".") != hasUnit || !isEventName(fields[i+1]) || !isLetter(fields[i+1][0]) {
			continue
		}
		row = counterRow{
			scope: strings.Join(fields[:i], ","), name: fields[i+1], unit: strings.TrimSuffix(unit, ")"),
			value: v, counted: true,
		}
		// Old versions tell the share of time in which the counter ran: (75%).
		for _, f := range fields[i+2:] {
			if s, ok := strings.CutPrefix(f, "("); ok {
				if s, ok = strings.CutSuffix(s, "%)"); ok {
					if share, ok := parseCounter(s); ok && share <= 100 {
						row.share = share / 100
					}
				}
			}
		}
		return row, true
	}
	return counterRow{}, false
}

// isSimpleperfStat reports whether head starts like simpleperf stat --csv.
func isSimpleperfStat(head input.Head) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff\r\n"), []byte("Performance counter statistics,"))
}
