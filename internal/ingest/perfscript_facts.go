package ingest

import (
	"strconv"
	"strings"
	"time"

	"profdiff/internal/perfscript"
	"profdiff/internal/run"
)

// scriptFacts are what the comments of --header tell: perf's of perf script, or the
// META_INFO section of simpleperf.
type scriptFacts struct {
	recording run.Recording
	events    map[string]perfscript.EventDesc
	end       time.Time // of the recording, by simpleperf
}

// comment reads a line "# key : value".
func (f *scriptFacts) comment(line []byte) {
	key, v, ok := perfscript.ParseComment(line)
	if !ok {
		return
	}
	r := &f.recording
	switch key {
	case "hostname":
		r.Host = v
	case "os release", "kernel_version":
		r.Kernel = v
	case "perf version":
		r.Tool = "perf " + v
	case "simpleperf_version":
		r.Tool = "simpleperf " + v
	case "arch":
		r.Arch = v
	case "nrcpus online":
		r.CPUs, _ = strconv.Atoi(v)
	case "cpudesc":
		r.CPU = v
	case "cpuid":
		r.CPUID = v
	case "cmdline":
		r.CommandLine = v
	case "product_props":
		r.Device = strings.Trim(v, ":")
	case "android_build_fingerprint":
		r.Build = v
	case "android_sdk_version":
		r.SDK = v
	case "app_package_name":
		r.App = v
	case "kernel_symbols_available":
		r.KernelSymbols = map[string]string{"true": "available", "false": "unavailable"}[v]
	case "trace_offcpu":
		r.TraceOffCPU = v == "true"
	case "timestamp":
		if t, err := strconv.ParseInt(v, 10, 64); err == nil && t > 0 && t < 1<<33 {
			f.end = time.Unix(t, 0).UTC()
		}
	case "event":
		if e, ok := perfscript.ParseEventDesc(v); ok {
			if f.events == nil {
				f.events = make(map[string]perfscript.EventDesc)
			}
			f.events[e.Name] = e
		}
	}
}

// describe takes the facts over.
func (f *scriptFacts) describe(r *run.Recording) {
	*r = f.recording
	r.Format = "perf script"
	if r.Tool == "" && !f.end.IsZero() {
		r.Tool = "simpleperf"
	}
}
