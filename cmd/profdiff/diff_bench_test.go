//go:build linux

package main

import (
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"profdiff/internal/cputime"
	"profdiff/internal/input"
	"profdiff/internal/input/inputtest"
)

// A measuredRun is what a process took.
type measuredRun struct {
	cpu, wall time.Duration
	peak      float64 // bytes
}

// measure runs a program.
func measure(b *testing.B, program string, args ...string) measuredRun {
	cmd := exec.Command(program, args...)
	start := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("profdiff %q: %v: %s", args, err, out)
	}
	state := cmd.ProcessState
	return measuredRun{state.UserTime() + state.SystemTime(), time.Since(start), 1024 * float64(state.SysUsage().(*syscall.Rusage).Maxrss)}
}

// BenchmarkDiffReading compares the sides of -diff, and in turn reads each of their recordings alone:
// cpu/reading is how much more CPU time the comparison takes than reading all of them, the least
// and the median of all turns; wall/cpu is the share of that which passes on the clock. Two
// recordings of a whole machine of two CPUs are made by
//
//	for i in 1 2; do perf record -q -m 16M -e cpu-clock -F 9000 --call-graph fp -a -o /tmp/big$i.data -- testdata/mixed-load.sh 41; done
//
// and compared by
//
//	go test -run - -bench DiffReading -benchtime 7x -diff '/tmp/big1.data /tmp/big2.data'
//
// of which the bound is 1.3. Runs are read side by side: of two folders with ten recordings of
// 10 MB (mixed-load.sh 3) the bound of wall/cpu is 0.6 on two CPUs. Of two profiles that profdiff convert
// made of the recordings, cpu/inflating is the CPU time over four times that of inflating both and
// one second, and peak/size the memory over the size of both: the bounds are 1 and 8.
func BenchmarkDiffReading(b *testing.B) {
	program := buildProgram(b)
	sides := strings.Fields(*benchDiff)
	files, _, err := input.Files(sides[:2])
	if err != nil {
		b.Fatal(err)
	}
	var ratios, clocks, inflating []float64
	peak, size := 0.0, 0.0
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			b.Fatal(err)
		}
		size += float64(info.Size())
	}
	for b.Loop() {
		reading := time.Duration(0)
		for _, name := range files {
			reading += measure(b, program, "show", name).cpu
		}
		diff := measure(b, program, append([]string{"diff"}, sides...)...)
		ratios = append(ratios, diff.cpu.Seconds()/reading.Seconds())
		clocks = append(clocks, diff.wall.Seconds()/diff.cpu.Seconds())
		peak = max(peak, diff.peak)
		if strings.HasSuffix(files[0], ".gz") {
			inflating = append(inflating, diff.cpu.Seconds()/(4*inflate(b, files).Seconds()+1))
		}
	}
	for _, list := range [][]float64{ratios, clocks, inflating} {
		slices.Sort(list)
	}
	b.ReportMetric(ratios[0], "min-cpu/reading")
	b.ReportMetric(ratios[len(ratios)/2], "median-cpu/reading")
	b.ReportMetric(clocks[len(clocks)/2], "wall/cpu")
	if len(inflating) > 0 {
		b.ReportMetric(inflating[0], "min-cpu/inflating")
		b.ReportMetric(peak/size, "peak/size")
	}
	b.ReportMetric(peak/(1<<20), "peak-MiB")
}

// inflate returns the CPU time that it takes to inflate files.
func inflate(b *testing.B, files []string) time.Duration {
	start := cputime.Now()
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err == nil {
			_, err = io.Copy(io.Discard, z)
		}
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
	return cputime.Now() - start
}

// BenchmarkDiffFunctions compares 500,000 functions with 200,000 others, and half as many: time and
// memory grow with their number. The bound on memory is 1 GB.
func BenchmarkDiffFunctions(b *testing.B) {
	program, dir := buildProgram(b), b.TempDir()
	for _, size := range []struct {
		name       string
		base, head int
	}{{"250k", 250_000, 100_000}, {"500k", 500_000, 200_000}} {
		b.Run(size.name, func(b *testing.B) {
			base, head := filepath.Join(dir, "base"), filepath.Join(dir, "head")
			for name, data := range map[string][]byte{base: inputtest.FoldedFunctions(size.base, 0), head: inputtest.FoldedFunctions(size.head, 1)} {
				if err := os.WriteFile(name, data, 0o666); err != nil {
					b.Fatal(err)
				}
			}
			cpu, peak := 0.0, 0.0
			for b.Loop() {
				m := measure(b, program, "diff", base, head)
				cpu, peak = cpu+m.cpu.Seconds(), max(peak, m.peak)
			}
			b.ReportMetric(cpu/float64(b.N), "cpu-s/op")
			b.ReportMetric(peak/(1<<20), "peak-MiB")
		})
	}
}

// buildProgram builds profdiff.
func buildProgram(b *testing.B) string {
	program := filepath.Join(b.TempDir(), "profdiff")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v: %s", err, out)
	}
	return program
}
