package hot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"profdiff/internal/asm"
	"profdiff/internal/disasm"
	"profdiff/internal/llvm"
	"profdiff/internal/objects"
	"profdiff/internal/predict/flow"
)

// A Disassembler gives the text of instructions. [llvm.Toolchain] is one.
type Disassembler interface {
	Disassemble(ctx context.Context, file string, from, to uint64, opt llvm.DisassembleOptions) ([]llvm.Instruction, error)
}

// A Binary is the code of one ELF file.
type Binary struct {
	Path string // on this machine
	// Recorded is what recordings call it, "" if that is not known: a cache gives files names
	// of its own.
	Recorded string
	BuildID  string
	Arch     asm.Arch

	object    *objects.Object
	code      *disasm.Code
	graphs    map[uint64]*flow.Graph // by start of the function
	functions []*disasm.Function     // that were asked for, by their start
}

// New returns the code of an object file. recorded is what recordings call it, "" if that is not
// known.
func New(o *objects.Object, recorded string) (*Binary, error) {
	path, ok := o.Path()
	if !ok {
		return nil, fmt.Errorf("%s: is in an archive: llvm-objdump reads files of their own", o.Name())
	}
	code, err := o.Code()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := o.File()
	b := &Binary{Path: path, Recorded: recorded, BuildID: f.BuildID(), Arch: asm.Arch(f.Arch()), object: o, code: code, graphs: make(map[uint64]*flow.Graph)}
	if b.Arch != asm.X8664 && b.Arch != asm.AArch64 {
		return nil, fmt.Errorf("%s: is for %s: loops are predicted for %s and %s", path, f.Arch(), asm.X8664, asm.AArch64)
	}
	return b, nil
}

// Is reports whether a recording means the binary by a path and a build ID: that decides if both
// have one, else the name.
func (b *Binary) Is(file, buildID string) bool {
	if buildID != "" && b.BuildID != "" {
		return objects.TrimBuildID(buildID) == objects.TrimBuildID(b.BuildID)
	}
	return b.Named(file)
}

// Named reports whether a recording may mean the binary by a path.
func (b *Binary) Named(file string) bool {
	return path.Base(strings.TrimSuffix(file, " (deleted)")) == b.name()
}

// name is what recordings call the binary, without the directory.
func (b *Binary) name() string {
	return path.Base(strings.TrimSuffix(cmp.Or(b.Recorded, b.Path), " (deleted)"))
}

// Vaddr is the address in the file's symbol table of an offset in the file.
func (b *Binary) Vaddr(offset uint64) (uint64, bool) { return b.object.File().VaddrOfOffset(offset) }

// FunctionNamed is the start of the function with a name as in the symbol table.
func (b *Binary) FunctionNamed(match func(name string) bool) (addr uint64, name string, err error) {
	if symbols := b.object.Symbols(); symbols != nil {
		for s := range symbols.All() {
			if match(s.Name) {
				return s.Addr, s.Name, nil
			}
		}
	}
	return 0, "", disasm.ErrNoFunction
}

// Function is the function that an address is in, without the text of its
// instructions.
func (b *Binary) Function(addr uint64) (*disasm.Function, error) {
	after, found := slices.BinarySearchFunc(b.functions, addr, func(f *disasm.Function, addr uint64) int { return cmp.Compare(f.Start, addr) })
	if found {
		return b.functions[after], nil
	}
	if after > 0 && addr < b.functions[after-1].End {
		return b.functions[after-1], nil
	}
	f, err := b.code.FunctionAt(addr)
	switch {
	case errors.Is(err, disasm.ErrNoFunction):
		return nil, fmt.Errorf("%s: %#x is in no function: the file has neither symbols nor unwinding information there: give the file before strip", b.Path, addr)
	case err != nil:
		return nil, err
	}
	if after > 0 && b.functions[after-1].Start == f.Start {
		return b.functions[after-1], nil // an address in the padding behind it
	}
	b.functions = slices.Insert(b.functions, after, f)
	return f, nil
}

// Graph is the control flow of the function that an address is in, with the text that
// llvm-mca reads. llvm-objdump writes it; if own is set and all can be decoded here,
// package disasm does, which takes no process for each function.
func (b *Binary) Graph(ctx context.Context, tool Disassembler, addr uint64, own bool) (*flow.Graph, error) {
	f, err := b.Function(addr)
	if err != nil {
		return nil, err
	}
	if g := b.graphs[f.Start]; g != nil {
		return g, nil
	}
	var text []llvm.Instruction
	if !own || b.Arch != asm.X8664 || !decoded(f) {
		text, err = tool.Disassemble(ctx, b.Path, f.Start, f.End, llvm.DisassembleOptions{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", b.Path, err)
		}
	}
	g := graphOf(f, b.Arch, text)
	b.graphs[f.Start] = g
	return g, nil
}

// decoded reports whether package disasm has the text of all instructions.
func decoded(f *disasm.Function) bool {
	for i := range f.Insts {
		if strings.HasPrefix(f.Text(i), ".") {
			return false
		}
	}
	return true
}

// graphOf joins the control flow of a function and the text of its instructions.
func graphOf(f *disasm.Function, arch asm.Arch, text []llvm.Instruction) *flow.Graph {
	insts := make([]asm.Inst, len(f.Insts))
	for i := range f.Insts {
		in := &f.Insts[i]
		line := asm.Inst{Addr: in.Addr, Len: in.Len, Kind: in.Kind}
		at, found := slices.BinarySearchFunc(text, in.Addr, func(t llvm.Instruction, addr uint64) int { return cmp.Compare(t.Addr, addr) })
		if found && !text[at].Data {
			line.Text = strings.Join(strings.Fields(text[at].Text), " ")
		} else {
			line.Text = strings.Join(strings.Fields(f.Text(i)), " ")
			if in.Target != 0 { // labels need not be there, addresses must be near
				line.Text = strings.Replace(line.Text, fmt.Sprintf("%#x", in.Target), fmt.Sprintf(".Lx%#x", in.Target), 1)
			}
		}
		if in.Target != 0 {
			line.Target = fmt.Sprintf("%#x", in.Target)
		}
		insts[i] = line
	}
	name := f.Name
	if name == "" {
		name = fmt.Sprintf("%#x", f.Start)
	}
	return flow.OfFunction(f, name, arch, insts)
}
