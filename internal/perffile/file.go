package perffile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
)

// ErrNotPerfData is returned for input that does not start with the magic number.
var ErrNotPerfData = errors.New("not a perf.data file")

// Options for reading.
type Options struct {
	// AllowTruncated reads what there is of a recording that ends too early.
	AllowTruncated bool
	// Parts hold more records: the files data.0, data.1 and so on beside the file data in
	// the directory that perf record --threads makes
	// (tools/perf/Documentation/perf.data-directory-format.txt).
	Parts []*io.SectionReader
	// Kallsyms is the copy of /proc/kallsyms in such a directory, nil if there is none.
	Kallsyms []byte
}

// A File is a recording being read.
type File struct {
	// Pipe is set if the recording is in the format of perf record -o -.
	Pipe bool
	// BigEndian is the byte order of the machine that made the recording.
	BigEndian bool
	// Attrs are the events. In a pipe they come with the first records.
	Attrs []Attr
	// Info holds what the header says about the recording. In a pipe it is complete
	// when all records have been read.
	Info Info
	// Stats counts what Records has come across so far.
	Stats Stats

	opt      Options
	size     int64 // of the file, -1 for a pipe
	src      io.ReaderAt
	stream   *stream
	features [numFeatures]section // of a file, by feature; size -1 if absent
	ids      map[uint64]int       // event id to index in Attrs
	lastID   uint64
	lastAttr int
	common   sampleLayout                // what all Attrs have in common, see joinLayouts
	tracing  []byte                      // tracing data of a pipe
	formats  map[uint64]tracepointFormat // by ID, of tracing data
}

// Stats counts records and what was lost while reading.
type Stats struct {
	// Records counts by type, types from 128 on under 127.
	Records [128]int64
	// CompressedBytes went into the decompressor, DecompressedBytes came out.
	CompressedBytes, DecompressedBytes int64
	// Truncated says where reading stopped early because the recording does,
	// nil if it is whole.
	Truncated *FormatError
}

func (s *Stats) count(t RecordType) { s.Records[min(t, 127)]++ }

type section struct {
	off, size int64
}

const (
	fileHeaderSize = 104
	pipeHeaderSize = 16
)

var (
	magicV2        = [8]byte{'P', 'E', 'R', 'F', 'I', 'L', 'E', '2'}
	magicV2Swapped = [8]byte{'2', 'E', 'L', 'I', 'F', 'R', 'E', 'P'}
	magicV1        = [8]byte{'P', 'E', 'R', 'F', 'F', 'I', 'L', 'E'}
)

// Again starts to read the recording that f reads from its start again. It cannot be a
// pipe.
func (f *File) Again() (*File, error) { return New(f.src, f.size, f.opt) }

// Kallsyms is what [Options] say.
func (f *File) Kallsyms() []byte { return f.opt.Kallsyms }

// IsPerfData reports whether data, the start of an input, is perf.data of any
// version.
func IsPerfData(data []byte) bool {
	_, err := byteOrder(data)
	return !errors.Is(err, ErrNotPerfData)
}

// IsPipe reports whether data, the start of an input, is perf.data in the format of
// perf record -o -.
func IsPipe(data []byte) bool {
	big, err := byteOrder(data)
	c := fieldReader{data: data, big: big}
	c.skip(8)
	return err == nil && c.u64() == pipeHeaderSize
}

func byteOrder(magic []byte) (big bool, err error) {
	if len(magic) >= 8 {
		switch [8]byte(magic[:8]) {
		case magicV2:
			return false, nil
		case magicV2Swapped:
			return true, nil
		case magicV1:
			return false, &FormatError{Section: "header", Msg: "version 1 of the format, of before Linux 2.6.34, is not supported"}
		}
	}
	return false, ErrNotPerfData
}

// New starts to read a recording of size bytes. If src holds the output of
// perf record -o -, it is read as such.
func New(src io.ReaderAt, size int64, opt Options) (*File, error) {
	head := make([]byte, min(size, fileHeaderSize))
	if _, err := src.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	big, err := byteOrder(head)
	if err != nil {
		return nil, err
	}
	f := newFile(opt, big)
	f.src, f.size = src, size
	c := fieldReader{data: head, section: "header", big: big}
	c.skip(8)
	switch n := c.u64(); {
	case c.err != nil:
		return nil, cutOff("header", size, pipeHeaderSize)
	case n == pipeHeaderSize:
		f.Pipe = true
		f.stream = newStream(io.NewSectionReader(src, pipeHeaderSize, size-pipeHeaderSize), pipeHeaderSize, size)
		return f, nil
	case n < fileHeaderSize:
		return nil, &FormatError{Section: "header", Offset: 8, Msg: fmt.Sprintf("size of %d bytes", n)}
	}
	if len(head) < fileHeaderSize {
		return nil, cutOff("header", size, fileHeaderSize)
	}
	if err := f.readHeader(&c); err != nil {
		return nil, err
	}
	return f, nil
}

func cutOff(name string, size, want int64) *FormatError {
	return &FormatError{Section: name, Offset: size, Msg: fmt.Sprintf("is cut off, needs %d bytes", want)}
}

// NewPipe starts to read a recording in the format of perf record -o -, whose
// first bytes are still to be read from src.
func NewPipe(src io.Reader, opt Options) (*File, error) {
	head := make([]byte, pipeHeaderSize)
	n, err := io.ReadFull(src, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = head[:n]
	big, err := byteOrder(head)
	if err != nil {
		return nil, err
	}
	c := fieldReader{data: head, section: "header", big: big}
	c.skip(8)
	size := c.u64()
	if c.err != nil {
		return nil, cutOff("header", int64(n), pipeHeaderSize)
	}
	if size != pipeHeaderSize {
		return nil, &FormatError{Section: "header", Offset: 8, Msg: fmt.Sprintf("size %d is not that of a pipe", size)}
	}
	f := newFile(opt, big)
	f.Pipe = true
	f.size = -1
	f.stream = newStream(src, pipeHeaderSize, -1)
	return f, nil
}

func newFile(opt Options, big bool) *File {
	f := &File{opt: opt, BigEndian: big, ids: make(map[uint64]int), lastAttr: -1}
	for i := range f.features {
		f.features[i].size = -1
	}
	return f
}

// readAt reads a section whole. It has been checked to lie within the file.
func (f *File) readAt(name string, s section) (fieldReader, error) {
	data := make([]byte, s.size)
	if n, err := f.src.ReadAt(data, s.off); err != nil && n < len(data) {
		return fieldReader{}, fmt.Errorf("%s: %w", name, err)
	}
	return fieldReader{data: data, base: s.off, section: name, big: f.BigEndian}, nil
}

// readHeader reads what follows the header's size in a file, must match struct
// perf_file_header in tools/perf/util/header.h.
func (f *File) readHeader(c *fieldReader) error {
	attrSize := c.u64()
	sectionAt := func(name string) (section, error) {
		at := c.base + int64(c.off)
		off, size := c.u64(), c.u64()
		if off > uint64(f.size) || size > uint64(f.size)-off {
			return section{int64(off), int64(size)}, &FormatError{
				Section: "header", Offset: at, Truncated: name == "data",
				Msg: fmt.Sprintf("%s section of %d bytes at %#x exceeds the file of %d bytes", name, size, off, f.size),
			}
		}
		return section{int64(off), int64(size)}, nil
	}
	attrs, err := sectionAt("attrs")
	if err != nil {
		return err
	}
	data, dataErr := sectionAt("data")
	eventTypes, err := sectionAt("event_types")
	if err != nil {
		eventTypes.size = 0 // a leftover of perf before 3.11, not worth an error
	}
	features := f.decodeFeatureBits(c.bytes(numFeatures / 8))

	if attrSize < attrSizeVer0+16 || attrSize > 1<<16 {
		return &FormatError{Section: "header", Offset: 16, Msg: fmt.Sprintf("event attributes of %d bytes", attrSize)}
	}
	if err := f.readAttrs(attrs, int64(attrSize)); err != nil {
		return err
	}
	switch {
	case dataErr != nil && !f.opt.AllowTruncated:
		return dataErr
	case dataErr != nil && data.off < fileHeaderSize || data.off > f.size:
		return dataErr
	case data.off < fileHeaderSize:
		return &FormatError{Section: "header", Offset: 40, Msg: fmt.Sprintf("data section at %#x overlaps the header", data.off)}
	case data.size == 0 && !f.endsAt(data.off, features):
		// perf record writes the size when it ends: this one did not end.
		err := &FormatError{Section: "header", Offset: 48, Msg: "the recording was not ended properly (the recorder failed or was killed): record it again; its data has size 0", Truncated: true}
		if !f.opt.AllowTruncated {
			return err
		}
		data.size = f.size - data.off
		f.Stats.Truncated = err
	case dataErr != nil:
		data.size = f.size - data.off
		f.Stats.Truncated = dataErr.(*FormatError)
	default:
		if err := f.readFeatures(data.off+data.size, features); err != nil {
			if fe, ok := errors.AsType[*FormatError](err); !ok || !fe.Truncated || !f.opt.AllowTruncated {
				return err
			} else {
				f.Stats.Truncated = fe
			}
		}
	}
	f.stream = newStream(io.NewSectionReader(f.src, data.off, data.size), data.off, data.off+data.size)
	if err := f.readEventTypes(eventTypes); err != nil {
		return err
	}
	f.nameAttrs()
	return nil
}

// endsAt reports whether the table of features is at off, and nothing is if there are none. perf record notes the
// features when it starts: where it did not end, records are there.
func (f *File) endsAt(off int64, features []Feature) bool {
	if len(features) == 0 {
		return f.size == off
	}
	if f.size-off < int64(16*len(features)) {
		return false
	}
	table, err := f.readAt("features", section{off, 16})
	at, size := table.u64(), table.u64()
	return err == nil && at <= uint64(f.size) && size <= uint64(f.size)-at // of a record, its size is in the upper bits
}

// decodeFeatureBits returns the features that are set. The header has them as an
// array of unsigned long, whose size on the recording machine shows only in where
// the bits of features that every recording has end up.
func (f *File) decodeFeatureBits(b []byte) []Feature {
	words := func(width int) []byte {
		out := slices.Clone(b)
		if f.BigEndian {
			for i := 0; i+width <= len(out); i += width {
				slices.Reverse(out[i : i+width])
			}
		}
		return out
	}
	list := func(b []byte) (set []Feature) {
		for i, v := range b {
			for ; v != 0; v &= v - 1 {
				set = append(set, Feature(8*i+bits.TrailingZeros8(v)))
			}
		}
		return set
	}
	set := list(words(8))
	if f.BigEndian && !slices.Contains(set, FeatureHostname) && !slices.Contains(set, FeatureCmdline) {
		if narrow := list(words(4)); slices.Contains(narrow, FeatureHostname) || slices.Contains(narrow, FeatureCmdline) {
			return narrow
		}
	}
	return set
}

func (f *File) readAttrs(s section, attrSize int64) error {
	if s.size%attrSize != 0 || s.size == 0 {
		return &FormatError{Section: "header", Offset: 24, Msg: fmt.Sprintf("attrs section of %d bytes holds entries of %d bytes", s.size, attrSize)}
	}
	c, err := f.readAt("attrs", s)
	if err != nil {
		return err
	}
	total := int64(0)
	for i := range s.size / attrSize {
		at := s.off + i*attrSize
		ac := fieldReader{data: c.bytes(uint64(attrSize - 16)), base: at, section: "attrs", big: f.BigEndian}
		a := decodeAttr(&ac)
		if ac.err != nil {
			return ac.err
		}
		off, size := c.u64(), c.u64()
		if off > uint64(f.size) || size > uint64(f.size)-off || size%8 != 0 {
			return &FormatError{Section: "attrs", Offset: at + attrSize - 16, Msg: fmt.Sprintf("entry %d: %d bytes of ids at %#x exceed the file of %d bytes or are not a multiple of 8", i, size, off, f.size)}
		}
		if total += int64(size); total > f.size {
			return &FormatError{Section: "attrs", Offset: at + attrSize - 16, Msg: fmt.Sprintf("entry %d: ids overlap those of other entries", i)}
		}
		ic, err := f.readAt("attrs ids", section{int64(off), int64(size)})
		if err != nil {
			return err
		}
		a.IDs = ic.u64s(nil, size/8)
		if err := f.addAttr(a); err != nil {
			err.Offset = at
			return err
		}
	}
	return c.failure()
}

// maxAttrs bounds the events of a recording. perf opens some hundreds at most
// (all tracepoints of a kernel).
const maxAttrs = 1 << 16

// addAttr adds an event and what follows from it.
func (f *File) addAttr(a Attr) *FormatError {
	if unknown := a.SampleType &^ knownSampleTypes; unknown != 0 {
		return &FormatError{Section: "attrs", Msg: fmt.Sprintf("entry %d: sample_type %#x has unknown bits %#x", len(f.Attrs), uint64(a.SampleType), uint64(unknown))}
	}
	if len(f.Attrs) == maxAttrs {
		return &FormatError{Section: "attrs", Msg: fmt.Sprintf("more than %d events", maxAttrs)}
	}
	a.layout = layoutOf(&a)
	for _, id := range a.IDs {
		f.ids[id] = len(f.Attrs)
	}
	f.Attrs = append(f.Attrs, a)
	f.lastAttr = -1
	f.joinLayouts(&a.layout)
	return nil
}

const mixed = -2 // events differ in where the field is

// joinLayouts keeps in common where all events have their fields. Offsets in
// trailers are kept from the end.
func (f *File) joinLayouts(l *sampleLayout) {
	fromEnd := func(off int) int {
		if off < 0 {
			return off
		}
		return l.trailer - off
	}
	next := sampleLayout{id: l.id, time: l.time, trailer: l.trailer, trailerID: fromEnd(l.trailerID), trailerTime: fromEnd(l.trailerTime)}
	if len(f.Attrs) == 1 {
		f.common = next
		return
	}
	join := func(a *int, b int) {
		if *a != b {
			*a = mixed
		}
	}
	join(&f.common.id, next.id)
	join(&f.common.time, next.time)
	join(&f.common.trailer, next.trailer)
	join(&f.common.trailerID, next.trailerID)
	join(&f.common.trailerTime, next.trailerTime)
}

// byID is EventByID with a memory of one id.
func (f *File) byID(id uint64) (attr int, ok bool) {
	if id == f.lastID && f.lastAttr >= 0 {
		return f.lastAttr, true
	}
	attr, ok = f.ids[id]
	if ok {
		f.lastID, f.lastAttr = id, attr
	}
	return attr, ok
}

func (f *File) u64At(b []byte, off int) uint64 {
	if off < 0 || off+8 > len(b) {
		return 0
	}
	v := binary.LittleEndian.Uint64(b[off:])
	if f.BigEndian {
		v = bits.ReverseBytes64(v)
	}
	return v
}

// assign finds the event and the time of a record of the kernel.
func (f *File) assign(r *Record) {
	r.Time = 0
	if r.Type >= firstUserRecord || len(f.Attrs) == 0 {
		r.Attr = -1
		return
	}
	if r.Type == RecordSample {
		r.Attr = f.sampleAttr(r.Body)
		if r.Attr >= 0 {
			r.Time = f.u64At(r.Body, f.Attrs[r.Attr].layout.time)
		}
		return
	}
	r.Attr = 0
	if len(f.Attrs) > 1 && f.common.trailerID >= 0 {
		if a, ok := f.byID(f.u64At(r.Body, len(r.Body)-f.common.trailerID)); ok {
			r.Attr = a
		}
	}
	if l := &f.Attrs[r.Attr].layout; l.trailerTime >= 0 {
		r.Time = f.u64At(r.Body, len(r.Body)-l.trailer+l.trailerTime)
	}
}

// sampleAttr finds the event of a sample as perf does: the only event there is;
// the event of its id; the first event if samples have no id or, as in records
// that perf makes up, an id of zero.
func (f *File) sampleAttr(body []byte) int {
	switch {
	case len(f.Attrs) == 1 || f.common.id == -1:
		return 0
	case f.common.id >= 0:
		id := f.u64At(body, f.common.id)
		if a, ok := f.byID(id); ok {
			return a
		}
		if id == 0 {
			return 0
		}
		return -1
	}
	for i := range f.Attrs {
		if l := &f.Attrs[i].layout; l.id >= 0 {
			if a, ok := f.byID(f.u64At(body, l.id)); ok && a == i {
				return i
			}
		}
	}
	return -1
}

// EventByID returns the index in Attrs of the event that has the id.
func (f *File) EventByID(id uint64) (attr int, ok bool) { return f.byID(id) }
