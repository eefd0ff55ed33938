package perffiletest

import (
	"math/bits"

	"profdiff/internal/perffile"
)

// sampleSpec is the body of a SAMPLE record, must match the comment on
// PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h. Names of fields are those
// of the comment, made unique.
var sampleSpec = []struct {
	bit   perffile.SampleType // any of them
	field step
}{
	{perffile.SampleIdentifier, eventID("identifier")},
	{perffile.SampleIP, u64("ip")},
	{perffile.SampleTID, u32("pid")},
	{perffile.SampleTID, u32("tid")},
	{perffile.SampleTime, u64("time")},
	{perffile.SampleAddr, u64("addr")},
	{perffile.SampleID, eventID("id")},
	{perffile.SampleStreamID, u64("stream_id")},
	{perffile.SampleCPU, u32("cpu")},
	{perffile.SampleCPU, u32("res")},
	{perffile.SamplePeriod, u64("period")},
	{perffile.SampleRead, nested("read", (*encoder).readValues)},
	{perffile.SampleCallchain, func(x *encoder) {
		x.count("nr", 8, "ips")
		x.numbers("ips", 8, contextNames)
	}},
	{perffile.SampleRaw, sizedBytes("raw_size", 4, "raw_data", 1)},
	{perffile.SampleBranchStack, (*encoder).branchStack},
	{perffile.SampleRegsUser, nested("regs_user", (*encoder).regs)},
	{perffile.SampleStackUser, nested("stack_user", (*encoder).stackUser)},
	{perffile.SampleWeight, (*encoder).weight},
	{perffile.SampleWeightStruct, (*encoder).weightStruct},
	{perffile.SampleDataSrc, u64("data_src")},
	{perffile.SampleTransaction, u64("transaction")},
	{perffile.SampleRegsIntr, nested("regs_intr", (*encoder).regs)},
	{perffile.SamplePhysAddr, u64("phys_addr")},
	{perffile.SampleCgroup, u64("cgroup")},
	{perffile.SampleDataPageSize, u64("data_page_size")},
	{perffile.SampleCodePageSize, u64("code_page_size")},
	{perffile.SampleAux, sizedBytes("aux_size", 8, "aux", 1)},
}

// sample is the body of a SAMPLE record of the event x.event.
func (x *encoder) sample() {
	for i := range sampleSpec {
		f := &sampleSpec[i]
		if x.event.sampleType&f.bit == 0 {
			continue
		}
		if x.err != nil {
			return
		}
		f.field(x)
	}
}

// sampleID is the trailer of other records, must match struct sample_id there.
func (x *encoder) sampleID() {
	for _, f := range [...]struct {
		bit   perffile.SampleType
		field step
	}{
		{perffile.SampleTID, u32("pid")},
		{perffile.SampleTID, u32("tid")},
		{perffile.SampleTime, u64("time")},
		{perffile.SampleID, eventID("id")},
		{perffile.SampleStreamID, u64("stream_id")},
		{perffile.SampleCPU, u32("cpu")},
		{perffile.SampleCPU, u32("res")},
		{perffile.SampleIdentifier, eventID("identifier")},
	} {
		if x.event.sampleType.Has(f.bit) {
			f.field(x)
		}
	}
}

// eventID is the id of the event; the first one if the text leaves it out.
func eventID(name string) step {
	return func(x *encoder) {
		first := uint64(0)
		if len(x.event.ids) > 0 {
			first = x.event.ids[0]
		}
		x.uintOr(name, 8, plain, first)
	}
}

// readValues is struct read_format.
func (x *encoder) readValues() {
	var f perffile.ReadFormat
	if x.event != nil {
		f = x.event.readFormat
	}
	var times, counter spec
	for _, field := range []struct {
		bit  perffile.ReadFormat
		name string
		to   *spec
	}{
		{perffile.ReadTotalTimeEnabled, "time_enabled", &times},
		{perffile.ReadTotalTimeRunning, "time_running", &times},
		{perffile.ReadID, "id", &counter},
		{perffile.ReadLost, "lost", &counter},
	} {
		if f.Has(field.bit) {
			*field.to = append(*field.to, u64(field.name))
		}
	}
	if !f.Has(perffile.ReadGroup) {
		u64("value")(x)
		x.run(times)
		x.run(counter)
		return
	}
	x.count("nr", 8, "values")
	x.run(times)
	x.structs("values", append(spec{u64("value")}, counter...))
}

func (x *encoder) branchStack() {
	x.count("bnr", 8, "lbr")
	if x.event.branchSampleType.Has(perffile.BranchHWIndex) {
		x.uint("hw_idx", 8, plain)
	}
	x.structs("lbr", spec{u64("from"), u64("to"), (*encoder).branchFlags})
	if x.event.branchSampleType.Has(perffile.BranchCounters) {
		x.numbers("counters", 8, plain)
	}
}

// branchFlags is the third word of struct perf_branch_entry.
func (x *encoder) branchFlags() {
	var word uint64
	off := uint(0)
	for _, f := range [...]struct {
		name  string
		width uint
		n     *notation
	}{
		{"flags", 4, branchFlagNames},
		{"cycles", 16, plain},
		{"type", 4, branchTypeNames},
		{"spec", 2, branchSpecNames},
		{"new_type", 4, branchNewTypeNames},
		{"priv", 3, branchPrivNames},
		{"reserved", 31, plain},
	} {
		v := x.number(f.name, 8, f.n, 0)
		if v>>f.width != 0 {
			x.fail("%s: %#x has more than %d bits", f.name, v, f.width)
		}
		if f.name == "flags" && x.big { // four fields of one bit
			v = bits.Reverse64(v) >> 60
		}
		word |= placeBits(v, off, f.width, x.big)
		off += f.width
	}
	x.put(word, 8)
}

// placeBits puts a C bitfield into the memory image of a 64-bit word.
func placeBits(v uint64, off, width uint, big bool) uint64 {
	if big {
		off = 64 - off - width
	}
	return v & (1<<width - 1) << off
}

// regs are registers; which they are is in the attribute.
func (x *encoder) regs() {
	if x.uint("abi", 8, plain) != 0 {
		x.numbers("regs", 8, plain)
	}
}

func (x *encoder) stackUser() {
	n := x.countBytes("size", 8, "data")
	x.bytes("data")
	if n > 0 {
		x.uint("dyn_size", 8, plain)
	}
}

func (x *encoder) weight() {
	if !x.event.sampleType.Has(perffile.SampleWeightStruct) {
		x.uint("weight", 8, plain)
	}
}

// weightStruct is union perf_sample_weight, whose parts are in one word whatever
// the byte order.
func (x *encoder) weightStruct() {
	x.put(x.number("var1_dw", 4, plain, 0)|x.number("var2_w", 2, plain, 0)<<32|x.number("var3_w", 2, plain, 0)<<48, 8)
}
