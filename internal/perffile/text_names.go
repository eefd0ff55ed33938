package perffile

import "strconv"

// A notation is how an integer is written. Parsers read plain numbers as well.
type notation struct {
	hex, signed bool
	omitZero    bool
	values      []string // name of the value i
	bits        []string // name of bit i
	wide        map[uint64]string
}

var (
	decimal     = &notation{}
	signed      = &notation{signed: true}
	hexadecimal = &notation{hex: true}
	// For fields that hold something only at times.
	hiddenZero        = &notation{hex: true, omitZero: true}
	hiddenZeroDecimal = &notation{omitZero: true}
)

func (n *notation) append(dst []byte, v uint64, width int) []byte {
	switch {
	case v >= ContextMax && n.wide[v] != "":
		return append(dst, n.wide[v]...)
	case v < uint64(len(n.values)) && n.values[v] != "":
		return append(dst, n.values[v]...)
	case len(n.bits) > 0 && v != 0:
		return n.appendBits(dst, v)
	case n.signed:
		return strconv.AppendInt(dst, int64(v)<<(64-8*width)>>(64-8*width), 10)
	case n.hex:
		return strconv.AppendUint(append(dst, "0x"...), v, 16)
	}
	return strconv.AppendUint(dst, v, 10)
}

// appendBits joins the names of the bits by |, and what has no name as one number.
func (n *notation) appendBits(dst []byte, v uint64) []byte {
	at := len(dst)
	for i, name := range n.bits {
		if name == "" || v>>i&1 == 0 {
			continue
		}
		if len(dst) > at {
			dst = append(dst, '|')
		}
		dst = append(dst, name...)
		v &^= 1 << i
	}
	if v != 0 {
		if len(dst) > at {
			dst = append(dst, '|')
		}
		dst = strconv.AppendUint(append(dst, "0x"...), v, 16)
	}
	return dst
}

// Names of values and bits, must match include/uapi/linux/perf_event.h.
var (
	eventTypeNames = &notation{values: []string{
		TypeHardware:   TypeHardware.String(),
		TypeSoftware:   TypeSoftware.String(),
		TypeTracepoint: TypeTracepoint.String(),
		TypeHWCache:    TypeHWCache.String(),
		TypeRaw:        TypeRaw.String(),
		TypeBreakpoint: TypeBreakpoint.String(),
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
	contextNames = &notation{hex: true, wide: map[uint64]string{
		ContextHV:           "PERF_CONTEXT_HV",
		ContextKernel:       "PERF_CONTEXT_KERNEL",
		ContextUser:         "PERF_CONTEXT_USER",
		ContextUserDeferred: "PERF_CONTEXT_USER_DEFERRED",
		ContextGuest:        "PERF_CONTEXT_GUEST",
		ContextGuestKernel:  "PERF_CONTEXT_GUEST_KERNEL",
		ContextGuestUser:    "PERF_CONTEXT_GUEST_USER",
	}}
	branchFlagNames = &notation{bits: []string{"MISPRED", "PREDICTED", "IN_TX", "ABORT"}}
	branchTypeNames = &notation{omitZero: true, values: []string{
		"UNKNOWN", "COND", "UNCOND", "IND", "CALL", "IND_CALL", "RET", "SYSCALL", "SYSRET",
		"COND_CALL", "COND_RET", "ERET", "IRQ", "SERROR", "NO_TX", "EXTEND_ABI",
	}}
	branchSpecNames = &notation{omitZero: true, values: []string{
		"NA", "WRONG_PATH", "NON_SPEC_CORRECT_PATH", "CORRECT_PATH",
	}}
	branchNewTypeNames = &notation{omitZero: true, values: []string{
		"UNKNOWN", "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1", "ARCH_2", "ARCH_3", "ARCH_4", "ARCH_5",
	}}
	branchPrivNames = &notation{omitZero: true, values: []string{"UNKNOWN", "USER", "KERNEL", "HV"}}
	protNames       = &notation{bits: []string{"READ", "WRITE", "EXEC"}}
	dsoTypeNames    = &notation{values: []string{
		DSOKernel: "KERNEL", DSOKernelModule: "KERNEL_MODULE", DSOELF: "ELF",
		DSODex: "DEX", DSOSymbolMap: "SYMBOL_MAP", DSOUnknown: "UNKNOWN",
	}}
)

// Bits of the misc field; those from 12 on depend on the type of the record.
var cpuModeNames = []string{"", "KERNEL", "USER", "HYPERVISOR", "GUEST_KERNEL", "GUEST_USER"}

var miscBitNames = []struct {
	bit   Misc
	name  string
	types []RecordType // nil: all others
}{
	{1 << 12, "PROC_MAP_PARSE_TIMEOUT", nil},
	{1 << 13, "MMAP_DATA", []RecordType{RecordMmap, RecordMmap2}},
	{1 << 13, "COMM_EXEC", []RecordType{RecordComm}},
	{1 << 13, "FORK_EXEC", []RecordType{RecordFork}},
	{1 << 13, "SWITCH_OUT", []RecordType{RecordSwitch, RecordSwitchCPUWide}},
	{1 << 14, "SWITCH_OUT_PREEMPT", []RecordType{RecordSwitch, RecordSwitchCPUWide}},
	{1 << 14, "MMAP_BUILD_ID", []RecordType{RecordMmap2}},
	{1 << 14, "EXACT_IP", nil},
	{1 << 15, "BUILD_ID_SIZE", []RecordType{RecordHeaderBuildID}},
	{1 << 15, "LOST_SAMPLES_BPF", []RecordType{RecordLostSamples}},
	{1 << 15, "EXT_RESERVED", nil},
}

// appendMisc writes the misc field of a record of type t: names joined by |.
func appendMisc(dst []byte, t RecordType, m Misc) []byte {
	at := len(dst)
	word := func(s string) {
		if len(dst) > at {
			dst = append(dst, '|')
		}
		dst = append(dst, s...)
	}
	if mode := m.CPUMode(); mode != 0 && int(mode) < len(cpuModeNames) {
		word(cpuModeNames[mode])
		m &^= miscCPUModeMask
	}
	for i := range miscBitNames {
		b := &miscBitNames[i]
		if m&b.bit == 0 {
			continue
		}
		match := b.types == nil
		for _, other := range b.types {
			match = match || other == t
		}
		if match {
			word(b.name)
			m &^= b.bit
		}
	}
	switch {
	case m != 0:
		word("0x" + strconv.FormatUint(uint64(m), 16))
	case len(dst) == at:
		word("0")
	}
	return dst
}
