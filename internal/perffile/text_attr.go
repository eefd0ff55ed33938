package perffile

// attrStruct is a struct perf_event_attr of size bytes.
func (x *textCodec) attrStruct(size int) {
	if !x.decoding() {
		if size > maxTextAttr {
			x.fail("attribute of %d bytes", size)
			return
		}
		at := len(x.buf)
		x.attrFields(size, func() int { return size - (len(x.buf) - at) })
		if len(x.buf)-at > size {
			x.fail("fields do not fit into an attribute of %d bytes", size)
			return
		}
		x.restBytes(textTail)
		x.fill("attribute", at, size)
		return
	}
	outer := x.c
	inner := cursor{data: outer.bytes(uint64(size)), base: outer.base, section: outer.section, big: x.big}
	x.c = &inner
	x.attrFields(size, inner.remaining)
	if rest := inner.rest(); !allZero(rest) {
		inner.off -= len(rest)
		x.restBytes(textTail)
	}
	if outer.err == nil {
		outer.err = inner.err
	}
	x.c = outer
}

// attrFields are the fields of struct perf_event_attr as far as remaining bytes
// allow: later kernels added some at its end. Must match decodeAttr.
func (x *textCodec) attrFields(size int, remaining func() int) {
	x.uint("type", 4, eventTypeNames)
	x.uintOr("size", 4, decimal, uint64(size))
	x.run(textSpec{
		addr("config"), dec64("sample_period"),
		num("sample_type", 8, sampleTypeNames), num("read_format", 8, readFormatNames),
		(*textCodec).attrFlags,
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
		if remaining() < 8 {
			break
		}
		x.run(spec)
	}
}

// attrFlags is the word of bitfields.
func (x *textCodec) attrFlags() {
	const precise = 3 << 15
	if x.decoding() {
		f := decodeAttrFlags(x.c.u64(), x.big)
		x.print("flags", uint64(f&^precise), 8, attrFlagNames)
		x.print("precise_ip", uint64(f.PreciseIP()), 1, decimal)
		return
	}
	f := x.number("flags", 8, attrFlagNames, 0)
	p := x.number("precise_ip", 1, decimal, 0)
	if p > 3 {
		x.fail("precise_ip: %d has more than two bits", p)
	}
	x.put(encodeAttrFlags(AttrFlags(f|p<<15), x.big), 8)
}

// encodeAttrFlags is the inverse of decodeAttrFlags.
func encodeAttrFlags(f AttrFlags, big bool) uint64 {
	if !big {
		return uint64(f)
	}
	var word uint64
	for i := uint(0); i < 64; i++ {
		width := uint(1)
		if i == 15 { // precise_ip
			width = 2
		}
		word |= placeBits(uint64(f)>>i, i, width, true)
		i += width - 1
	}
	return word
}

// placeBits is the inverse of bitfield.
func placeBits(v uint64, off, width uint, big bool) uint64 {
	if big {
		off = 64 - off - width
	}
	return v & (1<<width - 1) << off
}

// defaultAttrSize is the size of struct perf_event_attr in text that does not say:
// that of Linux 5.13, without config3 and config4. Newer readers take it too.
const defaultAttrSize = 128

// maxTextAttr bounds what is decoded: the kernel takes no larger ones than a page.
const maxTextAttr = 4096

// attrSizeOf is the size of the struct perf_event_attr that is to be encoded from
// the fields of f.
func attrSizeOf(f *textFields) int {
	if s := f.peek("size"); s != "" {
		if v, err := decimal.parse(s, 4); err == nil && v >= attrSizeVer0 && v <= maxTextAttr {
			return int(v)
		}
	}
	return defaultAttrSize
}

// attrEntry is an entry of the attrs section without its list of ids.
var attrEntry = textSpec{
	func(x *textCodec) { x.attrStruct(x.attrSize) },
	func(x *textCodec) {
		if !x.decoding() {
			x.put(x.number("ids_offset", 8, hexadecimal, 0), 8)
			n, err := textListLen(x.in.peek("ids"))
			if err != nil {
				x.fail("ids: %w", err)
			}
			x.put(x.number("ids_size", 8, decimal, 8*n), 8)
			return
		}
		x.uint("ids_offset", 8, hexadecimal)
		x.c.u64() // the list tells
	},
}

// eventType is struct perf_trace_event_type of before Linux 3.11.
var eventType = textSpec{dec64("event_id"), char("name", 64)}

// sectionEntry is struct perf_file_section.
var sectionEntry = textSpec{addr("offset"), dec64("size")}
