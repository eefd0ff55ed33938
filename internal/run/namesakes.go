package run

import (
	"cmp"
	"iter"
	"math"
	"regexp"
	"slices"
	"strings"
)

// TellApart names files and functions of several runs so that equal names mean one. Of files of
// one base name it sets Parts. Of functions: of static
// functions of C that have one name in one binary, each is name@file, as perf probe and SystemTap
// write it, with as much of the path as is needed, or name@0x1234 where only the address tells
// them apart. Functions that have their name for themselves in all runs keep it, and so do
// those that were told apart before.
//
//  1. Functions of one name in one binary are of different files if one run has both.
//  2. Files of different runs are the same if their paths are, or else if as many of their last
//     parts are as of no other: directories differ between builds.
//  3. A function without origin is of its own if its run has one with an origin beside it, as a
//     global function has static namesakes. In another run nobody knows which it is.
func TellApart(runs ...*Run) {
	tellFilesApart(runs)
	for _, g := range findNamesakes(runs) {
		g.name()
	}
}

// Plain is the name without what tells it apart from others.
func (f *Function) Plain() string {
	if f.Apart == 0 {
		return f.Name
	}
	return f.Name[:len(f.Name)-int(f.Apart)-len("@")]
}

// Mark is the part of Origin that stands behind an @ in Name, "" if there is none.
func (f *Function) Mark() string { return f.Name[len(f.Name)-int(f.Apart):] }

// Recognize fills in Origin and Apart of a function whose name tells it apart: of what was
// written by [Run.WriteProfile], or kept elsewhere by its name. Of other functions it takes the
// source file for their origin if their name is an identifier of C: names of other languages
// have their package or class in them.
func (f *Function) Recognize() {
	if at := strings.LastIndexByte(f.Name, '@'); at > 0 {
		plain, apart := f.Name[:at], f.Name[at+1:]
		switch {
		case apart == "":
		case f.File == apart, isTail(f.File, apart):
			f.Apart, f.Origin = uint32(len(apart)), f.File
			return
		case plain == f.SystemName:
			f.Apart, f.Origin = uint32(len(apart)), apart
			return
		}
	}
	if identifier.MatchString(f.Name) {
		f.Origin = f.File
	}
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z_0-9]*$`)

// Spellings are the names by which users can mean the function: for people, for linkers, and
// with any part of the path of its origin, whether others have its name or not.
func (f *Function) Spellings() []string {
	list := f.apart()
	if f.SystemName != "" && f.SystemName != f.Name {
		list = append(list, f.SystemName)
	}
	return append(list, f.Name)
}

// apart are the spellings of Name.
func (f *Function) apart() (list []string) {
	plain := f.Plain()
	if plain != f.Name {
		list = append(list, plain)
	}
	for tail := range tails(f.Origin) {
		if tail != f.Mark() {
			list = append(list, plain+"@"+tail)
		}
	}
	return list
}

// Means reports whether an expression matches the name for people, told apart from others or
// not.
func (f *Function) Means(re *regexp.Regexp) bool {
	return re.MatchString(f.Name) || f.Origin != "" && slices.ContainsFunc(f.apart(), re.MatchString)
}

// tails yields the last parts of a path: c.c, b/c.c, a/b/c.c.
func tails(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := len(path); i > 0; {
			i = strings.LastIndexByte(path[:i], '/')
			if tail := path[i+1:]; tail != "" && !yield(tail) {
				return
			}
		}
	}
}

// namesakes are the functions of one name in one binary.
type namesakes struct {
	runs []ofRun
	// origins has one of each file, in one spelling.
	origins []string
	// of has the index of the origin of each function, -1 for none.
	of        map[*Function]int
	ambiguous bool
}

// ofRun are the functions of one run, with the origins that are different files.
type ofRun struct {
	functions []*Function
	origins   []string
}

// findNamesakes lists the names in binaries that functions of several origins have.
func findNamesakes(runs []*Run) (list []*namesakes) {
	shared := sharedNames(runs)
	if len(shared) == 0 {
		return nil
	}
	type key struct{ name, dso string }
	groups := make(map[key]*namesakes)
	for _, r := range runs {
		wanted := make([]string, len(r.Functions))
		for i := range r.Functions {
			if name := r.Functions[i].Plain(); shared[name] {
				wanted[i] = name
			}
		}
		found := make(map[key][]*Function) // of this run
		var order []key
		for i := range r.Locations {
			l := &r.Locations[i]
			for _, line := range l.Lines {
				if wanted[line.Function] == "" {
					continue
				}
				k := key{wanted[line.Function], r.Mappings[l.Mapping].Label()}
				if found[k] == nil {
					order = append(order, k)
				}
				if f := &r.Functions[line.Function]; !slices.Contains(found[k], f) {
					found[k] = append(found[k], f)
				}
			}
		}
		for _, k := range order {
			g := groups[k]
			if g == nil {
				g = &namesakes{of: make(map[*Function]int)}
				groups[k] = g
				list = append(list, g)
			}
			g.runs = append(g.runs, ofRun{functions: found[k]})
		}
	}
	for _, g := range list {
		g.resolve()
	}
	return slices.DeleteFunc(list, func(g *namesakes) bool { return !g.ambiguous })
}

// sharedNames are the names that functions of different origins have.
func sharedNames(runs []*Run) map[string]bool {
	origins := make(map[string]string)
	shared := make(map[string]bool)
	for _, r := range runs {
		for i := range r.Functions {
			if f := &r.Functions[i]; f.Origin != "" {
				first, ok := origins[f.Plain()]
				if !ok {
					origins[f.Plain()] = f.Origin
				}
				if ok && first != f.Origin || f.Apart != 0 {
					shared[f.Plain()] = true
				}
			}
		}
	}
	for _, r := range runs {
		for i := range r.Functions {
			if f := &r.Functions[i]; f.Origin == "" && origins[f.Name] != "" {
				shared[f.Name] = true
			}
		}
	}
	return shared
}

// resolve finds the files that the functions are of: first in the runs that have most.
func (g *namesakes) resolve() {
	for i := range g.runs {
		r := &g.runs[i]
		for _, f := range r.functions {
			if f.Origin != "" && r.origin(f) < 0 {
				r.origins = append(r.origins, f.Origin)
			}
		}
	}
	slices.SortStableFunc(g.runs, func(a, b ofRun) int { return len(b.origins) - len(a.origins) })
	for i := range g.runs {
		r := &g.runs[i]
		at := g.match(r.origins)
		for _, f := range r.functions {
			g.of[f] = -1
			if k := r.origin(f); k >= 0 {
				g.of[f] = at[k]
			} else if len(r.origins) > 0 {
				g.ambiguous = true // a global function
			}
			g.ambiguous = g.ambiguous || f.Apart != 0
		}
	}
	g.ambiguous = g.ambiguous || len(g.origins) > 1
}

// origin is the index of a function's origin, -1 for none.
func (r *ofRun) origin(f *Function) int {
	if f.Origin == "" {
		return -1
	}
	return slices.IndexFunc(r.origins, func(o string) bool { return o == f.Origin || isTail(o, f.Origin) || isTail(f.Origin, o) })
}

// isTail reports whether a path ends in another.
func isTail(path, tail string) bool { return strings.HasSuffix(path, "/"+tail) }

// match returns the index of each origin of a run, and adds those that are new.
func (g *namesakes) match(own []string) (at []int) {
	type pair struct{ own, known, parts int }
	var pairs []pair
	for i, o := range own {
		for k, known := range g.origins {
			if n := commonParts(o, known); n > 0 {
				pairs = append(pairs, pair{i, k, n})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return -cmp.Compare(a.parts, b.parts) })
	at = slices.Repeat([]int{-1}, len(own))
	for _, p := range pairs {
		if at[p.own] < 0 && !slices.Contains(at, p.known) {
			at[p.own] = p.known
		}
	}
	for i, o := range own {
		if at[i] < 0 {
			at[i] = len(g.origins)
			g.origins = append(g.origins, o)
		}
	}
	return at
}

// commonParts is how many of the last parts of two paths are the same, more than of any other
// path if the paths are equal.
func commonParts(a, b string) (n int) {
	if a == b {
		return math.MaxInt
	}
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	for n < min(len(x), len(y)) && x[len(x)-1-n] == y[len(y)-1-n] {
		n++
	}
	return n
}

// name tells the functions apart.
func (g *namesakes) name() {
	labels := make([]string, len(g.origins))
	for i, o := range g.origins {
		labels[i] = o
		for tail := range tails(o) {
			if !slices.ContainsFunc(g.origins, func(other string) bool { return other != o && (other == tail || isTail(other, tail)) }) {
				labels[i] = tail
				break
			}
		}
	}
	for f, i := range g.of {
		if i >= 0 && int(f.Apart) > len(labels[i]) {
			labels[i] = f.Mark()
		}
	}
	for f, i := range g.of {
		if i >= 0 && f.Mark() != labels[i] {
			f.Name, f.Apart = f.Plain()+"@"+labels[i], uint32(len(labels[i]))
		}
	}
}
