package perfstat

import (
	"slices"
	"strings"

	"profdiff/internal/input"
)

// readSimpleperfCSV reads what simpleperf stat --csv writes: sections that start
// with "Performance counter statistics," and end with the test time, with rows
//
//	[thread,pid,tid,][cpu,]value,event,comment,[share%][,(generated)],
//
// where the value may have its unit: 0.688190(ms). With --interval there is a
// section per interval, each the sum since the start unless --interval-only-values
// was given. Must match CounterSummaries::ShowCSV in simpleperf/cmd_stat.cpp.
func readSimpleperfCSV(src *input.Source) (*Stat, error) {
	lines := src.Lines()
	var sections []*counters
	var total float64
	open := false
	for {
		raw, ok := lines.Next()
		if !ok {
			break
		}
		line := strings.TrimSpace(input.Text(raw))
		fields := strings.SplitN(line, ",", maxFields)
		switch {
		case line == "":
		case fields[0]+"," == simpleperfCSVHead:
			if open {
				lines.Fail("section before has no end")
			}
			sections = append(sections, newCounters())
			open = true
		case fields[0] == "Total test time" && len(fields) > 1:
			if total, ok = parseValue(fields[1]); !ok || !open {
				lines.Fail("%q is no test time", input.Clip(raw))
			}
			open = false
		case !open:
			lines.Fail("%q is none of simpleperf stat --csv", input.Clip(raw))
		default:
			if strings.Contains(line, ",tid,") && strings.Contains(line, ",time_enabled,") {
				continue // --verbose
			}
			r, ok := parseSimpleperfRow(fields)
			if !ok {
				lines.Fail("%q is no row of simpleperf stat --csv", input.Clip(raw))
				continue
			}
			if !slices.Contains(fields, "(generated)") { // the sum of :u and :k
				sections[len(sections)-1].add(r)
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
	s := &Stat{Name: src.Name, Format: simpleperfCSVName, Tool: "simpleperf", Duration: seconds(total)}
	sum, cumulative := sumSections(sections)
	if _, err := sum.store(s); err != nil {
		return nil, err
	}
	if cumulative && len(sections) > 1 {
		s.Warnings = append(s.Warnings, "there are several intervals, each taken as the sum since the start: right unless --interval-only-values was given")
	}
	return s, nil
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
func parseSimpleperfRow(fields []string) (r reading, ok bool) {
	for i := 0; i+1 < len(fields); i++ {
		value, unit, hasUnit := strings.Cut(fields[i], "(")
		v, isValue := parseValue(value)
		if !isValue || strings.Contains(value, ".") != hasUnit || !isEventName(fields[i+1]) || !isLetter(fields[i+1][0]) {
			continue
		}
		r = reading{
			scope: strings.Join(fields[:i], ","), name: fields[i+1], unit: strings.TrimSuffix(unit, ")"),
			value: v, counted: true,
		}
		// Old versions tell the share of time in which the counter ran: (75%).
		for _, f := range fields[i+2:] {
			if s, ok := strings.CutPrefix(f, "("); ok {
				if s, ok = strings.CutSuffix(s, "%)"); ok {
					if share, ok := parseValue(s); ok && share <= 100 {
						r.share = share / 100
					}
				}
			}
		}
		return r, true
	}
	return reading{}, false
}
