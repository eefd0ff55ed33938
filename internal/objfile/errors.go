package objfile

import (
	"errors"
	"fmt"
)

var (
	// ErrNotFound says that a file has no such part: no symbol table, no line
	// table, no entry of that name.
	ErrNotFound = errors.New("not found")
	// ErrUnsupported says that a part is there in a form that is not read.
	ErrUnsupported = errors.New("not supported")
	// ErrRestricted says that kallsyms hides the addresses.
	ErrRestricted = errors.New("all addresses are zero; see /proc/sys/kernel/kptr_restrict")
)

// A FormatError says what contradicts the format, and where.
type FormatError struct {
	// Section is the part of the file: "ELF header", ".debug_info", "dex", …
	Section string
	// Offset is in bytes from the start of Section if that is the name of an
	// ELF section (after decompression), else from the start of the file. It is
	// the number of the line in a text file.
	Offset int64
	Msg    string
	line   bool
}

func (e *FormatError) Error() string {
	if e.line {
		return fmt.Sprintf("%s: line %d: %s", e.Section, e.Offset, e.Msg)
	}
	return fmt.Sprintf("%s: %s at %#x", e.Section, e.Msg, e.Offset)
}

func formatError(section string, off int64, format string, args ...any) *FormatError {
	return &FormatError{Section: section, Offset: off, Msg: fmt.Sprintf(format, args...)}
}

func lineError(section string, line int, format string, args ...any) *FormatError {
	return &FormatError{Section: section, Offset: int64(line), Msg: fmt.Sprintf(format, args...), line: true}
}
