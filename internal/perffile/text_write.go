package perffile

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A textWriter prints items one by one. It decodes each by its spec; if the fields do
// not stand for all bytes of the item, the line holds those in hex.
type textWriter struct {
	w   *bufio.Writer
	opt TextOptions
	f   *File // the recording as File sees it
	// said is what the lines so far say of events: less than f knows if there are
	// some in compressed records, or if f refuses one and stops.
	said *File
	x    textPrinter
	top  RecordType // the record that is being written
	off  int64      // of the item that is being written
	err  error      // of w
}

func newTextWriter(w io.Writer, opt TextOptions) *textWriter {
	return &textWriter{w: bufio.NewWriterSize(w, 64<<10), opt: opt, x: textPrinter{memory: opt.Memory}}
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
	w.said = newFile(Options{}, big)
	w.x = textPrinter{big: big, file: f, memory: w.opt.Memory}
}

// place starts a line with where the item is.
func (w *textWriter) place(off, size int64) {
	w.off = off
	x := &w.x
	x.lossy = false
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
func (w *textWriter) decode(c *fieldReader, spec textSpec) error {
	x := &w.x
	x.c = c
	x.run(spec)
	return c.failure()
}

// finish writes the line of an item. If its fields could not be decoded or do not stand
// for all of its bytes, what was printed after mark becomes a comment and raw stands in
// its place. suffix is printed either way.
func (w *textWriter) finish(mark int, raw []byte, suffix string, err error) {
	x := &w.x
	if err == nil && !x.lossy {
		x.out = append(x.out, suffix...)
		w.end()
		return
	}
	why := errNotReproduced.Error()
	if err != nil {
		why = err.Error()
	}
	fields := string(x.out[mark:])
	if fields != "" {
		why += ":"
	}
	x.out = append(x.out[:mark], " raw="...)
	if w.top == RecordSample && x.holdsMemory() {
		x.out = appendWithheld(x.out, len(raw))
	} else {
		x.out = hex.AppendEncode(x.out, raw)
	}
	x.out = append(x.out, suffix...)
	x.out = append(append(append(x.out, " # "...), why...), fields...)
	w.end()
}

var errNotReproduced = errors.New("not reproduced")

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
func (w *textWriter) hexRest(c *fieldReader) {
	off := c.base + int64(c.off)
	w.hexLines(off, c.rest())
}

// hexStream writes the next n bytes of s, or all of it if n is negative, and reports
// whether there were as many.
func (w *textWriter) hexStream(s *stream, n int64) bool {
	if w.x.holdsMemory() {
		return w.withhold(s, n)
	}
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

// withhold is hexStream for what may hold memory of programs.
func (w *textWriter) withhold(s *stream, n int64) bool {
	off := s.off
	for n != 0 {
		want := int64(hexChunk)
		if n > 0 {
			want = min(want, n)
		}
		if !s.fill(int(want)) {
			s.take(s.buffered())
			break
		}
		s.take(int(want))
		n = max(n-want, -1)
	}
	if s.off > off {
		w.comment("?%d bytes at %#x", s.off-off, off)
	}
	return n <= 0
}

// pipe writes a recording in the format of perf record -o -.
func (w *textWriter) pipe(f *File) error {
	w.start(f, f.BigEndian)
	magic := magicV2
	if f.BigEndian {
		magic = magicV2Swapped
	}
	head := binary.LittleEndian.AppendUint64(magic[:], pipeHeaderSize)
	if f.BigEndian {
		head = binary.BigEndian.AppendUint64(magic[:], pipeHeaderSize)
	}
	if err := w.header(head, true); err != nil {
		return err
	}
	return w.records(f.stream)
}

// header writes the header line.
func (w *textWriter) header(b []byte, pipe bool) error {
	arg, order, spec := "", "little", fileHeader
	if pipe {
		arg, spec = "pipe", pipeHeader
	}
	if w.x.big {
		order = "big"
	}
	w.begin(0, int64(len(b)), "header", arg)
	w.x.key("byte_order")
	w.x.out = append(w.x.out, order...)
	c := fieldReader{data: b, section: "header", big: w.x.big}
	if err := w.decode(&c, spec); err != nil {
		return err
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
	mark, err := w.recordHead(w.said, t, misc, record[recordHeaderSize:])
	if err == nil {
		err = w.recordBody(off, t, record[recordHeaderSize:])
	}
	w.finish(mark, record[recordHeaderSize:], "", err)
	if t >= firstUserRecord {
		// An error of apply is for readers of the recording.
		_, _ = w.said.apply(&Record{Offset: off, Type: t, Misc: misc, Body: record[recordHeaderSize:], file: w.said})
	}
}

// recordFields prints a record without its place.
func (w *textWriter) recordFields(off int64, t RecordType, misc Misc, body []byte) error {
	if _, err := w.recordHead(w.f, t, misc, body); err != nil {
		return err
	}
	return w.recordBody(off, t, body)
}

var errUnknownRecord = errors.New("unknown type")

// recordHead prints what precedes the fields of the body, whose place in the line
// it returns. The record is of one of the events that f knows.
func (w *textWriter) recordHead(f *File, t RecordType, misc Misc, body []byte) (mark int, err error) {
	x := &w.x
	x.sep = ' '
	if recordSpecs[t] != nil || t == RecordSample {
		x.out = append(x.out, t.String()...)
	} else {
		x.out = strconv.AppendUint(append(x.out, "RECORD type="...), uint64(t), 10)
		err = errUnknownRecord
	}
	if t < firstSimpleperfRecord {
		x.key("misc")
		x.out = appendMisc(x.out, t, misc)
	}
	r := Record{Type: t, Body: body, file: f, Attr: -1}
	f.assign(&r)
	x.misc, x.attr = misc, nil
	if r.Attr >= 0 {
		x.attr = &f.Attrs[r.Attr]
		if len(f.Attrs) > 1 {
			x.key("event")
			x.out = strconv.AppendInt(x.out, int64(r.Attr), 10)
		}
	}
	return len(x.out), err
}

func (w *textWriter) recordBody(off int64, t RecordType, body []byte) error {
	x := &w.x
	c := fieldReader{data: body, base: off + recordHeaderSize, section: t.String() + " record", big: x.big}
	var trailer []byte
	if t != RecordSample && x.attr != nil {
		if n := x.attr.layout.trailer; n > len(body) {
			x.lossy = true // the text stands for a record that has one
		} else {
			c.data, trailer = body[:len(body)-n], body[len(body)-n:]
		}
	}
	spec := recordSpecs[t]
	if t == RecordSample {
		if x.attr == nil {
			return errors.New("sample of an unknown event")
		}
		spec = textSpec{(*textPrinter).sample}
	}
	if err := w.decode(&c, spec); err != nil {
		return err
	}
	if x.c.remaining() > 0 && t == RecordSample {
		x.records(textTail, uint64(x.c.remaining()))
	} else {
		x.restBytes(textTail)
	}
	if len(trailer) == 0 {
		return nil
	}
	return w.decode(&fieldReader{data: trailer, big: x.big}, textSpec{nested("sample_id", (*textPrinter).sampleID)})
}
