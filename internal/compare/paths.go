package compare

import (
	"slices"

	"profdiff/internal/run"
)

// paths are the stacks of one run by function: stacks that differ in addresses alone are one path.
// A recording of a whole machine has several stacks for each.
//
// They are numbered depth first, callers before callees: what path p calls are the paths from p+1
// to the one before end[p], so that sums over what is below a path, and walks in which each
// function counts once, are loops over slices.
type paths struct {
	// symbol is by path the innermost function. Path 0 is empty, with the symbol that stands for it.
	symbol []int32
	// parent is the path of the caller; end is behind the last path below.
	parent, end []int32
	// of is the path by run.StackID.
	of []int32
}

// newPaths makes the paths of stacks whose locations have these functions.
func newPaths(stacks *run.Stacks, f *frames) paths {
	t := run.NewPrefixes()
	of := make([]int32, stacks.Len())
	for id := 1; id < len(of); id++ {
		at := of[stacks.Parent(run.StackID(id))]
		for _, symbol := range slices.Backward(f.at(stacks.Location(run.StackID(id)))) {
			at = t.Of(at, symbol)
		}
		of[id] = at
	}
	n := t.Len()
	p := paths{symbol: make([]int32, n), parent: make([]int32, n), end: make([]int32, n), of: of}
	// Parents precede their children in t: sizes from the last on, then places from the first on,
	// each parent having the next one for its children.
	size := make([]int32, n)
	for i := n - 1; i > 0; i-- {
		size[i]++
		size[t.Parent(int32(i))] += size[i]
	}
	place, next := make([]int32, n), make([]int32, n)
	next[0], p.end[0] = 1, int32(n)
	for i := 1; i < n; i++ {
		up := t.Parent(int32(i))
		at := next[up]
		next[up] += size[i]
		place[i], next[i] = at, at+1
		p.symbol[at], p.parent[at], p.end[at] = t.Last(int32(i)), place[up], at+size[i]
	}
	for id := range of {
		of[id] = place[of[id]]
	}
	return p
}

func (p *paths) len() int { return len(p.symbol) }

// spent is what one event spent in a run, by path: at first what its samples that end there spent, and from
// [spent.addUp] on what those that end below it spent, too. Runs and events take turns with one value, which is
// large.
type spent []run.Sum

// newSpent has room for any run of sides.
func newSpent(sides ...*side) spent {
	most := 0
	for _, s := range sides {
		for i := range s.paths {
			most = max(most, s.paths[i].len())
		}
	}
	return make(spent, most)
}

// rooms are for what a run of each side spent.
type rooms struct {
	base, head spent
	shared     bool // it is one room
}

// mostOwn is up to how many paths of a run both sides have a room: 12 MB. Of more, a second room would be a good part of
// all that a comparison takes.
const mostOwn = 1 << 19

func newRooms(base, head *side) rooms {
	if one := newSpent(base, head); len(one) > mostOwn {
		return rooms{one, one, true}
	}
	return rooms{newSpent(base), newSpent(head), false}
}

// each does what needs the room of base and what needs that of head, together if they have two.
func (r *rooms) each(base, head func()) {
	if r.shared {
		base()
		head()
		return
	}
	together(base, head)
}

// of returns what an event of the run spent.
func (s spent) of(r *run.Run, p *paths, event int) spent {
	s = s[:p.len()]
	clear(s)
	for i := range r.Samples {
		if x := &r.Samples[i]; int(x.Event) == event {
			s[p.of[x.Stack]].Add(&x.Sum)
		}
	}
	return s
}

// addUp adds to each path what was spent below it.
func (s spent) addUp(p *paths) {
	for id := len(s) - 1; id > 0; id-- {
		if s.has(id) {
			s[p.parent[id]].Add(&s[id])
		}
	}
}

// has reports whether anything was spent.
func (s spent) has(id int) bool { return s[id].Count != 0 || s[id].Weight != 0 }

func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// An outermost tells which paths end in a symbol, or in whatever else paths are looked at by, that
// none of their callers ends in: a recursive function counts once in a stack. Paths have to come in
// their order.
type outermost []int32 // behind the last path below the last outermost one

func (o outermost) reset() { clear(o) }

func (o outermost) is(p *paths, id int, of int32) bool {
	if int32(id) < o[of] {
		return false
	}
	o[of] = p.end[id]
	return true
}
