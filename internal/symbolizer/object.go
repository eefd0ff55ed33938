package symbolizer

import (
	"errors"
	"io"
	"strings"

	"profdiff/internal/objfile"
)

// An object is a file that names the addresses of a DSO: symbols, and functions and
// lines where it has debug information.
type object struct {
	file    *objfileSource // nil for DEX files
	symbols *objfile.SymbolTable
	lines   *objfile.LineTable
}

// object finds the file for a DSO, once. off is the offset in the file of an address:
// an APK that is mapped as a whole holds several libraries. base is where in the DSO
// the object starts.
func (z *Symbolizer) object(d *dso, off uint64) (o *object, base uint64) {
	if len(z.opt.Symfs) == 0 {
		return nil, 0
	}
	if !d.searched {
		d.searched = true
		switch {
		case d.kind == DEXFile:
			d.object = z.dexObject(d)
		case d.kind == SymbolMapFile, d.exec == JIT:
		case d.kind == KernelImage:
			d.object = z.vmlinux(d)
		case strings.HasSuffix(d.Path, ".apk"):
			d.apk = z.search.file(d.Path)
		default:
			if f := z.search.find(d.Path, d.BuildID); f != nil {
				d.object = z.elfObject(f)
			}
		}
	}
	if d.apk != nil {
		return z.apkObject(d, off)
	}
	return d.object, 0
}

// apkObject returns the library at an offset of an APK.
func (z *Symbolizer) apkObject(d *dso, off uint64) (o *object, base uint64) {
	for _, l := range d.libraries {
		if off-l.start < l.size {
			return l.object, l.start
		}
	}
	_, start, size, ok := objfile.ZipEntryAtOffset(d.apk, d.apk.size, off)
	if !ok {
		return nil, 0
	}
	l := apkLibrary{start: uint64(start), size: uint64(size)}
	section := io.NewSectionReader(d.apk, start, size)
	if f, err := objfile.New(section, size); err == nil {
		l.object = z.elfObject(&objfileSource{f, d.apk})
	}
	d.libraries = append(d.libraries, l)
	return l.object, l.start
}

// apkLibrary is a library stored in an APK.
type apkLibrary struct {
	start, size uint64
	object      *object // nil if it is no ELF file
}

// vmlinux finds the kernel with its debug information. Names of where it is vary; a
// build ID tells whether it is the right one.
func (z *Symbolizer) vmlinux(d *dso) *object {
	if d.BuildID == "" {
		return nil
	}
	if f := z.search.find("/vmlinux", d.BuildID); f != nil {
		return z.elfObject(f)
	}
	return nil
}

// kernelVaddr turns an address of the running kernel into one of vmlinux: the kernel
// may be loaded elsewhere than it is linked. loaded is where its text is.
func (o *object) kernelVaddr(addr, loaded uint64) (uint64, bool) {
	text, ok := o.file.Section(".text")
	if !ok || loaded == 0 {
		return 0, false
	}
	return addr - loaded + text.Vaddr, true
}

func (z *Symbolizer) elfObject(f *objfileSource) *object {
	o := &object{file: f}
	var debug *objfileSource
	if f.source != nil {
		debug = z.search.debugFile(f)
	}
	for _, source := range []*objfileSource{debug, f} {
		if source == nil {
			continue
		}
		if o.symbols == nil {
			if t, err := source.Symbols(); err == nil {
				o.symbols = t
				if err := t.Skipped(); err != nil {
					z.warnings.warn("%s: %v", source.source.name, err)
				}
			} else if !errors.Is(err, objfile.ErrNotFound) {
				z.warnings.warn("%s: symbols: %v", source.source.name, err)
			}
		}
		if o.lines == nil {
			if t, err := source.Lines(); err == nil {
				o.lines = t
				z.addSupplementary(source, t)
			} else if !errors.Is(err, objfile.ErrNotFound) && !errors.Is(err, objfile.ErrUnsupported) {
				z.warnings.warn("%s: debug information: %v", source.source.name, err)
			}
		}
	}
	return o
}

// addSupplementary completes a line table by the file that a distribution's debug
// files share, if there is one.
func (z *Symbolizer) addSupplementary(f *objfileSource, t *objfile.LineTable) {
	name, id, ok := f.AltDebugLink()
	if !ok || f.source == nil {
		return
	}
	if sup := z.search.supplementary(f, name, id); sup != nil {
		if lines, err := sup.Lines(); err == nil {
			t.SetSupplementary(lines)
			return
		}
	}
	z.warnings.warn("%s: names of functions are missing: the file %s that it refers to is not here", f.source.name, name)
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

// fill completes what is known of an address of the file: the function if it has no
// name yet, the functions inlined into it, and source lines. It reports whether
// there is a name.
func (o *object) fill(z *Symbolizer, vaddr uint64, sym *Symbol) bool {
	var outer Frame
	named := len(sym.Frames) > 0
	if named {
		outer = sym.Frames[0]
	} else if o.symbols != nil {
		if s, ok := o.symbols.Lookup(vaddr); ok {
			outer = Frame{Name: z.demangle(s.Name), SystemName: s.Name}
			sym.Start = s.Addr
			named = true
		}
	}
	var inlined []objfile.Frame
	if o.lines != nil {
		inlined = o.lines.Frames(vaddr)
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
