package perfetto_test

import (
	"bytes"
	"testing"

	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfetto/perfettotest"
)

// BenchmarkRead reads traces twice and decodes all that this package does of them.
func BenchmarkRead(b *testing.B) {
	slices := func() *perfettotest.Trace {
		t := new(perfettotest.Trace)
		s := t.Sequence(1)
		s.Snapshot(perfetto.BootTime, perfettotest.Clock{ID: perfetto.BootTime, Time: 1}, perfettotest.Clock{ID: 64, Time: 1, Unit: 1000, Incremental: true})
		s.Clock(64)
		for len(t.Bytes()) < 1<<20 {
			for range 2000 {
				s.Begin(1, 7, "toplevel", "RunTask")
				s.End(1, 7)
			}
		}
		return t
	}
	kernel := func() *perfettotest.Trace { return perfettotest.Kernel(8 << 20) }
	for _, test := range []struct {
		name string
		make func() *perfettotest.Trace
	}{
		{"kernel", kernel},
		{"kernel in zlib", func() *perfettotest.Trace { t := kernel(); t.Zlib(); return t }},
		{"kernel in zstd", func() *perfettotest.Trace { t := kernel(); t.Zstd(); return t }},
		{"slices", slices},
	} {
		b.Run(test.name, func(b *testing.B) {
			data := test.make().Bytes()
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				src, err := input.New("benchmark", bytes.NewReader(data))
				if err != nil {
					b.Fatal(err)
				}
				trace, err := perfetto.Open(src, perfetto.Options{})
				if err == nil {
					err = walk(trace)
				}
				if err != nil || trace.Losses.Lines() != nil {
					b.Fatal(err, trace.Losses.Lines())
				}
			}
		})
	}
}
