package perffiletest

import (
	"math/bits"

	"profdiff/internal/perffile"
)

// attrStruct is a struct perf_event_attr of size bytes.
func (x *encoder) attrStruct(size int) {
	if size > maxAttrSize {
		x.fail("attribute of %d bytes", size)
		return
	}
	at := len(x.buf)
	x.uint("type", 4, eventTypeNames)
	x.uintOr("size", 4, plain, uint64(size))
	x.run(spec{
		u64("config"), u64("sample_period"),
		num("sample_type", 8, sampleTypeNames), num("read_format", 8, readFormatNames),
		(*encoder).attrFlags,
		u32("wakeup_events"), u32("bp_type"), u64("config1"),
	})
	// Later kernels added fields at the end.
	for _, s := range []spec{
		{u64("config2")},
		{num("branch_sample_type", 8, branchSampleTypeNames)},
		{u64("sample_regs_user")},
		{u32("sample_stack_user"), u32("clockid")},
		{u64("sample_regs_intr")},
		{u32("aux_watermark"), u16("sample_max_stack"), u16("reserved_2")},
		{u32("aux_sample_size"), u32("aux_action")},
		{u64("sig_data")},
		{u64("config3")},
		{u64("config4")},
	} {
		if size-(len(x.buf)-at) < 8 {
			break
		}
		x.run(s)
	}
	if len(x.buf)-at > size {
		x.fail("fields do not fit into an attribute of %d bytes", size)
		return
	}
	x.bytes(textTail)
	x.fill("attribute", at, size)
}

// attrFlags is the word of bitfields.
func (x *encoder) attrFlags() {
	flags := x.number("flags", 8, attrFlagNames, 0)
	precise := x.number("precise_ip", 1, plain, 0)
	if precise > 3 {
		x.fail("precise_ip: %d has more than two bits", precise)
	}
	flags |= precise << 15
	word := flags
	if x.big {
		const pair = 3 << 15 // precise_ip is one field of two bits
		word = bits.Reverse64(flags&^pair) | placeBits(flags>>15, 15, 2, true)
	}
	x.put(word, 8)
}

const (
	// attrSizeVer0 is the size of the first struct perf_event_attr.
	attrSizeVer0 = 64
	// defaultAttrSize is the size of struct perf_event_attr in text that does not say:
	// that of Linux 5.13, without config3 and config4. Newer readers take it too.
	defaultAttrSize = 128
	// maxAttrSize bounds the size: the kernel takes no larger ones than a page.
	maxAttrSize = 4096
)

// attrSizeOf is the size of the struct perf_event_attr that is to be encoded from
// the fields of f.
func attrSizeOf(f *textFields) int {
	if s := f.peek("size"); s != "" {
		if v, err := plain.parse(s, 4); err == nil && v >= attrSizeVer0 && v <= maxAttrSize {
			return int(v)
		}
	}
	return defaultAttrSize
}

// attrEntry is an entry of the attrs section without its list of ids.
var attrEntry = spec{
	func(x *encoder) { x.attrStruct(x.attrSize) },
	u64("ids_offset"),
	func(x *encoder) {
		n, err := textListLen(x.in.peek("ids"))
		if err != nil {
			x.fail("ids: %w", err)
		}
		x.uintOr("ids_size", 8, plain, 8*n)
	},
}

// eventType is struct perf_trace_event_type of before Linux 3.11.
var eventType = spec{u64("event_id"), char("name", 64)}

// sectionEntry is struct perf_file_section.
var sectionEntry = spec{u64("offset"), u64("size")}

// An event is what the layout of records depends on.
type event struct {
	sampleType       perffile.SampleType
	readFormat       perffile.ReadFormat
	branchSampleType perffile.BranchSampleType
	sampleIDAll      bool
	ids              []uint64
}

// sampleIDBits are the fields of a sample that are also in a sample_id.
const sampleIDBits = perffile.SampleTID | perffile.SampleTime | perffile.SampleID |
	perffile.SampleStreamID | perffile.SampleCPU | perffile.SampleIdentifier

// hasSampleID reports whether records other than SAMPLE end with a sample_id.
func (e *event) hasSampleID() bool { return e.sampleIDAll && e.sampleType&sampleIDBits != 0 }

// addEvent takes note of a struct perf_event_attr and its ids, both encoded. What
// readers refuse is no event here either.
func (x *encoder) addEvent(attr, ids []byte) {
	const known = perffile.SampleWeightStruct<<1 - 1
	if len(attr) < attrSizeVer0 {
		return
	}
	order := x.order()
	// Offsets of struct perf_event_attr.
	e := event{
		sampleType: perffile.SampleType(order.Uint64(attr[24:])),
		readFormat: perffile.ReadFormat(order.Uint64(attr[32:])),
	}
	if e.sampleType&^known != 0 {
		return
	}
	const sampleIDAll = 18 // number of the bit
	flags := order.Uint64(attr[40:])
	if x.big {
		flags = bits.Reverse64(flags)
	}
	e.sampleIDAll = flags>>sampleIDAll&1 != 0
	if len(attr) >= 80 {
		e.branchSampleType = perffile.BranchSampleType(order.Uint64(attr[72:]))
	}
	for ; len(ids) >= 8; ids = ids[8:] {
		id := order.Uint64(ids)
		e.ids = append(e.ids, id)
		x.byID[id] = len(x.events)
	}
	x.events = append(x.events, e)
}

// addIDs takes note of the body of a SIMPLEPERF_EVENT_ID record: ids that became known
// while recording.
func (x *encoder) addIDs(body []byte) {
	order := x.order()
	if len(body) < 8 || order.Uint64(body) > uint64(len(body)-8)/16 {
		return
	}
	for n := order.Uint64(body); n > 0; n-- {
		attr, id := order.Uint64(body[8:]), order.Uint64(body[16:])
		body = body[16:]
		if attr < uint64(len(x.events)) {
			x.events[attr].ids = append(x.events[attr].ids, id)
			x.byID[id] = int(attr)
		}
	}
}
