package ingest

import (
	"strconv"
	"strings"

	"profdiff/internal/perfscript"
	"profdiff/internal/run"
)

// scriptFacts are what the comments of --header tell: perf's of perf script, or the
// META_INFO section of simpleperf.
type scriptFacts struct {
	recording run.Recording
	events    map[string]perfscript.EventDesc
	clock     perfscript.Clock
}

// comment reads a line "# key : value".
func (f *scriptFacts) comment(line []byte) {
	key, v, ok := perfscript.ParseComment(line)
	if !ok {
		return
	}
	f.clock.Comment(key, v)
	r := &f.recording
	switch key {
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
	r.Host, r.Start = f.clock.Host, f.clock.Start()
	if f.clock.HasTime {
		r.Duration, r.FirstSample, r.LastSample = f.clock.Duration(), uint64(f.clock.First), uint64(f.clock.Last)
	}
	if r.Tool == "" && !f.clock.End.IsZero() {
		r.Tool = "simpleperf"
	}
}
