package predict

import (
	"fmt"
	"regexp"
	"strings"

	"profdiff/internal/align"
	"profdiff/internal/predict/hot"
)

// functionHash is what Rust's compiler adds to a name.
var functionHash = regexp.MustCompile(`^(.+)::(h[0-9a-f]{16})$`)

// sameFunction reports whether a symbol is what the user calls a function: as linkers or as
// sources write it, with or without the hash of Rust, parameters, and template arguments.
func sameFunction(symbol, wanted string) bool {
	if symbol == wanted || align.Normalize(symbol) == wanted {
		return true
	}
	source := hot.SourceName(symbol)
	if source == symbol {
		return false
	}
	if m := functionHash.FindStringSubmatch(wanted); m != nil && strings.Contains(symbol, m[2]) {
		wanted = m[1]
	}
	leading := align.Leading(source)
	return source == wanted || align.Normalize(source) == wanted || align.Bare(source) == wanted ||
		leading == wanted || strings.Contains(wanted, "<") && strings.HasSuffix(leading, " "+wanted) // behind the type that it returns
}

// A match is the loop after that stands for one before, nil if there is none.
type match struct {
	*hot.Loop
	flag string // what was taken on trust
}

// matchLoops finds for each loop before the loop after:
//
//  1. The user named both functions.
//  2. It is in the same function, or in the function that align takes for it. Functions without
//     names are the same if they are at the same place of one build.
//  3. Most of it is the same function, which was inlined, on one side or on both. A colder loop
//     gives way.
//  4. Only the first part of the name differs, the crate, package or outermost namespace, and
//     both are the hottest of their side.
//  5. Both are the hottest of their side, with most of its samples.
//
// Of the last two a flag says so.
func matchLoops(before, after []*hot.Loop, named, sameBuild bool) []match {
	out := make([]match, len(before))
	if named {
		for i := range before[:min(len(before), len(after))] {
			out[i].Loop = after[i]
		}
		return out
	}
	users := make(map[*hot.Loop]int) // loops after, and the loops before that have them
	take := func(i int, a *hot.Loop) {
		out[i].Loop, users[a] = a, i
	}
	for i, a := range alignLoops(before, after, sameBuild) {
		if a != nil {
			take(i, a)
		}
	}
	for i, b := range before {
		for _, a := range after {
			k, used := users[a]
			if out[i].Loop != nil || used && before[k].Share >= b.Share || !inlinedAlike(b, a) {
				continue
			}
			if used {
				out[k] = match{}
			}
			take(i, a)
		}
	}
	if len(before) == 0 || len(after) == 0 || out[0].Loop != nil {
		return out
	}
	b, a := before[0], after[0]
	if _, used := users[a]; used {
		return out
	}
	const others = "--function BEFORE=AFTER names others"
	switch {
	case onlyFirstDiffers(b.FunctionName(), a.FunctionName()):
		out[0] = match{a, fmt.Sprintf("%s before and %s after are taken for the same function: only the first part of their names differs, and both are the hottest; %s", b.FunctionName(), a.FunctionName(), others)}
	case b.Share > mostOfSide && a.Share > mostOfSide:
		out[0] = match{a, fmt.Sprintf("the hottest loop of each side, in %s before (%.0f%%) and %s after (%.0f%%): their names do not say that they do the same; %s", b.FunctionName(), 100*b.Share, a.FunctionName(), 100*a.Share, others)}
	}
	return out
}

// mostOfSide is the share of the samples of both sides above which their hottest loops are
// taken to do the same.
const mostOfSide = 0.5

// alignLoops finds for each loop before the loop after whose function align takes for its own.
func alignLoops(before, after []*hot.Loop, sameBuild bool) []*hot.Loop {
	functions := func(list []*hot.Loop, side string) (fs []align.Function) {
		if sameBuild {
			side = ""
		}
		for _, h := range list {
			name, system := hot.SourceName(h.Function.Name), h.Function.Name
			if name == "" {
				name = fmt.Sprintf("%s%#x", side, h.Function.Start)
				system = name
			}
			fs = append(fs, align.Function{Name: name, SystemName: system, Weight: min(1, h.Share)})
		}
		return fs
	}
	out := make([]*hot.Loop, len(before))
	matches, err := align.Functions(functions(before, "before "), functions(after, "after "), align.Options{})
	if err != nil {
		return out
	}
	used := make(map[int]bool)
	for _, m := range matches {
		if m.Base >= 0 && m.Head >= 0 && out[m.Base] == nil && !used[m.Head] {
			out[m.Base] = after[m.Head]
			used[m.Head] = true
		}
	}
	return out
}

// onlyFirstDiffers reports whether names as sources write them differ in the crate, the package
// or the outermost namespace, and in nothing else.
func onlyFirstDiffers(a, b string) bool {
	a, b = withoutFirst(align.Normalize(a)), withoutFirst(align.Normalize(b))
	return a != "" && a == b
}

// withoutFirst is a name without its crate, package or outermost namespace, "" if it has none.
func withoutFirst(name string) string {
	if first, rest, ok := strings.Cut(name, "::"); ok {
		if strings.ContainsAny(first, " <([") {
			return "" // a return type, or <T as Trait>
		}
		return rest
	}
	path := name // of Go: example.com/before/list.(*List).Len
	if i := strings.IndexAny(name, "[("); i >= 0 {
		path = name[:i]
	}
	_, rest, _ := strings.Cut(name[strings.LastIndexByte(path, '/')+1:], ".")
	return rest
}

// mostInlined is the part of a loop that a function has to be that the loop is taken for.
const mostInlined = 0.5

// inlinedIn reports whether most of a loop is a function that is inlined there.
func inlinedIn(h *hot.Loop, is func(name string) bool) bool {
	for name, share := range h.Inlined {
		if is(name) && share >= mostInlined*h.Self && share > 0 {
			return true
		}
	}
	return false
}

// inlinedAlike reports whether one function is two loops, as it is inlined on one side or on
// both.
func inlinedAlike(b, a *hot.Loop) bool {
	is := func(h *hot.Loop) func(string) bool {
		name := align.Normalize(h.Function.Name)
		return func(other string) bool { return name != "" && align.Normalize(other) == name }
	}
	return inlinedIn(b, is(a)) || inlinedIn(a, is(b)) || inlinedIn(b, func(name string) bool {
		name = align.Normalize(name)
		return inlinedIn(a, func(other string) bool { return align.Normalize(other) == name })
	})
}
