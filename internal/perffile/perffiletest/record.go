package perffiletest

import "profdiff/internal/perffile"

// recordSpecs are the bodies of all records but SAMPLE, without the sample_id at
// the end of those of the kernel. Must match include/uapi/linux/perf_event.h,
// tools/lib/perf/include/perf/event.h and simpleperf/record.cpp, whose names of
// fields they have.
var recordSpecs = map[perffile.RecordType]spec{
	perffile.RecordMmap: {
		u32("pid"), u32("tid"), u64("start"), u64("len"), u64("pgoff"), text("filename"),
	},
	perffile.RecordLost:       {u64("id"), u64("lost")},
	perffile.RecordComm:       {u32("pid"), u32("tid"), text("comm")},
	perffile.RecordExit:       taskSpec,
	perffile.RecordThrottle:   throttleSpec,
	perffile.RecordUnthrottle: throttleSpec,
	perffile.RecordFork:       taskSpec,
	perffile.RecordRead:       {u32("pid"), u32("tid"), (*encoder).readValues},
	perffile.RecordMmap2: {
		u32("pid"), u32("tid"), u64("start"), u64("len"), u64("pgoff"),
		(*encoder).inodeOrBuildID,
		num("prot", 4, protNames), u32("flags"), text("filename"),
	},
	perffile.RecordAux:           {u64("aux_offset"), u64("aux_size"), num("flags", 8, auxFlagNames)},
	perffile.RecordItraceStart:   {u32("pid"), u32("tid")},
	perffile.RecordLostSamples:   {u64("lost")},
	perffile.RecordSwitch:        {},
	perffile.RecordSwitchCPUWide: {u32("next_prev_pid"), u32("next_prev_tid")},
	perffile.RecordNamespaces: {
		u32("pid"), u32("tid"),
		structs("nr_namespaces", 8, "link_info", u64("dev"), u64("ino")),
	},
	perffile.RecordKsymbol: {
		u64("addr"), u32("len"), u16("ksym_type"), u16("flags"), text("name"),
	},
	perffile.RecordBPFEvent: {
		u16("type"), u16("flags"), u32("id"),
		func(x *encoder) { x.array("tag", 8) },
	},
	perffile.RecordCgroup:        {u64("id"), text("path")},
	perffile.RecordTextPoke:      {u64("addr"), (*encoder).textPoke},
	perffile.RecordAuxOutputHWID: {u64("hw_id")},

	perffile.RecordHeaderAttr: {
		nested("attr", func(x *encoder) { x.attrStruct(attrSizeOf(x.in)) }), u64s("ids"),
	},
	perffile.RecordHeaderEventType: {u64("event_id"), func(x *encoder) {
		x.putString(x.takeString("name"), func(n int) int { return alignUp(n, 8) })
	}},
	perffile.RecordHeaderTracingData: {u32("size"), optional("data", blob("data"))},
	perffile.RecordHeaderBuildID:     buildIDSpec,
	perffile.RecordFinishedRound:     {},
	perffile.RecordIDIndex: {
		structs("nr", 8, "entries",
			u64("id"), u64("idx"), u64("cpu"), u64("tid")),
		func(x *encoder) { x.structs("entries_2", spec{u64("machine_pid"), u64("vcpu")}) },
	},
	perffile.RecordAuxtraceInfo: {
		u32("type"), u32("reserved"), u64s("priv"),
	},
	perffile.RecordAuxtrace: {
		u64("size"), u64("offset"), u64("reference"),
		u32("idx"), u32("tid"), u32("cpu"), u32("reserved"),
	},
	perffile.RecordAuxtraceError: {
		u32("type"), u32("code"), u32("cpu"), u32("pid"), u32("tid"), u32("fmt"),
		u64("ip"), u64("time"), char("msg", 64),
		optional("machine_pid", u32("machine_pid")), optional("vcpu", u32("vcpu")),
	},
	perffile.RecordThreadMap:  {structs("nr", 8, "entries", u64("pid"), char("comm", 16))},
	perffile.RecordCPUMap:     {(*encoder).cpuMap},
	perffile.RecordStatConfig: {structs("nr", 8, "data", u64("tag"), u64("val"))},
	perffile.RecordStat: {
		u64("id"), u32("cpu"), u32("thread"), u64("val"), u64("ena"), u64("run"),
	},
	perffile.RecordStatRound:   {u64("type"), u64("time")},
	perffile.RecordEventUpdate: {(*encoder).eventUpdate},
	perffile.RecordTimeConv: {
		u64("time_shift"), u64("time_mult"), u64("time_zero"),
		optional("time_cycles", u64("time_cycles")),
		optional("time_mask", u64("time_mask")),
		optional("cap_user_time_zero", u8("cap_user_time_zero")),
		optional("cap_user_time_short", u8("cap_user_time_short")),
		optional("padding", blob("padding")),
	},
	perffile.RecordHeaderFeature: {(*encoder).headerFeature},
	perffile.RecordCompressed:    {blob("data")},
	perffile.RecordFinishedInit:  {},
	perffile.RecordCompressed2:   {sizedBytes("data_size", 8, "data", 8)},
	perffile.RecordBPFMetadata: {
		char("prog_name", 256),
		structs("nr_entries", 8, "entries", char("key", 64), char("value", 256)),
	},

	perffile.RecordKernelSymbol: {sizedText("kallsyms_size", "kallsyms", 8)},
	perffile.RecordDSO:          {num("dso_type", 8, dsoTypeNames), u64("dso_id"), u64("min_vaddr"), text("dso_name")},
	perffile.RecordSymbol:       {u64("addr"), u64("len"), u64("dso_id"), text("name")},
	perffile.RecordSplit:        {blob("data")},
	perffile.RecordSplitEnd:     {},
	perffile.RecordEventID:      {structs("count", 8, "data", u64("attr_id"), u64("event_id"))},
	perffile.RecordCallchain: {
		u32("pid"), u32("tid"), num("chain_type", 8, chainTypeNames), u64("time"),
		(*encoder).ipsAndSPs,
	},
	perffile.RecordUnwindingResult: {
		u64("time"), u64("used_time"), u64("error_code"), u64("error_addr"),
		optional("stack_start", u64("stack_start")), optional("stack_end", u64("stack_end")),
		optional("regs_user", nested("regs_user", u64("abi"), u64("reg_mask"), u64s("regs"))),
		optional("stack_user", nested("stack_user", (*encoder).stackUser)),
		optional("ips", (*encoder).ipsAndSPs),
	},
	perffile.RecordTracingData: {sizedBytes("data_size", 4, "data", 64)},
	perffile.RecordDebug:       {u64("time"), text("s")},
}

var (
	taskSpec     = spec{u32("pid"), u32("ppid"), u32("tid"), u32("ptid"), u64("time")}
	throttleSpec = spec{u64("time"), u64("id"), u64("stream_id")}
	buildIDSpec  = spec{
		u32("pid"),
		func(x *encoder) {
			if x.misc&perffile.MiscBuildIDSize != 0 {
				x.idSize = uint64(len(x.in.peek("build_id")) / 2)
			}
			x.array("build_id", 20)
		},
		func(x *encoder) { x.uintOr("size", 1, plain, x.idSize) },
		u8("reserved_1"), u16("reserved_2"),
		func(x *encoder) { x.restString("filename", 64) },
	}
)

// inodeOrBuildID is the union in struct perf_record_mmap2.
func (x *encoder) inodeOrBuildID() {
	if x.misc&perffile.MiscMmapBuildID == 0 {
		x.run(spec{u32("maj"), u32("min"), u64("ino"), u64("ino_generation")})
		return
	}
	x.countBytes("build_id_size", 1, "build_id")
	x.run(spec{u8("reserved_1"), u16("reserved_2")})
	x.array("build_id", 20)
}

// textPoke is the change of code in a TEXT_POKE record.
func (x *encoder) textPoke() {
	before := x.countBytes("old_len", 2, "old_bytes")
	after := x.countBytes("new_len", 2, "new_bytes")
	x.bytes("old_bytes")
	x.bytes("new_bytes")
	x.pad(int(-(12 + before + after) & 7))
}

// cpuMap is struct perf_record_cpu_map_data.
func (x *encoder) cpuMap() {
	switch x.uint("type", 2, cpuMapNames) {
	case 0:
		x.count("nr", 2, "cpu")
		x.numbers("cpu", 2, plain)
	case 1:
		x.count("nr", 2, "mask")
		if x.uint("long_size", 2, plain) == 4 {
			x.numbers("mask", 4, plain)
		} else {
			x.uint("reserved", 4, plain)
			x.numbers("mask", 8, plain)
		}
	case 2:
		x.run(spec{u8("any_cpu"), u8("reserved"), u16("start_cpu"), u16("end_cpu")})
	}
}

func (x *encoder) eventUpdate() {
	kind := x.uint("type", 8, updateNames)
	u64("id")(x)
	switch kind {
	case 0, 2:
		name := "name"
		if kind == 0 {
			name = "unit"
		}
		x.restString(name, 8)
	case 1:
		u64("scale")(x) // the bits of a double
	case 3:
		x.nested("cpus", spec{(*encoder).cpuMap})
	}
}

// sizedText is a counted string without NUL that is padded with zeros.
func sizedText(count, name string, align int) step {
	return func(x *encoder) {
		s := x.takeString(name)
		x.uintOr(count, 4, plain, uint64(len(s)))
		x.buf = append(x.buf, s...)
		x.pad(alignUp(len(s), align) - len(s))
	}
}

// sizedBytes is a counted byte string that is padded with zeros.
func sizedBytes(count string, width int, name string, align int) step {
	return func(x *encoder) {
		n := int(x.countBytes(count, width, name))
		x.bytes(name)
		x.pad(alignUp(n, align) - n)
	}
}

// ipsAndSPs is a call chain of simpleperf.
func (x *encoder) ipsAndSPs() {
	x.count("ip_nr", 8, "ips")
	x.numbers("ips", 8, plain)
	x.numbers("sps", 8, plain)
}
