package objfile

import (
	"fmt"
	"strings"
)

// Is64 reports whether addresses have 64 bits.
func (f *File) Is64() bool { return f.class64 }

// BigEndian reports whether the most significant byte of a number comes first.
func (f *File) BigEndian() bool { return f.big }

// SectionData returns the contents of the first section of that name, inflated if it is
// compressed; of debug sections also what GNU tools once compressed as .zdebug. The error
// wraps [ErrNotFound] if the file has no such section or not its contents.
func (f *File) SectionData(name string) ([]byte, error) {
	s := f.debugSection(strings.TrimPrefix(name, "."))
	if s == nil {
		return nil, fmt.Errorf("%s: %w", name, ErrNotFound)
	}
	return s.load()
}

// Loaded returns the bytes of the file that are loaded at vaddr and behind, up to the end
// of their segment. The error wraps [ErrNotFound] if the file has nothing for that address.
func (f *File) Loaded(vaddr uint64) ([]byte, error) {
	for _, s := range f.Segments() {
		if vaddr >= s.Vaddr && vaddr-s.Vaddr < s.FileSize {
			skip := vaddr - s.Vaddr
			return readAt(f.r, f.size, fmt.Sprintf("data at %#x", vaddr), s.Offset+skip, s.FileSize-skip)
		}
	}
	return nil, fmt.Errorf("data at %#x: %w", vaddr, ErrNotFound)
}

// DebugData returns the ELF file in .gnu_debugdata, which has what could be stripped
// from this one. The error wraps [ErrNotFound] if there is none.
func (f *File) DebugData() (*File, error) {
	s := f.section(".gnu_debugdata")
	if s == nil {
		return nil, fmt.Errorf(".gnu_debugdata: %w", ErrNotFound)
	}
	return f.debugData(s)
}
