package ingest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
)

// headSize is how much of an input decides its format.
const headSize = 64 << 10

// A compressed input may grow to maxInflation times its size and inflationAllowance
// bytes. Real recordings stay below 100 times even where nearly all stacks are equal.
const (
	maxInflation       = 200
	inflationAllowance = 64 << 20
)

// A source is an input: a file or a stream, decompressed if it is gzip.
type source struct {
	// Name is the input as the user named it.
	Name string
	// Head is the start of the input, at most headSize bytes. It is all of the
	// input if it is shorter.
	Head []byte
	// Reader reads the input from its start.
	Reader *bufio.Reader
	// ReaderAt reads Size bytes at random. It is nil, and Size is -1, for pipes and
	// compressed inputs.
	ReaderAt io.ReaderAt
	Size     int64

	inflater *inflater // nil unless compressed
}

// newSource starts to read an input called name. If r can be read at random (a
// regular file, a bytes.Reader), so can the source.
func newSource(name string, r io.Reader) (*source, error) {
	at, size, err := randomAccess(r)
	if err != nil {
		return nil, err
	}
	s := &source{Name: name, ReaderAt: at, Size: size}
	if at != nil {
		r = io.NewSectionReader(at, 0, size)
	}
	count := &countingReader{r: r}
	s.Reader = bufio.NewReaderSize(count, headSize)
	if s.Head, err = peek(s.Reader); err != nil {
		return nil, err
	}
	if len(s.Head) < 3 || s.Head[0] != 0x1f || s.Head[1] != 0x8b || s.Head[2] != 8 {
		return s, nil
	}
	z, err := gzip.NewReader(s.Reader)
	if err != nil {
		return nil, gzipError(err)
	}
	s.ReaderAt, s.Size = nil, -1
	s.inflater = &inflater{z: z, in: count, limit: maxInflation}
	s.Reader = bufio.NewReaderSize(s.inflater, headSize)
	if s.Head, err = peek(s.Reader); err != nil {
		return nil, err
	}
	return s, nil
}

func peek(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return append([]byte(nil), head...), nil
}

// randomAccess returns what of r has not been read, if it can be read at random.
// Files of size 0 may be pipes in disguise, as in /proc.
func randomAccess(r io.Reader) (io.ReaderAt, int64, error) {
	switch r := r.(type) {
	case *os.File:
		info, err := r.Stat()
		if err != nil {
			return nil, -1, err
		}
		if info.IsDir() {
			return nil, -1, errors.New("is a directory")
		}
		if !info.Mode().IsRegular() || info.Size() == 0 {
			return nil, -1, nil
		}
		off, err := r.Seek(0, io.SeekCurrent)
		if err != nil || off > info.Size() {
			return nil, -1, nil
		}
		if off > 0 {
			return io.NewSectionReader(r, off, info.Size()-off), info.Size() - off, nil
		}
		return r, info.Size(), nil
	case interface {
		io.ReaderAt
		Size() int64
	}:
		return r, r.Size(), nil
	}
	return nil, -1, nil
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

// An inflater decompresses no more than the limit allows.
type inflater struct {
	z     *gzip.Reader
	in    *countingReader
	out   int64
	limit int64 // times the size of what comes in
}

func (f *inflater) Read(p []byte) (int, error) {
	n, err := f.z.Read(p)
	f.out += int64(n)
	if f.out > f.limit*f.in.n+inflationAllowance {
		return 0, fmt.Errorf("gzip: decompresses to more than %d times its size", f.limit)
	}
	if err != nil && err != io.EOF {
		err = gzipError(err)
	}
	return n, err
}

func gzipError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
		return fmt.Errorf("gzip: data ends too early: %w", io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("gzip: %w", err)
}
