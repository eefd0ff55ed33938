package code

import (
	"errors"
	"fmt"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/branch"
	"profdiff/internal/disasm"
	"profdiff/internal/objfile"
	"profdiff/internal/perfsession"
	"profdiff/internal/symbolizer"
)

// A Decoder reads instructions of one file.
type Decoder interface {
	// decode decodes the instruction at an address of the file. ok is false if there
	// is none.
	Decode(vaddr uint64) (i Instruction, ok bool)
}

// An Instruction is what matters here of one.
type Instruction struct {
	Len    int
	Kind   branch.Kind // UnknownKind if it is no branch
	Target uint64
	Direct bool // target is known
	Ends   bool // the next instruction does not follow
}

// A File is the file of a DSO, or of a library in it.
type File struct {
	Decoder
	Code *disasm.Code
	// Vaddr is the address of an offset in the DSO.
	Vaddr  func(off uint64) (uint64, bool)
	Object *symbolizer.Object
}

// Files finds the code of DSOs under search paths, each once. It is taken from files
// with the recorded build ID, or of the recorded path or name if there is none. Kernel
// code is not read: it changes while it runs.
type Files struct {
	files  *symbolizer.Files
	Arm    armTools
	byDSO  map[int]*File // of those that are one file
	opened map[*symbolizer.Object]opened
	// Recorded are the functions that the recording has of a file, nil for none.
	Recorded func(path string) *objfile.SymbolTable
	Why      map[int]string // of DSOs without a binary
}

// opened is a file with its code, or why it has none.
type opened struct {
	binary *File
	why    string
}

func New(files *symbolizer.Files) *Files {
	return &Files{files: files, byDSO: make(map[int]*File), opened: make(map[*symbolizer.Object]opened), Why: make(map[int]string)}
}

// Find returns the binary at an offset of a DSO, nil if there is none: then why may have
// the reason.
func (b *Files) Find(d *perfsession.DSO, off uint64) *File {
	if found, ok := b.byDSO[d.ID]; ok {
		return found
	}
	if d.Kernel {
		b.byDSO[d.ID] = nil
		return nil
	}
	found, why := b.At(d.Path, d.BuildID, off)
	if why != "" {
		b.Why[d.ID] = why
	}
	if !symbolizer.IsArchive(d.Path) {
		b.byDSO[d.ID] = found
	}
	return found
}

// At returns the binary with a path, as recordings or tables have it, or why there is
// none, "" if it is not found.
func (b *Files) At(path, buildID string, off uint64) (found *File, why string) {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return nil, ""
	}
	o, base, err := b.files.Find(path, buildID, off)
	switch {
	case errors.Is(err, symbolizer.ErrOtherBuild):
		return nil, "the binary is of another build"
	case err != nil:
		return nil, ""
	}
	known, ok := b.opened[o]
	if !ok {
		known = b.open(o, base, path)
		b.opened[o] = known
	}
	return known.binary, known.why
}

func (b *Files) open(o *symbolizer.Object, base uint64, path string) opened {
	var tables []*objfile.SymbolTable
	if t := o.Symbols(); t != nil {
		tables = append(tables, t)
	}
	if b.Recorded != nil {
		if t := b.Recorded(path); t != nil {
			tables = append(tables, t)
		}
	}
	var opt disasm.Options
	if len(tables) > 0 {
		opt.Symbols = objfile.MergeSymbols(tables...)
	}
	if o.File().Arch() == "arm" {
		d, err := b.Arm.decoder(o)
		if err != nil {
			return opened{why: fmt.Sprintf("32-bit Arm code, which llvm-objdump decodes (%v)", err)}
		}
		opt.Decoder = d
	}
	c, err := disasm.NewWith(o.File(), opt)
	if err != nil {
		return opened{why: fmt.Sprintf("the binary has no code that can be read (%v)", err)}
	}
	vaddr := func(off uint64) (uint64, bool) { return o.File().VaddrOfOffset(off - base) }
	return opened{binary: &File{Decoder: decoded{c}, Code: c, Vaddr: vaddr, Object: o}}
}

// NameOf is what tables call the file at an offset of a DSO: libraries in an archive have
// the name of it in front of theirs.
func (b *Files) NameOf(d *perfsession.DSO, off uint64) (path, buildID string) {
	if symbolizer.IsArchive(d.Path) {
		if found := b.Find(d, off); found != nil && found.Object.Entry() != "" {
			return d.Path + "!/" + found.Object.Entry(), found.Object.File().BuildID()
		}
	}
	return d.Path, d.BuildID
}

// Close closes the files.
func (b *Files) Close() {
	b.Arm.close()
	if b.files != nil {
		b.files.Close()
	}
}

// decoded is code that disasm decodes.
type decoded struct{ code *disasm.Code }

func (d decoded) Decode(vaddr uint64) (Instruction, bool) {
	i, err := d.code.Decode(vaddr)
	if err != nil || i.Len <= 0 {
		return Instruction{}, false
	}
	out := Instruction{Len: i.Len, Target: i.Target}
	switch i.Kind {
	case disasm.Conditional:
		out.Kind, out.Direct = branch.Conditional, i.Target != 0
	case disasm.Jump:
		out.Kind, out.Direct, out.Ends = branch.Direct, i.Target != 0, true
	case disasm.IndirectJump:
		out.Kind, out.Ends = branch.Indirect, true
	case disasm.Call:
		out.Kind, out.Direct = branch.Call, i.Target != 0
	case disasm.IndirectCall:
		out.Kind = branch.Indirect
	case disasm.Return:
		out.Kind, out.Ends = branch.Return, true
	case disasm.Trap:
		out.Ends = true
	}
	return out, true
}

// IsKind reports whether an instruction can be a branch of a kind.
func IsKind(i disasm.Kind, kind branch.Kind) bool {
	switch kind {
	case branch.Conditional:
		return i == disasm.Conditional
	case branch.Direct:
		return i == disasm.Jump
	case branch.Indirect:
		return i == disasm.IndirectJump || i == disasm.IndirectCall
	case branch.Call:
		return i == disasm.Call || i == disasm.IndirectCall
	case branch.Return:
		return i == disasm.Return
	}
	return i != disasm.Other
}

// KindOf is the kind of a branch instruction, UnknownKind if it is none.
func KindOf(i *disasm.Inst) branch.Kind {
	switch i.Kind {
	case disasm.Conditional:
		return branch.Conditional
	case disasm.Jump:
		return branch.Direct
	case disasm.IndirectJump, disasm.IndirectCall:
		return branch.Indirect
	case disasm.Call:
		return branch.Call
	case disasm.Return:
		return branch.Return
	}
	return branch.UnknownKind
}

// Open finds files under search paths, when a branch of them is asked for.
func Open(paths []symbolizer.SearchPath) *Files {
	return New(symbolizer.NewFiles(paths))
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
