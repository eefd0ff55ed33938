// Package code finds the binaries of recordings and decodes their instructions.
//
//  1. A DSO is looked for under search paths by its build ID, or by its path or name if it
//     has none; in archives, by the offset that is mapped.
//  2. Its symbols, and those that the recording has of it, bound the functions.
//  3. Instructions are decoded by package disasm; 32-bit Arm code, A32 and Thumb, by
//     llvm-objdump, one function at a time.
package code

import (
	"errors"
	"fmt"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/branch"
	"profdiff/internal/disasm"
	"profdiff/internal/objects"
	"profdiff/internal/objfile"
	"profdiff/internal/perfsession"
)

// A File is the file of a DSO, or of a library in it.
type File struct {
	Decoder
	Code *disasm.Code
	// Vaddr is the address of an offset in the DSO.
	Vaddr  func(off uint64) (uint64, bool)
	Object *objects.Object
}

// Files finds the code of DSOs under search paths, each once. It is taken from files
// with the recorded build ID, or of the recorded path or name if there is none. Kernel
// code is not read: it changes while it runs.
type Files struct {
	files  *objects.Store
	arm    armTools
	byDSO  map[int]*File // of those that are one file
	opened map[*objects.Object]opened
	// Recorded are the functions that the recording has of a file, nil for none.
	Recorded func(path string) *objfile.SymbolTable
	Why      map[int]string // of DSOs without a binary
}

// opened is a file with its code, or why it has none.
type opened struct {
	binary *File
	why    string
}

// New finds code in files.
func New(files *objects.Store) *Files {
	return &Files{files: files, byDSO: make(map[int]*File), opened: make(map[*objects.Object]opened), Why: make(map[int]string)}
}

// Find returns the binary at an offset of a DSO, nil if there is none: then why may have
// the reason.
func (c *Files) Find(d *perfsession.DSO, off uint64) *File {
	if found, ok := c.byDSO[d.ID]; ok {
		return found
	}
	if d.Kernel {
		c.byDSO[d.ID] = nil
		return nil
	}
	found, why := c.at(objects.FileOf(d), off)
	if why != "" {
		c.Why[d.ID] = why
	}
	if !objects.IsArchive(d.Path) {
		c.byDSO[d.ID] = found
	}
	return found
}

// At returns the binary with a path, as recordings or tables have it, or why there is
// none, "" if it is not found.
func (c *Files) At(path, buildID string, off uint64) (found *File, why string) {
	return c.at(objects.Recorded{Path: path, BuildID: buildID}, off)
}

func (c *Files) at(file objects.Recorded, off uint64) (found *File, why string) {
	if !strings.HasPrefix(file.Path, "/") || strings.HasPrefix(file.Path, "//") {
		return nil, ""
	}
	o, base, err := c.files.Code(file, off)
	switch {
	case errors.Is(err, objects.ErrOtherBuild):
		return nil, "the binary is of another build"
	case err != nil:
		return nil, ""
	}
	known, ok := c.opened[o]
	if !ok {
		known = c.open(o, base, file.Path)
		c.opened[o] = known
	}
	return known.binary, known.why
}

func (c *Files) open(o *objects.Object, base uint64, path string) opened {
	var opt disasm.Options
	if c.Recorded != nil {
		opt.Symbols = c.Recorded(path)
	}
	if o.File().Arch() == "arm" {
		d, err := c.arm.decoder(o)
		if err != nil {
			return opened{why: fmt.Sprintf("32-bit Arm code, which llvm-objdump decodes (%v)", err)}
		}
		opt.Decoder = d
	}
	code, err := codeOf(o, opt)
	if err != nil {
		return opened{why: fmt.Sprintf("the binary has no code that can be read (%v)", err)}
	}
	vaddr := func(off uint64) (uint64, bool) { return o.File().VaddrOfOffset(off - base) }
	return opened{binary: &File{Decoder: decoded{code}, Code: code, Vaddr: vaddr, Object: o}}
}

// codeOf is the code of a file, the one that all share unless there is more to know of it.
// The symbols of the options come after those of the file.
func codeOf(o *objects.Object, opt disasm.Options) (*disasm.Code, error) {
	switch own := o.Symbols(); {
	case opt.Symbols == nil && opt.Decoder == nil:
		return o.Code()
	case opt.Symbols == nil:
		opt.Symbols = own
	case own != nil:
		opt.Symbols = objfile.MergeSymbols(own, opt.Symbols)
	}
	return disasm.NewWith(o.File(), opt)
}

// NameOf is what tables call the file at an offset of a DSO: libraries in an archive have
// the name of it in front of theirs.
func (c *Files) NameOf(d *perfsession.DSO, off uint64) (path, buildID string) {
	if objects.IsArchive(d.Path) {
		if found := c.Find(d, off); found != nil && found.Object.Entry() != "" {
			return d.Path + "!/" + found.Object.Entry(), found.Object.File().BuildID()
		}
	}
	return d.Path, d.BuildID
}

// Close removes the copies that were made of files.
func (c *Files) Close() {
	c.arm.close()
}

// Of returns the code of a branch's file, nil if it is not there.
func (c *Files) Of(b *branch.Branch) *disasm.Code {
	if b.ByLine {
		return nil
	}
	found, _ := c.At(b.DSO, b.BuildID, 0)
	if found == nil {
		return nil
	}
	return found.Code
}

// FunctionOf returns the function that a branch is in. It is nil if the code is not
// there or is of another build, so that there is no such branch.
func (c *Files) FunctionOf(b *branch.Branch) *disasm.Function {
	code := c.Of(b)
	if code == nil {
		return nil
	}
	if i, err := code.Decode(b.Address); err != nil || !IsKind(i.Kind, b.Kind) {
		return nil
	}
	f, err := code.FunctionAt(b.Address)
	if err != nil || f.Inst(b.Address) < 0 {
		return nil
	}
	return f
}

// Named returns the only function of a name in the file that a branch is in, with or
// without what compilers append to names, nil if there is none.
func (c *Files) Named(b *branch.Branch, name string) *disasm.Function {
	found, _ := c.At(b.DSO, b.BuildID, 0)
	if found == nil || found.Object == nil || found.Object.Symbols() == nil {
		return nil
	}
	addr, ok := symbolAddress(found.Object.Symbols(), name)
	if !ok {
		return nil
	}
	f, err := found.Code.FunctionAt(addr)
	if err != nil {
		return nil
	}
	return f
}

// symbolAddress is the address of the only function of a name, with or without what
// compilers append.
func symbolAddress(symbols *objfile.SymbolTable, name string) (addr uint64, ok bool) {
	want := align.Normalize(name)
	for s := range symbols.All() {
		switch {
		case s.Name == name:
			return s.Addr, true
		case align.Normalize(s.Name) != want:
		case ok:
			return 0, false
		default:
			addr, ok = s.Addr, true
		}
	}
	return addr, ok
}

// Line returns the place in the source of an address in the file that a branch is in, 0
// and "" if it is not known.
func (c *Files) Line(b *branch.Branch, addr uint64) (file string, line int64) {
	found, _ := c.At(b.DSO, b.BuildID, 0)
	if found == nil || found.Object == nil || found.Object.Lines() == nil {
		return "", 0
	}
	if frames := found.Object.Lines().Frames(addr); len(frames) > 0 {
		return frames[0].File, int64(frames[0].Line)
	}
	return "", 0
}
