package perffile

import "math/bits"

// recordSpecs are the bodies of all records but SAMPLE, without the sample_id at
// the end of those of the kernel. Must match include/uapi/linux/perf_event.h,
// tools/lib/perf/include/perf/event.h and simpleperf/record.cpp, whose names of
// fields they have.
var recordSpecs = map[RecordType]textSpec{
	RecordMmap: {
		pid("pid"), pid("tid"), addr("start"), dec64("len"), addr("pgoff"), restText("filename"),
	},
	RecordLost:       {dec64("id"), dec64("lost")},
	RecordComm:       {pid("pid"), pid("tid"), restText("comm")},
	RecordExit:       taskSpec,
	RecordThrottle:   throttleSpec,
	RecordUnthrottle: throttleSpec,
	RecordFork:       taskSpec,
	RecordRead:       {pid("pid"), pid("tid"), (*textCodec).readValues},
	RecordMmap2: {
		pid("pid"), pid("tid"), addr("start"), dec64("len"), addr("pgoff"),
		(*textCodec).inodeOrBuildID,
		num("prot", 4, protNames), num("flags", 4, hexadecimal), restText("filename"),
	},
	RecordAux:           {addr("aux_offset"), dec64("aux_size"), num("flags", 8, auxFlagNames)},
	RecordItraceStart:   {pid("pid"), pid("tid")},
	RecordLostSamples:   {dec64("lost")},
	RecordSwitch:        {},
	RecordSwitchCPUWide: {pid("next_prev_pid"), pid("next_prev_tid")},
	RecordNamespaces: {
		pid("pid"), pid("tid"),
		structs("nr_namespaces", 8, "link_info", 16, dec64("dev"), dec64("ino")),
	},
	RecordKsymbol: {
		addr("addr"), dec32("len"), dec16("ksym_type"), num("flags", 2, hexadecimal), restText("name"),
	},
	RecordBPFEvent: {
		dec16("type"), num("flags", 2, hexadecimal), dec32("id"),
		func(x *textCodec) { x.array("tag", 8) },
	},
	RecordCgroup:        {dec64("id"), restText("path")},
	RecordTextPoke:      {addr("addr"), (*textCodec).textPoke},
	RecordAuxOutputHWID: {addr("hw_id")},

	RecordHeaderAttr: {
		func(x *textCodec) { x.nested("attr", textSpec{(*textCodec).attrOfItsSize}) },
		func(x *textCodec) { x.restNumbers("ids", 8, decimal) },
	},
	RecordHeaderEventType:   eventType,
	RecordHeaderTracingData: {dec32("size"), optional("data", restHex("data"))},
	RecordHeaderBuildID:     buildIDSpec,
	RecordFinishedRound:     {},
	RecordIDIndex: {
		structs("nr", 8, "entries", 32,
			dec64("id"), dec64("idx"), num("cpu", 8, signed), num("tid", 8, signed)),
		optional("entries_2", func(x *textCodec) {
			n := uint64(0)
			if x.decoding() {
				n = uint64(x.c.remaining() / 16)
			}
			x.structs("entries_2", n, 16, textSpec{num("machine_pid", 8, signed), num("vcpu", 8, signed)})
		}),
	},
	RecordAuxtraceInfo: {
		dec32("type"), reserved(4),
		func(x *textCodec) { x.restNumbers("priv", 8, hexadecimal) },
	},
	RecordAuxtrace: {
		dec64("size"), addr("offset"), addr("reference"),
		dec32("idx"), pid("tid"), num("cpu", 4, signed), reserved(4),
	},
	RecordAuxtraceError: {
		dec32("type"), dec32("code"), num("cpu", 4, signed), pid("pid"), pid("tid"), dec32("fmt"),
		addr("ip"), dec64("time"), char("msg", 64),
		optional("machine_pid", pid("machine_pid")), optional("vcpu", dec32("vcpu")),
	},
	RecordThreadMap:  {structs("nr", 8, "entries", 24, num("pid", 8, signed), char("comm", 16))},
	RecordCPUMap:     {(*textCodec).cpuMap},
	RecordStatConfig: {structs("nr", 8, "data", 16, dec64("tag"), dec64("val"))},
	RecordStat: {
		dec64("id"), num("cpu", 4, signed), dec32("thread"), dec64("val"), dec64("ena"), dec64("run"),
	},
	RecordStatRound:   {dec64("type"), dec64("time")},
	RecordEventUpdate: {(*textCodec).eventUpdate},
	RecordTimeConv: {
		dec64("time_shift"), dec64("time_mult"), dec64("time_zero"),
		optional("time_cycles", dec64("time_cycles")),
		optional("time_mask", addr("time_mask")),
		optional("cap_user_time_zero", dec8("cap_user_time_zero")),
		optional("cap_user_time_short", dec8("cap_user_time_short")),
		optional("padding", restHex("padding")),
	},
	RecordHeaderFeature: {(*textCodec).headerFeature},
	RecordCompressed:    {restHex("data")},
	RecordFinishedInit:  {},
	RecordCompressed2: {func(x *textCodec) {
		n := x.countBytes("data_size", 8, "data")
		x.bytes("data", n)
		x.pad(int(-n & 7))
	}},
	RecordBPFMetadata: {
		char("prog_name", 256),
		structs("nr_entries", 8, "entries", 320, char("key", 64), char("value", 256)),
	},

	RecordKernelSymbol: {sizedText("kallsyms_size", "kallsyms", 8)},
	RecordDSO:          {num("dso_type", 8, dsoTypeNames), dec64("dso_id"), addr("min_vaddr"), restText("dso_name")},
	RecordSymbol:       {addr("addr"), dec64("len"), dec64("dso_id"), restText("name")},
	RecordSplit:        {restHex("data")},
	RecordSplitEnd:     {},
	RecordEventID:      {structs("count", 8, "data", 16, dec64("attr_id"), dec64("event_id"))},
	RecordCallchain: {
		pid("pid"), pid("tid"), num("chain_type", 8, chainTypeNames), dec64("time"),
		(*textCodec).ipsAndSPs,
	},
	RecordUnwindingResult: {
		dec64("time"), dec64("used_time"), dec64("error_code"), addr("error_addr"),
		optional("stack_start", addr("stack_start")), optional("stack_end", addr("stack_end")),
		optional("regs_user", func(x *textCodec) {
			x.nested("regs_user", textSpec{func(x *textCodec) {
				x.uint("abi", 8, decimal)
				mask := x.uint("reg_mask", 8, hexadecimal)
				x.numbers("regs", uint64(bits.OnesCount64(mask)), 8, hexadecimal)
			}})
		}),
		optional("stack_user", func(x *textCodec) {
			x.nested("stack_user", textSpec{(*textCodec).stackUser})
		}),
		optional("ips", (*textCodec).ipsAndSPs),
	},
	RecordTracingData: {func(x *textCodec) {
		n := x.countBytes("data_size", 4, "data")
		x.bytes("data", n)
		x.pad(int(-n & 63))
	}},
	RecordDebug: {dec64("time"), restText("s")},
}

var (
	taskSpec     = textSpec{pid("pid"), pid("ppid"), pid("tid"), pid("ptid"), dec64("time")}
	throttleSpec = textSpec{dec64("time"), dec64("id"), dec64("stream_id")}
	buildIDSpec  = textSpec{
		pid("pid"),
		func(x *textCodec) {
			if !x.decoding() && x.misc&MiscBuildIDSize != 0 {
				x.idSize = uint64(len(x.in.peek("build_id")) / 2)
			}
			x.array("build_id", 20)
		},
		func(x *textCodec) {
			x.uintOr("size", 1, decimal, x.idSize)
		},
		num("reserved_1", 1, hiddenZero), num("reserved_2", 2, hiddenZero),
		func(x *textCodec) { x.restString("filename", 64) },
	}

	auxFlagNames   = &notation{bits: []string{"TRUNCATED", "OVERWRITE", "PARTIAL", "COLLISION"}}
	chainTypeNames = &notation{values: []string{
		"ORIGINAL_OFFLINE", "ORIGINAL_REMOTE", "JOINED_OFFLINE", "JOINED_REMOTE",
	}}
	updateNames = &notation{values: []string{"UNIT", "SCALE", "NAME", "CPUS"}}
	cpuMapNames = &notation{values: []string{"CPUS", "MASK", "RANGE_CPUS"}}
)

// inodeOrBuildID is the union in struct perf_record_mmap2.
func (x *textCodec) inodeOrBuildID() {
	if x.misc&MiscMmapBuildID == 0 {
		x.run(textSpec{dec32("maj"), dec32("min"), dec64("ino"), dec64("ino_generation")})
		return
	}
	if x.decoding() {
		x.uint("build_id_size", 1, decimal)
	} else {
		x.countBytes("build_id_size", 1, "build_id")
	}
	x.run(textSpec{num("reserved_1", 1, hiddenZero), num("reserved_2", 2, hiddenZero)})
	x.array("build_id", 20)
}

// textPoke is the change of code in a TEXT_POKE record.
func (x *textCodec) textPoke() {
	before := x.countBytes("old_len", 2, "old_bytes")
	after := x.countBytes("new_len", 2, "new_bytes")
	x.bytes("old_bytes", before)
	x.bytes("new_bytes", after)
	x.pad(int(-(12 + before + after) & 7))
}

// attrOfItsSize is a struct perf_event_attr whose size field is right.
func (x *textCodec) attrOfItsSize() {
	if !x.decoding() {
		x.attrStruct(attrSizeOf(x.in))
		return
	}
	sizes := *x.c
	sizes.skip(4)
	x.attrStruct(int(max(sizes.u32(), attrSizeVer0)))
}

// cpuMap is struct perf_record_cpu_map_data.
func (x *textCodec) cpuMap() {
	switch x.uint("type", 2, cpuMapNames) {
	case 0:
		x.numbers("cpu", x.count("nr", 2, "cpu"), 2, decimal)
	case 1:
		n := x.count("nr", 2, "mask")
		if x.uint("long_size", 2, decimal) == 4 {
			x.numbers("mask", n, 4, hexadecimal)
		} else {
			x.uint("reserved", 4, hiddenZero)
			x.numbers("mask", n, 8, hexadecimal)
		}
	case 2:
		x.run(textSpec{dec8("any_cpu"), reserved(1), dec16("start_cpu"), dec16("end_cpu")})
	}
}

func (x *textCodec) eventUpdate() {
	kind := x.uint("type", 8, updateNames)
	dec64("id")(x)
	switch kind {
	case 0, 2:
		name := "name"
		if kind == 0 {
			name = "unit"
		}
		x.restString(name, 8)
	case 1:
		addr("scale")(x) // the bits of a double
	case 3:
		x.nested("cpus", textSpec{(*textCodec).cpuMap})
	}
}

// sizedText is a counted string without NUL that is padded with zeros.
func sizedText(count, name string, align int) textStep {
	return func(x *textCodec) {
		if x.decoding() {
			b := x.c.bytes(uint64(x.c.u32()))
			if x.failed() {
				return
			}
			x.key(name)
			x.quote(b, func(n int) int { return n })
			x.pad(alignUp(len(b), align) - len(b))
			return
		}
		var s string
		if quoted, ok := x.in.take(name); ok {
			s = x.unquote(name, quoted)
		}
		x.put(x.number(count, 4, decimal, uint64(len(s))), 4)
		x.buf = append(x.buf, s...)
		x.pad(alignUp(len(s), align) - len(s))
	}
}

// ipsAndSPs is a call chain of simpleperf.
func (x *textCodec) ipsAndSPs() {
	n := x.count("ip_nr", 8, "ips")
	x.numbers("ips", n, 8, hexadecimal)
	x.numbers("sps", n, 8, hexadecimal)
}
