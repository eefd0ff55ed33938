package perffile

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A textWriter prints items one by one. It decodes each by its spec, then has the
// encoder read the line; if that does not give the same bytes, the line holds them
// in hex.
type textWriter struct {
	w   *bufio.Writer
	opt Options
	f   *File // the recording as File sees it
	x   textCodec
	enc *textEncoder
	top RecordType // the record that is being written
	off int64      // of the item that is being written
	err error      // of w
}

func newTextWriter(w io.Writer, opt Options) *textWriter {
	return &textWriter{w: bufio.NewWriterSize(w, 64<<10), opt: opt}
}

func (w *textWriter) close(err error) error {
	if flush := w.w.Flush(); flush != nil {
		return flush
	}
	return err
}

// start tells the byte order.
func (w *textWriter) start(f *File, big bool) {
	w.f = f
	w.x = textCodec{big: big, state: f}
	w.enc = newTextEncoder(big)
}

// place starts a line with where the item is.
func (w *textWriter) place(off, size int64) {
	w.off = off
	x := &w.x
	x.out = strconv.AppendInt(append(x.out[:0], "@0x"...), off, 16)
	x.out = strconv.AppendInt(append(x.out, '+'), size, 10)
	x.out = append(x.out, ' ')
}

// begin starts the line of an item that is not a record.
func (w *textWriter) begin(off, size int64, keyword, arg string) {
	w.place(off, size)
	x := &w.x
	x.out = append(x.out, keyword...)
	if arg != "" {
		x.out = append(append(x.out, ' '), arg...)
	}
	x.sep = ' '
}

// end writes the line.
func (w *textWriter) end() {
	w.x.out = append(w.x.out, '\n')
	if _, err := w.w.Write(w.x.out); err != nil {
		w.err = err
	}
}

func (w *textWriter) comment(format string, args ...any) {
	fmt.Fprintf(w.w, "# "+format+"\n", args...)
}

// decode prints the fields of the item in c.
func (w *textWriter) decode(c *cursor, spec textSpec) error {
	x := &w.x
	x.c = c
	x.run(spec)
	return c.failure()
}

// reproduces reports whether the line gives the bytes of the item. If it does, the
// encoder has taken it over.
func (w *textWriter) reproduces(item []byte) bool {
	if ok, err := w.enc.line.parse(string(w.x.out)); !ok || err != nil {
		return false
	}
	got, err := w.enc.encode()
	if err != nil || !bytes.Equal(got, item) {
		return false
	}
	w.enc.accept()
	return true
}

// finish writes the line of an item if it reproduces its bytes. Otherwise what was
// printed after mark becomes a comment and raw stands in its place. suffix is printed
// either way.
func (w *textWriter) finish(mark int, item, raw []byte, suffix string, err error) {
	x := &w.x
	decoded := len(x.out)
	x.out = append(x.out, suffix...)
	if err == nil && w.reproduces(item) {
		w.end()
		return
	}
	why := "not reproduced"
	if err != nil {
		why = err.Error()
	}
	if decoded > mark {
		why += ":"
	}
	fields := string(x.out[mark:decoded])
	x.out = hex.AppendEncode(append(x.out[:mark], " raw="...), raw)
	x.out = append(x.out, suffix...)
	sound := w.reproduces(item)
	if !sound {
		x.out = x.out[:0]
	}
	x.out = append(append(append(x.out, " # "...), why...), fields...)
	w.end()
	if !sound { // raw has all bytes; should it be read otherwise, no byte gets lost
		w.hexLines(w.off, item)
	}
}

// hexChunk is how many bytes a hex line has.
const hexChunk = 64

// hexLine writes at most hexChunk bytes.
func (w *textWriter) hexLine(off int64, b []byte) {
	w.begin(off, int64(len(b)), "hex", "")
	w.x.out = hex.AppendEncode(append(w.x.out, ' '), b)
	w.end()
}

func (w *textWriter) hexLines(off int64, b []byte) {
	for len(b) > 0 {
		n := min(len(b), hexChunk)
		w.hexLine(off, b[:n])
		b, off = b[n:], off+int64(n)
	}
}

// hexRest writes what c has not consumed.
func (w *textWriter) hexRest(c *cursor) {
	off := c.base + int64(c.off)
	w.hexLines(off, c.rest())
}

// hexStream writes the next n bytes of s, or all of it if n is negative, and reports
// whether there were as many.
func (w *textWriter) hexStream(s *stream, n int64) bool {
	for n != 0 && w.err == nil {
		want := int64(hexChunk)
		if n > 0 {
			want = min(want, n)
		}
		whole := s.fill(int(want))
		if !whole {
			want = int64(s.buffered())
		}
		if want > 0 {
			off := s.off
			w.hexLine(off, s.take(int(want)))
		}
		if !whole {
			return n < 0
		}
		n = max(n-want, -1)
	}
	return true
}

// pipe writes a recording in the format of perf record -o -.
func (w *textWriter) pipe(f *File) error {
	w.start(f, f.BigEndian)
	magic := magicV2
	if f.BigEndian {
		magic = magicV2Swapped
	}
	head := append([]byte(nil), magic[:]...)
	x := textCodec{big: f.BigEndian, buf: head}
	x.put(pipeHeaderSize, 8)
	if err := w.header(x.buf, true); err != nil {
		return err
	}
	return w.records(f.stream)
}

// header writes the header line.
func (w *textWriter) header(b []byte, pipe bool) error {
	arg, order := "", "little"
	if pipe {
		arg = "pipe"
	}
	if w.x.big {
		order = "big"
	}
	w.begin(0, int64(len(b)), "header", arg)
	w.x.key("byte_order")
	w.x.out = append(w.x.out, order...)
	c := cursor{data: b, section: "header", big: w.x.big}
	err := w.decode(&c, textSpec{func(x *textCodec) { x.headerFields(pipe) }})
	if err != nil {
		return err
	}
	if ok, err := w.enc.line.parse(string(w.x.out)); !ok || err != nil {
		return fmt.Errorf("header line: %w", err)
	}
	got, err := w.enc.header(&w.enc.line)
	if err == nil && !bytes.Equal(got, b) {
		err = errors.New("does not reproduce the header")
	}
	if err != nil {
		return fmt.Errorf("header line: %w", err)
	}
	w.end()
	return nil
}

// records writes the records that s holds.
func (w *textWriter) records(s *stream) error {
	rd := &recordReader{f: w.f, s: s, yield: w.inner}
	rd.rec.file = w.f
	err := w.eachRecord(rd)
	if rd.d != nil {
		rd.d.close()
	}
	if err == nil {
		return nil
	}
	fe, ok := errors.AsType[*FormatError](err)
	if !ok || !w.opt.AllowTruncated {
		return err
	}
	w.comment("%v", fe)
	w.hexStream(s, -1)
	if s.err != nil {
		return fmt.Errorf("data: %w", s.err)
	}
	if fe.Truncated {
		return nil
	}
	return err
}

// eachRecord is recordReader.run, but for what follows records.
func (w *textWriter) eachRecord(rd *recordReader) error {
	s := rd.s
	for {
		if w.err != nil {
			return w.err
		}
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
		record := s.take(int(size))
		w.top = t
		w.record(off, t, misc, record)
		r := &rd.rec
		r.Offset, r.Type, r.Misc, r.Body = off, t, misc, record[recordHeaderSize:]
		if t != RecordAuxtrace && t != RecordHeaderTracingData {
			if err := rd.record(off, t, misc, r.Body); err != nil {
				return err
			}
			continue
		}
		extra, err := w.f.apply(r)
		if err != nil {
			return err
		}
		if extra > s.left() || !w.hexStream(s, int64(extra)) {
			return s.missing(fmt.Sprintf("%d bytes of data after the %v record", extra, t))
		}
	}
}

// inner prints records that are not in the file as such: those in a compressed
// record, and those in pieces.
func (w *textWriter) inner(r *Record, err error) bool {
	if err != nil || r.Type == w.top {
		return true
	}
	switch w.top {
	case RecordCompressed, RecordCompressed2, RecordSplitEnd:
		x := &w.x
		x.out = append(x.out[:0], "#   "...)
		if err := w.recordFields(r.Offset, r.Type, r.Misc, r.Body); err != nil {
			x.out = append(append(x.out, " # "...), err.Error()...)
		}
		w.end()
	}
	return true
}

// record writes a record.
func (w *textWriter) record(off int64, t RecordType, misc Misc, record []byte) {
	w.place(off, int64(len(record)))
	mark, err := w.recordHead(t, misc, record[recordHeaderSize:])
	if err == nil {
		err = w.recordBody(off, t, record[recordHeaderSize:])
	}
	w.finish(mark, record, record[recordHeaderSize:], "", err)
}

// recordFields prints a record without its place.
func (w *textWriter) recordFields(off int64, t RecordType, misc Misc, body []byte) error {
	if _, err := w.recordHead(t, misc, body); err != nil {
		return err
	}
	return w.recordBody(off, t, body)
}

var errUnknownRecord = errors.New("unknown type")

// recordHead prints what precedes the fields of the body, whose place in the line
// it returns.
func (w *textWriter) recordHead(t RecordType, misc Misc, body []byte) (mark int, err error) {
	x := &w.x
	x.sep = ' '
	_, known := recordTypes[t.String()]
	if known {
		x.out = append(x.out, t.String()...)
	} else {
		x.out = strconv.AppendUint(append(x.out, anyRecord+" type="...), uint64(t), 10)
		err = errUnknownRecord
	}
	if t < firstSimpleperfRecord {
		x.key("misc")
		x.out = appendMisc(x.out, t, misc)
	}
	r := Record{Type: t, Body: body, file: w.f, Attr: -1}
	w.f.assign(&r)
	x.misc, x.attr = misc, nil
	if r.Attr >= 0 {
		x.attr = &w.f.Attrs[r.Attr]
		if len(w.f.Attrs) > 1 {
			x.key("event")
			x.out = strconv.AppendInt(x.out, int64(r.Attr), 10)
		}
	}
	return len(x.out), err
}

func (w *textWriter) recordBody(off int64, t RecordType, body []byte) error {
	x := &w.x
	c := cursor{data: body, base: off + recordHeaderSize, section: t.String() + " record", big: x.big}
	var trailer []byte
	if n := 0; t != RecordSample && x.attr != nil {
		if n = x.attr.layout.trailer; n > 0 && n <= len(body) {
			c.data, trailer = body[:len(body)-n], body[len(body)-n:]
		}
	}
	spec := recordSpecs[t]
	if t == RecordSample {
		if x.attr == nil {
			return errors.New("sample of an unknown event")
		}
		spec = textSpec{(*textCodec).sample}
	}
	if err := w.decode(&c, spec); err != nil {
		return err
	}
	x.restBytes(textTail)
	if trailer == nil {
		return nil
	}
	return w.decode(&cursor{data: trailer, big: x.big}, textSpec{func(x *textCodec) {
		x.nested(textSampleID, textSpec{(*textCodec).sampleID})
	}})
}
