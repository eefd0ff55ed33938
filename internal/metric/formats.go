package metric

import (
	"fmt"
	"slices"

	"profdiff/internal/input"
	"profdiff/internal/perfstat"
)

// A Reader reads an input of one format into a set.
type Reader func(*input.Source, *Set) error

// formats has all formats that are read. Of those that recognise an input the first one
// reads it.
var formats = input.Table[Reader]{
	{Name: "hyperfine JSON", Text: true, Recognise: recogniseHyperfine, Read: readHyperfine},
	perfStat(perfstat.JSON),
	perfStat(perfstat.Text),
	perfStat(perfstat.SimpleperfText),
	perfStat(perfstat.SimpleperfCSV),
	{Name: "Google Benchmark JSON", Text: true, Recognise: recogniseGoogleBenchmark, Read: readGoogleBenchmark},
	{Name: "Jetpack Benchmark JSON", Text: true, Recognise: recogniseJetpack, Read: readJetpack},
	{Name: "criterion's sample.json", Text: true, Recognise: recogniseCriterion, Read: readCriterion},
	{Name: "cargo criterion --message-format=json", Text: true, Recognise: recogniseCargoCriterion, Read: readCargoCriterion},
	{Name: "Catapult histograms.json", Text: true, Recognise: recogniseCatapult, Read: readCatapult},
	{Name: "pytest-benchmark JSON", Text: true, Recognise: recognisePytest, Read: readPytest},
	{Name: "JMH JSON", Text: true, Recognise: recogniseJMH, Read: readJMH},
	{Name: "iperf3 JSON", Text: true, Recognise: recogniseIperf, Read: readIperf},
	{Name: "fio JSON", Text: true, Recognise: recogniseFio, Read: readFio},
	{Name: "Chrome histograms", Text: true, Recognise: recogniseChrome, Read: readChrome},
	{Name: "go test -bench", Text: true, Recognise: recogniseGoBench, Read: readGoBench},
	{Name: "go test -bench -json", Text: true, Recognise: recogniseGoTestJSON, Read: readGoTestJSON},
	perfStat(perfstat.CSV),
	{Name: "JSON lines with columns of values", Text: true, Recognise: recogniseNDJSON, Read: readNDJSON},
	{Name: "JSON array of records", Text: true, Recognise: recogniseArray, Read: readArray},
	{Name: "CSV with columns of values", Text: true, Recognise: recogniseCSV, Read: readCSV},
	{Name: Numbers, Text: true, Recognise: recogniseNumbers, Read: readNumbers},
}

// Names lists all formats that are read.
func Names() []string { return formats.Names() }

// Detect tells the format of an input by its content; the name does not matter.
func Detect(head input.Head) (*input.Format[Reader], error) { return formats.Detect(head) }

// Read reads an input of any of the formats.
func Read(src *input.Source) (*Set, error) {
	f, err := Detect(src.Head)
	if err != nil {
		return nil, err
	}
	s := &Set{Name: src.Name, Format: f.Name}
	if err := f.Read(src, s); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	if s.kept > maxValues {
		return nil, fmt.Errorf("%s: has more than %d values", f.Name, maxValues)
	}
	for _, m := range s.Metrics {
		m.Runs = withValues(m.Runs)
	}
	s.Metrics = slices.DeleteFunc(s.Metrics, func(m *Metric) bool { return len(m.Runs) == 0 && m.Summary == nil })
	if len(s.Metrics) == 0 {
		return nil, fmt.Errorf("%s: has no values", f.Name)
	}
	return s, nil
}
