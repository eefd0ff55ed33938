package perffile

import (
	"errors"
	"fmt"
	"iter"
)

// Records yields the records in the order of the file. In place of a COMPRESSED record
// come the records in it. It can be called once. Exactly one of record and error
// is not nil, and an error is the last element. The record is valid until the next
// step.
//
// Records that only describe the recording (HEADER_ATTR, HEADER_FEATURE and so on)
// have taken effect on f when they are yielded.
//
// The records of [Options.Parts] follow in the order of their times, as far as each part
// is in it.
func (f *File) Records() iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		if f.read(f.stream, yield) && len(f.opt.Parts) > 0 {
			f.readParts(yield)
		}
	}
}

// read yields the records of a stream. It reports whether more may follow.
func (f *File) read(s *stream, yield func(*Record, error) bool) bool {
	rd := recordReader{f: f, s: s, yield: yield}
	rd.rec.file = f
	defer func() {
		if rd.d != nil {
			rd.d.close()
		}
	}()
	err := rd.run()
	if err == nil || rd.stopped {
		return !rd.stopped
	}
	if fe, ok := errors.AsType[*FormatError](err); ok && fe.Truncated && f.opt.AllowTruncated {
		f.Stats.Truncated = fe
		return true
	}
	yield(nil, err)
	return false
}

type recordReader struct {
	f       *File
	s       *stream
	d       *decompressor
	rec     Record
	yield   func(*Record, error) bool
	stopped bool   // the consumer wants no more
	split   []byte // body of a simpleperf record cut into SPLIT records
	end     int64  // of the record: see Record.End
}

// header decodes a record's header. simpleperf's own records use the misc field for
// the upper half of the size, must match struct simpleperf_record_header.
func (rd *recordReader) header(b []byte, off int64) (t RecordType, misc Misc, size uint32, err error) {
	c := fieldReader{data: b, base: off, section: rd.s.name, big: rd.f.BigEndian}
	t = RecordType(c.u32())
	misc = Misc(c.u16())
	size = uint32(c.u16())
	if t >= firstSimpleperfRecord {
		size |= uint32(misc) << 16
		misc = 0
	}
	if size < recordHeaderSize {
		return t, misc, size, &FormatError{Section: rd.s.name, Offset: off, Msg: fmt.Sprintf("%v record of %d bytes, at least %d expected", t, size, recordHeaderSize)}
	}
	return t, misc, size, nil
}

func (rd *recordReader) run() error {
	s := rd.s
	for !rd.stopped {
		if !s.fill(recordHeaderSize) {
			if s.err != nil || s.buffered() > 0 || s.end >= 0 && s.off < s.end {
				return s.missing("record header")
			}
			return rd.unfinished()
		}
		off := s.off
		t, misc, size, err := rd.header(s.buf[s.pos:], off)
		if err != nil {
			return err
		}
		if !s.fillRecord(size) {
			return s.missing(fmt.Sprintf("%v record of %d bytes", t, size))
		}
		body := s.take(int(size))[recordHeaderSize:]
		rd.end = 0
		if s == rd.f.stream && rd.f.src != nil && !rd.f.Pipe {
			rd.end = s.off
		}
		if err := rd.record(off, t, misc, body); err != nil {
			return err
		}
	}
	return nil
}

// unfinished returns an error if the data ends while a record is still in pieces.
func (rd *recordReader) unfinished() error {
	switch {
	case rd.d != nil && len(rd.d.out) > 0:
		return rd.s.truncated("record within a compressed one")
	case rd.split != nil:
		return rd.s.truncated("record in pieces")
	}
	return nil
}

// record handles one record: decompresses and joins, applies what describes the
// recording, and yields.
func (rd *recordReader) record(off int64, t RecordType, misc Misc, body []byte) error {
	f, r := rd.f, &rd.rec
	r.Offset, r.Type, r.Misc, r.Body, r.End = off, t, misc, body, rd.end
	f.Stats.count(t)
	if t < firstUserRecord {
		f.assign(r)
		rd.stopped = !rd.yield(r, nil)
		return nil
	}
	r.Attr, r.Time = -1, 0
	switch t {
	case RecordSplit:
		if len(rd.split)+len(body) > maxSplit {
			return &FormatError{Section: rd.s.name, Offset: off, Msg: fmt.Sprintf("record in pieces of more than %d bytes", maxSplit)}
		}
		rd.split = append(rd.split, body...)
		return nil
	case RecordSplitEnd:
		return rd.joined(off)
	case RecordCompressed, RecordCompressed2:
		c := r.reader()
		payload := body
		if t == RecordCompressed2 {
			payload = c.bytes(c.u64())
			if c.err != nil {
				return c.err
			}
		}
		rd.stopped = !rd.yield(r, nil)
		return rd.decompress(off, payload)
	}
	extra, err := f.apply(r)
	if err != nil {
		return err
	}
	if extra > 0 {
		if rd.inCompressed() {
			return &FormatError{Section: rd.s.name, Offset: off, Msg: fmt.Sprintf("%v record within a compressed one", t)}
		}
		if extra > rd.s.left() {
			return rd.s.truncated(fmt.Sprintf("%d bytes of data after the %v record", extra, t))
		}
		if t == RecordHeaderTracingData {
			// The record's body stays valid: it is not used after this.
			if err := rd.tracingData(extra); err != nil {
				return err
			}
			return nil
		}
		rd.stopped = !rd.yield(r, nil)
		if !rd.s.skip(extra) {
			return rd.s.missing(fmt.Sprintf("%d bytes of data after the %v record", extra, t))
		}
		return nil
	}
	rd.stopped = !rd.yield(r, nil)
	return nil
}

func (rd *recordReader) inCompressed() bool { return rd.d != nil && rd.d.busy }

// maxSplit bounds a record that simpleperf cut into pieces: kernel symbols and
// tracing formats of a device, some megabytes.
const maxSplit = 256 << 20

// joined yields the record whose pieces have all been read.
func (rd *recordReader) joined(off int64) error {
	b := rd.split
	rd.split, rd.end = nil, 0
	if len(b) < recordHeaderSize {
		return &FormatError{Section: rd.s.name, Offset: off, Msg: "end of a record in pieces without its start"}
	}
	t, misc, size, err := rd.header(b, off)
	if err != nil {
		return err
	}
	if uint64(size) != uint64(len(b)) || t == RecordSplit || t == RecordSplitEnd {
		return &FormatError{Section: rd.s.name, Offset: off, Msg: fmt.Sprintf("pieces of %d bytes make a %v record of %d bytes", len(b), t, size)}
	}
	return rd.record(off, t, misc, b[recordHeaderSize:])
}

// decompress yields the records in one payload and completes the one that the
// previous payload started.
func (rd *recordReader) decompress(off int64, payload []byte) error {
	if rd.inCompressed() {
		return &FormatError{Section: rd.s.name, Offset: off, Msg: "compressed record within a compressed record"}
	}
	if rd.d == nil {
		rd.d = newDecompressor()
	}
	d := rd.d
	d.busy, rd.end = true, 0
	defer func() { d.busy = false }()
	d.feed(payload)
	rd.f.Stats.CompressedBytes += int64(len(payload))
	for more := true; more && !rd.stopped; {
		var err error
		before := d.total
		more, err = d.more()
		rd.f.Stats.DecompressedBytes += d.total - before
		if err != nil {
			return &FormatError{Section: rd.s.name, Offset: off, Msg: "compressed record: " + err.Error()}
		}
		used := 0
		for !rd.stopped && len(d.out)-used >= recordHeaderSize {
			t, misc, size, err := rd.header(d.out[used:], off)
			if err != nil {
				return err
			}
			if uint64(size) > uint64(len(d.out)-used) {
				// The recorders compress no larger ones. Without this, the
				// record would pile up whatever size it claims.
				if size > 1<<16 {
					return &FormatError{Section: rd.s.name, Offset: off, Msg: fmt.Sprintf("%v record of %d bytes within a compressed one", t, size)}
				}
				break
			}
			end := used + int(size)
			body := d.out[used+recordHeaderSize : end : end]
			used = end
			if err := rd.record(off, t, misc, body); err != nil {
				return err
			}
		}
		d.out = d.out[:copy(d.out, d.out[used:])]
	}
	return nil
}

// tracingData keeps the n bytes that follow a HEADER_TRACING_DATA record.
func (rd *recordReader) tracingData(n uint64) error {
	const maxTracingData = 256 << 20
	if n > maxTracingData {
		return &FormatError{Section: rd.s.name, Offset: rd.s.off, Msg: fmt.Sprintf("%d bytes of tracing data", n)}
	}
	var data []byte
	for n > 0 {
		if !rd.s.fill(1) {
			return rd.s.missing("tracing data")
		}
		b := rd.s.take(int(min(n, uint64(rd.s.buffered()))))
		data = append(data, b...)
		n -= uint64(len(b))
	}
	rd.f.tracing = data
	rd.rec.Body = nil
	rd.stopped = !rd.yield(&rd.rec, nil)
	return nil
}

// apply takes over what a record says about the recording. extra is the number of
// bytes of data that follow the record without being part of it.
func (f *File) apply(r *Record) (extra uint64, err error) {
	c := r.reader()
	switch r.Type {
	case RecordHeaderAttr:
		// The attribute's own size field says where the ids start.
		sizes := c
		sizes.skip(4)
		size := max(sizes.u32(), attrSizeVer0)
		ac := fieldReader{data: c.bytes(uint64(size)), base: c.base, section: c.section, big: c.big}
		a := decodeAttr(&ac)
		a.IDs = c.u64s(nil, uint64(c.remaining()/8))
		if c.err == nil {
			c.err = ac.err
		}
		if c.err != nil {
			return 0, c.err
		}
		a.Name = a.defaultName(false) // simpleperf does not write pipes
		if err := f.addAttr(a); err != nil {
			err.Offset = r.Offset
			return 0, err
		}
	case RecordHeaderEventType: // before perf 3.11
		// The name is as long as it needs to be, without a NUL if its length is a multiple
		// of 8 (perf_event__synthesize_event_type in tools/perf/util/header.c of 3.10).
		config, name := c.u64(), string(cutNUL(c.rest()))
		for i := range f.Attrs {
			// The default names of other types say all that there is to say, and a number
			// alone does not tell cycles from cpu-clock.
			if a := &f.Attrs[i]; (a.Type == TypeTracepoint || a.Type > TypeBreakpoint) && a.Config == config && name != "" {
				a.Name = name
			}
		}
	case RecordEventUpdate:
		const eventUpdateName = 2 // PERF_EVENT_UPDATE__NAME
		kind, id := c.u64(), c.u64()
		if a, ok := f.ids[id]; ok && kind == eventUpdateName {
			if name := cutNUL(c.rest()); len(name) > 0 {
				f.Attrs[a].Name = string(name)
			}
		}
	case RecordHeaderBuildID:
		b := decodeBuildID(&c, r.Misc)
		if c.err == nil {
			f.Info.BuildIDs = append(f.Info.BuildIDs, b)
		}
	case RecordHeaderFeature:
		id := c.u64()
		if c.err != nil || id >= numFeatures {
			break
		}
		fc := fieldReader{data: c.rest(), base: c.base + 8, section: "feature " + Feature(id).String(), big: c.big}
		f.decodeFeature(Feature(id), &fc)
		f.nameAttrs()
		c.err = fc.err
	case RecordEventID: // simpleperf: ids that became known while recording
		n := c.u64()
		if n > uint64(c.remaining())/16 {
			c.short(n * 16)
			break
		}
		for range n {
			if attr, id := c.u64(), c.u64(); c.err == nil && attr < uint64(len(f.Attrs)) {
				f.Attrs[attr].IDs = append(f.Attrs[attr].IDs, id)
				f.ids[id] = int(attr)
			}
		}
	case RecordIDIndex:
		// struct perf_record_id_index: ids on CPUs and threads; the events are
		// known from the attributes.
	case RecordHeaderTracingData:
		// simpleperf before 2018 put the data into the record; perf lets it
		// follow, padded to 8 bytes.
		if size := uint64(c.u32()); size <= uint64(c.remaining()) {
			f.tracing = append([]byte(nil), c.bytes(size)...)
		} else {
			extra = (size + 7) &^ 7
		}
	case RecordAuxtrace:
		extra = c.u64()
	case RecordTracingData: // simpleperf
		data := c.bytes(uint64(c.u32()))
		if c.err == nil {
			f.tracing = append([]byte(nil), data...)
		}
	}
	return extra, c.failure()
}

// TracingData returns what the recording holds of /sys/kernel/tracing: formats of
// tracepoints in the layout of trace-cmd. For pipes it is complete when all records
// have been read. nil if there is none.
func (f *File) TracingData() ([]byte, error) {
	if f.tracing != nil || f.Pipe || f.features[FeatureTracingData].size < 0 {
		return f.tracing, nil
	}
	c, err := f.readAt("feature "+FeatureTracingData.String(), f.features[FeatureTracingData])
	if err != nil {
		return nil, err
	}
	return c.data, nil
}
