package jfr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"profdiff/internal/input"
)

// A chunk is a part of a recording that stands for itself: a header, events, the constants that they refer to, and
// the metadata that says what both consist of. A recording is one chunk after the other.
type chunk struct {
	data []byte
	header
	types map[int64]*class
	names map[string]*class
	constants
}

// A header starts a chunk. Offsets are from there, times in nanoseconds since 1970 or in ticks.
type header struct {
	size, constantsAt, metadataAt int64
	start, duration, startTicks   int64
	ticksPerSecond                int64
	// open is set while more may be written, or if the end of the recording was never written.
	open bool
}

const (
	magic      = "FLR\x00"
	headerSize = 68
	// maxChunk is the most bytes of a chunk that are read: the JDK starts a new one after 12 MB, async-profiler
	// after 100 MB.
	maxChunk = 1 << 30
)

// The types of events that each chunk has.
const (
	metadataEvent = iota
	constantsEvent
)

// Recognise tells a recording by its first bytes.
func Recognise(head input.Head) input.Evidence {
	return input.Evidence{Is: bytes.HasPrefix(head, []byte(magic))}
}

// errUnfinished is the error of a chunk whose header does not tell where what is.
var errUnfinished = errors.New("was not finished: the program still records, or it was killed; let it write the recording by jcmd PID JFR.dump")

// readChunk reads a chunk, nil at the end of the input. What is behind one that is still open is left unread.
func readChunk(r *bytesReader) (*chunk, error) {
	head, err := r.next(headerSize)
	switch {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return nil, err
	case string(head[:len(magic)]) != magic:
		return nil, fmt.Errorf("starts with %q where the next chunk of a recording should: bytes were lost or added", head[:len(magic)])
	}
	if major := binary.BigEndian.Uint16(head[4:]); major != 1 && major != 2 {
		return nil, fmt.Errorf("has version %d.%d of the format, known are 1 and 2: JDK 11 and later write those", major, binary.BigEndian.Uint16(head[6:]))
	}
	if head[67]&1 == 0 {
		return nil, errors.New("has integers that are not compressed, which no known JVM writes")
	}
	at := func(i int) int64 { return int64(binary.BigEndian.Uint64(head[i:])) }
	k := &chunk{header: header{
		size: at(8), constantsAt: at(16), metadataAt: at(24), start: at(32), duration: at(40), startTicks: at(48), ticksPerSecond: at(56),
		open: head[64] != 0,
	}}
	switch {
	case k.size == 0 || k.constantsAt == 0 || k.metadataAt == 0:
		return nil, errUnfinished
	case k.size < headerSize || k.size > maxChunk:
		return nil, fmt.Errorf("says that it has %d bytes: between %d and %d are read", k.size, headerSize, maxChunk)
	case k.ticksPerSecond <= 0:
		return nil, fmt.Errorf("has a clock of %d ticks a second", k.ticksPerSecond)
	}
	rest, err := r.next(k.size - headerSize)
	if err != nil {
		return nil, err
	}
	k.data = append(head, rest...)
	if err := k.classes(k.metadataAt); err != nil {
		return nil, err
	}
	return k, k.readConstants()
}

// bytesReader reads an input by parts whose size the input tells: memory follows what is there, not what is said.
type bytesReader struct {
	r  io.Reader
	at int64
}

func (b *bytesReader) next(n int64) ([]byte, error) {
	var buf bytes.Buffer
	got, err := io.CopyN(&buf, b.r, n)
	b.at += got
	if err == io.EOF && got > 0 || err == io.EOF && n == 0 {
		err = fmt.Errorf("ends after %d of %d bytes: %w", got, n, io.ErrUnexpectedEOF)
	}
	return buf.Bytes(), err
}

// at reads from an offset to the end of the event there.
func (k *chunk) at(offset int64) *cursor {
	c := &cursor{data: k.data}
	if offset < headerSize || offset >= int64(len(k.data)) {
		c.fail("an event is said to be at %#x of %#x bytes", offset, len(k.data))
		return c
	}
	c.pos = int(offset)
	size := c.number()
	if end := offset + size; size <= int64(c.pos)-offset || end > int64(len(k.data)) {
		c.fail("an event has %d bytes", size)
	} else {
		c.data = k.data[:end]
	}
	c.pos = int(offset)
	return c
}

// events calls read with each event of the chunk, behind its size and its type.
func (k *chunk) events(read func(typ int64, c *cursor)) error {
	for offset := int64(headerSize); offset < int64(len(k.data)); {
		c := k.at(offset)
		c.number() // size
		typ := c.number()
		if c.err == nil {
			read(typ, c)
		}
		if c.err != nil {
			return c.err
		}
		offset = int64(len(c.data))
	}
	return nil
}

// nanoseconds are so many ticks in time.
func (k *chunk) nanoseconds(ticks int64) int64 {
	return int64(float64(ticks) * (1e9 / float64(k.ticksPerSecond)))
}

// time is when a tick was, in nanoseconds since 1970.
func (k *chunk) time(ticks int64) int64 { return k.start + k.nanoseconds(ticks-k.startTicks) }
