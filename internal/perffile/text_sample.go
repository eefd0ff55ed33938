package perffile

import "math/bits"

// sampleSpec is the body of a SAMPLE record, must match the comment on
// PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h. Names of fields are those
// of the comment, made unique.
var sampleSpec = []struct {
	bit   SampleType // any of them
	field textStep
}{
	{SampleIdentifier, eventID("identifier")},
	{SampleIP, addr("ip")},
	{SampleTID, pid("pid")},
	{SampleTID, pid("tid")},
	{SampleTime, dec64("time")},
	{SampleAddr, addr("addr")},
	{SampleID, eventID("id")},
	{SampleStreamID, dec64("stream_id")},
	{SampleCPU, num("cpu", 4, signed)},
	{SampleCPU, num("res", 4, hiddenZero)},
	{SamplePeriod, dec64("period")},
	{SampleRead, func(x *textCodec) { x.nested("read", textSpec{(*textCodec).readValues}) }},
	{SampleCallchain, func(x *textCodec) {
		x.numbers("ips", x.count("nr", 8, "ips"), 8, contextNames)
	}},
	{SampleRaw, func(x *textCodec) { x.bytes("raw_data", x.countBytes("raw_size", 4, "raw_data")) }},
	{SampleBranchStack, (*textCodec).branchStack},
	{SampleRegsUser, func(x *textCodec) {
		x.nested("regs_user", textSpec{func(x *textCodec) { x.regs(x.attr.SampleRegsUser) }})
	}},
	{SampleStackUser, func(x *textCodec) { x.nested("stack_user", textSpec{(*textCodec).stackUser}) }},
	{SampleWeight, (*textCodec).weight},
	{SampleWeightStruct, (*textCodec).weightStruct},
	{SampleDataSrc, addr("data_src")},
	{SampleTransaction, addr("transaction")},
	{SampleRegsIntr, func(x *textCodec) {
		x.nested("regs_intr", textSpec{func(x *textCodec) { x.regs(x.attr.SampleRegsIntr) }})
	}},
	{SamplePhysAddr, addr("phys_addr")},
	{SampleCgroup, dec64("cgroup")},
	{SampleDataPageSize, dec64("data_page_size")},
	{SampleCodePageSize, dec64("code_page_size")},
	{SampleAux, func(x *textCodec) { x.bytes("aux", x.countBytes("aux_size", 8, "aux")) }},
}

// sample is the body of a SAMPLE record of the event x.attr.
func (x *textCodec) sample() {
	for i := range sampleSpec {
		f := &sampleSpec[i]
		if x.attr.SampleType&f.bit == 0 {
			continue
		}
		if x.failed() {
			return
		}
		f.field(x)
	}
}

// sampleID is the trailer of other records, must match struct sample_id there.
func (x *textCodec) sampleID() {
	for _, f := range [...]struct {
		bit   SampleType
		field textStep
	}{
		{SampleTID, pid("pid")},
		{SampleTID, pid("tid")},
		{SampleTime, dec64("time")},
		{SampleID, eventID("id")},
		{SampleStreamID, dec64("stream_id")},
		{SampleCPU, num("cpu", 4, signed)},
		{SampleCPU, num("res", 4, hiddenZero)},
		{SampleIdentifier, eventID("identifier")},
	} {
		if x.attr.SampleType.Has(f.bit) {
			f.field(x)
		}
	}
}

// eventID is the id of the event; the first one if the text leaves it out.
func eventID(name string) textStep {
	return func(x *textCodec) {
		first := uint64(0)
		if len(x.attr.IDs) > 0 {
			first = x.attr.IDs[0]
		}
		x.uintOr(name, 8, decimal, first)
	}
}

// readValues is struct read_format.
func (x *textCodec) readValues() {
	var f ReadFormat
	if x.attr != nil {
		f = x.attr.ReadFormat
	}
	times := textSpec{
		readField(ReadTotalTimeEnabled, "time_enabled"),
		readField(ReadTotalTimeRunning, "time_running"),
	}
	counter := textSpec{readField(ReadID, "id"), readField(ReadLost, "lost")}
	if !f.Has(ReadGroup) {
		dec64("value")(x)
		x.run(times)
		x.run(counter)
		return
	}
	n := x.count("nr", 8, "values")
	x.run(times)
	x.structs("values", n, 8, append(textSpec{dec64("value")}, counter...))
}

func readField(bit ReadFormat, name string) textStep {
	return func(x *textCodec) {
		if x.attr != nil && x.attr.ReadFormat.Has(bit) {
			x.uint(name, 8, decimal)
		}
	}
}

func (x *textCodec) branchStack() {
	n := x.count("bnr", 8, "lbr")
	if x.attr.BranchSampleType.Has(BranchHWIndex) {
		x.uint("hw_idx", 8, &notation{signed: true})
	}
	x.structs("lbr", n, 24, textSpec{addr("from"), addr("to"), (*textCodec).branchFlags})
	if x.attr.BranchSampleType.Has(BranchCounters) {
		x.numbers("counters", n, 8, hexadecimal)
	}
}

// branchFlags is the third word of struct perf_branch_entry.
func (x *textCodec) branchFlags() {
	var word uint64
	if x.decoding() {
		word = x.c.u64()
	}
	off := uint(0)
	for _, f := range [...]struct {
		name  string
		width uint
		n     *notation
	}{
		{"flags", 4, branchFlagNames},
		{"cycles", 16, hiddenZeroDecimal},
		{"type", 4, branchTypeNames},
		{"spec", 2, branchSpecNames},
		{"new_type", 4, branchNewTypeNames},
		{"priv", 3, branchPrivNames},
		{"reserved", 31, hiddenZero},
	} {
		single := f.name == "flags" // four fields of one bit
		if x.decoding() {
			v := bitfield(word, off, f.width, x.big)
			if single && x.big {
				v = bits.Reverse64(v) >> 60
			}
			x.print(f.name, v, 8, f.n)
		} else {
			v := x.number(f.name, 8, f.n, 0)
			if v>>f.width != 0 {
				x.fail("%s: %#x has more than %d bits", f.name, v, f.width)
			}
			if single && x.big {
				v = bits.Reverse64(v) >> 60
			}
			word |= placeBits(v, off, f.width, x.big)
		}
		off += f.width
	}
	if !x.decoding() {
		x.put(word, 8)
	}
}

// regs are the registers of mask.
func (x *textCodec) regs(mask uint64) {
	if x.uint("abi", 8, decimal) != 0 {
		x.numbers("regs", uint64(bits.OnesCount64(mask)), 8, hexadecimal)
	}
}

func (x *textCodec) stackUser() {
	n := x.countBytes("size", 8, "data")
	x.bytes("data", n)
	if n > 0 {
		x.uint("dyn_size", 8, decimal)
	}
}

func (x *textCodec) weight() {
	if x.attr.SampleType.Has(SampleWeightStruct) {
		return
	}
	x.uint("weight", 8, decimal)
}

// weightStruct is union perf_sample_weight, whose parts are in one word whatever
// the byte order.
func (x *textCodec) weightStruct() {
	var word uint64
	if x.decoding() {
		word = x.c.u64()
	}
	off := uint(0)
	for _, f := range [...]struct {
		name  string
		width int
	}{{"var1_dw", 4}, {"var2_w", 2}, {"var3_w", 2}} {
		if x.decoding() {
			x.print(f.name, word>>off&(1<<(8*f.width)-1), f.width, decimal)
		} else {
			word |= x.number(f.name, f.width, decimal, 0) << off
		}
		off += uint(8 * f.width)
	}
	if !x.decoding() {
		x.put(word, 8)
	}
}
