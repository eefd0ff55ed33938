package objfile

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// The xz file format 1.2.1, https://tukaani.org/xz/xz-file-format-1.2.1.txt.
const (
	xzMagic         = "\xfd7zXZ\x00"
	xzFilterLZMA2   = 0x21
	xzHasPackedSize = 0x40
	xzHasSize       = 0x80
	xzReservedFlags = 0x3c
)

// decompressXZ returns what the xz stream in packed holds, at most limit bytes.
// Blocks are taken apart here and only their LZMA2 data is left to the library,
// whose reader for whole files allocates the dictionary that a header asks for, up
// to 4 GiB for each block.
func decompressXZ(packed []byte, section string, limit int64) ([]byte, error) {
	c := &cursor{data: packed, section: section}
	if !bytes.Equal(c.bytes(6), []byte(xzMagic)) {
		return nil, formatError(section, 0, "not an xz stream")
	}
	c.skip(1)
	checkType := c.u8()
	c.skip(4) // CRC of these two bytes
	newCheck := xzChecks()[checkType]
	if c.err == nil && newCheck == nil {
		return nil, fmt.Errorf("%s: xz check %d: %w", section, checkType, ErrUnsupported)
	}
	var out bytes.Buffer
	for c.err == nil && c.peek() != 0 { // 0 starts the index, which repeats the sizes
		dict, size, err := readXZBlockHeader(c)
		if err != nil {
			return nil, err
		}
		room := limit - int64(out.Len())
		if size >= 0 && size > room {
			c.fail("expands to more than %d bytes", limit)
			break
		}
		if size < 0 {
			size = room
		}
		start := out.Len()
		// No distance reaches behind the start of a block.
		dict = max(min(dict, size), lzma.MinDictCap)
		if err := unpackLZMA2(c, &out, int(dict), size); err != nil {
			return nil, err
		}
		c.align(4)
		check := newCheck()
		check.Write(out.Bytes()[start:])
		if want := c.bytes(uint64(check.Size())); c.err == nil && !bytes.Equal(want, check.Sum(nil)) {
			c.fail("checksum of xz block does not match")
		}
	}
	if c.err == nil && c.remaining() == 0 {
		c.fail("xz stream ends without index")
	}
	if c.err != nil {
		return nil, c.err
	}
	return out.Bytes(), nil
}

// readXZBlockHeader returns the dictionary size in bytes and the size of the
// unpacked block, -1 if it is not given.
func readXZBlockHeader(c *cursor) (dict, size int64, err error) {
	headerSize := (uint64(c.peek()) + 1) * 4
	header := c.sub(headerSize)
	if c.err != nil {
		return 0, 0, c.err
	}
	crc := header.at(headerSize - 4).u32()
	if crc32.ChecksumIEEE(header.data[:headerSize-4]) != crc {
		header.fail("checksum of xz block header does not match")
	}
	header.skip(1)
	flags := header.u8()
	if flags&xzReservedFlags != 0 {
		return 0, 0, fmt.Errorf("%s: xz block flags %#x: %w", c.section, flags, ErrUnsupported)
	}
	if flags&xzHasPackedSize != 0 {
		header.uleb()
	}
	size = -1
	if flags&xzHasSize != 0 {
		size = int64(header.uleb() & (1<<63 - 1))
	}
	for range flags & 3 {
		id := header.uleb()
		header.skip(header.uleb())
		if header.err == nil {
			return 0, 0, fmt.Errorf("%s: xz filter %#x: %w", c.section, id, ErrUnsupported)
		}
	}
	id, propSize, prop := header.uleb(), header.uleb(), header.u8()
	if header.err == nil && (id != xzFilterLZMA2 || propSize != 1) {
		return 0, 0, fmt.Errorf("%s: xz filter %#x: %w", c.section, id, ErrUnsupported)
	}
	if header.err != nil {
		return 0, 0, header.err
	}
	dict, err = lzma.DecodeDictCap(prop)
	if err != nil {
		return 0, 0, formatError(c.section, header.base, "dictionary size %#x", prop)
	}
	return dict, size, nil
}

// unpackLZMA2 appends the LZMA2 data at c to out and moves c to its end.
func unpackLZMA2(c *cursor, out *bytes.Buffer, dict int, limit int64) error {
	at := c.pos()
	in := bytes.NewReader(c.data[c.off:])
	r, err := lzma.Reader2Config{DictCap: dict}.NewReader2(in)
	if err == nil {
		var n int64
		n, err = io.Copy(out, io.LimitReader(r, limit+1))
		if err == nil && n > limit {
			return formatError(c.section, at, "expands to more than %d bytes", limit)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: xz block at %#x: %w", c.section, at, err)
	}
	c.off = len(c.data) - in.Len()
	return nil
}

func xzChecks() map[uint8]func() hash.Hash {
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
