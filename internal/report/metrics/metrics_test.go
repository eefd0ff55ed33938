package metrics

import (
	"bytes"
	"io"
	"testing"

	"profdiff/internal/input"
	"profdiff/internal/metric"
	"profdiff/internal/report/reporttest"
)

// files are read as one document: values by run, sums of repetitions, buckets, and what is not
// known of any.
var files = []struct{ name, text string }{
	{"go.txt", "goos: linux\ncpu: test\nBenchmarkA-8 10 5 ns/op 1 widgets/op\nBenchmarkA-8 10 7 ns/op 2 widgets/op\nBenchmarkB-8 x\n"},
	{"go2.txt", "BenchmarkA-8 10 6000 ns/op\n"},
	{"chrome.txt", "Histogram: Launch recorded 40 samples, mean = 864.4 (flags = 0x41)\n0 ...\n505 ---O (39 = 97.5%) {0.0%}\n572 -O (1 = 2.5%) {97.5%}\n\nHistogram: None recorded 0 samples (flags = 0x1)\n"},
	{"hf.json", `{"results":[{"command":"a","mean":1,"stddev":null,"median":1,"user":0.5,"system":0.25,"min":1,"max":1,"times":[1.0,1.5],"exit_codes":[0,1]}]}`},
	{"frames_ms", manyNumbers()},
}

func manyNumbers() string {
	var b bytes.Buffer
	for i := range 400 {
		b.WriteString(string(rune('0'+i%10)) + ".5\n")
	}
	return b.String()
}

func document(t *testing.T) *Document {
	t.Helper()
	var sets []*metric.Set
	for _, f := range files {
		src, err := input.New(f.name, bytes.NewReader([]byte(f.text)))
		if err != nil {
			t.Fatal(err)
		}
		src.Dir = "."
		s, err := metric.Read(src)
		if err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		sets = append(sets, s)
	}
	joined, err := metric.Join(sets)
	if err != nil {
		t.Fatal(err)
	}
	return New(sets, joined)
}

func TestText(t *testing.T) {
	d := document(t)
	reporttest.Golden(t, "testdata/show.txt", reporttest.Written(t, func(w io.Writer) error { return WriteText(w, d, 0) }))
	reporttest.Golden(t, "testdata/show-limit.txt", reporttest.Written(t, func(w io.Writer) error { return WriteText(w, d, 2) }))
}

func TestJSON(t *testing.T) {
	got := reporttest.Written(t, func(w io.Writer) error { return WriteJSON(w, document(t)) })
	reporttest.Golden(t, "testdata/show.json", got)
	reporttest.Validate(t, reporttest.Schema[Document](t, "metrics.schema.json"), got)
}

func TestCSV(t *testing.T) {
	d := document(t)
	reporttest.Golden(t, "testdata/show.csv", reporttest.Written(t, func(w io.Writer) error { return WriteCSV(w, d) }))
}
