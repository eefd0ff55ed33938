// Package perfstat reads what perf stat and simpleperf stat print: text for people, and
// what perf stat -x, perf stat -j and simpleperf stat --csv print for programs.
//
//  1. Lines become readings of counters: a name, a value with its unit, and the part of
//     the time in which the counter ran.
//  2. Readings of one counter on different CPUs, of different threads and in different
//     intervals add up. A counter that comes twice in one of them was asked for twice:
//     the first counts.
//  3. Times are nanoseconds.
//
// The sources are tools/perf/util/stat-display.c of Linux, perf-stat(1) and
// simpleperf/cmd_stat.cpp of AOSP.
package perfstat

import (
	"bytes"
	"errors"
	"time"

	"profdiff/internal/input"
)

// A Stat is what was counted in one run, or on average in several.
type Stat struct {
	Name         string // of the input
	Format, Tool string
	Duration     time.Duration // 0 if it is not known
	Repeats      int           // runs that values are means of (perf stat -r), 0 if that is not known
	Counters     []Counter
	Warnings     []string
}

// A Counter is the total of an event.
type Counter struct {
	Name  string // as it was asked for
	Unit  string // "" if none is printed
	Value float64
	// Running is the part of the time in which it ran, 0 if that is not known. Below 1
	// the value was extrapolated.
	Running float64
	// Spread is the standard error of a mean of repeated runs, as a part of the mean; 0 if that
	// is not known.
	Spread float64
}

// A Format is one of the formats. Its Read returns an error for an input that is not wholly
// of the format.
type Format = input.Format[func(*input.Source) (*Stat, error)]

// Names of the formats.
const (
	textName           = "perf stat"
	simpleperfTextName = "simpleperf stat"
	csvName            = "perf stat -x"
	jsonName           = "perf stat -j"
	simpleperfCSVName  = "simpleperf stat --csv"
)

// The formats.
var (
	Text           = Format{Text: true, Name: textName, Recognise: recogniseText(perfHead), Read: readText}
	SimpleperfText = Format{Text: true, Name: simpleperfTextName, Recognise: recogniseText(simpleperfHead), Read: readText}
	CSV            = Format{Text: true, Name: csvName, Recognise: recogniseCSV, Read: readCSV}
	JSON           = Format{Text: true, Name: jsonName, Recognise: recogniseJSON, Read: readJSON}
	SimpleperfCSV  = Format{Text: true, Name: simpleperfCSVName, Recognise: recogniseSimpleperfCSV, Read: readSimpleperfCSV}
)

// Read reads an input in any of the formats.
func Read(src *input.Source) (*Stat, error) {
	for _, f := range []Format{Text, SimpleperfText, JSON, SimpleperfCSV, CSV} {
		if src.Head.IsText() && f.Recognise(src.Head).Is {
			return f.Read(src)
		}
	}
	return nil, errors.New("is not of perf stat or simpleperf stat")
}

// recogniseText recognises text by the line that says what was counted, if a count or the
// time follows. What the program printed may precede it.
func recogniseText(start string) func(input.Head) input.Evidence {
	return func(head input.Head) (e input.Evidence) {
		open := false
		for line := range head.Lines() {
			line = bytes.TrimSpace(line)
			e.Seen++
			if !open {
				open = bytes.HasPrefix(line, []byte(start)) && bytes.HasSuffix(line, []byte(":"))
				if open {
					e.Known++
					e.Why = "no count follows its first line"
				}
				continue
			}
			if len(line) == 0 || line[0] == '#' {
				continue
			}
			_, err := parseTextRow(string(line))
			e.Is = err == nil
			return e
		}
		// There is nothing but the line: the reader says so.
		e.Is = open
		return e
	}
}

// recogniseCSV recognises what perf stat -x writes by its rows, which at least half of
// the lines are.
func recogniseCSV(head input.Head) (e input.Evidence) {
	separator := csvSeparator(head)
	if separator == "" {
		return e
	}
	for line := range head.Lines() {
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
			continue
		}
		e.Seen++
		fields := splitRow(line, separator)
		if _, _, ok := parseRow(fields); ok || isMetricRow(fields) {
			e.Known++
		}
	}
	e.Is = 2*e.Known >= e.Seen
	if isCommon := separator == "," || separator == ";" || separator == "\t"; !isCommon {
		e.Is = e.Known == e.Seen // texts are full of such separators
	}
	e.Why = "too few are VALUE,UNIT,EVENT,TIME,SHARE"
	return e
}

// recogniseJSON recognises what perf stat -j writes by the keys of its first object.
func recogniseJSON(head input.Head) input.Evidence {
	keys := head.Keys()
	return input.Evidence{Is: keys["counter-value"] || keys["event"] && keys["event-runtime"] || keys["metric-value"] && keys["metric-unit"]}
}

// recogniseSimpleperfCSV recognises what simpleperf stat --csv writes by its first line.
func recogniseSimpleperfCSV(head input.Head) input.Evidence {
	return input.Evidence{Is: bytes.HasPrefix(head.FirstLine(), []byte(simpleperfCSVHead))}
}
