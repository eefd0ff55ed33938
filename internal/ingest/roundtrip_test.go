package ingest

import (
	"testing"

	"profdiff/internal/ingest/ingesttest"
	"profdiff/internal/ingest/pprof"
	"profdiff/internal/ingest/reading"
)

// TestRoundTrip checks that the profile that profdiff writes of a recording reads back the
// same, byte for byte.
func TestRoundTrip(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		read       reading.Reader
		opt        Options
	}{
		{name: "folded", text: "a;[libc.so];c_[i] 3\na;b\\;c_[k] 4\n", read: readFolded},
		{
			name: "perf script", read: readPerfScript, opt: Options{PID: true, CPU: true},
			text: "# event : name = cycles, , id = { 1 }, { sample_period, sample_freq } = 4000, freq = 1\na 1/2 [001] 1.5: 3 cycles:\n\t 12 f (inlined)\n\t 12 g (/x)\n\nb 1/3 [000] 2.5: 4 branch-misses:\n\t 12 [unknown] (/x)\n\ngarbage\n",
		},
		{
			name: "report --csv", read: readReportCSV,
			text: "Arch: arm64\nEvent: cpu-cycles (type 0, config 0)\nSamples: 20\nEvent count: 1000\n\n" +
				"Overhead,Sample,EventCount_cpu-cycles,EventCount_instructions,Symbol\n60%,7,600,33,f\n40%,5,400,44,g\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ingesttest.CheckRoundTrip(t, ingesttest.Read(t, tt.read, []byte(tt.text), &tt.opt), pprof.Read)
		})
	}
}
