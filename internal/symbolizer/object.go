package symbolizer

import (
	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
)

// An Object is a file that names the addresses of a DSO: symbols, and functions and
// lines where it has debug information.
type Object struct {
	file    *objfileSource // nil for DEX files
	entry   string         // name in the archive that the DSO is, "" if it is none
	files   *Files         // nil if all is loaded
	loaded  bool
	symbols *objfile.SymbolTable
	lines   *objfile.LineTable
}

// object finds the file for a DSO, once. off is the offset in the file of an address:
// an APK that is mapped as a whole holds several libraries. base is where in the DSO
// the object starts.
func (z *Symbolizer) object(d *dso, off uint64) (o *Object, base uint64) {
	if len(z.opt.Symfs) == 0 {
		return nil, 0
	}
	if !d.searched {
		d.searched = true
		switch {
		case d.kind == perffile.DSODex:
			d.object = z.dexObject(d)
		case d.kind == perffile.DSOSymbolMap, d.exec == JIT:
		case d.kind == perffile.DSOKernel:
			d.object = z.vmlinux(d)
		case IsArchive(d.Path):
			d.apk = z.files.archive(d.Path)
		default:
			d.object = z.files.find(d.Path, d.BuildID).object
		}
	}
	if d.apk != nil {
		return z.files.inArchive(d.apk, off)
	}
	return d.object, 0
}

// vmlinux finds the kernel with its debug information. Names of where it is vary; a
// build ID tells whether it is the right one.
func (z *Symbolizer) vmlinux(d *dso) *Object {
	if d.BuildID == "" {
		return nil
	}
	return z.files.find("/vmlinux", d.BuildID).object
}

// kernelVaddr turns an address of the running kernel into one of vmlinux: the kernel
// may be loaded elsewhere than it is linked. loaded is where its text is.
func (o *Object) kernelVaddr(addr, loaded uint64) (uint64, bool) {
	text, ok := o.file.Section(".text")
	if !ok || loaded == 0 {
		return 0, false
	}
	return addr - loaded + text.Vaddr, true
}

// dexObject reads the methods of the DEX files in a file that simpleperf recorded
// as such.
func (z *Symbolizer) dexObject(d *dso) *Object {
	f := z.files.search.file(d.Path)
	if f == nil {
		return nil
	}
	defer f.Close()
	var tables []*objfile.SymbolTable
	for _, off := range d.recorded.DexFileOffsets {
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
	return &Object{symbols: objfile.MergeSymbols(tables...)}
}

// vaddr turns an offset in the file into an address of its symbol table.
func (o *Object) vaddr(off uint64) (uint64, bool) {
	if o.file == nil {
		return off, true
	}
	return o.file.VaddrOfOffset(off)
}

// fill completes what is known of an address of the file: the function if it has no
// name yet, the functions inlined into it, and source lines. It reports whether
// there is a name.
func (o *Object) fill(z *Symbolizer, vaddr uint64, sym *Symbol) bool {
	var outer Frame
	named := len(sym.Frames) > 0
	if named {
		outer = sym.Frames[0]
	} else if symbols := o.Symbols(); symbols != nil {
		if s, ok := symbols.Lookup(vaddr); ok {
			outer = Frame{Name: z.demangle(s.Name), SystemName: s.Name}
			sym.Start = s.Addr
			named = true
		}
	}
	var inlined []objfile.Frame
	if lines := o.Lines(); lines != nil {
		inlined = lines.Frames(vaddr)
	}
	if n := len(inlined); n > 0 {
		last := inlined[n-1]
		if !named {
			outer = z.frame(last)
			named = outer.Name != ""
		}
		outer.File, outer.Line, outer.Column, outer.StartLine = last.File, int64(last.Line), int64(last.Column), int64(last.StartLine)
		outer.Discriminator = last.Discriminator
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
		Discriminator: f.Discriminator,
	}
	if f.LinkageName != "" {
		out.Name, out.SystemName = z.demangle(f.LinkageName), f.LinkageName
	}
	return out
}
