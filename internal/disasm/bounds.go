package disasm

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/objfile"
)

// bounds knows where functions start and end.
type bounds struct {
	err     error // why there are no symbols
	symbols *objfile.SymbolTable
	list    []symbol // by address, the longer first
	frames  []frame  // by address
	// special are the functions that do not return as others do.
	special map[uint64]returns
	imports imports
}

// symbol is a symbol and its place in list of the symbol it is nested in, or -1.
type symbol struct {
	start, end uint64
	parent     int32
}

// frame is the code that an entry of .eh_frame describes.
type frame struct {
	start, end uint64
}

// bounds reads the symbols and .eh_frame at the first call.
func (c *Code) bounds() *bounds {
	c.once.Do(func() {
		b := &c.funcs
		if b.symbols = c.symbols; b.symbols == nil {
			b.symbols, b.err = c.file.Symbols()
		}
		b.special = make(map[uint64]returns)
		if b.err == nil {
			b.nest()
		}
		b.imports = c.readImports()
		c.readStubs(b)
		if data, s := c.section(".eh_frame"); !c.relocatable {
			b.frames = readFrames(data, s.Vaddr, c.machine == x86_64 || c.machine == arm64)
		}
	})
	return &c.funcs
}

// nest finds the symbols within symbols.
func (b *bounds) nest() {
	b.list = make([]symbol, 0, b.symbols.Len())
	for s := range b.symbols.All() {
		if r := returnsOf(s.Name); r != normally {
			b.special[s.Addr] = r
		}
		b.list = append(b.list, symbol{s.Addr, s.Addr + s.Len, -1})
	}
	var open []int32 // symbols that the current one may be in
	for i := range b.list {
		s := &b.list[i]
		for len(open) > 0 && b.list[open[len(open)-1]].end <= s.start {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			outer := b.list[open[len(open)-1]]
			// A label has no size and reaches to the next symbol, over the padding
			// after the function it is in.
			label := i+1 == len(b.list) || b.list[i+1].start == s.end
			if outer.start < s.start && (s.end <= outer.end || label) {
				s.parent = open[len(open)-1]
				s.end = min(s.end, outer.end)
			}
		}
		open = append(open, int32(i))
	}
}

// outermost returns the function that holds addr and all functions and labels
// around it.
func (b *bounds) outermost(addr uint64) (start, end uint64, ok bool) {
	inner, ok := b.lookup(addr)
	if !ok {
		return 0, 0, false
	}
	i, found := slices.BinarySearchFunc(b.list, inner.Addr, func(s symbol, addr uint64) int { return cmp.Compare(s.start, addr) })
	if !found {
		return inner.Addr, inner.Addr + inner.Len, true
	}
	for b.list[i].parent >= 0 {
		i = int(b.list[i].parent)
	}
	if s := b.list[i]; addr < s.end {
		return s.start, s.end, true
	}
	return inner.Addr, inner.Addr + inner.Len, true
}

func (b *bounds) lookup(addr uint64) (objfile.Symbol, bool) {
	if b.symbols == nil {
		return objfile.Symbol{}, false
	}
	return b.symbols.Lookup(addr)
}

// frameAt returns the entry of .eh_frame for addr.
func (b *bounds) frameAt(addr uint64) (frame, bool) {
	i, found := slices.BinarySearchFunc(b.frames, addr, func(f frame, addr uint64) int { return cmp.Compare(f.start, addr) })
	if !found {
		i--
	}
	if i < 0 || addr >= b.frames[i].end {
		return frame{}, false
	}
	return b.frames[i], true
}

// at returns the name and range of the function that holds addr. What .eh_frame
// says counts, because compilers write an entry for every function: labels and
// functions without symbol do not lead astray then. Hand-written code may have one
// entry for several functions.
func (b *bounds) at(addr uint64) (name string, start, end uint64, err error) {
	f, framed := b.frameAt(addr)
	start, end, named := b.outermost(addr)
	switch {
	case framed && named:
		first, ok := b.lookup(f.start)
		siblings := ok && first.Addr == f.start && start > f.start && first.Addr+first.Len <= start
		if !siblings {
			start, end = f.start, f.end
		}
	case framed:
		start, end = f.start, f.end
	case !named:
		err := fmt.Errorf("%w at %#x", ErrNoFunction, addr)
		if b.err != nil && !errors.Is(b.err, objfile.ErrNotFound) {
			err = fmt.Errorf("%w: %w", err, b.err)
		}
		return "", 0, 0, err
	}
	if s, ok := b.lookup(start); ok && s.Addr == start {
		name = s.Name
	}
	return name, start, end, nil
}

// returns says how a function comes back to its caller.
type returns uint8

const (
	normally returns = iota
	never
	// restarts is for the functions that grow the stack of a goroutine: the
	// jump that follows the call starts the caller again and is not a loop.
	restarts
)

// returnsOf tells by the name of a function whether it returns. Names are all there
// is to tell; one that is missing gives an edge too many after a call.
func returnsOf(name string) returns {
	switch name {
	case "runtime.morestack", "runtime.morestack_noctxt", "runtime.morestackc",
		"runtime.morestack.abi0", "runtime.morestack_noctxt.abi0":
		return restarts
	case "abort", "exit", "_exit", "_Exit", "quick_exit", "__assert_fail", "__assert_perror_fail", "__assert",
		"__stack_chk_fail", "__chk_fail", "__fortify_fail", "__longjmp_chk", "longjmp", "siglongjmp", "pthread_exit",
		"__cxa_throw", "__cxa_rethrow", "__cxa_bad_cast", "__cxa_bad_typeid", "__cxa_throw_bad_array_new_length",
		"__cxa_pure_virtual", "__clang_call_terminate", "_Unwind_Resume", "_ZSt9terminatev",
		"rust_panic", "rust_begin_unwind", "panic", "do_exit", "__libc_fatal", "__libc_start_main",
		"runtime.gopanic", "runtime.throw", "runtime.fatal", "runtime.fatalthrow", "runtime.fatalpanic",
		"runtime.goexit0", "runtime.sigpanic", "runtime.block", "runtime.unreachableMethod", "sync.throw", "sync.fatal",
		"internal/sync.throw", "internal/sync.fatal", "internal/runtime/maps.fatal":
		return never
	}
	if strings.HasPrefix(name, "_ZSt") && strings.Contains(name, "__throw_") {
		return never
	}
	if strings.HasPrefix(name, "runtime.panic") && !strings.HasPrefix(name, "runtime.panicCheck") {
		return never
	}
	for _, prefix := range []string{
		"runtime.goPanic", "_ZN4core9panicking", "_ZN4core6option13expect_failed",
		"_ZN4core6result13unwrap_failed", "_ZN3std9panicking",
	} {
		if strings.HasPrefix(name, prefix) {
			return never
		}
	}
	return normally
}
