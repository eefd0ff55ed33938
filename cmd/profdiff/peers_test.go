package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/pprof/profile"
)

// These tests hold what other converters of the same recordings get wrong.

// valueIndex finds a sample type.
func valueIndex(t *testing.T, p *profile.Profile, name string) int {
	t.Helper()
	for i, st := range p.SampleType {
		if st.Type == name {
			return i
		}
	}
	t.Fatalf("no sample type %s in %v", name, p.SampleType)
	return -1
}

// TestInlinedLeafIsNamed: the innermost inlined function has its own name, not that
// of the function around it.
func TestInlinedLeafIsNamed(t *testing.T) {
	const heap = "../../profiles/message-heap"
	p := convert(t, "--symfs", filepath.Join(heap, "symbols"), filepath.Join(heap, "before/01.data"))
	inlined := 0
	for _, s := range p.Sample {
		lines := s.Location[0].Line
		if lines[0].Function.Name != "heap_first_child" {
			continue
		}
		inlined++
		if len(lines) != 2 || lines[1].Function.Name != "heap_sift_down" {
			t.Errorf("heap_first_child is in %v", lines[1:])
		}
		// The source has the function between these lines.
		if lines[0].Line < 125 || lines[0].Line > 131 || lines[1].Line < 146 {
			t.Errorf("heap_first_child:%d is inlined at line %d", lines[0].Line, lines[1].Line)
		}
	}
	if inlined < 10 {
		t.Errorf("heap_first_child has %d stacks", inlined)
	}
}

// TestThreadsAreKeptApart: samples with the same stack in different threads are not
// the same sample.
func TestThreadsAreKeptApart(t *testing.T) {
	p := convert(t, "--label", "tid", filepath.Join(sharedPerfdata(t), "simpleperf/perf_with_multiple_pids_and_tids.data"))
	got := make(map[int64]int64)
	for _, s := range p.Sample {
		got[s.NumLabel["tid"][0]] += s.Value[valueIndex(t, p, "cpu-cycles")]
	}
	// What simpleperf report --sort tid --raw-period prints.
	want := map[int64]int64{
		17444: 69335894, 17443: 69306197, 17445: 68098260, 17447: 67774246, 17441: 67534419, 17446: 64123768,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNoFrameVanishes: viewers only draw frames that have a line.
func TestNoFrameVanishes(t *testing.T) {
	p := convert(t, filepath.Join(sharedPerfdata(t), "simpleperf/perf_display_bitmaps.data"))
	for _, s := range p.Sample {
		if len(s.Location) == 0 {
			t.Error("sample without a frame")
		}
	}
	for _, loc := range p.Location {
		if len(loc.Line) == 0 || loc.Line[0].Function.Name == "" {
			t.Errorf("location %d at %#x has no name", loc.ID, loc.Address)
		}
	}
}

// TestNoSampleIsDropped: samples with short or broken stacks are samples.
func TestNoSampleIsDropped(t *testing.T) {
	for name, want := range map[string]int64{
		"wrong_ip_callchain_perf": 1887, "perf_display_bitmaps": 525, "aggregatable_perf1": 13452,
	} {
		p := convert(t, filepath.Join(sharedPerfdata(t), "simpleperf", name+".data"))
		var got int64
		for i := 0; i < len(p.SampleType); i += 2 {
			for _, s := range p.Sample {
				got += s.Value[i]
			}
		}
		if got != want {
			t.Errorf("%s: %d samples, want %d", name, got, want)
		}
	}
}

// TestLeafIsKept: the function that ran is on the stack.
func TestLeafIsKept(t *testing.T) {
	p := convert(t, filepath.Join(sharedPerfdata(t), "simpleperf/perf_with_jit_symbol.data"))
	at := valueIndex(t, p, "cpu-cycles")
	var run, total int64
	for _, s := range p.Sample {
		total += s.Value[at]
		if s.Location[0].Line[0].Function.Name == "com.android.simpleperf.debuggable.MainActivity$1.run" {
			run += s.Value[at]
		}
	}
	if got := fmt.Sprintf("%.2f", 100*float64(run)/float64(total)); got != "93.04" {
		t.Errorf("MainActivity$1.run has %s%%, want 93.04%%", got)
	}
}

// TestOffCPUIsApart: time on and off the CPU are two events, both in nanoseconds.
func TestOffCPUIsApart(t *testing.T) {
	p := convert(t, filepath.Join(sharedPerfdata(t), "simpleperf/perf_with_trace_offcpu_v2.data"))
	got := make(map[string]string)
	for i, st := range p.SampleType {
		if strings.HasSuffix(st.Type, "_samples") {
			continue
		}
		var sum int64
		for _, s := range p.Sample {
			sum += s.Value[i]
		}
		got[st.Type] = fmt.Sprintf("%.1f ms", float64(sum)/1e6)
		if st.Unit != "nanoseconds" && st.Type != "sched:sched_switch" {
			t.Errorf("%s is in %s", st.Type, st.Unit)
		}
	}
	delete(got, "sched:sched_switch")
	want := map[string]string{"cpu-clock:u": "52.0 ms", "on-cpu": "52.0 ms", "off-cpu": "344.1 ms"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestNamesAreNotSimplified: pprof cuts names that equal their system name, so that
// overloads and instances of templates fall together.
func TestNamesAreNotSimplified(t *testing.T) {
	overloads := 0
	for _, file := range []string{"perf_with_trace_offcpu_v2.data", "perf_with_symbols.data", "perf_display_bitmaps.data"} {
		p := convert(t, filepath.Join(sharedPerfdata(t), "simpleperf", file))
		for _, f := range p.Function {
			if strings.Contains(f.Name, "(") {
				overloads++
				if f.Name == f.SystemName {
					t.Errorf("%s: system name of %s is the same", file, f.Name)
				}
			}
		}
	}
	if overloads < 100 {
		t.Errorf("only %d names with arguments", overloads)
	}
}

// TestEventOrderIsCanonical: the order of the sample types does not depend on which
// event fired first.
func TestEventOrderIsCanonical(t *testing.T) {
	dir := filepath.Join(sharedPerfdata(t), "simpleperf")
	var got []string
	for _, st := range convert(t, filepath.Join(dir, "perf_with_two_event_types.data")).SampleType {
		got = append(got, st.Type)
	}
	want := []string{"cpu-cycles_samples", "cpu-cycles", "cpu-clock_samples", "cpu-clock"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
