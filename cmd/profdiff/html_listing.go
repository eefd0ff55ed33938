package main

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"profdiff/internal/compare"
	"profdiff/internal/disasm"
	"profdiff/internal/objfile"
	"profdiff/internal/report/html"
	"profdiff/internal/run"
	"profdiff/internal/symbolizer"
)

// maxListings is the number of functions whose code is in a report.
const maxListings = 40

// listings are the code of the functions that were tested, the most expensive first, as
// far as --symfs has the binaries.
func (l *loader) listings(c *compare.Comparison, opt html.Options) []html.Listing {
	if len(l.opt.Symfs) == 0 {
		return nil
	}
	e := &c.Events[0]
	var order []int
	for i := range e.Functions {
		if f := &e.Functions[i]; f.Self.Tested {
			order = append(order, i)
		}
	}
	weight := func(i int) float64 { return e.Functions[i].Self.Base + e.Functions[i].Self.Head }
	slices.SortStableFunc(order, func(a, b int) int { return -cmp.Compare(weight(a), weight(b)) })
	order = order[:min(len(order), maxListings)]
	finder := binaryFinder{paths: l.opt.Symfs, known: make(map[string]*binaryCode)}
	defer finder.close()
	base, head := make(map[sampledFunction]bool), make(map[sampledFunction]bool)
	for _, i := range order {
		f := &e.Functions[i]
		base[sampledFunction{f.BaseName, f.BaseDSO}] = true
		head[sampledFunction{f.Name, f.DSO}] = true
	}
	baseSamples, headSamples := sampledAddresses(c.Base, e.Name, base), sampledAddresses(c.Head, e.Name, head)
	var list []html.Listing
	for _, i := range order {
		f := &e.Functions[i]
		before := finder.code(baseSamples[sampledFunction{f.BaseName, f.BaseDSO}], opt)
		after := finder.code(headSamples[sampledFunction{f.Name, f.DSO}], opt)
		// Code of one side alone would look as if it were new or gone.
		if f.Self.BaseSamples > 0 && before == nil || f.Self.HeadSamples > 0 && after == nil || before == nil && after == nil {
			continue
		}
		list = append(list, html.NewListing(f.Name, f.DSO, e.Name, before, after))
	}
	return list
}

type sampledFunction struct{ name, dso string }

// A sampledCode is where in a file the samples of a function are.
type sampledCode struct {
	mapping run.Mapping
	at      map[uint64]int64 // samples by offset in the file
}

// sampledAddresses counts the samples of functions by address, with what was inlined into
// them: the code of a function is that of its symbol.
func sampledAddresses(runs []*run.Run, event string, wanted map[sampledFunction]bool) map[sampledFunction]*sampledCode {
	found := make(map[sampledFunction]*sampledCode)
	names := make(map[string]bool)
	for f := range wanted {
		names[f.name] = true
	}
	for _, r := range runs {
		at, ok := r.EventIndex(event)
		if !ok {
			continue
		}
		of := make([]*sampledCode, len(r.Locations))
		functions := make([]bool, len(r.Functions)) // whose names are wanted in some file
		for i := range r.Functions {
			functions[i] = names[r.Functions[i].Name]
		}
		for i := range r.Locations {
			loc := &r.Locations[i]
			m := &r.Mappings[loc.Mapping]
			function := loc.Lines[len(loc.Lines)-1].Function
			if !functions[function] || loc.Address < m.Start || loc.Address >= m.Limit || m.Kind != run.NativeMapping {
				continue
			}
			key := sampledFunction{r.Functions[function].Name, path.Base(m.File)}
			if !wanted[key] {
				continue
			}
			code, ok := found[key]
			if !ok {
				code = &sampledCode{mapping: *m, at: make(map[uint64]int64)}
				found[key] = code
			}
			if code.mapping.BuildID == m.BuildID {
				of[i] = code
			}
		}
		for i := range r.Samples {
			s := &r.Samples[i]
			if int(s.Event) != at || s.Stack == 0 {
				continue
			}
			id := r.Stacks.Location(s.Stack)
			if code := of[id]; code != nil {
				m := &r.Mappings[r.Locations[id].Mapping]
				code.at[r.Locations[id].Address-m.Start+m.Offset] += s.Count
			}
		}
	}
	return found
}

// A binaryFinder finds files with code, each once.
type binaryFinder struct {
	paths []symbolizer.SearchPath
	known map[string]*binaryCode
	files []io.Closer
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

// code is that of the function in which the samples are, nil if it is not known.
func (b *binaryFinder) code(s *sampledCode, opt html.Options) []html.Instruction {
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
	list := make([]html.Instruction, 0, len(f.Insts))
	for i := range f.Insts {
		inst := &f.Insts[i]
		text := f.Text(i)
		x := html.Instruction{Offset: int64(inst.Addr - f.Start), Text: text, Key: html.InstructionKey(text)}
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
				if opt.Source != nil {
					x.Source = opt.Source(x.File, x.Line)
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
