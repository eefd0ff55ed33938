package metric

import (
	"os"
	"path/filepath"
	"testing"

	"profdiff/internal/input"
)

// fuzz gives a reader data that may be damaged: it must end, with an error of one line or a set
// that holds what must hold of all.
func fuzz(f *testing.F, recognise func(input.Head) input.Evidence, files ...string) {
	for _, pattern := range files {
		names, err := filepath.Glob(filepath.Join("testdata", pattern))
		if err != nil || len(names) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(names), err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
			f.Add(data[:len(data)/2])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 || !input.Head(data).IsText() || !recognise(data).Is {
			return
		}
		_, _ = read(t, "fuzzed_ms", data)
	})
}

func FuzzHyperfine(f *testing.F)       { fuzz(f, recogniseHyperfine, "hyperfine-*.json") }
func FuzzGoBench(f *testing.F)         { fuzz(f, recogniseGoBench, "gobench-*.txt") }
func FuzzGoTestJSON(f *testing.F)      { fuzz(f, recogniseGoTestJSON, "gobench-*.json") }
func FuzzGoogleBenchmark(f *testing.F) { fuzz(f, recogniseGoogleBenchmark, "googlebenchmark-*.json") }
func FuzzJetpack(f *testing.F)         { fuzz(f, recogniseJetpack, "*-benchmarkData.json") }
func FuzzCriterion(f *testing.F)       { fuzz(f, recogniseCriterion, "criterion-0.5/fold/new/sample.json") }

func FuzzCargoCriterion(f *testing.F) { fuzz(f, recogniseCargoCriterion, "cargo-criterion-*.json") }
func FuzzCatapult(f *testing.F)       { fuzz(f, recogniseCatapult, "catapult-*.json") }
func FuzzPytest(f *testing.F)         { fuzz(f, recognisePytest, "pytest-*.json") }
func FuzzJMH(f *testing.F)            { fuzz(f, recogniseJMH, "jmh-*.json") }
func FuzzIperf(f *testing.F)          { fuzz(f, recogniseIperf, "iperf-*.json") }
func FuzzFio(f *testing.F)            { fuzz(f, recogniseFio, "fio-*.json") }
func FuzzChrome(f *testing.F)         { fuzz(f, recogniseChrome, "chrome-*.txt") }
func FuzzCSV(f *testing.F)            { fuzz(f, recogniseCSV, "table.csv") }
func FuzzNDJSON(f *testing.F)         { fuzz(f, recogniseNDJSON, "table.ndjson") }
func FuzzArray(f *testing.F)          { fuzz(f, recogniseArray, "records.json") }
func FuzzNumbers(f *testing.F) {
	f.Add([]byte("# ms\n1.5\n\n2 # slow\n-1\n1e309\n"))
	fuzz(f, recogniseNumbers, "perf-stat-6.1-r.txt")
}
