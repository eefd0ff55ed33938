package traces

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/objects"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfsession"
	"profdiff/internal/retrace"
	"profdiff/internal/run"
	"profdiff/internal/symbolizer"
	"profdiff/internal/trace"
)

// symbols gives names to the places of a trace.
//
//  1. ModuleSymbols name addresses of a file, with what was inlined there. Tools add them behind a trace that was
//     recorded without names.
//  2. Else a place has the name that the recorder gave it. If an object file says the same, it adds source
//     lines and what was inlined; if there was no name, it names the place.
//  3. Obfuscated methods of Java get their names from the mapping that the user gave, or from a
//     DeobfuscationMapping of the package: it is written as the text that R8 writes, and read by package
//     retrace, so that ranges of lines mean what they mean there.
//  4. What remains is unknown code of its file.
type symbols struct {
	places *places
	opt    *reading.Options
	store  *objects.Store
	z      *symbolizer.Symbolizer

	modules   [][]byte                 // ModuleSymbols
	texts     map[string]*bytes.Buffer // what R8 would write, by package
	retraced  map[string]*retrace.Mapping
	timeline  *trace.Timeline
	packages  bool // processes have packages
	ambiguous map[string]bool
	lines     map[uint32][]symbolLine // of places by index, from ModuleSymbols
	otherFile map[string]bool         // whose object file names functions otherwise
	whole     map[uint32]uint32       // mappings that cover all addresses of a file
}

// A symbolLine is a Line of AddressSymbols.
type symbolLine struct {
	function, source string
	line             int64
}

func newSymbols(p *places, src *input.Source, opt *reading.Options) *symbols {
	store := opt.Objects.Of(objects.Recording{Dir: src.Dir})
	return &symbols{
		places: p, opt: opt, store: store, z: symbolizer.New(symbolizer.Options{Objects: store, Kallsyms: opt.Kallsyms}),
		texts: make(map[string]*bytes.Buffer), ambiguous: make(map[string]bool), otherFile: make(map[string]bool),
		lines: make(map[uint32][]symbolLine), whole: make(map[uint32]uint32),
	}
}

// describe takes a packet that names addresses or methods. It may stand before or behind the samples.
func (n *symbols) describe(p *perfetto.Packet) error {
	switch p.Kind {
	case perfetto.ModuleSymbols:
		f := p.Message()
		n.modules = append(n.modules, bytes.Clone(f.Data()))
	case perfetto.DeobfuscationMap:
		return n.deobfuscation(p.Message())
	}
	return nil
}

// Fields of ModuleSymbols and DeobfuscationMapping.
const (
	modulePath    = 1
	moduleBuildID = 2
	moduleAddress = 3
	addressValue  = 1
	addressLine   = 2
	lineFunction  = 1
	lineSource    = 2
	lineNumber    = 3

	deobfuscatedPackage = 1
	deobfuscatedClass   = 3
	classObfuscated     = 1
	classOriginal       = 2
	classMethod         = 4
	methodObfuscated    = 1
	methodOriginal      = 2
	methodFrom          = 3
	methodTo            = 4
	methodSourceFrom    = 5
	methodSourceTo      = 6
)

// deobfuscation writes a DeobfuscationMapping as text.
func (n *symbols) deobfuscation(f input.Fields) error {
	var text bytes.Buffer
	name := ""
	for f.Next() {
		switch f.Num {
		case deobfuscatedPackage:
			name = clean(f.Bytes())
		case deobfuscatedClass:
			m := f.Message()
			writeClass(&text, m)
		default:
			f.Skip()
		}
	}
	to := n.texts[name]
	if to == nil {
		to = new(bytes.Buffer)
		n.texts[name] = to
	}
	to.Write(text.Bytes())
	return f.Err
}

func writeClass(text *bytes.Buffer, class input.Fields) {
	var obfuscated, original []byte
	for f := class.Again(); f.Next(); {
		switch f.Num {
		case classObfuscated:
			obfuscated = f.Bytes()
		case classOriginal:
			original = f.Bytes()
		default:
			f.Skip()
		}
	}
	fmt.Fprintf(text, "%s -> %s:\n", original, obfuscated)
	for f := class.Again(); f.Next(); {
		if f.Num != classMethod {
			f.Skip()
			continue
		}
		var obfuscated, original []byte
		var from, to, sourceFrom, sourceTo uint64
		ranged := false
		to = math.MaxInt32
		for m := f.Message(); m.Next(); {
			switch m.Num {
			case methodObfuscated:
				obfuscated = m.Bytes()
			case methodOriginal:
				original = m.Bytes()
			case methodFrom:
				from, ranged = m.Uint(), true
			case methodTo:
				to, ranged = m.Uint(), true
			case methodSourceFrom:
				sourceFrom = m.Uint()
			case methodSourceTo:
				sourceTo = m.Uint()
			default:
				m.Skip()
			}
		}
		text.WriteString("    ")
		if ranged {
			fmt.Fprintf(text, "%d:%d:", from, to)
		}
		fmt.Fprintf(text, "void %s()", original)
		switch {
		case sourceFrom > 0 && sourceTo > 0:
			fmt.Fprintf(text, ":%d:%d", sourceFrom, sourceTo)
		case sourceFrom > 0:
			fmt.Fprintf(text, ":%d", sourceFrom)
		}
		fmt.Fprintf(text, " -> %s\n", obfuscated)
	}
}

// finish names all places. t has the packages of processes.
func (n *symbols) finish(t *trace.Timeline) {
	n.timeline = t
	n.packages = slices.ContainsFunc(t.Processes, func(p trace.Process) bool { return p.Package != "" })
	n.retraced = make(map[string]*retrace.Mapping)
	for name, text := range n.texts {
		if m, err := retrace.Parse(text); err == nil {
			n.retraced[name] = m
		}
	}
	n.texts = nil
	n.takeModules()
	for i := range n.places.list {
		n.name(uint32(i))
	}
	r := n.places.b.Run()
	if k := len(n.ambiguous); k > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d obfuscated methods have several original names, of which the last in the mapping is shown", k))
	}
	for _, path := range slices.Sorted(maps.Keys(n.otherFile)) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s is of another build than the trace, which names functions otherwise: it is used only where they agree", path))
	}
	r.Warnings = append(r.Warnings, n.z.Warnings()...)
}

// takeModules finds the places that ModuleSymbols name.
func (n *symbols) takeModules() {
	if len(n.modules) == 0 {
		return
	}
	type address struct {
		file uint32
		pc   uint64
	}
	at := make(map[address][]uint32)
	for i := range n.places.list {
		if pl := &n.places.list[i]; pl.file != 0 {
			at[address{pl.file, pl.pc}] = append(at[address{pl.file, pl.pc}], uint32(i))
		}
	}
	for _, data := range n.modules {
		var path, id string
		for f := input.NewFields(data, 0); f.Next(); {
			switch f.Num {
			case modulePath:
				path = clean(f.Bytes())
			case moduleBuildID:
				id = buildID(f.Bytes())
			default:
				f.Skip()
			}
		}
		files := n.filesOf(path, id)
		if len(files) == 0 {
			continue
		}
		for f := input.NewFields(data, 0); f.Next(); {
			if f.Num != moduleAddress {
				f.Skip()
				continue
			}
			var pc uint64
			var lines []symbolLine
			for a := f.Message(); a.Next(); {
				switch a.Num {
				case addressValue:
					pc = a.Uint()
				case addressLine:
					lines = append(lines, readSymbolLine(a.Message()))
				default:
					a.Skip()
				}
			}
			for _, file := range files {
				for _, i := range at[address{file, pc}] {
					if len(lines) > 0 {
						n.lines[i] = lines
					}
				}
			}
		}
	}
	n.modules = nil
}

func readSymbolLine(f input.Fields) (l symbolLine) {
	for f.Next() {
		switch f.Num {
		case lineFunction:
			l.function = clean(f.Bytes())
		case lineSource:
			l.source = clean(f.Bytes())
		case lineNumber:
			l.line = int64(uint32(f.Uint()))
		default:
			f.Skip()
		}
	}
	return l
}

// filesOf are the files with a path and a build ID, if both are known.
func (n *symbols) filesOf(path, id string) (list []uint32) {
	for i := range n.places.files {
		f := &n.places.files[i]
		if i > 0 && f.recorded == path && (id == "" || f.buildID == "" || f.buildID == id) {
			list = append(list, uint32(i))
		}
	}
	return list
}

// name gives a place its functions.
func (n *symbols) name(i uint32) {
	pl := &n.places.list[i]
	file := &n.places.files[pl.file]
	b := n.places.b
	lines := n.functions(i)
	loc := run.Location{Lines: lines}
	if pl.file != 0 && file.path != "" {
		loc.Mapping, loc.Address = n.address(pl)
	}
	if lines == nil {
		file.unnamed = true
		f := reading.UnknownFunction(cmp.Or(file.path, "unknown"), pl.pc, n.opt)
		loc.Lines = []run.Line{{Function: b.Function(f)}}
	} else if loc.Mapping != 0 {
		r := b.Run()
		m := &r.Mappings[loc.Mapping]
		m.HasFunctions = true
		m.HasInlineFrames = m.HasInlineFrames || len(lines) > 1
		for _, l := range lines {
			m.HasFilenames = m.HasFilenames || r.Functions[l.Function].File != ""
			m.HasLineNumbers = m.HasLineNumbers || l.Line != 0
		}
	}
	b.Run().Locations[n.places.at[i]] = loc
}

// functions are the functions at a place, innermost first, nil if it has no name.
func (n *symbols) functions(i uint32) []run.Line {
	pl := &n.places.list[i]
	file := &n.places.files[pl.file]
	given := n.lines[i]
	if pl.java {
		name, line := pl.name, pl.line
		if k := len(given); k > 0 {
			name, line = cmp.Or(given[k-1].function, name), given[k-1].line
		}
		if lines := n.original(pl, file, name, int(line)); lines != nil {
			return lines
		}
	}
	var lines []run.Line
	add := func(f run.Function, line, column int64) {
		lines = append(lines, run.Line{Function: n.places.b.Function(f), Line: line, Column: column})
	}
	for _, l := range given {
		name := cmp.Or(l.function, pl.name)
		if name == "" {
			continue
		}
		add(run.Function{Name: symbolizer.Demangle(name), SystemName: name, File: l.source}, l.line, 0)
	}
	if lines != nil {
		return lines
	}
	recorded := run.Function{Name: symbolizer.Demangle(pl.name), SystemName: pl.name, File: pl.source}
	frames := n.symbolize(pl, file)
	if k := len(frames); k > 0 && pl.name != "" {
		switch outer := &frames[k-1]; {
		case outer.SystemName == pl.name, outer.Name == recorded.Name:
		case file.buildID != "":
			frames = nil // a name of the runtime, such as of a method in a DEX file
		default:
			n.otherFile[file.path] = true
			frames = nil
		}
	}
	for _, fr := range frames {
		add(run.Function{Name: fr.Name, SystemName: fr.SystemName, File: fr.File, StartLine: fr.StartLine, Origin: fr.Origin}, fr.Line, fr.Column)
	}
	if lines == nil && pl.name != "" {
		add(recorded, pl.line, 0)
	}
	return lines
}

// original are the original functions of a method of Java, innermost first, nil if its class was not
// renamed.
func (n *symbols) original(pl *place, file *file, name string, line int) []run.Line {
	var frames []retrace.Frame
	for _, m := range []*retrace.Mapping{n.opt.Retrace, n.mapping(pl, file)} {
		if m != nil && frames == nil {
			frames = m.Method(name, line)
		}
	}
	var lines []run.Line
	for _, f := range frames {
		if f.Ambiguous {
			n.ambiguous[name] = true
		}
		lines = append(lines, run.Line{Line: int64(f.Line), Function: n.places.b.Function(run.Function{
			Name: f.Name(), SystemName: name, File: f.File,
		})})
	}
	return lines
}

// mapping has the original names in the package of a place, nil if the trace does not.
func (n *symbols) mapping(pl *place, file *file) *retrace.Mapping {
	name, known := packageOf(file.path)
	if !known {
		name = n.timeline.Processes[pl.process].Package
	}
	if name == "" && !n.packages && len(n.retraced) == 1 {
		for _, m := range n.retraced {
			return m // a trace of one app, without a list of packages
		}
	}
	return n.retraced[name]
}

// packageOf is the Android package that a file is installed with:
// /data/app/~~RANDOM/PACKAGE-RANDOM/base.apk, or without the first folder before Android 11. Code that was
// taken from it into memory has the path at the end of its name.
func packageOf(path string) (name string, known bool) {
	const apps = "/data/app/"
	i := strings.Index(path, apps)
	if i != 0 && (i < 0 || !strings.HasSuffix(path[:i], "dex extracted in memory from ")) {
		return "", false
	}
	rest := path[i+len(apps):]
	if strings.HasPrefix(rest, "~") {
		if _, rest, known = strings.Cut(rest, "/"); !known {
			return "", false
		}
	}
	folder, _, found := strings.Cut(rest, "/")
	name, _, dashed := strings.Cut(folder, "-")
	if !found || !dashed || name == "" {
		return "", false
	}
	return name, true
}

// symbolize returns what the file of a place has for its address, innermost first.
func (n *symbols) symbolize(pl *place, file *file) []symbolizer.Frame {
	if pl.file == 0 || pl.external || n.store.Empty() || !strings.HasPrefix(file.path, "/") || pl.java {
		return nil
	}
	recorded := objects.Recorded{Path: file.path, BuildID: file.buildID}
	o, err := n.store.Names(recorded)
	if err != nil {
		return nil
	}
	vaddr := pl.pc
	if file.biased && file.bias == 0 {
		// Android 10 took 0 for the bias of files that have one, so this may be an offset.
		if v, ok := o.File().VaddrOfOffset(pl.pc); ok {
			vaddr = v
		}
	}
	return n.z.FramesAt(o, vaddr)
}

// address is the mapping of the run that has a place, and where in memory it is.
func (n *symbols) address(pl *place) (mapping uint32, addr uint64) {
	file := &n.places.files[pl.file]
	m := run.Mapping{File: reading.JITCache(file.path), BuildID: file.buildID, Kind: reading.MappingKind(file.path)}
	if off := pl.pc - file.bias - file.offset; off < file.size {
		if file.mapping == 0 {
			m.Start, m.Limit, m.Offset = file.first, file.first+file.size, file.offset
			file.mapping = n.places.b.Mapping(m)
		}
		return file.mapping, file.first + off
	}
	i, ok := n.whole[pl.file]
	if !ok {
		m.Limit = math.MaxUint64
		i = n.places.b.Mapping(m)
		n.whole[pl.file] = i
	}
	return i, pl.pc
}

// unnamed notes why code has no names in which much of the cost is.
func (n *symbols) unnamed(r *run.Run) {
	_, files := r.Unnamed()
	for _, f := range files {
		for i := range n.places.files {
			file := &n.places.files[i]
			if !file.unnamed || file.path != f.File {
				continue
			}
			var reason run.Unnamed
			switch {
			case file.path == perfsession.KernelPath:
				reason.Why = "the trace has no names of the kernel's functions"
			case strings.HasPrefix(file.path, "/"):
				reason.Why, reason.Install, reason.Help = n.store.Missing(objects.Recorded{Path: file.path, BuildID: file.buildID})
			}
			for k := range r.Mappings {
				if m := &r.Mappings[k]; m.File == file.path && m.BuildID == file.buildID {
					m.Unnamed = reason
				}
			}
		}
	}
}
