package callgrind

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// maxLine is the longest line in bytes. The longest are names of C++ functions.
const maxLine = 16 << 20

// A lineReader reads lines.
type lineReader struct {
	r    *bufio.Reader
	long []byte // a line that does not fit into r's buffer
	n    int    // number of the current line, from 1
	// cut is set if the current line, the last one, has no end.
	cut bool
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10)}
}

// next returns the next line without its end, LF or CR LF, or io.EOF. It is valid
// until the next call.
func (l *lineReader) next() ([]byte, error) {
	line, err := l.r.ReadSlice('\n')
	if len(line) == 0 && err == io.EOF {
		return nil, io.EOF
	}
	l.n++
	if err == bufio.ErrBufferFull {
		line, err = l.rest(line)
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	l.cut = err == io.EOF
	line = bytes.TrimSuffix(line, []byte("\n"))
	line = bytes.TrimSuffix(line, []byte("\r"))
	if l.n == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return line, nil
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
