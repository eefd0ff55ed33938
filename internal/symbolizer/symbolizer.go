// Package symbolizer names the addresses of samples.
//
//  1. The mapping of an address says which file it belongs to, and where in it.
//  2. Symbols come from the recording itself first: simpleperf's FILE features, kernel
//     symbols, KSYMBOL records.
//  3. Then from files: object files that package objects finds, lists of the kernel's
//     symbols that fit the recording, perf map files, jitdump.
//  4. Line tables add the functions that were inlined at the address, innermost first
//     (DWARF 5, 3.3.8).
//  5. Names are demangled ([Demangle]).
package symbolizer

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"profdiff/internal/objects"
	"profdiff/internal/objfile"
	"profdiff/internal/perffile"
	"profdiff/internal/perfsession"
)

// A Symbol is what an address means.
type Symbol struct {
	// Frames are the functions at the address: those inlined there, innermost
	// first, then the function itself. Empty if the address has no name.
	Frames []Frame
	// DSO is where the name was found: the file of the mapping, or the kernel for
	// addresses in modules that only the kernel's symbols name. nil if no mapping
	// has the address.
	DSO *perfsession.DSO
	// Vaddr is the address as the DSO's symbol table has it; without symbols,
	// what simpleperf or perf print for it.
	Vaddr uint64
	// Start is the Vaddr at which the function begins.
	Start uint64
	// Execution is how the code at the address is run.
	Execution Execution
	// Generated is set if the process made the code while it ran and told of it in a perf
	// map or a jitdump file. DSO is what the recording has of its memory, which differs from
	// run to run.
	Generated bool
}

// A Frame is a function and a place in its source.
type Frame struct {
	Name       string // demangled
	SystemName string // as in the symbol table
	File       string // of the source, "" if unknown
	// Origin tells the function apart from others of its name in the file: the source
	// file that it is local to, or its address; "" if there can be no others.
	Origin string
	// StartLine is the line of the definition, Line and Column the place in
	// File. 0 is unknown.
	StartLine, Line, Column int64
	// Discriminator tells apart blocks of the line, or calls there (DWARF 5, 6.2.2); 0
	// if there is none.
	Discriminator uint32
}

// Execution says how code is run.
type Execution uint8

const (
	Native      Execution = iota // machine code of a file or of the kernel
	Interpreted                  // a DEX method in the interpreter
	JIT                          // a Java method compiled while the program ran
)

// Options choose where names come from.
type Options struct {
	// Simpleperf is set for recordings made by simpleperf.
	Simpleperf bool
	// Objects are where object files are looked for, nil for nowhere.
	Objects *objects.Store
	// Kallsyms has the kernel's symbols as the user gave them, nil for those beside the
	// recording.
	Kallsyms *objects.Kallsyms
}

// A Symbolizer names addresses of one recording. It is not safe for concurrent
// use.
type Symbolizer struct {
	// Monotonic is set if the recording's clock is CLOCK_MONOTONIC, which jitdump files
	// have, too.
	Monotonic bool

	opt       Options
	recorded  map[string]*perffile.SymbolFile
	kernel    kernel
	dsos      []*dso // by perfsession.DSO.ID
	demangled map[string]string
	warnings  []string // of lists of symbols

	session    *perfsession.Session // nil if the recording is no perf.data file
	jit        map[int32]*jitCode   // by process
	dumps      int                  // jitdump files that the recording names
	refused    []string             // what tells of code, but not of the recorded processes
	jitSymbols []objfile.Symbol
	jitIDs     map[objfile.Symbol]uint32
}

// New makes a Symbolizer for the DSOs of a recording.
func New(opt Options) *Symbolizer {
	z := &Symbolizer{
		opt: opt, recorded: make(map[string]*perffile.SymbolFile), demangled: make(map[string]string),
		jit: make(map[int32]*jitCode), jitIDs: make(map[objfile.Symbol]uint32),
		kernel: kernel{given: opt.Kallsyms, machine: opt.Objects.Kernels()},
	}
	if z.kernel.given == nil {
		var err error
		if z.kernel.given, err = opt.Objects.Kallsyms(); err != nil {
			z.warnings = append(z.warnings, err.Error())
		}
	}
	return z
}

// Warnings tell of files that could not be used.
func (z *Symbolizer) Warnings() []string {
	return slices.Concat(z.opt.Objects.Warnings(), z.warnings)
}

// AddRecording adds the symbols that a perf.data file has of files, and what its replay
// tells of the kernel, which must be over when an address is named.
func (z *Symbolizer) AddRecording(s *perfsession.Session) error {
	z.kernel.session, z.session = s, s
	for f, err := range s.File.SymbolFiles() {
		if err != nil {
			return err
		}
		z.addRecorded(f)
	}
	return nil
}

// addRecorded adds the symbols that the recording has of a file.
func (z *Symbolizer) addRecorded(f *perffile.SymbolFile) {
	f.Type = min(f.Type, perffile.DSOUnknown) // which kinds of later versions are, too
	slices.SortStableFunc(f.Symbols, func(a, b perffile.Symbol) int { return cmp.Compare(a.Addr, b.Addr) })
	if f.Type == perffile.DSOKernel {
		z.kernel.recorded = f
		return
	}
	z.recorded[f.Path] = f
	z.addRecordedMap(f)
}

// lookup finds the symbol of a file that covers addr as simpleperf does: the last one that
// starts at or before it (Dso::FindSymbol in simpleperf/dso.cpp).
func lookup(f *perffile.SymbolFile, addr uint64) (perffile.Symbol, bool) {
	i := sort.Search(len(f.Symbols), func(i int) bool { return f.Symbols[i].Addr > addr })
	if i == 0 {
		return perffile.Symbol{}, false
	}
	s := f.Symbols[i-1]
	return s, addr-s.Addr < uint64(s.Len)
}

// RecordedFunctions are the functions that the recording has of an ELF file, nil if it
// has none.
func (z *Symbolizer) RecordedFunctions(path string) *objfile.SymbolTable {
	f := z.recorded[path]
	if f == nil || f.Type != perffile.DSOELF || len(f.Symbols) == 0 {
		return nil
	}
	return objfile.NewSymbolTable(symbolsOf(f))
}

func symbolsOf(f *perffile.SymbolFile) []objfile.Symbol {
	list := make([]objfile.Symbol, len(f.Symbols))
	for i, s := range f.Symbols {
		list[i] = objfile.Symbol{Addr: s.Addr, Len: uint64(s.Len), Name: s.Name}
	}
	return list
}

// FramesAt returns the functions at an address of a file, innermost first, nil if it
// has no name.
func (z *Symbolizer) FramesAt(o *objects.Object, vaddr uint64) []Frame {
	var sym Symbol
	if !z.complete(o, vaddr, &sym) {
		return nil
	}
	return sym.Frames
}

// A dso is what the symbolizer knows of a DSO.
type dso struct {
	*perfsession.DSO
	recorded *perffile.SymbolFile // nil if there is none
	kind     perffile.DSOType
	exec     Execution
	object   *objects.Object      // file with symbols, nil if there is none
	dex      *objfile.SymbolTable // methods of a DEX file, likewise
	searched bool
	injected bool   // see Injected
	archive  bool   // an APK that is mapped as a whole
	linked   uint64 // of a kernel: where its vmlinux has what is at DSO.Text, 0 if unknown
}

func (z *Symbolizer) dso(d *perfsession.DSO) *dso {
	for len(z.dsos) <= d.ID {
		z.dsos = append(z.dsos, nil)
	}
	if known := z.dsos[d.ID]; known != nil {
		return known
	}
	z.dsos[d.ID] = z.newDSO(d)
	return z.dsos[d.ID]
}

// newDSO is what is known of d before anything in it is named.
func (z *Symbolizer) newDSO(d *perfsession.DSO) *dso {
	n := &dso{DSO: d, kind: perffile.DSOELF}
	_, n.injected = Injected(d.Path)
	switch {
	case d.Kernel && d.IsKernelImage():
		n.kind = perffile.DSOKernel
	case d.Kernel:
		n.kind, n.recorded = perffile.DSOKernelModule, z.recorded[d.Path]
	default:
		if n.recorded = z.recorded[d.Path]; n.recorded != nil {
			n.kind = n.recorded.Type
		}
	}
	switch {
	case n.kind == perffile.DSODex:
		n.exec = Interpreted
	case n.kind == perffile.DSOELF && isJITFile(d.Path):
		n.exec = JIT
	}
	return n
}

// Files that simpleperf makes for methods that ART compiled at run time, must
// match JITDebugReader::IsPathInJITSymFile in simpleperf/JITDebugReader.h and
// Dso::IsForJavaMethod in dso.cpp.
func isJITFile(path string) bool {
	return IsJITCache(path) || strings.HasPrefix(path[strings.LastIndexByte(path, '/')+1:], "TemporaryFile")
}

// IsJITCache reports whether path is a part of a file in which simpleperf keeps
// the symbols of compiled Java methods.
func IsJITCache(path string) bool {
	return strings.Contains(path, "_jit_app_cache:") || strings.Contains(path, "_jit_zygote_cache:")
}

// Symbolize names the address of a frame. kernel is the DSO of the kernel image,
// made up by the caller if no mapping shows it. jit is what JITFunction said when the
// sample was taken.
func (z *Symbolizer) Symbolize(f perfsession.Frame, kernel *perfsession.DSO, jit uint32) Symbol {
	z.opt.Objects.Await() // names are of lists that recordings share, too
	if f.Map == nil {
		// A sample of the kernel may have a user address, by skid.
		if f.Kernel && !f.Guest && int64(f.Addr) < 0 {
			return z.kernelSymbol(f.Addr, z.dso(kernel))
		}
		return Symbol{Vaddr: f.Addr}
	}
	d := z.dso(f.Map.DSO)
	switch {
	case jit != 0:
		return z.generated(d.DSO, f.Addr, z.jitSymbol(jit))
	case d.Symbol != "":
		return z.named(d, f.Addr, objfile.Symbol{Addr: f.Map.Start, Name: d.Symbol})
	case d.kind == perffile.DSOKernel:
		return z.kernelSymbol(f.Addr, d)
	}
	sym := Symbol{DSO: d.DSO, Vaddr: z.vaddr(d, f), Execution: d.exec, Generated: d.injected}
	if z.fill(d, f, &sym) {
		return sym
	}
	if next, ok := z.builtin(d, f, sym); ok {
		return next
	}
	switch {
	case d.kind == perffile.DSOKernelModule:
		if k := z.kernelSymbol(f.Addr, z.dso(kernel)); len(k.Frames) > 0 || z.opt.Simpleperf {
			return k
		}
	case !d.Kernel && d.object == nil && d.dex == nil && !d.archive:
		if s, ok := z.perfMapSymbol(f.Map.PID, f.Addr); ok {
			return z.generated(d.DSO, f.Addr, s)
		}
	}
	return sym
}

// builtin names a return address that no call left: V8 has its deoptimizer go on at the first
// byte of a builtin, before which there is only padding. Other programs do not push such
// addresses; a damaged chain of frame pointers that seems to have one took it from a table.
// f is of the last byte of the padding, in which nothing runs.
func (z *Symbolizer) builtin(d *dso, f perfsession.Frame, sym Symbol) (Symbol, bool) {
	f.Addr++
	sym.Vaddr++
	ok := z.fill(d, f, &sym) && sym.Start == sym.Vaddr && strings.HasPrefix(sym.Frames[len(sym.Frames)-1].SystemName, "Builtins_")
	return sym, ok
}

// named is the Symbol for an address whose function is known whole.
func (z *Symbolizer) named(d *dso, addr uint64, s objfile.Symbol) Symbol {
	return Symbol{
		DSO: d.DSO, Vaddr: addr, Start: s.Addr, Execution: d.exec,
		Frames: []Frame{{Name: z.demangle(s.Name), SystemName: s.Name}},
	}
}

// vaddr turns an address into one of the file's symbol table, as the IpToVaddrInFile
// functions of simpleperf/dso.cpp do for what simpleperf recorded.
func (z *Symbolizer) vaddr(d *dso, f perfsession.Frame) uint64 {
	m := f.Map
	rel := f.Addr - m.Start
	switch r := d.recorded; {
	case m.Prot&perfsession.ProtJITSymFile != 0, d.kind == perffile.DSOSymbolMap:
		return f.Addr
	case d.kind == perffile.DSOUnknown && r != nil:
		return f.Addr
	case d.kind == perffile.DSODex:
		return rel + m.PgOff
	case d.kind == perffile.DSOKernelModule && r != nil:
		return rel - r.OffsetOfMinVaddr + r.MinVaddr
	case r != nil && r.HasOffset:
		return rel + m.PgOff - r.OffsetOfMinVaddr + r.MinVaddr
	case z.opt.Simpleperf && r != nil:
		return rel + r.MinVaddr
	}
	off := rel + m.PgOff
	if o, base := z.object(d, off); o != nil {
		if v, ok := o.File().VaddrOfOffset(off - base); ok {
			return v
		}
	}
	if z.opt.Simpleperf {
		return rel
	}
	return off
}

// fill names sym.Vaddr from what the recording has of d, or from a file.
func (z *Symbolizer) fill(d *dso, f perfsession.Frame, sym *Symbol) bool {
	if d.recorded != nil {
		if s, ok := lookup(d.recorded, sym.Vaddr); ok {
			sym.Start = s.Addr
			sym.Frames = []Frame{{Name: z.demangle(s.Name), SystemName: s.Name}}
		}
	}
	o, _ := z.object(d, f.Addr-f.Map.Start+f.Map.PgOff)
	if d.dex != nil && len(sym.Frames) == 0 {
		if s, ok := d.dex.Lookup(sym.Vaddr); ok {
			sym.Start = s.Addr
			sym.Frames = []Frame{{Name: z.demangle(s.Name), SystemName: s.Name}}
		}
	}
	if o == nil {
		return len(sym.Frames) > 0
	}
	return z.complete(o, sym.Vaddr, sym)
}

// kernelSymbol names an address of the kernel: from what the recording and lists have, or
// from vmlinux, which also knows inlined functions. d is the kernel, or that of a guest, which
// only vmlinux can name.
func (z *Symbolizer) kernelSymbol(addr uint64, d *dso) Symbol {
	sym := Symbol{DSO: d.DSO, Vaddr: addr}
	if d.Path == perfsession.KernelPath {
		if s, ok := z.kernel.lookup(addr, z.warn); ok {
			sym.Start = s.Addr
			sym.Frames = []Frame{{Name: s.Name, SystemName: s.Name}}
		}
	}
	if o, _ := z.object(d, 0); o != nil && d.linked != 0 && d.Text != 0 {
		named := len(sym.Frames) > 0
		if z.complete(o, addr-d.Text+d.linked, &sym) && !named {
			sym.Start += d.Text - d.linked
		}
	}
	return sym
}

// JavaMethods calls fn for every method that the recording names in a DEX file,
// files in the order of their paths.
func (z *Symbolizer) JavaMethods(fn func(file *perffile.SymbolFile, s perffile.Symbol)) {
	var paths []string
	for path, f := range z.recorded {
		if f.Type == perffile.DSODex {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	for _, path := range paths {
		for _, s := range z.recorded[path].Symbols {
			fn(z.recorded[path], s)
		}
	}
}

// Execution says how the code of a DSO is run.
func (z *Symbolizer) Execution(d *perfsession.DSO) Execution {
	if d.ID < len(z.dsos) && z.dsos[d.ID] != nil {
		return z.dsos[d.ID].exec
	}
	return z.newDSO(d).exec // not kept: a recording may have many files in which nothing is
}
