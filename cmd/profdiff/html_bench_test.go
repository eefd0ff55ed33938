//go:build linux

package main

import (
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var benchDiff = flag.String("diff", "../../profiles/message-heap/before ../../profiles/message-heap/after", "arguments of profdiff diff that BenchmarkDiff runs")

// BenchmarkDiff runs profdiff diff without and with a report, and reports CPU seconds of
// the process: what a report adds may be 15 % of what the comparison costs. Both in turns,
// and their ratio, are what
//
//	go -C internal/tools run ./measure -profdiff PROGRAM BEFORE AFTER
//
// prints. Of other recordings:
//
//	go test -run - -bench Diff -diff 'BEFORE AFTER --symfs DIR'
func BenchmarkDiff(b *testing.B) {
	dir := b.TempDir()
	program := buildProgram(b)
	for _, test := range []struct {
		name string
		more []string
	}{{"plain", nil}, {"html", []string{"--html", filepath.Join(dir, "report.html")}}} {
		b.Run(test.name, func(b *testing.B) {
			cpu := 0.0
			for b.Loop() {
				cmd := exec.Command(program, append(append([]string{"diff"}, strings.Fields(*benchDiff)...), test.more...)...)
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%q: %v: %s", cmd.Args, err, out)
				}
				cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
			}
			b.ReportMetric(cpu/float64(b.N), "cpu-s/op")
		})
	}
}
