package objfile

import (
	"debug/elf"
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

// Loaded returns the bytes of the file that are loaded at vaddr, n or those up to the end
// of their segment. The error wraps [ErrNotFound] if the file has nothing for that address.
func (f *File) Loaded(vaddr, n uint64) ([]byte, error) {
	for _, p := range f.progs {
		if p.typ == elf.PT_LOAD && vaddr >= p.vaddr && vaddr-p.vaddr < p.filesz {
			skip := vaddr - p.vaddr
			return readAt(f.r, f.size, fmt.Sprintf("data at %#x", vaddr), p.off+skip, min(n, p.filesz-skip))
		}
	}
	return nil, fmt.Errorf("data at %#x: %w", vaddr, ErrNotFound)
}

// Types of program headers that lead to tables for unwinding.
const (
	EHFrameHeader = uint32(elf.PT_GNU_EH_FRAME) // .eh_frame_hdr
	ARMExidx      = 0x70000001                  // PT_ARM_EXIDX: .ARM.exidx
)

// Table returns where the program header of that type says its table is. It is for files
// whose section headers were removed: ok is false if there are any, because in files with
// only debug information program headers lead to what is not there.
func (f *File) Table(header uint32) (vaddr, size uint64, ok bool) {
	if len(f.sections) > 0 {
		return 0, 0, false
	}
	for _, p := range f.progs {
		if uint32(p.typ) == header {
			return p.vaddr, p.memsz, true
		}
	}
	return 0, 0, false
}

// Entry returns the address where a program starts, 0 in a file that is none.
func (f *File) Entry() uint64 { return f.entry }

// DebugData returns the ELF file in .gnu_debugdata, which has what could be stripped
// from this one. The error wraps [ErrNotFound] if there is none.
func (f *File) DebugData() (*File, error) {
	s := f.section(".gnu_debugdata")
	if s == nil {
		return nil, fmt.Errorf(".gnu_debugdata: %w", ErrNotFound)
	}
	return f.debugData(s)
}
