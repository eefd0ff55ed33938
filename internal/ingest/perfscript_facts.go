package ingest

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"profdiff/internal/run"
)

// scriptFacts are what the comments of --header tell: perf's of perf script, or the
// META_INFO section of simpleperf.
type scriptFacts struct {
	recording run.Recording
	attrs     map[string]scriptAttr // by event
	end       time.Time             // of the recording, by simpleperf
}

// scriptAttr is how an event was sampled.
type scriptAttr struct {
	period, frequency uint64
}

// comment reads a line "# key : value".
func (f *scriptFacts) comment(line []byte) {
	key, value, ok := bytes.Cut(bytes.TrimLeft(line, "# "), []byte(" :"))
	if !ok {
		return
	}
	v := text(bytes.TrimSpace(value))
	r := &f.recording
	switch strings.TrimSpace(string(key)) {
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
		f.event(v)
	}
}

// event reads the attributes of an event: name = cycles, , id = { 1, 2 }, type = 0,
// { sample_period, sample_freq } = 4000, …, freq = 1, …. Must match
// print_event_desc in tools/perf/util/header.c.
func (f *scriptFacts) event(v string) {
	name, ok := strings.CutPrefix(v, "name = ")
	if !ok {
		return
	}
	name, rest, _ := strings.Cut(name, ", , id")
	field := func(key string) uint64 {
		_, v, ok := strings.Cut(rest, ", "+key+" = ")
		if !ok {
			return 0
		}
		v, _, _ = strings.Cut(v, ",")
		n, err := strconv.ParseUint(strings.TrimSpace(v), 0, 64)
		if err != nil {
			return 0
		}
		return n
	}
	attr := scriptAttr{period: max(field("sample_period"), field("{ sample_period, sample_freq }"))}
	if field("freq") == 1 {
		attr = scriptAttr{frequency: attr.period}
	}
	if f.attrs == nil {
		f.attrs = make(map[string]scriptAttr)
	}
	f.attrs[strings.TrimSpace(name)] = attr
}

// describe takes the facts over.
func (f *scriptFacts) describe(r *run.Recording) {
	*r = f.recording
	r.Format = "perf script"
	if r.Tool == "" && !f.end.IsZero() {
		r.Tool = "simpleperf"
	}
}
