package perffile

// recordSpecs are the bodies of all records but SAMPLE, without the sample_id at
// the end of those of the kernel. Must match include/uapi/linux/perf_event.h,
// tools/lib/perf/include/perf/event.h and simpleperf/record.cpp, whose names of
// fields they have.
var recordSpecs = map[RecordType]textSpec{
	RecordMmap: {
		pid("pid"), pid("tid"), addr("start"), dec64("len"), addr("pgoff"), text("filename", 8),
	},
	RecordLost:       {dec64("id"), dec64("lost")},
	RecordComm:       {pid("pid"), pid("tid"), text("comm", 8)},
	RecordExit:       taskSpec,
	RecordThrottle:   throttleSpec,
	RecordUnthrottle: throttleSpec,
	RecordFork:       taskSpec,
	RecordRead:       {pid("pid"), pid("tid"), (*textPrinter).readValues},
	RecordMmap2: {
		pid("pid"), pid("tid"), addr("start"), dec64("len"), addr("pgoff"),
		(*textPrinter).inodeOrBuildID,
		num("prot", 4, protNames), num("flags", 4, hexadecimal), text("filename", 8),
	},
	RecordAux:           {addr("aux_offset"), dec64("aux_size"), num("flags", 8, auxFlagNames)},
	RecordItraceStart:   {pid("pid"), pid("tid")},
	RecordLostSamples:   {dec64("lost")},
	RecordSwitch:        {},
	RecordSwitchCPUWide: {pid("next_prev_pid"), pid("next_prev_tid")},
	RecordNamespaces: {
		pid("pid"), pid("tid"),
		structs(8, "link_info", 16, dec64("dev"), dec64("ino")),
	},
	RecordKsymbol: {
		addr("addr"), dec32("len"), dec16("ksym_type"), num("flags", 2, hexadecimal), text("name", 8),
	},
	RecordBPFEvent: {
		dec16("type"), num("flags", 2, hexadecimal), dec32("id"),
		array("tag", 8),
	},
	RecordCgroup:        {dec64("id"), text("path", 8)},
	RecordTextPoke:      {addr("addr"), (*textPrinter).textPoke},
	RecordAuxOutputHWID: {addr("hw_id")},

	RecordHeaderAttr: {
		nested("attr", (*textPrinter).attrOfItsSize), restNumbers("ids", 8, decimal),
	},
	RecordHeaderEventType: {dec64("event_id"), func(x *textPrinter) {
		x.str("name", x.c.rest(), func(n int) int { return alignUp(n, 8) })
	}},
	RecordHeaderTracingData: {dec32("size"), optional(blob("data"))},
	RecordHeaderBuildID:     buildIDSpec,
	RecordFinishedRound:     {},
	RecordIDIndex: {
		structs(8, "entries", 32,
			dec64("id"), dec64("idx"), num("cpu", 8, signed), num("tid", 8, signed)),
		optional(func(x *textPrinter) {
			n := uint64(x.c.remaining() / 16)
			x.structs("entries_2", n, 16, textSpec{num("machine_pid", 8, signed), num("vcpu", 8, signed)})
		}),
	},
	RecordAuxtraceInfo: {
		dec32("type"), hidden(4), restNumbers("priv", 8, hexadecimal),
	},
	RecordAuxtrace: {
		dec64("size"), addr("offset"), addr("reference"),
		dec32("idx"), pid("tid"), num("cpu", 4, signed), hidden(4),
	},
	RecordAuxtraceError: {
		dec32("type"), dec32("code"), num("cpu", 4, signed), pid("pid"), pid("tid"), dec32("fmt"),
		addr("ip"), dec64("time"), char("msg", 64),
		optional(pid("machine_pid"), dec32("vcpu")),
	},
	RecordThreadMap:  {structs(8, "entries", 24, num("pid", 8, signed), char("comm", 16))},
	RecordCPUMap:     {(*textPrinter).cpuMap},
	RecordStatConfig: {structs(8, "data", 16, dec64("tag"), dec64("val"))},
	RecordStat: {
		dec64("id"), num("cpu", 4, signed), dec32("thread"), dec64("val"), dec64("ena"), dec64("run"),
	},
	RecordStatRound:   {dec64("type"), dec64("time")},
	RecordEventUpdate: {(*textPrinter).eventUpdate},
	RecordTimeConv: {
		dec64("time_shift"), dec64("time_mult"), dec64("time_zero"),
		optional(dec64("time_cycles"), addr("time_mask"), dec8("cap_user_time_zero"),
			dec8("cap_user_time_short"), blob("padding")),
	},
	RecordHeaderFeature: {(*textPrinter).headerFeature},
	RecordCompressed:    {records("data")},
	RecordFinishedInit:  {},
	RecordCompressed2:   {sizedRecords("data", 8)},
	RecordBPFMetadata: {
		char("prog_name", 256),
		structs(8, "entries", 320, char("key", 64), char("value", 256)),
	},

	RecordKernelSymbol: {sizedText("kallsyms", 8)},
	RecordDSO:          {num("dso_type", 8, dsoTypeNames), dec64("dso_id"), addr("min_vaddr"), text("dso_name", 8)},
	RecordSymbol:       {addr("addr"), dec64("len"), dec64("dso_id"), text("name", 8)},
	RecordSplit:        {records("data")},
	RecordSplitEnd:     {},
	RecordEventID:      {structs(8, "data", 16, dec64("attr_id"), dec64("event_id"))},
	RecordCallchain: {
		pid("pid"), pid("tid"), num("chain_type", 8, chainTypeNames), dec64("time"),
		(*textPrinter).ipsAndSPs,
	},
	RecordUnwindingResult: {
		dec64("time"), dec64("used_time"), dec64("error_code"), addr("error_addr"),
		optional(
			addr("stack_start"), addr("stack_end"),
			nested("regs_user", func(x *textPrinter) {
				x.uint("abi", 8, decimal)
				x.regValues(x.uint("reg_mask", 8, hexadecimal))
			}),
			nested("stack_user", (*textPrinter).stackUser), (*textPrinter).ipsAndSPs,
		),
	},
	RecordTracingData: {sizedBytes(4, "data", 64)},
	RecordDebug:       {dec64("time"), text("s", 8)},
}

var (
	taskSpec     = textSpec{pid("pid"), pid("ppid"), pid("tid"), pid("ptid"), dec64("time")}
	throttleSpec = textSpec{dec64("time"), dec64("id"), dec64("stream_id")}
	buildIDSpec  = textSpec{
		pid("pid"), array("build_id", 20), dec8("size"),
		num("reserved_1", 1, hiddenZero), num("reserved_2", 2, hiddenZero), text("filename", 64),
	}

	auxFlagNames   = &notation{bits: []string{"TRUNCATED", "OVERWRITE", "PARTIAL", "COLLISION"}}
	chainTypeNames = &notation{values: []string{
		"ORIGINAL_OFFLINE", "ORIGINAL_REMOTE", "JOINED_OFFLINE", "JOINED_REMOTE",
	}}
	updateNames = &notation{values: []string{"UNIT", "SCALE", "NAME", "CPUS"}}
	cpuMapNames = &notation{values: []string{"CPUS", "MASK", "RANGE_CPUS"}}
)

// inodeOrBuildID is the union in struct perf_record_mmap2.
func (x *textPrinter) inodeOrBuildID() {
	if x.misc&MiscMmapBuildID == 0 {
		x.run(textSpec{dec32("maj"), dec32("min"), dec64("ino"), dec64("ino_generation")})
		return
	}
	x.run(textSpec{
		dec8("build_id_size"), num("reserved_1", 1, hiddenZero), num("reserved_2", 2, hiddenZero),
		array("build_id", 20),
	})
}

// textPoke is the change of code in a TEXT_POKE record.
func (x *textPrinter) textPoke() {
	before, after := x.c.uint(2), x.c.uint(2)
	x.bytes("old_bytes", before)
	x.bytes("new_bytes", after)
	x.pad(int(-(12 + before + after) & 7))
}

// attrOfItsSize is a struct perf_event_attr whose size field is right.
func (x *textPrinter) attrOfItsSize() {
	sizes := *x.c
	sizes.skip(4)
	size := sizes.u32()
	x.lossy = x.lossy || size < attrSizeVer0 // the text stands for one of the usual size
	x.attrStruct(int(max(size, attrSizeVer0)))
}

// cpuMap is struct perf_record_cpu_map_data.
func (x *textPrinter) cpuMap() {
	switch x.uint("type", 2, cpuMapNames) {
	case 0:
		x.numbers("cpu", x.c.uint(2), 2, decimal)
	case 1:
		n := x.c.uint(2)
		if x.uint("long_size", 2, decimal) == 4 {
			x.numbers("mask", n, 4, hexadecimal)
		} else {
			x.uint("reserved", 4, hiddenZero)
			x.numbers("mask", n, 8, hexadecimal)
		}
	case 2:
		x.run(textSpec{dec8("any_cpu"), hidden(1), dec16("start_cpu"), dec16("end_cpu")})
	}
}

func (x *textPrinter) eventUpdate() {
	kind := x.uint("type", 8, updateNames)
	dec64("id")(x)
	switch kind {
	case 0, 2:
		name := "name"
		if kind == 0 {
			name = "unit"
		}
		text(name, 8)(x)
	case 1:
		addr("scale")(x) // the bits of a double
	case 3:
		nested("cpus", (*textPrinter).cpuMap)(x)
	}
}

// sizedText is a counted string without NUL that is padded with zeros.
func sizedText(name string, align int) textStep {
	return func(x *textPrinter) {
		b := x.c.bytes(uint64(x.c.u32()))
		x.str(name, b, verbatim)
		x.pad(alignUp(len(b), align) - len(b))
	}
}

// records are records in another form, which fill the rest of the item.
func records(name string) textStep {
	return func(x *textPrinter) {
		if n := x.c.remaining(); n > 0 {
			x.records(name, uint64(n))
		}
	}
}

// sizedRecords are records in another form, padded to a multiple of align bytes.
func sizedRecords(name string, align int) textStep {
	return func(x *textPrinter) {
		n := x.c.u64()
		x.records(name, n)
		x.pad(int(-n & uint64(align-1)))
	}
}

func (x *textPrinter) records(name string, n uint64) {
	if x.holdsMemory() {
		x.secret(name, n)
	} else {
		x.bytes(name, n)
	}
}

// ipsAndSPs is a call chain of simpleperf.
func (x *textPrinter) ipsAndSPs() {
	n := x.c.u64()
	x.numbers("ips", n, 8, hexadecimal)
	x.numbers("sps", n, 8, hexadecimal)
}
