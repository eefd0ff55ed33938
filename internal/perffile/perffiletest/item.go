package perffiletest

import (
	"errors"
	"slices"
	"strings"

	"profdiff/internal/perffile"
)

// recordTypes are the record types by the keywords of their lines.
var recordTypes = func() map[string]perffile.RecordType {
	m := map[string]perffile.RecordType{"SAMPLE": perffile.RecordSample}
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

// encode returns the bytes of the item in x.line; of an attr line those of the
// entry. They are valid until the next call. The encoder takes note of the item only
// when accept is called.
func (x *encoder) encode() ([]byte, error) {
	l := &x.line
	x.in, x.buf, x.err = &l.fields, x.buf[:0], nil
	x.event, x.misc, x.idSize, x.commit = nil, 0, 0, nil
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
func (x *encoder) accept() {
	if x.commit != nil {
		x.commit()
	}
}

// item encodes what is not a record.
func (x *encoder) item(l *textLine) {
	var s spec
	switch entry, isEntry := entries[l.keyword]; {
	case isEntry:
		s = entry.spec
		if entry.message != 0 {
			s = spec{func(x *encoder) { x.protoMessage(entry.message, entry.spec) }}
		}
	case l.keyword == "hex":
		x.in = &textFields{list: []textField{{name: "hex", value: l.arg}}}
		x.bytes("hex")
		l.arg = ""
	case l.keyword == "attr":
		s = attrEntry
	case l.keyword == "event_type":
		s = eventType
	case l.keyword == "section", l.keyword == "feature":
		f, err := parseFeature(l.arg)
		if err != nil {
			x.fail("%w", err)
		}
		l.arg = ""
		switch {
		case l.keyword == "section":
			s = sectionEntry
		case len(l.fields.list) > 0: // otherwise the contents follow
			s = featureSpecs[f]
		}
	default:
		x.fail("unknown keyword %s", l.keyword)
	}
	if l.arg != "" {
		x.fail("unexpected %q", shorten(l.arg))
	}
	x.rawOr(s)
	switch {
	case x.err != nil:
	case l.keyword == "build_id" && !l.fields.had("entry_size") && !l.fields.had(textRaw):
		x.patch(6, uint64(len(x.buf)), 2)
	case l.keyword == "attr":
		x.attrIDs()
	}
}

func (x *encoder) rawOr(s spec) {
	if x.in.has(textRaw) {
		x.bytes(textRaw)
		return
	}
	x.run(s)
	x.bytes(textTail)
}

// attrIDs encodes the ids of an event, whose entry has been encoded.
func (x *encoder) attrIDs() {
	entry := len(x.buf)
	x.numbers("ids", 8, plain)
	if x.err != nil {
		return
	}
	x.ids = append(x.ids[:0], x.buf[entry:]...)
	x.buf = x.buf[:entry]
	x.commit = func() { x.addEvent(x.buf[:max(0, entry-16)], x.ids) }
}

// takeMisc takes the field misc of a record, if there is one.
func (x *encoder) takeMisc() {
	s, ok := x.in.take("misc")
	if !ok {
		return
	}
	var err error
	if x.misc, err = parseMisc(s); err != nil {
		x.fail("%w", err)
	}
}

// record encodes a record with its header.
func (x *encoder) record(l *textLine) {
	t, ok := recordTypes[l.keyword]
	if !ok {
		t = perffile.RecordType(x.number("type", 4, plain, 0))
	}
	if l.arg != "" {
		x.fail("unexpected %q", shorten(l.arg))
	}
	x.takeMisc()
	if t < firstUserRecord {
		x.findEvent(t)
	}
	x.buf = append(x.buf, make([]byte, recordHeaderSize)...)
	switch {
	case x.in.has(textRaw):
		x.bytes(textRaw)
	case t == perffile.RecordSample && x.event == nil:
		x.fail("sample of no event")
	case t == perffile.RecordSample:
		x.sample()
		x.bytes(textTail)
	default:
		if recordSpecs[t] == nil {
			x.fail("record of type %d has only a field raw", t)
		}
		x.rawOr(recordSpecs[t])
		if x.event != nil && x.event.hasSampleID() {
			x.nested(textSampleID, spec{(*encoder).sampleID})
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
	body := x.buf[recordHeaderSize:]
	switch t {
	case perffile.RecordHeaderAttr: // its own size says where the ids start
		x.commit = func() {
			if len(body) < attrSizeVer0 {
				return
			}
			if size := max(x.order().Uint32(body[4:]), attrSizeVer0); uint64(size) <= uint64(len(body)) {
				x.addEvent(body[:size], body[size:])
			}
		}
	case perffile.RecordEventID:
		x.commit = func() { x.addIDs(body) }
	}
}

// Must match enum perf_user_event_type and simpleperf's record.h.
const (
	recordHeaderSize      = 8
	firstUserRecord       = 64
	firstSimpleperfRecord = 32768
)

// findEvent finds the event that a record belongs to: that which the line says, the one
// whose id the record has, or the first.
func (x *encoder) findEvent(t perffile.RecordType) {
	events := x.events
	if s, ok := x.in.take("event"); ok {
		v, err := plain.parse(s, 4)
		if err != nil || v >= uint64(len(events)) {
			x.fail("event: there is no event %s", shorten(s))
			return
		}
		x.event = &events[v]
		return
	}
	if len(events) == 0 {
		return
	}
	x.event = &events[0]
	fields := x.in
	if t != perffile.RecordSample {
		inner, err := textInner(x.in.peek(textSampleID), '{', '}')
		fields = new(textFields)
		if err != nil || fields.parse(inner, ',') != nil {
			return
		}
	}
	for _, name := range []string{"identifier", "id"} {
		if id, err := plain.parse(fields.peek(name), 8); err == nil {
			if i, ok := x.byID[id]; ok {
				x.event = &events[i]
				return
			}
		}
	}
}

// header encodes the header line.
func (x *encoder) header(l *textLine) ([]byte, error) {
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

const (
	fileHeaderSize = 104 // struct perf_file_header
	pipeHeaderSize = 16
)

// headerFields are struct perf_file_header, or what a pipe has of it.
func (x *encoder) headerFields(pipe bool) {
	magic := "PERFILE2"
	if x.big {
		magic = "2ELIFREP"
	}
	x.buf = append(x.buf, magic...)
	if pipe {
		x.uintOr("size", 8, plain, pipeHeaderSize)
		return
	}
	x.uintOr("size", 8, plain, fileHeaderSize)
	x.uintOr("attr_size", 8, plain, uint64(x.attrSize+16))
	for _, name := range []string{"attrs", "data", "event_types"} {
		s := x.sections[name]
		x.defaults = map[string]uint64{"offset": uint64(s.off), "size": uint64(s.size)}
		x.nested(name, sectionEntry)
		x.defaults = nil
	}
	x.featureBits()
}

// featureBits is the bitmap of features. It is an array of unsigned long, so that
// its layout on big-endian machines depends on the size of those.
func (x *encoder) featureBits() {
	set := x.features
	if s, ok := x.in.take("features"); ok {
		set = nil
		for name := range strings.SplitSeq(s, "|") {
			if name == "none" {
				continue
			}
			f, err := parseFeature(name)
			if err != nil {
				x.fail("features: %w", err)
				return
			}
			set = append(set, f)
		}
	}
	word := x.number("word_size", 1, plain, 8)
	if word != 4 && word != 8 {
		x.fail("word_size: %d is neither 4 nor 8", word)
		return
	}
	bitmap := make([]byte, numFeatures/8)
	for _, f := range set {
		bitmap[f/8] |= 1 << (f % 8)
	}
	if x.big {
		for w := range slices.Chunk(bitmap, int(word)) {
			slices.Reverse(w)
		}
	}
	x.buf = append(x.buf, bitmap...)
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
	v, err := plain.parse(l.fields.peek("attr_size"), 8)
	if err != nil || v < attrSizeVer0+16 || v > 1<<20 {
		return 0
	}
	return int(v) - 16
}
