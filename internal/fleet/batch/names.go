package batch

import (
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/fleet"
	"profdiff/internal/ingest"
	"profdiff/internal/retrace"
	"profdiff/internal/run"
)

// A namer names functions so that they meet those of other releases:
//
//  1. Names that R8 or ProGuard gave are undone, where the reader of the format has not done it.
//  2. What compilers add to names is taken off, as package align does: numbers of clones, parts, lambdas and hidden
//     classes, hashes.
//  3. The module is the name of the file without directories, version and build ID. What a runtime compiles has none of its
//     own: a method is the same whether it was interpreted or compiled, here or there.
//  4. The file is given only for functions that are local to it: paths differ between builds.
//
// It remembers names, for one profile after the other.
type namer struct {
	mapping *retrace.Mapping
	known   map[nameKey]*namedFunction
	byID    map[int64]*namedFunction
	modules map[moduleKey]string
	profile int // that is read now
}

// A namedFunction is the row of a function, which several names may have.
type namedFunction struct {
	fleet.Function
	profile int   // that had the function last
	number  int32 // of the function in that profile
}

type nameKey struct {
	module, name, origin string
	unknown              bool
}

type moduleKey struct {
	file string
	kind run.MappingKind
}

// mostNames bounds what is remembered: names of a hostile profile are all different.
const mostNames = 1 << 18

func newNamer(mapping *retrace.Mapping) *namer {
	return &namer{
		mapping: mapping, known: make(map[nameKey]*namedFunction), byID: make(map[int64]*namedFunction), modules: make(map[moduleKey]string),
	}
}

// Modules that are no files.
const (
	kernelModule  = "[kernel]"
	managedModule = "[managed]" // what a runtime interprets and compiles: methods of DEX files, OAT files, JIT caches
	noStack       = "[no stack]"
)

// module is the module of a mapping.
func (n *namer) module(m *run.Mapping) string {
	key := moduleKey{m.File, m.Kind}
	name, ok := n.modules[key]
	if ok {
		return name
	}
	switch base := baseName(m.File); m.Kind {
	case run.KernelMapping:
		name = kernelModule
	case run.JavaMapping, run.JITMapping:
		name = managedModule
	case run.ModuleMapping:
		base, _, _ = strings.Cut(strings.Trim(base, "[]"), ".ko")
		name = "[" + strings.ReplaceAll(base, "-", "_") + "]"
	case run.VDSOMapping:
		name = "[vdso]"
	default:
		name = align.Stem(base)
	}
	if len(n.modules) >= mostNames {
		clear(n.modules)
	}
	n.modules[key] = name
	return name
}

// baseName is the name of a file without directories, and without the archive that it is in.
func baseName(file string) string {
	base := file[strings.LastIndexAny(file, "/\\")+1:]
	if i := strings.LastIndexByte(base, '!'); i >= 0 && i+1 < len(base) {
		base = base[i+1:]
	}
	return strings.TrimSuffix(base, " (deleted)")
}

// function is the row of a function in a module.
func (n *namer) function(module string, f *run.Function) *namedFunction {
	key := nameKey{module, f.Plain(), "", f.Unknown}
	if !f.Unknown && !strings.HasPrefix(f.Origin, "0x") {
		key.origin = f.Origin
	}
	return n.named(key)
}

func (n *namer) named(key nameKey) *namedFunction {
	if known := n.known[key]; known != nil {
		return known
	}
	row := fleet.Function{Module: valid(key.module), File: valid(baseName(key.origin))}
	switch {
	case key.unknown && key.module != "":
		row.Name = run.UnknownFunctionName(row.Module)
	case key.unknown:
		row.Name = valid(key.name)
	default:
		row.Name = valid(align.Normalize(key.name))
	}
	row.FunctionID = fleet.FunctionID(row.Module, row.Name, row.File)
	known := n.byID[row.FunctionID]
	if known == nil {
		known = &namedFunction{Function: row}
		n.byID[row.FunctionID] = known
	}
	if len(n.known) >= mostNames {
		clear(n.known)
	}
	n.known[key] = known
	return known
}

// next is called before another profile is read: what numbers a profile gave to functions is forgotten, and all functions if they are many.
func (n *namer) next() {
	n.profile++
	if len(n.byID) >= mostNames {
		clear(n.known)
		clear(n.byID)
	}
}

// valid is text that engines take for text.
func valid(s string) string { return strings.ToValidUTF8(strings.Clone(s), "\ufffd") }

// undone are the formats whose readers undo the names of R8 and ProGuard.
var undone = map[string]bool{
	ingest.PerfData: true, ingest.Perfetto: true, ingest.ChromeJSON: true, ingest.Ftrace: true,
	ingest.StackDump: true, ingest.Tombstone: true, ingest.HotSpot: true,
}

// frames are the rows of the functions of a line, innermost first: several if R8 inlined them.
func (n *namer) frames(rows []*namedFunction, module string, f *run.Function, line int64, retraced bool) []*namedFunction {
	if n.mapping == nil || retraced || f.Unknown {
		return append(rows, n.function(module, f))
	}
	before := len(rows)
	for _, original := range n.mapping.Method(f.Plain(), int(line)) {
		if !original.Synthesized && !original.Outline {
			rows = append(rows, n.named(nameKey{module: module, name: original.Name()}))
		}
	}
	if len(rows) == before {
		rows = append(rows, n.function(module, f))
	}
	return rows
}
