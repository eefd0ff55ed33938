package budget

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"profdiff/internal/align"
)

// maxPattern is the most bytes that a pattern may have.
const maxPattern = 4096

// A pattern is a glob or a regular expression on names.
type pattern struct {
	glob string
	re   *regexp.Regexp // nil for a glob
	// literal is in all names that match the expression.
	literal string
}

// checkPattern refuses patterns that are empty or no regular expression.
func checkPattern(text string, isRegexp bool) error {
	_, err := compile(text, isRegexp)
	return err
}

func compile(text string, isRegexp bool) (*pattern, error) {
	switch {
	case strings.TrimSpace(text) == "":
		return nil, errors.New("the pattern is empty: it would match everything or nothing")
	case len(text) > maxPattern:
		return nil, fmt.Errorf("the pattern has %d bytes, of at most %d", len(text), maxPattern)
	case !isRegexp:
		return &pattern{glob: text}, nil
	}
	re, err := regexp.Compile(text)
	if err != nil {
		if se, ok := errors.AsType[*syntax.Error](err); ok {
			return nil, fmt.Errorf("is no regular expression: %s: %s", se.Code, clip(se.Expr))
		}
		return nil, fmt.Errorf("is no regular expression: %w", err)
	}
	if re.MatchString("") {
		return nil, fmt.Errorf("%s matches the empty text, and so everything", clip(text))
	}
	literal, _ := re.LiteralPrefix()
	return &pattern{re: re, literal: literal}, nil
}

// mustCompile compiles what checkPattern has seen.
func mustCompile(text string, isRegexp bool) *pattern {
	if text == "" {
		return nil
	}
	p, err := compile(text, isRegexp)
	if err != nil {
		panic(err)
	}
	return p
}

// match reports whether any of the spellings of a name matches.
func (p *pattern) match(names ...string) bool {
	for _, s := range names {
		if p.re != nil {
			if strings.Contains(s, p.literal) && p.re.MatchString(s) {
				return true
			}
		} else if globMatch(p.glob, s) {
			return true
		}
	}
	return false
}

// globMatch reports whether a whole text matches a glob: * is any text, ? one byte, and all
// else itself: names have brackets and backslashes.
func globMatch(glob, s string) bool {
	// The last star, and how far it reaches: a mistake goes back to it.
	star, reach := -1, 0
	g, i := 0, 0
	for i < len(s) || g < len(glob) {
		switch {
		case g < len(glob) && glob[g] == '*':
			g++
			star, reach = g, i
		case g < len(glob) && i < len(s) && (glob[g] == s[i] || glob[g] == '?'):
			g++
			i++
		case star >= 0 && reach < len(s):
			reach++
			g, i = star, reach
		default:
			return false
		}
	}
	return true
}

// fileMatch reports whether a glob matches a path, from any directory of it on. * and ? are
// within a directory or name, and ** is any number of directories.
func fileMatch(glob, path string) bool {
	if path == "" {
		return false
	}
	globs := strings.Split(strings.ReplaceAll(glob, `\`, "/"), "/")
	parts := strings.Split(strings.ReplaceAll(path, `\`, "/"), "/")
	if globs[0] != "" {
		globs = append([]string{"**"}, globs...)
	}
	// matched[j] says that the globs so far match the first j parts.
	matched := make([]bool, len(parts)+1)
	matched[0] = true
	for _, g := range globs {
		if g == "**" {
			for j := range parts {
				matched[j+1] = matched[j+1] || matched[j]
			}
			continue
		}
		for j := len(parts); j > 0; j-- {
			matched[j] = matched[j-1] && globMatch(g, parts[j-1])
		}
		matched[0] = false
	}
	return matched[len(parts)]
}

// dsoMatch reports whether a glob matches a file of code: its base name, or if the glob has a
// slash its path.
func dsoMatch(glob, path string) bool {
	if !strings.Contains(glob, "/") {
		path = path[strings.LastIndexByte(path, '/')+1:]
	}
	return globMatch(glob, path)
}

// spellings are the names under which a budget can name a function: for people, for
// linkers, without what compilers add, and without parameters.
func spellings(name, system string) []string {
	list := []string{name}
	add := func(s string) {
		if slices.Contains(list, s) {
			return
		}
		if s != "" {
			list = append(list, s)
		}
	}
	add(system)
	if at := strings.IndexByte(name, '@'); at > 0 && !strings.HasSuffix(name, "@plt") { // memcpy@@GLIBC_2.14
		name = name[:at]
		add(name)
	}
	plain := align.Normalize(name)
	add(plain)
	add(withoutParameters(plain))
	return list
}

// withoutParameters cuts the parameters of a C++ or Rust name.
func withoutParameters(name string) string {
	depth := 0
	for i := range len(name) {
		switch name[i] {
		case '<':
			depth++
		case '>':
			if depth > 0 {
				depth--
			}
		case '(':
			// Not of operator(), of Go's receivers, and of what is in parentheses itself.
			if depth == 0 && i > 0 && name[i-1] != '.' && name[i-1] != ' ' && name[i-1] != ':' && !strings.HasSuffix(name[:i], "operator") {
				return name[:i]
			}
		}
	}
	return name
}

// A matcher is a compiled Match.
type matcher struct {
	functions []*pattern // any of them
	under     *pattern
	dso, file string
	thread    string
	process   string
	category  string
}

func newMatcher(m *Match) *matcher {
	if m == nil {
		return &matcher{}
	}
	x := &matcher{
		under: mustCompile(m.Under, m.Regexp),
		dso:   m.DSO, file: m.File, thread: m.Thread, process: m.Process, category: m.Category,
	}
	for _, text := range append([]string{m.Function}, m.Aliases...) {
		if p := mustCompile(text, m.Regexp); p != nil {
			x.functions = append(x.functions, p)
		}
	}
	return x
}

// framed reports whether samples are chosen by their frames.
func (m *matcher) framed() bool { return len(m.functions) > 0 || m.dso != "" || m.file != "" }

func (m *matcher) matchFunction(names []string) bool {
	for _, p := range m.functions {
		if p.match(names...) {
			return true
		}
	}
	return false
}

// globRegexp is a glob as a regular expression, for names of functions and base names of
// files.
func globRegexp(glob string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("^")
	for _, r := range glob {
		switch r {
		case '*':
			b.WriteString("(?s:.*)")
		case '?':
			b.WriteString("(?s:.)")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	b.WriteString("$")
	return regexp.MustCompile(b.String())
}
