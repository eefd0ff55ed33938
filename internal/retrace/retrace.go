package retrace

import (
	"io"
	"math"
	"slices"
	"strings"
)

// A Mapping holds the names that ProGuard or R8 replaced, read from one or more
// mapping files (mapping.txt). [Parse] makes one. Its lookups may run
// concurrently; Add may not run beside them.
//
// It follows the manual of ProGuard's retrace and R8's doc/retrace.md up to map
// version 2.2, with three liberties:
//
//   - The informations "synthesized", "outline", "outlineCallsite" and
//     "residualsignature" count in files without a version line too, as in simpleperf.
//   - "rewriteFrame" is ignored: its only condition is the exception being thrown,
//     and a sample has none.
//   - Lines that share a range stack up as inlined calls, except where no line
//     has an original range and all belong to the class itself: nothing was
//     inlined there, these are methods that share a source line.
type Mapping struct {
	names     []string          // interned, names[0] is ""
	ids       map[string]uint32 // name to its index in names
	classes   []mappedClass
	byName    map[uint32]uint32 // obfuscated name of a class to its index in classes
	files     map[uint32]uint32 // original name of a class to the name of its source file
	callsites map[callSite]map[uint32]uint32
	skipped   int
	newer     string
}

// A Frame is one frame of the original program.
type Frame struct {
	Class  string // with package, inner classes after '$': "a.b.Outer$Inner"
	Method string // "<init>" and "<clinit>" too, without parameters
	Line   int    // in File, 0 if the map does not settle it
	File   string // as the map has it, without directories; "" if it has none
	// Synthesized is set if the method is an invention of the compiler. R8's
	// retrace hides such frames.
	Synthesized bool
	// Outline is set if the method holds code that R8 moved out of other methods.
	// R8's retrace hides such frames; the line of their caller is found by
	// [Mapping.CallsiteLine].
	Outline bool
	// Ambiguous is set if other methods are as likely as this one.
	Ambiguous bool
}

// Name returns the class and the method in the form of simpleperf: "a.b.c".
func (f Frame) Name() string { return f.Class + "." + f.Method }

// Parse reads one mapping file. See [Mapping.Add].
func Parse(r io.Reader) (*Mapping, error) {
	t := &Mapping{
		names:     []string{""},
		ids:       map[string]uint32{"": 0},
		byName:    make(map[uint32]uint32),
		files:     make(map[uint32]uint32),
		callsites: make(map[callSite]map[uint32]uint32),
	}
	if err := t.Add(r); err != nil {
		return nil, err
	}
	return t, nil
}

// Skipped returns the number of lines that were neither blank, nor a comment, nor
// understood.
func (t *Mapping) Skipped() int { return t.skipped }

// NewerVersion returns the highest map version that a file declared above 2.2, the
// last one that this package knows, or "". What such a file adds is ignored.
func (t *Mapping) NewerVersion() string { return t.newer }

// Frames returns the original frames, innermost first, of the method that is
// called class.method in the obfuscated program. It returns nil if the class is
// not in the map, and the original class with the same method if the method is not.
//
// A line (1 or more) selects the ranges that contain it, else the lines of the map
// that have no range. The frames before the last one are calls that were inlined.
// Where several methods remain, those that the compiler synthesized yield to the
// others, and of the others the last one in the file is returned as Ambiguous.
//
// Without a line (0), or if nothing matches it, there is one frame, with line 0
// and the name that simpleperf gives: the last line of the mapping file that is not
// synthesized has it, or the first line if all are. It is Ambiguous if the method may be
// another one. A sample can hit any instruction of the method, so calls inlined in
// it are no candidates unless all else is synthesized.
func (t *Mapping) Frames(class, method string, line int) []Frame {
	return t.frames(class, method, line, nil)
}

// Method is [Mapping.Frames] for a name as ART and simpleperf print it: "a.b.c" or
// "void a.b.c(int, a.d[])". A return type with parameters selects among overloads
// if the map knows one that fits; simpleperf ignores them.
func (t *Mapping) Method(name string, line int) []Frame {
	var sig *signature
	if open := strings.IndexByte(name, '('); open >= 0 {
		params := name[open+1:]
		name = name[:open]
		if space := strings.LastIndexByte(name, ' '); space >= 0 {
			if params, _, ok := strings.Cut(params, ")"); ok {
				sig = t.signature(name[:space], params)
			}
			name = name[space+1:]
		}
	}
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return nil
	}
	return t.frames(name[:dot], name[dot+1:], line, sig)
}

// CallsiteLine returns the line to pass to [Mapping.Frames] for class.method at
// line if the frame it called is an outline at the obfuscated line outline. It is
// line itself where the map has no entry for the two. If this frame is an outline
// too, its caller needs the line returned.
func (t *Mapping) CallsiteLine(class, method string, line, outline int) int {
	at, ok := validLine(line)
	from, known := validLine(outline)
	c, id, found := t.class(class)
	if !ok || !known || !found {
		return line
	}
	for _, s := range c.method(t.ids, method) {
		if !s.contains(at) {
			continue
		}
		if to, ok := t.callsites[callSite{id, s.residual, s.from, s.to}][from]; ok {
			return int(to)
		}
	}
	return line
}

// A mappedClass is a class of the obfuscated program.
type mappedClass struct {
	original    uint32
	synthesized bool
	conflict    bool // the files give several original names
	spans       []mappedSpan
}

// A mappedSpan is a line of the map for a method.
type mappedSpan struct {
	signature            uint64 // hash of return type and parameters, see hashTypes
	from, to             uint32 // lines in the obfuscated program
	originalFrom         uint32
	originalTo           uint32
	class, name          uint32 // original; class 0 means the class of the line above
	residual             uint32 // obfuscated name
	hasRange             bool
	hasOriginal          bool
	synthesized, outline bool // as said below this very line
	residualSignature    bool // the obfuscated program has this signature
	head                 bool // first line of its residual name in a section of the file
}

// A callSite is a range of a method that calls an outline.
type callSite struct{ class, residual, from, to uint32 }

// A mappedMethod tells apart the methods that share a residual name.
type mappedMethod struct {
	class, name uint32
	signature   uint64
}

func (s *mappedSpan) contains(line uint32) bool {
	return s.hasRange && s.from <= line && line <= s.to
}

func (s *mappedSpan) method() mappedMethod {
	return mappedMethod{s.class, s.name, s.signature}
}

// originalLine maps a line that the span contains.
func (s *mappedSpan) originalLine(line uint32) uint32 {
	switch {
	case !s.hasOriginal:
		return line
	case s.originalFrom == s.originalTo:
		return s.originalFrom
	case s.hasRange && s.to-s.from == s.originalTo-s.originalFrom:
		return s.originalFrom + line - s.from
	}
	return 0 // one of several
}

// callerOf reports whether s is the caller that the code of in, the line before,
// was inlined into.
func (s *mappedSpan) callerOf(in *mappedSpan) bool {
	if s.head || !s.hasRange || !in.hasRange || s.from != in.from || s.to != in.to {
		return false
	}
	return s.hasOriginal || in.hasOriginal || s.class != 0 || in.class != 0
}

// A stack is the lines of the map for one place: the innermost call first,
// the method itself last.
type stack []mappedSpan

func (s stack) outermost() *mappedSpan { return &s[len(s)-1] }

// line maps a line that the stack contains to the line of its frame i.
func (s stack) line(i int, line uint32) int {
	if i > 0 && !s[i].hasOriginal {
		return 0 // the lines of inlined code are no lines of its caller
	}
	return int(s[i].originalLine(line))
}

func (c *mappedClass) method(ids map[string]uint32, name string) []mappedSpan {
	residual, ok := ids[name]
	if !ok {
		return nil
	}
	at, ok := slices.BinarySearchFunc(c.spans, residual, compareResidual)
	if !ok {
		return nil
	}
	end := at
	for end < len(c.spans) && c.spans[end].residual == residual {
		end++
	}
	return c.spans[at:end]
}

// validLine reports whether line is one, as the map counts them.
func validLine(line int) (uint32, bool) {
	if line <= 0 || line > math.MaxInt32 {
		return 0, false
	}
	return uint32(line), true
}

func (t *Mapping) class(name string) (c *mappedClass, index uint32, ok bool) {
	id, ok := t.ids[name]
	if !ok {
		return nil, 0, false
	}
	index, ok = t.byName[id]
	if !ok {
		return nil, 0, false
	}
	return &t.classes[index], index, true
}

func (t *Mapping) frames(class, method string, line int, sig *signature) []Frame {
	c, _, ok := t.class(class)
	if !ok {
		return nil
	}
	at, haveLine := validLine(line)
	spans := c.method(t.ids, method)
	if len(spans) == 0 {
		return []Frame{{
			Class:       t.names[c.original],
			Method:      method,
			Line:        int(at), // what R8 does not list it did not renumber
			File:        t.names[t.files[c.original]],
			Synthesized: c.synthesized,
			Ambiguous:   c.conflict,
		}}
	}
	m := t.lookup(c, spans, sig)
	if haveLine {
		if found := m.containing(at); len(found) > 0 {
			return m.framesOf(found, at)
		}
	}
	return []Frame{m.frameWithoutLine()}
}

// A lookup is the state of one lookup: the stacks of one residual name.
type lookup struct {
	t      *Mapping
	class  *mappedClass
	stacks []stack
	// What the map says once, below one line of a method, holds for the method.
	synthesized, outlines map[mappedMethod]bool
}

func (t *Mapping) lookup(c *mappedClass, spans []mappedSpan, sig *signature) *lookup {
	m := &lookup{
		t:           t,
		class:       c,
		synthesized: make(map[mappedMethod]bool),
		outlines:    make(map[mappedMethod]bool),
	}
	start := 0
	for i := range spans {
		if i+1 < len(spans) && spans[i+1].callerOf(&spans[i]) {
			continue
		}
		m.stacks = append(m.stacks, spans[start:i+1])
		start = i + 1
		last := &spans[i]
		if last.synthesized {
			m.synthesized[last.method()] = true
		}
		if last.outline {
			m.outlines[last.method()] = true
		}
	}
	if sig != nil {
		fits := func(s stack) bool { return sig.fits(s.outermost()) }
		if slices.ContainsFunc(m.stacks, fits) {
			m.stacks = slices.DeleteFunc(m.stacks, func(s stack) bool { return !fits(s) })
		}
	}
	return m
}

// containing returns the stacks for a line, one for each method.
func (m *lookup) containing(line uint32) []stack {
	var found []stack
	for _, s := range m.stacks {
		if s[0].contains(line) {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		for _, s := range m.stacks {
			if !s[0].hasRange {
				found = append(found, s)
			}
		}
	}
	if len(found) < 2 {
		return found
	}
	seen := make(map[mappedMethod]bool)
	found = slices.DeleteFunc(found, func(s stack) bool {
		id := s.outermost().method()
		dup := seen[id]
		seen[id] = true
		return dup
	})
	// A synthesized method with a call inlined in it is code of the program.
	hidden := func(s stack) bool { return len(s) == 1 && m.synthesized[s[0].method()] }
	if slices.ContainsFunc(found, func(s stack) bool { return !hidden(s) }) {
		found = slices.DeleteFunc(found, hidden)
	}
	return found
}

// framesOf returns the frames of the last stack of found.
func (m *lookup) framesOf(found []stack, line uint32) []Frame {
	last := found[len(found)-1]
	frames := make([]Frame, len(last))
	for i := range last {
		frames[i] = m.frame(&last[i])
		frames[i].Line = last.line(i, line)
	}
	frames[len(frames)-1].Synthesized = m.synthesized[last.outermost().method()]
	ambiguous := m.class.conflict
	for _, other := range found[:len(found)-1] {
		if !m.sameNames(other, last) {
			ambiguous = true
			continue
		}
		for i := range frames {
			if frames[i].Line != other.line(i, line) {
				frames[i].Line = 0
			}
		}
	}
	for i := range frames {
		frames[i].Ambiguous = ambiguous
	}
	return frames
}

// frameWithoutLine returns the name that simpleperf's ProguardMappingRetrace gives.
func (m *lookup) frameWithoutLine() Frame {
	pick := &m.stacks[0][0]
	// Candidates are the methods themselves, else what was inlined in them, else
	// what the compiler synthesized.
	methods, inlined := make(map[mappedMethod]bool), make(map[mappedMethod]bool)
	for _, stack := range m.stacks {
		for i := range stack {
			s := &stack[i]
			if !s.synthesized {
				pick = s
			}
			switch outermost := i == len(stack)-1; {
			case !outermost && !s.synthesized:
				inlined[m.original(s)] = true
			case outermost && !m.synthesized[s.method()]:
				methods[m.original(s)] = true
			}
		}
	}
	f := m.frame(pick)
	f.Synthesized = pick.synthesized
	candidates := methods
	if len(candidates) == 0 {
		candidates = inlined
	}
	if len(candidates) == 0 {
		for _, stack := range m.stacks {
			candidates[m.original(stack.outermost())] = true
		}
	}
	f.Ambiguous = m.class.conflict || len(candidates) > 1 || !candidates[m.original(pick)]
	return f
}

// original returns the method that a span names, whatever its signature.
func (m *lookup) original(s *mappedSpan) mappedMethod {
	if s.class == 0 {
		return mappedMethod{class: m.class.original, name: s.name}
	}
	return mappedMethod{class: s.class, name: s.name}
}

func (m *lookup) sameNames(a, b stack) bool {
	return slices.EqualFunc(a, b, func(a, b mappedSpan) bool {
		return m.original(&a) == m.original(&b)
	})
}

func (m *lookup) frame(s *mappedSpan) Frame {
	id := m.original(s)
	return Frame{
		Class:   m.t.names[id.class],
		Method:  m.t.names[id.name],
		File:    m.t.names[m.t.files[id.class]],
		Outline: m.outlines[s.method()],
	}
}
