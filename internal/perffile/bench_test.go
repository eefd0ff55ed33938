package perffile_test

import (
	"bytes"
	"io"
	"testing"

	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"
)

func generated(tb testing.TB, spec perffiletest.Spec) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := perffiletest.Generate(&b, spec); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// benchSamples make about 64 MB.
const benchSamples = 350_000

// TestAllocations checks that reading allocates nothing per sample: ten times the
// samples, the same number of allocations.
func TestAllocations(t *testing.T) {
	for _, decoding := range []bool{false, true} {
		var n [2]float64
		for i, samples := range []int{10_000, 100_000} {
			// As many records of other types in both.
			data := generated(t, perffiletest.Spec{Samples: samples, CPUs: 4, RoundSamples: samples / 40})
			n[i] = testing.AllocsPerRun(2, func() { read(t, data, decoding) })
		}
		t.Logf("decoding %t: %v allocations for 10k samples, %v for 100k", decoding, n[0], n[1])
		if n[1] > n[0]+2 { // what grows in steps
			t.Errorf("decoding %t: %v allocations for 10k samples, %v for 100k", decoding, n[0], n[1])
		}
	}
}

// read reads a recording and returns the number of samples.
func read(tb testing.TB, data []byte, decoding bool) (n int) {
	f, err := perffile.New(bytes.NewReader(data), int64(len(data)), perffile.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	var s perffile.Sample
	for r, err := range f.Records() {
		if err != nil {
			tb.Fatal(err)
		}
		if r.Type != perffile.RecordSample {
			continue
		}
		n++
		if !decoding {
			continue
		}
		if err := r.DecodeSample(&s); err != nil {
			tb.Fatal(err)
		}
	}
	return n
}

func benchmarkRead(b *testing.B, decoding bool) {
	data := generated(b, perffiletest.Spec{Samples: benchSamples, Churn: 1000})
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if n := read(b, data, decoding); n != benchSamples {
			b.Fatalf("%d samples", n)
		}
	}
}

func BenchmarkRecords(b *testing.B)      { benchmarkRead(b, false) }
func BenchmarkDecodeSample(b *testing.B) { benchmarkRead(b, true) }

func BenchmarkWriteText(b *testing.B) {
	data := generated(b, perffiletest.Spec{Samples: benchSamples / 16, Churn: 1000})
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := perffile.WriteText(io.Discard, bytes.NewReader(data), int64(len(data)), perffile.TextOptions{Memory: true}); err != nil {
			b.Fatal(err)
		}
	}
}
