package listing

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"profdiff/internal/disasm"
	"profdiff/internal/objfile"
	"profdiff/internal/run"
	"profdiff/internal/symbolizer"
)

// Options say what code is made of.
type Options struct {
	// Symfs are where binaries are looked for. Without any, there are no listings.
	Symfs []symbolizer.SearchPath
	// Source has the text of lines, nil if it is not asked for.
	Source *Source
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
	if len(opt.Symfs) == 0 {
		return nil
	}
	finder := binaryFinder{paths: opt.Symfs, source: opt.Source, known: make(map[string]*binaryCode)}
	defer finder.close()
	inBase, inHead := make(map[sampledFunction]bool), make(map[sampledFunction]bool)
	for i := range functions {
		f := &functions[i]
		inBase[sampledFunction{f.BaseName, f.BaseDSO}] = true
		inHead[sampledFunction{f.Name, f.DSO}] = true
	}
	baseSamples, headSamples := sampledAddresses(base, event, inBase), sampledAddresses(head, event, inHead)
	for i := range functions {
		f := &functions[i]
		before := finder.code(baseSamples[sampledFunction{f.BaseName, f.BaseDSO}])
		after := finder.code(headSamples[sampledFunction{f.Name, f.DSO}])
		if f.BaseSamples > 0 && before == nil || f.HeadSamples > 0 && after == nil || before == nil && after == nil {
			continue
		}
		list = append(list, New(f.Name, f.DSO, event, before, after))
	}
	return list
}

// A binaryFinder finds files with code, each once.
type binaryFinder struct {
	paths  []symbolizer.SearchPath
	source *Source
	known  map[string]*binaryCode
	files  []io.Closer
}

type binaryCode struct {
	file  *objfile.File
	code  *disasm.Code
	lines *objfile.LineTable // nil if there are none
}

func (b *binaryFinder) close() {
	for _, f := range b.files {
		f.Close()
	}
}

func (b *binaryFinder) find(m *run.Mapping) *binaryCode {
	key := m.File + "\x00" + m.BuildID
	if found, ok := b.known[key]; ok {
		return found
	}
	relative := strings.TrimPrefix(path.Clean("/"+strings.TrimSuffix(m.File, " (deleted)")), "/")
	names := []string{relative, path.Base(relative)}
	if id := m.BuildID; len(id) > 2 {
		at := ".build-id/" + id[:2] + "/" + id[2:]
		names = append([]string{at + "/elf", at}, names...)
	}
	var found *binaryCode
	for _, p := range b.paths {
		for _, name := range names {
			if found == nil {
				found = b.open(p, name, m.BuildID)
			}
		}
	}
	b.known[key] = found
	return found
}

// open opens a file that has the build ID, or any of the name if that is not known.
func (b *binaryFinder) open(p symbolizer.SearchPath, name, buildID string) *binaryCode {
	if !fs.ValidPath(name) {
		return nil
	}
	f, err := p.FS.Open(name)
	if err != nil {
		return nil
	}
	at, ok := f.(io.ReaderAt)
	info, err := f.Stat()
	if err == nil && ok && info.Mode().IsRegular() {
		// Build IDs of less than 20 bytes are filled up with zeros by recorders.
		o, err := objfile.New(at, info.Size())
		if err == nil && (buildID == "" || strings.TrimRight(o.BuildID(), "0") == strings.TrimRight(buildID, "0")) {
			if code, err := disasm.New(o); err == nil {
				b.files = append(b.files, f)
				found := &binaryCode{file: o, code: code}
				if lines, err := o.Lines(); err == nil {
					found.lines = lines
				}
				return found
			}
		}
	}
	f.Close()
	return nil
}

// code disassembles the function that the samples are in, nil if it is not known.
func (b *binaryFinder) code(s *sampledCode) []Instruction {
	if s == nil || len(s.at) == 0 {
		return nil
	}
	bin := b.find(&s.mapping)
	if bin == nil {
		return nil
	}
	samples := make(map[uint64]int64)
	var most uint64
	for off, n := range s.at {
		vaddr, ok := bin.file.VaddrOfOffset(off)
		if !ok {
			return nil
		}
		samples[vaddr] += n
		if len(samples) == 1 || samples[vaddr] > samples[most] || samples[vaddr] == samples[most] && vaddr < most {
			most = vaddr
		}
	}
	f, err := bin.code.FunctionAt(most)
	if err != nil {
		return nil
	}
	list := make([]Instruction, 0, len(f.Insts))
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
		if bin.lines != nil {
			if frames := bin.lines.Frames(inst.Addr); len(frames) > 0 {
				x.File, x.Line = path.Base(frames[0].File), int64(frames[0].Line)
				x.Source = b.source.Line(x.File, x.Line)
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
