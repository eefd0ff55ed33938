package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"profdiff/internal/input/xz"
	"profdiff/internal/limit"
)

// A compressed input may grow to maxInflation times its size and inflationAllowance
// bytes. Real recordings stay below 100 times even where nearly all stacks are equal.
const (
	maxInflation       = 200
	inflationAllowance = 8 << 20
)

// How far back compressed data may refer, in bytes of memory: as zstd and xz -9 do it.
const (
	maxWindow     = 128 << 20
	maxDictionary = 64 << 20
)

// An inflater inflates no more than the limit allows.
type inflater struct {
	form  string
	z     io.ReadCloser
	in    *countingReader
	out   int64
	limit int64 // times the size of what comes in
	most  int64 // bytes that may come out, 0 for any
}

// tooMuch is the error of what grows to more than so many times its size.
func tooMuch(form string, times int64) error {
	return fmt.Errorf("%s: decompresses to more than %d times its size, as no recording does; what is one none the less can be read if it is decompressed first", form, times)
}

// refuseDeclared refuses a frame of zstd whose header says that its contents are larger than an
// input of this size may become, before it is inflated.
func refuseDeclared(head Head, size int64) error {
	var h zstd.Header
	if err := h.Decode(head); err != nil || !h.HasFCS || h.FrameContentSize <= uint64(maxInflation*size+inflationAllowance) {
		return nil
	}
	return fmt.Errorf("zstd: says that its %d bytes decompress to %d, %d times as many, as no recording does; what is one none the less can be read if it is decompressed first",
		size, h.FrameContentSize, h.FrameContentSize/uint64(size))
}

// atraceMark stands before what atrace -z prints, a stream of zlib. Before it atrace says what it
// does, in a line.
var atraceMark = []byte("TRACE:\n\x78")

// atraceStart returns where the stream in the output of atrace -z starts, -1 if there is none.
func atraceStart(head Head) int {
	const most = 256 // bytes of what atrace says
	start := head[:min(len(head), most)]
	i := bytes.Index(start, atraceMark)
	if i < 0 || !start[:i].IsText() {
		return -1
	}
	return i + len(atraceMark) - 1
}

// newInflater returns nil if head is of nothing that is inflated. r reads in, which has size bytes,
// 0 if that is not known.
func newInflater(head Head, r *bufio.Reader, in *countingReader, size int64) (*inflater, error) {
	f := &inflater{in: in, limit: maxInflation}
	var err error
	switch {
	case strings.HasPrefix(string(head), "\x1f\x8b\x08"):
		f.form = "gzip"
		f.z, err = gzip.NewReader(r)
	case strings.HasPrefix(string(head), "\x28\xb5\x2f\xfd"):
		f.form = "zstd"
		if size > 0 {
			if err = refuseDeclared(head, size); err != nil {
				return nil, err
			}
		}
		var z *zstd.Decoder
		z, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
		if err == nil {
			f.z = z.IOReadCloser()
		}
	case strings.HasPrefix(string(head), xz.Magic):
		f.form = "xz"
		f.z = io.NopCloser(xz.NewReader(r, maxDictionary))
	case atraceStart(head) >= 0:
		f.form = "zlib"
		if _, err = r.Discard(atraceStart(head)); err == nil {
			f.z, err = zlib.NewReader(r)
		}
	default:
		return nil, nil
	}
	if err != nil {
		return nil, f.error(err)
	}
	return f, nil
}

func (f *inflater) Read(p []byte) (int, error) {
	n, err := f.z.Read(p)
	f.out += int64(n)
	limit.Expect(int64(n))
	if f.out > f.limit*f.in.n+inflationAllowance {
		return 0, tooMuch(f.form, f.limit)
	}
	if f.most > 0 && f.out > f.most {
		return 0, fmt.Errorf("%s: %w: decompresses to more than %d bytes", f.form, ErrSize, f.most)
	}
	if err != nil && err != io.EOF {
		err = f.error(err)
	}
	return n, err
}

func (f *inflater) error(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: data ends too early: %w", f.form, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("%s: %w", f.form, err)
}

// Close frees memory. What there is to say of the data, Read said.
func (f *inflater) Close() error {
	_ = f.z.Close()
	return nil
}

// LimitInflation lowers the bound on a compressed input: inflated it may be so many times
// as large.
func (s *Source) LimitInflation(times int64) {
	if s.inflater != nil {
		s.inflater.limit = min(s.inflater.limit, times)
	}
}

// ErrSize is the error of what [Source.LimitSize] does not allow.
var ErrSize = errors.New("is too large")

// LimitSize bounds an input by its size in bytes, that of what it decompresses to if it is compressed. It
// fails if the size is known and larger.
func (s *Source) LimitSize(bytes int64) error {
	if s.inflater != nil {
		s.inflater.most = bytes
	}
	if s.size > bytes {
		return fmt.Errorf("%w: it is larger than %d bytes", ErrSize, bytes)
	}
	return nil
}

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
