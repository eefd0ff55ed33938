package perfdata

import (
	"strings"

	"profdiff/internal/perffile"
	"profdiff/internal/run"
	"profdiff/internal/symbolizer"
)

// mergeJava shows Java stacks as Java programmers know them: frames of the runtime
// between Java frames are removed, and a method that was compiled while the program
// ran is the same method as its interpreted form. Must match
// CallChainReportBuilder in simpleperf/report_utils.cpp.
func (n *namer) mergeJava() {
	m := javaMerger{n: n, methods: make(map[string]javaMethod), merged: make(map[uint32]uint32)}
	n.z.JavaMethods(func(file *perffile.SymbolFile, s perffile.Symbol) {
		if _, ok := m.methods[s.Name]; !ok {
			m.methods[s.Name] = javaMethod{file.Path, s}
		}
	})
	n.p.b.Rewrite(m.rewrite)
}

type javaMethod struct {
	file   string
	symbol perffile.Symbol
}

type javaMerger struct {
	n       *namer
	methods map[string]javaMethod // by name, in DEX files
	merged  map[uint32]uint32     // location of a compiled method to that shown for it
	art     []artKind             // of the frames of one stack, scratch
}

type artKind uint8

const (
	notART artKind = iota
	art
	jniTrampoline
)

// rewrite rewrites one stack, leaf first, in place.
func (m *javaMerger) rewrite(stack []uint32) []uint32 {
	m.markART(stack)
	out := stack[:0]
	for i, loc := range stack {
		if m.art[i] == notART {
			out = append(out, loc)
		}
	}
	stack, out = out, out[:0]
	for i, loc := range stack {
		name := m.name(loc)
		if name.execution != symbolizer.JIT {
			out = append(out, loc)
			continue
		}
		shown, method := m.compiled(loc, name)
		// The interpreter may call the compiled form of the method that it runs.
		if method != nil && i+1 < len(stack) {
			if caller := m.name(stack[i+1]); caller.file == method.file && caller.start == method.symbol.Addr && caller.execution == symbolizer.Interpreted {
				continue
			}
		}
		out = append(out, shown)
	}
	return out
}

func (m *javaMerger) name(loc uint32) *placeName {
	if int(loc) >= len(m.n.names) {
		return &placeName{}
	}
	return &m.n.names[loc]
}

// markART finds the frames of the runtime next to Java frames. Functions that a
// JNI trampoline calls are the native methods of the program and stay.
func (m *javaMerger) markART(stack []uint32) {
	m.art = m.art[:0]
	for range stack {
		m.art = append(m.art, notART)
	}
	near := false
	for i, loc := range stack {
		name := m.name(loc)
		kind := runtimeFrame(name)
		switch {
		case name.execution != symbolizer.Native:
			near = true
			for j := i - 1; j >= 0; j-- {
				before := runtimeFrame(m.name(stack[j]))
				if before == notART {
					break
				}
				m.art[j] = before
			}
		case near && kind != notART:
			m.art[i] = kind
		default:
			near = false
		}
	}
	for i := 1; i < len(stack); i++ {
		if m.art[i] == jniTrampoline {
			m.art[i-1] = notART
		}
	}
}

func runtimeFrame(name *placeName) artKind {
	switch {
	case name.execution != symbolizer.Native:
		return notART
	case strings.HasSuffix(name.raw, "jni_trampoline"):
		return jniTrampoline
	case strings.HasSuffix(name.file, "/libart.so"), strings.HasSuffix(name.file, "/libartd.so"):
		return art
	}
	return notART
}

// compiled returns the location that is shown for a compiled method: the location of the
// same method in a DEX file, if the recording knows it.
func (m *javaMerger) compiled(loc uint32, name *placeName) (shown uint32, method *javaMethod) {
	if found, ok := m.methods[functionName(symbolizer.Demangle(name.raw))]; ok {
		method = &found
	}
	if shown, ok := m.merged[loc]; ok {
		return shown, method
	}
	b := m.n.p.b
	r := b.Run()
	shown = loc
	switch {
	case method != nil:
		raw := method.symbol.Name
		mapping, addr := m.n.dexMapping(method)
		shown = b.Location(mapping, addr, m.n.lines(symbolizer.Symbol{
			Execution: symbolizer.Interpreted, Frames: []symbolizer.Frame{{Name: raw, SystemName: raw}},
		})...)
		r.Mappings[mapping].HasFunctions = true
	case !symbolizer.IsJITCache(name.file):
		old := r.Locations[loc]
		mapping, ok := m.n.mappings[mappingKey{file: "[JIT cache]"}]
		if !ok {
			mapping = b.Mapping(run.Mapping{File: "[JIT cache]", Start: old.Address, Limit: old.Address + 1, Kind: run.JITMapping, HasFunctions: true})
			m.n.mappings[mappingKey{file: "[JIT cache]"}] = mapping
		}
		mp := &r.Mappings[mapping]
		mp.Start, mp.Limit = min(mp.Start, old.Address), max(mp.Limit, old.Address+1)
		r.Locations[loc].Mapping = mapping
	}
	m.merged[loc] = shown
	return shown, method
}

// dexMapping returns a mapping of the run for a method of a DEX file and the
// method's address in it.
func (n *namer) dexMapping(method *javaMethod) (mapping uint32, addr uint64) {
	p := n.p
	for seg := 1; seg < len(p.segments); seg++ {
		first := &p.segments[seg].first
		if i, ok := n.mappings[mappingKey{segment: uint32(seg)}]; ok && first.DSO.Path == method.file {
			addr := method.symbol.Addr - first.PgOff + first.Start
			if addr >= first.Start && addr < first.End {
				return i, addr
			}
		}
	}
	key := mappingKey{file: method.file}
	i, ok := n.mappings[key]
	if !ok {
		// No sample fell in the file: addresses are as the file has them.
		i = p.b.Mapping(run.Mapping{File: method.file, Limit: 1<<64 - 1, Kind: run.JavaMapping})
		n.mappings[key] = i
	}
	return i, method.symbol.Addr
}

// functionName cuts result type and parameters off a Java method: "void a.b.c(int)"
// is a.b.c. Must match Symbol::FunctionName in simpleperf/dso.cpp.
func functionName(name string) string {
	if i := strings.IndexByte(name, '('); i >= 0 {
		name = name[:i]
		name = name[strings.LastIndexByte(name, ' ')+1:]
	}
	return name
}
