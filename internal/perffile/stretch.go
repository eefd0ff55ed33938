package perffile

import (
	"fmt"
	"io"
)

// A Stretch is a part of a file with records of the kernel, which are read again: those who bring
// records into another order need not keep them.
type Stretch struct {
	rd recordReader
}

// stretchBuffer is how much of a stretch is read at a time: there may be one for each CPU.
const stretchBuffer = 64 << 10

// Stretch is what is between the offset of a record and the end of a later one, see [Record.End]. All records
// there are of the kernel. The memory of a stretch that is no longer needed is used again, unless that is nil.
func (f *File) Stretch(off, end int64, again *Stretch) *Stretch {
	if again == nil {
		again = &Stretch{recordReader{s: &stream{name: "data", buf: make([]byte, 0, stretchBuffer)}}}
	}
	s := again.rd.s
	*s = stream{name: s.name, src: io.NewSectionReader(f.src, off, end-off), off: off, end: end, buf: s.buf[:0]}
	again.rd = recordReader{f: f, s: s, rec: Record{file: f}}
	return again
}

// Next returns the next record, valid until the one after it, or nil at the end.
func (s *Stretch) Next() (*Record, error) {
	in, r := s.rd.s, &s.rd.rec
	if in.off >= in.end {
		return nil, nil
	}
	if !in.fill(recordHeaderSize) {
		return nil, in.missing("record header")
	}
	r.Offset = in.off
	var size uint32
	var err error
	if r.Type, r.Misc, size, err = s.rd.header(in.buf[in.pos:], in.off); err != nil {
		return nil, err
	}
	if !in.fillRecord(size) {
		return nil, in.missing(fmt.Sprintf("%v record of %d bytes", r.Type, size))
	}
	r.Body = in.take(int(size))[recordHeaderSize:]
	r.End = in.off
	s.rd.f.assign(r)
	return r, nil
}
