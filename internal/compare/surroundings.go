package compare

import (
	"cmp"
	"math"
	"slices"
)

// surroundings say what is above, next to and below rows in the stacks of both sides, in one
// event. What is asked of one row looks at the paths with that row, not at all of them: they are listed by
// row when first asked for.
type surroundings struct {
	c *Comparison
	e *Event
	// least is the change from which on rows below another are listed.
	least float64

	sides      [2][]rowPaths // base's and head's by run
	functionOf []int         // by row: index in Event.Functions, -1 without samples
	// weight and distance are by row, all zero between calls; seen says on which path a row was met last.
	weight, distance []float64
	seen             []int
	path             int
	below            map[int32][]rowDelta // by row, as under found them
}

// A rowDelta is the change of the self cost of a function below another.
type rowDelta struct {
	function int
	delta    float64
}

// rowPaths are the paths of one run by the row of their innermost function.
type rowPaths struct {
	*paths
	rowOf []int32 // by symbol
	// own is by path what was spent in it; sampled says that anything was there or below.
	own     []int64
	sampled []bool
	// The paths of row k are list[start[k]:start[k+1]], in their order.
	start, list []int32
}

func (p *rowPaths) row(path int32) int32 { return p.rowOf[p.symbol[path]] }

// of are the paths that end in a row.
func (p *rowPaths) of(row int32) []int32 { return p.list[p.start[row]:p.start[row+1]] }

// prepare lists the paths by row.
func (x *surroundings) prepare() {
	if x.functionOf != nil {
		return
	}
	rows := len(x.c.rows.rows)
	x.functionOf = slices.Repeat([]int{-1}, rows)
	for i := range x.e.Functions {
		x.functionOf[x.e.Functions[i].row] = i
	}
	x.weight, x.distance, x.seen = make([]float64, rows), make([]float64, rows), make([]int, rows)
	x.below = make(map[int32][]rowDelta)
	room := newSpent(x.c.base, x.c.head)
	for k, s := range [...]*side{x.c.base, x.c.head} {
		at, rowOf := x.e.pair.base, x.c.rows.base
		if k == 1 {
			at, rowOf = x.e.pair.head, x.c.rows.head
		}
		for i, r := range s.runs {
			n := s.paths[i].len()
			p := rowPaths{paths: &s.paths[i], rowOf: rowOf, own: make([]int64, n), sampled: make([]bool, n), start: make([]int32, rows+2), list: make([]int32, n-1)}
			spent := room.of(r, p.paths, at[i])
			for path := range spent {
				p.own[path] = spent[path].Weight
			}
			spent.addUp(p.paths)
			// Counted two further on, then one further as the start of what is filled.
			for path := int32(1); path < int32(n); path++ {
				p.sampled[path] = spent.has(int(path))
				p.start[p.row(path)+2]++
			}
			for row := 2; row < len(p.start); row++ {
				p.start[row] += p.start[row-1]
			}
			for path := int32(1); path < int32(n); path++ {
				to := &p.start[p.row(path)+1]
				p.list[*to] = path
				*to++
			}
			x.sides[k] = append(x.sides[k], p)
		}
	}
}

// around lists the rows that are on nearly all stacks of one side that end in a row, nearest first,
// and the rows next to it: its direct callers and callees.
func (x *surroundings) around(row int, head bool) (callers []int32, next map[int32]bool) {
	x.prepare()
	next = make(map[int32]bool)
	side := 0
	if head {
		side = 1
	}
	var met []int32
	total := 0.0
	for i := range x.sides[side] {
		p := &x.sides[side][i]
		for _, path := range p.of(int32(row)) {
			if !p.sampled[path] {
				continue
			}
			if caller := p.parent[path]; caller != 0 {
				next[p.row(caller)] = true
			}
			for callee := path + 1; callee < p.end[path]; callee = p.end[callee] {
				if p.sampled[callee] {
					next[p.row(callee)] = true
				}
			}
			w := float64(p.own[path])
			if w == 0 {
				continue
			}
			total += w
			x.path++
			depth := 0.0
			for at := path; at != 0; at = p.parent[at] {
				if above := p.row(at); above != int32(row) && x.seen[above] != x.path {
					x.seen[above] = x.path
					if x.weight[above] == 0 {
						met = append(met, above)
					}
					x.weight[above] += w
					x.distance[above] += w * depth
				}
				depth++
			}
		}
	}
	for _, above := range met {
		if total > 0 && x.weight[above] >= shiftCoverage*total {
			callers = append(callers, above)
		}
	}
	slices.SortFunc(callers, func(a, b int32) int {
		return cmp.Or(cmp.Compare(x.distance[a]/x.weight[a], x.distance[b]/x.weight[b]), int(a-b))
	})
	for _, above := range met {
		x.weight[above], x.distance[above] = 0, 0
	}
	return callers, next
}

// under are the normalized changes of the self cost of rows in and below calls of one row, means
// over the runs of a side, from the least that counts on, in the order of their functions.
func (x *surroundings) under(row int32) []rowDelta {
	if list, ok := x.below[row]; ok {
		return list
	}
	var met []int32
	for side, sign := range [...]float64{-1, +1} {
		runs := x.sides[side]
		for i := range runs {
			p := &runs[i]
			divisor := x.e.Normalization.divisors(side)[i].value
			end := int32(0) // of the last outermost call
			for _, outer := range p.of(row) {
				if outer < end {
					continue
				}
				end = p.end[outer]
				for path := outer; path < end; path++ {
					if w := p.own[path]; w != 0 {
						leaf := p.row(path)
						if x.weight[leaf] == 0 {
							met = append(met, leaf)
						}
						x.weight[leaf] += sign * float64(w) / divisor / float64(len(runs))
					}
				}
			}
		}
	}
	var list []rowDelta
	for _, leaf := range met {
		if d := x.weight[leaf]; d != 0 && math.Abs(d) >= x.least && x.functionOf[leaf] >= 0 {
			list = append(list, rowDelta{x.functionOf[leaf], d})
		}
		x.weight[leaf] = 0
	}
	slices.SortFunc(list, func(a, b rowDelta) int { return a.function - b.function })
	x.below[row] = list
	return list
}
