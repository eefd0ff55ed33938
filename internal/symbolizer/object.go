package symbolizer

import (
	"cmp"
	"errors"
	"fmt"
	"iter"

	"profdiff/internal/objects"
	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// object finds the file for a DSO, once. off is the offset in the file of an address:
// an APK that is mapped as a whole holds several libraries. base is where in the DSO
// the object starts.
func (z *Symbolizer) object(d *dso, off uint64) (o *objects.Object, base uint64) {
	if z.opt.Objects.Empty() {
		return nil, 0
	}
	if !d.searched {
		d.searched = true
		switch {
		case d.kind == perffile.DSODex:
			d.dex = z.dexMethods(d)
		case d.kind == perffile.DSOSymbolMap, d.exec == JIT:
		case d.kind == perffile.DSOKernel:
			if d.object = z.vmlinux(d); d.object != nil {
				d.linked = linkedAt(d.object, d.Reference)
			}
		case objects.IsArchive(d.Path):
			d.archive = z.opt.Objects.HasArchive(d.Path)
		default:
			d.object, _ = z.opt.Objects.Names(objects.FileOf(d.DSO))
		}
	}
	if d.archive {
		return z.opt.Objects.InArchive(d.Path, off)
	}
	return d.object, 0
}

// Forget drops what was read of the file for a DSO: see [objects.Object.Forget].
func (z *Symbolizer) Forget(d *perfsession.DSO) {
	if o := z.dso(d).object; o != nil {
		o.Forget()
	}
}

// vmlinux finds the kernel with its debug information. Names of where it is vary; a
// build ID tells whether it is the right one.
func (z *Symbolizer) vmlinux(d *dso) *objects.Object {
	file := objects.Recorded{Path: "/vmlinux", BuildID: d.BuildID}
	if d.Path == perfsession.KernelPath && z.kernel.session != nil {
		file.BuildID = buildIDOfKernel(z.kernel.session)
		file.Others = objects.VmlinuxPaths(z.kernel.session.File.Info.OSRelease)
		// It is large, and adds no more than lines to names.
		file.Here = z.kernel.names != nil || z.kernel.recorded != nil
	}
	if file.BuildID == "" {
		return nil
	}
	o, _ := z.opt.Objects.Names(file)
	return o
}

// linkedAt is where a vmlinux has the symbol that the recording names to tell where the kernel
// was loaded, 0 if it lacks it.
func linkedAt(vmlinux *objects.Object, reference string) uint64 {
	if at, ok := vmlinux.File().SymbolValue(reference); ok {
		return at
	}
	// _text is at the start of .text on some machines only; _stext is, and older perf names none.
	if text, ok := vmlinux.File().Section(".text"); ok && reference != "_text" {
		return text.Vaddr
	}
	return 0
}

// dexMethods reads the methods of the DEX files in a file that simpleperf recorded
// as such, nil if there are none.
func (z *Symbolizer) dexMethods(d *dso) *objfile.SymbolTable {
	f := z.opt.Objects.File(d.Path)
	if f == nil {
		return nil
	}
	defer f.Close()
	var tables []*objfile.SymbolTable
	for _, off := range d.recorded.DexFileOffsets {
		t, err := objfile.DexSymbols(f, f.Size, off)
		if err != nil {
			z.warn("%s: DEX file at %#x: %v", f.Name, off, err)
			continue
		}
		tables = append(tables, t)
	}
	if len(tables) == 0 {
		return nil
	}
	return objfile.MergeSymbols(tables...)
}

func (z *Symbolizer) warn(format string, args ...any) {
	z.warnings = append(z.warnings, fmt.Sprintf(format, args...))
}

// complete adds what is known of an address of the file: the function if it has no
// name yet, the functions inlined into it, and source lines. It reports whether
// there is a name.
func (z *Symbolizer) complete(o *objects.Object, vaddr uint64, sym *Symbol) bool {
	var outer Frame
	named := len(sym.Frames) > 0
	if named {
		outer = sym.Frames[0]
	} else if symbols := o.Symbols(); symbols != nil {
		if s, ok := symbols.Lookup(vaddr); ok {
			outer = Frame{Name: z.demangle(s.Name), SystemName: s.Name}
			if !isRust(s.Name) {
				outer.Origin = symbols.Origin(s)
			}
			sym.Start = s.Addr
			named = true
		}
	}
	inlined := o.Frames(vaddr)
	if n := len(inlined); n > 0 {
		last := inlined[n-1]
		if !named {
			outer = z.frame(last)
			named = outer.Name != ""
		}
		outer.File, outer.Line, outer.Column, outer.StartLine = last.File, int64(last.Line), int64(last.Column), int64(last.StartLine)
		outer.Discriminator = last.Discriminator
		if last.Name != "" && !isRust(outer.SystemName) {
			outer.Origin = last.Origin
		}
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
	if !isRust(cmp.Or(f.LinkageName, f.Name)) {
		out.Origin = f.Origin
	}
	if f.LinkageName != "" {
		out.Name, out.SystemName = z.demangle(f.LinkageName), f.LinkageName
	}
	return out
}

// Functions yields the functions whose code a DSO has, once or more often, whether or not an
// address of them is known: first by the symbols, without their source file, then by the
// debug information, with those that were only inlined. A file without symbols of its own
// has those that it exports. The error says that there is no file, or that it has no names.
func Functions(files *objects.Store, file objects.Recorded) (iter.Seq[Frame], error) {
	o, err := files.Names(file)
	if err != nil {
		return nil, err
	}
	names := []iter.Seq[string]{}
	for _, part := range []*objfile.File{o.File(), o.Debug()} {
		if part == nil {
			continue
		}
		if list, err := part.FunctionNames(); err == nil {
			names = append(names, list)
		}
	}
	lines := o.Lines()
	if len(names) == 0 && lines == nil {
		return nil, errNoNames
	}
	return func(yield func(Frame) bool) {
		for _, list := range names {
			for name := range list {
				if !yield(Frame{Name: Demangle(name), SystemName: name}) {
					return
				}
			}
		}
		if lines == nil {
			return
		}
		for l := range lines.Functions() {
			frame := Frame{Name: l.Name, SystemName: l.Name, File: l.File, StartLine: int64(l.StartLine)}
			if l.LinkageName != "" {
				frame.Name, frame.SystemName = Demangle(l.LinkageName), l.LinkageName
			}
			if !yield(frame) {
				return
			}
		}
	}, nil
}

// errNoNames says that a file has neither symbols nor debug information.
var errNoNames = errors.New("the file has no names of functions")

// isRust reports whether a symbol is of Rust.
func isRust(symbol string) bool {
	_, _, ok := cutRust(symbol)
	return ok
}
