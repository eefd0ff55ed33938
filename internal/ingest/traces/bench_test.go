package traces

import (
	"fmt"
	"os"
	"testing"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/perfetto/perfettotest"
)

// manySamples is a trace of so many PerfSamples, of 20,000 stacks with 25 frames, on 8 CPUs.
func manySamples(n int) []byte {
	const stacks, depth, cpus = 20_000, 25, 8
	var tr perfettotest.Trace
	s := tr.Sequence(1)
	s.PerfDefaults(0, cpuClock, 0, 4000)
	ids := make([]uint64, stacks)
	for i := range ids {
		frames := make([]perfettotest.Frame, depth)
		for d := range frames {
			lib := (i + d) % 40
			pc := uint64(16 * ((i >> (depth - 1 - d)) % 4000))
			frames[d] = perfettotest.Frame{
				Function: fmt.Sprintf("_ZN3lib%d6methodEv%d", lib, pc), RelPC: pc,
				Mapping: fmt.Sprintf("/system/lib64/lib%d.so", lib), BuildID: fmt.Sprint("build of ", lib), Start: uint64(lib+1) << 24, End: uint64(lib+1)<<24 + 1<<20,
			}
		}
		ids[i] = s.Stack(frames...)
	}
	for i := range n {
		cpu, stack := i%cpus, i*7919%stacks
		pid := 100 + stack%7
		s.Perf(uint64(1_000_000+31_250*i), perfettotest.Sample{
			CPU: cpu, PID: pid, TID: pid + stack%11, Mode: 2, Stack: ids[stack], Count: 250_000 * uint64(i/cpus+1),
		})
	}
	return tr.Bytes()
}

// BenchmarkPerfSamples reads a million samples from a file. Memory is that of the distinct stacks.
func BenchmarkPerfSamples(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			file := b.TempDir() + "/trace"
			data := manySamples(n)
			if err := os.WriteFile(file, data, 0o600); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				src, err := input.Open(file, nil)
				if err != nil {
					b.Fatal(err)
				}
				r, err := Read(src, new(reading.Options))
				if err != nil || r.Accounting.Out != int64(n) {
					b.Fatal(err, r)
				}
				src.Close()
			}
		})
	}
}
