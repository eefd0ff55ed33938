package disasm

import (
	"bytes"
	"cmp"
	"slices"
)

// Pointer encodings of .eh_frame (Linux Standard Base Core 5.0, 10.5.1).
const (
	ptrAbs      = 0x00
	ptrU2       = 0x02
	ptrU4       = 0x03
	ptrU8       = 0x04
	ptrS2       = 0x0a
	ptrS4       = 0x0b
	ptrS8       = 0x0c
	ptrFormat   = 0x0f
	ptrRelative = 0x70
	ptrPC       = 0x10
	ptrOmit     = 0xff
)

// readFrames returns the ranges of code in .eh_frame, by address, which is loaded
// at vaddr (LSB, 10.6.1). Entries it does not understand are left out, and all that
// follow an impossible length.
func readFrames(data []byte, vaddr uint64, class64 bool) []frame {
	var frames []frame
	encodings := make(map[uint64]uint8) // of CIEs, by offset
	for c := (&byteReader{data: data}); c.remaining() > 4; {
		length := c.uint(4)
		if length == 0xffffffff {
			length = c.uint(8)
		}
		if length == 0 {
			continue // the end of what one linker input had
		}
		at := uint64(c.off)
		if c.bad || length > uint64(c.remaining()) {
			break
		}
		entry := byteReader{data: data[:at+length], off: int(at)}
		c.bytes(int(length))
		id := entry.uint(4)
		if id == 0 || id > at {
			continue
		}
		cie := at - id
		encoding, known := encodings[cie]
		if !known {
			encoding = cieEncoding(byteReader{data: data}.at(cie), class64)
			encodings[cie] = encoding
		}
		here := vaddr + uint64(entry.off)
		start := entry.pointer(encoding, class64)
		size := entry.pointer(encoding&ptrFormat, class64)
		if entry.bad || encoding == ptrOmit {
			continue
		}
		if encoding&ptrRelative == ptrPC {
			start += here
		}
		if !class64 {
			start &= 0xffffffff
		}
		if size > 0 && start+size > start && start != 0 {
			frames = append(frames, frame{start, start + size})
		}
	}
	slices.SortFunc(frames, func(a, b frame) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	return slices.CompactFunc(frames, func(a, b frame) bool { return a.start == b.start })
}

// cieEncoding returns how the FDEs of the CIE that c is at encode addresses, or
// ptrOmit if that is not known.
func cieEncoding(c byteReader, class64 bool) uint8 {
	length := c.uint(4)
	if length == 0xffffffff {
		length = c.uint(8)
	}
	if length > uint64(c.remaining()) || c.uint(4) != 0 {
		return ptrOmit
	}
	version := c.u8()
	n := bytes.IndexByte(c.rest(), 0)
	if c.bad || n < 0 || version != 1 && version != 3 {
		return ptrOmit
	}
	augmentation := c.bytes(n + 1)
	c.uleb() // code alignment
	c.uleb() // data alignment, signed, of which only the length matters
	if version == 1 {
		c.u8() // return address
	} else {
		c.uleb()
	}
	encoding := uint8(ptrAbs)
	for _, letter := range augmentation {
		switch letter {
		case 'z':
			c.uleb()
		case 'R':
			encoding = c.u8()
		case 'P':
			c.pointer(c.u8(), class64)
		case 'L':
			c.u8()
		case 'S', 'B', 'G', 0:
		default:
			return ptrOmit
		}
	}
	if c.bad || encoding&ptrRelative != 0 && encoding&ptrRelative != ptrPC {
		return ptrOmit
	}
	return encoding
}

// pointer reads a pointer without what it is relative to.
func (c *byteReader) pointer(encoding uint8, class64 bool) uint64 {
	switch encoding & ptrFormat {
	case ptrAbs:
		if class64 {
			return c.uint(8)
		}
		return c.uint(4)
	case ptrU2:
		return c.uint(2)
	case ptrU4:
		return c.uint(4)
	case ptrS2:
		return uint64(c.int(2))
	case ptrS4:
		return uint64(c.int(4))
	case ptrU8, ptrS8:
		return c.uint(8)
	}
	c.bad = true
	return 0
}
