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
	room := newSpent(c.base, c.head)
	outer := make(outermost, len(c.rows.rows))
	add := func(s *side, rowOf []int32, at []int, of func(*cost) []run.Sum) {
		for i, r := range s.runs {
			p := &s.paths[i]
			spent := room.of(r, p, at[i])
			spent.addUp(p)
			outer.reset()
			count := func(m map[int]*cost, function, id int) {
				n, ok := m[function]
				if !ok {
					fresh := newCost(len(c.Base), len(c.Head))
					n = &fresh
					m[function] = n
				}
				of(n)[i].Add(&spent[id])
			}
			inside := int32(0) // behind the last path below the last call of the function
			for id := 1; id < p.len(); id++ {
				if !spent.has(id) {
					continue
				}
				caller, called := int(p.parent[id]), rowOf[p.symbol[id]]
				// A sample counts once for each callee, however deep the recursion.
				if caller != 0 && rowOf[p.symbol[caller]] == row && outer.is(p, id, called) {
					count(out, byRow[called], id)
				}
				if called != row || int32(id) < inside {
					continue
				}
				inside = p.end[id]
				if caller == 0 {
					count(in, -1, id)
				} else {
					count(in, byRow[rowOf[p.symbol[caller]]], id)
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
