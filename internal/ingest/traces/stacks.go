package traces

import (
	"encoding/hex"
	"math"
	"slices"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/input"
	"profdiff/internal/perfetto"
	"profdiff/internal/perfsession"
	"profdiff/internal/run"
	"profdiff/internal/trace"
)

// maxDepth is how many frames of a stack are kept, the innermost ones: more than any profiler takes.
const maxDepth = 1024

// places turns interned callstacks into stacks of a run. Names come at the end, see symbols.go: what
// names addresses stands behind the samples.
//
//  1. A callstack is a list of frames, a frame is an address in a mapping with a name, a mapping has a
//     path and a build ID (protos/perfetto/trace/profiling/profile_common.proto). Each is decoded at
//     its first use.
//  2. A frame is a place: the file of its mapping, the address, and the names that the trace has for it.
//     Equal ones are one, whatever the sequence and its generation call them.
//  3. Obfuscated names mean something else in each Android package. Where the path does not tell the package,
//     the process does, and such frames are places of that process.
//  4. Frames of the Android runtime that call Java code are left out, see [reading.WithoutRuntime].
type places struct {
	b     *run.Builder
	index map[place]uint32 // location
	list  []place
	at    []uint32 // locations of list
	// code is what locations are in, and showART keeps those of the Android runtime.
	code    []reading.Code
	showART bool

	files     []file
	fileIndex map[file]uint32
	scripts   map[string]uint32 // mappings of scripts, by URL
	own       map[ownKey]int    // what frames and callstacks are in one process, see Entry.Value
	cutStack  run.StackID
	// incompletes are stacks below cutStack, by those stacks without it.
	incompletes map[run.StackID]run.StackID
	ids         []uint64 // scratch
	frames      []uint32
	// lost counts frames whose definition is not there, deep stacks that were cut.
	lost, deep int64
}

// A place is what a frame says.
type place struct {
	file     uint32 // index in files, 0 for none
	pc       uint64 // relative to the file, as its symbol table has it
	name     string
	source   string
	line     int64
	java     bool
	process  trace.ProcessID // if the file does not tell the package
	external bool            // the trace gave no address
}

// A file is what a mapping says, but for where it was mapped.
type file struct {
	path     string
	buildID  string // hexadecimal
	offset   uint64 // of the code in the file
	size     uint64 // of the mapping, 0 if unknown
	bias     uint64 // of addresses in the code against offsets in the file
	biased   bool   // bias is known
	first    uint64 // where it was mapped first: not part of what files are equal by
	mapping  uint32
	recorded string // path as the trace has it
	unnamed  bool   // an address in it has no name
}

type ownKey struct {
	generation uint32
	table      perfetto.Table
	iid        uint64
	process    trace.ProcessID
}

// maxOwn is when own is emptied: it only saves work.
const maxOwn = 1 << 16

// inProcess is the value of an interned frame or callstack whose meaning depends on the process.
const inProcess = -1

func newPlaces(b *run.Builder, opt *reading.Options) *places {
	return &places{
		b: b, showART: opt.ShowARTFrames, index: make(map[place]uint32), files: make([]file, 1), fileIndex: make(map[file]uint32),
		scripts: make(map[string]uint32), own: make(map[ownKey]int),
		incompletes: make(map[run.StackID]run.StackID),
	}
}

// Fields of Callstack, Frame and Mapping.
const (
	callstackFrames  = 2
	frameFunction    = 2
	frameMapping     = 3
	framePC          = 4
	frameSource      = 5
	frameLine        = 6
	frameKind        = 7
	mappingBuildID   = 2
	mappingStartOff  = 3
	mappingStart     = 4
	mappingEnd       = 5
	mappingBias      = 6
	mappingPath      = 7
	mappingOffset    = 8
	interpretedFrame = 3
	jitFrame         = 4
)

// cut is the stack of callers that the trace lacks.
func (p *places) cut() run.StackID {
	if p.cutStack == 0 {
		f := p.b.Function(run.Function{Name: run.CutName, SystemName: run.CutName, Unknown: true})
		p.cutStack = p.b.Stack(0, p.b.Location(0, 0, run.Line{Function: f}))
	}
	return p.cutStack
}

// incomplete is a stack whose outer callers the trace lacks.
func (p *places) incomplete(stack run.StackID) run.StackID {
	known, ok := p.incompletes[stack]
	if !ok {
		known = p.cut()
		for _, loc := range slices.Backward(p.b.Run().Stacks.Append(nil, stack)) {
			known = p.b.Stack(known, loc)
		}
		p.incompletes[stack] = known
	}
	return known
}

// callstack is the stack of an interned callstack in a process. ok is false if the trace does not
// have it.
func (p *places) callstack(seq *perfetto.Sequence, iid uint64, process trace.ProcessID) (stack run.StackID, ok bool) {
	e := seq.Interned(perfetto.Callstacks, iid)
	if e == nil {
		return 0, false
	}
	key := ownKey{seq.Generation, perfetto.Callstacks, iid, process}
	switch {
	case e.Value > 0:
		return run.StackID(e.Value - 1), true
	case e.Value == inProcess && p.own[key] > 0:
		return run.StackID(p.own[key] - 1), true
	}
	p.ids = p.ids[:0]
	for f := e.Fields(); f.Next(); {
		if f.Num == callstackFrames {
			p.ids = f.Uints(p.ids)
		} else {
			f.Skip()
		}
	}
	ids := p.ids
	if len(ids) > maxDepth {
		ids, stack = ids[len(ids)-maxDepth:], p.cut()
		p.deep++
	}
	value := 0
	p.frames = p.frames[:0]
	for i, id := range ids {
		loc, own, isError := p.frame(seq, id, process)
		if i == 0 && isError {
			continue // stands for callers that are not there
		}
		if own {
			value = inProcess
		}
		p.frames = append(p.frames, loc)
	}
	frames := p.frames
	if !p.showART {
		slices.Reverse(frames)
		frames = reading.WithoutRuntime(frames, p.code, false)
		slices.Reverse(frames)
	}
	for _, loc := range frames {
		stack = p.b.Stack(stack, loc)
	}
	if value == inProcess {
		e.Value = inProcess
		p.keep(key, int(stack)+1)
	} else {
		e.Value = int(stack) + 1
	}
	return stack, true
}

func (p *places) keep(key ownKey, value int) {
	if len(p.own) >= maxOwn {
		clear(p.own)
	}
	p.own[key] = value
}

// frame is the location of an interned frame. own is set if it depends on the process, isError
// if it only says that unwinding failed.
func (p *places) frame(seq *perfetto.Sequence, iid uint64, process trace.ProcessID) (loc uint32, own, isError bool) {
	e := seq.Interned(perfetto.Frames, iid)
	if e == nil {
		p.lost++
		return p.location(place{external: true}), false, false
	}
	key := ownKey{seq.Generation, perfetto.Frames, iid, process}
	switch {
	case e.Value > 0:
		return uint32(e.Value - 1), false, false
	case e.Value == inProcess && p.own[key] > 0:
		return uint32(p.own[key] - 1), true, false
	}
	pl := place{external: true}
	var kind uint64
	var file file
	for f := e.Fields(); f.Next(); {
		switch f.Num {
		case frameFunction:
			pl.name = clean(seq.Interned(perfetto.FunctionNames, f.Uint()).String())
		case frameMapping:
			if iid := f.Uint(); iid != 0 {
				pl.file, pl.external = p.mapping(seq, iid), false
				file = p.files[pl.file]
			}
		case framePC:
			pl.pc = f.Uint()
		case frameSource:
			pl.source = clean(seq.Interned(perfetto.SourcePaths, f.Uint()).String())
		case frameLine:
			pl.line = int64(uint32(f.Uint()))
		case frameKind:
			kind = f.Uint()
		default:
			f.Skip()
		}
	}
	if pl.external {
		pl.pc = 0
	}
	if file.recorded == errorFile || pl.file == 0 && strings.HasPrefix(pl.name, "ERROR ") {
		return p.location(place{external: true}), false, true
	}
	pl.java = isJava(pl.name, file.path) || (kind == interpretedFrame || kind == jitFrame) && strings.Contains(pl.name, ".")
	if pl.java {
		if _, known := packageOf(file.path); !known {
			pl.process = process
			e.Value = inProcess
			loc = p.location(pl)
			p.keep(key, int(loc)+1)
			return loc, true, false
		}
	}
	loc = p.location(pl)
	e.Value = int(loc) + 1
	return loc, false, false
}

// errorFile is the mapping of frames that say why unwinding failed.
const errorFile = "/ERROR"

// location interns a place. It gets its names at the end.
func (p *places) location(pl place) uint32 {
	loc, ok := p.index[pl]
	if !ok {
		loc = p.b.NewLocations(1)
		p.index[pl] = loc
		p.list = append(p.list, pl)
		p.at = append(p.at, loc)
		code := reading.CodeOf(pl.name, p.files[pl.file].path)
		if code == reading.OtherCode && pl.java {
			code = reading.JavaCode
		}
		p.code = append(p.code, make([]reading.Code, int(loc)+1-len(p.code))...)
		p.code[loc] = code
	}
	return loc
}

// mapping is the file of an interned mapping.
func (p *places) mapping(seq *perfetto.Sequence, iid uint64) uint32 {
	e := seq.Interned(perfetto.Mappings, iid)
	if e == nil {
		return p.file(file{}, 0)
	}
	if e.Value > 0 {
		return uint32(e.Value - 1)
	}
	var f file
	var path strings.Builder
	var start, end, startOffset uint64
	hasOffset := false
	for m := e.Fields(); m.Next(); {
		switch m.Num {
		case mappingBuildID:
			f.buildID = buildID(seq.Interned(perfetto.BuildIDs, m.Uint()).String())
		case mappingStartOff:
			startOffset = m.Uint()
		case mappingStart:
			start = m.Uint()
		case mappingEnd:
			end = m.Uint()
		case mappingBias:
			f.bias, f.biased = m.Uint(), true
		case mappingPath:
			for _, id := range m.Uints(nil) {
				path.WriteByte('/')
				path.Write(seq.Interned(perfetto.MappingPaths, id).String())
			}
		case mappingOffset:
			f.offset, hasOffset = m.Uint(), true
		default:
			m.Skip()
		}
	}
	if !hasOffset {
		f.offset = startOffset
	}
	if end > start {
		f.size = end - start
	}
	// Chrome has the whole path in one string.
	f.recorded = clean([]byte(path.String()))
	if strings.HasPrefix(f.recorded, "//") || strings.HasPrefix(f.recorded, "/[") {
		f.recorded = f.recorded[1:]
	}
	f.path = f.recorded
	switch {
	case f.path == "/kernel" && f.size == 0 && f.offset == 0:
		f.path = perfsession.KernelPath
	case f.path == "/":
		f.path, f.recorded = "", ""
	}
	i := p.file(f, start)
	e.Value = int(i) + 1
	return i
}

// file interns a file.
func (p *places) file(f file, start uint64) uint32 {
	i, ok := p.fileIndex[f]
	if !ok {
		i = uint32(len(p.files))
		p.fileIndex[f] = i
		f.first = start
		p.files = append(p.files, f)
	}
	return i
}

// script is the mapping of a script of JavaScript.
func (p *places) script(url string) uint32 {
	m, ok := p.scripts[url]
	if !ok {
		m = p.b.Mapping(run.Mapping{File: url, Limit: math.MaxUint64, Kind: run.JITMapping})
		p.scripts[url] = m
	}
	return m
}

// inline is the stack of an InlineCallstack, whose frames have names instead of addresses
// (protos/perfetto/trace/profiling/inline_callstack.proto).
func (p *places) inline(message input.Fields) (stack run.StackID) {
	p.frames = p.frames[:0]
	for message.Next() {
		if message.Num != 1 {
			message.Skip()
			continue
		}
		pl := place{external: true}
		for f := message.Message(); f.Next(); {
			switch f.Num {
			case 1:
				pl.name = clean(f.Bytes())
			case 2:
				pl.source = clean(f.Bytes())
			case 3:
				pl.line = int64(uint32(f.Uint()))
			default:
				f.Skip()
			}
		}
		p.frames = append(p.frames, p.location(pl))
	}
	frames := p.frames
	if len(frames) > maxDepth {
		frames, stack = frames[len(frames)-maxDepth:], p.cut()
		p.deep++
	}
	for _, loc := range frames {
		stack = p.b.Stack(stack, loc)
	}
	return stack
}

// clean makes text UTF-8 without NUL, which separates labels.
func clean(text []byte) string {
	return strings.ReplaceAll(strings.ToValidUTF8(string(text), "\ufffd"), "\x00", "\ufffd")
}

// buildID is a build ID in hexadecimal. Traces have its bytes, but Chrome writes the hexadecimal number of
// its symbol server, which has 33 digits.
func buildID(raw []byte) string {
	if _, err := hex.DecodeString(string(raw) + "0"); len(raw) == 33 && err == nil {
		return strings.ToLower(string(raw))
	}
	return hex.EncodeToString(raw)
}

// isJava reports whether a function is one of Java, by its name and its file.
func isJava(name, path string) bool {
	if !reading.IsJavaName(name) {
		return false
	}
	kind := reading.MappingKind(path)
	return path == "" || kind == run.JavaMapping || kind == run.JITMapping || kind == run.UnknownMapping
}
