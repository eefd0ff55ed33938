package perffile

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// A stream reads the data section, or a pipe, front to back through one buffer.
type stream struct {
	name string // for errors
	src  io.Reader
	buf  []byte // buf[pos:] is read but not consumed
	pos  int
	off  int64 // offset in the file of buf[pos]
	end  int64 // offset in the file of the end, -1 if it shows only when it is there
	done bool  // src has ended
	err  error // of src
}

const streamBuffer = 256 << 10

func newStream(src io.Reader, off, end int64) *stream {
	size := int64(streamBuffer)
	if end >= 0 {
		size = max(512, min(size, end-off))
	}
	return &stream{name: "data", src: src, off: off, end: end, buf: make([]byte, 0, size)}
}

// fill reads until n bytes are buffered and reports whether they are. The buffer
// grows with the data that arrives, not with what a header claims.
func (s *stream) fill(n int) bool {
	for len(s.buf)-s.pos < n {
		if s.done {
			return false
		}
		if s.pos > 0 {
			s.buf = s.buf[:copy(s.buf, s.buf[s.pos:])]
			s.pos = 0
		}
		if len(s.buf) == cap(s.buf) {
			grown := make([]byte, len(s.buf), min(2*cap(s.buf), max(n, streamBuffer)))
			copy(grown, s.buf)
			s.buf = grown
		}
		m, err := s.src.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+m]
		if err != nil {
			s.done = true
			if !errors.Is(err, io.EOF) {
				s.err = err
			}
		}
	}
	return true
}

// fillRecord is fill for the size in a record's header, which a 32-bit machine may
// not be able to address.
func (s *stream) fillRecord(size uint32) bool {
	return int64(size) <= math.MaxInt && s.fill(int(size))
}

// take consumes n bytes that are buffered. They are valid until the next fill.
func (s *stream) take(n int) []byte {
	b := s.buf[s.pos : s.pos+n : s.pos+n]
	s.pos += n
	s.off += int64(n)
	return b
}

func (s *stream) buffered() int { return len(s.buf) - s.pos }

// skip consumes n bytes and reports whether there were that many.
func (s *stream) skip(n uint64) bool {
	for n > 0 {
		if !s.fill(1) {
			return false
		}
		step := min(uint64(s.buffered()), n)
		s.take(int(step))
		n -= step
	}
	return true
}

// left is an upper bound of the bytes that remain.
func (s *stream) left() uint64 {
	if s.end < 0 {
		return 1<<63 - 1
	}
	return uint64(s.end - s.off)
}

// missing returns why there is less data than what needs: an error of src, or its end.
func (s *stream) missing(what string) error {
	if s.err != nil {
		return fmt.Errorf("%s: %w", s.name, s.err)
	}
	return s.truncated(what)
}

func (s *stream) truncated(what string) *FormatError {
	return &FormatError{Section: s.name, Offset: s.off, Msg: fmt.Sprintf("%s is cut off", what), Truncated: true}
}
