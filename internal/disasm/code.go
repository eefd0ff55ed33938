package disasm

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"sync"
	"sync/atomic"

	"profdiff/internal/objfile"
)

// Code is the executable code of one ELF file. Its methods read what they need and
// may be called concurrently.
type Code struct {
	file    *objfile.File
	data    io.ReaderAt // the file, for .eh_frame and jump tables
	machine machine
	foreign *foreign             // of other machines
	symbols *objfile.SymbolTable // of Options
	// relocatable is set for files that are not linked: targets that a relocation
	// is to fill in are not known.
	relocatable bool

	// windows are what Decode has read, by page.
	windows [windowCount]atomic.Pointer[window]
	end     atomic.Pointer[frame] // code up to the end of its section, the last that was met

	pool  sync.Pool // of *descent
	once  sync.Once
	funcs bounds
}

type machine uint8

const (
	x86_32 machine = iota
	x86_64
	arm64
	other // which a Decoder decodes
)

// window is a piece of code.
type window struct {
	addr uint64
	data []byte
	last bool // the code ends with it
}

// Branches of a recording are all over a file: Decode reads a page at once, Range more.
// All sizes are bytes.
const (
	pageSize    = 4 << 10
	windowCount = 512
	rangeSize   = 64 << 10
)

// New returns the code of a file. The error wraps [ErrArch] if its machine is not
// decoded.
func New(f *objfile.File) (*Code, error) { return NewWith(f, Options{}) }

// NewWith returns the code of a file, of which the options say more.
func NewWith(f *objfile.File, opt Options) (*Code, error) {
	c := &Code{file: f, data: f.ReaderAt(), symbols: opt.Symbols}
	switch arch := f.Arch(); arch {
	case "386":
		c.machine = x86_32
	case "x86_64":
		c.machine = x86_64
	case "aarch64":
		c.machine = arm64
	default:
		if opt.Decoder == nil {
			return nil, fmt.Errorf("%s: %w", arch, errArch)
		}
		c.machine, c.foreign = other, &foreign{Decoder: opt.Decoder}
	}
	text, ok := f.Section(".text")
	c.relocatable = ok && text.Vaddr == 0 && len(f.Segments()) == 0
	return c, nil
}

// Arch returns the machine the code is for, as [objfile.File.Arch] does.
func (c *Code) Arch() string { return c.file.Arch() }

// maxInst returns the length that no instruction exceeds.
func (c *Code) maxInst() int {
	if c.machine == arm64 {
		return 4
	}
	return maxX86
}

// text returns up to n bytes of code at addr, and fewer only if the section ends
// before. The error wraps [ErrNoCode] if there is none.
func (c *Code) text(addr, n uint64) ([]byte, error) {
	n = min(n, math.MaxUint64-addr)
	if end := c.end.Load(); end != nil && addr >= end.start && addr < end.end {
		n = min(n, end.end-addr)
	}
	b, err := c.file.Text(addr, n)
	if !errors.Is(err, objfile.ErrNotFound) {
		return b, err
	}
	// The section ends after lo bytes or more and before hi bytes.
	lo, hi := uint64(0), n
	for hi-lo > 1 {
		mid := lo + min((hi-lo)/2, lo+1)
		if _, err := c.file.Text(addr, mid); err != nil {
			hi = mid
		} else {
			lo = mid
		}
	}
	if lo == 0 {
		return nil, fmt.Errorf("%w at %#x", errNoCode, addr)
	}
	c.end.Store(&frame{addr, addr + lo})
	return c.file.Text(addr, lo)
}

// decode decodes the instruction at the beginning of data. ok is false if there is
// none.
func (c *Code) decode(data []byte, addr uint64) (i Inst, ok bool) {
	switch c.machine {
	case other:
		d, ok := c.foreign.at(addr)
		return d.Inst, ok && len(data) >= d.Len
	case arm64:
		cur := byteReader{data: data}
		word := uint32(cur.uint(4))
		if cur.bad || addr&3 != 0 {
			return Inst{}, false
		}
		i = arm64Inst(word, addr)
		if c.relocatable && i.Target == addr {
			i.Target = 0
		}
		return i, true
	}
	var x x86Inst
	if !decodeX86(data, c.machine == x86_64, &x) {
		return Inst{}, false
	}
	i = x.inst(addr, c.machine == x86_64)
	if c.relocatable && (i.Target == i.Next() || c.machine == x86_32 && i.Target == i.Next()-4) {
		i.Target = 0
	}
	return i, true
}

// window returns code around addr, at least one instruction of any length from there on
// unless the code ends there.
func (c *Code) window(addr uint64) (*window, error) {
	slot := &c.windows[addr/pageSize%windowCount]
	if w := slot.Load(); w != nil && addr >= w.addr && addr-w.addr < uint64(len(w.data)) {
		if w.last || uint64(len(w.data))-(addr-w.addr) >= uint64(c.maxInst()) {
			return w, nil
		}
	}
	start := addr &^ (pageSize - 1)
	size := uint64(pageSize + c.maxInst())
	data, err := c.text(start, size)
	if err != nil || uint64(len(data)) <= addr-start {
		// The code starts in the page, or anew.
		start = addr
		if data, err = c.text(start, size); err != nil {
			return nil, err
		}
	}
	w := &window{start, data, uint64(len(data)) < size}
	slot.Store(w)
	return w, nil
}

// Decode decodes the instruction at addr. The error wraps [ErrNoCode] if there is
// no code and [ErrInvalid] if the code cannot be decoded. With a Decoder it is decoded
// with its function, and there may be any error of FunctionAt.
func (c *Code) Decode(addr uint64) (Inst, error) {
	if c.machine == other {
		return c.decodeForeign(addr)
	}
	w, err := c.window(addr)
	if err != nil {
		return Inst{}, err
	}
	at := byteReader{data: w.data}.at(addr - w.addr)
	if i, ok := c.decode(at.rest(), addr); ok {
		return i, nil
	}
	return Inst{}, fmt.Errorf("%w at %#x", errInvalid, addr)
}

// Range yields the instructions from address from to address to, one after the
// other. It stops at what cannot be decoded and where the code ends, with a
// Decoder at the end of the function too; the last instruction may reach beyond to.
func (c *Code) Range(from, to uint64) iter.Seq[Inst] {
	return func(yield func(Inst) bool) {
		if c.machine == other {
			// Decodes the function.
			if _, err := c.decodeForeign(from); err != nil {
				return
			}
		}
		for addr := from; addr < to; {
			data, err := c.text(addr, min(rangeSize, to-addr+uint64(c.maxInst())))
			if err != nil {
				return
			}
			whole := len(data) < rangeSize // what follows is not code
			for addr < to && len(data) > 0 && (whole || len(data) >= c.maxInst()) {
				i, ok := c.decode(data, addr)
				if !ok || !yield(i) {
					return
				}
				addr += uint64(i.Len)
				rest := byteReader{data: data}.at(uint64(i.Len))
				data = rest.rest()
			}
		}
	}
}
