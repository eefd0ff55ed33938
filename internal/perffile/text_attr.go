package perffile

// attrStruct is a struct perf_event_attr of size bytes.
func (x *textPrinter) attrStruct(size int) {
	x.lossy = x.lossy || size > maxTextAttr
	outer := x.c
	inner := fieldReader{data: outer.bytes(uint64(size)), base: outer.base, section: outer.section, big: x.big}
	x.c = &inner
	x.attrFields()
	if rest := inner.rest(); !allZero(rest) {
		inner.off -= len(rest)
		x.restBytes(textTail)
	}
	if outer.err == nil {
		outer.err = inner.err
	}
	x.c = outer
}

// attrFields are the fields of struct perf_event_attr as far as there are
// bytes: later kernels added some at its end. Must match decodeAttr.
func (x *textPrinter) attrFields() {
	x.run(textSpec{
		num("type", 4, eventTypeNames), dec32("size"),
		addr("config"), dec64("sample_period"),
		num("sample_type", 8, sampleTypeNames), num("read_format", 8, readFormatNames),
		(*textPrinter).attrFlags,
		dec32("wakeup_events"), num("bp_type", 4, hexadecimal), addr("config1"),
	})
	for _, spec := range []textSpec{
		{addr("config2")},
		{num("branch_sample_type", 8, branchSampleTypeNames)},
		{addr("sample_regs_user")},
		{dec32("sample_stack_user"), num("clockid", 4, signed)},
		{addr("sample_regs_intr")},
		{dec32("aux_watermark"), dec16("sample_max_stack"), num("reserved_2", 2, hiddenZero)},
		{dec32("aux_sample_size"), num("aux_action", 4, hexadecimal)},
		{addr("sig_data")},
		{addr("config3")},
		{addr("config4")},
	} {
		if x.c.remaining() < 8 {
			break
		}
		x.run(spec)
	}
}

// attrFlags is the word of bitfields.
func (x *textPrinter) attrFlags() {
	const precise = 3 << 15
	f := decodeAttrFlags(x.c.u64(), x.big)
	x.print("flags", uint64(f&^precise), 8, attrFlagNames)
	x.print("precise_ip", uint64(f.PreciseIP()), 1, decimal)
}

// maxTextAttr bounds what the text stands for: the kernel takes no larger ones than a
// page.
const maxTextAttr = 4096

// attrEntry is an entry of the attrs section without its list of ids and the size of
// that, which the list tells.
var attrEntry = textSpec{
	func(x *textPrinter) { x.attrStruct(x.attrSize) }, addr("ids_offset"),
	func(x *textPrinter) { x.c.u64() },
}

// eventType is struct perf_trace_event_type of before Linux 3.11.
var eventType = textSpec{dec64("event_id"), char("name", 64)}

// sectionEntry is struct perf_file_section.
var sectionEntry = textSpec{addr("offset"), dec64("size")}
