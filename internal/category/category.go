// Package category sorts samples into categories by their stacks.
//
//  1. A [Set] is an ordered list of categories, from YAML ([Parse]) or the built-in one
//     ([Builtin]).
//  2. The names of functions, files, threads and system calls of a run are matched with
//     the patterns of the rules, each name once.
//  3. A sample belongs to the first category that has a rule that holds for its stack, and
//     to [Other] if there is none, so that the categories of a run sum to its total.
//
// The order of the categories alone decides,
// neither the innermost nor the outermost frame: a page fault in read(2) is a
// read because the built-in set has reads before page faults, and an interrupt
// that hit during read(2) is an interrupt because it has those before reads.
package category

import (
	"sync"

	"profdiff/internal/run"
)

// Other is the category of samples that no other category takes.
const Other = "other"

// A Set is an ordered list of categories. It is safe for concurrent use.
type Set struct {
	// names are the categories in order, Other last.
	names []string
	// rules are in order: a sample belongs to the category of the first that holds.
	rules []rule
	// functions holds the conditions on names of functions.
	functions nameIndex
}

// A rule is a condition on a stack and its labels. All parts that are given must
// hold.
type rule struct {
	category int
	// match is a condition of Set.functions on a frame, or noCondition.
	match condition
	// leaf restricts match, dso and kinds to the innermost frame; without it some
	// frame must fulfil all three.
	leaf bool
	dso  patterns
	// kinds has a bit for each kind of mapping, 0 is any.
	kinds uint
	// syscalls says that names in files of programs are none of system calls.
	syscalls bool
	// under is a condition on a frame further out, or noCondition, and underBit
	// the bit that stands for it.
	under    condition
	underBit uint64
	// thread and process are conditions on names of the sample's labels.
	thread, process patterns
}

// framed reports whether the rule needs a frame.
func (r *rule) framed() bool {
	return r.match != noCondition || r.kinds != 0 || len(r.dso) > 0
}

// labelled reports whether the rule depends on labels.
func (r *rule) labelled() bool { return len(r.thread) > 0 || len(r.process) > 0 }

// builtin makes the built-in set of builtin.go, which is builtin.yaml as it was parsed: to
// parse it costs more than to sort the samples of a few runs.
var builtin = sync.OnceValue(builtinSet)

// Builtin is the set for Linux and Android.
func Builtin() *Set { return builtin() }

// Names lists the categories in their order, Other last.
func (s *Set) Names() []string { return append([]string(nil), s.names...) }

// Group sums the samples of all events by category. Rows are in the order of the
// set; categories without samples are left out. A sample is in one category only,
// so that Total is Self.
func (s *Set) Group(r *run.Run) []run.Row { return s.group(r, newKnown()) }

// Groups groups several runs. Names that they share are looked at once.
func (s *Set) Groups(runs []*run.Run) [][]run.Row {
	g := s.Grouper()
	list := make([][]run.Row, len(runs))
	for i, r := range runs {
		list[i] = g.Group(r)
	}
	return list
}

// A Grouper groups one run after the other, and looks at names that they share once. It is for one
// goroutine, and its memory grows with distinct names.
type Grouper struct {
	set   *Set
	known *known
}

// Grouper groups by the categories of the set.
func (s *Set) Grouper() *Grouper { return &Grouper{s, newKnown()} }

// Group does what [Set.Group] does.
func (g *Grouper) Group(r *run.Run) []run.Row { return g.set.group(r, g.known) }

func (s *Set) group(r *run.Run, k *known) []run.Row {
	n := len(r.Events)
	sums := make([]run.Sum, 2*n*len(s.names))
	rows := make([]run.Row, len(s.names))
	for i, name := range s.names {
		rows[i] = run.Row{Name: name, Self: sums[:n:n], Total: sums[n : 2*n : 2*n]}
		sums = sums[2*n:]
	}
	used := make([]bool, len(rows))
	for i, c := range s.of(r, k) {
		x := &r.Samples[i]
		rows[c].Self[x.Event].Add(&x.Sum)
		rows[c].Total[x.Event].Add(&x.Sum)
		used[c] = true
	}
	kept := rows[:0]
	for i := range rows {
		if used[i] {
			kept = append(kept, rows[i])
		}
	}
	return kept
}
