package compare

import (
	"cmp"
	"math"
	"slices"

	"profdiff/internal/run"
)

// A Neighbor is a caller or a callee of a function: what is spent in and below their
// direct calls.
type Neighbor struct {
	// Function is an index in Event.Functions; -1 as a caller means that the
	// function is outermost.
	Function int
	Calls    Change
}

// Neighbors are the direct callers and callees of a function of an event, by absolute
// change. Of a recursive function the outermost call counts.
func (c *Comparison) Neighbors(event, function int) (callers, callees []Neighbor) {
	e := &c.Events[event]
	row := int32(e.Functions[function].row)
	byRow := make([]int, len(c.rows.rows))
	for i := range e.Functions {
		byRow[e.Functions[i].row] = i
	}
	in, out := make(map[int]*cost), make(map[int]*cost)
	add := func(s *side, rowOf []int32, at []int, of func(*cost) []run.Sum) {
		var path []int32
		for i, r := range s.runs {
			f := &s.frames[i]
			for j := range r.Samples {
				sample := &r.Samples[j]
				if int(sample.Event) != at[i] {
					continue
				}
				path = path[:0]
				for id := sample.Stack; id != 0; id = r.Stacks.Parent(id) {
					for _, sym := range f.at(r.Stacks.Location(id)) {
						path = append(path, rowOf[sym])
					}
				}
				slices.Reverse(path)
				k := slices.Index(path, row)
				if k < 0 {
					continue
				}
				count := func(m map[int]*cost, fn int) {
					n, ok := m[fn]
					if !ok {
						fresh := newCost(len(c.Base), len(c.Head))
						n = &fresh
						m[fn] = n
					}
					of(n)[i].Add(&sample.Sum)
				}
				caller := -1
				if k > 0 {
					caller = byRow[path[k-1]]
				}
				count(in, caller)
				// A sample counts once for each callee, however deep the recursion.
				called := make(map[int]bool)
				for ; k+1 < len(path); k++ {
					if callee := byRow[path[k+1]]; path[k] == row && !called[callee] {
						called[callee] = true
						count(out, callee)
					}
				}
			}
		}
	}
	add(c.base, c.rows.base, e.pair.base, func(c *cost) []run.Sum { return c.base })
	add(c.head, c.rows.head, e.pair.head, func(c *cost) []run.Sum { return c.head })
	list := func(m map[int]*cost) (list []Neighbor) {
		for fn, sums := range m {
			list = append(list, Neighbor{fn, e.Normalization.newChange(e.tests, *sums)})
		}
		slices.SortFunc(list, func(a, b Neighbor) int {
			return cmp.Or(-cmp.Compare(math.Abs(a.Calls.Delta()), math.Abs(b.Calls.Delta())), a.Function-b.Function)
		})
		return list
	}
	return list(in), list(out)
}
