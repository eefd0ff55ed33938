package perfdata

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/perfsession"
	"profdiff/internal/radix"
	"profdiff/internal/run"
	"profdiff/internal/symbolizer"
)

// A namer turns the places of a recording into locations with names.
type namer struct {
	p        *reader
	z        *symbolizer.Symbolizer
	kernel   *perfsession.DSO
	mappings map[mappingKey]uint32
	unknown  map[string]uint32 // functions that stand for files without symbols
	names    []placeName       // by place, nil if no DSO has Java code
	spare    []run.Line        // see newLines
	// ambiguous holds obfuscated names for which the retrace had to choose.
	ambiguous map[string]bool
}

// mappingKey identifies a mapping of the run: a segment, or all segments of a file
// whose parts are of no interest.
type mappingKey struct {
	segment uint32
	file    string
}

// placeName is what merging Java frames needs to know of a place.
type placeName struct {
	raw       string // name in the symbol table
	file      string // path of the DSO
	start     uint64 // of the symbol
	execution symbolizer.Execution
}

// name names all places, grouped by file so that each file's symbols are used at
// one go.
func (n *namer) name() {
	p := n.p
	p.b.NewLocations(len(p.places))
	n.unknown = make(map[string]uint32)
	for _, d := range p.session.DSOs {
		if n.z.Execution(d) != symbolizer.Native {
			n.names = make([]placeName, len(p.places))
			break
		}
	}
	last := n.lastOfFiles()
	order := n.order()
	for k, i := range order {
		n.namePlace(i)
		if p.opt.Last && (k+1 == len(order) || n.dsoID(&p.places[order[k+1]]) != n.dsoID(&p.places[i])) && p.places[i].seg() != 0 {
			if d := p.segments[p.places[i].seg()].first.DSO; last[fileOf(d)] == d.ID {
				n.z.Forget(d)
			}
		}
	}
	n.mainFirst()
}

// lastOfFiles is by file the last DSO that it is: programs have copies.
func (n *namer) lastOfFiles() map[string]int {
	last := make(map[string]int)
	for i := range n.p.segments[1:] {
		d := n.p.segments[1+i].first.DSO
		last[fileOf(d)] = max(last[fileOf(d)], d.ID)
	}
	return last
}

func fileOf(d *perfsession.DSO) string { return cmp.Or(d.BuildID, d.Path) }

// order returns the places by file, segment, offset and jitted function.
func (n *namer) order() []uint32 {
	p := n.p
	var segments []uint32 // with their flags
	rank := make([]uint32, len(p.segments)<<placeFlagBits)
	for i := range p.places {
		if s := p.places[i].segment; rank[s] == 0 {
			rank[s] = 1
			segments = append(segments, s)
		}
	}
	slices.SortFunc(segments, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(n.dsoID(&place{segment: a}), n.dsoID(&place{segment: b})), cmp.Compare(a, b))
	})
	for i, s := range segments {
		rank[s] = uint32(i)
	}
	order := make([]uint32, len(p.places))
	for i := range order {
		order[i] = uint32(i)
	}
	radix.Sort(order, func(i *uint32) uint64 { return uint64(p.places[*i].jit) })
	radix.Sort(order, func(i *uint32) uint64 { return p.places[*i].rel })
	radix.Sort(order, func(i *uint32) uint64 { return uint64(rank[p.places[*i].segment]) })
	return order
}

func (n *namer) dsoID(pl *place) int {
	if pl.seg() == 0 {
		return -1
	}
	return n.p.segments[pl.seg()].first.DSO.ID
}

func (n *namer) namePlace(i uint32) {
	p := n.p
	pl := p.places[i]
	if pl.has(cutOff) {
		cut := p.b.Function(run.Function{Name: run.CutName, SystemName: run.CutName, Unknown: true})
		p.b.Run().Locations[i].Lines = append(n.newLines(1), run.Line{Function: cut})
		return
	}
	f := perfsession.Frame{Addr: pl.rel, Kernel: pl.has(inKernel), Guest: pl.has(inGuest)}
	if pl.seg() != 0 {
		f.Map = &p.segments[pl.seg()].first
		f.Addr += f.Map.Start
		f.Kernel = f.Map.DSO.Kernel
	}
	sym := n.z.Symbolize(f, n.kernel, pl.jit)
	mapping := n.mapping(pl.seg(), &sym, f)
	r := p.b.Run()
	loc := &r.Locations[i]
	loc.Mapping, loc.Address = mapping, f.Addr
	if mapping == 0 {
		loc.Address = pl.rel
	}
	if len(sym.Frames) == 0 {
		if pl.has(adjusted) {
			sym.Vaddr++ // as recorded
		}
		loc.Lines = append(n.newLines(1), run.Line{Function: n.unknownFunction(sym, f)})
	} else {
		loc.Lines = n.lines(sym)
		m := &r.Mappings[mapping]
		m.HasFunctions = true
		m.HasInlineFrames = m.HasInlineFrames || len(sym.Frames) > 1
		for _, fr := range sym.Frames {
			m.HasFilenames = m.HasFilenames || fr.File != ""
			m.HasLineNumbers = m.HasLineNumbers || fr.Line != 0
		}
	}
	if n.names != nil && sym.DSO != nil {
		name := placeName{start: sym.Start, file: sym.DSO.Path, execution: sym.Execution}
		name.raw = r.Functions[loc.Lines[len(loc.Lines)-1].Function].SystemName
		n.names[i] = name
	}
}

// lines are the lines of a location. Names of Java methods are those before
// ProGuard or R8 replaced them, which may make several functions of one.
func (n *namer) lines(sym symbolizer.Symbol) []run.Line {
	if n.p.opt.Retrace != nil && (sym.Execution != symbolizer.Native || isCompiledJava(sym.DSO.Path)) {
		outer := sym.Frames[len(sym.Frames)-1]
		if lines := n.retraced(outer.Name, outer.SystemName, int(outer.Line)); lines != nil {
			return lines
		}
	}
	lines := n.newLines(len(sym.Frames))
	for _, fr := range sym.Frames {
		lines = append(lines, run.Line{Line: fr.Line, Column: fr.Column, Function: n.p.b.Function(run.Function{
			Name: fr.Name, SystemName: fr.SystemName, File: fr.File, StartLine: fr.StartLine, Origin: fr.Origin,
		})})
	}
	return lines
}

// newLines returns an empty slice with room for k lines. Nearly all locations have one
// line: they are allocated many at a time.
func (n *namer) newLines(k int) []run.Line {
	if len(n.spare) < k {
		n.spare = make([]run.Line, max(1024, k))
	}
	lines := n.spare[:0:k]
	n.spare = n.spare[k:]
	return lines
}

// retraced returns the original functions of a Java method, innermost first, or nil
// if its class was not renamed.
func (n *namer) retraced(name, systemName string, line int) []run.Line {
	var lines []run.Line
	for _, f := range n.p.opt.Retrace.Method(name, line) {
		if f.Ambiguous {
			n.ambiguous[systemName] = true
		}
		lines = append(lines, run.Line{Line: int64(f.Line), Function: n.p.b.Function(run.Function{
			Name: f.Name(), SystemName: systemName, File: f.File,
		})})
	}
	return lines
}

// unknownFunction stands for an address without a symbol.
func (n *namer) unknownFunction(sym symbolizer.Symbol, f perfsession.Frame) uint32 {
	file := "unknown"
	switch {
	case sym.Generated && !n.p.opt.UnknownOffset: // whose files have names of one run
		file = reading.JITFile(n.p.session.ProcessName(f.Map.PID))
	case sym.DSO != nil:
		file = n.dsoPath(sym.DSO)
	case f.Guest && f.Kernel:
		file = "[guest.kernel]"
	case f.Guest:
		file = "[guest]"
	}
	if n.p.opt.UnknownOffset {
		name := fmt.Sprintf("%s[+%x]", file[strings.LastIndexByte(file, '/')+1:], sym.Vaddr)
		return n.p.b.Function(run.Function{Name: name, SystemName: name, Unknown: true})
	}
	i, ok := n.unknown[file]
	if !ok {
		name := run.UnknownFunctionName(reading.JITCache(file))
		i = n.p.b.Function(run.Function{Name: name, SystemName: name, Unknown: true})
		n.unknown[file] = i
	}
	return i
}

// dsoPath is the path that is shown. simpleperf shows memory that is no file as
// unknown.
func (n *namer) dsoPath(d *perfsession.DSO) string {
	if d == n.p.memory || d.Path == perfsession.AnonPath && n.p.file.Info.Simpleperf() {
		return "[unknown]"
	}
	return d.Path
}

// mapping returns the mapping of the run for an address in a segment of which d has
// the name.
func (n *namer) mapping(seg uint32, sym *symbolizer.Symbol, f perfsession.Frame) uint32 {
	d := sym.DSO
	if d == nil {
		return 0
	}
	p := n.p
	path := reading.JITCache(n.dsoPath(d))
	m := run.Mapping{File: path, BuildID: d.BuildID, Kind: n.kind(d)}
	if sym.Generated {
		m = run.Mapping{File: reading.JITFile(p.session.ProcessName(f.Map.PID)), Kind: run.JITMapping}
	}
	key := mappingKey{segment: seg}
	whole := seg == 0 || p.segments[seg].first.DSO != d || m.File != n.dsoPath(d)
	if whole {
		key = mappingKey{file: m.File}
	}
	i, ok := n.mappings[key]
	if !ok {
		if whole {
			m.Start, m.Limit = f.Addr, f.Addr+1
		} else {
			first := &p.segments[seg].first
			m.Start, m.Limit, m.Offset = first.Start, first.End, first.PgOff
		}
		i = p.b.Mapping(m)
		n.mappings[key] = i
	}
	if whole {
		m := &p.b.Run().Mappings[i]
		m.Start, m.Limit = min(m.Start, f.Addr), max(m.Limit, f.Addr+1)
	}
	return i
}

// unnamed notes why code has no names in which much of the cost is.
func (n *namer) unnamed(r *run.Run) {
	const worth = 0.001 // of the cost: of several runs, it may be more in another
	_, files := r.Unnamed()
	for _, f := range files {
		if max(f.Self, f.Total) < worth {
			continue
		}
		var dso *perfsession.DSO // nil for addresses in none
		for _, d := range n.p.session.DSOs {
			if n.isIn(d, f.File) {
				dso = d
			}
		}
		var reason run.Unnamed
		reason.Why, reason.Install, reason.Help = n.p.z.Unnamed(dso)
		for k := range r.Mappings {
			if r.Mappings[k].File == f.File || k == 0 && dso == nil {
				r.Mappings[k].Unnamed = reason
			}
		}
	}
}

// isIn reports whether code of a DSO is shown in a file.
func (n *namer) isIn(d *perfsession.DSO, file string) bool {
	if pid, ok := symbolizer.Injected(d.Path); ok {
		return reading.JITFile(n.p.session.ProcessName(pid)) == file
	}
	return reading.JITCache(n.dsoPath(d)) == file
}

// idle notes the files that were loaded and that no address is in.
func (n *namer) idle() {
	r := n.p.b.Run()
	type file struct{ path, buildID string }
	known := make(map[file]bool)
	for i := range r.Mappings {
		known[file{r.Mappings[i].File, r.Mappings[i].BuildID}] = true
	}
	r.Idle = slices.Grow(r.Idle, len(n.p.session.DSOs))
	for _, d := range n.p.session.DSOs {
		if path := reading.JITCache(n.dsoPath(d)); !d.Kernel && perfsession.IsFile(path) && !known[file{path, d.BuildID}] {
			r.Idle = append(r.Idle, run.IdleFile{File: path, BuildID: d.BuildID, Kind: n.kind(d)})
		}
	}
}

func (n *namer) kind(d *perfsession.DSO) run.MappingKind {
	switch {
	case d.Kernel && d.IsKernelImage(), d.Symbol != "":
		return run.KernelMapping
	case d.Kernel:
		return run.ModuleMapping
	case strings.HasPrefix(d.Path, "[vdso") || strings.HasPrefix(d.Path, "[vsyscall") || strings.HasPrefix(d.Path, "[vectors"):
		return run.VDSOMapping
	}
	switch n.z.Execution(d) {
	case symbolizer.Interpreted:
		return run.JavaMapping
	case symbolizer.JIT:
		return run.JITMapping
	}
	switch {
	case isCompiledJava(d.Path):
		return run.JavaMapping
	case perfsession.IsFile(d.Path):
		return run.NativeMapping
	}
	return run.UnknownMapping
}

// isCompiledJava reports whether a file holds methods compiled ahead of time, must
// match JavaMethodDeobfuscater::IsJavaEntry in simpleperf/report_utils.cpp.
func isCompiledJava(path string) bool {
	for _, suffix := range []string{".odex", ".oat", ".dex"} {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return false
}

// mainFirst makes the main binary the first mapping, which pprof takes for it: the
// program, not a library, in which most samples fell.
func (n *namer) mainFirst() {
	p := n.p
	best, most := uint32(0), int64(-1)
	for seg := 1; seg < len(p.segments); seg++ {
		s := &p.segments[seg]
		i, ok := n.mappings[mappingKey{segment: uint32(seg)}]
		path := s.first.DSO.Path
		if !ok || s.first.DSO.Kernel || !perfsession.IsFile(path) || strings.HasPrefix(path, "[") || strings.Contains(path, ".so") {
			continue
		}
		if s.count > most {
			best, most = i, s.count
		}
	}
	if best > 1 {
		r := p.b.Run()
		r.Mappings[1], r.Mappings[best] = r.Mappings[best], r.Mappings[1]
		for i := range r.Locations {
			switch l := &r.Locations[i]; l.Mapping {
			case 1:
				l.Mapping = best
			case best:
				l.Mapping = 1
			}
		}
		for key, i := range n.mappings {
			switch i {
			case 1:
				n.mappings[key] = best
			case best:
				n.mappings[key] = 1
			}
		}
	}
}
