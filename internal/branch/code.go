package branch

import (
	"errors"
	"fmt"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/disasm"
	"profdiff/internal/objfile"
	"profdiff/internal/perfsession"
	"profdiff/internal/symbolizer"
)

// A decoder reads instructions of one file.
type decoder interface {
	// decode decodes the instruction at an address of the file. ok is false if there
	// is none.
	decode(vaddr uint64) (i instruction, ok bool)
}

// An instruction is what matters here of one.
type instruction struct {
	len    int
	kind   Kind // UnknownKind if it is no branch
	target uint64
	direct bool // target is known
	ends   bool // the next instruction does not follow
}

// A binary is the file of a DSO, or of a library in it.
type binary struct {
	decoder
	code *disasm.Code
	// vaddr is the address of an offset in the DSO.
	vaddr  func(off uint64) (uint64, bool)
	object *symbolizer.Object
}

// Binaries finds the code of DSOs under search paths, each once. It is taken from files
// with the recorded build ID, or of the recorded path or name if there is none. Kernel
// code is not read: it changes while it runs.
type Binaries struct {
	files  *symbolizer.Files
	arm    armTools
	byDSO  map[int]*binary // of those that are one file
	opened map[*symbolizer.Object]opened
	// recorded are the functions that the recording has of a file, nil for none.
	recorded func(path string) *objfile.SymbolTable
	why      map[int]string // of DSOs without a binary
}

// opened is a file with its code, or why it has none.
type opened struct {
	binary *binary
	why    string
}

func newBinaries(files *symbolizer.Files) *Binaries {
	return &Binaries{files: files, byDSO: make(map[int]*binary), opened: make(map[*symbolizer.Object]opened), why: make(map[int]string)}
}

// find returns the binary at an offset of a DSO, nil if there is none: then why may have
// the reason.
func (b *Binaries) find(d *perfsession.DSO, off uint64) *binary {
	if found, ok := b.byDSO[d.ID]; ok {
		return found
	}
	if d.Kernel {
		b.byDSO[d.ID] = nil
		return nil
	}
	found, why := b.at(d.Path, d.BuildID, off)
	if why != "" {
		b.why[d.ID] = why
	}
	if !symbolizer.IsArchive(d.Path) {
		b.byDSO[d.ID] = found
	}
	return found
}

// at returns the binary with a path, as recordings or tables have it, or why there is
// none, "" if it is not found.
func (b *Binaries) at(path, buildID string, off uint64) (found *binary, why string) {
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

func (b *Binaries) open(o *symbolizer.Object, base uint64, path string) opened {
	var tables []*objfile.SymbolTable
	if t := o.Symbols(); t != nil {
		tables = append(tables, t)
	}
	if b.recorded != nil {
		if t := b.recorded(path); t != nil {
			tables = append(tables, t)
		}
	}
	var opt disasm.Options
	if len(tables) > 0 {
		opt.Symbols = objfile.MergeSymbols(tables...)
	}
	if o.File().Arch() == "arm" {
		d, err := b.arm.decoder(o)
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
	return opened{binary: &binary{decoder: decoded{c}, code: c, vaddr: vaddr, object: o}}
}

// place is what tables call the file at an offset of a DSO: libraries in an archive have
// the name of it in front of theirs.
func (b *Binaries) place(d *perfsession.DSO, off uint64) (path, buildID string) {
	if symbolizer.IsArchive(d.Path) {
		if found := b.find(d, off); found != nil && found.object.Entry() != "" {
			return d.Path + "!/" + found.object.Entry(), found.object.File().BuildID()
		}
	}
	return d.Path, d.BuildID
}

// Close closes the files.
func (b *Binaries) Close() {
	b.arm.close()
	if b.files != nil {
		b.files.Close()
	}
}

// decoded is code that disasm decodes.
type decoded struct{ code *disasm.Code }

func (d decoded) decode(vaddr uint64) (instruction, bool) {
	i, err := d.code.Decode(vaddr)
	if err != nil || i.Len <= 0 {
		return instruction{}, false
	}
	out := instruction{len: i.Len, target: i.Target}
	switch i.Kind {
	case disasm.Conditional:
		out.kind, out.direct = Conditional, i.Target != 0
	case disasm.Jump:
		out.kind, out.direct, out.ends = Direct, i.Target != 0, true
	case disasm.IndirectJump:
		out.kind, out.ends = Indirect, true
	case disasm.Call:
		out.kind, out.direct = Call, i.Target != 0
	case disasm.IndirectCall:
		out.kind = Indirect
	case disasm.Return:
		out.kind, out.ends = Return, true
	case disasm.Trap:
		out.ends = true
	}
	return out, true
}

// isKind reports whether an instruction can be a branch of a kind.
func isKind(i disasm.Kind, kind Kind) bool {
	switch kind {
	case Conditional:
		return i == disasm.Conditional
	case Direct:
		return i == disasm.Jump
	case Indirect:
		return i == disasm.IndirectJump || i == disasm.IndirectCall
	case Call:
		return i == disasm.Call || i == disasm.IndirectCall
	case Return:
		return i == disasm.Return
	}
	return i != disasm.Other
}

// kindOf is the kind of a branch instruction, UnknownKind if it is none.
func kindOf(i *disasm.Inst) Kind {
	switch i.Kind {
	case disasm.Conditional:
		return Conditional
	case disasm.Jump:
		return Direct
	case disasm.IndirectJump, disasm.IndirectCall:
		return Indirect
	case disasm.Call:
		return Call
	case disasm.Return:
		return Return
	}
	return UnknownKind
}

// OpenCode finds files under search paths, when a branch of them is asked for.
func OpenCode(paths []symbolizer.SearchPath) *Binaries {
	return newBinaries(symbolizer.NewFiles(paths))
}

// of returns the code of a branch's file, nil if it is not there.
func (c *Binaries) of(b *Branch) *disasm.Code {
	if b.ByLine {
		return nil
	}
	found, _ := c.at(b.DSO, b.BuildID, 0)
	if found == nil {
		return nil
	}
	return found.code
}

// FunctionOf returns the function that a branch is in. It is nil if the code is not
// there or is of another build, so that there is no such branch.
func (c *Binaries) FunctionOf(b *Branch) *disasm.Function {
	code := c.of(b)
	if code == nil {
		return nil
	}
	if i, err := code.Decode(b.Address); err != nil || !isKind(i.Kind, b.Kind) {
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
func (c *Binaries) Named(b *Branch, name string) *disasm.Function {
	found, _ := c.at(b.DSO, b.BuildID, 0)
	if found == nil || found.object == nil || found.object.Symbols() == nil {
		return nil
	}
	addr, ok := symbolAddress(found.object.Symbols(), name)
	if !ok {
		return nil
	}
	f, err := found.code.FunctionAt(addr)
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
func (c *Binaries) Line(b *Branch, addr uint64) (file string, line int64) {
	found, _ := c.at(b.DSO, b.BuildID, 0)
	if found == nil || found.object == nil || found.object.Lines() == nil {
		return "", 0
	}
	if frames := found.object.Lines().Frames(addr); len(frames) > 0 {
		return frames[0].File, int64(frames[0].Line)
	}
	return "", 0
}
