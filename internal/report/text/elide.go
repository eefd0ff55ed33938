package text

import (
	"regexp"
	"strings"
)

// Elide makes the name of a function, or a path, at most room columns wide. What tells most is kept
// longest: the method and its class. Left out are, until it fits,
//
//  1. the hash that Rust appends, and folders in front of the file that follows a name;
//  2. arguments of functions, and the type that they return;
//  3. arguments of templates, the innermost first;
//  4. the middle of the path, from left to right, then its start;
//  5. what is called of a closure, and what a class is nested in;
//  6. the class;
//  7. the closure or the file that the method is told apart by.
//
// An identifier is cut only where nothing else is left. Steps 2 to 4 are in the order that readers of
// Hotspot asked for (KDAB/hotspot#395).
func Elide(name string, room int) string {
	if Width(name) <= room {
		return name
	}
	n := parseName(name)
	for _, shorten := range steps {
		for shorten(n) {
			if s := n.String(); Width(s) <= room {
				return s
			}
		}
	}
	if m := n.method(); m+1 < len(n.parts) {
		if method := noArguments(n.parts[m].text); n.parts[m].divider == "::" || Width(method) < room {
			return Cut(method, room-1) + Cut("…", room)
		}
	}
	return Cut(n.String(), room)
}

// A name is one of a function, or a path, in parts.
type name struct {
	before string // what is returned, with a space at the end
	parts  []part
	after  string // const, [clone .cold], a file
	// cut is the number of parts left out behind the first one; the first one is left out as well
	// if headless.
	cut      int
	headless bool
}

// A part is a name in a path, and what divides it from the next: :: or . or /.
type part struct {
	text    string
	divider string
}

func (n *name) String() string {
	var b strings.Builder
	b.WriteString(n.before)
	for i, p := range n.parts {
		switch {
		case i == 0 && !n.headless:
			b.WriteString(p.text)
			if n.cut == 0 || p.divider != "." {
				b.WriteString(p.divider)
			}
		case i > n.cut:
			b.WriteString(p.text + p.divider)
		case i == n.cut:
			b.WriteString("…")
			if p.divider != "." { // ….name has two dots too many
				b.WriteString(p.divider)
			}
		}
	}
	return b.String() + n.after
}

// method is the index of the part that names the method: what follows tells closures and copies of it
// apart.
func (n *name) method() int {
	i := len(n.parts) - 1
	for i > 0 && n.attached(i) {
		i--
	}
	return i
}

// attachment is a part that names nothing without the part before it: closures, and the copies of a
// function that compilers make.
var attachment = regexp.MustCompile(`^(\{.*\}.*|'lambda.*|\$_\d*.*|(func|gowrap|deferwrap)?\d+(-fm)?|part|isra|constprop|cold|lto_priv|llvm|localalias|so|c|cc|cpp|h|hpp|rs|go|js|mjs|ts|py|kt|java|dex|jar|apk|oat|odex|vdex)$`)

func (n *name) attached(i int) bool {
	p, before := n.parts[i].text, n.parts[i-1]
	if strings.HasPrefix(p, "operator()") {
		return attachment.MatchString(before.text)
	}
	return before.divider == "@" || attachment.MatchString(p) && !strings.HasPrefix(p, "{impl#")
}

// steps shorten a name, each a little whenever it is called, and report whether they did.
var steps = []func(*name) bool{
	(*name).dropHash,
	(*name).dropFolders,
	(*name).dropArguments,
	(*name).dropTemplates,
	(*name).dropEmpty,
	(*name).dropPath,
	(*name).dropQualified,
	(*name).dropAngles,
	(*name).dropCall,
	(*name).dropMarks,
	(*name).dropOuter,
	(*name).dropClass,
	(*name).dropMark,
}

var hash = regexp.MustCompile(`^h[0-9a-f]{16}$`)

func (n *name) dropHash() bool {
	last := len(n.parts) - 1
	if last == 0 || !hash.MatchString(n.parts[last].text) {
		return false
	}
	n.parts = n.parts[:last]
	n.parts[last-1].divider = ""
	return true
}

func (n *name) dropFolders() bool {
	i, j := strings.IndexByte(n.after, '/'), strings.LastIndexByte(n.after, '/')
	if i < 0 || strings.HasSuffix(n.after[:i], "…") {
		return false
	}
	n.after = n.after[:1] + "…" + n.after[j:]
	return true
}

func (n *name) dropArguments() bool {
	changed := n.each(func(p string) string { return replace(p, '(', 0, "(…)") })
	if !changed && n.before != "" {
		n.before, changed = "", true
	}
	return changed
}

// each changes parts, and reports whether one has changed.
func (n *name) each(change func(string) string) (changed bool) {
	for i := range n.parts {
		p := change(n.parts[i].text)
		changed = changed || p != n.parts[i].text
		n.parts[i].text = p
	}
	return changed
}

// maxNesting is the depth from which arguments of templates are left out together.
const maxNesting = 8

// dropTemplates leaves out the innermost arguments of templates.
func (n *name) dropTemplates() bool {
	deepest := 0
	for _, p := range n.parts {
		for _, g := range groups(p.text) {
			if g.elidable(p.text, '<') {
				deepest = max(deepest, g.depth)
			}
		}
	}
	deepest = min(deepest, maxNesting)
	return n.each(func(p string) string { return replace(p, '<', deepest, "<…>") })
}

// dropEmpty leaves out what stands for arguments, and what follows them.
func (n *name) dropEmpty() bool {
	last := len(n.parts) - 1
	p := &n.parts[last].text
	shorter := noArguments(*p)
	dropped := n.after != "" || shorter != *p
	*p, n.after = shorter, ""
	return dropped
}

// noArguments is the name of a function without what stands for its arguments.
func noArguments(p string) string {
	p = strings.TrimSuffix(p, "(…)")
	if strings.HasSuffix(p, "operator()") {
		return p
	}
	return strings.TrimSuffix(p, "()")
}

// maxFolders is how much of the middle of a path is left out part by part.
const maxFolders = 32

// dropPath leaves out the next part of the middle of the path, or the first one.
func (n *name) dropPath() bool {
	class := n.method() - 1
	// The package of a method in Go tells more than where its code is from.
	inPackage := n.cut+1 < class && n.parts[0].divider == "/" && n.parts[n.cut+1].divider == "."
	switch {
	case n.cut < class-1 && (!inPackage || n.headless):
		n.cut = max(n.cut+1, class-1-maxFolders)
	case n.cut < class && !n.headless:
		n.headless = true
	default:
		return false
	}
	return true
}

// dropQualified leaves out the paths of types in <Type as Trait> and <impl Trait for Type>.
func (n *name) dropQualified() bool {
	return n.each(func(p string) string {
		if !strings.HasPrefix(p, "<") {
			return p
		}
		words := strings.Split(p[1:], " ")
		for i, w := range words {
			if j := strings.LastIndex(w, "::"); j > 0 && w[:j] != "…" {
				words[i] = "…" + w[j:]
			}
		}
		return "<" + strings.Join(words, " ")
	})
}

var emptyAngles = strings.NewReplacer(" <…>", "", "<…>", "", "[…]", "")

// dropAngles leaves out what stands for arguments of templates.
func (n *name) dropAngles() bool {
	return n.each(emptyAngles.Replace)
}

// dropCall leaves out that it is a closure's operator that is called.
func (n *name) dropCall() bool {
	last := len(n.parts) - 1
	if last == 0 || last == n.method() || !strings.HasPrefix(n.parts[last].text, "operator()") {
		return false
	}
	n.parts = n.parts[:last]
	n.parts[last-1].divider = ""
	return true
}

// dropMarks leaves out what stands for paths in front of classes.
func (n *name) dropMarks() bool {
	return n.drop(n.method()-1) || n.each(func(p string) string { return strings.ReplaceAll(p, "…::", "") })
}

// drop leaves out the parts in front of the one at i, and what stands for them.
func (n *name) drop(i int) bool {
	if i <= 0 {
		return false
	}
	n.parts, n.cut, n.headless = n.parts[i:], 0, false
	return true
}

// dropOuter leaves out what a class of Java is nested in.
func (n *name) dropOuter() bool {
	m := n.method()
	if m == 0 {
		return false
	}
	class := &n.parts[m-1].text
	for i := len(*class) - 2; i > 0; i-- {
		if next := (*class)[i+1]; (*class)[i] == '$' && !strings.HasPrefix(*class, "…") && (next|0x20) >= 'a' && (next|0x20) <= 'z' {
			*class = "…" + (*class)[i:]
			return true
		}
	}
	return false
}

func (n *name) dropClass() bool {
	m := n.method()
	if m == 0 || n.cut == m-1 && n.headless {
		return false
	}
	n.cut, n.headless = m-1, true
	return true
}

// dropMark leaves out what stands for the class.
func (n *name) dropMark() bool { return n.drop(n.method()) }

// marked is what V8 and CPython put in front of the names of functions.
var marked = regexp.MustCompile(`^([A-Z][A-Za-z]+:[*~^]?|py::)`)

// parseName finds the parts of a name. Brackets that do not match divide nothing.
func parseName(s string) *name {
	if m := marked.FindString(s); m != "" && !strings.HasPrefix(s[len(m):], ":") && len(m) < len(s) {
		n := parseName(s[len(m):])
		n.before = m + n.before
		return n
	}
	var (
		spaces, dividers []int
		arguments        = -1
		convert          bool // in the name of an operator that has a space
	)
	list := groups(s)
	for i := 0; i < len(s); i++ {
		if len(list) > 0 && list[0].start == i {
			g := list[0]
			if s[i] == '(' && g.behindName(s) && arguments < 0 {
				arguments = i
			}
			convert = convert && s[i] != '('
			for len(list) > 0 && list[0].start < g.end {
				list = list[1:]
			}
			i = g.end - 1
			continue
		}
		if n := operator(s, i); n > 0 {
			i += n - 1
			convert = i+1 < len(s) && s[i+1] == ' '
			continue
		}
		switch {
		case convert:
		case s[i] == ' ':
			spaces = append(spaces, i)
		case s[i] == ':' && i > 0 && strings.HasPrefix(s[i+1:], "/"):
			spaces = append(spaces, i)
		case s[i] == '/' || s[i] == '.' || s[i] == '@':
			dividers = append(dividers, i)
		case strings.HasPrefix(s[i:], "::"):
			dividers = append(dividers, i)
			i++
		}
	}
	start, end := core(s, spaces, arguments)
	n := &name{before: s[:start], after: s[end:]}
	n.split(s, start, end, dividers)
	return n
}

// core is where the name of a function stands, without what it returns and what follows it.
func core(s string, spaces []int, arguments int) (start, end int) {
	end = len(s)
	for _, i := range spaces {
		switch {
		case arguments >= 0 && i < arguments:
			start = i + 1
		case arguments >= 0 && i > arguments, i > start && follows(s[i+1:]):
			return start, i
		}
	}
	return start, end
}

// follows reports whether a text says where a function is, or what copy it is of it.
func follows(s string) bool {
	for _, start := range []string{"/", "[", "(", "file:", "http:", "https:", "node:"} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return false
}

// split divides a path: by ::, where it has one, else up to the last / by /, and behind it by dots,
// unless it is one of files.
func (n *name) split(s string, start, end int, dividers []int) {
	colons, slash := false, -1
	for _, i := range dividers {
		if i >= start && i < end {
			colons = colons || s[i] == ':'
			if s[i] == '/' {
				slash = i
			}
		}
	}
	files := end > start && (s[start] == '/' || s[start] == '.' || s[start] == '~')
	at := start
	for _, i := range dividers {
		width := 1
		switch c := s[i]; {
		case i < at || i >= end:
			continue
		case c == ':':
			width = 2
		case i == at || i+1 == end:
			continue // a name is not empty
		case c == '@':
		case colons, c == '.' && (i < slash || files || s[i+1] == '.'):
			continue
		}
		n.parts = append(n.parts, part{s[at:i], s[i : i+width]})
		at = i + width
	}
	n.parts = append(n.parts, part{text: s[at:end]})
}

// A group is what brackets enclose, them included.
type group struct {
	start, end int // in bytes
	depth      int // 0 for one that is in no other
}

// elidable reports whether what a group encloses are arguments: of a function, behind its name, or of
// a template.
func (g group) elidable(s string, open byte) bool {
	c := s[g.start]
	return (c == open || open == '<' && c == '[') && Width(s[g.start+1:g.end-1]) > 1 && g.behindName(s)
}

// behindName reports whether a group follows a name, else it is one.
func (g group) behindName(s string) bool {
	if g.start == 0 {
		return false
	}
	before := s[g.start-1]
	return strings.IndexByte("_>])}'~$", before) >= 0 || before >= 0x80 || before >= '0' && before <= '9' ||
		before|0x20 >= 'a' && before|0x20 <= 'z' || g.ofOperator(s)
}

// ofOperator reports whether a group is of an operator such as operator+.
func (g group) ofOperator(s string) bool {
	const longest = len("operator<=> ")
	i := max(0, g.start-longest)
	i += strings.LastIndex(s[i:g.start], "operator")
	return i >= 0 && i+operator(s, i) == len(strings.TrimSuffix(s[:g.start], " "))
}

// groups are what brackets of a text enclose, by where they begin: none, if they do not match.
func groups(s string) (list []group) {
	var open []int // indices in list
	for i := 0; i < len(s); i++ {
		if n := operator(s, i); n > 0 {
			i += n - 1
			continue
		}
		switch c := s[i]; c {
		case '(', '<', '[', '{':
			list = append(list, group{start: i, depth: len(open)})
			open = append(open, len(list)-1)
		case ')', '>', ']', '}':
			if c == '>' && i > 0 && (s[i-1] == '-' || s[i-1] == '=') {
				continue // an arrow
			}
			last := len(open) - 1
			if last < 0 || s[list[open[last]].start] != opening(c) {
				return nil
			}
			list[open[last]].end = i + 1
			open = open[:last]
		}
	}
	if len(open) > 0 {
		return nil
	}
	return list
}

func opening(c byte) byte {
	switch c {
	case ')':
		return '('
	case '>':
		return '<'
	case ']':
		return '['
	}
	return '{'
}

// symbols are operators whose names have brackets, and how others end, the longest first.
var symbols = []string{"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "<=", ">=", "->", "<", ">"}

// operator is the length of the name of an operator that begins at i, 0 if none does.
func operator(s string, i int) int {
	const word = "operator"
	if !strings.HasPrefix(s[i:], word) || i > 0 && (s[i-1] == '_' || s[i-1]|0x20 >= 'a' && s[i-1]|0x20 <= 'z') {
		return 0
	}
	rest := s[i+len(word):]
	for _, symbol := range symbols {
		if strings.HasPrefix(rest, symbol) {
			return len(word) + len(symbol)
		}
	}
	n := 0
	for n < len(rest) && strings.IndexByte("+-*/%^&|~!=,", rest[n]) >= 0 {
		n++
	}
	if n > 0 || rest != "" && rest[0] == ' ' {
		return len(word) + n
	}
	return 0
}

// replace puts text for groups of a depth that are arguments.
func replace(s string, open byte, depth int, text string) string {
	var b strings.Builder
	at := 0
	for _, g := range groups(s) {
		if g.start < at || g.depth < depth || !g.elidable(s, open) {
			continue
		}
		if s[g.start] == '[' {
			b.WriteString(s[at:g.start] + "[…]")
		} else {
			b.WriteString(s[at:g.start] + text)
		}
		at = g.end
	}
	return b.String() + s[at:]
}
