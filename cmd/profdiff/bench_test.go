//go:build linux

package main

import (
	"bufio"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"profdiff/internal/perffile/perffiletest"
)

var (
	benchRecording = flag.String("recording", "", "recording that BenchmarkConvert converts")
	benchFlags     = flag.String("convert-flags", "", "further flags of profdiff convert")
)

// BenchmarkConvert runs the program on a recording, by default a synthetic one of
// about 140 MB, and reports CPU seconds and peak memory of the process. A recording of
// a whole machine is made by
//
//	perf record -q -m 32M -e cpu-clock -F 7000 --call-graph fp -a -o /tmp/big.data -- testdata/mixed-load.sh 46
//
// and benchmarked without and with symbols by
//
//	go test -run - -bench Convert -recording /tmp/big.data
//	go test -run - -bench Convert -recording /tmp/big.data -convert-flags '--symfs /'
func BenchmarkConvert(b *testing.B) {
	dir := b.TempDir()
	program := filepath.Join(dir, "profdiff")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v: %s", err, out)
	}
	recording := *benchRecording
	if recording == "" {
		recording = filepath.Join(dir, "perf.data")
		f, err := os.Create(recording)
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
	info, err := os.Stat(recording)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	args := append([]string{"convert", recording, "-o", filepath.Join(dir, "out.pb.gz")}, strings.Fields(*benchFlags)...)
	var cpu, runs, peak float64
	for b.Loop() {
		cmd := exec.Command(program, args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("profdiff %q: %v: %s", args, err, out)
		}
		cpu += cmd.ProcessState.UserTime().Seconds() + cmd.ProcessState.SystemTime().Seconds()
		peak = max(peak, float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)/1024)
		runs++
	}
	b.ReportMetric(cpu/runs, "cpu-s/op")
	b.ReportMetric(peak, "peak-MiB")
}
