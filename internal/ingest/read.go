package ingest

import (
	"fmt"
	"io"

	"profdiff/internal/perffile"
	"profdiff/internal/run"
)

// Read reads a recording of any supported format, told by its content, from its
// start. name is that of the input for messages and for the run. A reader that can
// be read at random (a regular file, a bytes.Reader) is read so where the format
// profits.
func Read(name string, r io.Reader, opt *Options) (*run.Run, error) {
	src, err := newSource(name, r)
	if err != nil {
		return nil, err
	}
	f, err := detect(src)
	if err != nil {
		return nil, err
	}
	switch f {
	case perfDataFormat:
		return readPerfDataSource(src, opt)
	case reportSampleFormat:
		return readReportSample(src, opt)
	case reportTextFormat:
		return readReportSampleText(src, opt)
	case pprofFormat:
		return readPprof(src, opt)
	case geckoFormat:
		return readGecko(src, opt)
	case perfScriptFormat:
		return readPerfScript(src, opt)
	case foldedFormat:
		return readFolded(src, opt)
	case stackDumpFormat:
		return readStackDump(src, opt)
	case tombstoneFormat:
		return readTombstoneProto(src, opt)
	case reportCSVFormat:
		return readReportCSV(src, opt)
	case simpleperfStat:
		return readSimpleperfStat(src, opt)
	case perfStatCSV:
		return readPerfStatCSV(src, opt)
	case perfStatJSON:
		return readPerfStatJSON(src, opt)
	case callgrindFormat:
		return readCallgrind(src, opt)
	}
	return nil, fmt.Errorf("format %v is not read", f)
}

// readPerfDataSource reads perf.data from a file, or, if it comes in the format of
// perf record -o -, from a stream. Other streams are copied to where they can be
// read at random.
func readPerfDataSource(src *source, opt *Options) (*run.Run, error) {
	options := perffile.Options{AllowTruncated: opt.AllowTruncated}
	if src.ReaderAt == nil && perffile.IsPipe(src.Head) {
		f, err := perffile.NewPipe(src.Reader, options)
		if err != nil {
			return nil, err
		}
		return readPerfData(src.Name, f, opt)
	}
	at, size := src.ReaderAt, src.Size
	if at == nil {
		if opt.Spool == nil {
			return nil, fmt.Errorf("a perf.data file must be read from a file, not from a stream")
		}
		spooled, err := opt.Spool(src.Reader)
		if err != nil {
			return nil, err
		}
		at, size = spooled, spooled.Size()
	}
	f, err := perffile.New(at, size, options)
	if err != nil {
		return nil, err
	}
	return readPerfData(src.Name, f, opt)
}
