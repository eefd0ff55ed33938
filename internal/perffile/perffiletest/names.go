package perffiletest

import (
	"fmt"
	"strconv"
	"strings"

	"profdiff/internal/perffile"
)

// A notation has the names of an integer's values or bits. All notations also read
// numbers.
type notation struct {
	values []string // name of the value i
	bits   []string // name of bit i
	wide   map[uint64]string
}

// plain is a number without names.
var plain = &notation{}

func (n *notation) parse(s string, width int) (uint64, error) {
	var v uint64
	for more := true; more; {
		var word string
		word, s, more = strings.Cut(s, "|")
		w, err := n.parseWord(word, width)
		if err != nil {
			return 0, err
		}
		v |= w
	}
	return v, nil
}

func (n *notation) parseWord(s string, width int) (uint64, error) {
	bad := func() (uint64, error) { return 0, fmt.Errorf("%q is no number of %d bytes", shorten(s), width) }
	switch {
	case s == "":
		return bad()
	case s[0] == '-':
		v, err := strconv.ParseInt(s, 10, 8*width)
		if err != nil {
			return bad()
		}
		return uint64(v) << (64 - 8*width) >> (64 - 8*width), nil
	case s[0] >= '0' && s[0] <= '9':
		v, err := parseTextUint(s)
		if err != nil || v>>(8*width-1)>>1 != 0 {
			return bad()
		}
		return v, nil
	}
	for i, name := range n.values {
		if name == s {
			return uint64(i), nil
		}
	}
	for i, name := range n.bits {
		if name == s {
			return 1 << i, nil
		}
	}
	for v, name := range n.wide {
		if name == s {
			return v, nil
		}
	}
	return 0, fmt.Errorf("unknown name %q", shorten(s))
}

// Names of values and bits, must match include/uapi/linux/perf_event.h.
var (
	eventTypeNames = &notation{values: []string{
		perffile.TypeHardware:   perffile.TypeHardware.String(),
		perffile.TypeSoftware:   perffile.TypeSoftware.String(),
		perffile.TypeTracepoint: perffile.TypeTracepoint.String(),
		perffile.TypeHWCache:    perffile.TypeHWCache.String(),
		perffile.TypeRaw:        perffile.TypeRaw.String(),
		perffile.TypeBreakpoint: perffile.TypeBreakpoint.String(),
	}}
	sampleTypeNames = &notation{bits: []string{
		"IP", "TID", "TIME", "ADDR", "READ", "CALLCHAIN", "ID", "CPU", "PERIOD", "STREAM_ID",
		"RAW", "BRANCH_STACK", "REGS_USER", "STACK_USER", "WEIGHT", "DATA_SRC", "IDENTIFIER",
		"TRANSACTION", "REGS_INTR", "PHYS_ADDR", "AUX", "CGROUP", "DATA_PAGE_SIZE",
		"CODE_PAGE_SIZE", "WEIGHT_STRUCT",
	}}
	readFormatNames = &notation{bits: []string{
		"TOTAL_TIME_ENABLED", "TOTAL_TIME_RUNNING", "ID", "GROUP", "LOST",
	}}
	branchSampleTypeNames = &notation{bits: []string{
		"USER", "KERNEL", "HV", "ANY", "ANY_CALL", "ANY_RETURN", "IND_CALL", "ABORT_TX",
		"IN_TX", "NO_TX", "COND", "CALL_STACK", "IND_JUMP", "CALL", "NO_FLAGS", "NO_CYCLES",
		"TYPE_SAVE", "HW_INDEX", "PRIV_SAVE", "COUNTERS",
	}}
	attrFlagNames = &notation{bits: []string{
		"disabled", "inherit", "pinned", "exclusive", "exclude_user", "exclude_kernel",
		"exclude_hv", "exclude_idle", "mmap", "comm", "freq", "inherit_stat", "enable_on_exec",
		"task", "watermark", "", "", "mmap_data", "sample_id_all", "exclude_host",
		"exclude_guest", "exclude_callchain_kernel", "exclude_callchain_user", "mmap2",
		"comm_exec", "use_clockid", "context_switch", "write_backward", "namespaces", "ksymbol",
		"bpf_event", "aux_output", "cgroup", "text_poke", "build_id", "inherit_thread",
		"remove_on_exec", "sigtrap", "defer_callchain", "defer_output",
	}}
	contextNames = &notation{wide: map[uint64]string{
		perffile.ContextHV:           "PERF_CONTEXT_HV",
		perffile.ContextKernel:       "PERF_CONTEXT_KERNEL",
		perffile.ContextUser:         "PERF_CONTEXT_USER",
		perffile.ContextUserDeferred: "PERF_CONTEXT_USER_DEFERRED",
		perffile.ContextGuest:        "PERF_CONTEXT_GUEST",
		perffile.ContextGuestKernel:  "PERF_CONTEXT_GUEST_KERNEL",
		perffile.ContextGuestUser:    "PERF_CONTEXT_GUEST_USER",
	}}
	branchFlagNames = &notation{bits: []string{"MISPRED", "PREDICTED", "IN_TX", "ABORT"}}
	branchTypeNames = &notation{values: []string{
		"UNKNOWN", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET",
		"COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR", "NO_TX", "EXTEND_ABI",
	}}
	branchSpecNames = &notation{values: []string{
		"NA", "WRONG_PATH", "NON_SPEC_CORRECT_PATH", "CORRECT_PATH",
	}}
	branchNewTypeNames = &notation{values: []string{
		"UNKNOWN", "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
	}}
	branchPrivNames = &notation{values: []string{"UNKNOWN", "USER", "KERNEL", "HV"}}
	auxFlagNames    = &notation{bits: []string{"TRUNCATED", "OVERWRITE", "PARTIAL", "COLLISION"}}
	chainTypeNames  = &notation{values: []string{
		"ORIGINAL_OFFLINE", "ORIGINAL_REMOTE", "JOINED_OFFLINE", "JOINED_REMOTE",
	}}
	updateNames  = &notation{values: []string{"UNIT", "SCALE", "NAME", "CPUS"}}
	cpuMapNames  = &notation{values: []string{"CPUS", "MASK", "RANGE_CPUS"}}
	protNames    = &notation{bits: []string{"READ", "WRITE", "EXEC"}}
	dsoTypeNames = &notation{values: []string{
		perffile.DSOKernel: "KERNEL", perffile.DSOKernelModule: "KERNEL_MODULE", perffile.DSOELF: "ELF",
		perffile.DSODex: "DEX", perffile.DSOSymbolMap: "SYMBOL_MAP", perffile.DSOUnknown: "UNKNOWN",
	}}
)

// Values of the misc field. What a bit from 12 on means depends on the type of the record.
var cpuModeNames = []string{"", "KERNEL", "USER", "HYPERVISOR", "GUEST_KERNEL", "GUEST_USER"}

var miscBitNames = map[string]perffile.Misc{
	"PROC_MAP_PARSE_TIMEOUT": 1 << 12,
	"MMAP_DATA":              1 << 13,
	"COMM_EXEC":              1 << 13,
	"FORK_EXEC":              1 << 13,
	"SWITCH_OUT":             1 << 13,
	"SWITCH_OUT_PREEMPT":     1 << 14,
	"MMAP_BUILD_ID":          1 << 14,
	"EXACT_IP":               1 << 14,
	"BUILD_ID_SIZE":          1 << 15,
	"LOST_SAMPLES_BPF":       1 << 15,
	"EXT_RESERVED":           1 << 15,
}

func parseMisc(s string) (perffile.Misc, error) {
	var m perffile.Misc
words:
	for word := range strings.SplitSeq(s, "|") {
		for i, name := range cpuModeNames {
			if name == word && i > 0 {
				m |= perffile.Misc(i)
				continue words
			}
		}
		if bit, ok := miscBitNames[word]; ok {
			m |= bit
			continue
		}
		v, err := parseTextUint(word)
		if err != nil || v > 1<<16-1 {
			return 0, fmt.Errorf("misc: unknown name %q", shorten(word))
		}
		m |= perffile.Misc(v)
	}
	return m, nil
}

// featureNames are the features that perf and simpleperf have.
var featureNames = func() *notation {
	n := &notation{values: make([]string, numFeatures)}
	for _, known := range [...][2]perffile.Feature{
		{perffile.FeatureTracingData, perffile.FeaturePMUCaps},
		{perffile.FeatureFile, perffile.FeatureInitMap},
	} {
		for f := known[0]; f <= known[1]; f++ {
			n.values[f] = f.String()
		}
	}
	return n
}()

// numFeatures is the size of the bitmap in the header, must match HEADER_FEAT_BITS in
// tools/perf/util/header.h.
const numFeatures = 256

func parseFeature(name string) (perffile.Feature, error) {
	v, err := featureNames.parse(name, 8)
	if err == nil && v >= numFeatures {
		err = fmt.Errorf("there is no feature %d", v)
	}
	return perffile.Feature(v), err
}
