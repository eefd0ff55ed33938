package category

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A pattern is a regular expression. Most are a few names or beginnings of names,
// which are found without running it.
type pattern struct {
	// names are all strings that match, of patterns that have few.
	names []string
	// prefixes are such that each string that matches starts with one of them; nil
	// if the pattern does not tell.
	prefixes []string
	// re is nil if all strings that start so match, or if names are all. It is compiled
	// when it is first needed: few are.
	re func() *regexp.Regexp
}

// Limits of patterns. maxPatternSize is in nodes of the expression with its
// repetitions written out: a short pattern can stand for a large program.
const (
	maxPatternSize  = 10_000
	maxLiterals     = 256
	maxLiteralBytes = 16 << 10
)

func (p *pattern) match(s string) bool {
	switch {
	case p.names != nil:
		return slices.Contains(p.names, s)
	case p.prefixes != nil:
		for _, prefix := range p.prefixes {
			if strings.HasPrefix(s, prefix) {
				return p.re == nil || p.re().MatchString(s)
			}
		}
		return false
	}
	return p.re().MatchString(s)
}

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
	p := pattern{re: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		parts = tree.Sub
	}
	if parts[0].Op != syntax.OpBeginText {
		return p
	}
	parts = parts[1:]
	if n := len(parts); n > 0 && parts[n-1].Op == syntax.OpEndText {
		if all, ok := literals(parts[:n-1]); ok {
			return pattern{names: all}
		}
	}
	// The longest beginning that is one of a few strings.
	for n := len(parts); n > 0; n-- {
		if starts, ok := literals(parts[:n]); ok && !slices.Contains(starts, "") {
			p.prefixes = starts
			if n == len(parts) {
				p.re = nil
			}
			break
		}
	}
	return p
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
		if p.names == nil {
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
