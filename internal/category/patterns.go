package category

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"profdiff/internal/yaml"
)

// A pattern is a regular expression. Most are a few names or beginnings of names,
// which are found without running it.
type pattern struct {
	// names are all strings that match, of patterns that have few.
	names []string
	// prefixes are such that each string that matches starts with one of them; nil
	// if the pattern does not tell.
	prefixes []string
	// strip, if it is not "", is a character, any number of which may stand in front of
	// names and prefixes.
	strip string
	// path is set if a directory may stand in front of names.
	path bool
	// re is nil if all strings that start so match, or if names are all.
	re *lazyRegexp
}

// A lazyRegexp is compiled when it is first needed: few are.
type lazyRegexp struct {
	expr string // which compiles
	once sync.Once
	re   *regexp.Regexp
}

func (l *lazyRegexp) match(s string) bool {
	l.once.Do(func() { l.re = regexp.MustCompile(l.expr) })
	return l.re.MatchString(s)
}

// Limits of patterns. maxPatternSize is in nodes of the expression with its
// repetitions written out: a short pattern can stand for a large program.
const (
	maxPatternSize  = 10_000
	maxLiterals     = 256
	maxLiteralBytes = 16 << 10
)

func (p *pattern) match(s string) bool {
	start := s
	if p.strip != "" {
		start = strings.TrimLeft(s, p.strip)
	}
	switch {
	case p.path:
		for _, name := range p.names {
			if dir, ok := strings.CutSuffix(s, name); ok && (dir == "" || dir[len(dir)-1] == '/') {
				return true
			}
		}
		return false
	case p.names != nil:
		return slices.Contains(p.names, start)
	case p.prefixes != nil:
		for _, prefix := range p.prefixes {
			if strings.HasPrefix(start, prefix) {
				return p.re == nil || p.re.match(s)
			}
		}
		return false
	}
	return p.re.match(s)
}

// whole reports whether names are all strings that match, as they are.
func (p *pattern) whole() bool { return p.names != nil && p.strip == "" && !p.path }

type patterns []pattern

func (p patterns) match(s string) bool {
	for i := range p {
		if p[i].match(s) {
			return true
		}
	}
	return false
}

// analyze takes the shape of a pattern apart, of which tree is the syntax: what has one
// compiles.
func analyze(expr string, tree *syntax.Regexp) pattern {
	p := pattern{re: &lazyRegexp{expr: expr}}
	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		parts = tree.Sub
	}
	ends := parts[len(parts)-1].Op == syntax.OpEndText
	switch {
	case parts[0].Op == syntax.OpBeginText:
		parts = parts[1:]
	case startsPath(parts[0]) && ends:
		if all, ok := literals(parts[1 : len(parts)-1]); ok {
			return pattern{names: all, path: true}
		}
		return p
	default:
		return p
	}
	strip := ""
	if len(parts) > 0 {
		if strip = repeated(parts[0]); strip != "" {
			parts = parts[1:]
		}
	}
	// What is stripped must not be the start of what is looked for.
	stripped := func(s string) bool { return strip != "" && (s == "" || strings.HasPrefix(s, strip)) }
	if n := len(parts); n > 0 && ends {
		if all, ok := literals(parts[:n-1]); ok && !slices.ContainsFunc(all, stripped) {
			return pattern{names: all, strip: strip}
		}
	}
	// The longest beginning that is one of a few strings.
	for n := len(parts); n > 0; n-- {
		if starts, ok := literals(parts[:n]); ok && !slices.Contains(starts, "") && !slices.ContainsFunc(starts, stripped) {
			p.prefixes, p.strip = starts, strip
			if n == len(parts) {
				p.re = nil
			}
			break
		}
	}
	return p
}

// repeated is the ASCII character of which an expression matches any number, "" if it is
// another one.
func repeated(re *syntax.Regexp) string {
	if re.Op != syntax.OpStar || re.Flags&syntax.NonGreedy != 0 {
		return ""
	}
	if c := re.Sub[0]; c.Op == syntax.OpLiteral && c.Flags&syntax.FoldCase == 0 && len(c.Rune) == 1 && c.Rune[0] < utf8.RuneSelf {
		return string(c.Rune)
	}
	return ""
}

// startsPath reports whether an expression is (^|/).
func startsPath(re *syntax.Regexp) bool {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	return re.Op == syntax.OpAlternate && len(re.Sub) == 2 && re.Sub[0].Op == syntax.OpBeginText &&
		re.Sub[1].Op == syntax.OpLiteral && re.Sub[1].Flags&syntax.FoldCase == 0 && string(re.Sub[1].Rune) == "/"
}

// literals lists the strings that a sequence of expressions matches, if they are few.
func literals(parts []*syntax.Regexp) ([]string, bool) {
	all := []string{""}
	for _, part := range parts {
		next, ok := literal(part)
		if !ok || len(all)*len(next) > maxLiterals {
			return nil, false
		}
		var joined []string
		bytes := 0
		for _, a := range all {
			for _, b := range next {
				if bytes += len(a) + len(b); bytes > maxLiteralBytes {
					return nil, false
				}
				joined = append(joined, a+b)
			}
		}
		all = joined
	}
	return all, true
}

func literal(re *syntax.Regexp) ([]string, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		// U+FFFD also matches bytes that are not UTF-8.
		return []string{string(re.Rune)}, re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError)
	case syntax.OpCapture:
		return literal(re.Sub[0])
	case syntax.OpConcat:
		return literals(re.Sub)
	case syntax.OpQuest:
		some, ok := literal(re.Sub[0])
		return append(some, ""), ok
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			some, ok := literal(sub)
			if !ok || len(all)+len(some) > maxLiterals {
				return nil, false
			}
			all = append(all, some...)
		}
		return all, true
	case syntax.OpCharClass:
		var all []string
		for i := 0; i < len(re.Rune); i += 2 {
			if int(re.Rune[i+1]-re.Rune[i]) > maxLiterals || re.Rune[i] <= utf8.RuneError && utf8.RuneError <= re.Rune[i+1] {
				return nil, false
			}
			for c := re.Rune[i]; c <= re.Rune[i+1]; c++ {
				all = append(all, string(c))
			}
		}
		return all, len(all) <= maxLiterals
	}
	return nil, false
}

// size is the number of nodes of an expression with repetitions written out, at
// most about limit.
func size(re *syntax.Regexp, limit int) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		if n += size(sub, limit); n > limit {
			return n
		}
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min, re.Max, 1)
	}
	return n
}

// Patterns are regular expressions on names, of which one must match.
type Patterns struct{ list patterns }

// ReadPatterns compiles the regular expressions that a key has in a file. total sums up their sizes, which
// are limited. Errors have the place.
func ReadPatterns(key string, items []*yaml.Node, total *int) (Patterns, error) {
	list, err := readPatterns(key, items, total)
	return Patterns{list}, err
}

// None reports whether there are no patterns.
func (p Patterns) None() bool { return len(p.list) == 0 }

// Match reports whether one of the patterns matches.
func (p Patterns) Match(name string) bool { return p.list.match(name) }

func readPatterns(key string, items []*yaml.Node, total *int) (patterns, error) {
	var all patterns
	for _, item := range items {
		expr := item.Text
		tree, err := syntax.Parse(expr, syntax.Perl)
		if err != nil {
			reason := err.Error()
			if se, ok := errors.AsType[*syntax.Error](err); ok {
				reason = fmt.Sprintf("%s: %q", se.Code, yaml.Clip(se.Expr))
			}
			return nil, item.Errorf("bad regular expression %q: %s; see https://go.dev/s/re2syntax", yaml.Clip(expr), reason)
		}
		n := size(tree, maxPatternSize)
		if *total += n; n > maxPatternSize {
			return nil, item.Errorf("regular expression %q is too large: repeat less", yaml.Clip(expr))
		}
		if *total > maxTotalSize {
			return nil, item.Errorf("the regular expressions up to here are too large together: make several files of them")
		}
		one := analyze(expr, tree)
		if key != "dso" && one.match("") {
			return nil, item.Errorf("%s has %q, which matches names of no length and so perhaps all: ask for a character", key, yaml.Clip(expr))
		}
		all = append(all, one)
	}
	return all, nil
}

// A condition is the number of a set of patterns in a nameIndex.
type condition int32

const noCondition condition = -1

// A nameIndex holds patterns that are all tried on the same names.
type nameIndex struct {
	n     condition
	names map[string][]condition // conditions that whole names fulfil
	calls map[string][]condition // and those that system calls do
	rest  []indexedPattern
}

type indexedPattern struct {
	pattern
	condition condition
}

func (x *nameIndex) add(ps patterns) condition {
	c := x.n
	x.n++
	for _, p := range ps {
		if !p.whole() {
			x.rest = append(x.rest, indexedPattern{p, c})
			continue
		}
		x.names = addNames(x.names, p.names, c)
	}
	return c
}

// addSyscalls adds a condition that a function is one of these system calls.
func (x *nameIndex) addSyscalls(names []string) condition {
	c := x.n
	x.n++
	x.calls = addNames(x.calls, names, c)
	return c
}

// conditionNames are whole names that fulfil a condition.
type conditionNames struct {
	condition condition
	names     []string
}

// indexed finds conditions by names, nil if there are none.
func indexed(list []conditionNames) (m map[string][]condition) {
	for _, c := range list {
		m = addNames(m, c.names, c.condition)
	}
	return m
}

func addNames(m map[string][]condition, names []string, c condition) map[string][]condition {
	if m == nil {
		m = make(map[string][]condition)
	}
	for _, name := range names {
		m[name] = append(m[name], c)
	}
	return m
}

// match adds the conditions that name fulfils to found.
func (x *nameIndex) match(found []condition, name string) []condition {
	found = append(found, x.names[name]...)
	if len(x.calls) > 0 {
		found = append(found, x.calls[kernelEntry(name)]...)
		found = append(found, x.calls[libraryEntry(name)]...)
	}
	for i := range x.rest {
		if p := &x.rest[i]; p.match(name) {
			found = append(found, p.condition)
		}
	}
	return found
}

// join adds the conditions of y, whose numbers go on from those of x.
func (x *nameIndex) join(y *nameIndex) {
	joinNames := func(to *map[string][]condition, from map[string][]condition) {
		for name, conditions := range from {
			for _, c := range conditions {
				*to = addNames(*to, []string{name}, x.n+c)
			}
		}
	}
	joinNames(&x.names, y.names)
	joinNames(&x.calls, y.calls)
	for _, p := range y.rest {
		x.rest = append(x.rest, indexedPattern{p.pattern, x.n + p.condition})
	}
	x.n += y.n
}
