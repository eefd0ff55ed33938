package objfile

import (
	"bytes"
	"io"
)

// The VDEX format, art/runtime/vdex_file.h.
const (
	vdexMagic           = "vdex"
	vdexSectionsVersion = "027\x00" // Android 12 and later: a table of sections
	vdexDexSection      = 1         // kDexFileSection
	vdexMaxSections     = 64
)

// VdexDexOffsets returns where DEX files start in a VDEX file of size bytes, in
// ascending order, for [DexSymbols]. There are none if the DEX files are in an APK.
// In versions before 027 (Android 11 and earlier) the files are found by their
// headers.
func VdexDexOffsets(r io.ReaderAt, size int64) ([]uint64, error) {
	head, err := readAt(r, size, "vdex", 0, uint64(min(max(size, 0), 12)))
	if err != nil {
		return nil, err
	}
	c := &cursor{data: head, section: "vdex"}
	if !bytes.Equal(c.bytes(4), []byte(vdexMagic)) {
		return nil, formatError("vdex", 0, "not a VDEX file")
	}
	version := c.bytes(4)
	sections := uint64(c.u32())
	if c.err != nil {
		return nil, c.err
	}
	if string(version) != vdexSectionsVersion {
		return scanDex(r, size, 8, size)
	}
	if sections > vdexMaxSections {
		return nil, formatError("vdex", 8, "%d sections", sections)
	}
	table, err := readAt(r, size, "vdex", 12, sections*12)
	if err != nil {
		return nil, err
	}
	for c := (&cursor{data: table, base: 12, section: "vdex"}); c.remaining() > 0; {
		kind, off, n := c.u32(), int64(c.u32()), int64(c.u32())
		if kind != vdexDexSection || n == 0 {
			continue
		}
		if off > size || n > size-off {
			return nil, formatError("vdex", c.pos(), "DEX section of %d bytes at %#x exceeds the file of %d bytes", n, off, size)
		}
		return scanDex(r, size, off, off+n)
	}
	return nil, nil
}

// scanDex returns the offsets of DEX files in [start, end). They are aligned to 4
// bytes.
func scanDex(r io.ReaderAt, size, start, end int64) ([]uint64, error) {
	const chunk = 1 << 16
	var found []uint64
	for off := start &^ 3; off+dexHeaderSize <= end; {
		n := min(chunk, end-off)
		data, err := readAt(r, size, "vdex", uint64(off), uint64(n))
		if err != nil {
			return nil, err
		}
		next := off + max(n-dexHeaderSizeV41, 4)&^3
		for i := int64(0); i+dexHeaderSize <= n && off+i < next; i += 4 {
			c := cursor{data: data, base: off, section: "vdex"}
			c.seek(uint64(i))
			if b := c.peek(); b != dexMagic[0] && b != compactDexMagic[0] {
				continue
			}
			h, err := readDexHeader(&c)
			if err != nil || int64(h.fileSize) > end-off-i {
				continue
			}
			found = append(found, uint64(off+i))
			next = off + i + (int64(h.fileSize)+3)&^3
			break
		}
		off = next
	}
	return found, nil
}
