package input

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// MaxLine is the longest line of a text format.
const MaxLine = 16 << 20

// Lines reads lines of text and keeps the first error; after it, there are no more
// lines.
type Lines struct {
	r    *bufio.Reader
	long []byte // a line that does not fit into r's buffer
	n    int    // number of the current line, from 1
	cut  bool
	err  error
}

// NewLines reads lines of text that is not compressed.
func NewLines(r io.Reader) *Lines { return &Lines{r: bufio.NewReaderSize(r, 64<<10)} }

// Next returns the next line without its end, LF or CR LF. It is valid until the
// next call.
func (l *Lines) Next() (line []byte, ok bool) {
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
			l.Fail("%w", err)
		}
		return nil, false
	}
	l.cut = err == io.EOF
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if l.n == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return line, true
}

func (l *Lines) rest(start []byte) ([]byte, error) {
	l.long = append(l.long[:0], start...)
	for {
		part, err := l.r.ReadSlice('\n')
		if len(l.long)+len(part) > MaxLine {
			return nil, fmt.Errorf("is longer than %d bytes", MaxLine)
		}
		l.long = append(l.long, part...)
		if err != bufio.ErrBufferFull {
			return l.long, err
		}
	}
}

// Fail sets the error, with the number of the current line.
func (l *Lines) Fail(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("line %d: "+format, append([]any{l.n}, args...)...)
	}
}

// Cut reports whether the current line, the last one, has no end.
func (l *Lines) Cut() bool { return l.cut }

// Number is the number of the current line, from 1.
func (l *Lines) Number() int { return l.n }

// Err is the first error.
func (l *Lines) Err() error { return l.err }

// Clip shortens text for an error message.
func Clip[T ~string | ~[]byte](text T) string {
	const most = 60
	if len(text) > most {
		return string(text[:most]) + "…"
	}
	return string(text)
}
