package listing

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"profdiff/internal/objects"
	"profdiff/internal/objfile"
	"profdiff/internal/run"
	"profdiff/internal/source"
	"profdiff/internal/symbolizer"
)

// Options say what code is made of.
type Options struct {
	// Objects has the binaries. Without any, there are no listings.
	Objects *objects.Store
	// Source has the text of lines of both sides. Trees are nil if it is not asked for.
	Source source.Sides
	// CodeOnly leaves out the lines of instructions, which take longer to read than the code.
	CodeOnly bool
}

// A Function is a function of a comparison whose code is wanted.
type Function struct {
	// Name and DSO are what head calls it, BaseName and BaseDSO what base does, "" if the side
	// does not have the function.
	Name, DSO, BaseName, BaseDSO string
	// BaseSamples and HeadSamples are 0 if the side has no samples in it.
	BaseSamples, HeadSamples int64
}

// Of lists the functions whose binaries are found, with the samples of one event in the
// runs of both sides. Code of one side alone would look as if it were new or gone: it is
// listed only if the other side has no samples in the function.
func Of(base, head []*run.Run, event string, functions []Function, opt Options) (list []Listing) {
	if opt.Objects.Empty() {
		return nil
	}
	before, after := binaries{opt.Objects, opt.Source.Base, opt.CodeOnly}, binaries{opt.Objects, opt.Source.Head, opt.CodeOnly}
	inBase, inHead := make(map[sampledFunction]bool), make(map[sampledFunction]bool)
	for i := range functions {
		f := &functions[i]
		inBase[sampledFunction{f.BaseName, f.BaseDSO}] = true
		inHead[sampledFunction{f.Name, f.DSO}] = true
	}
	baseSamples, headSamples := sampledAddresses(base, event, inBase), sampledAddresses(head, event, inHead)
	for i := range functions {
		f := &functions[i]
		was := before.listing(baseSamples[sampledFunction{f.BaseName, f.BaseDSO}])
		is := after.listing(headSamples[sampledFunction{f.Name, f.DSO}])
		if f.BaseSamples > 0 && was == nil || f.HeadSamples > 0 && is == nil || was == nil && is == nil {
			continue
		}
		list = append(list, New(f.Name, f.DSO, event, was, is))
	}
	return list
}

// A binaries has the code of files, and the text that it was compiled of.
type binaries struct {
	files    *objects.Store
	source   *source.Tree
	codeOnly bool
}

// listing disassembles the function that the samples are in, nil if it is not known.
func (b *binaries) listing(s *sampledCode) []Instruction {
	if s == nil || len(s.at) == 0 {
		return nil
	}
	// The samples are in one function, and so in one library if the file is an archive.
	o, start, err := b.files.Code(objects.Recorded{Path: s.mapping.File, BuildID: s.mapping.BuildID}, slices.Min(slices.Collect(maps.Keys(s.at))))
	if err != nil {
		return nil
	}
	code, err := o.Code()
	if err != nil {
		return nil
	}
	samples := make(map[uint64]int64)
	var most uint64
	for off, n := range s.at {
		vaddr, ok := o.File().VaddrOfOffset(off - start)
		if !ok {
			return nil
		}
		samples[vaddr] += n
		if len(samples) == 1 || samples[vaddr] > samples[most] || samples[vaddr] == samples[most] && vaddr < most {
			most = vaddr
		}
	}
	f, err := code.FunctionAt(most)
	if err != nil {
		return nil
	}
	list := make([]Instruction, 0, len(f.Insts))
	var lines *objfile.LineTable
	if !b.codeOnly {
		lines = o.Lines()
	}
	for i := range f.Insts {
		inst := &f.Insts[i]
		text := f.Text(i)
		x := Instruction{Offset: int64(inst.Addr - f.Start), Text: text, Key: Key(text)}
		if inst.Target != 0 {
			target := fmt.Sprintf("0x%x", inst.Target)
			mnemonic, _, _ := strings.Cut(text, " ")
			x.Key = mnemonic
			if inst.Target >= f.Start && inst.Target < f.End {
				x.Text = strings.Replace(text, target, fmt.Sprintf("+%x", inst.Target-f.Start), 1)
			}
		}
		if lines != nil {
			if frames := lines.Frames(inst.Addr); len(frames) > 0 {
				b.expect(lines, inst.Addr, frames)
				x.Place, x.Source = place(&frames[0]), b.source.Line(frames[0].File, int64(frames[0].Line))
				for i := range frames[1:] {
					x.Inlined = append(x.Inlined, Caller{symbolizer.Demangle(cmp.Or(frames[i].LinkageName, frames[i].Name)), place(&frames[i+1])})
				}
			}
		}
		list = append(list, x)
	}
	for vaddr, n := range samples {
		if i := f.Inst(vaddr); i >= 0 {
			list[i].Samples += n
		}
	}
	return list
}

// expect tells the tree which text was compiled.
func (b *binaries) expect(lines *objfile.LineTable, vaddr uint64, frames []objfile.Frame) {
	for i := range frames {
		if file := frames[i].File; b.source.Wants(file) {
			sum, ok := lines.MD5(vaddr, file)
			b.source.Expect(file, sum, ok)
		}
	}
}

func place(f *objfile.Frame) Place { return Place{path.Base(f.File), int64(f.Line)} }
