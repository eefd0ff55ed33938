package objfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
)

// maxZipEntry is the most that a compressed entry of a zip archive may expand to.
const maxZipEntry = 1 << 30

// OpenZipEntry opens an entry of a zip archive (APK, JAR) of size bytes, such as
// lib/arm64-v8a/libfoo.so. An entry that is stored is read where it is; one that is
// compressed is decompressed into memory. The error wraps [ErrNotFound] if there is
// no such entry and [ErrUnsupported] if the entry is encrypted, larger than 1 GiB
// or compressed in an unusual way.
func OpenZipEntry(r io.ReaderAt, size int64, entry string) (*io.SectionReader, error) {
	archive, err := openZip(r, size)
	if err != nil {
		return nil, err
	}
	for _, f := range archive.File {
		if f.Name != entry {
			continue
		}
		if f.Method == zip.Store {
			start, n, err := storedAt(f, size)
			if err != nil {
				return nil, err
			}
			return io.NewSectionReader(r, start, n), nil
		}
		data, err := inflate(f)
		if err != nil {
			return nil, fmt.Errorf("zip entry %q: %w", entry, err)
		}
		return io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))), nil
	}
	return nil, fmt.Errorf("zip entry %q %w", entry, ErrNotFound)
}

// ZipEntryAtOffset returns the stored entry of a zip archive whose contents the
// byte at off belongs to, as when a library is mapped straight out of an APK. start
// and n are the range of the contents in the archive, in bytes. ok is false if
// there is no such entry, or no archive.
func ZipEntryAtOffset(r io.ReaderAt, size int64, off uint64) (name string, start, n int64, ok bool) {
	archive, err := openZip(r, size)
	if err != nil || off > math.MaxInt64 {
		return "", 0, 0, false
	}
	for _, f := range archive.File {
		if f.Method != zip.Store {
			continue
		}
		start, n, err := storedAt(f, size)
		if err == nil && int64(off) >= start && int64(off)-start < n {
			return f.Name, start, n, true
		}
	}
	return "", 0, 0, false
}

func openZip(r io.ReaderAt, size int64) (*zip.Reader, error) {
	archive, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("zip: %w", err)
	}
	return archive, nil
}

// storedAt returns where the contents of a stored entry are.
func storedAt(f *zip.File, size int64) (start, n int64, err error) {
	if f.Flags&1 != 0 {
		return 0, 0, fmt.Errorf("zip entry %q: encryption: %w", f.Name, ErrUnsupported)
	}
	start, err = f.DataOffset()
	if err != nil {
		return 0, 0, fmt.Errorf("zip entry %q: %w", f.Name, err)
	}
	if start > size || f.CompressedSize64 > uint64(size-start) {
		return 0, 0, formatError("zip", start, "entry %q of %d bytes exceeds the file of %d bytes", f.Name, f.CompressedSize64, size)
	}
	return start, int64(f.CompressedSize64), nil
}

func inflate(f *zip.File) ([]byte, error) {
	if f.Flags&1 != 0 {
		return nil, fmt.Errorf("encryption: %w", ErrUnsupported)
	}
	if f.UncompressedSize64 > maxZipEntry {
		return nil, fmt.Errorf("%d bytes: %w", f.UncompressedSize64, ErrUnsupported)
	}
	r, err := f.Open()
	if errors.Is(err, zip.ErrAlgorithm) {
		return nil, fmt.Errorf("method %d: %w", f.Method, ErrUnsupported)
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// Read in pieces: the size is only a claim.
	var data bytes.Buffer
	n, err := io.Copy(&data, io.LimitReader(r, int64(f.UncompressedSize64)+1))
	if err != nil {
		return nil, err
	}
	if uint64(n) != f.UncompressedSize64 {
		return nil, formatError("zip", 0, "entry expands to %d bytes instead of %d", n, f.UncompressedSize64)
	}
	return data.Bytes(), nil
}
