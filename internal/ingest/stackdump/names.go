package stackdump

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/objects"
	"profdiff/internal/perfsession"
	"profdiff/internal/retrace"
	"profdiff/internal/run"
	"profdiff/internal/symbolizer"
)

// names makes the locations of the frames of stack dumps.
type names struct {
	b     *run.Builder
	opt   *reading.Options
	files *objects.Store
	z     *symbolizer.Symbolizer
	// texts holds the location of each text of a frame, code what a location is in.
	texts map[string]uint32
	key   []byte // of texts that is looked up
	code  []reading.Code
	// mappings holds the mapping of each file, with its build ID.
	mappings map[binary]mapping
	// otherBuild are files that name functions otherwise than the dump does.
	otherBuild map[string]bool
	ambiguous  map[string]bool // see namer
}

type binary struct{ path, buildID string }

type mapping struct {
	index uint32
	dso   *perfsession.DSO
}

func newNames(b *run.Builder, opt *reading.Options) *names {
	n := &names{
		b: b, opt: opt, files: opt.Objects.View(),
		texts: make(map[string]uint32), mappings: make(map[binary]mapping),
		otherBuild: make(map[string]bool), ambiguous: make(map[string]bool),
	}
	// As in recordings of simpleperf, addresses are as the symbol table has them.
	n.z = symbolizer.New(symbolizer.Options{Simpleperf: true, Objects: n.files})
	return n
}

func (n *names) warnings() []string {
	warnings := slices.Clone(n.z.Warnings())
	for _, file := range slices.Sorted(maps.Keys(n.otherBuild)) {
		warnings = append(warnings, fmt.Sprintf("%s is of another build than the file under --symfs, which names functions otherwise: it is used only where they agree", file))
	}
	if k := len(n.ambiguous); k > 0 {
		warnings = append(warnings, fmt.Sprintf("%d obfuscated methods have several original names, of which the last in the mapping is shown", k))
	}
	return warnings
}

// location returns the location of the text of a frame, which add adds if it is new.
func (n *names) location(kind string, frame []byte, add func() (uint32, reading.Code, error)) (uint32, error) {
	n.key = append(append(n.key[:0], kind...), frame...)
	if loc, ok := n.texts[string(n.key)]; ok {
		return loc, nil
	}
	key := string(n.key)
	loc, code, err := add()
	if err != nil {
		return 0, err
	}
	for uint64(len(n.code)) <= uint64(loc) {
		n.code = append(n.code, reading.OtherCode)
	}
	n.code[loc] = code
	n.texts[key] = loc
	return loc, nil
}

// mapping returns the mapping of a file. It covers all addresses, because addresses are
// taken as the dump prints them, see reading.Files.
func (n *names) mapping(file binary) mapping {
	m, ok := n.mappings[file]
	if !ok && file.path != "" {
		_, lookup, inAPK := strings.Cut(file.path, "!")
		if !inAPK || strings.HasPrefix(lookup, "/") {
			lookup = file.path
		}
		m.dso = &perfsession.DSO{ID: len(n.mappings), Path: lookup, BuildID: file.buildID}
		m.index = n.b.Mapping(run.Mapping{File: file.path, BuildID: file.buildID, Limit: math.MaxUint64, Kind: reading.MappingKind(file.path)})
		n.mappings[file] = m
	}
	return m
}

func (n *names) notShown() uint32 {
	loc, _ := n.location("", nil, func() (uint32, reading.Code, error) {
		f := n.b.Function(run.Function{Name: notShown, SystemName: notShown, Unknown: true})
		return n.b.Location(0, 0, run.Line{Function: f}), reading.OtherCode, nil
	})
	return loc
}

// kernel returns the location of a frame of the kernel.
func (n *names) kernel(frame []byte) (uint32, bool) {
	name, module, ok := parseKernelFrame(frame)
	if !ok {
		return 0, false
	}
	file := perfsession.KernelPath
	if module != "" {
		file = "[" + module + "]"
	}
	loc, _ := n.location("kernel ", []byte(name+" "+file), func() (uint32, reading.Code, error) {
		m := n.mapping(binary{path: file}).index
		n.b.Run().Mappings[m].HasFunctions = true
		return n.b.Location(m, 0, run.Line{Function: n.b.Function(run.Function{Name: name, SystemName: name})}), reading.OtherCode, nil
	})
	return loc, true
}

// java returns the location of a Java frame.
func (n *names) java(frame []byte) (uint32, error) {
	return n.location("at ", frame, func() (uint32, reading.Code, error) {
		f, err := parseJavaFrame(frame)
		if err != nil {
			return 0, 0, err
		}
		name := f.class + "." + f.method
		var lines []run.Line
		if n.opt.Retrace != nil {
			lines = n.retraced(name, n.opt.Retrace.Frames(f.class, f.method, f.line))
		}
		if lines == nil {
			fn := n.b.Function(run.Function{Name: name, SystemName: name, File: f.file})
			lines = []run.Line{{Function: fn, Line: int64(f.line)}}
		}
		m := n.mapping(binary{path: "[java]"}).index
		n.name(m, lines)
		n.b.Run().Mappings[m].Kind = run.JavaMapping
		return n.b.Location(m, 0, lines...), reading.JavaCode, nil
	})
}

// retraced are the lines of an obfuscated method, nil if it was not renamed.
func (n *names) retraced(name string, frames []retrace.Frame) []run.Line {
	var lines []run.Line
	for _, f := range frames {
		if f.Ambiguous {
			n.ambiguous[name] = true
		}
		lines = append(lines, run.Line{Line: int64(f.Line), Function: n.b.Function(run.Function{
			Name: f.Name(), SystemName: name, File: f.File,
		})})
	}
	return lines
}

// native returns the location of the text of a native frame.
func (n *names) native(frame []byte) (uint32, error) {
	return n.location("pc ", frame, func() (uint32, reading.Code, error) {
		f, err := parseNativeFrame(frame)
		if err != nil {
			return 0, 0, err
		}
		loc, code := n.place(&f)
		return loc, code, nil
	})
}

// place returns the location of a native frame and what it is in.
func (n *names) place(f *nativeFrame) (uint32, reading.Code) {
	code := reading.CodeOf(f.name, f.file)
	m := n.mapping(binary{f.file, f.buildID})
	lines := n.lines(f, m, code)
	if lines == nil {
		return n.b.Location(m.index, f.pc, run.Line{Function: n.b.Function(reading.UnknownFunction(f.file, f.pc, n.opt))}), code
	}
	n.name(m.index, lines)
	return n.b.Location(m.index, f.pc, lines...), code
}

// name notes what is known of the places in a mapping.
func (n *names) name(mapping uint32, lines []run.Line) {
	if mapping == 0 {
		return
	}
	r := n.b.Run()
	m := &r.Mappings[mapping]
	m.HasFunctions = true
	m.HasInlineFrames = m.HasInlineFrames || len(lines) > 1
	for _, l := range lines {
		m.HasFilenames = m.HasFilenames || r.Functions[l.Function].File != ""
		m.HasLineNumbers = m.HasLineNumbers || l.Line != 0
	}
}

// lines names a native frame: as the dump does, with the functions inlined there and
// source lines of its file under Symfs, or else as that file does. nil if it has no
// name.
func (n *names) lines(f *nativeFrame, m mapping, code reading.Code) []run.Line {
	if code == reading.JavaCode && n.opt.Retrace != nil && f.name != "" && !f.cut {
		if lines := n.retraced(f.name, n.opt.Retrace.Method(f.name, 0)); lines != nil {
			return lines
		}
	}
	printed := run.Function{Name: symbolizer.Demangle(f.name), SystemName: f.name}
	if f.cut && f.name != "" {
		printed.Name = f.name + "…"
	}
	frames := n.symbolize(f, m)
	if k := len(frames); k > 0 && f.name != "" {
		switch outer := &frames[k-1]; {
		case f.cut && strings.HasPrefix(outer.Name, f.name): // it has all of the name
		case f.buildID != "", outer.Name == printed.Name, outer.SystemName == f.name:
			outer.Name, outer.SystemName = printed.Name, printed.SystemName
		default:
			n.otherBuild[f.file] = true
			frames = nil
		}
	}
	var lines []run.Line
	for _, fr := range frames {
		lines = append(lines, run.Line{Line: fr.Line, Column: fr.Column, Function: n.b.Function(run.Function{
			Name: fr.Name, SystemName: fr.SystemName, File: fr.File, StartLine: fr.StartLine, Origin: fr.Origin,
		})})
	}
	if lines == nil && printed.Name != "" {
		lines = []run.Line{{Function: n.b.Function(printed)}}
	}
	return lines
}

// symbolize returns what the file of a frame has for its address, innermost first.
func (n *names) symbolize(f *nativeFrame, m mapping) []symbolizer.Frame {
	if n.files.Empty() || m.dso == nil || strings.HasPrefix(f.file, "[") {
		return nil
	}
	if objects.IsArchive(f.file) {
		o, base, err := n.files.Code(objects.Recorded{Path: f.file}, f.offset)
		if err != nil || base != f.offset {
			return nil
		}
		return n.z.FramesAt(o, f.pc)
	}
	frame := perfsession.Frame{Addr: f.pc, Map: &perfsession.Mapping{DSO: m.dso, End: math.MaxUint64, PID: -1}}
	return n.z.Symbolize(frame, nil, 0).Frames
}
