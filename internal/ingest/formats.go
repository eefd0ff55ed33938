// Package ingest turns recordings of every supported format into Runs.
//
//  1. The format of an input is told by its content: each line of the table of formats
//     says whether the start of the input is of it, see [Detect].
//  2. The reader of the format fills a [run.Builder] while it reads: memory is bounded by
//     the distinct stacks, not by the samples.
//
// A new format is a file with a recogniser and a reader, and a line of the table. A reader of
// several files is a package below this one; what readers share is in package reading.
package ingest

import (
	"fmt"

	"profdiff/internal/callgrind"
	"profdiff/internal/ftrace"
	"profdiff/internal/ingest/gecko"
	"profdiff/internal/ingest/jfr"
	"profdiff/internal/ingest/otlp"
	"profdiff/internal/ingest/perfdata"
	"profdiff/internal/ingest/pprof"
	"profdiff/internal/ingest/reading"
	"profdiff/internal/ingest/reportsample"
	"profdiff/internal/ingest/stackdump"
	"profdiff/internal/ingest/traces"
	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfscript"
	"profdiff/internal/perfstat"
	"profdiff/internal/run"
)

// A Format is a kind of input.
type Format = input.Format[reading.Reader]

// Options say how an input is read.
type Options = reading.Options

// The names of formats.
const (
	PerfData         = "perf.data"
	ReportSample     = "simpleperf report-sample --protobuf"
	ReportSampleText = "simpleperf report-sample"
	Pprof            = "pprof"
	JFR              = "Java Flight Recorder"
	OTLP             = otlp.Format
	OTLPLengths      = otlp.FormatLengths
	OTLPJSON         = otlp.FormatJSON
	Perfetto         = traces.Perfetto
	ChromeJSON       = traces.ChromeJSON
	V8Profile        = traces.V8Profile
	Ftrace           = traces.Ftrace
	Gecko            = "Firefox Profiler JSON"
	PerfScript       = "perf script"
	Folded           = "folded stacks"
	StackDump        = stackdump.Format
	Tombstone        = stackdump.Tombstone
	HotSpot          = stackdump.HotSpot
	ReportCSV        = "simpleperf report --csv"
	Callgrind        = "callgrind.out or cachegrind.out"
	Bpftrace         = "bpftrace maps"
)

// formats has all formats that are read. Of those that recognise an input the first one
// reads it: what has a magic number comes first, what is told by the form of its lines
// last.
var formats = input.Table[reading.Reader]{
	{Name: PerfData, Recognise: perfdata.Recognise, Read: perfdata.Read},
	{Name: ReportSample, Recognise: reportsample.Recognise, Read: reportsample.Read},
	{Name: JFR, Recognise: jfr.Recognise, Read: jfr.Read},
	{Name: OTLP, Recognise: otlp.Recognise, Read: otlp.Read},
	{Name: OTLPLengths, Recognise: otlp.RecogniseLengths, Read: otlp.ReadLengths},
	{Name: Perfetto, Recognise: perfetto.Recognise, Read: traces.Read},
	{Name: Pprof, Recognise: pprof.Recognise, Read: pprof.Read},
	{Name: Tombstone, Recognise: stackdump.RecogniseTombstone, Read: stackdump.ReadTombstone},
	{Name: ChromeJSON, Text: true, Recognise: traces.RecogniseChrome, Read: traces.ReadChrome},
	{Name: V8Profile, Text: true, Recognise: traces.RecogniseV8Profile, Read: traces.ReadV8Profile},
	{Name: OTLPJSON, Text: true, Recognise: otlp.RecogniseJSON, Read: otlp.ReadJSON},
	{Name: Gecko, Text: true, Recognise: gecko.Recognise, Read: gecko.Read},
	counters(perfstat.JSON),
	{Name: Callgrind, Text: true, Recognise: callgrind.Recognise, Read: readCallgrind},
	counters(perfstat.Text),
	counters(perfstat.SimpleperfText),
	counters(perfstat.SimpleperfCSV),
	{Name: ReportCSV, Text: true, Recognise: recogniseReportCSV, Read: readReportCSV},
	{Name: ReportSampleText, Text: true, Recognise: reportsample.RecogniseText, Read: reportsample.ReadText},
	{Name: HotSpot, Text: true, Recognise: stackdump.RecogniseHotSpot, Read: stackdump.ReadHotSpot},
	{Name: StackDump, Text: true, Recognise: stackdump.Recognise, Read: stackdump.Read},
	counters(perfstat.CSV),
	{Name: Bpftrace, Text: true, Recognise: recogniseBpftrace, Read: readBpftrace},
	{Name: Ftrace, Text: true, Recognise: ftrace.Recognise, Read: traces.ReadFtrace},
	{Name: PerfScript, Text: true, Recognise: perfscript.Recognise, Read: readPerfScript},
	{Name: Folded, Text: true, Recognise: recogniseFolded, Read: readFolded},
}

// Names lists all formats that are read.
func Names() []string { return formats.Names() }

// Detect tells the format of an input by its content; the name does not matter.
func Detect(src *input.Source) (*Format, error) { return formats.Detect(src.Head) }

// Read reads a recording of any supported format, told by its content.
func Read(src *input.Source, opt *reading.Options) (*run.Run, error) {
	f, err := Detect(src)
	if err != nil {
		return nil, err
	}
	return ReadAs(f, src, opt)
}

// ReadAs reads a recording of a format that [Detect] told.
func ReadAs(f *Format, src *input.Source, opt *reading.Options) (*run.Run, error) {
	r, err := f.Read(src, opt)
	if err == nil && opt.During != nil && !r.Recording.Timeline {
		return nil, fmt.Errorf("--during is for traces, which have slices and frames; this is %s", f.Name)
	}
	if err == nil && src.Merged != "" {
		// How often and for how long is not what the server writes there: it asked for all of a time.
		r.Recording.Merged, r.Recording.Duration = src.Merged, 0
		for i := range r.Events {
			r.Events[i].Period = 0
		}
	}
	return r, err
}
