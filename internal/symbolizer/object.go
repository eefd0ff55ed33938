package symbolizer

import (
	"errors"

	"profdiff/internal/objfile"
)

// An object is a file that names the addresses of a DSO: symbols, and functions and
// lines where it has debug information.
type object struct {
	file    *objfileSource // nil for DEX files
	symbols *objfile.SymbolTable
	lines   *objfile.LineTable
}

// object finds the file for a DSO, once.
func (z *Symbolizer) object(d *dso) *object {
	if d.searched || len(z.opt.Symfs) == 0 {
		return d.object
	}
	d.searched = true
	switch {
	case d.kind == DEXFile:
		d.object = z.dexObject(d)
	case d.kind == KernelImage, d.kind == SymbolMapFile, d.exec == JIT:
	default:
		if f := z.search.find(d.Path, d.BuildID); f != nil {
			d.object = z.elfObject(f)
		}
	}
	return d.object
}

func (z *Symbolizer) elfObject(f *objfileSource) *object {
	o := &object{file: f}
	debug := z.search.debugFile(f)
	for _, source := range []*objfileSource{debug, f} {
		if source == nil {
			continue
		}
		if o.symbols == nil {
			if t, err := source.Symbols(); err == nil {
				o.symbols = t
			} else if !errors.Is(err, objfile.ErrNotFound) {
				z.warnings.warn("%s: symbols: %v", source.source.name, err)
			}
		}
		if o.lines == nil {
			if t, err := source.Lines(); err == nil {
				o.lines = t
			} else if !errors.Is(err, objfile.ErrNotFound) && !errors.Is(err, objfile.ErrUnsupported) {
				z.warnings.warn("%s: debug information: %v", source.source.name, err)
			}
		}
	}
	return o
}

// dexObject reads the methods of the DEX files in a file that simpleperf recorded
// as such.
func (z *Symbolizer) dexObject(d *dso) *object {
	f := z.search.file(d.Path)
	if f == nil {
		return nil
	}
	defer f.Close()
	var tables []*objfile.SymbolTable
	for _, off := range d.recorded.DexOffsets {
		t, err := objfile.DexSymbols(f, f.size, off)
		if err != nil {
			z.warnings.warn("%s: DEX file at %#x: %v", f.name, off, err)
			continue
		}
		tables = append(tables, t)
	}
	if len(tables) == 0 {
		return nil
	}
	return &object{symbols: objfile.MergeSymbols(tables...)}
}

// vaddr turns an offset in the file into an address of its symbol table.
func (o *object) vaddr(off uint64) (uint64, bool) {
	if o.file == nil {
		return off, true
	}
	return o.file.VaddrOfOffset(off)
}

// fill completes what is known of sym.Vaddr: the function if it has no name yet, the
// functions inlined into it, and source lines. It reports whether there is a name.
func (o *object) fill(z *Symbolizer, sym *Symbol) bool {
	var outer Frame
	named := len(sym.Frames) > 0
	if named {
		outer = sym.Frames[0]
	} else if o.symbols != nil {
		if s, ok := o.symbols.Lookup(sym.Vaddr); ok {
			outer = Frame{Name: z.demangle(s.Name), SystemName: s.Name}
			sym.Start = s.Addr
			named = true
		}
	}
	var inlined []objfile.Frame
	if o.lines != nil {
		inlined = o.lines.Frames(sym.Vaddr)
	}
	if n := len(inlined); n > 0 {
		last := inlined[n-1]
		if !named {
			outer = z.frame(last)
			named = outer.Name != ""
		}
		outer.File, outer.Line, outer.Column, outer.StartLine = last.File, int64(last.Line), int64(last.Column), int64(last.StartLine)
		inlined = inlined[:n-1]
	}
	if !named {
		return false
	}
	sym.Frames = sym.Frames[:0]
	for _, f := range inlined {
		sym.Frames = append(sym.Frames, z.frame(f))
	}
	sym.Frames = append(sym.Frames, outer)
	return true
}

func (z *Symbolizer) frame(f objfile.Frame) Frame {
	out := Frame{
		Name: f.Name, SystemName: f.Name, File: f.File,
		Line: int64(f.Line), Column: int64(f.Column), StartLine: int64(f.StartLine),
	}
	if f.LinkageName != "" {
		out.Name, out.SystemName = z.demangle(f.LinkageName), f.LinkageName
	}
	return out
}
