package objfile

import (
	"bufio"
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// contents gives access to the bytes of a section, piece by piece unless it is
// compressed. It may be used concurrently.
type contents struct {
	name   string
	big    bool
	r      io.ReaderAt
	off    int64  // of the section in r
	size   uint64 // bytes, of the decompressed section
	packed *packing
	broken error // why it cannot be read

	once sync.Once
	all  []byte // all of it, once loaded
	err  error  // from loading
}

// packing says how a section is compressed.
type packing struct {
	algorithm elf.CompressionType
	header    int64 // bytes before the compressed data
	size      int64 // bytes in the file, with header
}

// debugSection returns the section called .name or .zname, nil if there is
// neither. Errors come from the methods of the result.
func (f *File) debugSection(name string) *contents {
	s, old := f.section("."+name), false
	if s == nil || s.typ == elf.SHT_NOBITS {
		if s, old = f.section(".z"+name), true; s == nil || s.typ == elf.SHT_NOBITS {
			return nil
		}
	}
	return f.contents(s, "."+name, old)
}

// contents returns a section called name; old is set if that is one of GNU's .zdebug sections.
func (f *File) contents(s *section, name string, old bool) *contents {
	c := &contents{name: name, big: f.big, r: f.r, off: int64(s.off), size: s.size}
	if s.off > uint64(f.size) || s.size > uint64(f.size)-s.off {
		c.broken = formatError(c.name, 0, "%d bytes at %#x exceed the file of %d bytes", s.size, s.off, f.size)
		return c
	}
	if old || s.flags&elf.SHF_COMPRESSED != 0 {
		c.broken = f.readPacking(c, old)
	}
	return c
}

const (
	// maxExpansion bounds the ratio of a debug section to its compressed form.
	// Ratios of 3 to 10 are usual.
	maxExpansion = 256
	// expansionSlack is what any section may expand to.
	expansionSlack = 1 << 16
	// maxZstdWindow is the largest window that zstd uses without being told.
	maxZstdWindow = 128 << 20
)

// readPacking reads the header of a section with SHF_COMPRESSED (gABI, Elf64_Chdr)
// or, if old is set, of one of GNU's .zdebug sections.
func (f *File) readPacking(s *contents, old bool) error {
	const maxHeader = 24
	head, err := readAt(f.r, f.size, s.name, uint64(s.off), min(s.size, maxHeader))
	if err != nil {
		return err
	}
	c := &sectionReader{data: head, section: s.name, big: f.big}
	p := &packing{algorithm: elf.COMPRESS_ZLIB, size: int64(s.size)}
	if old {
		if string(c.bytes(4)) != "ZLIB" {
			return formatError(s.name, 0, "not a ZLIB section")
		}
		c.big = true
		s.size = c.u64()
	} else {
		p.algorithm = elf.CompressionType(c.u32())
		if f.class64 {
			c.skip(4) // ch_reserved
		}
		s.size = c.word(f.class64)
		c.word(f.class64) // ch_addralign
	}
	if c.err != nil {
		return c.err
	}
	p.header = int64(c.off)
	if p.algorithm != elf.COMPRESS_ZLIB && p.algorithm != elf.COMPRESS_ZSTD {
		return fmt.Errorf("%s: compression %v: %w", s.name, p.algorithm, ErrUnsupported)
	}
	if packed := uint64(p.size - p.header); s.size > packed*maxExpansion+expansionSlack || s.size > math.MaxInt {
		return formatError(s.name, 0, "claims to expand from %d to %d bytes", packed, s.size)
	}
	s.packed = p
	return nil
}

// unpack decompresses the section.
func (s *contents) unpack() ([]byte, error) {
	var r io.Reader
	in := io.NewSectionReader(s.r, s.off+s.packed.header, s.packed.size-s.packed.header)
	if s.packed.algorithm == elf.COMPRESS_ZSTD {
		const smallest = 8 << 20 // window that decoders must support (RFC 8878, 3.1.1.1.2)
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(min(max(s.size, smallest), maxZstdWindow)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		defer z.Close()
		r = z
	} else {
		z, err := zlib.NewReader(bufio.NewReader(in))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		r = z
	}
	data := make([]byte, s.size)
	if n, err := io.ReadFull(r, data); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, formatError(s.name, 0, "expands to %d bytes instead of %d", n, s.size)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", s.name, err)
	}
	return data, nil
}

// load returns the whole section, for sections that are small or read all over. A
// section that is missing is empty.
func (s *contents) load() ([]byte, error) {
	if s == nil {
		return nil, nil
	}
	s.once.Do(func() {
		switch {
		case s.broken != nil:
			s.err = s.broken
		case s.packed != nil:
			s.all, s.err = s.unpack()
		default:
			s.all, s.err = readAt(s.r, s.off+int64(s.size), s.name, uint64(s.off), s.size)
		}
	})
	return s.all, s.err
}

// bytes returns n bytes at off.
func (s *contents) bytes(off, n uint64) ([]byte, error) {
	if s == nil {
		return nil, fmt.Errorf("section %w", ErrNotFound)
	}
	if s.broken != nil {
		return nil, s.broken
	}
	if off > s.size || n > s.size-off {
		return nil, formatError(s.name, int64(min(off, math.MaxInt64)), "%d bytes exceed the section of %d bytes", n, s.size)
	}
	if s.packed != nil {
		data, err := s.load()
		if err != nil {
			return nil, err
		}
		return data[off : off+n : off+n], nil
	}
	return readAt(s.r, s.off+int64(s.size), s.name, uint64(s.off)+off, n)
}

// reader returns a sectionReader over n bytes at off.
func (s *contents) reader(off, n uint64) (*sectionReader, error) {
	b, err := s.bytes(off, n)
	if err != nil {
		return nil, err
	}
	return &sectionReader{data: b, base: int64(off), section: s.name, big: s.big}, nil
}

func (s *contents) length() uint64 {
	if s == nil {
		return 0
	}
	return s.size
}

// str returns the NUL-terminated string at off, cut after maxName bytes; "" if
// there is none.
func (s *contents) str(off uint64) string {
	for n := uint64(128); off < s.length(); n *= 8 {
		n = min(n, maxName, s.size-off)
		b, err := s.bytes(off, n)
		if err != nil {
			return ""
		}
		if text, _, found := bytes.Cut(b, []byte{0}); found || n == min(maxName, s.size-off) {
			return string(text)
		}
	}
	return ""
}
