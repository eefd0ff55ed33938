package jfr

import (
	"cmp"
	"slices"
	"strings"

	"profdiff/internal/ingest/reading"
	"profdiff/internal/run"
)

// A chunkReader makes samples of the events of a chunk.
type chunkReader struct {
	*reader
	k      *chunk
	stacks map[int64]run.StackID
	named  map[frame]named // by method and kind
	lines  []run.Line      // scratch
	places []uint32        // scratch
}

// labels are those of a thread.
func (n *chunkReader) labels(id int64) uint32 {
	th, known := n.k.threads[id]
	l := run.Labels{Thread: th.name, PID: -1, TID: -1, CPU: -1}
	if n.opt.TID && known {
		l.TID = th.tid
	}
	if n.opt.PID && n.pid > 0 {
		l.PID = n.pid
	}
	return n.b.Labels(l)
}

// stack is the stack that an event refers to. 0 refers to none.
func (n *chunkReader) stack(id int64) run.StackID {
	to, done := n.stacks[id]
	if done {
		return to
	}
	s, known := n.k.constants.stacks[id]
	if s.truncated || !known && id != 0 {
		cut := run.Function{Name: run.CutName, SystemName: run.CutName, Unknown: true}
		to = n.b.Stack(to, n.b.Location(0, 0, run.Line{Function: n.b.Function(cut)}))
	}
	lines, places := n.lines[:0], n.places[:0]
	for i, f := range s.frames {
		if n.k.methods[f.method].hidden {
			continue // as jfr print leaves them out
		}
		m := n.name(f)
		if m.recorder && len(places)+len(lines) == 0 {
			continue // what async-profiler calls in place of malloc
		}
		lines = append(lines, run.Line{Function: m.function, Line: int64(max(0, f.line))})
		if m.inlined && slices.ContainsFunc(s.frames[i+1:], func(f frame) bool { return !n.k.methods[f.method].hidden }) {
			continue
		}
		n.files.Named(m.mapping, true, false, len(lines) > 1)
		places = append(places, n.b.Location(m.mapping, 0, lines...))
		lines = lines[:0]
	}
	for _, place := range slices.Backward(places) {
		to = n.b.Stack(to, place)
	}
	n.lines, n.places = lines, places
	n.stacks[id] = to
	return to
}

// notWalked are the names of the frame that async-profiler writes in place of those that it could not walk.
var notWalked = map[string]bool{
	"unknown_Java": true, "unknown_not_Java": true, "unknown_state": true, "unknown_nmethod": true, "unexpected_state": true,
	"not_walkable_Java": true, "not_walkable_not_Java": true,
	"break_compiled": true, "break_deopt": true, "break_entry_frame": true, "break_interpreted": true, "break_not_walkable": true, "break_stack_range": true,
}

// named is what a frame is called, and where it is.
type named struct {
	function, mapping uint32
	inlined, recorder bool
}

// name names the method of a frame. Compiled and interpreted methods are the same, and in one place. Native code has a
// library for a class where async-profiler tells it.
func (n *chunkReader) name(f frame) named {
	f.line = 0
	if m, ok := n.named[f]; ok {
		return m
	}
	k := n.k
	method, known := k.methods[f.method]
	class, name := k.symbols[k.classSymbols[method.class]], k.symbols[method.name]
	var m named
	file := "[JIT]"
	switch kind := k.frameKinds[int64(f.kind)]; {
	case kind == "Kernel":
		class, file = "", "[kernel.kallsyms]"
	case kind == "C++", kind == "Native" && k.native:
		class, file = "", class
		m.recorder = strings.HasPrefix(file, "libasyncProfiler.")
	default:
		m.inlined = kind == "Inlined"
	}
	m.mapping = n.files.Mapping(file)
	if !known || class == "" && name == "" {
		m.function = n.b.Function(reading.UnknownFunction("", 0, n.opt))
	} else {
		full := strings.Trim(reading.JavaClass(class)+"."+name, ".")
		m.function = n.b.Function(run.Function{
			Name: cmp.Or(full, name), SystemName: strings.Trim(class+"."+name, "."),
			Unknown: class == "" && m.mapping == 0 && notWalked[name],
		})
	}
	n.named[f] = m
	return m
}
