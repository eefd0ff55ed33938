package perffile

import "errors"

// A textEncoder turns lines into bytes and keeps what they say of the recording.
// The writer runs one over its own lines, so that what it prints is what will be
// read.
type textEncoder struct {
	textCodec
	line textLine
}

func newTextEncoder(big bool) *textEncoder {
	return &textEncoder{textCodec: textCodec{big: big, state: newFile(Options{}, big)}}
}

// recordTypes are the record types by the keywords of their lines.
var recordTypes = func() map[string]RecordType {
	m := map[string]RecordType{"SAMPLE": RecordSample}
	for t := range recordSpecs {
		m[t.String()] = t
	}
	return m
}()

// anyRecord is the keyword for records of unknown types.
const anyRecord = "RECORD"

// isRecord reports whether the line is a record.
func (l *textLine) isRecord() bool {
	_, ok := recordTypes[l.keyword]
	return ok || l.keyword == anyRecord
}

// encode returns the bytes of the item in e.line; of an attr line those of the
// entry. They are valid until the next call. The encoder takes note of the item only
// when accept is called.
func (e *textEncoder) encode() ([]byte, error) {
	l := &e.line
	x := &e.textCodec
	x.in, x.buf, x.err = &l.fields, x.buf[:0], nil
	x.attr, x.misc, x.idSize, x.commit = nil, 0, 0, nil
	if l.isRecord() {
		x.record(l)
	} else {
		x.item(l)
	}
	if x.err == nil {
		x.err = x.in.left()
	}
	if x.err == nil && l.size >= 0 && !l.isRecord() && l.keyword != "feature" && l.size != int64(len(x.buf)) {
		x.fail("%s has %d bytes, not %d", l.keyword, len(x.buf), l.size)
	}
	return x.buf, x.err
}

// accept takes note of the item that has been encoded.
func (e *textEncoder) accept() {
	if e.commit != nil {
		e.commit()
	}
}

// item encodes what is not a record.
func (x *textCodec) item(l *textLine) {
	var spec textSpec
	switch entry, isEntry := textEntries[l.keyword]; {
	case isEntry:
		spec = entry.spec
		if entry.message != 0 {
			spec = textSpec{func(x *textCodec) { x.protoMessage(entry.message, entry.spec) }}
		}
	case l.keyword == "hex":
		x.in = &textFields{list: []textField{{name: "hex", value: l.arg}}}
		x.bytes("hex", 0)
		l.arg = ""
	case l.keyword == "attr":
		spec = attrEntry
	case l.keyword == "event_type":
		spec = eventType
	case l.keyword == "section", l.keyword == "feature":
		f, err := parseFeature(l.arg)
		if err != nil {
			x.fail("%w", err)
		}
		l.arg = ""
		switch {
		case l.keyword == "section":
			spec = sectionEntry
		case len(l.fields.list) > 0: // otherwise the contents follow
			spec = featureSpecs[f]
		}
	default:
		x.fail("unknown keyword %s", l.keyword)
	}
	if l.arg != "" {
		x.fail("unexpected %q", shorten(l.arg))
	}
	x.rawOr(spec)
	switch {
	case x.err != nil:
	case l.keyword == "build_id" && !l.fields.had("entry_size") && !l.fields.had(textRaw):
		x.patch(6, uint64(len(x.buf)), 2)
	case l.keyword == "attr":
		x.attrIDs()
	}
}

// textRaw is the field that holds all of an item that its spec cannot reproduce.
const textRaw = "raw"

func (x *textCodec) rawOr(spec textSpec) {
	if x.in.has(textRaw) {
		x.bytes(textRaw, 0)
		return
	}
	x.run(spec)
	x.restBytes(textTail)
}

// patch overwrites what has been encoded at off.
func (x *textCodec) patch(off int, v uint64, width int) {
	whole := x.buf
	x.buf = whole[:off]
	x.put(v, width)
	x.buf = whole
}

// attrIDs encodes the ids of an event, whose entry has been encoded.
func (x *textCodec) attrIDs() {
	ids := x.in
	entry := len(x.buf)
	x.restNumbers("ids", 8, decimal)
	if x.err != nil {
		return
	}
	c := cursor{data: x.buf[:max(0, entry-16)], big: x.big}
	a := decodeAttr(&c)
	ic := cursor{data: x.buf[entry:], big: x.big}
	a.IDs = ic.u64s(nil, uint64(len(x.buf)-entry)/8)
	if c.err == nil {
		// What File refuses is no event here either.
		x.commit = func() { _ = x.state.addAttr(a) }
	}
	x.ids = append(x.ids[:0], x.buf[entry:]...)
	x.buf = x.buf[:entry]
	x.in = ids
}

// record encodes a record with its header.
func (x *textCodec) record(l *textLine) {
	t, ok := recordTypes[l.keyword]
	if !ok {
		t = RecordType(x.number("type", 4, decimal, 0))
	}
	if l.arg != "" {
		x.fail("unexpected %q", shorten(l.arg))
	}
	if s, ok := x.in.take("misc"); ok {
		var err error
		if x.misc, err = parseMisc(s); err != nil {
			x.fail("%w", err)
		}
	}
	if t < firstUserRecord {
		x.event(t)
	}
	x.buf = append(x.buf, make([]byte, recordHeaderSize)...)
	switch {
	case x.in.has(textRaw):
		x.bytes(textRaw, 0)
	case t == RecordSample && x.attr == nil:
		x.fail("sample of no event")
	case t == RecordSample:
		x.sample()
		x.restBytes(textTail)
	default:
		if recordSpecs[t] == nil {
			x.fail("record of type %d has only a field raw", t)
		}
		x.rawOr(recordSpecs[t])
		if x.attr != nil && x.attr.layout.trailer > 0 {
			x.nested(textSampleID, textSpec{(*textCodec).sampleID})
		}
	}
	size := uint64(len(x.buf))
	if l.size >= 0 {
		size = uint64(l.size)
	}
	misc := uint64(x.misc)
	switch {
	case t >= firstSimpleperfRecord:
		if misc != 0 {
			x.fail("records of simpleperf have no misc")
		}
		misc = size >> 16
	case size>>16 != 0:
		x.fail("record of %d bytes", size)
	}
	if x.err != nil {
		return
	}
	x.patch(0, uint64(t), 4)
	x.patch(4, misc, 2)
	x.patch(6, size&0xffff, 2)
	if t >= firstUserRecord {
		r := Record{Type: t, Misc: x.misc, Body: x.buf[recordHeaderSize:], file: x.state}
		// An error of apply is for readers of the recording.
		x.commit = func() { _, _ = x.state.apply(&r) }
	}
}

// textSampleID is the field that holds the sample_id at the end of a record.
const textSampleID = "sample_id"

// event finds the event that a record belongs to: that which the line says, the one
// whose id the record has, or the first.
func (x *textCodec) event(t RecordType) {
	attrs := x.state.Attrs
	if s, ok := x.in.take("event"); ok {
		v, err := decimal.parse(s, 4)
		if err != nil || v >= uint64(len(attrs)) {
			x.fail("event: there is no event %s", shorten(s))
			return
		}
		x.attr = &attrs[v]
		return
	}
	if len(attrs) == 0 {
		return
	}
	x.attr = &attrs[0]
	fields := x.in
	if t != RecordSample {
		inner, err := textInner(x.in.peek(textSampleID), '{', '}')
		fields = new(textFields)
		if err != nil || fields.parse(inner, ',') != nil {
			return
		}
	}
	for _, name := range []string{"identifier", "id"} {
		if id, err := decimal.parse(fields.peek(name), 8); err == nil {
			if i, ok := x.state.ids[id]; ok {
				x.attr = &attrs[i]
				return
			}
		}
	}
}

// header encodes the header line, whose byte order x has.
func (e *textEncoder) header(l *textLine) ([]byte, error) {
	x := &e.textCodec
	x.in, x.buf, x.err = &l.fields, nil, nil
	if _, err := l.byteOrder(); err != nil {
		return nil, err
	}
	x.in.take("byte_order")
	switch l.arg {
	case "", "pipe":
		x.headerFields(l.arg == "pipe")
	default:
		x.fail("unexpected %q", shorten(l.arg))
	}
	if x.err == nil {
		x.err = x.in.left()
	}
	if x.err == nil && l.size >= 0 && l.size != int64(len(x.buf)) {
		x.fail("header has %d bytes, not %d", len(x.buf), l.size)
	}
	return x.buf, x.err
}

func (l *textLine) byteOrder() (big bool, err error) {
	switch s := l.fields.peek("byte_order"); s {
	case "", "little":
		return false, nil
	case "big":
		return true, nil
	}
	return false, errors.New("byte_order: neither little nor big")
}

// attrSizeOfHeader is the size of struct perf_event_attr that the header line says, 0
// if it does not say or cannot be right.
func (l *textLine) attrSizeOfHeader() int {
	v, err := decimal.parse(l.fields.peek("attr_size"), 8)
	if err != nil || v < attrSizeVer0+16 || v > 1<<20 {
		return 0
	}
	return int(v) - 16
}
