// Package align matches the functions of two builds, and the files that have them; and
// sequences, such as instructions or lines ([Sequences]).
//
// A function is rarely spelled the same after an edit: compilers number clones and
// lambdas, people rename and move code. Compared by name alone, such a function is
// one that vanished and another that appeared. [Functions] matches them in layers, the
// surest first; what one layer matched the next leaves alone:
//
//  1. what the user said ([ParseRename]);
//  2. the same name in the same file, then in another one; local functions of one name by
//     their source files, or where only addresses tell them apart by their order;
//  3. the same name without what compilers add (suffixes of GCC and LLVM for clones and
//     parts, numbers of lambdas, hashes of Rust: [Normalize]);
//  4. similar names, sources, neighbours in the call graph and weights, where one pair is
//     clearly better than any other for both of its functions;
//  5. one function of a side and several of the other that do its work together: by their
//     names, and by what flows from each caller and to each callee.
//
// Files are matched before ([Names], [Files]): the program under test is the same one whatever
// it is called, and a library in another version is that library.
//
// A wrong match is worse than none: where the evidence leaves a choice between
// several functions, there is no match.
package align

import (
	"cmp"
	"fmt"
	"slices"
)

// A Function is a function of one side, with what the recordings of that side say
// of it.
type Function struct {
	Name       string // for people: demangled, retraced
	SystemName string // for linkers: mangled, obfuscated
	// Apart tells the function apart from others of its name in its file: a source file, or an
	// address as "0x1234". It stands behind an @ at the end of Name; "" if there are no others.
	Apart string
	DSO   string // base name of the file
	File  string // source file, "" if unknown
	// Unknown marks the stand-in for addresses without a name. It is matched
	// only with the stand-in of the same name and file, or by a Rename of its
	// full name.
	Unknown bool
	Weight  float64 // inclusive weight as a share, 0 to 1, of its side
	// Samples is the number of samples with the function, math.MaxInt64 if nothing was
	// sampled but all was counted. Without them it is not known whether a function that
	// only one side has could be missing on the other by chance.
	Samples int64
	// Callers and Callees are functions of the same side. The edges of one
	// function in one direction need not add up to its weight.
	Callers, Callees []Edge
	Lines            []Line // sampled source lines; may be empty
}

// An Edge is a call from or to another function.
type Edge struct {
	Function int     // index in the slice of the side
	Weight   float64 // weight of the samples with this call
}

// A Line is a source line with its self weight.
type Line struct {
	Line   int64
	Weight float64
}

// A Kind says by which rule functions were matched.
type Kind string

const (
	Exact      Kind = "exact"      // same name, same file
	Normalized Kind = "normalized" // same name but for what compilers add, see Normalize
	Renamed    Kind = "renamed"    // another name: by Options.Renames, or found by similarity
	Moved      Kind = "moved"      // same name, another file
	Split      Kind = "split"      // one of base became several of head
	Merged     Kind = "merged"     // several of base became one of head
	Added      Kind = "added"      // in head only
	Removed    Kind = "removed"    // in base only
)

// A Match says that a function of base and one of head are the same.
type Match struct {
	Base, Head int // indices; -1 for Added and Removed
	// Group numbers the groups from 0. Matches that have a Base or a Head in
	// common are in one group, and only those: one row of a comparison, whose
	// sides are the sums over the distinct Base and the distinct Head
	// indices. Every index is in exactly one group. A group has several
	// matches where one function became several or several one:
	//
	//   - parts and clones made by the compiler (f.cold, f.part.0,
	//     f.constprop.1) that the other side does not have belong to the
	//     function they were made of (kind Normalized);
	//   - renames may be many to one and one to many (kind Renamed);
	//   - the parts of a function are one group with it (kinds Split and Merged).
	//
	// Other matches of such a group may be Exact: f with f. As the functions
	// of a group call each other, the inclusive weight of a group counts each
	// sample with any of them once: it is not the sum of the inclusive weights.
	Group      int
	Kind       Kind
	Confidence float64 // 0 to 1; 1 for Exact, Added, Removed and Options.Renames
	Reason     string  // for people; "" for Exact, Added and Removed
}

// Options are what the user knows better.
type Options struct {
	// Renames take precedence over everything.
	Renames []Rename
	// Files are the names in base of files that head calls something else, as [Files] finds
	// them; nil has them found without knowing any.
	Files map[string]string
}

// Functions matches the functions of two sides. Every index of base and of head is
// in at least one match, the matches are sorted by base, then head index, those
// without base last. The result depends on the order of the functions only
// where nothing else tells functions apart.
//
// An edge to a function that does not exist is an error, and so is a rename that
// names no function. Weights that are negative or not
// finite count as 0.
func Functions(base, head []Function, opt Options) ([]Match, error) {
	m := &matcher{names: make(numbering[string], len(base)+len(head)), dsos: make(numbering[string]), keys: make(numbering[fileKey], len(base)+len(head))}
	var err error
	if m.base, err = m.newSide("base", base); err != nil {
		return nil, err
	}
	if m.head, err = m.newSide("head", head); err != nil {
		return nil, err
	}
	if err := m.rename(opt.Renames); err != nil {
		return nil, err
	}
	if opt.Files == nil {
		opt.Files = Files(base, head, nil)
	}
	m.mergeDSOs(opt.Files)
	m.numberKeys()
	m.matchNamesakes()
	m.matchExact()
	m.matchMoved()
	m.matchNormalized()
	m.matchSimilar()
	return m.result(), nil
}

// matcher is the state of one matching.
type matcher struct {
	base, head *side
	names      numbering[string]  // full and normalised names
	dsos       numbering[string]  // names of files
	keys       numbering[fileKey] // names in files
	// parent is a forest over group numbers, see find.
	parent  []int32
	matches []Match
	spread  spread
}

// side is one side, prepared.
type side struct {
	label string // "base" or "head"
	fns   []Function
	names []name
	// name and normal are the numbers of the full and the normalised name, dso is
	// the number of the file.
	name, normal, dso []int32
	// key and normalKey are the numbers of the names in their file.
	key, normalKey []int32
	// weight is Function.Weight, or 0 where that is no share.
	weight []float64
	// callers and callees are the heaviest edges, without calls to itself.
	callers, callees [][]edge
	// inDegree and outDegree are the numbers of all callers and callees.
	inDegree, outDegree []int32
	// group of each function, -1 as long as it is not matched. Use matcher.find.
	group []int32
	// partner is the first function that each was matched with, or -1.
	partner []int32
}

// edge is an Edge with its share of the edges of its function.
type edge struct {
	fn            int32
	share, weight float64
}

// maxEdges bounds the edges that are looked at: the heaviest ones tell a function.
const maxEdges = 48

func (m *matcher) newSide(label string, fns []Function) (*side, error) {
	n := len(fns)
	s := &side{
		label: label, fns: fns,
		names: make([]name, n), name: make([]int32, n), normal: make([]int32, n), dso: make([]int32, n), weight: make([]float64, n),
		callers: make([][]edge, n), callees: make([][]edge, n),
		inDegree: make([]int32, n), outDegree: make([]int32, n), group: make([]int32, n), partner: make([]int32, n),
	}
	var all []Edge
	for i := range fns {
		f := &fns[i]
		s.names[i] = parseName(f)
		s.name[i], s.normal[i] = m.names.of(f.Name), m.names.of(s.names[i].normal)
		s.dso[i] = m.dsos.of(f.DSO)
		s.weight[i] = share(f.Weight)
		s.group[i], s.partner[i] = -1, -1
		var err error
		if s.callers[i], s.inDegree[i], all, err = heaviest(f.Callers, i, n, all); err != nil {
			return nil, fmt.Errorf("%s function %d (%.100q): caller: %w", label, i, f.Name, err)
		}
		if s.callees[i], s.outDegree[i], all, err = heaviest(f.Callees, i, n, all); err != nil {
			return nil, fmt.Errorf("%s function %d (%.100q): callee: %w", label, i, f.Name, err)
		}
	}
	return s, nil
}

// heaviest returns the edges of function self that matter, and the number of all
// distinct ones. It uses buf as room and returns it for the next call.
func heaviest(edges []Edge, self, n int, buf []Edge) ([]edge, int32, []Edge, error) {
	buf = buf[:0]
	for _, e := range edges {
		if e.Function < 0 || e.Function >= n {
			return nil, 0, buf, fmt.Errorf("function %d of %d", e.Function, n)
		}
		if w := share(e.Weight); w > 0 && e.Function != self {
			buf = append(buf, Edge{Function: e.Function, Weight: w})
		}
	}
	slices.SortFunc(buf, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.Function, b.Function), cmp.Compare(a.Weight, b.Weight))
	})
	distinct := buf[:0]
	for _, e := range buf {
		if k := len(distinct); k > 0 && distinct[k-1].Function == e.Function {
			distinct[k-1].Weight += e.Weight
		} else {
			distinct = append(distinct, e)
		}
	}
	degree := int32(len(distinct))
	slices.SortFunc(distinct, func(a, b Edge) int {
		return cmp.Or(-cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Function, b.Function))
	})
	distinct = distinct[:min(len(distinct), maxEdges)]
	var sum float64
	for _, e := range distinct {
		sum += e.Weight
	}
	out := make([]edge, len(distinct))
	for i, e := range distinct {
		out[i] = edge{fn: int32(e.Function), share: e.Weight / sum, weight: e.Weight}
	}
	return out, degree, buf, nil
}

// share is w if it can be a weight, else 0. It is bounded so that sums are finite.
func share(w float64) float64 {
	if w > 0 {
		return min(w, 1e18)
	}
	return 0
}

// numbering numbers what it is asked for from 0.
type numbering[K comparable] map[K]int32

func (n numbering[K]) of(k K) int32 {
	i, ok := n[k]
	if !ok {
		i = int32(len(n))
		n[k] = i
	}
	return i
}

// pair matches two functions, in the group of the one that already has a group.
func (m *matcher) pair(b, h int32, kind Kind, confidence float64, reason string) {
	gb, gh := m.find(m.base.group[b]), m.find(m.head.group[h])
	switch {
	case gb < 0 && gh < 0:
		gb = int32(len(m.parent))
		m.parent = append(m.parent, gb)
	case gb < 0:
		gb = gh
	case gh >= 0:
		m.parent[gh] = gb
	}
	m.base.group[b], m.head.group[h] = gb, gb
	if m.base.partner[b] < 0 {
		m.base.partner[b] = h
	}
	if m.head.partner[h] < 0 {
		m.head.partner[h] = b
	}
	m.matches = append(m.matches, Match{Base: int(b), Head: int(h), Kind: kind, Confidence: confidence, Reason: reason})
}

// find returns the group that group g became part of, or -1 for -1.
func (m *matcher) find(g int32) int32 {
	for g >= 0 && m.parent[g] != g {
		m.parent[g] = m.parent[m.parent[g]]
		g = m.parent[g]
	}
	return g
}

// result adds what has no match, sorts, and numbers the groups.
func (m *matcher) result() []Match {
	for b, g := range m.base.group {
		if g < 0 {
			m.matches = append(m.matches, Match{Base: b, Head: -1, Kind: Removed, Confidence: 1})
		}
	}
	for h, g := range m.head.group {
		if g < 0 {
			m.matches = append(m.matches, Match{Base: -1, Head: h, Kind: Added, Confidence: 1})
		}
	}
	slices.SortStableFunc(m.matches, func(a, b Match) int {
		// As unsigned numbers, -1 is the greatest.
		return cmp.Or(cmp.Compare(uint(a.Base), uint(b.Base)), cmp.Compare(uint(a.Head), uint(b.Head)))
	})
	// A pair that several rules found has the kind of the first.
	m.matches = slices.CompactFunc(m.matches, func(a, b Match) bool { return a.Base == b.Base && a.Head == b.Head })
	next := 0
	number := make(map[int32]int, len(m.parent))
	for i := range m.matches {
		x := &m.matches[i]
		if x.Base < 0 || x.Head < 0 {
			x.Group = next
			next++
			continue
		}
		g := m.find(m.base.group[x.Base])
		n, ok := number[g]
		if !ok {
			n = next
			number[g] = n
			next++
		}
		x.Group = n
	}
	return m.matches
}
