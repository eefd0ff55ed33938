package ingest

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/run"
)

// readReportCSV reads what simpleperf report --csv writes: for each event some lines
// "Key: value" and a table. There are no call chains in it, so stacks have one frame.
//
// Fields are quoted if they hold the separator, and quotes in them are not escaped.
// Weights come from the columns EventCount or SelfEventCount; of reports that lack
// them, from the overhead, which has two decimals. Must match SampleDisplayer in
// simpleperf/SampleDisplayer.h and ReportCommand in cmd_report.cpp.
func readReportCSV(src *input.Source, opt *reading.Options) (*run.Run, error) {
	r := reportCSV{
		b: run.NewBuilder(src.Name), opt: opt, lines: src.Lines(), tally: reading.NewTally(),
		places: make(map[string]run.StackID),
	}
	r.files = reading.NewFiles(r.b)
	rec := &r.b.Run().Recording
	rec.Format, rec.Tool = "simpleperf report --csv", "simpleperf"
	for {
		line, ok := r.lines.Next()
		if !ok {
			break
		}
		r.line(line)
	}
	r.endSection()
	if r.lines.Err() == nil && r.tables == 0 {
		r.lines.Fail("file ends without a table")
	}
	if r.lines.Err() != nil {
		return nil, r.lines.Err()
	}
	if r.estimated {
		r.warn("weights are estimates from percentages: make the report with --print-event-count")
	}
	r.tally.Flush(r.b, opt, nil)
	if r.uncounted {
		r.warn("rows have no number of samples, each is taken as one: make the report with -n")
		for i := range r.b.Run().Events {
			r.b.Run().Events[i].MaxWeight = 0
		}
	}
	return r.b.Finish()
}

type reportCSV struct {
	b      *run.Builder
	opt    *reading.Options
	lines  *input.Lines
	files  reading.Files
	tally  *reading.Tally
	places map[string]run.StackID // by file, symbol and address

	section reportSection
	tables  int
	fields  [][]byte

	uncounted, estimated bool
}

// reportSection is the report of one event.
type reportSection struct {
	event        string
	samples      int64 // as it says, -1 is unknown
	total        int64 // weight as it says, -1 is unknown
	columns      []reportColumn
	separator    []byte
	sumOfSamples int64
	sumOfWeights int64
}

type reportColumn struct {
	kind  reportColumnKind
	event string // of weights
}

type reportColumnKind uint8

const (
	otherColumn reportColumnKind = iota
	overheadColumn
	sampleColumn
	pidColumn
	tidColumn
	commColumn
	dsoColumn
	symbolColumn
	vaddrColumn
	weightColumn
	eventNameColumn
	branchColumn
)

// maxReportColumns is more columns than reports have.
const maxReportColumns = 64

// reportColumns are the titles of columns. In reports with --children, Overhead is
// Self.
var reportColumns = map[string]reportColumnKind{
	"Children": otherColumn, "Overhead": overheadColumn, "Self": overheadColumn, "AccEventCount": otherColumn,
	"Sample": sampleColumn, "Pid": pidColumn, "Tid": tidColumn, "Command": commColumn,
	"Shared Object": dsoColumn, "Symbol": symbolColumn, "VaddrInFile": vaddrColumn,
	"EventCount": weightColumn, "SelfEventCount": weightColumn, "EventName": eventNameColumn,
	"Source Shared Object": branchColumn, "Source Symbol": branchColumn,
	"Target Shared Object": branchColumn, "Target Symbol": branchColumn,
}

func (r *reportCSV) warn(s string) { r.b.Run().Warnings = append(r.b.Run().Warnings, s) }

// line reads one line.
func (r *reportCSV) line(line []byte) {
	s := &r.section
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		if len(s.columns) > 0 {
			r.endSection()
		}
	case len(s.columns) > 0 && line[0] == ' ': // of a call graph, which -g adds
	case len(s.columns) > 0:
		r.row(line)
	case isReportHeader(line):
		r.header(line)
	default:
		r.fact(line)
	}
}

// isReportHeader reports whether a line holds the titles of a table.
func isReportHeader(line []byte) bool {
	for _, first := range []string{"Overhead", "Children"} {
		if rest, ok := bytes.CutPrefix(line, []byte(first)); ok && len(rest) > 0 && reportSeparator(rest) != nil {
			return true
		}
	}
	return false
}

// reportSeparator is what stands between the first title and the next, whose line
// goes on with rest.
func reportSeparator(rest []byte) []byte {
	at := -1
	for title := range reportColumns {
		if i := bytes.Index(rest, []byte(title)); i > 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return nil
	}
	return rest[:at]
}

// fact reads a line "Key: value" above a table.
func (r *reportCSV) fact(line []byte) {
	key, value, ok := strings.Cut(input.Text(line), ": ")
	if !ok {
		r.lines.Fail("%q is none of simpleperf report --csv", input.Clip(line))
		return
	}
	rec := &r.b.Run().Recording
	s := &r.section
	switch key {
	case "Cmdline":
		rec.CommandLine = value
	case "Arch":
		rec.Arch = value
	case "Event":
		name, _, _ := strings.Cut(value, " (type ")
		*s = reportSection{event: name, samples: -1, total: -1}
	case "Samples", "Event count", "Time in ns":
		n, err := input.ParseCount([]byte(value))
		if err != nil {
			r.lines.Fail("%s: %w", key, err)
			return
		}
		if key == "Samples" {
			s.samples = n
		} else {
			s.total = n
		}
	}
}

// header reads the titles of a table.
func (r *reportCSV) header(line []byte) {
	s := &r.section
	if s.event == "" {
		s.samples, s.total = -1, -1
	}
	_, rest, _ := bytes.Cut(line, line[:len("Overhead")])
	s.separator = append([]byte(nil), reportSeparator(rest)...)
	weights := 0
	for title := range strings.SplitSeq(string(line), string(s.separator)) {
		c := reportColumn{kind: reportColumns[title], event: s.event}
		for _, prefix := range []string{"EventCount_", "SelfEventCount_"} {
			if event, ok := strings.CutPrefix(title, prefix); ok {
				c = reportColumn{kind: weightColumn, event: event}
			}
		}
		switch c.kind {
		case branchColumn:
			r.lines.Fail("is a report of branches (-b), not of samples")
			return
		case weightColumn:
			weights++
		}
		s.columns = append(s.columns, c)
		if len(s.columns) > maxReportColumns {
			r.lines.Fail("table has more than %d columns", maxReportColumns)
			return
		}
	}
	r.tables++
	r.estimated = r.estimated || weights == 0
	if weights == 0 && s.total < 0 {
		r.lines.Fail("table has neither event counts nor an event count above it")
	}
	if s.event == "" && !slices.ContainsFunc(s.columns, func(c reportColumn) bool {
		return c.kind == eventNameColumn || c.kind == weightColumn && c.event != ""
	}) {
		s.event = "unknown"
	}
}

// row reads a row of a table.
func (r *reportCSV) row(line []byte) {
	s := &r.section
	var err error
	if r.fields, err = splitReportRow(r.fields[:0], line, s.separator, len(s.columns)); err != nil {
		r.lines.Fail("%w", err)
		return
	}
	th := reading.Thread{PID: -1, TID: -1, CPU: -1}
	count := int64(-1)
	event, dso, symbol := s.event, "", ""
	var vaddr uint64
	hasSymbol := false
	weights := make([]int64, 0, 2)
	var events []string
	var overhead float64
	for i, f := range r.fields {
		c := s.columns[i]
		switch c.kind {
		case sampleColumn:
			count, err = input.ParseCount(f)
		case pidColumn:
			th.PID, err = input.ParseCount(f)
		case tidColumn:
			th.TID, err = input.ParseCount(f)
		case commColumn:
			th.Comm = input.Text(f)
		case dsoColumn:
			dso = input.Text(f)
		case symbolColumn:
			symbol, hasSymbol = input.Text(f), true
		case vaddrColumn:
			vaddr, err = strconv.ParseUint(string(f), 0, 64)
		case eventNameColumn:
			event = input.Text(f)
		case weightColumn:
			var w int64
			w, err = input.ParseWeight(f)
			weights, events = append(weights, w), append(events, c.event)
		case overheadColumn:
			overhead, err = parseOverhead(f, s.total)
		}
		if err != nil {
			r.lines.Fail("column %d: %w", i+1, err)
			return
		}
	}
	if len(weights) == 0 {
		weights, events = append(weights, int64(math.RoundToEven(overhead*float64(max(s.total, 0))))), append(events, "")
	}
	if count < 0 {
		r.uncounted = true
	}
	stack := r.place(dso, symbol, vaddr, hasSymbol)
	for i, w := range weights {
		name := events[i]
		if name == "" {
			name = event
		}
		n := count
		if n < 0 {
			// At least one sample must have had the weight.
			n = min(w, 1)
		}
		if n == 0 && w == 0 {
			continue
		}
		e := run.Event{Name: name, WeightSqLowerBound: true}
		if i == 0 {
			s.sumOfSamples = reading.AddSaturating(s.sumOfSamples, n)
			s.sumOfWeights = reading.AddSaturating(s.sumOfWeights, w)
			in := &r.b.Run().Accounting.In
			if n > math.MaxInt64-*in {
				r.lines.Fail("there are more than 2^63 samples")
				return
			}
			*in += n
		} else {
			// Counted at the samples of the first event.
			e.Name, e.Unit, e.Derived = "counted:"+name, run.EventUnit(name), true
		}
		sq := float64(w) * float64(w)
		if n > 0 {
			sq /= float64(n)
		}
		r.tally.AddSum(r.b.Event(e), stack, r.tally.Thread(th), n, w, sq)
	}
}

// parseOverhead reads 12.34% as a share, or, of --raw-period, an event count.
func parseOverhead(f []byte, total int64) (float64, error) {
	number, percent := bytes.CutSuffix(f, []byte("%"))
	v, err := strconv.ParseFloat(string(number), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
		return 0, fmt.Errorf("%q is no overhead", input.Clip(f))
	}
	if percent {
		return v / 100, nil
	}
	if total <= 0 {
		return 0, nil
	}
	return v / float64(total), nil
}

// place returns the stack of one frame. Reports by thread or file alone have no
// symbols.
func (r *reportCSV) place(dso, symbol string, vaddr uint64, hasSymbol bool) run.StackID {
	key := dso + "\n" + symbol + "\n" + strconv.FormatUint(vaddr, 16)
	stack, ok := r.places[key]
	if ok {
		return stack
	}
	file, offset, unknown := reading.UnknownSymbol(symbol)
	if dso == "" {
		dso = file
	}
	if vaddr == 0 {
		vaddr = offset
	}
	fn := run.Function{Name: symbol}
	if unknown {
		fn = reading.UnknownFunction(dso, vaddr, r.opt)
	}
	if hasSymbol || reading.IsFile(dso) {
		mapping := r.files.Mapping(dso)
		r.files.Named(mapping, !unknown, false, false)
		stack = r.b.Stack(0, r.b.Location(mapping, vaddr, run.Line{Function: r.b.Function(fn)}))
	}
	r.places[key] = stack
	return stack
}

// endSection closes a table.
func (r *reportCSV) endSection() {
	s := &r.section
	if len(s.columns) > 0 && s.event != "" {
		r.b.Event(run.Event{Name: s.event, WeightSqLowerBound: true})
		counted := slices.ContainsFunc(s.columns, func(c reportColumn) bool { return c.kind == sampleColumn })
		if missing := s.samples - s.sumOfSamples; counted && s.samples >= 0 && missing > 0 {
			// --percent-limit leaves rows out.
			a := &r.b.Run().Accounting
			a.In = reading.AddSaturating(a.In, missing)
			a.Drop("not in the report", missing)
		}
		if s.total > 0 && s.sumOfWeights < s.total-s.total/1000 {
			r.warn(fmt.Sprintf("rows of %s have %.1f%% of its event count: make the report without --percent-limit and filters",
				s.event, 100*float64(s.sumOfWeights)/float64(s.total)))
		}
	}
	r.section = reportSection{samples: -1, total: -1}
}

// splitReportRow splits a row into n fields. A quoted field ends at a quote before a
// separator or the end of the line.
func splitReportRow(fields [][]byte, line, separator []byte, n int) ([][]byte, error) {
	for rest := line; ; {
		var f []byte
		more := false
		quoted := false
		if len(rest) > 0 && rest[0] == '"' {
			end := slices.Concat([]byte(`"`), separator)
			if i := bytes.Index(rest[1:], end); i >= 0 {
				f, rest, more, quoted = rest[1:1+i], rest[1+i+len(end):], true, true
			} else if len(rest) > 1 && rest[len(rest)-1] == '"' {
				f, quoted = rest[1:len(rest)-1], true
			}
		}
		if !quoted {
			f, rest, more = bytes.Cut(rest, separator)
		}
		fields = append(fields, f)
		if !more {
			break
		}
		if len(fields) > n {
			break
		}
	}
	if len(fields) != n {
		return fields, fmt.Errorf("row has %d fields, the table %d columns", len(fields), n)
	}
	return fields, nil
}

// recogniseReportCSV tells simpleperf report --csv by the titles of its table, behind lines
// "Key: value".
func recogniseReportCSV(head input.Head) (e input.Evidence) {
	for line := range head.Lines() {
		if isReportHeader(line) {
			e.Is = true
			return e
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		e.Seen++
		key, value, ok := bytes.Cut(line, []byte(": "))
		if line[0] == ' ' || line[0] == '\t' || !ok {
			break
		}
		switch string(key) {
		case "Event":
			if bytes.Contains(value, []byte(" (type ")) {
				e.Known++
			}
		case "Cmdline", "Arch", "Samples", "Event count", "Time in ns":
			e.Known++
		}
	}
	e.Why = "no table follows, whose titles start with Overhead or Children"
	return e
}
