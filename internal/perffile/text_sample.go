package perffile

import "math/bits"

// sampleSpec is the body of a SAMPLE record, must match the comment on
// PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h. Names of fields are those
// of the comment, made unique.
var sampleSpec = []struct {
	bit   SampleType // any of them
	field textStep
}{
	{SampleIdentifier, dec64("identifier")},
	{SampleIP, addr("ip")},
	{SampleTID, pid("pid")},
	{SampleTID, pid("tid")},
	{SampleTime, dec64("time")},
	{SampleAddr, addr("addr")},
	{SampleID, dec64("id")},
	{SampleStreamID, dec64("stream_id")},
	{SampleCPU, num("cpu", 4, signed)},
	{SampleCPU, num("res", 4, hiddenZero)},
	{SamplePeriod, dec64("period")},
	{SampleRead, nested("read", (*textPrinter).readValues)},
	{SampleCallchain, func(x *textPrinter) { x.numbers("ips", x.c.u64(), 8, contextNames) }},
	{SampleRaw, sizedBytes(4, "raw_data", 1)},
	{SampleBranchStack, (*textPrinter).branchStack},
	{SampleRegsUser, nested("regs_user", func(x *textPrinter) { x.regs(x.attr.SampleRegsUser) })},
	{SampleStackUser, nested("stack_user", (*textPrinter).stackUser)},
	{SampleWeight, (*textPrinter).weight},
	{SampleWeightStruct, (*textPrinter).weightStruct},
	{SampleDataSrc, addr("data_src")},
	{SampleTransaction, addr("transaction")},
	{SampleRegsIntr, nested("regs_intr", func(x *textPrinter) { x.regs(x.attr.SampleRegsIntr) })},
	{SamplePhysAddr, addr("phys_addr")},
	{SampleCgroup, dec64("cgroup")},
	{SampleDataPageSize, dec64("data_page_size")},
	{SampleCodePageSize, dec64("code_page_size")},
	{SampleAux, sizedBytes(8, "aux", 1)},
}

// sample is the body of a SAMPLE record of the event x.attr.
func (x *textPrinter) sample() {
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
func (x *textPrinter) sampleID() {
	for _, f := range [...]struct {
		bit   SampleType
		field textStep
	}{
		{SampleTID, pid("pid")},
		{SampleTID, pid("tid")},
		{SampleTime, dec64("time")},
		{SampleID, dec64("id")},
		{SampleStreamID, dec64("stream_id")},
		{SampleCPU, num("cpu", 4, signed)},
		{SampleCPU, num("res", 4, hiddenZero)},
		{SampleIdentifier, dec64("identifier")},
	} {
		if x.attr.SampleType.Has(f.bit) {
			f.field(x)
		}
	}
}

// readValues is struct read_format.
func (x *textPrinter) readValues() {
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
	n := x.c.u64()
	x.run(times)
	x.structs("values", n, 8, append(textSpec{dec64("value")}, counter...))
}

func readField(bit ReadFormat, name string) textStep {
	return func(x *textPrinter) {
		if x.attr != nil && x.attr.ReadFormat.Has(bit) {
			x.uint(name, 8, decimal)
		}
	}
}

func (x *textPrinter) branchStack() {
	n := x.c.u64()
	if x.attr.BranchSampleType.Has(BranchHWIndex) {
		x.uint("hw_idx", 8, signed)
	}
	x.structs("lbr", n, 24, textSpec{addr("from"), addr("to"), (*textPrinter).branchFlags})
	if x.attr.BranchSampleType.Has(BranchCounters) {
		x.numbers("counters", n, 8, hexadecimal)
	}
}

// branchFlags is the third word of struct perf_branch_entry.
func (x *textPrinter) branchFlags() {
	word := x.c.u64()
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
		v := bitfield(word, off, f.width, x.big)
		if f.name == "flags" && x.big { // four fields of one bit
			v = bits.Reverse64(v) >> 60
		}
		x.print(f.name, v, 8, f.n)
		off += f.width
	}
}

// regs are the registers of mask.
func (x *textPrinter) regs(mask uint64) {
	if x.uint("abi", 8, decimal) != 0 {
		x.regValues(mask)
	}
}

func (x *textPrinter) regValues(mask uint64) {
	n := uint64(bits.OnesCount64(mask))
	if x.memory {
		x.numbers("regs", n, 8, hexadecimal)
		return
	}
	x.c.skip(8 * n)
	x.withheld("regs", n)
}

func (x *textPrinter) stackUser() {
	n := x.c.u64()
	x.secret("data", n)
	if n > 0 {
		x.uint("dyn_size", 8, decimal)
	}
}

func (x *textPrinter) weight() {
	if x.attr.SampleType.Has(SampleWeightStruct) {
		return
	}
	x.uint("weight", 8, decimal)
}

// weightStruct is union perf_sample_weight, whose parts are in one word whatever
// the byte order.
func (x *textPrinter) weightStruct() {
	word := x.c.u64()
	x.print("var1_dw", word&(1<<32-1), 4, decimal)
	x.print("var2_w", word>>32&(1<<16-1), 2, decimal)
	x.print("var3_w", word>>48, 2, decimal)
}
