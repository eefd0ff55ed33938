// Package xz inflates xz streams while they are read, in bounded memory.
//
//  1. A stream has a header, blocks, an index that repeats their sizes, and a footer.
//     Several streams, with zeros between them, are one input.
//  2. The header of a block names its filters. LZMA2 alone is read.
//  3. The LZMA2 data of a block is left to package lzma, with a dictionary no larger
//     than the block and than the caller allows: the reader for whole files of that
//     library allocates what a header asks for, up to 4 GiB for each block.
//  4. The check behind a block must match what was inflated.
//
// The source is The .xz File Format 1.2.1,
// https://tukaani.org/xz/xz-file-format-1.2.1.txt.
package xz

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
	"math"

	"github.com/ulikunitz/xz/lzma"
)

// Magic is what every xz stream starts with.
const Magic = "\xfd7zXZ\x00"

const (
	headerSize = 12 // of a stream, and of its footer
	footMagic  = "YZ"

	filterLZMA2   = 0x21
	hasPackedSize = 0x40
	hasSize       = 0x80
	reservedFlags = 0x3c
)

// An UnsupportedError names the filter, the check or the flags that a stream needs and
// that are not known.
type UnsupportedError string

func (e UnsupportedError) Error() string { return string(e) + ": not supported" }

// A Reader inflates xz streams. After an error it returns that error.
type Reader struct {
	in      input
	maxDict int64
	err     error

	newCheck func() hash.Hash // of the stream, nil between streams
	streams  int
	blocks   uint64 // of the stream

	// Of the block that is read, nil between blocks.
	block io.Reader
	check hash.Hash
	start int64 // offset in the input
	left  int64 // bytes that the block may still have, -1 if it does not say
}

// NewReader returns a reader of what the streams in r hold. No block gets a dictionary
// of more than maxDict bytes: if it refers further back, reading fails.
func NewReader(r io.Reader, maxDict int64) *Reader {
	return &Reader{in: input{r: bufio.NewReader(r)}, maxDict: maxDict}
}

// Read reads what the streams hold. The end of the last one is io.EOF.
func (x *Reader) Read(p []byte) (int, error) {
	for x.err == nil && len(p) > 0 {
		switch {
		case x.block != nil:
			if n := x.inflate(p); n > 0 {
				return n, nil
			}
		case x.newCheck != nil:
			x.next()
		default:
			x.begin()
		}
	}
	return 0, x.err
}

// begin reads the header of a stream, behind the padding of the one before.
func (x *Reader) begin() {
	head := make([]byte, headerSize)
	for {
		_, err := io.ReadFull(&x.in, head[:4])
		if err == io.EOF && x.streams > 0 {
			x.err = io.EOF
			return
		}
		if err != nil {
			x.fail(err)
			return
		}
		if x.streams == 0 || binary.LittleEndian.Uint32(head) != 0 {
			break
		}
	}
	if _, err := io.ReadFull(&x.in, head[4:]); err != nil {
		x.fail(err)
		return
	}
	x.newCheck = checks()[head[7]]
	switch {
	case string(head[:6]) != Magic:
		x.fail(errors.New("not an xz stream"))
	case head[6] != 0 || x.newCheck == nil:
		x.fail(UnsupportedError(fmt.Sprintf("check %d", head[7])))
	case crc32.ChecksumIEEE(head[6:8]) != binary.LittleEndian.Uint32(head[8:]):
		x.fail(errors.New("checksum of stream header does not match"))
	}
	x.streams++
	x.blocks = 0
}

// next reads the header of a block, or what follows the last one.
func (x *Reader) next() {
	x.start = x.in.n
	size, err := x.in.ReadByte()
	if err != nil {
		x.fail(err)
		return
	}
	if size == 0 { // the index
		x.fail(x.end())
		x.newCheck = nil
		return
	}
	header := make([]byte, (int(size)+1)*4)
	header[0] = size
	if _, err := io.ReadFull(&x.in, header[1:]); err != nil {
		x.fail(err)
		return
	}
	b, err := parseBlock(header)
	if err != nil {
		x.fail(fmt.Errorf("block at %#x: %w", x.start, err))
		return
	}
	x.left = b.size
	if b.size >= 0 { // no distance reaches behind the start of a block
		b.dict = min(b.dict, b.size)
	}
	dict := max(min(b.dict, x.maxDict), lzma.MinDictCap)
	if x.block, err = (lzma.Reader2Config{DictCap: int(dict)}).NewReader2(&x.in); err != nil {
		x.fail(fmt.Errorf("block at %#x: %w", x.start, err))
	}
	x.check = x.newCheck()
	x.blocks++
}

// inflate reads from the block and, at its end, what follows it.
func (x *Reader) inflate(p []byte) int {
	n, err := x.block.Read(p)
	x.check.Write(p[:n])
	if x.left >= 0 {
		if x.left -= int64(n); x.left < 0 {
			x.fail(fmt.Errorf("block at %#x: expands to more than it says", x.start))
			return 0
		}
	}
	switch {
	case err == io.EOF:
		if err := x.endBlock(); err != nil {
			x.fail(fmt.Errorf("block at %#x: %w", x.start, err))
		}
	case err != nil:
		x.fail(fmt.Errorf("block at %#x: %w", x.start, err))
	}
	return n
}

// endBlock reads the padding and the check of a block.
func (x *Reader) endBlock() error {
	x.block = nil
	if x.left > 0 {
		return errors.New("expands to less than it says")
	}
	if err := x.in.align(); err != nil {
		return err
	}
	want := make([]byte, x.check.Size())
	if _, err := io.ReadFull(&x.in, want); err != nil {
		return eof(err)
	}
	if !bytes.Equal(want, x.check.Sum(nil)) {
		return errors.New("checksum does not match")
	}
	return nil
}

// end reads the index of a stream behind its first byte, and the footer.
func (x *Reader) end() error {
	x.in.sum = crc32.NewIEEE()
	x.in.sum.Write([]byte{0})
	n, err := binary.ReadUvarint(&x.in)
	if err == nil && n != x.blocks {
		return fmt.Errorf("index has %d blocks, the stream %d", n, x.blocks)
	}
	for range 2 * n { // the sizes of each block
		if err == nil {
			_, err = binary.ReadUvarint(&x.in)
		}
	}
	if err == nil {
		err = x.in.align()
	}
	want := x.in.sum.Sum32()
	x.in.sum = nil
	foot := make([]byte, 4+headerSize)
	if err == nil {
		_, err = io.ReadFull(&x.in, foot)
	}
	switch {
	case err != nil:
		return eof(err)
	case binary.LittleEndian.Uint32(foot) != want:
		return errors.New("checksum of index does not match")
	case string(foot[14:]) != footMagic || binary.LittleEndian.Uint32(foot[4:]) != crc32.ChecksumIEEE(foot[8:14]):
		return errors.New("footer does not match")
	}
	return nil
}

func (x *Reader) fail(err error) {
	if x.err == nil {
		x.err = eof(err)
	}
}

// eof turns the end of the input where there must be more into an error.
func eof(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A block is what the header of a block says.
type block struct {
	dict int64 // bytes
	size int64 // bytes inflated, -1 if it does not say
}

// parseBlock reads the header of a block.
func parseBlock(header []byte) (b block, err error) {
	end := len(header) - 4
	if crc32.ChecksumIEEE(header[:end]) != binary.LittleEndian.Uint32(header[end:]) {
		return b, errors.New("checksum of header does not match")
	}
	flags, r := header[1], bytes.NewReader(header[2:end])
	number := func() uint64 {
		n, e := binary.ReadUvarint(r)
		if err == nil {
			err = eof(e)
		}
		return n
	}
	if flags&reservedFlags != 0 {
		return b, UnsupportedError(fmt.Sprintf("block flags %#x", flags))
	}
	if flags&hasPackedSize != 0 {
		number()
	}
	b.size = -1
	if flags&hasSize != 0 {
		b.size = int64(min(number(), math.MaxInt64))
	}
	id, size := number(), number()
	property, e := r.ReadByte()
	switch {
	case err != nil || e != nil:
		return b, errors.New("header is too short")
	case flags&3 != 0 || id != filterLZMA2 || size != 1:
		return b, UnsupportedError(fmt.Sprintf("filter %#x", id))
	}
	if b.dict, err = lzma.DecodeDictCap(property); err != nil {
		return b, fmt.Errorf("dictionary size %#x", property)
	}
	return b, nil
}

// An input counts and sums up what is read of it.
type input struct {
	r   *bufio.Reader
	n   int64
	sum hash.Hash32 // nil if none is needed
}

func (in *input) Read(p []byte) (int, error) {
	n, err := in.r.Read(p)
	in.n += int64(n)
	if in.sum != nil {
		in.sum.Write(p[:n])
	}
	return n, err
}

// ReadByte is what package lzma reads by, so that it stops at the end of its data.
func (in *input) ReadByte() (byte, error) {
	c, err := in.r.ReadByte()
	if err != nil {
		return 0, err
	}
	in.n++
	if in.sum != nil {
		in.sum.Write([]byte{c})
	}
	return c, nil
}

// align reads zeros up to a multiple of four bytes.
func (in *input) align() error {
	for in.n%4 != 0 {
		c, err := in.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			return fmt.Errorf("padding at %#x is not zero", in.n-1)
		}
	}
	return nil
}

func checks() map[uint8]func() hash.Hash {
	return map[uint8]func() hash.Hash{
		0:  func() hash.Hash { return noCheck{crc32.NewIEEE()} },
		1:  func() hash.Hash { return littleEndian{crc32.NewIEEE()} },
		4:  func() hash.Hash { return littleEndian{crc64.New(crc64.MakeTable(crc64.ECMA))} },
		10: sha256.New,
	}
}

// littleEndian reverses the sums of package hash, which are big-endian.
type littleEndian struct{ hash.Hash }

func (h littleEndian) Sum(b []byte) []byte {
	sum := h.Hash.Sum(nil)
	for i := range sum {
		b = append(b, sum[len(sum)-1-i])
	}
	return b
}

type noCheck struct{ hash.Hash }

func (noCheck) Size() int                   { return 0 }
func (noCheck) Sum(b []byte) []byte         { return b }
func (noCheck) Write(b []byte) (int, error) { return len(b), nil }
