package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// maxLine is the longest line of a text format.
const maxLine = 16 << 20

// A lineReader reads lines of text and keeps the first error; after it, there are
// no more lines.
type lineReader struct {
	r    *bufio.Reader
	long []byte // a line that does not fit into r's buffer
	n    int    // number of the current line, from 1
	err  error
}

func newLineReader(s *source) *lineReader { return &lineReader{r: s.Reader} }

// next returns the next line without its end, LF or CR LF. It is valid until the
// next call.
func (l *lineReader) next() (line []byte, ok bool) {
	if l.err != nil {
		return nil, false
	}
	l.n++
	line, err := l.r.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line, err = l.rest(line)
	}
	if err != nil && (err != io.EOF || len(line) == 0) {
		if err != io.EOF {
			l.fail("%w", err)
		}
		return nil, false
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if l.n == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return line, true
}

func (l *lineReader) rest(start []byte) ([]byte, error) {
	l.long = append(l.long[:0], start...)
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.long)+len(part) > maxLine {
			return nil, fmt.Errorf("is longer than %d bytes", maxLine)
		}
		l.long = append(l.long, part...)
		if err != bufio.ErrBufferFull {
			return l.long, err
		}
	}
}

// headLines yields the lines of head that are complete, and the last one if it is all
// of the input.
func headLines(head []byte) func(yield func([]byte) bool) {
	return func(yield func([]byte) bool) {
		head := bytes.TrimPrefix(head, []byte("\ufeff"))
		if len(head) >= headSize-len("\ufeff") {
			head = head[:bytes.LastIndexByte(head, '\n')+1]
		}
		for len(head) > 0 {
			line, rest, _ := bytes.Cut(head, []byte("\n"))
			if !yield(bytes.TrimSuffix(line, []byte("\r"))) {
				return
			}
			head = rest
		}
	}
}

// fail sets the error, with the number of the current line.
func (l *lineReader) fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("line %d: "+format, append([]any{l.n}, args...)...)
	}
}

// text makes a string of input that is fit for pprof, which holds UTF-8.
func text(b []byte) string { return strings.ToValidUTF8(string(b), "\ufffd") }

// parseWeight reads a number of events, decimal digits only. Numbers that do not
// fit saturate: some kernels record periods just below 2^64.
func parseWeight(b []byte) (int64, error) {
	v, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || len(b) > 20 {
		return 0, fmt.Errorf("%q is no number of events", clip(b))
	}
	if err != nil || v > math.MaxInt64 {
		return math.MaxInt64, nil
	}
	return int64(v), nil
}

// parseCount reads a number of samples, decimal digits only.
func parseCount(b []byte) (int64, error) {
	v, err := strconv.ParseUint(string(b), 10, 63)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%s exceeds 2^63", clip(b))
	case err != nil:
		return 0, fmt.Errorf("%q is no number", clip(b))
	}
	return int64(v), nil
}

func isDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// clip shortens input for an error message.
func clip(b []byte) string {
	const most = 60
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
