// Package annotate lists the code of functions with what a table says of their branches.
//
//  1. The functions that rows of the table name are searched for the one that is wanted,
//     by name or by an address. What may be several is refused with their addresses.
//  2. Its file is looked for by build ID, else by path or name.
//  3. The function is decoded, and each instruction gets the rows and blocks at its
//     address, its loop depth and its places in the source.
package annotate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"profdiff/internal/branch"
	"profdiff/internal/branch/code"
	"profdiff/internal/disasm"
	"profdiff/internal/objects"
	"profdiff/internal/spelling"
	"profdiff/internal/symbolizer"
)

// A Listing is the code of a function with what a table says of its branches.
type Listing struct {
	Function     string // demangled
	DSO, BuildID string
	// Start and End are addresses in the symbol table of the DSO.
	Start, End uint64
	// Incomplete says why blocks may be missing, "" if they are not.
	Incomplete string
	Insts      []Inst
	// Elsewhere are rows of the function that are at no listed instruction.
	Elsewhere []*branch.Branch
}

// A Inst is an instruction.
type Inst struct {
	Addr uint64
	Text string // in GNU syntax
	// Block is set if a basic block starts here, Loop is how many loops it is in.
	Block bool
	Loop  int
	// Frames are the places in the source, innermost first, nil if unknown.
	Frames []symbolizer.Frame
	// Branches are the rows at the instruction, one by PMU.
	Branches []*branch.Branch
	// Blocks are what imprecise samples say of the block that starts here, by PMU.
	Blocks []*branch.Block
}

// functionPlace is a function that a table names, with an address in it.
type functionPlace struct {
	name, dso, buildID string
	address            uint64
	known              bool // the address is
	start              uint64
}

// placesOf are the functions that a table names, each address of them once.
func placesOf(t *branch.Table) []functionPlace {
	var list []functionPlace
	for i := range t.Branches {
		if b := &t.Branches[i]; b.Function != "" {
			list = append(list, functionPlace{name: b.Function, dso: b.DSO, buildID: b.BuildID, address: b.Address, known: !b.ByLine})
		}
	}
	for i := range t.Blocks() {
		b := &t.Blocks()[i]
		list = append(list, functionPlace{name: b.Function, dso: b.DSO, buildID: b.BuildID, address: b.Start, known: true})
	}
	for i := range t.Functions() {
		f := &t.Functions()[i]
		list = append(list, functionPlace{name: f.Name, dso: f.DSO, buildID: f.BuildID})
	}
	return list
}

// wantedFunction is what the user calls a function: a name, or the address of any of
// its instructions, with the name of its file in front if that is needed.
type wantedFunction struct {
	dso, name string
	address   uint64
	isAddress bool
}

func parseWanted(text string) wantedFunction {
	w := wantedFunction{name: text}
	// A file does not end in one of the colons of C++.
	if i := strings.IndexByte(text, ':'); i > 0 && !strings.HasPrefix(text[i:], "::") {
		w.dso, w.name = text[:i], text[i+1:]
	}
	if n, err := strconv.ParseUint(w.name, 0, 64); err == nil && strings.HasPrefix(w.name, "0x") {
		w.address, w.isAddress = n, true
	}
	return w
}

func (w *wantedFunction) matches(p *functionPlace) bool {
	if w.dso != "" && w.dso != p.dso && w.dso != path.Base(p.dso) {
		return false
	}
	if w.isAddress {
		return p.known
	}
	name, _, _ := strings.Cut(p.name, "(")
	return p.name != "" && (p.name == w.name || name == w.name)
}

// Function lists the code of a function. want is its name, without or with parameters,
// or the address of one of its instructions, 0x and hexadecimal; FILE: before it says
// which file it is of. files has its binary.
func Function(t *branch.Table, want string, files *objects.Store) (*Listing, error) {
	a := newAnnotator(files)
	defer a.close()
	return a.annotate(t, want)
}

// Functions lists several functions, nil for what cannot be listed.
func Functions(t *branch.Table, wanted []string, files *objects.Store) []*Listing {
	a := newAnnotator(files)
	defer a.close()
	list := make([]*Listing, len(wanted))
	for i, want := range wanted {
		if l, err := a.annotate(t, want); err == nil {
			list[i] = l
		}
	}
	return list
}

func (a *annotator) annotate(t *branch.Table, want string) (*Listing, error) {
	if slices.ContainsFunc(t.Branches, func(b branch.Branch) bool { return b.ByLine }) {
		return nil, errors.New("names lines, not instructions: record with callgrind --dump-instr=yes")
	}
	w := parseWanted(want)
	var found []functionPlace
	var failed error
	named := false
	for _, p := range placesOf(t) {
		if !w.matches(&p) {
			continue
		}
		named = true
		if !p.known || slices.ContainsFunc(found, func(o functionPlace) bool { return o.dso == p.dso && o.buildID == p.buildID && a.holds(&o, p.address) }) {
			continue
		}
		if w.isAddress && !a.holds(&functionPlace{dso: p.dso, buildID: p.buildID, address: w.address}, p.address) {
			continue
		}
		f, err := a.function(&p)
		if err != nil {
			if failed == nil {
				failed = err
			}
			continue
		}
		p.start = f.Start
		found = append(found, p)
	}
	switch {
	case len(found) == 1:
		return a.list(&found[0], t)
	case len(found) > 1:
		return nil, severalFunctions(want, found)
	case failed != nil:
		return nil, failed
	case named && !w.isAddress:
		return nil, fmt.Errorf("no sample or branch tells where %s is", want)
	}
	return nil, noFunction(want, t)
}

// severalFunctions lists what a name may mean.
func severalFunctions(want string, found []functionPlace) error {
	slices.SortFunc(found, func(a, b functionPlace) int {
		return cmp.Or(strings.Compare(a.dso, b.dso), strings.Compare(a.buildID, b.buildID), cmp.Compare(a.start, b.start))
	})
	var names []string
	for _, p := range found {
		names = append(names, fmt.Sprintf("%s:%#x %s", path.Base(p.dso), p.start, p.name))
	}
	return fmt.Errorf("%d functions are called %s, name one by its address: %s", len(found), want, strings.Join(names, ", "))
}

// noFunction names those that are nearest to what the user called the function.
func noFunction(want string, t *branch.Table) error {
	const most = 5
	inlined := make(map[string]bool)
	full := make(map[string]string) // by the name without arguments
	w := parseWanted(want)
	for _, p := range placesOf(t) {
		short, _, _ := strings.Cut(p.name, "(")
		full[cmp.Or(short, p.name)] = p.name
	}
	delete(full, "")
	for i := range t.Branches {
		b := &t.Branches[i]
		for j := 0; j < len(b.Inlined)-1; j++ {
			if name, _, _ := strings.Cut(b.Inlined[j].Name, "("); name == w.name || b.Inlined[j].Name == w.name {
				inlined[b.Function] = true
			}
		}
	}
	if len(inlined) > 0 {
		return fmt.Errorf("no function %s, but it is inlined into %s", want, strings.Join(slices.Sorted(maps.Keys(inlined)), ", "))
	}
	names := spelling.Nearest(w.name, slices.Collect(maps.Keys(full)), len(full))
	for i := range names {
		names[i] = full[names[i]]
	}
	if len(names) == 0 {
		return fmt.Errorf("no function %s: no branch has the name of its function, which --symfs may have", want)
	}
	if n := len(names); n > most {
		names = append(names[:most], fmt.Sprintf("%d others", n-most))
	}
	return fmt.Errorf("no function %s with branches, there are %s", want, strings.Join(names, ", "))
}

// annotator finds the code of functions.
type annotator struct {
	binaries *code.Files
	z        *symbolizer.Symbolizer
	files    map[fileKey]*annotatedFile
}

// A fileKey is a file that a table names.
type fileKey struct{ path, buildID string }

// An annotatedFile is a file whose binary was looked for.
type annotatedFile struct {
	object   *objects.Object
	code     *disasm.Code
	err      error
	function *disasm.Function // the last one
}

func newAnnotator(files *objects.Store) *annotator {
	return &annotator{
		binaries: code.New(files), z: symbolizer.New(symbolizer.Options{Objects: files}),
		files: make(map[fileKey]*annotatedFile),
	}
}

func (a *annotator) close() { a.binaries.Close() }

func (a *annotator) open(p *functionPlace) *annotatedFile {
	key := fileKey{p.dso, p.buildID}
	if f, ok := a.files[key]; ok {
		return f
	}
	f := &annotatedFile{}
	a.files[key] = f
	switch found, why := a.binaries.At(p.dso, p.buildID, 0); {
	case found != nil:
		f.object, f.code = found.Object, found.Code
	case why != "":
		f.err = fmt.Errorf("%s: %s", p.dso, why)
	case strings.HasPrefix(p.dso, "["):
		f.err = fmt.Errorf("%s has no file to disassemble", p.dso)
	default:
		f.err = fmt.Errorf("%s is not found: name a directory that has it by --symfs", buildOf(p))
	}
	return f
}

func buildOf(p *functionPlace) string {
	if p.buildID == "" {
		return p.dso
	}
	return fmt.Sprintf("%s with build ID %s", p.dso, p.buildID)
}

func (a *annotator) function(p *functionPlace) (*disasm.Function, error) {
	f := a.open(p)
	if f.err != nil {
		return nil, f.err
	}
	if fn := f.function; fn != nil && p.address >= fn.Start && p.address < fn.End {
		return fn, nil
	}
	fn, err := f.code.FunctionAt(p.address)
	if err != nil {
		return nil, fmt.Errorf("%s: %#x: %w", p.dso, p.address, err)
	}
	f.function = fn
	return fn, nil
}

// holds reports whether a function that was found has an address.
func (a *annotator) holds(p *functionPlace, address uint64) bool {
	f, err := a.function(p)
	return err == nil && address >= f.Start && address < f.End
}

// list makes the listing.
func (a *annotator) list(p *functionPlace, t *branch.Table) (*Listing, error) {
	fn, err := a.function(p)
	if err != nil {
		return nil, err
	}
	l := &Listing{Function: p.name, DSO: p.dso, BuildID: p.buildID, Start: fn.Start, End: fn.End, Incomplete: fn.Incomplete}
	if fn.Name != "" {
		l.Function = symbolizer.Demangle(fn.Name)
	}
	rows := make(map[uint64][]*branch.Branch)
	for i := range t.Branches {
		b := &t.Branches[i]
		if b.DSO != p.dso || b.BuildID != p.buildID || b.Address < fn.Start || b.Address >= fn.End {
			continue
		}
		rows[b.Address] = append(rows[b.Address], b)
	}
	blocks := make(map[uint64][]*branch.Block)
	for i := range t.Blocks() {
		b := &t.Blocks()[i]
		if b.DSO == p.dso && b.BuildID == p.buildID && b.Start >= fn.Start && b.Start < fn.End {
			blocks[b.Start] = append(blocks[b.Start], b)
		}
	}
	file := a.open(p)
	wrong := 0
	for i := range fn.Insts {
		in := &fn.Insts[i]
		li := Inst{Addr: in.Addr, Text: fn.Text(i), Frames: a.frames(file, in.Addr), Branches: rows[in.Addr], Blocks: blocks[in.Addr]}
		if b := fn.Block(in.Addr); b >= 0 && fn.Blocks[b].First == i {
			li.Block = true
			if loop := fn.LoopOf(b); loop >= 0 {
				li.Loop = fn.Loops[loop].Depth
			}
		} else if i > 0 {
			li.Loop = l.Insts[i-1].Loop
		}
		for _, b := range li.Branches {
			if b.Kind != branch.UnknownKind && b.Kind != branch.Transfer && !code.IsKind(in.Kind, b.Kind) {
				wrong++
			}
		}
		delete(rows, in.Addr)
		l.Insts = append(l.Insts, li)
	}
	for i := range t.Branches {
		if b := &t.Branches[i]; len(rows[b.Address]) > 0 && slices.Contains(rows[b.Address], b) {
			l.Elsewhere = append(l.Elsewhere, b)
		}
	}
	if wrong > 0 && p.buildID == "" {
		return nil, fmt.Errorf("%s: the binary is of another build: %d branches of %s are not at branches of its code", p.dso, wrong, p.name)
	}
	return l, nil
}

// frames are the places in the source of an address of the file.
func (a *annotator) frames(f *annotatedFile, vaddr uint64) []symbolizer.Frame {
	return a.z.FramesAt(f.object, vaddr)
}
