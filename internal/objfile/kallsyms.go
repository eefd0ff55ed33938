package objfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
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

// Kallsyms is a list of the kernel's functions, and where it has the kernel and its
// modules, which tells of which boot it is.
type Kallsyms struct {
	*SymbolTable
	// marks are the addresses of the symbols that bound the kernel's code.
	marks map[string]uint64
	// Modules are the addresses at which the code of modules starts, by their names: the
	// page of the first function, unless [Kallsyms.ReadModules] knew better.
	Modules map[string]uint64
}

// Mark returns the address of a symbol that bounds the kernel's code: _text, _stext, _etext
// or _edata. ok is false if the list lacks it.
func (k *Kallsyms) Mark(name string) (addr uint64, ok bool) {
	addr, ok = k.marks[name]
	return addr, ok
}

// ModuleOf returns the name of the module that a symbol of the list is in, "" for the
// kernel itself.
func ModuleOf(s Symbol) string {
	_, module, ok := strings.Cut(s.Name, " [")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(module, "]")
}

// ReadModules reads /proc/modules, which has the address of each module's code.
func (k *Kallsyms) ReadModules(r io.Reader) error {
	lines := newSymbolLines(r, "modules")
	for lines.next() {
		name, rest := word(lines.scan.Bytes())
		fields := bytes.Fields(rest)
		if len(fields) < 5 {
			return lines.fail("%d fields, not 6", len(fields)+1)
		}
		addr, ok := parseHex(fields[4])
		if !ok {
			return lines.fail("address %.40q", fields[4])
		}
		if addr != 0 {
			k.Modules[string(name)] = addr
		}
	}
	return lines.err()
}

// ParseKallsyms reads /proc/kallsyms: lines of address, type, name and for modules
// "[module]". Symbols of type t, T, w and W with an address are functions; those of
// modules are named "name [module]", as simpleperf and perf do. A symbol reaches to
// the next one, but not from the kernel into a module or from one module into
// another: there, and at the end, it reaches to the end of the page after the one
// it starts in, as in perf (symbols__fixup_end). The error wraps [ErrRestricted] if
// all addresses are zero and [ErrNotFound] if there are no functions.
func ParseKallsyms(r io.Reader) (*Kallsyms, error) {
	l := newSymbolLines(r, "kallsyms")
	k := &Kallsyms{marks: make(map[string]uint64), Modules: make(map[string]uint64)}
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
		if len(module) == 0 && addr != 0 && isMark(name) {
			k.marks[string(name)] = addr
		}
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
			if start, known := k.Modules[string(module[1:n-1])]; !known || addr < start {
				k.Modules[string(module[1:n-1])] = addr &^ (page - 1)
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
		return nil, fmt.Errorf("kallsyms: %w", ErrRestricted)
	}
	k.SymbolTable = newSymbolTable(l.list, l.names, func(c candidate, next *candidate) uint64 {
		end := pageEnd(c.addr)
		if next == nil || c.group != next.group && next.addr > end {
			return end
		}
		return next.addr
	})
	return k, nil
}

// isMark reports whether a symbol bounds the kernel's code.
func isMark(name []byte) bool {
	switch string(name) {
	case "_text", "_stext", "_etext", "_edata":
		return true
	}
	return false
}

// page is the size of the smallest pages, which modules start at.
const page = 4096

// pageEnd returns the end of the page that follows the page of addr.
func pageEnd(addr uint64) uint64 {
	if addr > math.MaxUint64-2*page {
		return math.MaxUint64
	}
	return (addr+page-1)&^(page-1) + page
}
