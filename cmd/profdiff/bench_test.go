//go:build linux

package main

import (
	"bufio"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"profdiff/internal/cputime"
	"profdiff/internal/perffile"
	"profdiff/internal/perffile/perffiletest"
)

var (
	benchRecording = flag.String("recording", "", "recording that BenchmarkConvert converts")
	benchFlags     = flag.String("convert-flags", "", "further flags of profdiff convert")
	benchNames     = flag.Bool("names", false, "let it look for names in the files of this machine")
)

// BenchmarkConvert runs the program on a recording, by default a synthetic one of
// about 140 MB. In turn it decodes the same records and does nothing with them: cpu/decode is how
// much more CPU time the program takes, from start to exit, the least and the median of all turns; wall/cpu is
// the share of that which passes on the clock, peak-MiB the memory of the process. A recording of
// a whole machine of two CPUs is made by
//
//	perf record -q -m 32M -e cpu-clock -F 9000 --call-graph fp -a -o /tmp/big.data -- testdata/mixed-load.sh 41
//
// and benchmarked without and with names by
//
//	go test -run - -bench Convert -benchtime 7x -recording /tmp/big.data
//	go test -run - -bench Convert -benchtime 7x -recording /tmp/big.data -names
//
// The bounds are 2.5 times the CPU time of decoding, 110 MiB, and 0.6 of the CPU time on the clock; with names 1.4
// times as much CPU time. From such a recording to one of 800 MB (-F 25000, 85 seconds) memory is to grow to no more than
// 1.5 times as much.
func BenchmarkConvert(b *testing.B) {
	dir := b.TempDir()
	program := buildProgram(b)
	recording := *benchRecording
	if recording == "" {
		recording = filepath.Join(dir, "perf.data")
		writeRecording(b, recording)
	}
	info, err := os.Stat(recording)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	args := append([]string{"convert", recording, "-o", filepath.Join(dir, "out.pb.gz")}, strings.Fields(*benchFlags)...)
	env := os.Environ() // in which there are no files to name addresses by
	if *benchNames {
		env = append(env, "PROFDIFF_SYSROOT=")
	}
	var ratios, clocks []float64
	var cpus, peak float64
	for b.Loop() {
		decoded := decode(b, recording)
		cmd := exec.Command(program, args...)
		cmd.Env = env
		start := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("profdiff %q: %v: %s", args, err, out)
		}
		wall := time.Since(start)
		cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		ratios = append(ratios, cpu.Seconds()/decoded.Seconds())
		clocks = append(clocks, wall.Seconds()/cpu.Seconds())
		cpus += cpu.Seconds()
		peak = max(peak, float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024)
	}
	slices.Sort(ratios)
	slices.Sort(clocks)
	b.ReportMetric(cpus/float64(len(ratios)), "cpu-s/op")
	b.ReportMetric(ratios[0], "min-cpu/decode")
	b.ReportMetric(ratios[len(ratios)/2], "median-cpu/decode")
	b.ReportMetric(clocks[len(clocks)/2], "wall/cpu")
	b.ReportMetric(peak, "peak-MiB")
}

// writeRecording writes a synthetic recording.
func writeRecording(b *testing.B, name string) {
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	spec := perffiletest.Spec{
		Samples: 750_000, CPUs: 2, Processes: 100, DSOs: 100, Stacks: 50_000, RoundSamples: 5000, Churn: 500,
	}
	if err := perffiletest.Generate(w, spec); err != nil {
		b.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// decode returns the CPU time that it takes to decode all samples of a recording.
func decode(b *testing.B, name string) time.Duration {
	start := cputime.Now()
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	recording, err := perffile.New(f, info.Size(), perffile.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var s perffile.Sample
	for r, err := range recording.Records() {
		if err == nil && r.Type == perffile.RecordSample {
			err = r.DecodeSample(&s)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return cputime.Now() - start
}
