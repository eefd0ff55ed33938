package retrace

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A longer line is no mapping.
const maxLine = 1 << 20

// Add reads one more mapping file, such as that of a feature module. A class that is
// in several files, or several times in one, has the methods of all; if the files
// disagree on its original name, the last one counts and its frames are Ambiguous.
//
// Lines that are not understood are skipped and counted by [Mapping.Skipped]. It is
// an error if r fails, if a line is longer than 1 MiB or if there is no class at
// all; the Mapping then holds what was read so far.
func (t *Mapping) Add(r io.Reader) error {
	p := parser{t: t, methods: make(map[mappedMethod]uint64)}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine+len("\r\n"))
	n, tooLong := 0, false
	for lines.Scan() {
		n++
		line := lines.Bytes()
		if tooLong = len(line) > maxLine; tooLong {
			break
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		p.line(line)
	}
	p.finish()
	switch err := lines.Err(); {
	case tooLong:
		return fmt.Errorf("line %d: longer than %d bytes", n, maxLine)
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("line %d: longer than %d bytes", n+1, maxLine)
	case err != nil:
		return fmt.Errorf("line %d: %w", n+1, err)
	case !p.anyClass:
		return errors.New("no class mapping found: is this a mapping.txt?")
	}
	return nil
}

// A parser reads one file.
type parser struct {
	t        *Mapping
	anyClass bool
	inClass  bool
	class    uint32       // index in t.classes
	spans    []mappedSpan // of the section of this class, in the order of the file
	unsorted []uint32     // classes with several sections

	// What an information in a comment is about.
	about   mappingTarget
	methods map[mappedMethod]uint64 // residual signatures of this section
}

type mappingTarget uint8

const (
	aboutNothing mappingTarget = iota
	aboutClass
	aboutField
	aboutMethod // the last of spans
)

func (p *parser) line(line []byte) {
	line = bytes.TrimRight(line, " \t\r")
	text := bytes.TrimLeft(line, " \t")
	indented := len(text) < len(line)
	switch {
	case len(text) == 0:
	case text[0] == '#':
		p.comment(text[1:])
	case !indented:
		p.endClass() // or its members would go to the class before it
		if !p.startClass(text) {
			p.t.skipped++
		}
	case !p.inClass || !p.member(text):
		p.about = aboutNothing
		p.t.skipped++
	}
}

// startClass parses "original -> residual:".
func (p *parser) startClass(text []byte) bool {
	original, residual, ok := cutArrow(text)
	if !ok {
		return false
	}
	residual, ok = bytes.CutSuffix(residual, []byte(":"))
	residual = bytes.TrimRight(residual, " \t")
	if !ok || !isMappedName(original) || !isMappedName(residual) {
		return false
	}
	t := p.t
	id, name := t.intern(residual), t.intern(original)
	index, known := t.byName[id]
	if !known {
		index = uint32(len(t.classes))
		t.classes = append(t.classes, mappedClass{original: name})
		t.byName[id] = index
	}
	c := &t.classes[index]
	c.conflict = c.conflict || c.original != name
	c.original = name
	p.anyClass, p.inClass, p.class, p.about = true, true, index, aboutClass
	return true
}

// member parses "from:to:type class.name(types):from:to -> residual", where the
// ranges, the class and the end of the second range are optional, or the field
// "type name -> residual", which is of no use here.
func (p *parser) member(text []byte) bool {
	left, residual, ok := cutArrow(text)
	if !ok || !isMappedName(residual) {
		return false
	}
	var s mappedSpan
	if isDigit(left[0]) {
		var to bool
		s.from, s.to, to, left, ok = cutLines(left)
		if !ok || !to || len(left) == 0 || left[0] != ':' {
			return false
		}
		left = bytes.TrimLeft(left[1:], " \t")
		s.hasRange = true
	}
	left, params, isMethod := bytes.Cut(left, []byte("("))
	left = bytes.TrimRight(left, " \t")
	space := bytes.LastIndexAny(left, " \t")
	if space < 0 {
		return false
	}
	name := left[space+1:]
	if !isMethod {
		p.about = aboutField
		return !s.hasRange
	}
	params, rest, ok := bytes.Cut(params, []byte(")"))
	if !ok {
		return false
	}
	if rest = bytes.TrimLeft(rest, " \t"); len(rest) > 0 {
		if rest[0] != ':' {
			return false
		}
		s.originalFrom, s.originalTo, _, rest, ok = cutLines(bytes.TrimLeft(rest[1:], " \t"))
		if !ok || len(rest) > 0 {
			return false
		}
		s.hasOriginal = true
	}
	t := p.t
	if dot := bytes.LastIndexByte(name, '.'); dot >= 0 {
		if dot == 0 || dot == len(name)-1 {
			return false
		}
		if s.class = t.intern(name[:dot]); s.class == t.classes[p.class].original {
			s.class = 0
		}
		name = name[dot+1:]
	}
	s.name, s.residual = t.intern(name), t.intern(residual)
	s.signature = hashTypes(left[:space], params)
	p.spans = append(p.spans, s)
	p.about = aboutMethod
	return true
}

// comment takes what R8 says in a comment about the line above.
func (p *parser) comment(text []byte) {
	const r8 = "com.android.tools.r8."
	text = bytes.TrimLeft(text, " \t")
	if len(text) == 0 || text[0] != '{' {
		return
	}
	info := scanInfo(text)
	id := string(info.id)
	if id == "sourceFile" {
		if p.about == aboutClass && len(info.fileName) > 0 {
			p.t.files[p.t.classes[p.class].original] = p.t.intern(info.fileName)
		}
		return
	}
	id, ok := strings.CutPrefix(id, r8)
	if !ok {
		return
	}
	if id == "mapping" {
		p.version(string(info.version))
		return
	}
	if p.about == aboutClass && id == "synthesized" {
		p.t.classes[p.class].synthesized = true
		return
	}
	if p.about != aboutMethod {
		return
	}
	s := &p.spans[len(p.spans)-1]
	switch id {
	case "synthesized":
		s.synthesized = true
	case "outline":
		s.outline = true
	case "residualsignature":
		if len(info.signature) > 0 && info.signature[0] == '(' {
			p.methods[s.method()] = maphash.Bytes(seed, info.signature)
		}
	case "outlineCallsite":
		if s.hasRange && len(info.positions) > 0 {
			p.t.callsites[callSite{p.class, s.residual, s.from, s.to}] = info.positions
		}
	}
}

// version notes a version above the last known one. Others than "major.minor" are
// left to R8: it calls maps that it may change at any time "experimental".
func (p *parser) version(v string) {
	if cmpMapVersion(v, "2.2") > 0 && (p.t.newer == "" || cmpMapVersion(v, p.t.newer) > 0) {
		p.t.newer = v
	}
}

func cmpMapVersion(a, b string) int {
	number := func(v string) (major, minor uint64) {
		x, y, _ := strings.Cut(v, ".")
		major, _ = strconv.ParseUint(x, 10, 32) // 0 if it is no number
		minor, _ = strconv.ParseUint(y, 10, 32)
		return major, minor
	}
	a1, a2 := number(a)
	b1, b2 := number(b)
	return cmp.Or(cmp.Compare(a1, b1), cmp.Compare(a2, b2))
}

// endClass stores the section of a class.
func (p *parser) endClass() {
	p.inClass, p.about = false, aboutNothing
	if len(p.spans) == 0 {
		return
	}
	if len(p.methods) > 0 {
		for i := range p.spans {
			if sum, ok := p.methods[p.spans[i].method()]; ok {
				p.spans[i].signature, p.spans[i].residualSignature = sum, true
			}
		}
		clear(p.methods)
	}
	sortSpans(p.spans)
	for i := range p.spans {
		p.spans[i].head = i == 0 || p.spans[i].residual != p.spans[i-1].residual
	}
	c := &p.t.classes[p.class]
	if c.spans == nil {
		c.spans = slices.Clone(p.spans)
	} else {
		c.spans = append(c.spans, p.spans...)
		p.unsorted = append(p.unsorted, p.class)
	}
	p.spans = p.spans[:0]
}

func (p *parser) finish() {
	p.endClass()
	slices.Sort(p.unsorted)
	for _, c := range slices.Compact(p.unsorted) {
		sortSpans(p.t.classes[c].spans)
	}
}

// sortSpans gathers the lines of a residual name, in the order of the file.
func sortSpans(spans []mappedSpan) {
	byResidual := func(a, b mappedSpan) int { return cmp.Compare(a.residual, b.residual) }
	if !slices.IsSortedFunc(spans, byResidual) {
		slices.SortStableFunc(spans, byResidual)
	}
}

func compareResidual(s mappedSpan, residual uint32) int {
	return cmp.Compare(s.residual, residual)
}

func (t *Mapping) intern(name []byte) uint32 {
	if id, ok := t.ids[string(name)]; ok {
		return id
	}
	id := uint32(len(t.names))
	s := string(name)
	t.names = append(t.names, s)
	t.ids[s] = id
	return id
}

// cutArrow splits at " -> ", which ProGuard may write without the spaces; neither
// side is empty.
func cutArrow(text []byte) (original, residual []byte, ok bool) {
	original, residual, ok = bytes.Cut(text, []byte(" -> "))
	if !ok {
		original, residual, ok = bytes.Cut(text, []byte("->"))
	}
	original, residual = bytes.TrimRight(original, " \t"), bytes.TrimLeft(residual, " \t")
	return original, residual, ok && len(original) > 0 && len(residual) > 0
}

// isMappedName reports whether s can be the name of a class or method. What else is
// in it than the marks of the format is up to the obfuscator.
func isMappedName(s []byte) bool {
	return len(s) > 0 && !bytes.ContainsAny(s, " \t:(),")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// cutLines cuts "from:to" or "from" off text. R8 once wrote ranges backwards, and 0
// for the end of a single line.
func cutLines(text []byte) (from, to uint32, hasTo bool, rest []byte, ok bool) {
	from, rest, ok = cutNumber(text)
	if !ok {
		return 0, 0, false, text, false
	}
	second := bytes.TrimLeft(rest, " \t")
	if len(second) == 0 || second[0] != ':' {
		return from, from, false, second, true
	}
	second = bytes.TrimLeft(second[1:], " \t")
	if to, rest, ok = cutNumber(second); !ok {
		return 0, 0, false, text, false
	}
	rest = bytes.TrimLeft(rest, " \t")
	switch {
	case to == 0:
		to = from
	case to < from:
		from, to = to, from
	}
	return from, to, true, rest, true
}

func cutNumber(text []byte) (n uint32, rest []byte, ok bool) {
	i := 0
	for ; i < len(text) && isDigit(text[i]); i++ {
		d := uint32(text[i] - '0')
		if n > (math.MaxInt32-d)/10 {
			return 0, text, false
		}
		n = n*10 + d
	}
	return n, text[i:], i > 0
}
