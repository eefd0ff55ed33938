package objfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
)

// maxLine is the longest line of a symbol list, in bytes.
const maxLine = 1 << 20

// symbolLines reads a list of symbols line by line.
type symbolLines struct {
	section string
	scan    *bufio.Scanner
	number  int
	names   nameBytes
	list    []candidate
	group   uint16 // of the symbols that are added
}

func newSymbolLines(r io.Reader, section string) *symbolLines {
	l := &symbolLines{section: section, scan: bufio.NewScanner(r)}
	l.scan.Buffer(nil, maxLine)
	return l
}

// next moves to the next line that is not blank.
func (l *symbolLines) next() bool {
	for l.scan.Scan() {
		l.number++
		if len(bytes.TrimSpace(l.scan.Bytes())) > 0 {
			return true
		}
	}
	return false
}

func (l *symbolLines) err() error {
	err := l.scan.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		return lineError(l.section, l.number+1, "longer than %d bytes", maxLine)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", l.section, err)
	}
	return nil
}

func (l *symbolLines) fail(format string, args ...any) error {
	return lineError(l.section, l.number, format, args...)
}

// add appends a symbol whose name is made of parts.
func (l *symbolLines) add(addr, size uint64, rank rank, parts ...[]byte) error {
	if l.names.full(2 * maxLine) {
		return l.fail("too many symbols")
	}
	l.list = append(l.list, candidate{addr, size, l.names.add(parts...), rank, l.group})
	return nil
}

// word cuts the first word off a line.
func word(line []byte) (first, rest []byte) {
	line = bytes.TrimLeft(line, " \t")
	if i := bytes.IndexAny(line, " \t"); i >= 0 {
		return line[:i], line[i:]
	}
	return line, nil
}

// parseHex parses a hexadecimal number with or without 0x.
func parseHex(b []byte) (uint64, bool) {
	if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		b = b[2:]
	}
	if len(b) == 0 || len(b) > 16 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b), 16, 64)
	return v, err == nil
}

// ParseKallsyms reads /proc/kallsyms: lines of address, type, name and for modules
// "[module]". Symbols of type t, T, w and W with an address are functions; those of
// modules are named "name [module]", as simpleperf and perf do. A symbol reaches to
// the next one, but not from the kernel into a module or from one module into
// another: there, and at the end, it reaches to the end of the page after the one
// it starts in, as in perf (symbols__fixup_end). The error wraps [ErrRestricted] if
// all addresses are zero and [ErrNotFound] if there are no functions.
func ParseKallsyms(r io.Reader) (*SymbolTable, error) {
	l := newSymbolLines(r, "kallsyms")
	functions := 0
	modules := make(map[string]uint16) // 0 is the kernel
	for l.next() {
		field, rest := word(bytes.TrimRight(l.scan.Bytes(), " \t\r"))
		addr, ok := parseHex(field)
		if !ok {
			return nil, l.fail("address %.40q", field)
		}
		typ, rest := word(rest)
		name, rest := word(rest)
		if len(typ) != 1 || len(name) == 0 {
			return nil, l.fail("no type and name")
		}
		module, _ := word(rest)
		var r rank
		switch typ[0] {
		case 'T':
		case 't':
			r = local
		case 'w', 'W':
			r = weak
		default:
			continue
		}
		functions++
		if addr == 0 || isMappingSymbol(name) {
			continue
		}
		if n := len(module); n > 2 && module[0] == '[' && module[n-1] == ']' {
			number, known := modules[string(module)]
			if !known {
				number = uint16(min(len(modules)+1, math.MaxUint16))
				modules[string(module)] = number
			}
			l.group = number
			err := l.add(addr, 0, r, name, []byte{' '}, module)
			if err != nil {
				return nil, err
			}
			continue
		}
		l.group = 0
		if err := l.add(addr, 0, r, name); err != nil {
			return nil, err
		}
	}
	if err := l.err(); err != nil {
		return nil, err
	}
	switch {
	case functions == 0:
		return nil, fmt.Errorf("kallsyms: functions %w", ErrNotFound)
	case len(l.list) == 0:
		return nil, fmt.Errorf("kallsyms: %w", errRestricted)
	}
	return newSymbolTable(l.list, l.names, func(c candidate, next *candidate) uint64 {
		end := pageEnd(c.addr)
		if next == nil || c.group != next.group && next.addr > end {
			return end
		}
		return next.addr
	}), nil
}

// pageEnd returns the end of the page that follows the page of addr.
func pageEnd(addr uint64) uint64 {
	const page = 4096
	if addr > math.MaxUint64-2*page {
		return math.MaxUint64
	}
	return (addr+page-1)&^(page-1) + page
}
