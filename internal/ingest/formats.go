// Package ingest turns recordings of every supported format into Runs.
//
//  1. The format of an input is told by its content: each line of the table of formats
//     says whether the start of the input is of it, see [Detect].
//  2. The reader of the format fills a [run.Builder] while it reads: memory is bounded by
//     the distinct stacks, not by the samples.
//
// A new format is a file with a recogniser and a reader, and a line of the table.
package ingest

import (
	"bytes"

	"profdiff/internal/callgrind"
	"profdiff/internal/input"
	"profdiff/internal/perffile"
	"profdiff/internal/run"
)

// A reader reads an input of one format.
type reader = func(*input.Source, *Options) (*run.Run, error)

// A Format is a kind of input.
type Format = input.Format[reader]

// The names of formats.
const (
	PerfData          = "perf.data"
	ReportSample      = "simpleperf report-sample --protobuf"
	ReportSampleText  = "simpleperf report-sample"
	Pprof             = "pprof"
	Gecko             = "Firefox Profiler JSON"
	PerfScript        = "perf script"
	Folded            = "folded stacks"
	StackDump         = "Android stack dumps"
	Tombstone         = "Android tombstones in protobuf"
	ReportCSV         = "simpleperf report --csv"
	SimpleperfStatCSV = "simpleperf stat --csv"
	PerfStatCSV       = "perf stat -x"
	PerfStatJSON      = "perf stat -j"
	Callgrind         = "callgrind.out or cachegrind.out"
)

// formats has all formats that are read. Of those that recognise an input the first one
// reads it: what has a magic number comes first, what is told by the form of its lines
// last.
var formats = input.Table[reader]{
	{Name: PerfData, Recognise: only(func(head input.Head) bool { return perffile.IsPerfData(head) }), Read: readPerfDataSource},
	{Name: ReportSample, Recognise: magic(reportSampleMagic), Read: readReportSample},
	{Name: Pprof, Recognise: only(isPprof), Read: readPprof},
	{Name: Tombstone, Recognise: only(isTombstoneProto), Read: readTombstoneProto},
	{Name: Gecko, Recognise: ofText(isGecko), Read: readGecko},
	{Name: PerfStatJSON, Recognise: ofText(isPerfStatJSON), Read: readPerfStatJSON},
	{Name: Callgrind, Recognise: ofText(func(head input.Head) bool { return callgrind.Detect(head) }), Read: readCallgrind},
	{Name: SimpleperfStatCSV, Recognise: ofText(isSimpleperfStat), Read: readSimpleperfStat},
	{Name: ReportCSV, Recognise: ofText(isReportCSV), Read: readReportCSV},
	{Name: ReportSampleText, Recognise: ofText(isReportSampleText), Read: readReportSampleText},
	{Name: StackDump, Recognise: ofText(isStackDump), Read: readStackDump},
	{Name: PerfStatCSV, Recognise: ofText(isPerfStat), Read: readPerfStatCSV},
	{Name: PerfScript, Recognise: ofText(isPerfScript), Read: readPerfScript},
	{Name: Folded, Recognise: ofText(isFolded), Read: readFolded},
}

// magic recognises formats by what they start with.
func magic(start string) func(input.Head) input.Evidence {
	return only(func(head input.Head) bool { return bytes.HasPrefix(head, []byte(start)) })
}

// only makes a recogniser of a function that knows its format or does not.
func only(is func(input.Head) bool) func(input.Head) input.Evidence {
	return func(head input.Head) input.Evidence { return input.Evidence{Is: is(head)} }
}

// ofText makes a recogniser of a function that is only asked about text.
func ofText(is func(input.Head) bool) func(input.Head) input.Evidence {
	return only(func(head input.Head) bool { return head.IsText() && is(head) })
}

// Detect tells the format of an input by its content; the name does not matter.
func Detect(src *input.Source) (*Format, error) { return formats.Detect(src.Head) }

// Read reads a recording of any supported format, told by its content.
func Read(src *input.Source, opt *Options) (*run.Run, error) {
	f, err := Detect(src)
	if err != nil {
		return nil, err
	}
	return f.Read(src, opt)
}
