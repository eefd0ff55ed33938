package asm

import (
	"fmt"
	"slices"
	"strings"

	"profdiff/internal/disasm"
)

// Arch is the machine that code is for, as uname -m prints it.
type Arch string

// The machines whose assembly is read.
const (
	X8664   Arch = "x86_64"
	AArch64 Arch = "aarch64"
)

// An Error says where assembly cannot be read.
type Error struct {
	Line, Column int // from 1
	Msg          string
}

func (e *Error) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Msg)
}

// An Inst is one instruction.
type Inst struct {
	Text string // as llvm-mca reads it, without comment
	// Line and Column are its place in the assembly, 0 if it comes from a binary.
	Line, Column int
	Addr         uint64 // 0 if it comes from assembly
	Len          int    // bytes, 0 if it comes from assembly
	Kind         disasm.Kind
	// Target is the label or address that it jumps to or calls, "" if it is not known.
	Target string

	Aligned []Alignment // wanted by directives before it
	To      int         // index of the instruction it jumps to in its listing, -1 if it is not there
}

// A Listing is a file of assembly.
type Listing struct {
	Arch  Arch
	Insts []Inst
	// Labels are the indices of the instructions that they are at.
	Labels map[string]int
	// Functions are in order.
	Functions []Function
	// Regions are those between LLVM-MCA-BEGIN and LLVM-MCA-END.
	Regions []Region
}

// A Function is a named part of a listing: Insts[First:End].
type Function struct {
	Name       string
	First, End int
}

// A Region is code that comments mark for llvm-mca: Insts[First:End].
type Region = Function

// maxText is the size of assembly files that are read, in bytes.
const maxText = 32 << 20

// Parse reads assembly in GNU syntax (for x86, with the operands of AT&T), as compilers
// write it, or a bare list of instructions. arch "" is found from the code.
func Parse(text string, arch Arch) (*Listing, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("%d bytes of assembly, more than %d", len(text), maxText)
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		line := 1 + strings.Count(text[:i], "\n")
		return nil, &Error{line, i - strings.LastIndexByte(text[:i], '\n'), "a zero byte: is this assembly?"}
	}
	if arch == "" {
		arch = guessArch(text)
	}
	p := parser{list: &Listing{Arch: arch, Labels: make(map[string]int)}, code: true, functions: make(map[string]bool)}
	for line := range strings.Lines(text) {
		p.line++
		p.text, p.at = strings.TrimRight(line, "\r\n"), 0
		if err := p.statements(); err != nil {
			return nil, err
		}
	}
	if p.comment > 0 {
		return nil, &Error{p.comment, 1, "comment without end"}
	}
	if len(p.list.Insts) == 0 {
		return nil, &Error{max(1, p.line), 1, "no instructions"}
	}
	return p.finish(), nil
}

// guessArch tells the machines apart by what registers look like.
func guessArch(text string) Arch {
	x86 := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "//") || strings.HasPrefix(line, ".") {
			continue
		}
		if strings.ContainsAny(line, "%$") {
			return X8664
		}
		if fields := strings.Fields(line); len(fields) > 1 && strings.Contains(line, ",") {
			return AArch64
		}
		x86++
	}
	return X8664
}

// A parser reads one listing.
type parser struct {
	list      *Listing
	text      string
	at        int
	line      int
	comment   int // line of a comment that has not ended, or 0
	code      bool
	pending   []string // labels before the next instruction
	aligned   []Alignment
	functions map[string]bool
	ends      map[string]int   // by .size
	numeric   map[string][]int // where "1:" stands, to which 1b and 1f refer
	region    *Region
}

func (p *parser) errorf(at int, format string, args ...any) error {
	return &Error{p.line, at + 1, fmt.Sprintf(format, args...)}
}

// statements reads a line.
func (p *parser) statements() error {
	statement, err := p.uncommented()
	if err != nil {
		return err
	}
	for {
		end := separator(statement[p.at:])
		one := statement
		if end >= 0 {
			one = statement[:p.at+end]
		}
		if err := p.statement(one); err != nil {
			return err
		}
		if end < 0 {
			return nil
		}
		p.at = len(one) + 1
	}
}

// separator is where the next ; outside of quotes is.
func separator(s string) int {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quoted:
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ';' && !quoted:
			return i
		}
	}
	return -1
}

// uncommented is the line with its comments blanked out.
func (p *parser) uncommented() (string, error) {
	s := p.text
	if p.comment == 0 && !strings.ContainsAny(s, "#/\"@") {
		return s, nil
	}
	out := []byte(s)
	blank := func(from, to int) {
		for i := from; i < to; i++ {
			out[i] = ' '
		}
	}
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case p.comment > 0:
			end := strings.Index(s[i:], "*/")
			if end < 0 {
				blank(i, len(s))
				return string(out), nil
			}
			if err := p.marker(s[i : i+end]); err != nil {
				return "", err
			}
			blank(i, i+end+2)
			p.comment = 0
			i += end + 1
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case quoted:
		case strings.HasPrefix(s[i:], "/*"):
			p.comment = p.line
			blank(i, i+2)
			i++
		case strings.HasPrefix(s[i:], "//"), s[i] == '#' && (p.list.Arch == X8664 || strings.TrimSpace(string(out[:i])) == ""):
			if err := p.marker(s[i:]); err != nil {
				return "", err
			}
			blank(i, len(s))
			return string(out), nil
		}
	}
	return string(out), nil
}

// marker reads LLVM-MCA-BEGIN and LLVM-MCA-END in a comment.
func (p *parser) marker(comment string) error {
	_, after, ok := strings.Cut(comment, "LLVM-MCA-")
	if !ok {
		return nil
	}
	verb, name, _ := strings.Cut(strings.TrimSpace(after), " ")
	here := len(p.list.Insts)
	switch verb {
	case "BEGIN":
		p.closeRegion()
		p.region = &Region{Name: strings.TrimSpace(name), First: here}
	case "END":
		if p.region == nil {
			return p.errorf(strings.Index(p.text, "LLVM-MCA-"), "LLVM-MCA-END without LLVM-MCA-BEGIN")
		}
		p.closeRegion()
	}
	return nil
}

func (p *parser) closeRegion() {
	if p.region != nil {
		p.region.End = len(p.list.Insts)
		p.list.Regions = append(p.list.Regions, *p.region)
		p.region = nil
	}
}

// statement reads labels and an instruction or a directive from p.at on.
func (p *parser) statement(s string) error {
	for {
		p.at += len(s[p.at:]) - len(strings.TrimLeft(s[p.at:], " \t\f\v"))
		rest := s[p.at:]
		if rest == "" {
			return nil
		}
		n := labelLength(rest)
		if n == 0 {
			break
		}
		p.label(strings.Trim(rest[:n-1], `" `))
		p.at += n
	}
	rest := strings.TrimRight(s[p.at:], " \t\f\v")
	if rest[0] == '.' {
		return p.directive(rest)
	}
	if !p.code {
		return nil
	}
	return p.instruction(rest)
}

// labelLength is the length of a label at the start of s, with its colon, 0 without one.
func labelLength(s string) int {
	if s[0] == '"' {
		if end := strings.IndexByte(s[1:], '"'); end >= 0 && strings.HasPrefix(s[end+2:], ":") {
			return end + 3
		}
		return 0
	}
	for i := 0; i < len(s); i++ {
		switch {
		case isName(s[i]):
		case s[i] == ':' && i > 0 && !strings.HasPrefix(s[i:], "::"):
			return i + 1
		default:
			return 0
		}
	}
	return 0
}

func isName(c byte) bool {
	return c == '_' || c == '.' || c == '$' || c == '@' || c == '?' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func (p *parser) label(name string) {
	p.pending = append(p.pending, name)
}

// directive reads what matters of directives: sections and what is a function.
func (p *parser) directive(s string) error {
	name, arguments, _ := strings.Cut(strings.ReplaceAll(s, "\t", " "), " ")
	arguments = strings.TrimSpace(arguments)
	switch name {
	case ".text":
		p.code = true
	case ".data", ".bss", ".rodata":
		p.code = false
		p.pending = nil
	case ".section", ".pushsection":
		section, flags, _ := strings.Cut(arguments, ",")
		flags, _, _ = strings.Cut(flags, ",")
		section = strings.Trim(section, `" `)
		p.code = strings.HasPrefix(section, ".text") || section == ".init" || section == ".fini" || strings.Contains(flags, "x")
		p.pending = nil
	case ".type":
		symbol, kind, _ := strings.Cut(arguments, ",")
		if strings.Contains(kind, "function") {
			p.functions[strings.TrimSpace(symbol)] = true
		}
	case ".size":
		symbol, _, _ := strings.Cut(arguments, ",")
		symbol = strings.TrimSpace(symbol)
		if p.functions[symbol] {
			if p.ends == nil {
				p.ends = make(map[string]int)
			}
			p.ends[symbol] = len(p.list.Insts)
		}
	case ".p2align", ".balign", ".align":
		if a, ok := alignmentOf(name, arguments); ok && p.code && len(p.aligned) < maxAligned {
			p.aligned = append(p.aligned, a)
		}
	case ".intel_syntax":
		return p.errorf(p.at, "Intel syntax is not read, only that of AT&T")
	case ".macro", ".rept", ".irp", ".irpc", ".if", ".ifdef", ".ifndef", ".include", ".incbin":
		return p.errorf(p.at, "%s is not read: give what the assembler or the compiler makes of it", name)
	}
	return nil
}

// maxAligned is how many alignments before an instruction are kept.
const maxAligned = 8

// instruction reads one instruction.
func (p *parser) instruction(s string) error {
	// symbol = expression
	if i := strings.IndexByte(s, '='); i > 0 && !strings.ContainsAny(s[:i], "(,[ \t%") || i > 0 && isAssignment(s, i) {
		return nil
	}
	words := 0
	for i := 0; i <= len(s); i++ { // the mnemonic with prefixes
		if i < len(s) && isMnemonic(s[i]) {
			continue
		}
		if i == words && (i == len(s) || s[i] != '{') {
			return p.errorf(p.at+i, "no instruction starts with %q", s[i:min(i+1, len(s))])
		}
		break
	}
	if c := s[0]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '{') {
		return p.errorf(p.at, "no instruction starts with %q", firstWord(s))
	}
	if at, c := unbalanced(s); at >= 0 {
		return p.errorf(p.at+at, "%q without its other half", c)
	}
	in := Inst{Text: strings.Join(strings.Fields(s), " "), Line: p.line, Column: p.at + 1, Aligned: p.aligned, To: -1}
	p.aligned = nil
	in.Kind, in.Target = KindOf(p.list.Arch, in.Text)
	here := len(p.list.Insts)
	for _, name := range p.pending {
		if isNumber(name) {
			if p.numeric == nil {
				p.numeric = make(map[string][]int)
			}
			p.numeric[name] = append(p.numeric[name], here)
			continue
		}
		if _, twice := p.list.Labels[name]; twice {
			return p.errorf(p.at, "label %s a second time", name)
		}
		p.list.Labels[name] = here
		if p.functions[name] || len(p.list.Functions) == 0 && !strings.HasPrefix(name, ".L") && here == 0 {
			p.list.Functions = append(p.list.Functions, Function{Name: name, First: here})
		}
	}
	p.pending = nil
	p.list.Insts = append(p.list.Insts, in)
	return nil
}

func isAssignment(s string, at int) bool {
	left := strings.TrimSpace(s[:at])
	return left != "" && !strings.ContainsAny(left, " \t(,[%") && (at+1 == len(s) || s[at+1] != '=')
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

func isMnemonic(c byte) bool {
	return c == '.' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// unbalanced is where a bracket or quote is open at the end or closed too often, -1 if
// there is none.
func unbalanced(s string) (at int, c string) {
	var open []int
	quoted := -1
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted >= 0:
			if c == '\\' {
				i++
			} else if c == '"' {
				quoted = -1
			}
		case c == '"':
			quoted = i
		case strings.IndexByte("([{", c) >= 0:
			open = append(open, i)
		case strings.IndexByte(")]}", c) >= 0:
			if len(open) == 0 || strings.IndexByte("([{", s[open[len(open)-1]]) != strings.IndexByte(")]}", c) {
				return i, s[i : i+1]
			}
			open = open[:len(open)-1]
		}
	}
	switch {
	case quoted >= 0:
		return quoted, `"`
	case len(open) > 0:
		return open[len(open)-1], s[open[len(open)-1] : open[len(open)-1]+1]
	}
	return -1, ""
}

// finish resolves the targets of branches.
func (p *parser) finish() *Listing {
	l := p.list
	p.closeRegion()
	end, first := len(l.Insts), len(l.Insts)
	for i := range slices.Backward(l.Functions) {
		f := &l.Functions[i]
		if f.First < first { // two names may be for one function
			end, first = first, f.First
		}
		f.End = end
		if end, ok := p.ends[f.Name]; ok && end > f.First {
			f.End = min(f.End, end)
		}
	}
	if len(l.Functions) == 0 || l.Functions[0].First > 0 {
		end := len(l.Insts)
		if len(l.Functions) > 0 {
			end = l.Functions[0].First
		}
		l.Functions = append([]Function{{First: 0, End: end}}, l.Functions...)
	}
	for i := range l.Insts {
		in := &l.Insts[i]
		if in.Target != "" {
			in.To = p.resolve(in.Target, i)
		}
	}
	return l
}

// resolve finds the instruction that a target of instruction i is at, -1 if there is
// none.
func (p *parser) resolve(target string, i int) int {
	l := p.list
	if at, ok := l.Labels[target]; ok {
		return at
	}
	if n := len(target) - 1; n > 0 && (target[n] == 'b' || target[n] == 'f') && isNumber(target[:n]) {
		at := p.numeric[target[:n]]
		after, _ := slices.BinarySearch(at, i+1)
		if target[n] == 'f' && after < len(at) {
			return at[after]
		}
		if target[n] == 'b' && after > 0 {
			return at[after-1]
		}
		return -1
	}
	if bytes, ok := offset(target); ok && l.Arch == AArch64 && bytes%4 == 0 {
		if to := int64(i) + bytes/4; to >= 0 && to < int64(len(l.Insts)) {
			return int(to)
		}
	}
	return -1
}

// Function returns the function with a name.
func (l *Listing) Function(name string) (f Function, ok bool) {
	for _, f := range l.Functions {
		if f.Name == name {
			return f, true
		}
	}
	return Function{}, false
}

// Straighten makes a listing one way: of its branches none jumps. It is for listings of
// what was executed.
func (l *Listing) Straighten() {
	for i := range l.Insts {
		in := &l.Insts[i]
		if in.Kind == disasm.Conditional || in.Kind == disasm.Jump || in.Kind == disasm.IndirectJump {
			in.Kind, in.To = disasm.Other, -1
		}
	}
}
